//! What the disk holds, made tables again.
//!
//! ```text
//!   checkpoint   numbers · table · its rows · table · its rows …     as of some place, or later
//!   log          from that place on, in order                        the last word on a row counts
//!                ──► rows ──► secondary indexes, filled at the end
//! ```
//!
//! The writers of rows have ended: all rows become [`TrxId::NOBODY`]'s. A record of a table that is
//! not there is one of a table that was dropped later; it is passed over.
//!
//! A checksum says that a record is what was written, not that an engine wrote it. So what a record
//! says is looked at before it is believed: what cannot be is damage, and never a panic.

use std::collections::HashMap;
use std::sync::Arc;

use crate::catalog::{Catalog, Next, Twice, fill_index};
use crate::error::{EngineError, Result};
use crate::ids::{IndexId, TableId, TrxId};
use crate::index::Edit;
use crate::key;
use crate::log::Recovery;
use crate::redo::{RedoRecord, RowImage};
use crate::table::{IndexSpec, Secondary, Table, TableSpec};
use crate::value::{Value, ValueType};
use crate::version::RowVersion;

/// The table in which a replica notes where it is. As long as it completes its copy, its rows are
/// those of no moment, and two of them may have a value that only one has in the end.
pub(crate) const OF_REPLICA: &str = "dbdyno_applied";

/// Reads checkpoint and log.
pub(crate) fn read(recovery: &mut Recovery) -> Result<Catalog> {
    let mut tables = Tables::default();
    if let Some(checkpoint) = recovery.checkpoint() {
        while let Some(item) = checkpoint.next_item()? {
            tables.take(item, "the checkpoint")?;
        }
    }
    while let Some((_, record)) = recovery.next_record()? {
        tables.take(record, "the log")?;
    }
    tables.finish()
}

/// Tables as far as they were read. Their secondary indexes are empty until the end.
#[derive(Default)]
struct Tables {
    known: HashMap<TableId, RecoveredTable>,
    next: Next,
    /// The key of the row that is looked at.
    key: Vec<u8>,
}

/// Tables and indexes are numbered one after the other: no engine gets so far.
const NUMBERS_MOST: u32 = 1 << 31;

struct RecoveredTable {
    table: Table,
    indexes: Vec<(IndexId, IndexSpec)>,
}

impl Tables {
    fn take(&mut self, bytes: &[u8], place: &str) -> Result<()> {
        let damage = |what: &str| Err(EngineError::Corrupt(place.to_owned(), what.to_owned()));
        let Some(record) = RedoRecord::read(bytes) else {
            return damage("it says what no engine writes");
        };
        match record {
            RedoRecord::Changes(mut changes) | RedoRecord::Followed { mut changes, .. } => {
                if !changes.all(|change| self.change(change)) {
                    return damage("a row is not one of its table");
                }
            }
            RedoRecord::Table { id, replaces, next_number, spec, indexes } => {
                drop(replaces.and_then(|replaced| self.known.remove(&replaced)));
                let last = indexes.iter().map(|id| id.0).max().unwrap_or_default();
                self.give_numbers_after(id.0, last);
                self.table(id, next_number, spec, &indexes);
            }
            RedoRecord::Index { table, id, spec } => {
                self.give_numbers_after(0, id.0);
                if let Some(known) = self.known.get_mut(&table)
                    && !known.take_index(id, spec)
                {
                    return damage("an index is not one of its table");
                }
            }
            RedoRecord::Drop(table) => drop(self.known.remove(&table)),
            RedoRecord::Numbers(table, index) => {
                self.next.table = self.next.table.max(table.0);
                self.next.index = self.next.index.max(index.0);
            }
        }
        if self.next.table.max(self.next.index) > NUMBERS_MOST {
            return damage("it has a number that no engine gives");
        }
        Ok(())
    }

    /// Numbers up to these are given.
    fn give_numbers_after(&mut self, table: u32, index: u32) {
        self.next.table = self.next.table.max(table.saturating_add(1));
        self.next.index = self.next.index.max(index.saturating_add(1));
    }

    /// A table that is known already was in the checkpoint, which is no older.
    fn table(&mut self, id: TableId, next_number: i64, mut spec: TableSpec, indexes: &[IndexId]) {
        let secondary = std::mem::take(&mut spec.indexes);
        self.known.entry(id).or_insert_with(|| {
            let table = Table::new(spec, id, &indexes[..1]);
            table.skip_number(next_number.saturating_sub(1));
            RecoveredTable { table, indexes: indexes[1..].iter().copied().zip(secondary).collect() }
        });
    }

    /// False if the row cannot be one of the table.
    fn change(&mut self, change: RowImage<'_>) -> bool {
        let Some(RecoveredTable { table, .. }) = self.known.get(&change.table) else {
            return true;
        };
        if change.row.is_some_and(|row| !is_row_of(table, change.key, row, &mut self.key)) {
            return false;
        }
        table.rows.edit_entry(change.key, TrxId::NOBODY, |chain, _| {
            let what = match (chain, change.row) {
                (Some(_), None) => Edit::Take,
                (None, None) => Edit::Keep,
                (Some(chain), Some(row)) => {
                    chain.row = Some(row.into());
                    Edit::Keep
                }
                (None, Some(row)) => Edit::Put(RowVersion::new(TrxId::NOBODY, Some(row.into()))),
            };
            (what, ())
        });
        if let Some(row) = change.row {
            skip_number(table, change.key, row);
        }
        true
    }

    fn finish(self) -> Result<Catalog> {
        let is_replica = self.known.values().any(|known| known.table.name() == OF_REPLICA);
        let twice = if is_replica { Twice::IsLeft } else { Twice::IsRefused };
        let mut tables = Vec::new();
        for RecoveredTable { table, indexes } in self.known.into_values() {
            for (id, spec) in indexes {
                let index = Secondary::new(id, spec);
                fill_index(&table, &index, TrxId::NOBODY, twice)?;
                table.add_index(index);
            }
            tables.push(Arc::new(table));
        }
        Ok(Catalog::from_tables(tables.into_iter(), self.next))
    }
}

impl RecoveredTable {
    /// Takes another index, unless it knows it. False if the table cannot have it.
    fn take_index(&mut self, id: IndexId, spec: IndexSpec) -> bool {
        if self.indexes.iter().any(|(known, _)| *known == id) {
            return true;
        }
        let mut indexes: Vec<_> = self.indexes.iter().map(|(_, spec)| spec.clone()).collect();
        indexes.push(spec.clone());
        self.indexes.push((id, spec));
        TableSpec { indexes, ..self.table.current_spec() }.check_definition().is_ok()
    }
}

/// Whether a table can have this row under this key. `made` is for the key that the row makes.
pub(crate) fn is_row_of(table: &Table, key: &[u8], row: &[u8], made: &mut Vec<u8>) -> bool {
    if !table.layout().is_row(row) {
        return false;
    }
    if table.primary().is_empty() {
        return key::pop(ValueType::BIGINT, key).is_some_and(|(_, length)| length == key.len());
    }
    made.clear();
    table.push_primary(table.layout().view_row(row), made);
    key == made.as_slice()
}

/// The numbers that rows have are not given again.
pub(crate) fn skip_number(table: &Table, key: &[u8], row: &[u8]) {
    let number = match table.auto_increment() {
        Some(column) => table.layout().view_row(row).get(column).to_value(),
        None if table.primary().is_empty() => {
            key::pop(ValueType::BIGINT, key).map_or(Value::Null, |(hidden, _)| hidden)
        }
        None => return,
    };
    if let Value::Int(number) = number {
        table.skip_number(number);
    }
}
