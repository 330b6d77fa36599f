//! The Insert Benchmark, run as a user runs it, at the smallest size.

use serde_json::Value;

use crate::common::{Home, measured_pairs, turn};
use crate::servers::{Store, home};

const STEPS: &str = "l.i0 l.x l.i1 l.i2 qr100 qp100";
const SIZE: &str = "insert-benchmark?nr1=2000&nr2=600&rates=100";

fn steps(run: &Value) -> Vec<Value> {
    run["insert_benchmark"].as_array().unwrap().clone()
}

fn names(steps: &[Value]) -> String {
    let names: Vec<_> = steps.iter().map(|step| step["step"].as_str().unwrap()).collect();
    names.join(" ")
}

/// Runs on two equal servers; gives the steps.
fn measured(home: &Home, target: &str, more: &[&str]) -> (Value, Vec<Value>) {
    let store = Store::new();
    let fixed = ["compare", target, target, "--rounds", "3", "--seconds", "1"];
    let format = ["--format", "json"];
    let args = [&fixed[..], more, &format].concat();
    let done = crate::common::finish(store.command(home, &args));
    assert_eq!(done.code, 3, "l.x is never decided: {}", done.err);
    let run: Value = serde_json::from_str(&done.out).unwrap();
    assert_eq!(run["status"], "complete");
    let steps = steps(&run);
    (run, steps)
}

fn on_a_server(target: &str) {
    let Some(home) = home() else { return };
    let _turn = turn();
    let (run, steps) = measured(&home, target, &["--load", SIZE, "--clients", "2"]);
    assert_eq!(names(&steps), STEPS);
    for step in &steps {
        let name = step["step"].as_str().unwrap();
        for arm in ["base", "test"] {
            let column = |column: &str| step[arm][column].as_f64();
            let needed = ["cpupq", "cspq", "dbgb1", "dbgb2", "rss", "maxop", "debt_end"];
            for needed in needed {
                let value = column(needed);
                assert!(value.is_some_and(|value| value >= 0.0), "{name} {arm} {needed}: {step}");
            }
            for unknown in ["rps", "wps", "rpq", "wpi"] {
                assert_eq!(column(unknown), None, "{name} {arm} {unknown}");
            }
            let deletes = ["l.i1", "l.i2", "qr100", "qp100"].contains(&name);
            let looked = step[arm]["getmin_count"].as_u64().unwrap() > 0;
            assert_eq!(looked, deletes, "{name} {arm}: {step}");
        }
        let queries = name.starts_with('q');
        assert_eq!(step["target_ips"].as_f64(), queries.then_some(200.0));
    }
    let cells = run["cells"].as_array().unwrap();
    let once = &cells[1];
    assert_eq!((measured_pairs(once), &once["verdict"]), (1, &"undecided".into()));
    assert_eq!(once["warnings"][0]["code"], "one-measurement");
    assert!(cells.iter().all(|cell| [1, 3].contains(&measured_pairs(cell))), "{run}");
}

#[test]
#[ignore = "soak: the steps on another server; PostgreSQL has them in make test"]
fn mariadb_goes_through_all_steps() {
    on_a_server("mariadb:10.11");
}

#[test]
fn postgres_goes_through_all_steps() {
    on_a_server("postgres:15");
}

/// The anchor of the SLA: nobody inserts ten million rows a second for one client.
fn unreachable(home: &Home, target: &str) {
    let load = "insert-benchmark?nr1=2000&nr2=600&rates=10000000";
    let (run, steps) = measured(home, target, &["--load", load]);
    let query_cells = run["cells"].as_array().unwrap().iter().skip(4);
    for (cell, step) in query_cells.zip(&steps[4..]) {
        assert_eq!(cell["verdict"], "undecided");
        let warnings = cell["warnings"].as_array().unwrap();
        let blocks = |warning: &&Value| warning["code"] == "background-rate-missed";
        let warning = warnings.iter().find(blocks).unwrap_or_else(|| panic!("{cell}"));
        assert_eq!(warning["severity"], "blocks");
        for arm in ["base", "test"] {
            assert_eq!(step[arm]["sla_missed"], true);
            assert!(step[arm]["sla_kept"].as_f64().unwrap() < 0.95);
        }
    }
}

#[test]
fn a_rate_that_cannot_be_reached_makes_its_cells_grey() {
    let home = Home::new();
    let _turn = turn();
    unreachable(&home, "sqlite:?journal_mode=wal&synchronous=off");
}

#[test]
#[ignore = "soak: the same on a server; SQLite has it in make test"]
fn a_rate_that_postgres_cannot_reach_makes_its_cells_grey() {
    let Some(home) = home() else { return };
    let _turn = turn();
    unreachable(&home, "postgres:15");
}

/// The other anchor: an arm that is left a tenth of its rate has less, in the steps that do nothing
/// but insert. What the judge says of that is tested elsewhere.
#[test]
fn a_slowed_arm_is_slower() {
    let home = Home::new();
    let _turn = turn();
    let args = [
        "compare",
        "sqlite:?journal_mode=wal&synchronous=off",
        "sqlite:?journal_mode=wal&synchronous=off&slow=90%",
        "--load",
        "l.i0?nr1=100000",
        "--rounds",
        "8",
        "--pin",
        "none",
        "--format",
        "json",
    ];
    let done = home.dbdyno(args);
    let run: Value = serde_json::from_str(&done.out).unwrap_or_else(|_| panic!("{done:?}"));
    let rqps = run["cells"][0]["rqps"].as_f64().unwrap();
    assert!(rqps < 0.6, "{rqps}");
}

#[test]
fn what_cannot_be_meant_is_refused_before_anything_starts() {
    let home = Home::new();
    for (args, hint) in [
        (&["--load", "insert-benchmark?nr9=1"][..], "nr1"),
        (&["--load", "insert-benchmark", "--clients", "1,2"], "one number of clients"),
        (&["--load", "qr100"], "build on each other"),
        (&["--load", "insert-benchmark,point-query"], "by itself"),
    ] {
        let done = home.dbdyno([&["compare", "sqlite:", "sqlite:"][..], args].concat());
        assert_eq!(done.code, 2, "{done:?}");
        assert!(done.err.contains(hint), "{hint}: {}", done.err);
    }
    let many = ["--load", SIZE, "--clients", "2"];
    let done = home.dbdyno([&["compare", "sqlite:", "sqlite:"][..], &many].concat());
    assert_eq!(done.code, 2, "{done:?}");
    assert!(done.err.contains("one writer"), "{}", done.err);
}
