//! Transactions that wait for each other, and which of them gives way.
//!
//! ```text
//!   T5 waits for T3 ──► T3 waits behind T8 ──► T8 waits for T5
//!   └──────────────────────── cycle ◄───────────────────────┘
//! ```
//!
//! A transaction that begins to wait looks whether it waits for itself by way of others. An edge
//! from one that waits to another that waits appears only when one begins to wait, or when a gap is
//! inherited; so it is enough that these look. Queues are looked at one after another, not all at
//! one time, and so what looks like a cycle may be none. But a waiter gives nothing back: if each
//! on the cycle is still in the wait in which it was met as a blocker, all its edges were there at
//! the same time. A session that has gone on to its next transaction since then may wait again, for
//! those it kept waiting before; it is another wait, and the old edge is gone. Searches follow one
//! another, so that a deadlock is found, counted and printed once. One that is not blocked by a
//! waiter need not search.
//!
//! The victim is the one that loses least: the fewest rows written and places locked. InnoDB's rule
//! is the same with its own counts (`trx_weight_ge`). Of equals the one that began to wait last
//! gives way, and not always the same session.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::collections::hash_map::Entry;

use dbdyno_model::design::DeadlockPrint;

use super::LockSys;
use super::deadlock_report;
use super::queue::{Blocker, Waiter};
use super::transaction::{LockTrx, State};
use super::waiting_trx::WaitingTrx;
use crate::meter::Counter;
use crate::sync::Arc;

impl LockSys {
    /// Ends the deadlocks of one that waits: rolls others or itself back until it waits for itself
    /// no more.
    pub(super) fn resolve_deadlocks(&self, trx: &Arc<LockTrx>) {
        let mut witness = self.witness.lock().expect("nobody panics who searches");
        while let Some(cycle) = self.find_cycle(trx) {
            if !cycle.iter().all(WaitingTrx::still_waits) {
                continue;
            }
            let worth = |place: &usize| {
                let member = &cycle[*place];
                (member.trx.rollback_cost(), Reverse(member.round))
            };
            let victim = (0..cycle.len()).min_by_key(worth).expect("a cycle has members");
            if self.print == DeadlockPrint::Noisy {
                let shards = self.latch_all();
                let story = witness.full_report(&cycle, victim, &shards);
                let printed = witness.write(&story);
                self.meter.add(Counter::DeadlockBytes, printed);
            }
            if !self.give_way(&cycle[victim]) {
                continue;
            }
            self.meter.count(Counter::Deadlocks);
            if self.print == DeadlockPrint::Quiet {
                let printed = witness.write(&deadlock_report::summary_line(&cycle, victim));
                self.meter.add(Counter::DeadlockBytes, printed);
            }
        }
    }

    /// Ends the wait of a victim, if it still is in it.
    fn give_way(&self, victim: &WaitingTrx) -> bool {
        let Some(at) = victim.waits_at() else {
            return false;
        };
        let mut wake = Vec::new();
        let dismissed = self.dismiss(&victim.trx, at, State::Victim, &mut wake);
        if dismissed {
            victim.trx.wake();
        }
        self.wake(&wake);
        dismissed
    }

    /// A cycle through one that waits: it, one that it waits for, and so on.
    fn find_cycle(&self, root: &Arc<LockTrx>) -> Option<Vec<WaitingTrx>> {
        let root = WaitingTrx::that_waits(root)?;
        // For each that was reached, one that waits for it.
        let mut waits_for: HashMap<u64, WaitingTrx> = HashMap::new();
        let mut next = vec![root.clone()];
        while let Some(member) = next.pop() {
            for (waiter, blocker) in self.edges(&member) {
                if blocker.is_same(&root) {
                    return Some(path(&root.trx, waiter, waits_for));
                }
                if let Entry::Vacant(reached) = waits_for.entry(blocker.trx.number()) {
                    reached.insert(waiter);
                    next.push(blocker);
                }
            }
        }
        None
    }

