//! Which tables there are; how they come and go is in `definition`.
//!
//! Tables have numbers that are never given again, so that what the log says of a table that is
//! gone can be passed over.

mod shown;

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;

use crate::error::{EngineError, Result};
use crate::ids::{IndexId, TrxId};
use crate::index::Edit;
use crate::key::Key;
use crate::sync::atomic::{AtomicU64, Ordering};
use crate::sync::{Mutex, MutexGuard, RwLock};
use crate::table::{Mark, Secondary, Table};

/// The tables by name, and the next numbers.
#[derive(Default)]
pub(crate) struct Catalog {
    pub(crate) tables: RwLock<BTreeMap<String, Arc<Table>>>,
    next: Mutex<Next>,
    generation: AtomicU64,
}

/// The next numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Next {
    /// Of a table.
    pub table: u32,
    /// Of an index.
    pub index: u32,
}

impl Catalog {
    /// A catalog of these tables.
    pub(crate) fn from_tables(tables: impl Iterator<Item = Arc<Table>>, next: Next) -> Catalog {
        let tables = tables.map(|table| (table.name().to_owned(), table)).collect();
        let (tables, next) = (RwLock::new(tables), Mutex::new(next));
        Catalog { tables, next, generation: AtomicU64::new(0) }
    }

    /// A table by name.
    pub(crate) fn table(&self, name: &str) -> Result<Arc<Table>> {
        let tables = self.tables.read().expect("no panic before");
        tables.get(name).cloned().ok_or_else(|| EngineError::NoTable(name.to_owned()))
    }

    /// All tables.
    pub(crate) fn tables(&self) -> Vec<Arc<Table>> {
        self.tables.read().expect("no panic before").values().cloned().collect()
    }

    /// Another number whenever a table or an index has come or gone.
    #[inline]
    pub(crate) fn generation(&self) -> u64 {
        self.generation.load(Ordering::Acquire)
    }

    /// A table or an index has come or gone.
    pub(crate) fn has_changed(&self) {
        self.generation.fetch_add(1, Ordering::Release);
    }

    /// The next numbers. While they are held, tables and indexes neither come nor go.
    pub(crate) fn next(&self) -> MutexGuard<'_, Next> {
        self.next.lock().expect("no panic before")
    }
}

impl Next {
    /// So many numbers of indexes.
    pub(crate) fn take_indexes(&mut self, many: usize) -> Vec<IndexId> {
        let first = self.index;
        self.index += many as u32;
        (first..self.index).map(IndexId).collect()
    }
}

/// What becomes of two rows with the same value of a unique index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Twice {
    IsRefused,
    IsLeft,
}

/// Enters all versions of all rows into an index. No session writes to the table.
pub(crate) fn fill_index(
    table: &Table,
    index: &Secondary,
    filler: TrxId,
    twice: Twice,
) -> Result<()> {
    let mut from = Some(Key::default());
    let mut entries: Vec<(Vec<u8>, usize, Mark)> = Vec::new();
    let mut last: Option<Vec<u8>> = None;
    while let Some(at) = from {
        from = table.rows.read_on(at.bytes(), None, |key, chain, _| {
            let mut mark = Mark::Alive;
            for version in chain.all_versions() {
                if let Some(row) = &version.row {
                    let mut entry = Vec::new();
                    let null = index.push_columns(table.layout().view_row(row), &mut entry);
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
        if mark == Mark::Alive && unique > 0 && twice == Twice::IsRefused {
            if last.as_deref() == Some(&entry[..unique]) {
                let (table, index) = (table.name().to_owned(), index.spec.name.clone());
                return Err(EngineError::Duplicate(table, index));
            }
            last = Some(entry[..unique].to_vec());
        }
        index.entries.edit_entry(&entry, filler, |_, _| (Edit::Put(mark), ()));
    }
    Ok(())
}
