//! Bringing both servers to a known state without a restart.
//!
//! After writes a server owes work: rows to purge, pages to flush, tables to vacuum. Unless that is
//! done, whatever is measured next pays for what was measured before. We wait for conditions that
//! can be seen, not for a time:
//!
//! ```text
//!                 set going                        until
//!   InnoDB        ANALYZE TABLE                    history list ≤ 1 000 transactions (MySQL 5 000)
//!                 limits of dirty pages lowered    dirty pages ≤ 1 % of the buffer pool
//!   PostgreSQL    ANALYZE, VACUUM, CHECKPOINT      no autovacuum on our tables
//!   SQLite                                         write-ahead log written back and emptied
//!   RocksDB       memory flushed into files        no flush or compaction is running or pending
//!   engine        a checkpoint                     no transaction has versions to purge
//! ```
//!
//! Settings are lowered on servers of our own only, and put back however settling ends. A server
//! that is not ours may never come to rest, for others use it: there we wait as long as it gets
//! closer. Both arms are set going before either is waited for. What was waited for is told to the
//! reader of the run; where time ran out, that too.

use std::fmt::Write as _;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use dbdyno_load::{COMMITS_ARE_SYNCED, LoadError, vacuum};
use dbdyno_model::{ArmIndex, Arms, Dialect, Severity, Warning};
use dbdyno_server::{Onlooker, TableName};
use dbdyno_wire::{Client, WireError};

use crate::arm::Station;
use crate::error::LabError;
use crate::watch::{Progress, Watch};

/// Transactions whose old row versions may be left. Purging goes on in batches of 128 rollback
/// segments and need not reach 0; a thousand are purged within milliseconds.
const HISTORY_MOST: u64 = 1_000;
/// MySQL's purge threads go to sleep when fewer than this are left and no more are coming, until
/// somebody writes again: 8.0.33 was seen to stay at 1,862 for as long as it was watched.
const HISTORY_MOST_MYSQL: u64 = 5_000;
/// Share of the buffer pool that may be dirty: Callaghan's 1 %.
const DIRTY_MOST: f64 = 0.01;
/// What InnoDB's two limits of dirty pages are lowered to meanwhile, per cent: below what we wait
/// for, because flushing stops as soon as the limit is met.
const DIRTY_PCT_MEANWHILE: &str = "0.5";
/// How often we look.
const LOOK_EVERY: Duration = Duration::from_millis(100);
/// A server that is not ours and gets no closer for so long is left as it is.
const GUEST_PATIENCE: Duration = Duration::from_secs(10);

/// The longest time that settling so many bytes of rows may take: Callaghan waits for 60 s and 1 s
/// for each million rows (of 200 bytes), at most 1 200 s, whether it is needed or not. We go on as
/// soon as we can, so that the limit may be wider: 1 s for each 20 MB.
pub(crate) fn limit(bytes: u64) -> Duration {
    Duration::from_secs((60 + bytes / 20_000_000).min(1_200))
}

/// What settling needs to know.
pub(crate) struct Settling<'a> {
    /// All arms.
    pub stations: &'a Arms<Station>,
    /// Names of our tables.
    pub tables: Arms<Vec<String>>,
    /// Longest time for each arm.
    pub limit: Duration,
    /// Set from outside to stop.
    pub stop: &'a AtomicBool,
}

impl Settling<'_> {
    /// Settles all arms; returns what the reader of the run must know.
    ///
    /// # Errors
    /// The server's refusal, or a request to stop.
    pub(crate) fn settle(&self, watch: &mut dyn Watch) -> Result<Vec<Warning>, LabError> {
        let mut settlers = Vec::with_capacity(2);
        for (arm, station) in self.stations.iter() {
            if !station.shares_tables() {
                let begun = Settler::begin(self, arm, watch);
                settlers.push(begun.map_err(|error| failed(arm, error))?);
            }
        }
        let mut warnings = Vec::with_capacity(2);
        while !settlers.is_empty() {
            let mut left = Vec::with_capacity(2);
            for mut settler in settlers {
                let arm = settler.arm;
                let ended = settler.step(self, watch).map_err(|error| failed(arm, error))?;
                match ended {
                    Some(end) => {
                        let ended = settler.finish(end).map_err(|error| failed(arm, error))?;
                        warnings.push(ended.warning(arm));
                    }
                    None => left.push(settler),
                }
            }
            settlers = left;
            if !settlers.is_empty() {
                thread::sleep(LOOK_EVERY);
            }
        }
        Ok(warnings)
    }
}

