//! Histories of transactions in, verdicts on their isolation with proofs out.
//!
//! ```text
//!   History ──Checker──▶ Verdict   holds: an order that `replay` accepts
//!                                  broken: a shortest cycle, or what no order explains, which
//!                                  `retrace` follows
//!                                  cannot tell, and why
//! ```
//!
//! **Invariant:** pure: no I/O and no clock; a proof can be checked against its history without the
//! code that found it.

mod acyclic;
mod anomaly;
mod bad_input;
mod builder;
mod certificate;
mod check;
mod conflict;
mod draw;
mod edges;
mod footprint;
mod format;
mod history;
mod kinds;
mod late;
mod lattice;
mod layout;
mod level;
mod lost_updates;
mod made;
mod objects;
mod online;
mod orders;
mod pairs;
mod polygraph;
mod pruning;
mod question;
mod record;
mod recoverable;
mod region;
mod replaced;
mod replay;
mod retrace;
mod schedule;
mod server_log;
mod sums;
mod svg;
mod versions;
mod visible;
mod witness;

pub use bad_input::BadInput;
pub use builder::Builder;
pub use certificate::Certificate;
pub use check::{Checker, Contention, LevelVerdict, VanishedWrite};
pub use conflict::RowAction;
pub use draw::violation_drawing;
pub use format::{
    Format, HistoryFiles, HistoryForm, Input, LogCount, history_files, read_directory,
    read_history, read_input, write_history,
};
pub use history::{
    ABSENT, History, INITIAL, Op, OperationKind, Times, TransactionOutcome, Txn, UNKNOWN, WriteId,
    WriteIds,
};
pub use kinds::AnomalyKind;
pub use level::{Dependency, Level};
pub use objects::{
    ObjectAssumptions, ObjectCounts, ObjectJudgement, ObjectVerdict, Operations, Workload,
};
pub use online::{Online, OnlineVerdict};
pub use pairs::PairAnomaly;
pub use record::{
    BadRecord, HEADER, MAGIC, OpRecord, encode_end, read_records, read_records_from, read_stream,
    trim_records, write_records, write_total_length,
};
pub use region::{Cycle, CycleStep};
pub use replay::replay;
pub use retrace::retrace_violation;
pub use server_log::{LogAgrees, LogDiffers, LoggedChange};
pub use sums::{SumRecord, settle_sums};
pub use svg::cycle_pictures;
pub use versions::{Flaw, FlawKind};
