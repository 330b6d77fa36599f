//! A replica has the rows of its source: in every design, and after a crash at every operation of
//! either disk.
//!
//! ```text
//!   source    history (a seed): create · commit · rollback · truncate · primary key · index ·
//!             checkpoint · drop
//!   replica   follows on threads; is crashed, begun again, and crashed again; begins with the
//!             first record, or with a copy that is taken while the history goes on
//!   in the end: the same tables, row by row, and every index says the same
//! ```

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use dbdyno_engine::disk::{Disk, File, SimDisk};
use dbdyno_engine::follow::{Copy, difference, prepare};
use dbdyno_engine::{
    ColumnSpec, Datum, Engine, EngineError, EngineOptions, EngineSession, IndexSpec, Path, Replica,
    Result, Scan, Table, TableSpec, Upkeep, ValueType, Visit,
};
use dbdyno_model::Design;
use dbdyno_model::design::Topology;
use dbdyno_model::random::{RandomStream, stream};

const NAMES: [&str; 2] = ["a", "b"];

fn spec(name: &str) -> TableSpec {
    let columns = vec![
        ColumnSpec::optional("id", ValueType::BIGINT),
        ColumnSpec::optional("v", ValueType::BIGINT),
        ColumnSpec::optional("t", ValueType::Text { most: 2_000 }),
    ];
    // One of them has a hidden key, the other a unique index.
    let mut spec = TableSpec::new(name, columns, if name == "a" { &[0] } else { &[] });
    if name == "a" {
        spec.indexes.push(IndexSpec::unique("u", &[1]));
    }
    spec
}

fn open(disk: &SimDisk, design: &Design) -> Result<Arc<Engine>> {
    let options = EngineOptions {
        upkeep: Upkeep::OnDemand,
        segment_bytes: 2 << 10,
        ..EngineOptions::default()
    };
    let design = Design { lock_wait: Duration::from_millis(200), ..*design };
    Engine::open(Arc::new(disk.clone()), &design, options).map(Arc::new)
}

fn of_replica() -> Design {
    Design::default()
}

/// Part of a history; ends early if the disk fails.
fn work(engine: &Engine, seed: u64, steps: u64) -> Result<()> {
    let mut session = engine.session();
    for step in 0..steps {
        let mut random = stream(&[seed, step]);
        let name = NAMES[random.next_below(2) as usize];
        if engine.table(name).is_err() {
            engine.create_table(spec(name))?;
            continue;
        }
        match random.next_below(40) {
            0 => engine.drop_table(name)?,
            1 => {
                engine.truncate_table(name)?;
                match engine.add_primary_key(name, &[0]) {
                    Ok(()) | Err(EngineError::TwoPrimaryKeys(_) | EngineError::HasRows(_)) => {}
                    Err(error) => return Err(error),
                }
            }
            2 => match engine.create_index(name, IndexSpec::non_unique("v", &[1])) {
                Ok(()) | Err(EngineError::Exists(_)) => {}
                Err(error) => return Err(error),
            },
            3 => engine.checkpoint()?,
            4 => drop(engine.purge()),
            _ => transaction(engine, &mut session, &mut random)?,
        }
    }
    Ok(())
}

/// Rows with small keys are put in, changed and taken out; a value may be there already.
fn transaction(
    engine: &Engine,
    session: &mut EngineSession,
    random: &mut RandomStream,
) -> Result<()> {
    session.begin(None)?;
    for part in 0..1 + random.next_below(6) {
        let name = NAMES[random.next_below(2) as usize];
        let (id, value) = (random.next_below(30) as i64, random.next_below(40) as i64);
        let length = if random.next_below(20) == 0 { 1_500 } else { random.next_below(30) };
        let text = vec![b'x'; length as usize];
        if part == 2 {
            session.savepoint("s");
        }
        if part == 5 {
            session.rollback_to("s").unwrap();
        }
        let Ok(table) = engine.table(name) else { continue };
        let keys = keys(session, &table);
        let place = keys.get(random.next_below(40) as usize).cloned();
        let done = session.statement(|it| match place {
            Some(key) if value % 3 == 0 => it.delete_at(&table, &key).map(|_| ()),
            Some(key) => it
                .update_at(&table, &key, |_, row| {
                    row.set(1, Datum::Int(value));
                    row.set(2, Datum::Text(&text));
                    Ok(())
                })
                .map(|_| ()),
            None => {
                let row = [Datum::Int(id), Datum::Int(value), Datum::Text(&text)];
                it.insert(&table, &row).map(|_| ())
            }
        });
        match done {
            Ok(()) | Err(EngineError::Duplicate(..) | EngineError::NoTable(_)) => {}
            Err(EngineError::Deadlock | EngineError::LockWaitTimeout) => {
                session.rollback();
                return Ok(());
            }
            Err(error) => return Err(error),
        }
    }
    if random.next_below(6) == 0 {
        session.rollback();
        return Ok(());
    }
    session.commit()
}

