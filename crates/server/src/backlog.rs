//! What a server has put off: old versions to purge, pages to flush, tables to vacuum.
//!
//! ```text
//!   MySQL, MariaDB   history list, dirty pages
//!   PostgreSQL       maintenance workers at our tables
//!   SQLite           frames in the write-ahead log, which is written back by asking
//!   RocksDB          compactions and flushes
//!   engine           transactions to purge
//! ```
//!
//! Each gauge says which value is as good as nothing.

use dbdyno_wire::{Client, WireError};

use crate::facts::read_fact;
use crate::family::{BacklogGauge, ServerRelease};
use crate::names::TableName;

/// Transactions whose old row versions may be left. Purging goes on in batches of 128 rollback
/// segments and need not reach 0; a thousand are purged within milliseconds.
pub(crate) const HISTORY_MOST: u64 = 1_000;
/// MySQL's purge threads go to sleep when fewer than this are left and no more are coming, until
/// somebody writes again: 8.0.33 was seen to stay at 1,862 for as long as it was watched.
pub(crate) const HISTORY_MOST_MYSQL: u64 = 5_000;
/// Share of the buffer pool that may be dirty: Callaghan's 1 %.
const DIRTY_MOST: f64 = 0.01;
/// What InnoDB's two limits of dirty pages are lowered to meanwhile, per cent: below what we wait
/// for, because flushing stops as soon as the limit is met.
const DIRTY_PCT_MEANWHILE: &str = "0.5";

/// What a server has put off, as far as it tells, and us; what concerns tables alone is asked of
/// these.
///
/// # Errors
/// A broken connection.
pub fn server_backlog(
    client: &mut dyn Client,
    server: ServerRelease,
    tables: &[TableName],
) -> Result<Vec<BacklogGauge>, WireError> {
    (server.family().backlog)(client, server, tables)
}

/// InnoDB's limits of dirty pages, lowered; dropping puts them back.
pub struct DirtyPageLimits {
    client: Box<dyn Client>,
    /// In the order in which they are put back.
    before: Vec<(&'static str, f64)>,
}

/// A number that a server has told; 0 where it is none.
fn number_in(told: Option<&str>) -> f64 {
    told.and_then(|told| told.parse::<f64>().ok()).filter(|told| told.is_finite()).unwrap_or(0.0)
}

impl DirtyPageLimits {
    /// Lowers them, in a session of its own.
    ///
    /// # Errors
    /// The server's refusal.
    pub fn lower_limits(client: Box<dyn Client>) -> Result<DirtyPageLimits, WireError> {
        let mut lowered = DirtyPageLimits { client, before: Vec::new() };
        // The low-water mark may never be above the limit: it goes down first and up last.
        for name in ["innodb_max_dirty_pages_pct_lwm", "innodb_max_dirty_pages_pct"] {
            let before = match lowered.client.query(&format!("SELECT @@GLOBAL.{name}")) {
                Ok(rows) => number_in(rows.first_value()),
                Err(error) if error.is_fatal() => return Err(error),
                // MySQL 5.5 has no low-water mark.
                Err(_) => continue,
            };
            lowered.before.insert(0, (name, before));
            match lowered.client.run(&format!("SET GLOBAL {name}={DIRTY_PCT_MEANWHILE}")) {
                Ok(_) => {}
                Err(error) if error.is_fatal() => return Err(error),
                // MySQL 5.5 takes whole numbers only.
                Err(_) => lowered.client.run(&format!("SET GLOBAL {name}=0")).map(|_| ())?,
            }
        }
        Ok(lowered)
    }

