//! Errors by what they mean to the caller.

use std::fmt;
use std::io;
use std::time::Duration;

use dbdyno_model::{Foreign, Transport, foreign};

/// An error that the server sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerError {
    /// MySQL's error number; 0 for PostgreSQL.
    pub code: u16,
    /// The five characters of SQLSTATE.
    pub sqlstate: String,
    /// The server's own words.
    pub message: Foreign,
}

impl ServerError {
    /// Whether the statement or its values are the reason, by the classes of SQLSTATE and, where
    /// MySQL has none, by its numbers: a missing default, a value of another kind, a CHECK.
    pub fn is_of_statement(&self) -> bool {
        const CLASSES: [&str; 5] = ["0A", "21", "22", "23", "42"];
        const NUMBERS: [u16; 4] = [1364, 1366, 3819, 4025];
        CLASSES.iter().any(|class| self.sqlstate.starts_with(class)) || NUMBERS.contains(&self.code)
    }
}

impl fmt::Display for ServerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.code == 0 {
            write!(f, "{} (SQLSTATE {})", self.message, self.sqlstate)
        } else {
            write!(f, "{} (error {}, SQLSTATE {})", self.message, self.code, self.sqlstate)
        }
    }
}

/// Why something could not be done over the wire.
#[derive(Debug)]
pub enum WireError {
    /// No connection could be made: nobody listens, no such socket, name unknown.
    Connect(String, io::Error),
    /// No encrypted connection could be made; a whole sentence that says what to do.
    Tls(String),
    /// The server asks for the password in a way in which others could read it; it was not sent. A
    /// whole sentence that says what to do.
    Exposed(String),
    /// The server answered and refused the account, the password or the database.
    Login(ServerError),
    /// The connection broke.
    Broken(io::Error),
    /// The server refused a statement; the connection is usable.
    Server(ServerError),
    /// The other side sent what the protocol does not allow, or what we do not support.
    Protocol(String),
    /// The answer had not come to its end when so much time had passed; the connection was cut off.
    Late(Duration),
    /// What answers of all connections of this process hold would be more than they may.
    Crowded {
        /// Bytes of memory that this answer, or the buffer of this connection, would have taken.
        bytes: usize,
        /// Bytes that all others took.
        others: usize,
        /// Bytes that all may take.
        most: usize,
    },
    /// This process is to stop and has cut off its connections, see [`crate::cut_all`].
    Cut,
    /// What was asked waited for others, and this process ended the wait; the connection is usable.
    /// Arms that live in our own threads have it.
    Interrupted,
}

impl WireError {
    /// Whether the connection is of no further use.
    pub fn is_fatal(&self) -> bool {
        !matches!(self, WireError::Server(_) | WireError::Interrupted)
    }

    /// A login that did not come to its end.
    #[cold]
    pub(crate) fn unfinished_login(transport: &Transport, limit: Duration) -> WireError {
        let text = format!(
            "somebody accepted the connection and did not finish the login within {limit:?}; is \
             the server stopped or out of processes?"
        );
        WireError::Connect(transport.to_string(), io::Error::new(io::ErrorKind::TimedOut, text))
    }

    /// Whether a reader that does not wait found nothing more, and may look again later.
    #[inline]
    pub(crate) fn is_not_yet(&self) -> bool {
        matches!(self, WireError::Broken(error) if error.kind() == io::ErrorKind::WouldBlock)
    }

    /// Whether the transaction was rolled back for the sake of others and may simply be asked
    /// again: MySQL 1020, 1205, 1213 (those that sysbench ignores), SQLSTATE 40001 and 40P01.
    pub fn is_retryable(&self) -> bool {
        let WireError::Server(error) = self else {
            return false;
        };
        matches!(error.code, 1020 | 1205 | 1213)
            || (error.code == 0 && matches!(error.sqlstate.as_str(), "40001" | "40P01" | "55P03"))
    }
}

impl fmt::Display for WireError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WireError::Connect(endpoint, error) => {
                write!(f, "no connection to {endpoint}: {error}")
            }
            WireError::Exposed(text) => f.write_str(text),
            WireError::Tls(text) => f.write_str(&foreign::lines(text)),
            WireError::Login(error) => write!(f, "the server refused the login: {error}"),
            WireError::Broken(error) => write!(f, "the connection broke: {error}"),
            WireError::Server(error) => write!(f, "the server refused: {error}"),
            WireError::Protocol(text) => {
                write!(f, "protocol violated: {}", Foreign::new(text))
            }
            WireError::Late(limit) => write!(
                f,
                "the server did not come to the end of its answer within {limit:?}; it is stopped, \
                 hangs, or sends without end"
            ),
            WireError::Crowded { bytes, others, most } => write!(
                f,
                "an answer of {} MiB was not read to its end: with the {} MiB that other answers \
                 hold it takes more than {} MiB, the most for all connections together; the \
                 server sends more than it was asked for, or too many connections ask for too \
                 much at a time",
                bytes >> 20,
                others >> 20,
                most >> 20
            ),
            WireError::Cut => f.write_str("stopped on request"),
            WireError::Interrupted => f.write_str("the wait for others was ended on request"),
        }
    }
}

impl std::error::Error for WireError {}

impl From<io::Error> for WireError {
    fn from(error: io::Error) -> Self {
        WireError::Broken(error)
    }
}
