//! Why the engine did not do it, with the numbers by which MySQL's clients know.

use std::{fmt, io};

/// Why something was not done.
#[derive(Debug)]
pub enum EngineError {
    /// The transaction was rolled back whole: others and it waited for each other.
    Deadlock,
    /// A lock was not to be had in time. The statement was rolled back, the transaction was not.
    LockWaitTimeout,
    /// The wait for a lock was ended from outside. The statement was rolled back, the transaction
    /// was not.
    Interrupted,
    /// A key that may be there once is there: table, index.
    Duplicate(String, String),
    /// There is no such table.
    NoTable(String),
    /// There is such a table or index already.
    Exists(String),
    /// A table is to have a second primary key: the table.
    TwoPrimaryKeys(String),
    /// A table is to have a primary key and has rows already: the table.
    HasRows(String),
    /// There is no savepoint of this name.
    NoSavepoint(String),
    /// A NULL where the column takes none: the column.
    NotNull(String),
    /// A value that the column does not take: the column, what it takes.
    BadValue(String, String),
    /// A number beyond those of the column: the column, what it takes.
    OutOfRange(String, String),
    /// More text than the column takes: the column, what it takes.
    TooLong(String, String),
    /// All numbers of a numbered column, or of the hidden key, are given: the table.
    NumbersSpent(String),
    /// The disk failed; the engine takes no more writes. What it did.
    Disk(&'static str, io::Error),
    /// What stands on disk is not what the engine wrote: the file, what is wrong.
    Corrupt(String, String),
}

/// What is done, or why not.
pub type Result<T> = std::result::Result<T, EngineError>;

impl EngineError {
    /// MySQL's number of the error.
    pub fn code(&self) -> u16 {
        match self {
            EngineError::Deadlock => 1213,
            EngineError::LockWaitTimeout => 1205,
            EngineError::Interrupted => 1317,
            EngineError::Duplicate(..) => 1062,
            EngineError::NoTable(_) => 1146,
            EngineError::Exists(_) => 1050,
            EngineError::TwoPrimaryKeys(_) => 1068,
            EngineError::HasRows(_) => 1235,
            EngineError::NoSavepoint(_) => 1305,
            EngineError::NotNull(_) => 1048,
            EngineError::BadValue(..) => 1366,
            EngineError::OutOfRange(..) => 1264,
            EngineError::TooLong(..) => 1406,
            EngineError::NumbersSpent(_) => 1467,
            EngineError::Disk(..) => 1026,
            EngineError::Corrupt(..) => 1877,
        }
    }

    /// The SQLSTATE that MySQL gives with that number.
    pub fn sqlstate(&self) -> &'static str {
        match self {
            EngineError::Deadlock => "40001",
            EngineError::Duplicate(..) | EngineError::NotNull(_) => "23000",
            EngineError::NoTable(_) => "42S02",
            EngineError::Exists(_) => "42S01",
            EngineError::TwoPrimaryKeys(_)
            | EngineError::HasRows(_)
            | EngineError::NoSavepoint(_) => "42000",
            EngineError::Interrupted => "70100",
            EngineError::OutOfRange(..) => "22003",
            EngineError::TooLong(..) => "22001",
            EngineError::LockWaitTimeout
            | EngineError::BadValue(..)
            | EngineError::NumbersSpent(_)
            | EngineError::Disk(..)
            | EngineError::Corrupt(..) => "HY000",
        }
    }
}

impl fmt::Display for EngineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            EngineError::Deadlock => {
                f.write_str("deadlock found when trying to get a lock; begin the transaction again")
            }
            EngineError::LockWaitTimeout => {
                f.write_str("a lock was not to be had in time; try the statement again")
            }
            EngineError::Interrupted => f.write_str("the wait for a lock was ended on request"),
            EngineError::Duplicate(table, index) => {
                write!(f, "there is a row with this key in {index} of {table} already")
            }
            EngineError::NoTable(name) => write!(f, "there is no table {name}"),
            EngineError::Exists(name) => write!(f, "there is a {name} already"),
            EngineError::TwoPrimaryKeys(name) => write!(f, "{name} has a primary key already"),
            EngineError::HasRows(name) => write!(
                f,
                "the reference engine gives a primary key to tables without rows only, and {name} \
                 has some; add the key before they come"
            ),
            EngineError::NoSavepoint(name) => write!(f, "there is no savepoint {name}"),
            EngineError::NotNull(column) => write!(f, "{column} takes no NULL"),
            EngineError::BadValue(column, takes)
            | EngineError::OutOfRange(column, takes)
            | EngineError::TooLong(column, takes) => write!(f, "{column} takes {takes}"),
            EngineError::NumbersSpent(table) => {
                write!(f, "{table} has no number left to give: the largest of 64 bits was reached")
            }
            EngineError::Disk(what, error) => write!(
                f,
                "{what}: {error}; nothing more is written until the engine is opened again"
            ),
            EngineError::Corrupt(file, what) => write!(
                f,
                "{file} is damaged: {what}; what was committed after that place is lost, restore \
                 the directory or begin with an empty one"
            ),
        }
    }
}

impl std::error::Error for EngineError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            EngineError::Disk(_, error) => Some(error),
            _ => None,
        }
    }
}
