//! How often this host's verdicts are known to have been wrong.
//!
//! Two equal arms have no difference, so *slower* and *faster* are false there. What such runs
//! concluded is kept beside them, as it was concluded: judging hundreds of runs anew to print one
//! line would take minutes.

use dbdyno_model::{Cell, RunId, Verdict};
use rusqlite::params;

use crate::Store;
use crate::error::Result;

/// Cells of other runs on a host of the same processors, and those of them that are false.
const COUNT: &str = "\
    WITH host (run, name, value) AS ( \
      SELECT arm.run, fact.name, fact.value FROM arm \
      JOIN environment_fact fact ON fact.environment = arm.environment \
      WHERE arm.arm = 'base' AND fact.name IN ('host.cpu.model', 'host.cpu.logical')), \
    here (run) AS ( \
      SELECT other.run FROM host other JOIN host this USING (name, value) \
      WHERE this.run = (SELECT seq FROM run WHERE id = ?1) AND other.run <> this.run \
      GROUP BY other.run HAVING count(*) = 2) \
    SELECT count(*), count(*) FILTER (WHERE verdict IN ('slower', 'faster')) \
    FROM self_test JOIN here USING (run)";

impl Store {
    /// Notes what a comparison of an arm with itself concluded in a cell; the last note counts.
    ///
    /// # Errors
    /// No such run, or a file that cannot be written.
    pub fn note_self_test(&mut self, run: &RunId, cell: &Cell, verdict: Verdict) -> Result<()> {
        self.write(|transaction| {
            let seq = crate::transaction::seq_of(transaction, run)?;
            transaction.execute(
                "INSERT OR REPLACE INTO self_test VALUES (?1, ?2, ?3, ?4)",
                params![seq, cell.load, cell.clients, verdict.name()],
            )?;
            Ok(())
        })
    }

    /// In how many cells arms were compared with themselves on the host of this run, which itself
    /// does not count, and how many of these were called slower or faster.
    ///
    /// # Errors
    /// A file that cannot be read.
    pub fn self_tests(&self, run: &RunId) -> Result<(u64, u64)> {
        let counts = self
            .connection()
            .query_row(COUNT, [&run.0], |row| Ok((row.get::<_, u32>(0)?, row.get::<_, u32>(1)?)));
        counts
            .map(|(cells, wrong)| (cells.into(), wrong.into()))
            .map_err(|error| self.explain(error))
    }
}
