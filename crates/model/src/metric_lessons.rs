//! What each metric means: one dictionary of all that servers tell of themselves.
//!
//! ```text
//!   rate ──raises──▶ utilisation ──pushes back──▶ rate
//!                    full utilisation ──makes──▶ waits ──too long──▶ errors
//!   response time: what all of it comes to      access pattern: what is asked      internal: how
//! ```
//!
//! The classes, and how they hang together: Nichter, Efficient MySQL Performance, chapter 6, and
//! his plan of metrics in `cashapp/blip`. Places in the servers are in `server_facts` and
//! `live_facts`.

use crate::live_facts::LIVE_FACTS;
use crate::server_facts::{ASKED, FACTS, ServerFact};
use crate::words::words;

words! {
    /// To which class a metric belongs.
    #[derive(PartialOrd, Ord)]
    MetricClass {
        /// How long an answer takes, or is behind.
        ResponseTime = "response time",
        /// How much is done.
        Rate = "rate",
        /// How much of something that has a limit is in use.
        Utilisation = "utilisation",
        /// What is waited for.
        Wait = "wait",
        /// What went wrong.
        Error = "error",
        /// What is asked, and how it is found.
        AccessPattern = "access pattern",
        /// How the server does it.
        Internal = "internal",
    }
}

/// What a metric means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MetricLesson {
    /// The name of the fact.
    pub name: &'static str,
    /// Its class.
    pub class: MetricClass,
    /// What it is.
    pub meaning: &'static str,
    /// What moves it, and what it moves.
    pub movers: &'static str,
}

impl MetricLesson {
    /// Where it stands in servers, its unit and kind.
    ///
    /// # Panics
    /// Never: a test says that each lesson has its fact.
    pub fn server_fact(&self) -> &'static ServerFact {
        let mut all = ASKED.iter().chain(FACTS).chain(LIVE_FACTS);
        all.find(|fact| fact.name == self.name).expect("each lesson has a fact")
    }
}

impl MetricLesson {
    /// Whether a word in small letters stands in it, or in what servers call it.
    fn has_word(&self, word: &str) -> bool {
        let places = self.server_fact().sources.iter().map(|source| source.place.to_string());
        let texts = [self.name, self.class.name(), self.meaning, self.movers];
        let mut texts = texts.map(str::to_owned).into_iter().chain(places);
        texts.any(|text| text.to_lowercase().contains(word))
    }
}

/// The lessons in which a word stands, whatever its case: in the name, in what is said, or in what
/// servers call it. All of them where there is no word.
pub fn find_lessons(word: Option<&str>) -> Vec<&'static MetricLesson> {
    let Some(word) = word.map(str::to_lowercase) else { return LESSONS.iter().collect() };
    LESSONS.iter().filter(|lesson| lesson.has_word(&word)).collect()
}

const fn lesson(
    name: &'static str,
    class: MetricClass,
    meaning: &'static str,
    movers: &'static str,
) -> MetricLesson {
    MetricLesson { name, class, meaning, movers }
}

use MetricClass::{AccessPattern, Error, Internal, Rate, ResponseTime, Utilisation, Wait};