fn keys(session: &mut EngineSession, table: &Arc<Table>) -> Vec<Vec<u8>> {
    let mut keys = Vec::new();
    let visit = |key: &[u8], _: dbdyno_engine::RowView<'_>| {
        keys.push(key.to_vec());
        Visit::On
    };
    match session.statement(|it| it.scan_rows(table, &Scan::whole_index(Path::Primary), visit)) {
        Ok(()) | Err(EngineError::NoTable(_)) => keys,
        Err(error) => panic!("{error}"),
    }
}

/// The replica has what the source has, by every index.
fn check(source: &Engine, replica: &Engine, what: &str) {
    assert_eq!(difference(source, replica), None, "{what}");
    let mut session = replica.session();
    for table in replica.tables() {
        let all = rows(&mut session, &table, Path::Primary);
        for index in 0..table.indexes().len() {
            assert_eq!(rows(&mut session, &table, Path::Secondary(index)), all, "{what}");
        }
    }
}

fn rows(session: &mut EngineSession, table: &Arc<Table>, path: Path) -> BTreeMap<Vec<u8>, String> {
    let mut rows = BTreeMap::new();
    session
        .statement(|it| {
            it.scan_rows(table, &Scan::whole_index(path), |key, row| {
                assert!(rows.insert(key.to_vec(), format!("{row:?}")).is_none());
                Visit::On
            })
        })
        .unwrap();
    rows
}

fn designs() -> Vec<Design> {
    let texts = [
        "depend=commit-order&apply=serial",
        "depend=commit-order&apply=lwm:4",
        "depend=writeset&apply=lwm:4",
        "depend=writeset&apply=dag:4&apply_order=kept",
        "depend=dag&certify=exact&apply=dag:4",
        "depend=dag&certify=direct&apply=dag:4&apply_order=kept&log=linked",
        "depend=dag&certify=hash&apply=dag:3&wake=direct",
        "depend=dag&certify=array&apply=lwm:3&view=csn",
    ];
    let followed = |text| format!("topology=replica:1&{text}").parse().unwrap();
    texts.into_iter().map(followed).collect()
}

#[test]
fn in_every_design_a_replica_has_the_rows_of_its_source() {
    for (seed, design) in designs().into_iter().enumerate() {
        let disks = [SimDisk::default(), SimDisk::default()];
        let source = open(&disks[0], &design).unwrap();
        let engine = open(&disks[1], &of_replica()).unwrap();
        let mut replica = Replica::start(source.clone(), engine.clone(), None).unwrap();
        for life in 0..4 {
            // Sessions side by side, so that groups commit together.
            std::thread::scope(|scope| {
                for thread in 0..3 {
                    let source = &source;
                    scope.spawn(move || {
                        let seed = (seed as u64) << 16 | life << 8 | thread;
                        for part in 0..40 {
                            match work(source, seed << 8 | part, 5) {
                                Ok(())
                                | Err(EngineError::NoTable(_))
                                | Err(EngineError::Exists(_))
                                | Err(EngineError::Duplicate(..))
                                | Err(EngineError::Deadlock)
                                | Err(EngineError::LockWaitTimeout) => {}
                                Err(error) => panic!("{error}"),
                            }
                        }
                    });
                }
            });
            if life % 2 == 0 {
                replica.stop().unwrap();
                replica = Replica::start(source.clone(), engine.clone(), None).unwrap();
            }
            replica.catch_up().unwrap();
            check(&source, &engine, &format!("{seed} {life}"));
        }
        assert!(replica.progress().applied > 0);
    }
}

