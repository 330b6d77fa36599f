//! Rows that stand in a file more than once.
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

use std::collections::{HashMap, HashSet};

use super::table::Table;
use super::when;

/// Of fewer rows nothing shows that they were copied.
const ROWS_LEAST: usize = 6;

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
    use super::super::csv;
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
}
