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
//! world never panics; what is cut off in the middle is told as far as it goes.

mod innodb;
mod postgres;
mod statement;

use std::collections::BTreeMap;

use dbdyno_model::{DeadlockCluster, DeadlockParty};

pub use statement::statement_with_holes;

/// The deadlocks that a text tells of, each as its parties, in the order of their signature.
fn deadlocks(text: &str) -> Vec<Vec<DeadlockParty>> {
    let mut all = innodb::deadlocks(text);
    all.extend(postgres::deadlocks(text));
    for parties in &mut all {
        for party in parties.iter_mut() {
            for locks in [&mut party.waits_for, &mut party.holds] {
                locks.sort();
                locks.dedup();
            }
        }
        parties.sort();
    }
    all
}

/// The deadlocks that a text tells of, clustered by signature, the most frequent first.
pub fn deadlock_clusters(text: &str) -> Vec<DeadlockCluster> {
    let mut counts: BTreeMap<Vec<DeadlockParty>, u64> = BTreeMap::new();
    for parties in deadlocks(text) {
        *counts.entry(parties).or_default() += 1;
    }
    merged(counts.into_iter().map(|(parties, count)| DeadlockCluster { count, parties }))
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
    let mut counts: BTreeMap<Vec<DeadlockParty>, u64> = BTreeMap::new();
    for DeadlockCluster { count, parties } in all {
        *counts.entry(parties).or_default() += count;
    }
    let mut clusters: Vec<DeadlockCluster> =
        counts.into_iter().map(|(parties, count)| DeadlockCluster { count, parties }).collect();
    clusters.sort_by(|a, b| b.count.cmp(&a.count).then_with(|| a.parties.cmp(&b.parties)));
    clusters
}
