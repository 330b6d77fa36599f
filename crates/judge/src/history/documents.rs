//! Cells from what known tools write: a field of another kind than the tool's is refused.
//!
//! ```text
//!   Google Benchmark         a benchmark ─▶ times, rates, whether it failed
//!   pytest-benchmark         a benchmark ─▶ median and mean
//!   pyperf                   a benchmark ─▶ the median of what its processes have measured
//!   asv                      a benchmark ─▶ a value for each combination of parameters
//!   github-action-benchmark  a run       ─▶ a row for each bench
//!   Prometheus               a series    ─▶ labels, and a moment and a value for each sample
//! ```

use serde_json::Value;

use super::counters::{GOOGLE_FIGURES, extra_info, google_counters, parameter_combinations};
use super::kinds::{
    cell_at, kind_refusal, list_at, number_at, object_at, text_at, text_of, truth_at, with_unit,
};
use super::namesakes::Namesakes;
use super::table;
use super::when::{self, Moment};

/// A commit is known by so many letters.
pub(super) const COMMIT_LETTERS: usize = 12;
/// What Google Benchmark says of a run that failed or was left out.
const GOOGLE_FAILURES: [&str; 2] = ["error_occurred", "skipped"];
/// Why it failed or was left out.
const GOOGLE_MESSAGES: [&str; 2] = ["error_message", "skip_message"];
/// Tools of github-action-benchmark of which more is better, as its own charts have it.
const BIGGER_IS_BETTER: [&str; 2] = ["benchmarkjs", "pytest"];

/// So many runs, and such a share of them, whose commit is older than that of some run before, make
/// another order.
const BEHIND_LEAST: usize = 3;
const BEHIND_SHARE: f64 = 0.1;

/// Columns and what stands there.
pub(super) type NamedCells = Vec<(String, String)>;

/// What Google Benchmark tells of one benchmark, and its counters.
///
/// # Errors
/// A field of another kind than the form has there.
pub(super) fn google_cells(bench: &Value) -> Result<(NamedCells, NamedCells), String> {
    let mut cells = Vec::new();
    for name in GOOGLE_FAILURES {
        cells.extend(truth_at(bench, name)?.map(|is| (name.to_owned(), is.to_string())));
    }
    for name in GOOGLE_MESSAGES {
        cells.extend(cell_at(bench, name)?.map(|message| (name.to_owned(), message)));
    }
    // A run of no iterations has times of 0.
    let has_run = number_at(bench, "iterations")? != Some(0.0);
    let time_unit = text_at(bench, "time_unit")?.unwrap_or_default();
    for figure in GOOGLE_FIGURES {
        let Some(value) = cell_at(bench, figure)? else { continue };
        let unit = if figure.ends_with("_time") { time_unit.as_str() } else { "" };
        let cell = if has_run { with_unit(&value, unit) } else { String::new() };
        cells.push((figure.to_owned(), cell));
    }
    let mut counters = google_counters(bench);
    if !has_run {
        counters.iter_mut().for_each(|(_, cell)| cell.clear());
    }
    Ok((cells, counters))
}

/// What pytest-benchmark tells of one benchmark, and what its owner does.
///
/// # Errors
/// A field of another kind than the form has there.
pub(super) fn pytest_cells(bench: &Value) -> Result<(NamedCells, NamedCells), String> {
    let mut cells = Vec::new();
    let statistics = object_at(bench, "stats")?;
    for figure in ["median", "mean"] {
        let value = cell_at(statistics, figure)?;
        cells.extend(value.map(|value| (figure.to_owned(), with_unit(&value, "s"))));
    }
    Ok((cells, extra_info(bench)))
}

