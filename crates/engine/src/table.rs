//! Tables: columns, the tree of rows, and the trees of secondary indexes.
//!
//! ```text
//!   clustered    primary key          ─►  newest version ─► older ─► …
//!   secondary    columns, primary key ─►  dead or not
//! ```
//!
//! An entry of a secondary index is there as long as any version of its row has its columns. So a
//! reader that follows it to the row looks again whether the version that it sees has them. An
//! entry is *dead* when the newest version has not: a reader that knows by the leaf's stamp that it
//! sees the newest versions of all that the leaf holds need not follow.
//!
//! A table without a primary key has a hidden number for one. Indexes are only ever added to a
//! table, while it is locked whole, so that a holder of any lock of it knows all of them.

use std::collections::BTreeSet;
use std::fmt;
use std::ops::ControlFlow;
use std::sync::OnceLock;

use crate::error::{EngineError, Result};
use crate::ids::{IndexId, TableId};
use crate::index::IndexTree;
use crate::key::{self, Key};
use crate::row::{ColumnSpec, Layout, RowView, check_value};
use crate::sync::atomic::{AtomicBool, AtomicI64, AtomicUsize, Ordering};
use crate::value::{Datum, ValueType};
use crate::version::RowVersion;

/// What a table is to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableSpec {
    /// Its name.
    pub name: String,
    /// Its columns, at least one.
    pub columns: Vec<ColumnSpec>,
    /// The columns of its primary key, none for a hidden one.
    pub primary: Vec<usize>,
    /// The column that is numbered where an insert gives NULL or 0.
    pub auto_increment: Option<usize>,
    /// Its secondary indexes.
    pub indexes: Vec<IndexSpec>,
}

/// What a secondary index is to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexSpec {
    /// Its name.
    pub name: String,
    /// Its columns, in their order.
    pub columns: Vec<usize>,
    /// Whether two rows may have the same values in it, NULL apart.
    pub uniqueness: Uniqueness,
}

/// Whether an index takes the same values twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Uniqueness {
    /// It does not, unless one of them is NULL.
    Unique,
    /// It does.
    Repeated,
}

/// The most digits after the point of a decimal: 64 bits have room for so many.
const SCALE_MOST: u8 = 18;

/// The most secondary indexes of a table.
pub(crate) const INDEXES_MOST: usize = 64;

/// A table.
pub struct Table {
    /// Its number.
    pub(crate) id: TableId,
    spec: TableSpec,
    layout: Layout,
    /// The number of the primary key.
    pub(crate) clustered_id: IndexId,
    pub(crate) rows: IndexTree<RowVersion>,
    secondary: Box<[OnceLock<Secondary>]>,
    indexes: AtomicUsize,
    /// The next number that the engine gives: of the numbered column, or of the hidden key.
    next_number: AtomicI64,
    dropped: AtomicBool,
}

/// A secondary index.
pub struct Secondary {
    /// Its number.
    pub(crate) id: IndexId,
    /// What it is.
    pub spec: IndexSpec,
    pub(crate) entries: IndexTree<Mark>,
}

/// What an entry of a secondary index says of its row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mark {
    /// The newest version has these columns.
    Alive,
    /// Only an older one has.
    Dead,
}

impl TableSpec {
    /// A table without secondary indexes, in which nothing is numbered.
    pub fn new(name: &str, columns: Vec<ColumnSpec>, primary: &[usize]) -> TableSpec {
        TableSpec {
            name: name.to_owned(),
            columns,
            primary: primary.to_vec(),
            auto_increment: None,
            indexes: Vec::new(),
        }
    }

    /// Whether there can be such a table.
    ///
    /// # Errors
    /// `BadValue` names what cannot be.
    pub(crate) fn check_definition(&self) -> Result<()> {
        let bad = |takes: &str| Err(EngineError::BadValue(self.name.clone(), takes.to_owned()));
        let known = |columns: &[usize]| columns.iter().all(|&column| column < self.columns.len());
        if self.columns.is_empty() {
            return bad("at least one column");
        }
        if has_twice(self.columns.iter().map(|column| &*column.name)) {
            return bad("columns of different names");
        }
        if has_twice(self.indexes.iter().map(|index| &*index.name)) {
            return bad("indexes of different names");
        }
        if !known(&self.primary) || !self.indexes.iter().all(|index| index.is_within(&known)) {
            return bad("keys of its own columns only");
        }
        for column in &self.columns {
            match column.kind {
                ValueType::Decimal { scale, .. } if scale > SCALE_MOST => {
                    return bad(&format!(
                        "decimals of at most {SCALE_MOST} digits after the point"
                    ));
                }
                ValueType::Decimal { digits, scale } if scale > digits => {
                    return bad("decimals with at least as many digits as are after the point");
                }
                ValueType::Int { bytes, .. } if !(1..=8).contains(&bytes) => {
                    return bad("whole numbers of 1 to 8 bytes");
                }
                _ if !column.kind.accepts_value(column.default.datum()) => {
                    return bad(&format!("a default of {} that it takes itself", column.name));
                }
                _ => {}
            }
        }
        if self.indexes.len() > INDEXES_MOST {
            return bad(&format!("at most {INDEXES_MOST} indexes"));
        }
        match self.auto_increment {
            Some(column)
                if self
                    .columns
                    .get(column)
                    .is_none_or(|c| !matches!(c.kind, ValueType::Int { .. })) =>
            {
                bad("whole numbers in the column that is numbered")
            }
            Some(_) if self.primary.is_empty() => bad("a numbered column with a primary key only"),
            _ => Ok(()),
        }
    }
}

