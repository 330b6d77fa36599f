//! Random transactions of the reference engine, whose sessions are called and not connected.
//!
//! ```text
//!   rows     id │ v      read, locked, changed                few: the fewer, the more conflicts
//!   slots    id │ v      put in once, never taken away        a window that moves: phantoms
//!   graves   id │ v      taken away once, never put in again  a window that moves
//!
//!   threads      each client on one of its own
//!   one thread   the seed says who says the next statement; one that would have to wait is
//!                refused, and said again at its client's turn: the same history every time
//! ```
//!
//! Whoever changes a row has it locked and sees what it replaces. A row that was put in follows
//! nothing, and one that was taken away is followed by nothing, so that an absence is never one of
//! several. So the order of all versions is known.
//!
//! **Mixed method.** At repeatable read a transaction that only reads without locks sees one moment
//! between commits, and one that locks all that it reads and writes, gaps included, until it ends
//! is two-phase. A history of such transactions alone is strictly serializable (Bernstein and
//! Goodman, *Multiversion Concurrency Control*, TODS 8, 1983), which is more than the level
//! promises of others. It is asked for apart, since what transactions of InnoDB may do otherwise is
//! so much that views which are too old, and phantoms, are hard to tell from it.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use dbdyno_check::{
    ABSENT, HEADER, OpRecord, OperationKind, Times, TransactionOutcome, Txn, UNKNOWN, WriteIds,
    encode_end,
};
use dbdyno_engine::disk::SimDisk;
use dbdyno_engine::{
    ColumnSpec, Datum, Engine, EngineError, EngineOptions, EngineSession, Fields, Intent, Path,
    Range, RowView, Scan, ScanDirection, Table, TableSpec, Upkeep, Visit,
};
use dbdyno_load::Clock;
use dbdyno_model::design::{Design, Isolation};
use dbdyno_model::isolation::IsolationLevel;
use dbdyno_model::random::{RandomStream, stream};

use crate::random_load::{AskingLimit, RandomLoad};

/// Tables, by their numbers in the history.
const ROWS: usize = 0;
const SLOTS: usize = 1;
const GRAVES: usize = 2;
const NAMES: [&str; 3] = ["dbdyno_rows", "dbdyno_slots", "dbdyno_graves"];
/// Rows that can be taken away in a run.
const GRAVES_MOST: u64 = 100_000;
/// Keys of a window that moves.
const WINDOW: u64 = 16;
/// Keys of a range, at most.
const RANGE_MOST: u64 = 6;
/// Operations of a transaction are one to so many.
const OPERATIONS_MOST: u64 = 6;
/// Of a hundred transactions so many are rolled back on purpose.
const ROLLBACKS: u64 = 4;
/// So often a statement is said that would have to wait, in one thread.
const TRIES_MOST: u32 = 6;
/// In one thread, one turn in so many is that of purge.
const PURGE_EVERY: u64 = 16;
/// How often it is looked whether the time is over.
const LOOK_EVERY: Duration = Duration::from_millis(20);
/// What is said to have been read where a row is missing that nobody took away: nobody writes it.
const MISSING: u32 = 1;

/// How transactions read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Discipline {
    /// As it comes.
    None,
    /// Without locks all through, or with locks all through.
    Mixed,
}

/// What clients recorded: the records, and how often transactions were refused, by the error.
pub(crate) type ClientRecords = (Vec<u8>, BTreeMap<String, u64>);