/// The replica's disk loses its power at every operation, and again at one of the next start.
#[test]
fn a_replica_that_crashes_goes_on_where_it_was() {
    let mut crashes = 0;
    // All but the array, which clears 256 MiB with each DDL.
    for (number, design) in designs().into_iter().enumerate().take(7) {
        let seed = number as u64;
        let source = open(&SimDisk::default(), &design).unwrap();
        work(&source, seed, 60).unwrap();
        let whole = SimDisk::default();
        let engine = open(&whole, &of_replica()).unwrap();
        let replica = Replica::start(source.clone(), engine.clone(), None).unwrap();
        replica.catch_up().unwrap();
        replica.stop().unwrap();
        check(&source, &engine, "without a crash");
        for at in (seed % 3..whole.operations()).step_by(3) {
            let disk = SimDisk::default();
            disk.crash_at(at);
            crashes += u64::from(follow(&source, &disk).is_err());
            let left = disk.after_crash(seed ^ at);
            left.crash_at(at % 50);
            let _crashed_or_not = follow(&source, &left);
            let left = left.after_crash(seed ^ at << 20);
            let engine = follow(&source, &left).unwrap();
            check(&source, &engine, &format!("{design:?} {at}"));
        }
    }
    assert!(crashes > 200, "{crashes}");
}

/// Follows until all is applied, or the disk has failed.
fn follow(source: &Arc<Engine>, disk: &SimDisk) -> Result<Arc<Engine>> {
    let engine = open(disk, &of_replica())?;
    let replica = Replica::start(source.clone(), engine.clone(), None)?;
    replica.catch_up()?;
    replica.stop()?;
    Ok(engine)
}

/// The source's disk loses its power at every operation while the replica follows: whatever the
/// replica has is still there, and the two go on together.
#[test]
fn a_source_that_crashes_finds_its_replica_where_it_was() {
    for (number, design) in designs().into_iter().enumerate().filter(|(n, _)| n % 4 == 1) {
        let seed = 100 + number as u64;
        let whole = SimDisk::default();
        work(&open(&whole, &design).unwrap(), seed, 60).unwrap();
        for at in (0..whole.operations()).step_by(3) {
            let (disk, other) = (SimDisk::default(), SimDisk::default());
            disk.crash_at(at);
            let engine = open(&other, &of_replica()).unwrap();
            if let Ok(source) = open(&disk, &design) {
                let replica = Replica::start(source.clone(), engine.clone(), None).unwrap();
                let _crashed = work(&source, seed, 60);
                let _as_far_as_it_is = replica.stop();
            }
            let source = open(&disk.after_crash(seed ^ at), &design).unwrap();
            let replica = Replica::start(source.clone(), engine.clone(), None).unwrap();
            work(&source, seed ^ 1, 20).unwrap();
            replica.catch_up().unwrap();
            check(&source, &engine, &format!("{design:?} {at}"));
        }
    }
}

/// A source that was not followed before and has given back its log.
fn old_source(disk: &SimDisk, design: &Design, seed: u64) -> Arc<Engine> {
    let alone = open(disk, &Design { topology: Topology::Single, ..*design }).unwrap();
    work(&alone, seed, 60).unwrap();
    alone.checkpoint().unwrap();
    drop(alone);
    open(disk, design).unwrap()
}

/// Takes a copy of a source on which others work on between its beginning and its end, and behind.
fn copy(source: &Engine, disk: &SimDisk, seed: u64) -> Result<()> {
    let copy = Copy::begin_from(source)?;
    work(source, seed ^ 1 << 32, 40)?;
    source.checkpoint()?;
    let written = copy.write(Arc::new(disk.clone()));
    work(source, seed ^ 2 << 32, 15)?;
    written
}

/// The log from the beginning of the copy on, of which the copy has a part already, leads to the
/// rows of the source: whatever tables and indexes came and went meanwhile.
#[test]
fn a_replica_begins_with_a_copy_that_is_taken_while_others_write() {
    let mut made_anew = 0;
    for (number, design) in designs().into_iter().enumerate().take(7) {
        for seed in (0..40).map(|seed| 1_000 * (1 + number as u64) + seed) {
            let source = old_source(&SimDisk::default(), &design, seed);
            let before = source.generation();
            let disk = SimDisk::default();
            copy(&source, &disk, seed).unwrap();
            made_anew += u64::from(source.generation() != before);
            let engine = follow(&source, &disk).unwrap();
            check(&source, &engine, &format!("{design:?} {seed}"));
            work(&source, seed ^ 3 << 32, 15).unwrap();
            drop(engine);
            let engine = follow(&source, &disk).unwrap();
            check(&source, &engine, &format!("{design:?} {seed}, begun again"));
        }
    }
    assert!(made_anew > 50, "{made_anew}");
}

