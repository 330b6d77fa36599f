//! Which tests are left to `make soak`: sweeps over releases and loads, and what is shown by one
//! canonical test already.
//!
//! ```text
//!   #[test]
//!   #[ignore = "soak: callgrind of a server once more; a_setting_… is in make test"]
//!   fn an_allocator_that_is_loaded_before_can_be_taken_back() {
//! ```
//!
//! The reason says what is left in `make test` for a change to be tested with. Other ignored tests
//! are parts of tests, and none of these.

use super::steps::{self, Step};
use crate::place::repository_folder;
use crate::tidy::tree::Tree;

/// How the reason of such a test begins.
const REASON: &str = "#[ignore = \"soak: ";

/// The step that runs them.
///
/// # Errors
/// Sources that cannot be read, and none of such tests.
pub(super) fn soak_step() -> Result<Step, String> {
    let tree = Tree::read(repository_folder())?;
    let sources = tree.files().filter(|(path, _)| path.ends_with(".rs"));
    let sources = sources.filter(|(path, _)| !path.starts_with("xtask/"));
    let names: Vec<&str> = sources.flat_map(|(_, text)| names_of(text)).collect();
    if names.is_empty() {
        return Err(format!("no test has {REASON:?}"));
    }
    let filters = [&["--ignored"], &names[..]].concat();
    let step = steps::test_step("tests of the soak", &["--lib", "--bins", "--tests"], &filters);
    Ok(step.with_variable("DBDYNO_REQUIRE_SERVERS", "1"))
}

/// The functions behind the attribute; others may stand between.
fn names_of(text: &str) -> Vec<&str> {
    let (mut names, mut is_next) = (Vec::new(), false);
    for line in text.lines().map(str::trim_start) {
        if line.starts_with(REASON) {
            is_next = true;
        } else if let (true, Some(function)) = (is_next, line.strip_prefix("fn ")) {
            names.extend(function.split('(').next());
            is_next = false;
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_of_the_soak_are_found_and_no_others() {
        let text = "\
#[test]
fn quick() {}

#[test]
#[ignore = \"run by another\"]
fn part() {}

/// Takes long.
#[test]
#[ignore = \"soak: every release\"]
#[cfg(unix)]
fn sweep() {}
fn helper() {}
";
        assert_eq!(names_of(text), ["sweep"]);
    }

    #[test]
    fn there_are_tests_of_the_soak() {
        let line = soak_step().unwrap().command_line();
        assert!(
            line.contains(" --ignored ") && line.contains("killed_at_a_hundred_moments"),
            "{line}"
        );
    }
}
