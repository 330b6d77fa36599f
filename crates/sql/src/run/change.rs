//! Rows put in, changed, taken away.
//!
//! ```text
//!   UPDATE   which rows ─► locked, their keys kept ─► each changed by what its newest version is
//! ```
//!
//! Which rows are meant is known before the first one is changed: a row that moves ahead in the
//! index that is read would else be met again. As MySQL counts it, a row that becomes what it was
//! has not been changed.

use std::sync::Arc;

use dbdyno_engine::EngineError;
use dbdyno_engine::row::RowView;
use dbdyno_engine::session::{Intent, RowWriter, RunningStatement, UpdateResult};
use dbdyno_engine::table;
use dbdyno_engine::value::{Datum, Value, ValueType};

use super::keys::{self, ColumnInput};
use super::output::Limits;
use super::read::{self, Look};
use super::sink::Flow;
use super::{ExecutionInput, Walk};
use crate::error::{Result, SqlError};
use crate::expr::{BoundRow, Expr, Frame, LevelRow, all_hold};
use crate::operand::Operand;
use crate::parse;
use crate::plan::{self, Access, Change, Insert, Query, Source, Table};
use crate::watch::StatementWatch;

/// What an INSERT put in.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct InsertResult {
    pub rows: u64,
    /// The first of the numbers that the table gave.
    pub first_number: Option<i64>,
    /// The last of those that the rows brought themselves.
    pub own_number: Option<i64>,
}

/// The number of a row that was put in.
enum RowNumber {
    None,
    /// The table gave it.
    Given(i64),
    /// The row brought it.
    Own(i64),
}

/// Puts rows in.
pub(crate) fn insert(
    statement: &mut RunningStatement<'_>,
    insert: &Insert,
    given: ExecutionInput<'_>,
) -> Result<InsertResult> {
    let table = &insert.table;
    let frame = given.frame();
    let rows = insert.rows.len() as u64;
    let mut inserted = InsertResult { rows, ..InsertResult::default() };
    for row in &insert.rows {
        let values = row.iter().map(|value| value.value(&frame));
        let values: Vec<_> = values.collect::<Result<_>>()?;
        match put(statement, table, &insert.from, &values)? {
            RowNumber::None => {}
            RowNumber::Given(number) => _ = inserted.first_number.get_or_insert(number),
            RowNumber::Own(number) => inserted.own_number = Some(number),
        }
    }
    Ok(inserted)
}

/// Puts in rows that are lines of text, with the table locked whole; returns how many.
pub(crate) fn insert_lines(
    statement: &mut RunningStatement<'_>,
    table: &Table,
    from: &[Option<usize>],
    lines: &[u8],
) -> Result<u64> {
    statement.lock_table(&table.handle, Intent::Update)?;
    let mut rows = 0;
    let lines = lines.split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
    for line in lines {
        let fields: Vec<_> = line
            .split(|&byte| byte == b'\t')
            .map(|field| if field == b"\\N" { Operand::Null } else { Operand::of_text(field) })
            .collect();
        put(statement, table, from, &fields)?;
        rows += 1;
    }
    Ok(rows)
}

/// Puts in one row; `from` says where the value of each column is. Returns its number, where the
/// table numbers its rows.
fn put(
    statement: &mut RunningStatement<'_>,
    table: &Table,
    from: &[Option<usize>],
    values: &[Operand<'_>],
) -> Result<RowNumber> {
    let held = table.columns.iter().zip(from).map(|(column, from)| match from {
        Some(place) => match values.get(*place) {
            Some(value) => keys::column_input(value, column.kind, &column.name),
            None => Err(SqlError::Value(format!("{} lacks a value", column.name))),
        },
        None => Ok(ColumnInput::Plain(column.default.datum())),
    });
    let held: Vec<ColumnInput<'_>> = held.collect::<Result<_>>()?;
    let data: Vec<Datum<'_>> = held.iter().map(ColumnInput::datum).collect();
    if let Some(number) = statement.insert(&table.handle, &data)? {
        return Ok(RowNumber::Given(number));
    }
    Ok(match table.handle.auto_increment().map(|column| data[column]) {
        Some(Datum::Int(number)) => RowNumber::Own(number),
        _ => RowNumber::None,
    })
}

/// What an UPDATE did.
pub(crate) struct UpdatedRows {
    /// Rows that are not as they were.
    pub(crate) changed: u64,
    /// Those, and rows that were as it makes them.
    pub(crate) found: u64,
}

/// Changes rows.
pub(crate) fn update(
    statement: &mut RunningStatement<'_>,
    change: &Change,
    given: ExecutionInput<'_>,
) -> Result<UpdatedRows> {
    let (mut changed, mut found) = (0, 0);
    each_row(statement, change, given, |statement, table, key, frame| {
        // The engine knows its own errors only.
        let mut failed = None;
        let set = |row: RowView<'_>, writer: &mut RowWriter| {
            set_columns(change, row, frame, writer).map_err(|error| match error {
                SqlError::Engine(error) => error,
                other => {
                    let refused = EngineError::BadValue(table.name().to_owned(), other.to_string());
                    failed = Some(other);
                    refused
                }
            })
        };
        let updated = statement.update_at(table, key, set);
        if let Some(error) = failed {
            return Err(error);
        }
        let updated = updated?;
        changed += u64::from(updated == UpdateResult::Changed);
        found += u64::from(updated != UpdateResult::Missing);
        Ok(())
    })?;
    Ok(UpdatedRows { changed, found })
}

