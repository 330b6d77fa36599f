//! Random transactions, and what their history proves.

use std::collections::BTreeMap;

use dbdyno_document::{Document, Element, LabelledItem, Text};
use serde::Serialize;

use super::levels::{HistoryReport, anomaly_rate_bound};
use super::property::{VerdictWord, unpromised_levels};
use crate::isolation::IsolationExtent;

/// What servers did with random transactions: the JSON of `verify`.
#[derive(Serialize)]
pub struct RandomReport {
    /// [`super::VERDICTS_SCHEMA`].
    pub schema: u32,
    /// What is read and written.
    pub kind: &'static str,
    /// Clients.
    pub clients: u32,
    /// Keys.
    pub keys: u64,
    /// How long clients were at work, unless they had a number of transactions.
    pub seconds: Option<f64>,
    /// How many transactions they had.
    pub transactions: Option<u64>,
    /// The one of both that counts, in words.
    #[serde(skip)]
    pub extent: String,
    /// Of the random numbers.
    pub seed: u64,
    /// The servers.
    pub servers: Vec<RandomServer>,
}

/// A server.
#[derive(Serialize)]
pub struct RandomServer {
    /// As it was named.
    pub target: String,
    /// What it says of itself.
    pub version: String,
    /// The levels at which transactions ran.
    pub levels: Vec<RandomLevel>,
}

/// What the history of a level proves.
#[derive(Serialize)]
pub struct RandomLevel {
    /// What it is called in SQL.
    pub level: &'static str,
    /// What the server promises there.
    pub promise: &'static str,
    /// To which transactions.
    pub of: PromisedTransactions,
    /// Errors for the sake of others, and how often each was met.
    pub refused: BTreeMap<String, u64>,
    /// Connections that were lost.
    pub connections_lost: u64,
    /// Transactions for which the memory for records had no room.
    pub unrecorded: u64,
    /// Transactions of which the outcome is not known.
    pub unknown: usize,
    /// What the server's own log says to it.
    pub row_log: Option<RowLogFinding>,
    /// What two transactions did to each other.
    pub anomalies: Vec<PairFinding>,
    /// What came of some of them, played again.
    pub witnesses: Vec<ReplayFinding>,
    /// Those that could not be.
    pub without_script: Vec<UnplayedAnomaly>,
    /// The history; its first level is the promise.
    pub history: HistoryReport,
}

/// To which transactions something is promised.
#[derive(Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum PromisedTransactions {
    /// To all.
    All,
    /// To those that lock all that they read, or nothing.
    Disciplined,
}

/// The server's own log beside what clients were answered.
#[derive(Serialize)]
#[serde(untagged)]
pub enum RowLogFinding {
    /// They agree.
    Agreement {
        /// True.
        agrees: bool,
        /// Transactions of the log.
        transactions: u64,
        /// Changes of these.
        changes: u64,
        /// Of transactions of unknown outcome: those that the log has.
        #[serde(skip)]
        done: u64,
        /// Of the same: those that it has not.
        #[serde(skip)]
        undone: u64,
    },
    /// They do not.
    Contradiction {
        /// False.
        agrees: bool,
        /// In what.
        difference: String,
    },
}

/// A kind of anomaly of two transactions.
#[derive(Serialize)]
pub struct PairFinding {
    /// What it is called.
    pub anomaly: String,
    /// How many pairs there are.
    pub pairs: u64,
    /// When the first one was complete, in seconds since the first statement.
    pub first_s: Option<f64>,
}

/// An anomaly that was played again, a statement at a time.
#[derive(Serialize)]
pub struct ReplayFinding {
    /// What it is called.
    pub anomaly: String,
    /// Sessions that it takes.
    pub sessions: u8,
    /// How often it was played.
    pub runs: u32,
    /// How often it was seen.
    pub seen: u32,
    /// The lower bound of its rate, with 95 %.
    pub rate_low: f64,
    /// The upper bound.
    pub rate_high: f64,
    /// Runs in which a statement waited.
    pub waited: u32,
    /// Errors, and in how many runs each was met.
    pub refused: BTreeMap<String, u32>,
    /// As a file for `verify --case-file`.
    pub case: String,
    /// As SQL for as many terminals.
    pub sql: String,
}

/// An anomaly that has no script.
#[derive(Serialize)]
pub struct UnplayedAnomaly {
    /// What it is called.
    pub anomaly: String,
    /// Why it has none.
    pub why: String,
}

/// A passage for each server, and one for each of its levels.
pub fn random_document(report: &RandomReport, extent: IsolationExtent) -> Document {
    let mut document = Document::default();
    for RandomServer { target, version, levels } in &report.servers {
        let headline = format!(
            "{target} ({version}): {} clients on {} {}, {} at each level",
            report.clients, report.keys, report.kind, report.extent
        );
        document.push(vec![Element::Headline(headline.into())]);
        levels.iter().for_each(|level| document.push(of_level(level, extent)));
    }
    document
}

