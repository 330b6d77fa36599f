//! The tables: sysbench's `sbtest1 … sbtestN`, filled by a pure function of the seed.
//!
//! The column `k` is uniform in 1..=rows, so that rows per value are Poisson(1); ids are dense from
//! 1. The secondary index is made after the rows, as sysbench does.

use dbdyno_model::Dialect;
use dbdyno_model::random::{self, Stream};

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

/// The statements that make and fill one table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableScript {
    /// The table's name.
    pub name: String,
    /// Makes the empty table; fails if there is one of that name.
    pub create: String,
    /// Takes rows as [`Tables::push_row`] writes them.
    pub bulk: String,
    /// Indexes, sequences and statistics, in order.
    pub finish: Vec<String>,
    /// Takes the table away.
    pub drop: String,
}

impl Tables {
    /// The name of table `index`, counted from 0.
    pub fn name(index: u32) -> String {
        format!("sbtest{}", index + 1)
    }

    /// The statements for table `index`, counted from 0.
    pub fn script(&self, dialect: Dialect, index: u32) -> TableScript {
        let name = Self::name(index);
        let number = index + 1;
        let columns = "k INTEGER DEFAULT '0' NOT NULL, c CHAR(120) DEFAULT '' NOT NULL, \
                       pad CHAR(60) DEFAULT '' NOT NULL";
        let index = format!("CREATE INDEX k_{number} ON {name} (k)");
        let (create, bulk, finish) = match dialect {
            Dialect::Mysql => (
                format!(
                    "CREATE TABLE {name} (id INTEGER NOT NULL AUTO_INCREMENT, {columns}, \
                     PRIMARY KEY (id)) ENGINE=InnoDB"
                ),
                format!("LOAD DATA LOCAL INFILE 'rows' INTO TABLE {name} (id, k, c, pad)"),
                vec![index, format!("ANALYZE TABLE {name}")],
            ),
            Dialect::Postgres => (
                format!("CREATE TABLE {name} (id SERIAL, {columns}, PRIMARY KEY (id))"),
                format!("COPY {name} (id, k, c, pad) FROM STDIN"),
                vec![
                    index,
                    format!("SELECT setval('{name}_id_seq', {})", self.rows),
                    format!("VACUUM ANALYZE {name}"),
                ],
            ),
            Dialect::Sqlite => (
                format!("CREATE TABLE {name} (id INTEGER PRIMARY KEY, {columns})"),
                format!("INSERT INTO {name} (id, k, c, pad) VALUES (?, ?, ?, ?)"),
                vec![index, format!("ANALYZE {name}")],
            ),
        };
        let drop = format!("DROP TABLE {name}");
        TableScript { name, create, bulk, finish, drop }
    }

    /// Appends row `id` (from 1) of table `index` in the tab-separated form that LOAD DATA and COPY
    /// both take. Digits and dashes need no escaping.
    pub fn push_row(&self, buffer: &mut Vec<u8>, index: u32, id: u64) {
        let mut random = self.row_stream(index, id);
        text::push_number(buffer, id);
        buffer.push(b'\t');
        text::push_number(buffer, 1 + random.below(self.rows));
        buffer.push(b'\t');
        text::push_groups(buffer, &mut random, text::C_GROUPS);
        buffer.push(b'\t');
        text::push_groups(buffer, &mut random, text::PAD_GROUPS);
        buffer.push(b'\n');
    }

    /// Bytes that the rows take as text, for progress and for checking free space.
    pub fn bytes(&self) -> u64 {
        const ROW_BYTES: u64 = 200;
        u64::from(self.count) * self.rows * ROW_BYTES
    }

    fn row_stream(&self, index: u32, id: u64) -> Stream {
        random::stream(&[self.seed, random::key_of("rows"), u64::from(index), id])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_a_function_of_seed_table_and_id() {
        let row = |seed, index, id| {
            let mut buffer = Vec::new();
            Tables { count: 2, rows: 1000, seed }.push_row(&mut buffer, index, id);
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