/// Takes rows away; returns how many.
pub(crate) fn delete(
    statement: &mut RunningStatement<'_>,
    change: &Change,
    given: ExecutionInput<'_>,
) -> Result<u64> {
    let mut gone = 0;
    each_row(statement, change, given, |statement, table, key, _| {
        gone += u64::from(statement.delete_at(table, key)?);
        Ok(())
    })?;
    Ok(gone)
}

/// The value of what is made of constants.
pub(crate) fn evaluate(expr: &Expr) -> Result<Operand<'static>> {
    let watch = StatementWatch::new(None, true);
    let given = ExecutionInput { params: &[], now: 0, watch: &watch };
    Ok(expr.value(&given.frame())?.into_owned())
}

/// The value of a constant as a column holds it.
pub(crate) fn evaluate_constant(
    written: &parse::Expr,
    kind: ValueType,
    column: &str,
) -> Result<Value> {
    let value = evaluate(&plan::plan_constant(written)?)?;
    Ok(keys::column_input(&value, kind, column)?.datum().to_value())
}

fn set_columns(
    change: &Change,
    row: RowView<'_>,
    frame: &Frame<'_>,
    writer: &mut RowWriter,
) -> Result<()> {
    let bound = BoundRow { level: 0, row: LevelRow::Stored(row), before: None };
    let frame = frame.with_row(&bound);
    let columns = &table_of(&change.which).table.columns;
    for (column, value) in &change.set {
        let (value, about) = (value.value(&frame)?, &columns[*column]);
        writer.set(*column, keys::column_input(&value, about.kind, &about.name)?.datum());
    }
    Ok(())
}

/// Locks the rows that are meant, then calls `work` with the key of each.
fn each_row<'e, W>(
    statement: &mut RunningStatement<'e>,
    change: &Change,
    given: ExecutionInput<'_>,
    mut work: W,
) -> Result<()>
where
    W: FnMut(&mut RunningStatement<'e>, &Arc<table::Table>, &[u8], &Frame<'_>) -> Result<()>,
{
    let (query, access) = (&change.which, table_of(&change.which));
    let mut walk = Walk::new(statement, query, given, &[]);
    walk.ask_once()?;
    let Walk { statement, ground, .. } = walk;
    let frame = ground.frame(None);
    if !all_hold(&query.filter, &frame)? {
        return Ok(());
    }
    let mut left = Limits::from_query(query, &frame)?.left;
    if left == 0 {
        return Ok(());
    }
    let filter = &query.levels[0].filter;
    let (mut keys, mut ends) = (Vec::new(), Vec::new());
    read::read(statement, access, Intent::Update, &frame, &mut |key, row| {
        let bound = BoundRow { level: 0, row: LevelRow::Stored(row), before: None };
        if !all_hold(filter, &frame.with_row(&bound))? {
            return Ok(Look::PassedOver);
        }
        frame.watch.keep_bytes(key.len() + size_of::<usize>())?;
        keys.extend_from_slice(key);
        ends.push(keys.len());
        left -= 1;
        Ok(if left == 0 { Look::TakenLast } else { Look::Taken })
    })
    .map(|_: Flow| ())?;
    let mut start = 0;
    for end in ends {
        work(statement, &access.table.handle, &keys[start..end], &frame)?;
        start = end;
    }
    Ok(())
}

fn table_of(query: &Query) -> &Access {
    match &query.levels[0].source {
        Source::Table(access) => access,
        Source::Query(_) => unreachable!("refused when it was planned"),
    }
}
