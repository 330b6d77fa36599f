//! What proofs found: of a history of transactions, of what a server did with random ones, of a
//! protocol that was explored.
//!
//! ```text
//!   values of `check`, `lab`, `protocols` ── `cli` ──► the structs of this room ─┬─► Document
//!                                                      (names: a contract)       └─► JSON
//! ```
//!
//! The JSON of this room was first written from maps, so that its names stand in the order of the
//! alphabet; it stays that.

mod levels;
mod objects;
mod online;
mod property;
mod protocols;
mod random;
#[cfg(test)]
mod tests;

use serde::Serialize;

pub use levels::{
    AnomalyFinding, DependencyStep, FlawStep, HistoryReport, LevelFinding, LevelWitness,
    history_report_document,
};
pub use objects::{ObjectReport, object_document};
pub use online::{OnlineFinding, OnlineLevel, OnlineReport, OnlineServer, online_document};
pub use property::{PropertyVerdict, VerdictWord};
pub use protocols::{
    ConformanceReport, CoverCounts, FaultEntry, FirstDifference, PathsReport, PermissivenessReport,
    ProtocolList, ProtocolReport, ProtocolSummary, ResultShares, ScheduleCounts, ShareCounts,
    protocol_list_document, protocol_report_document,
};
pub use random::{
    PairFinding, PromisedTransactions, RandomLevel, RandomReport, RandomServer, ReplayFinding,
    RowLogFinding, UnplayedAnomaly, random_document,
};

/// Version of each JSON of this room; raised when a name changes its meaning.
pub const VERDICTS_SCHEMA: u32 = 1;

/// A contract of this room as JSON, indented, ending with a line feed.
///
/// # Panics
/// If it has a value that JSON cannot express: none of ours has.
pub fn verdicts_json(contract: &impl Serialize) -> String {
    let sorted = serde_json::to_value(contract)
        .expect("contracts have only string keys and values that JSON can express");
    crate::json::json_text(&sorted)
}
