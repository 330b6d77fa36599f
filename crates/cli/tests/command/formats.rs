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
    let [gate, cell] = [0, 1].map(|at| done.out.lines().nth(at).unwrap());
    assert_eq!(done.out.lines().count(), 2, "{done:?}");
    assert!(gate.starts_with("::error title=dbdyno%3A rqps > 0.95::gate rqps > 0.95 fails: "));
    assert!(cell.starts_with("::error title=dbdyno%3A point-query at 1 client::"), "{cell}");
    let told = std::fs::read_to_string(&summary).unwrap();
    assert!(
        told.starts_with("before\ngate rqps &gt; 0.95 fails: point-query at 1 client at 0."),
        "{told}"
    );
    assert!(told.contains("\n\n**test is slower on point-query"), "{told}");
    let without = compared(&home, "github", None).out;
    assert!(without.contains("::error") && without.contains("**test is slower"), "{without}");
}

#[test]
fn a_cell_is_a_test_that_fails_where_the_gate_does() {
    let home = Home::new();
    let told = compared(&home, "junit", None).out;
    assert!(told.contains("<testsuites name=\"dbdyno\" tests=\"2\" failures=\"2\" errors=\"0\""));
    assert_eq!(told.matches("<failure type=\"gate\" message=").count(), 2, "{told}");
    let shown = home.dbdyno(["show", "--format", "junit"]);
    let is_one_test = shown.out.contains("tests=\"1\" failures=\"0\" errors=\"0\"");
    assert!(shown.code == 0 && is_one_test, "no gate: {shown:?}");
}

/// How many tests, failures, errors and skipped ones a report of tests has: by its elements, which
/// are those that each suite and the whole say.
fn tests_of_junit(told: &str) -> [usize; 4] {
    let of_part = |part: &str| {
        ["<testcase ", "<failure ", "<error ", "<skipped "].map(|one| part.matches(one).count())
    };
    for (tag, parts) in [
        ("<testsuites ", vec![told]),
        ("<testsuite ", told.split_inclusive("</testsuite>\n").collect()),
    ] {
        for part in parts.into_iter().filter(|part| part.contains(tag)) {
            let [tests, failures, errors, skipped] = of_part(part);
            let head = part.split(tag).nth(1).unwrap().lines().next().unwrap();
            let counts = format!(
                " tests=\"{tests}\" failures=\"{failures}\" errors=\"{errors}\" \
                 skipped=\"{skipped}\" "
            );
            assert!(head.contains(&counts), "{head} has {counts}");
        }
    }
    of_part(told)
}

