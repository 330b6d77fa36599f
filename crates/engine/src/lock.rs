//! Locks: which transaction may touch a row, or put one into a gap.
//!
//! ```text
//!        gap before b    gap before d      gap after the last key
//!   ──────────────────┬─────────────────┬────────────────────────
//!                     b                 d                 supremum
//!                     └── next-key lock ┘
//!
//!   (index, key) ──hash──► one of n shards, each with a latch ──► queue: granted │ waiting
//! ```
//!
//! Locks are on keys of an index, whether there is a row or not, and on what lies after the last
//! key; a lock of a key may mean the record, the gap before it, or both. Which locks exclude each
//! other is the table in `claim`; in which order waiters get them is the `schedule`; what happens
//! when transactions wait for each other is `deadlock`. A request takes one latch. Only a gap that
//! is parted or joined, and the printing of a deadlock that is noisy, take more, in the order of
//! shards.
//!
//! A holder of a latch of an index never waits for a lock: it tries, and on a conflict gives the
//! latch back, waits, and looks again, since the rows may be others by then.
//!
//! A session that has to end soon does not wait for those that wait: an [`Interruption`] ends all
//! waits and allows no new ones. Its mark is set before the latches are taken one by one, and a
//! session about to wait looks at it under a latch: it sees the mark, or it is found in the queue.

mod address;
mod claims;
mod deadlock;
mod deadlock_report;
mod queue;
mod request;
mod schedule;
mod shard;
mod transaction;
mod waiting_trx;

#[cfg(all(test, not(feature = "loom")))]
mod tests;

use std::time::Duration;

use dbdyno_model::Design;
use dbdyno_model::design::DeadlockPrint;

pub use deadlock_report::{DeadlockWriter, Records};
pub use request::{LockKind, Mode, Place, TableMode};
pub use transaction::LockTrx;

use crate::error::{EngineError, Result};
use crate::ids::{IndexId, TableId};
use crate::latch::{ClockFunction, Gauge, Hold};
use crate::meter::{Counter, Meter};
use crate::sync::atomic::{AtomicU64, Ordering};
use crate::sync::{Arc, Mutex};
use address::Address;
use claims::Claim;
use queue::QueueAnswer;
use schedule::{Policy, cats};
use shard::{Shard, Spot};
use transaction::State;

/// How a lock came to be held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holding {
    /// It was asked for and granted. Of an insert intention nothing is held.
    Fresh,
    /// The transaction held this or more before.
    Before,
}

/// Another transaction has, or waits for, what excludes this.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Conflict;

/// The lock table.
#[derive(Debug)]
pub struct LockSys {
    shards: Box<[LatchedShard]>,
    policy: Policy,
    board: cats::Board,
    print: DeadlockPrint,
    patience: Duration,
    /// How many [`Interruption`]s there are.
    interruptions: AtomicU64,
    next: AtomicU64,
    /// The number of the next wait.
    waits: AtomicU64,
    witness: Mutex<DeadlockWriter>,
    gauge: Gauge,
    meter: Arc<Meter>,
}

/// For so many locks a transaction keeps room when it has given them back.
const HELD_KEPT: usize = 1_024;

/// Two cache lines: processors fetch lines in pairs.
#[derive(Debug, Default)]
#[repr(align(128))]
struct LatchedShard(Mutex<Shard>);

impl LockSys {
    /// A lock table of that design. Deadlocks are written to `witness`, if at all. With a clock,
    /// the time for which latches are held is counted.
    pub fn new(
        design: &Design,
        meter: Arc<Meter>,
        witness: DeadlockWriter,
        clock: Option<ClockFunction>,
    ) -> LockSys {
        LockSys {
            shards: (0..design.lock_shards).map(|_| LatchedShard::default()).collect(),
            policy: Policy::new(design.schedule),
            board: cats::Board::default(),
            print: design.deadlock_print,
            patience: design.lock_wait,
            interruptions: AtomicU64::new(0),
            next: AtomicU64::new(1),
            waits: AtomicU64::new(1),
            witness: Mutex::new(witness),
            gauge: Gauge::of_locks(meter.clone(), clock),
            meter,
        }
    }

