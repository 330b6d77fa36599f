//! The reference engine as an arm, against SQLite: every load there is, at small size.
//!
//! ```text
//!   one by one     operations 0 … of one client on both: the same rows read and changed by each of
//!                  them, and in the end the same rows in all tables
//!   together       several clients for a moment: something is finished, every answer is checked,
//!                  and the tables are consistent
//! ```
//!
//! What is asked is a pure function of the seed, so each of the two is an oracle for the other. The
//! list of loads is not kept by hand.

use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use dbdyno_load::{
    Answer, Connector, EngineArm, LoadError, Measured, RoundSpec, Session, SqliteFile,
    check_invariants, drop_tables, fill, run_round,
};
use dbdyno_model::design::{Device, Gate, View, Wake};
use dbdyno_model::{Design, Dialect, Processors, Stage};
use dbdyno_workload::{Catalog, Custom, Load, ReadyLoad, Tables, Trend, suite};

static GO_ON: AtomicBool = AtomicBool::new(false);
const TABLES: Tables = Tables { count: 2, rows: 1_500, seed: 11 };
/// Operations of one client, one by one. TPC-C deals all five transactions in so many.
const OPERATIONS: u64 = 40;
/// The operations of clients that work together begin here, out of reach of the others.
const TOGETHER: u64 = 1 << 40;
/// A round that finishes nothing on a busy host is tried again, four times as long.
const WINDOWS_MS: [u64; 4] = [40, 160, 640, 2_560];
const OPTIONS: [&str; 9] = [
    "read-only?trx=off",
    "read-write?trx=off&rand=latest",
    "write-only?trx=off&rand=zipfian",
    "update-only?trx=off",
    "update-inlist?rand=special",
    "delete?refill=on",
    "insert?refill=on",
    "read-write?range=7",
    "join?rows=10&rand=hotspot",
];
const SMALL_TPCC: &str = "tpcc?items=200&customers=30";
/// Columns that hold when something was done.
const TIMES_OF_DAY: [&str; 3] = ["h_date", "o_entry_d", "ol_delivery_d"];
const SHOP: &str = "examples/shop.toml";

/// An arm in a directory of its own.
struct Place {
    name: &'static str,
    connector: Connector,
    dialect: Dialect,
    _directory: tempfile::TempDir,
}

impl Place {
    fn sqlite() -> Place {
        let directory = tempfile::tempdir().unwrap();
        let pragmas = [("journal_mode", "WAL"), ("synchronous", "off")];
        let pragmas = pragmas.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
        let file = SqliteFile { path: directory.path().join("arm.sqlite"), pragmas };
        let connector = Connector::Sqlite(file);
        Place { name: "SQLite", connector, dialect: Dialect::Sqlite, _directory: directory }
    }

    fn engine(design: &Design) -> Place {
        let directory = tempfile::tempdir().unwrap();
        let connector = Connector::Engine(EngineArm::open(directory.path(), design).unwrap());
        Place { name: "engine", connector, dialect: Dialect::Engine, _directory: directory }
    }

    fn fill(&self, load: &Load) {
        let filled = fill(&self.connector, self.dialect, &*load.dataset, &GO_ON, &mut |_| {});
        filled.unwrap_or_else(|error| panic!("{}, {}: {error}", self.name, load.dataset.key()));
    }

    /// The rows of a table as text, in an order that is the same everywhere.
    fn content(&self, table: &str, columns: &[String]) -> Vec<String> {
        let mut client = self.connector.connect().unwrap();
        let sql = format!("SELECT {} FROM {table}", columns.join(", "));
        let rows = client.query(&sql).unwrap_or_else(|e| panic!("{}: {e}: {sql}", self.name)).rows;
        let line =
            |row: Vec<Option<String>>| row.into_iter().map(plain).collect::<Vec<_>>().join("|");
        let mut lines: Vec<String> = rows.into_iter().map(line).collect();
        lines.sort_unstable();
        lines
    }
}

/// A value as both show it: SQLite has no decimals, and adds money as doubles.
fn plain(value: Option<String>) -> String {
    let Some(text) = value else { return "NULL".to_owned() };
    match text.parse::<f64>() {
        Ok(number) if text.contains('.') => {
            let rounded = format!("{number:.4}");
            rounded.trim_end_matches('0').trim_end_matches('.').to_owned()
        }
        _ => text,
    }
}

fn in_memory() -> Design {
    Design { device: Device::None, ..Design::default() }
}

