//! Deadlocks by signature, for people and for programs.

use dbdyno_model::{DeadlockCluster, DeadlockParty};
use serde::Serialize;

use crate::layout::{paragraph, printable};

/// Version of the JSON; raised when a name changes its meaning.
const SCHEMA: u32 = 1;

/// A text that was read.
#[derive(Serialize)]
pub struct DeadlockInput {
    /// The name of the file; `-` is stdin.
    pub file: String,
    /// What it was taken for, each in words.
    pub taken_for: Vec<&'static str>,
    /// Its lines.
    pub lines: usize,
    /// Those that have no part in a deadlock.
    pub passed_over: usize,
    /// Lines that speak of a deadlock of which nothing was understood.
    pub unread: Vec<usize>,
}

#[derive(Serialize)]
struct Document<'a> {
    schema: u32,
    inputs: &'a [DeadlockInput],
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

/// A paragraph for each cluster and each of its parties, below what was read. Ends with a line
/// feed.
pub fn deadlocks_text(
    inputs: &[DeadlockInput],
    clusters: &[DeadlockCluster],
    width: usize,
) -> String {
    let all: u64 = clusters.iter().map(|one| one.count).sum();
    let mut text = match (all, clusters.len()) {
        (0, _) => "no deadlocks\n".to_owned(),
        (1, _) => "1 deadlock\n".to_owned(),
        (all, 1) => format!("{all} deadlocks of 1 kind\n"),
        (all, kinds) => format!("{all} deadlocks of {kinds} kinds\n"),
    };
    for input in inputs {
        text.push_str(&paragraph(&printable(&in_words(input)), width, "  ", "    "));
    }
    for cluster in clusters {
        text.push_str(&format!("\n{} ×\n", cluster.count));
        for party in &cluster.parties {
            text.push_str(&of_party(party, width));
        }
    }
    text
}

/// `error.log: error log of MySQL or MariaDB, 120 lines, 41 of them passed over`
fn in_words(input: &DeadlockInput) -> String {
    let DeadlockInput { file, taken_for, lines, passed_over, unread } = input;
    let kinds = taken_for.join(" and ");
    let mut text = format!("{file}: {kinds}, {lines} lines, {passed_over} of them passed over");
    if let Some(first) = unread.first() {
        let count = unread.len();
        text.push_str(&format!(
            "; {count} more announced that could not be understood, the first in line {first}"
        ));
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
pub fn deadlocks_json(inputs: &[DeadlockInput], clusters: &[DeadlockCluster]) -> String {
    let document = Document {
        schema: SCHEMA,
        inputs,
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
