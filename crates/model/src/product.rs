//! The servers that there are, and what they speak.

use std::fmt;

use crate::words::words;

/// How SQL is spelled and sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Dialect {
    /// MySQL, MariaDB and whatever speaks their protocol.
    Mysql,
    /// PostgreSQL and whatever speaks its protocol.
    Postgres,
    /// The SQLite that is linked into dbdyno.
    Sqlite,
    /// RocksDB, which has no SQL: a handful of words, see `load::rocks`.
    Rocksdb,
    /// The reference engine: a closed subset of MySQL's SQL, see `sql`.
    Engine,
}

words! {
    /// A server that dbdyno can get and start.
    #[derive(PartialOrd, Ord)]
    Product {
        /// MySQL.
        MySql = "mysql",
        /// MariaDB.
        MariaDb = "mariadb",
        /// PostgreSQL.
        Postgres = "postgres",
    }
}

impl Product {
    /// The dialect it speaks.
    pub fn dialect(self) -> Dialect {
        match self {
            Product::MySql | Product::MariaDb => Dialect::Mysql,
            Product::Postgres => Dialect::Postgres,
        }
    }
}

/// Why a target cannot be understood. The text says what to try next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TargetError {
    /// The word before the colon is not known. Carries that word.
    UnknownKind(String),
    /// Anything else; a whole sentence.
    Malformed(String),
}

impl fmt::Display for TargetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TargetError::UnknownKind(kind) => write!(f, "unknown kind of server {kind:?}"),
            TargetError::Malformed(text) => f.write_str(text),
        }
    }
}

impl std::error::Error for TargetError {}
