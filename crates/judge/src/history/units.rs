//! Columns that say in which unit the figures of their row are.
//!
//! ```text
//!   date,  score, scoreUnit            us/op and ms/op are parts of one another: one series, in
//!   01-01, 998,   us/op                the unit of its first row
//!   01-02, 0.99,  ms/op                ops/ms is no part of them: a series of its own
//! ```
//!
//! The unit is put behind the number, as in a file that has both in one cell, and in its own column
//! the first unit stands for all that are parts of it: so that this column parts the rows that no
//! number has in common. What is counted, such as samples, has no unit.

use std::collections::BTreeMap;

use super::cells;
use super::jmh;
use super::table::{Table, is_blank};

/// How the names of such columns end.
const ENDS: [&str; 2] = ["unit", "units"];
/// Figures that count what was measured.
const COUNTS: [&str; 12] = [
    "samples",
    "iterations",
    "count",
    "cnt",
    "runs",
    "rounds",
    "threads",
    "forks",
    "loops",
    "warmups",
    "n",
    "errors",
];
/// How the name of a figure ends that says its unit itself.
const OWN: [&str; 14] = [
    "_ns", "_us", "_ms", "_s", "(ns)", "(us)", "(µs)", "(ms)", "(s)", "[ns]", "[us]", "[µs]",
    "[ms]", "[s]",
];

/// Puts units behind the numbers of these figures, and returns the columns of units of which a
/// number has no part in common with another one.
pub(super) fn attach_units(table: &mut Table<'_>, figures: &[usize]) -> Vec<usize> {
    let stems: Vec<(usize, String)> =
        (0..table.header.len()).filter_map(|at| Some((at, stem(table, at)?))).collect();
    for &column in figures {
        let Some(of) = unit_of(table, column, &stems) else { continue };
        for row in &mut table.rows {
            let (unit, cell) = (row.cells[of].trim().to_owned(), &mut row.cells[column]);
            if cells::is_bare_number(cell) && !unit.is_empty() {
                *cell = format!("{} {unit}", cell.trim());
            }
        }
    }
    let mut apart: Vec<usize> = stems.into_iter().map(|(column, _)| column).collect();
    for &column in &apart {
        let mut firsts: BTreeMap<String, String> = BTreeMap::new();
        for row in &mut table.rows {
            let cell = &mut row.cells[column];
            let unit = cell.trim().to_owned();
            *cell = firsts.entry(cells::unit_family(&unit).0).or_insert(unit).clone();
        }
    }
    apart.retain(|&column| table.values(column).iter().filter(|unit| !is_blank(unit)).count() > 1);
    apart
}

/// What the name of a column of units says beside that; `None` for a column of something else.
fn stem(table: &Table<'_>, column: usize) -> Option<String> {
    let head = table.header[column].to_lowercase();
    let stem = ENDS.iter().find_map(|end| head.strip_suffix(end))?;
    let units: Vec<&str> = table.cells(column).filter(|cell| !is_blank(cell)).collect();
    // A form that has such a column knows what it is, whatever the unit.
    let is_of_form = (table.figures.is_some() || jmh::is_table(table)) && head == "unit";
    let is_one =
        !units.is_empty() && (is_of_form || units.iter().all(|unit| cells::is_known(unit)));
    is_one.then(|| stem.trim_end_matches([' ', '_', '-', '.']).to_owned())
}

/// The column with the unit of the figures in `column`.
fn unit_of(table: &Table<'_>, column: usize, stems: &[(usize, String)]) -> Option<usize> {
    let head = table.header[column].to_lowercase();
    let is_count =
        COUNTS.iter().any(|count| head == *count || head.ends_with(&format!("_{count}")));
    let has_its_own = OWN.iter().any(|end| head.ends_with(end));
    if is_count || has_its_own {
        return None;
    }
    let fitting = stems.iter().filter(|(_, stem)| head.contains(stem.as_str()));
    fitting.max_by_key(|(_, stem)| stem.len()).map(|(at, _)| *at)
}
