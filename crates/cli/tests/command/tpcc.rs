//! TPC-C on real servers: filled, checked for consistency, asked by several terminals, checked
//! again. A condition that is broken would end the run with code 2.

use std::process::Stdio;

use dbdyno_model::Product;
use serde_json::Value;

use crate::common::{Home, SHORT, end, finish, turn};
use crate::servers::{self, Running};

/// Small enough for seconds, with two warehouses so that some rows are remote.
const LOAD: &str = "tpcc?warehouses=2&items=1000&customers=60";

fn ask(home: &Home, server: &str, load: &str, clients: &str) -> Value {
    let _turn = turn();
    let store = tempfile::tempdir().unwrap();
    let more = ["--load", load, "--clients", clients, "--rounds", "1", "--format", "json"];
    let args = [&["compare", server, server][..], &SHORT, &more].concat();
    let mut command = home.command(args);
    command.env("DBDYNO_STORE", store.path().join("results.db"));
    let done = finish(command);
    assert_eq!(done.code, 3, "one round is too few for a verdict: {done:?}");
    serde_json::from_str(&done.out).unwrap()
}

fn saturated(home: &Home, server: &str) {
    let run = ask(home, server, LOAD, "4");
    let cell = &run["cells"][0];
    assert_eq!(cell["load"], LOAD);
    for arm in ["base", "test"] {
        let number = |name: &str| cell[arm][name].as_f64().unwrap_or(f64::NAN);
        // New-Orders and Payments make up nearly all of the mix; the shortest has ten statements.
        assert!(number("qps") > 10.0 * number("tps"), "{cell}");
        assert!(number("server_cpu_us_per_op") > 0.0, "{cell}");
        let minute = 60.0 * number("tps");
        assert!((number("tpm_total") / minute - 1.0).abs() < 1e-9, "{cell}");
        assert!((number("tpm_c") / minute - 0.442).abs() < 1e-9, "{cell}");
    }
}

#[test]
fn terminals_saturate_mariadb_and_leave_it_consistent() {
    let Some(home) = servers::home() else { return };
    saturated(&home, "mariadb:10.11");
}

#[test]
fn terminals_saturate_postgres_and_leave_it_consistent() {
    let Some(home) = servers::home() else { return };
    saturated(&home, "postgres:15");
}

#[test]
fn terminals_saturate_the_embedded_arm_and_leave_it_consistent() {
    let home = Home::new();
    let run = ask(&home, "sqlite:?journal_mode=WAL&synchronous=OFF", LOAD, "2");
    let arm = &run["cells"][0]["test"];
    assert!(arm["tps"].as_f64().is_some_and(|tps| tps > 0.0), "{run}");
    // What asking costs by itself cannot be known of a load that depends on answers.
    assert!(arm["client_cpu_us_per_op"].is_null(), "{run}");
    assert!(arm["server_cpu_us_per_op"].as_f64().is_some_and(|cost| cost > 0.0), "{run}");
}

/// A terminal asks about every 21 seconds; a hundred, five times a second.
#[test]
fn terminals_that_think_ask_at_the_pace_of_people() {
    let home = Home::new();
    let load = "tpcc?warehouses=2&items=1000&customers=60&think=on";
    let run = ask(&home, "sqlite:?journal_mode=WAL&synchronous=OFF", load, "100");
    let tps = run["cells"][0]["base"]["tps"].as_f64().unwrap();
    assert!(tps < 15.0, "{tps} transactions a second of a hundred people: {run}");
}

/// Somebody changes a row behind the run's back, as a server that loses an update would: the check
/// at the end finds it.
#[test]
fn a_run_whose_tables_are_inconsistent_in_the_end_is_refused() {
    let Some(home) = servers::home() else { return };
    let _turn = turn();
    let running = Running::start(&home, Product::MariaDb, "10.11");
    let url = running.socket("dbdyno", "tampered");
    let store = tempfile::tempdir().unwrap();
    let path = store.path().join("results.db");
    let more = ["--load", LOAD, "--rounds", "3"];
    let mut command = home.command([&["compare", &url, &url][..], &SHORT, &more].concat());
    command.env("DBDYNO_STORE", &path).env("MYSQL_PWD", running.password());
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    home.wait_for_rounds(&mut child, &path, 1);
    let sql = "UPDATE tpcc_district SET d_ytd=d_ytd+1 WHERE d_w_id=2 AND d_id=7";
    running.connect("tampered").run(sql).unwrap();
    let done = end(child);
    assert_eq!(done.code, 2, "{done:?}");
    assert!(done.err.contains("consistency condition 1"), "{}", done.err);
    running.stop();
}
