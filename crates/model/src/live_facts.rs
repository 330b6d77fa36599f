//! What servers tell of themselves that a live view reads, and a comparison does not: rates by kind
//! of statement, sessions, errors, and how the buffer pool and the log are doing.
//!
//! The same table as [`crate::server_facts`], with the same places.

use crate::server_facts::FactClass::{Access, Debt, Errors, Log, Pages, Sessions, Temporary, Work};
use crate::server_facts::FactPlace::{Metric, Status, StatusPlus, View};
use crate::server_facts::{
    ANY, BOTH, DATABASE, MARIADB, MYSQL, POSTGRES, ServerFact, TABLES, counter_of, from, gauge_of,
    source_of,
};

/// All of them. Names of the servers: as in [`crate::server_facts::FACTS`].
#[rustfmt::skip]
pub const LIVE_FACTS: &[ServerFact] = &[
    counter_of("queries", "statements", Work, &[
        source_of(BOTH, ANY, Status("Queries")),
    ]),
    counter_of("slow_queries", "statements", Work, &[
        source_of(BOTH, ANY, Status("Slow_queries")),
    ]),
    counter_of("commits", "transactions", Work, &[
        source_of(BOTH, ANY, Status("Com_commit")),
        source_of(POSTGRES, ANY, View(DATABASE, "xact_commit")),
    ]),
    counter_of("rollbacks", "transactions", Work, &[
        source_of(BOTH, ANY, Status("Com_rollback")),
        source_of(POSTGRES, ANY, View(DATABASE, "xact_rollback")),
    ]),
    counter_of("begins", "transactions", Work, &[
        source_of(BOTH, ANY, Status("Com_begin")),
    ]),
    counter_of("selects", "statements", Work, &[
        source_of(BOTH, ANY, Status("Com_select")),
    ]),
    counter_of("inserts", "statements", Work, &[
        source_of(BOTH, ANY, StatusPlus("Com_insert", "Com_insert_select")),
    ]),
    counter_of("updates", "statements", Work, &[
        source_of(BOTH, ANY, StatusPlus("Com_update", "Com_update_multi")),
    ]),
    counter_of("deletes", "statements", Work, &[
        source_of(BOTH, ANY, StatusPlus("Com_delete", "Com_delete_multi")),
    ]),
    counter_of("replaces", "statements", Work, &[
        source_of(BOTH, ANY, StatusPlus("Com_replace", "Com_replace_select")),
    ]),
    counter_of("prepared_executions", "statements", Work, &[
        source_of(BOTH, ANY, Status("Com_stmt_execute")),
    ]),
    counter_of("prepares", "statements", Work, &[
        source_of(BOTH, ANY, Status("Com_stmt_prepare")),
    ]),
    counter_of("admin_commands", "commands", Work, &[
        source_of(BOTH, ANY, Status("Com_admin_commands")),
    ]),
    counter_of("rows_inserted", "rows", Work, &[
        source_of(MYSQL, ANY, Status("Innodb_rows_inserted")),
        source_of(POSTGRES, ANY, View(DATABASE, "tup_inserted")),
    ]),
    counter_of("rows_updated", "rows", Work, &[
        source_of(MYSQL, ANY, Status("Innodb_rows_updated")),
        source_of(POSTGRES, ANY, View(DATABASE, "tup_updated")),
    ]),
    counter_of("rows_deleted", "rows", Work, &[
        source_of(MYSQL, ANY, Status("Innodb_rows_deleted")),
        source_of(POSTGRES, ANY, View(DATABASE, "tup_deleted")),
    ]),
    counter_of("rows_fetched", "rows", Access, &[
        source_of(POSTGRES, ANY, View(DATABASE, "tup_fetched")),
    ]),
    counter_of("bytes_sent", "bytes", Work, &[
        source_of(BOTH, ANY, Status("Bytes_sent")),
    ]),
    counter_of("bytes_received", "bytes", Work, &[
        source_of(BOTH, ANY, Status("Bytes_received")),
    ]),
    counter_of("handler_commits", "commits", Work, &[
        source_of(BOTH, ANY, Status("Handler_commit")),
    ]),
    counter_of("handler_rollbacks", "rollbacks", Work, &[
        source_of(BOTH, ANY, Status("Handler_rollback")),
    ]),
    counter_of("savepoints", "savepoints", Work, &[
        source_of(BOTH, ANY, Status("Handler_savepoint")),
    ]),
    counter_of("query_cache_hits", "statements", Work, &[
        source_of(MARIADB, ANY, Status("Qcache_hits")),
        source_of(MYSQL, [0, 8_00_00], Status("Qcache_hits")),
    ]),
    counter_of("connections_made", "connections", Sessions, &[
        source_of(BOTH, ANY, Status("Connections")),
        source_of(POSTGRES, from(14_00_00), View(DATABASE, "sessions")),
    ]),
    gauge_of("threads_connected", "connections", Sessions, &[
        source_of(BOTH, ANY, Status("Threads_connected")),
        source_of(POSTGRES, ANY, View(DATABASE, "numbackends")),
    ]),
    gauge_of("connections_most", "connections", Sessions, &[
        source_of(BOTH, ANY, Status("Max_used_connections")),
    ]),
    gauge_of("threads_running", "threads", Sessions, &[
        source_of(BOTH, ANY, Status("Threads_running")),
        source_of(POSTGRES, ANY, View("pg_stat_activity WHERE state = 'active'", "count(*)")),
    ]),
    gauge_of("threads_cached", "threads", Sessions, &[
        source_of(BOTH, ANY, Status("Threads_cached")),
    ]),
    counter_of("threads_created", "threads", Sessions, &[
        source_of(BOTH, ANY, Status("Threads_created")),
    ]),
    gauge_of("transactions_open", "transactions", Sessions, &[
        source_of(BOTH, ANY, View("information_schema.innodb_trx", "count(*)")),
        source_of(POSTGRES, ANY,
           View("pg_stat_activity WHERE xact_start IS NOT NULL AND pid <> pg_backend_pid()",
                "count(*)")),
    ]),
    gauge_of("idle_in_transaction", "sessions", Sessions, &[
        source_of(BOTH, ANY,
           View("information_schema.innodb_trx WHERE trx_query IS NULL AND trx_state = 'RUNNING'",
                "count(*)")),
        source_of(POSTGRES, ANY,
           View("pg_stat_activity WHERE state LIKE 'idle in transaction%'", "count(*)")),
    ]),
    gauge_of("row_lock_waiting", "transactions", Sessions, &[
        source_of(BOTH, ANY, Status("Innodb_row_lock_current_waits")),
        source_of(POSTGRES, ANY, View("pg_locks WHERE NOT granted", "count(*)")),
    ]),
    gauge_of("prepared_statements", "statements", Sessions, &[
        source_of(BOTH, ANY, Status("Prepared_stmt_count")),
    ]),
    counter_of("session_ms", "ms", Sessions, &[
        source_of(POSTGRES, from(14_00_00), View(DATABASE, "session_time")),
    ]),
    counter_of("active_ms", "ms", Sessions, &[
        source_of(POSTGRES, from(14_00_00), View(DATABASE, "active_time")),
    ]),
    counter_of("idle_in_transaction_ms", "ms", Sessions, &[
        source_of(POSTGRES, from(14_00_00), View(DATABASE, "idle_in_transaction_time")),
    ]),
    counter_of("clients_aborted", "connections", Errors, &[
        source_of(BOTH, ANY, Status("Aborted_clients")),
        source_of(POSTGRES, from(14_00_00), View(DATABASE, "sessions_abandoned")),
    ]),
    counter_of("logins_failed", "connections", Errors, &[
        source_of(BOTH, ANY, Status("Aborted_connects")),
    ]),
    counter_of("connections_refused", "connections", Errors, &[
        source_of(BOTH, ANY, Status("Connection_errors_max_connections")),
    ]),
    counter_of("sessions_fatal", "sessions", Errors, &[
        source_of(POSTGRES, from(14_00_00), View(DATABASE, "sessions_fatal")),
    ]),
    counter_of("sessions_killed", "sessions", Errors, &[
        source_of(POSTGRES, from(14_00_00), View(DATABASE, "sessions_killed")),
    ]),
    counter_of("recovery_conflicts", "statements", Errors, &[
        source_of(POSTGRES, ANY, View(DATABASE, "conflicts")),
    ]),
    counter_of("select_full_range_joins", "joins", Access, &[
        source_of(BOTH, ANY, Status("Select_full_range_join")),
    ]),
    counter_of("select_ranges", "joins", Access, &[
        source_of(BOTH, ANY, Status("Select_range")),
    ]),
    counter_of("sorts_of_ranges", "sorts", Temporary, &[
        source_of(BOTH, ANY, Status("Sort_range")),
    ]),
    counter_of("sorts_of_scans", "sorts", Temporary, &[
        source_of(BOTH, ANY, Status("Sort_scan")),
    ]),
    counter_of("hot_updates", "rows", Access, &[
        source_of(POSTGRES, ANY, View(TABLES, "sum(n_tup_hot_upd)")),
    ]),
    gauge_of("live_rows", "rows", Access, &[
        source_of(POSTGRES, ANY, View(TABLES, "sum(n_live_tup)")),
    ]),
    gauge_of("rows_changed_since_analyze", "rows", Access, &[
        source_of(POSTGRES, ANY, View(TABLES, "sum(n_mod_since_analyze)")),
    ]),
    gauge_of("open_tables", "tables", Pages, &[
        source_of(BOTH, ANY, Status("Open_tables")),
    ]),
    counter_of("tables_opened", "tables", Pages, &[
        source_of(BOTH, ANY, Status("Opened_tables")),
    ]),
    counter_of("table_cache_overflows", "tables", Pages, &[
        source_of(MYSQL, from(5_06_06), Status("Table_open_cache_overflows")),
        source_of(MARIADB, from(10_03_00), Status("Table_open_cache_overflows")),
    ]),
    gauge_of("buffer_pool_pages", "pages", Pages, &[
        source_of(BOTH, ANY, Status("Innodb_buffer_pool_pages_total")),
    ]),
    gauge_of("buffer_pool_free", "pages", Pages, &[
        source_of(BOTH, ANY, Status("Innodb_buffer_pool_pages_free")),
    ]),
    gauge_of("buffer_pool_data", "pages", Pages, &[
        source_of(BOTH, ANY, Status("Innodb_buffer_pool_pages_data")),
    ]),
    counter_of("pages_read_ahead", "pages", Pages, &[
        source_of(BOTH, ANY, Status("Innodb_buffer_pool_read_ahead")),
    ]),
    counter_of("pages_read_ahead_in_vain", "pages", Pages, &[
        source_of(BOTH, ANY, Status("Innodb_buffer_pool_read_ahead_evicted")),
    ]),
    counter_of("pages_created", "pages", Pages, &[
        source_of(BOTH, ANY, Status("Innodb_pages_created")),
    ]),
    counter_of("data_reads", "reads", Pages, &[
        source_of(BOTH, ANY, Status("Innodb_data_reads")),
    ]),
    counter_of("data_writes", "writes", Pages, &[
        source_of(BOTH, ANY, Status("Innodb_data_writes")),
    ]),
    counter_of("data_read_bytes", "bytes", Pages, &[
        source_of(BOTH, ANY, Status("Innodb_data_read")),
    ]),
    counter_of("data_written_bytes", "bytes", Pages, &[
        source_of(BOTH, ANY, Status("Innodb_data_written")),
    ]),
    gauge_of("reads_pending", "reads", Pages, &[
        source_of(BOTH, ANY, Status("Innodb_data_pending_reads")),
    ]),
    gauge_of("writes_pending", "writes", Pages, &[
        source_of(BOTH, ANY, Status("Innodb_data_pending_writes")),
    ]),
    gauge_of("syncs_pending", "syncs", Pages, &[
        source_of(BOTH, ANY, Status("Innodb_data_pending_fsyncs")),
    ]),
    counter_of("buffers_allocated", "pages", Pages, &[
        source_of(POSTGRES, ANY, View("pg_stat_bgwriter", "buffers_alloc")),
    ]),
    counter_of("buffers_cleaned", "pages", Pages, &[
        source_of(POSTGRES, ANY, View("pg_stat_bgwriter", "buffers_clean")),
    ]),
    counter_of("background_writer_halts", "times", Pages, &[
        source_of(POSTGRES, ANY, View("pg_stat_bgwriter", "maxwritten_clean")),
    ]),
    counter_of("buffers_written_by_backends", "pages", Pages, &[
        source_of(POSTGRES, [0, 17_00_00], View("pg_stat_bgwriter", "buffers_backend")),
        source_of(POSTGRES, from(17_00_00),
           View("pg_stat_io WHERE backend_type = 'client backend' AND object = 'relation'",
                "sum(writes)")),
    ]),
    counter_of("index_pages_requested", "pages", Pages, &[
        source_of(POSTGRES, ANY,
           View("pg_statio_user_tables", "sum(idx_blks_hit + idx_blks_read)")),
    ]),
    counter_of("index_pages_read", "pages", Pages, &[
        source_of(POSTGRES, ANY, View("pg_statio_user_tables", "sum(idx_blks_read)")),
    ]),
    counter_of("checksum_failures", "pages", Errors, &[
        source_of(POSTGRES, ANY, View(DATABASE, "coalesce(checksum_failures, 0)")),
    ]),
    counter_of("redo_writes", "writes", Log, &[
        source_of(BOTH, ANY, Status("Innodb_log_writes")),
    ]),
    counter_of("redo_syncs", "syncs", Log, &[
        source_of(MYSQL, ANY, Status("Innodb_os_log_fsyncs")),
    ]),
    counter_of("binlog_transactions", "transactions", Log, &[
        source_of(BOTH, ANY, Status("Binlog_cache_use")),
    ]),
    counter_of("binlog_on_disk", "transactions", Log, &[
        source_of(BOTH, ANY, Status("Binlog_cache_disk_use")),
    ]),
    counter_of("binlog_commits", "transactions", Log, &[
        source_of(MARIADB, ANY, Status("Binlog_commits")),
    ]),
    counter_of("binlog_groups", "groups", Log, &[
        source_of(MARIADB, ANY, Status("Binlog_group_commits")),
    ]),
    counter_of("checkpoints_timed", "checkpoints", Log, &[
        source_of(POSTGRES, [0, 17_00_00], View("pg_stat_bgwriter", "checkpoints_timed")),
        source_of(POSTGRES, from(17_00_00), View("pg_stat_checkpointer", "num_timed")),
    ]),
    counter_of("checkpoints_requested", "checkpoints", Log, &[
        source_of(POSTGRES, [0, 17_00_00], View("pg_stat_bgwriter", "checkpoints_req")),
        source_of(POSTGRES, from(17_00_00), View("pg_stat_checkpointer", "num_requested")),
    ]),
    counter_of("checkpoint_write_ms", "ms", Log, &[
        source_of(POSTGRES, [0, 17_00_00], View("pg_stat_bgwriter", "checkpoint_write_time")),
        source_of(POSTGRES, from(17_00_00), View("pg_stat_checkpointer", "write_time")),
    ]),
    counter_of("checkpoint_sync_ms", "ms", Log, &[
        source_of(POSTGRES, [0, 17_00_00], View("pg_stat_bgwriter", "checkpoint_sync_time")),
        source_of(POSTGRES, from(17_00_00), View("pg_stat_checkpointer", "sync_time")),
    ]),
    counter_of("files_archived", "files", Log, &[
        source_of(POSTGRES, ANY, View("pg_stat_archiver", "archived_count")),
    ]),
    counter_of("archive_failures", "files", Log, &[
        source_of(POSTGRES, ANY, View("pg_stat_archiver", "failed_count")),
    ]),
    gauge_of("slot_kept_bytes", "bytes", Debt, &[
        source_of(POSTGRES, ANY,
           View("pg_replication_slots", "coalesce(max(pg_current_wal_lsn() - restart_lsn), 0)")),
    ]),
    gauge_of("standby_behind_bytes", "bytes", Debt, &[
        source_of(POSTGRES, ANY,
           View("pg_stat_replication", "max(pg_current_wal_lsn() - replay_lsn)")),
    ]),
    gauge_of("oldest_xid_age", "transactions", Debt, &[
        source_of(POSTGRES, ANY, View("pg_database", "max(age(datfrozenxid))")),
    ]),
    counter_of("autovacuums", "tables", Debt, &[
        source_of(POSTGRES, ANY, View(TABLES, "sum(autovacuum_count)")),
    ]),
    counter_of("autoanalyzes", "tables", Debt, &[
        source_of(POSTGRES, ANY, View(TABLES, "sum(autoanalyze_count)")),
    ]),
    gauge_of("database_bytes", "bytes", Pages, &[
        source_of(POSTGRES, ANY,
           View("pg_database WHERE datname = current_database()", "pg_database_size(oid)")),
    ]),
    counter_of("adaptive_hash_searches", "searches", Access, &[
        source_of(MYSQL, from(5_06_00), Metric("adaptive_hash_searches")),
        source_of(MARIADB, ANY, Status("Innodb_adaptive_hash_hash_searches")),
    ]),
    counter_of("tree_searches", "searches", Access, &[
        source_of(MYSQL, from(5_06_00), Metric("adaptive_hash_searches_btree")),
        source_of(MARIADB, ANY, Status("Innodb_adaptive_hash_non_hash_searches")),
    ]),
    counter_of("index_merges_behind", "records", Debt, &[
        source_of(MYSQL, from(5_06_00), Metric("ibuf_merges_insert")),
    ]),
    gauge_of("uptime_s", "s", Sessions, &[
        source_of(BOTH, ANY, Status("Uptime")),
        source_of(POSTGRES, ANY,
           View("pg_stat_activity WHERE pid = pg_backend_pid()",
                "extract(epoch FROM now() - pg_postmaster_start_time())")),
    ]),
];
