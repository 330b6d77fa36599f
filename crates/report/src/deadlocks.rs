//! Deadlocks by signature, for people and for programs.

use dbdyno_document::{Document, Element, LabelledItem, Text};
use dbdyno_model::{DeadlockCluster, DeadlockParty};
use serde::Serialize;

/// Version of the JSON; raised when a name changes its meaning.
const SCHEMA: u32 = 1;

/// A text that was read.
#[derive(Serialize)]
pub struct DeadlockInput {
    /// The name of the file; `-` is stdin.
    pub file: String,
    /// What it was taken for, each in words.
    pub taken_for: Vec<String>,
    /// Its lines.
    pub lines: usize,
    /// Those that have no part in a deadlock.
    pub passed_over: usize,
    /// Lines that speak of a deadlock of which nothing was understood.
    pub unread: Vec<usize>,
    /// What is missing of the deadlocks that are told in part.
    pub in_part: Vec<DeadlockInPart>,
    /// Lines with the error of a client that was a victim, which tells no more.
    pub client_errors: Vec<usize>,
    /// Whether the newest line stands first, so that it was turned around.
    pub newest_first: bool,
    /// Containers, hosts and processes whose lines are in it, where their names are told.
    pub sources: usize,
}

/// A deadlock that is told in part: the text was cut, wrapped or damaged.
#[derive(Serialize)]
pub struct DeadlockInPart {
    /// The line that shows it, from 1.
    pub line: usize,
    /// What is not there, in words.
    pub missing: String,
}

/// Lacks of one text that are told to people, each by itself.
const LACKS_SHOWN: usize = 5;

/// What was read, and the deadlocks of all of it.
pub struct DeadlocksShown {
    /// The texts.
    pub inputs: Vec<DeadlockInput>,
    /// By signature, each deadlock counted once.
    pub clusters: Vec<DeadlockCluster>,
    /// Deadlocks that are told more often than they happened.
    pub repeated: u64,
    /// How often all of these are told.
    pub repeated_tellings: u64,
    /// Deadlocks that may be the same as another one that is counted.
    pub doubtful: u64,
}

#[derive(Serialize)]
struct DeadlocksJson<'a> {
    schema: u32,
    inputs: &'a [DeadlockInput],
    deadlocks: u64,
    repeated: u64,
    repeated_tellings: u64,
    doubtful: u64,
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

/// What was read, then a passage for each cluster with each of its parties.
pub fn deadlocks_document(shown: &DeadlocksShown) -> Document {
    let DeadlocksShown { inputs, clusters, .. } = shown;
    let all: u64 = clusters.iter().map(|one| one.count).sum();
    let headline = match (all, clusters.len()) {
        (0, _) => "no deadlocks".to_owned(),
        (1, _) => "1 deadlock".to_owned(),
        (all, 1) => format!("{all} deadlocks of 1 kind"),
        (all, kinds) => format!("{all} deadlocks of {kinds} kinds"),
    };
    let read = inputs.iter().flat_map(|input| std::iter::once(in_words(input)).chain(lacks(input)));
    let notes = read.chain(notes(shown)).map(Text::from).collect();
    let mut document = Document::default();
    document.push(vec![Element::Headline(headline.into()), Element::Notes(notes)]);
    for cluster in clusters {
        let title = format!("{} ×", cluster.count);
        let parties = cluster.parties.iter().map(of_party).collect();
        document.push(vec![Element::Title(title.into()), Element::Items(parties)]);
    }
    document
}

/// What is missing of the deadlocks of a text.
fn lacks(input: &DeadlockInput) -> Vec<String> {
    let DeadlockInput { file, in_part, .. } = input;
    let mut lacks: Vec<String> = Vec::new();
    for DeadlockInPart { line, missing } in in_part.iter().take(LACKS_SHOWN) {
        lacks.push(format!("{file}:{line}: a deadlock is told in part; not told is {missing}"));
    }
    if let Some(more) = in_part.len().checked_sub(LACKS_SHOWN).filter(|more| *more > 0) {
        lacks.push(format!("{file}: {more} more lines tell a deadlock in part"));
    }
    if !lacks.is_empty() {
        lacks.push(
            "What is told in part may be cut off, wrapped by a screen, or have something before \
             its lines: give the server's own log"
                .to_owned(),
        );
    }
    lacks
}

/// What was told more often than it happened.
fn notes(shown: &DeadlocksShown) -> Vec<String> {
    let mut notes = Vec::new();
    match (shown.repeated, shown.repeated_tellings) {
        (0, _) => {}
        (1, times) => notes.push(format!("1 deadlock is shown {times} times, and counts once")),
        (more, times) => notes.push(format!(
            "{more} deadlocks are shown {times} times together, and count once each"
        )),
    }
    match shown.doubtful {
        0 => {}
        1 => notes.push(
            "1 of them may be the same as another one: the same processes wait for the same \
             locks, and nothing tells when"
                .to_owned(),
        ),
        more => notes.push(format!(
            "{more} of them may be the same as others: the same processes wait for the same \
             locks, and nothing tells when"
        )),
    }
    notes
}

/// `error.log: error log of MySQL or MariaDB, 120 lines, 41 of them passed over`
fn in_words(input: &DeadlockInput) -> String {
    let DeadlockInput { file, taken_for, lines, passed_over, unread, client_errors, .. } = input;
    let kinds = taken_for.join(" and ");
    let mut text = format!("{file}: {kinds}, {lines} lines, {passed_over} of them passed over");
    if input.newest_first {
        text.push_str("; the newest stand first, so they were turned around");
    }
    if input.sources > 1 {
        text.push_str(&format!("; lines of {} sources, each read by itself", input.sources));
    }
    if let Some(first) = unread.first() {
        let count = unread.len();
        text.push_str(&format!(
            "; {count} more announced that could not be understood, the first in line {first}"
        ));
    }
    if let Some(first) = client_errors.first() {
        let count = client_errors.len();
        text.push_str(&format!(
            "; {count} clients' errors 1213, the first in line {first}, which may be of the same \
             deadlocks, or with Galera of conflicts in certification"
        ));
    }
    text
}

/// For what a party waits where that is not told.
const UNTOLD_LOCK: &str = "a lock that is not told";

/// Columns of what a party does with a lock.
const WORD_WIDTH: usize = 9;

fn of_party(party: &DeadlockParty) -> LabelledItem {
    let mut item = LabelledItem::new(match party.statement.as_str() {
        "" => "a statement that was not logged",
        statement => statement,
    });
    if party.waits_for.is_empty() {
        item = item.with_detail(LabelledItem::new(UNTOLD_LOCK).with_label("waits for", WORD_WIDTH));
    }
    for (word, locks) in [("waits for", &party.waits_for), ("holds", &party.holds)] {
        for lock in locks {
            item = item.with_detail(LabelledItem::new(lock).with_label(word, WORD_WIDTH));
        }
    }
    item
}

fn party(of: &DeadlockParty) -> Party<'_> {
    Party { statement: &of.statement, waits_for: &of.waits_for, holds: &of.holds }
}

/// The same as JSON, indented, ending with a line feed.
pub fn deadlocks_json(shown: &DeadlocksShown) -> String {
    let DeadlocksShown { inputs, clusters, repeated, repeated_tellings, doubtful } = shown;
    let document = DeadlocksJson {
        schema: SCHEMA,
        inputs,
        deadlocks: clusters.iter().map(|one| one.count).sum(),
        repeated: *repeated,
        repeated_tellings: *repeated_tellings,
        doubtful: *doubtful,
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
