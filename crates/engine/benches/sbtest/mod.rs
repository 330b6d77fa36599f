//! A table as sysbench's: a key, an indexed number, texts of 120 and 60 bytes; 205 bytes a row.

use std::sync::Arc;

use dbdyno_engine::{
    ColumnSpec, Datum, Engine, IndexSpec, Intent, Result, RunningStatement, Table, TableSpec,
    ValueType,
};

/// The number that an index has.
pub(crate) const K: usize = 1;
/// The text that is changed.
pub(crate) const C: usize = 2;

/// Rows of one transaction while the table is filled.
const BATCH: i64 = 10_000;

/// Makes the table, with rows 1 to `rows`.
pub(crate) fn filled(engine: &Engine, rows: i64) -> Arc<Table> {
    let columns = vec![
        ColumnSpec::required("id", ValueType::BIGINT),
        ColumnSpec::required("k", ValueType::BIGINT),
        ColumnSpec::required("c", ValueType::Text { most: 120 }),
        ColumnSpec::required("pad", ValueType::Text { most: 60 }),
    ];
    let indexes = vec![IndexSpec::non_unique("k", &[K])];
    let spec = TableSpec::new("sbtest1", columns, &[0]);
    let spec = TableSpec { auto_increment: Some(0), indexes, ..spec };
    let table = engine.create_table(spec).expect("there is none");
    let mut session = engine.session();
    for begin in (1..=rows).step_by(BATCH as usize) {
        let filled = session.statement(|it| {
            it.lock_table(&table, Intent::Update)?;
            (begin..(begin + BATCH).min(rows + 1))
                .try_for_each(|id| it.insert(&table, &row(id, (id * 7_919) % rows)).map(|_| ()))
        });
        filled.expect("an empty table takes rows");
    }
    table
}

/// A row; one whose id is 0 gets the next one.
pub(crate) fn row(id: i64, k: i64) -> [Datum<'static>; 4] {
    [Datum::Int(id), Datum::Int(k), Datum::Text(&[b'c'; 120]), Datum::Text(&[b'p'; 60])]
}

/// Gives a row another value in a column.
pub(crate) fn set(
    it: &mut RunningStatement<'_>,
    table: &Arc<Table>,
    id: i64,
    column: usize,
    to: Datum<'_>,
) -> Result<()> {
    let change = |_: dbdyno_engine::RowView<'_>, row: &mut dbdyno_engine::RowWriter| {
        row.set(column, to);
        Ok(())
    };
    it.update(table, &[Datum::Int(id)], change).map(|_| ())
}
