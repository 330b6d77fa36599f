//! What clients record while they ask, on an engine and on SQLite: whole, judged, and cut where the
//! memory for it ends.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use dbdyno_check::{Checker, Level, LevelVerdict, TransactionOutcome, read_records, replay};
use dbdyno_load::{
    Connector, EngineArm, LoadError, Recording, RoundRecord, RoundSpec, SqliteFile, ask_each,
    end_recording, fill_tables, run_round,
};
use dbdyno_model::design::Device;
use dbdyno_model::{Design, Dialect, Processors};
use dbdyno_workload::{Load, ReadyLoad, Tables, resolve_load};

const TABLES: Tables = Tables { count: 1, rows: 1, seed: 5 };
const CLIENTS: u32 = 3;

/// A load on tables of its own.
struct Place {
    connector: Connector,
    load: ReadyLoad,
    stop: AtomicBool,
    _directory: tempfile::TempDir,
}

impl Place {
    fn of(label: &str, dialect: Dialect) -> Place {
        let directory = tempfile::tempdir().unwrap();
        let connector = match dialect {
            Dialect::Sqlite => {
                let path = directory.path().join("arm.sqlite");
                let off = ("synchronous".to_owned(), "off".to_owned());
                Connector::Sqlite(SqliteFile { path, pragmas: vec![off] })
            }
            _ => {
                let design = Design { device: Device::None, ..Design::default() };
                Connector::Engine(EngineArm::open(directory.path(), &design).unwrap())
            }
        };
        let load: Load = resolve_load(label, TABLES).unwrap();
        let stop = AtomicBool::new(false);
        fill_tables(&connector, dialect, &*load.dataset, &stop, &mut |_| {}).unwrap();
        let load = ReadyLoad::compile(&load, dialect).unwrap();
        Place { connector, load, stop, _directory: directory }
    }

    fn spec<'a>(&'a self, record: Option<&'a Recording>) -> RoundSpec<'a> {
        RoundSpec {
            load: &self.load,
            connector: &self.connector,
            clients: CLIENTS,
            first_operation: 0,
            lead_in: Duration::ZERO,
            window: Duration::from_millis(50),
            think: None,
            slow: 0.0,
            processors: Processors::ANY,
            kept: None,
            record,
            stop: &self.stop,
        }
    }

    /// So many transactions of each client, with so much room for each.
    fn asked(&self, events: u64, recording: Recording) -> (RoundRecord, u64) {
        let retries = ask_each(&self.spec(Some(&recording)), events).unwrap();
        (end_recording(recording, &self.spec(None)).unwrap(), retries)
    }
}

fn judged(recorded: &RoundRecord, level: Level) -> LevelVerdict {
    let history = read_records(&recorded.records).unwrap();
    let verdict = Checker::new(&history).level_verdict(level);
    if let LevelVerdict::Holds(proof) = &verdict {
        assert_eq!(replay(&history, level, proof), Ok(()));
    }
    verdict
}

#[test]
fn every_attempt_is_recorded_and_has_its_level() {
    for dialect in [Dialect::Engine, Dialect::Sqlite] {
        for name in ["register", "list-append", "counter"] {
            let place = Place::of(&format!("{name}?rows=5&level=serializable"), dialect);
            let (recorded, retries) = place.asked(30, Recording::new(CLIENTS));
            // One more looks at all rows.
            let all = 30 * u64::from(CLIENTS) + retries + 1;
            assert_eq!((recorded.transactions, recorded.unrecorded), (all, 0), "{name}");
            let history = read_records(&recorded.records).unwrap();
            assert_eq!(history.len() as u64, all);
            let failed = (0..history.len())
                .filter(|txn| history.txn(*txn).outcome == TransactionOutcome::Failed)
                .count() as u64;
            assert!(failed > retries, "some are rolled back on purpose: {failed}");
            let verdict = judged(&recorded, Level::StrictSerializable);
            assert!(matches!(verdict, LevelVerdict::Holds(_)), "{name}, {dialect:?}: {verdict:?}");
        }
    }
}

#[test]
fn a_round_is_recorded_from_its_first_event_on() {
    let place = Place::of("register?rows=5&level=serializable", Dialect::Engine);
    let recording = Recording::new(CLIENTS);
    let measured = match run_round(&place.spec(Some(&recording)), &mut |_| {}) {
        Ok(measured) => measured.events,
        Err(LoadError::NothingFinished) => 0,
        Err(error) => panic!("{error}"),
    };
    let recorded = end_recording(recording, &place.spec(None)).unwrap();
    assert!(recorded.transactions > measured, "what ends behind the window is recorded as well");
    let verdict = judged(&recorded, Level::StrictSerializable);
    assert!(matches!(verdict, LevelVerdict::Holds(_)), "{verdict:?}");
}

#[test]
fn where_the_memory_ends_the_history_ends_and_accuses_nobody() {
    for name in ["register", "list-append", "counter"] {
        let place = Place::of(&format!("{name}?rows=3&level=serializable"), Dialect::Engine);
        let (recorded, retries) = place.asked(400, Recording::with_room(CLIENTS, 16 << 10));
        assert!(recorded.unrecorded > 0, "{name}");
        assert_eq!(recorded.transactions + recorded.unrecorded, 1_200 + retries);
        let verdict = judged(&recorded, Level::Serializable);
        assert_eq!(verdict.anomaly(), None, "{name}: {verdict:?}");
    }
}

#[test]
fn who_writes_to_the_tables_beside_the_clients_ends_the_round() {
    let place = Place::of("register?rows=1", Dialect::Engine);
    place.connector.connect().unwrap().run("UPDATE registers SET v = 77").unwrap();
    let recording = Recording::new(CLIENTS);
    let error = ask_each(&place.spec(Some(&recording)), 50).unwrap_err();
    assert!(error.to_string().contains("does somebody else write to the tables?"), "{error}");
}
