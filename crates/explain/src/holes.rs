//! Conditions of plans with `?` for each literal, so that those of two releases can be compared.

/// A condition with `?` for each literal, and without what releases write differently: brackets,
/// casts, and an equality as two bounds.
pub fn with_holes(condition: &str) -> String {
    let plain: String = literals_as_words(condition).filter(|c| !"()`".contains(*c)).collect();
    let words: Vec<&str> = plain.split_whitespace().collect();
    let mut parts: Vec<String> = Vec::with_capacity(words.len());
    let equality = match words.as_slice() {
        [low, "<=", name @ .., "<=", high] if low == high => Some(name.join(" ")),
        _ => None,
    };
    if let Some(name) = equality {
        return format!("{name} = ?");
    }
    for word in words {
        let word = word.split("::").next().unwrap_or(word);
        let bare = word.trim_end_matches(',');
        let is_number = bare.parse::<f64>().is_ok();
        let is_text = bare.starts_with('\'') || bare.starts_with("0x") || bare.starts_with("'{");
        parts.push(if is_number || is_text { "?".to_owned() } else { word.to_owned() });
    }
    // A list has as many literals as the question happened to have.
    parts.dedup_by(|a, b| a == "?" && b == "?");
    parts.join(" ")
}

/// The letters of a condition, with no space within a text between single quotes. A backslash
/// before a quote protects it in MySQL's plans, and a doubled quote ends a text and begins one.
fn literals_as_words(condition: &str) -> impl Iterator<Item = char> {
    let (mut is_literal, mut is_protected) = (false, false);
    condition.chars().map(move |letter| {
        is_literal ^= letter == '\'' && !is_protected;
        is_protected = letter == '\\' && !is_protected;
        if is_literal && letter.is_whitespace() { '_' } else { letter }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_are_holes_and_releases_agree() {
        for (condition, bounds) in [
            ("1 <= id <= 5", "? <= id <= ?"),
            ("(1) <= (id) <= (5)", "? <= id <= ?"),
            ("7 <= id <= 7", "id = ?"),
            ("id = 7", "id = ?"),
            ("5 < k", "? < k"),
            ("c = 'John O\\'Neil (x)' AND d = 'it''s mine'", "c = ? AND d = ?"),
            ("'a' <= c <= 'b' AND NULL < k", "? <= c <= ? AND NULL < k"),
            ("Index Cond: ((id >= 1) AND (id <= 5))", "Index Cond: id >= ? AND id <= ?"),
            ("Index Cond: (k = ANY ('{1,2,3}'::integer[]))", "Index Cond: k = ANY ?"),
        ] {
            assert_eq!(with_holes(condition), bounds, "{condition}");
        }
    }
}
