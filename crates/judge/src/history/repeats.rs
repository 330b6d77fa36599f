//! Rows that stand in a file more than once, and runs that have several rows.
//!
//! ```text
//!   2026-01-03 02:00:07  a1b2  1043.7    an export that was added to itself, or two that overlap:
//!   2026-01-03 02:00:07  a1b2  1043.7    one run, and no two that agree to the last digit
//! ```
//!
//! Two values that are equal tell of no noise, so that everything is a change or, where neighbours
//! resemble each other that much, nothing is. A row is the same run where all of its cells are the
//! same, and something shows that it is no chance: a column that tells the moment, or that every
//! row is there as often as every other one.
//!
//! ```text
//!   2026-01-03  a1b2  1043.7    repeats of one run: what is new with a commit is in all of them,
//!   2026-01-03  a1b2  1039.2    and so is what that day was like
//!   2026-01-03  a1b2  1041.0    ─▶ one value, their median
//! ```
//!
//! Rows of one moment and one commit resemble each other more than those of the next one do: taken
//! as runs by themselves, each commit would be a level of its own.

use std::collections::{HashMap, HashSet};

use dbdyno_model::{Severity, Warning};
use dbdyno_stats::median;

use super::table::Table;
use super::when;

/// Of fewer rows nothing shows that they were copied.
const ROWS_LEAST: usize = 6;

/// The rows of each run of a series, by their places in it: those of one moment and one version, or
/// of one moment where it is that of a run. `rows` are in the order of time, `keys` the moments of
/// all rows.
pub(super) fn rows_by_run(
    table: &Table<'_>,
    rows: &[usize],
    keys: &[i64],
    version: Option<usize>,
) -> Vec<Vec<usize>> {
    let mut runs: Vec<Vec<usize>> = Vec::with_capacity(rows.len());
    // Where the runs of the moment begin: those of two versions may take turns.
    let mut begin = 0;
    for (at, &row) in rows.iter().enumerate() {
        let run_version = version.map_or("", |column| table.cell(row, column));
        if run_version.is_empty() && !table.has_moments_of_runs {
            runs.push(vec![at]);
            continue;
        }
        if at > 0 && keys[rows[at - 1]] != keys[row] {
            begin = runs.len();
        }
        let mut of_moment = runs[begin..].iter_mut();
        let same = of_moment.find(|run| {
            version.map_or("", |column| table.cell(rows[run[0]], column)) == run_version
        });
        match same {
            Some(run) => run.push(at),
            None => runs.push(vec![at]),
        }
    }
    runs
}

/// The median of what rows of a run have.
pub(super) fn median_value(run: &[usize], values: &[Option<f64>]) -> Option<f64> {
    let told: Vec<f64> = run.iter().filter_map(|&at| values[at]).collect();
    median(&told)
}

/// That rows are repeats, where some are.
pub(super) fn repeats_note(runs: &[Vec<usize>]) -> Option<Warning> {
    let rows: usize = runs.iter().map(Vec::len).sum();
    let text = format!(
        "{rows} rows are repeats of {} runs, by their moment and, where it is \
         told, their version: each run counts once, with the median.",
        runs.len()
    );
    (rows > runs.len()).then(|| Warning::new(Severity::Note, "repeats", text))
}

/// Leaves all but the first of such rows out; the table says so.
pub(super) fn leave_out(table: &mut Table<'_>) {
    let mut counts: HashMap<&[String], usize> = HashMap::new();
    for row in &table.rows {
        *counts.entry(&row.cells).or_default() += 1;
    }
    let (count, most) = (counts.len(), counts.values().copied().max().unwrap_or(0));
    if most < 2 || !(is_by_moments(table, &counts) || is_even(table, &counts, most)) {
        return;
    }
    let mut known = HashSet::new();
    let kept: Vec<bool> = table.rows.iter().map(|row| known.insert(&row.cells)).collect();
    let mut kept = kept.into_iter();
    let before = table.rows.len();
    table.rows.retain(|_| kept.next().unwrap_or(true));
    let often = if before == most * count { format!(" {most} times each") } else { String::new() };
    table.passed_over.push(format!(
        "{} of {before} rows are the same as others, down to the time and every figure{often}: each \
         counts once.",
        before - count
    ));
}

/// Whether a column tells the moment of each row, and not only the day, and no two rows that differ
/// in figures alone have the same: requests of one second may well take as long as each other.
fn is_by_moments(table: &Table<'_>, counts: &HashMap<&[String], usize>) -> bool {
    let columns = 0..table.header.len();
    let words: Vec<usize> = columns.filter(|&column| !table.is_numeric(column)).collect();
    let names: HashSet<Vec<String>> =
        counts.keys().map(|cells| words.iter().map(|&at| cells[at].clone()).collect()).collect();
    counts.len() >= ROWS_LEAST
        && names.len() == counts.len()
        && words.iter().any(|&column| {
            table.cells(column).all(|cell| cell.contains(':') && when::parse(cell).is_some())
        })
}

/// Whether every row is there as often as every other one, and a column tells them all apart.
fn is_even(table: &Table<'_>, counts: &HashMap<&[String], usize>, most: usize) -> bool {
    counts.len() >= ROWS_LEAST
        && counts.values().all(|count| *count == most)
        && table.header.len() > 1
        && (0..table.header.len()).any(|column| {
            let names: HashSet<&String> = counts.keys().map(|cells| &cells[column]).collect();
            names.len() == counts.len()
        })
}

