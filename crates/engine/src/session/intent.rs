//! What a statement is asked for, and what it answers.

/// What is to be done with rows that are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Intent {
    /// Nothing: as the view sees them.
    Read,
    /// They are not to be changed by others: `FOR SHARE`.
    Share,
    /// They are to be changed: `FOR UPDATE`.
    Update,
}

/// Which columns of rows are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fields {
    /// Any.
    All,
    /// Those of the index and of the primary key; others may be NULL instead.
    OfIndex,
}

/// What a visitor of rows says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Visit {
    /// Go on.
    On,
    /// Go on; this row was not meant. At read committed its lock is given back.
    Pass,
    /// That was the last.
    Stop,
}

/// What an update did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UpdateResult {
    /// There is no such row.
    Missing,
    /// The row is as it was.
    Same,
    /// It changed.
    Changed,
}
