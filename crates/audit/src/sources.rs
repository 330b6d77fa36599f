//! Where a reader can look up what a rule claims.
//!
//! A rule is worth as much as the text behind it, and a text that cannot be opened is worth
//! nothing: a [`Citation`] is a page of the web or of this repository, and one that is neither does
//! not compile.

/// A text that says, or shows by a measurement, what is claimed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Citation {
    title: &'static str,
    place: &'static str,
}

impl Citation {
    /// A text with this title, at an address that begins with `https://` or at a path of this
    /// repository that begins with `docs/`.
    ///
    /// # Panics
    /// With a place of another form or without a title; a constant does not compile then.
    pub const fn new(title: &'static str, place: &'static str) -> Citation {
        assert!(!title.is_empty(), "a citation has a title");
        assert!(
            begins_with(place, "https://") || begins_with(place, "docs/"),
            "a citation is at https:// or below docs/"
        );
        Citation { title, place }
    }

    /// Author or manual, title, and year where it has one.
    pub const fn title(self) -> &'static str {
        self.title
    }

    /// An address of the web, or a path from the root of this repository.
    pub const fn place(self) -> &'static str {
        self.place
    }

    /// As a link of Markdown, for a page of `docs/`.
    pub(crate) fn markdown_link(self) -> String {
        let target = self.place.strip_prefix("docs/").unwrap_or(self.place);
        format!("[{}]({target})", self.title)
    }
}

const fn begins_with(text: &str, beginning: &str) -> bool {
    let (text, beginning) = (text.as_bytes(), beginning.as_bytes());
    if text.len() <= beginning.len() {
        return false;
    }
    let mut at = 0;
    while at < beginning.len() {
        if text[at] != beginning[at] {
            return false;
        }
        at += 1;
    }
    true
}

// Posts and papers.

