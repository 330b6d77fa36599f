//! Columns of numbers that runs were asked for, and that nothing has measured.
//!
//! ```text
//!   nodes 3   40 ms       each number of nodes is a series, although no two rows have one time,
//!   nodes 6   20 ms       and no name says that the nodes were asked for
//!   nodes 12  10 ms
//!   nodes 3   39 ms
//! ```
//!
//! Whole numbers come back again and again, and where they are told apart a figure varies by half
//! as much as else, or less. A figure may hang on another one, too, as a rate on a time: a name or
//! unit that tells which direction is good is that of a figure. Several such columns may make a
//! figure what it is only together (nodes and processes of each): all of them are tried at once,
//! and those left out without which it varies no more.

use std::collections::BTreeMap;

use dbdyno_stats::median;

use super::alike::{
    Values, cells_of_groups, is_nearly_all, rows_that_come_back, stretches_of_values, values_of,
};
use super::cells::{self, DecimalMark};
use super::names;
use super::order::Order;
use super::table::{Table, is_blank};
use super::words;

/// Words of names of columns whose numbers go round with the time.
const CALENDAR: [&str; 9] =
    ["dow", "weekday", "day", "week", "month", "quarter", "hour", "minute", "second"];
/// Words of names of figures that tell no direction.
const FIGURES: [&str; 12] = [
    "value", "score", "result", "mean", "median", "average", "avg", "min", "max", "total", "sum",
    "figure",
];
/// A number that came in so many stretches comes back.
const STRETCHES_LEAST: usize = 3;
/// So much of what a figure varies by is left within the numbers, at most.
const LEFT_MOST: f64 = 0.5;
/// A column without which a figure varies by less than so many times as much is none of them.
const MORE_LEAST: f64 = 1.25;
/// Of so many figures one at least hangs on what was asked for.
const FIGURES_PER_ONE: usize = 3;
/// Of fewer rows that are alike nobody knows how far they vary.
const ROWS_LEAST: usize = 4;

/// Which of these columns have been asked for, among the rows that are alike in all that parts
/// already: those on which one of the figures hangs.
pub(super) fn asked_columns(
    table: &Table<'_>,
    order: &Order,
    parting: &[usize],
    open: &[usize],
    figures: &[usize],
) -> Vec<usize> {
    let may_be: Vec<usize> = open
        .iter()
        .copied()
        .filter(|&column| may_be_asked(table, column) && comes_back(table, order, parting, column))
        .collect();
    if may_be.is_empty() {
        return may_be;
    }
    let others =
        figures.iter().filter(|figure| !may_be.contains(figure) && !parting.contains(figure));
    if !has_rows_enough(table, &[parting, &may_be].concat()) {
        return Vec::new();
    }
    let values = others.filter_map(|&figure| numbers(table, figure));
    let values: Vec<Vec<Option<f64>>> =
        values.map(|values| in_medians(table, parting, &values)).collect();
    let mut of_figures: Vec<Vec<usize>> =
        values.iter().map(|values| needed_by_figure(table, parting, &may_be, values)).collect();
    of_figures.retain(|needed| !needed.is_empty());
    // One of a hundred figures seems to hang on anything.
    if FIGURES_PER_ONE * of_figures.len() < values.len() {
        return Vec::new();
    }
    of_figures.into_iter().next().unwrap_or_default()
}

/// Those of these columns on which a figure hangs, by how far its values vary on average, or most
/// of them.
fn needed_by_figure(
    table: &Table<'_>,
    parting: &[usize],
    may_be: &[usize],
    values: &[Option<f64>],
) -> Vec<usize> {
    let on_average = needed_columns(table, parting, may_be, values, average);
    if on_average.is_empty() {
        return needed_columns(table, parting, may_be, values, middle);
    }
    on_average
}

