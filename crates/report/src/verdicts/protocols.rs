//! Isolation protocols as state machines: which there are, and what exploring one found.

use std::collections::BTreeMap;

use dbdyno_document::{DataTable, Document, Element, LabelledItem, TableColumn, Text};
use serde::Serialize;

use super::property::VerdictWord;

/// The protocols: the JSON of `model` without a name.
#[derive(Serialize)]
pub struct ProtocolList {
    /// [`super::VERDICTS_SCHEMA`].
    pub schema: u32,
    /// In their order.
    pub protocols: Vec<ProtocolSummary>,
}

/// A protocol.
#[derive(Serialize)]
pub struct ProtocolSummary {
    /// What it is called.
    pub name: &'static str,
    /// What it does.
    pub about: &'static str,
    /// The level that it promises.
    pub promises: &'static str,
    /// Faults that can be planted.
    pub faults: Vec<FaultEntry>,
}

/// A fault of a protocol.
#[derive(Serialize)]
pub struct FaultEntry {
    /// What it is called.
    pub name: &'static str,
    /// What it does.
    pub about: &'static str,
}

/// Each protocol with what it promises.
pub fn protocol_list_document(list: &ProtocolList) -> Document {
    let names = list.protocols.iter().map(|one| one.name.len());
    let width = names.max().unwrap_or(0) + 1;
    let items = list.protocols.iter().map(|ProtocolSummary { name, about, promises, faults }| {
        let faults: Vec<&str> = faults.iter().map(|fault| fault.name).collect();
        let planted = match faults.join(", ") {
            none if none.is_empty() => none,
            some => format!("; faults: {some}"),
        };
        let promise = LabelledItem::new(format!("promises {promises}{planted}"));
        LabelledItem::new(*about).with_label(*name, width).with_detail(promise)
    });
    Document::from(vec![vec![Element::Items(items.collect())]])
}

/// What exploring a protocol found: the JSON of `model NAME`.
#[derive(Serialize)]
pub struct ProtocolReport {
    /// [`super::VERDICTS_SCHEMA`].
    pub schema: u32,
    /// What it is called.
    pub protocol: &'static str,
    /// What it does.
    #[serde(skip)]
    pub about: &'static str,
    /// The fault that was planted.
    pub fault: Option<&'static str>,
    /// What the fault does.
    #[serde(skip)]
    pub fault_about: Option<&'static str>,
    /// Transactions, keys and operations, in short.
    pub shape: String,
    /// The same in words.
    #[serde(skip)]
    pub size: String,
    /// States that were visited.
    pub states: u64,
    /// Steps between them.
    pub transitions: u64,
    /// States in which all transactions have ended.
    pub ends: u64,
    /// Steps of the longest way that was taken.
    pub depth: u32,
    /// Histories that ends have.
    pub outcomes: u64,
    /// The level in question.
    pub level: &'static str,
    /// Where it is defined.
    #[serde(skip)]
    pub definition: &'static str,
    /// Whether every outcome has it.
    pub verdict: VerdictWord,
    /// What breaks it.
    pub anomaly: Option<String>,
    /// The actions of a shortest way to that, or of a way to an end.
    pub trace: Vec<String>,
    /// What breaks it, in lanes, a line each.
    #[serde(skip)]
    pub drawing: Vec<Text>,
    /// How much of what levels allow it lets happen, where that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub permissiveness: Option<PermissivenessReport>,
    /// Paths that cover every transition, where they were asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub paths: Option<PathsReport>,
    /// Servers on which they were played; with `paths`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub servers: Option<Vec<ConformanceReport>>,
}

/// Of all that levels allow, what a protocol lets happen.
#[derive(Serialize)]
pub struct PermissivenessReport {
    /// Level by level; nothing where there are too many to be counted.
    pub results: Option<Vec<ResultShares>>,
    /// By the level in question; nothing of protocols of several servers.
    pub schedules: Option<ScheduleCounts>,
}

/// Results that a level allows, and that a protocol produces.
#[derive(Serialize)]
pub struct ResultShares {
    /// The level.
    pub level: &'static str,
    /// With all names.
    pub sets: ShareCounts,
    /// Up to renaming.
    pub classes: ShareCounts,
}

/// How many of all are allowed, and how many of these there are.
#[derive(Serialize)]
pub struct ShareCounts {
    /// All.
    pub all: u64,
    /// Those that are allowed.
    pub allowed: u64,
    /// Those of them that were produced.
    pub produced: u64,
    /// Those that were produced and are not allowed.
    pub let_through: u64,
}

