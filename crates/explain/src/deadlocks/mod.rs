//! Deadlocks as servers tell them, clustered by what they have in common.
//!
//! ```text
//!   error log of MySQL, MariaDB (innodb_print_all_deadlocks) ┐
//!   SHOW ENGINE INNODB STATUS: the latest one                ├─▶ parties ─▶ signature ─▶ clusters
//!   log of PostgreSQL                                        ┘   statement with `?`, locks
//! ```
//!
//! The signature of a deadlock is what its parties asked and which locks they wanted and held:
//! tables, indexes, modes. Who came first, and which rows it was, is chance. Text of the outside
//! world never panics; what is cut off in the middle is told as far as it goes, and where a
//! deadlock is announced and not told, the line is named: no deadlocks are found only where none
//! is spoken of.

mod findings;
mod innodb;
mod lines;
mod postgres;
mod statement;

use std::collections::BTreeMap;

use dbdyno_model::{DeadlockCluster, DeadlockParty};

use lines::{Line, lines};
pub use statement::statement_with_holes;

/// What a text was taken for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LogKind {
    /// An error log of MySQL or MariaDB.
    Mysql,
    /// What `SHOW ENGINE INNODB STATUS` prints.
    InnodbStatus,
    /// A log of PostgreSQL, or what its clients print of an error.
    Postgres,
}

impl LogKind {
    /// For people.
    pub fn name(self) -> &'static str {
        match self {
            LogKind::Mysql => "error log of MySQL or MariaDB",
            LogKind::InnodbStatus => "InnoDB's status",
            LogKind::Postgres => "log of PostgreSQL",
        }
    }
}

/// What a text tells of deadlocks, and how much of it was understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeadlockReading {
    /// The deadlocks, by signature.
    pub clusters: Vec<DeadlockCluster>,
    /// What the text was taken for; empty where it is no log that is known.
    pub kinds: Vec<LogKind>,
    /// Its lines, as they were read.
    pub lines: usize,
    /// Those that have no part in a deadlock.
    pub passed_over: usize,
    /// Numbers of lines, from 1, that speak of a deadlock of which nothing was understood.
    pub unread: Vec<usize>,
}

/// Reads a text.
pub fn read_deadlocks(text: &str) -> DeadlockReading {
    let lines = lines(text);
    let (innodb, postgres) = (innodb::deadlocks(&lines), postgres::deadlocks(&lines));
    let mut unread = [innodb.unread, postgres.unread].concat();
    unread.sort_unstable();
    unread.dedup();
    DeadlockReading {
        clusters: clustered(innodb.deadlocks.into_iter().chain(postgres.deadlocks)),
        kinds: kinds_of(&lines),
        lines: lines.len(),
        passed_over: lines.len().saturating_sub(innodb.used + postgres.used),
        unread,
    }
}

/// The deadlocks that a text tells of, clustered by signature, the most frequent first.
pub fn deadlock_clusters(text: &str) -> Vec<DeadlockCluster> {
    read_deadlocks(text).clusters
}

fn kinds_of(lines: &[Line]) -> Vec<LogKind> {
    let has = |words: &[&str]| lines.iter().any(|l| words.iter().any(|word| l.text.contains(word)));
    let mut kinds = Vec::new();
    if has(&["INNODB MONITOR OUTPUT", "LATEST DETECTED DEADLOCK"]) {
        kinds.push(LogKind::InnodbStatus);
    }
    let severities =
        ["[Note]", "[Warning]", "[ERROR]", "[System]", "ransactions deadlock detected"];
    if has(&severities) || (kinds.is_empty() && lines.iter().any(innodb::is_of_a_transaction)) {
        kinds.push(LogKind::Mysql);
    }
    if has(&["LOG:  ", "DETAIL:  ", "STATEMENT:  "]) || lines.iter().any(postgres::is_wait) {
        kinds.push(LogKind::Postgres);
    }
    kinds
}

/// Sets the parties of each in the order of their signature, and counts. Letter case is none of
/// it: the spelling that came first is shown.
fn clustered(all: impl Iterator<Item = Vec<DeadlockParty>>) -> Vec<DeadlockCluster> {
    let one = |mut parties: Vec<DeadlockParty>| {
        for party in &mut parties {
            for locks in [&mut party.waits_for, &mut party.holds] {
                locks.sort();
                locks.dedup();
            }
        }
        parties.sort_by_cached_key(without_case);
        DeadlockCluster { count: 1, parties }
    };
    merged(all.map(one))
}

fn without_case(party: &DeadlockParty) -> DeadlockParty {
    DeadlockParty { statement: party.statement.to_ascii_lowercase(), ..party.clone() }
}

/// What a cluster has in common, in one line: `UPDATE … waits for …, holds … ⟷ UPDATE …`.
pub fn signature_written(cluster: &DeadlockCluster) -> String {
    let party = |party: &DeadlockParty| {
        let statement = match party.statement.as_str() {
            "" => "a statement that was not logged",
            statement => statement,
        };
        let mut text = format!("{statement} waits for {}", party.waits_for.join(" and "));
        if !party.holds.is_empty() {
            text.push_str(&format!(", holds {}", party.holds.join(" and ")));
        }
        text
    };
    cluster.parties.iter().map(party).collect::<Vec<_>>().join(" ⟷ ")
}

/// Clusters of several texts as one, the most frequent first.
pub fn merged(all: impl IntoIterator<Item = DeadlockCluster>) -> Vec<DeadlockCluster> {
    let mut found: BTreeMap<Vec<DeadlockParty>, DeadlockCluster> = BTreeMap::new();
    for cluster in all {
        let key = cluster.parties.iter().map(without_case).collect();
        match found.get_mut(&key) {
            Some(known) => known.count += cluster.count,
            None => drop(found.insert(key, cluster)),
        }
    }
    let mut clusters: Vec<DeadlockCluster> = found.into_values().collect();
    clusters.sort_by(|a, b| b.count.cmp(&a.count).then_with(|| a.parties.cmp(&b.parties)));
    clusters
}