fn loads() -> Vec<Load> {
    let mut catalog = Catalog::default();
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(SHOP);
    let shop = Custom::parse(SHOP, &std::fs::read_to_string(file).unwrap()).unwrap();
    let own = shop.name.clone();
    catalog.add(shop).unwrap();
    let everything = suite::everything();
    let labels = everything.iter().filter_map(Stage::measured).map(|label| match label {
        "tpcc" => SMALL_TPCC,
        label => label,
    });
    let labels = labels.chain(OPTIONS).chain([own.as_str()]);
    let loads = labels.map(|label| catalog.resolve(label, TABLES).unwrap());
    // Those that take rows away come last: others look for every row.
    let takes = |load: &Load| matches!(load.trend, Trend::Shrinks | Trend::ShrinksAndIsRefilled);
    let (last, mut loads): (Vec<Load>, Vec<Load>) = loads.partition(takes);
    loads.extend(last);
    loads
}

/// The loads whose tables have not been made for one before.
fn datasets(loads: &[Load]) -> Vec<Load> {
    let mut filled: Vec<Load> = Vec::new();
    for load in loads {
        if !filled.iter().any(|known| known.dataset.key() == load.dataset.key()) {
            filled.push(load.clone());
        }
    }
    filled
}

fn one_by_one(load: &Load, place: &Place) -> Result<Vec<Answer>, String> {
    let failed = |error: LoadError| format!("{} on {}: {error}", load.name, place.name);
    let ready = ReadyLoad::compile(load, place.dialect).unwrap();
    let mut session = Session::open(&place.connector, &ready, 0).map_err(failed)?;
    let answers = (0..OPERATIONS).map(|operation| {
        session.make(operation);
        session.ask(operation)
    });
    answers.collect::<Result<_, _>>().map_err(failed)
}

/// What is wrong with a load when it is asked one by one. SQLite counts a row as changed that has
/// the new values already; MySQL and the engine do not.
fn compared(load: &Load, places: &[Place; 2]) -> Result<(), String> {
    let [one, other] = places.each_ref().map(|place| one_by_one(load, place));
    let told = |answer: &Answer| {
        let changed = if load.name == "shop" { 0 } else { answer.rows_changed };
        (answer.statements, answer.rows_read, changed, answer.kind)
    };
    let (one, other) = (one?, other?);
    let mut pairs = one.iter().zip(&other).enumerate();
    match pairs.find(|(_, (one, other))| told(one) != told(other)) {
        Some((operation, (one, other))) => {
            Err(format!("{}, operation {operation}: {one:?} against {other:?}", load.name))
        }
        None => Ok(()),
    }
}

/// Tables whose rows are not the same on both, in all columns but these.
fn unlike(load: &Load, places: &[Place; 2], but: &[&str]) -> Vec<String> {
    let mut found = Vec::new();
    for table in load.dataset.tables(places[0].dialect) {
        let mut columns = table.columns;
        columns.retain(|column| !but.contains(&column.as_str()));
        let [one, other] = places.each_ref().map(|place| place.content(&table.name, &columns));
        if one == other {
            continue;
        }
        let pairs = one.iter().zip(&other);
        let differ = pairs.clone().find(|(one, other)| one != other);
        let (name, rows, others) = (&table.name, one.len(), other.len());
        found.push(format!("table {name}: {rows} and {others} rows, first {differ:?}"));
    }
    found
}

fn round(load: &Load, place: &Place, clients: u32) -> Result<Measured, LoadError> {
    let ready = ReadyLoad::compile(load, place.dialect).unwrap();
    let mut outcome = Err(LoadError::NothingFinished);
    for (attempt, window_ms) in WINDOWS_MS.into_iter().enumerate() {
        let spec = RoundSpec {
            load: &ready,
            connector: &place.connector,
            clients,
            first_operation: TOGETHER + ((attempt as u64) << 32),
            lead_in: Duration::from_millis(5),
            window: Duration::from_millis(window_ms),
            think: None,
            slow: 0.0,
            processors: Processors::ANY,
            stop: &GO_ON,
        };
        outcome = run_round(&spec, &mut |_| {});
        if !matches!(outcome, Err(LoadError::NothingFinished)) {
            break;
        }
    }
    outcome
}

/// What is wrong with a load when several clients ask at once.
fn together(load: &Load, place: &Place, clients: u32) -> Option<String> {
    match round(load, place, clients) {
        Ok(measured) if measured.events > 0 => None,
        Ok(measured) => Some(format!("{}: {:?}", load.name, measured.answer)),
        Err(error) => Some(format!("{}: {error}", load.name)),
    }
}

