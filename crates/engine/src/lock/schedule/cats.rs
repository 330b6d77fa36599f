//! First the one that most others wait for: contention-aware scheduling.
//!
//! ```text
//!   what waits for what           weight
//!   T1 ─┐
//!   T2 ─┴► T3 ──► T5, works       T3: 3, so it is served before T4
//!          T4 ──► T5              T4: 1
//! ```
//!
//! The weight of one that waits is the number of those that wait for it by way of others, itself
//! included (Tian, Huang, Mozafari and Schoenebeck, "Contention-aware lock scheduling for
//! transactional databases", PVLDB 11, 2018: largest dependency set first). As in InnoDB (worklog
//! 13468), each has one outgoing edge, so that weights are sums over a forest; one that waits since
//! more than twice as many others began to wait as wait now has its own weight raised to their
//! number, so that a stream of heavy newcomers cannot pass it for ever; and one with a weight above
//! 1 is served by weight, the others in the order of their coming.
//!
//! InnoDB computes weights in a thread of its own, once in a while. Here a thread that begins to
//! wait computes them when as many began since the last time as wait now: the cost of a wait is
//! constant, none is woken for it, and the same history gives the same weights. Between those times
//! weights are old, as InnoDB's are.

use std::collections::HashMap;

use crate::lock::transaction::LockTrx;
use crate::sync::atomic::Ordering;
use crate::sync::{Arc, Mutex, MutexGuard};

/// Those that wait, of one lock table.
#[derive(Debug, Default)]
pub(in crate::lock) struct Board(Mutex<Notes>);

#[derive(Debug, Default)]
struct Notes {
    /// Each with the number of its suspension.
    waiting: Vec<(Arc<LockTrx>, u64)>,
    suspensions: u64,
    weighed_at: u64,
}

/// One that waits.
#[derive(Clone, Copy, Debug)]
struct CatsWaiter {
    trx: u64,
    /// One of those for which it waits.
    blocked_by: u64,
    /// How many had begun to wait when it did.
    since: u64,
}

impl Board {
    /// A transaction begins to wait.
    pub(in crate::lock) fn suspend(&self, trx: &Arc<LockTrx>) {
        let mut notes = self.notes();
        notes.suspensions += 1;
        let since = notes.suspensions;
        notes.waiting.push((Arc::clone(trx), since));
        if since - notes.weighed_at < notes.waiting.len() as u64 {
            return;
        }
        notes.weighed_at = since;
        let seen = |(trx, since): &(Arc<LockTrx>, u64)| CatsWaiter {
            trx: trx.number(),
            blocked_by: trx.blocked_by.load(Ordering::Relaxed),
            since: *since,
        };
        let seen: Vec<_> = notes.waiting.iter().map(seen).collect();
        for ((trx, _), weight) in notes.waiting.iter().zip(weigh(&seen, since)) {
            trx.weight.store(weight, Ordering::Relaxed);
        }
    }

    /// A transaction waits no more.
    pub(in crate::lock) fn resume(&self, trx: &Arc<LockTrx>) {
        let mut notes = self.notes();
        let place = notes.waiting.iter().position(|(waiting, _)| waiting.is_same(trx));
        notes.waiting.swap_remove(place.expect("whoever resumes was suspended"));
    }

    fn notes(&self) -> MutexGuard<'_, Notes> {
        self.0.lock().expect("nobody panics who weighs")
    }
}

/// The order in which those that wait are looked at, from their weights.
pub(in crate::lock) fn grant_order(weights: &[u64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..weights.len()).collect();
    order.sort_by_key(|&place| std::cmp::Reverse(weights[place].max(1)));
    order
}

/// The weights of those that wait, when so many have begun to wait. One that waits for itself by
/// way of others has the weight of those off that cycle only; it will not last.
fn weigh(waiting: &[CatsWaiter], suspensions: u64) -> Vec<u64> {
    let many = waiting.len() as u64;
    let raised = many.min(MOST / many.max(1));
    let mut weights: Vec<u64> = waiting
        .iter()
        .map(|seen| if seen.since + 2 * many < suspensions { raised } else { 1 })
        .collect();
    let places: HashMap<u64, usize> =
        waiting.iter().enumerate().map(|(place, seen)| (seen.trx, place)).collect();
    let blocker: Vec<Option<usize>> =
        waiting.iter().map(|seen| places.get(&seen.blocked_by).copied()).collect();
    let mut incoming = vec![0_u32; waiting.len()];
    blocker.iter().flatten().for_each(|&place| incoming[place] += 1);
    let mut ready: Vec<usize> = (0..waiting.len()).filter(|&place| incoming[place] == 0).collect();
    while let Some(place) = ready.pop() {
        if let Some(blocker) = blocker[place] {
            weights[blocker] += weights[place];
            incoming[blocker] -= 1;
            if incoming[blocker] == 0 {
                ready.push(blocker);
            }
        }
    }
    weights
}

