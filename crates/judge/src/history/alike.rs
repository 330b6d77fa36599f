//! Rows that are alike in some columns, and what stands in another one of theirs.

use std::collections::BTreeMap;

use super::order::Order;
use super::table::Table;

/// The share that is nearly all.
const NEARLY_ALL: f64 = 0.9;

/// What a row has in some columns.
pub(super) type Values<'a> = Vec<&'a str>;

pub(super) fn values_of<'a>(table: &'a Table<'_>, columns: &[usize], row: usize) -> Values<'a> {
    columns.iter().map(|&column| table.cell(row, column)).collect()
}

/// What stands in a column, of the rows that are alike in all that parts already, in the order of
/// time.
pub(super) fn cells_of_groups<'a>(
    table: &'a Table<'_>,
    order: &Order,
    parting: &[usize],
    column: usize,
) -> BTreeMap<Values<'a>, Vec<&'a str>> {
    let mut rows: Vec<usize> = (0..table.rows.len()).collect();
    rows.sort_by_key(|&row| order.keys[row]);
    let mut groups: BTreeMap<Values<'_>, Vec<&str>> = BTreeMap::new();
    for row in rows {
        groups.entry(values_of(table, parting, row)).or_default().push(table.cell(row, column));
    }
    groups
}

/// Stretches of one value, one behind the other.
#[derive(Clone, Copy, Default)]
pub(super) struct Stretches {
    pub(super) count: usize,
    pub(super) rows: usize,
}

/// In how many stretches each value came.
pub(super) fn stretches_of_values<'a>(cells: &[&'a str]) -> BTreeMap<&'a str, Stretches> {
    let mut stretches: BTreeMap<&str, Stretches> = BTreeMap::new();
    for stretch in cells.chunk_by(|one, other| one == other) {
        let of_value = stretches.entry(stretch[0]).or_default();
        of_value.count += 1;
        of_value.rows += stretch.len();
    }
    stretches
}

/// Rows of the values that came in so many stretches or more.
pub(super) fn rows_that_come_back(stretches: &BTreeMap<&str, Stretches>, least: usize) -> usize {
    stretches.values().filter(|of| of.count >= least).map(|of| of.rows).sum()
}

/// Whether some are nine of ten of all, or more: a few rows may be missing.
pub(super) fn is_nearly_all(some: usize, all: usize) -> bool {
    some as f64 >= NEARLY_ALL * all as f64
}