fn failed(arm: ArmIndex, error: LoadError) -> LabError {
    LabError::Load(arm, "settling".to_owned(), error)
}

/// One arm that is coming to rest.
struct Settler {
    arm: ArmIndex,
    client: Box<dyn Client>,
    dialect: Dialect,
    /// Held so that they are put back.
    lowered: Option<DirtyPageLimits>,
    /// For PostgreSQL, questions: how many maintenance workers are at our tables.
    workers: [String; 2],
    tables: Vec<TableName>,
    refused: Vec<String>,
    is_ours: bool,
    begun: Instant,
    first: Option<Vec<Gauge>>,
    last: Vec<Gauge>,
    closest: Closest,
}

impl Settler {
    fn begin(
        all: &Settling<'_>,
        arm: ArmIndex,
        watch: &mut dyn Watch,
    ) -> Result<Settler, LoadError> {
        let station = &all.stations[arm];
        let is_ours = station.is_ours();
        let Onlooker { client, names, .. } = station.connector.onlooker()?;
        let tables: Result<Vec<TableName>, _> =
            all.tables[arm].iter().map(|word| names.of_word(word)).collect();
        let tables = tables.map_err(|error| LoadError::Unfit(error.to_string()))?;
        let mut settler = Settler {
            arm,
            client,
            dialect: station.dialect,
            lowered: None,
            workers: workers_at(&tables),
            tables,
            refused: Vec::new(),
            is_ours,
            begun: now(),
            first: None,
            last: Vec::new(),
            closest: Closest { value: u64::MAX, since: now() },
        };
        if settler.dialect == Dialect::Mysql && is_ours {
            settler.lowered = Some(DirtyPageLimits::lower(station.connector.connect_for_work()?)?);
        }
        settler.tidy(all, watch)?;
        if settler.dialect == Dialect::Rocksdb {
            watch.progress(Progress::Stage(arm, "settling: flush"));
            settler.client.run("FLUSH")?;
        }
        if matches!(settler.dialect, Dialect::Postgres | Dialect::Engine) {
            watch.progress(Progress::Stage(arm, "settling: checkpoint"));
            settler.checkpoint()?;
        }
        Ok(settler)
    }

    /// Makes statistics of all tables; then PostgreSQL vacuums them, for the synced commit of what
    /// the statistics wrote has synced all commits before it.
    fn tidy(&mut self, all: &Settling<'_>, watch: &mut dyn Watch) -> Result<(), LoadError> {
        let analyze = match self.dialect {
            Dialect::Mysql => "ANALYZE TABLE",
            Dialect::Postgres => "ANALYZE",
            Dialect::Sqlite | Dialect::Rocksdb | Dialect::Engine => return Ok(()),
        };
        let is_postgres = self.dialect == Dialect::Postgres;
        if is_postgres {
            self.client.run(COMMITS_ARE_SYNCED)?;
        }
        let begins = |doing: &str, table: &TableName, watch: &mut dyn Watch| {
            if all.stop.load(Ordering::Relaxed) {
                return Err(LoadError::Interrupted);
            }
            let stage = format!("settling: {doing} of {}", table.place());
            watch.progress(Progress::Stage(self.arm, &stage));
            Ok(())
        };
        for table in &self.tables {
            begins("statistics", table, watch)?;
            let sql = format!("{analyze} {}", table.place());
            self.client.query(&sql).map_err(|error| LoadError::Wire(error, Some(sql)))?;
        }
        for table in self.tables.iter().filter(|_| is_postgres) {
            begins("vacuum", table, watch)?;
            vacuum(&mut *self.client, table.place())?;
        }
        Ok(())
    }

