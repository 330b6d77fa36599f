//! Deadlocks of a cell, and who blocked whom when it began and when it ended.
//!
//! ```text
//!   the cell begins ─▶ how long is the error log? which deadlock is the latest?  ┐ between rounds,
//!   rounds …                                                                     │ on a connection
//!   it ends         ─▶ what has come to the log? is another one the latest?      ┘ of our own
//! ```
//!
//! PostgreSQL logs every deadlock, MySQL and MariaDB where `innodb_print_all_deadlocks` is on; else
//! they tell the latest one alone. Logs are read of servers that run here and were started by
//! dbdyno. Clients of a load rest at both ends: a transaction that is open then is somebody else's.

use std::collections::BTreeMap;

use dbdyno_explain::{
    OpenTransaction, blockers, deadlock_clusters, merged_deadlocks, signature_written,
};
use dbdyno_model::{Arm, Cell, DeadlockCounts, Dialect, Environment, PerArm, Run};
use dbdyno_wire::Client;

use crate::arm::Station;

/// As much of a log is read as this, bytes.
const LOG_MOST: u64 = 16 << 20;
/// Where the monitor of InnoDB tells the latest deadlock, and what stands behind it.
const LATEST: &str = "LATEST DETECTED DEADLOCK";
const BEHIND: &str = "------------\nTRANSACTIONS\n";

/// Open transactions: session, age, statement, and whom it waits for. Of MySQL from 8.0 on, then of
/// MySQL before it and of MariaDB.
const MYSQL_OPEN: [&str; 2] = [
    "SELECT t.trx_mysql_thread_id, timestampdiff(second, t.trx_started, now()), t.trx_query, \
     (SELECT group_concat(DISTINCT b.trx_mysql_thread_id) \
     FROM performance_schema.data_lock_waits w JOIN information_schema.innodb_trx b \
     ON b.trx_id = w.blocking_engine_transaction_id \
     WHERE w.requesting_engine_transaction_id = t.trx_id) FROM information_schema.innodb_trx t",
    "SELECT t.trx_mysql_thread_id, timestampdiff(second, t.trx_started, now()), t.trx_query, \
     (SELECT group_concat(DISTINCT b.trx_mysql_thread_id) \
     FROM information_schema.innodb_lock_waits w JOIN information_schema.innodb_trx b \
     ON b.trx_id = w.blocking_trx_id WHERE w.requesting_trx_id = t.trx_id) \
     FROM information_schema.innodb_trx t",
];
const POSTGRES_OPEN: [&str; 1] = ["SELECT pid, extract(epoch FROM now() - xact_start)::bigint, \
      CASE WHEN state = 'active' THEN query END, array_to_string(pg_blocking_pids(pid), ',') \
      FROM pg_stat_activity WHERE xact_start IS NOT NULL AND pid <> pg_backend_pid() \
      AND backend_type = 'client backend'"];

/// What was seen when a cell began.
#[derive(Debug, Default)]
pub(crate) struct Locks {
    log_bytes: Option<u64>,
    latest: Option<String>,
    blockers: Vec<String>,
}

impl Locks {
    /// Looks before the first round of a cell.
    pub(crate) fn begin(station: &Station) -> Locks {
        let mut client = ask(station);
        Locks {
            log_bytes: log_of(station).and_then(dbdyno_probe::ServerProbe::error_log_bytes),
            latest: client.as_deref_mut().and_then(|client| latest(client, station.dialect)),
            blockers: client.map_or_else(Vec::new, |mut one| open(&mut *one, station.dialect)),
        }
    }

    /// Looks behind its last round, and notes the deadlocks in between and who blocked whom.
    pub(crate) fn note(&self, station: &Station, cell: &Cell, facts: &mut Environment) {
        let log = log_of(station).zip(self.log_bytes);
        let log = log.and_then(|(probe, from)| probe.error_log_since(from, LOG_MOST));
        let log = log.unwrap_or_default();
        let mut clusters = deadlock_clusters(&String::from_utf8_lossy(&log));
        let mut client = ask(station);
        if clusters.is_empty() {
            let latest = client.as_deref_mut().and_then(|client| latest(client, station.dialect));
            let is_new = latest.is_some() && latest != self.latest;
            clusters = deadlock_clusters(latest.as_deref().filter(|_| is_new).unwrap_or_default());
        }
        for cluster in merged_deadlocks(clusters) {
            let name = format!("step[{cell}].deadlock[{}]", signature_written(&cluster));
            facts.set(name, cluster.count.to_string());
        }
        let now = client.map_or_else(Vec::new, |mut one| open(&mut *one, station.dialect));
        let blockers = if now.is_empty() { &self.blockers } else { &now };
        if !blockers.is_empty() {
            facts.set(format!("step[{cell}].blockers"), blockers.join("\n"));
        }
    }
}

