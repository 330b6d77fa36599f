//! Callaghan's microbenchmarks: 32 loads, 15 of which he also runs before anything was written.
//!
//! Ranges of the `range-*` loads span 101 rows, those of `read-only-*` exactly as many as their
//! name says: so it is in his scripts, and so it is here. A name carries its range where there are
//! several.

use crate::catalog::entry::{LoadEntry, LoadParts};
use crate::catalog::oltp::{
    self, Ranges, count, distinct_range, order_range, point_select, simple_range, sum,
};
use crate::draw::Draw;
use crate::load::{
    Ask, Channel, Expect, LoadGroup, LoadStep, Mix, Sql, TableDraw, TransactionMode, Trend, Unit,
};
use crate::spec::{SpecError, SpecOptions};
use crate::table::Tables;

type Making = Result<LoadParts, SpecError>;

/// The 32, in the order of Callaghan's table.
pub(super) fn entries() -> Vec<LoadEntry> {
    [points(), ranges(), aggregates(), changes()].into_iter().flatten().collect()
}

fn entry(
    name: &'static str,
    group: LoadGroup,
    about: &'static str,
    make: fn(&mut SpecOptions, Tables) -> Making,
) -> LoadEntry {
    LoadEntry { name, about, group, make }
}

fn points() -> Vec<LoadEntry> {
    use LoadGroup::Point;
    vec![
        entry("hot-points", Point, "the same 100 rows by primary key each time", hot_points),
        entry("point-query", Point, "one row by primary key, not covered", point_query),
        entry("points-covered-pk", Point, "100 random ids, index only", |o, t| {
            reads(o, t, "SELECT id FROM {table} WHERE id IN ({id*100})", 1, 100)
        }),
        entry(
            "points-covered-si",
            Point,
            "100 random keys of the secondary index, index only",
            |o, t| reads(o, t, "SELECT k FROM {table} WHERE k IN ({k*100})", 0, u64::MAX),
        ),
        entry("points-notcovered-pk", Point, "100 random rows by primary key", |o, t| {
            reads(o, t, "SELECT id, c FROM {table} WHERE id IN ({id*100})", 1, 100)
        }),
        entry(
            "points-notcovered-si",
            Point,
            "about 100 random rows by the secondary index",
            |o, t| reads(o, t, "SELECT k, c FROM {table} WHERE k IN ({k*100})", 0, u64::MAX),
        ),
        entry("random-points_range=1000", Point, "1000 random rows by primary key", |o, t| {
            reads(o, t, "SELECT c FROM {table} WHERE id IN ({id*1000})", 1, 1000)
        }),
        entry("random-points", Point, "100 random rows by primary key", |o, t| {
            reads(o, t, "SELECT c FROM {table} WHERE id IN ({id*100})", 1, 100)
        }),
        entry("random-points_range=10", Point, "10 random rows by primary key", |o, t| {
            reads(o, t, "SELECT c FROM {table} WHERE id IN ({id*10})", 1, 10)
        }),
    ]
}

fn ranges() -> Vec<LoadEntry> {
    use LoadGroup::Range;
    vec![
        entry("range-covered-pk", Range, "101 ids by a range of the primary key", |o, t| {
            reads(o, t, "SELECT id FROM {table} WHERE id BETWEEN {id} AND {id+100}", 1, 101)
        }),
        entry(
            "range-covered-si",
            Range,
            "about 101 keys by a range of the secondary index",
            |o, t| {
                reads(o, t, "SELECT k FROM {table} WHERE k BETWEEN {k} AND {k+100}", 0, u64::MAX)
            },
        ),
        entry("range-notcovered-pk", Range, "101 rows by a range of the primary key", |o, t| {
            reads(o, t, "SELECT id, c FROM {table} WHERE id BETWEEN {id} AND {id+100}", 1, 101)
        }),
        entry(
            "range-notcovered-si",
            Range,
            "about 101 rows by a range of the secondary index",
            |o, t| {
                reads(o, t, "SELECT k, c FROM {table} WHERE k BETWEEN {k} AND {k+100}", 0, u64::MAX)
            },
        ),
        entry("scan", Range, "full scan of a table that returns nothing", scan),
    ]
}

