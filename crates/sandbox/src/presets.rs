//! Configurations that have a name, beside what they want in neutral words.
//!
//! ```text
//!   dbdyno    sizes, no flush at commit, no binary log, no instrumentation, latin1: the engine
//!   default   nothing: for comparing releases as they come
//!   cz-a      Callaghan's configurations for a cached database, as he writes them for the release
//! ```
//!
//! The last are read from the files that he measures with (mdcallag/mytools, `bench/conf/arc`,
//! `oct24/c8r32`, `jun24.pn53`), and named in his texts: "I call these the z12a configs. For 9.7 I
//! use the z13a config" (Small Datum, MySQL 5.6 to 9.7), "x10a_c32r128, for Postgres 18 …
//! x10b_c32r128" (Small Datum, sysbench with Postgres, MySQL and MariaDB). His have sizes for a
//! machine with one server: `c8r32` is 8 cores with 32 GB of memory, of which the buffer has 23 GB.
//! Ours are for two servers on the machine at hand.
//!
//! What is in a file of his and not here: paths; accounts; `innodb_data_file_path` and
//! `innodb_undo_tablespaces`, which a data directory is made with; `innodb_dedicated_server`,
//! which chooses nothing where all is given; the allocator that is preloaded.

use dbdyno_model::{Preset, Product, Switch};

use crate::catalog::at_least;
use crate::translation::{OptionReason, TranslatedOption};
use crate::wanted::NeutralOptions;

/// Something that releases from one version on are told, up to but without another one; the empty
/// text is no bound.
struct Row {
    name: &'static str,
    value: &'static str,
    from: &'static str,
    until: &'static str,
}

const fn row(name: &'static str, value: &'static str) -> Row {
    Row { name, value, from: "", until: "" }
}

impl Row {
    const fn from(self, from: &'static str) -> Row {
        Row { from, ..self }
    }

    const fn until(self, until: &'static str) -> Row {
        Row { until, ..self }
    }

    fn holds(&self, version: &str) -> bool {
        let began = self.from.is_empty() || at_least(version, self.from);
        began && (self.until.is_empty() || !at_least(version, self.until))
    }
}

/// A preset, for those who choose one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PresetDescription {
    /// Which one.
    pub preset: Preset,
    /// What it is for, and what it is called by who wrote it, for each product.
    pub text: &'static str,
}

/// All presets, the one that holds where none is named first.
pub const PRESETS: [PresetDescription; 3] = [
    PresetDescription {
        preset: Preset::Dbdyno,
        text: "where none is named: an eighth of the memory for the buffer, nothing flushed at \
               commit, no binary log, no performance schema, latin1, page cache left out",
    },
    PresetDescription {
        preset: Preset::Default,
        text: "what the release does by itself; only what is needed to start and to be reached",
    },
    PresetDescription {
        preset: Preset::Callaghan,
        text: "Callaghan's for a cached database, sized to this machine: z12a for MySQL, from 9.5 \
               z13a; z12a for MariaDB, from 11.4 z12b; x10a for PostgreSQL, before 10 x9a2, from 18 \
               x10b",
    },
];

/// The largest redo log of `cz-a`, in MB. His is 30 GB, which MySQL before 8.0.30 and MariaDB write
/// to the disk at every start on a new data directory; `redo=` makes it larger.
const CALLAGHAN_REDO_MB: u64 = 2_048;

/// Buffer and redo log of `cz-a`, in MB: 23 GB and 30 GB of 32 GB, PostgreSQL's WAL 40 GB, for each
/// of two servers.
pub(crate) fn callaghan_sizes(product: Product, memory_mb: u64) -> (u64, u64) {
    let buffer_mb = (memory_mb * 23 / 64 / 128 * 128).max(128);
    let share = if product == Product::Postgres { 20 } else { 30 };
    (buffer_mb, (buffer_mb * share / 23).clamp(256, CALLAGHAN_REDO_MB))
}

/// What is told with every preset.
///
/// * TLS: from 11.4 on MariaDB makes a key pair at each start, which takes seconds.
/// * The X protocol would listen on one port and one socket for all servers of the machine. Some
///   builds have it not.
/// * Dynamic shared memory is in files of the data directory, so that a killed server leaves
///   nothing in `/dev/shm`; short statements do not use it.
pub(crate) fn needed_options(product: Product, version: &str) -> Vec<TranslatedOption> {
    let rows: &[Row] = match product {
        Product::MySql => const { &[row("loose_mysqlx", "OFF").from("8.0")] },
        Product::MariaDb => const { &[row("skip_ssl", "").from("11.4")] },
        Product::Postgres => const { &[row("dynamic_shared_memory_type", "mmap")] },
    };
    told(rows, version, &OptionReason::Needed)
}

