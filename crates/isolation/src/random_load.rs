//! How much clients of random transactions ask, of whom, and until when.

use std::fmt;

use dbdyno_workload::versioned::VersionedRowKind;

/// How much is asked.
#[derive(Clone, Copy, Debug)]
pub struct RandomLoad {
    /// Of which rows.
    pub kind: RandomLoadKind,
    /// Sessions at a time.
    pub clients: u32,
    /// How much each of them asks at each level.
    pub extent: AskingLimit,
    /// Rows: the fewer, the more conflicts.
    pub keys: u64,
    /// Decides what every client asks.
    pub seed: u64,
    /// Whether the log that the server keeps for replicas is read beside it.
    pub reads_log: bool,
    /// Where clients of the embedded engine are; those of servers have a thread each.
    pub threads: Threads,
}

/// What is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RandomLoadKind {
    /// Rows of two columns that are read, written, replaced and searched for, by clients that do
    /// nothing else.
    Rows,
    /// A load whose rows tell their versions, by the clients of the closed loop.
    Load(VersionedRowKind),
}

/// Where the clients of the embedded engine are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Threads {
    /// On a thread each.
    OneEach,
    /// All on one, in an order that the seed decides. It takes a number of transactions.
    OneForAll,
}

/// When a client has asked enough.
#[derive(Clone, Copy, Debug)]
pub enum AskingLimit {
    /// After so many seconds.
    Seconds(f64),
    /// After so many transactions, refused ones among them.
    Transactions(u64),
}

impl fmt::Display for AskingLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AskingLimit::Seconds(seconds) => write!(f, "{seconds} s"),
            AskingLimit::Transactions(count) => write!(f, "{count} transactions of each"),
        }
    }
}