/// Gates from one that surely holds to one that surely fails, of two arms and of three: a test
/// fails exactly where the command ends with 1, is an error exactly where it ends with 3, and that
/// is so of the gate's own test, too.
#[test]
fn a_report_of_tests_agrees_with_the_exit_code() {
    for arms in [&[BASE, TEST][..], &[BASE, TEST, BASE]] {
        let home = Home::new();
        let short = ["--quick", "--rounds", "8", "--rows", "2000", "--clients", "1,4"];
        home.dbdyno([&["compare"][..], arms, &short].concat());
        let mut ends = std::collections::BTreeSet::new();
        for above in [0.5, 0.85, 0.88, 0.89, 0.895, 0.9, 0.905, 0.91, 0.92, 0.95, 1.0, 1.5] {
            let gate = format!("rqps > {above}");
            let [junit, github] = ["junit", "github"]
                .map(|to| home.dbdyno(["show", "--gate", &gate, "--format", to]));
            assert_eq!(junit.code, github.code, "{gate}");
            ends.insert(junit.code);
            let [tests, failures, errors, _] = tests_of_junit(&junit.out);
            assert_eq!(tests, 1 + 2 * (arms.len() - 1), "the gate and each cell: {junit:?}");
            assert_eq!((failures > 0, errors > 0), (junit.code == 1, junit.code == 3), "{junit:?}");
            let heads = junit.out.lines().filter(|line| line.contains("<testcase "));
            let names: std::collections::BTreeSet<&str> =
                heads.map(|line| line.split(" time=").next().unwrap()).collect();
            assert_eq!(names.len(), tests, "no two tests are taken for one: {names:?}");
            let name = format!("classname=\"dbdyno.gate\" name=\"rqps &gt; {above}\"");
            let own = junit.out.split(&name).nth(1).unwrap().split("</testcase>").next().unwrap();
            let (fails, is_open) = (own.contains("<failure "), own.contains("<error "));
            assert_eq!((fails, is_open), (junit.code == 1, junit.code == 3), "{own}");
            let level = match junit.code {
                1 => "error",
                3 => "warning",
                _ => "notice",
            };
            let annotation = format!("::{level} title=dbdyno%3A {gate}::gate {gate} ");
            assert!(github.out.starts_with(&annotation), "{github:?}");
            assert_eq!(github.out.contains("::error "), junit.code == 1, "{github:?}");
        }
        assert_eq!(ends.into_iter().collect::<Vec<_>>(), [0, 1, 3]);
    }
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

/// A model that dies stands for a server whose load fails. What is empty is read as success, or as
/// nothing at all.
#[test]
fn a_command_that_could_not_be_carried_out_says_so_in_each_format_of_programs() {
    let home = Home::new();
    let failed = |format: &str| {
        let args = ["compare", BASE, "mock:?dies_s=5", "--load", "point-query"];
        let mut command = home.command([&args[..], &["--format", format]].concat());
        command.env_remove("GITHUB_STEP_SUMMARY");
        let done = finish(command);
        assert_eq!(done.code, 2, "{done:?}");
        assert!(done.err.contains("a model that was to die after 5 s"), "{done:?}");
        done.out
    };
    let told = failed("junit");
    assert_eq!(tests_of_junit(&told), [1, 0, 1, 0], "{told}");
    assert!(told.contains("<error type=\"command\" message=\"test, "), "{told}");
    assert!(told.contains("a model that was to die after 5 s"), "{told}");
    let told = failed("github");
    assert!(told.starts_with("::error title=dbdyno%3A dbdyno compare::test, "), "{told}");
    assert!(told.contains("\ndbdyno compare could not be carried out: test, "), "{told}");
    let last: Value = serde_json::from_str(failed("jsonl").lines().last().unwrap()).unwrap();
    assert!(last["event"] == "error" && last["error"].as_str().unwrap().contains("to die"));
    assert_eq!(failed("text"), "");
    let show = home.dbdyno(["show", "@nobody", "--format", "junit"]);
    assert!(show.code == 2 && tests_of_junit(&show.out) == [1, 0, 1, 0], "{show:?}");
    let history = home.dbdyno(["history", "no.csv", "--format", "junit"]);
    assert!(history.code == 2 && history.out.contains("could not read no.csv"), "{history:?}");
    // What stands behind the file of an experiment is not read before the file is.
    let run = home.dbdyno(["run", "no.toml", "--format", "junit"]);
    assert!(run.code == 2 && run.out.contains("name=\"dbdyno run\""), "{run:?}");
}

#[test]
fn why_a_run_broke_off_is_kept_until_it_is_complete() {
    let home = Home::new();
    let args = ["compare", BASE, "mock:?dies_s=40", "--load", "point-query", "--rounds", "20"];
    assert_eq!(home.dbdyno(args).code, 2);
    let why = "test, warming up point-query at 1 client: the connection broke: a model that was to \
               die after 40 s";
    let shown = home.dbdyno(["show", "--format", "json"]).out;
    let run: Value = serde_json::from_str(&shown).unwrap();
    let warnings = run["warnings"].as_array().unwrap();
    let broke_off = warnings.iter().find(|one| one["code"] == "broke-off").unwrap();
    assert_eq!(broke_off["text"], format!("it broke off: {why}"));
    let runs = home.dbdyno(["runs"]).out;
    assert!(runs.trim_end().ends_with(&format!("it broke off: {why}")), "{runs}");
}
