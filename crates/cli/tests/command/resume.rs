//! Runs that were killed or interrupted and go on.

use std::collections::BTreeSet;

use dbdyno_model::{Run, RunStatus};
use nix::sys::signal::Signal;
use serde_json::Value;

use crate::common::{Done, Home, end, signal};

const STAGES: &str = "point-query.pre,update-nonindex,settle,point-query";
const PAIRS: u32 = 8;

fn compare() -> Vec<&'static str> {
    let flags = "--quick --rounds 8 --seconds 0.5 --warm-up 0.2 --rows 2000 --load";
    let mut args = vec!["compare", "mock:?noise=0.02", "mock:?noise=0.02&slow=5%"];
    args.extend(flags.split(' '));
    args.push(STAGES);
    args
}

fn codes(run: &Value) -> Vec<&str> {
    let warnings = run["warnings"].as_array().unwrap().iter();
    warnings.map(|warning| warning["code"].as_str().unwrap()).collect()
}

/// Every round is there once, what was there is as it was, and at most the pair in which the run
/// stopped is not whole.
fn check_whole(before: &Run, after: &Run) {
    assert_eq!(after.status, RunStatus::Complete);
    assert_eq!(after.id, before.id);
    assert_eq!(after.plan, before.plan);
    assert_eq!(after.rounds[..before.rounds.len()], before.rounds);
    let text = |round: &dbdyno_model::Round| format!("{:?}", round.key);
    let keys: BTreeSet<String> = after.rounds.iter().map(text).collect();
    assert_eq!(keys.len(), after.rounds.len(), "a round was measured twice");
    let alone = before.rounds.len() % 2;
    let cells = after.plan.cells().len();
    assert_eq!(after.rounds.len(), cells * 2 * PAIRS as usize - alone);
}

#[test]
fn a_killed_run_goes_on_where_it_stopped() {
    let home = Home::new();
    // The second of three cells: one is whole, one is half measured, one was not begun.
    let mut child = home.start_and_halt(compare(), 21);
    let busy = home.dbdyno(["resume"]);
    assert_eq!(busy.code, 2, "{busy:?}");
    assert!(busy.err.contains("another dbdyno is measuring run"), "{busy:?}");
    child.kill().unwrap();
    child.wait().unwrap();
    let before = home.last_run();
    assert_eq!((before.status, before.rounds.len()), (RunStatus::Partial, 21));

    let Done { code, out, err } = home.dbdyno(["resume", "--format", "json"]);
    assert!([0, 3].contains(&code), "{err}");
    for part in ["are measured and kept", "update-nonindex at 1 client: the tables are new"] {
        assert!(err.contains(part), "{part:?} is missing in: {err}");
    }
    assert!(!err.contains("point-query.pre at 1 client: the tables"), "reads are not repeated");
    let run: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(run["status"], "complete");
    let codes = codes(&run);
    assert!(codes.contains(&"resumed") && codes.contains(&"settled"), "{codes:?}");
    check_whole(&before, &home.last_run());

    let again = home.dbdyno(["resume"]);
    assert_eq!(again.code, 2, "{again:?}");
    assert!(again.err.contains("is complete"), "{again:?}");
}

/// All of Callaghan's loads, unattended, killed in the middle.
#[test]
fn a_whole_suite_is_measured_although_it_was_killed_on_the_way() {
    let home = Home::new();
    let flags = "--quick --rounds 1 --seconds 0.3 --warm-up 0.1 --rows 1000 --load sysbench-32";
    let args = ["compare", "mock:", "mock:"].into_iter().chain(flags.split(' '));
    let mut child = home.start_and_halt(args, 24);
    child.kill().unwrap();
    child.wait().unwrap();
    // A gate held for what was never measured.
    let shown = home.dbdyno(["show", "@last", "--gate", "rqps > 0.1", "--format", "junit"]);
    let skipped = shown.out.matches("planned and not measured").count();
    assert!(shown.code == 3 && skipped > 16, "{shown:?}");
    assert!(shown.out.contains("tests=\"32\""), "{shown:?}");
    let run = home.json(3, ["resume"]);
    assert_eq!(run["status"], "complete");
    assert_eq!(run["cells"].as_array().unwrap().len(), 32);
    let codes = codes(&run);
    let count = |wanted: &str| codes.iter().filter(|code| **code == wanted).count();
    assert_eq!((count("resumed"), count("environment-changed")), (1, 0), "{codes:?}");
    // Both settlings of an arm said the same, which is kept once.
    assert_eq!(count("settled"), 2, "{codes:?}");
}

#[test]
fn an_interrupted_run_says_how_to_go_on_and_does() {
    let home = Home::new();
    let child = home.start_and_halt(compare(), 2);
    signal(&child, Signal::SIGINT);
    let done = end(child);
    assert_eq!(done.code, 130, "{done:?}");
    let before = home.last_run();
    let command = format!("dbdyno resume {}", before.id);
    assert!(done.err.contains(&command), "{done:?}");
    let mut words = command.split(' ');
    assert_eq!(words.next(), Some("dbdyno"));
    let resumed = home.dbdyno(words);
    assert!([0, 3].contains(&resumed.code), "{resumed:?}");
    check_whole(&before, &home.last_run());
}
