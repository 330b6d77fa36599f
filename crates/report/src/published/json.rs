//! Printed figures and ours as JSON, schema 1: the names are a contract.

use serde::Serialize;

use dbdyno_model::Interval;
use dbdyno_model::published::{
    Agreement, ExplainedRow, FoundSign, ReplicatedRow, ReplicatedTable, Replication,
};

use crate::explanation::json::{ExplanationJson, explanation_entry};

/// Version of the JSON contract of printed figures.
const SCHEMA: u32 = 1;

#[derive(Serialize)]
struct Document<'a> {
    schema: u32,
    published: Vec<OfFile<'a>>,
}

#[derive(Serialize)]
struct OfFile<'a> {
    file: &'a str,
    question: &'a str,
    source: &'a str,
    run: &'a str,
    started_unix_ms: u64,
    command: &'a str,
    host: &'a str,
    arms: Vec<ArmJson<'a>>,
    tables: Vec<TableJson<'a>>,
    signs: Vec<SignJson<'a>>,
    explained: Vec<ExplainedJson<'a>>,
    explained_agreement: Option<AgreementJson>,
    explained_agreement_by_instructions: Option<AgreementJson>,
}

/// An expectation, and what was found in a cell.
#[derive(Serialize)]
struct SignJson<'a> {
    cell: String,
    arm: Option<&'a str>,
    figure: String,
    expected: &'static str,
    why: &'a str,
    base: Option<f64>,
    test: Option<f64>,
    ratio: Option<IntervalJson>,
    found: Option<&'static str>,
    standing: &'static str,
}

/// A row beyond the tolerance, and what makes the difference of our arms.
#[derive(Serialize)]
struct ExplainedJson<'a> {
    of: &'a str,
    theirs: f64,
    ours: f64,
    by_instructions: Option<IntervalJson>,
    #[serde(flatten)]
    explanation: ExplanationJson<'a>,
}

#[derive(Serialize)]
struct ArmJson<'a> {
    stands_for: &'a [String],
    label: &'a str,
}

#[derive(Serialize)]
struct TableJson<'a> {
    of: &'a str,
    base: &'a str,
    test: &'a str,
    what: String,
    /// Theirs; null where it does not matter.
    clients: Option<u32>,
    clients_here: &'a [u32],
    agreement: Option<AgreementJson>,
    agreement_by_server_cpu: Option<AgreementJson>,
    rows: Vec<RowJson<'a>>,
}

#[derive(Serialize)]
struct AgreementJson {
    rows: u32,
    rank_correlation: Option<f64>,
    median_difference: f64,
    median_shift: f64,
    within: u32,
}

#[derive(Serialize)]
struct RowJson<'a> {
    load: &'a str,
    theirs: f64,
    ours: Option<IntervalJson>,
    by_server_cpu: Option<IntervalJson>,
    standing: &'static str,
    because: Option<&'a str>,
}

#[derive(Serialize)]
struct IntervalJson {
    value: f64,
    /// Null where too little was measured to bound it.
    low: Option<f64>,
    high: Option<f64>,
}

/// All of it, machine-readable. Ends with a line feed.
pub fn published_json(all: &[Replication]) -> String {
    let document = Document { schema: SCHEMA, published: all.iter().map(of_file).collect() };
    crate::json::json_text(&document)
}

fn of_file(one: &Replication) -> OfFile<'_> {
    let run = &one.run;
    OfFile {
        file: &one.file,
        question: &one.question,
        source: &one.source,
        run: &run.run,
        started_unix_ms: run.started_unix_ms,
        command: &run.command,
        host: &run.host,
        arms: run.arms.iter().map(|(stands_for, label)| ArmJson { stands_for, label }).collect(),
        tables: one.tables.iter().map(table).collect(),
        signs: one.signs.iter().map(sign).collect(),
        explained: one.explained.rows.iter().map(explained).collect(),
        explained_agreement: one.explained.by_rate.as_ref().map(agreement),
        explained_agreement_by_instructions: one.explained.by_instructions.as_ref().map(agreement),
    }
}

fn explained(row: &ExplainedRow) -> ExplainedJson<'_> {
    ExplainedJson {
        of: &row.of,
        theirs: row.theirs,
        ours: row.ours,
        by_instructions: row.by_instructions().map(interval),
        explanation: explanation_entry(&row.explanation),
    }
}

fn sign(found: &FoundSign) -> SignJson<'_> {
    let outcome = &found.outcome;
    SignJson {
        cell: outcome.cell.to_string(),
        arm: found.test.as_deref(),
        figure: outcome.figure.to_string(),
        expected: found.expectation.sign.name(),
        why: &found.expectation.why,
        base: outcome.base,
        test: outcome.test,
        ratio: outcome.ratio.map(interval),
        found: outcome.sign.map(|sign| sign.name()),
        standing: found.standing().name(),
    }
}

fn table(table: &ReplicatedTable) -> TableJson<'_> {
    let published = &table.published;
    TableJson {
        of: &published.of,
        base: &published.base,
        test: &published.test,
        what: published.what.to_string(),
        clients: published.clients,
        clients_here: &table.clients,
        agreement: table.agreement.as_ref().map(agreement),
        agreement_by_server_cpu: table.by_server_cpu.as_ref().map(agreement),
        rows: table.rows.iter().map(row).collect(),
    }
}

fn agreement(agreement: &Agreement) -> AgreementJson {
    let Agreement { rows, rank_correlation, median_difference, median_shift, within } = *agreement;
    AgreementJson { rows, rank_correlation, median_difference, median_shift, within }
}

fn row(row: &ReplicatedRow) -> RowJson<'_> {
    RowJson {
        load: &row.published.load,
        theirs: row.published.ratio,
        ours: row.ours.map(interval),
        by_server_cpu: row.by_server_cpu.map(interval),
        standing: row.standing.name(),
        because: row.published.because.as_deref(),
    }
}

fn interval(interval: Interval) -> IntervalJson {
    IntervalJson {
        value: interval.estimate,
        low: Some(interval.low).filter(|low| low.is_finite()),
        high: Some(interval.high).filter(|high| high.is_finite()),
    }
}
