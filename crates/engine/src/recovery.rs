//! What the disk holds, made tables again.
//!
//! ```text
//!   checkpoint   numbers · table · its rows · table · its rows …     as of some place, or later
//!   log          from that place on, in order                        the last word on a row counts
//!                ──► rows ──► secondary indexes, filled at the end
//! ```
//!
//! Whoever wrote a row is past: all rows become [`TrxId::NOBODY`]'s. A record of a table that is
//! not there is one of a table that was dropped later; it is passed over.

use std::collections::HashMap;
use std::sync::Arc;

use crate::catalog::{Catalog, Next, fill};
use crate::error::{EngineError, Result};
use crate::ids::{IndexId, TableId, TrxId};
use crate::index::Edit;
use crate::key;
use crate::log::Recovery;
use crate::redo::{Change, Record};
use crate::table::{IndexSpec, Secondary, Table, TableSpec};
use crate::value::{Kind, Value};
use crate::version::Version;

/// Reads checkpoint and log.
pub fn read(recovery: &mut Recovery) -> Result<Catalog> {
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
    known: HashMap<TableId, Known>,
    next: Next,
}

struct Known {
    table: Table,
    indexes: Vec<(IndexId, IndexSpec)>,
}

impl Tables {
    fn take(&mut self, bytes: &[u8], place: &str) -> Result<()> {
        let damage = |what: &str| Err(EngineError::Corrupt(place.to_owned(), what.to_owned()));
        let Some(record) = Record::read(bytes) else {
            return damage("it says what no engine writes");
        };
        match record {
            Record::Changes(mut changes) => {
                if !changes.all(|change| self.change(change)) {
                    return damage("a row is not one of its table");
                }
            }
            Record::Table { id, next_number, spec, indexes } => {
                self.next.table = self.next.table.max(id.0 + 1);
                self.table(id, next_number, spec, &indexes);
            }
            Record::Index { table, id, spec } => {
                self.next.index = self.next.index.max(id.0 + 1);
                if let Some(known) = self.known.get_mut(&table)
                    && known.indexes.iter().all(|(known, _)| *known != id)
                {
                    known.indexes.push((id, spec));
                }
            }
            Record::Drop(table) => drop(self.known.remove(&table)),
            Record::Numbers(table, index) => {
                self.next.table = self.next.table.max(table.0);
                self.next.index = self.next.index.max(index.0);
            }
        }
        Ok(())
    }

    /// A table that is known already was in the checkpoint, which is no older.
    fn table(&mut self, id: TableId, next_number: i64, mut spec: TableSpec, indexes: &[IndexId]) {
        for index in indexes {
            self.next.index = self.next.index.max(index.0 + 1);
        }
        let secondary = std::mem::take(&mut spec.indexes);
        self.known.entry(id).or_insert_with(|| {
            let table = Table::new(spec, id, &indexes[..1]);
            table.skip_number(next_number - 1);
            Known { table, indexes: indexes[1..].iter().copied().zip(secondary).collect() }
        });
    }

    /// False if the row cannot be one of the table.
    fn change(&self, change: Change<'_>) -> bool {
        let Some(Known { table, .. }) = self.known.get(&change.table) else {
            return true;
        };
        if change.row.is_some_and(|row| !table.layout().is_row(row)) {
            return false;
        }
        table.rows.edit(change.key, TrxId::NOBODY, |chain, _| {
            let what = match (chain, change.row) {
                (Some(_), None) => Edit::Take,
                (None, None) => Edit::Keep,
                (Some(chain), Some(row)) => {
                    chain.row = Some(row.into());
                    Edit::Keep
                }
                (None, Some(row)) => Edit::Put(Version::new(TrxId::NOBODY, Some(row.into()))),
            };
            (what, ())
        });
        if change.row.is_some() { skip_number(table, change) } else { true }
    }

    fn finish(self) -> Result<Catalog> {
        let mut tables = Vec::new();
        for Known { table, indexes } in self.known.into_values() {
            for (id, spec) in indexes {
                let index = Secondary::new(id, spec);
                fill(&table, &index, TrxId::NOBODY)?;
                table.add(index);
            }
            tables.push(Arc::new(table));
        }
        Ok(Catalog::of(tables.into_iter(), self.next))
    }
}

/// The numbers that rows have are not given again.
fn skip_number(table: &Table, change: Change<'_>) -> bool {
    let number = match (table.auto_increment(), change.row) {
        (Some(column), Some(row)) => table.layout().row(row).get(column).to_value(),
        _ if table.primary().is_empty() => match key::pop(Kind::Int, change.key) {
            Some((hidden, _)) => hidden,
            None => return false,
        },
        _ => return true,
    };
    if let Value::Int(number) = number {
        table.skip_number(number);
    }
    true
}
