//! An estimate with its doubt, and what it says.

use crate::words::words;

/// An estimate with a confidence interval. `low` and `high` may be infinite where too little was
/// measured to bound the estimate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// The estimate.
    pub estimate: f64,
    /// Lower bound.
    pub low: f64,
    /// Upper bound.
    pub high: f64,
}

words! {
    /// The four answers. There is no fifth.
    Verdict {
        /// The test arm does fewer statements per second, or answers later at the same rate.
        Slower = "slower",
        /// Any difference is smaller than the budget.
        Equal = "equal",
        /// The test arm does more statements per second, or answers sooner at the same rate.
        Faster = "faster",
        /// What was measured does not decide it.
        Undecided = "undecided",
    }
}
