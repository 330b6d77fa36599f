//! Taking back what a transaction wrote.

use std::mem;

use super::work::{Mark, Work, WrittenVersion};
use crate::ids::TrxId;
use crate::index::Edit;
use crate::lock::Place;
use crate::purge::{entry_of, forget_entries, key_or_supremum};
use crate::shared::EngineCore;
use crate::table;
use crate::table::Table;
use crate::version::RowVersion;

impl Work {
    /// Takes back what was written since a place.
    pub(super) fn undo_to(&mut self, shared: &EngineCore, mark: Mark) {
        let trx = &mut self.trx;
        trx.redo.truncate(mark.redo);
        trx.keys.truncate(mark.keys);
        while trx.undo.len() > mark.undo {
            let written = trx.undo.pop().expect("there are more");
            let id = trx.id.expect("who wrote has a number");
            let front = take_back(shared, &written, id);
            // The transaction that deleted the row that is in front again may have been purged
            // already, and would be passed by. What this one deleted is purged when it has
            // committed.
            if let Some(writer) = front.filter(|writer| *writer != id) {
                trx.graves.push((written.table, written.key, writer));
            }
        }
    }
}

/// Takes the version in front off a row. Gives the writer of the one below if that is a deletion.
fn take_back(shared: &EngineCore, written: &WrittenVersion, id: TrxId) -> Option<TrxId> {
    let (table, key) = (&*written.table, written.key.bytes());
    let locks = &shared.locks;
    table.rows.edit_entry(key, TrxId::NOBODY, |chain, next| {
        let chain = chain.expect("what was written is there");
        assert!(chain.writer == id, "what a transaction wrote is in front until it ends");
        let Some(gone) = chain.pop() else {
            let gone = mem::replace(chain, RowVersion::new(id, None));
            forget_entries(locks, table, key, &gone, chain);
            locks.inherit_gap(table.clustered_id, Place::Key(key), key_or_supremum(next));
            return (Edit::Take, None);
        };
        forget_entries(locks, table, key, &gone, chain);
        mark_entries(table, key, &gone, chain, id);
        (Edit::Keep, chain.row.is_none().then_some(chain.writer))
    })
}

/// Marks the entries of two versions by whether the one in front has them.
fn mark_entries(table: &Table, key: &[u8], gone: &RowVersion, front: &RowVersion, id: TrxId) {
    for index in table.indexes() {
        let entry =
            |version: &RowVersion| version.row.as_ref().map(|row| entry_of(table, index, key, row));
        let living = entry(front);
        if let Some(gone) = entry(gone)
            && living.as_ref() != Some(&gone)
        {
            index.entries.change_value(&gone, id, |mark| *mark = table::Mark::Dead);
        }
        if let Some(living) = living {
            index.entries.change_value(&living, id, |mark| *mark = table::Mark::Alive);
        }
    }
}
