//! Crews on a real SQLite: amounts are exact, rates are kept, and what stops them is said.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use dbdyno_load::crew::{Conditions, Crew, CrewMeasured, TimedRound};
use dbdyno_load::{Connector, LoadError, SqliteFile};
use dbdyno_model::{Dialect, Processors};
use dbdyno_workload::insert_benchmark::{
    BenchmarkStep, Class, ConnectionRole, RolePart, Sizes, sql,
};
use dbdyno_workload::{Content, Load, ReadyLoad, Spec};

struct Place {
    _dir: tempfile::TempDir,
    connector: Connector,
}

impl Place {
    fn new() -> Place {
        let dir = tempfile::tempdir().unwrap();
        let pragmas = [("journal_mode", "wal"), ("synchronous", "off")];
        let pragmas = pragmas.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
        let path = dir.path().join("x");
        let place = Place { _dir: dir, connector: Connector::Sqlite(SqliteFile { path, pragmas }) };
        place.ask(&sql::create(Dialect::Sqlite, 0));
        place
    }

    fn ask(&self, sql: &str) -> Option<i64> {
        let rows = self.connector.connect().unwrap().query(sql).unwrap();
        rows.first_value().and_then(|value| value.parse().ok())
    }
}

fn scripts(step: BenchmarkStep) -> Vec<(ConnectionRole, ReadyLoad)> {
    let mut options = Spec::parse("x?nr1=1000&nr2=500").unwrap().options();
    let sizes = Sizes::of_whole(&mut options).unwrap();
    let part = RolePart::of_foreground(step, &sizes, 1, 3);
    let ready = |role| {
        let content = Content::Dialogue(std::sync::Arc::new(RolePart { role, ..part.clone() }));
        let load = Load { content, ..step.load(&sizes, 1, 3) };
        (role, ReadyLoad::compile(&load, Dialect::Sqlite).unwrap())
    };
    RolePart::step_roles(step, &sizes, Dialect::Sqlite).into_iter().map(ready).collect()
}

static GO_ON: AtomicBool = AtomicBool::new(false);
const FREE: Conditions<'_> = Conditions { slow: 0.0, processors: Processors::ANY, stop: &GO_ON };

fn commits(place: &Place, step: BenchmarkStep, commits: u64) -> CrewMeasured {
    let scripts = scripts(step);
    let mut crew = Crew::open(&place.connector, &scripts, &[0]).unwrap();
    crew.run_commits(commits, &FREE, &mut |_| {}).unwrap()
}

/// What is filed by class is what was counted, in whole slots at most.
fn check_classes(measured: &CrewMeasured, expected: &[Class]) {
    let names: Vec<&str> = measured.classes.iter().map(|class| class.name.as_str()).collect();
    assert_eq!(names, expected.iter().map(|class| class.name()).collect::<Vec<_>>());
    for (filed, class) in measured.classes.iter().zip(expected) {
        assert_eq!(filed.count, measured.turns_of(*class).count);
        assert_eq!(filed.times.as_ref().unwrap().latency.count(), filed.count);
        assert_eq!(filed.slots.len(), measured.series.statements.len());
        assert!(filed.slots.iter().sum::<u64>() <= filed.count);
    }
}

#[test]
fn amounts_are_exact_whatever_the_step() {
    let place = Place::new();
    let filled = commits(&place, BenchmarkStep::FillInKeyOrder, 10);
    assert_eq!(filled.turns_of(Class::Insert).count, 10);
    assert_eq!(filled.turns_of(Class::Delete).count, 0);
    assert_eq!(filled.latency.count(), 10);
    assert_eq!(filled.rows_changed, 1000);
    assert!(filled.classes.is_empty(), "there are inserts only");
    assert_eq!(place.ask("SELECT count(*) FROM pi1"), Some(1000));

    let scripts = scripts(BenchmarkStep::MakeIndexes);
    let mut crew = Crew::open(&place.connector, &scripts, &[0]).unwrap();
    let made = crew.run_scripts(&[sql::indexes(Dialect::Sqlite, 0)], &FREE, &mut |_| {}).unwrap();
    assert_eq!(made.turns_of(Class::Insert).count, 1);
    let indexes = "SELECT count(*) FROM sqlite_schema WHERE type = 'index' AND name LIKE 'pi1_%'";
    assert_eq!(place.ask(indexes), Some(3));

    let written = commits(&place, BenchmarkStep::WriteInBulk, 8);
    assert_eq!(
        (written.turns_of(Class::Insert).count, written.turns_of(Class::Delete).count),
        (8, 8)
    );
    assert_eq!(written.turns_of(Class::GetMin).count, 1);
    assert_eq!(written.rows_changed, 800);
    check_classes(&written, &[Class::Insert, Class::Delete]);
    assert_eq!(place.ask("SELECT count(*) FROM pi1"), Some(1100));
    assert_eq!(place.ask("SELECT min(transactionid) FROM pi1"), Some(401));
    assert_eq!(place.ask("SELECT max(transactionid) FROM pi1"), Some(1500));
}

