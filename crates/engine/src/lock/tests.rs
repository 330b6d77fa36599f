//! The lock table as a whole: threads that wait, time that runs out, deadlocks.

mod oracle;

use std::io;

use super::*;
use crate::sync::thread;

const INDEX: IndexId = IndexId(7);
const LONG: Duration = Duration::from_secs(60);

/// What a witness wrote.
#[derive(Clone, Default)]
pub(super) struct Paper(Arc<std::sync::Mutex<Vec<u8>>>);

impl Paper {
    pub(super) fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }
}

impl io::Write for Paper {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn table(options: &str, lock_wait: Duration) -> (Arc<LockSys>, Paper) {
    let design = Design { lock_wait, ..options.parse().unwrap() };
    let paper = Paper::default();
    let meter = Arc::new(Meter::default());
    (
        Arc::new(LockSys::new(&design, meter, DeadlockWriter::new(Box::new(paper.clone())), None)),
        paper,
    )
}

fn key(name: &str) -> Place<'_> {
    Place::Key(name.as_bytes())
}

fn record(locks: &LockSys, trx: &Arc<LockTrx>, name: &str, mode: Mode) -> Result<Holding> {
    locks.lock(trx, INDEX, key(name), LockKind::Record, mode)
}

fn tries(
    locks: &LockSys,
    trx: &Arc<LockTrx>,
    place: Place<'_>,
    kind: LockKind,
    mode: Mode,
) -> bool {
    locks.try_lock(trx, INDEX, place, kind, mode).is_ok()
}

fn until_it_waits(trx: &LockTrx) {
    while !trx.is_waiting() {
        thread::yield_now();
    }
}

#[test]
fn what_is_free_is_granted_and_what_is_held_is_not_asked_for_twice() {
    let (locks, _) = table("", LONG);
    let [one, other] = [locks.begin_transaction(), locks.begin_transaction()];
    assert_eq!(record(&locks, &one, "a", Mode::Exclusive).unwrap(), Holding::Fresh);
    assert_eq!(record(&locks, &one, "a", Mode::Shared).unwrap(), Holding::Before);
    assert!(!tries(&locks, &other, key("a"), LockKind::Record, Mode::Shared));
    assert!(tries(&locks, &other, key("b"), LockKind::Record, Mode::Shared));
    assert!(one.holds_locks());
    locks.release_all(&one);
    assert!(!one.holds_locks());
    assert!(tries(&locks, &other, key("a"), LockKind::Record, Mode::Shared));
    locks.release_all(&other);
    let left: usize = locks.latch_all().iter().map(|shard| shard.places()).sum();
    assert_eq!(left, 0, "nothing is left of what was given back");
}

#[test]
fn gaps_keep_keys_out_and_do_not_exclude_each_other() {
    let (locks, _) = table("lock_shards=1", LONG);
    let [one, other] = [locks.begin_transaction(), locks.begin_transaction()];
    for place in [key("d"), Place::Supremum] {
        assert!(tries(&locks, &one, place, LockKind::NextKey, Mode::Exclusive));
        assert!(tries(&locks, &other, place, LockKind::Gap, Mode::Exclusive));
        for trx in [&one, &other] {
            let inserts = tries(&locks, trx, place, LockKind::InsertIntention, Mode::Exclusive);
            assert!(!inserts, "the other one's gap is in the way");
        }
    }
    assert!(!tries(&locks, &other, key("d"), LockKind::Record, Mode::Shared));
    locks.release_all(&one);
    assert!(tries(&locks, &other, key("d"), LockKind::InsertIntention, Mode::Exclusive));
}

