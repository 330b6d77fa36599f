//! Rows that are alike in some columns.

use std::collections::BTreeMap;

use super::order::Order;
use super::table::Table;

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
