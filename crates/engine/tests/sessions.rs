//! Sessions of one engine: what each statement does, what others see of it, and what is there when
//! the engine is opened again.

use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use dbdyno_engine::disk::{Disk, RealDisk, SimDisk};
use dbdyno_engine::{
    ColumnSpec, Counter, Datum, Engine, EngineError, EngineOptions, EngineSession, Fields,
    IndexSpec, Intent, Path, Range, Result, Scan, ScanDirection, Table, TableSpec, UpdateResult,
    Upkeep, Value, ValueType, Visit,
};
use dbdyno_model::Design;
use dbdyno_model::design::Metered;

/// id, k with an index, u with a unique one, c.
fn spec() -> TableSpec {
    let columns = vec![
        ColumnSpec::optional("id", ValueType::BIGINT),
        ColumnSpec::optional("k", ValueType::BIGINT),
        ColumnSpec::optional("u", ValueType::BIGINT),
        ColumnSpec::optional("c", ValueType::Text { most: 120 }),
    ];
    let indexes = vec![IndexSpec::non_unique("k", &[1]), IndexSpec::unique("u", &[2])];
    TableSpec { auto_increment: Some(0), indexes, ..TableSpec::new("t", columns, &[0]) }
}

fn open(disk: &Arc<dyn Disk>) -> Engine {
    let options = EngineOptions { upkeep: Upkeep::OnDemand, ..EngineOptions::default() };
    let design = Design { lock_wait: Duration::from_millis(50), ..Design::default() };
    Engine::open(disk.clone(), &design, options).unwrap()
}

fn put(
    session: &mut EngineSession,
    table: &Arc<Table>,
    id: i64,
    k: i64,
    u: Datum<'_>,
) -> Result<()> {
    let row = [Datum::Int(id), Datum::Int(k), u, Datum::Text(b"text")];
    session.statement(|it| it.insert(table, &row)).map(|_| ())
}

fn set_k(session: &mut EngineSession, table: &Arc<Table>, id: i64, k: i64) -> Result<UpdateResult> {
    session.statement(|it| {
        it.update(table, &[Datum::Int(id)], |_, row| {
            row.set(1, Datum::Int(k));
            Ok(())
        })
    })
}

fn k_of(session: &mut EngineSession, table: &Arc<Table>, id: i64) -> Option<i64> {
    session
        .statement(|it| {
            let row = it.get(table, &[Datum::Int(id)], Intent::Read)?;
            Ok(row.map(|row| match row.get(1) {
                Datum::Int(k) => k,
                other => panic!("{other:?}"),
            }))
        })
        .unwrap()
}

/// Ids by an index, in its order.
fn ids(session: &mut EngineSession, table: &Table, path: Path, range: Range<'_>) -> Vec<i64> {
    let mut both = [ScanDirection::Up, ScanDirection::Down].map(|direction| {
        [Fields::All, Fields::OfIndex].map(|fields| {
            let scan = Scan { range, direction, fields, ..Scan::whole_index(path) };
            let mut ids = Vec::new();
            let visit = |_: &[u8], row: dbdyno_engine::RowView<'_>| {
                let Datum::Int(id) = row.get(0) else { panic!() };
                ids.push(id);
                Visit::On
            };
            session.statement(|it| it.scan_rows(table, &scan, visit)).unwrap();
            ids
        })
    });
    both[1].iter_mut().for_each(|ids| ids.reverse());
    let [[ids, b], [c, d]] = both;
    assert!(ids == b && ids == c && ids == d, "{ids:?} {b:?} {c:?} {d:?}");
    ids
}

