//! What the command says when nothing needs to be measured: golden scripts in `cmd/`, and the
//! examples of the guide that are marked `console`.
//! `TRYCMD=overwrite cargo test -p dbdyno --test command` writes them anew.

use crate::common::{Done, Home};

#[test]
fn scripts() {
    let home = Home::new();
    trycmd::TestCases::new()
        .env("DBDYNO_HOME", home.path().to_str().unwrap())
        .env("COLUMNS", "100")
        .env("GITHUB_STEP_SUMMARY", "")
        .case("tests/cmd/*.trycmd")
        .case("../../docs/guide/*.md");
}

#[test]
fn a_directory_with_somebodys_work_in_it_is_refused_and_left_alone() {
    let home = Home::new();
    let thesis = home.path().join("thesis.tex");
    std::fs::write(&thesis, "years of work").unwrap();
    let Done { code, out, err } = home.dbdyno(["compare", "sqlite:", "sqlite:", "--quick"]);
    assert_eq!((code, out.as_str()), (2, ""));
    for part in ["thesis.tex", "cannot be dbdyno's home", "set DBDYNO_HOME"] {
        assert!(err.contains(part), "{part} is missing in: {err}");
    }
    assert_eq!(std::fs::read_dir(home.path()).unwrap().count(), 1);
    assert_eq!(std::fs::read_to_string(thesis).unwrap(), "years of work");
}
