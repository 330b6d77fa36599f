//! One place: what is held there, and what waits in which order.
//!
//! ```text
//!   granted   T3: S   T7: S + gap          no two of them exclude each other
//!   waiting   T7: X │ T9: X   T4: S   T8: insert intention
//!             ──────┴────────────────      in the order of their coming; one that holds
//!              first  later                some here and wants more stands before others
//! ```
//!
//! A newcomer waits for claims that were granted and, so that none is passed over for ever,
//! behind claims that wait. A transaction that holds something here and wants more does not wait
//! behind others: they wait for it already. What waits is granted in the order of the schedule.
//! Nothing here knows latches or threads.

use super::address::Address;
use super::claims::Claim;
use super::schedule::{Policy, SkippedClaims};
use super::transaction::{LockTrx, State};
use crate::sync::Arc;
use crate::sync::atomic::Ordering;

/// Holders and waiters of one place.
#[derive(Debug, Default)]
pub(super) struct Queue {
    granted: Vec<Grant>,
    waiting: Vec<Waiter>,
}

/// What one transaction holds here.
#[derive(Debug)]
pub(super) struct Grant {
    pub(super) trx: Arc<LockTrx>,
    pub(super) claim: Claim,
}

/// What one transaction waits for here.
#[derive(Debug)]
pub(super) struct Waiter {
    pub(super) trx: Arc<LockTrx>,
    pub(super) claim: Claim,
    /// The number of this wait among all of the lock table.
    pub(super) round: u64,
    /// It holds something here.
    pub(super) wants_more: bool,
}

/// What a request meets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum QueueAnswer {
    /// It was held before.
    Before,
    /// It is granted now.
    Granted,
    /// It has to wait.
    Conflict,
}

impl Queue {
    /// Grants a claim if it need not wait.
    pub(super) fn request_claim(
        &mut self,
        trx: &Arc<LockTrx>,
        claim: Claim,
        at: Address,
    ) -> QueueAnswer {
        let mut own = None;
        let mut waits = false;
        for (index, grant) in self.granted.iter().enumerate() {
            if grant.trx.is_same(trx) {
                if claim.is_covered_by(grant.claim) {
                    return QueueAnswer::Before;
                }
                own = Some(index);
            } else {
                waits |= claim.waits_for(grant.claim);
            }
        }
        let wants_more = own.is_some_and(|own| self.granted[own].claim.goes_first());
        if !wants_more {
            waits |= self.waiting.iter().any(|waiter| claim.waits_behind(waiter.claim));
        }
        if waits {
            return QueueAnswer::Conflict;
        }
        match own {
            Some(own) => {
                self.granted[own].claim = self.granted[own].claim.with_claim(claim.held_part())
            }
            None => self.add(trx, claim.held_part(), at),
        }
        QueueAnswer::Granted
    }

    /// Puts a claim that has to wait where it belongs; the place among those that wait. The
    /// transaction begins to wait; the wait has this number.
    pub(super) fn enqueue_claim(
        &mut self,
        trx: &Arc<LockTrx>,
        claim: Claim,
        at: Address,
        round: u64,
    ) -> usize {
        let held = self.granted.iter().find(|grant| grant.trx.is_same(trx));
        let wants_more = held.is_some_and(|held| held.claim.goes_first());
        trx.begin_wait(at, round);
        let waiter = Waiter { trx: Arc::clone(trx), claim, round, wants_more };
        let index = if wants_more {
            self.waiting.iter().take_while(|before| before.wants_more).count()
        } else {
            self.waiting.len()
        };
        self.waiting.insert(index, waiter);
        self.point_at_blocker(index);
        index
    }

    /// Where a transaction stands among those that wait.
    pub(super) fn place_of(&self, trx: &Arc<LockTrx>) -> Option<usize> {
        self.waiting.iter().position(|waiter| waiter.trx.is_same(trx))
    }

    /// Takes one that waits out of the queue and ends its wait.
    pub(super) fn dismiss_waiter(&mut self, trx: &Arc<LockTrx>, ended: State) -> bool {
        let Some(place) = self.place_of(trx) else {
            return false;
        };
        self.waiting.remove(place);
        trx.end_wait(ended);
        true
    }

    /// Ends the waits of all; adds those to wake. What they waited for is held, so that the place
    /// stays in use.
    pub(super) fn interrupt_waits(&mut self, wake: &mut Vec<Arc<LockTrx>>) {
        for waiter in self.waiting.drain(..) {
            waiter.trx.end_wait(State::Interrupted);
            wake.push(waiter.trx);
        }
    }

    /// Takes away what a transaction holds of that; whether it holds nothing here any more.
    pub(super) fn give_back(&mut self, trx: &Arc<LockTrx>, claim: Claim) -> bool {
        let Some(own) = self.granted.iter().position(|grant| grant.trx.is_same(trx)) else {
            return false;
        };
        self.granted[own].claim = self.granted[own].claim.without_claim(claim);
        let nothing = self.granted[own].claim.is_none();
        if nothing {
            self.granted.swap_remove(own);
        }
        nothing
    }

    /// Takes away all that a transaction holds here.
    pub(super) fn give_all_back(&mut self, trx: &Arc<LockTrx>) {
        let own = self.granted.iter().position(|grant| grant.trx.is_same(trx));
        self.granted.swap_remove(own.expect("what is held is granted"));
    }

