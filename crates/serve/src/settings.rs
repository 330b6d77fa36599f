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
    /// Prepared statements of a connection.
    pub statements: usize,
    /// How long a client may be silent.
    pub silent: Duration,
    /// How long it may take to read some of an answer.
    pub reading: Duration,
    /// How long clients that are at work may finish when the server stops.
    pub ending: Duration,
}

impl Default for ServeLimits {
    /// MySQL's, but for the number of connections.
    fn default() -> ServeLimits {
        ServeLimits {
            connections: 4_096,
            request_bytes: 64 << 20,
            answer_bytes: 256 << 20,
            statements: 16_382,
            silent: Duration::from_secs(28_800),
            reading: Duration::from_secs(60),
            ending: Duration::from_secs(5),
        }
    }
}