/// Callaghan on fsync: a release without `O_DIRECT_NO_FSYNC` loses where fsync is slow.
pub const CALLAGHAN_FSYNC: Citation = Citation::new(
    "Callaghan, The Insert Benchmark vs MariaDB 10.2 to 13.0 on a 32-core server, 2026",
    "https://smalldatum.blogspot.com/2026/04/the-insert-benchmark-vs-mariadb-102-to_8.html",
);
/// Callaghan on character sets of several bytes.
pub const CALLAGHAN_CHARSET: Citation = Citation::new(
    "Callaghan, Sysbench vs MariaDB on a small server: using the same charset for all versions, \
     2026",
    "https://smalldatum.blogspot.com/2026/04/sysbench-vs-mariadb-on-small-server.html",
);
pub(crate) const CALLAGHAN_FLUSHING: Citation = Citation::new(
    "Callaghan, The Insert Benchmark vs MariaDB 10.2 to 13.0 on a 24-core server, 2026",
    "https://smalldatum.blogspot.com/2026/04/the-insert-benchmark-vs-mariadb-102-to.html",
);
pub(crate) const CALLAGHAN_RELEASES: Citation = Citation::new(
    "Callaghan, Sysbench vs MySQL on a small server: another way to view the regressions, 2026",
    "https://smalldatum.blogspot.com/2026/04/sysbench-vs-mysql-on-small-server-n.html",
);
pub(crate) const CALLAGHAN_STEPS: Citation = Citation::new(
    "Callaghan, Updates for the Insert Benchmark, December 2023",
    "https://smalldatum.blogspot.com/2023/12/updates-for-insert-benchmark-december.html",
);
/// Wang on deadlocks that are printed.
pub const WANG_DEADLOCKS: Citation = Citation::new(
    "Wang, The Art of Problem-Solving in Software Engineering, chapter 7",
    "https://github.com/enhancedformysql/The-Art-of-Problem-Solving-in-Software-Engineering_\
     How-to-Make-MySQL-Better/blob/main/Chapter7.md",
);
/// Wang on syncs at commit (11.5.1), the performance schema (11.5.5) and the doublewrite buffer
/// (11.5.6).
pub const WANG_SETTINGS: Citation = Citation::new(
    "Wang, The Art of Problem-Solving in Software Engineering, chapter 11",
    "https://github.com/enhancedformysql/The-Art-of-Problem-Solving-in-Software-Engineering_\
     How-to-Make-MySQL-Better/blob/main/Chapter11.md",
);
pub(crate) const WANG_PLANS: Citation = Citation::new(
    "Wang, The Art of Problem-Solving in Software Engineering, chapter 8.1.1",
    "https://github.com/enhancedformysql/The-Art-of-Problem-Solving-in-Software-Engineering_\
     How-to-Make-MySQL-Better/blob/main/Chapter8.md",
);
pub(crate) const WANG_TESTS: Citation = Citation::new(
    "Wang, The Art of Problem-Solving in Software Engineering, chapter 6",
    "https://github.com/enhancedformysql/The-Art-of-Problem-Solving-in-Software-Engineering_\
     How-to-Make-MySQL-Better/blob/main/Chapter6.md",
);
pub(crate) const WANG_GROWTH: Citation = Citation::new(
    "Wang, The Art of Problem-Solving in Software Engineering, chapter 4.12",
    "https://github.com/enhancedformysql/The-Art-of-Problem-Solving-in-Software-Engineering_\
     How-to-Make-MySQL-Better/blob/main/Chapter4_12.md",
);
pub(crate) const KRAVTCHUK: Citation = Citation::new(
    "Kravtchuk, MySQL Performance: Analyzing Benchmarks, part-3: Low Level Workloads with MySQL \
     5.6, 2013",
    "https://dimitrik.free.fr/blog/",
);
/// Percona on memory allocators: glibc's of 2013 loses with many threads on many processors.
pub const PERCONA_ALLOCATORS: Citation = Citation::new(
    "Percona, MySQL performance: Impact of memory allocators (Part 2), 2013",
    "https://www.percona.com/blog/2013/03/08/\
     mysql-performance-impact-of-memory-allocators-part-2/",
);
pub(crate) const PERCONA_BOUNDS: Citation = Citation::new(
    "Percona, What Oracle Missed, We Fixed: More Performant Query Processing in Percona Server for \
     MySQL",
    "https://www.percona.com/blog/\
     what-oracle-missed-we-fixed-more-performant-query-processing-in-percona-server-for-mysql",
);
pub(crate) const ORACLE_PERFORMANCE_SCHEMA: Citation = Citation::new(
    "MySQL Blog Archive, Performance Schema: Great Power Comes Without Great Cost",
    "https://dev.mysql.com/blog-archive/performance-schema-great-power-comes-without-great-cost",
);
pub(crate) const EISENTRAUT: Citation = Citation::new(
    "Eisentraut, PostgreSQL LTO battle, 2024",
    "https://peter.eisentraut.org/blog/2024/09/03/postgresql-lto-battle",
);
pub(crate) const MOERKOTTE: Citation = Citation::new(
    "Moerkotte, Neumann, Steidl, Preventing Bad Plans by Bounding the Impact of Cardinality \
     Estimation Errors, 2009",
    "https://hdl.handle.net/11858/00-001M-0000-000F-1939-5",
);
pub(crate) const BULEJ: Citation = Citation::new(
    "Bulej and others, Duet Benchmarking: Improving Measurement Accuracy in the Cloud, 2020",
    "https://arxiv.org/abs/2001.05811",
);
pub(crate) const YANG: Citation = Citation::new(
    "Yang and others, Detection of Performance Changes in MooBench Results Using Nyrkiö on GitHub \
     Actions, 2025",
    "https://arxiv.org/abs/2510.11310",
);
pub(crate) const DALY_HOSTS: Citation = Citation::new(
    "Ingo and Daly, Reducing Variability in Performance Tests on EC2: Setup and Key Results, 2019",
    "https://www.daviddaly.me/2024/06/reducing-variability-in-performance.html",
);
pub(crate) const DALY_DISKS: Citation = Citation::new(
    "MongoDB, Repeatable performance tests: EBS instances are the stable option",
    "https://engineering.mongodb.com/post/\
     repeatable-performance-tests-ebs-instances-are-the-stable-option",
);
pub(crate) const DALY_PROCESSORS: Citation = Citation::new(
    "Ingo and Daly, Repeatable Performance Tests: CPU Options Are Best Disabled",
    "https://www.mongodb.com/blog/post/repeatable-performance-tests-cpu-options-best-disabled",
);
/// MDEV-33545: without `O_DIRECT_NO_FSYNC` a shutdown takes four times as long.
pub const MDEV_33545: Citation = Citation::new(
    "MDEV-33545, Perf regression from removing innodb_flush_method=O_DIRECT_NO_FSYNC",
    "https://jira.mariadb.org/browse/MDEV-33545",
);
pub(crate) const BUG_100191: Citation =
    Citation::new("MySQL bug 100191", "https://bugs.mysql.com/bug.php?id=100191");

// Manuals.

