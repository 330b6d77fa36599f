//! What servers say of their own work: one table of names, with the place of each in every family
//! and range of versions.
//!
//! ```text
//!   handler_read_next  counter  MySQL, MariaDB  SHOW GLOBAL STATUS  Handler_read_next
//!   history_list       gauge    MySQL 5.6 …     innodb_metrics      trx_rseg_history_len
//!                               MariaDB 10.5 …  SHOW GLOBAL STATUS  Innodb_history_list_length
//! ```
//!
//! A counter only grows: two looks tell what was done in between, and that is told for each
//! operation. A gauge is the level of a moment. `server` reads by this table, `judge` compares by
//! it, and what a release does not have is absent. The readings of a round are called by these
//! names behind `server.`.

use crate::experiment::Sign;
use crate::product::Product;
use crate::verdict::Interval;

/// What the names of readings begin with that a server tells of itself.
const SERVER_PREFIX: &str = "server.";
/// Statements that a server has carried out between two looks: what its counters are divided by.
/// Those of MySQL and MariaDB are their own count, lead-in and all; PostgreSQL counts transactions,
/// each of which is as many statements as the clients made of theirs.
pub const STATEMENTS: &str = "statements";
/// The transactions by which PostgreSQL counts.
pub const TRANSACTIONS: &str = "transactions";

/// A fact that servers tell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ServerFact {
    /// What it is called, whatever the server calls it.
    pub name: &'static str,
    /// In what it is counted.
    pub unit: &'static str,
    /// What it is about.
    pub class: FactClass,
    /// How it is read and told.
    pub kind: FactKind,
    /// Where it stands, by family and version.
    pub sources: &'static [FactSource],
}

/// What a fact is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FactClass {
    /// How rows are found.
    Access,
    /// Tables and files that live as long as a statement.
    Temporary,
    /// Waiting, and what is not got by it.
    Wait,
    /// Pages of the buffer pool and the files behind it.
    Pages,
    /// The log of changes, and the log of errors.
    Log,
    /// What is put off: old versions, pages that are not yet written.
    Debt,
    /// Statements, transactions and rows by kind.
    Work,
    /// Connections, and what they do.
    Sessions,
    /// What was refused, broken off or wrong.
    Errors,
}

impl FactClass {
    /// What a difference means, and what to do.
    pub fn advice(self) -> &'static str {
        match self {
            FactClass::Access => {
                "one server reads more rows for the same answers: compare plans, indexes and \
                 statistics of the tables"
            }
            FactClass::Temporary => {
                "one server sorts or keeps more for itself: compare plans, and the sizes of sort \
                 buffers and temporary tables"
            }
            FactClass::Wait => {
                "one server waits more: see who holds locks there, and how long transactions are"
            }
            FactClass::Pages => {
                "one server touches or reads more pages: compare the size of its memory, the plans \
                 and how full pages are"
            }
            FactClass::Log => {
                "one server writes more for the same changes: compare durability, the format of \
                 its logs and what is printed"
            }
            FactClass::Debt => {
                "one server has put off more: look for transactions that stay open, and let purge \
                 or vacuum come to an end before it is measured"
            }
            FactClass::Work => "one server is asked something else: compare what its clients send",
            FactClass::Sessions => {
                "one server has more to do at once: compare the pools of its clients, and how long \
                 an answer takes"
            }
            FactClass::Errors => {
                "one server refuses or loses more: look into its log of errors and into those of \
                 its clients"
            }
        }
    }
}

/// How a fact is read and told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FactKind {
    /// It grows: told for each operation.
    Counter,
    /// A level, that of the end of a round.
    Gauge,
    /// One counter for each of another one.
    Each(&'static str, &'static str),
}

/// Where a fact stands in some releases.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FactSource {
    products: &'static [Product],
    /// The first release, and the first one that is too late: 8.0.30 is 80030.
    releases: [u32; 2],
    /// Where.
    pub place: FactPlace,
}

