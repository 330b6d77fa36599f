//! A crash at every operation of the disk, and what the next start finds.
//!
//! ```text
//!   history (a seed):  commit · commit · checkpoint · create index · rollback · drop table · …
//!   disk operations    w s w s w w s n d w s …
//!                              ✗ crash here, for every place
//!   found again        all that was acknowledged, and of what was under way all or nothing
//! ```
//!
//! What was not synced is lost, torn and reordered as the disk's seed decides. The next start is
//! itself crashed at each of its operations now and then, and must not make anything worse.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use dbdyno_engine::disk::SimDisk;
use dbdyno_engine::{
    ColumnSpec, Datum, Engine, EngineError, EngineOptions, EngineSession, IndexSpec, Path, Result,
    Scan, Table, TableSpec, Upkeep, ValueType, Visit,
};
use dbdyno_model::Design;
use dbdyno_model::random::{RandomStream, stream};

/// Rows of a table: key, value, text.
type Rows = BTreeMap<i64, (i64, Vec<u8>)>;
type Tables = BTreeMap<String, Rows>;

const STEPS: u64 = 70;
const NAMES: [&str; 3] = ["a", "b", "c"];

fn spec(name: &str) -> TableSpec {
    let columns = vec![
        ColumnSpec::optional("id", ValueType::BIGINT),
        ColumnSpec::optional("v", ValueType::BIGINT),
        ColumnSpec::optional("t", ValueType::Text { most: 2_000 }),
    ];
    TableSpec::new(name, columns, &[0])
}

fn open(disk: &SimDisk, design: &Design) -> Result<Engine> {
    let options = EngineOptions {
        upkeep: Upkeep::OnDemand,
        segment_bytes: 4 << 10,
        ..EngineOptions::default()
    };
    let design = Design { lock_wait: Duration::from_millis(1), ..*design };
    Engine::open(Arc::new(disk.clone()), &design, options)
}

/// What happened before the disk failed.
struct Told {
    /// What was acknowledged.
    acknowledged: Tables,
    /// What there is if that which was under way was done.
    under_way: Tables,
    failed: bool,
}

/// Runs a history to its end, or until the disk fails while something is under way.
fn run(disk: &SimDisk, design: &Design, seed: u64) -> Told {
    let mut told = Told { acknowledged: Tables::new(), under_way: Tables::new(), failed: true };
    let Ok(engine) = open(disk, design) else { return told };
    let mut session = engine.session();
    told.failed = false;
    for step in 0..STEPS {
        let mut random = stream(&[seed, step]);
        told.under_way = told.acknowledged.clone();
        let done = one(&engine, &mut session, &mut told.under_way, &mut random);
        match done {
            Ok(()) => told.acknowledged = told.under_way.clone(),
            Err(EngineError::Disk(..)) => {
                told.failed = true;
                // As whoever keeps an engine in order does, who does not know of it.
                let _refused_or_not = engine.checkpoint();
                if told.under_way != told.acknowledged {
                    return told;
                }
            }
            Err(error) => panic!("{error}"),
        }
    }
    told
}

fn one(
    engine: &Engine,
    session: &mut EngineSession,
    tables: &mut Tables,
    random: &mut RandomStream,
) -> Result<()> {
    let name = NAMES[random.next_below(3) as usize];
    let Ok(table) = engine.table(name) else {
        if random.next_below(3) > 0 {
            return Ok(());
        }
        tables.insert(name.to_owned(), Rows::new());
        return engine.create_table(spec(name)).map(|_| ());
    };
    match random.next_below(30) {
        0 => {
            tables.remove(name);
            engine.drop_table(name)
        }
        1 | 2 if table.indexes().len() == 0 => {
            engine.create_index(name, IndexSpec::non_unique("v", &[1]))
        }
        2 | 7 => {
            tables.insert(name.to_owned(), Rows::new());
            engine.truncate_table(name)?;
            let of_new = engine.table(name)?.indexes().len();
            assert_eq!(of_new, table.indexes().len(), "it has lost an index");
            Ok(())
        }
        3 | 4 => engine.checkpoint(),
        5 | 6 => {
            engine.purge();
            Ok(())
        }
        _ => transaction(engine, session, tables, random),
    }
}

