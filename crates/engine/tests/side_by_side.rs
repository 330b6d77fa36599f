//! Threads at work on the same rows: money moves, accounts come and go, and the sum stays.
//!
//! ```text
//!   movers    lock two accounts ─► take from one, put to the other ─► empty ones are taken away
//!             by their keys, or two of those that a range of the index has; the others are passed
//!   readers   sum by the primary key = sum by the index = sum by the index alone = all there is
//!   keeper    purges behind them
//! ```
//!
//! At the end every index says the same as the table, and nothing that was deleted is left.

use std::ops::Bound;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use dbdyno_engine::disk::SimDisk;
use dbdyno_engine::{
    ColumnSpec, Counter, Datum, Engine, EngineError, EngineOptions, EngineSession, Fields,
    IndexSpec, Intent, Path, Range, Result, RowView, Scan, ScanDirection, Table, TableSpec,
    ValueType, Visit,
};
use dbdyno_model::design::Isolation;
use dbdyno_model::random::{RandomStream, stream};

const ACCOUNTS: i64 = 24;
const EACH: i64 = 10;
const MOVES: u64 = 800;

fn spec() -> TableSpec {
    let columns =
        ["id", "balance", "ticket"].map(|name| ColumnSpec::optional(name, ValueType::BIGINT));
    let indexes = vec![IndexSpec::non_unique("balance", &[1]), IndexSpec::unique("ticket", &[2])];
    TableSpec { indexes, ..TableSpec::new("accounts", columns.into(), &[0]) }
}

fn number(value: Datum<'_>) -> i64 {
    match value {
        Datum::Int(number) => number,
        other => panic!("{other:?}"),
    }
}

/// The sum of balances by an index, in one order.
fn sum(
    session: &mut EngineSession,
    table: &Table,
    path: Path,
    direction: ScanDirection,
) -> Result<i64> {
    let mut sums = [0; 2];
    for (sum, fields) in sums.iter_mut().zip([Fields::All, Fields::OfIndex]) {
        let scan = Scan { direction, fields, ..Scan::whole_index(path) };
        let add = |_: &[u8], row: RowView<'_>| {
            *sum += number(row.get(1));
            Visit::On
        };
        session.statement(|it| it.scan_rows(table, &scan, add))?;
    }
    assert_eq!(sums[0], sums[1], "an index alone says something else");
    Ok(sums[0])
}

fn balance(session: &mut EngineSession, table: &Arc<Table>, id: i64) -> Result<Option<i64>> {
    session.statement(|it| {
        let row = it.get(table, &[Datum::Int(id)], Intent::Update)?;
        Ok(row.map(|row| number(row.get(1))))
    })
}

/// Gives an account a balance; one of nothing goes, one that is not there comes.
fn give(
    session: &mut EngineSession,
    table: &Arc<Table>,
    id: i64,
    old: Option<i64>,
    new: i64,
) -> Result<()> {
    let key = [Datum::Int(id)];
    let ticket = Datum::Int((id * 31 + new) % 200);
    session.statement(|it| match (old, new) {
        (None, 0) => Ok(()),
        (None, _) => it.insert(table, &[key[0], Datum::Int(new), ticket]).map(|_| ()),
        (Some(_), 0) => {
            assert!(it.delete(table, &key)?);
            Ok(())
        }
        (Some(_), _) => it
            .update(table, &key, |_, row| {
                row.set(1, Datum::Int(new));
                row.set(2, ticket);
                Ok(())
            })
            .map(|_| ()),
    })
}

/// Accounts with balances of a range, every other one of them, and what they have.
fn some_of_range(
    session: &mut EngineSession,
    table: &Table,
    random: &mut RandomStream,
) -> Result<Vec<(i64, i64)>> {
    let low = random.next_below(2 * EACH as u64) as i64;
    let (from, to) = ([Datum::Int(low)], [Datum::Int(low + 4)]);
    let parity = random.next_below(2) as i64;
    let scan = Scan {
        path: Path::Secondary(0),
        range: Range { from: Bound::Included(&from), to: Bound::Included(&to) },
        direction: [ScanDirection::Up, ScanDirection::Down][random.next_below(2) as usize],
        intent: Intent::Update,
        fields: Fields::All,
    };
    let mut found = Vec::new();
    let visit = |_: &[u8], row: RowView<'_>| {
        let id = number(row.get(0));
        if id % 2 != parity {
            return Visit::Pass;
        }
        found.push((id, number(row.get(1))));
        Visit::On
    };
    session.statement(|it| it.scan_rows(table, &scan, visit))?;
    Ok(found)
}

fn transfer(session: &mut EngineSession, table: &Arc<Table>, seed: [u64; 2]) -> Result<()> {
    let mut random = stream(&seed);
    let [from, to] = [0, 1].map(|_| random.next_below(ACCOUNTS as u64) as i64);
    let level = [Isolation::ReadCommitted, Isolation::RepeatableRead, Isolation::Serializable];
    session.begin(Some(level[random.next_below(3) as usize]))?;
    if from != to
        && let Some(old) = balance(session, table, from)?
    {
        let other = balance(session, table, to)?;
        let amount = 1 + random.next_below(old as u64) as i64;
        give(session, table, from, Some(old), old - amount)?;
        give(session, table, to, other, other.unwrap_or(0) + amount)?;
    }
    if random.next_below(4) == 0
        && let [(from, old), (to, other), ..] = some_of_range(session, table, &mut random)?[..]
    {
        give(session, table, from, Some(old), old - 1)?;
        give(session, table, to, Some(other), other + 1)?;
    }
    if random.next_below(8) == 0 {
        session.rollback();
        return Ok(());
    }
    session.commit()
}

