//! Which transaction is executed next on a replica, and which may commit.
//!
//! ```text
//!   Arrived(dependencies) ─┐                        ┌─► Execute(sequence)   a worker takes it
//!   Executed(sequence) ────┼─► waiting ─► ready ────┤
//!   Committed(sequence) ───┘                        └─► Commit(sequence)    it may be seen now
//!
//!   serial   one after the other
//!   lwm      in order, each when all up to the last that it depends on have committed
//!   dag      in any order, each when those that it depends on have committed; oldest first
//! ```
//!
//! *lwm* is MySQL's multi-threaded replica, `LOGICAL_CLOCK`: the low-water mark is the last
//! transaction of which it is true that it and all before it have committed, and one that waits
//! for it holds up all behind. It knows no single dependencies; of those that it is given only the
//! last counts.
//!
//! A worker is busy from `Execute` until `Committed`. Where the order of commits is kept, an
//! executed transaction waits for its turn, with its worker. The oldest that has not committed
//! always has a worker or gets the next: so none waits for ever.

use dbdyno_model::design::{Apply, ApplyOrder};

use crate::depend::Dependencies;
use crate::ids::Sequence;

mod dag;
mod lwm;
mod order;
mod serial;

use dag::Dag;
use lwm::Lwm;
use order::{Order, Progress, Stage};
use serial::Serial;

/// What an applier is told.
#[derive(Clone, Copy, Debug)]
pub enum ApplyEvent<'a> {
    /// A transaction is here, in the order of their numbers.
    Arrived(Dependencies<'a>),
    /// Another one is here that was applied before the replica was started.
    Known(Sequence),
    /// A worker has done all of it but to commit.
    Executed(Sequence),
    /// It is durable, and seen.
    Committed(Sequence),
}

/// What is to be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ApplyAction {
    /// A free worker is to execute it.
    Execute(Sequence),
    /// Its worker is to commit it.
    Commit(Sequence),
}

enum Variant {
    Serial(Serial),
    Lwm(Lwm),
    Dag(Dag),
}

/// Says which transaction is executed and which commits.
pub struct Applier {
    variant: Variant,
    progress: Progress,
    order: ApplyOrder,
    free: u32,
    newest: Sequence,
}

impl Applier {
    /// One whose first transaction is the one after `applied`: all up to that are.
    pub fn new(apply: Apply, order: ApplyOrder, applied: Sequence) -> Applier {
        let variant = match apply {
            Apply::Serial => Variant::Serial(Serial::new(applied)),
            Apply::Lwm(_) => Variant::Lwm(Lwm::default()),
            Apply::Dag(_) => Variant::Dag(Dag::new(applied)),
        };
        let progress = Progress::new(applied);
        Applier { variant, progress, order, free: apply.workers(), newest: applied }
    }

    /// One step; what is to be done is added to `actions`.
    pub fn handle_event(&mut self, event: ApplyEvent<'_>, actions: &mut Vec<ApplyAction>) {
        match event {
            ApplyEvent::Arrived(dependencies) => {
                self.arrives(dependencies.sequence, Stage::Arrived);
                let Applier { variant, progress, .. } = self;
                variant.order().on_arrival(dependencies, progress);
            }
            ApplyEvent::Known(sequence) => {
                self.arrives(sequence, Stage::Committed);
                self.progress.move_low();
                let Applier { variant, progress, .. } = self;
                variant.order().on_commit(sequence, progress);
            }
            ApplyEvent::Executed(sequence) => {
                self.progress.set(sequence, Stage::Arrived, Stage::Executed);
                if self.order == ApplyOrder::Free || sequence == self.progress.low.next() {
                    actions.push(ApplyAction::Commit(sequence));
                }
            }
            ApplyEvent::Committed(sequence) => {
                let Applier { variant, progress, .. } = self;
                progress.commit(sequence);
                variant.order().on_commit(sequence, progress);
                self.free += 1;
                if self.order == ApplyOrder::Kept
                    && progress.above.front() == Some(&Stage::Executed)
                {
                    actions.push(ApplyAction::Commit(progress.low.next()));
                }
            }
        }
        while self.free > 0
            && let Some(next) = self.variant.order().next(&self.progress)
        {
            self.free -= 1;
            actions.push(ApplyAction::Execute(next));
        }
    }

    /// All up to this one have committed: the low-water mark.
    pub fn low_water_mark(&self) -> Sequence {
        self.progress.low
    }

    /// Transactions that are here, from the first that has not committed on.
    pub(crate) fn backlog_length(&self) -> usize {
        self.progress.above.len()
    }

    fn arrives(&mut self, sequence: Sequence, stage: Stage) {
        assert_eq!(sequence, self.newest.next(), "transactions arrive in order");
        self.newest = sequence;
        self.progress.above.push_back(stage);
    }
}

impl Variant {
    fn order(&mut self) -> &mut dyn Order {
        match self {
            Variant::Serial(serial) => serial,
            Variant::Lwm(lwm) => lwm,
            Variant::Dag(dag) => dag,
        }
    }
}
