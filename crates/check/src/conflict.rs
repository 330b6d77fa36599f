//! Which actions on one row conflict: the graph of a history has an edge between two transactions
//! exactly where two of their actions do.
//!
//! Two actions conflict if their order can make a difference to what anybody sees (Bernstein,
//! Hadzilacos, Goodman, *Concurrency Control and Recovery in Database Systems*, 1987, 2.4 and 3.8:
//! increments and decrements commute). A predicate reads the absence of what it does not match, so
//! that it conflicts with whatever makes a row appear or go.

use crate::history::Kind;

/// What a transaction does to a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Action {
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

impl Action {
    /// All of them.
    pub const ALL: [Action; 8] = [
        Action::Read,
        Action::Write,
        Action::Increment,
        Action::Decrement,
        Action::Append,
        Action::Insert,
        Action::Delete,
        Action::Predicate,
    ];

    /// What an operation of a history is; `None` of what only says more of another one. Increments
    /// and decrements are one kind of operation: both commute with both.
    #[must_use]
    pub fn of(kind: Kind) -> Option<Action> {
        match kind {
            Kind::Read | Kind::CurrentRead | Kind::Count => Some(Action::Read),
            Kind::Write => Some(Action::Write),
            Kind::Insert => Some(Action::Insert),
            Kind::Delete => Some(Action::Delete),
            Kind::Append => Some(Action::Append),
            Kind::Increment => Some(Action::Increment),
            Kind::Scan | Kind::CurrentScan => Some(Action::Predicate),
            Kind::Included | Kind::Order => None,
        }
    }

    /// Whether the order of the two can make a difference.
    #[must_use]
    pub fn conflicts_with(self, other: Action) -> bool {
        CONFLICTS[self as usize].as_bytes()[other as usize] == b'x'
    }
}

/// By action and action, in the order of [`Action::ALL`]: `x` where they conflict.
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
