//! Which transaction ends at a place of the log: of the newest ones.

use std::collections::VecDeque;

use dbdyno_replica::Sequence;

use crate::ids::Lsn;

/// So many are known.
const KNOWN: usize = 1 << 13;

pub(super) struct Commits {
    /// The places behind the newest transactions, one after the other.
    ends: VecDeque<Lsn>,
    newest: Sequence,
}

impl Commits {
    pub(super) fn new(newest: Sequence) -> Commits {
        Commits { ends: VecDeque::with_capacity(KNOWN), newest }
    }

    /// The next one ends here.
    pub(super) fn push(&mut self, end: Lsn) {
        if self.ends.len() == KNOWN {
            self.ends.pop_front();
        }
        self.ends.push_back(end);
        self.newest = self.newest.next();
    }

    /// The last that ends here or before, or one after it where that is not known any more: to
    /// wait for that is to wait long enough.
    pub(super) fn last_until(&self, place: Lsn) -> Sequence {
        let beyond = self.ends.len() - self.ends.partition_point(|&end| end <= place);
        Sequence(self.newest.0 - beyond as u64)
    }
}