    /// A transaction that holds nothing yet. One thread at a time asks for its locks.
    pub fn begin_transaction(&self) -> Arc<LockTrx> {
        Arc::new(LockTrx::new(self.next.fetch_add(1, Ordering::Relaxed)))
    }

    /// Locks a table without waiting, as [`LockSys::try_lock`] does a place.
    ///
    /// # Errors
    /// [`Conflict`] when it would have to wait.
    pub(crate) fn try_lock_table(
        &self,
        trx: &Arc<LockTrx>,
        table: TableId,
        mode: TableMode,
    ) -> std::result::Result<Holding, Conflict> {
        self.attempt(trx, Spot::table(table), Claim::of_table(mode))
    }

    /// Locks a table, and waits for it.
    ///
    /// # Errors
    /// Those of [`LockSys::lock`].
    pub fn lock_table(&self, trx: &Arc<LockTrx>, table: TableId, mode: TableMode) -> Result<()> {
        self.acquire(trx, Spot::table(table), Claim::of_table(mode)).map(|_| ())
    }

    /// Locks a place without waiting. A conflict is not counted as a request: the caller comes
    /// again with [`LockSys::lock`].
    ///
    /// # Errors
    /// [`Conflict`] when it would have to wait.
    ///
    /// # Panics
    /// When [`LockKind::Record`] is asked for at the supremum.
    pub fn try_lock(
        &self,
        trx: &Arc<LockTrx>,
        index: IndexId,
        place: Place<'_>,
        kind: LockKind,
        mode: Mode,
    ) -> std::result::Result<Holding, Conflict> {
        self.attempt(trx, Spot::of_row(index, place), Claim::of_row(place, kind, mode))
    }

    /// Locks a place, and waits for it. Latches of indexes must not be held.
    ///
    /// # Errors
    /// [`EngineError::Deadlock`] when this transaction was chosen to be rolled back; it still holds
    /// its locks, and others wait for them. [`EngineError::LockWaitTimeout`] when it took longer
    /// than the design says. [`EngineError::Interrupted`] during an [`Interruption`].
    ///
    /// # Panics
    /// When [`LockKind::Record`] is asked for at the supremum.
    pub fn lock(
        &self,
        trx: &Arc<LockTrx>,
        index: IndexId,
        place: Place<'_>,
        kind: LockKind,
        mode: Mode,
    ) -> Result<Holding> {
        let claim = Claim::of_row(place, kind, mode);
        self.acquire(trx, Spot::of_row(index, place), claim)
    }

    /// Gives one lock back before the transaction ends; what is not held is not missed.
    pub(crate) fn unlock(
        &self,
        trx: &Arc<LockTrx>,
        index: IndexId,
        place: Place<'_>,
        kind: LockKind,
        mode: Mode,
    ) {
        let claim = Claim::of_row(place, kind, mode);
        let spot = Spot::of_row(index, place);
        let (hash, number) = self.part(spot);
        let mut wake = Vec::new();
        {
            let mut shard = self.latch(number);
            let Some(slot) = shard.find(spot, hash) else {
                return;
            };
            let at = Address { shard: number, slot };
            if shard.queue(slot).give_back(trx, claim) {
                let mut held = trx.held_places();
                let place = held.iter().rposition(|held| *held == at);
                held.swap_remove(place.expect("what is granted is held"));
            }
            shard.queue(slot).grant_waiters(self.policy, at, &mut wake);
            shard.free_if_idle(slot);
        }
        self.wake(&wake);
    }

