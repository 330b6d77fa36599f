//! Where the time of an operation goes in both arms, line by line.
//!
//! ```text
//!   time of an operation  =  client's code + client's kernel + waiting for a processor
//!                            + server's code (by layer, where it was counted) + server's kernel
//!                            + the rest: storage, locks, logs, and what nobody observed
//! ```
//!
//! The lines add up to the time of an operation exactly, in both arms and in their difference; the
//! rest is a line like any other, so that nobody takes what was not seen for what is not there.

use crate::arm::PerArm;
use crate::plan::Cell;
use crate::verdict::Interval;

/// The lines that stand by themselves, in their order.
pub const LEDGER_LINES: [&str; 6] = [
    "client, its code",
    "client, its kernel",
    "client, waiting for a processor",
    "server, its code",
    "server, its kernel",
    "the rest: storage, locks, logs, and what was not observed",
];

/// A line of a ledger.
#[derive(Clone, Debug, PartialEq)]
pub struct LedgerLine {
    /// What took the time.
    pub name: String,
    /// Whether it is a part of the line before it that has no part: code of the server by layer.
    pub is_part: Part,
    /// Microseconds for an operation in each arm.
    pub us: PerArm<f64>,
    /// Test − base, with its 95 % interval; that of a part is known by its share of instructions
    /// and has the interval of the whole in its measure.
    pub difference_us: Interval,
}

/// Whether a line stands by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// It does.
    Whole,
    /// It is a part of the line by itself that stands before it.
    OfLine,
}

/// The time of an operation in both arms of a cell.
#[derive(Clone, Debug, PartialEq)]
pub struct Ledger {
    /// The cell.
    pub cell: Cell,
    /// Its lines; those that stand by themselves add up to the total.
    pub lines: Vec<LedgerLine>,
    /// Microseconds from one operation of a client to its next one.
    pub total: LedgerLine,
    /// Share of the base's time that no line but the rest has.
    pub rest_share: f64,
    /// The rQPS that the processor time alone would make, beside the one that was measured: how
    /// much of the difference is work and not waiting (Amdahl's law).
    pub rqps_of_work: Interval,
    /// What was measured.
    pub rqps: f64,
}