#[test]
fn what_was_committed_is_there_when_the_engine_is_opened_again() {
    let directory = tempfile::tempdir().unwrap();
    let disk: Arc<dyn Disk> = Arc::new(RealDisk::open(directory.path()).unwrap());
    {
        let engine = open(&disk);
        let table = engine.create_table(spec()).unwrap();
        let mut session = engine.session();
        for id in 1..=300 {
            put(&mut session, &table, id, id % 7, Datum::Int(-id)).unwrap();
        }
        engine.checkpoint().unwrap();
        session.begin(None).unwrap();
        set_k(&mut session, &table, 5, 100).unwrap();
        assert!(session.statement(|it| it.delete(&table, &[Datum::Int(6)])).unwrap());
        session.commit().unwrap();
        session.begin(None).unwrap();
        set_k(&mut session, &table, 7, 100).unwrap();
        put(&mut session, &table, 1000, 1, Datum::Null).unwrap();
        session.rollback();
        set_k(&mut session, &table, 8, 101).unwrap();
        engine.close().unwrap();
    }
    let engine = open(&disk);
    let table = engine.table("t").unwrap();
    let mut session = engine.session();
    let read = [4, 5, 6, 7, 8, 1000].map(|id| k_of(&mut session, &table, id));
    assert_eq!(read, [Some(4), Some(100), None, Some(0), Some(101), None]);
    assert_eq!(ids(&mut session, &table, Path::Primary, Range::ALL).len(), 299);
    let hundreds = [Datum::Int(100)];
    let range = Range { from: std::ops::Bound::Included(&hundreds[..]), ..Range::ALL };
    assert_eq!(ids(&mut session, &table, Path::Secondary(0), range), [5, 8]);
    let next = session
        .statement(|it| it.insert(&table, &[Datum::Null, Datum::Int(1), Datum::Null, Datum::Null]));
    assert_eq!(next.unwrap(), Some(301), "numbers go on; a rolled back one is given again");
}

/// Behind the largest number came a negative one.
#[test]
fn a_numbered_column_ends_with_its_numbers() {
    let disk: Arc<dyn Disk> = Arc::new(SimDisk::default());
    let refused = |engine: &Engine| {
        let (table, mut session) = (engine.table("t").unwrap(), engine.session());
        let row = [Datum::Null, Datum::Int(1), Datum::Null, Datum::Null];
        session.statement(|it| it.insert(&table, &row)).unwrap_err()
    };
    let engine = open(&disk);
    let table = engine.create_table(spec()).unwrap();
    put(&mut engine.session(), &table, i64::MAX, 1, Datum::Null).unwrap();
    for _ in 0..2 {
        let error = refused(&engine);
        assert!(matches!(error, EngineError::NumbersSpent(_)) && error.code() == 1467, "{error}");
    }
    engine.close().unwrap();
    assert_eq!(refused(&open(&disk)).code(), 1467, "and when it is opened again");
}

#[test]
fn a_statement_is_done_whole_or_not_at_all() {
    let disk: Arc<dyn Disk> = Arc::new(SimDisk::default());
    let engine = open(&disk);
    let table = engine.create_table(spec()).unwrap();
    let mut session = engine.session();
    put(&mut session, &table, 1, 1, Datum::Int(10)).unwrap();
    for begun in [false, true] {
        if begun {
            session.begin(None).unwrap();
        }
        let row = |id, u| [Datum::Int(id), Datum::Int(1), Datum::Int(u), Datum::Null];
        let twice = session.statement(|it| {
            it.insert(&table, &row(2, 20))?;
            it.insert(&table, &row(3, 10))
        });
        assert_eq!(twice.unwrap_err().code(), 1062, "the unique index");
        let same = put(&mut session, &table, 1, 1, Datum::Null);
        assert_eq!(same.unwrap_err().code(), 1062, "the primary key");
        assert_eq!(ids(&mut session, &table, Path::Primary, Range::ALL), [1]);
        assert_eq!(ids(&mut session, &table, Path::Secondary(1), Range::ALL), [1]);
    }
    session.commit().unwrap();
    assert_eq!(engine.purge(), 0);
}

