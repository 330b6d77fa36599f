//! A profile by function, whatever it was read from.
//!
//! Stacks have weights: how often each was seen, or how long, as some tools print it (periods of
//! the clock in nanoseconds). What is known of chance depends on how many samples there were, so
//! that the weight of one sample is kept beside the sums.

use std::collections::BTreeMap;

/// What was sampled, by function: weights.
#[derive(Clone, Debug, PartialEq)]
pub struct Profile {
    /// The weight of one sample: 1, or where stacks have times, the smallest of them, as a rule
    /// that of a stack that was seen once. Where it is not, fewer samples are reckoned with than
    /// there were, and intervals are wider.
    pub unit: f64,
    /// Samples of a function itself.
    pub own: BTreeMap<String, f64>,
    /// Samples of a function and all that it called, by its caller; the outermost has none.
    pub by_caller: BTreeMap<(String, String), f64>,
    /// All samples.
    pub total: f64,
}
