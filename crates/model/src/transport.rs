//! Where a server listens.

use std::fmt;

/// How a running server is reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Transport {
    /// Host name or address, and port.
    Tcp(String, u16),
    /// Path of a unix socket. For PostgreSQL the file itself, not its directory.
    Unix(String),
}

impl fmt::Display for Transport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Transport::Tcp(host, port) if host.contains(':') => write!(f, "[{host}]:{port}"),
            Transport::Tcp(host, port) => write!(f, "{host}:{port}"),
            Transport::Unix(path) => f.write_str(path),
        }
    }
}