/// All of them: those that a comparison reads, then those that only a live view reads.
#[rustfmt::skip]
pub(crate) const LESSONS: &[MetricLesson] = &[
    lesson("statements", Rate,
        "statements that clients sent",
        "moves with the clients; it moves all other rates"),
    lesson("transactions", Rate,
        "transactions that ended, committed or not",
        "moves with the clients; each is as many statements as the application makes of it"),
    lesson("rows_examined", AccessPattern,
        "rows that were read in order to answer",
        "rises with a worse plan, an index that is missing, old row versions; it moves processors \
         and pages"),
    lesson("rows_sent", AccessPattern,
        "rows that clients got",
        "moves with the questions alone: if it changes at the same rate, the questions have \
         changed"),
    lesson("rows_examined_per_row_sent", AccessPattern,
        "rows that were read for one that a client got",
        "1 is an index that fits; it rises with filters after the read, and with old row versions"),
    lesson("handler_read_first", AccessPattern,
        "times that the first entry of an index was read",
        "one for each scan of a whole index"),
    lesson("handler_read_key", AccessPattern,
        "rows that were found by their key",
        "the cheap way to a row: moves with the statements"),
    lesson("handler_read_last", AccessPattern,
        "times that the last entry of an index was read",
        "ORDER BY … DESC with LIMIT, max()"),
    lesson("handler_read_next", AccessPattern,
        "rows that were read one after the other in the order of an index",
        "ranges and scans of an index: rises with longer ranges and worse plans"),
    lesson("handler_read_prev", AccessPattern,
        "rows that were read backwards in the order of an index",
        "ORDER BY … DESC"),
    lesson("handler_read_rnd", AccessPattern,
        "rows that were read at a position that was noted before",
        "sorts that sort positions and fetch the rows afterwards"),
    lesson("handler_read_rnd_next", AccessPattern,
        "rows that were read one after the other from a table without an index",
        "full scans: each one of a large table empties the buffer pool of others"),
    lesson("handler_write", AccessPattern,
        "rows that were put in, those of temporary tables among them",
        "inserts, and statements that group, sort or keep for themselves"),
    lesson("handler_update", AccessPattern,
        "rows that were changed, those of temporary tables among them",
        "updates, and groups that are added up in a temporary table"),
    lesson("handler_delete", AccessPattern,
        "rows that were taken away",
        "deletes; each leaves an old version that purge has to remove"),
    lesson("index_scans", AccessPattern,
        "scans that an index was used for",
        "moves with the statements"),
    lesson("index_rows_fetched", AccessPattern,
        "live rows that were fetched by way of an index",
        "moves with the statements and with the length of ranges"),
    lesson("full_scans", AccessPattern,
        "joins that read a whole first table; in PostgreSQL scans of whole tables",
        "should be next to nothing where tables are large: a plan that changed, an index that is \
         missing"),
    lesson("full_scan_rows", AccessPattern,
        "rows that scans of whole tables read",
        "the size of the tables that are scanned times how often"),
    lesson("full_joins", AccessPattern,
        "joins that read the second table as a whole for each row of the first",
        "should be 0: an index on the joined column is missing"),
    lesson("range_checks", AccessPattern,
        "joins that look for a usable index anew for each row",
        "should be 0: no index fits well"),
    lesson("sorted_rows", AccessPattern,
        "rows that were sorted",
        "ORDER BY and GROUP BY that no index serves"),
    lesson("sort_merge_passes", AccessPattern,
        "times that parts of a sort on disk were merged",
        "sorts that are larger than sort_buffer_size"),
    lesson("tmp_tables", AccessPattern,
        "temporary tables that statements made for themselves",
        "GROUP BY, DISTINCT, UNION and derived tables"),
    lesson("tmp_disk_tables", AccessPattern,
        "those of them that were on disk",
        "results larger than tmp_table_size or temptable_max_ram; columns of BLOB before 8.0"),
    lesson("tmp_files", AccessPattern,
        "files that statements made for themselves",
        "sorts, hashes and joins that do not fit into memory (sort_buffer_size, work_mem)"),
    lesson("tmp_bytes", AccessPattern,
        "bytes that went into such files",
        "rises when work_mem is too small for the sorts and hashes"),
    lesson("row_lock_waits", Wait,
        "times that a row lock had to be waited for",
        "rises with more writers on the same rows and with longer transactions; it moves response \
         time"),
    lesson("row_lock_wait_ms", Wait,
        "time that was waited for row locks",
        "as the waits, and with how long the holder takes to commit"),
    lesson("table_lock_waits", Wait,
        "times that a lock of a table had to be waited for",
        "LOCK TABLES, engines without row locks, DDL"),
    lesson("deadlocks", Error,
        "transactions that were rolled back since they waited for each other",
        "rises with more writers that take the same rows in different orders"),
    lesson("lock_timeouts", Error,
        "waits for a row lock that took too long and ended as an error",
        "a holder that does not commit: find the oldest transaction"),
    lesson("redo_buffer_waits", Wait,
        "times that the buffer of the log was full",
        "large transactions, a log device that is slow, a log buffer that is too small"),
    lesson("free_page_waits", Wait,
        "times that a page was needed and none was free",
        "flushing is behind: a full buffer pool, a slow disk; should be 0"),
    lesson("file_wait_ms", Wait,
        "time that was waited for files",
        "the disk: reads that miss memory, syncs of the log"),
    lesson("latch_wait_ms", Wait,
        "time within mutexes, rw-locks and conditions that are watched",
        "more threads than the structure behind a latch bears; idle background threads count as \
         well"),
    lesson("pages_requested", Utilisation,
        "pages that were asked for, in memory or not",
        "the work of reading: moves with rows read and with how full pages are"),
    lesson("pages_read", Utilisation,
        "pages that were not in memory",
        "a working set larger than memory, a cold start, a scan that pushed others out"),
    lesson("pages_read_per_request", Utilisation,
        "share of the requested pages that were not in memory",
        "1 − hit rate: rises when memory is short; moves response time by the latency of the disk"),
    lesson("pages_flushed", Internal,
        "changed pages that were written",
        "moves with changes, and in bursts when the checkpoint comes near its limit"),
    lesson("pages_written_twice", Internal,
        "pages that went through the doublewrite buffer",
        "as the flushed pages: the price of surviving a torn page"),
    lesson("fsyncs", Wait,
        "times that it was waited until data is safe",
        "commits ÷ group size, and flushing: at most what the device can do in a second"),
    lesson("redo_bytes", Rate,
        "bytes of log that changes made",
        "moves with rows changed and their width, indexes, full page images"),
    lesson("redo_records", Rate,
        "records or requests to write into the log",
        "moves with rows and indexes changed"),
    lesson("full_page_images", Internal,
        "whole pages that were written into the log",
        "the first change of a page after each checkpoint: rises with more frequent checkpoints"),
    lesson("error_log_bytes", Error,
        "bytes that were written to the log of errors",
        "each deadlock or warning that is printed costs time of those who wait behind it"),
    lesson("checkpoint_age", Internal,
        "bytes of log that a start after a crash would read",
        "rises with changes, sinks with flushing; at the async point flushing becomes furious, at \
         the sync point everybody waits"),
    lesson("history_list", Internal,
        "transactions whose old row versions are still kept",
        "rises while any old transaction stays open or purge is behind; each reader walks past \
         what is kept"),
    lesson("dead_rows", Internal,
        "row versions that vacuum has still to remove",
        "rises with updates and deletes; an old transaction or a slot keeps vacuum from removing \
         them"),
    lesson("dirty_pages", Utilisation,
        "pages that are changed in memory and not yet written",
        "rises with changes, sinks with flushing"),
    lesson("oldest_transaction_s", Internal,
        "age of the oldest transaction that is open",
        "a client that forgot to commit, a long report, a backup; it moves the history list and \
         dead rows"),
    lesson("queries", Rate,
        "statements that the server carried out, those of stored programs among them",
        "moves with the clients: the first figure to look at"),
    lesson("slow_queries", ResponseTime,
        "statements that took longer than long_query_time",
        "rises with response time as a whole: look which class moved first"),
    lesson("commits", Rate,
        "transactions that were committed; in MySQL and MariaDB by a statement",
        "moves with the clients; each waits for the log where durability is full"),
    lesson("rollbacks", Error,
        "transactions that were rolled back",
        "an application that gives up, errors, deadlocks"),
    lesson("begins", Rate,
        "transactions that began by a statement",
        "moves with the clients"),
    lesson("selects", AccessPattern,
        "SELECT statements",
        "the share of reads among statements: a mix that changes is a change of the input"),
    lesson("inserts", AccessPattern,
        "INSERT and INSERT … SELECT statements",
        "the mix of the application"),
    lesson("updates", AccessPattern,
        "UPDATE statements, of one and of several tables",
        "the mix of the application"),
    lesson("deletes", AccessPattern,
        "DELETE statements, of one and of several tables",
        "the mix of the application"),
    lesson("replaces", AccessPattern,
        "REPLACE and REPLACE … SELECT statements",
        "the mix of the application; each deletes and inserts"),
    lesson("prepared_executions", Rate,
        "executions of prepared statements",
        "moves with the clients"),
    lesson("prepares", Rate,
        "statements that were prepared",
        "one for each execution means that nothing is gained by preparing"),
    lesson("admin_commands", AccessPattern,
        "commands of the protocol that are no statement, such as ping and change of user",
        "pools that test each connection before they lend it"),
    lesson("rows_inserted", Rate,
        "rows that were inserted",
        "moves with the clients"),
    lesson("rows_updated", Rate,
        "rows that were updated",
        "moves with the clients; each leaves an old version"),
    lesson("rows_deleted", Rate,
        "rows that were deleted",
        "moves with the clients; each leaves an old version"),
    lesson("rows_fetched", AccessPattern,
        "live rows that statements needed",
        "moves with the statements; far below the rows examined where plans read too much"),
    lesson("bytes_sent", Rate,
        "bytes that were sent to clients",
        "rows sent and their width: more columns, larger results"),
    lesson("bytes_received", Rate,
        "bytes that came from clients",
        "longer statements and larger parameters"),
    lesson("handler_commits", Rate,
        "commits within engines, two for each transaction with a binary log",
        "moves with the transactions"),
    lesson("handler_rollbacks", Error,
        "requests to an engine to roll back",
        "rollbacks, errors within statements"),
    lesson("savepoints", Rate,
        "savepoints that were set",
        "frameworks that nest transactions"),
    lesson("query_cache_hits", Rate,
        "statements that the query cache answered",
        "moves with repeated reads; each change of a table empties its entries"),
    lesson("connections_made", Rate,
        "connections that were attempted; in PostgreSQL sessions of the database",
        "an application without a pool, or one that lost its connections"),
    lesson("threads_connected", Utilisation,
        "connections that are open",
        "pools of the application; against max_connections"),
    lesson("connections_most", Utilisation,
        "most connections that were ever open at once",
        "near max_connections the next ones are refused"),
    lesson("threads_running", Utilisation,
        "sessions that carry out a statement at this moment, this question among them",
        "work that comes faster than it is done: beyond the number of processors all wait; moves \
         response time"),
    lesson("threads_cached", Internal,
        "threads that are kept for the next connection",
        "sinks to 0 where connections come faster than threads are made"),
    lesson("threads_created", Internal,
        "threads that had to be made for a connection",
        "rises when thread_cache_size is too small"),
    lesson("transactions_open", Utilisation,
        "transactions that are open",
        "rises with longer transactions and with lock waits"),
    lesson("idle_in_transaction", Utilisation,
        "sessions with an open transaction that ask nothing",
        "an application that thinks, or waits for somebody else, between statements; it holds \
         locks and old versions meanwhile"),
    lesson("row_lock_waiting", Wait,
        "transactions that wait for a lock at this moment",
        "one that holds what others need: see who blocks whom"),
    lesson("prepared_statements", Utilisation,
        "prepared statements that are kept",
        "rises for ever where an application does not close them; against max_prepared_stmt_count"),
    lesson("session_ms", Utilisation,
        "time that sessions were connected",
        "moves with the number of connections"),
    lesson("active_ms", Utilisation,
        "time that sessions carried out statements; divided by the time that passed: sessions at \
         work",
        "rate times response time: rises with either"),
    lesson("idle_in_transaction_ms", Utilisation,
        "time that sessions were idle within a transaction",
        "an application that holds transactions open"),
    lesson("clients_aborted", Error,
        "connections that ended without a farewell",
        "clients that were killed, networks that broke, wait_timeout, packets that are too large"),
    lesson("logins_failed", Error,
        "attempts to connect that failed",
        "wrong passwords, missing rights, time-outs, scanners of ports"),
    lesson("connections_refused", Error,
        "connections that were refused since there were max_connections",
        "pools that are larger together than the limit; statements that pile up behind a lock"),
    lesson("sessions_fatal", Error,
        "sessions that ended by a fatal error",
        "look into the log of errors"),
    lesson("sessions_killed", Error,
        "sessions that somebody ended",
        "pg_terminate_backend, and who calls it"),
    lesson("recovery_conflicts", Error,
        "statements of a standby that were ended since replay needed what they looked at",
        "long reads on a standby; hot_standby_feedback, max_standby_streaming_delay"),
    lesson("select_full_range_joins", AccessPattern,
        "joins that read a range of the second table for each row of the first",
        "should be small: an index that fits better"),
    lesson("select_ranges", AccessPattern,
        "joins that read a range of the first table",
        "moves with the statements"),
    lesson("sorts_of_ranges", AccessPattern,
        "sorts of what a range was read for",
        "moves with the statements"),
    lesson("sorts_of_scans", AccessPattern,
        "sorts of what a whole table was read for",
        "a plan that changed, an index that is missing"),
    lesson("hot_updates", AccessPattern,
        "updates that left all indexes as they were",
        "falls when a changed column gets an index, or pages are full (fillfactor); then each \
         update costs all indexes"),
    lesson("live_rows", Utilisation,
        "rows of all tables, as statistics have it",
        "the size of the data"),
    lesson("rows_changed_since_analyze", Internal,
        "rows that changed since statistics were made",
        "the higher, the older the picture by which plans are chosen"),
    lesson("open_tables", Utilisation,
        "tables that are open",
        "against table_open_cache"),
    lesson("tables_opened", Internal,
        "tables that had to be opened",
        "rises with a table_open_cache that is too small; each opening takes latches"),
    lesson("table_cache_overflows", Internal,
        "tables that were closed since the cache was full",
        "should be 0: table_open_cache is too small"),
    lesson("buffer_pool_pages", Utilisation,
        "pages of the buffer pool",
        "its size: changes only if somebody changes it"),
    lesson("buffer_pool_free", Utilisation,
        "pages of the buffer pool that nothing is in",
        "sinks to a few thousand once it is warm; at 0 readers wait for flushing"),
    lesson("buffer_pool_data", Utilisation,
        "pages of the buffer pool with data",
        "rises until the pool is full"),
    lesson("pages_read_ahead", Internal,
        "pages that were read before anybody asked",
        "scans"),
    lesson("pages_read_ahead_in_vain", Internal,
        "pages that were read ahead and pushed out unused",
        "a pool that is too small for the scans that go on"),
    lesson("pages_created", Rate,
        "pages that were made",
        "inserts: tables and indexes grow"),
    lesson("data_reads", Rate,
        "requests to read from files",
        "pages that are not in memory"),
    lesson("data_writes", Rate,
        "requests to write to files",
        "flushing, the log, doublewrite"),
    lesson("data_read_bytes", Rate,
        "bytes that were read from files",
        "pages that are not in memory"),
    lesson("data_written_bytes", Rate,
        "bytes that were written to files",
        "flushing, the log, doublewrite"),
    lesson("reads_pending", Wait,
        "reads of files that are under way",
        "a disk that is slower than what is asked of it"),
    lesson("writes_pending", Wait,
        "writes of files that are under way",
        "a disk that is slower than what is asked of it"),
    lesson("syncs_pending", Wait,
        "syncs of files that are under way",
        "a device that is slow to make data safe"),
    lesson("buffers_allocated", Rate,
        "buffers that were given to a page",
        "reads that miss shared_buffers, and new pages"),
    lesson("buffers_cleaned", Internal,
        "changed pages that the background writer wrote",
        "rises where backends need clean buffers faster than checkpoints make them"),
    lesson("background_writer_halts", Internal,
        "times that the background writer stopped since it had written enough",
        "should be small: bgwriter_lru_maxpages is too small"),
    lesson("buffers_written_by_backends", Wait,
        "changed pages that sessions had to write themselves",
        "shared_buffers too small, or the background writer too slow: sessions wait for the disk"),
    lesson("index_pages_requested", Utilisation,
        "pages of indexes that were asked for",
        "moves with index scans"),
    lesson("index_pages_read", Utilisation,
        "pages of indexes that were not in shared_buffers",
        "indexes larger than memory"),
    lesson("checksum_failures", Error,
        "pages whose checksum was wrong",
        "a disk or memory that lies: act at once"),
    lesson("redo_writes", Rate,
        "writes to the files of the log",
        "commits ÷ group size"),
    lesson("redo_syncs", Wait,
        "syncs of the files of the log",
        "commits ÷ group size where durability is full; each takes the latency of the device"),
    lesson("binlog_transactions", Rate,
        "transactions that went into the binary log",
        "moves with the transactions that write"),
    lesson("binlog_on_disk", Wait,
        "those that did not fit into binlog_cache_size",
        "large transactions: they delay replicas as well"),
    lesson("binlog_commits", Rate,
        "transactions that were committed into the binary log",
        "moves with the transactions that write"),
    lesson("binlog_groups", Rate,
        "groups in which they were committed: one sync each",
        "commits ÷ groups is the efficiency of group commit: near 1 everybody waits for a sync of \
         his own"),
    lesson("checkpoints_timed", Internal,
        "checkpoints that were due",
        "one in each checkpoint_timeout"),
    lesson("checkpoints_requested", Internal,
        "checkpoints that were forced",
        "max_wal_size is too small for the changes: more full page images, more flushing"),
    lesson("checkpoint_write_ms", Internal,
        "time that checkpoints wrote",
        "spread over checkpoint_completion_target of the time between two"),
    lesson("checkpoint_sync_ms", Wait,
        "time that checkpoints waited until files were safe",
        "a disk that has too much to write at the end of a checkpoint: others wait as well"),
    lesson("files_archived", Rate,
        "files of the log that were archived",
        "moves with the bytes of the log"),
    lesson("archive_failures", Error,
        "attempts to archive that failed",
        "archive_command fails: the log fills the disk"),
    lesson("slot_kept_bytes", Internal,
        "bytes of log that replication slots keep",
        "a replica or a consumer that is away: the log fills the disk"),
    lesson("standby_behind_bytes", ResponseTime,
        "bytes of log that the slowest standby has not replayed",
        "network, disk or replay of the standby; large transactions"),
    lesson("oldest_xid_age", Internal,
        "transactions since the oldest one that is not frozen",
        "at autovacuum_freeze_max_age vacuum is forced, at two thousand million writing ends"),
    lesson("autovacuums", Internal,
        "tables that autovacuum has vacuumed",
        "dead rows beyond the threshold"),
    lesson("autoanalyzes", Internal,
        "tables that autovacuum has analysed: their plans may change then",
        "changed rows beyond the threshold"),
    lesson("database_bytes", Utilisation,
        "size of the database that is asked",
        "the growth of the data, and bloat"),
    lesson("adaptive_hash_searches", Internal,
        "searches that the adaptive hash index answered",
        "moves with searches by key; its latch is one that many threads meet at"),
    lesson("tree_searches", Internal,
        "searches that went through the tree of an index",
        "moves with searches by key"),
    lesson("index_merges_behind", Internal,
        "changes of indexes that were kept and merged later",
        "changes of secondary indexes whose pages are not in memory"),
    lesson("uptime_s", Internal,
        "time since the server started",
        "falls to 0 when it was started again: every counter begins anew"),
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn each_fact_has_one_lesson_and_each_lesson_a_fact() {
        let facts = ASKED.iter().chain(FACTS).chain(LIVE_FACTS);
        let facts: Vec<&str> = facts.map(|fact| fact.name).collect();
        let lessons: Vec<&str> = LESSONS.iter().map(|lesson| lesson.name).collect();
        let as_set = |names: &[&'static str]| names.iter().copied().collect::<BTreeSet<_>>();
        assert_eq!(as_set(&facts), as_set(&lessons));
        assert_eq!(as_set(&facts).len(), facts.len(), "a fact stands there twice");
        assert_eq!(as_set(&lessons).len(), lessons.len(), "a lesson stands there twice");
        assert!(lessons.len() >= 120);
    }

    #[test]
    fn a_metric_is_found_by_what_a_server_calls_it() {
        let found = |word: &str| -> Vec<&str> {
            find_lessons(Some(word)).into_iter().map(|lesson| lesson.name).collect()
        };
        assert_eq!(found("INNODB_ROW_LOCK_TIME"), ["row_lock_wait_ms"]);
        assert_eq!(found("n_tup_hot_upd"), ["hot_updates"]);
        assert!(found("purge").contains(&"history_list"));
        assert!(found("no such word").is_empty());
    }
}