/// The deadlocks that were noted of a cell.
pub(crate) fn deadlocks_of(run: &Run, cell: &Cell) -> Vec<DeadlockCounts> {
    let beginning = format!("step[{cell}].deadlock[");
    let mut counts: BTreeMap<&str, PerArm<Option<u64>>> = BTreeMap::new();
    for arm in Arm::BOTH {
        for (name, value) in &run.environment[arm].facts {
            let signature = name.strip_prefix(&beginning).and_then(|rest| rest.strip_suffix(']'));
            if let Some(signature) = signature {
                counts.entry(signature).or_default()[arm] = value.parse().ok();
            }
        }
    }
    let count =
        |(signature, count): (&str, _)| DeadlockCounts { signature: signature.to_owned(), count };
    let mut all: Vec<DeadlockCounts> = counts.into_iter().map(count).collect();
    let sum = |one: &DeadlockCounts| one.count.base.unwrap_or(0) + one.count.test.unwrap_or(0);
    all.sort_by_key(|one| std::cmp::Reverse(sum(one)));
    all
}

/// The open transactions that were noted of a cell.
pub(crate) fn blockers_of(run: &Run, cell: &Cell) -> PerArm<Vec<String>> {
    let name = format!("step[{cell}].blockers");
    PerArm::from_fn(|arm| {
        let lines = run.environment[arm].facts.get(&name);
        lines.map_or_else(Vec::new, |lines| lines.lines().map(str::to_owned).collect())
    })
}

fn ask(station: &Station) -> Option<Box<dyn Client>> {
    let is_server = matches!(station.dialect, Dialect::Mysql | Dialect::Postgres);
    (is_server && !station.is_mock()).then(|| station.connector.connect_to_ask().ok())?
}

/// Whose log is ours to read.
fn log_of(station: &Station) -> Option<&dbdyno_probe::ServerProbe> {
    station.probe.as_ref().filter(|_| station.is_ours())
}

/// What the monitor tells of the latest deadlock.
fn latest(client: &mut dyn Client, dialect: Dialect) -> Option<String> {
    let sql = "SHOW ENGINE INNODB STATUS";
    let answer = (dialect == Dialect::Mysql).then(|| client.query(sql).ok())??;
    let text = answer.rows.first()?.last()?.as_deref()?;
    let section = &text[text.find(LATEST)?..];
    Some(section.split(BEHIND).next().unwrap_or(section).to_owned())
}

/// Who has a transaction open, as a tree.
fn open(client: &mut dyn Client, dialect: Dialect) -> Vec<String> {
    let questions: &[&str] = match dialect {
        Dialect::Mysql => &MYSQL_OPEN,
        Dialect::Postgres => &POSTGRES_OPEN,
        Dialect::Sqlite | Dialect::Rocksdb | Dialect::Engine => &[],
    };
    let answer = questions.iter().find_map(|sql| client.query(sql).ok());
    let rows = answer.map_or_else(Vec::new, |answer| answer.rows);
    let all: Vec<OpenTransaction> = rows.iter().filter_map(|row| transaction(row)).collect();
    blockers(&all, dialect)
}

fn transaction(row: &[Option<String>]) -> Option<OpenTransaction> {
    let [Some(session), Some(age), statement, waits_for] = row else { return None };
    let waits_for = waits_for.as_deref().unwrap_or_default();
    Some(OpenTransaction {
        session: session.parse().ok()?,
        age_s: age.parse().ok()?,
        statement: statement.clone().unwrap_or_default(),
        waits_for: waits_for.split(',').filter_map(|one| one.parse().ok()).collect(),
    })
}
