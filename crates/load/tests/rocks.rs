//! The steps of `db_bench` on the RocksDB of this machine. With `DBDYNO_REQUIRE_SERVERS=1` one that
//! is not there is a failure.

use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use dbdyno_load::{
    Connector, LoadError, RocksArm, RoundMeasurement, RoundSpec, drop_tables, fill_tables,
    run_round,
};
use dbdyno_model::classes::BACKGROUND;
use dbdyno_model::{Dialect, Processors, RocksOptions};
use dbdyno_wire::Param;
use dbdyno_workload::{Load, ReadyLoad, Tables, resolve_load};

const ROWS: u64 = 2_000;
static FREE: AtomicBool = AtomicBool::new(false);

fn arm(directory: &Path, options: &[(&str, &str)]) -> Option<Connector> {
    let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
    let options: Vec<_> = options.iter().map(owned).collect();
    let opened = RocksArm::open(directory, &RocksOptions::read(&options).unwrap(), 1_024);
    match opened {
        Ok(arm) => Some(Connector::Rocks(arm)),
        Err(error) if std::env::var_os("DBDYNO_REQUIRE_SERVERS").is_some() => panic!("{error}"),
        Err(_) => None,
    }
}

fn load(spec: &str, rows: u64) -> Load {
    resolve_load(spec, Tables { count: 1, rows, seed: 5 }).unwrap()
}

fn filled(connector: &Connector, load: &Load) {
    fill_tables(connector, Dialect::Rocksdb, &*load.dataset, &FREE, &mut |_| {}).unwrap();
}

fn round(connector: &Connector, load: &Load) -> Result<RoundMeasurement, LoadError> {
    let spec = RoundSpec {
        load: &ReadyLoad::compile(load, load_dialect(connector)).unwrap(),
        connector,
        clients: 2,
        first_operation: 0,
        lead_in: Duration::from_millis(20),
        window: Duration::from_millis(300),
        think: None,
        slow: 0.0,
        processors: Processors::ANY,
        kept: None,
        record: None,
        stop: &FREE,
    };
    run_round(&spec, &mut |_| {})
}

fn load_dialect(connector: &Connector) -> Dialect {
    match connector {
        Connector::Null => Dialect::Sqlite,
        _ => Dialect::Rocksdb,
    }
}

#[test]
fn every_step_finds_what_it_should_and_the_writer_is_counted_apart() {
    for options in [&[][..], &[("preset", "direct"), ("cache", "1M")], &[("wal", "off")]] {
        let directory = tempfile::tempdir().unwrap();
        let Some(connector) = arm(directory.path(), options) else { return };
        filled(&connector, &load("readrandom", ROWS));
        filled(&connector, &load("fillseq", ROWS));
        // What was written without a log is there, and tables have the numbers that they had.
        let connector = connector.open_again().unwrap();
        for (spec, rows, beside) in [
            ("fillseq", 0, false),
            ("readrandom", 1, false),
            ("overwrite", 0, false),
            ("revrangewhilewriting", 10, true),
            ("fwdrangewhilewriting?nexts=100", 100, true),
            ("readwhilewriting?writes=500", 1, true),
        ] {
            let measured = round(&connector, &load(spec, ROWS));
            let measured = measured.unwrap_or_else(|error| panic!("{spec}: {error}"));
            let answer = measured.answer;
            assert!(answer.statements > 0, "{spec}");
            assert_eq!(answer.rows_read, rows * answer.statements, "{spec}");
            assert_eq!(answer.rows_changed, if rows == 0 { answer.statements } else { 0 });
            let background = measured.classes.iter().find(|class| class.name == BACKGROUND);
            assert_eq!(background.is_some(), beside, "{spec}");
            let written = background.map_or(1, |class| class.count);
            assert!(written > 0, "{spec}: the writer wrote nothing");
        }
    }
}

#[test]
fn a_key_that_is_missing_ends_the_round() {
    let directory = tempfile::tempdir().unwrap();
    let Some(connector) = arm(directory.path(), &[]) else { return };
    filled(&connector, &load("readrandom", 10));
    let error = round(&connector, &load("readrandom", ROWS)).unwrap_err();
    assert!(matches!(error, LoadError::WrongResult { .. }), "{error}");
    // What fails in the background is not a round with nothing beside it.
    let error = round(&connector, &load("readwhilewriting?writes=10", ROWS)).unwrap_err();
    assert!(matches!(error, LoadError::WrongResult { .. }), "{error}");
}