#[test]
fn a_gap_that_is_parted_or_joined_stays_locked() {
    let (locks, _) = table("lock_shards=16", LONG);
    let [owner, other] = [locks.begin_transaction(), locks.begin_transaction()];
    assert!(tries(&locks, &owner, Place::Supremum, LockKind::Gap, Mode::Shared));
    locks.inherit_gap(INDEX, Place::Supremum, key("m"));
    assert!(!tries(&locks, &other, key("m"), LockKind::InsertIntention, Mode::Exclusive));
    assert!(tries(&locks, &other, key("m"), LockKind::Record, Mode::Exclusive));
    locks.unlock(&owner, INDEX, Place::Supremum, LockKind::Gap, Mode::Shared);
    assert!(tries(&locks, &other, Place::Supremum, LockKind::InsertIntention, Mode::Exclusive));
    locks.inherit_gap(INDEX, key("m"), Place::Supremum);
    assert!(!tries(&locks, &other, Place::Supremum, LockKind::InsertIntention, Mode::Exclusive));
    locks.release_all(&owner);
    assert!(tries(&locks, &other, Place::Supremum, LockKind::InsertIntention, Mode::Exclusive));
}

#[test]
fn a_lock_of_a_table_excludes_intentions() {
    let (locks, _) = table("", Duration::ZERO);
    let [one, other] = [locks.begin_transaction(), locks.begin_transaction()];
    let table = TableId(3);
    let lock = |trx, mode| locks.lock_table(trx, table, mode);
    lock(&one, TableMode::IntentExclusive).unwrap();
    lock(&other, TableMode::IntentExclusive).unwrap();
    let error = lock(&other, TableMode::Shared).unwrap_err();
    assert!(matches!(error, EngineError::LockWaitTimeout));
    locks.release_all(&one);
    lock(&other, TableMode::Exclusive).unwrap();
    assert!(lock(&one, TableMode::IntentShared).is_err());
    assert_eq!(locks.meter.current_counts().count_of(Counter::LockTimeouts), 2);
}

/// A session that waited looks again and finds that it has it: that is no second request.
#[test]
fn a_lock_is_counted_once_however_often_it_is_asked_for() {
    let (locks, _) = table("", LONG);
    let [one, other, third] =
        [locks.begin_transaction(), locks.begin_transaction(), locks.begin_transaction()];
    let [requests, waits, depth] =
        [Counter::LockRequests, Counter::LockWaits, Counter::LockWaitDepth];
    let counted = |counter| locks.meter.current_counts().count_of(counter);
    for _ in 0..3 {
        assert!(tries(&locks, &one, key("a"), LockKind::Record, Mode::Shared));
        record(&locks, &other, "a", Mode::Shared).unwrap();
    }
    assert_eq!(counted(requests), 2);
    thread::scope(|scope| {
        let waits_for_both = scope.spawn(|| record(&locks, &third, "a", Mode::Exclusive));
        until_it_waits(&third);
        // One that has something here already stands before one that has nothing.
        let wants_more = scope.spawn(|| record(&locks, &one, "a", Mode::Exclusive));
        until_it_waits(&one);
        locks.release_all(&other);
        wants_more.join().unwrap().unwrap();
        assert!(tries(&locks, &one, key("a"), LockKind::Record, Mode::Exclusive));
        locks.release_all(&one);
        waits_for_both.join().unwrap().unwrap();
        assert!(tries(&locks, &third, key("a"), LockKind::Record, Mode::Exclusive));
    });
    assert_eq!((counted(requests), counted(waits), counted(depth)), (4, 2, 1 + 1));
}

