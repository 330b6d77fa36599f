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

use dbdyno_explain::{blocker_tree, deadlock_clusters, merge_clusters, signature_written};
use dbdyno_model::{Arm, Cell, DeadlockCounts, Dialect, Environment, PerArm, RunPair};
use dbdyno_server::{ServerRelease, latest_deadlock, open_transactions};
use dbdyno_wire::Client;

use crate::arm::Station;

/// As much of a log is read as this, bytes.
const LOG_MOST: u64 = 16 << 20;
/// What was seen when a cell began.
#[derive(Debug, Default)]
pub(crate) struct Locks {
    log_bytes: Option<u64>,
    latest: Option<String>,
    blockers: Vec<String>,
}

impl Locks {
    /// Looks before the first round of a cell.
    pub(crate) fn begin_cell(station: &Station) -> Locks {
        let mut client = ask(station);
        Locks {
            log_bytes: log_of(station).and_then(dbdyno_probe::ServerProbe::error_log_bytes),
            latest: client.as_deref_mut().and_then(|client| latest(client, station.dialect)),
            blockers: client.map_or_else(Vec::new, |mut one| open(&mut *one, station.dialect)),
        }
    }

    /// Looks behind its last round, and notes the deadlocks in between and who blocked whom.
    pub(crate) fn note_cell(&self, station: &Station, cell: &Cell, facts: &mut Environment) {
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
        for cluster in merge_clusters(clusters) {
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
pub fn deadlocks_of(run: RunPair<'_>, cell: &Cell) -> Vec<DeadlockCounts> {
    let beginning = format!("step[{cell}].deadlock[");
    let mut counts: BTreeMap<&str, PerArm<Option<u64>>> = BTreeMap::new();
    for arm in Arm::BOTH {
        for (name, value) in &run.environment(arm).facts {
            let signature = name.strip_prefix(&beginning).and_then(|rest| rest.strip_suffix(']'));
            if let Some(signature) = signature {
                counts.entry(signature).or_default()[arm] = value.parse().ok();
            }
        }
    }
    let count =
        |(signature, count): (&str, _)| DeadlockCounts { signature: signature.to_owned(), count };
    let mut all: Vec<DeadlockCounts> = counts.into_iter().map(count).collect();
    all.sort_by_key(|one| std::cmp::Reverse(deadlocks_of_both(one)));
    all
}

fn deadlocks_of_both(one: &DeadlockCounts) -> u64 {
    one.count.base.unwrap_or(0) + one.count.test.unwrap_or(0)
}

/// The open transactions that were noted of a cell.
pub fn blockers_of(run: RunPair<'_>, cell: &Cell) -> PerArm<Vec<String>> {
    let name = format!("step[{cell}].blockers");
    PerArm::from_fn(|arm| {
        let lines = run.environment(arm).facts.get(&name);
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

/// What is told of the latest deadlock.
fn latest(client: &mut dyn Client, dialect: Dialect) -> Option<String> {
    let server = ServerRelease::of_client(client, dialect);
    latest_deadlock(client, server)
}

/// Who has a transaction open, as a tree.
fn open(client: &mut dyn Client, dialect: Dialect) -> Vec<String> {
    let server = ServerRelease::of_client(client, dialect);
    blocker_tree(&open_transactions(client, server), dialect)
}
