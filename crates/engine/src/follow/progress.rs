//! What a replica has done.

use dbdyno_model::LatencyHistogram;

/// What a replica has done since it was started.
#[derive(Clone, Debug)]
pub struct ReplicaProgress {
    /// Transactions that it has applied.
    pub applied: u64,
    /// Those that it applied once more, since they met a lock that they wait for in vain.
    pub again: u64,
    /// Since they were taken: from when a transaction began to commit on the source until it was
    /// durable and visible on the replica, by one clock; empty without one.
    pub lag: LatencyHistogram,
}
