//! The rules that a program can check, as a test.
//!
//! ```text
//!   git ls-files ──► Tree ──► lexer ──► Source ──┬─ sizes    functions, lines, files
//!                     │    (strings and comments ├─ words    leftovers, lints, essays, paths
//!                     │     blanked, tests known)├─ owners   clock, print, process, SQL
//!                     │                          └─ assumptions   what `stats` takes for granted
//!                     ├─ Cargo.toml ─────────────── arrows   which crate may know which
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
mod exceptions;
mod lexer;
mod owners;
mod sizes;
mod source;
pub mod tree;
mod words;

use std::fmt;
use std::path::Path;

use source::Source;
use tree::Tree;

/// What is guarded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    FunctionLength,
    LineLength,
    FileLength,
    Leftover,
    Allow,
    Essay,
    Path,
    Clock,
    Print,
    Process,
    Sql,
    Assumption,
    Arrow,
    Invariant,
    Exception,
}

impl Rule {
    /// Why the rule exists.
    fn why(self) -> &'static str {
        match self {
            Rule::FunctionLength => "a function is read on one screen",
            Rule::LineLength => "two files are read side by side",
            Rule::FileLength => "a file holds one idea",
            Rule::Leftover => "what is left over is forgotten",
            Rule::Allow => "an exemption that is no longer needed must show itself",
            Rule::Essay => "a reader meets the idea before the code",
            Rule::Path => "the repository works wherever it is cloned",
            Rule::Clock => "pure code is tested with the times that matter",
            Rule::Print => "data and talk have one way out each",
            Rule::Process => "one crate answers for every process that is started",
            Rule::Sql => "one crate answers for the file of stored runs",
            Rule::Assumption => "a number is worth what its assumptions are worth",
            Rule::Arrow => "arrows between crates go down only",
            Rule::Invariant => "a crate is a noun with one invariant",
            Rule::Exception => "an exception without a case hides the next case",
        }
    }

    /// What to do about a violation.
    fn remedy(self) -> &'static str {
        match self {
            Rule::FunctionLength => "split it where its comments or blank lines do",
            Rule::LineLength => "break it: cargo fmt does so for code, comments are broken by hand",
            Rule::FileLength => "move one idea into a module of its own",
            Rule::Leftover => "do it now, or write it into the issue tracker",
            Rule::Allow => "mend the cause, or use #[expect(lint, reason = \"…\")]",
            Rule::Essay => "open the file with //! (in TypeScript /**) and say what it is for",
            Rule::Path => "take the path from the environment or make it relative",
            Rule::Clock => {
                "take the time as an argument; the owners are in xtask/src/tidy/owners.rs"
            }
            Rule::Print => "return the text, or a Warning, and let `cli` show it",
            Rule::Process => "ask `sandbox` for it",
            Rule::Sql => "ask `store` for it",
            Rule::Assumption => "write a sentence \"Assumes …\" into its documentation",
            Rule::Arrow => {
                "turn the arrow round, or change xtask/src/tidy/arrows.rs and \
                 docs/ARCHITECTURE.md together"
            }
            Rule::Invariant => "give it a line \"`crate` — **Invariant:** …\"",
            Rule::Exception => "remove it from xtask/src/tidy/exceptions.rs",
        }
    }
}

/// One place that breaks one rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    rule: Rule,
    path: String,
    line: usize,
    what: String,
}

impl Violation {
    fn new(rule: Rule, path: &str, line: usize, what: impl Into<String>) -> Self {
        Violation { rule, path: path.to_owned(), line, what: what.into() }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Violation { rule, path, line, what } = self;
        write!(f, "{path}:{line}: {what}; {}: {}", rule.why(), rule.remedy())
    }
}

/// Everything in the repository that breaks a rule.
///
/// # Errors
/// A sentence, if the repository cannot be read.
pub fn check(repository: &Path) -> Result<Vec<Violation>, String> {
    let tree = Tree::read(repository)?;
    Ok(exceptions::apply(violations(&tree), exceptions::EXCEPTIONS))
}

fn violations(tree: &Tree) -> Vec<Violation> {
    let mut found = Vec::new();
    for (path, text) in tree.files() {
        words::paths(path, text, &mut found);
    }
    for source in Source::all(tree) {
        sizes::check(&source, &mut found);
        words::check(&source, &mut found);
        owners::check(&source, &mut found);
        assumptions::check(&source, &mut found);
    }
    arrows::check(tree, &mut found);
    found.sort_by(|a, b| (&a.path, a.line).cmp(&(&b.path, b.line)));
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_repository_is_tidy() {
        let violations = check(crate::repository()).expect("the repository can be read");
        let lines: Vec<String> = violations.iter().map(Violation::to_string).collect();
        assert!(lines.is_empty(), "{} to mend:\n{}", lines.len(), lines.join("\n"));
    }

    /// A walk that finds nothing would call everything tidy.
    #[test]
    fn the_walk_sees_this_file_and_the_crates() {
        let tree = Tree::read(crate::repository()).unwrap();
        let sources = Source::all(&tree);
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