    /// Locks the gap before `to` for all that lock the gap before `from`. To be called under the
    /// latch of the index when a key was put into a gap (from the next key to the new one), or is
    /// taken out of the index (from that key to the next). Records stay locked by their keys.
    pub fn inherit_gap(&self, index: IndexId, from: Place<'_>, to: Place<'_>) {
        let (from, to) = (Spot::of_row(index, from), Spot::of_row(index, to));
        let [(from_hash, from_number), (to_hash, to_number)] =
            [from, to].map(|spot| self.part(spot));
        let locks_gap = |shard: &mut Shard| {
            let slot = shard.find(from, from_hash)?;
            shard.queue(slot).gap_holders().next().map(|_| slot)
        };
        if locks_gap(&mut self.latch(from_number)).is_none() {
            return;
        }
        let mut exposed = Vec::new();
        {
            let mut pair = self.latch_two(from_number, to_number);
            let Some(slot) = locks_gap(pair.first()) else {
                return;
            };
            let heirs: Vec<_> = pair.first().queue(slot).gap_holders().cloned().collect();
            let shard = pair.second();
            let slot = shard.find_or_make(to, to_hash);
            let queue = shard.queue(slot);
            for heir in &heirs {
                queue.grant_claim(heir, Claim::GAP, Address { shard: to_number, slot });
            }
            exposed.extend(queue.inserters().cloned());
        }
        for inserter in &exposed {
            self.resolve_deadlocks(inserter);
        }
    }

    /// Gives all locks back, and forgets what was written.
    pub fn release_all(&self, trx: &Arc<LockTrx>) {
        trx.forget_changes();
        let (mut held, mut wake) = (Vec::new(), Vec::new());
        loop {
            // What is inherited meanwhile comes into the list that is looked at next; the other one
            // goes back at the end, for the locks of the next transaction.
            std::mem::swap(&mut held, &mut *trx.held_places());
            if held.is_empty() {
                return;
            }
            for run in held.chunk_by(|one, other| one.shard == other.shard) {
                let mut shard = self.latch(run[0].shard);
                for &at in run {
                    let queue = shard.queue(at.slot);
                    queue.give_all_back(trx);
                    queue.grant_waiters(self.policy, at, &mut wake);
                    shard.free_if_idle(at.slot);
                }
                drop(shard);
                self.wake(&wake);
                wake.clear();
            }
            held.clear();
            held.shrink_to(HELD_KEPT);
        }
    }

