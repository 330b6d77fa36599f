//! Whole sessions in many random orders of their threads, each history explained by a model.
//!
//! Three sessions read and write the same few rows, and a fourth thread purges and takes
//! checkpoints between them. What each was answered is kept, with the moments between which it was.
//! Afterwards an order of the transactions is looked for in which a map explains every answer:
//!
//! ```text
//!   states       S0 ── T2 ──► S1 ── T1 ──► S2 ── T5 ──► …    one behind each that ended
//!
//!   current      reads that lock, writes, all at serializable: as in the state before the
//!                transaction, since nobody changes what it has locked until it ends
//!   consistent   as in one state before, with what it wrote itself: one for the transaction at
//!                repeatable read, one for each statement at read committed; a state that was there
//!                while the first of these statements ran
//! ```
//!
//! Who had ended before another began to end comes before it. So a write that is lost, a phantom, a
//! view of no state, a lock that is given back too early, and a commit that is seen before it is
//! whole all are histories without an explanation. Nobody's patience ends here: who is not woken,
//! and a deadlock that is not found, are orders in which nothing moves any more. What the disk
//! holds in the end is opened again, after a crash at an operation of its choice in every third
//! history.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::atomic::{AtomicU64, Ordering};

use dbdyno_engine::disk::SimDisk;
use dbdyno_engine::sync::{Arc, thread};
use dbdyno_engine::{
    ColumnSpec, Datum, Engine, EngineError, EngineOptions, EngineSession, Fields, IndexSpec,
    Intent, Path, Range, Result, RowView, Scan, ScanDirection, Table, TableSpec, Upkeep, ValueType,
    Visit,
};
use dbdyno_model::Design;
use dbdyno_model::design::Isolation;
use dbdyno_model::random::{RandomStream, stream};
use shuttle::scheduler::{PctScheduler, RandomScheduler};
use shuttle::{Config, Runner};

use crate::depth;

const SESSIONS: u64 = 3;
const TRANSACTIONS: u64 = 2;
const ASKS_MOST: u64 = 4;
/// Orders of each kind for a design, each with a history of its own.
const ORDERS: usize = 250;
const SEED: u64 = 6;
/// Sorting and printing take more than shuttle gives.
const STACK_BYTES: usize = 1 << 20;

/// A number, with an index; another, with one that is unique.
type Cells = (i64, Option<i64>);
type Rows = BTreeMap<i64, Cells>;
/// Rows that were put in or changed, and `None` for those that were taken away.
type Changes = BTreeMap<i64, Option<Cells>>;

/// What a session asks for.
#[derive(Clone, Copy, Debug)]
enum Ask {
    Get(i64, Intent),
    /// Rows whose key, number or unique number lies between two, ends included.
    Between(Path, [i64; 2], ScanDirection, Intent),
    Insert(i64, Cells),
    /// Adds to the number of a row, and sets its unique number if that is named.
    Change(i64, i64, Option<Option<i64>>),
    Delete(i64),
    Mark,
    BackToMark,
}

#[derive(Clone, Debug, PartialEq)]
enum Answer {
    Rows(Vec<(i64, Cells)>),
    /// What the row was that changed.
    Was(Option<Cells>),
    Gone(bool),
    Duplicate,
    NoMark,
    Done,
}

/// An answer, and the moments at which it was asked for and there.
#[derive(Debug)]
struct Told {
    ask: Ask,
    answer: Answer,
    asked: u64,
    there: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Committed,
    RolledBack,
    /// The disk failed: nobody sees it, and it may be there when the engine is opened again.
    Unknown,
}

/// A transaction that has ended, between two moments.
#[derive(Debug)]
struct Trx {
    level: Isolation,
    told: Vec<Told>,
    end: End,
    ending: u64,
    ended: u64,
}

/// Moments: a number that grows whenever it is asked for. Shuttle runs one thread at a time and
/// does not know of it.
#[derive(Clone, Default)]
struct Moments(Arc<AtomicU64>);

