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

mod consistent;
mod locking;
mod range;
mod row_writer;
mod statement;
mod undo;
mod write;

use std::sync::Arc;

use dbdyno_model::design::Isolation;

use self::consistent::Batch;
use crate::engine::Shared;
use crate::error::{EngineError, Result};
use crate::gate::Owner;
use crate::ids::{TableId, TrxId};
use crate::key::Key;
use crate::lock::{LockTrx, TableMode};
use crate::meter::Counter;
use crate::purge::Ended;
use crate::redo::{begin_changes, is_without_changes};
use crate::snapshot::View;
use crate::table::Table;

pub use range::{Direction, Path, Range, Scan};
pub use row_writer::RowWriter;
pub use statement::{Fields, Intent, Statement, Updated, Visit};

/// The transactions of one client.
pub struct Session {
    shared: Arc<Shared>,
    isolation: Isolation,
    work: Work,
}

/// Shows whether a session waits, while its own thread is at work.
#[derive(Clone)]
pub struct Watch {
    locks: Arc<LockTrx>,
}

/// What a session works with; statements borrow it.
struct Work {
    trx: Trx,
    view: View,
    locks: Arc<LockTrx>,
    scratch: Scratch,
}

/// The transaction that is under way. Its buffers are used again by the next.
struct Trx {
    /// Whether it was begun; else each statement is one.
    open: bool,
    isolation: Isolation,
    /// Its number, from its first write on.
    id: Option<TrxId>,
    /// What it wrote, for the log.
    redo: Vec<u8>,
    /// What it wrote, to be taken back.
    undo: Vec<Written>,
    /// Deleted rows that came to the front again when it was rolled back to a savepoint, and who
    /// deleted them.
    graves: Vec<(Arc<Table>, Key, TrxId)>,
    savepoints: Vec<(String, Mark)>,
    tables: Vec<(TableId, TableMode)>,
    /// Whether it asked for a lock.
    locked: bool,
    /// Whether it has to be rolled back whole.
    doomed: bool,
}

/// A version that was put in front of a row.
struct Written {
    table: Arc<Table>,
    key: Key,
    /// Whether there was a version before it.
    over: bool,
}

/// A place in a transaction.
#[derive(Clone, Copy, Debug)]
struct Mark {
    redo: usize,
    undo: usize,
}

/// Buffers that are used again and again.
#[derive(Default)]
struct Scratch {
    key: Vec<u8>,
    row: Vec<u8>,
    entry: Vec<u8>,
    new_entry: Vec<u8>,
    writer: RowWriter,
    batch: Batch,
}

impl Session {
    pub(crate) fn new(shared: Arc<Shared>) -> Session {
        let isolation = shared.design.isolation;
        let mut redo = Vec::new();
        begin_changes(&mut redo);
        let trx = Trx {
            open: false,
            isolation,
            id: None,
            redo,
            undo: Vec::new(),
            graves: Vec::new(),
            savepoints: Vec::new(),
            tables: Vec::new(),
            locked: false,
            doomed: false,
        };
        let (view, locks) = (shared.trx.view(), shared.locks.begin());
        let work = Work { trx, view, locks, scratch: Scratch::default() };
        Session { shared, isolation, work }
    }

    /// The level of transactions that name none, from now on.
    pub fn set_isolation(&mut self, isolation: Isolation) {
        self.isolation = isolation;
    }