    /// Puts them back.
    ///
    /// # Errors
    /// The server's refusal.
    pub fn put_back(&mut self) -> Result<(), WireError> {
        for (name, before) in std::mem::take(&mut self.before) {
            self.client.run(&format!("SET GLOBAL {name}={before}"))?;
        }
        Ok(())
    }
}

impl Drop for DirtyPageLimits {
    /// On the way out of a failure. A server that cannot be reached any more is ours and ends.
    fn drop(&mut self) {
        let _gone_with_its_server = self.put_back();
    }
}

/// What InnoDB has left to do, as far as we may see it.
pub(crate) fn innodb_backlog(
    client: &mut dyn Client,
    server: ServerRelease,
    _tables: &[TableName],
) -> Result<Vec<BacklogGauge>, WireError> {
    let rows = client.query(
        "SHOW GLOBAL STATUS WHERE Variable_name IN ('Innodb_buffer_pool_pages_dirty', \
         'Innodb_buffer_pool_pages_total')",
    )?;
    let value = |name: &str| {
        let row = rows.rows.iter().find(|row| row.first() == Some(&Some(name.to_owned())))?;
        row.get(1)?.as_ref()?.parse::<u64>().ok()
    };
    let mut gauges = Vec::with_capacity(2);
    if let Some(value) = read_fact(client, server, "history_list")? {
        let (value, most) = (value as u64, server.family().history_most);
        gauges.push(BacklogGauge { name: "history list", value, most });
    }
    let dirty = value("Innodb_buffer_pool_pages_dirty");
    if let (Some(value), Some(total)) = (dirty, value("Innodb_buffer_pool_pages_total")) {
        gauges.push(BacklogGauge {
            name: "dirty pages",
            value,
            most: (total as f64 * DIRTY_MOST) as u64,
        });
    }
    Ok(gauges)
}

/// The questions how many workers vacuum or analyse our tables, the better one first. Anybody may
/// ask the first. Before PostgreSQL 13 progress of ANALYZE is told nowhere, and what a worker does
/// is read from its title, which others than a superuser do not see.
fn workers_at(tables: &[TableName]) -> [String; 2] {
    let ids: Vec<String> = tables.iter().map(TableName::oid_expression).collect();
    let ids = ids.join(", ");
    let at = |view: &str| format!("(SELECT count(*) FROM {view} WHERE relid IN ({ids}))");
    // A name behind a point, at the end or before a blank.
    let titles: Vec<String> = tables
        .iter()
        .map(|table| {
            let name = table.name_literal();
            format!("(strpos(query || ' ', '.' || {name}::text || ' ') > 0)")
        })
        .chain(["false".to_owned()])
        .collect();
    let titled = format!(
        "SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'autovacuum: %' AND ({})",
        titles.join(" OR ")
    );
    let by_progress =
        format!("SELECT {} + {}", at("pg_stat_progress_vacuum"), at("pg_stat_progress_analyze"));
    [by_progress, titled]
}

/// How many of them there are.
pub(crate) fn workers(
    client: &mut dyn Client,
    _server: ServerRelease,
    tables: &[TableName],
) -> Result<Vec<BacklogGauge>, WireError> {
    for question in workers_at(tables) {
        if let Some(value) = number(client, &question)? {
            return Ok(vec![BacklogGauge { name: "autovacuum workers", value, most: 0 }]);
        }
    }
    Ok(Vec::new())
}

/// Writes the log back; what is left of it is what readers still hold.
pub(crate) fn write_ahead_log(
    client: &mut dyn Client,
    _server: ServerRelease,
    _tables: &[TableName],
) -> Result<Vec<BacklogGauge>, WireError> {
    let rows = client.query("PRAGMA wal_checkpoint(TRUNCATE)")?;
    let frames = rows.rows.first().and_then(|row| row.get(1)?.as_ref()?.parse::<i64>().ok());
    // −1: the database has no write-ahead log.
    let value = frames.and_then(|frames| u64::try_from(frames).ok());
    Ok(value
        .map(|value| BacklogGauge { name: "frames in the write-ahead log", value, most: 0 })
        .into_iter()
        .collect())
}

/// What RocksDB has left to do in its own threads.
pub(crate) fn rocksdb_backlog(
    client: &mut dyn Client,
    _server: ServerRelease,
    _tables: &[TableName],
) -> Result<Vec<BacklogGauge>, WireError> {
    const PROPERTIES: [(&str, &str); 4] = [
        ("compaction pending", "rocksdb.compaction-pending"),
        ("compactions running", "rocksdb.num-running-compactions"),
        ("flush pending", "rocksdb.mem-table-flush-pending"),
        ("flushes running", "rocksdb.num-running-flushes"),
    ];
    let mut gauges = Vec::with_capacity(PROPERTIES.len());
    for (name, property) in PROPERTIES {
        if let Some(value) = number(client, &format!("PROPERTY {property}"))? {
            gauges.push(BacklogGauge { name, value, most: 0 });
        }
    }
    Ok(gauges)
}

/// Transactions of the engine that has to purge.
pub(crate) fn purge_backlog(
    client: &mut dyn Client,
    _server: ServerRelease,
    _tables: &[TableName],
) -> Result<Vec<BacklogGauge>, WireError> {
    let value = unpurged_transactions(client)?.map(|value| value as u64);
    let gauge = value.map(|value| BacklogGauge { name: "transactions to purge", value, most: 0 });
    Ok(gauge.into_iter().collect())
}

/// Transactions of the reference engine whose old versions are still there; `None` where it does
/// not count them.
///
/// # Errors
/// The engine's refusal.
pub fn unpurged_transactions(client: &mut dyn Client) -> Result<Option<f64>, WireError> {
    let rows = client.query("SHOW STATUS")?.rows;
    let row = rows.iter().find(|row| row[0].as_deref() == Some("unpurged_transactions"));
    Ok(row.and_then(|row| row[1].as_deref()?.parse().ok()))
}

/// A single number; `None` where we may not ask.
fn number(client: &mut dyn Client, sql: &str) -> Result<Option<u64>, WireError> {
    match client.query(sql) {
        Ok(rows) => Ok(rows.first_value().and_then(|value| value.parse().ok())),
        Err(error) if error.is_fatal() => Err(error),
        Err(_) => Ok(None),
    }
}
