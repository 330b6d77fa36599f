//! Columns of numbers that a script goes through, and that nothing has measured.
//!
//! ```text
//!   10:00 nodes 3   40 ms       3, 6, 12, and again: each of them is a series, although no two
//!   10:01 nodes 6   20 ms       rows have one time, and no name says that nodes were asked for
//!   10:02 nodes 12  10 ms
//!   10:03 nodes 3   39 ms
//! ```
//!
//! Numbers that were measured do not come in the same order again and again, each equally often. A
//! counter of something else may, so that a figure must hang on them, too: within one of them it
//! varies by half as much as among all, or less.

use std::collections::BTreeMap;

use dbdyno_stats::median;

use super::alike::{cells_of_groups, values_of};
use super::cells::{self, DecimalMark};
use super::order::Order;
use super::table::{Table, is_blank};
use super::words;

/// Words of names of columns whose numbers go round with the time.
const CALENDAR: [&str; 9] =
    ["dow", "weekday", "day", "week", "month", "quarter", "hour", "minute", "second"];
/// Of fewer stretches nobody knows whether they go round.
const STRETCHES_LEAST: usize = 12;
/// And of fewer rounds.
const ROUNDS_LEAST: usize = 3;
/// Nearly all, as some rows may be missing.
const NEARLY_ALL: f64 = 0.9;
/// So much of what a figure varies by is left within one of the numbers, at most.
const LEFT_MOST: f64 = 0.5;

/// Whether the numbers of a column go round among the rows that are alike in all that parts
/// already, and one of these figures hangs on them.
pub(super) fn is_gone_through(
    table: &Table<'_>,
    order: &Order,
    parting: &[usize],
    column: usize,
    figures: &[usize],
) -> bool {
    if words::name_words(&table.header[column])
        .iter()
        .any(|word| CALENDAR.contains(&word.trim_end_matches('s')))
    {
        return false;
    }
    let groups = cells_of_groups(table, order, parting, column);
    let rows: usize = groups.values().filter(|cells| go_round(cells)).map(Vec::len).sum();
    let mut others =
        figures.iter().copied().filter(|&figure| figure != column && !parting.contains(&figure));
    is_nearly_all(rows, table.rows.len())
        && others.any(|figure| hangs_on(table, parting, column, figure))
}

/// Whether some are nine of ten of all, or more.
pub(super) fn is_nearly_all(some: usize, all: usize) -> bool {
    some as f64 >= NEARLY_ALL * all as f64
}

/// Whether values come one after the other, each equally often, and begin again.
fn go_round(cells: &[&str]) -> bool {
    let stretches: Vec<&[&str]> = cells.chunk_by(|one, other| one == other).collect();
    let mut lengths: Vec<usize> = stretches.iter().map(|stretch| stretch.len()).collect();
    lengths.sort_unstable();
    let Some(&usual) = lengths.get(lengths.len() / 2) else { return false };
    let of_usual = lengths.iter().filter(|length| **length == usual).count();
    if lengths.len() < STRETCHES_LEAST || !is_nearly_all(of_usual, lengths.len()) {
        return false;
    }
    let mut firsts: BTreeMap<&str, usize> = BTreeMap::new();
    let mut places = Vec::with_capacity(stretches.len());
    for stretch in &stretches {
        let next = firsts.len();
        places.push(*firsts.entry(stretch[0]).or_insert(next));
    }
    let rounds: Vec<&[usize]> = places.chunk_by(|one, other| one < other).collect();
    let Some((last, before)) = rounds.split_last() else { return false };
    let whole = before.iter().filter(|round| round.len() == firsts.len()).count();
    before.len() + usize::from(last.len() == firsts.len()) >= ROUNDS_LEAST
        && is_nearly_all(whole, before.len())
}

