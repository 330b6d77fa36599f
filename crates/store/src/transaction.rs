//! One transaction, and the run that it is about.

use dbdyno_model::RunId;
use rusqlite::{Connection, OptionalExtension, Transaction, TransactionBehavior};

use crate::Store;
use crate::error::{Result, StoreError};

impl Store {
    /// One transaction, which takes the write lock at once: waiting for it later, after a read,
    /// would end in an error and not in a wait.
    pub(crate) fn write<T>(
        &mut self,
        work: impl FnOnce(&Transaction) -> std::result::Result<T, WriteError>,
    ) -> Result<T> {
        let path = self.path.clone();
        let explain = |error| crate::error::explain_sqlite(&path, error);
        self.allowance.renew_steps();
        let transaction = self
            .connection
            .transaction_with_behavior(TransactionBehavior::Immediate)
            .map_err(explain)?;
        match work(&transaction) {
            Ok(value) => transaction.commit().map_err(explain).map(|()| value),
            Err(WriteError::Meaning(error)) => Err(error),
            Err(WriteError::Sqlite(error)) => Err(explain(error)),
        }
    }
}

/// What can go wrong in a transaction: SQLite's errors get their meaning where the path is known.
pub(crate) enum WriteError {
    Meaning(StoreError),
    Sqlite(rusqlite::Error),
}

impl From<rusqlite::Error> for WriteError {
    fn from(error: rusqlite::Error) -> Self {
        WriteError::Sqlite(error)
    }
}

/// The row of a run.
pub(crate) fn seq_of(connection: &Connection, run: &RunId) -> std::result::Result<i64, WriteError> {
    connection
        .query_row("SELECT seq FROM run WHERE id = ?1", [&run.0], |row| row.get(0))
        .optional()?
        .ok_or_else(|| WriteError::Meaning(StoreError::UnknownRun(run.0.clone(), Vec::new())))
}
