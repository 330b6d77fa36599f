//! A fixed number of operations with no clock: what is counted, not timed.
//!
//! Clients do nothing but ask: no pauses, no brake. What they are slowed by on purpose, or wait
//! for, is no instruction of the server.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use dbdyno_model::Dialect;
use dbdyno_wire::Patience;
use dbdyno_workload::ReadyLoad;

use crate::connector::Connector;
use crate::crowd::open_sessions;
use crate::error::LoadError;
use crate::patience;
use crate::round::RoundSpec;
use crate::session::ClientSession;
use crate::tally::first_cause_first;

/// A client that asks numbered operations one after the other.
pub struct NumberedClient<'a> {
    session: ClientSession<'a>,
    stop: &'a AtomicBool,
}

impl<'a> NumberedClient<'a> {
    /// Connects and prepares.
    ///
    /// # Errors
    /// Those of [`ClientSession::open`].
    pub fn open(
        connector: &Connector,
        load: &'a ReadyLoad,
        stop: &'a AtomicBool,
    ) -> Result<NumberedClient<'a>, LoadError> {
        let mut session = ClientSession::open(connector, load, 0)?;
        // Under callgrind a server is fifty times slower.
        session.client().set_patience(Patience::WORK);
        Ok(NumberedClient { session, stop })
    }

    /// The server's process that answers this connection, in the words of PostgreSQL; `None` for
    /// servers that have no such process.
    ///
    /// # Errors
    /// A broken connection.
    pub fn server_process(&mut self, dialect: Dialect) -> Result<Option<u32>, LoadError> {
        if dialect != Dialect::Postgres {
            return Ok(None);
        }
        let answer = self.session.client().query("SELECT pg_backend_pid()")?;
        Ok(answer.first_value().and_then(|pid| pid.parse().ok()))
    }

    /// Asks operations `first` to `first + events`; returns how many statements they had.
    ///
    /// # Errors
    /// Those of [`ClientSession::ask_operation`], or a request to stop.
    pub fn ask_operations(&mut self, first: u64, events: u64) -> Result<u64, LoadError> {
        let mut statements = 0;
        for operation in first..first + events {
            if self.stop.load(Ordering::Relaxed) {
                return Err(LoadError::Interrupted);
            }
            self.session.make_operation(operation);
            statements += self.session.ask_operation(operation)?.statements;
        }
        Ok(statements)
    }

    /// Takes leave of the server.
    pub fn close(self) {
        self.session.close();
    }
}

/// Lets every client of a round ask so many operations, from its first one on, and record them
/// where the round does. The times of the round do not count. Returns how many attempts were rolled
/// back for the sake of others.
///
/// # Errors
/// What stopped the first of them.
pub fn ask_each(spec: &RoundSpec<'_>, events: u64) -> Result<u64, LoadError> {
    let mut sessions = open_sessions(spec, &mut |_| {})?;
    let amount = Patience::Whole(patience::OF_AMOUNT);
    sessions.iter_mut().for_each(|session| session.client().set_patience(amount));
    let failed = AtomicBool::new(false);
    let ask = |session: &mut ClientSession<'_>| {
        if let Some(recording) = spec.record {
            session.record_on(recording);
        }
        let mut retries = 0;
        for operation in spec.first_operation..spec.first_operation + events {
            if spec.stop.load(Ordering::Relaxed) || failed.load(Ordering::Relaxed) {
                return Err(LoadError::Interrupted);
            }
            session.make_operation(operation);
            retries += session.ask_operation(operation)?.retries;
        }
        if let Some(recording) = spec.record {
            session.end_record(recording);
        }
        Ok(retries)
    };
    let retries = thread::scope(|scope| {
        let (ask, failed) = (&ask, &failed);
        let threads: Vec<_> = sessions
            .iter_mut()
            .map(|session| {
                scope.spawn(move || {
                    ask(session).inspect_err(|_| failed.store(true, Ordering::Relaxed))
                })
            })
            .collect();
        let all = threads
            .into_iter()
            .map(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        first_cause_first(all.collect())
    })?;
    sessions.into_iter().for_each(ClientSession::close);
    Ok(retries.into_iter().sum())
}
