//! A statement: the operations of which one is made.
//!
//! ```text
//!   get     one row by its primary key       Read    as the view sees it, without a lock
//!   scan    part of an index                 Share   the newest version, kept from changes
//!   insert  update  delete                   Update  the newest version, kept from locks
//! ```
//!
//! A view is opened at the first row that is read without a lock: for the statement at read
//! committed, else for the transaction. Locks are on what is read and, above read committed, on the
//! gaps between, and are held to the end of the transaction. At serializable, reads of a
//! transaction that was begun lock as for sharing.

use dbdyno_model::design::{Isolation, Planted};

use super::intent::{Intent, UpdateResult, Visit};
use super::range::Scan;
use super::row_writer::RowWriter;
use super::work::Work;
use crate::error::{EngineError, Result};
use crate::gate::Pass;
use crate::ids::IndexId;
use crate::key;
use crate::lock::{Conflict, Holding, LockKind, Mode, Place, TableMode};
use crate::row::RowView;
use crate::shared::EngineCore;
use crate::table::Table;
use crate::value::Datum;

/// A statement under way.
pub struct RunningStatement<'s> {
    pub(super) shared: &'s EngineCore,
    pub(super) work: &'s mut Work,
    pub(super) pass: &'s Pass<'s>,
}

impl<'s> RunningStatement<'s> {
    pub(super) fn new(
        shared: &'s EngineCore,
        work: &'s mut Work,
        pass: &'s Pass<'s>,
    ) -> RunningStatement<'s> {
        RunningStatement { shared, work, pass }
    }

    /// The row with a primary key.
    ///
    /// # Errors
    /// `NoTable`, `BadValue` for a key of the wrong length; `Deadlock` and `LockWaitTimeout` where
    /// the intent locks.
    pub fn get<'a>(
        &'a mut self,
        table: &'a Table,
        key: &[Datum<'_>],
        intent: Intent,
    ) -> Result<Option<RowView<'a>>> {
        let mut bytes = self.key_of(table, key)?;
        let found = match self.locks_for(intent) {
            // A table that is taken away meanwhile is read as it was.
            None => Ok(self.read_row(table, &bytes)),
            Some(mode) => self.lock_point(table, &bytes, mode),
        };
        bytes.clear();
        self.work.scratch.key = bytes;
        Ok(found?.then(|| table.layout().view_row(&self.work.scratch.row)))
    }

    /// Visits rows in the order of an index: primary key, in bytes, and row.
    ///
    /// # Errors
    /// `NoTable`; `Deadlock` and `LockWaitTimeout` where the intent locks.
    ///
    /// # Panics
    /// If the table has no such index.
    pub fn scan_rows(
        &mut self,
        table: &Table,
        scan: &Scan<'_>,
        visit: impl FnMut(&[u8], RowView<'_>) -> Visit,
    ) -> Result<()> {
        match self.locks_for(scan.intent) {
            // As in `get`.
            None => self.read_range(table, scan, visit),
            Some(mode) => self.lock_range(table, scan, mode, visit),
        }
    }

    /// Locks a table whole, shared or for oneself; rows are not locked beside it.
    ///
    /// # Errors
    /// `NoTable`, `Deadlock`, `LockWaitTimeout`.
    pub fn lock_table(&mut self, table: &Table, intent: Intent) -> Result<()> {
        match intent {
            Intent::Read => table.check_there(),
            Intent::Share => self.ensure_table_lock(table, TableMode::Shared),
            Intent::Update => self.ensure_table_lock(table, TableMode::Exclusive),
        }
    }

    /// Changes a row by its primary key: `change` sees its newest version and sets columns.
    ///
    /// # Errors
    /// As [`RunningStatement::get`]; what `change` gives; `NotNull`, `BadValue`, `Duplicate`.
    pub fn update(
        &mut self,
        table: &std::sync::Arc<Table>,
        key: &[Datum<'_>],
        change: impl FnOnce(RowView<'_>, &mut RowWriter) -> Result<()>,
    ) -> Result<UpdateResult> {
        let bytes = self.key_of(table, key)?;
        let updated = self.update_at(table, &bytes, change);
        self.work.scratch.key = bytes;
        updated
    }

    /// Takes a row away by its primary key; whether there was one.
    ///
    /// # Errors
    /// As [`RunningStatement::get`].
    pub fn delete(&mut self, table: &std::sync::Arc<Table>, key: &[Datum<'_>]) -> Result<bool> {
        let bytes = self.key_of(table, key)?;
        let deleted = self.delete_at(table, &bytes);
        self.work.scratch.key = bytes;
        deleted
    }

    /// The bytes of a primary key, in the buffer for it.
    fn key_of(&mut self, table: &Table, values: &[Datum<'_>]) -> Result<Vec<u8>> {
        if values.len() != table.primary().len() {
            let takes = format!("{} values as its primary key", table.primary().len());
            return Err(EngineError::BadValue(table.name().to_owned(), takes));
        }
        let mut bytes = std::mem::take(&mut self.work.scratch.key);
        bytes.clear();
        values.iter().for_each(|&value| key::push(&mut bytes, value));
        Ok(bytes)
    }

    /// The mode in which rows are locked for an intent, if they are.
    fn locks_for(&self, intent: Intent) -> Option<Mode> {
        let trx = &self.work.trx;
        match intent {
            Intent::Update => Some(Mode::Exclusive),
            Intent::Share => Some(Mode::Shared),
            Intent::Read => {
                let locks = trx.open && trx.isolation == Isolation::Serializable;
                locks.then_some(Mode::Shared)
            }
        }
    }

    /// Whether gaps are locked.
    pub(super) fn locks_gaps(&self) -> bool {
        self.work.trx.isolation != Isolation::ReadCommitted
            && self.shared.design.planted != Planted::GapsOpen
    }

    /// Locks a table, unless that was done before.
    pub(super) fn ensure_table_lock(&mut self, table: &Table, mode: TableMode) -> Result<()> {
        let trx = &mut self.work.trx;
        if !trx.tables.iter().any(|(id, held)| *id == table.id && covers(*held, mode)) {
            trx.locked = true;
            let RunningStatement { shared, work, pass, .. } = self;
            let (locks, trx) = (&shared.locks, &work.locks);
            if locks.try_lock_table(trx, table.id, mode).is_err() {
                let locked = pass.while_waiting(|| locks.lock_table(trx, table.id, mode));
                self.note_deadlock(locked)?;
            }
            self.work.trx.tables.push((table.id, mode));
        }
        table.check_there()
    }

    /// Whether rows need no locks of their own, since the table is locked.
    pub(super) fn has_all(&self, table: &Table, mode: Mode) -> bool {
        self.work.trx.tables.iter().any(|(id, held)| {
            *id == table.id
                && match held {
                    TableMode::Exclusive => true,
                    TableMode::Shared => mode == Mode::Shared,
                    TableMode::IntentShared | TableMode::IntentExclusive => false,
                }
        })
    }

    /// Locks a row or gap, and waits for it only if it is not free. No latch may be held.
    pub(super) fn lock(
        &mut self,
        index: IndexId,
        place: Place<'_>,
        kind: LockKind,
        mode: Mode,
    ) -> Result<Holding> {
        self.work.trx.locked = true;
        match self.shared.locks.try_lock(&self.work.locks, index, place, kind, mode) {
            Ok(held) => Ok(held),
            Err(Conflict) => self.wait(index, place, kind, mode),
        }
    }

    /// Waits for a lock of a row or gap that is not free; another may work meanwhile, if the gate
    /// has it so. No latch may be held.
    pub(super) fn wait(
        &mut self,
        index: IndexId,
        place: Place<'_>,
        kind: LockKind,
        mode: Mode,
    ) -> Result<Holding> {
        let RunningStatement { shared, work, pass, .. } = self;
        work.trx.locked = true;
        let held = pass.while_waiting(|| shared.locks.lock(&work.locks, index, place, kind, mode));
        self.note_deadlock(held)
    }

    fn note_deadlock<T>(&mut self, done: Result<T>) -> Result<T> {
        self.work.trx.doomed |= matches!(done, Err(EngineError::Deadlock));
        done
    }
}

/// Whether a holder of one lock of a table need not ask for the other.
fn covers(held: TableMode, wanted: TableMode) -> bool {
    use TableMode::{Exclusive, IntentExclusive, IntentShared, Shared};
    match held {
        Exclusive => true,
        Shared => matches!(wanted, Shared | IntentShared),
        IntentExclusive => matches!(wanted, IntentExclusive | IntentShared),
        IntentShared => wanted == IntentShared,
    }
}
