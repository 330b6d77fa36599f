//! Which tables there are, and how they come and go.
//!
//! ```text
//!   create   record ─► durable ─► table is known
//!   index    lock the table ─► fill ─► record ─► durable ─► index is known ─► unlock
//!   drop     lock the table ─► record ─► durable ─► table is unknown ─► unlock
//!   truncate lock the table ─► record ─► durable ─► another is known by its name ─► unlock
//! ```
//!
//! Tables have numbers that are never given again, so that what the log says of a table that is
//! gone can be passed over.

mod shown;

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;

use crate::engine::Shared;
use crate::error::{EngineError, Result};
use crate::ids::{IndexId, TableId, TrxId};
use crate::index::Edit;
use crate::key::Key;
use crate::lock::TableMode;
use crate::redo::Record;
use crate::sync::atomic::{AtomicU64, Ordering};
use crate::sync::{Mutex, MutexGuard, RwLock};
use crate::table::{INDEXES_MOST, IndexSpec, Mark, Secondary, Table, TableSpec};

/// The tables by name, and the next numbers.
#[derive(Default)]
pub struct Catalog {
    tables: RwLock<BTreeMap<String, Arc<Table>>>,
    next: Mutex<Next>,
    generation: AtomicU64,
}

/// The next numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Next {
    /// Of a table.
    pub table: u32,
    /// Of an index.
    pub index: u32,
}

impl Catalog {
    /// A catalog of these tables.
    pub fn of(tables: impl Iterator<Item = Arc<Table>>, next: Next) -> Catalog {
        let tables = tables.map(|table| (table.name().to_owned(), table)).collect();
        let (tables, next) = (RwLock::new(tables), Mutex::new(next));
        Catalog { tables, next, generation: AtomicU64::new(0) }
    }

    /// A table by name.
    pub fn table(&self, name: &str) -> Result<Arc<Table>> {
        let tables = self.tables.read().expect("no panic before");
        tables.get(name).cloned().ok_or_else(|| EngineError::NoTable(name.to_owned()))
    }

    /// All tables.
    pub fn tables(&self) -> Vec<Arc<Table>> {
        self.tables.read().expect("no panic before").values().cloned().collect()
    }

    /// Another number whenever a table or an index has come or gone.
    #[inline]
    pub fn generation(&self) -> u64 {
        self.generation.load(Ordering::Acquire)
    }

    fn has_changed(&self) {
        self.generation.fetch_add(1, Ordering::Release);
    }

    /// The next numbers. While they are held, tables and indexes neither come nor go.
    pub fn next(&self) -> MutexGuard<'_, Next> {
        self.next.lock().expect("no panic before")
    }
}

impl Next {
    fn take_indexes(&mut self, many: usize) -> Vec<IndexId> {
        let first = self.index;
        self.index += many as u32;
        (first..self.index).map(IndexId).collect()
    }
}

impl Shared {
    pub fn create_table(&self, spec: TableSpec) -> Result<Arc<Table>> {
        spec.check()?;
        let mut next = self.catalog.next();
        if self.catalog.table(&spec.name).is_ok() {
            return Err(EngineError::Exists(spec.name));
        }
        self.put_table(&mut next, spec, None)
    }

    /// Puts an empty table of the same columns and indexes in the place of a table.
    pub fn truncate_table(&self, name: &str) -> Result<()> {
        self.with_table_locked(name, |table| {
            let mut next = self.catalog.next();
            self.put_table(&mut next, table.spec(), Some(table))?;
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
        let record = Record::Table { id, replaces, next_number: 1, spec, indexes };
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

    pub fn drop_table(&self, name: &str) -> Result<()> {
        self.with_table_locked(name, |table| {
            let _next = self.catalog.next();
            let commit = self.pipeline.commit(&Record::Drop(table.id).write())?;
            table.mark_dropped();
            self.catalog.tables.write().expect("no panic before").remove(name);
            self.catalog.has_changed();
            drop(commit);
            Ok(())
        })
    }

    pub fn create_index(&self, name: &str, spec: IndexSpec) -> Result<()> {
        self.with_table_locked(name, |table| {
            if table.indexes().any(|index| index.spec.name.eq_ignore_ascii_case(&spec.name)) {
                return Err(EngineError::Exists(spec.name.clone()));
            }
            if table.indexes().len() == INDEXES_MOST {
                let takes = format!("at most {INDEXES_MOST} indexes");
                return Err(EngineError::BadValue(name.to_owned(), takes));
            }
            let whole = TableSpec { indexes: vec![spec.clone()], ..table.spec() };
            whole.check()?;
            // Versions that purge takes away while the index is filled would leave their entries.
            let _no_purge = self.purge.stop();
            let mut next = self.catalog.next();
            let id = next.take_indexes(1)[0];
            let index = Secondary::new(id, spec.clone());
            let filler = self.trx.begin_write();
            let filled = fill(table, &index, filler);
            self.trx.end(filler);
            filled?;
            let record = Record::Index { table: table.id, id, spec: spec.clone() };
            let commit = self.pipeline.commit(&record.write())?;
            table.add(index);
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
            let locks = self.locks.begin();
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

/// Enters all versions of all rows into an index. Nobody writes to the table.
pub fn fill(table: &Table, index: &Secondary, filler: TrxId) -> Result<()> {
    let mut from = Some(Key::default());
    let mut entries: Vec<(Vec<u8>, usize, Mark)> = Vec::new();
    let mut last: Option<Vec<u8>> = None;
    while let Some(at) = from {
        from = table.rows.read_on(at.bytes(), None, |key, chain, _| {
            let mut mark = Mark::Alive;
            for version in chain.all() {
                if let Some(row) = &version.row {
                    let mut entry = Vec::new();
                    let null = index.push_columns(table.layout().row(row), &mut entry);
                    let unique = if null || !index.is_unique() { 0 } else { entry.len() };
                    entry.extend_from_slice(key);
                    entries.push((entry, unique, mark));
                }
                mark = Mark::Dead;
            }
            ControlFlow::Continue(())
        });
    }
    // In their order, and of one row and key the living one first.
    entries.sort_unstable_by(|(a, _, x), (b, _, y)| {
        a.cmp(b).then((*x == Mark::Dead).cmp(&(*y == Mark::Dead)))
    });
    entries.dedup_by(|later, first| later.0 == first.0);
    for (entry, unique, mark) in entries {
        if mark == Mark::Alive && unique > 0 {
            if last.as_deref() == Some(&entry[..unique]) {
                let (table, index) = (table.name().to_owned(), index.spec.name.clone());
                return Err(EngineError::Duplicate(table, index));
            }
            last = Some(entry[..unique].to_vec());
        }
        index.entries.edit(&entry, filler, |_, _| (Edit::Put(mark), ()));
    }
    Ok(())
}