    /// Ends all waits, and allows no new ones as long as this is held.
    pub fn interrupt_waits(&self) -> Interruption<'_> {
        self.interruptions.fetch_add(1, Ordering::SeqCst);
        let mut ended = Vec::new();
        for shard in 0..self.shards.len() as u32 {
            self.latch(shard).interrupt_waits(&mut ended);
            self.wake(&ended);
            ended.clear();
        }
        Interruption { locks: self }
    }

    /// Ends the wait of one transaction, and allows it no new one until
    /// [`LockSys::allow_waits`].
    pub(crate) fn interrupt_wait(&self, trx: &Arc<LockTrx>) {
        trx.set_interrupted(true);
        let State::Waiting(at) = trx.wait().state else { return };
        let mut wake = Vec::new();
        if self.dismiss(trx, at, State::Interrupted, &mut wake) {
            wake.push(trx.clone());
        }
        self.wake(&wake);
    }

    /// Lets a transaction wait for locks again.
    pub(crate) fn allow_waits(&self, trx: &LockTrx) {
        trx.set_interrupted(false);
    }

    fn attempt(
        &self,
        trx: &Arc<LockTrx>,
        spot: Spot<'_>,
        claim: Claim,
    ) -> std::result::Result<Holding, Conflict> {
        let (hash, number) = self.part(spot);
        let met = self.latch(number).request_claim(trx, spot, hash, claim, number).0;
        if met == QueueAnswer::Granted {
            self.meter.count(Counter::LockRequests);
        }
        held(met)
    }

    fn acquire(&self, trx: &Arc<LockTrx>, spot: Spot<'_>, claim: Claim) -> Result<Holding> {
        let (hash, number) = self.part(spot);
        let mut shard = self.latch(number);
        let (met, at) = shard.request_claim(trx, spot, hash, claim, number);
        if met != QueueAnswer::Before {
            self.meter.count(Counter::LockRequests);
        }
        if let Ok(held) = held(met) {
            return Ok(held);
        }
        if self.interruptions.load(Ordering::SeqCst) > 0 || trx.is_interrupted() {
            return Err(EngineError::Interrupted);
        }
        let queue = shard.queue(at.slot);
        let round = self.waits.fetch_add(1, Ordering::Relaxed);
        let place = queue.enqueue_claim(trx, claim, at, round);
        self.meter.count(Counter::LockWaits);
        self.meter.add(Counter::LockWaitDepth, place as u64 + 1);
        let may_be_deadlock = queue.is_blocked_by_one_that_waits(place);
        drop(shard);
        if self.policy.needs_weights() {
            self.board.suspend(trx);
        }
        if may_be_deadlock {
            self.resolve_deadlocks(trx);
        }
        self.sleep(trx, at)
    }

    /// Sleeps until a lock is granted or will not be.
    fn sleep(&self, trx: &Arc<LockTrx>, at: Address) -> Result<Holding> {
        // Who ended its waits before it stood in the queue has not found it there.
        if trx.is_interrupted() {
            self.interrupt_wait(trx);
        }
        if trx.sleep(self.patience) == State::Waiting(at) {
            let mut wake = Vec::new();
            self.dismiss(trx, at, State::Running, &mut wake);
            self.wake(&wake);
        }
        if self.policy.needs_weights() {
            self.board.resume(trx);
        }
        match trx.resume() {
            State::Granted => Ok(Holding::Fresh),
            State::Victim => Err(EngineError::Deadlock),
            State::Interrupted => Err(EngineError::Interrupted),
            State::Running => {
                self.meter.count(Counter::LockTimeouts);
                Err(EngineError::LockWaitTimeout)
            }
            State::Waiting(_) => unreachable!("whoever is not in the queue does not wait"),
        }
    }

    /// Takes one that waits out of its queue, if it still waits there.
    fn dismiss(
        &self,
        trx: &Arc<LockTrx>,
        at: Address,
        ended: State,
        wake: &mut Vec<Arc<LockTrx>>,
    ) -> bool {
        let mut shard = self.latch(at.shard);
        let queue = shard.queue(at.slot);
        let dismissed = queue.dismiss_waiter(trx, ended);
        if dismissed {
            queue.grant_waiters(self.policy, at, wake);
            shard.free_if_idle(at.slot);
        }
        dismissed
    }

    fn wake(&self, granted: &[Arc<LockTrx>]) {
        granted.iter().for_each(|trx| trx.wake());
    }

    /// Hash and shard of a place.
    fn part(&self, spot: Spot<'_>) -> (u64, u32) {
        let hash = spot.hash();
        (hash, (((hash >> 32) * self.shards.len() as u64) >> 32) as u32)
    }

    fn latch(&self, shard: u32) -> Hold<'_, Shard> {
        self.gauge.take_hold(&self.shards[shard as usize].0)
    }

    /// Latches two shards, in their order.
    fn latch_two(&self, one: u32, other: u32) -> Pair<'_> {
        if one == other {
            return Pair { first: self.latch(one), second: None };
        }
        let low = self.latch(one.min(other));
        let high = self.latch(one.max(other));
        let (first, second) = if one < other { (low, high) } else { (high, low) };
        Pair { first, second: Some(second) }
    }

    fn latch_all(&self) -> Vec<Hold<'_, Shard>> {
        (0..self.shards.len() as u32).map(|shard| self.latch(shard)).collect()
    }
}

/// As long as it is held, no session waits for a lock.
#[derive(Debug)]
#[must_use = "when it is dropped, locks are waited for again"]
pub struct Interruption<'a> {
    locks: &'a LockSys,
}

impl Drop for Interruption<'_> {
    fn drop(&mut self) {
        self.locks.interruptions.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Two latched shards, which may be one.
struct Pair<'a> {
    first: Hold<'a, Shard>,
    second: Option<Hold<'a, Shard>>,
}

impl Pair<'_> {
    fn first(&mut self) -> &mut Shard {
        &mut self.first
    }

    fn second(&mut self) -> &mut Shard {
        self.second.as_mut().unwrap_or(&mut self.first)
    }
}

fn held(met: QueueAnswer) -> std::result::Result<Holding, Conflict> {
    match met {
        QueueAnswer::Before => Ok(Holding::Before),
        QueueAnswer::Granted => Ok(Holding::Fresh),
        QueueAnswer::Conflict => Err(Conflict),
    }
}