/// Where a fact stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FactPlace {
    /// `SHOW GLOBAL STATUS`.
    Status(&'static str),
    /// One line of it less another one.
    StatusLess(&'static str, &'static str),
    /// One line of it and another one.
    StatusPlus(&'static str, &'static str),
    /// `information_schema.innodb_metrics`.
    Metric(&'static str),
    /// The number behind these words in `SHOW ENGINE INNODB STATUS`.
    Innodb(&'static str),
    /// The number behind the first words there, less that behind the others.
    InnodbLess(&'static str, &'static str),
    /// `SELECT expression FROM view`, as `(view, expression)`.
    View(&'static str, &'static str),
    /// The length of the file that errors go to, where the server runs here.
    ErrorLog,
    /// The clients' own count.
    Clients,
}

impl std::fmt::Display for FactPlace {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            FactPlace::Status(name) => write!(f, "status {name}"),
            FactPlace::StatusLess(name, less) => write!(f, "status {name} less {less}"),
            FactPlace::StatusPlus(name, more) => write!(f, "status {name} and {more}"),
            FactPlace::Metric(name) => write!(f, "innodb_metrics {name}"),
            FactPlace::Innodb(words) => write!(f, "SHOW ENGINE INNODB STATUS, {words}"),
            FactPlace::InnodbLess(words, less) => {
                write!(f, "SHOW ENGINE INNODB STATUS, {words} less {less}")
            }
            FactPlace::View(view, expression) => write!(f, "SELECT {expression} FROM {view}"),
            FactPlace::ErrorLog => f.write_str("the length of the log of errors"),
            FactPlace::Clients => f.write_str("the clients' own count"),
        }
    }
}

impl FactKind {
    /// `counter`, `gauge` or `ratio`.
    pub fn kind_word(self) -> &'static str {
        match self {
            FactKind::Counter => "counter",
            FactKind::Gauge => "gauge",
            FactKind::Each(..) => "ratio",
        }
    }

    /// `per-operation`, `level` or `ratio`, as in JSON.
    pub fn name(self) -> &'static str {
        match self {
            FactKind::Counter => "per-operation",
            FactKind::Gauge => "level",
            FactKind::Each(..) => "ratio",
        }
    }
}

impl FactSource {
    /// The families of which it is the place.
    pub fn product_families(&self) -> &'static [Product] {
        self.products
    }

    /// The releases in which it is the place: `all releases`, `from 10.5`, `before 17`, `14 to 17`.
    pub fn releases_text(&self) -> String {
        match self.releases {
            [0, u32::MAX] => "all releases".to_owned(),
            [first, u32::MAX] => format!("from {}", release_text(first)),
            [0, beyond] => format!("before {}", release_text(beyond)),
            [first, beyond] => {
                format!("from {} to before {}", release_text(first), release_text(beyond))
            }
        }
    }

    /// Whether it is the place in this release.
    fn is_for(&self, product: Product, release: u32) -> bool {
        let [first, beyond] = self.releases;
        self.products.contains(&product) && (first..beyond).contains(&release)
    }
}

impl ServerFact {
    /// Where it stands in a release, if it is there.
    pub fn place_in(&self, product: Product, release: u32) -> Option<FactPlace> {
        self.places_in(product, release).next()
    }

    /// All places where it stands in a release, the best first: for the others there is a right
    /// less, or a switch more.
    pub fn places_in(&self, product: Product, release: u32) -> impl Iterator<Item = FactPlace> {
        let sources = self.sources.iter().filter(move |source| source.is_for(product, release));
        sources.map(|source| source.place)
    }