/// What a preset says beside its neutral words. `wanted` is what holds in the end, for values that
/// depend on it.
pub(crate) fn extra_options(
    preset: Preset,
    product: Product,
    version: &str,
    memory_mb: u64,
    wanted: &NeutralOptions,
) -> Vec<TranslatedOption> {
    let why = OptionReason::Preset(preset);
    match (preset, product) {
        (Preset::Default, _) => vec![],
        (Preset::Dbdyno, Product::MySql) => told(&DBDYNO_MYSQL, version, &why),
        (Preset::Dbdyno, Product::MariaDb) => told(&DBDYNO_MARIADB, version, &why),
        (Preset::Dbdyno, Product::Postgres) => told(&DBDYNO_POSTGRES, version, &why),
        (Preset::Callaghan, Product::Postgres) => {
            let mut all = told(&X10A, version, &why);
            if let Some((mb, _)) = wanted.redo_mb {
                // Half of what it may grow to.
                all.push(TranslatedOption::new("", "min_wal_size", format!("{mb}MB"), why.clone()));
            }
            let work_mb = (memory_mb / 128).clamp(16, 256);
            all.push(TranslatedOption::new("", "autovacuum_work_mem", format!("{work_mb}MB"), why));
            all
        }
        (Preset::Callaghan, product) => {
            let own: &[Row] = if product == Product::MySql { &Z12A_MYSQL } else { &Z12A_MARIADB };
            let mut all = told(&Z12A, version, &why);
            all.extend(told(own, version, &why));
            if matches!(wanted.binlog, Some((Switch::On, _))) {
                all.push(TranslatedOption::new("", "max_binlog_size", "256M", why));
            }
            all
        }
    }
}

fn told(rows: &[Row], version: &str, why: &OptionReason) -> Vec<TranslatedOption> {
    let held = rows.iter().filter(|row| row.holds(version));
    held.map(|row| TranslatedOption::new(field_of(row.name), row.name, row.value, why.clone()))
        .collect()
}

/// The neutral word that an option answers to, where a preset names the option itself. The word of
/// a user replaces only options that stand here: any other wins over it.
fn field_of(name: &str) -> &'static str {
    match name {
        "innodb_flush_method" => "flush",
        "innodb_data_file_buffering" | "innodb_data_file_write_through" => "flush",
        _ => "",
    }
}

/// The query cache answered a repeated statement without executing it, and made all others wait for
/// one lock; MySQL 8.0 has none.
const DBDYNO_MYSQL: [Row; 5] = [
    row("default_time_zone", "+00:00"),
    row("skip_name_resolve", ""),
    row("skip_ssl", "").until("8.4"),
    row("query_cache_type", "OFF").until("8.0"),
    row("query_cache_size", "0").until("8.0"),
];

const DBDYNO_MARIADB: [Row; 5] = [
    row("default_time_zone", "+00:00"),
    row("skip_name_resolve", ""),
    row("skip_ssl", "").until("11.4"),
    row("query_cache_type", "OFF"),
    row("query_cache_size", "0"),
];

/// * Autovacuum stays on: it is part of what the server costs.
/// * `jit` off: its compiler is not unpacked, and it never helps a statement as short as these.
/// * Huge pages off, because the first server would take them from the second.
const DBDYNO_POSTGRES: [Row; 5] = [
    row("autovacuum", "on"),
    row("huge_pages", "off"),
    row("timezone", "GMT"),
    row("log_timezone", "GMT"),
    row("jit", "off").from("11"),
];

/// What his files for MySQL and MariaDB have in common.
const Z12A: [Row; 15] = [
    row("sql_mode", "no_engine_substitution,no_unsigned_subtraction"),
    row("long_query_time", "5"),
    row("slow_query_log", "1"),
    row("innodb_file_per_table", "1"),
    row("innodb_fast_shutdown", "1"),
    row("innodb_doublewrite", "1"),
    row("innodb_autoinc_lock_mode", "2"),
    row("innodb_max_dirty_pages_pct", "90"),
    row("innodb_io_capacity", "10000"),
    row("innodb_adaptive_hash_index", "OFF"),
    row("innodb_read_io_threads", "4"),
    row("innodb_write_io_threads", "4"),
    row("innodb_max_purge_lag", "500000"),
    row("innodb_purge_threads", "4").from("5.6"),
    row("default_tmp_storage_engine", "MyISAM").from("5.6.3"),
];

