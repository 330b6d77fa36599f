//! A history for programs; the names are a contract.

use dbdyno_model::{Cause, ChangeScale, History, HistorySeries, NullKind, Shift, Warning};
use serde::Serialize;

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
struct ShiftEntry<'a> {
    first: usize,
    run: &'a str,
    version: &'a str,
    unix_ms: Option<i64>,
    earliest: usize,
    latest: usize,
    before: f64,
    after: f64,
    change: f64,
    change_low: Option<f64>,
    change_high: Option<f64>,
    superiority: f64,
    p_value: f64,
    assumed_correlation: f64,
    direction: &'static str,
    weight: &'static str,
    first_found_with: Option<usize>,
    causes: Vec<CauseEntry<'a>>,
}

#[derive(Serialize)]
struct CauseEntry<'a> {
    at: usize,
    fact: &'a str,
    before: &'a str,
    after: &'a str,
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
pub fn history_json(history: &History) -> String {
    let document = Document {
        schema: SCHEMA,
        source: &history.source,
        budget: history.budget,
        superiority: history.superiority,
        alpha: history.alpha,
        series: history.series.iter().map(series).collect(),
        warnings: history.warnings.iter().map(warning).collect(),
    };
    let mut json = serde_json::to_string_pretty(&document)
        .expect("a history has only strings and numbers that JSON can express");
    json.push('\n');
    json
}

fn series(series: &HistorySeries) -> SeriesEntry<'_> {
    let changes = &series.changes;
    SeriesEntry {
        name: &series.name,
        about: &series.about,
        metric: &series.metric,
        better: series.better.name(),
        scale: scale(series),
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
        shifts: (0..changes.shifts.len()).map(|at| shift(series, at)).collect(),
        slides: changes
            .slides
            .iter()
            .map(|slide| SlideEntry { from: slide.from, to: slide.to, change: slide.size })
            .collect(),
        modes: changes
            .modes
            .map(|modes| ModesEntry { apart: modes.apart, share_upper: modes.share_upper }),
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

fn shift(series: &HistorySeries, at: usize) -> ShiftEntry<'_> {
    let shift = &series.changes.shifts[at];
    let point = &series.points[shift.first];
    let finite = |value: f64| value.is_finite().then_some(value);
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
        change_low: finite(shift.size.low),
        change_high: finite(shift.size.high),
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

fn scale(series: &HistorySeries) -> &'static str {
    match series.scale {
        ChangeScale::Share => "share",
        ChangeScale::Difference => "difference",
    }
}

fn direction(series: &HistorySeries, shift: &Shift) -> &'static str {
    if series.is_worse(shift) { "worse" } else { "better" }
}

fn cause(cause: &Cause) -> CauseEntry<'_> {
    CauseEntry { at: cause.at, fact: &cause.fact, before: &cause.before, after: &cause.after }
}

fn warning(warning: &Warning) -> WarningEntry<'_> {
    WarningEntry { severity: warning.severity.name(), code: &warning.code, text: &warning.text }
}

/// The facts that changed with a shift, for one column.
fn causes(shift: &ShiftEntry<'_>) -> String {
    let cause =
        |cause: &CauseEntry<'_>| format!("{}: {} → {}", cause.fact, cause.before, cause.after);
    shift.causes.iter().map(cause).collect::<Vec<_>>().join("; ")
}

/// The shifts as CSV, one row each: RFC 4180, the names of the JSON contract.
pub fn history_csv(history: &History) -> String {
    const HEADS: &str = "name,about,metric,better,first,run,version,unix_ms,earliest,latest,before,\
                         after,change,change_low,change_high,superiority,p_value,\
                         assumed_correlation,direction,weight,scale,first_found_with,causes\r\n";
    let mut text = HEADS.to_owned();
    for one in &history.series {
        for at in 0..one.changes.shifts.len() {
            let shift = shift(one, at);
            let optional = |value: Option<f64>| value.map(|value| value.to_string());
            let cells = [
                Some(one.name.clone()),
                Some(one.about.clone()),
                Some(one.metric.clone()),
                Some(one.better.name().to_owned()),
                Some(shift.first.to_string()),
                Some(shift.run.to_owned()),
                Some(shift.version.to_owned()),
                shift.unix_ms.map(|ms| ms.to_string()),
                Some(shift.earliest.to_string()),
                Some(shift.latest.to_string()),
                Some(shift.before.to_string()),
                Some(shift.after.to_string()),
                Some(shift.change.to_string()),
                optional(shift.change_low),
                optional(shift.change_high),
                Some(shift.superiority.to_string()),
                Some(shift.p_value.to_string()),
                Some(shift.assumed_correlation.to_string()),
                Some(shift.direction.to_owned()),
                Some(shift.weight.to_owned()),
                Some(scale(one).to_owned()),
                shift.first_found_with.map(|values| values.to_string()),
                Some(causes(&shift)),
            ];
            text.push_str(&crate::csv::line(cells.map(Option::unwrap_or_default).into()));
        }
    }
    text
}