    /// A value of it with its unit, to three digits: `101 rows an operation`.
    pub fn display_value(&self, value: Option<f64>) -> Option<String> {
        let value = value?;
        let digits = (2 - value.abs().max(1e-6).log10().floor() as i32).clamp(0, 6) as usize;
        let number = format!("{value:.digits$}");
        let number = if number.contains('.') {
            number.trim_end_matches('0').trim_end_matches('.')
        } else {
            &number
        };
        Some(match self.kind {
            FactKind::Counter => format!("{number} {} an operation", self.unit),
            FactKind::Gauge => format!("{number} {}", self.unit),
            FactKind::Each(..) => number.to_owned(),
        })
    }

    /// The name of its reading.
    pub fn reading_name(&self) -> String {
        fact_reading(self.name)
    }
}

/// The name of the reading of a fact.
pub fn fact_reading(name: &str) -> String {
    format!("{SERVER_PREFIX}{name}")
}

/// The number of a release by which places are found: 10.11.19 is 101119, 15.20 is 152000.
pub fn release_number(version: &str) -> u32 {
    let parts = version.split(|c: char| !c.is_ascii_digit()).map(|part| part.parse::<u32>());
    let mut parts = parts.map(|part| part.unwrap_or(0).min(99));
    let mut next = || parts.next().unwrap_or(0);
    next() * 10_000 + next() * 100 + next()
}

/// A release by its number: `8.0.33`, `10.5`, `17`.
fn release_text(release: u32) -> String {
    let [major, minor, patch] = [release / 10_000, release / 100 % 100, release % 100];
    match (minor, patch) {
        (0, 0) => major.to_string(),
        (minor, 0) => format!("{major}.{minor}"),
        (minor, patch) => format!("{major}.{minor}.{patch}"),
    }
}

/// A fact of two arms in a cell.
#[derive(Clone, Debug, PartialEq)]
pub struct FactComparison {
    /// Which.
    pub fact: &'static ServerFact,
    /// Base's: for an operation, or the mean of levels; `None` where base does not tell it.
    pub base: Option<f64>,
    /// Test's.
    pub test: Option<f64>,
    /// Test ÷ base with its 95 % interval; `None` where one of them is zero in a round, or where
    /// there are too few pairs.
    pub ratio: Option<Interval>,
    /// What is proved of it, if anything is.
    pub sign: Option<Sign>,
    /// Whether a reader is shown it who has not asked for all.
    pub worth: FactWorth,
}

/// Whether a fact is worth a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FactWorth {
    /// The arms differ in it, and it is more than nothing.
    Telling,
    /// It stands with all others, which were asked for.
    AskedFor,
    /// It stands with all others.
    Listed,
}

impl FactComparison {
    /// Test ÷ base, with or without an interval; infinite where base has none of it.
    pub fn ratio_to_base(&self) -> Option<f64> {
        let (base, test) = (self.base?, self.test?);
        (base > 0.0 || test > 0.0).then(|| test / base)
    }
}

pub(crate) const MYSQL: &[Product] = &[Product::MySql];
pub(crate) const MARIADB: &[Product] = &[Product::MariaDb];
pub(crate) const BOTH: &[Product] = &[Product::MySql, Product::MariaDb];
pub(crate) const POSTGRES: &[Product] = &[Product::Postgres];
const ALL: &[Product] = &Product::ALL;

/// Of all releases.
pub(crate) const ANY: [u32; 2] = [0, u32::MAX];

pub(crate) const fn from(release: u32) -> [u32; 2] {
    [release, u32::MAX]
}

pub(crate) const fn source_of(
    products: &'static [Product],
    releases: [u32; 2],
    place: FactPlace,
) -> FactSource {
    FactSource { products, releases, place }
}

pub(crate) const fn counter_of(
    name: &'static str,
    unit: &'static str,
    class: FactClass,
    sources: &'static [FactSource],
) -> ServerFact {
    ServerFact { name, unit, class, kind: FactKind::Counter, sources }
}

pub(crate) const fn gauge_of(
    name: &'static str,
    unit: &'static str,
    class: FactClass,
    sources: &'static [FactSource],
) -> ServerFact {
    ServerFact { name, unit, class, kind: FactKind::Gauge, sources }
}

