//! Which notes on the method whoever uses this store has been shown.
//!
//! Such a note says the same of every run, so that people are shown it once. It is kept by its
//! code: the figures in its text belong to one run, what it explains does not.

use std::collections::BTreeSet;

use dbdyno_model::Warning;

use crate::Store;
use crate::error::Result;

impl Store {
    /// Codes of the notes that have been shown.
    ///
    /// # Errors
    /// A file that cannot be read.
    pub fn shown_notes(&self) -> Result<BTreeSet<String>> {
        let explain = |error| self.explain(error);
        let mut statement =
            self.connection().prepare("SELECT code FROM shown_note").map_err(explain)?;
        let codes = statement.query_map([], |row| row.get(0)).map_err(explain)?;
        codes.collect::<rusqlite::Result<_>>().map_err(explain)
    }

    /// Keeps that these notes have been shown.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn note_shown<'a>(&mut self, notes: impl IntoIterator<Item = &'a Warning>) -> Result<()> {
        self.write(|transaction| {
            for note in notes {
                transaction
                    .execute("INSERT OR IGNORE INTO shown_note VALUES (?1)", [&note.code])?;
            }
            Ok(())
        })
    }
}
