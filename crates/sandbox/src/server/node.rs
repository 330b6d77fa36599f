//! A server as those see it that join it to others: what it is and where, not how it runs. One of
//! ours and one in the background look the same.

use std::path::PathBuf;

use dbdyno_model::{Dialect, Product};
use dbdyno_wire::Endpoint;

use crate::child;
use crate::error::SandboxError;

/// Lines of a log that an error shows.
const LOG_LINES: usize = 12;

/// A member of a topology.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) what: String,
    pub(crate) product: Product,
    pub(crate) version: String,
    /// Its own socket: a port may be another's.
    pub(crate) endpoint: Endpoint,
    pub(crate) port: u16,
    pub(crate) log: PathBuf,
    pub(crate) data: PathBuf,
}

impl Node {
    /// The error of a member, with what its log says.
    pub(crate) fn error_with_log(&self, why: String) -> SandboxError {
        let password = self.endpoint.password.expose();
        let why = if password.is_empty() { why } else { why.replace(password, "***") };
        let all = child::last_lines(&self.log, 100);
        let telling: Vec<String> = all
            .iter()
            .filter(|line| {
                ["[ERROR]", "ERROR:", "FATAL:", "PANIC:", "[FATAL]"]
                    .iter()
                    .any(|w| line.contains(w))
            })
            .cloned()
            .collect();
        let log = if telling.is_empty() { all } else { telling };
        let log = log[log.len().saturating_sub(LOG_LINES)..].to_vec();
        SandboxError::NotAMember { what: self.what.clone(), why, log }
    }

    pub(crate) fn is_postgres(&self) -> bool {
        self.product.dialect() == Dialect::Postgres
    }
}
