//! The table of a load whose rows tell their versions.

use dbdyno_model::Dialect;

use super::name::WriteName;
use super::shape::{VersionedRowKind, WINDOW};
use crate::dataset::{Dataset, TableScript};
use crate::text;

/// Digits of an element of a list: those of the largest name.
pub(super) const DIGITS: usize = 14;

/// One table of rows that nobody has written yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VersionedRows {
    /// What they are.
    pub shape: VersionedRowKind,
    /// How many.
    pub rows: u64,
    /// See [`Dataset::seed`].
    pub seed: u64,
}

impl VersionedRows {
    fn columns(&self, dialect: Dialect) -> (String, Vec<&'static str>) {
        let number = if dialect == Dialect::Sqlite { "INTEGER" } else { "BIGINT" };
        match self.shape {
            VersionedRowKind::Register => {
                (format!("v {number} NOT NULL, prev {number} NOT NULL"), vec!["id", "v", "prev"])
            }
            VersionedRowKind::List => {
                (format!("items VARCHAR({}) NOT NULL", WINDOW * DIGITS), vec!["id", "items"])
            }
            VersionedRowKind::Counter => (format!("n {number} NOT NULL"), vec!["id", "n"]),
        }
    }
}

impl Dataset for VersionedRows {
    fn key(&self) -> String {
        format!("{}?rows={}&seed={}", self.shape.name(), self.rows, self.seed)
    }

    fn tables(&self, dialect: Dialect) -> Vec<TableScript> {
        let name = self.shape.table();
        let (storage, statistics) = match dialect {
            Dialect::Mysql | Dialect::Engine => (" ENGINE=InnoDB", format!("ANALYZE TABLE {name}")),
            // Room for versions on the page of their row, as for any table that is updated a lot.
            Dialect::Postgres => (" WITH (fillfactor = 50)", format!("VACUUM ANALYZE {name}")),
            Dialect::Sqlite => ("", format!("ANALYZE {name}")),
            Dialect::Rocksdb => unreachable!("it has no statements for RocksDB"),
        };
        let (definition, columns) = self.columns(dialect);
        vec![TableScript {
            name: name.to_owned(),
            create: format!(
                "CREATE TABLE {name} (id INTEGER NOT NULL PRIMARY KEY, {definition}){storage}"
            ),
            columns: columns.into_iter().map(String::from).collect(),
            numbers: Vec::new(),
            reshaped: Vec::new(),
            finish: vec![statistics],
        }]
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

    fn push(&self, _table: usize, unit: u64, rows: &mut Vec<u8>) -> u64 {
        text::push_number(rows, unit + 1);
        rows.extend_from_slice(match self.shape {
            VersionedRowKind::Register => b"\t0\t0\n",
            VersionedRowKind::List => b"\t\n",
            VersionedRowKind::Counter => b"\t0\n",
        });
        1
    }

    fn bytes(&self) -> u64 {
        let of_row = match self.shape {
            VersionedRowKind::List => WINDOW * DIGITS,
            VersionedRowKind::Register | VersionedRowKind::Counter => 2 * DIGITS,
        };
        self.rows * (of_row as u64 + 20)
    }

    /// Names of writes begin anew with every round, so that rows have to as well.
    fn begin_round(&self, _dialect: Dialect) -> Vec<String> {
        let unwritten = match self.shape {
            VersionedRowKind::Register => "v = 0, prev = 0",
            VersionedRowKind::List => "items = ''",
            VersionedRowKind::Counter => "n = 0",
        };
        vec![format!("UPDATE {} SET {unwritten}", self.shape.table())]
    }
}

/// A name as an element of a list: so many digits.
pub(super) fn list_element(name: WriteName) -> [u8; DIGITS] {
    let mut digits = [b'0'; DIGITS];
    let mut rest = name.pack();
    for digit in digits.iter_mut().rev() {
        *digit += (rest % 10) as u8;
        rest /= 10;
    }
    digits
}