/// Whether a figure varies by half as much or less where the values of a column are told apart.
fn hangs_on(table: &Table<'_>, parting: &[usize], column: usize, figure: usize) -> bool {
    let cells: Vec<Option<&str>> =
        table.cells(figure).map(|cell| Some(cell).filter(|cell| !is_blank(cell))).collect();
    let read = cells::values(&cells, DecimalMark::Point)
        .or_else(|_| cells::values(&cells, DecimalMark::Comma));
    let Ok(values) = read else { return false };
    let apart = [parting, &[column]].concat();
    let spread_apart = spread_within(table, &apart, &values.of_rows);
    let spread = spread_within(table, parting, &values.of_rows);
    spread_apart.zip(spread).is_some_and(|(apart, all)| all > 0.0 && apart <= LEFT_MOST * all)
}

/// The median distance of values from the median of the rows that are alike in some columns.
fn spread_within(table: &Table<'_>, alike: &[usize], values: &[Option<f64>]) -> Option<f64> {
    let mut groups: BTreeMap<_, Vec<f64>> = BTreeMap::new();
    for (row, value) in values.iter().enumerate() {
        groups.entry(values_of(table, alike, row)).or_default().extend(*value);
    }
    let mut distances = Vec::with_capacity(values.len());
    for of_group in groups.values() {
        let Some(middle) = median(of_group) else { continue };
        distances.extend(of_group.iter().map(|value| (value - middle).abs()));
    }
    median(&distances)
}

#[cfg(test)]
mod tests {
    use super::super::HistoryQuestion;
    use super::super::file::of_file;

    /// Names of the series of nights on which each of `first` is run with each of `second`, one row
    /// a minute.
    fn series(head: &str, first: &[&str], second: &[&str]) -> Vec<String> {
        let mut text = format!("timestamp,{head},ms\n");
        for night in 0..24 {
            let mut at = 1_767_312_000_u64 + 86_400 * night;
            for (one, place) in first.iter().zip(1..) {
                for (other, size) in second.iter().zip(1..) {
                    at += 60;
                    let ms = 10 * place * size + (7 * at / 60) % 3;
                    text.push_str(&format!("{at},{one},{other},{ms}.5\n"));
                }
            }
        }
        let told = of_file("f.csv", &text, &HistoryQuestion::of_figures(&[])).unwrap();
        told.series.into_iter().map(|one| one.name).collect()
    }

    /// Several engines were one series, and so were several sizes.
    #[test]
    fn what_a_script_goes_through_parts_series() {
        let sets = ["q0", "q1", "q2", "q3", "q4", "q5", "q6", "q7"];
        let engines = ["mysql", "postgres", "sqlite"];
        assert_eq!(series("db,dataset", &engines, &sets).len(), 24);
        assert_eq!(series("dataset,db", &sets, &engines).len(), 24);
        assert_eq!(series("nodes,query", &["3", "6", "12"], &["a", "b"]).len(), 6);
        let runs = ["1", "2", "3", "4", "5", "6", "7", "8", "9", "10"];
        assert_eq!(series("db,run", &engines, &runs).len(), 30);
        let of_calendar = series("dow,query", &["1", "2", "3"], &["a", "b"]);
        assert!(of_calendar.iter().all(|name| !name.contains("dow=")), "{of_calendar:?}");
    }

    /// Blocks of eight rows of one kind are no change of the environment.
    #[test]
    fn blocks_that_come_back_each_night_part_series() {
        let mut text = "timestamp,config,seconds\n".to_owned();
        for night in 0..12 {
            for (config, place) in ["a", "b", "c"].iter().zip(0..) {
                for row in 0..8 {
                    let at = 1_767_312_000 + 86_400 * night + 400 * place + 5 * row;
                    text.push_str(&format!("{at},{config},{}.{}\n", 4 + 9 * place, row % 5));
                }
            }
        }
        let told = of_file("f.csv", &text, &HistoryQuestion::of_figures(&[])).unwrap();
        assert_eq!(told.series.len(), 3);
    }
}