/// Those of these columns without which a figure varies more; none where it varies by more than
/// half as much with all of them.
fn needed_columns(
    table: &Table<'_>,
    parting: &[usize],
    may_be: &[usize],
    values: &[Option<f64>],
    measure: fn(&[f64]) -> f64,
) -> Vec<usize> {
    let spread =
        |columns: &[usize]| measure(&distances_within(table, &[parting, columns].concat(), values));
    let (all, apart) = (spread(&[]), spread(may_be));
    if all <= 0.0 || apart > LEFT_MOST * all {
        return Vec::new();
    }
    let mut needed = may_be.to_vec();
    for column in may_be.iter().rev() {
        let without: Vec<usize> = needed.iter().copied().filter(|one| one != column).collect();
        if spread(&without) <= MORE_LEAST * apart {
            needed = without;
        }
    }
    needed
}

/// Most may be the same, and a few tell that a figure hangs on something.
fn average(distances: &[f64]) -> f64 {
    distances.iter().sum::<f64>() / distances.len().max(1) as f64
}

/// A few may be far from all others for another reason.
fn middle(distances: &[f64]) -> f64 {
    median(distances).unwrap_or(0.0)
}

/// Whether a column has whole numbers, and no name of a figure or of a part of the calendar.
fn may_be_asked(table: &Table<'_>, column: usize) -> bool {
    let head = &table.header[column];
    let is_named = words::name_words(head).iter().any(|word| {
        CALENDAR.contains(&word.trim_end_matches('s')) || FIGURES.contains(&word.as_str())
    });
    !is_named
        && names::name_meaning(head).better.is_none()
        && table.cells(column).all(|cell| cell.parse::<u64>().is_ok())
}

/// Whether nearly all numbers come back, in the groups that have more than one.
fn comes_back(table: &Table<'_>, order: &Order, parting: &[usize], column: usize) -> bool {
    let (mut rows, mut back) = (0, 0);
    for cells in cells_of_groups(table, order, parting, column).values() {
        let stretches = stretches_of_values(cells);
        if stretches.len() > 1 {
            rows += cells.len();
            back += rows_that_come_back(&stretches, STRETCHES_LEAST);
        }
    }
    rows > 0 && is_nearly_all(back, rows)
}

/// Whether nearly all rows are alike to some others in these columns.
fn has_rows_enough(table: &Table<'_>, alike: &[usize]) -> bool {
    let mut counts: BTreeMap<_, usize> = BTreeMap::new();
    for row in 0..table.rows.len() {
        *counts.entry(values_of(table, alike, row)).or_default() += 1;
    }
    let enough: usize = counts.values().filter(|count| **count >= ROWS_LEAST).sum();
    is_nearly_all(enough, table.rows.len())
}

/// The numbers of a column, if it has some.
fn numbers(table: &Table<'_>, column: usize) -> Option<Vec<Option<f64>>> {
    let cells: Vec<Option<&str>> =
        table.cells(column).map(|cell| Some(cell).filter(|cell| !is_blank(cell))).collect();
    let read = cells::values(&cells, DecimalMark::Point)
        .or_else(|_| cells::values(&cells, DecimalMark::Comma));
    read.ok().map(|values| values.of_rows)
}

/// Values as multiples of the median of the rows that are alike in some columns, so that slow tests
/// weigh as much as fast ones.
fn in_medians(table: &Table<'_>, alike: &[usize], values: &[Option<f64>]) -> Vec<Option<f64>> {
    let medians = medians(table, alike, values);
    let mut told = Vec::with_capacity(values.len());
    for (row, value) in values.iter().enumerate() {
        let middle = medians.get(&values_of(table, alike, row)).copied().unwrap_or(0.0);
        told.push(value.map(|value| if middle == 0.0 { value } else { value / middle }));
    }
    told
}

/// How far values lie from the median of the rows that are alike in some columns.
fn distances_within(table: &Table<'_>, alike: &[usize], values: &[Option<f64>]) -> Vec<f64> {
    let medians = medians(table, alike, values);
    let mut distances = Vec::with_capacity(values.len());
    for (row, value) in values.iter().enumerate() {
        if let (Some(value), Some(middle)) = (value, medians.get(&values_of(table, alike, row))) {
            distances.push((value - middle).abs());
        }
    }
    distances
}

