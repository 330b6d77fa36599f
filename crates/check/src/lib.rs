//! Histories of transactions in, verdicts on their isolation with proofs out.
//!
//! ```text
//!   History ──Checker──▶ Verdict   holds: an order that `replay` accepts
//!                                  broken: a shortest cycle, or what no order explains
//!                                  cannot tell, and why
//! ```
//!
//! **Invariant:** pure: no I/O and no clock; whoever holds a history and a proof can check the
//! proof without the code that found it.

mod anomaly;
mod bad_input;
mod builder;
mod check;
mod draw;
mod edges;
mod footprint;
mod format;
mod history;
mod layout;
mod level;
mod pairs;
mod record;
mod region;
mod replay;
mod versions;

pub use bad_input::BadInput;
pub use builder::Builder;
pub use check::{Checker, Contention, Vanished, Verdict};
pub use draw::drawn;
pub use format::read_history;
pub use history::{
    ABSENT, History, INITIAL, Kind, Op, Outcome, Times, Txn, UNKNOWN, WriteId, WriteIds,
};
pub use level::{Dependency, Level};
pub use pairs::PairAnomaly;
pub use record::{BadRecord, HEADER, OpRecord, encode_end, read_records, write_records};
pub use region::{Cycle, Step};
pub use replay::{Certificate, replay};
pub use versions::{Flaw, FlawKind};