#[test]
fn savepoints_take_back_what_came_after_them() {
    let disk: Arc<dyn Disk> = Arc::new(SimDisk::default());
    let engine = open(&disk);
    let table = engine.create_table(spec()).unwrap();
    let mut session = engine.session();
    put(&mut session, &table, 1, 1, Datum::Null).unwrap();
    session.begin(None).unwrap();
    set_k(&mut session, &table, 1, 2).unwrap();
    session.savepoint("a");
    set_k(&mut session, &table, 1, 3).unwrap();
    session.savepoint("b");
    assert!(session.statement(|it| it.delete(&table, &[Datum::Int(1)])).unwrap());
    put(&mut session, &table, 1, 4, Datum::Null).unwrap();
    put(&mut session, &table, 2, 4, Datum::Null).unwrap();
    session.rollback_to("b").unwrap();
    assert_eq!(k_of(&mut session, &table, 1), Some(3));
    session.rollback_to("a").unwrap();
    assert_eq!(k_of(&mut session, &table, 1), Some(2));
    assert!(matches!(session.rollback_to("b"), Err(EngineError::NoSavepoint(_))));
    session.release_savepoint("a").unwrap();
    session.commit().unwrap();
    assert_eq!(k_of(&mut session, &table, 1), Some(2));
    let two = [Datum::Int(2)];
    assert_eq!(ids(&mut session, &table, Path::Secondary(0), Range::of_prefix(&two)), [1]);
    assert!(engine.purge() > 0);
    assert_eq!(ids(&mut session, &table, Path::Secondary(0), Range::ALL), [1]);
}

#[test]
fn tables_and_indexes_come_and_go_and_are_found_again() {
    let disk: Arc<dyn Disk> = Arc::new(SimDisk::default());
    {
        let engine = open(&disk);
        let bare = TableSpec { indexes: Vec::new(), ..spec() };
        let table = engine.create_table(bare).unwrap();
        assert!(matches!(engine.create_table(spec()), Err(EngineError::Exists(_))));
        let hidden = TableSpec::new("h", spec().columns, &[]);
        let hidden = engine.create_table(hidden).unwrap();
        let mut session = engine.session();
        for id in 1..=9 {
            put(&mut session, &table, id, 10 - id, Datum::Int(id / 2)).unwrap();
            put(&mut session, &hidden, 7, id, Datum::Null).unwrap();
        }
        let [k, u] = spec().indexes.try_into().unwrap();
        engine.create_index("t", k).unwrap();
        assert_eq!(engine.create_index("t", u).unwrap_err().code(), 1062);
        session.begin(None).unwrap();
        set_k(&mut session, &table, 1, 0).unwrap();
        assert_eq!(engine.drop_table("t").unwrap_err().code(), 1205, "somebody writes to it");
        assert_eq!(engine.truncate_table("t").unwrap_err().code(), 1205, "somebody writes to it");
        session.commit().unwrap();
        engine.create_table(TableSpec { name: "gone".to_owned(), ..spec() }).unwrap();
        engine.checkpoint().unwrap();
        let gone = engine.table("gone").unwrap();
        engine.drop_table("gone").unwrap();
        assert_eq!(put(&mut session, &gone, 1, 1, Datum::Null).unwrap_err().code(), 1146);
        engine.create_table(TableSpec::new("p", spec().columns, &[])).unwrap();
        let without = engine.table("p").unwrap();
        engine.add_primary_key("p", &[0]).unwrap();
        assert_eq!(put(&mut session, &without, 1, 1, Datum::Null).unwrap_err().code(), 1146);
        let with = engine.table("p").unwrap();
        put(&mut session, &with, 2, 0, Datum::Null).unwrap();
        put(&mut session, &with, 1, 0, Datum::Null).unwrap();
        assert_eq!(put(&mut session, &with, 1, 1, Datum::Null).unwrap_err().code(), 1062);
        assert_eq!(engine.add_primary_key("p", &[1]).unwrap_err().code(), 1068);
        assert_eq!(engine.add_primary_key("h", &[0]).unwrap_err().code(), 1235, "it has rows");
    }
    let engine = open(&disk);
    let names: Vec<_> = engine.tables().iter().map(|table| table.name().to_owned()).collect();
    assert_eq!(names, ["h", "p", "t"]);
    assert_eq!(engine.table("p").unwrap().primary(), [0]);
    let mut session = engine.session();
    let table = engine.table("t").unwrap();
    let by_k = ids(&mut session, &table, Path::Secondary(0), Range::ALL);
    assert_eq!(by_k, [1, 9, 8, 7, 6, 5, 4, 3, 2]);
    let hidden = engine.table("h").unwrap();
    put(&mut session, &hidden, 8, 0, Datum::Null).unwrap();
    let all = ids(&mut session, &hidden, Path::Primary, Range::ALL);
    assert_eq!(all, [7, 7, 7, 7, 7, 7, 7, 7, 7, 8]);
}

