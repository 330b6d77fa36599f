//! Runs that were made to explain another one.

use dbdyno_model::{RunId, Witness};
use rusqlite::params;

use crate::Store;
use crate::error::{Result, StoreError};
use crate::transaction::seq_of;

const SELECT: &str = "SELECT r.id, t.witness FROM trial t JOIN run r ON r.seq = t.run \
     WHERE t.explains = (SELECT seq FROM run WHERE id = ?1) ORDER BY t.run";

impl Store {
    /// Notes that `run` is a trial for explaining another one.
    ///
    /// # Errors
    /// No such runs, or a file that cannot be written.
    pub fn note_trial(&mut self, explained: &RunId, run: &RunId, witness: Witness) -> Result<()> {
        self.change_run(run, |transaction, run| {
            let explained = seq_of(transaction, explained)?;
            let insert = "INSERT OR REPLACE INTO trial VALUES (?1, ?2, ?3)";
            transaction.execute(insert, params![run, explained, witness.name()])?;
            Ok(())
        })
    }

    /// The trials of a run, oldest first.
    ///
    /// # Errors
    /// A file that cannot be read, or that has a witness which there is not.
    pub fn trials_of(&self, explained: &RunId) -> Result<Vec<(RunId, Witness)>> {
        let explain = |error| self.explain(error);
        let mut statement = self.connection().prepare(SELECT).map_err(explain)?;
        let row =
            |row: &rusqlite::Row<'_>| Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?));
        let rows = statement.query_map([&explained.0], row).map_err(explain)?;
        let trial = |row: rusqlite::Result<(String, String)>| {
            let (run, witness) = row.map_err(|error| self.explain(error))?;
            match Witness::named(&witness) {
                Some(witness) => Ok((RunId(run), witness)),
                None => Err(StoreError::Damaged(
                    self.path.clone(),
                    format!("trial {run} has the unknown witness {witness:?}"),
                )),
            }
        };
        rows.map(trial).collect()
    }
}
