//! Families of servers, each a row: what its servers call themselves, and how each question is
//! asked of them.
//!
//! ```text
//!   protocol   version              family       release
//!   MySQL      8.0.33               MySQL        8.0.33      the rest: forks say MySQL's version
//!              11.8.3-MariaDB       MariaDB      11.8.3
//!              8.0.11-TiDB-v8.5.0   TiDB         8.5.0
//!              8.0.33-dbdyno-0.1.0  engine       8.0.33
//!   PostgreSQL 15.20                PostgreSQL   15.20
//! ```
//!
//! The ways to ask are told of in `family`, and stand with what they ask.

use dbdyno_model::server_facts::release_number;
use dbdyno_model::{Dialect, Product};
use dbdyno_wire::Client;

use crate::backlog::{
    HISTORY_MOST, HISTORY_MOST_MYSQL, innodb_backlog, purge_backlog, rocksdb_backlog, workers,
    write_ahead_log,
};
use crate::family::{
    AnalyzeForm, CatalogueKind, ColumnKnowledge, ReleasePlace, ServerFamily, ServerRelease,
    TransactionNumbers, WaitSource, any_release, since_release,
};
use crate::histograms::{MARIADB_COLUMNS, MYSQL_COLUMNS, POSTGRES_COLUMNS};
use crate::isolation::{MYSQL_LEVEL, POSTGRES_LEVEL};
use crate::locks::{INNODB_OPEN, POSTGRES_OPEN};
use crate::optimizer_statistics::{MARIADB_LOAN, MYSQL_LOAN, NOT_LENT, POSTGRES_LOAN};
use crate::plans::EXPLAIN_TABLE;
use crate::prices::{MARIADB_PRICES, MYSQL_PRICES};
use crate::replication::{MARIADB_REPLICATION, MYSQL_REPLICATION};
use crate::sizes::{MYSQL_SIZES, POSTGRES_SIZES, SQLITE_SIZES};

/// What is known of a server of which nothing is known but its dialect: nothing is asked of it.
const UNKNOWN: ServerFamily = ServerFamily {
    name: "a server",
    dialect: Dialect::Mysql,
    mark: "",
    release: ReleasePlace::Beginning,
    product: None,
    catalogue: CatalogueKind::Databases,
    first_words: None,
    loan: &NOT_LENT,
    prices: &[],
    columns: &[],
    explain: &["EXPLAIN"],
    trace: &[],
    analyze: &[],
    counts_reads: &[],
    backlog: |_, _, _| Ok(Vec::new()),
    history_most: 0,
    sizes: &[],
    waits: &[],
    open_transactions: &[],
    has_monitor: false,
    session_level: MYSQL_LEVEL,
    has_known_promises: false,
    has_read_uncommitted: true,
    checks_snapshots: None,
    replication: &[],
    numbers: None,
};

