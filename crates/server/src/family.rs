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
//! A question that has no way in a row is not asked of that family, and its answer is absent. A way
//! that began with a release names it; where nothing is known of the first one the server is asked,
//! and what it refuses is absent as well.

use dbdyno_model::server_facts::release_number;
use dbdyno_model::{Dialect, Product};
use dbdyno_wire::{Client, WireError};

use crate::backlog::{
    HISTORY_MOST, HISTORY_MOST_MYSQL, ReadBacklog, compactions, innodb, unpurged, workers,
    write_ahead_log,
};
use crate::histograms::{ColumnKnowledge, MARIADB_COLUMNS, MYSQL_COLUMNS, POSTGRES_COLUMNS};
use crate::isolation::{MYSQL_LEVEL, POSTGRES_LEVEL};
use crate::locks::{INNODB_OPEN, POSTGRES_OPEN};
use crate::plans::{AnalyzeForm, EXPLAIN_TABLE};
use crate::prices::{MARIADB_PRICES, MYSQL_PRICES, ReadPrices};
use crate::replication::{
    MARIADB_REPLICATION, MYSQL_REPLICATION, ReplicationWords, TransactionNumbers,
};
use crate::sizes::{MYSQL_SIZES, POSTGRES_SIZES, SQLITE_SIZES};
use crate::statistics::{MARIADB_LOAN, MYSQL_LOAN, NOT_LENT, POSTGRES_LOAN, StatisticsLoan};
use crate::waits::WaitSource;

/// Servers that are asked alike.
#[derive(Debug)]
pub struct ServerFamily {
    /// What people call them.
    pub name: &'static str,
    /// The protocol and the SQL that they speak.
    pub dialect: Dialect,
    /// What their version has in it and that of no other speaker of the dialect has; empty for
    /// those that are known by nothing else.
    mark: &'static str,
    /// Where their own release stands in that.
    release: ReleasePlace,
    /// Under which name they can be got, and counters of theirs are known; `None` where neither is.
    pub product: Option<Product>,
    /// What has their catalogue in it.
    pub(crate) catalogue: CatalogueKind,
    /// What a session that only looks says first, where there are no schemas.
    first_words: Option<&'static str>,
    /// How statistics of another server are taken.
    pub(crate) loan: &'static StatisticsLoan,
    /// The prices by which the optimizer counts.
    pub(crate) prices: Ways<ReadPrices>,
    /// What is known of the values in columns.
    pub(crate) columns: Ways<ColumnKnowledge>,
    /// What has a statement explained; the first that is understood is it.
    pub(crate) explain: &'static [&'static str],
    /// Whether the optimizer can be traced.
    pub(crate) trace: Ways<()>,
    /// How the rows that each node of a plan meets are counted.
    pub(crate) analyze: Ways<AnalyzeForm>,
    /// Whether a session counts the rows that it reads.
    pub(crate) counts_reads: Ways<()>,
    /// What is put off.
    pub(crate) backlog: ReadBacklog,
    /// Transactions that a history list at rest has at most.
    pub(crate) history_most: u64,
    /// How large the database is; the first question that is answered is it.
    pub(crate) sizes: &'static [&'static str],
    /// Which sessions wait for which.
    pub(crate) waits: Ways<WaitSource>,
    /// Which transactions are open; the first question that is answered is it.
    pub(crate) open_transactions: &'static [&'static str],
    /// Whether InnoDB's monitor tells the latest deadlock.
    pub(crate) has_monitor: bool,
    /// At which level a session is; the first question that is answered is it.
    pub(crate) session_level: &'static [&'static str],
    /// Whether writes are checked against the snapshot.
    pub(crate) checks_snapshots: Option<&'static str>,
    /// The words of its replication.
    pub(crate) replication: Ways<ReplicationWords>,
    /// How transactions are numbered.
    pub(crate) numbers: Option<TransactionNumbers>,
}

/// Where a release stands in a version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ReleasePlace {
    /// At its beginning.
    Beginning,
    /// Behind the mark: what stands before it is the release that they imitate.
    BehindMark,
}

/// What a catalogue knows of a table's place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CatalogueKind {
    /// `information_schema`, by database.
    Databases,
    /// `pg_catalog`, by schema.
    Schemas,
    /// Names of tables alone.
    Tables,
}

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
    checks_snapshots: None,
    replication: &[],
    numbers: None,
};

/// A way to ask a question, and in which releases.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Way<T> {
    /// The first release.
    since: u32,
    how: T,
}

/// The ways to ask a question, the newest first; none where it is not answered.
pub(crate) type Ways<T> = &'static [Way<T>];

/// One that all releases understand, or of which it is not known since when.
pub(crate) const fn always<T>(how: T) -> Way<T> {
    Way { since: 0, how }
}