/// Whether a name is there twice; names differ in more than capitals.
fn has_twice<'a>(names: impl Iterator<Item = &'a str>) -> bool {
    let mut seen = BTreeSet::new();
    !names.map(str::to_ascii_lowercase).all(|name| seen.insert(name))
}

impl IndexSpec {
    /// An index that takes the same values twice.
    pub fn non_unique(name: &str, columns: &[usize]) -> IndexSpec {
        let (name, columns) = (name.to_owned(), columns.to_vec());
        IndexSpec { name, columns, uniqueness: Uniqueness::Repeated }
    }

    /// An index that does not, unless one of them is NULL.
    pub fn unique(name: &str, columns: &[usize]) -> IndexSpec {
        IndexSpec { uniqueness: Uniqueness::Unique, ..IndexSpec::non_unique(name, columns) }
    }

    fn is_within(&self, known: &impl Fn(&[usize]) -> bool) -> bool {
        !self.columns.is_empty() && known(&self.columns)
    }
}

impl Table {
    /// An empty table of a checked kind. `indexes` are the numbers of its primary key and of its
    /// secondary indexes.
    pub(crate) fn new(mut spec: TableSpec, id: TableId, indexes: &[IndexId]) -> Table {
        spec.primary.iter().for_each(|&column| spec.columns[column].nullable = false);
        let first = std::mem::take(&mut spec.indexes);
        let table = Table {
            id,
            layout: Layout::new(&spec.columns),
            spec,
            clustered_id: indexes[0],
            rows: IndexTree::default(),
            secondary: (0..INDEXES_MOST).map(|_| OnceLock::new()).collect(),
            indexes: AtomicUsize::new(0),
            next_number: AtomicI64::new(1),
            dropped: AtomicBool::new(false),
        };
        for (index, &id) in first.into_iter().zip(&indexes[1..]) {
            table.add_index(Secondary::new(id, index));
        }
        table
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.spec.name
    }

    /// Its columns.
    pub fn columns(&self) -> &[ColumnSpec] {
        &self.spec.columns
    }

    /// The place of a column.
    pub fn column(&self, name: &str) -> Option<usize> {
        self.spec.columns.iter().position(|column| column.name.eq_ignore_ascii_case(name))
    }

    /// The columns of its primary key; none where that is hidden.
    pub fn primary(&self) -> &[usize] {
        &self.spec.primary
    }

    /// The column that is numbered.
    pub fn auto_increment(&self) -> Option<usize> {
        self.spec.auto_increment
    }

    /// Its secondary indexes, in the order in which they came.
    pub fn indexes(&self) -> impl ExactSizeIterator<Item = &Secondary> {
        let many = self.indexes.load(Ordering::Acquire);
        self.secondary[..many].iter().map(|index| index.get().expect("it was added"))
    }

    /// One of them.
    pub fn index(&self, place: usize) -> Option<&Secondary> {
        self.secondary.get(place)?.get()
    }

    /// Where its columns are in a row.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Whether it is still there.
    ///
    /// # Errors
    /// `NoTable`.
    #[inline]
    pub(crate) fn check_there(&self) -> Result<()> {
        if self.dropped.load(Ordering::Acquire) {
            return Err(EngineError::NoTable(self.name().to_owned()));
        }
        Ok(())
    }

    pub(crate) fn mark_dropped(&self) {
        self.dropped.store(true, Ordering::Release);
    }

    /// Adds an index that is filled. The table is locked whole, or is not known to others yet.
    pub(crate) fn add_index(&self, index: Secondary) {
        let place = self.indexes.load(Ordering::Acquire);
        assert!(self.secondary[place].set(index).is_ok(), "indexes are added one at a time");
        self.indexes.store(place + 1, Ordering::Release);
    }

