//! A fixed number of operations, by one client, with no clock: what is counted, not timed.
//!
//! The client does nothing but ask: no pauses, no brake. What it is slowed by on purpose, or waits
//! for, is no instruction of the server.

use std::sync::atomic::{AtomicBool, Ordering};

use dbdyno_model::Dialect;
use dbdyno_workload::ReadyLoad;

use crate::connector::Connector;
use crate::error::LoadError;
use crate::session::Session;

/// A client that asks numbered operations one after the other.
pub struct Fixed<'a> {
    session: Session<'a>,
    stop: &'a AtomicBool,
}

impl<'a> Fixed<'a> {
    /// Connects and prepares.
    ///
    /// # Errors
    /// Those of [`Session::open`].
    pub fn open(
        connector: &Connector,
        load: &'a ReadyLoad,
        stop: &'a AtomicBool,
    ) -> Result<Fixed<'a>, LoadError> {
        Ok(Fixed { session: Session::open(connector, load, 0)?, stop })
    }

    /// The server's process that answers this connection, in the words of PostgreSQL; `None` for
    /// servers that have no such process.
    ///
    /// # Errors
    /// A broken connection.
    pub fn process(&mut self, dialect: Dialect) -> Result<Option<u32>, LoadError> {
        if dialect != Dialect::Postgres {
            return Ok(None);
        }
        let answer = self.session.client().query("SELECT pg_backend_pid()")?;
        Ok(answer.single().and_then(|pid| pid.parse().ok()))
    }

    /// Asks operations `first` to `first + events`; returns how many statements they had.
    ///
    /// # Errors
    /// Those of [`Session::ask`], or a request to stop.
    pub fn ask(&mut self, first: u64, events: u64) -> Result<u64, LoadError> {
        let mut statements = 0;
        for operation in first..first + events {
            if self.stop.load(Ordering::Relaxed) {
                return Err(LoadError::Interrupted);
            }
            self.session.make(operation);
            statements += self.session.ask(operation)?.statements;
        }
        Ok(statements)
    }

    /// Takes leave of the server.
    pub fn close(self) {
        self.session.close();
    }
}