/// One that is understood from a release on.
pub(crate) const fn since<T>(release: u32, how: T) -> Way<T> {
    Way { since: release, how }
}

/// How a question is asked of a server; `None` where it is not answered.
pub(crate) fn way<T: Copy>(ways: Ways<T>, server: ServerRelease) -> Option<T> {
    ways.iter().find(|way| server.number >= way.since).map(|way| way.how)
}

/// All families. Of two that fit the first one is it.
static FAMILIES: &[ServerFamily] = &[
    ServerFamily {
        name: "the served reference engine",
        mark: "-dbdyno-",
        catalogue: CatalogueKind::Tables,
        backlog: unpurged,
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
        columns: &[always(ColumnKnowledge::Asked(MARIADB_COLUMNS))],
        explain: EXPLAIN_TABLE,
        trace: &[since(10_04_00, ())],
        analyze: &[always(AnalyzeForm::Json("ANALYZE FORMAT=JSON"))],
        counts_reads: &[always(())],
        backlog: innodb,
        history_most: HISTORY_MOST,
        sizes: MYSQL_SIZES,
        waits: &[always(WaitSource::Innodb)],
        open_transactions: INNODB_OPEN,
        has_monitor: true,
        checks_snapshots: Some("SELECT @@innodb_snapshot_isolation"),
        replication: MARIADB_REPLICATION,
        numbers: Some(TransactionNumbers::Domains),
        ..UNKNOWN
    },
    ServerFamily {
        name: "MySQL",
        product: Some(Product::MySql),
        first_words: Some("SET NAMES latin1"),
        loan: &MYSQL_LOAN,
        prices: MYSQL_PRICES,
        columns: &[
            since(8_00_00, ColumnKnowledge::Asked(MYSQL_COLUMNS)),
            always(ColumnKnowledge::Nothing),
        ],
        explain: EXPLAIN_TABLE,
        trace: &[since(5_06_00, ())],
        analyze: &[since(
            8_00_18,
            AnalyzeForm::Lines(&["EXPLAIN ANALYZE FORMAT=TREE", "EXPLAIN ANALYZE"]),
        )],
        counts_reads: &[always(())],
        backlog: innodb,
        history_most: HISTORY_MOST_MYSQL,
        sizes: MYSQL_SIZES,
        waits: &[since(8_00_00, WaitSource::LockWaits), always(WaitSource::Innodb)],
        open_transactions: INNODB_OPEN,
        has_monitor: true,
        replication: MYSQL_REPLICATION,
        numbers: Some(TransactionNumbers::Sets),
        ..UNKNOWN
    },
    ServerFamily {
        name: "PostgreSQL",
        dialect: Dialect::Postgres,
        product: Some(Product::Postgres),
        catalogue: CatalogueKind::Schemas,
        loan: &POSTGRES_LOAN,
        columns: &[always(ColumnKnowledge::Asked(POSTGRES_COLUMNS))],
        analyze: &[always(AnalyzeForm::Lines(&["EXPLAIN (ANALYZE, TIMING OFF, BUFFERS OFF)"]))],
        backlog: workers,
        sizes: POSTGRES_SIZES,
        waits: &[always(WaitSource::BlockingPids)],
        open_transactions: POSTGRES_OPEN,
        session_level: POSTGRES_LEVEL,
        ..UNKNOWN
    },
    ServerFamily {
        name: "the reference engine",
        dialect: Dialect::Engine,
        catalogue: CatalogueKind::Tables,
        backlog: unpurged,
        session_level: &[],
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
        ..UNKNOWN
    },
    ServerFamily {
        name: "RocksDB",
        dialect: Dialect::Rocksdb,
        explain: &[],
        catalogue: CatalogueKind::Tables,
        backlog: compactions,
        ..UNKNOWN
    },
];

/// A server as far as questions depend on it: its family, and its release.
#[derive(Clone, Copy, Debug)]
pub struct ServerRelease {
    family: &'static ServerFamily,
    /// As `release_number` has it: 8.0.33 is 80033.
    number: u32,
}

impl ServerRelease {
    /// The server behind a connection that speaks this dialect, by the version that it told at the
    /// login.
    pub fn of(client: &dyn Client, dialect: Dialect) -> ServerRelease {
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

    /// Its family.
    pub fn family(self) -> &'static ServerFamily {
        self.family
    }

    /// Its release: 8.0.33 is 80033, 15.20 is 152000.
    pub fn number(self) -> u32 {
        self.number
    }

    /// Has a session say what it says first that only looks, where there are no schemas.
    pub(crate) fn begin_to_look(self, client: &mut dyn Client) -> Result<(), WireError> {
        self.family.first_words.map_or(Ok(()), |words| client.run(words).map(drop))
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
            assert_eq!((server.family().name, server.number()), (name, number), "{version}");
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
