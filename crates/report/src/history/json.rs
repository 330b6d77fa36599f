//! A history as JSON; the names are a contract.

//!
//! Places are indices, from 0; texts count values from 1. Beside each index stands what does not
//! depend on that: what the run is called, and of a shift its number as texts have it.

use dbdyno_model::{
    BenchmarkHistory, Cause, ChangeScale, GateOutcome, HistoryGateAnswer, HistorySeries, Modes,
    NullKind, Shift, Slide, Warning,
};
use serde::Serialize;

use super::gate::history_gate_sentences;
use super::words;

/// Version of the JSON; raised when a name changes its meaning.
const SCHEMA: u32 = 1;

#[derive(Serialize)]
struct Document<'a> {
    schema: u32,
    source: &'a str,
    budget: f64,
    superiority: f64,
    alpha: f64,
    gate: Option<GateEntry>,
    series: Vec<SeriesEntry<'a>>,
    warnings: Vec<WarningEntry<'a>>,
}

/// What the gate says of all, where there is one.
#[derive(Serialize)]
struct GateEntry {
    latest: usize,
    outcome: &'static str,
    reasons: Vec<String>,
}

#[derive(Serialize)]
struct SeriesEntry<'a> {
    name: &'a str,
    about: &'a str,
    metric: &'a str,
    better: &'static str,
    scale: &'static str,
    points: Vec<PointEntry<'a>>,
    shifts: Vec<ShiftEntry<'a>>,
    slides: Vec<SlideEntry<'a>>,
    modes: Option<ModesEntry>,
    autocorrelation: f64,
    lapsed: Vec<LapsedEntry<'a>>,
    e_divisive: Option<&'a [usize]>,
    gate: Option<&'static str>,
    warnings: Vec<WarningEntry<'a>>,
}

#[derive(Serialize)]
struct PointEntry<'a> {
    run: &'a str,
    version: &'a str,
    unix_ms: Option<i64>,
    value: f64,
}

#[derive(Serialize)]
pub(super) struct ShiftEntry<'a> {
    pub(super) first: usize,
    number: usize,
    pub(super) run: &'a str,
    pub(super) version: &'a str,
    pub(super) unix_ms: Option<i64>,
    pub(super) earliest: usize,
    earliest_run: &'a str,
    pub(super) latest: usize,
    latest_run: &'a str,
    pub(super) before: f64,
    pub(super) after: f64,
    pub(super) change: f64,
    pub(super) change_low: Option<f64>,
    pub(super) change_high: Option<f64>,
    pub(super) superiority: f64,
    pub(super) p_value: f64,
    pub(super) assumed_correlation: f64,
    pub(super) direction: &'static str,
    pub(super) weight: &'static str,
    pub(super) first_found_with: Option<usize>,
    pub(super) causes: Vec<CauseEntry<'a>>,
}

#[derive(Serialize)]
pub(super) struct CauseEntry<'a> {
    at: usize,
    run: &'a str,
    pub(super) fact: &'a str,
    pub(super) before: &'a str,
    pub(super) after: &'a str,
}

#[derive(Serialize)]
struct SlideEntry<'a> {
    from: usize,
    from_run: &'a str,
    to: usize,
    last_run: &'a str,
    change: f64,
}

#[derive(Serialize)]
struct ModesEntry {
    apart: f64,
    share_upper: f64,
    crossings: usize,
}

fn modes_entry(modes: Modes) -> ModesEntry {
    let Modes { apart, share_upper, crossings } = modes;
    ModesEntry { apart, share_upper, crossings }
}

#[derive(Serialize)]
struct LapsedEntry<'a> {
    first: usize,
    number: usize,
    run: &'a str,
    found_with: usize,
}

#[derive(Serialize)]
struct WarningEntry<'a> {
    severity: &'static str,
    code: &'a str,
    text: &'a str,
}

/// The history as JSON, with what a gate says of it; indented, ending with a line feed.
pub fn history_json(history: &BenchmarkHistory, answer: Option<&HistoryGateAnswer>) -> String {
    let answers = answer.into_iter().flat_map(|answer| &answer.series).map(|one| one.outcome);
    let answers = answers.map(Some).chain(std::iter::repeat(None));
    let document = Document {
        schema: SCHEMA,
        source: &history.source,
        budget: history.budget,
        superiority: history.superiority,
        alpha: history.alpha,
        gate: answer.map(|answer| gate_entry(history, answer)),
        series: history.series.iter().zip(answers).map(|(one, says)| series(one, says)).collect(),
        warnings: history.warnings.iter().map(warning).collect(),
    };
    crate::json::json_text(&document)
}

