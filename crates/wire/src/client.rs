//! What both protocols offer.

use std::os::fd::BorrowedFd;

use crate::cutoff::Patience;
use crate::error::WireError;
use crate::kept::MemoryPart;
use crate::rows::RowBuffer;
use crate::tls::Encryption;

/// A parameter of a prepared statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Param<'a> {
    /// SQL NULL.
    Null,
    /// An integer; sent in the width that the server asked for.
    Int(i64),
    /// Characters. Both servers take them for every type: decimals, dates and times are written so,
    /// and numbers may be. They are sent as they are; to MySQL, UTF-8 goes in the character set of
    /// the session, latin1, as SQL does, if that has all of its characters.
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
pub struct StatementCounts {
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
    /// What they count for as long as they are kept.
    pub(crate) held: MemoryPart,
}

impl Rows {
    /// The place of a column, whatever the case of its name.
    pub fn column(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|own| own.eq_ignore_ascii_case(name))
    }

    /// Rows of an arm that lives in this process; each has a value for every column.
    pub fn new(columns: Vec<String>, rows: Vec<Vec<Option<String>>>) -> Rows {
        Rows { columns, rows, held: MemoryPart::default() }
    }

    /// The first value of the first row, if there is one and it is not NULL.
    pub fn first_value(&self) -> Option<&str> {
        self.rows.first()?.first()?.as_deref()
    }
}

/// Where rows go.
#[derive(Clone, Copy, Debug)]
pub struct BulkTarget<'a> {
    /// The table.
    pub table: &'a str,
    /// Its columns in the order of the fields of a row; at least one.
    pub columns: &'a [String],
    /// Columns, by place, whose digits go to the server as a number, and the base that they are
    /// written in; COPY takes them as they are.
    pub numbers: &'a [(usize, u32)],
}

impl BulkTarget<'_> {
    /// A field as a parameter: `\N` is NULL. What is to be a number and is none of 64 bits goes as
    /// it is: the server refuses it or knows better.
    #[inline]
    pub fn param_from_field<'f>(&self, column: usize, field: &'f [u8]) -> Param<'f> {
        if field == b"\\N" {
            return Param::Null;
        }
        let base = self.numbers.iter().find(|(place, _)| *place == column).map(|(_, base)| *base);
        let number = base.and_then(|base| number(field, base));
        number.map_or(Param::Text(field), Param::Int)
    }
}

/// A number of 64 bits, with a sign or without.
fn number(digits: &[u8], base: u32) -> Option<i64> {
    let digits = std::str::from_utf8(digits).ok()?;
    let unsigned = u64::from_str_radix(digits, base).map(|number| number as i64);
    unsigned.or_else(|_| i64::from_str_radix(digits, base)).ok()
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
    fn execute(
        &mut self,
        statement: StatementId,
        args: &dyn Args,
    ) -> Result<StatementCounts, WireError>;

    /// Executes a prepared statement as [`Client::execute`] does and keeps the rows of its last
    /// result in `into`, which holds nothing after a statement without one. Allocates nothing once
    /// buffers have grown. After an error the content of `into` is of no use.
    ///
    /// Values are the characters of the server's text protocol on either server; a MySQL session
    /// speaks latin1, PostgreSQL's the encoding of the server.
    ///
    /// # Errors
    /// Those of [`Client::execute`], and a row that does not fit its columns.
    fn fetch(
        &mut self,
        statement: StatementId,
        args: &dyn Args,
        into: &mut RowBuffer,
    ) -> Result<StatementCounts, WireError>;

    /// Sends one statement as text; rows are read and counted. Allocates nothing in the steady
    /// state.
    ///
    /// # Errors
    /// The server's refusal, or a broken connection.
    fn run(&mut self, sql: &str) -> Result<StatementCounts, WireError>;

    /// Sends one statement as text and keeps its rows.
    ///
    /// # Errors
    /// The server's refusal, or a broken connection.
    fn query(&mut self, sql: &str) -> Result<Rows, WireError>;

    /// Sends rows through the server's widest door that several connections can go through at a
    /// time: COPY, or one transaction of INSERTs of many rows. `more` appends the next rows to the
    /// buffer, which it finds empty, and returns false when there are none left: a line for each
    /// row, a tab between fields, `\N` for NULL. Returns the number of rows that the server took.
    ///
    /// # Errors
    /// The server's refusal, after which none of the rows is there, or a broken connection.
    fn bulk_load(
        &mut self,
        target: &BulkTarget<'_>,
        more: &mut dyn FnMut(&mut Vec<u8>) -> bool,
    ) -> Result<u64, WireError>;

    /// The version that the server announces, e.g. `10.11.19-MariaDB` or `15.20`.
    fn server_version(&self) -> &str;

    /// The server's number for this connection: MySQL's connection id, PostgreSQL's backend pid.
    fn connection_id(&self) -> u64;

    /// From now on answers are waited for so long; at first [`Patience::QUESTION`]. A connection
    /// within this process, whose answers are our own, takes no notice.
    fn set_patience(&mut self, _patience: Patience) {}

    /// How the connection is encrypted; `None` if it is not.
    fn encryption(&self) -> Option<Encryption> {
        None
    }

    /// Tells the server that the connection ends. Dropping does the same without waiting.
    fn close(self: Box<Self>);
}

/// A connection that can be asked without waiting for the answer: one thread serves thousands.
///
/// ```text
///   send_execute ──▶ … socket readable … receive: None … readable … receive: Some(outcome)
/// ```
///
/// One question at a time; until it is answered the connection takes no other. Questions and
/// answers are those of [`Client::execute`] and [`Client::run`], read by the same code.
pub trait Pollable: Client {
    /// The socket, to wait until there is something to receive.
    fn socket(&self) -> BorrowedFd<'_>;

    /// Sends what [`Client::execute`] sends. It waits only for room in the socket's buffer, which a
    /// request of ordinary size finds empty.
    ///
    /// # Errors
    /// A wrong number of parameters, a broken connection, or an answer that is still awaited.
    fn send_execute(&mut self, statement: StatementId, args: &dyn Args) -> Result<(), WireError>;

    /// Sends what [`Client::run`] sends.
    ///
    /// # Errors
    /// A broken connection, or an answer that is still awaited.
    fn send_run(&mut self, sql: &str) -> Result<(), WireError>;

    /// Takes what has arrived and never waits; `None` as long as the answer is not whole.
    ///
    /// # Errors
    /// The server's refusal, a broken connection, or that nothing was asked.
    fn receive(&mut self) -> Result<Option<StatementCounts>, WireError>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_become_numbers_where_they_are_to() {
        let columns = ["a", "b", "c"].map(str::to_owned);
        let target = BulkTarget { table: "t", columns: &columns, numbers: &[(1, 2), (2, 10)] };
        let ones = "1".repeat(64);
        for (column, field, expected) in [
            (0, "101", Param::Text(b"101")),
            (1, "101", Param::Int(5)),
            (1, &ones, Param::Int(-1)),
            (1, "102", Param::Text(b"102")),
            (2, "101", Param::Int(101)),
            (2, "-7", Param::Int(-7)),
            (2, "18446744073709551615", Param::Int(-1)),
            (2, "18446744073709551616", Param::Text(b"18446744073709551616")),
            (2, "", Param::Text(b"")),
            (2, "\\N", Param::Null),
        ] {
            assert_eq!(
                target.param_from_field(column, field.as_bytes()),
                expected,
                "{column}: {field}"
            );
        }
    }
}