fn medians<'a>(
    table: &'a Table<'_>,
    alike: &[usize],
    values: &[Option<f64>],
) -> BTreeMap<Values<'a>, f64> {
    let mut groups: BTreeMap<Values<'a>, Vec<f64>> = BTreeMap::new();
    for (row, value) in values.iter().enumerate() {
        groups.entry(values_of(table, alike, row)).or_default().extend(*value);
    }
    groups.into_iter().filter_map(|(group, values)| Some((group, median(&values)?))).collect()
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

    /// Names of the series of a table of `n` nights, of which `row` says what stands in it.
    fn series_of(head: &str, rows: impl Fn(u32) -> Vec<String>) -> Vec<String> {
        let mut text = format!("timestamp,{head}\n");
        for night in 0..30 {
            for (row, at) in rows(night).into_iter().zip(0..) {
                text.push_str(&format!("{},{row}\n", 1_767_312_000 + 86_400 * night + 60 * at));
            }
        }
        let told = of_file("f.csv", &text, &HistoryQuestion::of_figures(&[])).unwrap();
        let names: std::collections::BTreeSet<String> = told
            .series
            .into_iter()
            .map(|one| one.name.rsplit(" of ").next().unwrap_or_default().to_owned())
            .collect();
        names.into_iter().collect()
    }

    fn noise(night: u32, row: u32) -> f64 {
        f64::from((night * 7 + row * 5) % 9) / 10.0
    }

    /// A round that lacks a row, or is run in another order, was a figure of its own.
    #[test]
    fn what_was_asked_for_need_not_go_round() {
        let rows = |is_left_out: fn(u32, u32) -> bool, is_shuffled: bool| {
            series_of("nodes,ms", move |night| {
                let turn = if is_shuffled { night % 3 } else { 0 };
                let places = (0..3).map(|place| (place + turn) % 3);
                let places = places.filter(|place| !is_left_out(night, *place));
                places
                    .map(|place| {
                        format!(
                            "{},{:.1}",
                            [3, 6, 12][place as usize],
                            40.0 / f64::from(1 + place) + noise(night, place)
                        )
                    })
                    .collect()
            })
        };
        assert_eq!(rows(|_, _| false, false), ["nodes=12", "nodes=3", "nodes=6"]);
        assert_eq!(rows(|_, _| false, true), ["nodes=12", "nodes=3", "nodes=6"]);
        assert_eq!(
            rows(|night, place| night % 5 == 4 && place == 2, false),
            ["nodes=12", "nodes=3", "nodes=6"]
        );
        assert_eq!(
            rows(|night, place| night < 15 && place == 1, false),
            ["nodes=12", "nodes=3", "nodes=6"]
        );
    }

    /// Of two together neither one told a half of what a figure varies by; a test that is always
    /// run with eight, and one on which nothing hangs, stood in the way.
    #[test]
    fn what_was_asked_for_together_parts_together() {
        let grid = series_of("nodes,ppn,ms", |night| {
            let cells = [1, 2, 4].into_iter().flat_map(|nodes| [8, 16].map(|ppn| (nodes, ppn)));
            cells
                .map(|(nodes, ppn)| {
                    let ms =
                        1_000.0 / f64::from(nodes) / f64::from(ppn) + noise(night, nodes + ppn);
                    format!("{nodes},{ppn},{ms:.2}")
                })
                .collect()
        });
        assert_eq!(grid.len(), 6, "{grid:?}");
        let one_of_two = series_of("test,processes,ms", |night| {
            let swept = [1, 2, 4, 8].map(|count| {
                format!("sort,{count},{:.2}", 80.0 / f64::from(count) + noise(night, count))
            });
            swept.into_iter().chain([format!("hash,8,{:.2}", 5.0 + noise(night, 9))]).collect()
        });
        assert_eq!(one_of_two.len(), 5, "{one_of_two:?}");
    }

    /// A rate hangs on the time of one, and both are measured.
    #[test]
    fn figures_that_hang_on_each_other_part_nothing() {
        let measured = series_of("qps,ms", |night| {
            let ms = 9 + night * 11 % 4;
            vec![format!("{},{ms}", 1_000 / ms)]
        });
        assert_eq!(measured, ["ms", "qps"]);
        let counted = series_of("cache_hits,ms", |night| {
            vec![format!("{},{:.1}", 100 + night * 7 % 3, 20.0 + noise(night, night % 4))]
        });
        assert_eq!(counted, ["cache_hits", "ms"]);
    }
}
