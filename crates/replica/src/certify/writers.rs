//! What the tables of last writers have in common: the seam.

use crate::ids::{RowKey, Sequence};

/// The last writers of rows.
pub(super) trait LastWriters {
    /// The last writer of the row if it is known; else one up to which all are forgotten.
    fn last_writer(&self, row: RowKey) -> Sequence;

    /// Notes its writer now. `Full` if there is no room: then it is to be cleared first.
    fn note_writer(&mut self, row: RowKey, writer: Sequence) -> NoteResult;

    /// Called once before the rows of a transaction are noted. `Full` as above.
    fn begin_transaction(&mut self, writer: Sequence) -> NoteResult {
        let _ = writer;
        NoteResult::Done
    }

    /// Forgets all of those up to this one.
    fn clear(&mut self, newest: Sequence);

    /// Forgets what is not needed.
    fn collect_garbage(&mut self, stable: Sequence, newest: Sequence) -> CollectedWriters;
}

/// What became of a note.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NoteResult {
    Done,
    Full,
}

/// What was forgotten.
pub(super) struct CollectedWriters {
    pub(super) rows: usize,
    /// A writer of a row that is not known is not newer than this one.
    pub(super) forgotten: Sequence,
    /// What comes is applied after all up to this one.
    pub(super) barrier: Sequence,
}
