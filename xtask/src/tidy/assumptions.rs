//! What a function of `stats` assumes stands where the function is documented.
//!
//! ```text
//!   /// The mean of `values` with its two-sided interval.
//!   ///
//!   /// Assumes that the values are independent and …        this word is looked for
//!   pub fn mean_interval(…                                    above this
//! ```
//!
//! Whether what is said there is true, and all of it, is left to people. Methods are not looked at:
//! what they assume is for the most part said of the type, or of the function that makes it.

use super::rule::{Rule, Violation};
use super::source::Source;
use super::words::has_word;

/// Where functions say what they assume.
const PLACE: &str = "crates/stats/src/";
const WORD: &str = "Assumes";

/// Checks one source.
pub(super) fn check_source(source: &Source, found: &mut Vec<Violation>) {
    if !source.path.starts_with(PLACE) {
        return;
    }
    for (index, code) in source.code.iter().enumerate().filter(|(at, _)| !source.is_test[*at]) {
        let Some(name) = public_function(code) else { continue };
        if !documents(&source.lines[..index]).any(|line| has_word(line, WORD)) {
            let what = format!("fn {name} does not say what it assumes");
            found.push(Violation::new(Rule::Assumption, &source.path, index + 1, what));
        }
    }
}

/// The name of the public function that begins in this line, outside of any block.
fn public_function(code: &str) -> Option<&str> {
    let mut rest = code.strip_prefix("pub ")?;
    for word in ["const ", "async ", "unsafe "] {
        rest = rest.strip_prefix(word).unwrap_or(rest);
    }
    let name = rest.strip_prefix("fn ")?;
    name.split(|char: char| !char.is_alphanumeric() && char != '_').next()
}

/// The lines of documentation at the end of `before`; attributes may stand among them.
fn documents(before: &[String]) -> impl Iterator<Item = &str> {
    let lines = before.iter().rev().map(|line| line.trim());
    lines.take_while(|line| !line.is_empty()).filter(|line| line.starts_with("///"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(path: &str, text: &str) -> Vec<usize> {
        let mut found = Vec::new();
        check_source(&Source::read(path, text).unwrap(), &mut found);
        assert!(found.iter().all(|violation| violation.rule == Rule::Assumption));
        found.into_iter().map(|violation| violation.line).collect()
    }

    #[test]
    fn a_function_that_does_not_say_what_it_assumes_is_found() {
        for head in ["pub fn", "pub const fn", "pub async fn", "pub const unsafe fn"] {
            let silent = format!("//! A.\n\n/// Adds.\n{head} a(b: u8) -> u8 {{\n    b\n}}\n");
            assert_eq!(lines("crates/stats/src/a.rs", &silent), [4], "{head}");
            assert_eq!(lines("crates/stats/src/b/a.rs", &silent), [4], "{head}");
            assert!(lines("crates/lab/src/a.rs", &silent).is_empty(), "{head}");
            for says in ["Assumes nothing.", "Adds. Assumes order.\n///\n/// # Errors\n/// None."] {
                let told = silent.replace("Adds.", says);
                assert!(lines("crates/stats/src/a.rs", &told).is_empty(), "{told}");
            }
        }
    }

    #[test]
    fn the_word_of_another_item_does_not_count() {
        let above = "/// Assumes order.\npub struct A;\n\n/// Adds.\npub fn a() {}\n";
        assert_eq!(lines("crates/stats/src/a.rs", above), [5]);
        let inside = "/// Adds.\npub fn a() {\n    // Assumes order.\n}\n";
        assert_eq!(lines("crates/stats/src/a.rs", inside), [2]);
        let with_attributes = "/// Assumes order.\n#[must_use]\n#[inline]\npub fn a() {}\n";
        assert!(lines("crates/stats/src/a.rs", with_attributes).is_empty());
    }

    #[test]
    fn what_is_not_public_or_a_method_or_a_test_is_free() {
        for free in [
            "/// Adds.\nfn a() {}\n",
            "/// Adds.\npub(crate) fn a() {}\n",
            "impl A {\n    /// Adds.\n    pub fn a() {}\n}\n",
            "/// Adds.\npub const A: fn() = a;\n",
            "#[cfg(test)]\nmod tests {\npub fn a() {}\n}\n",
        ] {
            assert!(lines("crates/stats/src/a.rs", free).is_empty(), "{free}");
        }
    }
}
