//! Test programs: one for each crate, and no file of tests outside of it.
//!
//! ```text
//!   tests/main.rs ──mod──▶ tests/crash.rs, tests/damage/mod.rs     one program: linked once
//!   Cargo.toml: path = "tests/orders.rs" ──mod──▶ tests/…          one of another world
//!   tests/forgotten.rs                                             nobody's: it would never run
//! ```
//!
//! Cargo makes a program of every file in `tests/`, each of which is linked with the whole crate.
//! A crate with more than one file turns that off (`autotests = false`), and then a file that no
//! program names is not even compiled.

use std::collections::BTreeMap;

use super::rule::{Rule, Violation};
use super::tree::Tree;

/// Finds crates with several programs that cargo found, and files that none of them has.
pub(super) fn check_tree(tree: &Tree, found: &mut Vec<Violation>) {
    let mut crates: BTreeMap<&str, Vec<(&str, &str, &str)>> = BTreeMap::new();
    for (path, text) in tree.files() {
        if let Some((root, inner)) = path.split_once("/tests/")
            && !root.contains("/src")
            && let Some(module) = module(inner)
        {
            crates.entry(root).or_default().push((path, module, text));
        }
    }
    for (root, files) in crates {
        let manifest = tree.get(&format!("{root}/Cargo.toml")).unwrap_or_default();
        if !manifest.contains("autotests = false") {
            for (path, ..) in files.iter().skip(1) {
                let what = "is a test program beside another one";
                found.push(Violation::new(Rule::Program, path, 1, what));
            }
            continue;
        }
        for &(path, module, _) in &files {
            let inner = &path[root.len() + 1..];
            let is_root = manifest.contains(&format!("path = \"{inner}\""));
            let line = format!("mod {module};");
            if !is_root
                && !files.iter().any(|(_, _, text)| {
                    text.lines().any(|other| other.trim_start_matches("pub(crate) ") == line)
                })
            {
                let what = "is in no test program";
                found.push(Violation::new(Rule::Program, path, 1, what));
            }
        }
    }
}

/// The module or the program that a file in `tests/` is the top of.
fn module(inner: &str) -> Option<&str> {
    let name = inner.strip_suffix(".rs")?;
    match name.split_once('/') {
        None => Some(name),
        Some((module, "mod" | "main")) => Some(module),
        Some(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(files: &[(&str, &str)]) -> Vec<String> {
        let mut found = Vec::new();
        check_tree(&Tree::planted(files), &mut found);
        found.iter().map(|violation| format!("{} {}", violation.path, violation.what)).collect()
    }

    #[test]
    fn programs_that_cargo_finds_are_one() {
        let one = [
            ("c/a/Cargo.toml", ""),
            ("c/a/tests/one/main.rs", ""),
            ("c/a/tests/one/b.rs", ""),
            ("c/a/src/b/tests/c.rs", ""),
            ("c/a/src/b/tests/d.rs", ""),
        ];
        assert_eq!(told(&one), [""; 0]);
        let two = [one[0], one[1], ("c/a/tests/two.rs", "")];
        assert_eq!(told(&two), ["c/a/tests/two.rs is a test program beside another one"]);
    }

    #[test]
    fn a_file_that_no_program_has_is_found() {
        let manifest = "autotests = false\n[[test]]\npath = \"tests/main.rs\"\n";
        let files = [
            ("c/a/Cargo.toml", manifest),
            ("c/a/tests/main.rs", "//! All.\n\nmod crash;\npub(crate) mod damage;\n// mod lost;\n"),
            ("c/a/tests/crash.rs", ""),
            ("c/a/tests/damage/mod.rs", ""),
            ("c/a/tests/damage/deeper.rs", ""),
            ("c/a/tests/lost.rs", ""),
        ];
        assert_eq!(told(&files), ["c/a/tests/lost.rs is in no test program"]);
    }
}
