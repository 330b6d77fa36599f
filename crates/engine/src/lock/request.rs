//! What is asked for: which place, what of it, and whether others may have it, too.

/// What of a key is locked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockKind {
    /// The record, and not the gap before it.
    Record,
    /// The gap before it: nothing may be put there. Never waits, whatever its mode.
    Gap,
    /// Both.
    NextKey,
    /// The request to put a key into the gap before it. Waits for gap locks and is not kept.
    InsertIntention,
}

/// Whether others may hold the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// They may.
    Shared,
    /// They may not.
    Exclusive,
}

/// How a table is locked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableMode {
    /// Rows will be locked in shared mode.
    IntentShared,
    /// Rows will be locked in exclusive mode.
    IntentExclusive,
    /// All of it, shared.
    Shared,
    /// All of it.
    Exclusive,
}

/// A place in an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place<'a> {
    /// A key, whether there is a row or not.
    Key(&'a [u8]),
    /// After the last key: a gap and no record.
    Supremum,
}