/// An engine with accounts of [`EACH`].
fn bank(text: &str) -> (Engine, Arc<Table>) {
    let disk = Arc::new(SimDisk::default());
    let design = format!("device=none&lock_wait=300ms&{text}").parse().unwrap();
    let engine = Engine::open(disk, &design, EngineOptions::default()).unwrap();
    let table = engine.create_table(spec()).unwrap();
    let mut session = engine.session();
    for id in 0..ACCOUNTS {
        let row = [Datum::Int(id), Datum::Int(EACH), Datum::Int(1_000 + id)];
        session.statement(|it| it.insert(&table, &row)).unwrap();
    }
    (engine, table)
}

/// What one thread moves; how much of it was refused.
fn moves(engine: &Engine, table: &Arc<Table>, thread: u64) -> u64 {
    let mut session = engine.session();
    let mut refused = 0;
    for turn in 0..MOVES {
        match transfer(&mut session, table, [thread, turn]) {
            Ok(()) => {}
            Err(
                EngineError::Deadlock | EngineError::LockWaitTimeout | EngineError::Duplicate(..),
            ) => {
                refused += 1;
                session.rollback();
            }
            Err(error) => panic!("{error}"),
        }
    }
    refused
}

fn play(text: &str) {
    let (engine, table) = bank(text);
    let mut session = engine.session();
    let (all, refused) = (ACCOUNTS * EACH, AtomicU64::new(0));
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let (engine, table, refused) = (&engine, &table, &refused);
            scope.spawn(move || {
                refused.fetch_add(moves(engine, table, thread), Ordering::Relaxed);
            });
        }
        for reader in 0..2_u64 {
            let (engine, table) = (&engine, &table);
            scope.spawn(move || {
                let mut session = engine.session();
                for turn in 0..MOVES {
                    let down = (turn + reader) % 2 == 0;
                    let direction = if down { ScanDirection::Down } else { ScanDirection::Up };
                    session.begin(Some(Isolation::RepeatableRead)).unwrap();
                    for path in [Path::Primary, Path::Secondary(0)] {
                        assert_eq!(sum(&mut session, table, path, direction).unwrap(), all);
                    }
                    session.commit().unwrap();
                }
            });
        }
    });
    engine.purge();
    assert_eq!(engine.unpurged_transactions(), 0);
    assert_eq!(sum(&mut session, &table, Path::Primary, ScanDirection::Up).unwrap(), all);
    for path in [Path::Primary, Path::Secondary(0), Path::Secondary(1)] {
        let mut sum = 0;
        let add = |_: &[u8], row: RowView<'_>| {
            sum += number(row.get(1));
            Visit::On
        };
        session.statement(|it| it.scan_rows(&table, &Scan::whole_index(path), add)).unwrap();
        assert_eq!(sum, all, "{text}: {path:?}");
    }
    assert!(refused.into_inner() < 4 * MOVES * 9 / 10, "{text}: nearly nothing was done");
    assert!(engine.meter_counts().count_of(Counter::VersionsPurged) > 0);
}

#[test]
fn money_moves_and_the_sum_stays() {
    for text in [
        "",
        "view=hybrid&wake=direct&lock_shards=1",
        "view=cached&schedule=cats&gate=tickets:2",
        "view=csn&view_close=latched&log=linked",
        "view=csn&wake=futex&gate=pool:2&trx_shards=1",
        "view=hybrid&wake=broadcast&deadlock_print=noisy",
    ] {
        play(text);
    }
}

/// Indexes are made while money moves: who reads by one that has just come, by a view that is older
/// as well, sees what the table has.
#[test]
fn indexes_that_come_while_money_moves_say_what_the_table_says() {
    for text in ["", "view=csn&log=linked", "view=hybrid&gate=tickets:2", "view=cached"] {
        let (engine, table) = bank(text);
        std::thread::scope(|scope| {
            for thread in 0..3 {
                let (engine, table) = (&engine, &table);
                scope.spawn(move || moves(engine, table, thread));
            }
            let mut session = engine.session();
            for number in 0..8 {
                session.begin(Some(Isolation::RepeatableRead)).unwrap();
                session.open_view();
                let index = IndexSpec::non_unique(&format!("balance{number}"), &[1, 2]);
                while let Err(error) = engine.create_index("accounts", index.clone()) {
                    let waits = [EngineError::Deadlock.code(), EngineError::LockWaitTimeout.code()];
                    assert!(waits.contains(&error.code()), "{error}");
                }
                let path = Path::Secondary(table.indexes().len() - 1);
                for direction in [ScanDirection::Up, ScanDirection::Down] {
                    let [old, new] = [0, 1].map(|turn| {
                        if turn == 1 {
                            session.commit().unwrap();
                        }
                        sum(&mut session, &table, path, direction).unwrap()
                    });
                    assert_eq!((old, new), (ACCOUNTS * EACH, ACCOUNTS * EACH), "{text} {number}");
                    session.begin(Some(Isolation::RepeatableRead)).unwrap();
                }
                session.commit().unwrap();
            }
        });
        engine.purge();
        let mut session = engine.session();
        // The second one has no balances.
        for place in (0..table.indexes().len()).filter(|place| *place != 1) {
            let sum = sum(&mut session, &table, Path::Secondary(place), ScanDirection::Up);
            assert_eq!(sum.unwrap(), ACCOUNTS * EACH, "{text} {place}");
        }
    }
}
