//! A member that is to do its part: whether it starts for the first time, how long it may take, and
//! the connection on which it is told and asked.

use dbdyno_server::{Refusal, ServerRelease};
use dbdyno_wire::{Client, Patience, Rows, WireError};

use crate::error::SandboxError;
use crate::server::{Node, connect};

/// Seconds that a member may take to do its part. On a host that had time for it, one that was
/// killed and came back to its group took 18 s to return from START, and 23 s until it was ONLINE.
pub(super) const JOIN_WITHIN_S: u64 = 180;

/// Whether members start for the first time.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Begins {
    Now,
    Again,
}

/// A connection to a member, whose errors name it.
pub(super) struct MemberConnection<'a> {
    pub(super) node: &'a Node,
    pub(super) client: Box<dyn Client>,
    pub(super) server: ServerRelease,
}

impl<'a> MemberConnection<'a> {
    pub(super) fn connect(node: &'a Node) -> Result<MemberConnection<'a>, SandboxError> {
        let client = connect(node.product, &node.endpoint);
        let mut client =
            client.map_err(|error| node.error_with_log(format!("cannot be asked: {error}")))?;
        // To join, to copy the data of another, or to catch up with it takes as long as it takes.
        client.set_patience(Patience::WORK);
        let server = ServerRelease::of_client(&*client, node.product.dialect());
        Ok(MemberConnection { node, client, server })
    }

    pub(super) fn run(&mut self, sql: &str) -> Result<(), SandboxError> {
        let done = self.client.run(sql);
        done.map(|_| ()).map_err(|error| self.refused(sql, &error))
    }

    pub(super) fn query(&mut self, sql: &str) -> Result<Rows, SandboxError> {
        self.client.query(sql).map_err(|error| self.refused(sql, &error))
    }

    /// Asks the member of itself.
    pub(super) fn ask<T>(
        &mut self,
        question: impl FnOnce(&mut dyn Client, ServerRelease) -> Result<T, Refusal>,
    ) -> Result<T, SandboxError> {
        let answer = question(&mut *self.client, self.server);
        answer.map_err(|Refusal { sql, error }| self.refused(&sql.unwrap_or_default(), &error))
    }

    fn refused(&self, sql: &str, error: &WireError) -> SandboxError {
        // The first words tell which statement it was; what follows may be a password.
        let words: Vec<&str> = sql.split_whitespace().take(3).collect();
        self.node.error_with_log(format!("was told {} …: {error}", words.join(" ")))
    }
}