    /// Grants what need not wait any more, in the order of the schedule; adds those to wake.
    pub(super) fn grant_waiters(
        &mut self,
        policy: Policy,
        at: Address,
        wake: &mut Vec<Arc<LockTrx>>,
    ) {
        if self.waiting.is_empty() {
            return;
        }
        let order = policy.grant_order(
            self.waiting.iter().map(|waiter| waiter.trx.weight.load(Ordering::Relaxed)),
        );
        let mut stood = SkippedClaims::default();
        let woken = wake.len();
        for place in order {
            let waiter = &self.waiting[place];
            let behind = !waiter.wants_more && stood.stop(place, waiter.claim);
            if behind || self.is_excluded(waiter) {
                stood.skip_claim(place, waiter.claim);
                continue;
            }
            let (trx, claim) = (Arc::clone(&waiter.trx), waiter.claim);
            self.grant_claim(&trx, claim, at);
            trx.end_wait(State::Granted);
            wake.push(trx);
        }
        let granted = &wake[woken..];
        if granted.is_empty() {
            return;
        }
        self.waiting.retain(|waiter| !granted.iter().any(|trx| trx.is_same(&waiter.trx)));
        if policy.needs_weights() {
            (0..self.waiting.len()).for_each(|place| self.point_at_blocker(place));
        }
    }

    /// All for which the waiter at `place` waits, also by way of others that wait here: a waiter,
    /// and its blocker. Nearer ones first; one may be named twice.
    pub(super) fn blockers_of(&self, place: usize) -> Vec<(&Waiter, Blocker<'_>)> {
        let mut edges = Vec::new();
        let mut reached = vec![&self.waiting[place]];
        for ahead in self.waiting[..place].iter().rev() {
            let behind =
                |waiter: &&&Waiter| !waiter.wants_more && waiter.claim.waits_behind(ahead.claim);
            if let Some(waiter) = reached.iter().find(behind) {
                edges.push((*waiter, Blocker::Waiter(ahead)));
                reached.push(ahead);
            }
        }
        for grant in &self.granted {
            let excluded = |waiter: &&&Waiter| {
                !waiter.trx.is_same(&grant.trx) && waiter.claim.waits_for(grant.claim)
            };
            if let Some(waiter) = reached.iter().find(excluded) {
                edges.push((*waiter, Blocker::Holder(grant)));
            }
        }
        edges
    }

    /// Whether any cycle of waiting could go through the waiter at `place`: all that wait here
    /// wait for holders in the end.
    pub(super) fn is_blocked_by_one_that_waits(&self, place: usize) -> bool {
        let mut blockers = self.blockers_of(place).into_iter();
        blockers.any(|(_, by)| matches!(by, Blocker::Holder(grant) if grant.trx.is_waiting()))
    }

    /// Holders of gaps here.
    pub(super) fn gap_holders(&self) -> impl Iterator<Item = &Arc<LockTrx>> {
        self.granted.iter().filter(|grant| grant.claim.has_gap()).map(|grant| &grant.trx)
    }

    /// Those that wait for a gap.
    pub(super) fn inserters(&self) -> impl Iterator<Item = &Arc<LockTrx>> {
        let inserters = self.waiting.iter().filter(|waiter| waiter.claim.asks_to_insert());
        inserters.map(|waiter| &waiter.trx)
    }

    /// Gives a claim that excludes nothing that is granted.
    pub(super) fn grant_claim(&mut self, trx: &Arc<LockTrx>, claim: Claim, at: Address) {
        match self.granted.iter_mut().find(|grant| grant.trx.is_same(trx)) {
            Some(own) => own.claim = own.claim.with_claim(claim.held_part()),
            None => self.add(trx, claim.held_part(), at),
        }
    }

    pub(super) fn granted_claims(&self) -> &[Grant] {
        &self.granted
    }

    pub(super) fn queued_waiters(&self) -> &[Waiter] {
        &self.waiting
    }

    pub(super) fn is_empty(&self) -> bool {
        self.granted.is_empty() && self.waiting.is_empty()
    }

    fn add(&mut self, trx: &Arc<LockTrx>, claim: Claim, at: Address) {
        if !claim.is_none() {
            self.granted.push(Grant { trx: Arc::clone(trx), claim });
            trx.held_places().push(at);
        }
    }

    fn is_excluded(&self, waiter: &Waiter) -> bool {
        let excludes =
            |grant: &Grant| !grant.trx.is_same(&waiter.trx) && waiter.claim.waits_for(grant.claim);
        self.granted.iter().any(excludes)
    }

    /// Notes one of those for which a waiter waits: the first holder, else the nearest waiter.
    fn point_at_blocker(&mut self, place: usize) {
        let waiter = &self.waiting[place];
        let excludes =
            |grant: &&Grant| !grant.trx.is_same(&waiter.trx) && waiter.claim.waits_for(grant.claim);
        let holder = self.granted.iter().find(excludes).map(|grant| &grant.trx);
        if let Some(blocker) = holder.or_else(|| {
            let ahead = self.waiting[..place].iter().rev();
            ahead
                .filter(|ahead| waiter.claim.waits_behind(ahead.claim))
                .map(|ahead| &ahead.trx)
                .next()
        }) {
            waiter.trx.blocked_by.store(blocker.number(), Ordering::Relaxed);
        }
    }
}

/// What a waiter waits for.
#[derive(Clone, Copy, Debug)]
pub(super) enum Blocker<'a> {
    /// It holds what is wanted.
    Holder(&'a Grant),
    /// It waits for it, and came earlier.
    Waiter(&'a Waiter),
}

impl<'a> Blocker<'a> {
    pub(super) fn trx(self) -> &'a Arc<LockTrx> {
        match self {
            Blocker::Holder(grant) => &grant.trx,
            Blocker::Waiter(waiter) => &waiter.trx,
        }
    }
}