const fn each(
    name: &'static str,
    class: FactClass,
    one: &'static str,
    of: &'static str,
) -> ServerFact {
    ServerFact { name, unit: "", class, kind: FactKind::Each(one, of), sources: &[] }
}

/// A view of PostgreSQL about the database that is asked.
pub(crate) const DATABASE: &str = "pg_stat_database WHERE datname = current_database()";
pub(crate) const TABLES: &str = "pg_stat_user_tables";
/// Waits by class, where the performance schema is on and their instruments are; else there is no
/// row, and nothing is known.
const FILE_WAITS: &str = "performance_schema.events_waits_summary_global_by_event_name \
                          WHERE event_name LIKE 'wait/io/file/%' AND count_star > 0";
const LATCH_WAITS: &str = "performance_schema.events_waits_summary_global_by_event_name \
                           WHERE event_name LIKE 'wait/synch/%' AND count_star > 0";
/// What PostgreSQL says 0 of where it was not told to take the time.
const POSTGRES_FILE_WAITS: &str = "CASE WHEN current_setting('track_io_timing')::bool \
                                   THEN blk_read_time + blk_write_time END";

use FactClass::{Access, Debt, Log, Pages, Temporary, Wait};
use FactPlace::{
    Clients, ErrorLog, Innodb, InnodbLess, Metric, Status, StatusLess, StatusPlus, View,
};

/// What counters are divided by.
pub const ASKED: [ServerFact; 2] = [
    // The farewell of a connection is counted as a question.
    counter_of(
        STATEMENTS,
        "statements",
        Access,
        &[source_of(BOTH, ANY, StatusLess("Questions", "Connections"))],
    ),
    counter_of(
        TRANSACTIONS,
        "transactions",
        Access,
        &[source_of(POSTGRES, ANY, View(DATABASE, "xact_commit + xact_rollback"))],
    ),
];

