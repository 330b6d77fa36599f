//! What a search for an order may cost, counted in what it does and not in time, so that a history
//! gets the same answer on every machine.
//!
//! ```text
//!   tried   continuations of orders, of each search
//!   steps   whatever is looked at or compared, of all keys of a file together
//!   held    entries of the orders that are remembered at a time: memory
//! ```
//!
//! Keys share the steps: first each gets its part of one half, so that no hard key takes what an
//! easy one needs; those that were not decided then share what is left.

use std::fmt;

/// Continuations that one search tries at most.
const TRIED_AT_MOST: u64 = 4_000_000;
/// Steps of all searches of a file at most: less than a minute on a processor of 2020.
const STEPS_AT_MOST: u64 = 12_000_000_000;
/// Entries of 8 bytes at most: 480 MiB, of which tables and pieces of memory make twice as much.
const HELD_AT_MOST: u64 = 60_000_000;
/// Entries that an order takes besides the lost operations in it, and steps that it costs.
const ORDER: u64 = 12;
/// Steps of a comparison of two orders, which lie apart in memory.
const COMPARISON: u64 = 8;

/// How much searches may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Limits {
    pub tried: u64,
    pub steps: u64,
    pub held: u64,
}

impl Limits {
    /// Those of a file.
    pub(super) const OF_A_FILE: Limits =
        Limits { tried: TRIED_AT_MOST, steps: STEPS_AT_MOST, held: HELD_AT_MOST };
}

/// Of how many steps a key has its part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Share {
    Half,
    Whole,
}

/// What searches have done, and may do.
#[derive(Clone, Debug)]
pub(super) struct Effort {
    limits: Limits,
    /// Steps before the key that is searched, and those that it may have.
    before: u64,
    allowed: u64,
    tried: u64,
    steps: u64,
    held: u64,
}

/// What a search ran out of, after so much work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Exhaustion {
    Tried(u64),
    Steps(u64),
    Held(u64),
}

impl Effort {
    pub(super) fn new(limits: Limits) -> Effort {
        Effort { limits, before: 0, allowed: limits.steps, tried: 0, steps: 0, held: 0 }
    }

    /// Steps so far.
    #[cfg(test)]
    pub(super) fn steps(&self) -> u64 {
        self.steps
    }

    /// The next key begins, which may have its part of all steps up to a half of them, or of all;
    /// so many keys share them, itself among them.
    pub(super) fn begin_key(&mut self, share: Share, keys: usize) {
        let most = match share {
            Share::Half => self.limits.steps / 2,
            Share::Whole => self.limits.steps,
        };
        self.before = self.steps;
        self.allowed = most.saturating_sub(self.steps) / keys.max(1) as u64;
    }

    /// Whether the key had too few steps, and might be decided with more.
    pub(super) fn wants_more(&self) -> bool {
        matches!(self.exhausted_limit(), Some(Exhaustion::Steps(_)))
    }

    /// Another search begins, which holds nothing yet.
    pub(super) fn begin_search(&mut self) {
        (self.tried, self.held) = (0, 0);
    }

    /// Another continuation.
    pub(super) fn try_one(&mut self) {
        self.tried += 1;
    }

    /// So many things were looked at.
    pub(super) fn count_steps(&mut self, steps: usize) {
        self.steps += steps as u64;
    }

    /// Two orders are compared.
    pub(super) fn count_comparison(&mut self) {
        self.steps += COMPARISON;
    }

    /// An order is made that has so many classes of lost operations.
    pub(super) fn hold_order(&mut self, classes: usize) {
        self.held += ORDER + classes as u64;
        self.steps += ORDER + classes as u64;
    }

    /// It is forgotten.
    pub(super) fn let_go(&mut self, classes: usize) {
        self.held = self.held.saturating_sub(ORDER + classes as u64);
    }

    /// What is used up, if anything is.
    pub(super) fn exhausted_limit(&self) -> Option<Exhaustion> {
        let Limits { tried, held, .. } = self.limits;
        if self.tried > tried {
            return Some(Exhaustion::Tried(tried));
        }
        if self.steps - self.before > self.allowed {
            return Some(Exhaustion::Steps(self.allowed));
        }
        (self.held > held).then_some(Exhaustion::Held(held))
    }
}

impl fmt::Display for Exhaustion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Exhaustion::Tried(most) => {
                write!(f, "more than {most} continuations of orders were tried")
            }
            Exhaustion::Steps(most) => write!(f, "the search took more than {most} steps"),
            Exhaustion::Held(most) => write!(
                f,
                "the orders that are possible take more than {} MB to remember",
                most * 8 / 1_000_000
            ),
        }
    }
}
