//! A session: the transactions of one client, one after the other.
//!
//! ```text
//!   begin ─► statement ─► statement ─► savepoint ─► statement ─► commit │ rollback
//!              │
//!              gate ─► read: view │ lock ─► write: version in front, entries, redo, undo
//!              error ─► back to where the statement began; a deadlock: back to the beginning
//!
//!   commit:   redo ─► durable ─► visible ─► locks given back ─► done
//! ```
//!
//! Nothing is seen by others that could still be lost, since it becomes visible when it is durable.
//! What a transaction writes goes at once into the tables, in front of what was there, where its
//! locks and the views of others protect it; and into its record, which is the only thing that is
//! ever written to disk of it. Rolling back takes versions off the front again.
//!
//! A statement without `begin` is a transaction of its own.

mod batch;
mod consistent;
mod intent;
mod locking;
mod range;
mod row_writer;
mod statement;
mod undo;
mod work;
mod write;

use std::sync::Arc;

use dbdyno_model::design::{Isolation, Planted};

use crate::error::{EngineError, Result};
use crate::gate::Owner;
use crate::lock::LockTrx;
use crate::meter::Counter;
use crate::redo::{begin_changes, is_without_changes};
use crate::shared::EngineCore;

pub use intent::{Fields, Intent, UpdateResult, Visit};
pub use range::{Path, Range, Scan, ScanDirection};
pub use row_writer::RowWriter;
pub use statement::RunningStatement;
pub(crate) use write::Absent;

use work::{Mark, Scratch, Trx, Work};

/// The transactions of one client.
pub struct EngineSession {
    shared: Arc<EngineCore>,
    isolation: Isolation,
    work: Work,
}

/// Shows whether a session waits, while its own thread is at work, and ends its wait.
#[derive(Clone)]
pub struct WaitWatch {
    shared: Arc<EngineCore>,
    locks: Arc<LockTrx>,
}

impl EngineSession {
    pub(crate) fn new(shared: Arc<EngineCore>) -> EngineSession {
        let isolation = shared.design.isolation;
        let mut redo = Vec::new();
        begin_changes(&mut redo);
        let trx = Trx {
            open: false,
            isolation,
            id: None,
            redo,
            keys: Vec::new(),
            undo: Vec::new(),
            graves: Vec::new(),
            savepoints: Vec::new(),
            tables: Vec::new(),
            locked: false,
            follows: false,
            doomed: false,
        };
        let (view, locks) = (shared.trx.new_view(), shared.locks.begin_transaction());
        let work = Work { trx, view, locks, scratch: Scratch::default() };
        EngineSession { shared, isolation, work }
    }

    /// The level of transactions that name none, from now on.
    pub fn set_isolation(&mut self, isolation: Isolation) {
        self.isolation = isolation;
    }

    /// Begins a transaction. One that is open is committed first, as MySQL does.
    ///
    /// # Errors
    /// As [`EngineSession::commit`].
    pub fn begin(&mut self, isolation: Option<Isolation>) -> Result<()> {
        self.commit()?;
        self.work.trx.open = true;
        self.work.trx.isolation = isolation.unwrap_or(self.isolation);
        Ok(())
    }

    /// Whether a transaction was begun and has not ended.
    pub fn is_open(&self) -> bool {
        self.work.trx.open
    }

    /// A look at this session from elsewhere.
    pub fn wait_watch(&self) -> WaitWatch {
        WaitWatch { shared: self.shared.clone(), locks: self.work.locks.clone() }
    }

    /// Opens the view of a transaction at repeatable read now and not at its first read.
    pub fn open_view(&mut self) {
        if self.work.trx.open && self.work.trx.isolation == Isolation::RepeatableRead {
            self.work.open_view(&self.shared);
        }
    }

    /// Makes what the transaction wrote durable, then visible. Without one nothing happens.
    ///
    /// # Errors
    /// `Disk`: the engine takes no more writes; the transaction is rolled back as far as anybody
    /// sees, and whether it is there when the engine is opened again is not known.
    pub fn commit(&mut self) -> Result<()> {
        let EngineSession { shared, work, .. } = self;
        if shared.design.planted != Planted::ViewsReused {
            shared.trx.close_view(&mut work.view);
        }
        let Some(id) = work.trx.id else {
            work.finish(shared);
            return Ok(());
        };
        let durable = if is_without_changes(&work.trx.redo) {
            Ok(None)
        } else {
            shared.pipeline.commit(work.commit_record(shared)).map(Some)
        };
        match durable {
            Ok(commit) => {
                work.end_trx(shared, id);
                drop(commit);
                Ok(())
            }
            Err(error) => {
                work.rollback(shared);
                Err(error)
            }
        }
    }

