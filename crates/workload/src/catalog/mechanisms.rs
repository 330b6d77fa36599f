//! Loads that measure one mechanism of a server, and loads that fit into no other file.
//!
//! | load          | what it measures                                              |
//! |---------------|---------------------------------------------------------------|
//! | `join`        | a join of two tables, one look-up by primary key for each row |
//! | `bulk-insert` | many rows in one statement                                    |
//!
//! Users found these two operations slower after upgrading to MySQL 8.0 (Wang, "Enhanced MySQL").
//! Both loads have the width of rows and the number of rows per statement as options, so that the
//! cost per row and the cost per statement can be told apart.

use std::sync::Arc;

use dbdyno_model::Dialect;
use dbdyno_model::random;

use crate::catalog::entry::{LoadEntry, LoadParts};
use crate::dataset::{Dataset, TableScript};
use crate::draw::Draw;
use crate::load::{
    Ask, Channel, Content, Expect, LoadGroup, LoadStep, Mix, Sql, TableDraw, TransactionMode,
    Trend, Unit,
};
use crate::spec::{SpecError, SpecOptions};
use crate::table::Tables;
use crate::text;

pub(super) fn entries() -> Vec<LoadEntry> {
    vec![
        LoadEntry {
            name: "join",
            about: "equi-join, one look-up by primary key for each row (rows=, width=)",
            group: LoadGroup::RangeAggregate,
            make: join,
        },
        LoadEntry {
            name: "bulk-insert",
            about: "many rows in one INSERT (rows=, width=)",
            group: LoadGroup::Write,
            make: bulk_insert,
        },
    ]
}

const WIDTH_USUAL: u64 = 120;
const WIDTH_MOST: u64 = 8000;

/// `rows` rows of the outer table in a range of its primary key, each with its one row of the inner
/// table. The inner table is `rows=` of the plan long; the answer is one row, so that sending does
/// not count.
fn join(options: &mut SpecOptions, tables: Tables) -> Result<LoadParts, SpecError> {
    let rows = options.take_number("rows", 1000, 1, 1_000_000)?.min(tables.rows);
    let width = options.take_number("width", WIDTH_USUAL, 1, WIDTH_MOST)?;
    let draw = options.draw(Draw::Uniform)?;
    // The order of the tables is given where the dialect can: PostgreSQL is free to hash, and its
    // plan is part of what is measured.
    let sql = |join: &str| {
        format!(
            "SELECT count(*), max(i.pad) FROM join_outer o {join} join_inner i ON i.id = o.ref \
             WHERE o.id BETWEEN {{id}} AND {{id+{}}}",
            rows - 1
        )
    };
    let ask = Ask {
        class: "join".to_owned(),
        sql: Sql::of_three([sql("STRAIGHT_JOIN"), sql("JOIN"), sql("CROSS JOIN")]),
        expect: Expect::Rows(1, 1),
        channel: Channel::Prepared,
    };
    Ok(LoadParts {
        dataset: Arc::new(JoinTables { rows: tables.rows, width, seed: tables.seed }),
        content: Content::Mix(alone(ask, draw)),
        trend: Trend::Steady,
        unit: Unit::Statements,
        background: None,
    })
}

fn bulk_insert(options: &mut SpecOptions, tables: Tables) -> Result<LoadParts, SpecError> {
    let rows = options.take_number("rows", 100, 1, 10_000)?;
    let width = options.take_number("width", WIDTH_USUAL, 1, WIDTH_MOST)?;
    let values = format!("{{rows {rows}: ({{k}}, {{digits {width}}})}}");
    let ask = Ask {
        class: "insert".to_owned(),
        sql: Sql::same_for_all(&format!("INSERT INTO bulk (k, pad) VALUES {values}")),
        expect: Expect::Changed(rows, rows),
        channel: Channel::Text,
    };
    Ok(LoadParts {
        dataset: Arc::new(Bulk { width, rows: tables.rows, seed: tables.seed }),
        content: Content::Mix(alone(ask, Draw::Uniform)),
        trend: Trend::Grows,
        unit: Unit::Rows(rows),
        background: None,
    })
}

fn alone(ask: Ask, draw: Draw) -> Mix {
    Mix {
        transaction: TransactionMode::Autocommit,
        steps: vec![LoadStep { asks: vec![ask], repeat: 1, table: TableDraw::Random }],
        weights: Vec::new(),
        draw,
    }
}

