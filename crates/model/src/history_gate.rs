//! What a gate on the latest values of a history says: of each series, and of all together.
//!
//! ```text
//!   BenchmarkHistory + N ──judge::history::judge_gate──▶ HistoryGateAnswer ─┬─ exit code
//!                                                                          ├─ text, JSON
//!                                                                          └─ github, junit
//! ```
//!
//! It is judged once, and whoever tells it reads it here.

use crate::comparison::GateOutcome;

/// What such a gate says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HistoryGateAnswer {
    /// So many of the latest values of each series are looked at.
    pub latest: usize,
    /// Of all together: one failure fails, one doubt leaves a doubt.
    pub outcome: GateOutcome,
    /// Of each series, in their order.
    pub series: Vec<SeriesGateAnswer>,
    /// Which warnings of the whole leave a doubt: their indices.
    pub doubts: Vec<usize>,
}

/// What it says of one series.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeriesGateAnswer {
    /// Whether it has a change to the worse, might have one, or has none.
    pub outcome: GateOutcome,
    /// Why, where it does not hold; of changes the latest first.
    pub reasons: Vec<SeriesGateReason>,
}

/// Why a gate does not hold for a series.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SeriesGateReason {
    /// This shift is an alarm to the worse: its index.
    Alarm(usize),
    /// It changes, and nothing says which direction is good.
    UnknownDirection,
    /// This slide goes to the worse: its index.
    Slide(usize),
    /// This warning leaves a doubt: its index.
    Doubt(usize),
}
