//! Where the queue of a place is.

/// Where a queue is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Address {
    pub(super) shard: u32,
    pub(super) slot: u32,
}