fn aggregates() -> Vec<LoadEntry> {
    use LoadGroup::RangeAggregate;
    vec![
        entry("read-only-count_range=1000", RangeAggregate, "count of 1000 rows", |o, t| {
            single(o, t, count(1000))
        }),
        entry(
            "read-only-distinct_range=1000",
            RangeAggregate,
            "10 points and 1000 distinct rows",
            |o, t| with_points(o, t, distinct_range(1000)),
        ),
        entry(
            "read-only-order_range=1000",
            RangeAggregate,
            "10 points and 1000 rows in order",
            |o, t| with_points(o, t, order_range(1000)),
        ),
        entry(
            "read-only_range=10000",
            RangeAggregate,
            "sysbench read-only, ranges of 10000",
            |o, t| oltp::read_only(o, t, Ranges::of_rows(10_000)),
        ),
        entry(
            "read-only",
            RangeAggregate,
            "sysbench read-only: 10 points, 4 ranges of 100",
            |o, t| oltp::read_only(o, t, Ranges::of_rows(100)),
        ),
        entry("read-only_range=10", RangeAggregate, "sysbench read-only, ranges of 10", |o, t| {
            oltp::read_only(o, t, Ranges::of_rows(10))
        }),
        entry("read-only-simple_range=1000", RangeAggregate, "10 points and 1000 rows", |o, t| {
            with_points(o, t, simple_range(1000))
        }),
        entry(
            "read-only-sum_range=1000",
            RangeAggregate,
            "10 points and a sum over 1000 rows",
            |o, t| with_points(o, t, sum(1000)),
        ),
    ]
}

fn changes() -> Vec<LoadEntry> {
    use LoadGroup::Write;
    vec![
        entry("delete", Write, "one row by primary key, not put back (refill=on)", delete),
        entry("insert", Write, "one row after the last (refill=on)", insert),
        entry(
            "read-write",
            Write,
            "sysbench OLTP: 10 points, 4 ranges of 100, 4 writes in a transaction",
            |o, t| oltp::read_write(o, t, Ranges::of_rows(100)),
        ),
        entry("read-write_range=10", Write, "sysbench OLTP with ranges of 10", |o, t| {
            oltp::read_write(o, t, Ranges::of_rows(10))
        }),
        entry("update-index", Write, "one row by primary key, the indexed column", |o, t| {
            writes(o, t, "UPDATE {table} SET k=k+1 WHERE id={id}", 1, Draw::Uniform)
        }),
        entry("update-inlist", Write, "10 rows by primary key, a column without index", |o, t| {
            writes(o, t, "UPDATE {table} SET c={c} WHERE id IN ({id*10})", 10, Draw::Uniform)
        }),
        entry(
            "update-nonindex",
            Write,
            "one row by primary key, a column without index",
            |o, t| writes(o, t, "UPDATE {table} SET c={c} WHERE id={id}", 1, Draw::Uniform),
        ),
        entry("update-one", Write, "all clients update the first row", |o, t| {
            writes(o, t, "UPDATE {table} SET c={c} WHERE id={const 1}", 1, Draw::Uniform)
        }),
        entry("update-zipf", Write, "one row by primary key, drawn by Zipf's law (0.8)", |o, t| {
            writes(o, t, "UPDATE {table} SET c={c} WHERE id={id}", 1, Draw::Zipfian(0.8))
        }),
        entry(
            "write-only",
            Write,
            "sysbench write-only: 4 writes in a transaction",
            oltp::write_only,
        ),
    ]
}

/// The names of the 32, in the order of Callaghan's table.
pub fn names() -> Vec<&'static str> {
    entries().iter().map(|entry| entry.name).collect()
}

fn reads(options: &mut SpecOptions, tables: Tables, sql: &str, low: u64, high: u64) -> Making {
    single(
        options,
        tables,
        Ask {
            class: "read".to_owned(),
            sql: Sql::same_for_all(sql),
            expect: Expect::Rows(low, high),
            channel: Channel::Prepared,
        },
    )
}

