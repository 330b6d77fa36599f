//! Which isolation levels a history of transactions has, and what breaks those that it has not.

use dbdyno_document::{Document, Element, Text};
use serde::Serialize;

use super::property::{PropertyVerdict, VerdictWord};

/// Commits from which on 3 ÷ N is the 95 % upper bound of a rate of which nothing was seen: Hanley
/// and Lippman-Hand, *If nothing goes wrong, is everything all right?*, JAMA 249, 1983.
const RULE_OF_THREE_FROM: u64 = 30;

/// What is known of a history: the JSON of `check`, and a part of that of `verify`.
#[derive(Serialize)]
pub struct HistoryReport {
    /// [`super::VERDICTS_SCHEMA`].
    pub schema: u32,
    /// What the file was taken for, in words; nothing of a history that was recorded here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub taken_for: Option<String>,
    /// Transactions.
    pub transactions: usize,
    /// Those that count as committed.
    pub committed: u64,
    /// Reads and writes.
    pub operations: usize,
    /// Dependencies of a version on the one that it replaced.
    pub ww: u64,
    /// Dependencies of a read on the version that it read.
    pub wr: u64,
    /// Dependencies of a version on reads of the one that it replaced.
    pub rw: u64,
    /// Versions whose place among the others is not known.
    pub unplaced: u64,
    /// The levels in question.
    pub levels: Vec<LevelFinding>,
    /// Every kind of anomaly, where that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub anomalies: Option<Vec<AnomalyFinding>>,
    /// Levels that cannot be told, which other kinds may break; with `anomalies`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub anomalies_untold_at: Option<Vec<&'static str>>,
}

/// A level, and whether the history has it.
#[derive(Serialize)]
pub struct LevelFinding {
    /// Its name.
    pub level: &'static str,
    /// Where it is defined.
    pub definition: &'static str,
    /// Whether the history has it.
    #[serde(flatten)]
    pub verdict: PropertyVerdict,
    /// What breaks it.
    #[serde(flatten)]
    pub witness: LevelWitness,
}

/// A kind of anomaly.
#[derive(Serialize)]
pub struct AnomalyFinding {
    /// What it is called.
    pub anomaly: String,
    /// How many there are, where they are counted.
    pub count: Option<u64>,
    /// What is counted.
    pub counted: Option<&'static str>,
    /// Why they are not.
    pub why_not_counted: Option<&'static str>,
    /// One of them.
    #[serde(flatten)]
    pub witness: LevelWitness,
}

/// What breaks a level: a cycle, several ones, or what no order explains.
#[derive(Default, Serialize)]
pub struct LevelWitness {
    /// The cycle.
    pub cycle: Vec<DependencyStep>,
    /// Whether it was proved that there is no shorter one.
    pub shortest: Option<bool>,
    /// Where each order of versions has a cycle of its own.
    pub a_cycle_of_each_order: Vec<Vec<DependencyStep>>,
    /// What needs no cycle.
    pub flaw: Option<FlawStep>,
    /// The same for people, in lanes, a line each.
    #[serde(skip)]
    pub drawing: Vec<Text>,
}

/// A dependency of two transactions.
#[derive(Serialize)]
pub struct DependencyStep {
    /// The transaction that comes first.
    pub from: usize,
    /// The transaction that must follow it.
    pub to: usize,
    /// Why: `ww`, `wr`, `rw` …
    pub dependency: &'static str,
    /// The key, where versions are the reason.
    pub key: Option<String>,
    /// The version that `from` wrote or read.
    pub version: Option<String>,
    /// The transaction that had to see `from`, and read what `to` wrote.
    pub seen_by: Option<usize>,
    /// Whether nothing tells the order of versions that it rests on.
    pub assumed: bool,
    /// Where the first stands in the file.
    pub from_origin: Option<String>,
    /// Where the second one does.
    pub to_origin: Option<String>,
}

/// What no order of the transactions explains.
#[derive(Serialize)]
pub struct FlawStep {
    /// The transaction that saw it.
    pub transaction: usize,
    /// Where that stands in the file.
    pub origin: Option<String>,
    /// The other one that has a part in it.
    pub other: Option<usize>,
    /// Where the other one stands.
    pub other_origin: Option<String>,
    /// The key.
    pub key: String,
    /// The version that is wrong.
    pub version: String,
}