/// All facts. Names of the servers: the manuals of MySQL 5.6 to 9.7 ("Server Status Variables",
/// "InnoDB INFORMATION_SCHEMA Metrics Table"), of MariaDB ("InnoDB Status Variables") and of
/// PostgreSQL 12 to 18 ("The Cumulative Statistics System"); each range was tried on releases.
#[rustfmt::skip]
pub const FACTS: &[ServerFact] = &[
    counter_of("rows_examined", "rows", Access, &[
        source_of(MARIADB, ANY, Status("Rows_read")),
        source_of(MYSQL, ANY, Status("Innodb_rows_read")),
        source_of(POSTGRES, ANY, View(DATABASE, "tup_returned")),
    ]),
    counter_of("rows_sent", "rows", Access, &[source_of(ALL, ANY, Clients)]),
    each("rows_examined_per_row_sent", Access, "rows_examined", "rows_sent"),
    counter_of("handler_read_first", "reads", Access, &[
        source_of(BOTH, ANY, Status("Handler_read_first")),
    ]),
    counter_of("handler_read_key", "reads", Access, &[
        source_of(BOTH, ANY, Status("Handler_read_key")),
    ]),
    counter_of("handler_read_last", "reads", Access, &[
        source_of(BOTH, ANY, Status("Handler_read_last")),
    ]),
    counter_of("handler_read_next", "rows", Access, &[
        source_of(BOTH, ANY, Status("Handler_read_next")),
    ]),
    counter_of("handler_read_prev", "rows", Access, &[
        source_of(BOTH, ANY, Status("Handler_read_prev")),
    ]),
    counter_of("handler_read_rnd", "rows", Access, &[
        source_of(BOTH, ANY, Status("Handler_read_rnd")),
    ]),
    counter_of("handler_read_rnd_next", "rows", Access, &[
        source_of(BOTH, ANY, Status("Handler_read_rnd_next")),
    ]),
    counter_of("handler_write", "rows", Access, &[
        source_of(MYSQL, ANY, Status("Handler_write")),
        source_of(MARIADB, ANY, StatusPlus("Handler_write", "Handler_tmp_write")),
    ]),
    counter_of("handler_update", "rows", Access, &[
        source_of(MYSQL, ANY, Status("Handler_update")),
        source_of(MARIADB, ANY, StatusPlus("Handler_update", "Handler_tmp_update")),
    ]),
    counter_of("handler_delete", "rows", Access, &[source_of(BOTH, ANY, Status("Handler_delete"))]),
    counter_of("index_scans", "scans", Access, &[
        source_of(POSTGRES, ANY, View(TABLES, "sum(idx_scan)")),
    ]),
    counter_of("index_rows_fetched", "rows", Access, &[
        source_of(POSTGRES, ANY, View(TABLES, "sum(idx_tup_fetch)")),
    ]),
    counter_of("full_scans", "scans", Access, &[
        source_of(BOTH, ANY, Status("Select_scan")),
        source_of(POSTGRES, ANY, View(TABLES, "sum(seq_scan)")),
    ]),
    counter_of("full_scan_rows", "rows", Access, &[
        source_of(POSTGRES, ANY, View(TABLES, "sum(seq_tup_read)")),
    ]),
    counter_of("full_joins", "joins", Access, &[source_of(BOTH, ANY, Status("Select_full_join"))]),
    counter_of("range_checks", "joins", Access, &[
        source_of(BOTH, ANY, Status("Select_range_check")),
    ]),
    counter_of("sorted_rows", "rows", Temporary, &[source_of(BOTH, ANY, Status("Sort_rows"))]),
    counter_of("sort_merge_passes", "passes", Temporary, &[
        source_of(BOTH, ANY, Status("Sort_merge_passes")),
    ]),
    counter_of("tmp_tables", "tables", Temporary, &[
        source_of(BOTH, ANY, Status("Created_tmp_tables")),
    ]),
    counter_of("tmp_disk_tables", "tables", Temporary, &[
        source_of(BOTH, ANY, Status("Created_tmp_disk_tables")),
    ]),
    counter_of("tmp_files", "files", Temporary, &[
        source_of(BOTH, ANY, Status("Created_tmp_files")),
        source_of(POSTGRES, ANY, View(DATABASE, "temp_files")),
    ]),
    counter_of("tmp_bytes", "bytes", Temporary, &[
        source_of(POSTGRES, ANY, View(DATABASE, "temp_bytes")),
    ]),
    counter_of("row_lock_waits", "waits", Wait, &[
        source_of(BOTH, ANY, Status("Innodb_row_lock_waits")),
    ]),
    counter_of("row_lock_wait_ms", "ms", Wait, &[
        source_of(BOTH, ANY, Status("Innodb_row_lock_time")),
    ]),
    counter_of("table_lock_waits", "waits", Wait, &[
        source_of(BOTH, ANY, Status("Table_locks_waited")),
    ]),
    counter_of("deadlocks", "deadlocks", Wait, &[
        source_of(MYSQL, from(5_06_00), Metric("lock_deadlocks")),
        source_of(MARIADB, from(10_05_00), Status("Innodb_deadlocks")),
        source_of(MARIADB, ANY, Metric("lock_deadlocks")),
        source_of(POSTGRES, ANY, View(DATABASE, "deadlocks")),
    ]),
    counter_of("lock_timeouts", "timeouts", Wait, &[
        source_of(MYSQL, from(5_06_00), Metric("lock_timeouts")),
        source_of(MARIADB, [0, 10_05_00], Metric("lock_timeouts")),
    ]),
    counter_of("redo_buffer_waits", "waits", Wait, &[
        source_of(BOTH, ANY, Status("Innodb_log_waits")),
        source_of(POSTGRES, from(14_00_00), View("pg_stat_wal", "wal_buffers_full")),
    ]),
    counter_of("free_page_waits", "waits", Wait, &[
        source_of(BOTH, ANY, Status("Innodb_buffer_pool_wait_free")),
    ]),
    counter_of("file_wait_ms", "ms", Wait, &[
        source_of(BOTH, ANY, View(FILE_WAITS, "sum(sum_timer_wait) / 1e9")),
        source_of(POSTGRES, ANY, View(DATABASE, POSTGRES_FILE_WAITS)),
    ]),
    counter_of("latch_wait_ms", "ms", Wait, &[
        source_of(BOTH, ANY, View(LATCH_WAITS, "sum(sum_timer_wait) / 1e9")),
    ]),
    counter_of("pages_requested", "pages", Pages, &[
        source_of(BOTH, ANY, Status("Innodb_buffer_pool_read_requests")),
        source_of(POSTGRES, ANY, View(DATABASE, "blks_hit + blks_read")),
    ]),
    counter_of("pages_read", "pages", Pages, &[
        source_of(BOTH, ANY, Status("Innodb_buffer_pool_reads")),
        source_of(POSTGRES, ANY, View(DATABASE, "blks_read")),
    ]),
    each("pages_read_per_request", Pages, "pages_read", "pages_requested"),
    counter_of("pages_flushed", "pages", Pages, &[
        source_of(BOTH, ANY, Status("Innodb_buffer_pool_pages_flushed")),
        source_of(POSTGRES, [0, 17_00_00],
           View("pg_stat_bgwriter", "buffers_checkpoint + buffers_clean + buffers_backend")),
        source_of(POSTGRES, from(17_00_00),
           View("pg_stat_bgwriter, pg_stat_checkpointer", "buffers_clean + buffers_written")),
    ]),
    counter_of("pages_written_twice", "pages", Pages, &[
        source_of(BOTH, ANY, Status("Innodb_dblwr_pages_written")),
    ]),
    counter_of("fsyncs", "syncs", Log, &[
        source_of(BOTH, ANY, Status("Innodb_data_fsyncs")),
        source_of(POSTGRES, [14_00_00, 18_00_00], View("pg_stat_wal", "wal_sync")),
        source_of(POSTGRES, from(18_00_00), View("pg_stat_io WHERE object = 'wal'", "sum(fsyncs)")),
    ]),
    counter_of("redo_bytes", "bytes", Log, &[
        source_of(BOTH, ANY, Status("Innodb_os_log_written")),
        source_of(POSTGRES, ANY,
           View("pg_current_wal_insert_lsn() AS place (lsn)", "lsn - '0/0'::pg_lsn")),
    ]),
    counter_of("redo_records", "records", Log, &[
        source_of(BOTH, ANY, Status("Innodb_log_write_requests")),
        source_of(POSTGRES, from(14_00_00), View("pg_stat_wal", "wal_records")),
    ]),
    counter_of("full_page_images", "pages", Log, &[
        source_of(POSTGRES, from(14_00_00), View("pg_stat_wal", "wal_fpi")),
    ]),
    counter_of("error_log_bytes", "bytes", Log, &[source_of(ALL, ANY, ErrorLog)]),
    gauge_of("checkpoint_age", "bytes", Debt, &[
        source_of(MYSQL, from(8_00_30),
           StatusLess("Innodb_redo_log_current_lsn", "Innodb_redo_log_checkpoint_lsn")),
        source_of(MARIADB, from(10_05_00), Status("Innodb_checkpoint_age")),
        source_of(BOTH, ANY, InnodbLess("Log sequence number", "Last checkpoint at")),
        source_of(POSTGRES, ANY,
           View("pg_control_checkpoint()", "pg_current_wal_insert_lsn() - redo_lsn")),
    ]),
    gauge_of("history_list", "transactions", Debt, &[
        source_of(MARIADB, from(10_05_00), Status("Innodb_history_list_length")),
        source_of(MYSQL, from(5_06_00), Metric("trx_rseg_history_len")),
        source_of(BOTH, ANY, Innodb("History list length")),
    ]),
    gauge_of("dead_rows", "rows", Debt, &[
        source_of(POSTGRES, ANY, View(TABLES, "sum(n_dead_tup)")),
    ]),
    gauge_of("dirty_pages", "pages", Debt, &[
        source_of(BOTH, ANY, Status("Innodb_buffer_pool_pages_dirty")),
    ]),
    gauge_of("oldest_transaction_s", "s", Debt, &[
        source_of(BOTH, ANY, View("information_schema.innodb_trx",
           "coalesce(max(timestampdiff(second, trx_started, now())), 0)")),
        source_of(POSTGRES, ANY, View("pg_stat_activity WHERE pid <> pg_backend_pid()",
           "coalesce(max(extract(epoch FROM now() - xact_start)), 0)")),
    ]),
];

