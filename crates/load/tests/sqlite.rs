//! The embedded arm, filled and asked for real.

use std::os::unix::fs::MetadataExt as _;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use dbdyno_load::{
    Connector, FillProgress, LoadError, RoundMeasurement, RoundSpec, SqliteFile, drop_tables,
    fill_tables, run_round,
};
use dbdyno_model::{Dialect, Processors};
use dbdyno_workload::{
    Catalog, Content, Custom, Dataset as _, Load, ReadyLoad, Tables, Trend, catalog, resolve_load,
};

const TABLES: Tables = Tables { count: 2, rows: 1500, seed: 3 };

fn arm(directory: &tempfile::TempDir, pragmas: &[(&str, &str)]) -> Connector {
    let pragmas = pragmas.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
    Connector::Sqlite(SqliteFile { path: directory.path().join("arm.sqlite"), pragmas })
}

fn fill_all(connector: &Connector, stop: &AtomicBool) -> Result<Vec<FillProgress>, LoadError> {
    let mut seen = Vec::new();
    fill_tables(connector, Dialect::Sqlite, &TABLES, stop, &mut |progress| seen.push(progress))?;
    Ok(seen)
}

fn single(connector: &Connector, sql: &str) -> String {
    connector.connect().unwrap().query(sql).unwrap().first_value().unwrap_or("NULL").to_owned()
}

#[test]
fn tables_hold_the_rows_that_the_seed_says() {
    let directory = tempfile::tempdir().unwrap();
    let connector = arm(&directory, &[]);
    let seen = fill_all(&connector, &AtomicBool::new(false)).unwrap();
    assert_eq!(seen.last(), Some(&FillProgress::Finishing(1)));
    assert!(seen.contains(&FillProgress::Rows { done: 3000, total: 3000 }));
    assert_eq!(single(&connector, "SELECT count(*) FROM sbtest2"), "1500");
    assert_eq!(single(&connector, "SELECT max(id) - min(id) FROM sbtest1"), "1499");
    let plan =
        connector.connect().unwrap().query("EXPLAIN QUERY PLAN SELECT k FROM sbtest1 WHERE k=5");
    assert!(format!("{plan:?}").contains("COVERING INDEX k_1"), "{plan:?}");
    let mut row = Vec::new();
    TABLES.push(1, 76, &mut row);
    let stored =
        single(&connector, "SELECT id||'\t'||k||'\t'||c||'\t'||pad FROM sbtest2 WHERE id=77");
    assert_eq!(stored + "\n", String::from_utf8(row).unwrap());
}

/// SQLite has no columns of bits: bits are numbers there, in rows as in parameters.
#[test]
fn bits_of_a_custom_load_are_numbers() {
    let text = r#"
        name = "flags"
        group = "point"
        [[table]]
        name = "flag"
        rows = 300
        create = "CREATE TABLE flag (id INTEGER PRIMARY KEY, bits BIT(8), doc JSON)"
        columns = { id = "{row}", bits = "{bits 8}", doc = '{{"n": {= id * 2}}}' }
        [[step]]
        sql = "SELECT id FROM flag WHERE bits = {bits 8} OR id = {id}"
        rows = "1.."
    "#;
    let mut catalog = Catalog::default();
    catalog.add_custom(Custom::parse("flags.toml", text).unwrap()).unwrap();
    let load = catalog.resolve_load("flags", TABLES).unwrap();
    let directory = tempfile::tempdir().unwrap();
    let connector = arm(&directory, &[]);
    let stop = AtomicBool::new(false);
    fill_tables(&connector, Dialect::Sqlite, &*load.dataset, &stop, &mut |_| {}).unwrap();
    for unit in 0..300 {
        let mut row = Vec::new();
        load.dataset.push(0, unit, &mut row);
        let row = String::from_utf8(row).unwrap();
        let bits = u64::from_str_radix(row.split('\t').nth(1).unwrap(), 2).unwrap();
        let stored = "SELECT typeof(bits) || bits || ' ' || json_extract(doc, '$.n') FROM flag";
        let stored = single(&connector, &format!("{stored} WHERE id = {}", unit + 1));
        assert_eq!(stored, format!("integer{bits} {}", (unit + 1) * 2));
    }
}

