//! An engine's history on a disk, what the disk holds of it, and a disk that holds something else.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use dbdyno_engine::disk::{Disk, SimDisk};
use dbdyno_engine::log::{CheckpointWriter, Log, recover};
use dbdyno_engine::{
    ColumnSpec, Datum, Engine, EngineError, EngineOptions, EngineSession, Fields, IndexSpec,
    Intent, Path, Result, Scan, Table, TableSpec, Upkeep, Value, ValueType, Visit,
};
use dbdyno_model::Design;
use dbdyno_model::random::{RandomStream, stream};

const STEPS: u64 = 60;

pub(crate) type Files = BTreeMap<String, Vec<u8>>;
/// Rows of each table, in the order of their keys.
pub(crate) type State = BTreeMap<String, Vec<Vec<Value>>>;

/// One with a key of two columns, one whose rows are numbered, and one without a key.
fn spec(name: &str) -> TableSpec {
    let columns = vec![
        ColumnSpec { default: Value::Int(-7), ..ColumnSpec::optional("a", ValueType::BIGINT) },
        ColumnSpec::optional("b", ValueType::Text { most: 40 }),
        ColumnSpec::optional("c", ValueType::Decimal { digits: 18, scale: 4 }),
        ColumnSpec {
            default: Value::Timestamp(0),
            ..ColumnSpec::optional("d", ValueType::TIMESTAMP)
        },
    ];
    let (primary, auto_increment): (&[usize], _) = match name {
        "keyed" => (&[1, 0], None),
        "numbered" => (&[0], Some(0)),
        _ => (&[], None),
    };
    let indexes = vec![IndexSpec::non_unique("first", &[2, 1])];
    TableSpec { auto_increment, indexes, ..TableSpec::new(name, columns, primary) }
}

pub(crate) fn open(disk: &SimDisk) -> Result<Engine> {
    let options = EngineOptions {
        upkeep: Upkeep::OnDemand,
        segment_bytes: 2 << 10,
        ..EngineOptions::default()
    };
    let design = Design { lock_wait: Duration::from_millis(1), ..Design::default() };
    Engine::open(Arc::new(disk.clone()), &design, options)
}

fn rows(session: &mut EngineSession, table: &Table, path: Path, fields: Fields) -> Vec<Vec<Value>> {
    let mut rows = Vec::new();
    let scan = Scan { fields, ..Scan::whole_index(path) };
    let visit = |_: &[u8], row: dbdyno_engine::RowView<'_>| {
        rows.push(row.values().map(Datum::to_value).collect());
        Visit::On
    };
    session.statement(|it| it.scan_rows(table, &scan, visit)).unwrap();
    rows
}

/// All that an engine holds; every index says the same.
pub(crate) fn everything(engine: &Engine) -> State {
    let mut session = engine.session();
    let mut state = State::new();
    for table in engine.tables() {
        let all = rows(&mut session, &table, Path::Primary, Fields::All);
        let mut sorted = all.clone();
        sorted.sort_unstable();
        for place in 0..table.indexes().len() {
            let path = Path::Secondary(place);
            let mut by_index = rows(&mut session, &table, path, Fields::All);
            let alone = rows(&mut session, &table, path, Fields::OfIndex);
            assert_eq!(alone.len(), by_index.len());
            by_index.sort_unstable();
            assert_eq!(by_index, sorted);
        }
        state.insert(table.name().to_owned(), all);
    }
    state
}

/// One row more, others changed, one gone; refused or not.
pub(crate) fn write(
    session: &mut EngineSession,
    table: &Arc<Table>,
    random: &mut RandomStream,
) -> Result<()> {
    let text = vec![b'a' + random.next_below(5) as u8; random.next_below(30) as usize];
    let number = |random: &mut RandomStream| random.next_below(9) as i64;
    let values = [
        Datum::Int(number(random)),
        Datum::Text(&text),
        if random.next_below(3) == 0 { Datum::Null } else { Datum::Decimal(number(random)) },
        Datum::Timestamp(number(random)),
    ];
    if random.next_below(3) > 0 && values.len() == table.columns().len() {
        return session.statement(|it| it.insert(table, &values).map(|_| ()));
    }
    let mut keys = Vec::new();
    let scan = Scan { intent: Intent::Update, ..Scan::whole_index(Path::Primary) };
    session.begin(None)?;
    session.statement(|it| {
        it.scan_rows(table, &scan, |key, _| {
            keys.push(key.to_vec());
            Visit::On
        })
    })?;
    if !keys.is_empty() {
        let key = &keys[random.next_below(keys.len() as u64) as usize];
        session.statement(|it| {
            if random.next_below(3) == 0 {
                return it.delete_at(table, key).map(|_| ());
            }
            let last = table.columns().len() - 1;
            it.update_at(table, key, |_, row| {
                row.set(last, Datum::Null);
                Ok(())
            })
            .map(|_| ())
        })?;
    }
    session.commit()
}