/// The rows of a run of github-action-benchmark, one for each of its benches; none if it has none.
///
/// # Errors
/// A field of another kind than the form has there.
pub(super) fn entry_rows(
    suite: &str,
    run: &Value,
    namesakes: &Namesakes,
) -> Result<Vec<NamedCells>, String> {
    if !run.is_object() {
        return Err(kind_refusal("entries", run, "object with benches"));
    }
    if run.get("benches").is_none() {
        return Err("it has no \"benches\"".to_owned());
    }
    let better = match text_at(run, "tool")?.unwrap_or_default().as_str() {
        "customBiggerIsBetter" => table::BIGGER,
        "customSmallerIsBetter" => table::SMALLER,
        tool if BIGGER_IS_BETTER.contains(&tool) => table::HIGHER,
        _ => table::LOWER,
    };
    let date = cell_at(run, "date")?.unwrap_or_default();
    let commit = cell_at(object_at(run, "commit")?, "id")?.unwrap_or_default();
    let commit: String = commit.chars().take(COMMIT_LETTERS).collect();
    let mut rows = Vec::new();
    for bench in list_at(run, "benches")? {
        if !bench.is_object() {
            return Err(kind_refusal("benches", bench, "object with a name"));
        }
        let unit = text_at(bench, "unit")?.unwrap_or_default();
        // Some tools write a second figure behind the unit.
        let unit = unit.split(['\t', '\n']).next().unwrap_or_default().trim();
        let (kind, unit) = kind_and_unit(unit);
        let mut name = namesakes.bench_name(cell_at(bench, "name")?.unwrap_or_default(), bench);
        if !name.contains(&kind) {
            name = format!("{name} {kind}");
        }
        let cells = [
            ("date", date.clone()),
            ("commit", commit.clone()),
            ("suite", suite.to_owned()),
            ("bench", name),
            ("value", cell_at(bench, "value")?.unwrap_or_default()),
            ("unit", unit),
            ("better", better.to_owned()),
        ];
        rows.push(cells.map(|(name, cell)| (name.to_owned(), cell)).to_vec());
    }
    Ok(rows)
}

/// What Go's `ReportMetric` writes into one word, as `p99_ms/op`: what is measured, which may be
/// nothing, and its unit.
fn kind_and_unit(unit: &str) -> (String, String) {
    let unit = unit.replace("_per_", "/");
    match unit.rsplit_once(['_', '-']) {
        Some((kind, own)) if own.starts_with(|c: char| c.is_alphabetic() || c == '%') => {
            (kind.to_owned(), own.to_owned())
        }
        _ => (String::new(), unit),
    }
}

/// When the commit of a run was made.
pub(super) fn commit_time(run: &Value) -> Option<&str> {
    Some(run.get("commit")?.get("timestamp")?.as_str()?.trim())
}

/// Whether the runs of a suite were measured in quite another order than that of their commits: a
/// branch that is merged has a few commits that are older than those before.
pub(super) fn are_commits_at_odds(runs: &[Value]) -> bool {
    let times = runs.iter().map(|run| {
        let date = run.get("date")?.as_f64()?;
        let Moment::At(at) = when::parse(commit_time(run)?)? else { return None };
        Some((date, at))
    });
    let Some(mut times) = times.collect::<Option<Vec<(f64, i64)>>>() else { return false };
    times.sort_by(|one, other| one.0.total_cmp(&other.0));
    let mut latest = i64::MIN;
    let behind = times.iter().filter(|(_, time)| {
        latest = latest.max(*time);
        *time < latest
    });
    let behind = behind.count();
    behind >= BEHIND_LEAST && behind as f64 > BEHIND_SHARE * times.len() as f64
}

