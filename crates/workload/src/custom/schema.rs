//! Which tables a custom load asks, and what its own ones are, as the file says it.

use crate::generator::Generator;
use crate::load::Sql;
use crate::table::Tables;

/// Which tables a custom load asks.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Place {
    /// sysbench's.
    Sbtest,
    /// Its own.
    Own(Vec<OwnTable>),
    /// Those that are there, with ids from 1 to `rows`.
    There {
        /// Ids go from 1 to here.
        rows: Option<u64>,
    },
}

/// A table as the file describes it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct OwnTable {
    pub(super) name: String,
    pub(super) rows: Rows,
    pub(super) create: Sql,
    pub(super) after: Vec<Sql>,
    pub(super) columns: Vec<(String, Generator)>,
}

/// How many rows a table has.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Rows {
    Exactly(u64),
    /// In percent of the rows of the plan.
    Percent(u64),
}

/// Rows that a table may have.
pub(super) const ROWS_MOST: u64 = 2_000_000_000;

impl OwnTable {
    /// Whether it begins without rows.
    pub(super) fn is_empty(&self) -> bool {
        matches!(self.rows, Rows::Exactly(0) | Rows::Percent(0))
    }

    /// How many rows it has in a plan.
    pub(super) fn rows(&self, tables: Tables) -> u64 {
        match self.rows {
            Rows::Exactly(rows) => rows,
            Rows::Percent(0) => 0,
            Rows::Percent(share) => (tables.rows.saturating_mul(share) / 100).clamp(1, ROWS_MOST),
        }
    }
}
