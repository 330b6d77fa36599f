//! What servers tell of themselves that a live view reads, and a comparison does not: rates by kind
//! of statement, sessions, errors, and how the buffer pool and the log are doing.
//!
//! The same table as [`crate::server_facts`], with the same places.

use crate::server_facts::FactClass::{Access, Debt, Errors, Log, Pages, Sessions, Temporary, Work};
use crate::server_facts::FactPlace::{Metric, Status, StatusPlus, View};
use crate::server_facts::{
    ANY, BOTH, DATABASE, MARIADB, MYSQL, POSTGRES, ServerFact, TABLES, at, counter, from, gauge,
};

/// All of them. Names of the servers: as in [`crate::server_facts::FACTS`].
#[rustfmt::skip]
pub const LIVE_FACTS: &[ServerFact] = &[
    counter("queries", "statements", Work, &[
        at(BOTH, ANY, Status("Queries")),
    ]),
    counter("slow_queries", "statements", Work, &[
        at(BOTH, ANY, Status("Slow_queries")),
    ]),
    counter("commits", "transactions", Work, &[
        at(BOTH, ANY, Status("Com_commit")),
        at(POSTGRES, ANY, View(DATABASE, "xact_commit")),
    ]),
    counter("rollbacks", "transactions", Work, &[
        at(BOTH, ANY, Status("Com_rollback")),
        at(POSTGRES, ANY, View(DATABASE, "xact_rollback")),
    ]),
    counter("begins", "transactions", Work, &[
        at(BOTH, ANY, Status("Com_begin")),
    ]),
    counter("selects", "statements", Work, &[
        at(BOTH, ANY, Status("Com_select")),
    ]),
    counter("inserts", "statements", Work, &[
        at(BOTH, ANY, StatusPlus("Com_insert", "Com_insert_select")),
    ]),
    counter("updates", "statements", Work, &[
        at(BOTH, ANY, StatusPlus("Com_update", "Com_update_multi")),
    ]),
    counter("deletes", "statements", Work, &[
        at(BOTH, ANY, StatusPlus("Com_delete", "Com_delete_multi")),
    ]),
    counter("replaces", "statements", Work, &[
        at(BOTH, ANY, StatusPlus("Com_replace", "Com_replace_select")),
    ]),
    counter("prepared_executions", "statements", Work, &[
        at(BOTH, ANY, Status("Com_stmt_execute")),
    ]),
    counter("prepares", "statements", Work, &[
        at(BOTH, ANY, Status("Com_stmt_prepare")),
    ]),
    counter("admin_commands", "commands", Work, &[
        at(BOTH, ANY, Status("Com_admin_commands")),
    ]),
    counter("rows_inserted", "rows", Work, &[
        at(MYSQL, ANY, Status("Innodb_rows_inserted")),
        at(POSTGRES, ANY, View(DATABASE, "tup_inserted")),
    ]),
    counter("rows_updated", "rows", Work, &[
        at(MYSQL, ANY, Status("Innodb_rows_updated")),
        at(POSTGRES, ANY, View(DATABASE, "tup_updated")),
    ]),
    counter("rows_deleted", "rows", Work, &[
        at(MYSQL, ANY, Status("Innodb_rows_deleted")),
        at(POSTGRES, ANY, View(DATABASE, "tup_deleted")),
    ]),
    counter("rows_fetched", "rows", Access, &[
        at(POSTGRES, ANY, View(DATABASE, "tup_fetched")),
    ]),
    counter("bytes_sent", "bytes", Work, &[
        at(BOTH, ANY, Status("Bytes_sent")),
    ]),
    counter("bytes_received", "bytes", Work, &[
        at(BOTH, ANY, Status("Bytes_received")),
    ]),
    counter("handler_commits", "commits", Work, &[
        at(BOTH, ANY, Status("Handler_commit")),
    ]),
    counter("handler_rollbacks", "rollbacks", Work, &[
        at(BOTH, ANY, Status("Handler_rollback")),
    ]),
    counter("savepoints", "savepoints", Work, &[
        at(BOTH, ANY, Status("Handler_savepoint")),
    ]),
    counter("query_cache_hits", "statements", Work, &[
        at(MARIADB, ANY, Status("Qcache_hits")),
        at(MYSQL, [0, 8_00_00], Status("Qcache_hits")),
    ]),
    counter("connections_made", "connections", Sessions, &[
        at(BOTH, ANY, Status("Connections")),
        at(POSTGRES, from(14_00_00), View(DATABASE, "sessions")),
    ]),
    gauge("threads_connected", "connections", Sessions, &[
        at(BOTH, ANY, Status("Threads_connected")),
        at(POSTGRES, ANY, View(DATABASE, "numbackends")),
    ]),
    gauge("connections_most", "connections", Sessions, &[
        at(BOTH, ANY, Status("Max_used_connections")),
    ]),
    gauge("threads_running", "threads", Sessions, &[
        at(BOTH, ANY, Status("Threads_running")),
        at(POSTGRES, ANY, View("pg_stat_activity WHERE state = 'active'", "count(*)")),
    ]),
    gauge("threads_cached", "threads", Sessions, &[
        at(BOTH, ANY, Status("Threads_cached")),
    ]),
    counter("threads_created", "threads", Sessions, &[
        at(BOTH, ANY, Status("Threads_created")),
    ]),
    gauge("transactions_open", "transactions", Sessions, &[
        at(BOTH, ANY, View("information_schema.innodb_trx", "count(*)")),
        at(POSTGRES, ANY,
           View("pg_stat_activity WHERE xact_start IS NOT NULL AND pid <> pg_backend_pid()",
                "count(*)")),
    ]),
    gauge("idle_in_transaction", "sessions", Sessions, &[
        at(BOTH, ANY,
           View("information_schema.innodb_trx WHERE trx_query IS NULL AND trx_state = 'RUNNING'",
                "count(*)")),
        at(POSTGRES, ANY,
           View("pg_stat_activity WHERE state LIKE 'idle in transaction%'", "count(*)")),
    ]),
    gauge("row_lock_waiting", "transactions", Sessions, &[
        at(BOTH, ANY, Status("Innodb_row_lock_current_waits")),
        at(POSTGRES, ANY, View("pg_locks WHERE NOT granted", "count(*)")),
    ]),
    gauge("prepared_statements", "statements", Sessions, &[
        at(BOTH, ANY, Status("Prepared_stmt_count")),
    ]),
    counter("session_ms", "ms", Sessions, &[
        at(POSTGRES, from(14_00_00), View(DATABASE, "session_time")),
    ]),
    counter("active_ms", "ms", Sessions, &[
        at(POSTGRES, from(14_00_00), View(DATABASE, "active_time")),
    ]),
    counter("idle_in_transaction_ms", "ms", Sessions, &[
        at(POSTGRES, from(14_00_00), View(DATABASE, "idle_in_transaction_time")),
    ]),
    counter("clients_aborted", "connections", Errors, &[
        at(BOTH, ANY, Status("Aborted_clients")),
        at(POSTGRES, from(14_00_00), View(DATABASE, "sessions_abandoned")),
    ]),
    counter("logins_failed", "connections", Errors, &[
        at(BOTH, ANY, Status("Aborted_connects")),
    ]),
    counter("connections_refused", "connections", Errors, &[
        at(BOTH, ANY, Status("Connection_errors_max_connections")),
    ]),
    counter("sessions_fatal", "sessions", Errors, &[
        at(POSTGRES, from(14_00_00), View(DATABASE, "sessions_fatal")),
    ]),
    counter("sessions_killed", "sessions", Errors, &[
        at(POSTGRES, from(14_00_00), View(DATABASE, "sessions_killed")),
    ]),
    counter("recovery_conflicts", "statements", Errors, &[
        at(POSTGRES, ANY, View(DATABASE, "conflicts")),
    ]),
    counter("select_full_range_joins", "joins", Access, &[
        at(BOTH, ANY, Status("Select_full_range_join")),
    ]),
    counter("select_ranges", "joins", Access, &[
        at(BOTH, ANY, Status("Select_range")),
    ]),
    counter("sorts_of_ranges", "sorts", Temporary, &[
        at(BOTH, ANY, Status("Sort_range")),
    ]),
    counter("sorts_of_scans", "sorts", Temporary, &[
        at(BOTH, ANY, Status("Sort_scan")),
    ]),
    counter("hot_updates", "rows", Access, &[
        at(POSTGRES, ANY, View(TABLES, "sum(n_tup_hot_upd)")),
    ]),
    gauge("live_rows", "rows", Access, &[
        at(POSTGRES, ANY, View(TABLES, "sum(n_live_tup)")),
    ]),
    gauge("rows_changed_since_analyze", "rows", Access, &[
        at(POSTGRES, ANY, View(TABLES, "sum(n_mod_since_analyze)")),
    ]),
    gauge("open_tables", "tables", Pages, &[
        at(BOTH, ANY, Status("Open_tables")),
    ]),
    counter("tables_opened", "tables", Pages, &[
        at(BOTH, ANY, Status("Opened_tables")),
    ]),
    counter("table_cache_overflows", "tables", Pages, &[
        at(MYSQL, from(5_06_06), Status("Table_open_cache_overflows")),
        at(MARIADB, from(10_03_00), Status("Table_open_cache_overflows")),
    ]),
    gauge("buffer_pool_pages", "pages", Pages, &[
        at(BOTH, ANY, Status("Innodb_buffer_pool_pages_total")),
    ]),
    gauge("buffer_pool_free", "pages", Pages, &[
        at(BOTH, ANY, Status("Innodb_buffer_pool_pages_free")),
    ]),
    gauge("buffer_pool_data", "pages", Pages, &[
        at(BOTH, ANY, Status("Innodb_buffer_pool_pages_data")),
    ]),
    counter("pages_read_ahead", "pages", Pages, &[
        at(BOTH, ANY, Status("Innodb_buffer_pool_read_ahead")),
    ]),
    counter("pages_read_ahead_in_vain", "pages", Pages, &[
        at(BOTH, ANY, Status("Innodb_buffer_pool_read_ahead_evicted")),
    ]),
    counter("pages_created", "pages", Pages, &[
        at(BOTH, ANY, Status("Innodb_pages_created")),
    ]),
    counter("data_reads", "reads", Pages, &[
        at(BOTH, ANY, Status("Innodb_data_reads")),
    ]),
    counter("data_writes", "writes", Pages, &[
        at(BOTH, ANY, Status("Innodb_data_writes")),
    ]),
    counter("data_read_bytes", "bytes", Pages, &[
        at(BOTH, ANY, Status("Innodb_data_read")),
    ]),
    counter("data_written_bytes", "bytes", Pages, &[
        at(BOTH, ANY, Status("Innodb_data_written")),
    ]),
    gauge("reads_pending", "reads", Pages, &[
        at(BOTH, ANY, Status("Innodb_data_pending_reads")),
    ]),
    gauge("writes_pending", "writes", Pages, &[
        at(BOTH, ANY, Status("Innodb_data_pending_writes")),
    ]),
    gauge("syncs_pending", "syncs", Pages, &[
        at(BOTH, ANY, Status("Innodb_data_pending_fsyncs")),
    ]),
    counter("buffers_allocated", "pages", Pages, &[
        at(POSTGRES, ANY, View("pg_stat_bgwriter", "buffers_alloc")),
    ]),
    counter("buffers_cleaned", "pages", Pages, &[
        at(POSTGRES, ANY, View("pg_stat_bgwriter", "buffers_clean")),
    ]),
    counter("background_writer_halts", "times", Pages, &[
        at(POSTGRES, ANY, View("pg_stat_bgwriter", "maxwritten_clean")),
    ]),
    counter("buffers_written_by_backends", "pages", Pages, &[
        at(POSTGRES, [0, 17_00_00], View("pg_stat_bgwriter", "buffers_backend")),
        at(POSTGRES, from(17_00_00),
           View("pg_stat_io WHERE backend_type = 'client backend' AND object = 'relation'",
                "sum(writes)")),
    ]),
    counter("index_pages_requested", "pages", Pages, &[
        at(POSTGRES, ANY, View("pg_statio_user_tables", "sum(idx_blks_hit + idx_blks_read)")),
    ]),
    counter("index_pages_read", "pages", Pages, &[
        at(POSTGRES, ANY, View("pg_statio_user_tables", "sum(idx_blks_read)")),
    ]),
    counter("checksum_failures", "pages", Errors, &[
        at(POSTGRES, ANY, View(DATABASE, "coalesce(checksum_failures, 0)")),
    ]),
    counter("redo_writes", "writes", Log, &[
        at(BOTH, ANY, Status("Innodb_log_writes")),
    ]),
    counter("redo_syncs", "syncs", Log, &[
        at(MYSQL, ANY, Status("Innodb_os_log_fsyncs")),
    ]),
    counter("binlog_transactions", "transactions", Log, &[
        at(BOTH, ANY, Status("Binlog_cache_use")),
    ]),
    counter("binlog_on_disk", "transactions", Log, &[
        at(BOTH, ANY, Status("Binlog_cache_disk_use")),
    ]),
    counter("binlog_commits", "transactions", Log, &[
        at(MARIADB, ANY, Status("Binlog_commits")),
    ]),
    counter("binlog_groups", "groups", Log, &[
        at(MARIADB, ANY, Status("Binlog_group_commits")),
    ]),
    counter("checkpoints_timed", "checkpoints", Log, &[
        at(POSTGRES, [0, 17_00_00], View("pg_stat_bgwriter", "checkpoints_timed")),
        at(POSTGRES, from(17_00_00), View("pg_stat_checkpointer", "num_timed")),
    ]),
    counter("checkpoints_requested", "checkpoints", Log, &[
        at(POSTGRES, [0, 17_00_00], View("pg_stat_bgwriter", "checkpoints_req")),
        at(POSTGRES, from(17_00_00), View("pg_stat_checkpointer", "num_requested")),
    ]),
    counter("checkpoint_write_ms", "ms", Log, &[
        at(POSTGRES, [0, 17_00_00], View("pg_stat_bgwriter", "checkpoint_write_time")),
        at(POSTGRES, from(17_00_00), View("pg_stat_checkpointer", "write_time")),
    ]),
    counter("checkpoint_sync_ms", "ms", Log, &[
        at(POSTGRES, [0, 17_00_00], View("pg_stat_bgwriter", "checkpoint_sync_time")),
        at(POSTGRES, from(17_00_00), View("pg_stat_checkpointer", "sync_time")),
    ]),
    counter("files_archived", "files", Log, &[
        at(POSTGRES, ANY, View("pg_stat_archiver", "archived_count")),
    ]),
    counter("archive_failures", "files", Log, &[
        at(POSTGRES, ANY, View("pg_stat_archiver", "failed_count")),
    ]),
    gauge("slot_kept_bytes", "bytes", Debt, &[
        at(POSTGRES, ANY,
           View("pg_replication_slots", "coalesce(max(pg_current_wal_lsn() - restart_lsn), 0)")),
    ]),
    gauge("standby_behind_bytes", "bytes", Debt, &[
        at(POSTGRES, ANY, View("pg_stat_replication", "max(pg_current_wal_lsn() - replay_lsn)")),
    ]),
    gauge("oldest_xid_age", "transactions", Debt, &[
        at(POSTGRES, ANY, View("pg_database", "max(age(datfrozenxid))")),
    ]),
    counter("autovacuums", "tables", Debt, &[
        at(POSTGRES, ANY, View(TABLES, "sum(autovacuum_count)")),
    ]),
    counter("autoanalyzes", "tables", Debt, &[
        at(POSTGRES, ANY, View(TABLES, "sum(autoanalyze_count)")),
    ]),
    gauge("database_bytes", "bytes", Pages, &[
        at(POSTGRES, ANY,
           View("pg_database WHERE datname = current_database()", "pg_database_size(oid)")),
    ]),
    counter("adaptive_hash_searches", "searches", Access, &[
        at(MYSQL, from(5_06_00), Metric("adaptive_hash_searches")),
        at(MARIADB, ANY, Status("Innodb_adaptive_hash_hash_searches")),
    ]),
    counter("tree_searches", "searches", Access, &[
        at(MYSQL, from(5_06_00), Metric("adaptive_hash_searches_btree")),
        at(MARIADB, ANY, Status("Innodb_adaptive_hash_non_hash_searches")),
    ]),
    counter("index_merges_behind", "records", Debt, &[
        at(MYSQL, from(5_06_00), Metric("ibuf_merges_insert")),
    ]),
    gauge("uptime_s", "s", Sessions, &[
        at(BOTH, ANY, Status("Uptime")),
        at(POSTGRES, ANY,
           View("pg_stat_activity WHERE pid = pg_backend_pid()",
                "extract(epoch FROM now() - pg_postmaster_start_time())")),
    ]),
];