/// The fact of this name.
pub fn find_fact(name: &str) -> Option<&'static ServerFact> {
    FACTS.iter().find(|fact| fact.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn releases_are_numbers_in_their_order() {
        let texts =
            ["5.6.24", "8.0.12", "8.0.33", "9.7.4", "10.2.11-MariaDB", "10.11.19", "11.8.9"];
        let numbers: Vec<u32> = texts.iter().map(|text| release_number(text)).collect();
        assert_eq!(numbers, [50624, 80012, 80033, 90704, 100211, 101119, 110809]);
        assert_eq!(release_number("15.20 (Debian 15.20-0+deb12u1)"), 152000);
        assert_eq!(release_number("18beta1"), 180000);
        assert_eq!((release_number(""), release_number("x.4294967296")), (0, 0));
    }

    #[test]
    fn each_fact_has_one_name_and_what_it_is_divided_by() {
        let mut names: Vec<&str> = FACTS.iter().chain(&ASKED).map(|fact| fact.name).collect();
        names.sort_unstable();
        assert!(names.windows(2).all(|two| two[0] != two[1]), "{names:?}");
        for known in FACTS {
            match known.kind {
                FactKind::Each(one, of) => {
                    assert!(find_fact(one).is_some() && find_fact(of).is_some(), "{}", known.name);
                    assert!(known.sources.is_empty(), "{}", known.name);
                }
                FactKind::Counter | FactKind::Gauge => {
                    assert!(!known.sources.is_empty(), "{}", known.name);
                }
            }
        }
    }

    #[test]
    fn values_have_three_digits_and_their_unit() {
        let next = find_fact("handler_read_next").unwrap();
        for (value, shown) in [(101.0, "101"), (1.0, "1"), (0.012345, "0.0123"), (0.0, "0")] {
            assert_eq!(
                next.display_value(Some(value)).unwrap(),
                format!("{shown} rows an operation")
            );
        }
        let level = find_fact("history_list").unwrap().display_value(Some(123456.7)).unwrap();
        assert_eq!(level, "123457 transactions");
        assert_eq!(
            find_fact("pages_read_per_request").unwrap().display_value(Some(0.5)).unwrap(),
            "0.5"
        );
        assert_eq!(next.display_value(None), None);
    }

    #[test]
    fn a_place_is_that_of_the_release() {
        let place =
            |name: &str, product, release| find_fact(name).unwrap().place_in(product, release);
        let less = place("checkpoint_age", Product::MySql, 8_00_33);
        assert!(matches!(less, Some(StatusLess(..))), "{less:?}");
        let text = place("checkpoint_age", Product::MySql, 8_00_15);
        assert!(matches!(text, Some(InnodbLess(..))), "{text:?}");
        let history = place("history_list", Product::MariaDb, 10_11_19);
        assert_eq!(history, Some(Status("Innodb_history_list_length")));
        assert_eq!(place("handler_read_key", Product::Postgres, 15_20_00), None);
    }
}
