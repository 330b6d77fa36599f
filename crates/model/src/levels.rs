//! Where the doubt of a cell comes from, and where the next minute is best spent.

use crate::method::ExperimentLevel;

/// The levels of a cell (Kalibera and Jones, "Rigorous Benchmarking in Reasonable Time", 2013).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Levels {
    /// What each level adds to the doubt, the lowest first.
    pub parts: Vec<LevelShare>,
    /// What a minute more would bring, the best first; without levels that cannot be repeated.
    pub spend: Vec<Spend>,
}

/// One level of a cell.
#[derive(Clone, Debug, PartialEq)]
pub struct LevelShare {
    /// Which one.
    pub level: ExperimentLevel,
    /// How many there were within one of the level above, in the mean; of the highest, in all.
    pub count: f64,
    /// Standard deviation of one of them by itself, of log-ratios (0.01 is about 1 % of rQPS).
    pub sd: f64,
    /// Its share in the variance of the result; all of them add up to 1.
    pub share: f64,
    /// Time that one more cost by itself in this cell, seconds; `None`: there was only one.
    pub seconds: Option<f64>,
    /// The best number within one of the level above; `None` for the highest, and where the level
    /// above has no spread of its own.
    pub best: Option<u32>,
    /// Whether the spread was assumed, because there were too few to tell.
    pub is_assumed: bool,
}

/// A way to spend a minute.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spend {
    /// On more of this level.
    pub level: ExperimentLevel,
    /// By how much the interval would narrow, as a share.
    pub narrows: f64,
}
