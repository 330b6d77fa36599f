//! What both protocols offer.

use crate::error::WireError;

/// A parameter of a prepared statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Param<'a> {
    /// SQL NULL.
    Null,
    /// An integer; sent in the width that the server asked for.
    Int(i64),
    /// Characters, sent as they are.
    Text(&'a [u8]),
}

/// The parameters of one execution. A trait, so that a caller can hand out parameters from its own
/// reused buffers without building a slice.
pub trait Args {
    /// Number of parameters.
    fn count(&self) -> usize;
    /// Parameter number `index`, from 0; `index` is below [`Args::count`].
    fn get(&self, index: usize) -> Param<'_>;
}

impl Args for &[Param<'_>] {
    fn count(&self) -> usize {
        self.len()
    }
    fn get(&self, index: usize) -> Param<'_> {
        self[index]
    }
}

impl Args for Vec<Param<'_>> {
    fn count(&self) -> usize {
        self.len()
    }
    fn get(&self, index: usize) -> Param<'_> {
        self[index]
    }
}

/// A statement prepared on one connection; its number counts up from 0 in the order of preparing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StatementId(pub u32);

/// What a statement did, counted and not kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Rows returned.
    pub rows: u64,
    /// Rows changed, as the server counts them.
    pub affected: u64,
}

/// A whole result, for control connections. Values are in text form; `None` is NULL.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rows {
    /// Column names.
    pub columns: Vec<String>,
    /// Values by row and column.
    pub rows: Vec<Vec<Option<String>>>,
}

impl Rows {
    /// The first value of the first row, if there is one and it is not NULL.
    pub fn single(&self) -> Option<&str> {
        self.rows.first()?.first()?.as_deref()
    }
}

/// A connection to a server.
///
/// After an error for which [`WireError::is_fatal`] is false the connection is usable; after a
/// fatal one it must be dropped.
pub trait Client: Send {
    /// Prepares a statement with the placeholders of the dialect (`?` or `$1`).
    ///
    /// # Errors
    /// The server's refusal, or a broken connection.
    fn prepare(&mut self, sql: &str) -> Result<StatementId, WireError>;

    /// Executes a prepared statement in the binary protocol; rows are read whole and counted.
    /// Allocates nothing once buffers have grown to the size of the largest message.
    ///
    /// # Errors
    /// The server's refusal, a wrong number of parameters, or a broken connection.
    fn execute(&mut self, statement: StatementId, args: &dyn Args) -> Result<Outcome, WireError>;

    /// Sends one statement as text; rows are read and counted. Allocates nothing in the steady
    /// state.
    ///
    /// # Errors
    /// The server's refusal, or a broken connection.
    fn run(&mut self, sql: &str) -> Result<Outcome, WireError>;

    /// Sends one statement as text and keeps its rows.
    ///
    /// # Errors
    /// The server's refusal, or a broken connection.
    fn query(&mut self, sql: &str) -> Result<Rows, WireError>;

    /// Sends a bulk statement (`LOAD DATA LOCAL INFILE`, `COPY … FROM STDIN`) and its data.
    /// `more` appends the next piece to the buffer, which it finds empty, and returns false when
    /// there is nothing left. Returns the number of rows that the server took.
    ///
    /// # Errors
    /// The server's refusal, or a broken connection.
    fn bulk(
        &mut self,
        sql: &str,
        more: &mut dyn FnMut(&mut Vec<u8>) -> bool,
    ) -> Result<u64, WireError>;

    /// The version that the server announces, e.g. `10.11.19-MariaDB` or `15.20`.
    fn server_version(&self) -> &str;

    /// The server's number for this connection: MySQL's connection id, PostgreSQL's backend pid.
    fn connection_id(&self) -> u64;

    /// Tells the server that the connection ends. Dropping does the same without waiting.
    fn close(self: Box<Self>);
}
