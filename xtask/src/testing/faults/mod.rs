//! Whether the tests of whole runs on models can fail: faults that are planted into the code, each
//! of which must make the tests fail that are named beside it.
//!
//! ```text
//!   last commit ──clone──▶ target/faults/tree ──one fault──▶ build, test ──▶ failed? good
//!                                  ▲                                │
//!                                  └──────────── as it was ─────────┘
//! ```
//!
//! A check that cannot fail is worth nothing, and a test in virtual time could be one: it holds the
//! product against a model that is ours, too. That every text of the table is still found in its
//! file, once, is a test; the faults themselves take a build each, and belong to `make soak`.

mod table;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use table::{FAULTS, Fault};

/// Plants one fault after the other into a clone of the last commit, and says which tests did not
/// notice; those with this word in them, in their tests or in their file.
///
/// The clone and what was built of it stay, so that only what a fault changes is built, and faults
/// of one file follow each other: what is put back is then built together with the next one.
///
/// # Errors
/// What could not be done.
pub(super) fn plant_faults(repository: &Path, target: &Path, word: &str) -> Result<bool, String> {
    let folder = target.join("faults");
    let tree = folder.join("tree");
    let told = |error: std::io::Error| format!("{}: {error}", folder.display());
    std::fs::create_dir_all(&folder).map_err(told)?;
    clone(repository, &tree)?;
    let place = Place { tree, target: folder.join("target") };
    let mut planted: Vec<_> = FAULTS.iter().filter(|fault| fault.mentions_word(word)).collect();
    if planted.is_empty() {
        return Err(format!("no fault has {word:?} in it, in its tests or in its file"));
    }
    planted.sort_by_key(|fault| fault.file);
    if !place.all_pass(&planted)? {
        return Err("tests fail without any fault".to_owned());
    }
    let mut are_noticed = true;
    for fault in planted {
        let path = place.tree.join(fault.file);
        let text = std::fs::read_to_string(&path).map_err(told)?;
        std::fs::write(&path, text.replacen(fault.is, fault.becomes, 1)).map_err(told)?;
        let is_built = place.builds(fault)?;
        for test in fault.tests {
            let mark = if !is_built {
                "NO PROGRAM"
            } else if place.passes(test)? {
                "NOT NOTICED"
            } else {
                "noticed"
            };
            are_noticed &= mark == "noticed";
            println!("{mark:<11}  {:<62}  {test}", fault.what);
        }
        std::fs::write(&path, text).map_err(told)?;
    }
    Ok(are_noticed)
}

/// The last commit, without a fault that an interrupted run has left; files that are the same keep
/// their time, or all would be built anew.
fn clone(repository: &Path, tree: &Path) -> Result<(), String> {
    let (from, to) = (repository.to_string_lossy(), tree.to_string_lossy());
    if !tree.exists() {
        return succeeds(Command::new("git").args(["clone", "--quiet", &from, &to]));
    }
    let git = |words: &[&str]| succeeds(Command::new("git").args(["-C", &to]).args(words));
    git(&["fetch", "--quiet", &from, "HEAD"])?;
    git(&["checkout", "--quiet", "--force", "--detach", "FETCH_HEAD"])
}

/// Where a test is.
struct Tests<'a> {
    package: String,
    program: &'a str,
    name: &'a str,
}

impl Tests<'_> {
    fn of(test: &str) -> Tests<'_> {
        match test.split_once('/') {
            Some((folder, name)) => {
                Tests { package: format!("dbdyno-{folder}"), program: folder, name }
            }
            None => Tests { package: "dbdyno".to_owned(), program: "command", name: test },
        }
    }
}

/// Where faults are planted, and where what comes of them is built.
struct Place {
    tree: PathBuf,
    target: PathBuf,
}

impl Place {
    fn cargo(&self, of: &Tests<'_>, more: &[&str]) -> Command {
        let mut command = Command::new("cargo");
        command.args(["test", "--quiet", "--locked", "-p", &of.package, "--test", of.program]);
        command.args(more).current_dir(&self.tree).env("CARGO_TARGET_DIR", &self.target);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command
    }

    /// Whether the tests of a fault are built: one that does not compile is noticed by nobody's.
    fn builds(&self, fault: &Fault) -> Result<bool, String> {
        let mut are_built = true;
        for test in fault.tests {
            let status = self.cargo(&Tests::of(test), &["--no-run"]).status();
            are_built &= status.map_err(|error| format!("cargo: {error}"))?.success();
        }
        Ok(are_built)
    }

    /// Whether all tests pass that must notice these faults.
    fn all_pass(&self, faults: &[&'static Fault]) -> Result<bool, String> {
        let mut programs: BTreeMap<(String, &str), Vec<&str>> = BTreeMap::new();
        let all = faults.iter().flat_map(|fault| fault.tests);
        for Tests { package, program, name } in all.map(|test| Tests::of(test)) {
            programs.entry((package, program)).or_default().push(name);
        }
        for ((package, program), names) in programs {
            if !self.pass(&Tests { package, program, name: "" }, &names)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether this test passes.
    fn passes(&self, test: &str) -> Result<bool, String> {
        let test = Tests::of(test);
        self.pass(&test, &[test.name])
    }

    fn pass(&self, of: &Tests<'_>, names: &[&str]) -> Result<bool, String> {
        let status =
            self.cargo(of, &[&["--", "--include-ignored", "--exact"], names].concat()).status();
        status.map(|status| status.success()).map_err(|error| format!("cargo: {error}"))
    }
}

fn succeeds(command: &mut Command) -> Result<(), String> {
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("{command:?}: {status}")),
        Err(error) => Err(format!("{command:?}: {error}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::place::repository_folder;

    fn read(path: &str) -> String {
        std::fs::read_to_string(repository_folder().join(path))
            .unwrap_or_else(|e| panic!("{path}: {e}"))
    }

    #[test]
    fn every_fault_has_its_place_and_its_tests() {
        for fault in FAULTS {
            let found = read(fault.file).matches(fault.is).count();
            assert_eq!(found, 1, "{}: {:?} in {}", fault.what, fault.is, fault.file);
            assert_ne!(fault.is, fault.becomes);
            for test in fault.tests {
                let (folder, test) = match test.split_once('/') {
                    Some((folder, test)) => (format!("{folder}/tests"), test),
                    None => ("cli/tests/command".to_owned(), *test),
                };
                let (module, name) = test.rsplit_once("::").expect("a test is in a module");
                let path = format!("crates/{folder}/{}.rs", module.replace("::", "/"));
                let tests = read(&path);
                assert!(tests.contains(&format!("fn {name}(")), "there is no test {test}");
            }
        }
    }

    #[test]
    fn every_test_of_whole_runs_on_models_has_a_fault() {
        for module in ["verdicts", "until", "host", "resume", "arms", "explain", "published"] {
            for line in read(&format!("crates/cli/tests/command/{module}.rs")).split("#[test]\nfn ")
            {
                let Some((name, _)) = line.split_once("() {").filter(|_| !line.starts_with("//!"))
                else {
                    continue;
                };
                let test = format!("{module}::{name}");
                let has = |fault: &Fault| fault.tests.contains(&&*test);
                assert!(FAULTS.iter().any(has), "nothing is planted that {test} must notice");
            }
        }
    }
}
