//! Formats for continuous integration, on models in virtual time.

use serde_json::Value;

use crate::common::{Done, Home, finish};

const BASE: &str = "mock:?noise=0.01&seed=3";
const TEST: &str = "mock:?noise=0.01&rate=900&seed=3";
const SHORT: [&str; 6] = ["--quick", "--rounds", "8", "--rows", "2000", "--gate"];

fn compared(home: &Home, format: &str, summary: Option<&str>) -> Done {
    let args = [&["compare", BASE, TEST][..], &SHORT, &["rqps > 0.95", "--format", format]];
    let mut command = home.command(args.concat());
    command.env_remove("GITHUB_STEP_SUMMARY");
    if let Some(summary) = summary {
        command.env("GITHUB_STEP_SUMMARY", summary);
    }
    let done = finish(command);
    assert_eq!(done.code, 1, "a tenth is lost, and the gate fails: {done:?}");
    done
}

#[test]
fn a_workflow_has_its_annotations_and_its_summary() {
    let home = Home::new();
    let elsewhere = tempfile::tempdir().unwrap();
    let summary = elsewhere.path().join("summary.md");
    std::fs::write(&summary, "before\n").unwrap();
    let done = compared(&home, "github", summary.to_str());
    let is_error =
        |line: &str| line.starts_with("::error title=dbdyno%3A point-query at 1 client::");
    assert!(done.out.lines().count() == 1 && done.out.lines().all(is_error), "{done:?}");
    let told = std::fs::read_to_string(&summary).unwrap();
    assert!(told.starts_with("before\n**test is slower on point-query"), "{told}");
    let without = compared(&home, "github", None).out;
    assert!(without.contains("::error") && without.contains("**test is slower"), "{without}");
}

#[test]
fn a_cell_is_a_test_that_fails_where_the_gate_does() {
    let home = Home::new();
    let told = compared(&home, "junit", None).out;
    assert!(told.contains("tests=\"1\" failures=\"1\" skipped=\"0\""), "{told}");
    assert_eq!(told.matches("<failure message=").count(), 1, "{told}");
    let shown = home.dbdyno(["show", "--format", "junit"]);
    assert!(shown.code == 0 && shown.out.contains("failures=\"0\""), "no gate: {shown:?}");
}

#[test]
fn rounds_are_results_of_benchmarks() {
    let home = Home::new();
    let told = compared(&home, "benchfmt", None).out;
    for arm in ["base", "test"] {
        let name = format!("BenchmarkDbdyno/load=point-query/clients=1/arm={arm} 1 ");
        assert_eq!(told.lines().filter(|line| line.starts_with(&name)).count(), 8, "{told}");
    }
}

#[test]
fn rounds_are_told_as_they_are_measured_and_the_result_last() {
    let home = Home::new();
    let told = compared(&home, "jsonl", None).out;
    let lines: Vec<Value> =
        told.lines().map(|line| serde_json::from_str(line).expect("a line is an object")).collect();
    let (result, rounds) = lines.split_last().unwrap();
    assert_eq!(rounds.len(), 16);
    assert!(rounds.iter().all(|round| round["event"] == "round" && round["qps"].is_number()));
    let stored = home.json(0, ["show"]);
    assert_eq!((&result["event"], &result["result"]), (&"result".into(), &stored));
}

#[test]
fn shells_and_man_have_what_they_read() {
    let home = Home::new();
    for shell in ["bash", "zsh", "fish"] {
        let done = home.dbdyno(["completions", shell]);
        assert!(done.code == 0 && done.out.contains("compare"), "{shell}: {done:?}");
    }
    let pages = home.path().join("man");
    assert_eq!(home.dbdyno(["man", pages.to_str().unwrap()]).code, 0);
    let page = std::fs::read_to_string(pages.join("dbdyno-compare.1")).unwrap();
    assert!(page.contains("Compare two or more servers"), "{page}");
}