/// A unique index takes NULL more than once: who locks the rows that have it locks all of them.
#[test]
fn all_rows_with_null_in_a_unique_index_are_locked() {
    let disk: Arc<dyn Disk> = Arc::new(SimDisk::default());
    let engine = open(&disk);
    let table = engine.create_table(spec()).unwrap();
    let [mut one, mut other] = [engine.session(), engine.session()];
    for (id, u) in [(1, Datum::Null), (2, Datum::Int(5)), (3, Datum::Null)] {
        put(&mut one, &table, id, 1, u).unwrap();
    }
    let (null, five) = ([Datum::Null], [Datum::Int(5)]);
    for (values, want) in [(&null, &[1, 3][..]), (&five, &[2])] {
        for intent in [Intent::Read, Intent::Share, Intent::Update] {
            for direction in [ScanDirection::Up, ScanDirection::Down] {
                let range = Range::of_prefix(values);
                let scan =
                    Scan { range, direction, intent, ..Scan::whole_index(Path::Secondary(1)) };
                let mut found = Vec::new();
                let visit = |_: &[u8], row: dbdyno_engine::RowView<'_>| {
                    found.push(row.get(0).to_value());
                    Visit::On
                };
                one.begin(None).unwrap();
                one.statement(|it| it.scan_rows(&table, &scan, visit)).unwrap();
                found.sort();
                let want: Vec<_> = want.iter().map(|id| Value::Int(*id)).collect();
                assert_eq!(found, want, "{intent:?} {direction:?}");
                if intent != Intent::Read {
                    for id in &want {
                        let Value::Int(id) = *id else { unreachable!() };
                        assert_eq!(set_k(&mut other, &table, id, 7).unwrap_err().code(), 1205);
                    }
                }
            }
        }
    }
}

/// A place in the pool is given to another while a lock is waited for, and not for a lock that is
/// to be had at once.
#[test]
fn who_waits_for_no_lock_keeps_the_place_in_the_pool() {
    let design = "gate=pool:1".parse().unwrap();
    let disk: Arc<dyn Disk> = Arc::new(SimDisk::default());
    let engine = Engine::open(disk, &design, EngineOptions::default()).unwrap();
    let table = engine.create_table(spec()).unwrap();
    let inside = AtomicBool::new(true);
    thread::scope(|scope| {
        let mut session = engine.session();
        let met = session.statement(|it| {
            let other = scope.spawn(|| {
                let mut other = engine.session();
                other.statement(|_| Ok(inside.load(Ordering::SeqCst))).unwrap()
            });
            while engine.meter_counts().count_of(Counter::GateWaits) == 0 {
                thread::yield_now();
            }
            let row = [Datum::Int(1), Datum::Int(1), Datum::Int(1), Datum::Null];
            it.insert(&table, &row)?;
            inside.store(false, Ordering::SeqCst);
            Ok(other)
        });
        assert!(!met.unwrap().join().unwrap(), "two were inside, and the pool has one place");
    });
}

