//! What benchmarks tell beside their times, and which of them tell nothing.
//!
//! ```text
//!   Google Benchmark   "allocs_per_iter": 2.5      a counter stands beside what is always there
//!   pytest-benchmark   "extra_info": {"mb": 12}    each number is a figure
//!   asv                "b.time_x": [null, [[…]]]   failed, for each combination of parameters
//! ```

use std::collections::BTreeSet;

use serde_json::Value;

use super::table::Table;
use super::{cells, dimensions, words};

/// What Google Benchmark measures; the rest says how.
pub(super) const GOOGLE_FIGURES: [&str; 4] =
    ["real_time", "cpu_time", "items_per_second", "bytes_per_second"];
/// What it says of how a benchmark was run, and of the growth that it fits to several.
const GOOGLE_SETTINGS: [&str; 11] = [
    "family_index",
    "per_family_instance_index",
    "repetitions",
    "repetition_index",
    "threads",
    "thread_index",
    "iterations",
    "time_unit",
    "cpu_coefficient",
    "real_coefficient",
    "rms",
];
/// Columns that each benchmark has.
const COLUMNS_OF_BENCHMARKS: [&str; 4] = ["date", "bench", "host", "commit"];
/// Combinations of parameters of one benchmark of asv, at most.
const COMBINATIONS_MOST: usize = 10_000;

/// The counters of a benchmark of Google's, whatever they count: numbers beside what it always
/// says.
pub(super) fn google_counters(bench: &Value) -> Vec<(String, String)> {
    let mut counters = Vec::new();
    for (name, value) in bench.as_object().into_iter().flatten() {
        let own = name.as_str();
        if GOOGLE_FIGURES.contains(&own) || GOOGLE_SETTINGS.contains(&own) {
            continue;
        }
        let Some(cell) = figure_cell(own, value) else { continue };
        let is_taken = COLUMNS_OF_BENCHMARKS.contains(&own);
        let name = if is_taken { format!("counter {name}") } else { name.clone() };
        counters.push((name, cell));
    }
    counters
}

/// The numbers that a benchmark of pytest has in its `extra_info`.
pub(super) fn extra_info(bench: &Value) -> Vec<(String, String)> {
    let told = bench.get("extra_info").and_then(Value::as_object).into_iter().flatten();
    let numbers = told.filter_map(|(name, value)| Some((name, figure_cell(name, value)?)));
    numbers.map(|(name, cell)| (format!("extra_info.{name}"), cell)).collect()
}

/// A number, or a text of one, as programs write that have formatted it before; versions and what
/// else names a run have numbers as well, and are none.
fn figure_cell(name: &str, value: &Value) -> Option<String> {
    match value {
        Value::Number(number) => Some(number.to_string()),
        Value::String(text) if cells::is_number(text) => (!words::is_of_label(name)
            && !dimensions::is_of_environment(name))
        .then(|| text.clone()),
        _ => None,
    }
}

/// Leaves out the benchmarks of asv that have no value in any of the files: most are skipped on
/// purpose, for parameters that do not fit.
pub(super) fn without_skipped(table: &mut Table<'_>) {
    let (Some(bench), Some(value)) = (table.column("bench"), table.column("value")) else { return };
    let rows = table.rows.iter().filter(|row| !row.cells[value].is_empty());
    let known: BTreeSet<String> = rows.map(|row| row.cells[bench].clone()).collect();
    if !known.is_empty() {
        table.rows.retain(|row| known.contains(&row.cells[bench]));
    }
}

/// How many combinations of parameters a benchmark of asv has: of each parameter there is a list.
pub(super) fn parameter_combinations(result: &Value) -> usize {
    let parameters = match result {
        Value::Array(columns) => columns.get(1),
        other => other.get("params"),
    };
    let lists = parameters.and_then(Value::as_array).into_iter().flatten();
    let counts = lists.filter_map(|list| list.as_array().map(Vec::len));
    counts.fold(1_usize, usize::saturating_mul).clamp(1, COMBINATIONS_MOST)
}
