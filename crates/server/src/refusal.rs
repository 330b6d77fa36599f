//! A statement about a server that it did not carry out.

use std::fmt;

use dbdyno_wire::{Client, Rows, WireError};

/// What was asked, and the reason of the server or of the connection.
#[derive(Debug)]
pub struct Refusal {
    /// The statement; `None` where the connection is to blame, or the whole question.
    pub sql: Option<String>,
    /// Why it was not carried out.
    pub error: WireError,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.sql {
            Some(sql) => write!(f, "{}; statement: {sql}", self.error),
            None => write!(f, "{}", self.error),
        }
    }
}

impl std::error::Error for Refusal {}

impl From<WireError> for Refusal {
    fn from(error: WireError) -> Refusal {
        Refusal { sql: None, error }
    }
}

/// The answer to a question, or the question that was refused.
pub(crate) fn ask_server(client: &mut dyn Client, sql: &str) -> Result<Rows, Refusal> {
    client.query(sql).map_err(|error| Refusal { sql: Some(sql.to_owned()), error })
}
