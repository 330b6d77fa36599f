//! How likely a difference is to matter, before anything is tried.
//!
//! The search parts suspects into groups of about equal weight, so that those which mattered before
//! are tried with few others or alone, and the many that never did are tried together.

use dbdyno_audit::sources::{
    CALLAGHAN_CHARSET, CALLAGHAN_FSYNC, Citation, MDEV_33545, MEASURED_CAUSES, MYSQL_BINARY_LOG,
    MYSQL_BUFFER_POOL, MYSQL_STATISTICS, MYSQL_SWITCHES, PERCONA_ALLOCATORS, POSTGRES_COMMIT,
    POSTGRES_PLANNING, POSTGRES_RESOURCES, WANG_DEADLOCKS, WANG_SETTINGS,
};
use dbdyno_model::Weight;

/// Weight of a setting of which nothing is known.
pub(crate) const LITTLE: f64 = 1.0;
/// Of one whose rule of the audit speaks of it even where two releases explain it.
const TOLD: f64 = 5.0;
/// Of one that a text or a measurement of ours has found to matter.
const KNOWN: f64 = 30.0;

/// How many times as much one weighs that the facts of the cell point to: more than all of which
/// only texts speak.
pub(crate) const POINTED: f64 = 100.0;

/// Settings that were found to matter, by how their names begin, and where a reader finds that.
const FOUND: [(&str, Citation); 30] = [
    ("innodb_adaptive_hash_index", MEASURED_CAUSES),
    ("eq_range_index_dive_limit", MEASURED_CAUSES),
    ("performance_schema", WANG_SETTINGS),
    ("character_set_server", CALLAGHAN_CHARSET),
    ("innodb_print_all_deadlocks", WANG_DEADLOCKS),
    ("innodb_flush_method", CALLAGHAN_FSYNC),
    ("innodb_doublewrite", WANG_SETTINGS),
    ("innodb_flush_log_at_trx_commit", WANG_SETTINGS),
    ("sync_binlog", WANG_SETTINGS),
    ("log_bin", MYSQL_BINARY_LOG),
    ("innodb_buffer_pool_size", MYSQL_BUFFER_POOL),
    ("innodb_change_buffering", MARIADB_CHANGE_BUFFER),
    ("innodb_checksum_algorithm", MARIADB_INNODB),
    ("query_cache_type", MARIADB_QUERY_CACHE),
    ("optimizer_switch", MYSQL_SWITCHES),
    ("transaction_isolation", WANG_ISOLATION),
    ("innodb_stats_persistent", MYSQL_STATISTICS),
    ("shared_buffers", POSTGRES_RESOURCES),
    ("synchronous_commit", POSTGRES_COMMIT),
    ("full_page_writes", POSTGRES_LOG),
    ("fsync", POSTGRES_LOG),
    ("innodb_data_file_", MDEV_33545),
    ("innodb_log_file_buffering", MDEV_33545),
    ("optimizer_prune_level", MDEV_28852),
    ("optimizer_search_depth", MDEV_28852),
    ("io_method", POSTGRES_RESOURCES),
    ("jit", POSTGRES_JIT),
    ("track_io_timing", POSTGRES_TIMING),
    ("allocator", PERCONA_ALLOCATORS),
    ("enable_", POSTGRES_PLANNING),
];

/// The change buffer sometimes costs, and at best brings a few per cent.
const MARIADB_CHANGE_BUFFER: Citation = Citation::new(
    "MariaDB manual, InnoDB Change Buffering",
    "https://mariadb.com/docs/server/server-usage/storage-engines/innodb/innodb-change-buffering",
);
/// The algorithm `crc32` is faster than `innodb`.
const MARIADB_INNODB: Citation = Citation::new(
    "MariaDB manual, InnoDB System Variables",
    "https://mariadb.com/docs/server/server-usage/storage-engines/innodb/innodb-system-variables",
);
/// It does not scale with many processors.
const MARIADB_QUERY_CACHE: Citation = Citation::new(
    "MariaDB manual, Query Cache",
    "https://mariadb.com/docs/server/ha-and-performance/optimization-and-tuning/\
     buffers-caches-and-threads/query-cache",
);
/// Joins of many tables are planned otherwise since 10.10.
const MDEV_28852: Citation = Citation::new(
    "MDEV-28852, Improve optimization of joins with many tables, including eq_ref tables",
    "https://jira.mariadb.org/browse/MDEV-28852",
);
/// For short queries compiling often costs more than it saves.
const POSTGRES_JIT: Citation = Citation::new(
    "PostgreSQL manual, When to JIT?",
    "https://www.postgresql.org/docs/current/jit-decision.html",
);
/// Turning `fsync` or `full_page_writes` off makes writes faster, and not safe.
const POSTGRES_LOG: Citation = Citation::new(
    "PostgreSQL manual, Write Ahead Log",
    "https://www.postgresql.org/docs/current/runtime-config-wal.html",
);
/// Reading the clock for each read costs much on some hosts.
const POSTGRES_TIMING: Citation = Citation::new(
    "PostgreSQL manual, Run-time Statistics",
    "https://www.postgresql.org/docs/current/runtime-config-statistics.html",
);
/// Read committed scales badly on hosts with several nodes of memory.
const WANG_ISOLATION: Citation = Citation::new(
    "Wang, The Art of Problem-Solving in Software Engineering, chapter 3",
    "https://github.com/enhancedformysql/The-Art-of-Problem-Solving-in-Software-Engineering_\
     How-to-Make-MySQL-Better/blob/main/Chapter3.md",
);

/// Whether a text or a measurement of ours has found a setting with this name to matter.
pub(crate) fn is_known(name: &str) -> bool {
    // `performance_schema` itself, not the fifty sizes that begin with its name.
    let is = |known: &str| name == known || (known.ends_with('_') && name.starts_with(known));
    FOUND.iter().any(|(known, _)| is(known))
}

/// Whether the facts of the cell point to a suspect of this weight.
pub(crate) fn is_pointed_to(weight: f64) -> bool {
    weight >= POINTED
}

/// The weight of a setting with this name, whose rule weighs so much between two releases.
pub(crate) fn weight(name: &str, of_release: Weight) -> f64 {
    match of_release {
        _ if is_known(name) => KNOWN,
        Weight::Blocks | Weight::Annotates => TOLD,
        Weight::Varied | Weight::Harmless => LITTLE,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_setting_that_was_found_to_matter_stands_once_and_can_be_looked_up() {
        for (at, (name, source)) in FOUND.iter().enumerate() {
            assert!(FOUND[..at].iter().all(|(other, _)| other != name), "{name}");
            assert!(is_known(name), "{name}");
            if source.place().starts_with("docs/") {
                let path =
                    concat!(env!("CARGO_MANIFEST_DIR"), "/../../").to_owned() + source.place();
                assert!(std::fs::exists(&path).unwrap(), "{name}: {path} is not there");
            }
        }
    }
}