    /// Only a superuser may; elsewhere the checkpoint comes when it comes.
    fn checkpoint(&mut self) -> Result<(), LoadError> {
        match self.client.run("CHECKPOINT") {
            Err(error) if error.is_fatal() => Err(error.into()),
            Err(_) => {
                self.refused.push("no right to CHECKPOINT".to_owned());
                Ok(())
            }
            Ok(_) => Ok(()),
        }
    }

    /// Looks once; says how settling ended, if it did.
    fn step(
        &mut self,
        all: &Settling<'_>,
        watch: &mut dyn Watch,
    ) -> Result<Option<End>, LoadError> {
        if all.stop.load(Ordering::Relaxed) {
            return Err(LoadError::Interrupted);
        }
        self.last = self.look()?;
        if self.first.is_none() {
            self.first = Some(self.last.clone());
        }
        let Some(worst) = self.last.iter().find(|gauge| gauge.value > gauge.most) else {
            return Ok(Some(End::Settled));
        };
        let waited = now() - self.begun;
        let distance = self.last.iter().map(|gauge| gauge.value.saturating_sub(gauge.most)).sum();
        self.closest.see(distance);
        if !self.is_ours && now() - self.closest.since > GUEST_PATIENCE {
            return Ok(Some(End::NoCloser));
        }
        if waited > all.limit {
            return Ok(Some(End::TimeIsUp));
        }
        watch.progress(Progress::Stage(self.arm, &worst.waiting(waited, all.limit)));
        Ok(None)
    }

    fn finish(mut self, end: End) -> Result<SettleResult, LoadError> {
        if let Some(mut lowered) = self.lowered.take() {
            lowered.put_back()?;
        }
        self.client.close();
        Ok(SettleResult {
            end,
            took: now() - self.begun,
            first: self.first.unwrap_or_default(),
            last: self.last,
            refused: self.refused,
        })
    }

    fn look(&mut self) -> Result<Vec<Gauge>, LoadError> {
        let gauges = match self.dialect {
            Dialect::Mysql => innodb(&mut *self.client),
            Dialect::Postgres => workers(&mut *self.client, &self.workers),
            Dialect::Sqlite => write_ahead_log(&mut *self.client),
            Dialect::Rocksdb => compactions(&mut *self.client),
            Dialect::Engine => unpurged(&mut *self.client),
        };
        gauges.map_err(LoadError::from)
    }
}

/// How close a server has come, and since when.
struct Closest {
    value: u64,
    since: Instant,
}

impl Closest {
    fn see(&mut self, value: u64) {
        if value < self.value {
            *self = Closest { value, since: now() };
        }
    }
}

/// Something that is left to do.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Gauge {
    name: &'static str,
    value: u64,
    most: u64,
}

impl Gauge {
    fn waiting(&self, waited: Duration, limit: Duration) -> String {
        format!(
            "settling: {} {}, waiting for {} or less ({} s of at most {} s)",
            self.name,
            self.value,
            self.most,
            waited.as_secs(),
            limit.as_secs()
        )
    }
}

/// How settling ended.
enum End {
    Settled,
    TimeIsUp,
    NoCloser,
}

struct SettleResult {
    end: End,
    took: Duration,
    first: Vec<Gauge>,
    last: Vec<Gauge>,
    refused: Vec<String>,
}

