//! Locks and the gate in many random orders of their threads.
//!
//! Nobody's patience ends here, so that a deadlock that is not found, a waiter that is not woken
//! and a gate that keeps an owner outside are all the same: nothing moves any more, and shuttle
//! says so.

use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};

use dbdyno_engine::gate::{EngineGate, Owner};
use dbdyno_engine::lock::{DeadlockWriter, Holding, LockKind, LockSys, LockTrx, Mode, Place};
use dbdyno_engine::sync::{Arc, thread};
use dbdyno_engine::{Counter, EngineError, IndexId, Meter};
use dbdyno_model::Design;
use shuttle::Runner;
use shuttle::scheduler::{PctScheduler, RandomScheduler};

use crate::depth;

const INDEX: IndexId = IndexId(1);
const KEYS: [&[u8]; 3] = [b"a", b"b", b"c"];
const ORDERS: usize = 4_000;
const SEED: u64 = 6;

/// An engine of locks and a gate, and who holds what as its users see it.
struct World {
    gate: EngineGate,
    locks: LockSys,
    meter: Arc<Meter>,
    writers: [AtomicUsize; KEYS.len()],
    readers: [AtomicUsize; KEYS.len()],
}

impl World {
    fn new(design: &Design) -> Arc<World> {
        let meter = Arc::new(Meter::default());
        let nowhere = DeadlockWriter::new(Box::new(io::sink()));
        Arc::new(World {
            gate: EngineGate::new(design.gate, Arc::clone(&meter)),
            locks: LockSys::new(design, Arc::clone(&meter), nowhere, None),
            meter,
            writers: Default::default(),
            readers: Default::default(),
        })
    }

    /// How many hold a row in that mode.
    fn holders(&self, key: usize, mode: Mode) -> &AtomicUsize {
        match mode {
            Mode::Shared => &self.readers[key],
            Mode::Exclusive => &self.writers[key],
        }
    }

    /// A statement that locks one row.
    fn lock(&self, trx: &Arc<LockTrx>, key: usize, mode: Mode) -> Result<Holding, EngineError> {
        let owner = if trx.holds_locks() { Owner::OfLocks } else { Owner::OfNothing };
        let pass = self.gate.acquire_pass(owner);
        let (place, kind) = (Place::Key(KEYS[key]), LockKind::NextKey);
        let free = self.locks.try_lock(trx, INDEX, place, kind, mode);
        free.or_else(|_| pass.while_waiting(|| self.locks.lock(trx, INDEX, place, kind, mode)))
    }

    /// A transaction that locks rows in this order, again and again until it is no victim.
    fn run(&self, rows: &[(usize, Mode)]) {
        loop {
            let trx = self.locks.begin_transaction();
            let mut locked: Vec<(usize, Mode)> = Vec::new();
            let done = rows.iter().try_for_each(|&(key, mode)| {
                if self.lock(&trx, key, mode)? == Holding::Fresh {
                    let read = usize::from(locked.contains(&(key, Mode::Shared)));
                    self.holders(key, mode).fetch_add(1, Ordering::SeqCst);
                    locked.push((key, mode));
                    let [readers, writers] = [Mode::Shared, Mode::Exclusive]
                        .map(|mode| self.holders(key, mode).load(Ordering::SeqCst));
                    let alone =
                        writers == 0 || (mode, writers, readers) == (Mode::Exclusive, 1, read);
                    assert!(alone, "two hold what excludes the other");
                }
                Ok(())
            });
            for (key, mode) in locked {
                self.holders(key, mode).fetch_sub(1, Ordering::SeqCst);
            }
            self.locks.release_all(&trx);
            match done {
                Ok(()) => return,
                Err(EngineError::Deadlock) => thread::yield_now(),
                Err(error) => panic!("{error}"),
            }
        }
    }
}

/// Runs it in random orders, and in orders that change rarely.
fn in_many_orders(test: impl Fn() + Send + Sync + Clone + 'static) {
    let (seed, orders) = (depth::seed(SEED), depth::orders(ORDERS));
    Runner::new(RandomScheduler::new_from_seed(seed, orders), Default::default()).run(test.clone());
    Runner::new(PctScheduler::new_from_seed(seed, 3, orders), Default::default()).run(test);
}

