//! The tables that loads ask, as a pure function of a seed.
//!
//! A dataset is one or more tables; a table is filled in *units*, numbered from 0, which give rows:
//! one each for most tables, several for a table such as TPC-C's order lines. Units can be made in
//! any order and by several threads at once.

use std::fmt::Debug;

use dbdyno_model::Dialect;

/// The statements that make and fill one table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableScript {
    /// The table's name.
    pub name: String,
    /// Makes the empty table; fails if there is one of that name.
    pub create: String,
    /// Its columns in the order in which [`Dataset::push`] writes them.
    pub columns: Vec<String>,
    /// Columns, by place, whose digits stand for a number, and the base that they are written in:
    /// servers that take parameters are sent the number.
    pub numbers: Vec<(usize, u32)>,
    /// Columns, by place, whose values come back in another form from each family of servers, such
    /// as documents whose keys some of them sort.
    pub reshaped: Vec<usize>,
    /// Indexes, sequences and statistics, in order.
    pub finish: Vec<String>,
}

impl TableScript {}

/// A set of tables and what is in them.
pub trait Dataset: Debug + Send + Sync {
    /// Equal keys mean equal tables with equal rows.
    fn key(&self) -> String;

    /// The tables, in the order in which they are made.
    fn tables(&self, dialect: Dialect) -> Vec<TableScript>;

    /// The tables that `{table}` in a template can stand for. Dialogues need none.
    fn drawn_tables(&self) -> Vec<String> {
        Vec::new()
    }

    /// Rows of each of those tables: ids are drawn from 1 to here.
    fn rows(&self) -> u64 {
        0
    }

    /// Rows of one of its tables, from which `{id of TABLE}` draws; `None` where that is unknown.
    fn rows_of(&self, table: &str) -> Option<u64> {
        self.drawn_tables().iter().any(|name| name == table).then(|| self.rows())
    }

    /// The seed of contents and questions.
    fn seed(&self) -> u64;

    /// Number of units of a table.
    fn unit_count(&self, table: usize) -> u64;

    /// Appends the rows of a unit in the form that COPY takes: a line for each
    /// row, columns between tabs, `\N` for NULL. Returns the number of rows.
    fn push(&self, table: usize, unit: u64, rows: &mut Vec<u8>) -> u64;

    /// About how many bytes all rows take as text, for checking free space.
    fn bytes(&self) -> u64;

    /// What makes the rows what they were, before a round; nothing where rounds need not begin
    /// alike.
    fn begin_round(&self, dialect: Dialect) -> Vec<String> {
        let _none_by_default = dialect;
        Vec::new()
    }

    /// Questions whose answer must be 0 however long the loads of this dataset have run, e.g. the
    /// number of rows that break a consistency condition; with what they mean.
    fn invariants(&self, dialect: Dialect) -> Vec<(String, String)> {
        let _none_by_default = dialect;
        Vec::new()
    }
}
