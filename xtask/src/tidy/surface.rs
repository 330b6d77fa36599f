//! Functions and constants that are public although nothing outside of their crate names them.
//!
//! ```text
//!   crates/a/src   pub fn one() {}    named in crates/b, or in tests and benches of a
//!                  pub fn two() {}    named in crates/a/src alone: may be pub(crate)
//! ```
//!
//! Names are compared as words, so that one that is common is let pass. What cannot be reached from
//! outside at all is found by the compiler (`unreachable_pub`). Types are left out: one that a
//! public function gives must be public, and need not be named by whoever gets it.

use std::collections::{BTreeMap, BTreeSet};

use super::lexer::Language;
use super::rule::{Rule, Violation};
use super::source::Source;

/// Beginnings of items that are looked at.
const ITEMS: [&str; 5] =
    ["pub fn ", "pub const fn ", "pub unsafe fn ", "pub const ", "pub static "];

/// Checks all crates that others may use.
pub(super) fn check_sources(sources: &[Source], found: &mut Vec<Violation>) {
    let rust: Vec<&Source> =
        sources.iter().filter(|source| source.language == Language::Rust).collect();
    let mut named: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for source in &rust {
        named.entry(room(source)).or_default().extend(source.code.iter().flat_map(|l| words(l)));
    }
    for source in rust.iter().filter(|source| is_library(&source.path)) {
        let own = room(source);
        let is_named =
            |name: &str| named.iter().any(|(room, names)| *room != own && names.contains(name));
        for (at, line) in source.code.iter().enumerate() {
            let is_ours = !source.is_test[at];
            if let Some(name) = public(line).filter(|name| is_ours && !is_named(name)) {
                let what = format!("{name} is public, and nothing outside of its crate names it");
                found.push(Violation::new(Rule::Surface, &source.path, at + 1, what));
            }
        }
    }
}

/// What may see each other's private items: the sources of a crate; its tests stand outside.
fn room(source: &Source) -> &str {
    match source.path.split_once("/src/") {
        Some((root, _)) => root,
        None => source.path.as_str(),
    }
}

/// The program is used by nobody, and these tasks by nobody either.
fn is_library(path: &str) -> bool {
    path.starts_with("crates/") && path.contains("/src/") && !path.starts_with("crates/cli/")
}

fn public(line: &str) -> Option<&str> {
    let code = line.trim_start();
    let rest = ITEMS.iter().find_map(|item| code.strip_prefix(item))?;
    words(rest).next().filter(|name| *name != "fn")
}

fn words(line: &str) -> impl Iterator<Item = &str> {
    line.split(|char: char| !char.is_alphanumeric() && char != '_').filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(files: &[(&str, &str)]) -> Vec<String> {
        let sources: Vec<Source> =
            files.iter().filter_map(|(path, text)| Source::read(path, text)).collect();
        let mut found = Vec::new();
        check_sources(&sources, &mut found);
        found.into_iter().map(|violation| violation.what).collect()
    }

    #[test]
    fn what_is_named_outside_may_be_public() {
        let a = ("crates/a/src/lib.rs", "pub fn one() {}\npub const TWO: u8 = 2;\nfn three() {}\n");
        let inside = ("crates/a/src/b.rs", "fn f() { one(); TWO }\n");
        assert_eq!(found(&[a, inside]).len(), 2);
        for outside in ["crates/b/src/lib.rs", "crates/a/tests/t.rs", "fuzz/targets/a.rs"] {
            let other = (outside, "fn g() { a::one() + a::TWO }\n");
            assert_eq!(found(&[a, inside, other]), [""; 0], "{outside}");
        }
        let said = ("crates/b/src/lib.rs", "// one TWO\nconst TEXT: &str = \"one TWO\";\n");
        assert_eq!(found(&[a, said]).len(), 2, "words of comments and strings name nothing");
    }

    #[test]
    fn types_programs_and_tests_are_left_out() {
        let text = "pub struct One;\npub(crate) fn two() {}\n#[cfg(test)]\npub fn three() {}\n";
        assert_eq!(found(&[("crates/a/src/lib.rs", text)]), [""; 0]);
        assert_eq!(found(&[("crates/cli/src/main.rs", "pub fn one() {}\n")]), [""; 0]);
    }
}
