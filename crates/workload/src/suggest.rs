//! Slips of the finger: the nearest of the known words.

/// ` (did you mean "…"?)`, with the nearest of the known words if one is near enough to be what was
/// meant; else nothing.
pub fn did_you_mean<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let near = |candidate: &&str| strsim::jaro_winkler(word, candidate);
    let best = known.into_iter().max_by(|a, b| near(a).total_cmp(&near(b)));
    match best.filter(|best| near(best) > 0.8) {
        Some(best) => format!(" (did you mean {best:?}?)"),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_near_words_are_suggested() {
        let known = ["weight", "repeat"];
        assert_eq!(did_you_mean("wieght", known), " (did you mean \"weight\"?)");
        assert_eq!(did_you_mean("colour", known), "");
    }
}