/// Some changes in some tables, and an end.
fn transaction(
    engine: &Engine,
    session: &mut EngineSession,
    tables: &mut Tables,
    random: &mut RandomStream,
) -> Result<()> {
    let before = tables.clone();
    session.begin(None)?;
    for _ in 0..1 + random.next_below(6) {
        let name = NAMES[random.next_below(3) as usize];
        let (id, value) = (random.next_below(40) as i64, random.next_below(9) as i64);
        let length = if random.next_below(20) == 0 { 1_500 } else { random.next_below(30) };
        let text = vec![value as u8; length as usize];
        let (Ok(table), Some(rows)) = (engine.table(name), tables.get_mut(name)) else { continue };
        let key = [Datum::Int(id)];
        if random.next_below(4) == 0 {
            let there = session.statement(|it| it.delete(&table, &key))?;
            assert_eq!(there, rows.remove(&id).is_some());
            continue;
        }
        let there = rows.insert(id, (value, text.clone())).is_some();
        session.statement(|it| {
            if !there {
                let row = [Datum::Int(id), Datum::Int(value), Datum::Text(&text)];
                return it.insert(&table, &row).map(|_| ());
            }
            let change = it.update(&table, &key, |_, row| {
                row.set(1, Datum::Int(value));
                row.set(2, Datum::Text(&text));
                Ok(())
            });
            change.map(|_| ())
        })?;
    }
    if random.next_below(6) == 0 {
        session.rollback();
        *tables = before;
        return Ok(());
    }
    session.commit()
}

fn rows(session: &mut EngineSession, table: &Arc<Table>, path: Path) -> Rows {
    let mut rows = Rows::new();
    session
        .statement(|it| {
            it.scan_rows(table, &Scan::whole_index(path), |_, row| {
                let (Datum::Int(id), Datum::Int(value), Datum::Text(text)) =
                    (row.get(0), row.get(1), row.get(2))
                else {
                    panic!("{row:?}")
                };
                rows.insert(id, (value, text.to_vec()));
                Visit::On
            })
        })
        .unwrap();
    rows
}

/// All that an engine holds; every index says the same.
fn everything(engine: &Engine) -> Tables {
    let mut session = engine.session();
    let mut tables = Tables::new();
    for table in engine.tables() {
        let all = rows(&mut session, &table, Path::Primary);
        for index in 0..table.indexes().len() {
            assert_eq!(rows(&mut session, &table, Path::Secondary(index)), all);
        }
        tables.insert(table.name().to_owned(), all);
    }
    tables
}

/// Crashes a history at every one of its operations; how many there were.
fn crash_everywhere(design: &Design, seed: u64) -> u64 {
    let whole = SimDisk::default();
    let told = run(&whole, design, seed);
    assert!(!told.failed);
    assert_eq!(everything(&open(&whole, design).unwrap()), told.acknowledged);
    let operations = whole.operations();
    for at in 0..operations {
        let disk = SimDisk::default();
        disk.crash_at(at);
        let told = run(&disk, design, seed);
        let mut left = disk.after_crash(seed ^ at);
        if at % 7 == 0 {
            // The next start is crashed as well, and the one after it finds the same.
            left.crash_at(at / 7 % 5);
            drop(open(&left, design));
            left = left.after_crash(seed ^ at << 20);
        }
        let engine = open(&left, design).unwrap_or_else(|error| panic!("{seed} {at}: {error}"));
        let found = everything(&engine);
        let whole = found == told.acknowledged || found == told.under_way;
        assert!(whole, "{seed} {at}: {found:?}\nacknowledged {:?}", told.acknowledged);
        if at % 5 == 0 {
            // And it goes on.
            drop(engine);
            let engine = open(&left, design).unwrap();
            assert_eq!(everything(&engine), found);
            engine.checkpoint().unwrap();
            drop(engine);
            assert_eq!(everything(&open(&left, design).unwrap()), found);
        }
    }
    operations
}

