//! The rules that a program can check, as a test.
//!
//! ```text
//!   git ls-files ──► Tree ──► lexer ──► Source ──┬─ sizes    functions, lines, files
//!                     │    (strings and comments ├─ words    leftovers, lints, essays, papers
//!                     │     blanked, tests known)├─ owners   clock, print, process, SQL
//!                     │                          ├─ circles  files that import each other
//!                     │                          ├─ surface  what is public for nobody
//!                     │                          ├─ assumptions   what `stats` takes for granted
//!                     │                          └─ counted  what may only become less
//!                     ├─ Cargo.toml ─────────────── arrows   which crate may know which
//!                     ├─ Cargo.toml, tests/ ─────── programs one for each crate
//!                     └─ docs/ARCHITECTURE.md ───── arrows   the same arrows; invariants
//!                                                     │
//!                           exceptions ◄── violations ┘      each with a reason, none unused
//! ```
//!
//! A rule is a function from text to violations, so that each has a test with a planted violation:
//! a rule that cannot fail guards nothing. What is written here is the machine's half of
//! `docs/STYLE.md`; taste is left to people.

mod arrows;
mod assumptions;
mod circles;
mod counted;
mod exceptions;
mod lexer;
mod names;
mod owners;
mod programs;
mod rule;
mod signature;
mod sizes;
mod source;
mod surface;
pub(crate) mod tree;
mod words;

use std::path::Path;

pub(crate) use rule::Violation;
use source::Source;
use tree::Tree;

/// Everything in the repository that breaks a rule.
///
/// # Errors
/// A sentence, if the repository cannot be read.
pub(crate) fn check_repository(repository: &Path) -> Result<Vec<Violation>, String> {
    let tree = Tree::read(repository)?;
    Ok(exceptions::apply_exceptions(violations(&tree), exceptions::EXCEPTIONS))
}

/// Every place that breaks a rule whose violations are counted.
///
/// # Errors
/// A sentence, if the repository cannot be read.
pub(crate) fn counted_violations(repository: &Path) -> Result<Vec<Violation>, String> {
    Ok(counted::violation_places(&Source::read_all(&Tree::read(repository)?)))
}

fn violations(tree: &Tree) -> Vec<Violation> {
    let mut found = Vec::new();
    for (path, text) in tree.files() {
        words::check_paths(path, text, &mut found);
        words::check_papers(path, text, &mut found);
    }
    let sources = Source::read_all(tree);
    for source in &sources {
        sizes::check_source(source, &mut found);
        words::check_source(source, &mut found);
        owners::check_source(source, &mut found);
        assumptions::check_source(source, &mut found);
    }
    circles::check_sources(&sources, &mut found);
    surface::check_sources(&sources, &mut found);
    counted::check_sources(&sources, &mut found);
    programs::check_tree(tree, &mut found);
    arrows::check_tree(tree, &mut found);
    found.sort_by(|a, b| (&a.path, a.line).cmp(&(&b.path, b.line)));
    found
}

#[cfg(test)]
mod tests {
    use super::rule::Rule;
    use super::*;

    #[test]
    fn the_repository_is_tidy() {
        let violations = check_repository(crate::place::repository_folder())
            .expect("the repository can be read");
        let lines: Vec<String> = violations.iter().map(Violation::to_string).collect();
        assert!(lines.is_empty(), "{} to mend:\n{}", lines.len(), lines.join("\n"));
    }

    /// A walk that finds nothing would call everything tidy.
    #[test]
    fn the_walk_sees_this_file_and_the_crates() {
        let tree = Tree::read(crate::place::repository_folder()).unwrap();
        let sources = Source::read_all(&tree);
        for path in ["xtask/src/tidy/mod.rs", "crates/model/src/lib.rs", "crates/stats/src/lib.rs"]
        {
            assert!(sources.iter().any(|source| source.path == path), "{path} was not seen");
        }
    }

    #[test]
    fn a_violation_says_where_what_why_and_what_to_do() {
        let violation = Violation::new(Rule::Clock, "a.rs", 7, "reads the clock");
        let text = violation.to_string();
        assert!(text.starts_with("a.rs:7: reads the clock; pure code"), "{text}");
        assert!(text.contains("take the time as an argument"), "{text}");
    }
}
