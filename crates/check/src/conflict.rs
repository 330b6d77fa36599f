//! Which actions on one row conflict: the graph of a history has an edge between two transactions
//! exactly where two of their actions do.
//!
//! Two actions conflict if their order can make a difference to what anybody sees (Bernstein,
//! Hadzilacos, Goodman, *Concurrency Control and Recovery in Database Systems*, 1987, 2.4 and 3.8:
//! increments and decrements commute). A predicate reads the absence of what it does not match, so
//! that it conflicts with whatever makes a row appear or go.

use crate::history::OperationKind;

/// What a transaction does to a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum RowAction {
    /// A read of the row by its key.
    Read,
    /// A new value.
    Write,
    /// One more on a counter, without being told what it is.
    Increment,
    /// One less.
    Decrement,
    /// An element at the end of a list.
    Append,
    /// A row that was not there.
    Insert,
    /// The row goes.
    Delete,
    /// A search that may find the row.
    Predicate,
}

impl RowAction {
    /// All of them.
    pub const ALL: [RowAction; 8] = [
        RowAction::Read,
        RowAction::Write,
        RowAction::Increment,
        RowAction::Decrement,
        RowAction::Append,
        RowAction::Insert,
        RowAction::Delete,
        RowAction::Predicate,
    ];

    /// What an operation of a history is; `None` of what only says more of another one. Increments
    /// and decrements are one kind of operation: both commute with both.
    #[must_use]
    pub fn from_operation(kind: OperationKind) -> Option<RowAction> {
        match kind {
            OperationKind::Read | OperationKind::CurrentRead | OperationKind::Count => {
                Some(RowAction::Read)
            }
            OperationKind::Write => Some(RowAction::Write),
            OperationKind::Insert => Some(RowAction::Insert),
            OperationKind::Delete => Some(RowAction::Delete),
            OperationKind::Append => Some(RowAction::Append),
            OperationKind::Increment => Some(RowAction::Increment),
            OperationKind::Scan | OperationKind::CurrentScan => Some(RowAction::Predicate),
            OperationKind::Included | OperationKind::Order => None,
        }
    }

    /// Whether the order of the two can make a difference.
    #[must_use]
    pub fn conflicts_with(self, other: RowAction) -> bool {
        CONFLICTS[self as usize].as_bytes()[other as usize] == b'x'
    }
}

/// By action and action, in the order of [`RowAction::ALL`]: `x` where they conflict.
///
/// ```text
///              read write incr decr append insert delete predicate
/// ```
const CONFLICTS: [&str; 8] = [
    /* read      */ ".xxxxxx.", /* write     */ "xxxxxxxx",
    /* increment */ "xx..xxxx", /* decrement */ "xx..xxxx",
    /* append    */ "xxxxxxxx", /* insert    */ "xxxxxxxx",
    /* delete    */ "xxxxxxxx", /* predicate */ ".xxxxxx.",
];
