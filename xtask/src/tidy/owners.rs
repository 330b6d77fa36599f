//! What one crate owns, no other crate calls.
//!
//! Clippy's `disallowed_methods` guards some of this from inside a crate, where `#[expect]` can
//! lift it; this table says who may.

use super::lexer::Language;
use super::rule::{Rule, Violation};
use super::source::Source;
use super::words::has_word;

struct OwnerRule {
    rule: Rule,
    /// What a violation says.
    what: &'static str,
    /// Beginnings of the paths that may.
    owners: &'static [&'static str],
    /// Whether test code may as well.
    tests: Tests,
    /// Whether a line of code does it.
    does: fn(&str) -> bool,
}

#[derive(PartialEq)]
enum Tests {
    Free,
    Bound,
}

const OWNED: &[OwnerRule] = &[
    OwnerRule {
        rule: Rule::Clock,
        what: "reads a clock",
        owners: &[
            "crates/load/",
            "crates/lab/",
            "crates/cli/",
            "crates/sandbox/",
            "crates/wire/src/cutoff.rs",
            "crates/wire/src/mock/",
            "xtask/",
        ],
        tests: Tests::Bound,
        does: |code| {
            let calls = ["Instant::now", "SystemTime::now", "UNIX_EPOCH.elapsed"];
            calls.into_iter().any(|call| has_word(code, call)) || code.contains(".elapsed()")
        },
    },
    OwnerRule {
        rule: Rule::Print,
        what: "prints or exits",
        owners: &["crates/cli/", "xtask/"],
        tests: Tests::Free,
        does: |code| {
            let calls = ["println!", "eprintln!", "print!", "eprint!", "process::exit"];
            calls.into_iter().any(|call| has_word(code, call))
        },
    },
    OwnerRule {
        rule: Rule::Process,
        what: "starts a process",
        owners: &["crates/host/src/start.rs", "xtask/"],
        tests: Tests::Free,
        does: |code| {
            let listed = code.contains("process::{") && has_word(code, "Command");
            has_word(code, "process::Command") || listed
        },
    },
    OwnerRule {
        rule: Rule::Process,
        what: "makes a command elsewhere than where a launch is carried out",
        owners: &["crates/host/src/start.rs", "crates/sandbox/tests/", "xtask/"],
        tests: Tests::Free,
        does: |code| has_word(code, "Command::new") && !code.contains("clap::"),
    },
    OwnerRule {
        rule: Rule::Process,
        what: "makes a launch elsewhere than where rights are taken from it",
        owners: &["crates/sandbox/src/child.rs", "crates/host/"],
        tests: Tests::Free,
        does: |code| has_word(code, "Launch::new"),
    },
    OwnerRule {
        rule: Rule::Sql,
        what: "speaks to SQLite",
        // The tests of `sql` have it as their oracle.
        owners: &["crates/store/", "crates/load/src/sqlite", "crates/sql/tests/"],
        tests: Tests::Bound,
        does: |code| has_word(code, "rusqlite"),
    },
];

/// Checks one source. Benchmarks and examples are programs of their own, and free.
pub(super) fn check_source(source: &Source, found: &mut Vec<Violation>) {
    let path = source.path.as_str();
    let is_program = path.contains("/benches/") || path.contains("/examples/");
    if source.language != Language::Rust || is_program {
        return;
    }
    let is_build_script = path.ends_with("/build.rs");
    for owned in OWNED {
        let owns = owned.owners.iter().any(|owner| path.starts_with(owner));
        if owns || (is_build_script && owned.rule == Rule::Print) {
            continue;
        }
        for (index, code) in source.code.iter().enumerate() {
            let is_free = owned.tests == Tests::Free && source.is_test[index];
            if !is_free && (owned.does)(code) {
                let what = format!("{} {}", source.owning_crate(), owned.what);
                found.push(Violation::new(owned.rule, path, index + 1, what));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(path: &str, code: &str) -> Vec<Rule> {
        let mut found = Vec::new();
        check_source(&Source::read(path, code).unwrap(), &mut found);
        found.into_iter().map(|violation| violation.rule).collect()
    }

    /// A planted violation of each rule in a crate that does not own it, and the same in its owner.
    #[test]
    fn only_the_owner_may() {
        for (planted, rule, owner) in [
            ("let a = Instant::now();", Rule::Clock, "crates/load/src/b.rs"),
            ("let a = std::time::SystemTime::now();", Rule::Clock, "crates/lab/src/b.rs"),
            ("while start.elapsed() < a {", Rule::Clock, "crates/wire/src/mock/mod.rs"),
            ("println!(\"a\");", Rule::Print, "crates/cli/src/main.rs"),
            ("std::eprint!(\"a\");", Rule::Print, "xtask/src/main.rs"),
            ("std::process::exit(1);", Rule::Print, "crates/cli/src/main.rs"),
            ("use std::process::Command;", Rule::Process, "crates/host/src/start.rs"),
            ("use std::process::{Child, Command};", Rule::Process, "crates/host/src/start.rs"),
            ("let a = Command::new(b);", Rule::Process, "crates/host/src/start.rs"),
            ("let a = Launch::new(b);", Rule::Process, "crates/sandbox/src/child.rs"),
            ("use rusqlite::Connection;", Rule::Sql, "crates/store/src/lib.rs"),
            ("fn a(b: rusqlite::Error) {}", Rule::Sql, "crates/load/src/sqlite.rs"),
        ] {
            assert_eq!(rules("crates/report/src/a.rs", planted), [rule], "{planted}");
            assert_eq!(rules("crates/wire/src/mockery.rs", planted), [rule], "{planted}");
            assert!(rules(owner, planted).is_empty(), "{planted} in {owner}");
            let comment = format!("// {planted}\n\"{}\"", planted.replace('"', ""));
            assert!(rules("crates/report/src/a.rs", &comment).is_empty(), "{planted}");
        }
    }

    #[test]
    fn only_one_file_makes_commands() {
        let made = "let a = std::process::Command::new(b);";
        let both = [Rule::Process, Rule::Process];
        assert_eq!(rules("crates/sandbox/src/child.rs", made), both);
        assert_eq!(rules("crates/host/src/local.rs", made), both);
        assert!(rules("crates/host/src/start.rs", made).is_empty());
        assert_eq!(rules("crates/sandbox/src/tool.rs", "Launch::new(b)"), [Rule::Process]);
    }

    #[test]
    fn tests_may_print_and_start_processes_but_not_read_clocks() {
        let tested = |code: &str| rules("crates/model/tests/a.rs", code);
        assert!(tested("println!(\"a\"); use std::process::Command;").is_empty());
        assert_eq!(tested("Instant::now()"), [Rule::Clock]);
        assert_eq!(tested("rusqlite::a()"), [Rule::Sql]);
        assert!(rules("crates/wire/benches/a.rs", "Instant::now(); println!()").is_empty());
        assert!(rules("crates/wire/examples/a.rs", "Instant::now(); println!()").is_empty());
        assert!(rules("crates/report/build.rs", "println!(\"cargo::a\")").is_empty());
    }

    #[test]
    fn words_that_only_look_alike_are_free() {
        for innocent in ["clap::Command::new(a)", "my_println!(a)", "writeln!(f)", "rusqlite_ish"] {
            assert!(rules("crates/report/src/a.rs", innocent).is_empty(), "{innocent}");
        }
    }
}
