//! What the parsers of formats share: how they say what is wrong, and where.

use std::fmt;

use crate::history::{Outcome, Times, Txn};

/// What is wrong with a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadInput {
    /// Where: `line 3, column 7`, or `byte 96`.
    pub place: String,
    /// A sentence that says what stands there, and what could.
    pub what: String,
}

impl fmt::Display for BadInput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.what)
    }
}

/// A sentence about a place of a text.
pub(crate) fn bad(line: usize, column: usize, what: impl Into<String>) -> BadInput {
    BadInput { place: format!("line {line}, column {column}"), what: what.into() }
}

/// A transaction without a token.
pub(crate) fn txn(session: u32, outcome: Outcome, times: Times) -> Txn {
    Txn { session, outcome, times, token: 0 }
}