impl Moments {
    fn next(&self) -> u64 {
        self.0.fetch_add(1, Ordering::SeqCst)
    }
}

fn spec() -> TableSpec {
    let columns = ["id", "v", "u"].map(|name| ColumnSpec::optional(name, ValueType::BIGINT));
    let indexes = vec![IndexSpec::non_unique("v", &[1]), IndexSpec::unique("u", &[2])];
    TableSpec { indexes, ..TableSpec::new("t", columns.to_vec(), &[0]) }
}

fn open(disk: &SimDisk, design: &Design) -> Engine {
    let options =
        EngineOptions { upkeep: Upkeep::OnDemand, segment_bytes: 512, ..EngineOptions::default() };
    Engine::open(Arc::new(disk.clone()), design, options).unwrap()
}

fn int(value: Option<i64>) -> Datum<'static> {
    value.map_or(Datum::Null, Datum::Int)
}

fn read(row: RowView<'_>) -> (i64, Cells) {
    let number = |column| match row.get(column) {
        Datum::Null => None,
        Datum::Int(number) => Some(number),
        other => panic!("{other:?}"),
    };
    (number(0).unwrap(), (number(1).unwrap(), number(2)))
}

fn first_rows() -> Rows {
    [(1, (10, Some(0))), (2, (20, None)), (4, (20, Some(1))), (6, (30, None))].into()
}

/// Asks a session.
fn ask(session: &mut EngineSession, table: &Arc<Table>, it: Ask) -> Result<Answer> {
    let done = match it {
        Ask::Get(id, intent) => session.statement(|it| {
            let row = it.get(table, &[Datum::Int(id)], intent)?;
            Ok(Answer::Rows(row.map(read).into_iter().collect()))
        }),
        Ask::Between(path, ends, direction, intent) => {
            between(session, table, (path, ends, direction, intent), Fields::All).map(Answer::Rows)
        }
        Ask::Insert(id, (v, u)) => session.statement(|it| {
            let row = [Datum::Int(id), Datum::Int(v), int(u)];
            it.insert(table, &row).map(|_| Answer::Done)
        }),
        Ask::Change(id, add, u) => {
            let mut was = None;
            let done = session.statement(|it| {
                it.update(table, &[Datum::Int(id)], |row, writer| {
                    let (_, cells) = read(row);
                    was = Some(cells);
                    writer.set(1, Datum::Int(cells.0 + add));
                    if let Some(u) = u {
                        writer.set(2, int(u));
                    }
                    Ok(())
                })
            });
            done.map(|_| Answer::Was(was))
        }
        Ask::Delete(id) => {
            session.statement(|it| it.delete(table, &[Datum::Int(id)])).map(Answer::Gone)
        }
        Ask::Mark => {
            session.savepoint("mark");
            Ok(Answer::Done)
        }
        Ask::BackToMark => session.rollback_to("mark").map(|()| Answer::Done),
    };
    match done {
        Err(EngineError::Duplicate(..)) => Ok(Answer::Duplicate),
        Err(EngineError::NoSavepoint(_)) => Ok(Answer::NoMark),
        done => done,
    }
}

fn between(
    session: &mut EngineSession,
    table: &Table,
    (path, ends, direction, intent): (Path, [i64; 2], ScanDirection, Intent),
    fields: Fields,
) -> Result<Vec<(i64, Cells)>> {
    let [from, to] = ends.map(|end| [Datum::Int(end)]);
    let range = Range { from: Bound::Included(&from), to: Bound::Included(&to) };
    let scan = Scan { path, range, direction, intent, fields };
    let mut rows = Vec::new();
    let visit = |_: &[u8], row: RowView<'_>| {
        rows.push(read(row));
        Visit::On
    };
    session.statement(|it| it.scan_rows(table, &scan, visit))?;
    Ok(rows)
}