/// Three transactions that lock the same rows in different orders.
fn quarrel(options: &'static str) {
    in_many_orders(move || {
        let world = World::new(&options.parse().unwrap());
        let (s, x) = (Mode::Shared, Mode::Exclusive);
        let stories =
            [[(0, x), (1, x), (2, s)], [(2, x), (1, s), (0, s)], [(1, s), (0, s), (1, x)]];
        let threads = stories.map(|story| {
            let world = Arc::clone(&world);
            thread::spawn(move || world.run(&story))
        });
        for thread in threads {
            thread.join().unwrap();
        }
        assert_eq!(world.meter.current_counts().count_of(Counter::LockTimeouts), 0);
    });
}

/// Sessions that go on with a new transaction when the last is done, all in one order of rows:
/// nobody ever waits for himself, however late a searcher looks at what was so a moment ago.
#[test]
fn nobody_gives_way_where_all_lock_in_one_order() {
    in_many_orders(|| {
        let world = World::new(&"lock_shards=4".parse().unwrap());
        let stories: [&'static [&'static [usize]]; 4] =
            [&[&[0, 1], &[0, 1]], &[&[0, 1]], &[&[0, 1]], &[&[1], &[1]]];
        let threads = stories.map(|story| {
            let world = Arc::clone(&world);
            thread::spawn(move || {
                let trx = world.locks.begin_transaction();
                for rows in story {
                    for &row in *rows {
                        let place = Place::Key(KEYS[row]);
                        let locked =
                            world.locks.lock(&trx, INDEX, place, LockKind::Record, Mode::Exclusive);
                        assert!(locked.is_ok(), "{locked:?}");
                    }
                    world.locks.release_all(&trx);
                }
            })
        });
        for thread in threads {
            thread.join().unwrap();
        }
    });
}

/// Who holds the row gives it back when both others have ended, and these end only if they are
/// told to: one who is about to wait, too.
#[test]
fn whoever_waits_is_interrupted_and_whoever_comes() {
    in_many_orders(|| {
        let world = World::new(&"lock_shards=2".parse().unwrap());
        let owner = world.locks.begin_transaction();
        world.lock(&owner, 0, Mode::Exclusive).unwrap();
        let waiters = [(); 2].map(|()| {
            let world = Arc::clone(&world);
            thread::spawn(move || {
                let trx = world.locks.begin_transaction();
                let told = world.lock(&trx, 0, Mode::Shared);
                assert!(matches!(told, Err(EngineError::Interrupted)), "{told:?}");
                world.locks.release_all(&trx);
            })
        });
        let interruption = world.locks.interrupt_waits();
        for waiter in waiters {
            waiter.join().unwrap();
        }
        drop(interruption);
        world.locks.release_all(&owner);
    });
}

#[test]
fn all_come_through_one_latch() {
    quarrel("lock_shards=1");
}

#[test]
fn all_come_through_many_latches() {
    quarrel("lock_shards=64&deadlock_print=noisy");
}

#[test]
fn all_come_through_by_weight() {
    quarrel("lock_shards=2&schedule=cats&deadlock_print=quiet");
}

#[test]
fn all_come_through_tickets() {
    quarrel("gate=tickets:1");
}

#[test]
fn all_come_through_a_pool() {
    quarrel("gate=pool:1");
}

#[test]
#[should_panic(expected = "deadlock")]
fn a_blind_gate_stalls() {
    quarrel("gate=blind:1");
}

#[test]
fn gaps_are_inherited_while_others_insert() {
    in_many_orders(|| {
        let world = World::new(&"lock_shards=4".parse().unwrap());
        let end = Place::Supremum;
        let threads = KEYS.map(|key| {
            let world = Arc::clone(&world);
            thread::spawn(move || {
                loop {
                    let locks = &world.locks;
                    let trx = locks.begin_transaction();
                    locks.lock(&trx, INDEX, end, LockKind::Gap, Mode::Shared).unwrap();
                    let insert =
                        locks.lock(&trx, INDEX, end, LockKind::InsertIntention, Mode::Exclusive);
                    if insert.is_ok() {
                        locks.inherit_gap(INDEX, end, Place::Key(key));
                        locks.inherit_gap(INDEX, Place::Key(key), end);
                    }
                    locks.release_all(&trx);
                    assert!(!trx.holds_locks());
                    if insert.is_ok() {
                        break;
                    }
                    thread::yield_now();
                }
            })
        });
        for thread in threads {
            thread.join().unwrap();
        }
        let trx = world.locks.begin_transaction();
        for place in KEYS.map(Place::Key).into_iter().chain([end]) {
            let free =
                world.locks.try_lock(&trx, INDEX, place, LockKind::InsertIntention, Mode::Shared);
            assert!(free.is_ok(), "nobody is left at {place:?}");
        }
    });
}