    /// The specification with all indexes that there are now.
    pub(crate) fn current_spec(&self) -> TableSpec {
        let indexes = self.indexes().map(|index| index.spec.clone()).collect();
        TableSpec { indexes, ..self.spec.clone() }
    }

    /// Whether there is a row now. The table is locked whole.
    pub(crate) fn has_rows(&self) -> bool {
        let (mut has, mut from) = (false, Some(Key::default()));
        while let Some(at) = from {
            from = self.rows.read_on(at.bytes(), None, |_, chain, _| {
                has = chain.row.is_some();
                if has { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            });
        }
        has
    }

    /// The next number, which no other row gets. The largest is never given: behind it stands none.
    ///
    /// # Errors
    /// `NumbersSpent`.
    pub(crate) fn allocate_number(&self) -> Result<i64> {
        let given = self
            .next_number
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |number| number.checked_add(1));
        given.map_err(|_| EngineError::NumbersSpent(self.name().to_owned()))
    }

    /// The next number, as it is.
    pub(crate) fn next_number(&self) -> i64 {
        self.next_number.load(Ordering::Relaxed)
    }

    /// Gives no number up to this one any more.
    #[inline]
    pub(crate) fn skip_number(&self, number: i64) {
        if number >= self.next_number() {
            self.next_number.fetch_max(number.saturating_add(1), Ordering::Relaxed);
        }
    }

    /// Whether these may be the values of a row.
    ///
    /// # Errors
    /// `NotNull`, `BadValue`, `OutOfRange`, `TooLong`.
    #[inline]
    pub(crate) fn check_row(&self, values: &[Datum<'_>]) -> Result<()> {
        if values.len() != self.spec.columns.len() {
            let takes = format!("{} values", self.spec.columns.len());
            return Err(EngineError::BadValue(self.name().to_owned(), takes));
        }
        self.spec
            .columns
            .iter()
            .zip(values)
            .try_for_each(|(column, &value)| check_value(column, value))
    }

    /// Writes the primary key of a row that has one of its own.
    #[inline]
    pub(crate) fn push_primary(&self, row: RowView<'_>, into: &mut Vec<u8>) {
        self.spec.primary.iter().for_each(|&column| key::push(into, row.get(column)));
    }

    /// The columns that a key of an index begins with: those of the index, then, but for the
    /// clustered one, those of the primary key.
    pub(crate) fn key_columns<'a>(
        &'a self,
        secondary: Option<&'a Secondary>,
    ) -> impl Iterator<Item = usize> + use<'a> {
        let own: &[usize] = secondary.map_or(&[], |index| &index.spec.columns);
        own.iter().chain(&self.spec.primary).copied()
    }

    /// What it takes in memory, bytes: rows, versions, keys and nodes.
    pub fn heap_bytes(&self) -> usize {
        let mut versions = 0;
        let mut from = Some(Key::default());
        while let Some(at) = from {
            from = self.rows.read_on(at.bytes(), None, |_, chain, _| {
                versions += chain
                    .all_versions()
                    .map(|version| version.row.as_ref().map_or(0, |row| row.len()))
                    .sum::<usize>();
                versions += (chain.all_versions().count() - 1) * size_of::<RowVersion>();
                std::ops::ControlFlow::Continue(())
            });
        }
        let indexes: usize = self.indexes().map(|index| index.entries.heap_bytes()).sum();
        versions + self.rows.heap_bytes() + indexes
    }
}

impl Secondary {
    /// An empty index.
    pub(crate) fn new(id: IndexId, spec: IndexSpec) -> Secondary {
        Secondary { id, spec, entries: IndexTree::default() }
    }

    /// Whether it takes the same values twice.
    pub(crate) fn is_unique(&self) -> bool {
        self.spec.uniqueness == Uniqueness::Unique
    }

    /// Writes the columns of the index, the beginning of an entry; says whether one is NULL.
    #[inline]
    pub(crate) fn push_columns(&self, row: RowView<'_>, into: &mut Vec<u8>) -> bool {
        let mut null = false;
        for &column in &self.spec.columns {
            let value = row.get(column);
            null |= value == Datum::Null;
            key::push(into, value);
        }
        null
    }

    /// Writes the entry of a row.
    #[inline]
    pub(crate) fn push_entry(&self, row: RowView<'_>, primary: &[u8], into: &mut Vec<u8>) {
        self.push_columns(row, into);
        into.extend_from_slice(primary);
    }

    /// The primary key in an entry.
    #[inline]
    pub(crate) fn primary_of<'a>(&self, entry: &'a [u8]) -> &'a [u8] {
        let columns = key::skip_many(entry, self.spec.columns.len());
        &entry[columns.expect("entries are made of columns")..]
    }
}

impl fmt::Debug for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Table").field("id", &self.id).field("name", &self.spec.name).finish()
    }
}
