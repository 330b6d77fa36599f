//! A hash table from texts to sets of transactions.
//!
//! Group Replication's: a `std::unordered_map` from the text of a row's hash to a shared set of
//! GTIDs, the snapshot of the row's last writer, and itself. A row may be written by a transaction
//! that saw the whole set. When the members have told how far they are, all entries are looked at,
//! and those that all members have applied go; since it is not known of which rows, all that comes
//! is applied after all that was.

use std::collections::HashMap;
use std::sync::Arc;

use super::writers::{CollectedWriters, LastWriters, NoteResult};
use crate::ids::{RowKey, Sequence};

/// The text of a row's hash: 64 bits in base64, without the padding.
type Text = [u8; 11];

#[derive(Default)]
pub(super) struct Hash {
    sets: HashMap<Box<[u8]>, Arc<Transactions>>,
    current: Option<Arc<Transactions>>,
}

/// A set of transactions as intervals, the last one that of the writer.
struct Transactions {
    intervals: Vec<(u64, u64)>,
}

impl Transactions {
    fn up_to(last: Sequence) -> Transactions {
        Transactions { intervals: vec![(1, last.0)] }
    }

    fn last(&self) -> Sequence {
        Sequence(self.intervals.last().map_or(0, |(_, last)| *last))
    }

    fn is_within(&self, other: &Transactions) -> bool {
        self.intervals.iter().all(|&(first, last)| {
            other.intervals.iter().any(|&(from, to)| from <= first && last <= to)
        })
    }
}

fn text(row: RowKey) -> Text {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = [0; 11];
    let mut rest = u128::from(row.0) << 2;
    for digit in text.iter_mut().rev() {
        *digit = DIGITS[(rest & 63) as usize];
        rest >>= 6;
    }
    text
}

impl LastWriters for Hash {
    fn last_writer(&self, row: RowKey) -> Sequence {
        self.sets.get(&text(row)[..]).map_or(Sequence::NONE, |set| set.last())
    }

    fn begin_transaction(&mut self, writer: Sequence) -> NoteResult {
        self.current = Some(Arc::new(Transactions::up_to(writer)));
        NoteResult::Done
    }

    fn note_writer(&mut self, row: RowKey, _writer: Sequence) -> NoteResult {
        let set = self.current.as_ref().expect("a transaction has begun");
        self.sets.insert(Box::from(text(row)), set.clone());
        NoteResult::Done
    }

    fn clear(&mut self, _newest: Sequence) {
        self.sets.clear();
    }

    fn collect_garbage(&mut self, stable: Sequence, newest: Sequence) -> CollectedWriters {
        let before = self.sets.len();
        let applied = Transactions::up_to(stable);
        self.sets.retain(|_, set| !set.is_within(&applied));
        CollectedWriters { rows: before - self.sets.len(), forgotten: stable, barrier: newest }
    }
}
