//! An applier in virtual time: how long workers take for transactions whose lengths are known.
//!
//! ```text
//!   worker 1   ██ 1 ██│██ 4 ██│                 parallelism = all lengths ÷ the time of the last
//!   worker 2   █ 2 █│███ 3 ███│███ 5 ███│
//! ```
//!
//! Nothing is drawn and nothing is measured: the same dependencies and lengths give the same
//! schedule. To execute takes the length; to commit, and to choose the next, takes no time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::apply::{Applier, ApplyAction, ApplyEvent};
use crate::depend::Dependencies;
use crate::ids::Sequence;

/// What became of a schedule.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ApplyOutcome {
    /// All lengths.
    pub work: u64,
    /// When the last transaction had committed.
    pub end: u64,
    /// The most transactions that were in hand.
    pub backlog_most: usize,
}

impl ApplyOutcome {
    /// How many transactions were executed at a time, on average.
    pub fn mean_parallelism(&self) -> f64 {
        self.work as f64 / self.end.max(1) as f64
    }
}

/// A schedule under way.
pub struct ApplySchedule {
    applier: Applier,
    /// So many transactions may have arrived and not be applied.
    window: usize,
    now: u64,
    running: BinaryHeap<Reverse<(u64, Sequence)>>,
    lengths: Box<dyn Fn(Sequence) -> u64 + Send>,
    actions: Vec<ApplyAction>,
    outcome: ApplyOutcome,
}

impl ApplySchedule {
    /// Of transactions of these lengths, of which `window` may have arrived and not be applied.
    pub fn new(
        applier: Applier,
        window: usize,
        lengths: impl Fn(Sequence) -> u64 + Send + 'static,
    ) -> ApplySchedule {
        assert!(window > 0, "one at least is let in");
        ApplySchedule {
            applier,
            window,
            now: 0,
            running: BinaryHeap::new(),
            lengths: Box::new(lengths),
            actions: Vec::new(),
            outcome: ApplyOutcome::default(),
        }
    }

    /// The next transaction, as soon as there is room for it.
    pub fn add_transaction(&mut self, dependencies: Dependencies<'_>) {
        while self.applier.backlog_length() >= self.window {
            self.move_on();
        }
        self.step(ApplyEvent::Arrived(dependencies));
        self.outcome.backlog_most = self.outcome.backlog_most.max(self.applier.backlog_length());
    }

    /// What became of it so far: of all that were begun, until the last that has committed.
    pub fn outcome_so_far(&self) -> ApplyOutcome {
        self.outcome
    }

    /// Ends it, and says what became of it.
    pub fn finish(mut self) -> ApplyOutcome {
        while !self.running.is_empty() {
            self.move_on();
        }
        assert_eq!(self.applier.backlog_length(), 0, "nobody waits for ever");
        self.outcome
    }

    /// To the next time at which a transaction has been executed.
    fn move_on(&mut self) {
        let Reverse((time, sequence)) = self.running.pop().expect("someone is at work");
        self.now = time;
        self.step(ApplyEvent::Executed(sequence));
    }

    fn step(&mut self, event: ApplyEvent<'_>) {
        self.applier.handle_event(event, &mut self.actions);
        while let Some(action) = self.actions.pop() {
            match action {
                ApplyAction::Execute(sequence) => {
                    let length = (self.lengths)(sequence);
                    self.outcome.work += length;
                    self.running.push(Reverse((self.now + length, sequence)));
                }
                ApplyAction::Commit(sequence) => {
                    self.outcome.end = self.now;
                    self.applier.handle_event(ApplyEvent::Committed(sequence), &mut self.actions);
                }
            }
        }
    }
}