#[test]
fn who_came_first_is_served_first_and_readers_together() {
    let (locks, _) = table("", LONG);
    let owner = locks.begin_transaction();
    record(&locks, &owner, "a", Mode::Exclusive).unwrap();
    let order = Arc::new(Mutex::new(Vec::new()));
    let modes = [Mode::Exclusive, Mode::Shared, Mode::Shared, Mode::Exclusive];
    let waiters = modes.map(|mode| {
        let (locks, order, trx) =
            (Arc::clone(&locks), Arc::clone(&order), locks.begin_transaction());
        let waiter = Arc::clone(&trx);
        let thread = thread::spawn(move || {
            assert_eq!(record(&locks, &waiter, "a", mode).unwrap(), Holding::Fresh);
            order.lock().unwrap().push(mode);
            locks.release_all(&waiter);
        });
        until_it_waits(&trx);
        thread
    });
    locks.release_all(&owner);
    waiters.into_iter().for_each(|thread| thread.join().unwrap());
    assert_eq!(locks.meter.current_counts().count_of(Counter::LockWaitDepth), 1 + 2 + 3 + 4);
    assert_eq!(*order.lock().unwrap(), modes);
}

#[test]
fn time_under_latches_is_counted_where_there_is_a_clock() {
    fn ticks() -> u64 {
        static NOW: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(0);
        NOW.fetch_add(7, std::sync::atomic::Ordering::Relaxed)
    }
    let held = |clock: Option<ClockFunction>| {
        let (meter, nowhere) =
            (Arc::new(Meter::default()), DeadlockWriter::new(Box::new(io::sink())));
        let locks = LockSys::new(&Design::default(), Arc::clone(&meter), nowhere, clock);
        let trx = locks.begin_transaction();
        record(&locks, &trx, "a", Mode::Exclusive).unwrap();
        locks.release_all(&trx);
        [Counter::LockLatches, Counter::LockLatchHeld]
            .map(|counter| meter.current_counts().count_of(counter))
    };
    assert_eq!(held(Some(ticks)), [2, 14]);
    assert_eq!(held(None), [2, 0]);
}

#[test]
fn time_runs_out_and_those_behind_go_on() {
    let (locks, _) = table("", Duration::from_millis(30));
    let [reader, writer, late] =
        [locks.begin_transaction(), locks.begin_transaction(), locks.begin_transaction()];
    record(&locks, &reader, "a", Mode::Shared).unwrap();
    let error = record(&locks, &writer, "a", Mode::Exclusive).unwrap_err();
    assert_eq!(error.code(), 1205);
    assert!(!writer.holds_locks());
    assert_eq!(record(&locks, &late, "a", Mode::Shared).unwrap(), Holding::Fresh);
    assert_eq!(locks.meter.current_counts().count_of(Counter::LockTimeouts), 1);
}

/// Something for which a transaction waits.
type Waits = fn(&LockSys, &Arc<LockTrx>) -> Result<()>;

/// Its owner gives nothing back before all have given up: a forgotten one waits for a minute
/// and is told something else.
#[test]
fn an_interruption_ends_all_waits_and_allows_no_new_ones() {
    for options in ["lock_shards=8", "schedule=cats"] {
        let (locks, _) = table(options, LONG);
        let owner = locks.begin_transaction();
        record(&locks, &owner, "a", Mode::Exclusive).unwrap();
        locks.lock(&owner, INDEX, key("b"), LockKind::Gap, Mode::Shared).unwrap();
        locks.lock_table(&owner, TableId(1), TableMode::Exclusive).unwrap();
        let waits: [Waits; 4] = [
            |locks, trx| record(locks, trx, "a", Mode::Exclusive).map(|_| ()),
            |locks, trx| record(locks, trx, "a", Mode::Shared).map(|_| ()),
            |locks, trx| {
                let kind = LockKind::InsertIntention;
                locks.lock(trx, INDEX, key("b"), kind, Mode::Exclusive).map(|_| ())
            },
            |locks, trx| locks.lock_table(trx, TableId(1), TableMode::IntentShared),
        ];
        let waiters = waits.map(|wait| {
            let (locks, trx) = (Arc::clone(&locks), locks.begin_transaction());
            let waiter = Arc::clone(&trx);
            let thread = thread::spawn(move || wait(&locks, &waiter));
            until_it_waits(&trx);
            thread
        });
        let late = locks.begin_transaction();
        {
            let (_one, _other) = (locks.interrupt_waits(), locks.interrupt_waits());
            for waiter in waiters {
                let told = waiter.join().unwrap();
                assert!(matches!(told, Err(EngineError::Interrupted)), "{told:?}");
            }
            let told = record(&locks, &late, "a", Mode::Shared);
            assert!(matches!(told, Err(EngineError::Interrupted)), "{told:?}");
            assert!(record(&locks, &late, "c", Mode::Shared).is_ok(), "it is free");
        }
        assert_eq!(locks.meter.current_counts().count_of(Counter::LockTimeouts), 0);
        thread::scope(|scope| {
            let again = scope.spawn(|| record(&locks, &late, "a", Mode::Shared));
            until_it_waits(&late);
            locks.release_all(&owner);
            assert_eq!(again.join().unwrap().unwrap(), Holding::Fresh);
        });
        locks.release_all(&late);
        let left: usize = locks.latch_all().iter().map(|shard| shard.places()).sum();
        assert_eq!(left, 0, "who was sent away left nothing behind");
    }
}

