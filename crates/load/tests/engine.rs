//! The reference engine as an arm: its tables as others make and drop them, and its errors. What
//! loads do to it is walked through in `crates/lab/tests/loads`, with SQLite for an oracle.

use std::sync::atomic::AtomicBool;

use dbdyno_load::{Connector, EngineArm, LoadError, drop_tables, fill_tables};
use dbdyno_model::design::Device;
use dbdyno_model::{Design, Dialect};
use dbdyno_workload::Tables;

const TABLES: Tables = Tables { count: 2, rows: 1_500, seed: 11 };

/// An empty engine whose commits wait for no device, as long as its directory is held.
fn engine() -> (Connector, tempfile::TempDir) {
    let directory = tempfile::tempdir().unwrap();
    let design = Design { device: Device::None, ..Design::default() };
    let arm = EngineArm::open(directory.path(), &design).unwrap();
    (Connector::Engine(arm), directory)
}

fn filled(connector: &Connector, stop: &AtomicBool) -> Result<(), LoadError> {
    fill_tables(connector, Dialect::Engine, &TABLES, stop, &mut |_| {})
}

#[test]
fn tables_come_go_and_are_not_overwritten() {
    let (connector, _directory) = engine();
    let (go_on, stop) = (AtomicBool::new(false), AtomicBool::new(true));
    filled(&connector, &go_on).unwrap();
    let again = filled(&connector, &go_on);
    assert!(matches!(&again, Err(LoadError::TableExists(name)) if name == "sbtest1"));
    drop_tables(&connector, &["sbtest1".to_owned(), "sbtest2".to_owned()]).unwrap();
    assert!(matches!(filled(&connector, &stop), Err(LoadError::Interrupted)));
    filled(&connector, &go_on).unwrap();
}

#[test]
fn it_is_opened_again_with_what_it_had_when_nobody_asks() {
    let (connector, _directory) = engine();
    filled(&connector, &AtomicBool::new(false)).unwrap();
    let sum = "SELECT sum(k) FROM sbtest2";
    let mut client = connector.connect().unwrap();
    client.run("UPDATE sbtest2 SET k=k+1 WHERE id=7").unwrap();
    let before = client.query(sum).unwrap();
    assert!(connector.clone().open_again().unwrap_err().to_string().contains("a client of it"));
    drop(client);
    let again = connector.open_again().unwrap();
    assert_eq!(again.connect().unwrap().query(sum).unwrap(), before);
}

#[test]
fn errors_have_mysqls_numbers() {
    let (connector, _directory) = engine();
    let mut client = connector.connect().unwrap();
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
    assert_eq!(client.query("SELECT count(*) FROM t").unwrap().first_value(), Some("1"));
    let mut plans = client.query("EXPLAIN SELECT k FROM t WHERE id=1").unwrap();
    assert_eq!(plans.rows.remove(0), [Some("t PRIMARY =".to_owned())]);
}