impl SettleResult {
    fn warning(&self, arm: ArmIndex) -> Warning {
        let mut seen = Vec::new();
        for (first, last) in self.first.iter().zip(&self.last) {
            let mut text = format!("{} {}", last.name, first.value);
            if first.value != last.value {
                let _infallible = write!(text, " → {}", last.value);
            }
            let _infallible = write!(text, " (limit {})", last.most);
            seen.push(text);
        }
        if seen.is_empty() {
            seen.push("its background work is not visible with our privileges".to_owned());
        }
        seen.extend(self.refused.iter().cloned());
        let (seen, took) = (seen.join(", "), self.took.as_secs_f64());
        let (severity, code, text) = match self.end {
            End::Settled => {
                (Severity::Note, "settled", format!("{arm}: settled in {took:.1} s: {seen}"))
            }
            End::TimeIsUp => (
                Severity::Caution,
                "not-settled",
                format!(
                    "{arm}: not settled after {took:.0} s: {seen}; its background work slows the \
                     next load: try fewer --rows or a faster disk"
                ),
            ),
            End::NoCloser => (
                Severity::Caution,
                "not-settled",
                format!(
                    "{arm}: not settled, and no closer to it after {took:.0} s: {seen}; is \
                     somebody else using the server, or does a long transaction hold back purging?"
                ),
            ),
        };
        Warning::new(severity, code, text)
    }
}