/// Drives clients on threads of their own, on an engine that is open.
pub(crate) fn on_threads(
    engine: &Engine,
    level: IsolationLevel,
    discipline: Discipline,
    load: RandomLoad,
    clock: &Clock,
    is_stopped: &dyn Fn() -> bool,
) -> Result<ClientRecords, EngineError> {
    let world = World::new(engine, load, level, discipline)?;
    let is_over = AtomicBool::new(false);
    let (most, until) = match load.extent {
        AskingLimit::Seconds(seconds) => {
            (u64::MAX, Some(clock.now() + Duration::from_secs_f64(seconds)))
        }
        AskingLimit::Transactions(count) => (count, None),
    };
    let clients = world.clients(engine);
    let ended: Vec<Result<Client, EngineError>> = thread::scope(|scope| {
        let (world, is_over) = (&world, &is_over);
        let drives = clients.into_iter().map(|mut client| {
            scope.spawn(move || {
                while client.open.is_some()
                    || (client.done < most && !is_over.load(Ordering::Relaxed))
                {
                    client.turn(world, &|| {
                        u64::try_from(clock.now().as_nanos()).unwrap_or(u64::MAX)
                    })?;
                }
                Ok(client)
            })
        });
        let threads: Vec<_> = drives.collect();
        let is_late = || until.is_some_and(|until| clock.now() >= until);
        while !is_late() && !is_stopped() && !threads.iter().all(|one| one.is_finished()) {
            thread::sleep(LOOK_EVERY);
        }
        is_over.store(true, Ordering::Relaxed);
        let ended = threads.into_iter().map(thread::ScopedJoinHandle::join);
        ended.map(|ended| ended.unwrap_or_else(|panic| std::panic::resume_unwind(panic))).collect()
    });
    let written = written(ended.into_iter().collect::<Result<_, _>>()?);
    NAMES.iter().try_for_each(|name| engine.drop_table(name))?;
    Ok(written)
}

/// Drives clients in one thread, on an engine in memory: a function of the seed.
pub(crate) fn in_one_thread(
    design: &Design,
    level: IsolationLevel,
    discipline: Discipline,
    load: RandomLoad,
) -> Result<ClientRecords, EngineError> {
    let options = EngineOptions { upkeep: Upkeep::OnDemand, ..EngineOptions::default() };
    let engine = Engine::open(Arc::new(SimDisk::default()), design, options)?;
    let world = World::new(&engine, load, level, discipline)?;
    let most = match load.extent {
        AskingLimit::Transactions(count) => count,
        AskingLimit::Seconds(_) => unreachable!("the command asks for a number of transactions"),
    };
    let mut clients = world.clients(&engine);
    let _nobody_waits = engine.interrupt_waits();
    let turns = AtomicU64::new(0);
    let mut random = stream(&[load.seed, u64::MAX]);
    loop {
        let at_work: Vec<usize> = (0..clients.len())
            .filter(|at| clients[*at].open.is_some() || clients[*at].done < most)
            .collect();
        let Some(at) = at_work.get(random.next_below(at_work.len().max(1) as u64) as usize) else {
            return Ok(written(clients));
        };
        clients[*at].turn(&world, &|| turns.fetch_add(1, Ordering::Relaxed))?;
        if random.next_below(PURGE_EVERY) == 0 {
            engine.purge();
        }
    }
}

/// What clients share.
struct World {
    tables: [Arc<Table>; 3],
    load: RandomLoad,
    level: IsolationLevel,
    discipline: Discipline,
    /// Rows that were put into slots, and taken out of graves, by transactions that committed.
    moved: [AtomicU64; 3],
}

impl World {
    fn new(
        engine: &Engine,
        load: RandomLoad,
        level: IsolationLevel,
        discipline: Discipline,
    ) -> Result<World, EngineError> {
        let table = |name: &str| {
            let columns = vec![
                ColumnSpec::required("id", dbdyno_engine::ValueType::BIGINT),
                ColumnSpec::required("v", dbdyno_engine::ValueType::BIGINT),
            ];
            engine.create_table(TableSpec::new(name, columns, &[0]))
        };
        let tables = [table(NAMES[ROWS])?, table(NAMES[SLOTS])?, table(NAMES[GRAVES])?];
        let mut session = engine.session();
        for (table, count) in [(&tables[ROWS], load.keys), (&tables[GRAVES], GRAVES_MOST)] {
            session.begin(None)?;
            for id in 0..count {
                let row = [Datum::Int(id as i64), Datum::Int(0)];
                session.statement(|it| it.insert(table, &row))?;
            }
            session.commit()?;
        }
        let moved = [0, 0, 0].map(AtomicU64::new);
        Ok(World { tables, load, level, discipline, moved })
    }

