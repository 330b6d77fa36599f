//! Which tests are property tests, and a run of them with fresh seeds.
//!
//! The seed in `.cargo/config.toml` makes every run ask the same; here each run asks something
//! else. The number of cases stays what each property says: `PROPTEST_CASES` would be one number
//! for those that take a microsecond and for those that open a database, where one more seed makes
//! all of them ask twice as much.

use std::collections::BTreeSet;
use std::hash::{BuildHasher as _, RandomState};

use super::steps::{self, Step};
use crate::place::repository_folder;
use crate::tidy::tree::Tree;

/// A step for each of so many fresh seeds.
pub(super) fn property_steps(seeds: u64) -> Result<Vec<Step>, String> {
    let tree = Tree::read(repository_folder())?;
    let mut names = BTreeSet::new();
    for (path, text) in tree.files().filter(|(path, _)| path.ends_with(".rs")) {
        // A name is a part of the names of tests to run: one of an example here runs many others.
        if !path.starts_with("fuzz/") && !path.starts_with("xtask/") {
            names.extend(names_of(text));
        }
    }
    let names: Vec<&str> = names.into_iter().collect();
    Ok((0..seeds)
        .map(|_| {
            let seed = RandomState::new().hash_one(0).to_string();
            let step = steps::test_step("properties", &["--lib", "--bins", "--tests"], &names);
            let step = step.with_variable("PROPTEST_RNG_SEED", &seed);
            Step { name: format!("properties with PROPTEST_RNG_SEED={seed}"), ..step }
        })
        .collect())
}

/// The functions inside of `proptest! { … }`, which ends where its first column says.
fn names_of(text: &str) -> Vec<&str> {
    let (mut names, mut end) = (Vec::new(), None);
    for line in text.lines() {
        let code = line.trim_start();
        let column = line.len() - code.len();
        if end.is_none() && code == "proptest! {" {
            end = Some(column);
        } else if end == Some(column) && code == "}" {
            end = None;
        } else if let (Some(_), Some(function)) = (end, code.strip_prefix("fn ")) {
            names.extend(function.split('(').next());
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn properties_are_found_and_nothing_else_is() {
        let text = "\
fn no() {}
    proptest! {
        #[test]
        fn one(a in 0..1) {
            let _ = a;
        }

        #[test]
        fn two(
            b in 0..1,
        ) {}
    }
    fn neither() {}
";
        assert_eq!(names_of(text), ["one", "two"]);
    }

    #[test]
    fn all_of_the_repository_are_asked() {
        let steps = property_steps(2).unwrap();
        assert_eq!(steps.len(), 2);
        assert_ne!(steps[0].environment, steps[1].environment);
        let has = |name: &str| steps[0].arguments.iter().any(|argument| argument == name);
        assert!(has("every_run_comes_back_among_others") && has("series_come_back"));
    }
}