/// What all raised weights together stay below.
const MOST: u64 = 1_000_000_000;

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(trx: u64, blocked_by: u64) -> CatsWaiter {
        CatsWaiter { trx, blocked_by, since: 0 }
    }

    /// The definition: itself, and those that wait for it.
    fn naive(waiting: &[CatsWaiter], place: usize, suspensions: u64) -> u64 {
        let many = waiting.len() as u64;
        let own = match waiting[place].since + 2 * many < suspensions {
            true => many,
            false => 1,
        };
        let waits = |other: &usize| waiting[*other].blocked_by == waiting[place].trx;
        let others = (0..waiting.len()).filter(waits);
        own + others.map(|other| naive(waiting, other, suspensions)).sum::<u64>()
    }

    #[test]
    fn a_weight_is_the_size_of_a_subtree() {
        for key in 0..500_u64 {
            let mut random = dbdyno_model::random::stream(&[key]);
            let many = 1 + random.next_below(30);
            let waiting: Vec<_> = (1..=many)
                .map(|trx| CatsWaiter {
                    trx,
                    // Smaller numbers only, so that there is no cycle; some of them work.
                    blocked_by: random.next_below(trx),
                    since: random.next_below(100),
                })
                .collect();
            let weights = weigh(&waiting, 120);
            for (place, weight) in weights.into_iter().enumerate() {
                assert_eq!(weight, naive(&waiting, place, 120), "{waiting:?}");
            }
        }
    }

    #[test]
    fn a_cycle_is_left_alone() {
        let cycle = [seen(1, 2), seen(2, 3), seen(3, 1), seen(4, 1), seen(5, 4)];
        assert_eq!(weigh(&cycle, 0), [3, 1, 1, 2, 1]);
    }

    #[test]
    fn heavy_ones_come_first_and_equals_as_they_came() {
        assert_eq!(grant_order(&[1, 3, 0, 2, 3, 1]), [1, 4, 3, 0, 2, 5]);
        assert_eq!(grant_order(&[4, 4, 4]), [0, 1, 2]);
    }

    /// One hot row: each time it gets free a newcomer comes, for which two others wait. After how
    /// many grants one gets it for which none waits.
    fn grants_until_served(suspensions_per_grant: u64) -> Option<u64> {
        let lonely = CatsWaiter { trx: 1, blocked_by: u64::MAX, since: 0 };
        let mut hot = vec![lonely];
        let mut suspensions = 1;
        let mut next = 2;
        for grants in 0..1_000 {
            while hot.len() < 5 {
                suspensions += suspensions_per_grant;
                hot.push(CatsWaiter { trx: next, blocked_by: u64::MAX, since: suspensions });
                next += 1;
            }
            let beside = hot.iter().flat_map(|heavy| {
                let followers = if heavy.trx == 1 { 0 } else { 2 };
                (0..followers).map(|number| CatsWaiter {
                    trx: u64::MAX / 2 + heavy.trx * 2 + number,
                    blocked_by: heavy.trx,
                    since: heavy.since,
                })
            });
            let all: Vec<_> = hot.iter().copied().chain(beside).collect();
            let weights = weigh(&all, suspensions);
            let served = grant_order(&weights[..hot.len()])[0];
            if hot.remove(served).trx == 1 {
                return Some(grants);
            }
        }
        None
    }

    #[test]
    fn nobody_starves_behind_a_stream_of_heavy_ones() {
        let waits = 5 + 4 * 2;
        let served = grants_until_served(3).expect("the guard serves it in the end");
        assert!(served <= 2 * waits / 3 + 1, "after {served} grants");
        assert_eq!(grants_until_served(0), None, "without the guard it would starve");
    }
}
