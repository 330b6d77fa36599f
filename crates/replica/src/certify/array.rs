//! 65536 buckets of 511 entries that are searched one by one.
//!
//! ```text
//!   hash    [ 16 bits: bucket │ 48 bits ]
//!   bucket  number │ size │ 511 × [ 48 bits of the hash │ 16 bits: sequence − base ]      4 KiB
//! ```
//!
//! As published (Wang, "Enhanced MySQL", static_array), but that the 48 bits are compared as a
//! number and not byte by byte. A sequence too far from the base, and a 512th entry of a bucket,
//! make it forget everything: the numbers of all buckets become 0, the transaction waits for all
//! before it, and it is the new base. Cleaning up does the same. So snapshots that are older are
//! refused; where it was published, there is one primary, and nothing is ever refused.

use super::writers::{CollectedWriters, LastWriters, NoteResult};
use crate::ids::{RowKey, Sequence};

const BUCKETS: usize = 1 << 16;
/// Words of a bucket: the number, and so many less one entries.
const WORDS: usize = 512;
const SEQUENCES: u64 = 1 << 16;

pub(super) struct Array {
    words: Vec<u64>,
    base: Sequence,
}

impl Array {
    pub(super) fn new(base: Sequence) -> Array {
        Array { words: vec![0; BUCKETS * WORDS], base }
    }

    /// The first word of its bucket, and what stands for the row there.
    #[inline]
    fn place(row: RowKey) -> (usize, u64) {
        ((row.0 >> 48) as usize * WORDS, row.0 << 16)
    }

    /// The words of the bucket that are in use.
    #[inline]
    fn entries(&self, bucket: usize) -> &[u64] {
        &self.words[bucket + 1..=bucket + self.words[bucket] as usize]
    }
}

#[inline]
fn is_of(entry: u64, row: u64) -> bool {
    (entry ^ row) < SEQUENCES
}

impl LastWriters for Array {
    #[inline]
    fn last_writer(&self, row: RowKey) -> Sequence {
        let (bucket, row) = Array::place(row);
        let found = self.entries(bucket).iter().find(|&&entry| is_of(entry, row));
        found.map_or(Sequence::NONE, |entry| Sequence(self.base.0 + entry % SEQUENCES))
    }

    fn begin_transaction(&mut self, writer: Sequence) -> NoteResult {
        if writer.0 - self.base.0 < SEQUENCES { NoteResult::Done } else { NoteResult::Full }
    }

    #[inline]
    fn note_writer(&mut self, row: RowKey, writer: Sequence) -> NoteResult {
        let (bucket, row) = Array::place(row);
        let entry = row | (writer.0 - self.base.0);
        let found = self.entries(bucket).iter().position(|&known| is_of(known, row));
        let number = self.words[bucket] as usize;
        let place = found.unwrap_or(number);
        if place == WORDS - 1 {
            return NoteResult::Full;
        }
        self.words[bucket] = number.max(place + 1) as u64;
        self.words[bucket + 1 + place] = entry;
        NoteResult::Done
    }

    fn clear(&mut self, newest: Sequence) {
        self.words.iter_mut().step_by(WORDS).for_each(|number| *number = 0);
        self.base = newest;
    }

    fn collect_garbage(&mut self, _stable: Sequence, newest: Sequence) -> CollectedWriters {
        let rows: u64 = self.words.iter().step_by(WORDS).sum();
        self.clear(newest);
        CollectedWriters { rows: rows as usize, forgotten: newest, barrier: newest }
    }
}
