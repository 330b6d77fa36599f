//! A statement as the server gets it, and the values of its parameters.

/// How a statement is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StatementKind {
    /// Prepared once for each connection, executed with parameters in binary form.
    Prepared,
    /// As text, with its parameters written into it.
    Text,
    /// Begins or ends a transaction; without parameters.
    Control,
}

/// A statement as the server gets it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statement {
    /// SQL with the placeholders of the dialect.
    pub sql: String,
    /// The same SQL cut at its placeholders, for a statement that is sent as text; else empty.
    pub pieces: Vec<String>,
    /// How it is sent.
    pub kind: StatementKind,
}

impl Statement {
    /// A statement that is prepared.
    pub(crate) fn new_prepared(sql: impl Into<String>) -> Statement {
        Statement { sql: sql.into(), pieces: Vec::new(), kind: StatementKind::Prepared }
    }

    /// A statement without parameters that begins or ends a transaction.
    pub(crate) fn new_control(sql: impl Into<String>) -> Statement {
        Statement { sql: sql.into(), pieces: Vec::new(), kind: StatementKind::Control }
    }
}

/// One value of a parameter; text lies in the event's buffer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CallValue {
    /// SQL NULL.
    #[default]
    Null,
    /// An integer.
    Int(i64),
    /// Characters `start..start + length` of the event's text.
    Text {
        /// First byte.
        start: u32,
        /// Number of bytes.
        length: u32,
    },
}