#[test]
fn times_are_metered_where_the_design_says_so() {
    fn ticks() -> u64 {
        static NOW: AtomicU64 = AtomicU64::new(0);
        NOW.fetch_add(7, Ordering::Relaxed)
    }
    for (meter, is_metered) in [(Metered::Counts, false), (Metered::Times, true)] {
        let design = Design { meter, ..Design::default() };
        let options = EngineOptions { clock: Some(ticks), ..EngineOptions::default() };
        let engine = Engine::open(Arc::new(SimDisk::default()), &design, options).unwrap();
        let table = engine.create_table(spec()).unwrap();
        put(&mut engine.session(), &table, 1, 1, Datum::Null).unwrap();
        for held in [Counter::TrxLatchHeld, Counter::LockLatchHeld] {
            assert_eq!(engine.meter_counts().count_of(held) > 0, is_metered, "{held:?}, {meter}");
        }
    }
}

/// What a witness wrote.
#[derive(Clone, Default)]
struct Paper(Arc<Mutex<Vec<u8>>>);

impl Write for Paper {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Two that change the same rows, each in its own order; the second one gives way. The rows are as
/// they became: the first one's change is not committed.
#[test]
fn a_noisy_deadlock_shows_the_rows_of_all_involved() {
    let design = [("deadlock_print".to_owned(), "noisy".to_owned())];
    let design = Design { lock_wait: Duration::MAX, ..Design::read(&design).unwrap() };
    let paper = Paper::default();
    let witness = Box::new(paper.clone());
    let options = EngineOptions { witness, upkeep: Upkeep::OnDemand, ..EngineOptions::default() };
    let engine = Engine::open(Arc::new(SimDisk::default()), &design, options).unwrap();
    let table = engine.create_table(spec()).unwrap();
    let text = [&b"forty \x01bytes of text that go on and on"[..], b"!!"].concat();
    for id in [1, 2] {
        let row = [Datum::Int(id), Datum::Int(10 * id), Datum::Null, Datum::Text(&text)];
        engine.session().statement(|it| it.insert(&table, &row)).unwrap();
    }
    let [mut first, mut second] = [(); 2].map(|()| engine.session());
    first.begin(None).unwrap();
    second.begin(None).unwrap();
    set_k(&mut first, &table, 1, 11).unwrap();
    set_k(&mut second, &table, 2, 22).unwrap();
    let watch = first.wait_watch();
    thread::scope(|scope| {
        let waits = scope.spawn(|| set_k(&mut first, &table, 2, 12));
        while !watch.is_waiting() {
            thread::yield_now();
        }
        let refused = set_k(&mut second, &table, 1, 21);
        assert!(matches!(refused, Err(EngineError::Deadlock)), "{refused:?}");
        assert_eq!(waits.join().unwrap().unwrap(), UpdateResult::Changed);
    });
    let written = String::from_utf8(paper.0.lock().unwrap().clone()).unwrap();
    assert_eq!(engine.meter_counts().count_of(Counter::DeadlockBytes), written.len() as u64);
    let records = |k: &str| {
        let lines: Vec<&str> = written.lines().collect();
        let is_row = |lines: &&[&str]| {
            lines[0].starts_with("    record of PRIMARY of t, 4 columns, written by ")
                && lines[2] == format!("     1: k; len 8; hex 00000000000000{k}; asc ........;")
                && lines[3] == "     2: u; NULL"
                && lines[4].starts_with("     3: c; len 40; hex 666f72747920016279746573")
                && lines[4].ends_with("; asc forty .bytes of text that go o; the first 30 bytes")
        };
        lines.windows(5).filter(is_row).count()
    };
    assert_eq!(
        (records("0b"), records("16")),
        (2, 2),
        "held by one, wanted by the other: {written}"
    );
}