    fn clients(&self, engine: &Engine) -> Vec<Client> {
        let client = |number: u32| Client {
            session: engine.session(),
            number,
            ids: WriteIds::new(number, self.load.clients, MISSING),
            random: stream(&[self.load.seed, u64::from(number)]),
            records: Vec::new(),
            refused: BTreeMap::new(),
            open: None,
            done: 0,
        };
        (0..self.load.clients).map(client).collect()
    }

    /// A key of a table where something goes on.
    fn key(&self, table: usize, random: &mut RandomStream) -> u64 {
        if table == ROWS {
            return random.next_below(self.load.keys);
        }
        let moved = self.moved[table].load(Ordering::Relaxed);
        moved.saturating_sub(WINDOW / 2) + random.next_below(WINDOW)
    }
}

/// A client and what it recorded.
struct Client {
    session: EngineSession,
    number: u32,
    ids: WriteIds,
    random: RandomStream,
    records: Vec<u8>,
    refused: BTreeMap<String, u64>,
    open: Option<Open>,
    /// Transactions that have ended.
    done: u64,
}

/// A transaction under way.
struct Open {
    times: Times,
    /// Operations that were recorded.
    ops: u32,
    /// Statements that are left.
    left: u64,
    /// Whether it reads without locks, with locks, or as it comes.
    style: Option<Intent>,
    /// What would have had to wait, and how often it was said.
    again: Option<(Ask, u32)>,
    /// By table, rows that it put in or took away.
    moved: [u64; 3],
}

/// A statement.
#[derive(Clone, Copy)]
enum Ask {
    Read { table: usize, key: u64, intent: Intent },
    Range { table: usize, key: u64, count: u64, intent: Intent },
    Change { key: u64 },
    Insert { key: u64 },
    Delete { key: u64 },
}

impl Client {
    /// Says the next statement.
    fn turn(&mut self, world: &World, now: &dyn Fn() -> u64) -> Result<(), EngineError> {
        let Some(mut open) = self.open.take() else {
            self.open = Some(self.begin(world, now)?);
            return Ok(());
        };
        if open.left == 0 {
            return self.end(world, open, now);
        }
        let (ask, tries) = open.again.take().unwrap_or_else(|| (self.next(world, open.style), 0));
        let place = self.records.len();
        match self.say(world, &mut open, ask) {
            Ok(()) | Err(EngineError::Duplicate(..)) => open.left -= 1,
            Err(EngineError::Interrupted) if tries < TRIES_MOST => {
                self.records.truncate(place);
                open.again = Some((ask, tries + 1));
            }
            Err(
                error @ (EngineError::Interrupted
                | EngineError::Deadlock
                | EngineError::LockWaitTimeout),
            ) => {
                self.records.truncate(place);
                *self.refused.entry(format!("error {}", error.code())).or_insert(0) += 1;
                return self.close(open, TransactionOutcome::Failed, now);
            }
            Err(error) => return Err(error),
        }
        self.open = Some(open);
        Ok(())
    }

    fn begin(&mut self, world: &World, now: &dyn Fn() -> u64) -> Result<Open, EngineError> {
        let isolation = match world.level {
            IsolationLevel::ReadUncommitted | IsolationLevel::ReadCommitted => {
                Isolation::ReadCommitted
            }
            IsolationLevel::RepeatableRead => Isolation::RepeatableRead,
            IsolationLevel::Serializable => Isolation::Serializable,
        };
        let begin_invoke_ns = now();
        self.session.begin(Some(isolation))?;
        let style = match (world.discipline, self.random.next_below(2)) {
            (Discipline::None, _) => None,
            (Discipline::Mixed, 0) => Some(Intent::Read),
            (Discipline::Mixed, _) => Some(Intent::Update),
        };
        Ok(Open {
            times: Times { begin_invoke_ns, begin_return_ns: begin_invoke_ns, ..Times::default() },
            ops: 0,
            left: 1 + self.random.next_below(OPERATIONS_MOST),
            style,
            again: None,
            moved: [0; 3],
        })
    }

