//! What a server is told when it starts.

use std::time::Duration;

use dbdyno_model::Secret;
use dbdyno_wire::ServerSecurity;

/// What a server is told when it starts.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The account that is let in.
    pub user: String,
    /// Its password; empty for none.
    pub password: Secret,
    /// How it encrypts; nothing where it does not.
    pub security: Option<ServerSecurity>,
    /// How the one database is called.
    pub database: String,
    /// What it calls itself.
    pub version: String,
    /// Microseconds since 1970, for CURRENT_TIMESTAMP.
    pub clock: fn() -> i64,
    /// Nanoseconds from some moment, by a clock that nobody sets, for limits of time.
    pub uptime_ns: fn() -> u64,
    /// How much is taken from clients, and how long they are waited for.
    pub limits: ServeLimits,
}

/// How much is taken from clients, and how long they are waited for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServeLimits {
    /// Connections at a time.
    pub connections: usize,
    /// Bytes of a request.
    pub request_bytes: usize,
    /// Bytes of an answer, all of which are in memory before they are sent.
    pub answer_bytes: usize,
    /// Bytes of the long answers of all connections together.
    pub all_answer_bytes: usize,
    /// Prepared statements of a connection.
    pub statements: usize,
    /// Bytes of their texts.
    pub statement_bytes: usize,
    /// Prepared statements of all connections together.
    pub all_statements: usize,
    /// Bytes of their texts.
    pub all_statement_bytes: usize,
    /// How long a client may be silent.
    pub silent: Duration,
    /// How long it may take to read some of an answer.
    pub reading: Duration,
    /// How long clients that are at work may finish when the server stops.
    pub ending: Duration,
}

impl Default for ServeLimits {
    /// MySQL's, but for the numbers of connections and of statements: its `max_prepared_stmt_count`
    /// is that of all connections, and here of each, for loads of some thousand clients prepare
    /// more; and it does not count bytes. What is kept of a statement takes some forty times its
    /// text.
    fn default() -> ServeLimits {
        ServeLimits {
            connections: 4_096,
            request_bytes: 64 << 20,
            answer_bytes: 256 << 20,
            all_answer_bytes: 1 << 30,
            statements: 16_382,
            statement_bytes: 4 << 20,
            all_statements: 1 << 18,
            all_statement_bytes: 16 << 20,
            silent: Duration::from_secs(28_800),
            reading: Duration::from_secs(60),
            ending: Duration::from_secs(5),
        }
    }
}
