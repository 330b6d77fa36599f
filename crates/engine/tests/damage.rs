//! Files that are not what an engine left: they are refused, or what was committed up to some place
//! is there. None of them ends the process.
//!
//! ```text
//!   history ─► files ─┬─ bytes wrong, gone, added, moved ────► refused, or a state of the history
//!                     └─ records changed, with the right ────► refused, or an engine that works
//!                        checksum
//! ```
//!
//! The second kind is what no disk does and a fault of ours might: what is read there is believed
//! as far as it can be.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use dbdyno_engine::disk::{Disk, SimDisk};
use dbdyno_engine::log::{CheckpointWriter, Log, recover};
use dbdyno_engine::{
    Column, Datum, Engine, EngineError, Fields, IndexSpec, Intent, Kind, Lsn, Options, Path,
    Result, Scan, Session, Table, TableSpec, Upkeep, Value, Visit,
};
use dbdyno_model::Design;
use dbdyno_model::random::{Stream, stream};

const STEPS: u64 = 60;
const HISTORIES: u64 = 8;
const DAMAGES: u64 = 500;

type Files = BTreeMap<String, Vec<u8>>;
/// Rows of each table, in the order of their keys.
type State = BTreeMap<String, Vec<Vec<Value>>>;

/// One with a key of two columns, one whose rows are numbered, and one without a key.
fn spec(name: &str) -> TableSpec {
    let columns = vec![
        Column { default: Value::Int(-7), ..Column::optional("a", Kind::Int) },
        Column::optional("b", Kind::Text { most: 40 }),
        Column::optional("c", Kind::Decimal { scale: 4 }),
        Column { default: Value::Timestamp(0), ..Column::optional("d", Kind::Timestamp) },
    ];
    let (primary, auto_increment): (&[usize], _) = match name {
        "keyed" => (&[1, 0], None),
        "numbered" => (&[0], Some(0)),
        _ => (&[], None),
    };
    let indexes = vec![IndexSpec::repeated("first", &[2, 1])];
    TableSpec { auto_increment, indexes, ..TableSpec::new(name, columns, primary) }
}

fn open(disk: &SimDisk) -> Result<Engine> {
    let options =
        Options { upkeep: Upkeep::OnDemand, segment_bytes: 2 << 10, ..Options::default() };
    let design = Design { lock_wait: Duration::from_millis(1), ..Design::default() };
    Engine::open(Arc::new(disk.clone()), &design, options)
}

fn rows(session: &mut Session, table: &Table, path: Path, fields: Fields) -> Vec<Vec<Value>> {
    let mut rows = Vec::new();
    let scan = Scan { fields, ..Scan::all(path) };
    let visit = |_: &[u8], row: dbdyno_engine::Row<'_>| {
        rows.push(row.values().map(Datum::to_value).collect());
        Visit::On
    };
    session.statement(|it| it.scan(table, &scan, visit)).unwrap();
    rows
}

