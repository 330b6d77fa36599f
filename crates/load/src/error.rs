//! Why a load could not be carried on.

use std::fmt;

use dbdyno_wire::{Outcome, WireError};
use dbdyno_workload::Expect;

/// Why a load could not be carried on.
#[derive(Debug)]
pub enum LoadError {
    /// A statement or a connection failed. Carries the statement, if there was one.
    Wire(WireError, Option<String>),
    /// A statement was answered, and wrongly.
    WrongResult {
        /// The statement.
        sql: String,
        /// What would have been right.
        expect: Expect,
        /// What came.
        outcome: Outcome,
    },
    /// A transaction found something that cannot be: what it was, for people.
    WrongAnswer(String),
    /// A table that dbdyno would make is there already.
    TableExists(String),
    /// Another dbdyno works in the database of this name.
    InUse(String),
    /// The window closed before any event was finished.
    NothingFinished,
    /// A client cannot be kept on the processor with this number.
    Placement(usize, std::io::Error),
    /// The user asked to stop.
    Interrupted,
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LoadError::Wire(error, None) => write!(f, "{error}"),
            LoadError::Wire(error, Some(sql)) => write!(f, "{error}; statement: {}", clip(sql)),
            LoadError::WrongResult { sql, expect, outcome } => {
                let (what, got, low, high) = match *expect {
                    Expect::Rows(low, high) => ("returned", outcome.rows, low, high),
                    Expect::Changed(low, high) => ("changed", outcome.affected, low, high),
                };
                write!(
                    f,
                    "wrong result: {} {what} {got} rows, right is {low} to {high}; the server's \
                     answers cannot be trusted, or something else changes its tables",
                    clip(sql)
                )
            }
            LoadError::WrongAnswer(what) => write!(
                f,
                "wrong answer: {what}; the server's answers cannot be trusted, or something else \
                 changes its tables"
            ),
            LoadError::TableExists(name) => write!(
                f,
                "table {name} exists already and dbdyno overwrites nothing; name an empty database \
                 in the URL, or drop the table if it is not needed"
            ),
            LoadError::InUse(name) => write!(
                f,
                "another dbdyno works in the database {name} and the two would measure each other; \
                 wait until it is done, or name another database in the URL"
            ),
            LoadError::NothingFinished => f.write_str(
                "not one event was finished while the window was open; try longer rounds \
                 (--seconds) or fewer clients",
            ),
            LoadError::Placement(processor, error) => write!(
                f,
                "clients cannot be kept on processor {processor}: {error}; try --pin none"
            ),
            LoadError::Interrupted => f.write_str("stopped on request"),
        }
    }
}

impl std::error::Error for LoadError {}

impl From<WireError> for LoadError {
    fn from(error: WireError) -> Self {
        LoadError::Wire(error, None)
    }
}

/// Statements with a hundred parameters are cut, on a character boundary.
fn clip(sql: &str) -> String {
    const LIMIT: usize = 120;
    match sql.char_indices().nth(LIMIT) {
        Some((end, _)) => format!("{} …", &sql[..end]),
        None => sql.to_owned(),
    }
}