/// What a map answers, and how it changes. Marks are the transaction's own affair.
fn answer(it: Ask, rows: &Rows) -> (Answer, Changes) {
    let taken = |id: i64, u: Option<i64>| {
        u.is_some() && rows.iter().any(|(other, cells)| *other != id && cells.1 == u)
    };
    match it {
        Ask::Get(id, _) => {
            let row = rows.get(&id).map(|cells| (id, *cells));
            (Answer::Rows(row.into_iter().collect()), Changes::new())
        }
        Ask::Between(path, [from, to], direction, _) => {
            let value = |(id, (v, u)): &(i64, Cells)| match path {
                Path::Primary => Some(*id),
                Path::Secondary(0) => Some(*v),
                Path::Secondary(_) => *u,
            };
            let all = rows.iter().map(|(id, cells)| (*id, *cells));
            let inside = |row: &(i64, Cells)| value(row).is_some_and(|it| from <= it && it <= to);
            let mut found: Vec<_> = all.filter(inside).collect();
            found.sort_by_key(|row| (value(row), row.0));
            if direction == ScanDirection::Down {
                found.reverse();
            }
            (Answer::Rows(found), Changes::new())
        }
        Ask::Insert(id, (_, u)) if rows.contains_key(&id) || taken(id, u) => {
            (Answer::Duplicate, Changes::new())
        }
        Ask::Insert(id, cells) => (Answer::Done, [(id, Some(cells))].into()),
        Ask::Change(id, add, u) => {
            let Some(&was) = rows.get(&id) else { return (Answer::Was(None), Changes::new()) };
            let new = (was.0 + add, u.unwrap_or(was.1));
            if taken(id, new.1) {
                return (Answer::Duplicate, Changes::new());
            }
            (Answer::Was(Some(was)), [(id, Some(new))].into())
        }
        Ask::Delete(id) if rows.contains_key(&id) => (Answer::Gone(true), [(id, None)].into()),
        Ask::Delete(_) => (Answer::Gone(false), Changes::new()),
        Ask::Mark | Ask::BackToMark => unreachable!("nothing is asked of rows"),
    }
}

fn changed(rows: &Rows, changes: &Changes) -> Rows {
    let mut rows = rows.clone();
    for (&id, cells) in changes {
        match cells {
            Some(cells) => rows.insert(id, *cells),
            None => rows.remove(&id),
        };
    }
    rows
}

/// Every other history is about rows that come and go where others have looked.
fn any_ask(random: &mut RandomStream, seed: u64, level: Isolation) -> Ask {
    let id = 1 + random.next_below(7) as i64;
    let u = |random: &mut RandomStream| Some(random.next_below(4) as i64).filter(|u| *u < 3);
    let intents = [Intent::Share, Intent::Update, Intent::Read];
    let (intent, what) = match seed % 8 < 4 {
        true => (intents[random.next_below(3) as usize], random.next_below(16)),
        false => (intents[random.next_below(2) as usize], 5 + random.next_below(9)),
    };
    match what {
        0..=2 => Ask::Get(id, intent),
        3..=6 => {
            let (path, from, wide) = match random.next_below(4) {
                0 | 1 => (Path::Primary, id, 4),
                2 => (Path::Secondary(0), id * 5, 15),
                _ => (Path::Secondary(1), id % 3, 1),
            };
            let direction = [ScanDirection::Up, ScanDirection::Down][random.next_below(2) as usize];
            // At read committed gaps are open: which rows a locking read meets is no state's.
            let gaps = level != Isolation::ReadCommitted;
            let intent = if gaps { intent } else { Intent::Read };
            Ask::Between(path, [from, from + wide], direction, intent)
        }
        7..=9 => {
            let set = random.next_below(2) == 0;
            let add = 1 + random.next_below(12) as i64;
            Ask::Change(id, add, set.then(|| u(random)))
        }
        10..=12 => Ask::Insert(id, (random.next_below(40) as i64, u(random))),
        13 => Ask::Delete(id),
        14 => Ask::Mark,
        _ => Ask::BackToMark,
    }
}

/// The levels of a history: one for all, or each transaction its own.
fn any_level(seed: u64, random: &mut RandomStream) -> Isolation {
    let all = Isolation::ALL;
    match seed % 4 {
        0 => Isolation::Serializable,
        1 => Isolation::RepeatableRead,
        _ => all[random.next_below(all.len() as u64) as usize],
    }
}

