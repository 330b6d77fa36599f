//! A hash table from hashes to numbers of transactions, in two generations.
//!
//! ```text
//!   older   all of its writers are stable? dropped whole, the younger is the older one then
//!   younger what is written now
//! ```
//!
//! Dropping a table of numbers gives its memory back at once, without a look at what is in it: so
//! cleaning up takes no longer the more there is. A row may be in both; the younger one counts.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use super::writers::{CollectedWriters, LastWriters, NoteResult};
use crate::ids::{RowKey, Sequence};

type Table = HashMap<u64, u64, BuildHasherDefault<AsItIs>>;

#[derive(Default)]
pub(super) struct Exact {
    older: Table,
    /// The last that wrote into the older one.
    older_until: Sequence,
    younger: Table,
}

/// What is a hash already is not hashed again.
#[derive(Default)]
struct AsItIs(u64);

impl Hasher for AsItIs {
    fn write(&mut self, _bytes: &[u8]) {
        unreachable!("keys are numbers");
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = number;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

impl LastWriters for Exact {
    #[inline]
    fn last_writer(&self, row: RowKey) -> Sequence {
        let found = self.younger.get(&row.0).or_else(|| self.older.get(&row.0));
        Sequence(found.copied().unwrap_or(0))
    }

    #[inline]
    fn note_writer(&mut self, row: RowKey, writer: Sequence) -> NoteResult {
        self.younger.insert(row.0, writer.0);
        NoteResult::Done
    }

    fn clear(&mut self, _newest: Sequence) {
        *self = Exact::default();
    }

    fn collect_garbage(&mut self, stable: Sequence, newest: Sequence) -> CollectedWriters {
        if stable < self.older_until {
            return CollectedWriters {
                rows: 0,
                forgotten: Sequence::NONE,
                barrier: Sequence::NONE,
            };
        }
        let forgotten = self.older_until;
        let rows = self.older.len();
        self.older = std::mem::take(&mut self.younger);
        self.older_until = newest;
        CollectedWriters { rows, forgotten, barrier: forgotten }
    }
}
