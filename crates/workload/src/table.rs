//! The tables: sysbench's `sbtest1 … sbtestN`, filled by a pure function of the seed.
//!
//! The column `k` is uniform in 1..=rows, so that rows per value are Poisson(1); ids are dense and
//! begin with 1. The secondary index is made after the rows, as sysbench does; PostgreSQL's primary
//! key too, for there it is an index like any other: sorting once is quicker than a search for each
//! row, and gives the same pages whichever order the rows came in.

use dbdyno_model::Dialect;
use dbdyno_model::random::{self, RandomStream};

use crate::dataset::{Dataset, TableScript};
use crate::text;

/// A set of equal tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tables {
    /// How many tables.
    pub count: u32,
    /// Rows in each.
    pub rows: u64,
    /// Seed of their contents.
    pub seed: u64,
}

impl Tables {
    /// The name of table `index`, counted from 0.
    pub fn name(index: u32) -> String {
        format!("sbtest{}", index + 1)
    }

    fn script(&self, dialect: Dialect, index: u32) -> TableScript {
        let name = Self::name(index);
        let number = index + 1;
        let others = "k INTEGER DEFAULT '0' NOT NULL, c CHAR(120) DEFAULT '' NOT NULL, \
                      pad CHAR(60) DEFAULT '' NOT NULL";
        let index = format!("CREATE INDEX k_{number} ON {name} (k)");
        let (create, finish) = match dialect {
            Dialect::Mysql | Dialect::Engine => (
                format!(
                    "CREATE TABLE {name} (id INTEGER NOT NULL AUTO_INCREMENT, {others}, \
                     PRIMARY KEY (id)) ENGINE=InnoDB"
                ),
                vec![index, format!("ANALYZE TABLE {name}")],
            ),
            Dialect::Postgres => (
                format!("CREATE TABLE {name} (id SERIAL, {others})"),
                vec![
                    index,
                    format!("ALTER TABLE {name} ADD PRIMARY KEY (id)"),
                    format!("SELECT pg_catalog.setval('{name}_id_seq', {})", self.rows),
                    format!("VACUUM ANALYZE {name}"),
                ],
            ),
            Dialect::Rocksdb => unreachable!("it has no statements for RocksDB"),
            Dialect::Sqlite => (
                format!("CREATE TABLE {name} (id INTEGER PRIMARY KEY, {others})"),
                vec![index, format!("ANALYZE {name}")],
            ),
        };
        TableScript {
            name,
            create,
            columns: ["id", "k", "c", "pad"].map(String::from).into(),
            numbers: Vec::new(),
            reshaped: Vec::new(),
            finish,
        }
    }

    fn row_stream(&self, index: u32, id: u64) -> RandomStream {
        random::stream(&[self.seed, random::key_of("rows"), u64::from(index), id])
    }
}

impl Dataset for Tables {
    fn key(&self) -> String {
        format!("sbtest?tables={}&rows={}&seed={}", self.count, self.rows, self.seed)
    }

    fn tables(&self, dialect: Dialect) -> Vec<TableScript> {
        (0..self.count).map(|index| self.script(dialect, index)).collect()
    }

    fn drawn_tables(&self) -> Vec<String> {
        (0..self.count).map(Self::name).collect()
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

    /// Unit `u` is the row with id `u + 1`. Digits and dashes need no escaping.
    fn push(&self, table: usize, unit: u64, rows: &mut Vec<u8>) -> u64 {
        let id = unit + 1;
        let mut random = self.row_stream(table as u32, id);
        text::push_number(rows, id);
        rows.push(b'\t');
        text::push_number(rows, 1 + random.next_below(self.rows));
        rows.push(b'\t');
        text::push_groups(rows, &mut random, text::C_GROUPS);
        rows.push(b'\t');
        text::push_groups(rows, &mut random, text::PAD_GROUPS);
        rows.push(b'\n');
        1
    }

    fn bytes(&self) -> u64 {
        const ROW_BYTES: u64 = 200;
        u64::from(self.count) * self.rows * ROW_BYTES
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_a_function_of_seed_table_and_id() {
        let row = |seed, index, id: u64| {
            let mut buffer = Vec::new();
            Tables { count: 2, rows: 1000, seed }.push(index, id - 1, &mut buffer);
            String::from_utf8(buffer).unwrap()
        };
        assert_eq!(row(1, 0, 5), row(1, 0, 5));
        assert_ne!(row(1, 0, 5), row(2, 0, 5));
        assert_ne!(row(1, 0, 5), row(1, 1, 5));
        let line = row(1, 0, 77);
        let fields: Vec<&str> = line.trim_end().split('\t').collect();
        assert_eq!(fields[0], "77");
        assert!((1..=1000).contains(&fields[1].parse::<u64>().unwrap()));
        assert_eq!((fields[2].len(), fields[3].len(), fields.len()), (119, 59, 4));
    }
}