    /// Waiters where this one waits, itself first, each with a waiter that it waits for; none, if
    /// its wait is over. The blockers' waits are met under the latch: what they hold here they hold
    /// as long as these waits last.
    fn edges(&self, member: &WaitingTrx) -> Vec<(WaitingTrx, WaitingTrx)> {
        let Some(at) = member.waits_at() else {
            return Vec::new();
        };
        let mut shard = self.latch(at.shard);
        let queue = shard.queue(at.slot);
        let Some(place) = queue.place_of(&member.trx).filter(|_| member.still_waits()) else {
            return Vec::new();
        };
        let edges = queue.blockers_of(place).into_iter();
        edges
            .filter_map(|(waiter, blocker): (&Waiter, Blocker<'_>)| {
                let waiter = WaitingTrx { trx: Arc::clone(&waiter.trx), round: waiter.round };
                Some((waiter, WaitingTrx::that_waits(blocker.trx())?))
            })
            .collect()
    }
}

/// The cycle that ends in `last`, which waits for the root.
fn path(
    root: &Arc<LockTrx>,
    last: WaitingTrx,
    mut waits_for: HashMap<u64, WaitingTrx>,
) -> Vec<WaitingTrx> {
    let mut cycle = vec![last];
    loop {
        let reached = &cycle[cycle.len() - 1].trx;
        if reached.is_same(root) {
            cycle.reverse();
            return cycle;
        }
        let number = reached.number();
        cycle.push(waits_for.remove(&number).expect("whoever was reached was reached by another"));
    }
}

#[cfg(all(test, not(any(feature = "loom", feature = "shuttle"))))]
mod tests {
    use std::time::Duration;

    use dbdyno_model::Design;

    use super::*;
    use crate::ids::IndexId;
    use crate::lock::{DeadlockWriter, LockKind, Mode, Place};
    use crate::meter::Meter;

    /// B was met as one that waits and keeps A waiting. It got what it wanted, ended, and now waits
    /// behind A for what it had: A waits for it no more.
    #[test]
    fn who_waits_anew_is_not_who_waited_before() {
        let design = Design { lock_wait: Duration::MAX, ..Design::default() };
        let sink = Box::new(std::io::sink());
        let locks =
            LockSys::new(&design, Arc::new(Meter::default()), DeadlockWriter::new(sink), None);
        let lock = |trx: &Arc<LockTrx>, key: &'static [u8]| {
            locks.lock(trx, IndexId(1), Place::Key(key), LockKind::Record, Mode::Exclusive).unwrap()
        };
        let [a, b, n, d] = [(); 4].map(|()| locks.begin_transaction());
        lock(&b, b"x");
        lock(&d, b"y");
        let until_asleep = |trx: &Arc<LockTrx>| {
            while !trx.is_asleep() {
                std::thread::yield_now();
            }
        };
        std::thread::scope(|scope| {
            let waits = scope.spawn(|| lock(&b, b"y"));
            until_asleep(&b);
            scope.spawn(|| lock(&n, b"x"));
            until_asleep(&n);
            scope.spawn(|| lock(&a, b"x"));
            until_asleep(&a);
            let met = WaitingTrx::that_waits(&b).unwrap();
            locks.release_all(&d);
            waits.join().unwrap();
            locks.release_all(&b);
            scope.spawn(|| lock(&b, b"x"));
            until_asleep(&b);
            assert!(locks.edges(&met).is_empty(), "the wait in which it was met is over");
            let now = WaitingTrx::that_waits(&b).unwrap();
            assert!(locks.edges(&now).iter().any(|(_, blocker)| blocker.trx.is_same(&a)));
            locks.release_all(&n);
            until_granted(&a);
            locks.release_all(&a);
        });
        locks.release_all(&b);
    }

    fn until_granted(trx: &Arc<LockTrx>) {
        while trx.is_waiting() {
            std::thread::yield_now();
        }
    }
}