/// Fills a disk; every state that was durable on the way.
pub(crate) fn history(disk: &SimDisk, seed: u64) -> Vec<State> {
    let engine = open(disk).unwrap();
    let mut session = engine.session();
    let mut states = vec![State::new()];
    for step in 0..STEPS {
        let mut random = stream(&[seed, step]);
        let name = ["keyed", "numbered", "bare"][random.next_below(3) as usize];
        let done = match (engine.table(name), random.next_below(25)) {
            (Err(_), _) => engine.create_table(spec(name)).map(|_| ()),
            (Ok(_), 0) => engine.drop_table(name),
            (Ok(_), 1) => engine.create_index(name, IndexSpec::non_unique("d", &[3])),
            (Ok(_), 2) => engine.create_index(name, IndexSpec::unique("u", &[0, 1])),
            (Ok(_), 3) => engine.checkpoint(),
            (Ok(_), 4) => engine.truncate_table(name),
            (Ok(table), _) => write(&mut session, &table, &mut random),
        };
        match done {
            Ok(()) => states.push(everything(&engine)),
            Err(EngineError::Duplicate(..) | EngineError::Exists(_)) => session.rollback(),
            Err(error) => panic!("{seed} {step}: {error}"),
        }
    }
    states
}

pub(crate) fn files_of(disk: &SimDisk) -> Files {
    let read = |name: String| {
        let file = disk.open(&name).unwrap();
        let mut bytes = vec![0; file.size().unwrap() as usize];
        assert_eq!(file.read_at(0, &mut bytes).unwrap(), bytes.len());
        (name, bytes)
    };
    disk.list().unwrap().into_iter().map(read).collect()
}

pub(crate) fn disk_of(files: &Files) -> SimDisk {
    let disk = SimDisk::default();
    for (name, bytes) in files {
        let file = disk.create(name).unwrap();
        file.write_at(0, bytes).unwrap();
        file.sync().unwrap();
    }
    disk.sync_directory().unwrap();
    disk
}

/// What the log and the checkpoint say, as records.
pub(crate) fn records(disk: &SimDisk) -> (Vec<Vec<u8>>, Vec<Vec<u8>>) {
    let mut recovery = recover(Arc::new(disk.clone())).unwrap();
    let (mut items, mut records) = (Vec::new(), Vec::new());
    if let Some(checkpoint) = recovery.checkpoint() {
        while let Some(item) = checkpoint.next_item().unwrap() {
            items.push(item.to_vec());
        }
    }
    while let Some((_, record)) = recovery.next_record().unwrap() {
        records.push(record.to_vec());
    }
    (items, records)
}

/// Writes them with the right checksums.
pub(crate) fn written(items: &[Vec<u8>], records: &[Vec<u8>]) -> SimDisk {
    let disk = SimDisk::default();
    let files: Arc<dyn Disk> = Arc::new(disk.clone());
    let tail = recover(files.clone()).unwrap().finish().unwrap();
    let end = tail.end_lsn();
    let log = Log::open(&Design::default(), files.clone(), tail, 1 << 10, Arc::default()).unwrap();
    for record in records {
        log.append(record).unwrap();
        log.flush().unwrap();
    }
    if !items.is_empty() {
        let mut checkpoint = CheckpointWriter::create_file(files, end).unwrap();
        items.iter().for_each(|item| checkpoint.write(item).unwrap());
        checkpoint.finish().unwrap();
    }
    disk
}

/// Does everything that can be done with what was found; what it is opened again as.
pub(crate) fn use_up(engine: Engine, disk: &SimDisk, random: &mut RandomStream) {
    let mut session = engine.session();
    for table in engine.tables() {
        for _ in 0..6 {
            if write(&mut session, &table, random).is_err() {
                session.rollback();
            }
        }
        drop(engine.create_index(table.name(), IndexSpec::non_unique("late", &[0])));
    }
    drop(engine.create_table(spec("late")));
    engine.purge();
    engine.checkpoint().unwrap();
    let found = everything(&engine);
    drop((session, engine));
    assert_eq!(everything(&open(disk).unwrap()), found);
}
