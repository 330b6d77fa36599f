//! What the appliers have in common: the transactions that have committed, and the seam.

use std::collections::VecDeque;

use crate::depend::Dependencies;
use crate::ids::Sequence;

/// Which transaction is executed next: the seam.
pub(super) trait Order {
    /// A transaction is here; `progress` has those before it that have committed.
    fn on_arrival(&mut self, dependencies: Dependencies<'_>, progress: &Progress);
    /// It has committed, as `progress` says already.
    fn on_commit(&mut self, sequence: Sequence, progress: &Progress);
    /// The transaction that may be executed now.
    fn next(&mut self, progress: &Progress) -> Option<Sequence>;
}

/// The transactions that have committed.
pub(super) struct Progress {
    /// It and all before it have.
    pub(super) low: Sequence,
    /// Of those behind it, whether they have.
    pub(super) above: VecDeque<Stage>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    Arrived,
    Executed,
    Committed,
}

impl Progress {
    /// All up to this one have.
    pub(super) fn new(low: Sequence) -> Progress {
        Progress { low, above: VecDeque::new() }
    }

    fn place(&self, sequence: Sequence) -> usize {
        (sequence.0 - self.low.0 - 1) as usize
    }

    pub(super) fn has_committed(&self, sequence: Sequence) -> bool {
        sequence <= self.low || self.above[self.place(sequence)] == Stage::Committed
    }

    pub(super) fn set(&mut self, sequence: Sequence, from: Stage, to: Stage) {
        let place = self.place(sequence);
        assert_eq!(self.above[place], from, "{sequence} does one thing after the other");
        self.above[place] = to;
    }

    pub(super) fn commit(&mut self, sequence: Sequence) {
        self.set(sequence, Stage::Executed, Stage::Committed);
        self.move_low();
    }

    pub(super) fn move_low(&mut self) {
        while self.above.front() == Some(&Stage::Committed) {
            self.above.pop_front();
            self.low = self.low.next();
        }
    }
}
