//! MySQL's history of row hashes.
//!
//! As its `Writeset_trx_dependency_tracker`: the last that wrote one of the rows, or the start of
//! the history, unless the commit parent is earlier. A transaction whose rows do not fit any more
//! is compared, and is the start of the next history.

use std::collections::HashMap;

use crate::ids::{RowKey, Sequence};

/// Rows of a history: the default of `binlog_transaction_dependency_history_size`.
pub(super) const HISTORY_ROWS: usize = 25_000;

pub(super) struct Writeset {
    history: HashMap<RowKey, Sequence>,
    most: usize,
    start: Sequence,
}

impl Writeset {
    pub(super) fn new(most: usize, start: Sequence) -> Writeset {
        Writeset { history: HashMap::new(), most, start }
    }

    /// Its `last_committed`.
    pub(super) fn last_committed(
        &mut self,
        sequence: Sequence,
        parent: Sequence,
        rows: &[RowKey],
    ) -> Sequence {
        let is_full = self.history.len() + rows.len() > self.most;
        let mut last = self.start;
        for &row in rows {
            match self.history.get_mut(&row) {
                Some(writer) => {
                    if *writer < sequence {
                        last = last.max(*writer);
                    }
                    *writer = sequence;
                }
                None if is_full => {}
                None => {
                    self.history.insert(row, sequence);
                }
            }
        }
        if is_full || rows.is_empty() {
            self.history.clear();
            self.start = sequence;
        }
        if rows.is_empty() { parent } else { last.min(parent) }
    }
}
