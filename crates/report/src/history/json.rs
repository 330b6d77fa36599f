//! A history as JSON; the names are a contract.

use dbdyno_model::{
    BenchmarkHistory, Cause, ChangeScale, HistorySeries, Modes, NullKind, Shift, Warning,
};
use serde::Serialize;

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
    series: Vec<SeriesEntry<'a>>,
    warnings: Vec<WarningEntry<'a>>,
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
    slides: Vec<SlideEntry>,
    modes: Option<ModesEntry>,
    autocorrelation: f64,
    lapsed: Vec<LapsedEntry<'a>>,
    e_divisive: Option<&'a [usize]>,
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
    pub(super) run: &'a str,
    pub(super) version: &'a str,
    pub(super) unix_ms: Option<i64>,
    pub(super) earliest: usize,
    pub(super) latest: usize,
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
    pub(super) fact: &'a str,
    pub(super) before: &'a str,
    pub(super) after: &'a str,
}

#[derive(Serialize)]
struct SlideEntry {
    from: usize,
    to: usize,
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
    run: &'a str,
    found_with: usize,
}

#[derive(Serialize)]
struct WarningEntry<'a> {
    severity: &'static str,
    code: &'a str,
    text: &'a str,
}

/// The history as JSON, indented, ending with a line feed.
pub fn history_json(history: &BenchmarkHistory) -> String {
    let document = Document {
        schema: SCHEMA,
        source: &history.source,
        budget: history.budget,
        superiority: history.superiority,
        alpha: history.alpha,
        series: history.series.iter().map(series).collect(),
        warnings: history.warnings.iter().map(warning).collect(),
    };
    crate::json::json_text(&document)
}

fn series(series: &HistorySeries) -> SeriesEntry<'_> {
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
        slides: changes
            .slides
            .iter()
            .map(|slide| SlideEntry { from: slide.from, to: slide.to, change: slide.size })
            .collect(),
        modes: changes.modes.map(modes_entry),
        autocorrelation: changes.autocorrelation,
        lapsed: series
            .lapsed
            .iter()
            .map(|lapsed| LapsedEntry {
                first: lapsed.first,
                run: &series.points[lapsed.first].label,
                found_with: lapsed.found_with,
            })
            .collect(),
        e_divisive: series.e_divisive.as_deref(),
        warnings: series.warnings.iter().map(warning).collect(),
    }
}

/// A shift of a series.
pub(super) fn shift_entry(series: &HistorySeries, at: usize) -> ShiftEntry<'_> {
    let shift = &series.changes.shifts[at];
    let point = &series.points[shift.first];
    ShiftEntry {
        first: shift.first,
        run: &point.label,
        version: &point.version,
        unix_ms: point.unix_ms,
        earliest: shift.earliest,
        latest: shift.latest,
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
        causes: series.causes[at].iter().map(cause).collect(),
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

fn cause(cause: &Cause) -> CauseEntry<'_> {
    CauseEntry { at: cause.at, fact: &cause.fact, before: &cause.before, after: &cause.after }
}

fn warning(warning: &Warning) -> WarningEntry<'_> {
    WarningEntry { severity: warning.severity.name(), code: &warning.code, text: &warning.text }
}