/// `join_outer` refers to rows of `join_inner` in random order.
#[derive(Clone, Debug)]
struct JoinTables {
    rows: u64,
    width: u64,
    seed: u64,
}

impl Dataset for JoinTables {
    fn key(&self) -> String {
        format!("join?rows={}&width={}&seed={}", self.rows, self.width, self.seed)
    }

    fn tables(&self, dialect: Dialect) -> Vec<TableScript> {
        let width = self.width;
        [("join_outer", "ref INTEGER NOT NULL, "), ("join_inner", "")]
            .into_iter()
            .map(|(name, reference)| {
                let columns = format!(
                    "id INTEGER NOT NULL PRIMARY KEY, {reference}pad VARCHAR({width}) NOT NULL"
                );
                let mut names = vec!["id", "ref", "pad"];
                names.retain(|column| *column != "ref" || !reference.is_empty());
                script(dialect, name, &columns, names)
            })
            .collect()
    }

    fn drawn_tables(&self) -> Vec<String> {
        vec!["join_outer".to_owned()]
    }

    fn rows(&self) -> u64 {
        self.rows
    }

    fn seed(&self) -> u64 {
        self.seed
    }

    fn unit_count(&self, _table: usize) -> u64 {
        self.rows
    }

    fn push(&self, table: usize, unit: u64, rows: &mut Vec<u8>) -> u64 {
        let mut random = random::stream(&[self.seed, random::key_of("join"), table as u64, unit]);
        text::push_number(rows, unit + 1);
        rows.push(b'\t');
        if table == 0 {
            text::push_number(rows, 1 + random.next_below(self.rows));
            rows.push(b'\t');
        }
        text::push_digits(rows, &mut random, self.width as usize);
        rows.push(b'\n');
        1
    }

    fn bytes(&self) -> u64 {
        2 * self.rows * (self.width + 20)
    }
}

/// The empty table that `bulk-insert` fills.
#[derive(Clone, Debug)]
struct Bulk {
    width: u64,
    /// Values of column `k` lie in 1..=rows.
    rows: u64,
    seed: u64,
}

impl Dataset for Bulk {
    fn key(&self) -> String {
        format!("bulk?width={}&rows={}&seed={}", self.width, self.rows, self.seed)
    }

    fn tables(&self, dialect: Dialect) -> Vec<TableScript> {
        let id = match dialect {
            Dialect::Mysql | Dialect::Engine => "id INTEGER NOT NULL AUTO_INCREMENT PRIMARY KEY",
            Dialect::Postgres => "id SERIAL PRIMARY KEY",
            Dialect::Sqlite => "id INTEGER PRIMARY KEY",
            Dialect::Rocksdb => unreachable!("it has no statements for RocksDB"),
        };
        let columns = format!("{id}, k INTEGER NOT NULL, pad VARCHAR({}) NOT NULL", self.width);
        vec![script(dialect, "bulk", &columns, vec!["id", "k", "pad"])]
    }

    fn drawn_tables(&self) -> Vec<String> {
        vec!["bulk".to_owned()]
    }

    fn rows(&self) -> u64 {
        self.rows
    }

    fn seed(&self) -> u64 {
        self.seed
    }

    fn unit_count(&self, _table: usize) -> u64 {
        0
    }

    fn push(&self, _table: usize, _unit: u64, _rows: &mut Vec<u8>) -> u64 {
        0
    }

    fn bytes(&self) -> u64 {
        0
    }
}

fn script(
    dialect: Dialect,
    name: &str,
    definition: &str,
    columns: Vec<&'static str>,
) -> TableScript {
    let (engine, statistics) = match dialect {
        Dialect::Mysql | Dialect::Engine => (" ENGINE=InnoDB", format!("ANALYZE TABLE {name}")),
        Dialect::Postgres => ("", format!("VACUUM ANALYZE {name}")),
        Dialect::Sqlite => ("", format!("ANALYZE {name}")),
        Dialect::Rocksdb => unreachable!("it has no statements for RocksDB"),
    };
    TableScript {
        name: name.to_owned(),
        create: format!("CREATE TABLE {name} ({definition}){engine}"),
        columns: columns.into_iter().map(String::from).collect(),
        numbers: Vec::new(),
        reshaped: Vec::new(),
        finish: vec![statistics],
    }
}
