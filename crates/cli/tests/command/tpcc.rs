//! TPC-C on real servers: filled, checked for consistency, asked by several terminals, checked
//! again. A condition that is broken would end the run with code 2.

use std::process::Stdio;

use dbdyno_model::{ArmIndex, Product, Round, Run};
use dbdyno_store::Store;
use serde_json::Value;

use crate::common::{Home, SHORT, end, finish, turn};
use crate::servers;
use crate::shared::Guest;

/// Small enough for seconds, with two warehouses so that some rows are remote.
const LOAD: &str = "tpcc?warehouses=2&items=1000&customers=60";

/// Measures one round of each arm: what is said of it, and what was stored.
fn ask(home: &Home, server: &str, load: &str, clients: &str) -> (Value, Run) {
    let _turn = turn();
    let store = tempfile::tempdir().unwrap();
    let more = ["--load", load, "--clients", clients, "--rounds", "1", "--format", "json"];
    let args = [&["compare", server, server][..], &SHORT, &more].concat();
    let (mut command, path) = (home.command(args), store.path().join("results.db"));
    command.env("DBDYNO_STORE", &path);
    let done = finish(command);
    assert_eq!(done.code, 3, "one round is too few for a verdict: {done:?}");
    let store = Store::open(&path).unwrap();
    let run = store.load(&store.resolve_run("@last").unwrap()).unwrap();
    (serde_json::from_str(&done.out).unwrap(), run)
}

fn saturated(home: &Home, server: &str) {
    let (told, run) = ask(home, server, LOAD, "4");
    let cell = &told["cells"][0];
    assert_eq!(cell["load"], LOAD);
    for arm in ["base", "test"] {
        let number = |name: &str| cell[arm][name].as_f64().unwrap_or(f64::NAN);
        // New-Orders and Payments make up nearly all of the mix; the shortest has ten statements.
        assert!(number("qps") > 10.0 * number("tps"), "{cell}");
        assert!(number("server_cpu_us_per_op") > 0.0, "{cell}");
        let minute = 60.0 * number("tps");
        assert!((number("tpm_total") / minute - 1.0).abs() < 1e-9, "{cell}");
        let round = run.rounds.iter().find(|round| round.key.arm.to_string() == arm);
        check_classes(&cell[arm], round.unwrap());
    }
    assert_eq!(
        (&cell["unit"], &cell["latency_since"]),
        (&"transactions/min".into(), &"sent".into())
    );
}

const CLASSES: [&str; 5] =
    ["new-order", "payment", "order-status", "delivery-background", "stock-level"];

/// What is told of the only round of an arm is what was counted in it, one by one, and the parts of
/// events that the ends of its window cut.
fn check_classes(arm: &Value, round: &Round) {
    let names: Vec<&str> = round.classes.iter().map(|class| class.name.as_str()).collect();
    assert_eq!(names, CLASSES);
    let counts: Vec<u64> = round.classes.iter().map(|class| class.count).collect();
    assert_eq!(counts.iter().sum::<u64>(), round.events, "each event is of one class");
    let cut = round.done_events() - round.events as f64;
    assert!(cut.abs() <= 2.0, "{cut}: one event at each end");
    let seconds = round.wall_ns as f64 / 1e9 * round.events as f64 / round.done_events();
    let near = |told: &Value, truth: f64| {
        let told = told.as_f64().unwrap_or(f64::NAN);
        assert!((told - truth).abs() <= truth.abs() * 1e-9, "{told} is not {truth}: {arm}");
    };
    near(&arm["tpm_c"], counts[0] as f64 * 60.0 / seconds);
    near(&arm["rate"], round.events as f64 * 60.0 / seconds);
    for (index, class) in round.classes.iter().enumerate() {
        let (times, told) = (class.times.as_ref().unwrap(), &arm["classes"][index]);
        assert_eq!((&told["class"], &told["counts"]), (&(&*class.name).into(), &"events".into()));
        assert_eq!(times.latency.count(), class.count);
        assert_eq!(times.response, None, "there is no schedule in the closed loop");
        assert!(class.slots.iter().sum::<u64>() <= class.count, "{class:?}");
        near(&told["per_second"], class.count as f64 / seconds);
        near(&told["latency_us"]["p99"], times.latency.quantile_ns(0.99) as f64 / 1e3);
    }
    assert!(counts[0] + counts[1] > 0, "{counts:?}");
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
    let (told, run) = ask(&home, "sqlite:?journal_mode=WAL&synchronous=OFF", LOAD, "2");
    let arm = &told["cells"][0]["test"];
    assert!(arm["tps"].as_f64().is_some_and(|tps| tps > 0.0), "{told}");
    // What asking costs by itself cannot be known of a load that depends on answers.
    assert!(arm["client_cpu_us_per_op"].is_null(), "{told}");
    assert!(arm["server_cpu_us_per_op"].as_f64().is_some_and(|cost| cost > 0.0), "{told}");
    check_classes(arm, run.rounds.iter().find(|round| round.key.arm == ArmIndex::TEST).unwrap());
}

/// A terminal asks about every 21 seconds; a hundred, five times a second.
#[test]
fn terminals_that_think_ask_at_the_pace_of_people() {
    let home = Home::new();
    let load = "tpcc?warehouses=2&items=1000&customers=60&think=on";
    let (told, _) = ask(&home, "sqlite:?journal_mode=WAL&synchronous=OFF", load, "100");
    let cell = &told["cells"][0];
    let tps = cell["base"]["tps"].as_f64().unwrap();
    assert!(tps < 15.0, "{tps} transactions a second of a hundred people: {told}");
    assert_eq!(cell["latency_since"], "intended");
}

/// Somebody changes a row behind the run's back, as a server that loses an update would: the check
/// at the end finds it.
#[test]
fn a_run_whose_tables_are_inconsistent_in_the_end_is_refused() {
    let Some(home) = servers::home() else { return };
    let _turn = turn();
    let guest = Guest::on(&home, Product::MariaDb, "10.11");
    let url = guest.url();
    let store = tempfile::tempdir().unwrap();
    let path = store.path().join("results.db");
    let more = ["--load", LOAD, "--rounds", "3"];
    let mut command = home.command([&["compare", &url, &url][..], &SHORT, &more].concat());
    command.env("DBDYNO_STORE", &path);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    home.wait_for_rounds(&mut child, &path, 1);
    let sql = "UPDATE tpcc_district SET d_ytd=d_ytd+1 WHERE d_w_id=2 AND d_id=7";
    guest.connect().run(sql).unwrap();
    let done = end(child);
    assert_eq!(done.code, 2, "{done:?}");
    assert!(done.err.contains("consistency condition 1"), "{}", done.err);
}