#[test]
fn nothing_acknowledged_is_lost_and_nothing_is_done_by_halves() {
    const POINTS: u64 = 10_000;
    let designs = ["log=latched", "log=linked"].map(|text| text.parse::<Design>().unwrap());
    let points: u64 = std::thread::scope(|scope| {
        let crash = |thread: u64| {
            let designs = &designs;
            move || {
                let mut points = 0;
                for round in 0.. {
                    // Most with the log that is written by whoever commits: it starts no threads.
                    let design = &designs[usize::from(round % 8 == 7)];
                    points += crash_everywhere(design, round * 2 + thread);
                    if points >= POINTS / 2 {
                        break;
                    }
                }
                points
            }
        };
        let threads = [0, 1].map(|thread| scope.spawn(crash(thread)));
        threads.map(|thread| thread.join().unwrap()).iter().sum()
    });
    assert!(points >= POINTS, "{points}");
}

/// Each operation of the disk fails once. The engine is still open then and may be asked for a
/// checkpoint; some time later it goes, or the power does.
#[test]
fn a_disk_that_fails_loses_nothing_that_was_acknowledged() {
    let mut failed = 0;
    for (seed, text) in [(0, "log=latched"), (1, "log=latched"), (2, "log=linked")] {
        let design = text.parse().unwrap();
        let whole = SimDisk::default();
        assert!(!run(&whole, &design, seed).failed);
        for at in 0..whole.operations() {
            let disk = SimDisk::default();
            disk.fail_at(at);
            let told = run(&disk, &design, seed);
            failed += u64::from(told.failed);
            let left = disk.after_crash(seed ^ at);
            let engine =
                open(&left, &design).unwrap_or_else(|error| panic!("{seed} {at}: {error}"));
            let found = everything(&engine);
            let whole = found == told.acknowledged || found == told.under_way;
            assert!(whole, "{seed} {at}: {found:?}\nacknowledged {:?}", told.acknowledged);
        }
    }
    assert!(failed > 100, "{failed}");
}

/// Sessions at work side by side, with checkpoints and purge between them: each writes how often it
/// has committed into a row of two tables, and knows how much of that was acknowledged.
#[test]
fn what_sessions_committed_side_by_side_beside_checkpoints_is_found() {
    let designs = ["", "log=linked&wake=futex", "view=csn&wake=direct", "wake=broadcast"];
    for run in 0..200_u64 {
        let design = designs[run as usize % 4].parse().unwrap();
        let disk = SimDisk::default();
        let engine = open(&disk, &design).unwrap();
        let tables = ["a", "b"].map(|name| engine.create_table(spec(name)).unwrap());
        disk.crash_at(disk.operations() + 10 + stream(&[run]).next_below(150));
        let acknowledged: Vec<i64> = std::thread::scope(|scope| {
            let work = |thread: i64| {
                let (engine, tables) = (&engine, &tables);
                move || {
                    let mut session = engine.session();
                    (1..)
                        .take_while(|&count| bump(&mut session, tables, thread, count).is_ok())
                        .count() as i64
                }
            };
            let threads: Vec<_> = (0..4).map(|thread| scope.spawn(work(thread))).collect();
            while engine.checkpoint().is_ok() {
                engine.purge();
            }
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        drop(engine);
        let found = everything(&open(&disk.after_crash(run), &design).unwrap());
        for (thread, &acknowledged) in acknowledged.iter().enumerate() {
            let [a, b] = ["a", "b"]
                .map(|name| found[name].get(&(thread as i64)).map_or(0, |(count, _)| *count));
            assert_eq!(a, b, "{run}: a transaction is there by halves");
            let under_way = acknowledged + 1;
            assert!(acknowledged <= a && a <= under_way, "{run}: {a} of {acknowledged}");
        }
    }
}

fn bump(session: &mut EngineSession, tables: &[Arc<Table>; 2], row: i64, count: i64) -> Result<()> {
    session.begin(None)?;
    for table in tables {
        let (key, value) = ([Datum::Int(row)], Datum::Int(count));
        session.statement(|it| {
            if count == 1 {
                return it.insert(table, &[key[0], value, Datum::Text(b"")]).map(|_| ());
            }
            it.update(table, &key, |_, row| {
                row.set(1, value);
                Ok(())
            })
            .map(|_| ())
        })?;
    }
    session.commit()
}