/// An update that finds every row that it names, unless a name comes twice.
fn writes(
    options: &mut SpecOptions,
    tables: Tables,
    sql: &str,
    rows: u64,
    default: Draw,
) -> Making {
    let ask = Ask {
        class: "update".to_owned(),
        sql: Sql::same_for_all(sql),
        expect: Expect::Changed(1, rows),
        channel: Channel::Prepared,
    };
    Ok(LoadParts::from_mix(Mix { draw: options.draw(default)?, ..alone(ask) }, tables))
}

fn single(options: &mut SpecOptions, tables: Tables, ask: Ask) -> Making {
    Ok(LoadParts::from_mix(Mix { draw: options.draw(Draw::Uniform)?, ..alone(ask) }, tables))
}

/// A load of one statement that commits by itself.
fn alone(ask: Ask) -> Mix {
    Mix {
        transaction: TransactionMode::Autocommit,
        steps: vec![LoadStep { asks: vec![ask], repeat: 1, table: TableDraw::Random }],
        weights: Vec::new(),
        draw: Draw::Uniform,
    }
}

/// Ten point queries on one table, then a statement on another, in a transaction.
fn with_points(options: &mut SpecOptions, tables: Tables, ask: Ask) -> Making {
    let step = |asks, repeat| LoadStep { asks, repeat, table: TableDraw::Random };
    let mix = Mix {
        transaction: TransactionMode::Explicit,
        steps: vec![step(vec![point_select()], 10), step(vec![ask], 1)],
        weights: Vec::new(),
        draw: options.draw(Draw::Uniform)?,
    };
    Ok(LoadParts::from_mix(mix, tables))
}

fn point_query(options: &mut SpecOptions, tables: Tables) -> Making {
    single(options, tables, point_select())
}

fn hot_points(_options: &mut SpecOptions, tables: Tables) -> Making {
    // A small table has fewer rows after its middle.
    let low = 100.min(tables.rows - tables.rows / 2);
    let ask = Ask {
        class: "read".to_owned(),
        sql: Sql::same_for_all("SELECT c FROM {table} WHERE id IN ({hot id*100})"),
        expect: Expect::Rows(low, 100),
        channel: Channel::Prepared,
    };
    Ok(LoadParts::from_mix(alone(ask), tables))
}

/// Each client scans a table of its own, as text; the rate counts rows.
fn scan(_options: &mut SpecOptions, tables: Tables) -> Making {
    let ask = Ask {
        class: "scan".to_owned(),
        sql: Sql::same_for_all("SELECT * FROM {table} WHERE LENGTH(c) < 0"),
        expect: Expect::Rows(0, 0),
        channel: Channel::Text,
    };
    let mut mix = alone(ask);
    mix.steps[0].table = TableDraw::OfClient;
    Ok(LoadParts { unit: Unit::Rows(tables.rows), ..LoadParts::from_mix(mix, tables) })
}

/// Ids are drawn from all that ever were, so that a growing share finds nothing.
fn delete(options: &mut SpecOptions, tables: Tables) -> Making {
    let ask = Ask {
        class: "delete".to_owned(),
        sql: Sql::same_for_all("DELETE FROM {table} WHERE id={id}"),
        expect: Expect::Changed(0, 1),
        channel: Channel::Prepared,
    };
    let made = single(options, tables, ask)?;
    let trend = match options.take_one_of("refill", &["off", "on"])? {
        "on" => Trend::ShrinksAndIsRefilled,
        _ => Trend::Shrinks,
    };
    Ok(LoadParts { trend, ..made })
}

fn insert(options: &mut SpecOptions, tables: Tables) -> Making {
    let values = "{k},{c},{pad}";
    let ask = Ask {
        class: "insert".to_owned(),
        sql: Sql::of_three([
            format!("INSERT INTO {{table}} (id,k,c,pad) VALUES (0,{values})"),
            format!("INSERT INTO {{table}} (k,c,pad) VALUES ({values})"),
            format!("INSERT INTO {{table}} (k,c,pad) VALUES ({values})"),
        ]),
        expect: Expect::Changed(1, 1),
        channel: Channel::Text,
    };
    let trend = match options.take_one_of("refill", &["off", "on"])? {
        "on" => Trend::GrowsAndIsCut,
        _ => Trend::Grows,
    };
    Ok(LoadParts { trend, ..LoadParts::from_mix(alone(ask), tables) })
}