    fn end(
        &mut self,
        world: &World,
        mut open: Open,
        now: &dyn Fn() -> u64,
    ) -> Result<(), EngineError> {
        if self.random.next_below(100) < ROLLBACKS {
            return self.close(open, TransactionOutcome::Failed, now);
        }
        open.times.commit_invoke_ns = now();
        self.session.commit()?;
        for (moved, own) in world.moved.iter().zip(open.moved) {
            moved.fetch_add(own, Ordering::Relaxed);
        }
        self.close(open, TransactionOutcome::Ok, now)
    }

    /// Ends a transaction; one that did not commit is rolled back.
    fn close(
        &mut self,
        mut open: Open,
        outcome: TransactionOutcome,
        now: &dyn Fn() -> u64,
    ) -> Result<(), EngineError> {
        if outcome == TransactionOutcome::Failed {
            open.times.commit_invoke_ns = now();
            self.session.rollback();
        }
        open.times.commit_return_ns = now();
        let txn = Txn { session: self.number, outcome, times: open.times, token: 0 };
        self.records.extend_from_slice(&encode_end(txn, open.ops));
        self.done += 1;
        Ok(())
    }

    /// What is said next.
    fn next(&mut self, world: &World, style: Option<Intent>) -> Ask {
        let random = &mut self.random;
        let kind = random.next_below(100);
        let intent = style.unwrap_or(match random.next_below(10) {
            0 => Intent::Share,
            1 => Intent::Update,
            _ => Intent::Read,
        });
        let table = [ROWS, ROWS, SLOTS, GRAVES][random.next_below(4) as usize];
        let key = world.key(table, random);
        if style == Some(Intent::Read) || kind < 50 {
            return match table {
                ROWS => Ask::Read { table, key, intent },
                _ if kind.is_multiple_of(2) => Ask::Read { table, key, intent },
                _ => Ask::Range { table, key, count: 1 + random.next_below(RANGE_MOST), intent },
            };
        }
        match table {
            SLOTS => Ask::Insert { key },
            GRAVES if key < GRAVES_MOST - WINDOW => Ask::Delete { key },
            _ => Ask::Change { key: world.key(ROWS, random) },
        }
    }

    /// Says it and records what was answered.
    fn say(&mut self, world: &World, open: &mut Open, ask: Ask) -> Result<(), EngineError> {
        let at_serializable = world.level == IsolationLevel::Serializable;
        let is_current = |intent: Intent| at_serializable || intent != Intent::Read;
        match ask {
            Ask::Read { table, key, intent } => {
                let id = [Datum::Int(key as i64)];
                let seen = self
                    .session
                    .statement(|it| Ok(it.get(&world.tables[table], &id, intent)?.map(version)))?;
                let kind = if is_current(intent) {
                    OperationKind::CurrentRead
                } else {
                    OperationKind::Read
                };
                self.note(open, kind, table, key, absence(table, seen), UNKNOWN);
            }
            Ask::Range { table, key, count, intent } => {
                let found = self.range(&world.tables[table], key, count, intent)?;
                let (scan, read) = if is_current(intent) {
                    (OperationKind::CurrentScan, OperationKind::CurrentRead)
                } else {
                    (OperationKind::Scan, OperationKind::Read)
                };
                // Of graves each absence is noted, since it is that of a deletion.
                let gone: Vec<u64> = (key..key + count)
                    .filter(|id| table == GRAVES && !found.iter().any(|(other, _)| other == id))
                    .collect();
                let rows = (found.len() + gone.len()) as u32;
                self.note(open, scan, table, key, count as u32, rows);
                for (id, version) in found {
                    self.note(open, read, table, id, version, UNKNOWN);
                }
                for id in gone {
                    self.note(open, read, table, id, ABSENT, UNKNOWN);
                }
            }
            Ask::Change { key } => self.change(world, open, key)?,
            Ask::Insert { key } => {
                let Some(own) = self.ids.next_id() else { return Ok(()) };
                let row = [Datum::Int(key as i64), Datum::Int(i64::from(own))];
                self.session.statement(|it| it.insert(&world.tables[SLOTS], &row))?;
                open.moved[SLOTS] += 1;
                self.note(open, OperationKind::Insert, SLOTS, key, own, 0);
            }
            Ask::Delete { key } => {
                let Some(own) = self.ids.next_id() else { return Ok(()) };
                let id = [Datum::Int(key as i64)];
                let was = self.session.statement(|it| it.delete(&world.tables[GRAVES], &id))?;
                if was {
                    open.moved[GRAVES] += 1;
                    self.note(open, OperationKind::Delete, GRAVES, key, own, 0);
                } else {
                    self.note(open, OperationKind::CurrentRead, GRAVES, key, ABSENT, UNKNOWN);
                }
            }
        }
        Ok(())
    }