/// Binary log: slightly slower with it.
pub const MYSQL_BINARY_LOG: Citation = Citation::new(
    "MySQL manual, The Binary Log",
    "https://dev.mysql.com/doc/refman/8.0/en/binary-log.html",
);
/// The larger the buffer pool, the fewer reads from disk.
pub const MYSQL_BUFFER_POOL: Citation = Citation::new(
    "MySQL manual, Buffer Pool",
    "https://dev.mysql.com/doc/refman/8.0/en/innodb-buffer-pool.html",
);
/// Persistent statistics make the optimizer choose alike after a restart.
pub const MYSQL_STATISTICS: Citation = Citation::new(
    "MySQL manual, Configuring Persistent Optimizer Statistics Parameters",
    "https://dev.mysql.com/doc/refman/8.0/en/innodb-persistent-stats.html",
);
/// What a switch of the optimizer decides.
pub const MYSQL_SWITCHES: Citation = Citation::new(
    "MySQL manual, Switchable Optimizations",
    "https://dev.mysql.com/doc/refman/8.0/en/switchable-optimizations.html",
);
pub(crate) const MYSQL_COMMIT: Citation = Citation::new(
    "MySQL manual, innodb_flush_log_at_trx_commit",
    "https://dev.mysql.com/doc/refman/8.0/en/\
     innodb-parameters.html#sysvar_innodb_flush_log_at_trx_commit",
);
pub(crate) const MYSQL_COSTS: Citation = Citation::new(
    "MySQL manual, The Optimizer Cost Model",
    "https://dev.mysql.com/doc/refman/8.0/en/cost-model.html",
);
pub(crate) const MYSQL_DEADLOCKS: Citation = Citation::new(
    "MySQL manual, Deadlocks in InnoDB",
    "https://dev.mysql.com/doc/refman/8.0/en/innodb-deadlocks.html",
);
pub(crate) const MYSQL_FOREIGN_KEYS: Citation = Citation::new(
    "MySQL manual, FOREIGN KEY Constraints",
    "https://dev.mysql.com/doc/refman/8.0/en/create-table-foreign-keys.html",
);
pub(crate) const MYSQL_HISTOGRAMS: Citation = Citation::new(
    "MySQL manual, Optimizer Statistics",
    "https://dev.mysql.com/doc/refman/8.0/en/optimizer-statistics.html",
);
pub(crate) const MYSQL_ISOLATION: Citation = Citation::new(
    "MySQL manual, Transaction Isolation Levels",
    "https://dev.mysql.com/doc/refman/8.0/en/innodb-transaction-isolation-levels.html",
);
pub(crate) const MYSQL_MODES: Citation = Citation::new(
    "MySQL manual, Server SQL Modes",
    "https://dev.mysql.com/doc/refman/8.0/en/sql-mode.html",
);
pub(crate) const MYSQL_ROW_FORMATS: Citation = Citation::new(
    "MySQL manual, InnoDB Row Formats",
    "https://dev.mysql.com/doc/refman/8.0/en/innodb-row-format.html",
);
pub(crate) const MYSQL_SERVER_UUID: Citation = Citation::new(
    "MySQL manual, Replication and Binary Logging Options and Variables",
    "https://dev.mysql.com/doc/refman/8.0/en/replication-options.html",
);
pub(crate) const MYSQL_THREADS: Citation = Citation::new(
    "MySQL manual, Configuring Thread Concurrency for InnoDB",
    "https://dev.mysql.com/doc/refman/8.0/en/innodb-performance-thread_concurrency.html",
);
pub(crate) const MYSQL_VERSIONS_OF_ROWS: Citation = Citation::new(
    "MySQL manual, InnoDB Multi-Versioning",
    "https://dev.mysql.com/doc/refman/8.0/en/innodb-multi-versioning.html",
);
pub(crate) const MYSQL_WARM_UP: Citation = Citation::new(
    "MySQL manual, Saving and Restoring the Buffer Pool State",
    "https://dev.mysql.com/doc/refman/8.0/en/innodb-preload-buffer-pool.html",
);
/// A commit that does not wait for its log is quicker.
pub const POSTGRES_COMMIT: Citation = Citation::new(
    "PostgreSQL manual, Asynchronous Commit",
    "https://www.postgresql.org/docs/current/wal-async-commit.html",
);
/// What a planner method or a constant of costs decides.
pub const POSTGRES_PLANNING: Citation = Citation::new(
    "PostgreSQL manual, Query Planning",
    "https://www.postgresql.org/docs/current/runtime-config-query.html",
);
/// Shared buffers, and how pages are read.
pub const POSTGRES_RESOURCES: Citation = Citation::new(
    "PostgreSQL manual, Resource Consumption",
    "https://www.postgresql.org/docs/current/runtime-config-resource.html",
);
pub(crate) const POSTGRES_ASSERTIONS: Citation = Citation::new(
    "PostgreSQL manual, Building and Installation with Autoconf and Make",
    "https://www.postgresql.org/docs/current/install-make.html",
);
pub(crate) const POSTGRES_FOREIGN_KEYS: Citation = Citation::new(
    "PostgreSQL manual, Constraints",
    "https://www.postgresql.org/docs/current/ddl-constraints.html",
);
pub(crate) const POSTGRES_IDLE: Citation = Citation::new(
    "PostgreSQL manual, idle_in_transaction_session_timeout",
    "https://www.postgresql.org/docs/current/runtime-config-client.html",
);
pub(crate) const POSTGRES_ISOLATION: Citation = Citation::new(
    "PostgreSQL manual, Transaction Isolation",
    "https://www.postgresql.org/docs/current/transaction-iso.html",
);
pub(crate) const PT_UPGRADE: Citation = Citation::new(
    "Percona Toolkit, pt-upgrade",
    "https://docs.percona.com/percona-toolkit/pt-upgrade.html",
);
pub(crate) const MAXSCALE_DIFF: Citation = Citation::new(
    "MariaDB manual, MaxScale Diff",
    "https://mariadb.com/docs/maxscale/reference/maxscale-routers/maxscale-diff",
);

