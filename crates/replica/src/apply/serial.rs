//! One after the other.

use super::order::{Order, Progress};
use crate::depend::Dependencies;
use crate::ids::Sequence;

pub(super) struct Serial {
    begun: Sequence,
    newest: Sequence,
}

impl Serial {
    pub(super) fn new(applied: Sequence) -> Serial {
        Serial { begun: applied, newest: applied }
    }
}

impl Order for Serial {
    fn on_arrival(&mut self, dependencies: Dependencies<'_>, _progress: &Progress) {
        self.newest = dependencies.sequence;
    }

    fn on_commit(&mut self, sequence: Sequence, progress: &Progress) {
        self.newest = self.newest.max(sequence);
        self.begun = self.begun.max(progress.low);
    }

    fn next(&mut self, progress: &Progress) -> Option<Sequence> {
        let is_due = self.begun == progress.low && self.begun < self.newest;
        is_due.then(|| {
            self.begun = self.begun.next();
            self.begun
        })
    }
}
