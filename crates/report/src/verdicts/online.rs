//! Verdicts of transactions that nobody keeps.

use dbdyno_document::{Document, Element, LabelledItem};
use serde::Serialize;

use super::property::{PropertyVerdict, unpromised_levels};

/// What servers did while they were judged: the JSON of `verify --online`.
#[derive(Serialize)]
pub struct OnlineReport {
    /// [`super::VERDICTS_SCHEMA`].
    pub schema: u32,
    /// What is read and written.
    pub kind: &'static str,
    /// Clients.
    pub clients: u32,
    /// Keys.
    pub keys: u64,
    /// How long, or how many transactions, in words.
    #[serde(skip)]
    pub extent: String,
    /// Of the random numbers.
    pub seed: u64,
    /// The servers.
    pub online: Vec<OnlineServer>,
}

/// A server.
#[derive(Serialize)]
pub struct OnlineServer {
    /// As it was named.
    pub target: String,
    /// What it says of itself.
    pub version: String,
    /// The levels at which transactions ran.
    pub levels: Vec<OnlineLevel>,
}

/// What became of the transactions at a level.
#[derive(Serialize)]
pub struct OnlineLevel {
    /// What it is called in SQL.
    pub level: &'static str,
    /// What the server promises there.
    pub promise: &'static str,
    /// Where that is defined.
    #[serde(skip)]
    pub definition: &'static str,
    /// Transactions that committed.
    pub committed: u64,
    /// How many had when the promise was known to be broken.
    pub known_after: Option<u64>,
    /// Transactions that were kept at a time, at most.
    pub kept_transactions: usize,
    /// Versions that were kept at a time, at most.
    pub kept_versions: usize,
    /// Refusals for the sake of others.
    pub retries: u64,
    /// The promise and the other levels.
    pub levels: Vec<OnlineFinding>,
}

/// A level of isolation, and whether the transactions have it.
#[derive(Serialize)]
pub struct OnlineFinding {
    /// Its name.
    pub level: &'static str,
    /// Whether they have it.
    #[serde(flatten)]
    pub verdict: PropertyVerdict,
}

/// A passage for each server, and one for each of its levels.
pub fn online_document(report: &OnlineReport) -> Document {
    let OnlineReport { kind, clients, keys, extent, .. } = report;
    let mut document = Document::default();
    for OnlineServer { target, version, levels } in &report.online {
        let headline = format!(
            "{target} ({version}): {clients} clients on {keys} {kind}, {extent} at each level, \
             judged meanwhile"
        );
        document.push(vec![Element::Headline(headline.into())]);
        levels.iter().for_each(|level| document.push(of_level(level)));
    }
    document
}

fn of_level(of: &OnlineLevel) -> Vec<Element> {
    let OnlineLevel { level, promise, committed, kept_transactions, kept_versions, .. } = of;
    let (promised, others): (Vec<_>, Vec<_>) =
        of.levels.iter().partition(|one| one.level == *promise);
    let word = promised.first().map_or_else(String::new, |one| one.verdict.in_words());
    let title = format!("{level} promises {promise}: {word}");
    let kept = format!(
        "{committed} committed; {kept_transactions} of them, and {kept_versions} versions, were \
         kept at a time at most"
    );
    let mut items = vec![LabelledItem::new(of.definition), LabelledItem::new(kept)];
    if of.retries > 0 {
        let refused = format!("refused: serialization failures and deadlocks ×{}", of.retries);
        items.push(LabelledItem::new(refused));
    }
    let known = of.known_after.map(|at| format!("known after {at} transactions"));
    items.extend(known.map(LabelledItem::new));
    let (held, others) = unpromised_levels(others.into_iter().map(|one| (one.level, &one.verdict)));
    items.extend(held.into_iter().chain(others));
    vec![Element::Title(title.into()), Element::Items(items)]
}
