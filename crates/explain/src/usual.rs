//! How likely a difference is to matter, before anything is tried.
//!
//! The search parts suspects into groups of about equal weight, so that those which mattered before
//! are tried with few others or alone, and the many that never did are tried together.

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

/// Settings that were found to matter, by how their names begin, and where that was learnt.
const FOUND: [(&str, &str); 30] = [
    ("innodb_adaptive_hash_index", "hot-points of 5.6 against 9.7: 0.46, with both equal 0.67"),
    ("eq_range_index_dive_limit", "points-covered-si of 5.6 against 9.7: 0.47, with both 0.83"),
    ("performance_schema", "Kravtchuk 2013; Wang ch. 11.5.5"),
    ("character_set_server", "Callaghan, 2026-04-05: up to 5 % in comparison"),
    ("innodb_print_all_deadlocks", "Wang ch. 7: CATS over FIFO"),
    ("innodb_flush_method", "Callaghan 2026: O_DIRECT against O_DIRECT_NO_FSYNC"),
    ("innodb_doublewrite", "Callaghan 2026: writes of the Insert Benchmark"),
    ("innodb_flush_log_at_trx_commit", "reference servers: a sync costs 0.13 ms a commit"),
    ("sync_binlog", "reference servers: a sync costs 0.13 ms a commit"),
    ("log_bin", "Callaghan, configurations by version"),
    ("innodb_buffer_pool_size", "Callaghan, configurations by version"),
    ("innodb_change_buffering", "Callaghan, configurations by version"),
    ("innodb_checksum_algorithm", "Callaghan: crc32 against innodb, where pages are read"),
    ("query_cache_type", "Kravtchuk 2013: one mutex for all"),
    ("optimizer_switch", "reference explain §7.5 (33)"),
    ("transaction_isolation", "Kravtchuk 2013: read views by statement"),
    ("innodb_stats_persistent", "reference explain §5: sampled statistics"),
    ("shared_buffers", "design §4.5"),
    ("synchronous_commit", "reference servers: a sync costs 0.13 ms a commit"),
    ("full_page_writes", "reference servers §4"),
    ("fsync", "reference servers: a sync costs 0.13 ms a commit"),
    (
        "innodb_data_file_",
        "MDEV-33545: O_DIRECT_NO_FSYNC is gone, a shutdown takes four times as long",
    ),
    ("innodb_log_file_buffering", "MDEV-33545, likewise"),
    ("optimizer_prune_level", "MDEV-28852: joins of many tables in 10.8 against 10.11"),
    ("optimizer_search_depth", "MDEV-28852, likewise"),
    ("io_method", "PostgreSQL 18: workers read what the session itself read before"),
    ("jit", "reference servers §4: compiling a plan may take longer than it"),
    ("track_io_timing", "reference explain §2.2: what watching costs"),
    ("allocator", "Kravtchuk 2013: jemalloc, several per cent with many clients"),
    ("enable_", "reference explain §7.5 (33)"),
];

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