/// The replica's disk loses its power at every operation, from the first one of the copy on: there
/// is no copy then, which is taken again, or a whole one.
#[test]
fn a_copy_that_crashes_is_whole_or_taken_again() {
    let (mut none, mut whole) = (0, 0);
    for (number, design) in designs().into_iter().enumerate().take(7).step_by(2) {
        let seed = 9_000 + number as u64;
        let whole_disk = SimDisk::default();
        let source = old_source(&SimDisk::default(), &design, seed);
        copy(&source, &whole_disk, seed).unwrap();
        follow(&source, &whole_disk).unwrap();
        for at in 0..whole_disk.operations() {
            let (source_disk, disk) = (SimDisk::default(), SimDisk::default());
            let source = old_source(&source_disk, &design, seed);
            disk.crash_at(at);
            let copied = copy(&source, &disk, seed);
            if copied.is_ok() {
                let _crashed_or_not = follow(&source, &disk);
            }
            let left = disk.after_crash(seed ^ at);
            let names = left.list().unwrap();
            match names.iter().any(|name| name.starts_with("checkpoint.0")) {
                true => whole += 1,
                false => none += 1,
            }
            prepare(&source, Arc::new(left.clone())).unwrap();
            let engine = follow(&source, &left).unwrap();
            check(&source, &engine, &format!("{design:?} {at}"));
        }
    }
    assert!(none > 8 && whole > 100, "{none} {whole}");
}

/// A log that was given back is not read, and a replica that is ahead of its source is told of.
#[test]
fn a_replica_that_does_not_fit_its_source_is_refused() {
    let design: Design = "topology=replica:1".parse().unwrap();
    let source = open(&SimDisk::default(), &design).unwrap();
    let engine = open(&SimDisk::default(), &of_replica()).unwrap();
    let replica = Replica::start(source.clone(), engine.clone(), None).unwrap();
    work(&source, 7, 100).unwrap();
    replica.catch_up().unwrap();
    replica.stop().unwrap();
    source.checkpoint().unwrap();
    let other = open(&SimDisk::default(), &of_replica()).unwrap();
    let refused = Replica::start(source, other, None).err().unwrap().to_string();
    assert!(refused.contains("does not reach back to 0"), "{refused}");
    let empty = open(&SimDisk::default(), &design).unwrap();
    let refused = Replica::start(empty, engine, None).err().unwrap().to_string();
    assert!(refused.contains("copy of it"), "{refused}");
}

/// Two rows that are not of the history.
fn with_two_rows(source: &Engine) -> Arc<Table> {
    let table = source.create_table(spec("a")).unwrap();
    let mut session = source.session();
    for id in 1..=2 {
        let row = [Datum::Int(id), Datum::Int(id), Datum::Text(b"first")];
        session.statement(|it| it.insert(&table, &row).map(|_| ())).unwrap();
    }
    table
}

/// Gives one of them another text.
fn say(session: &mut EngineSession, table: &Arc<Table>, id: i64, text: &[u8]) -> Result<()> {
    session.statement(|it| {
        it.update(table, &[Datum::Int(id)], |_, row| {
            row.set(2, Datum::Text(text));
            Ok(())
        })
        .map(|_| ())
    })
}

/// One worker applies two transactions while another one is held up by the one before: what is
/// beyond the low-water mark is known after a crash, all of it, or the first is done once more over
/// the second.
#[test]
fn what_a_worker_has_applied_beyond_the_low_water_mark_is_not_done_again() {
    let design: Design = "topology=replica:1&depend=dag&apply=dag:2".parse().unwrap();
    let source = open(&SimDisk::default(), &design).unwrap();
    let table = with_two_rows(&source);
    let disk = SimDisk::default();
    let options = EngineOptions { upkeep: Upkeep::OnDemand, ..EngineOptions::default() };
    let patient = Design { lock_wait: Duration::from_secs(86_400), ..of_replica() };
    let engine = Arc::new(Engine::open(Arc::new(disk.clone()), &patient, options).unwrap());
    let replica = Replica::start(source.clone(), engine.clone(), None).unwrap();
    replica.catch_up().unwrap();
    let before = replica.progress().applied;
    let mut holder = engine.session();
    holder.begin(None).unwrap();
    say(&mut holder, &engine.table("a").unwrap(), 1, b"held").unwrap();
    let mut session = source.session();
    for (id, text) in [(1, b"waits"), (2, b"once."), (2, b"twice")] {
        say(&mut session, &table, id, text).unwrap();
    }
    while replica.progress().applied < before + 2 {
        std::thread::yield_now();
    }
    let left = disk.after_crash(1);
    holder.rollback();
    replica.catch_up().unwrap();
    check(&source, &engine, "without a crash");
    let engine = follow(&source, &left).unwrap();
    check(&source, &engine, "after it");
}