// What was measured here.

/// Causes of a difference that were found by experiment.
pub const MEASURED_CAUSES: Citation =
    Citation::new("journal of 2026-11-24, explain", "docs/journal/2026-11-24-explain.md");
pub(crate) const MEASURED_CHARSET: Citation =
    Citation::new("journal of 2026-11-24, causes", "docs/journal/2026-11-24-causes.md");
pub(crate) const MEASURED_CLIENT: Citation =
    Citation::new("journal of 2026-11-21, every load", "docs/journal/2026-11-21-every-load.md");
pub(crate) const MEASURED_COMPILER: Citation =
    Citation::new("journal of 2026-11-26, compiler", "docs/journal/2026-11-26-compiler.md");
pub(crate) const MEASURED_CONTENTS: Citation =
    Citation::new("journal of 2026-11-21, audit", "docs/journal/2026-11-21-audit.md");
pub(crate) const MEASURED_ENCRYPTION: Citation =
    Citation::new("Beside other tools, The same, encrypted", "docs/COMPARE.md");
pub(crate) const MEASURED_HEAP: Citation =
    Citation::new("journal of 2026-11-26, heap", "docs/journal/2026-11-26-heap.md");
pub(crate) const MEASURED_IDLE: Citation =
    Citation::new("journal of 2026-11-26, idle", "docs/journal/2026-11-26-idle.md");
pub(crate) const MEASURED_IMAGES: Citation =
    Citation::new("journal of 2026-11-21, images", "docs/journal/2026-11-21-images.md");
pub(crate) const MEASURED_LATENCY: Citation =
    Citation::new("journal of 2026-11-21, open loop", "docs/journal/2026-11-21-open-loop.md");
pub(crate) const MEASURED_MEMORY: Citation = Citation::new(
    "journal of 2026-11-26, memory at rest",
    "docs/journal/2026-11-26-memory-at-rest.md",
);
pub(crate) const MEASURED_NOISE: Citation =
    Citation::new("journal of 2026-11-20, noise", "docs/journal/2026-11-20-noise.md");
pub(crate) const MEASURED_FOR_RULES: Citation = Citation::new(
    "journal of 2026-11-29, sources of rules",
    "docs/journal/2026-11-29-sources-of-rules.md",
);
pub(crate) const MEASURED_PLANS: Citation =
    Citation::new("journal of 2026-11-24, plans", "docs/journal/2026-11-24-plans.md");
pub(crate) const MEASURED_SCAN: Citation = Citation::new(
    "journal of 2026-11-27, explained rows",
    "docs/journal/2026-11-27-explained-rows.md",
);
pub(crate) const MEASURED_WAITS: Citation =
    Citation::new("journal of 2026-11-25, waits", "docs/journal/2026-11-25-waits.md");

// What was decided here.

pub(crate) const DECIDED_DESIGNS: Citation =
    Citation::new("journal of 2026-11-22, engine", "docs/journal/2026-11-22-engine.md");
pub(crate) const DECIDED_OPTIONS: Citation =
    Citation::new("journal of 2026-11-21, options", "docs/journal/2026-11-21-options.md");
pub(crate) const DECIDED_READING: Citation =
    Citation::new("Reading a report", "docs/guide/reading.md");
pub(crate) const DECIDED_SERVERS: Citation =
    Citation::new("journal of 2026-11-21, servers", "docs/journal/2026-11-21-servers.md");

#[cfg(test)]
mod tests {
    use std::panic::catch_unwind;

    use super::*;

    #[test]
    fn a_citation_that_cannot_be_opened_is_refused() {
        for place in ["", "design, 4.5", "http://a.b", "https://", "docs/", "/docs/a.md"] {
            assert!(catch_unwind(|| Citation::new("A text", place)).is_err(), "{place:?}");
        }
        assert!(catch_unwind(|| Citation::new("", "docs/a.md")).is_err());
        assert_eq!(Citation::new("A", "https://a.b/c").markdown_link(), "[A](https://a.b/c)");
        assert_eq!(Citation::new("A", "docs/guide/a.md").markdown_link(), "[A](guide/a.md)");
    }
}
