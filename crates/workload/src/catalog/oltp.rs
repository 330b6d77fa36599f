//! sysbench's OLTP mixes: read-only, point-select, read-write, write-only, update-only.
//!
//! A transaction is ten point queries, four ranges (plain, summed, sorted, distinct) and four
//! writes (indexed column, other column, delete, and insert of the row that was deleted), or a part
//! of it. Every group of statements draws a table anew, as sysbench does.

use crate::catalog::entry::{LoadEntry, LoadParts};
use crate::draw::Draw;
use crate::load::{
    Ask, Channel, Expect, LoadGroup, LoadStep, Mix, Sql, TableDraw, TransactionMode,
};
use crate::spec::{SpecError, SpecOptions};
use crate::table::Tables;

/// Rows of the ranges of a mix.
#[derive(Clone, Copy)]
pub(super) struct Ranges {
    rows: u64,
}

impl Ranges {
    pub(super) fn of_rows(rows: u64) -> Ranges {
        Ranges { rows }
    }
}

pub(super) fn entries() -> Vec<LoadEntry> {
    use LoadGroup::{Point, Write};
    let entry = |name, group, about, make| LoadEntry { name, about, group, make };
    vec![
        entry("point-select", Point, "sysbench point-select: one row by primary key", |o, t| {
            let step = LoadStep { asks: vec![point_select()], repeat: 1, table: TableDraw::Random };
            let mix = Mix {
                transaction: TransactionMode::Autocommit,
                steps: vec![step],
                weights: Vec::new(),
                draw: o.draw(Draw::Uniform)?,
            };
            Ok(LoadParts::from_mix(mix, t))
        }),
        entry("update-only", Write, "both updates of sysbench's OLTP in a transaction", |o, t| {
            mix(o, t, vec![once(vec![update_k()]), once(vec![update_c()])])
        }),
    ]
}

/// The mix of `read-only`.
pub(super) fn read_only(
    options: &mut SpecOptions,
    tables: Tables,
    ranges: Ranges,
) -> Result<LoadParts, SpecError> {
    let rows = options.take_number("range", ranges.rows, 1, 1_000_000)?;
    mix(options, tables, reading(rows))
}

/// The mix of `read-write`.
pub(super) fn read_write(
    options: &mut SpecOptions,
    tables: Tables,
    ranges: Ranges,
) -> Result<LoadParts, SpecError> {
    let rows = options.take_number("range", ranges.rows, 1, 1_000_000)?;
    mix(options, tables, [reading(rows), writing()].concat())
}

/// The mix of `write-only`.
pub(super) fn write_only(
    options: &mut SpecOptions,
    tables: Tables,
) -> Result<LoadParts, SpecError> {
    mix(options, tables, writing())
}

fn mix(
    options: &mut SpecOptions,
    tables: Tables,
    steps: Vec<LoadStep>,
) -> Result<LoadParts, SpecError> {
    let transaction = transaction(options)?;
    let draw = options.draw(Draw::Uniform)?;
    let mut mix = Mix { transaction, steps, weights: Vec::new(), draw };
    if transaction == TransactionMode::Autocommit && mix.writes_rows() {
        look_between(&mut mix.steps);
    }
    Ok(LoadParts::from_mix(mix, tables))
}

/// The option `trx`.
fn transaction(options: &mut SpecOptions) -> Result<TransactionMode, SpecError> {
    Ok(match options.take_one_of("trx", &["on", "off"])? {
        "off" => TransactionMode::Autocommit,
        _ => TransactionMode::Explicit,
    })
}

/// Where each statement commits by itself, a client may look between another one's deleting a row
/// and putting it back.
fn look_between(steps: &mut [LoadStep]) {
    for ask in steps.iter_mut().flat_map(|step| &mut step.asks) {
        if let Expect::Rows(least, _) = &mut ask.expect {
            *least = 0;
        }
    }
}

fn once(asks: Vec<Ask>) -> LoadStep {
    LoadStep { asks, repeat: 1, table: TableDraw::Random }
}

fn reading(rows: u64) -> Vec<LoadStep> {
    let mut steps = vec![LoadStep { repeat: 10, ..once(vec![point_select()]) }];
    steps.extend(
        [simple_range(rows), sum(rows), order_range(rows), distinct_range(rows)]
            .map(|ask| once(vec![ask])),
    );
    steps
}

fn writing() -> Vec<LoadStep> {
    vec![once(vec![update_k()]), once(vec![update_c()]), once(vec![delete(), insert_back()])]
}

fn read(class: &str, sql: String, low: u64, high: u64) -> Ask {
    Ask {
        class: class.to_owned(),
        sql: Sql::same_for_all(&sql),
        expect: Expect::Rows(low, high),
        channel: Channel::Prepared,
    }
}

// In the mix, another client may have deleted and put back the row: PostgreSQL then finds no row to
// change, because the new one came after the statement's snapshot.
fn write(class: &str, sql: &str, least: u64) -> Ask {
    Ask {
        class: class.to_owned(),
        sql: Sql::same_for_all(sql),
        expect: Expect::Changed(least, 1),
        channel: Channel::Prepared,
    }
}

pub(super) fn point_select() -> Ask {
    read("point", "SELECT c FROM {table} WHERE id={id}".to_owned(), 1, 1)
}

pub(super) fn simple_range(rows: u64) -> Ask {
    read("simple-range", format!("SELECT c FROM {}", between(rows)), 1, rows)
}

pub(super) fn sum(rows: u64) -> Ask {
    read("sum-range", format!("SELECT SUM(k) FROM {}", between(rows)), 1, 1)
}

pub(super) fn count(rows: u64) -> Ask {
    read("count-range", format!("SELECT count(c) FROM {}", between(rows)), 1, 1)
}

pub(super) fn order_range(rows: u64) -> Ask {
    read("order-range", format!("SELECT c FROM {} ORDER BY c", between(rows)), 1, rows)
}

pub(super) fn distinct_range(rows: u64) -> Ask {
    let sql = format!("SELECT DISTINCT c FROM {} ORDER BY c", between(rows));
    read("distinct-range", sql, 1, rows)
}

fn between(rows: u64) -> String {
    format!("{{table}} WHERE id BETWEEN {{id}} AND {{id+{}}}", rows - 1)
}

fn update_k() -> Ask {
    write("update-index", "UPDATE {table} SET k=k+1 WHERE id={id}", 0)
}

fn update_c() -> Ask {
    write("update-nonindex", "UPDATE {table} SET c={c} WHERE id={id}", 0)
}

// The row that is deleted comes back under the same id, so the table keeps its size.
fn delete() -> Ask {
    write("delete", "DELETE FROM {table} WHERE id={id}", 0)
}

fn insert_back() -> Ask {
    let sql = "INSERT INTO {table} (id, k, c, pad) VALUES ({same id}, {k}, {c}, {pad})";
    write("insert", sql, 1)
}