    /// A change sees what it replaces, under its lock.
    fn change(&mut self, world: &World, open: &mut Open, key: u64) -> Result<(), EngineError> {
        let Some(own) = self.ids.next_id() else { return Ok(()) };
        let mut old = None;
        self.session.statement(|it| {
            it.update(&world.tables[ROWS], &[Datum::Int(key as i64)], |row, writer| {
                old = Some(version(row));
                writer.set(1, Datum::Int(i64::from(own)));
                Ok(())
            })
        })?;
        let old = old.unwrap_or(MISSING);
        self.note(open, OperationKind::CurrentRead, ROWS, key, old, UNKNOWN);
        self.note(open, OperationKind::Write, ROWS, key, own, old);
        Ok(())
    }

    fn range(
        &mut self,
        table: &Table,
        key: u64,
        count: u64,
        intent: Intent,
    ) -> Result<Vec<(u64, u32)>, EngineError> {
        let ends = [[Datum::Int(key as i64)], [Datum::Int((key + count) as i64)]];
        let range = Range { from: Bound::Included(&ends[0]), to: Bound::Excluded(&ends[1]) };
        let (path, direction) = (Path::Primary, ScanDirection::Up);
        let scan = Scan { path, range, direction, intent, fields: Fields::All };
        let mut found = Vec::new();
        self.session.statement(|it| {
            it.scan_rows(table, &scan, |_, row| {
                found.push((number(row.get(0)), version(row)));
                Visit::On
            })
        })?;
        Ok(found)
    }

    fn note(
        &mut self,
        open: &mut Open,
        kind: OperationKind,
        table: usize,
        key: u64,
        value: u32,
        prev: u32,
    ) {
        let op = OpRecord { kind, table: table as u16, key, value, prev };
        self.records.extend_from_slice(&op.encode());
        open.ops += 1;
    }
}

fn number(value: Datum<'_>) -> u64 {
    match value {
        Datum::Int(number) => number as u64,
        other => unreachable!("a column of whole numbers has {other:?}"),
    }
}

fn version(row: RowView<'_>) -> u32 {
    number(row.get(1)) as u32
}

/// What a read of a row saw where there was none: rows are never taken away.
fn absence(table: usize, seen: Option<u32>) -> u32 {
    seen.unwrap_or(if table == ROWS { MISSING } else { ABSENT })
}

/// The records of all clients; an absence among the graves is told to the deletion that made it.
fn written(clients: Vec<Client>) -> ClientRecords {
    let mut records = HEADER.to_vec();
    records.reserve(clients.iter().map(|client| client.records.len()).sum());
    let mut refused = BTreeMap::new();
    for client in clients {
        records.extend_from_slice(&client.records);
        for (error, count) in client.refused {
            *refused.entry(error).or_insert(0) += count;
        }
    }
    name_absences(&mut records[HEADER.len()..]);
    (records, refused)
}