/// z12a, and what z13a has beside it; before 5.6, for which he has none, what there was of it.
const Z12A_MYSQL: [Row; 25] = [
    row("skip_ssl", "").until("8.4"),
    row("innodb_flush_method", "O_DIRECT").until("5.6.7"),
    row("innodb_flush_method", "O_DIRECT_NO_FSYNC").from("5.6.7"),
    row("eq_range_index_dive_limit", "10").from("5.6.5"),
    row("innodb_flush_neighbors", "0").from("5.6.3"),
    row("innodb_checksum_algorithm", "crc32").from("5.6.3").until("5.7"),
    row("innodb_file_format", "Barracuda").until("5.7"),
    row("innodb_file_format_max", "Barracuda").until("5.7"),
    row("innodb_buffer_pool_load_at_startup", "OFF").from("5.7"),
    row("innodb_buffer_pool_dump_at_shutdown", "OFF").from("5.7"),
    row("innodb_max_dirty_pages_pct_lwm", "80").from("5.6.6"),
    row("innodb_io_capacity_max", "20000").from("5.6.6"),
    row("innodb_page_cleaners", "4").from("5.7.4"),
    row("innodb_buffer_pool_instances", "4"),
    row("innodb_max_purge_lag_delay", "1000000").from("5.6.5"),
    row("loose_innodb_numa_interleave", "ON").from("5.6.27"),
    row("innodb_log_buffer_size", "64M"),
    row("innodb_change_buffering", "all"),
    row("innodb_change_buffer_max_size", "25").from("5.6.2"),
    row("innodb_idle_flush_pct", "1").from("8.0.18"),
    row("innodb_doublewrite_pages", "128").from("8.0.20"),
    row("loose_innodb_log_writer_threads", "OFF").from("8.0.22"),
    row("innodb_use_fdatasync", "ON").from("8.0.26"),
    row("gtid_mode", "OFF").from("9.5"),
    row("enforce_gtid_consistency", "OFF").from("9.5"),
];

/// z12a, and from 11.4 on z12b, where the flush method is split; before 10.2, for which he has
/// none, what there was of it.
const Z12A_MARIADB: [Row; 23] = [
    row("skip_ssl", "").until("11.4"),
    row("innodb_flush_method", "O_DIRECT_NO_FSYNC").until("11.0"),
    row("innodb_data_file_buffering", "OFF").from("11.0"),
    row("innodb_data_file_write_through", "OFF").from("11.0"),
    row("innodb_log_file_buffering", "ON").from("11.0"),
    row("innodb_log_file_write_through", "OFF").from("11.0"),
    row("innodb_snapshot_isolation", "OFF").from("11.4"),
    row("eq_range_index_dive_limit", "10").from("10.2.22"),
    row("innodb_flush_neighbors", "0"),
    row("innodb_checksum_algorithm", "crc32").until("11.4"),
    row("innodb_buffer_pool_load_at_startup", "OFF"),
    row("innodb_buffer_pool_dump_at_shutdown", "OFF"),
    row("innodb_max_dirty_pages_pct_lwm", "80"),
    row("innodb_io_capacity_max", "20000"),
    row("innodb_max_purge_lag_delay", "1000000"),
    row("innodb_change_buffering", "none").until("11.0"),
    row("innodb_page_cleaners", "4").from("10.2.2").until("10.5"),
    row("innodb_buffer_pool_instances", "4").until("10.5"),
    row("innodb_concurrency_tickets", "1000000").until("10.5"),
    row("innodb_lru_scan_depth", "5000").from("10.5"),
    row("innodb_log_write_ahead_size", "4096").from("10.2.4"),
    row("query_cache_type", "0"),
    row("query_cache_size", "0"),
];

/// x10a; x9a2 before 10, x10b from 18 on.
const X10A: [Row; 28] = [
    row("huge_pages", "off"),
    row("max_parallel_workers_per_gather", "0"),
    row("max_parallel_workers", "0").from("10"),
    row("checkpoint_warning", "1800s"),
    row("wal_sync_method", "fdatasync"),
    row("wal_level", "replica"),
    row("full_page_writes", "on"),
    row("track_io_timing", "on"),
    row("bgwriter_lru_maxpages", "1000").until("10"),
    row("bgwriter_lru_maxpages", "2000").from("10"),
    row("bgwriter_delay", "50ms").until("10"),
    row("bgwriter_delay", "100ms").from("10"),
    row("wal_compression", "off"),
    row("log_autovacuum_min_duration", "0"),
    row("log_checkpoints", "on"),
    row("checkpoint_timeout", "1800s"),
    row("checkpoint_completion_target", "0.9"),
    row("autovacuum_max_workers", "8").until("10"),
    row("autovacuum_max_workers", "4").from("10"),
    row("autovacuum_naptime", "10s"),
    row("autovacuum_vacuum_cost_delay", "2ms").until("10"),
    row("autovacuum_vacuum_cost_delay", "1ms").from("10"),
    row("autovacuum_vacuum_cost_limit", "4000"),
    row("autovacuum_vacuum_scale_factor", "0.05"),
    row("autovacuum_vacuum_insert_scale_factor", "0.05").from("13"),
    row("vacuum_buffer_usage_limit", "256MB").from("16").until("18"),
    row("jit", "off").from("11"),
    row("io_method", "sync").from("18"),
];