#[test]
fn every_load_does_the_same_on_the_engine_and_on_sqlite() {
    let places = [Place::engine(&in_memory()), Place::sqlite()];
    let loads = loads();
    let datasets = datasets(&loads);
    let mut wrong = Vec::new();
    for load in &datasets {
        places.iter().for_each(|place| place.fill(load));
        wrong.extend(unlike(load, &places, &[]));
    }
    for load in &loads {
        wrong.extend(compared(load, &places).err());
    }
    for load in &datasets {
        wrong.extend(unlike(load, &places, &TIMES_OF_DAY));
    }
    assert!(wrong.is_empty(), "{} of {} loads:\n{}", wrong.len(), loads.len(), wrong.join("\n"));
}

#[test]
fn every_load_runs_with_several_clients_at_once() {
    let place = Place::engine(&in_memory());
    let loads = loads();
    let datasets = datasets(&loads);
    datasets.iter().for_each(|load| place.fill(load));
    let mut wrong: Vec<String> =
        loads.iter().filter_map(|load| together(load, &place, 4)).collect();
    for load in &datasets {
        let checked = check_invariants(&place.connector, place.dialect, &*load.dataset);
        wrong.extend(checked.err().map(|error| format!("{}: {error}", load.name)));
    }
    assert!(wrong.is_empty(), "{} of {} loads:\n{}", wrong.len(), loads.len(), wrong.join("\n"));
}

#[test]
fn a_design_changes_no_answer() {
    let designs = [
        Design { view: View::Csn, wake: Wake::Broadcast, ..in_memory() },
        Design { view: View::Hybrid, gate: Gate::Pool(2), lock_shards: 1, ..in_memory() },
        Design { device: Device::Simulated(200), ..Design::default() },
    ];
    let catalog = Catalog::default();
    let of = |label| catalog.resolve(label, TABLES).unwrap();
    let loads = [of("read-write"), of(SMALL_TPCC)];
    for design in designs {
        let place = Place::engine(&design);
        for load in &loads {
            place.fill(load);
            assert_eq!(together(load, &place, 8), None, "{design:?}");
            check_invariants(&place.connector, place.dialect, &*load.dataset).unwrap();
        }
    }
}

#[test]
fn tables_come_go_and_are_not_overwritten() {
    let place = Place::engine(&in_memory());
    let load = Catalog::default().resolve("point-query", TABLES).unwrap();
    place.fill(&load);
    let again = fill(&place.connector, place.dialect, &*load.dataset, &GO_ON, &mut |_| {});
    assert!(matches!(&again, Err(LoadError::TableExists(name)) if name == "sbtest1"));
    let names = ["sbtest1".to_owned(), "sbtest2".to_owned()];
    drop_tables(&place.connector, &names).unwrap();
    let stop = AtomicBool::new(true);
    let stopped = fill(&place.connector, place.dialect, &*load.dataset, &stop, &mut |_| {});
    assert!(matches!(stopped, Err(LoadError::Interrupted)));
    place.fill(&load);
}

#[test]
fn errors_have_mysqls_numbers() {
    let place = Place::engine(&in_memory());
    let mut client = place.connector.connect().unwrap();
    client.run("CREATE TABLE t (id INT PRIMARY KEY, k INT NOT NULL)").unwrap();
    client.run("INSERT INTO t VALUES (1, 1)").unwrap();
    for (sql, code) in [
        ("INSERT INTO t VALUES (1, 2)", "error 1062"),
        ("INSERT INTO t VALUES (2, NULL)", "error 1048"),
        ("SELECT * FROM nowhere", "error 1146"),
        ("CREATE TABLE t (id INT)", "error 1050"),
        ("SELECT x FROM t", "error 1054"),
        ("SELECT * FROM t PROCEDURE ANALYSE()", "error 1235"),
        ("SELECT", "error 1064"),
        ("SELECT ?", "error 1210"),
    ] {
        let error = client.run(sql).unwrap_err();
        assert!(!error.is_fatal() && error.to_string().contains(code), "{sql}: {error}");
    }
    assert_eq!(client.query("SELECT count(*) FROM t").unwrap().single(), Some("1"));
    let mut plans = client.query("EXPLAIN SELECT k FROM t WHERE id=1").unwrap();
    assert_eq!(plans.rows.remove(0), [Some("t PRIMARY =".to_owned())]);
}
