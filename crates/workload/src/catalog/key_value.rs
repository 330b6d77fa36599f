//! The steps of RocksDB's `db_bench` that Callaghan runs for each release, as loads for any arm.
//!
//! ```text
//!   fillseq                 keys in ascending order into an empty table
//!   readrandom              one key
//!   overwrite               one key, written anew
//!   fwdrangewhilewriting    ten keys upwards     ┐  and beside the clients one writer, who
//!   revrangewhilewriting    ten keys downwards   ├─ overwrites keys at a rate of his own and is
//!   readwhilewriting        one key              ┘  not counted among them
//! ```
//!
//! Names, keys of 20 bytes, values of 400 bytes that can be compressed to half, ten keys for each
//! seek and a writer of 2 MB/s, which is 5,000 of those values, are those of `tools/benchmark.sh`
//! in facebook/rocksdb (facts; nothing was copied). Two things differ. The table is made
//! and filled beforehand, as for every load here, so `fillseq` has one of its own, which grows. And
//! what `overwrite` does is called by its name: SQL updates a row, which it reads first, where
//! RocksDB puts a value without looking what was there.

use std::sync::Arc;

use dbdyno_model::Dialect;
use dbdyno_model::random;

use crate::catalog::entry::{LoadEntry, LoadParts};
use crate::dataset::{Dataset, TableScript};
use crate::draw::Draw;
use crate::load::{
    Ask, BackgroundMix, Channel, Content, Expect, LoadGroup, LoadStep, Mix, Sql, TableDraw,
    TransactionMode, Trend, Unit,
};
use crate::spec::{SpecError, SpecOptions};
use crate::table::Tables;
use crate::text;

pub(super) fn entries() -> Vec<LoadEntry> {
    let entry = |name, group, about, make| LoadEntry { name, about, group, make };
    vec![
        entry("fillseq", LoadGroup::Write, "db_bench: keys in ascending order (value=)", fill),
        entry("readrandom", LoadGroup::Point, "db_bench: the value of one key (value=)", |o, t| {
            made(o, t, point, Beside::Nobody)
        }),
        entry(
            "overwrite",
            LoadGroup::Write,
            "db_bench: a new value for one key (value=)",
            |o, t| made(o, t, overwrite, Beside::Nobody),
        ),
        entry(
            "revrangewhilewriting",
            LoadGroup::Range,
            "db_bench: ten keys downwards, beside a writer (nexts=, writes=, value=)",
            |o, t| made(o, t, backwards, Beside::Writer),
        ),
        entry(
            "fwdrangewhilewriting",
            LoadGroup::Range,
            "db_bench: ten keys upwards, beside a writer (nexts=, writes=, value=)",
            |o, t| made(o, t, forwards, Beside::Writer),
        ),
        entry(
            "readwhilewriting",
            LoadGroup::Point,
            "db_bench: the value of one key, beside a writer (writes=, value=)",
            |o, t| made(o, t, point, Beside::Writer),
        ),
    ]
}

/// The loads after [`fill`], in Callaghan's order.
pub(crate) const NAMES: [&str; 5] =
    ["readrandom", "revrangewhilewriting", "fwdrangewhilewriting", "readwhilewriting", "overwrite"];

/// Who is at work beside the clients.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Beside {
    Nobody,
    Writer,
}

const VALUE_USUAL: u64 = 400;
const VALUE_MOST: u64 = 8_000;
const NEXTS_USUAL: u64 = 10;
/// Keys beside those that are drawn, on either side: a range is whole wherever it begins.
const MARGIN: u64 = 100;
const WRITES_USUAL: u64 = 5_000;
const WRITES_MOST: u64 = 1_000_000;

type Asking = fn(&mut SpecOptions, u64) -> Result<Ask, SpecError>;

fn made(
    options: &mut SpecOptions,
    tables: Tables,
    asking: Asking,
    beside: Beside,
) -> Result<LoadParts, SpecError> {
    let width = options.take_number("value", VALUE_USUAL, 1, VALUE_MOST)?;
    let ask = asking(options, width)?;
    let background = match beside {
        Beside::Nobody => None,
        Beside::Writer => Some(BackgroundMix {
            per_second: options.take_number("writes", WRITES_USUAL, 1, WRITES_MOST)?,
            mix: alone(overwrite(options, width)?, Draw::Uniform),
        }),
    };
    let draw = options.draw(Draw::Uniform)?;
    let (rows, seed) = (tables.rows, tables.seed);
    Ok(LoadParts {
        dataset: Arc::new(KeyValues { name: "kv", rows, margin: MARGIN, width, seed }),
        content: Content::Mix(alone(ask, draw)),
        trend: Trend::Steady,
        unit: Unit::Statements,
        background,
    })
}

fn fill(options: &mut SpecOptions, tables: Tables) -> Result<LoadParts, SpecError> {
    let width = options.take_number("value", VALUE_USUAL, 1, VALUE_MOST)?;
    let sql = format!("INSERT INTO fillseq (v, k) VALUES ({{twice {width}}}, {{seq}})");
    let put = format!("PUT fillseq {{twice {width}}} AT {{seq}}");
    let sql = Sql::same_for_all(&sql).and_rocksdb(&put);
    let ask = prepared("put", sql, Expect::Changed(1, 1));
    // Ids are drawn from a table's rows, and this one has none: none are drawn.
    let dataset = KeyValues { name: "fillseq", rows: 0, margin: 0, width, seed: tables.seed };
    Ok(LoadParts {
        dataset: Arc::new(dataset),
        content: Content::Mix(alone(ask, Draw::Uniform)),
        trend: Trend::Grows,
        unit: Unit::Statements,
        background: None,
    })
}

