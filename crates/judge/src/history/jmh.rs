//! What the columns and rows of JMH are of.
//!
//! ```text
//!   Benchmark            Mode   Score  Score Error (99.9%)  Unit
//!   o.B.m                thrpt   1000                  9.1  ops/s    the mode is of this score
//!   o.B.m:gc.count       thrpt     60                       counts   and of no profiler's
//!                                      └ how far scores scatter: no figure
//! ```
//!
//! In JSON they are `primaryMetric.score` and `secondaryMetrics.gc.count.score`, each with a
//! `scoreError` and `scorePercentiles`. A group of threads has rows such as `o.B.g:read`, too.

use super::table::Table;

/// The column of the mode.
const MODE: &str = "mode";
/// What stands before the name of a second metric in JSON.
const SECOND: &str = "secondarymetrics.";

/// What a column of JMH has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum JmhColumn {
    /// What the mode says, in all rows that are of no second metric.
    Score,
    /// A second metric of this name.
    Second(String),
    /// A place in the distribution of scores.
    Percentile,
    /// How far scores scatter.
    Error,
}

/// Whether a table has the columns of JMH's.
pub(super) fn is_table(table: &Table<'_>) -> bool {
    ["benchmark", MODE, "score"].iter().all(|name| table.column(name).is_some())
}

/// What a column has, where the table is of JMH.
pub(super) fn column(table: &Table<'_>, column: usize) -> Option<JmhColumn> {
    table.column(MODE)?;
    let head = table.header[column].to_lowercase();
    let last = head.rsplit('.').next().unwrap_or_default();
    let is_error = last == "scoreerror" || last == "error" || head.starts_with("score error");
    if is_error && has_score(table) {
        return Some(JmhColumn::Error);
    }
    if head.contains("scorepercentiles") {
        return Some(JmhColumn::Percentile);
    }
    if last != "score" {
        return None;
    }
    match head.strip_prefix(SECOND).and_then(|rest| rest.strip_suffix(".score")) {
        Some(name) => Some(JmhColumn::Second(plain(name))),
        None => Some(JmhColumn::Score),
    }
}

fn has_score(table: &Table<'_>) -> bool {
    table.header.iter().any(|head| {
        let head = head.to_lowercase();
        head == "score" || head.ends_with(".score")
    })
}

/// The second metric that all of these rows are of.
pub(super) fn second_of_rows(table: &Table<'_>, rows: &[usize]) -> Option<String> {
    let bench = table.column("benchmark")?;
    let mut names = rows.iter().map(|&row| table.cell(row, bench).rsplit_once(':'));
    let (_, first) = names.next()??;
    names.all(|name| name.is_some_and(|(_, name)| name == first)).then(|| plain(first))
}

/// A name without the point that marks what a profiler has measured.
fn plain(name: &str) -> String {
    name.trim_start_matches(['·', ' ']).to_owned()
}