#[test]
fn ranges_come_in_order_and_end_with_their_table() {
    let directory = tempfile::tempdir().unwrap();
    let Some(connector) = arm(directory.path(), &[]) else { return };
    let mut client = connector.connect().unwrap();
    for table in ["below", "kv", "above"] {
        client.query(&format!("CREATE TABLE {table}")).unwrap();
        let put = client.prepare(&format!("PUT {table} ? AT ?")).unwrap();
        for key in [300, -1, 0, 2, 1 << 40] {
            client.execute(put, &vec![Param::Text(b"v"), Param::Int(key)]).unwrap();
        }
    }
    let mut keys = |words: &str, from: i64| {
        let walk = client.prepare(words).unwrap();
        let mut rows = dbdyno_wire::RowBuffer::default();
        client.fetch(walk, &vec![Param::Int(from)], &mut rows).unwrap();
        (0..rows.rows()).map(|row| rows.int(row, 0).unwrap()).collect::<Vec<i64>>()
    };
    assert_eq!(keys("SEEK kv ? NEXT 3", 0), [0, 2, 300]);
    assert_eq!(keys("SEEK kv ? NEXT 9", 1), [2, 300, 1 << 40]);
    assert_eq!(keys("SEEK kv ? PREV 9", 299), [2, 0, -1]);
    assert_eq!(keys("SEEK kv ? PREV 9", -2), [0; 0]);
    drop_tables(&connector, &["kv".to_owned()]).unwrap();
    for words in ["GET kv ?", "SELECT 1", "CREATE TABLE above"] {
        let refused =
            client.prepare(words).map(|_| ()).and_then(|()| client.run(words).map(|_| ()));
        assert!(refused.is_err(), "{words}");
    }
    let above = client.prepare("SEEK above ? NEXT 9").unwrap();
    assert_eq!(client.execute(above, &vec![Param::Int(-9)]).unwrap().rows, 5);
}

#[test]
fn what_an_arm_was_told_and_has_done_can_be_asked() {
    let directory = tempfile::tempdir().unwrap();
    let options = [("preset", "direct"), ("max_background_jobs", "3"), ("sync", "on")];
    let Some(connector) = arm(directory.path(), &options) else { return };
    filled(&connector, &load("readrandom", ROWS));
    let mut client = connector.connect().unwrap();
    let told = client.query("SETTINGS").unwrap().rows;
    for pair in [("use_direct_reads", "true"), ("max_background_jobs", "3"), ("log", "synced")] {
        let pair = vec![Some(pair.0.to_owned()), Some(pair.1.to_owned())];
        assert!(told.contains(&pair), "{pair:?} is not in {told:?}");
    }
    let keys = client.query("PROPERTY rocksdb.estimate-num-keys").unwrap();
    assert_eq!(keys.first_value(), Some("2200"), "the rows and what lies beside them");
    assert!(client.query("PROPERTY rocksdb.no-such").is_err());
    let error = RocksArm::open(
        tempfile::tempdir().unwrap().path(),
        &RocksOptions::read(&[("chache".to_owned(), "1".to_owned())]).unwrap(),
        64,
    );
    let error = error.unwrap_err().to_string();
    assert!(error.contains("chache") && error.contains("did you mean \"cache\""), "{error}");
}

/// Whoever is beside the clients is in no figure of theirs.
#[test]
fn a_background_is_in_no_count_but_its_own() {
    let measured = round(&Connector::Null, &load("readwhilewriting?writes=1000", ROWS)).unwrap();
    let [class] = &measured.classes[..] else { panic!("{:?}", measured.classes) };
    let times = class.times.as_ref().unwrap();
    assert_eq!(times.latency.count(), class.count);
    assert!(class.slots.iter().sum::<u64>() <= class.count && class.count > 0);
    assert_eq!(measured.latency.count(), measured.events);
    assert_eq!(measured.answer.statements, measured.events);
}
