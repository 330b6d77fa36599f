//! Transactions that are open in a server.

/// A transaction that is open, and the session that has it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OpenTransaction {
    /// The number of the session.
    pub session: u64,
    /// Seconds since it began.
    pub age_s: u64,
    /// What it asks at this moment; empty where it is idle.
    pub statement: String,
    /// Sessions that it waits for.
    pub waits_for: Vec<u64>,
}
