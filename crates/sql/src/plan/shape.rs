//! What a plan needs to know of a table.

use std::sync::Arc;

use dbdyno_engine::row::ColumnSpec;
use dbdyno_engine::table::{self, IndexSpec, Uniqueness};
use dbdyno_engine::value::Value;

/// A table as it is when a statement is prepared.
#[derive(Debug)]
pub(crate) struct Table {
    pub handle: Arc<table::Table>,
    pub name: String,
    pub columns: Vec<ColumnSpec>,
    /// The primary key first.
    pub indexes: Vec<Index>,
}

/// A key has at most so many columns, as in MySQL.
pub(crate) const COLUMNS_MOST: usize = 16;

/// An index: columns by number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Index {
    pub name: String,
    pub columns: Vec<usize>,
    pub unique: bool,
}

/// The place of the primary key among a table's indexes. One without columns is that of rows that
/// have no key but a hidden one.
pub(crate) const PRIMARY: usize = 0;

impl Table {
    /// What there is to know of a table of the engine.
    pub(crate) fn from_handle(handle: Arc<table::Table>) -> Table {
        let primary =
            Index { name: "PRIMARY".to_owned(), columns: handle.primary().to_vec(), unique: true };
        let secondary = handle.indexes().map(|index| {
            let IndexSpec { name, columns, uniqueness } = &index.spec;
            let unique = *uniqueness == Uniqueness::Unique;
            Index { name: name.clone(), columns: columns.clone(), unique }
        });
        let indexes = std::iter::once(primary).chain(secondary).collect();
        let (name, columns) = (handle.name().to_owned(), handle.columns().to_vec());
        Table { handle, name, columns, indexes }
    }

    /// The number of a column.
    pub(crate) fn column(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| column.name.eq_ignore_ascii_case(name))
    }

    /// Whether a row cannot be put in without a value for a column.
    pub(crate) fn needs_value(&self, column: usize) -> bool {
        let about = &self.columns[column];
        let is_numbered = self.handle.auto_increment() == Some(column);
        !about.nullable && about.default == Value::Null && !is_numbered
    }

    /// Whether an entry of this index, with the primary key behind it, has a column.
    pub(crate) fn index_covers(&self, index: usize, column: usize) -> bool {
        index == PRIMARY
            || self.indexes[index].columns.contains(&column)
            || self.indexes[PRIMARY].columns.contains(&column)
    }
}