/// InnoDB's limits of dirty pages, lowered; dropping puts them back.
struct DirtyPageLimits {
    client: Box<dyn Client>,
    /// In the order in which they are put back.
    before: Vec<(&'static str, f64)>,
}

/// A number that a server has told; 0 where it is none.
fn number_in(told: Option<&str>) -> f64 {
    told.and_then(|told| told.parse::<f64>().ok()).filter(|told| told.is_finite()).unwrap_or(0.0)
}

impl DirtyPageLimits {
    fn lower(client: Box<dyn Client>) -> Result<DirtyPageLimits, WireError> {
        let mut lowered = DirtyPageLimits { client, before: Vec::new() };
        // The low-water mark may never be above the limit: it goes down first and up last.
        for name in ["innodb_max_dirty_pages_pct_lwm", "innodb_max_dirty_pages_pct"] {
            let before = match lowered.client.query(&format!("SELECT @@GLOBAL.{name}")) {
                Ok(rows) => number_in(rows.single()),
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

    fn put_back(&mut self) -> Result<(), WireError> {
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
fn innodb(client: &mut dyn Client) -> Result<Vec<Gauge>, WireError> {
    let rows = client.query(
        "SHOW GLOBAL STATUS WHERE Variable_name IN ('Innodb_buffer_pool_pages_dirty', \
         'Innodb_buffer_pool_pages_total', 'Innodb_history_list_length')",
    )?;
    let value = |name: &str| {
        let row = rows.rows.iter().find(|row| row.first() == Some(&Some(name.to_owned())))?;
        row.get(1)?.as_ref()?.parse::<u64>().ok()
    };
    let history = match value("Innodb_history_list_length") {
        Some(history) => Some(history),
        None => history_elsewhere(client)?,
    };
    let mut gauges = Vec::with_capacity(2);
    if let Some(value) = history {
        let is_mariadb = client.server_version().contains("MariaDB");
        let most = if is_mariadb { HISTORY_MOST } else { HISTORY_MOST_MYSQL };
        gauges.push(Gauge { name: "history list", value, most });
    }
    let dirty = value("Innodb_buffer_pool_pages_dirty");
    if let (Some(value), Some(total)) = (dirty, value("Innodb_buffer_pool_pages_total")) {
        gauges.push(Gauge { name: "dirty pages", value, most: (total as f64 * DIRTY_MOST) as u64 });
    }
    Ok(gauges)
}

/// MySQL has the history list in a table from 5.6 on, and before that in a text only. Both are for
/// those with the right PROCESS.
fn history_elsewhere(client: &mut dyn Client) -> Result<Option<u64>, WireError> {
    let metric =
        "SELECT COUNT FROM information_schema.INNODB_METRICS WHERE NAME='trx_rseg_history_len'";
    if let Some(history) = number(client, metric)? {
        return Ok(Some(history));
    }
    match client.query("SHOW ENGINE INNODB STATUS") {
        Ok(rows) => {
            let text = rows.rows.first().and_then(|row| row.last()?.as_deref());
            Ok(text.and_then(history_in))
        }
        Err(error) if error.is_fatal() => Err(error),
        Err(_) => Ok(None),
    }
}

/// `History list length 42` in the report of InnoDB.
fn history_in(report: &str) -> Option<u64> {
    let after = report.split_once("History list length ")?.1;
    after.split_whitespace().next()?.parse().ok()
}

/// The questions how many workers vacuum or analyse our tables, the better one first. Anybody may
/// ask the first. Before PostgreSQL 13 progress of ANALYZE is told nowhere, and what a worker does
/// is read from its title, which others than a superuser do not see.
fn workers_at(tables: &[TableName]) -> [String; 2] {
    let ids: Vec<String> = tables.iter().map(TableName::oid).collect();
    let ids = ids.join(", ");
    let at = |view: &str| format!("(SELECT count(*) FROM {view} WHERE relid IN ({ids}))");
    // A name behind a point, at the end or before a blank.
    let titles: Vec<String> = tables
        .iter()
        .map(|table| {
            let name = table.text();
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

fn workers(client: &mut dyn Client, questions: &[String]) -> Result<Vec<Gauge>, WireError> {
    for question in questions {
        if let Some(value) = number(client, question)? {
            return Ok(vec![Gauge { name: "autovacuum workers", value, most: 0 }]);
        }
    }
    Ok(Vec::new())
}

/// Writes the log back; what is left of it is what readers still hold.
fn write_ahead_log(client: &mut dyn Client) -> Result<Vec<Gauge>, WireError> {
    let rows = client.query("PRAGMA wal_checkpoint(TRUNCATE)")?;
    let frames = rows.rows.first().and_then(|row| row.get(1)?.as_ref()?.parse::<i64>().ok());
    // −1: the database has no write-ahead log.
    let value = frames.and_then(|frames| u64::try_from(frames).ok());
    Ok(value
        .map(|value| Gauge { name: "frames in the write-ahead log", value, most: 0 })
        .into_iter()
        .collect())
}

/// What RocksDB has left to do in its own threads.
fn compactions(client: &mut dyn Client) -> Result<Vec<Gauge>, WireError> {
    const PROPERTIES: [(&str, &str); 4] = [
        ("compaction pending", "rocksdb.compaction-pending"),
        ("compactions running", "rocksdb.num-running-compactions"),
        ("flush pending", "rocksdb.mem-table-flush-pending"),
        ("flushes running", "rocksdb.num-running-flushes"),
    ];
    let mut gauges = Vec::with_capacity(PROPERTIES.len());
    for (name, property) in PROPERTIES {
        if let Some(value) = number(client, &format!("PROPERTY {property}"))? {
            gauges.push(Gauge { name, value, most: 0 });
        }
    }
    Ok(gauges)
}

/// Transactions of the engine whose old versions are still there.
fn unpurged(client: &mut dyn Client) -> Result<Vec<Gauge>, WireError> {
    let rows = client.query("SHOW STATUS")?.rows;
    let row = rows.iter().find(|row| row[0].as_deref() == Some("unpurged_transactions"));
    let value = row.and_then(|row| row[1].as_deref()?.parse().ok());
    Ok(value
        .map(|value| Gauge { name: "transactions to purge", value, most: 0 })
        .into_iter()
        .collect())
}

/// A single number; `None` where we may not ask.
fn number(client: &mut dyn Client, sql: &str) -> Result<Option<u64>, WireError> {
    match client.query(sql) {
        Ok(rows) => Ok(rows.single().and_then(|value| value.parse().ok())),
        Err(error) if error.is_fatal() => Err(error),
        Err(_) => Ok(None),
    }
}

#[expect(clippy::disallowed_methods, reason = "limits how long a server is waited for")]
fn now() -> Instant {
    Instant::now()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_history_list_is_read_from_the_report_of_old_servers() {
        let report = "Trx id counter A17\nPurge done for trx's n:o < A0F undo n:o < 0\n\
                      History list length 1862\nLIST OF TRANSACTIONS FOR EACH SESSION:\n";
        assert_eq!(history_in(report), Some(1_862));
        assert_eq!(history_in("no such line"), None);
    }
}