/// What became of orders of statements.
#[derive(Serialize)]
pub struct ScheduleCounts {
    /// The level by which they are allowed.
    pub level: &'static str,
    /// All, once up to symmetry.
    pub canonical: u64,
    /// Those that were played.
    pub played: u64,
    /// Those of them that the level allows.
    pub allowed: u64,
    /// Of those allowed: completed at once.
    pub completed: u64,
    /// Of those allowed: a transaction had to wait.
    pub blocked: u64,
    /// Of those allowed: ended in a deadlock.
    pub deadlocked: u64,
    /// Of those allowed: a transaction was aborted.
    pub aborted: u64,
    /// Of those aborted: the result would have been allowed.
    pub wrongly_aborted: u64,
    /// Of those allowed: completed with a result that is not.
    pub misread: u64,
    /// Completed at once, and not allowed.
    pub let_through: u64,
}

/// Tests of servers.
#[derive(Serialize)]
pub struct PathsReport {
    /// Fewer paths cannot take all transitions.
    pub lower_bound: u64,
    /// Those that take all of them.
    pub fewest: CoverCounts,
    /// Those that lead to each state.
    pub shortest: CoverCounts,
    /// What clients ask.
    pub scripts: Vec<String>,
    /// States of the protocol.
    #[serde(skip)]
    pub states: u64,
    /// Its transitions.
    #[serde(skip)]
    pub transitions: u64,
}

/// What paths cover.
#[derive(Serialize)]
pub struct CoverCounts {
    /// Paths.
    pub paths: u64,
    /// Their steps together.
    pub steps: u64,
    /// States on them.
    pub states: u64,
    /// Transitions on them.
    pub transitions: u64,
}

/// A server that was held against a protocol.
#[derive(Serialize)]
pub struct ConformanceReport {
    /// As it was named.
    pub target: String,
    /// What it says of itself.
    pub version: String,
    /// The level at which scripts were played.
    pub level: &'static str,
    /// Scripts that were played.
    pub played: u64,
    /// In what scripts part from the protocol, in words, and how many do.
    pub differences: BTreeMap<&'static str, u64>,
    /// The first of them.
    pub first: Option<FirstDifference>,
}

/// Where a script parts from a protocol.
#[derive(Serialize)]
pub struct FirstDifference {
    /// The script.
    pub script: String,
    /// The number of the statement.
    pub statement: usize,
    /// The statement.
    #[serde(skip)]
    pub step: String,
    /// What the protocol does.
    pub protocol: String,
    /// What the server does.
    pub server: String,
    /// What the server says, in brackets.
    pub error: String,
}

/// What was explored and found, and what else was asked for.
pub fn protocol_report_document(report: &ProtocolReport) -> Document {
    let ProtocolReport { protocol, about, states, transitions, ends, depth, outcomes, .. } = report;
    let fault = report.fault.zip(report.fault_about);
    let fault = fault.map(|(name, about)| format!("with the fault {name}: {about}"));
    let size = format!("{}, once up to symmetry", report.size);
    let counts = format!(
        "{states} states, {transitions} transitions, {ends} ends, up to {depth} steps; {outcomes} \
         outcomes"
    );
    let head = std::iter::once(format!("{protocol}: {about}")).chain(fault).chain([size, counts]);
    let mut document =
        Document::from(vec![head.map(|line| Element::Sentence(line.into())).collect()]);
    document.push(verdict(report));
    if let Some(PermissivenessReport { results, schedules }) = &report.permissiveness {
        document.push(vec![of_results(results.as_deref())]);
        document
            .push(schedules.iter().map(|counts| Element::Table(of_schedules(counts))).collect());
    }
    report.paths.iter().for_each(|paths| document.push(of_paths(paths)));
    let servers = report.servers.iter().flatten();
    servers.for_each(|server| document.push(of_server(server)));
    document
}

/// Whether the level holds; the shortest way to break it, and what that does.
fn verdict(report: &ProtocolReport) -> Vec<Element> {
    let ProtocolReport { level, definition, states, trace, .. } = report;
    let word = match report.verdict {
        VerdictWord::Holds => "holds in every outcome".to_owned(),
        VerdictWord::CannotTell => format!(
            "not broken in {states} states, and there are more: raise --max-states, or ask for \
             less"
        ),
        VerdictWord::Broken => {
            format!("broken by {}", report.anomaly.as_deref().unwrap_or_default())
        }
    };
    let title = format!("{level}, {definition}: {word}");
    if report.verdict != VerdictWord::Broken {
        return vec![Element::Sentence(title.into())];
    }
    let steps = format!("after {} steps; fewer do not break it:", trace.len());
    let actions = (1..).zip(trace).map(|(number, action)| format!("{number:2}  {action}").into());
    let lines = actions.chain([Text::default()]).chain(report.drawing.iter().cloned());
    vec![
        Element::Title(title.into()),
        Element::Sentence(steps.into()),
        Element::Lines(lines.collect()),
    ]
}