/// Closed, it lets nobody pass.
#[derive(Default)]
struct Door {
    /// Whether it is closed, and whether somebody stands before it.
    state: Mutex<(bool, bool)>,
    moved: Condvar,
}

impl Door {
    fn close(&self, is_closed: bool) {
        self.state.lock().unwrap().0 = is_closed;
        self.moved.notify_all();
    }

    fn pass(&self) {
        let mut state = self.state.lock().unwrap();
        state.1 = state.0;
        self.moved.notify_all();
        drop(self.moved.wait_while(state, |state| state.0).unwrap());
    }

    fn until_somebody_waits(&self) {
        let state = self.state.lock().unwrap();
        drop(self.moved.wait_while(state, |state| !state.1).unwrap());
    }
}

#[derive(Clone, Copy)]
enum Does {
    /// A sync waits until the door is open.
    Waits,
    /// Who writes opens it.
    Opens,
}

/// A disk with a door.
struct Behind(Arc<dyn Disk>, Arc<Door>, Does);

struct FileBehind(Arc<dyn File>, Arc<Door>, Does);

impl Behind {
    fn file(&self, file: Arc<dyn File>) -> Arc<dyn File> {
        Arc::new(FileBehind(file, self.1.clone(), self.2))
    }
}

impl Disk for Behind {
    fn list(&self) -> io::Result<Vec<String>> {
        self.0.list()
    }

    fn create(&self, name: &str) -> io::Result<Arc<dyn File>> {
        self.0.create(name).map(|file| self.file(file))
    }

    fn open(&self, name: &str) -> io::Result<Arc<dyn File>> {
        self.0.open(name).map(|file| self.file(file))
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        self.0.rename(from, to)
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        self.0.remove(name)
    }

    fn sync_directory(&self) -> io::Result<()> {
        self.0.sync_directory()
    }
}

impl File for FileBehind {
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read_at(offset, buffer)
    }

    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        if matches!(self.2, Does::Opens) {
            self.1.close(false);
        }
        self.0.write_at(offset, bytes)
    }

    fn sync(&self) -> io::Result<()> {
        if matches!(self.2, Does::Waits) {
            self.1.pass();
        }
        self.0.sync()
    }

    fn size(&self) -> io::Result<u64> {
        self.0.size()
    }

    fn truncate(&self, size: u64) -> io::Result<()> {
        self.0.truncate(size)
    }
}

/// A transaction whose record is in the log and that nobody sees yet, since its sync goes on until
/// the copy is half written: the copy has not got it, and the log behind the copy's beginning has.
#[test]
fn what_commits_while_a_copy_is_taken_is_in_the_copy_or_applied() {
    let design: Design = "topology=replica:1".parse().unwrap();
    let door = Arc::new(Door::default());
    let disk = Behind(Arc::new(SimDisk::default()), door.clone(), Does::Waits);
    let options = EngineOptions { upkeep: Upkeep::OnDemand, ..EngineOptions::default() };
    let source = Arc::new(Engine::open(Arc::new(disk), &design, options).unwrap());
    let table = with_two_rows(&source);
    let mut session = source.session();
    // More than the writer of a copy keeps before it writes.
    let filled = session.statement(|it| {
        (3..1_000).try_for_each(|id| {
            let row = [Datum::Int(id), Datum::Int(id), Datum::Text(&[b'x'; 1_900])];
            it.insert(&table, &row).map(|_| ())
        })
    });
    filled.unwrap();
    door.close(true);
    let copied = SimDisk::default();
    std::thread::scope(|scope| {
        let late = scope.spawn(|| say(&mut session, &table, 1, b"late"));
        door.until_somebody_waits();
        let disk = Behind(Arc::new(copied.clone()), door.clone(), Does::Opens);
        Copy::begin_from(&source).unwrap().write(Arc::new(disk)).unwrap();
        late.join().unwrap().unwrap();
    });
    let engine = follow(&source, &copied).unwrap();
    check(&source, &engine, "with what was late");
}