/// What is in memory is pages of the file: another file has others. A log that a client left, as
/// one that was killed does, is not lost.
#[test]
fn it_is_opened_again_in_another_file_with_what_it_had() {
    for mode in ["delete", "persist", "wal"] {
        let directory = tempfile::tempdir().unwrap();
        let connector = arm(&directory, &[("journal_mode", mode), ("wal_autocheckpoint", "0")]);
        fill_all(&connector, &AtomicBool::new(false)).unwrap();
        let mut client = connector.connect().unwrap();
        client.run("UPDATE sbtest2 SET k=k+1 WHERE id=7").unwrap();
        std::mem::forget(client);
        let number = || std::fs::metadata(directory.path().join("arm.sqlite")).unwrap().ino();
        let (before, at) = (single(&connector, "SELECT sum(k) FROM sbtest2"), number());
        let again = connector.open_again().unwrap();
        assert_ne!(number(), at, "{mode}");
        assert_eq!(single(&again, "SELECT sum(k) FROM sbtest2"), before, "{mode}");
        assert_eq!(single(&again, "PRAGMA integrity_check"), "ok", "{mode}");
        assert!(!directory.path().join("arm.next").exists());
        // Where it cannot be copied it is left as it is.
        std::fs::create_dir(directory.path().join("arm.next")).unwrap();
        let error = again.clone().open_again().unwrap_err().to_string();
        assert!(error.contains("--restarts 0"), "{error}");
        assert_eq!(single(&again, "SELECT sum(k) FROM sbtest2"), before);
    }
}

#[test]
fn nothing_is_overwritten_and_a_stopped_filling_leaves_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let connector = arm(&directory, &[]);
    fill_all(&connector, &AtomicBool::new(false)).unwrap();
    let again = fill_all(&connector, &AtomicBool::new(false));
    assert!(matches!(&again, Err(LoadError::TableExists(name)) if name == "sbtest1"));
    drop_tables(&connector, &["sbtest1".into(), "sbtest2".into()]).unwrap();
    let stopped = fill_all(&connector, &AtomicBool::new(true));
    assert!(matches!(stopped, Err(LoadError::Interrupted)));
    assert_eq!(
        single(&connector, "SELECT count(*) FROM sqlite_master WHERE tbl_name LIKE 'sbtest%'"),
        "0"
    );
}

#[test]
fn every_load_runs_with_several_clients_and_keeps_the_tables_whole() {
    let directory = tempfile::tempdir().unwrap();
    let connector = arm(&directory, &[("journal_mode", "wal"), ("synchronous", "off")]);
    let stop = AtomicBool::new(false);
    fill_all(&connector, &stop).unwrap();
    let loads =
        catalog::entries().into_iter().map(|entry| resolve_load(entry.name, TABLES).unwrap());
    let (steady, moving): (Vec<_>, Vec<_>) = loads.partition(|load| load.trend == Trend::Steady);
    let mut filled = vec![TABLES.key()];
    for load in &steady {
        if !filled.contains(&load.dataset.key()) {
            filled.push(load.dataset.key());
            fill_tables(&connector, Dialect::Sqlite, &*load.dataset, &stop, &mut |_| {}).unwrap();
        }
        let measured = ask(&connector, load);
        let clients_write = load.writes_rows() && load.background.is_none();
        assert_eq!(measured.answer.rows_changed > 0, clients_write, "{}", load.name);
        if let Content::Mix(mix) = &load.content {
            let expected = measured.events * mix.statements_per_event();
            assert_eq!(measured.answer.statements, expected, "{}", load.name);
        }
    }
    for table in ["sbtest1", "sbtest2"] {
        assert_eq!(single(&connector, &format!("SELECT count(*) FROM {table}")), "1500");
    }
    let mut rows = 3000;
    for load in &moving {
        if load.dataset.key() != TABLES.key() {
            fill_tables(&connector, Dialect::Sqlite, &*load.dataset, &stop, &mut |_| {}).unwrap();
            ask(&connector, load);
            continue;
        }
        ask(&connector, load);
        let count = "SELECT (SELECT count(*) FROM sbtest1) + (SELECT count(*) FROM sbtest2)";
        let now = single(&connector, count).parse().unwrap();
        assert_eq!(load.trend, if now > rows { Trend::Grows } else { Trend::Shrinks });
        assert_ne!(now, rows, "{}", load.name);
        rows = now;
    }
    assert_eq!(single(&connector, "PRAGMA integrity_check"), "ok");
}

fn ask(connector: &Connector, load: &Load) -> RoundMeasurement {
    let ready = ReadyLoad::compile(load, Dialect::Sqlite).unwrap();
    let spec = RoundSpec {
        load: &ready,
        connector,
        clients: 2,
        first_operation: 0,
        lead_in: Duration::ZERO,
        window: Duration::from_millis(200),
        think: None,
        slow: 0.0,
        processors: Processors::ANY,
        kept: None,
        record: None,
        stop: &AtomicBool::new(false),
    };
    run_round(&spec, &mut |_| {}).unwrap_or_else(|error| panic!("{}: {error}", load.name))
}

#[test]
fn a_pragma_that_sqlite_does_not_know_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let error = arm(&directory, &[("synchronus", "off")]).connect().err().unwrap();
    assert!(error.to_string().contains("no pragma \"synchronus\""), "{error}");
}