fn of_results(results: Option<&[ResultShares]>) -> Element {
    type ResultColumn = TableColumn<'static, ResultShares>;
    let Some(results) = results else {
        return Element::Sentence("results: too many to be counted; ask for less".into());
    };
    let columns = [
        ResultColumn::word_texts("level", |one| one.level.into()),
        ResultColumn::number_texts("produced", |one| one.sets.produced.to_string().into()),
        ResultColumn::number_texts("allowed", |one| one.sets.allowed.to_string().into()),
        ResultColumn::number_texts("share", |one| {
            share(one.sets.produced, one.sets.allowed).into()
        }),
        ResultColumn::number_texts("classes", |one| {
            format!("{} ÷ {}", one.classes.produced, one.classes.allowed).into()
        }),
        ResultColumn::number_texts("not allowed", |one| one.sets.let_through.to_string().into()),
    ];
    let all = results.first().map_or(0, |one| one.sets.all);
    let title = format!(
        "results: of {all} sets of histories, those that a level allows, and of these those \
         produced"
    );
    Element::Table(DataTable::new(&columns, results).with_title(title))
}

/// What became of schedules, how many did, and what that means.
type ScheduleRow = (&'static str, u64, &'static str);

fn of_schedules(counts: &ScheduleCounts) -> DataTable {
    type ScheduleColumn<'a> = TableColumn<'a, ScheduleRow>;
    let allowed = counts.allowed;
    let columns = [
        ScheduleColumn::word_texts("", |row| row.0.into()),
        ScheduleColumn::number_texts("orders", |row| row.1.to_string().into()),
        ScheduleColumn::number_texts("of those allowed", |row| share(row.1, allowed).into()),
        ScheduleColumn::word_texts("", |row| row.2.into()),
    ];
    let mut rows: Vec<ScheduleRow> = vec![
        ("allowed", allowed, ""),
        ("  completed at once", counts.completed, ""),
        ("  blocked", counts.blocked, ""),
        ("  deadlock", counts.deadlocked, ""),
        ("  aborted", counts.aborted, ""),
        ("    wrongly", counts.wrongly_aborted, "the result would have been allowed"),
    ];
    if counts.misread > 0 {
        let what = "completed at once, with a result that is not allowed";
        rows.push(("  misread", counts.misread, what));
    }
    if counts.let_through > 0 {
        let what = "not allowed, and completed at once";
        rows.push(("let through", counts.let_through, what));
    }
    DataTable::new(&columns, &rows).with_title(format!(
        "schedules: {} of {} orders of statements, once up to symmetry, by {}",
        counts.played, counts.canonical, counts.level
    ))
}

fn share(part: u64, all: u64) -> String {
    format!("{:.1} %", 100.0 * part as f64 / all.max(1) as f64)
}

fn of_paths(of: &PathsReport) -> Vec<Element> {
    let CoverCounts { paths, steps, transitions, .. } = of.shortest;
    let title = format!(
        "paths: {} take all {} transitions, in {} steps; {} is the least that is possible",
        of.fewest.paths, of.transitions, of.fewest.steps, of.lower_bound
    );
    let items = [
        format!("what clients ask on them: {} scripts", of.scripts.len()),
        format!(
            "shortest paths to all {} states: {paths}, {steps} steps, {transitions} transitions \
             ({})",
            of.states,
            share(transitions, of.transitions)
        ),
    ];
    let items = items.map(LabelledItem::new);
    vec![Element::Title(title.into()), Element::Items(items.into())]
}

/// Characters of a number of scripts.
const COUNT_WIDTH: usize = 5;

fn of_server(of: &ConformanceReport) -> Vec<Element> {
    let ConformanceReport { target, version, level, played, differences, first } = of;
    let alike = played - differences.values().sum::<u64>();
    let title = format!(
        "{target} ({version}) at {level}: {alike} of {played} scripts go as the protocol says"
    );
    let kinds = differences
        .iter()
        .map(|(words, count)| LabelledItem::new(*words).with_label(count.to_string(), COUNT_WIDTH));
    let first =
        first.iter().map(|FirstDifference { script, step, protocol, server, error, .. }| {
            let error = if error.is_empty() { String::new() } else { format!(" {error}") };
            let detail = format!("{step}: the protocol {protocol}, the server {server}{error}");
            LabelledItem::new(format!("the first: {script}")).with_detail(LabelledItem::new(detail))
        });
    vec![Element::Title(title.into()), Element::Items(kinds.chain(first).collect())]
}
