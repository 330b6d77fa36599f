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

use dbdyno_load::LoadError;
use dbdyno_model::{ArmIndex, Arms, Dialect, Severity, Warning};
use dbdyno_server::{
    BacklogGauge, COMMITS_ARE_SYNCED, DirtyPageLimits, Onlooker, ServerRelease, TableName,
    server_backlog, vacuum,
};
use dbdyno_wire::Client;

use crate::arm::Station;
use crate::error::LabError;
use crate::watch::{Progress, Watch};

/// How often we look.
const LOOK_EVERY: Duration = Duration::from_millis(100);
/// A server that is not ours and gets no closer for so long is left as it is.
const GUEST_PATIENCE: Duration = Duration::from_secs(10);

/// The longest time that settling so many bytes of rows may take: Callaghan waits for 60 s and 1 s
/// for each million rows (of 200 bytes), at most 1 200 s, whether it is needed or not. We go on as
/// soon as we can, so that the limit may be wider: 1 s for each 20 MB.
pub(crate) fn settling_limit(bytes: u64) -> Duration {
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
    pub(crate) fn settle_arms(&self, watch: &mut dyn Watch) -> Result<Vec<Warning>, LabError> {
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
    server: ServerRelease,
    dialect: Dialect,
    /// Held so that they are put back.
    lowered: Option<DirtyPageLimits>,
    tables: Vec<TableName>,
    refused: Vec<String>,
    is_ours: bool,
    begun: Instant,
    first: Option<Vec<BacklogGauge>>,
    last: Vec<BacklogGauge>,
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
        let Onlooker { client, names, server } = station.connector.open_onlooker()?;
        let tables: Result<Vec<TableName>, _> =
            all.tables[arm].iter().map(|word| names.of_word(word)).collect();
        let tables = tables.map_err(|error| LoadError::Unfit(error.to_string()))?;
        let mut settler = Settler {
            arm,
            client,
            server,
            dialect: station.dialect,
            lowered: None,
            tables,
            refused: Vec::new(),
            is_ours,
            begun: now(),
            first: None,
            last: Vec::new(),
            closest: Closest { value: u64::MAX, since: now() },
        };
        if settler.dialect == Dialect::Mysql && is_ours {
            settler.lowered =
                Some(DirtyPageLimits::lower_limits(station.connector.connect_for_work()?)?);
        }
        settler.tidy(all, watch)?;
        if settler.dialect == Dialect::Rocksdb {
            watch.report_progress(Progress::Stage(arm, "settling: flush"));
            settler.client.run("FLUSH")?;
        }
        if matches!(settler.dialect, Dialect::Postgres | Dialect::Engine) {
            watch.report_progress(Progress::Stage(arm, "settling: checkpoint"));
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
            let stage = format!("settling: {doing} of {}", table.qualified_name());
            watch.report_progress(Progress::Stage(self.arm, &stage));
            Ok(())
        };
        for table in &self.tables {
            begins("statistics", table, watch)?;
            let sql = format!("{analyze} {}", table.qualified_name());
            self.client.query(&sql).map_err(|error| LoadError::Wire(error, Some(sql)))?;
        }
        for table in self.tables.iter().filter(|_| is_postgres) {
            begins("vacuum", table, watch)?;
            vacuum(&mut *self.client, table.qualified_name())?;
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
        watch.report_progress(Progress::Stage(self.arm, &waiting(worst, waited, all.limit)));
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

    fn look(&mut self) -> Result<Vec<BacklogGauge>, LoadError> {
        Ok(server_backlog(&mut *self.client, self.server, &self.tables)?)
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

/// What is said while something is waited for.
fn waiting(gauge: &BacklogGauge, waited: Duration, limit: Duration) -> String {
    format!(
        "settling: {} {}, waiting for {} or less ({} s of at most {} s)",
        gauge.name,
        gauge.value,
        gauge.most,
        waited.as_secs(),
        limit.as_secs()
    )
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
    first: Vec<BacklogGauge>,
    last: Vec<BacklogGauge>,
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

#[expect(clippy::disallowed_methods, reason = "limits how long a server is waited for")]
fn now() -> Instant {
    Instant::now()
}
