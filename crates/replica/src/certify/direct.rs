//! A table of 16 MiB without keys: each row has a place, and rows may share one.
//!
//! The last writer of the place is not older than the last writer of the row. So what is said is
//! never too little. If the place was written by another row's transaction since, that one depends
//! on the writer of the row, for it found its number there: to wait for it is to wait for both.
//!
//! Nothing is ever full, and nothing needs to be cleaned up. After 2³² transactions all begins
//! anew.

use super::writers::{CollectedWriters, LastWriters, NoteResult};
use crate::ids::{RowKey, Sequence};

const PLACES: usize = 1 << 22;

pub(super) struct Direct {
    /// Sequence less base of the last writer of the place; 0 if there is none.
    last: Box<[u32; PLACES]>,
    base: Sequence,
}

impl Direct {
    pub(super) fn new(base: Sequence) -> Direct {
        let last = vec![0; PLACES].into_boxed_slice();
        let last = last.try_into().expect("it has so many places");
        Direct { last, base }
    }

    #[inline]
    fn place(row: RowKey) -> usize {
        row.0 as usize % PLACES
    }
}

impl LastWriters for Direct {
    #[inline]
    fn last_writer(&self, row: RowKey) -> Sequence {
        Sequence(self.base.0 + u64::from(self.last[Direct::place(row)]))
    }

    #[inline]
    fn begin_transaction(&mut self, writer: Sequence) -> NoteResult {
        let fits = u32::try_from(writer.0 - self.base.0).is_ok();
        if fits { NoteResult::Done } else { NoteResult::Full }
    }

    #[inline]
    fn note_writer(&mut self, row: RowKey, writer: Sequence) -> NoteResult {
        self.last[Direct::place(row)] = (writer.0 - self.base.0) as u32;
        NoteResult::Done
    }

    fn clear(&mut self, newest: Sequence) {
        self.last.fill(0);
        self.base = newest;
    }

    fn collect_garbage(&mut self, _stable: Sequence, _newest: Sequence) -> CollectedWriters {
        CollectedWriters { rows: 0, forgotten: Sequence::NONE, barrier: Sequence::NONE }
    }
}