fn gate_entry(history: &BenchmarkHistory, answer: &HistoryGateAnswer) -> GateEntry {
    GateEntry {
        latest: answer.latest,
        outcome: outcome_name(answer.outcome),
        reasons: history_gate_sentences(history, answer),
    }
}

fn outcome_name(outcome: GateOutcome) -> &'static str {
    match outcome {
        GateOutcome::Holds => "holds",
        GateOutcome::Fails => "fails",
        GateOutcome::CannotTell => "cannot-tell",
    }
}

fn series(series: &HistorySeries, gate: Option<GateOutcome>) -> SeriesEntry<'_> {
    let changes = &series.changes;
    SeriesEntry {
        name: &series.name,
        about: &series.about,
        metric: &series.metric,
        better: series.better.name(),
        scale: scale_name(series),
        points: series
            .points
            .iter()
            .map(|point| PointEntry {
                run: &point.label,
                version: &point.version,
                unix_ms: point.unix_ms,
                value: point.value,
            })
            .collect(),
        shifts: (0..changes.shifts.len()).map(|at| shift_entry(series, at)).collect(),
        slides: changes.slides.iter().map(|slide| slide_entry(series, slide)).collect(),
        modes: changes.modes.map(modes_entry),
        autocorrelation: changes.autocorrelation,
        lapsed: series
            .lapsed
            .iter()
            .map(|lapsed| LapsedEntry {
                first: lapsed.first,
                number: lapsed.first + 1,
                run: run(series, lapsed.first),
                found_with: lapsed.found_with,
            })
            .collect(),
        e_divisive: series.e_divisive.as_deref(),
        gate: gate.map(outcome_name),
        warnings: series.warnings.iter().map(warning).collect(),
    }
}

fn slide_entry<'a>(series: &'a HistorySeries, slide: &Slide) -> SlideEntry<'a> {
    let Slide { from, to, size } = *slide;
    SlideEntry {
        from,
        from_run: run(series, from),
        to,
        last_run: run(series, to.saturating_sub(1)),
        change: size,
    }
}

/// What the run at a place is called; nothing where none is there.
fn run(series: &HistorySeries, at: usize) -> &str {
    series.points.get(at).map_or("", |point| &point.label)
}

/// A shift of a series.
pub(super) fn shift_entry(series: &HistorySeries, at: usize) -> ShiftEntry<'_> {
    let shift = &series.changes.shifts[at];
    let point = &series.points[shift.first];
    ShiftEntry {
        first: shift.first,
        number: shift.first + 1,
        run: &point.label,
        version: &point.version,
        unix_ms: point.unix_ms,
        earliest: shift.earliest,
        earliest_run: run(series, shift.earliest),
        latest: shift.latest,
        latest_run: run(series, shift.latest),
        before: shift.before,
        after: shift.after,
        change: shift.size.estimate,
        change_low: words::shift_bounds(shift).map(|(low, _)| low),
        change_high: words::shift_bounds(shift).map(|(_, high)| high),
        superiority: shift.superiority,
        p_value: shift.p_value,
        assumed_correlation: match shift.null {
            NullKind::Permutation => 0.0,
            NullKind::Correlated(phi) => phi,
        },
        direction: direction(series, shift),
        weight: shift.weight.name(),
        first_found_with: series.first_found[at],
        causes: series.causes[at].iter().map(|one| cause(series, one)).collect(),
    }
}

/// In what a series counts its changes.
pub(super) fn scale_name(series: &HistorySeries) -> &'static str {
    match series.scale {
        ChangeScale::Share => "share",
        ChangeScale::Difference => "difference",
    }
}

fn direction(series: &HistorySeries, shift: &Shift) -> &'static str {
    if series.is_worse(shift.size.estimate) { "worse" } else { "better" }
}

fn cause<'a>(series: &'a HistorySeries, cause: &'a Cause) -> CauseEntry<'a> {
    let Cause { at, fact, before, after } = cause;
    CauseEntry { at: *at, run: run(series, *at), fact, before, after }
}

fn warning(warning: &Warning) -> WarningEntry<'_> {
    WarningEntry { severity: warning.severity.name(), code: &warning.code, text: &warning.text }
}
