//! What the URL of a server leaves to its client.
//!
//! ```text
//!   postgres:///shop?service=prod      host, port and user are left out, and a service is named
//! ```

/// Parts of a URL that were not written, and stand there as a default.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LeftOut {
    /// No host, address or socket.
    pub host: bool,
    /// No port.
    pub port: bool,
    /// No account.
    pub user: bool,
    /// No database.
    pub database: bool,
    /// The service that says them.
    pub service: Option<String>,
}
