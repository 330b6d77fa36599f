//! What a session works with: the transaction under way, its view, its locks and its buffers.

use std::sync::Arc;

use dbdyno_model::design::Isolation;
use dbdyno_replica::RowKey;

use super::batch::Batch;
use super::row_writer::RowWriter;
use crate::error::{EngineError, Result};
use crate::ids::{TableId, TrxId};
use crate::key::Key;
use crate::lock::{LockTrx, TableMode};
use crate::meter::Counter;
use crate::purge::EndedTransaction;
use crate::redo::{begin_changes, write_followed};
use crate::shared::EngineCore;
use crate::snapshot::ReadView;
use crate::table::Table;

/// What a session works with; statements borrow it.
pub(super) struct Work {
    pub(super) trx: Trx,
    pub(super) view: ReadView,
    pub(super) locks: Arc<LockTrx>,
    pub(super) scratch: Scratch,
}

/// The transaction that is under way. Its buffers are used again by the next.
pub(super) struct Trx {
    /// Whether it was begun; else each statement is one.
    pub(super) open: bool,
    pub(super) isolation: Isolation,
    /// Its number, from its first write on.
    pub(super) id: Option<TrxId>,
    /// What it wrote, for the log.
    pub(super) redo: Vec<u8>,
    /// The keys of what it wrote, where replicas follow.
    pub(super) keys: Vec<RowKey>,
    /// What it wrote, to be taken back.
    pub(super) undo: Vec<WrittenVersion>,
    /// Deleted rows that came to the front again when it was rolled back to a savepoint, and
    /// the transactions that deleted them.
    pub(super) graves: Vec<(Arc<Table>, Key, TrxId)>,
    pub(super) savepoints: Vec<(String, Mark)>,
    pub(super) tables: Vec<(TableId, TableMode)>,
    /// Whether it asked for a lock.
    pub(super) locked: bool,
    /// Whether it does what another engine has done, which has seen to it that values are unique.
    pub(super) follows: bool,
    /// Whether it has to be rolled back whole.
    pub(super) doomed: bool,
}

/// A version that was put in front of a row.
pub(super) struct WrittenVersion {
    pub(super) table: Arc<Table>,
    pub(super) key: Key,
    /// Whether there was a version before it.
    pub(super) over: bool,
}

/// A place in a transaction.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mark {
    pub(super) redo: usize,
    pub(super) keys: usize,
    pub(super) undo: usize,
}

impl Mark {
    const BEGIN: Mark = Mark { redo: 1, keys: 0, undo: 0 };
}

/// Buffers that are used again and again.
#[derive(Default)]
pub(super) struct Scratch {
    pub(super) key: Vec<u8>,
    pub(super) row: Vec<u8>,
    pub(super) entry: Vec<u8>,
    pub(super) new_entry: Vec<u8>,
    pub(super) writer: RowWriter,
    pub(super) batch: Batch,
    /// The record of a transaction that replicas follow.
    pub(super) record: Vec<u8>,
}

impl Trx {
    /// Whether what it wrote is still one record.
    pub(super) fn check_size(&self) -> Result<()> {
        if self.redo.len() > REDO_MOST_BYTES {
            let takes = "at most 1 GiB of changes: commit more often".to_owned();
            return Err(EngineError::BadValue("a transaction".to_owned(), takes));
        }
        Ok(())
    }

    pub(super) fn current_mark(&self) -> Mark {
        Mark { redo: self.redo.len(), keys: self.keys.len(), undo: self.undo.len() }
    }
}

impl Work {
    pub(super) fn open_view(&mut self, shared: &EngineCore) {
        if !self.view.is_open() {
            shared.trx.open_view(self.trx.id, &mut self.view);
        }
    }

    /// The number of the transaction, which is about to write.
    pub(super) fn ensure_trx_id(&mut self, shared: &EngineCore) -> TrxId {
        if let Some(id) = self.trx.id {
            return id;
        }
        let id = shared.trx.begin_write();
        self.trx.id = Some(id);
        if self.view.is_open() {
            self.view.adopt_writer(id);
        }
        id
    }

    /// Takes back what the transaction wrote, and ends it.
    pub(super) fn rollback(&mut self, shared: &EngineCore) {
        shared.trx.close_view(&mut self.view);
        self.undo_to(shared, Mark::BEGIN);
        match self.trx.id {
            Some(id) => {
                shared.meter.count(Counter::Rollbacks);
                self.end_trx(shared, id);
            }
            None => self.finish(shared),
        }
    }

    /// The record of what the transaction wrote. Of where replicas follow, it is told now, when all
    /// locks are held, how far others have committed.
    pub(super) fn commit_record(&mut self, shared: &EngineCore) -> &[u8] {
        let Some(follow) = &shared.follow else { return &self.trx.redo };
        let record = &mut self.scratch.record;
        record.shrink_to(REDO_KEPT_BYTES);
        let (parent, began_ns) =
            (shared.pipeline.durable_lsn(), follow.clock.map_or(0, |now| now()));
        write_followed(record, &self.trx.redo, &self.trx.keys, parent, began_ns);
        record
    }

    /// Makes visible what the transaction wrote, and leaves what it wrote over to purge.
    pub(super) fn end_trx(&mut self, shared: &EngineCore, id: TrxId) {
        let csn = shared.trx.end_trx(id);
        let over = self.trx.undo.drain(..).filter(|written| written.over);
        let mut wrote: Vec<_> = over.map(|written| (written.table, written.key, id)).collect();
        wrote.append(&mut self.trx.graves);
        if !wrote.is_empty() {
            shared.purge.push(EndedTransaction { csn, wrote });
        }
        self.finish(shared);
    }

    /// Gives locks back and forgets the transaction.
    pub(super) fn finish(&mut self, shared: &EngineCore) {
        let trx = &mut self.trx;
        if trx.locked {
            shared.locks.release_all(&self.locks);
        }
        trx.open = false;
        trx.id = None;
        begin_changes(&mut trx.redo);
        trx.redo.shrink_to(REDO_KEPT_BYTES);
        trx.keys.clear();
        trx.keys.shrink_to(UNDO_KEPT);
        trx.undo.clear();
        trx.undo.shrink_to(UNDO_KEPT);
        trx.savepoints.clear();
        trx.tables.clear();
        trx.locked = false;
        trx.follows = false;
        trx.doomed = false;
    }
}

/// What a transaction may write in all. A record of the log is shorter than 4 GiB.
const REDO_MOST_BYTES: usize = 1 << 30;
/// What a session keeps of the buffer of a large transaction.
const REDO_KEPT_BYTES: usize = 1 << 16;
/// For so many rows that were written a session keeps room.
const UNDO_KEPT: usize = 1 << 10;
