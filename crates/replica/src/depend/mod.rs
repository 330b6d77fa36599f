//! On which transactions of those before it does a transaction depend?
//!
//! ```text
//!   Committed(parent, rows) ─► Dependencies { sequence, low, on }
//!                                              it may be applied when all up to `low` are,
//!                                              and each of `on`
//!
//!   commit-order   low = parent                       all that had committed when it began to
//!   writeset       low = last writer of one of the rows, of at most 25,000 rows that are known
//!   dag            on  = for each row its last writer
//! ```
//!
//! The source says it of each transaction, in the order of its log. `parent` is always enough: a
//! lock is got from a transaction that had committed. The others say less, from the rows.
//!
//! *writeset* is MySQL's (worklog 9556): the history is forgotten when it is full, and the
//! transaction at hand is then a barrier. Both of MySQL's are one number, `last_committed`; for
//! *dag* the last writers of a [`Certifier`] are all named.

use dbdyno_model::design::{Certify, Depend};

use crate::certify::{self, Certifier};
use crate::ids::{RowKey, Sequence};

mod writeset;

use writeset::{HISTORY_ROWS, Writeset};

/// What a tracker is told.
#[derive(Clone, Copy, Debug)]
pub enum TrackerEvent<'a> {
    /// A transaction that committed, in the order of the log.
    Committed {
        /// All up to this one had committed when it began to.
        parent: Sequence,
        /// What it wrote; nothing if it has to be applied alone, as DDL.
        rows: &'a [RowKey],
    },
    /// All up to this one are applied everywhere.
    Applied(Sequence),
}

/// When a transaction may be applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dependencies<'a> {
    /// Its number.
    pub sequence: Sequence,
    /// All up to this one must have been applied.
    pub low: Sequence,
    /// Each of these must have been applied: sorted, none twice, all between `low` and itself.
    pub on: &'a [Sequence],
}

/// Says of each transaction on which it depends.
pub struct Tracker {
    variant: Variant,
    newest: Sequence,
    /// The last transaction that had to be applied alone: all others wait for it.
    alone: Sequence,
    on: Vec<Sequence>,
}

enum Variant {
    CommitOrder,
    Writeset(Writeset),
    Dag(Box<Certifier>),
}

impl Tracker {
    /// One that has seen nothing. The next transaction has the number after `newest`, and may
    /// depend on all up to that. `certify` looks up last writers for `dag`.
    pub fn new(depend: Depend, certify: Certify, newest: Sequence) -> Tracker {
        let variant = match depend {
            Depend::CommitOrder => Variant::CommitOrder,
            Depend::Writeset => Variant::Writeset(Writeset::new(HISTORY_ROWS, newest)),
            Depend::Dag => Variant::Dag(Box::new(Certifier::new(certify, newest))),
        };
        Tracker { variant, newest, alone: newest, on: Vec::new() }
    }

    /// One step; a transaction gets its dependencies.
    pub fn handle_event(&mut self, event: TrackerEvent<'_>) -> Option<Dependencies<'_>> {
        match event {
            TrackerEvent::Committed { parent, rows } => Some(self.committed(parent, rows)),
            TrackerEvent::Applied(stable) => {
                if let Variant::Dag(certifier) = &mut self.variant {
                    certifier.handle_event(certify::CertifierEvent::Stable(stable));
                }
                None
            }
        }
    }

    fn committed(&mut self, parent: Sequence, rows: &[RowKey]) -> Dependencies<'_> {
        let before = self.newest;
        let sequence = before.next();
        self.newest = sequence;
        self.on.clear();
        let mut low = match &mut self.variant {
            Variant::CommitOrder => parent,
            Variant::Writeset(writeset) => writeset.last_committed(sequence, parent, rows),
            Variant::Dag(certifier) => {
                certifier
                    .handle_event(certify::CertifierEvent::Transaction { snapshot: before, rows });
                self.on.extend_from_slice(certifier.previous_writers());
                certifier.barrier().min(before)
            }
        };
        if rows.is_empty() {
            low = before;
            self.alone = sequence;
        } else {
            low = low.max(self.alone).min(before);
        }
        self.on.retain(|&on| on > low);
        self.on.sort_unstable();
        self.on.dedup();
        Dependencies { sequence, low, on: &self.on }
    }
}
