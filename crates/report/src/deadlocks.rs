//! Deadlocks by signature, for people and for programs.

use dbdyno_model::{DeadlockCluster, DeadlockParty};
use serde::Serialize;

use crate::layout::{paragraph, printable};

/// Version of the JSON; raised when a name changes its meaning.
const SCHEMA: u32 = 1;

#[derive(Serialize)]
struct Document<'a> {
    schema: u32,
    deadlocks: u64,
    clusters: Vec<Cluster<'a>>,
}

#[derive(Serialize)]
struct Cluster<'a> {
    count: u64,
    parties: Vec<Party<'a>>,
}

#[derive(Serialize)]
struct Party<'a> {
    statement: &'a str,
    waits_for: &'a [String],
    holds: &'a [String],
}

/// A paragraph for each cluster and each of its parties. Ends with a line feed.
pub fn deadlocks_text(clusters: &[DeadlockCluster], width: usize) -> String {
    let all: u64 = clusters.iter().map(|one| one.count).sum();
    let mut text = match (all, clusters.len()) {
        (0, _) => return "no deadlocks\n".to_owned(),
        (1, _) => "1 deadlock\n".to_owned(),
        (all, 1) => format!("{all} deadlocks of 1 kind\n"),
        (all, kinds) => format!("{all} deadlocks of {kinds} kinds\n"),
    };
    for cluster in clusters {
        text.push_str(&format!("\n{} ×\n", cluster.count));
        for party in &cluster.parties {
            text.push_str(&of_party(party, width));
        }
    }
    text
}

fn of_party(party: &DeadlockParty, width: usize) -> String {
    let statement = match party.statement.as_str() {
        "" => "a statement that was not logged",
        statement => statement,
    };
    let mut text = paragraph(&printable(statement), width, "  ", "    ");
    for (word, locks) in [("waits for", &party.waits_for), ("holds", &party.holds)] {
        for lock in locks {
            text.push_str(&paragraph(
                &printable(lock),
                width,
                &format!("    {word:<10}"),
                "      ",
            ));
        }
    }
    text
}

fn party(of: &DeadlockParty) -> Party<'_> {
    Party { statement: &of.statement, waits_for: &of.waits_for, holds: &of.holds }
}

/// The same as JSON, indented, ending with a line feed.
pub fn deadlocks_json(clusters: &[DeadlockCluster]) -> String {
    let document = Document {
        schema: SCHEMA,
        deadlocks: clusters.iter().map(|one| one.count).sum(),
        clusters: clusters
            .iter()
            .map(|one| Cluster {
                count: one.count,
                parties: one.parties.iter().map(party).collect(),
            })
            .collect(),
    };
    crate::json::json_text(&document)
}