/// Two that wait for each other; what each of them got.
fn embrace(locks: &Arc<LockSys>, wrote: [u64; 2]) -> [Result<Holding>; 2] {
    let trxs = [locks.begin_transaction(), locks.begin_transaction()];
    for (trx, (name, rows)) in trxs.iter().zip([("a", wrote[0]), ("b", wrote[1])]) {
        record(locks, trx, name, Mode::Exclusive).unwrap();
        trx.add_written_rows(rows);
    }
    let threads = [(0, "b"), (1, "a")].map(|(number, name)| {
        let (locks, trx) = (Arc::clone(locks), Arc::clone(&trxs[number]));
        let waiter = Arc::clone(&trx);
        let thread = thread::spawn(move || {
            let got = record(&locks, &waiter, name, Mode::Shared);
            locks.release_all(&waiter);
            got
        });
        if number == 0 {
            until_it_waits(&trx);
        }
        thread
    });
    threads.map(|thread| thread.join().unwrap())
}

#[test]
fn of_two_that_wait_for_each_other_the_one_that_did_less_gives_way() {
    let (locks, paper) = table("deadlock_print=quiet", LONG);
    let [first, second] = embrace(&locks, [2, 1]);
    assert!(first.is_ok() && matches!(second, Err(EngineError::Deadlock)));
    let [first, second] = embrace(&locks, [1, 2]);
    assert!(second.is_ok() && matches!(first, Err(EngineError::Deadlock)));
    let [first, second] = embrace(&locks, [1, 1]);
    assert!(first.is_ok() && second.is_err(), "of equals, who began to wait last");
    let counts = locks.meter.current_counts();
    assert_eq!(counts.count_of(Counter::Deadlocks), 3);
    assert_eq!(counts.count_of(Counter::DeadlockBytes), paper.text().len() as u64);
    let lines = "deadlock of 2: 2 -> 1 -> 2; 2 gives way\n\
                 deadlock of 2: 4 -> 3 -> 4; 3 gives way\n\
                 deadlock of 2: 6 -> 5 -> 6; 6 gives way\n";
    assert_eq!(paper.text(), lines);
}

/// A session keeps its number from one transaction to the next: the victim does not depend on it.
#[test]
fn of_equals_it_is_not_always_the_younger_session_that_gives_way() {
    let (locks, _) = table("", LONG);
    let [older, younger] = [locks.begin_transaction(), locks.begin_transaction()];
    record(&locks, &older, "a", Mode::Exclusive).unwrap();
    record(&locks, &younger, "b", Mode::Exclusive).unwrap();
    thread::scope(|scope| {
        let waits = scope.spawn(|| {
            let got = record(&locks, &younger, "a", Mode::Shared);
            locks.release_all(&younger);
            got
        });
        until_it_waits(&younger);
        assert!(matches!(record(&locks, &older, "b", Mode::Shared), Err(EngineError::Deadlock)));
        locks.release_all(&older);
        assert_eq!(waits.join().unwrap().unwrap(), Holding::Fresh);
    });
}