/// All that an engine holds; every index says the same.
fn everything(engine: &Engine) -> State {
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
fn write(session: &mut Session, table: &Arc<Table>, random: &mut Stream) -> Result<()> {
    let text = vec![b'a' + random.below(5) as u8; random.below(30) as usize];
    let number = |random: &mut Stream| random.below(9) as i64;
    let values = [
        Datum::Int(number(random)),
        Datum::Text(&text),
        if random.below(3) == 0 { Datum::Null } else { Datum::Decimal(number(random)) },
        Datum::Timestamp(number(random)),
    ];
    if random.below(3) > 0 && values.len() == table.columns().len() {
        return session.statement(|it| it.insert(table, &values).map(|_| ()));
    }
    let mut keys = Vec::new();
    let scan = Scan { intent: Intent::Update, ..Scan::all(Path::Primary) };
    session.begin(None)?;
    session.statement(|it| {
        it.scan(table, &scan, |key, _| {
            keys.push(key.to_vec());
            Visit::On
        })
    })?;
    if !keys.is_empty() {
        let key = &keys[random.below(keys.len() as u64) as usize];
        session.statement(|it| {
            if random.below(3) == 0 {
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
fn history(disk: &SimDisk, seed: u64) -> Vec<State> {
    let engine = open(disk).unwrap();
    let mut session = engine.session();
    let mut states = vec![State::new()];
    for step in 0..STEPS {
        let mut random = stream(&[seed, step]);
        let name = ["keyed", "numbered", "bare"][random.below(3) as usize];
        let done = match (engine.table(name), random.below(25)) {
            (Err(_), _) => engine.create_table(spec(name)).map(|_| ()),
            (Ok(_), 0) => engine.drop_table(name),
            (Ok(_), 1) => engine.create_index(name, IndexSpec::repeated("d", &[3])),
            (Ok(_), 2) => engine.create_index(name, IndexSpec::unique("u", &[0, 1])),
            (Ok(_), 3) => engine.checkpoint(),
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

fn files_of(disk: &SimDisk) -> Files {
    let read = |name: String| {
        let file = disk.open(&name).unwrap();
        let mut bytes = vec![0; file.size().unwrap() as usize];
        assert_eq!(file.read_at(0, &mut bytes).unwrap(), bytes.len());
        (name, bytes)
    };
    disk.list().unwrap().into_iter().map(read).collect()
}

fn disk_of(files: &Files) -> SimDisk {
    let disk = SimDisk::default();
    for (name, bytes) in files {
        let file = disk.create(name).unwrap();
        file.write_at(0, bytes).unwrap();
        file.sync().unwrap();
    }
    disk.sync_directory().unwrap();
    disk
}

/// Something that disks, and those who copy files, do.
fn damage(files: &mut Files, random: &mut Stream) {
    let names: Vec<String> = files.keys().cloned().collect();
    let name = &names[random.below(names.len() as u64) as usize];
    let other = files[&names[random.below(names.len() as u64) as usize]].clone();
    let bytes = files.get_mut(name).unwrap();
    let length = bytes.len() as u64;
    let at = random.below(length + 1) as usize;
    let end = bytes.len().min(at + 1 + random.below(600) as usize);
    match random.below(9) {
        0 | 1 if at < bytes.len() => bytes[at] ^= 1 << random.below(8),
        2 => bytes[at..end].fill(0),
        3 => bytes[at..end].iter_mut().for_each(|byte| *byte = random.below(256) as u8),
        4 => bytes.truncate(at),
        5 => bytes.extend((0..random.below(200)).map(|_| random.below(256) as u8)),
        6 => {
            // A block that was written to the wrong place.
            let block = &other[other.len().min(at)..other.len().min(end)];
            bytes[at..at + block.len().min(end - at)]
                .copy_from_slice(&block[..block.len().min(end - at)]);
        }
        7 => drop(files.remove(name)),
        _ => {
            let odd = ["log.ffffffffffffffff", "log.0000000000000001", "log.x", "checkpoint.new"];
            files.insert(odd[random.below(4) as usize].to_owned(), other);
        }
    }
}

#[test]
fn damaged_files_are_refused_or_hold_what_was_committed_up_to_a_place() {
    let (mut refused, mut shorter, mut whole) = (0, 0, 0);
    for seed in 0..HISTORIES {
        let disk = SimDisk::default();
        let states = history(&disk, seed);
        let files = files_of(&disk);
        for number in 0..DAMAGES {
            let mut random = stream(&[seed, 1 << 32, number]);
            let mut damaged = files.clone();
            (0..1 + random.below(2)).for_each(|_| {
                if !damaged.is_empty() {
                    damage(&mut damaged, &mut random);
                }
            });
            match open(&disk_of(&damaged)) {
                Err(EngineError::Corrupt(..)) => refused += 1,
                Err(error) => panic!("{seed} {number}: {error}"),
                Ok(engine) => {
                    let found = everything(&engine);
                    assert!(states.contains(&found), "{seed} {number}: {found:?} never was");
                    let is_last = states.last() == Some(&found);
                    *(if is_last { &mut whole } else { &mut shorter }) += 1;
                }
            }
        }
    }
    assert!(refused > 100 && shorter > 100 && whole > 100, "{refused} {shorter} {whole}");
}

#[test]
fn a_log_does_not_begin_where_numbers_end() {
    for start in [u64::MAX - 7, 1 << 63] {
        let disk = disk_of(&Files::from([(format!("log.{start:016x}"), Vec::new())]));
        CheckpointWriter::begin(Arc::new(disk.clone()), Lsn(start)).unwrap().finish().unwrap();
        assert!(matches!(open(&disk), Err(EngineError::Corrupt(..))), "{start}");
    }
}

/// What the log and the checkpoint say, as records.
fn records(disk: &SimDisk) -> (Vec<Vec<u8>>, Vec<Vec<u8>>) {
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
fn written(items: &[Vec<u8>], records: &[Vec<u8>]) -> SimDisk {
    let disk = SimDisk::default();
    let files: Arc<dyn Disk> = Arc::new(disk.clone());
    let tail = recover(files.clone()).unwrap().finish().unwrap();
    let end = tail.end();
    let log = Log::open(&Design::default(), files.clone(), tail, 1 << 10, Arc::default()).unwrap();
    for record in records {
        log.append(record).unwrap();
        log.flush().unwrap();
    }
    if !items.is_empty() {
        let mut checkpoint = CheckpointWriter::begin(files, end).unwrap();
        items.iter().for_each(|item| checkpoint.write(item).unwrap());
        checkpoint.finish().unwrap();
    }
    disk
}

/// What no engine would write.
fn change(records: &mut Vec<Vec<u8>>, random: &mut Stream) {
    if records.is_empty() {
        return;
    }
    let many = records.len() as u64;
    let [at, other] = [0, 1].map(|_| random.below(many) as usize);
    let place = random.below(records[at].len() as u64) as usize;
    match random.below(8) {
        0 => records[at][place] = random.below(256) as u8,
        1 => records[at][place] ^= 1 << random.below(8),
        2 => {
            // As large as a number can be written.
            let bytes = [0xff; 9].into_iter().chain([random.below(2) as u8]);
            records[at].splice(place..=place, bytes);
        }
        3 => records[at].insert(place, random.below(256) as u8),
        4 => {
            records[at].remove(place);
        }
        5 => records.swap(at, other),
        6 => {
            let copy = records[other].clone();
            records.insert(at, copy);
        }
        _ => {
            records.remove(at);
        }
    }
    records.retain(|record| !record.is_empty());
}

/// Does everything that can be done with what was found; what it is opened again as.
fn use_up(engine: Engine, disk: &SimDisk, random: &mut Stream) {
    let mut session = engine.session();
    for table in engine.tables() {
        for _ in 0..6 {
            if write(&mut session, &table, random).is_err() {
                session.rollback();
            }
        }
        drop(engine.create_index(table.name(), IndexSpec::repeated("late", &[0])));
    }
    drop(engine.create_table(spec("late")));
    engine.purge();
    engine.checkpoint().unwrap();
    let found = everything(&engine);
    drop((session, engine));
    assert_eq!(everything(&open(disk).unwrap()), found);
}

#[test]
fn records_that_no_engine_writes_are_refused_or_work() {
    let (mut refused, mut worked) = (0, 0);
    for seed in 0..HISTORIES {
        let disk = SimDisk::default();
        history(&disk, seed);
        let (items, records) = records(&disk);
        let as_it_was = written(&items, &records);
        assert_eq!(everything(&open(&as_it_was).unwrap()), everything(&open(&disk).unwrap()));
        for number in 0..DAMAGES {
            let mut random = stream(&[seed, 2 << 32, number]);
            let (mut items, mut records) = (items.clone(), records.clone());
            for _ in 0..1 + random.below(3) {
                let is_item = random.below(3) == 0;
                change(if is_item { &mut items } else { &mut records }, &mut random);
            }
            let disk = written(&items, &records);
            match open(&disk) {
                Err(EngineError::Corrupt(..) | EngineError::Duplicate(..)) => refused += 1,
                Err(error) => panic!("{seed} {number}: {error}"),
                Ok(engine) => {
                    worked += 1;
                    use_up(engine, &disk, &mut random);
                }
            }
        }
    }
    assert!(refused > 500 && worked > 500, "{refused} {worked}");
}