/// Which levels are what, then each level with what breaks it, and the kinds of anomalies.
pub fn history_report_document(report: &HistoryReport) -> Document {
    let HistoryReport { transactions, committed, operations, ww, wr, rw, levels, .. } = report;
    let mut head = vec![Element::Headline(headline(levels).into())];
    let taken_for = report.taken_for.iter().map(|form| format!("taken for {form}"));
    head.extend(taken_for.map(|form| Element::Sentence(form.into())));
    let counts = format!(
        "{transactions} transactions, {committed} committed, {operations} operations; {ww} ww, \
         {wr} wr, {rw} rw dependencies"
    );
    head.push(Element::Sentence(counts.into()));
    let mut document = Document::from(vec![head]);
    for LevelFinding { level, definition, verdict, witness } in levels {
        let word = match verdict.verdict {
            VerdictWord::Holds => "holds; an order of the transactions was replayed".to_owned(),
            _ => verdict.in_words(),
        };
        document.push(drawing_elements(format!("{level}, {definition}: {word}"), &witness.drawing));
    }
    let is_clean = levels.iter().all(|one| one.verdict.verdict == VerdictWord::Holds);
    if let Some(bound) = anomaly_rate_bound(*committed).filter(|_| is_clean) {
        document.push(vec![Element::Sentence(bound.into())]);
    }
    if let Some(kinds) = &report.anomalies {
        let open = report.anomalies_untold_at.as_deref().unwrap_or_default();
        document.push(vec![Element::Sentence(kinds_in_words(kinds, open).into())]);
        kinds.iter().for_each(|kind| document.push(kind_passage(kind)));
    }
    document
}

/// Which levels are what, the broken ones first.
fn headline(levels: &[LevelFinding]) -> String {
    let words = [
        (VerdictWord::Broken, "broken"),
        (VerdictWord::CannotTell, "cannot tell"),
        (VerdictWord::Holds, "holds"),
    ];
    let told = words.into_iter().filter_map(|(verdict, word)| {
        let own = levels.iter().filter(|one| one.verdict.verdict == verdict);
        let own: Vec<&str> = own.map(|one| one.level).collect();
        (!own.is_empty()).then(|| format!("{word}: {}", own.join(", ")))
    });
    told.collect::<Vec<String>>().join("; ")
}

/// A sentence, which is a title where it is shown what it says.
pub(super) fn drawing_elements(title: String, drawing: &[Text]) -> Vec<Element> {
    if drawing.is_empty() {
        return vec![Element::Sentence(title.into())];
    }
    vec![Element::Title(title.into()), Element::Lines(drawing.to_vec())]
}

/// How rare an anomaly must be of which none was seen; nothing of too few commits.
pub(super) fn anomaly_rate_bound(committed: u64) -> Option<String> {
    (committed >= RULE_OF_THREE_FROM).then(|| {
        let rate = 3.0 / committed as f64;
        format!(
            "No anomaly in {committed} commits: at most {rate:.1e} of commits have one, with 95 %."
        )
    })
}

fn kinds_in_words(kinds: &[AnomalyFinding], open: &[&str]) -> String {
    let names: Vec<&str> = kinds.iter().map(|kind| kind.anomaly.as_str()).collect();
    let mut told = if names.is_empty() && open.is_empty() {
        "none was found".to_owned()
    } else if names.is_empty() {
        "none of those that the file tells (wrong reads, lost updates, write skew, cycles of known \
         dependencies)"
            .to_owned()
    } else {
        names.join(", ")
    };
    if !open.is_empty() {
        told.push_str(&format!(
            "; whether there are others, which would break {}, cannot be told",
            open.join(" or ")
        ));
    }
    format!("kinds of anomalies: {told}")
}

fn kind_passage(kind: &AnomalyFinding) -> Vec<Element> {
    let AnomalyFinding { anomaly, count, counted, why_not_counted, witness } = kind;
    let title = match (count, counted) {
        (Some(count), Some(of)) => format!("{anomaly}, {of}: {count}"),
        _ => format!("{anomaly}: not counted, for {}", why_not_counted.unwrap_or_default()),
    };
    drawing_elements(title, &witness.drawing)
}
