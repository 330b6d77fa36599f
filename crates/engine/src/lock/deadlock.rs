//! Transactions that wait for each other, and which of them gives way.
//!
//! ```text
//!   T5 waits for T3 ──► T3 waits behind T8 ──► T8 waits for T5
//!   └──────────────────────── cycle ◄───────────────────────┘
//! ```
//!
//! Whoever begins to wait looks whether it waits for itself by way of others. An edge from one that
//! waits to another that waits appears only when somebody begins to wait, or when a gap is
//! inherited; so it is enough that these look. Queues are looked at one after another, not all at
//! one time, and so what looks like a cycle may be none. But whoever waits gives nothing back: if
//! each on the cycle is still in the wait in which it was met, all its edges were there at the same
//! time. Searches follow one another, so that a deadlock is found, counted and printed once. Whom
//! nobody blocks that waits itself need not search.
//!
//! The victim is the one that loses least: the fewest rows written and places locked. InnoDB's rule
//! is the same with its own counts (`trx_weight_ge`). Of equals the one that began last gives way.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::collections::hash_map::Entry;

use dbdyno_model::design::DeadlockPrint;

use super::LockSys;
use super::trx::{LockTrx, State};
use super::witness;
use crate::meter::Counter;
use crate::sync::Arc;

/// Somebody on a cycle, in the wait in which it was met.
pub(super) struct Member {
    pub(super) trx: Arc<LockTrx>,
    round: u64,
}

impl LockSys {
    /// Ends the deadlocks of one that waits: rolls others or itself back until it waits for itself
    /// no more.
    pub(super) fn resolve(&self, trx: &Arc<LockTrx>) {
        let mut witness = self.witness.lock().expect("nobody panics who searches");
        while let Some(cycle) = self.find_cycle(trx) {
            if !cycle.iter().all(Member::still_waits) {
                continue;
            }
            let worth = |place: &usize| {
                let trx = &cycle[*place].trx;
                (trx.worth(), Reverse(trx.number()))
            };
            let victim = (0..cycle.len()).min_by_key(worth).expect("a cycle has members");
            if self.print == DeadlockPrint::Noisy {
                let shards = self.latch_all();
                let printed = witness.write(&witness::story(&cycle, victim, &shards));
                self.meter.add(Counter::DeadlockBytes, printed);
            }
            if !self.give_way(&cycle[victim]) {
                continue;
            }
            self.meter.count(Counter::Deadlocks);
            if self.print == DeadlockPrint::Quiet {
                let printed = witness.write(&witness::line(&cycle, victim));
                self.meter.add(Counter::DeadlockBytes, printed);
            }
        }
    }

    /// Ends the wait of a victim, if it still is in it.
    fn give_way(&self, victim: &Member) -> bool {
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

    /// A cycle through one that waits: it, whom it waits for, and so on.
    fn find_cycle(&self, root: &Arc<LockTrx>) -> Option<Vec<Member>> {
        // For each that was reached, who waits for it.
        let mut waits_for: HashMap<u64, Member> = HashMap::new();
        let mut next = vec![Arc::clone(root)];
        while let Some(trx) = next.pop() {
            let State::Waiting(at) = trx.wait().state else {
                continue;
            };
            let mut shard = self.latch(at.shard);
            let queue = shard.queue(at.slot);
            let Some(place) = queue.place_of(&trx) else {
                continue;
            };
            for (waiter, blocker) in queue.blockers(place) {
                let member = || Member { trx: Arc::clone(&waiter.trx), round: waiter.round };
                let blocker = blocker.trx();
                if blocker.is(root) {
                    return Some(path(root, member(), waits_for));
                }
                if let Entry::Vacant(reached) = waits_for.entry(blocker.number()) {
                    reached.insert(member());
                    next.push(Arc::clone(blocker));
                }
            }
        }
        None
    }
}

/// The cycle that ends in `last`, which waits for the root.
fn path(root: &Arc<LockTrx>, last: Member, mut waits_for: HashMap<u64, Member>) -> Vec<Member> {
    let mut cycle = vec![last];
    loop {
        let reached = &cycle[cycle.len() - 1].trx;
        if reached.is(root) {
            cycle.reverse();
            return cycle;
        }
        let number = reached.number();
        cycle.push(waits_for.remove(&number).expect("whoever was reached was reached by another"));
    }
}

impl Member {
    fn still_waits(&self) -> bool {
        self.waits_at().is_some()
    }

    fn waits_at(&self) -> Option<super::shard::Address> {
        let wait = self.trx.wait();
        match wait.state {
            State::Waiting(at) if wait.round == self.round => Some(at),
            _ => None,
        }
    }
}
