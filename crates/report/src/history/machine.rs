//! A history for programs; the names are a contract.

use dbdyno_model::{BenchmarkHistory, Cause, ChangeScale, HistorySeries, NullKind, Shift, Warning};
use serde::Serialize;

use super::e_divisive;

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
    if series.is_worse(shift.size.estimate) { "worse" } else { "better" }
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

/// The shifts as CSV, one row each, and one for each series without any: RFC 4180, the names of the
/// JSON contract.
pub fn history_csv(history: &BenchmarkHistory) -> String {
    const HEADS: &str = "name,about,metric,better,first,run,version,unix_ms,earliest,latest,before,\
                         after,change,change_low,change_high,superiority,p_value,\
                         assumed_correlation,direction,weight,scale,first_found_with,causes,\
                         warnings,e_divisive\r\n";
    let mut text = HEADS.to_owned();
    for one in &history.series {
        let codes = codes(one, history);
        for (at, beside) in e_divisive::shifts(one).into_iter().enumerate() {
            text.push_str(&dbdyno_document::csv::line(row(
                one,
                Some(&shift(one, at)),
                &codes,
                beside,
            )));
        }
        // What no change was found in may be too short to show one, and is not passed over.
        if one.changes.shifts.is_empty() {
            text.push_str(&dbdyno_document::csv::line(row(one, None, &codes, None)));
        }
    }
    text
}

/// The codes of what is to be known of a series and of the whole, each once.
fn codes(series: &HistorySeries, history: &BenchmarkHistory) -> String {
    let mut codes: Vec<&str> = Vec::new();
    for warning in series.warnings.iter().chain(&history.warnings) {
        if !codes.contains(&warning.code.as_str()) {
            codes.push(&warning.code);
        }
    }
    codes.join(";")
}

/// The row of a shift, or of a series that has none.
fn row(
    series: &HistorySeries,
    shift: Option<&ShiftEntry<'_>>,
    codes: &str,
    beside: Option<usize>,
) -> Vec<String> {
    let of = |cell: &dyn Fn(&ShiftEntry<'_>) -> String| shift.map(cell).unwrap_or_default();
    let optional = |value: Option<f64>| value.map_or(String::new(), |value| value.to_string());
    vec![
        series.name.clone(),
        series.about.clone(),
        series.metric.clone(),
        series.better.name().to_owned(),
        of(&|shift| shift.first.to_string()),
        of(&|shift| shift.run.to_owned()),
        of(&|shift| shift.version.to_owned()),
        of(&|shift| shift.unix_ms.map_or(String::new(), |ms| ms.to_string())),
        of(&|shift| shift.earliest.to_string()),
        of(&|shift| shift.latest.to_string()),
        of(&|shift| shift.before.to_string()),
        of(&|shift| shift.after.to_string()),
        of(&|shift| shift.change.to_string()),
        of(&|shift| optional(shift.change_low)),
        of(&|shift| optional(shift.change_high)),
        of(&|shift| shift.superiority.to_string()),
        of(&|shift| shift.p_value.to_string()),
        of(&|shift| shift.assumed_correlation.to_string()),
        of(&|shift| shift.direction.to_owned()),
        of(&|shift| shift.weight.to_owned()),
        scale(series).to_owned(),
        of(&|shift| shift.first_found_with.map_or(String::new(), |values| values.to_string())),
        of(&causes),
        codes.to_owned(),
        beside.map_or(String::new(), |first| first.to_string()),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::sample;

    /// What a warning or another method says of a series is in its rows, whatever was found.
    #[test]
    fn every_series_has_a_row_with_its_warnings() {
        let mut changed = sample::series(40, &[20], Some(&[18, 33]));
        changed.warnings = vec![sample::warning("slides"), sample::warning("slides")];
        let mut quiet = sample::series(10, &[], Some(&[5]));
        quiet.warnings = vec![sample::warning("two-modes"), sample::warning("too-short")];
        let whole = vec![sample::warning("left-out"), sample::warning("too-short")];
        let csv = history_csv(&sample::history(vec![changed, quiet], whole));
        let rows: Vec<Vec<&str>> = csv.lines().map(|line| line.split(',').collect()).collect();
        let [heads, of_changed, of_quiet] = &rows[..] else { panic!("{csv}") };
        assert_eq!((heads.len(), of_changed.len(), of_quiet.len()), (25, 25, 25), "{csv}");
        let cell = |row: &[&str], head: &str| {
            let at = heads.iter().position(|one| *one == head).unwrap();
            row[at].to_owned()
        };
        assert_eq!(cell(of_changed, "first"), "20");
        assert_eq!(cell(of_changed, "warnings"), "slides;left-out;too-short");
        assert_eq!(cell(of_changed, "e_divisive"), "18");
        assert_eq!(cell(of_quiet, "warnings"), "two-modes;too-short;left-out");
        assert_eq!(cell(of_quiet, "name"), "qps");
        assert_eq!(cell(of_quiet, "scale"), "share");
        for head in ["first", "run", "change", "weight", "causes", "e_divisive"] {
            assert_eq!(cell(of_quiet, head), "", "{head}");
        }
    }
}
