//! In order, each when the low-water mark has reached the last that it depends on.

use std::collections::VecDeque;

use super::order::{Order, Progress};
use crate::depend::Dependencies;
use crate::ids::Sequence;

#[derive(Default)]
pub(super) struct Lwm {
    /// Transactions that have not begun, each with its `last_committed`.
    waiting: VecDeque<(Sequence, Sequence)>,
}

impl Order for Lwm {
    fn on_arrival(&mut self, dependencies: Dependencies<'_>, _progress: &Progress) {
        let Dependencies { sequence, low, on } = dependencies;
        self.waiting.push_back((sequence, on.last().map_or(low, |&last| last.max(low))));
    }

    fn on_commit(&mut self, _sequence: Sequence, _progress: &Progress) {}

    fn next(&mut self, progress: &Progress) -> Option<Sequence> {
        let &(sequence, last) = self.waiting.front()?;
        (last <= progress.low).then(|| {
            self.waiting.pop_front();
            sequence
        })
    }
}