fn transaction(
    session: &mut EngineSession,
    table: &Arc<Table>,
    (seed, mut random): (u64, RandomStream),
    moments: &Moments,
) -> Trx {
    let level = any_level(seed, &mut random);
    session.begin(Some(level)).unwrap();
    let mut told = Vec::new();
    for _ in 0..1 + random.next_below(ASKS_MOST) {
        let (it, asked) = (any_ask(&mut random, seed, level), moments.next());
        match ask(session, table, it) {
            Ok(answer) => told.push(Told { ask: it, answer, asked, there: moments.next() }),
            Err(EngineError::Deadlock) => {
                let (ending, ended) = (asked, moments.next());
                return Trx { level, told, end: End::RolledBack, ending, ended };
            }
            Err(error) => panic!("{it:?}: {error}"),
        }
    }
    let ending = moments.next();
    let end = if random.next_below(6) == 0 {
        session.rollback();
        End::RolledBack
    } else {
        match session.commit() {
            Ok(()) => End::Committed,
            Err(EngineError::Disk(..)) => End::Unknown,
            Err(error) => panic!("{error}"),
        }
    };
    Trx { level, told, end, ending, ended: moments.next() }
}

/// Looks for the order of transactions that explains all answers.
struct Search<'a> {
    all: &'a [Trx],
    found: &'a Rows,
    /// Those that have a place, and the states before, between and after them.
    order: Vec<usize>,
    states: Vec<Rows>,
    /// What each of them changed, if it is seen or not.
    changes: Vec<Changes>,
}

impl Search<'_> {
    /// Whether there is one that ends in what was found.
    fn explains(&mut self) -> bool {
        let before = self.states.last().expect("there is a first state").clone();
        if self.order.len() == self.all.len() {
            return before == *self.found;
        }
        let waits = |next: usize| {
            let ending = self.all[next].ending;
            let earlier = |other: usize| self.all[other].ended < ending;
            (0..self.all.len()).any(|other| !self.order.contains(&other) && earlier(other))
        };
        let ready = (0..self.all.len()).filter(|next| !self.order.contains(next));
        let ready: Vec<usize> = ready.filter(|next| !waits(*next)).collect();
        for next in ready {
            let trx = &self.all[next];
            let Some(changes) = self.replay(trx) else { continue };
            let is_seen = trx.end == End::Committed;
            self.states.push(if is_seen { changed(&before, &changes) } else { before.clone() });
            self.order.push(next);
            self.changes.push(changes);
            if self.explains() {
                return true;
            }
            self.states.pop();
            self.order.pop();
            self.changes.pop();
        }
        false
    }

    /// What a transaction changes that comes next, if its answers are explained then.
    fn replay(&self, trx: &Trx) -> Option<Changes> {
        let first = trx.told.iter().find(|told| is_consistent(trx, told));
        match first.filter(|_| trx.level == Isolation::RepeatableRead) {
            Some(first) => self.there_at(first).into_iter().find_map(|s| self.seeing(trx, Some(s))),
            None => self.seeing(trx, None),
        }
    }

    /// The same with a view of one state, or of one for each statement.
    fn seeing(&self, trx: &Trx, view: Option<usize>) -> Option<Changes> {
        let before = self.states.last().expect("there is a first state");
        let (mut own, mut mark) = (Changes::new(), None);
        for told in &trx.told {
            let is_so = |state: &Rows| answer(told.ask, &changed(state, &own)).0 == told.answer;
            let is_explained = match (told.ask, view) {
                (Ask::Mark, _) => {
                    mark = Some(own.clone());
                    told.answer == Answer::Done
                }
                (Ask::BackToMark, _) => match &mark {
                    Some(marked) => {
                        own.clone_from(marked);
                        told.answer == Answer::Done
                    }
                    None => told.answer == Answer::NoMark,
                },
                (_, Some(view)) if is_consistent(trx, told) => is_so(&self.states[view]),
                _ if is_of_moment(trx, told) => {
                    self.there_at(told).into_iter().any(|state| is_so(&self.states[state]))
                }
                _ => {
                    let (answer, changes) = answer(told.ask, &changed(before, &own));
                    own.extend(changes);
                    answer == told.answer
                }
            };
            if !is_explained {
                return None;
            }
        }
        Some(own)
    }

    /// The states that may have been there while a statement ran.
    fn there_at(&self, told: &Told) -> Vec<usize> {
        let may_be = |state: &usize| {
            let (seen, unseen) = self.order.split_at(*state);
            seen.iter().all(|&trx| self.all[trx].ending < told.there)
                && unseen.iter().all(|&trx| self.all[trx].ended > told.asked)
        };
        (0..self.states.len()).filter(may_be).collect()
    }
}

