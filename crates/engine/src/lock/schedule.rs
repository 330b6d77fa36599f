//! Which transaction gets a lock that many wait for.
//!
//! ```text
//!   came     T1 X   T2 S   T3 X   T4 S
//!   weight     1      1      5      1
//!
//!   fifo     T1, then T2, then T3, then T4
//!   cats     T3, then T1, then T2, then T4
//! ```
//!
//! A schedule is an order in which those that wait are looked at. One that is excluded by what is
//! granted stays, and so does one that is excluded by the claim of one that was looked at before,
//! stayed and came earlier (`SkippedClaims`). With equal weights both schedules do the same.

pub(super) mod cats;
mod fifo;

use std::ops::Range;

use dbdyno_model::design::Schedule;

use super::claims::Claim;

/// The schedule of a lock table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Policy {
    Fifo,
    Cats,
}

impl Policy {
    pub(super) fn new(schedule: Schedule) -> Policy {
        match schedule {
            Schedule::Fifo => Policy::Fifo,
            Schedule::Cats => Policy::Cats,
        }
    }

    /// Whether it needs to know which transaction waits for which.
    pub(super) fn needs_weights(self) -> bool {
        match self {
            Policy::Fifo => false,
            Policy::Cats => true,
        }
    }

    /// The order in which those that wait are looked at, as places; they stand in the order of
    /// their coming.
    pub(super) fn grant_order(self, weights: impl ExactSizeIterator<Item = u64>) -> Order {
        match self {
            Policy::Fifo => Order::Coming(fifo::grant_order(weights.len())),
            Policy::Cats => {
                Order::Weight(cats::grant_order(&weights.collect::<Vec<_>>()).into_iter())
            }
        }
    }
}

/// Places, in an order.
#[derive(Debug)]
pub(super) enum Order {
    Coming(Range<usize>),
    Weight(std::vec::IntoIter<usize>),
}

impl Iterator for Order {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        match self {
            Order::Coming(places) => places.next(),
            Order::Weight(places) => places.next(),
        }
    }
}

/// Those that were looked at and stay: for each single claim, the first place that waits for it.
#[derive(Debug)]
pub(super) struct SkippedClaims([usize; Claim::SINGLES]);

impl Default for SkippedClaims {
    fn default() -> SkippedClaims {
        SkippedClaims([usize::MAX; Claim::SINGLES])
    }
}

impl SkippedClaims {
    /// A waiter stays where it is.
    pub(super) fn skip_claim(&mut self, place: usize, claim: Claim) {
        for single in claim.single_claims() {
            self.0[single] = self.0[single].min(place);
        }
    }

    /// Whether one that was looked at before and came earlier stops this one.
    pub(super) fn stop(&self, place: usize, claim: Claim) -> bool {
        claim.stands_behind().any(|single| self.0[single] < place)
    }
}
