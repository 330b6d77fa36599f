//! How tables and indexes come and go.
//!
//! ```text
//!   create   record ─► durable ─► table is known
//!   index    lock the table ─► fill ─► record ─► durable ─► index is known ─► unlock
//!   drop     lock the table ─► record ─► durable ─► table is unknown ─► unlock
//!   truncate lock the table ─► record ─► durable ─► another is known by its name ─► unlock
//!   primary key of a table without rows: as truncate, and the other one has it
//! ```

use std::sync::Arc;

use crate::catalog::{Next, Twice, fill_index};
use crate::error::{EngineError, Result};
use crate::ids::TableId;
use crate::lock::TableMode;
use crate::redo::RedoRecord;
use crate::shared::EngineCore;
use crate::table::{INDEXES_MOST, IndexSpec, Secondary, Table, TableSpec};

impl EngineCore {
    pub(crate) fn create_table(&self, spec: TableSpec) -> Result<Arc<Table>> {
        spec.check_definition()?;
        let mut next = self.catalog.next();
        if self.catalog.table(&spec.name).is_ok() {
            return Err(EngineError::Exists(spec.name));
        }
        self.put_table(&mut next, spec, None)
    }

    /// Puts an empty table of the same columns and indexes in the place of a table.
    pub(crate) fn truncate_table(&self, name: &str) -> Result<()> {
        self.replace_table(name, |table| Ok(table.current_spec()))
    }

    /// Gives a primary key to a table that has none and no rows: an empty one that has it takes its
    /// place.
    pub(crate) fn add_primary_key(&self, name: &str, columns: &[usize]) -> Result<()> {
        self.replace_table(name, |table| {
            if !table.primary().is_empty() {
                return Err(EngineError::TwoPrimaryKeys(name.to_owned()));
            }
            if table.has_rows() {
                return Err(EngineError::HasRows(name.to_owned()));
            }
            Ok(TableSpec { primary: columns.to_vec(), ..table.current_spec() })
        })
    }

    /// Puts an empty table in the place of a table of the same name.
    pub(crate) fn replace_table(
        &self,
        name: &str,
        spec: impl Fn(&Table) -> Result<TableSpec>,
    ) -> Result<()> {
        self.with_table_locked(name, |table| {
            let spec = spec(table)?;
            spec.check_definition()?;
            let mut next = self.catalog.next();
            self.put_table(&mut next, spec, Some(table))?;
            Ok(())
        })
    }

    /// One record, so that after a crash there is either the replaced table or the new one.
    fn put_table(
        &self,
        next: &mut Next,
        spec: TableSpec,
        replaced: Option<&Table>,
    ) -> Result<Arc<Table>> {
        let id = TableId(next.table);
        next.table += 1;
        let indexes = next.take_indexes(1 + spec.indexes.len());
        let table = Arc::new(Table::new(spec.clone(), id, &indexes));
        let replaces = replaced.map(|table| table.id);
        let record = RedoRecord::Table { id, replaces, next_number: 1, spec, indexes };
        let commit = self.pipeline.commit(&record.write())?;
        let mut tables = self.catalog.tables.write().expect("no panic before");
        tables.insert(table.name().to_owned(), table.clone());
        self.catalog.has_changed();
        if let Some(replaced) = replaced {
            replaced.mark_dropped();
        }
        drop((tables, commit));
        Ok(table)
    }

    pub(crate) fn drop_table(&self, name: &str) -> Result<()> {
        self.with_table_locked(name, |table| {
            let _next = self.catalog.next();
            let commit = self.pipeline.commit(&RedoRecord::Drop(table.id).write())?;
            table.mark_dropped();
            self.catalog.tables.write().expect("no panic before").remove(name);
            self.catalog.has_changed();
            drop(commit);
            Ok(())
        })
    }

    pub(crate) fn create_index(&self, name: &str, spec: IndexSpec) -> Result<()> {
        self.with_table_locked(name, |table| {
            if table.indexes().any(|index| index.spec.name.eq_ignore_ascii_case(&spec.name)) {
                return Err(EngineError::Exists(spec.name.clone()));
            }
            if table.indexes().len() == INDEXES_MOST {
                let takes = format!("at most {INDEXES_MOST} indexes");
                return Err(EngineError::BadValue(name.to_owned(), takes));
            }
            let whole = TableSpec { indexes: vec![spec.clone()], ..table.current_spec() };
            whole.check_definition()?;
            // Versions that purge takes away while the index is filled would leave their entries.
            let _no_purge = self.purge.stop();
            let mut next = self.catalog.next();
            let id = next.take_indexes(1)[0];
            let index = Secondary::new(id, spec.clone());
            let filler = self.trx.begin_write();
            let filled = fill_index(table, &index, filler, Twice::IsRefused);
            self.trx.end_trx(filler);
            filled?;
            let record = RedoRecord::Index { table: table.id, id, spec: spec.clone() };
            let commit = self.pipeline.commit(&record.write())?;
            table.add_index(index);
            self.catalog.has_changed();
            drop(commit);
            Ok(())
        })
    }

    /// Works on the table of this name, locked whole. Where it has been replaced by the time that
    /// it is locked, it is the other one.
    fn with_table_locked(&self, name: &str, work: impl Fn(&Table) -> Result<()>) -> Result<()> {
        loop {
            let table = self.catalog.table(name)?;
            let locks = self.locks.begin_transaction();
            let locked = self.locks.lock_table(&locks, table.id, TableMode::Exclusive);
            let is_there = table.check_there().is_ok();
            let done = locked.and_then(|()| if is_there { work(&table) } else { Ok(()) });
            self.locks.release_all(&locks);
            if is_there || done.is_err() {
                return done;
            }
        }
    }
}