/// Whether it was answered from a view.
fn is_consistent(trx: &Trx, told: &Told) -> bool {
    let reads = matches!(told.ask, Ask::Get(_, Intent::Read) | Ask::Between(_, _, _, Intent::Read));
    reads && trx.level != Isolation::Serializable
}

/// Whether it was answered as things were at a moment: at read committed by a view of its own, or
/// since there was no row, which locks nothing there.
fn is_of_moment(trx: &Trx, told: &Told) -> bool {
    let is_missing = match &told.answer {
        Answer::Rows(rows) => rows.is_empty(),
        Answer::Was(was) => was.is_none(),
        Answer::Gone(gone) => !gone,
        Answer::Duplicate | Answer::NoMark | Answer::Done => false,
    };
    trx.level == Isolation::ReadCommitted && (is_consistent(trx, told) || is_missing)
}

/// All rows, by every index and by what the index alone says.
fn everything(engine: &Engine) -> Rows {
    let (mut session, table) = (engine.session(), engine.table("t").unwrap());
    let all = [i64::MIN, i64::MAX];
    let mut rows = |path, direction, fields| {
        let scan = (path, all, direction, Intent::Read);
        between(&mut session, &table, scan, fields).unwrap()
    };
    let (v, u) = (Path::Secondary(0), Path::Secondary(1));
    let found = rows(Path::Primary, ScanDirection::Up, Fields::All);
    let mut back = rows(Path::Primary, ScanDirection::Down, Fields::All);
    back.reverse();
    assert_eq!(back, found);
    let mut by_v = rows(v, ScanDirection::Down, Fields::All);
    let in_index: Vec<_> = by_v.iter().map(|(id, cells)| (*id, cells.0)).collect();
    let alone = rows(v, ScanDirection::Down, Fields::OfIndex);
    assert_eq!(alone.iter().map(|(id, cells)| (*id, cells.0)).collect::<Vec<_>>(), in_index);
    by_v.sort_unstable();
    assert_eq!(by_v, found);
    let mut unique = found.clone();
    unique.retain(|(_, cells)| cells.1.is_some());
    unique.sort_by_key(|(_, cells)| cells.1);
    assert_eq!(rows(u, ScanDirection::Up, Fields::All), unique);
    found.into_iter().collect()
}

/// Runs all threads to their ends; what the transactions were told.
fn live(engine: &Arc<Engine>, seed: u64) -> Vec<Trx> {
    let moments = Moments::default();
    let work = |session: u64| {
        let (engine, moments) = (engine.clone(), moments.clone());
        thread::spawn(move || {
            let (mut session_of, table) = (engine.session(), engine.table("t").unwrap());
            let mut all: Vec<Trx> = Vec::new();
            for turn in 0..TRANSACTIONS {
                let random = stream(&[seed, session, turn]);
                all.push(transaction(&mut session_of, &table, (seed, random), &moments));
                if all.last().is_some_and(|trx| trx.end == End::Unknown) {
                    break;
                }
            }
            all
        })
    };
    let sessions: Vec<_> = (0..SESSIONS).map(work).collect();
    let keeper = {
        let engine = engine.clone();
        thread::spawn(move || {
            for turn in 0..4 {
                engine.purge();
                if turn == 1 {
                    // Where the disk fails, the sessions say so.
                    drop(engine.checkpoint());
                }
                thread::yield_now();
            }
        })
    };
    let all = sessions.into_iter().flat_map(|session| session.join().unwrap()).collect();
    keeper.join().unwrap();
    all
}