/// All families. Of two that fit the first one is it.
static FAMILIES: &[ServerFamily] = &[
    ServerFamily {
        name: "the served reference engine",
        mark: "-dbdyno-",
        catalogue: CatalogueKind::Tables,
        backlog: purge_backlog,
        waits: &[any_release(WaitSource::ProcessList)],
        has_read_uncommitted: false,
        has_known_promises: true,
        ..UNKNOWN
    },
    // What is known of it is that it keeps rows otherwise: no counters, histograms and reports of
    // InnoDB, and a plan is no table of steps. TiDB's manual, "MySQL Compatibility".
    ServerFamily {
        name: "TiDB",
        mark: "-TiDB-v",
        release: ReleasePlace::BehindMark,
        first_words: Some("SET NAMES latin1"),
        explain: &[],
        ..UNKNOWN
    },
    // What is asked of it one of many servers answers, and not for the others. Vitess' manual,
    // "MySQL Compatibility".
    ServerFamily { name: "Vitess", mark: "-Vitess", explain: &[], ..UNKNOWN },
    ServerFamily {
        name: "MariaDB",
        mark: "MariaDB",
        product: Some(Product::MariaDb),
        first_words: Some("SET NAMES latin1"),
        loan: &MARIADB_LOAN,
        prices: MARIADB_PRICES,
        columns: &[any_release(ColumnKnowledge::Asked(MARIADB_COLUMNS))],
        explain: EXPLAIN_TABLE,
        trace: &[since_release(10_04_00, ())],
        analyze: &[any_release(AnalyzeForm::Json("ANALYZE FORMAT=JSON"))],
        counts_reads: &[any_release(())],
        backlog: innodb_backlog,
        history_most: HISTORY_MOST,
        sizes: MYSQL_SIZES,
        waits: &[any_release(WaitSource::Innodb)],
        open_transactions: INNODB_OPEN,
        has_monitor: true,
        checks_snapshots: Some("SELECT @@innodb_snapshot_isolation"),
        replication: MARIADB_REPLICATION,
        numbers: Some(TransactionNumbers::Domains),
        has_known_promises: true,
        ..UNKNOWN
    },
    ServerFamily {
        name: "MySQL",
        product: Some(Product::MySql),
        first_words: Some("SET NAMES latin1"),
        loan: &MYSQL_LOAN,
        prices: MYSQL_PRICES,
        columns: &[
            since_release(8_00_00, ColumnKnowledge::Asked(MYSQL_COLUMNS)),
            any_release(ColumnKnowledge::Nothing),
        ],
        explain: EXPLAIN_TABLE,
        trace: &[since_release(5_06_00, ())],
        analyze: &[since_release(
            8_00_18,
            AnalyzeForm::Lines(&["EXPLAIN ANALYZE FORMAT=TREE", "EXPLAIN ANALYZE"]),
        )],
        counts_reads: &[any_release(())],
        backlog: innodb_backlog,
        history_most: HISTORY_MOST_MYSQL,
        sizes: MYSQL_SIZES,
        waits: &[since_release(8_00_00, WaitSource::LockWaits), any_release(WaitSource::Innodb)],
        open_transactions: INNODB_OPEN,
        has_monitor: true,
        replication: MYSQL_REPLICATION,
        numbers: Some(TransactionNumbers::Sets),
        has_known_promises: true,
        ..UNKNOWN
    },
    ServerFamily {
        name: "PostgreSQL",
        dialect: Dialect::Postgres,
        product: Some(Product::Postgres),
        catalogue: CatalogueKind::Schemas,
        loan: &POSTGRES_LOAN,
        columns: &[any_release(ColumnKnowledge::Asked(POSTGRES_COLUMNS))],
        analyze: &[any_release(AnalyzeForm::Lines(&[
            "EXPLAIN (ANALYZE, TIMING OFF, BUFFERS OFF)",
        ]))],
        backlog: workers,
        sizes: POSTGRES_SIZES,
        waits: &[any_release(WaitSource::BlockingPids)],
        open_transactions: POSTGRES_OPEN,
        session_level: POSTGRES_LEVEL,
        has_known_promises: true,
        ..UNKNOWN
    },
    ServerFamily {
        name: "the reference engine",
        dialect: Dialect::Engine,
        catalogue: CatalogueKind::Tables,
        backlog: purge_backlog,
        session_level: &[],
        has_known_promises: true,
        ..UNKNOWN
    },
    ServerFamily {
        name: "SQLite",
        dialect: Dialect::Sqlite,
        explain: &["EXPLAIN QUERY PLAN"],
        backlog: write_ahead_log,
        sizes: SQLITE_SIZES,
        session_level: &[],
        catalogue: CatalogueKind::Tables,
        has_known_promises: true,
        ..UNKNOWN
    },
    ServerFamily {
        name: "RocksDB",
        dialect: Dialect::Rocksdb,
        explain: &[],
        catalogue: CatalogueKind::Tables,
        backlog: rocksdb_backlog,
        has_known_promises: true,
        ..UNKNOWN
    },
];

impl ServerRelease {
    /// The server behind a connection that speaks this dialect, by the version that it told at the
    /// login.
    pub fn of_client(client: &dyn Client, dialect: Dialect) -> ServerRelease {
        ServerRelease::of_version(client.server_version(), dialect)
    }

    /// The server that speaks this dialect and calls itself so.
    pub fn of_version(version: &str, dialect: Dialect) -> ServerRelease {
        let family = FAMILIES
            .iter()
            .find(|family| family.dialect == dialect && version.contains(family.mark))
            .expect("each dialect has a family without a mark");
        let release = match family.release {
            ReleasePlace::Beginning => version,
            ReleasePlace::BehindMark => version.split_once(family.mark).map_or("", |both| both.1),
        };
        ServerRelease { family, number: release_number(release) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_is_known_by_what_it_calls_itself() {
        for (version, dialect, name, number) in [
            ("8.0.33", Dialect::Mysql, "MySQL", 8_00_33),
            ("8.0.33-25", Dialect::Mysql, "MySQL", 8_00_33),
            ("11.8.3-MariaDB-deb13", Dialect::Mysql, "MariaDB", 11_08_03),
            ("5.7.25-TiDB-v7.5.0", Dialect::Mysql, "TiDB", 7_05_00),
            ("8.0.11-TiDB-v8.5.0-alpha", Dialect::Mysql, "TiDB", 8_05_00),
            ("8.0.30-Vitess", Dialect::Mysql, "Vitess", 8_00_30),
            ("8.0.33-dbdyno-0.1.0", Dialect::Mysql, "the served reference engine", 8_00_33),
            ("15.20", Dialect::Postgres, "PostgreSQL", 15_20_00),
            ("18beta1", Dialect::Postgres, "PostgreSQL", 18_00_00),
            ("", Dialect::Sqlite, "SQLite", 0),
        ] {
            let server = ServerRelease::of_version(version, dialect);
            assert_eq!(
                (server.family().name, server.version_number()),
                (name, number),
                "{version}"
            );
        }
    }

    #[test]
    fn each_dialect_has_one_family_without_a_mark_and_it_comes_last() {
        for (at, family) in FAMILIES.iter().enumerate().filter(|(_, one)| one.mark.is_empty()) {
            let later = FAMILIES[at + 1..].iter().find(|other| other.dialect == family.dialect);
            assert!(later.is_none(), "{} hides {later:?}", family.name);
        }
    }
}