fn point(_options: &mut SpecOptions, _width: u64) -> Result<Ask, SpecError> {
    let sql = Sql::same_for_all("SELECT v FROM kv WHERE k = {id}").and_rocksdb("GET kv {id}");
    Ok(prepared("get", sql, Expect::Rows(1, 1)))
}

fn overwrite(_options: &mut SpecOptions, width: u64) -> Result<Ask, SpecError> {
    // The value is drawn before the key in both, so that all arms draw the same ones.
    let sql = Sql::same_for_all(&format!("UPDATE kv SET v = {{twice {width}}} WHERE k = {{id}}"));
    let sql = sql.and_rocksdb(&format!("PUT kv {{twice {width}}} AT {{id}}"));
    Ok(prepared("put", sql, Expect::Changed(1, 1)))
}

fn forwards(options: &mut SpecOptions, _width: u64) -> Result<Ask, SpecError> {
    range(options, "k >= {id} ORDER BY k", "NEXT")
}

fn backwards(options: &mut SpecOptions, _width: u64) -> Result<Ask, SpecError> {
    range(options, "k <= {id} ORDER BY k DESC", "PREV")
}

fn range(options: &mut SpecOptions, part: &str, step: &str) -> Result<Ask, SpecError> {
    let nexts = options.take_number("nexts", NEXTS_USUAL, 1, MARGIN)?;
    let sql = Sql::same_for_all(&format!("SELECT k, v FROM kv WHERE {part} LIMIT {nexts}"));
    let sql = sql.and_rocksdb(&format!("SEEK kv {{id}} {step} {nexts}"));
    Ok(prepared("range", sql, Expect::Rows(nexts, nexts)))
}

fn prepared(class: &str, sql: Sql, expect: Expect) -> Ask {
    Ask { class: class.to_owned(), sql, expect, channel: Channel::Prepared }
}

fn alone(ask: Ask, draw: Draw) -> Mix {
    Mix {
        transaction: TransactionMode::Autocommit,
        steps: vec![LoadStep { asks: vec![ask], repeat: 1, table: TableDraw::Random }],
        weights: Vec::new(),
        draw,
    }
}

/// A table of keys from 1 to `rows`, and `margin` more on either side, with a value each.
#[derive(Clone, Debug)]
struct KeyValues {
    name: &'static str,
    rows: u64,
    margin: u64,
    /// Characters of a value.
    width: u64,
    seed: u64,
}

impl Dataset for KeyValues {
    fn key(&self) -> String {
        let KeyValues { name, rows, width, seed, .. } = self;
        format!("{name}?rows={rows}&value={width}&seed={seed}")
    }

    fn tables(&self, dialect: Dialect) -> Vec<TableScript> {
        let name = self.name;
        let columns = format!("k BIGINT NOT NULL PRIMARY KEY, v VARCHAR({}) NOT NULL", self.width);
        let (create, finish) = match dialect {
            Dialect::Mysql | Dialect::Engine => (
                format!("CREATE TABLE {name} ({columns}) ENGINE=InnoDB"),
                format!("ANALYZE TABLE {name}"),
            ),
            Dialect::Postgres => {
                (format!("CREATE TABLE {name} ({columns})"), format!("VACUUM ANALYZE {name}"))
            }
            // Only a key of this type is that of the rows themselves.
            Dialect::Sqlite => (
                format!("CREATE TABLE {name} ({})", columns.replace("BIGINT", "INTEGER")),
                format!("ANALYZE {name}"),
            ),
            Dialect::Rocksdb => (format!("CREATE TABLE {name}"), "FLUSH".to_owned()),
        };
        let columns = ["k", "v"].map(String::from).into();
        let (name, finish) = (name.to_owned(), vec![finish]);
        let (numbers, reshaped) = (Vec::new(), Vec::new());
        vec![TableScript { name, create, columns, numbers, reshaped, finish }]
    }

    fn drawn_tables(&self) -> Vec<String> {
        vec![self.name.to_owned()]
    }

    /// At least one, from which nothing is drawn where the table is empty.
    fn rows(&self) -> u64 {
        self.rows.max(1)
    }

    fn seed(&self) -> u64 {
        self.seed
    }

    fn unit_count(&self, _table: usize) -> u64 {
        self.rows + 2 * self.margin
    }

    fn push(&self, _table: usize, unit: u64, rows: &mut Vec<u8>) -> u64 {
        let mut random = random::stream(&[self.seed, random::key_of(self.name), unit]);
        text::push_signed(rows, unit as i64 + 1 - self.margin as i64);
        rows.push(b'\t');
        text::push_twice(rows, &mut random, self.width as usize);
        rows.push(b'\n');
        1
    }

    fn bytes(&self) -> u64 {
        const KEY_BYTES: u64 = 20;
        (self.rows + 2 * self.margin) * (self.width + KEY_BYTES)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_whole_wherever_they_begin() {
        let values = KeyValues { name: "kv", rows: 50, margin: MARGIN, width: 7, seed: 3 };
        let mut rows = Vec::new();
        (0..values.unit_count(0)).for_each(|unit| assert_eq!(values.push(0, unit, &mut rows), 1));
        let rows = String::from_utf8(rows).unwrap();
        let fields = rows.lines().map(|line| line.split_once('\t').unwrap());
        let (keys, texts): (Vec<i64>, Vec<&str>) =
            fields.map(|(key, text)| (key.parse::<i64>().unwrap(), text)).unzip();
        assert_eq!(keys, (1 - 100..=50 + 100).collect::<Vec<_>>());
        assert!(texts.iter().all(|text| text.len() == 7 && text[..3] == text[4..]));
        assert_ne!(texts[0], texts[1]);
    }
}
