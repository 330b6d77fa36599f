//! Deadlocks that are alike, counted together.

use crate::arm::PerArm;

/// All deadlocks in which the same statements wanted the same locks.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct DeadlockCluster {
    /// How many there were.
    pub count: u64,
    /// Who took part, in an order of their own: which of them came first is chance.
    pub parties: Vec<DeadlockParty>,
}

/// The deadlocks of one signature in a cell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeadlockCounts {
    /// What they have in common: statements, locks that are waited for and held.
    pub signature: String,
    /// How many each arm had; `None` where none is told.
    pub count: PerArm<Option<u64>>,
}

/// One transaction of a deadlock.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct DeadlockParty {
    /// The statement in which it waited, with `?` for each literal; empty where it was not told.
    pub statement: String,
    /// The locks that it waited for: table, index and mode.
    pub waits_for: Vec<String>,
    /// The locks that it is told to have held.
    pub holds: Vec<String>,
}
