//! The proof that a level holds.

/// An order of events: twice the transaction is the moment of its snapshot, one more its commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Certificate {
    /// The events, first to last; levels without snapshots have commits only.
    pub events: Vec<u32>,
}