    /// Takes back what the transaction wrote. Without one nothing happens.
    pub fn rollback(&mut self) {
        self.work.rollback(&self.shared);
    }

    /// Marks a place in the transaction to which it may be rolled back. One of the same name is
    /// gone. Without a transaction nothing happens.
    pub fn savepoint(&mut self, name: &str) {
        let trx = &mut self.work.trx;
        if trx.open {
            trx.savepoints.retain(|(known, _)| known != name);
            trx.savepoints.push((name.to_owned(), trx.current_mark()));
        }
    }

    /// Takes back what was written since a savepoint, and those that were set after it. Locks
    /// stay.
    ///
    /// # Errors
    /// `NoSavepoint`.
    pub fn rollback_to(&mut self, name: &str) -> Result<()> {
        let place = self.find_savepoint(name)?;
        let trx = &mut self.work.trx;
        trx.savepoints.truncate(place + 1);
        let mark = trx.savepoints[place].1;
        self.work.undo_to(&self.shared, mark);
        Ok(())
    }

    /// Forgets a savepoint and those that were set after it.
    ///
    /// # Errors
    /// `NoSavepoint`.
    pub fn release_savepoint(&mut self, name: &str) -> Result<()> {
        let place = self.find_savepoint(name)?;
        self.work.trx.savepoints.truncate(place);
        Ok(())
    }

    /// Runs a statement: all of it is done, or nothing, if it gives an error. Without a transaction
    /// it is one of its own.
    ///
    /// # Errors
    /// What the statement met. After `Deadlock` the transaction is rolled back whole.
    pub fn statement<T>(
        &mut self,
        run: impl FnOnce(&mut RunningStatement<'_>) -> Result<T>,
    ) -> Result<T> {
        let trx = &mut self.work.trx;
        if !trx.open {
            trx.isolation = self.isolation;
        }
        let mark = trx.current_mark();
        self.shared.meter.count(Counter::Statements);
        let owner = if trx.locked { Owner::OfLocks } else { Owner::OfNothing };
        let pass = self.shared.gate.acquire_pass(owner);
        let done = run(&mut RunningStatement::new(&self.shared, &mut self.work, &pass));
        drop(pass);
        self.end_statement(mark, done)
    }

    fn end_statement<T>(&mut self, mark: Mark, done: Result<T>) -> Result<T> {
        let trx = &self.work.trx;
        if trx.doomed {
            self.rollback();
            return Err(EngineError::Deadlock);
        }
        let done = done.and_then(|done| trx.check_size().map(|()| done));
        match &done {
            Err(_) if trx.open => self.work.undo_to(&self.shared, mark),
            Err(_) => self.rollback(),
            Ok(_) if !trx.open => self.commit()?,
            Ok(_) => {}
        }
        if self.work.trx.isolation == Isolation::ReadCommitted {
            self.shared.trx.close_view(&mut self.work.view);
        }
        done
    }

    fn find_savepoint(&self, name: &str) -> Result<usize> {
        let place = self.work.trx.savepoints.iter().position(|(known, _)| known == name);
        place.ok_or_else(|| EngineError::NoSavepoint(name.to_owned()))
    }
}

impl WaitWatch {
    /// Whether the session waits for a lock, and goes on waiting until another does something.
    pub fn is_waiting(&self) -> bool {
        self.locks.is_asleep()
    }

    /// Ends its wait for a lock, and lets it wait for none until [`WaitWatch::allow_waits`]: the
    /// statement ends with [`EngineError::Interrupted`].
    pub fn interrupt_wait(&self) {
        self.shared.locks.interrupt_wait(&self.locks);
    }

    /// Lets it wait for locks again.
    pub fn allow_waits(&self) {
        self.shared.locks.allow_waits(&self.locks);
    }
}

impl Drop for EngineSession {
    /// A client that goes away without a word has not committed.
    fn drop(&mut self) {
        self.rollback();
    }
}