fn of_level(of: &RandomLevel, extent: IsolationExtent) -> Vec<Element> {
    let RandomLevel { level, promise, history, without_script, .. } = of;
    let Some((promised, others)) = history.levels.split_first() else { return Vec::new() };
    let holds = promised.verdict.verdict == VerdictWord::Holds;
    let to_whom = match of.of {
        PromisedTransactions::All => "",
        PromisedTransactions::Disciplined => " for transactions that lock all or nothing",
    };
    let title = format!("{level} promises {promise}{to_whom}: {}", promised.verdict.in_words());
    let proof = if holds { "; an order of all transactions was replayed" } else { "" };
    let mut items = vec![LabelledItem::new(format!("{}{proof}", promised.definition))];
    items.extend(facts(of).into_iter().map(LabelledItem::new));
    items.extend(anomaly_rate_bound(history.committed).filter(|_| holds).map(LabelledItem::new));
    let mut passage = vec![
        Element::Title(title.into()),
        Element::Items(items),
        Element::Lines(promised.witness.drawing.clone()),
    ];
    passage.extend(witnesses(of, extent));
    let unplayed = without_script.iter();
    let mut items: Vec<LabelledItem> = unplayed
        .map(|one| LabelledItem::new(format!("{} has no script: {}", one.anomaly, one.why)))
        .collect();
    let (held, not_promised) =
        unpromised_levels(others.iter().map(|one| (one.level, &one.verdict)));
    items.extend(held);
    passage.push(Element::Items(items));
    let open = others.iter().filter(|one| one.verdict.verdict != VerdictWord::Holds);
    for (item, one) in not_promised.into_iter().zip(open) {
        passage.push(Element::Items(vec![item]));
        if extent == IsolationExtent::Stories {
            passage.push(Element::Lines(one.witness.drawing.clone()));
        }
    }
    passage
}

/// How much there is, and what is missing.
fn facts(of: &RandomLevel) -> Vec<String> {
    let HistoryReport { committed, transactions, ww, wr, rw, .. } = &of.history;
    let mut facts = vec![format!(
        "{committed} of {transactions} transactions committed; ww {ww}, wr {wr}, rw {rw} \
         dependencies"
    )];
    if !of.refused.is_empty() {
        let refused = of.refused.iter().map(|(error, count)| format!("{error} ×{count}"));
        facts.push(format!("refused: {}", refused.collect::<Vec<String>>().join(", ")));
    }
    if of.unrecorded > 0 {
        facts.push(format!(
            "{} transactions were not recorded: the memory for records was full, and the history \
             ends before them",
            of.unrecorded
        ));
    }
    if of.connections_lost > 0 {
        facts.push(format!(
            "connections lost: {}; of {} transactions the outcome is unknown",
            of.connections_lost, of.unknown
        ));
    }
    match &of.row_log {
        Some(RowLogFinding::Agreement { transactions, changes, done, undone, .. }) => {
            facts.push(format!(
                "row log: {transactions} transactions, {changes} changes, all as clients were \
                 answered"
            ));
            if done + undone > 0 {
                facts.push(format!("of unknown outcome: {done} in the log, {undone} not"));
            }
        }
        Some(RowLogFinding::Contradiction { difference, .. }) => {
            facts.push(format!("ROW LOG DIFFERS from what clients were answered: {difference}"));
        }
        None => {}
    }
    facts
}

/// What was seen and what came of it, each with its script where stories are told.
fn witnesses(of: &RandomLevel, extent: IsolationExtent) -> Vec<Element> {
    let RandomLevel { anomalies, witnesses, .. } = of;
    let mut elements = Vec::new();
    for PairFinding { anomaly, pairs, first_s } in anomalies {
        let first = first_s.map_or(String::new(), |first| format!(", first after {first:.2} s"));
        let item = LabelledItem::new(format!("{anomaly} ×{pairs}{first}"));
        let own = witnesses.iter().filter(|one| one.anomaly == *anomaly);
        elements.extend(with_replays(item, own, extent));
    }
    let unlisted =
        witnesses.iter().filter(|one| anomalies.iter().all(|own| own.anomaly != one.anomaly));
    for one in unlisted {
        elements.extend(with_replays(LabelledItem::new(&one.anomaly), [one], extent));
    }
    elements
}

fn with_replays<'a>(
    mut item: LabelledItem,
    replays: impl IntoIterator<Item = &'a ReplayFinding>,
    extent: IsolationExtent,
) -> [Element; 2] {
    let mut script: Vec<Text> = Vec::new();
    for one in replays {
        item = item.with_detail(LabelledItem::new(format!(
            "played again by {} sessions, a statement at a time: {} of {} (95 %: {:.0} to {:.0} %)",
            one.sessions,
            one.seen,
            one.runs,
            100.0 * one.rate_low,
            100.0 * one.rate_high,
        )));
        let circumstances = circumstances(one).join("; ");
        if !circumstances.is_empty() {
            item = item.with_detail(LabelledItem::new(circumstances));
        }
        if extent == IsolationExtent::Stories {
            script.extend(one.sql.lines().map(Text::from));
        }
    }
    [Element::Items(vec![item]), Element::Lines(script)]
}

/// What else was met in the runs.
fn circumstances(one: &ReplayFinding) -> Vec<String> {
    let waited = (one.waited > 0).then(|| format!("a statement waited in {}", one.waited));
    let refused = one.refused.iter().map(|(error, count)| format!("error {error} in {count}"));
    let unseen = (one.seen == 0).then(|| {
        "it takes more than that: statements at work at the same time, or what the sessions did \
         before"
            .to_owned()
    });
    waited.into_iter().chain(refused).chain(unseen).collect()
}
