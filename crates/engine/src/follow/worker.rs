//! A thread that applies transactions, one after the other.

use std::sync::Arc;

use dbdyno_model::design::Isolation;

use super::position::{Above, Positions};
use super::tables::{TableChange, Tables};
use super::window::{Window, WorkerTransaction};
use crate::error::{EngineError, Result};
use crate::latch::ClockFunction;
use crate::redo::{RedoRecord, RowImages};
use crate::session::EngineSession;

/// How often a transaction is begun that meets a lock of another one. None should: those that it
/// depends on have committed.
const TRIES: u32 = 10;

pub(super) struct Worker {
    session: EngineSession,
    tables: Arc<Tables>,
    positions: Positions,
    number: u32,
    above: Above,
}

impl Worker {
    pub(super) fn new(
        session: EngineSession,
        tables: Arc<Tables>,
        positions: Positions,
        number: u32,
        above: Above,
    ) -> Worker {
        Worker { session, tables, positions, number, above }
    }

    /// Works until the window is stopped.
    pub(super) fn apply_until_stopped(mut self, window: &Window, clock: Option<ClockFunction>) {
        while let Some(taken) = window.take_transaction() {
            match self.apply(&taken, window) {
                Ok(true) => {
                    let began_ns = taken.task.began_ns;
                    let now_ns = clock.filter(|_| began_ns > 0).map(|now| now());
                    let lag_ns = now_ns.map(|now_ns| now_ns.saturating_sub(began_ns));
                    window.record_commit(&taken, lag_ns);
                }
                Ok(false) => return,
                Err(error) => return window.fail_with(error),
            }
        }
    }

    /// False if it was stopped before it could commit: then it is rolled back.
    fn apply(&mut self, taken: &WorkerTransaction, window: &Window) -> Result<bool> {
        let record = RedoRecord::read(&taken.task.record).expect("the feeder has read it");
        let (changes, noted) = match record {
            RedoRecord::Followed { changes, .. } | RedoRecord::Changes(changes) => {
                (Some(changes), TableChange::Nothing)
            }
            ddl => (None, self.tables.apply_definition(ddl, taken.task.end)?),
        };
        let mut tries = 1;
        loop {
            match self.execute(taken, changes.clone(), &noted) {
                Err(EngineError::Deadlock | EngineError::LockWaitTimeout) if tries < TRIES => {
                    self.session.rollback();
                    window.count_retry();
                    tries += 1;
                }
                done => break done?,
            }
        }
        if !window.await_commit_turn(taken.sequence) {
            return Ok(false);
        }
        self.session.commit()?;
        self.above.0 = self.above.0.split_off(&taken.low.next());
        self.above.0.insert(taken.sequence);
        Ok(true)
    }

    /// All of a transaction but to commit.
    fn execute(
        &mut self,
        taken: &WorkerTransaction,
        changes: Option<RowImages<'_>>,
        noted: &TableChange,
    ) -> Result<()> {
        let Worker { session, tables, positions, number, above } = self;
        session.begin(Some(Isolation::ReadCommitted))?;
        session.statement(|it| {
            for change in changes.into_iter().flatten() {
                let end = taken.task.end;
                if let Some(table) = tables.get(change.table, end)? {
                    it.apply_change(&table, change.key, change.row, tables.absence_meaning(end))?;
                }
            }
            tables.note_change(it, noted)?;
            positions.write(it, *number, taken.low, taken.place, above, taken.sequence)
        })
    }
}