fn name_absences(records: &mut [u8]) {
    const RECORD: usize = 16;
    const END_MORE: usize = 32;
    let mut deletions: Vec<(u64, u32, bool)> = Vec::new();
    let mut absences: Vec<(usize, u64)> = Vec::new();
    // Where the deletions and the absences of the transaction begin.
    let (mut at, mut open, mut absent) = (0, 0, 0);
    while at < records.len() {
        let (head, values) = (word_at(records, at), word_at(records, at + 8));
        let (table, key) = ((head >> 48) as usize & 0xfff, head & ((1 << 48) - 1));
        match head >> 60 {
            15 => {
                let is_ok = (head >> 56) & 15 == TransactionOutcome::Ok as u64;
                deletions[open..].iter_mut().for_each(|deletion| deletion.2 = is_ok);
                // An absence behind an own deletion says nothing of others.
                let own = &deletions[open..];
                let others = absences.split_off(absent).into_iter();
                absences.extend(others.filter(|(_, key)| own.iter().all(|one| one.0 != *key)));
                (open, absent) = (deletions.len(), absences.len());
                at += END_MORE;
            }
            kind if table == GRAVES && kind == OperationKind::Delete as u64 => {
                deletions.push((key, values as u32, false));
            }
            kind if table == GRAVES
                && [OperationKind::Read as u64, OperationKind::CurrentRead as u64]
                    .contains(&kind)
                && values as u32 == ABSENT =>
            {
                absences.push((at, key));
            }
            _ => {}
        }
        at += RECORD;
    }
    // Of several deletions of one row only one can have committed: it comes first.
    deletions.sort_unstable_by_key(|(key, id, is_ok)| (*key, !is_ok, *id));
    for (at, key) in absences {
        let first = deletions.partition_point(|(other, ..)| *other < key);
        let found = deletions.get(first).filter(|(other, ..)| *other == key);
        let id = found.map_or(MISSING, |(_, id, _)| *id);
        records[at + 8..at + 12].copy_from_slice(&id.to_le_bytes());
    }
}

fn word_at(records: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(records[at..at + 8].try_into().expect("eight bytes"))
}

#[cfg(test)]
mod tests {
    use dbdyno_check::{Checker, Level, LevelVerdict, read_records};
    use dbdyno_model::design::Planted;

    use super::*;
    use crate::random_load::{RandomLoadKind, Threads};

    const LOAD: RandomLoad = RandomLoad {
        kind: RandomLoadKind::Rows,
        clients: 6,
        extent: AskingLimit::Transactions(400),
        keys: 8,
        seed: 1,
        reads_log: false,
        threads: Threads::OneForAll,
    };

    fn verdict(planted: Planted, level: IsolationLevel, how: (Discipline, Level)) -> LevelVerdict {
        let design = Design { planted, ..Design::default() };
        let (records, _) = in_one_thread(&design, level, how.0, LOAD).unwrap();
        let history = read_records(&records).unwrap();
        let checker = Checker::new(&history);
        assert_eq!(checker.contention().unplaced, 0, "the order of versions is known");
        assert!(checker.contention().committed > 1_000);
        checker.proved_verdict(how.1)
    }

    #[test]
    fn every_level_has_what_it_promises() {
        use IsolationLevel::{ReadCommitted, RepeatableRead, Serializable};
        for (level, how) in [
            (ReadCommitted, (Discipline::None, Level::ReadCommitted)),
            (RepeatableRead, (Discipline::None, Level::InnodbRepeatableRead)),
            (RepeatableRead, (Discipline::Mixed, Level::StrictSerializable)),
            (Serializable, (Discipline::None, Level::StrictSerializable)),
        ] {
            let told = verdict(Planted::Nothing, level, how);
            assert!(matches!(told, LevelVerdict::Holds(_)), "{level} {how:?}: {told:?}");
        }
    }

    #[test]
    fn what_is_planted_is_found() {
        use IsolationLevel::{RepeatableRead, Serializable};
        let mixed = (Discipline::Mixed, Level::StrictSerializable);
        for planted in [Planted::ViewsReused, Planted::GapsOpen, Planted::PurgeEarly] {
            let told = verdict(planted, RepeatableRead, mixed);
            assert!(told.anomaly().is_some(), "{planted}: {told:?}");
        }
        let strict = (Discipline::None, Level::Serializable);
        let told = verdict(Planted::GapsOpen, Serializable, strict);
        assert!(told.anomaly().is_some(), "{told:?}");
        let innodb = (Discipline::None, Level::InnodbRepeatableRead);
        let told = verdict(Planted::PurgeEarly, RepeatableRead, innodb);
        assert!(told.anomaly().is_some(), "{told:?}");
    }

    #[test]
    fn one_thread_has_one_history() {
        let run = || {
            let level = IsolationLevel::RepeatableRead;
            in_one_thread(&Design::default(), level, Discipline::None, LOAD).unwrap()
        };
        assert_eq!(run(), run());
    }
}
