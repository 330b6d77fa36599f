//! What both sides can do.

use std::fmt;

use dbdyno_engine::EngineError;
use dbdyno_rocks::RocksError;

use crate::answers::Answers;
use crate::contents::Contents;
use crate::failure::Failure;
use crate::work::{NewOrder, Payment, ReadWrite};

/// What a commit waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RivalDurability {
    /// The log is with the operating system.
    Written,
    /// The device has it.
    Synced,
}

/// A database with filled tables.
pub trait RivalDatabase: Sync {
    /// A client of it.
    fn client(&self) -> Box<dyn RivalClient + '_>;

    /// What it holds now, while nobody writes.
    ///
    /// # Errors
    /// What the database refuses.
    fn read_contents(&self) -> Result<Contents, Failure>;

    /// What it is and how it was set up.
    fn describe_setup(&self) -> String;
}

/// One who asks.
pub trait RivalClient {
    /// Reads `c` of one row, in a transaction of its own.
    ///
    /// # Errors
    /// What the database refuses.
    fn point_query(&mut self, id: i64, answers: &mut Answers) -> Result<(), Failure>;

    /// sysbench's `oltp_read_write`.
    ///
    /// # Errors
    /// A conflict, or what the database refuses.
    fn read_write(&mut self, what: &ReadWrite, answers: &mut Answers) -> Result<(), Failure>;

    /// TPC-C's order of some items.
    ///
    /// # Errors
    /// A conflict, or what the database refuses.
    fn new_order(&mut self, what: &NewOrder, answers: &mut Answers) -> Result<(), Failure>;

    /// TPC-C's payment.
    ///
    /// # Errors
    /// A conflict, or what the database refuses.
    fn payment(&mut self, what: &Payment, answers: &mut Answers) -> Result<(), Failure>;
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Conflict => f.write_str("others were in the way; try again"),
            Failure::Broken(what) => f.write_str(what),
        }
    }
}

impl std::error::Error for Failure {}

impl From<EngineError> for Failure {
    fn from(error: EngineError) -> Failure {
        match error {
            EngineError::Deadlock | EngineError::LockWaitTimeout => Failure::Conflict,
            other => Failure::Broken(other.to_string()),
        }
    }
}

impl From<RocksError> for Failure {
    fn from(error: RocksError) -> Failure {
        if error.is_conflict() { Failure::Conflict } else { Failure::Broken(error.0) }
    }
}
