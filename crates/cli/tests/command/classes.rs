//! What happens inside a round, by class of event and of statement, and in which unit it is told.

use dbdyno_model::{Arm, Round, Run};
use dbdyno_store::Store;

use crate::common::{Done, Home, SHORT, finish, turn};

const ARM: &str = "sqlite:?journal_mode=WAL&synchronous=OFF";

/// Compares an arm with itself, and reads back what was stored.
fn compare(more: &[&str]) -> (Done, Run) {
    let (home, store) = (Home::new(), tempfile::tempdir().unwrap());
    let _turn = turn();
    let path = store.path().join("results.db");
    let args = [&["compare", ARM, ARM][..], &SHORT, &["--rounds", "1", "--all"], more].concat();
    let mut command = home.command(args);
    command.env("DBDYNO_STORE", &path);
    let done = finish(command);
    assert_eq!(done.code, 3, "one round is too few for a verdict: {done:?}");
    let store = Store::open(&path).unwrap();
    let run = store.load(&store.resolve_run("@last").unwrap()).unwrap();
    (done, run)
}

fn counts(round: &Round) -> Vec<(&str, u64)> {
    round.classes.iter().map(|class| (class.name.as_str(), class.count)).collect()
}

#[test]
fn statements_of_a_transaction_are_counted_by_class() {
    let (_, run) = compare(&["--load", "read-write", "--clients", "2"]);
    assert_eq!(run.rounds.len(), 2);
    for round in &run.rounds {
        let once = round.events;
        let expected = [
            ("point", 10 * once),
            ("simple-range", once),
            ("sum-range", once),
            ("order-range", once),
            ("distinct-range", once),
            ("update-index", once),
            ("update-nonindex", once),
            ("delete", once),
            ("insert", once),
            ("begin", once),
            ("commit", once),
        ];
        assert_eq!(counts(round), expected);
        let sum: u64 = round.classes.iter().map(|class| class.count).sum();
        assert_eq!(sum, round.statements);
        for slot in 0..round.series.statements.len() {
            let sum: u64 = round.classes.iter().map(|class| class.slots[slot]).sum();
            assert_eq!(sum, round.series.statements[slot], "slot {slot}");
        }
        assert!(round.classes.iter().all(|class| class.times.is_none()));
    }
}

/// Loads with one class keep nothing twice; each is told in its unit, under a heading of its own.
#[test]
fn cells_are_told_in_the_unit_of_their_load() {
    let loads = "point-query,scan,bulk-insert?rows=50";
    let (done, run) = compare(&["--load", loads, "--clients", "1"]);
    assert!(run.rounds.iter().all(|round| round.classes.is_empty()));
    let (queries, rest) = done.out.split_once("\nrows/s").expect("a heading for rows");
    assert!(queries.contains("\nqueries/s") && queries.contains("\npoint-query"), "{}", done.out);
    let (rows, _) = rest.split_once("cost and latency").unwrap();
    assert!(rows.contains("\nscan") && rows.contains("\nbulk-insert?rows=50"), "{}", done.out);
    let comparison = dbdyno_judge::compare_run(run.first_pair()).unwrap();
    for (cell, rows) in comparison.cells.iter().zip([1.0, 2000.0, 50.0]) {
        let ratio = cell.arms.base.rate.estimate / cell.arms.base.qps.estimate;
        assert!((ratio / rows - 1.0).abs() < 1e-9, "{}: {ratio}", cell.cell);
    }
}

/// With a schedule, each class has its response times, from when its events were meant.
#[test]
fn at_a_rate_classes_have_response_times() {
    let load = "tpcc?warehouses=1&items=1000&customers=60";
    let (done, run) = compare(&["--load", load, "--clients", "4", "--rate", "poisson:60"]);
    for arm in Arm::BOTH {
        let round = run.rounds.iter().find(|round| round.key.arm == arm.into()).unwrap();
        let open = round.open.as_ref().unwrap();
        let events: u64 = round.classes.iter().map(|class| class.count).sum();
        assert_eq!(events, round.events);
        let responses = round.classes.iter().map(|class| {
            let times = class.times.as_ref().unwrap();
            times.response.as_ref().unwrap().count()
        });
        assert_eq!(responses.sum::<u64>(), open.offered, "whatever was meant, given up or not");
    }
    let heading = format!("{load} at 4 clients by class, response times from the intended start");
    let flat: Vec<&str> = done.out.split_whitespace().collect();
    assert!(flat.join(" ").contains(&heading), "{}", done.out);
    assert!(done.out.contains("new-order p95"), "{}", done.out);
}