/// What may be on disk: what was found, with any of the transactions of which that is not known.
/// Who began to end when another had failed did not get as far as the log.
fn may_be_there(search: &Search<'_>, found: &Rows) -> Vec<Rows> {
    let unknown = |&trx: &usize| search.all[trx].end == End::Unknown;
    let first = search.order.iter().copied().filter(unknown).map(|trx| search.all[trx].ended).min();
    let mut all = vec![found.clone()];
    for (&trx, changes) in search.order.iter().zip(&search.changes) {
        if unknown(&trx) && first.is_some_and(|first| search.all[trx].ending < first) {
            let with: Vec<_> = all.iter().map(|rows| changed(rows, changes)).collect();
            all.extend(with);
        }
    }
    all
}

fn story(design: &Design, seed: u64) {
    let disk = SimDisk::default();
    let engine = Arc::new(open(&disk, design));
    let table = engine.create_table(spec()).unwrap();
    for (&id, &cells) in &first_rows() {
        ask(&mut engine.session(), &table, Ask::Insert(id, cells)).unwrap();
    }
    let fails = seed % 3 == 2;
    if fails {
        disk.crash_at(disk.operations() + stream(&[seed]).next_below(24));
    }
    let all = live(&engine, seed);
    let found = everything(&engine);
    let mut search = Search {
        all: &all,
        found: &found,
        order: Vec::new(),
        states: vec![first_rows()],
        changes: Vec::new(),
    };
    let is_explained = search.explains();
    assert!(is_explained, "{design:?} {seed}: nothing explains {all:#?}\nand {found:?} at last");
    engine.purge();
    assert_eq!(engine.unpurged_transactions(), 0);
    assert_eq!(everything(&engine), found, "{design:?} {seed}: purge took what was needed");
    drop((table, engine));
    let there = everything(&open(&disk.after_crash(seed), design));
    let may_be = may_be_there(&search, &found);
    assert!(may_be.contains(&there), "{design:?} {seed}: {there:?} is there, not {may_be:?}");
}

/// Tells histories in random orders, and in orders that change rarely.
fn are_explained(text: &str) {
    let design: Design = text.parse().unwrap();
    let config = || {
        let mut config = Config::new();
        config.stack_size = STACK_BYTES;
        config
    };
    let tell = |first: u64| {
        let seeds = AtomicU64::new(first);
        move || story(&design, seeds.fetch_add(1, Ordering::Relaxed))
    };
    let (seed, orders) = (depth::seed(SEED), depth::orders(ORDERS));
    let first = depth::seed(0);
    let random = RandomScheduler::new_from_seed(seed, orders);
    Runner::new(random, config()).run(tell(first));
    let rarely = PctScheduler::new_from_seed(seed, 4, orders);
    Runner::new(rarely, config()).run(tell(first + orders as u64));
}

#[test]
fn vector_broadcast_latched_fifo() {
    are_explained("view=vector&wake=broadcast&log=latched&schedule=fifo&lock_shards=1");
}

#[test]
fn hybrid_direct_linked_cats() {
    are_explained("view=hybrid&wake=direct&log=linked&schedule=cats&lock_shards=4");
}

#[test]
fn cached_futex_latched_by_tickets() {
    are_explained("view=cached&view_close=latched&wake=futex&gate=tickets:1&trx_shards=1");
}

#[test]
fn csn_group_linked_by_a_pool() {
    are_explained("view=csn&wake=group&log=linked&gate=pool:1&deadlock_print=quiet");
}

#[test]
fn csn_direct_latched_cats_noisy() {
    are_explained("view=csn&view_close=latched&wake=direct&schedule=cats&deadlock_print=noisy");
}