/// What pyperf tells of one benchmark: the median of what all its processes have measured, blank
/// where none has measured anything.
///
/// # Errors
/// A field of another kind than the form has there.
pub(super) fn pyperf_cells(document: &Value, bench: &Value) -> Result<NamedCells, String> {
    let (own, whole) = (object_at(bench, "metadata")?, object_at(document, "metadata")?);
    let told = |name: &str| match cell_at(own, name)? {
        None => cell_at(whole, name),
        cell => Ok(cell),
    };
    let runs = list_at(bench, "runs")?;
    let (mut date, mut values) = (None, Vec::new());
    for (index, run) in runs.iter().enumerate() {
        let at = |what| format!("run {}: {what}", index + 1);
        let of_run = object_at(run, "metadata").and_then(|about| cell_at(about, "date"));
        date = date.or(of_run.map_err(at)?);
        // A run that calibrates the next ones has none.
        for value in list_at(run, "values").map_err(at)? {
            let number = value.as_f64();
            values.push(number.ok_or_else(|| at(kind_refusal("values", value, "number")))?);
        }
    }
    let Some(date) = date.map_or_else(|| told("date"), |date| Ok(Some(date)))? else {
        return Err("this is of pyperf, and none of its runs tells its date; write a line \
                    {\"date\": …, \"mean\": …} for each run"
            .to_owned());
    };
    let unit = match text_at(own, "unit")? {
        None => text_at(whole, "unit")?,
        unit => unit,
    };
    let unit = match unit.as_deref() {
        None | Some("second") => "s",
        Some(other) => other,
    };
    let median = dbdyno_stats::median(&values);
    let cells = [
        ("date", date),
        ("bench", told("name")?.unwrap_or_default()),
        ("host", told("hostname")?.unwrap_or_default()),
        ("median", median.map_or_else(String::new, |median| format!("{median} {unit}"))),
    ];
    Ok(cells.map(|(name, cell)| (name.to_owned(), cell)).to_vec())
}

/// The values of one benchmark of asv, one for each combination of its parameters.
///
/// # Errors
/// A field of another kind than the form has there.
pub(super) fn asv_values(name: &str, result: &Value) -> Result<Vec<String>, String> {
    // The first column has the results.
    let values = match result {
        Value::Array(columns) => columns.first().cloned().unwrap_or_default(),
        other => other.get("result").cloned().unwrap_or_else(|| other.clone()),
    };
    let values = match values {
        Value::Array(values) => values,
        // A benchmark that fails has nothing for any of its parameters.
        Value::Null => vec![Value::Null; parameter_combinations(result)],
        one => vec![one],
    };
    let cells = values.iter().map(|value| match value {
        Value::Null => Ok(String::new()),
        // One that was skipped has NaN, which is written as a blank.
        Value::String(text) if text.is_empty() => Ok(String::new()),
        Value::Number(number) => Ok(number.to_string()),
        other => Err(kind_refusal(name, other, "number")),
    });
    cells.collect()
}

/// The name of a series of Prometheus, with its labels.
///
/// # Errors
/// A field of another kind than the form has there.
pub(super) fn prometheus_labels(series: &Value) -> Result<String, String> {
    let labels = object_at(series, "metric")?;
    let (mut name, mut told) = (String::new(), Vec::new());
    for (label, _) in labels.as_object().into_iter().flatten() {
        let value = text_at(labels, label)?.unwrap_or_default();
        match label.as_str() {
            "__name__" => name = value,
            label => told.push(format!("{label}={value:?}")),
        }
    }
    Ok(if told.is_empty() { name } else { format!("{name}{{{}}}", told.join(",")) })
}

/// A sample of Prometheus: seconds since 1970, and what was measured then.
///
/// # Errors
/// A field of another kind than the form has there.
pub(super) fn prometheus_sample(sample: &Value) -> Result<(f64, String), String> {
    let seconds = sample.get(0).and_then(Value::as_f64);
    let value = sample.get(1).and_then(text_of);
    seconds.zip(value).ok_or_else(|| kind_refusal("values", sample, "pair of a time and a value"))
}

/// What a benchmark is called; of pytest's, with the file that it stands in.
///
/// # Errors
/// A field of another kind than the form has there.
pub(super) fn bench_name(bench: &Value) -> Result<String, String> {
    if !bench.is_object() {
        return Err(kind_refusal("benchmarks", bench, "object with a name"));
    }
    match cell_at(bench, "fullname")? {
        None => Ok(cell_at(bench, "name")?.unwrap_or_default()),
        Some(name) => Ok(name),
    }
}