#[test]
fn two_readers_that_want_to_write_are_a_deadlock() {
    let (locks, _) = table("", LONG);
    let [one, other] = [locks.begin_transaction(), locks.begin_transaction()];
    record(&locks, &one, "a", Mode::Shared).unwrap();
    record(&locks, &other, "a", Mode::Shared).unwrap();
    thread::scope(|scope| {
        let first = scope.spawn(|| record(&locks, &one, "a", Mode::Exclusive));
        until_it_waits(&one);
        assert!(matches!(record(&locks, &other, "a", Mode::Exclusive), Err(EngineError::Deadlock)));
        locks.release_all(&other);
        assert_eq!(first.join().unwrap().unwrap(), Holding::Fresh);
    });
}

#[test]
fn a_gap_that_is_inherited_may_close_a_cycle() {
    let (locks, _) = table("", LONG);
    let [owner, inserter, other] =
        [locks.begin_transaction(), locks.begin_transaction(), locks.begin_transaction()];
    locks.lock(&owner, INDEX, key("k"), LockKind::Gap, Mode::Shared).unwrap();
    locks.lock(&other, INDEX, key("n"), LockKind::Gap, Mode::Shared).unwrap();
    record(&locks, &inserter, "x", Mode::Exclusive).unwrap();
    thread::scope(|scope| {
        let inserts = scope.spawn(|| {
            locks.lock(&inserter, INDEX, key("n"), LockKind::InsertIntention, Mode::Shared)
        });
        until_it_waits(&inserter);
        owner.add_written_rows(1);
        let waits = scope.spawn(|| record(&locks, &owner, "x", Mode::Exclusive));
        until_it_waits(&owner);
        locks.inherit_gap(INDEX, key("k"), key("n"));
        assert!(matches!(inserts.join().unwrap(), Err(EngineError::Deadlock)));
        locks.release_all(&inserter);
        waits.join().unwrap().unwrap();
    });
}

#[test]
fn a_noisy_deadlock_tells_all_locks_of_all_involved() {
    let (locks, paper) = table("deadlock_print=noisy&lock_shards=8", LONG);
    assert!(embrace(&locks, [2, 1])[1].is_err());
    let story = "deadlock of 2: 2 -> 1 -> 2; 2 gives way\n\
                 transaction 2: rows written 1, places locked 1\n\
                 \x20 waits for record S of index 7 key 61\n\
                 \x20 holds record X of index 7 key 62\n\
                 transaction 1: rows written 2, places locked 1\n\
                 \x20 waits for record S of index 7 key 62\n\
                 \x20 holds record X of index 7 key 61\n";
    assert_eq!(paper.text(), story);
}

/// Says which places it was asked for.
struct Places;

impl Records for Places {
    fn describe_key(&self, index: IndexId, key: Option<&[u8]>, into: &mut String) {
        into.push_str(&format!("    at {} {key:?}\n", index.0));
    }
}

#[test]
fn a_noisy_deadlock_shows_the_records() {
    let design = [("deadlock_print".to_owned(), "noisy".to_owned())];
    let design = Design { lock_wait: LONG, ..Design::read(&design).unwrap() };
    let paper = Paper::default();
    let witness = DeadlockWriter::with_records(Box::new(paper.clone()), Arc::new(Places));
    let locks = Arc::new(LockSys::new(&design, Arc::new(Meter::default()), witness, None));
    assert!(embrace(&locks, [2, 1])[1].is_err());
    let text = paper.text();
    let shown: Vec<&str> = text.lines().filter(|line| line.starts_with("    at")).collect();
    let [a, b] = ["    at 7 Some([97])", "    at 7 Some([98])"];
    assert_eq!(shown, [a, b, b, a], "what each waits for and holds: {text}");
}