    /// Begins a transaction. One that is open is committed first, as MySQL does.
    ///
    /// # Errors
    /// As [`Session::commit`].
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
    pub fn watch(&self) -> Watch {
        Watch { locks: self.work.locks.clone() }
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
        let Session { shared, work, .. } = self;
        shared.trx.close_view(&mut work.view);
        let Some(id) = work.trx.id else {
            work.finish(shared);
            return Ok(());
        };
        let durable = if is_without_changes(&work.trx.redo) {
            Ok(None)
        } else {
            shared.pipeline.commit(&work.trx.redo).map(Some)
        };
        match durable {
            Ok(commit) => {
                work.end(shared, id);
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
            trx.savepoints.push((name.to_owned(), trx.mark()));
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
    pub fn statement<T>(&mut self, run: impl FnOnce(&mut Statement<'_>) -> Result<T>) -> Result<T> {
        let trx = &mut self.work.trx;
        if !trx.open {
            trx.isolation = self.isolation;
        }
        let mark = trx.mark();
        self.shared.meter.count(Counter::Statements);
        let owner = if trx.locked { Owner::OfLocks } else { Owner::OfNothing };
        let pass = self.shared.gate.enter(owner);
        let done = run(&mut Statement::new(&self.shared, &mut self.work, &pass));
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

impl Watch {
    /// Whether the session waits for a lock, and goes on waiting until another does something.
    pub fn is_waiting(&self) -> bool {
        self.locks.is_asleep()
    }
}

impl Drop for Session {
    /// A client that goes away without a word has not committed.
    fn drop(&mut self) {
        self.rollback();
    }
}

impl Trx {
    /// Whether what it wrote is still one record.
    fn check_size(&self) -> Result<()> {
        if self.redo.len() > REDO_MOST_BYTES {
            let takes = "at most 1 GiB of changes: commit more often".to_owned();
            return Err(EngineError::BadValue("a transaction".to_owned(), takes));
        }
        Ok(())
    }

    fn mark(&self) -> Mark {
        Mark { redo: self.redo.len(), undo: self.undo.len() }
    }
}

impl Work {
    fn open_view(&mut self, shared: &Shared) {
        if !self.view.is_open() {
            shared.trx.open_view(self.trx.id, &mut self.view);
        }
    }

    /// The number of the transaction, which is about to write.
    fn writer(&mut self, shared: &Shared) -> TrxId {
        if let Some(id) = self.trx.id {
            return id;
        }
        let id = shared.trx.begin_write();
        self.trx.id = Some(id);
        if self.view.is_open() {
            self.view.adopt(id);
        }
        id
    }

    /// Takes back what the transaction wrote, and ends it.
    fn rollback(&mut self, shared: &Shared) {
        shared.trx.close_view(&mut self.view);
        self.undo_to(shared, Mark { redo: 1, undo: 0 });
        match self.trx.id {
            Some(id) => {
                shared.meter.count(Counter::Rollbacks);
                self.end(shared, id);
            }
            None => self.finish(shared),
        }
    }

    /// Makes visible what the transaction wrote, and leaves what it wrote over to purge.
    fn end(&mut self, shared: &Shared, id: TrxId) {
        let csn = shared.trx.end(id);
        let over = self.trx.undo.drain(..).filter(|written| written.over);
        let mut wrote: Vec<_> = over.map(|written| (written.table, written.key, id)).collect();
        wrote.append(&mut self.trx.graves);
        if !wrote.is_empty() {
            shared.purge.push(Ended { csn, wrote });
        }
        self.finish(shared);
    }

    /// Gives locks back and forgets the transaction.
    fn finish(&mut self, shared: &Shared) {
        let trx = &mut self.trx;
        if trx.locked {
            shared.locks.release_all(&self.locks);
        }
        trx.open = false;
        trx.id = None;
        begin_changes(&mut trx.redo);
        trx.redo.shrink_to(REDO_KEPT_BYTES);
        trx.undo.clear();
        trx.undo.shrink_to(UNDO_KEPT);
        trx.savepoints.clear();
        trx.tables.clear();
        trx.locked = false;
        trx.doomed = false;
    }
}

/// What a transaction may write in all. A record of the log is shorter than 4 GiB.
const REDO_MOST_BYTES: usize = 1 << 30;
/// What a session keeps of the buffer of a large transaction.
const REDO_KEPT_BYTES: usize = 1 << 16;
/// For so many rows that were written a session keeps room.
const UNDO_KEPT: usize = 1 << 10;
