//! Taking away what is not needed any more.
//!
//! ```text
//!   commit 17 ─► commit 18 ─► commit 21 ─► …           what each wrote over older versions
//!   └── every view sees it: what is behind its versions goes ──┘
//! ```
//!
//! What a transaction wrote over is needed until every view, open or to come, sees the transaction.
//! Then whatever lies behind its version of a row is taken away, with the entries that only those
//! had in secondary indexes; and the row itself, if that version says that it was deleted. Its gap
//! joins the next one, with the locks on it.
//!
//! Of the writers of one row only the last matters: what is behind its version is all that is
//! behind those of the others. A row that all write is looked at once for many of them, and
//! not once for each, past all that is newer.

pub(crate) mod queue;

use std::collections::HashSet;

pub(crate) use queue::{EndedTransaction, Purge};

use dbdyno_model::design::Planted;

use crate::ids::TrxId;
use crate::index::Edit;
use crate::lock::{LockSys, Place};
use crate::meter::Counter;
use crate::shared::EngineCore;
use crate::table::{Secondary, Table};
use crate::version::RowVersion;

impl EngineCore {
    /// Purges all that may be; how many versions.
    pub(crate) fn purge_all(&self) -> u64 {
        let _working = self.purge.stop();
        self.move_horizon();
        let mut settled = self.trx.settled_csn();
        if self.design.planted == Planted::PurgeEarly {
            settled.0 += 1;
        }
        let mut purged = 0;
        loop {
            let batch = self.purge.next(settled);
            if batch.is_empty() {
                break;
            }
            let mut looked_at = HashSet::new();
            for (table, key, writer) in batch.iter().rev().flat_map(|ended| &ended.wrote) {
                if looked_at.insert((table.clustered_id, key.bytes())) {
                    purged += purge_row(&self.locks, table, key.bytes(), *writer);
                }
            }
        }
        self.meter.add(Counter::VersionsPurged, purged);
        purged
    }
}

/// Takes away what is behind the version of a writer that all views see; how many versions.
fn purge_row(locks: &LockSys, table: &Table, key: &[u8], writer: TrxId) -> u64 {
    table.rows.edit_entry(key, TrxId::NOBODY, |chain, next| {
        let Some(chain) = chain else { return (Edit::Keep, 0) };
        let mut purged = 0;
        if let Some(behind) = chain.cut_behind(writer) {
            for version in behind.all_versions() {
                purged += 1;
                forget_entries(locks, table, key, version, chain);
            }
        }
        if chain.writer == writer && chain.row.is_none() {
            locks.inherit_gap(table.clustered_id, Place::Key(key), key_or_supremum(next));
            return (Edit::Take, purged + 1);
        }
        (Edit::Keep, purged)
    })
}

/// Takes those entries of a version that is gone out of the secondary indexes that no version of
/// the row has any more. The row is latched. Marks are left as they are: a writer that put a
/// version in front may be about to set them.
pub(crate) fn forget_entries(
    locks: &LockSys,
    table: &Table,
    key: &[u8],
    gone: &RowVersion,
    left: &RowVersion,
) {
    let Some(row) = &gone.row else { return };
    for index in table.indexes() {
        let entry = entry_of(table, index, key, row);
        if left.all_versions().any(|version| {
            version.row.as_ref().is_some_and(|row| entry_of(table, index, key, row) == entry)
        }) {
            continue;
        }
        index.entries.edit_entry(&entry, TrxId::NOBODY, |known, next| {
            if known.is_none() {
                return (Edit::Keep, ());
            }
            locks.inherit_gap(index.id, Place::Key(&entry), key_or_supremum(next));
            (Edit::Take, ())
        });
    }
}

/// The entry that a version of a row has in an index.
pub(crate) fn entry_of(table: &Table, index: &Secondary, key: &[u8], row: &[u8]) -> Vec<u8> {
    let mut entry = Vec::with_capacity(64);
    index.push_entry(table.layout().view_row(row), key, &mut entry);
    entry
}

/// The place of the next key.
pub(crate) fn key_or_supremum(next: Option<&[u8]>) -> Place<'_> {
    next.map_or(Place::Supremum, Place::Key)
}
