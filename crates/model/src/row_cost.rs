//! Cost over the number of rows: what an event costs whatever it reads, and what each row adds.
//!
//! ```text
//!   cost │            ╱ test          cost(rows) = a + b·rows
//!        │        ╱  ╱ base           a  fixed: parsing, planning, the protocol; above the storage
//!        │    ╱  ╱                       engine
//!      a ├ ╱ ╱                        b  per row: finding, reading and passing it on
//!        └───────────────── rows
//! ```
//!
//! Callaghan makes the inference by eye: a loss that is large for ranges of 10 rows and small for
//! 10 000 lies above the storage engine.

use crate::arm::PerArm;
use crate::verdict::{Interval, Verdict};
use crate::warning::Warning;
use crate::words::words;

/// Loads of one run that differ in nothing but the number of rows, at one client count, by one
/// measure of cost.
#[derive(Clone, Debug, PartialEq)]
pub struct CostComparison {
    /// What the loads have in common.
    pub loads: String,
    /// Number of clients.
    pub clients: u32,
    /// What costs.
    pub measure: CostMeasure,
    /// By rows, ascending.
    pub points: Vec<CostPoint>,
    /// The fitted lines; `None` where there are too few sizes for any.
    pub fit: Option<CostFit>,
    /// What the reader must know, among it why there is no fit or no verdict.
    pub warnings: Vec<Warning>,
}

words! {
    /// What an event costs.
    CostMeasure {
        /// Processor time of the server.
        ServerCpu = "server_cpu",
        /// Time from sending to the answer.
        Elapsed = "elapsed",
    }
}

/// What was measured at one number of rows.
#[derive(Clone, Debug, PartialEq)]
pub struct CostPoint {
    /// Label of the load.
    pub load: String,
    /// Rows that an event works through by its ranges and lists.
    pub rows: f64,
    /// Microseconds per event, with their 95 % intervals.
    pub cost_us: PerArm<Interval>,
}

/// The fitted lines of both arms.
#[derive(Clone, Debug, PartialEq)]
pub struct CostFit {
    /// Each arm's line.
    pub arms: PerArm<CostLine>,
    /// What changed; `None` where the points do not lie on lines.
    pub changes: Option<CostChanges>,
}

/// The line of one arm.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CostLine {
    /// a ≥ 0: microseconds per event, whatever it reads.
    pub fixed_us: Interval,
    /// b ≥ 0: microseconds for each row.
    pub per_row_us: Interval,
    /// The largest distance of a point from the line, as a share of its cost.
    pub misfit: f64,
}

/// What changed from one line to the other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CostChanges {
    /// Of the fixed cost.
    pub fixed: CostChange,
    /// Of the cost per row.
    pub per_row: CostChange,
}

/// One of the two.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CostChange {
    /// Test ÷ base with its 95 % interval: above 1 the test arm costs more.
    pub ratio: Interval,
    /// The answer: *slower* where it costs more.
    pub verdict: Verdict,
}
