//! Certification: may a transaction commit, and which of those before it wrote its rows last?
//!
//! ```text
//!   Transaction(snapshot, rows) ─► for each row: its last writer?
//!                                    newer than the snapshot ─► Refused, and nothing is noted
//!                                    else ─► it did, as the next sequence ─► Passed
//!   Stable(sequence)            ─► no snapshot is older ─► what it says is forgotten
//!
//!   hash     text of the hash ─► set of transactions   2 allocations a row; cleaned up all at once
//!   array    65536 buckets of 511 entries of 8 bytes   full: all is forgotten
//!   direct   4 Mi entries of 4 bytes, no keys          rows share entries; nothing to clean up
//!   exact    hash ─► sequence                          two generations, the older one is dropped
//! ```
//!
//! All members of a group get the same transactions in the same order, and must say the same of
//! each. What a variant has forgotten, or takes for the same row, can only make it say *conflict*,
//! or name a later transaction than need be: never the other way. That is what makes a table
//! without keys possible.
//!
//! *hash* is what MySQL's Group Replication does, and *array* what is published in its place for
//! groups with one primary, where nothing is ever refused (Wang, "Enhanced MySQL", static_array).

use dbdyno_model::design::Certify;

use crate::ids::{RowKey, Sequence};

mod array;
mod direct;
mod exact;
mod hash;
mod writers;

use array::Array;
use direct::Direct;
use exact::Exact;
use hash::Hash;
use writers::{LastWriters, NoteResult};

/// What a certifier is told.
#[derive(Clone, Copy, Debug)]
pub enum CertifierEvent<'a> {
    /// A transaction wants to commit.
    Transaction {
        /// It saw all transactions up to this one.
        snapshot: Sequence,
        /// What it wrote, each key once or more often.
        rows: &'a [RowKey],
    },
    /// All members have applied all up to this one, so that no snapshot to come is older.
    Stable(Sequence),
}

/// What it answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CertifierAction {
    /// The transaction commits. [`Certifier::previous_writers`] says more.
    Passed {
        /// Its number.
        sequence: Sequence,
        /// It may be applied when all up to this one are: MySQL's `last_committed`.
        last_committed: Sequence,
    },
    /// The transaction must be rolled back.
    Refused {
        /// The transaction that wrote one of its rows, or may have, after its snapshot.
        newest: Sequence,
    },
    /// This many rows are forgotten.
    Collected(usize),
}

enum Writers {
    Hash(Hash),
    Array(Array),
    Direct(Direct),
    Exact(Exact),
}

/// The last writers of rows, and what follows from them.
pub struct Certifier {
    writers: Writers,
    state: State,
}

struct State {
    newest: Sequence,
    forgotten: Sequence,
    barrier: Sequence,
    previous: Vec<Sequence>,
}

impl Certifier {
    /// One that has seen nothing. The next transaction has the number after `newest`, and all up
    /// to that may have written any row.
    pub fn new(certify: Certify, newest: Sequence) -> Certifier {
        let writers = match certify {
            Certify::Hash => Writers::Hash(Hash::default()),
            Certify::Array => Writers::Array(Array::new(newest)),
            Certify::Direct => Writers::Direct(Direct::new(newest)),
            Certify::Exact => Writers::Exact(Exact::default()),
        };
        let (forgotten, barrier) = (newest, newest);
        let state = State { newest, forgotten, barrier, previous: Vec::new() };
        Certifier { writers, state }
    }

    /// One step.
    pub fn handle_event(&mut self, event: CertifierEvent<'_>) -> CertifierAction {
        let Certifier { writers, state } = self;
        match writers {
            Writers::Hash(hash) => state.step(hash, event),
            Writers::Array(array) => state.step(array, event),
            Writers::Direct(direct) => state.step(direct, event),
            Writers::Exact(exact) => state.step(exact, event),
        }
    }

    /// Of the transaction that passed last: the writers of its rows before it. It may be
    /// applied when these are, and all up to [`Certifier::barrier`]; those that are not above it
    /// are of no further use.
    pub fn previous_writers(&self) -> &[Sequence] {
        &self.state.previous
    }

    /// See [`Certifier::previous_writers`].
    pub fn barrier(&self) -> Sequence {
        self.state.barrier
    }

    /// The transaction that passed last.
    pub fn newest_sequence(&self) -> Sequence {
        self.state.newest
    }
}

impl State {
    fn step(
        &mut self,
        writers: &mut impl LastWriters,
        event: CertifierEvent<'_>,
    ) -> CertifierAction {
        match event {
            CertifierEvent::Transaction { snapshot, rows } => self.certify(writers, snapshot, rows),
            CertifierEvent::Stable(stable) => {
                let collected = writers.collect_garbage(stable.min(self.newest), self.newest);
                self.forgotten = self.forgotten.max(collected.forgotten);
                self.barrier = self.barrier.max(collected.barrier);
                CertifierAction::Collected(collected.rows)
            }
        }
    }

    fn certify(
        &mut self,
        writers: &mut impl LastWriters,
        snapshot: Sequence,
        rows: &[RowKey],
    ) -> CertifierAction {
        // Nothing here branches on what is found, so that the next rows are looked up meanwhile.
        self.previous.clear();
        self.previous.extend(rows.iter().map(|&row| writers.last_writer(row)));
        let newest = self.previous.iter().copied().max().unwrap_or_default();
        let may_be = newest.max(self.forgotten);
        if may_be > snapshot && !rows.is_empty() {
            return CertifierAction::Refused { newest: may_be };
        }
        let sequence = self.newest.next();
        self.newest = sequence;
        if rows.is_empty() {
            // What says nothing of its rows, as DDL, stands alone.
            self.forget(writers, sequence);
            return CertifierAction::Passed { sequence, last_committed: sequence.before() };
        }
        if !self.note(writers, rows, sequence) {
            self.forget(writers, sequence.before());
            if !self.note(writers, rows, sequence) {
                self.forget(writers, sequence);
            }
            self.barrier = self.barrier.max(sequence.before());
            return CertifierAction::Passed { sequence, last_committed: sequence.before() };
        }
        CertifierAction::Passed { sequence, last_committed: newest.max(self.barrier) }
    }

    /// False if there is no room for all.
    fn note(&self, writers: &mut impl LastWriters, rows: &[RowKey], writer: Sequence) -> bool {
        writers.begin_transaction(writer) == NoteResult::Done
            && rows.iter().all(|&row| writers.note_writer(row, writer) == NoteResult::Done)
    }

    /// All up to this one may have written any row from now on.
    fn forget(&mut self, writers: &mut impl LastWriters, newest: Sequence) {
        writers.clear(newest);
        self.previous.clear();
        self.forgotten = newest;
        self.barrier = newest;
    }
}