#[test]
fn chunks_go_on_where_the_last_one_ended() {
    let place = Place::new();
    let (whole, parts) = (Place::new(), [3, 4, 3]);
    commits(&whole, BenchmarkStep::FillInKeyOrder, 10);
    let scripts = scripts(BenchmarkStep::FillInKeyOrder);
    let mut crew = Crew::open(&place.connector, &scripts, &[0]).unwrap();
    for part in parts {
        crew.run_commits(part, &FREE, &mut |_| {}).unwrap();
    }
    assert_eq!(crew.next_commits(), [10]);
    let sum = "SELECT sum(customerid * transactionid) FROM pi1";
    assert_eq!(place.ask(sum), whole.ask(sum));
}

#[test]
fn a_background_that_can_be_kept_is_kept_and_one_that_cannot_falls_short() {
    let place = Place::new();
    commits(&place, BenchmarkStep::FillInKeyOrder, 10);
    let scripts = scripts(BenchmarkStep::RangeQueries(1000));
    let mut crew = Crew::open(&place.connector, &scripts, &[0]).unwrap();
    let timed = |rate| TimedRound {
        rate,
        rows_per_commit: 50,
        first_query: 0,
        lead_in: Duration::from_millis(100),
        window: Duration::from_secs(1),
    };
    let kept = crew.run_timed(&timed(100), &FREE, &mut |_| {}).unwrap();
    assert_eq!(kept.rows_due, Some(100));
    assert!(kept.turns_of(Class::Query).count > 0);
    assert_eq!(kept.latency.count(), kept.turns_of(Class::Query).count);
    check_classes(&kept, &[Class::Insert, Class::Delete, Class::Query]);
    let query = &kept.classes[2];
    assert_eq!(query.times.as_ref().map(|times| &times.latency), Some(&kept.latency));
    assert_eq!(query.slots, kept.series.statements);
    assert!(crew.next_commits()[0] <= 3, "{:?}", crew.next_commits());
    let short = crew.run_timed(&timed(1_000_000_000), &FREE, &mut |_| {}).unwrap();
    assert_eq!(short.rows_due, Some(1_000_000_000));
    let inserted = short.turns_of(Class::Insert).count * 50;
    assert!(inserted > 0 && inserted < 100_000_000, "{inserted}");
    let rows = place.ask("SELECT count(*) FROM pi1");
    assert_eq!(rows, Some(1000), "as many deleted as inserted");
}

#[test]
fn a_request_to_stop_ends_a_round() {
    let place = Place::new();
    let stop = AtomicBool::new(false);
    let scripts = scripts(BenchmarkStep::FillInKeyOrder);
    let mut crew = Crew::open(&place.connector, &scripts, &[0]).unwrap();
    let conditions = Conditions { stop: &stop, ..FREE };
    let stopped = crew.run_commits(u64::MAX / 2, &conditions, &mut |_| {
        stop.store(true, Ordering::Relaxed);
    });
    assert!(matches!(stopped, Err(LoadError::Interrupted)), "{stopped:?}");
}

#[test]
fn a_server_that_has_no_such_table_is_not_measured() {
    let place = Place::new();
    place.ask("DROP TABLE pi1");
    let scripts = scripts(BenchmarkStep::FillInKeyOrder);
    let mut crew = Crew::open(&place.connector, &scripts, &[0]).unwrap();
    let error = crew.run_commits(1, &FREE, &mut |_| {}).unwrap_err().to_string();
    assert!(error.contains("no such table"), "{error}");
}