#[cfg(test)]
mod tests {
    use super::super::HistoryQuestion;
    use super::super::csv;
    use super::super::file::of_file;
    use super::*;

    fn rows_left(text: &str) -> (usize, bool) {
        let mut table = csv::read("a.csv", text).unwrap();
        leave_out(&mut table);
        (table.rows.len(), !table.passed_over.is_empty())
    }

    #[test]
    fn copies_of_a_run_count_once_and_runs_that_agree_stay() {
        let rows = |line: fn(usize) -> String, count: usize| -> Vec<String> {
            (0..count).map(line).collect()
        };
        let moments = rows(|at| format!("2026-01-{:02} 02:00:07,{}\n", at + 1, 1000 + at), 12);
        let days = rows(|at| format!("2026-01-{:02},{}\n", at / 3 + 1, 12 + at % 2), 12);
        let apart = rows(|at| format!("2026-01-{:02},{}\n", at + 1, 1000 + at), 12);
        let head = "date,ms\n";
        let doubled: String = moments.iter().flat_map(|line| [line.as_str(), line]).collect();
        assert_eq!(rows_left(&format!("{head}{doubled}")), (12, true));
        let overlapping = [&moments[..8], &moments[5..]].concat().concat();
        assert_eq!(rows_left(&format!("{head}{overlapping}")), (12, true));
        let twice = [&apart[..], &apart].concat().concat();
        assert_eq!(rows_left(&format!("{head}{twice}")), (12, true));
        assert_eq!(
            rows_left(&format!("{head}{}", days.concat())),
            (12, false),
            "whole ms of a day"
        );
        assert_eq!(rows_left(&format!("{head}{}", moments.concat())), (12, false));
        let requests = rows(|at| format!("2026-01-01 02:00:{:02},{}\n", at / 4, at % 3), 24);
        assert_eq!(rows_left(&format!("{head}{}", requests.concat())), (24, false), "one second");
    }

    /// Ten rows of each of eight commits, which differ by more than their rows do: each was a
    /// level, and most such files alarmed.
    /// Google Benchmark tells the date of a run, and a row for each of its repetitions.
    #[test]
    fn repetitions_of_google_benchmark_are_one_run() {
        let mut text = String::new();
        for day in 1..=24 {
            let mut rows = Vec::new();
            for repetition in 0..4 {
                let time = 100 + 7 * (day * 5 % 8) + repetition;
                rows.push(format!(
                    "{{\"name\": \"BM\", \"run_type\": \"iteration\", \"repetitions\": 4, \
                     \"repetition_index\": {repetition}, \"iterations\": 9, \"real_time\": {time}, \
                     \"time_unit\": \"ns\"}}"
                ));
            }
            text += &format!(
                "{{\"context\": {{\"date\": \"2026-01-{day:02}T00:00:00+00:00\"}}, \
                 \"benchmarks\": [{}]}}\n",
                rows.join(", ")
            );
        }
        let question = HistoryQuestion::of_figures(&["real_time"]);
        let series = of_file("a.json", &text, &question).unwrap().series.remove(0);
        let values: Vec<f64> = series.points.iter().map(|point| point.value).take(3).collect();
        assert_eq!((series.points.len(), values), (24, vec![136.5, 115.5, 150.5]));
        assert!(series.warnings.iter().any(|one| one.code == "repeats"));
    }

    #[test]
    fn rows_of_one_moment_and_commit_are_one_run() {
        let text = |tells_commits: bool| {
            let mut text = "date,commit,lat_ms\n".to_owned();
            for commit in 0..8_i32 {
                for repeat in 0..10 {
                    let value = 100 + 5 * (commit * 5 % 8) + (repeat * 7 % 10);
                    let hash = if tells_commits { format!("c{commit:06x}") } else { String::new() };
                    text += &format!("2026-01-{:02},{hash},{value}\n", commit + 1);
                }
            }
            text
        };
        let of = |text: &str| of_file("a.csv", text, &HistoryQuestion::of_figures(&[])).unwrap();
        let series = of(&text(true)).series.remove(0);
        let values: Vec<f64> = series.points.iter().map(|point| point.value).collect();
        assert_eq!(values, [104.5, 129.5, 114.5, 139.5, 124.5, 109.5, 134.5, 119.5]);
        assert!(series.changes.shifts.is_empty());
        let note = series.warnings.iter().find(|one| one.code == "repeats").unwrap();
        assert!(note.text.starts_with("80 rows are repeats of 8 runs"), "{}", note.text);
        let series = of(&text(false)).series.remove(0);
        assert_eq!(series.points.len(), 80, "no version tells which rows are of one run");
        let turns = "date,commit,ms\n2026-01-01,a,1\n2026-01-01,b,5\n2026-01-01,a,3\n\
                     2026-01-02,a,\n2026-01-02,a,8\n";
        let series = of(turns).series.remove(0);
        let values: Vec<f64> = series.points.iter().map(|point| point.value).collect();
        assert_eq!(values, [2.0, 5.0, 8.0]);
    }
}
