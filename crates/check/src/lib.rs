//! Histories of transactions in, verdicts on their isolation with proofs out.
//!
//! **Invariant:** pure: no I/O and no clock; whoever holds a history and a proof can check the
//! proof without the code that found it.

mod builder;
mod history;
mod record;

pub use builder::Builder;
pub use history::{
    ABSENT, History, INITIAL, Kind, Op, Outcome, Times, Txn, UNKNOWN, WriteId, WriteIds,
};
pub use record::{BadRecord, HEADER, OpRecord, encode_end, read_records, write_records};
