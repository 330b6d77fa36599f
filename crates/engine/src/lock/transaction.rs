//! A transaction as the lock table knows it: what it holds, and the one thing that it waits for.
//!
//! ```text
//!            ┌────────── release ─────────┐
//!   Running ─┤                            ├─► Running
//!            └─► Waiting ─► Granted ──────┤
//!                       ├─► Interrupted ──┘
//!                       └─► Victim ───────► rolled back
//! ```
//!
//! It stops waiting only under the latch of the shard in which it waits, and is taken out of the
//! queue there by the thread that ends its wait; so a wait ends once. The thread sleeps on a mutex
//! and a condition of its own.

use super::address::Address;
use crate::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use crate::sync::{Arc, Condvar, Mutex, MutexGuard};

/// A transaction that may hold locks. It may be used again when all are released.
#[derive(Debug)]
pub struct LockTrx {
    number: u64,
    changes: AtomicU64,
    held: Mutex<Vec<Address>>,
    wait: Mutex<Wait>,
    woken: Condvar,
    waits: AtomicBool,
    /// Whether its thread has come as far as to sleep.
    asleep: AtomicBool,
    /// Whether somebody ends what its thread does: it waits for no lock then.
    interrupted: AtomicBool,
    /// How many wait for it, itself included, as far as is known.
    pub(super) weight: AtomicU64,
    /// The number of one that it waits for.
    pub(super) blocked_by: AtomicU64,
}

/// What a transaction waits for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wait {
    /// The number of the wait among all of the lock table; of the last one, if it does not wait.
    pub(super) round: u64,
    pub(super) state: State,
}

/// Where it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    Running,
    Waiting(Address),
    Granted,
    Victim,
    Interrupted,
}

impl LockTrx {
    pub(super) fn new(number: u64) -> LockTrx {
        LockTrx {
            number,
            changes: AtomicU64::new(0),
            held: Mutex::new(Vec::new()),
            wait: Mutex::new(Wait { round: 0, state: State::Running }),
            woken: Condvar::new(),
            waits: AtomicBool::new(false),
            asleep: AtomicBool::new(false),
            interrupted: AtomicBool::new(false),
            weight: AtomicU64::new(1),
            blocked_by: AtomicU64::new(0),
        }
    }

    /// Its number among all that there are; it keeps it when it is used again.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// Whether it holds any lock: then it is let through the gate.
    pub fn holds_locks(&self) -> bool {
        !self.held_places().is_empty()
    }

    /// Notes that rows were written, which makes it a dearer victim of a deadlock.
    pub(crate) fn add_written_rows(&self, rows: u64) {
        self.changes.fetch_add(rows, Ordering::Relaxed);
    }

    /// Rows written.
    pub(super) fn written_rows(&self) -> u64 {
        self.changes.load(Ordering::Relaxed)
    }

    /// Rows written and places locked: what is lost when it is rolled back.
    pub(super) fn rollback_cost(&self) -> u64 {
        self.written_rows() + self.held_places().len() as u64
    }

    /// Places at which it holds something.
    pub(super) fn held_places(&self) -> MutexGuard<'_, Vec<Address>> {
        self.held.lock().expect("nobody panics who looks at what is held")
    }

    pub(super) fn forget_changes(&self) {
        self.changes.store(0, Ordering::Relaxed);
    }

    pub(super) fn wait(&self) -> MutexGuard<'_, Wait> {
        self.wait.lock().expect("nobody panics who looks at a wait")
    }

    /// Whether it waits for a lock, or did a moment ago.
    pub fn is_waiting(&self) -> bool {
        self.waits.load(Ordering::SeqCst)
    }

    /// Whether it may wait for locks no more.
    pub(super) fn is_interrupted(&self) -> bool {
        self.interrupted.load(Ordering::SeqCst)
    }

    /// Says whether it may wait for locks.
    pub(super) fn set_interrupted(&self, interrupted: bool) {
        self.interrupted.store(interrupted, Ordering::SeqCst);
    }

    /// Begins to wait; the wait has this number. The latch of the shard is held.
    pub(super) fn begin_wait(&self, at: Address, round: u64) {
        self.asleep.store(false, Ordering::SeqCst);
        self.waits.store(true, Ordering::SeqCst);
        self.weight.store(1, Ordering::Relaxed);
        let mut wait = self.wait();
        assert!(wait.state == State::Running, "a transaction waits for one thing at a time");
        *wait = Wait { round, state: State::Waiting(at) };
    }

    /// Says how the wait ended; the latch of the shard is held. The thread is woken later.
    pub(super) fn end_wait(&self, ended: State) {
        self.waits.store(false, Ordering::SeqCst);
        self.wait().state = ended;
    }

    /// Wakes the thread.
    pub(super) fn wake(&self) {
        self.woken.notify_one();
    }

    /// Sleeps until the wait has ended, or as long as that; says where it stands.
    pub(super) fn sleep(&self, patience: std::time::Duration) -> State {
        self.asleep.store(true, Ordering::SeqCst);
        let wait = crate::sync::wait_while(&self.woken, self.wait(), patience, |wait| {
            matches!(wait.state, State::Waiting(_))
        });
        wait.state
    }

    /// Whether it waits and will go on waiting until another thread does something.
    pub(crate) fn is_asleep(&self) -> bool {
        self.asleep.load(Ordering::SeqCst) && self.is_waiting()
    }

    /// Goes on after a wait; says how it ended.
    pub(super) fn resume(&self) -> State {
        std::mem::replace(&mut self.wait().state, State::Running)
    }

    pub(super) fn is_same(self: &Arc<LockTrx>, other: &Arc<LockTrx>) -> bool {
        Arc::ptr_eq(self, other)
    }
}
