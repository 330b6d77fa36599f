//! rQPS by load and client count: a table whose cells are coloured.
//!
//! The scale diverges from 1 (no colour) in equal steps of log rQPS, purple for slower, green for
//! faster. A cell that is not decided is hatched and carries `~`: the number stays, the colour does
//! not claim anything. Where there are many, loads stand in groups beside each other.

use dbdyno_document::html::{self, escape};
use dbdyno_document::{DataTable, Element, TableCell, TableColumn, Tint};
use dbdyno_model::Verdict;

use crate::groups;
use crate::rows;
use crate::view::{CellView, View};
use crate::words;

/// Colour is full at this distance from 1 in log rQPS, unless a cell lies farther away (about 10
/// %).
const FULL_AT_LEAST: f64 = 0.1;
/// Colour is full at this distance however far a cell lies away (a factor of two).
const FULL_AT_MOST: f64 = std::f64::consts::LN_2;

const TITLE: &str = "rQPS by load and clients";

pub(super) fn table(view: &View) -> String {
    let cells = &view.summary.cells;
    if cells.len() < 2 {
        return String::new();
    }
    let full = full_at(cells);
    let mut panels = String::new();
    for (called, cells) in groups::of_cells(cells.iter().collect()) {
        panels.push_str(&panel(called.as_deref(), &cells, full));
    }
    let asides = [
        Element::Sentence(finding(cells).into()),
        Element::Aside(
            "Test ÷ base. Below 1: test is slower (purple); above 1: faster (green); hatched with \
             ~: not decided."
                .into(),
        ),
    ];
    format!(
        "<section class=\"heat\" aria-labelledby=\"heat-title\">\n<h2 id=\"heat-title\">{TITLE}\
         </h2>\n<div class=\"panels\">{panels}</div>\n{}</section>\n",
        html::render_elements(&asides)
    )
}

/// The loads of a group, a row each.
fn panel(called: Option<&str>, cells: &[&CellView], full: f64) -> String {
    let title = called.map_or_else(String::new, |called| {
        let median = groups::median(cells).map(|median| format!(", median {median}"));
        format!("<h3>{}</h3>\n", escape(&format!("{called}{}", median.unwrap_or_default())))
    });
    let loads = distinct(cells.iter().map(|cell| cell.load.as_str()));
    let mut columns = vec![TableColumn::word_texts("", |load: &&str| (*load).into())];
    columns.extend(distinct(cells.iter().map(|cell| cell.clients)).into_iter().map(|count| {
        TableColumn::number_cells(words::clients(count), move |load: &&str| {
            let cell = cells.iter().find(|cell| cell.load == *load && cell.clients == count);
            cell.map(|cell| shaded(cell, full)).unwrap_or_default()
        })
    }));
    let table = Element::Table(DataTable::new(&columns, &loads));
    let name = called.map_or(TITLE.to_owned(), |called| format!("{TITLE}: {called}"));
    let table = html::render_elements_below(&name, &[table]);
    format!("<div>{title}{table}</div>\n")
}

/// Which cell lost most, and which gained most, of those that are decided.
fn finding(cells: &[CellView]) -> String {
    let [lost, gained] = [Verdict::Slower, Verdict::Faster].map(|verdict| {
        let of_verdict = cells.iter().filter(|cell| cell.verdict.0 == verdict);
        let most = of_verdict.max_by(|a, b| size(a).total_cmp(&size(b)));
        most.map(|cell| format!("{} ({})", words::cell_place(cell), rows::rqps_text(cell)))
    });
    match (lost, gained) {
        (Some(lost), Some(gained)) => format!("Lost most: {lost}. Gained most: {gained}."),
        (Some(lost), None) => format!("Lost most: {lost}."),
        (None, Some(gained)) => format!("Gained most: {gained}."),
        (None, None) => "No cell is proved slower or faster.".to_owned(),
    }
}

/// How far from 1, as a logarithm; 0 where there is no estimate.
fn size(cell: &CellView) -> f64 {
    cell.effect().ratio.map_or(0.0, |rqps| rqps.ln().abs())
}

/// The log rQPS at which colour is full in the table of these cells.
fn full_at(cells: &[CellView]) -> f64 {
    let decided = cells.iter().filter(|cell| cell.verdict.0 != Verdict::Undecided);
    let sizes = decided.map(size).filter(|size| size.is_finite());
    sizes.fold(FULL_AT_LEAST, f64::max).min(FULL_AT_MOST)
}

/// The ratio of a cell, coloured where it is decided.
fn shaded(cell: &CellView, full: f64) -> TableCell {
    let (ratio, number) = (cell.effect().ratio, rows::rqps_text(cell));
    match (ratio, cell.verdict.0) {
        (None, _) => TableCell::from("~").with_shade(Tint::Undecided, None),
        (_, Verdict::Undecided) => {
            TableCell::from(format!("~ {number}")).with_shade(Tint::Undecided, None)
        }
        (Some(rqps), _) => {
            let side = if rqps < 1.0 { Tint::Worse } else { Tint::Better };
            TableCell::from(number).with_shade(side, Some((size(cell) / full).min(1.0) * 100.0))
        }
    }
}

fn distinct<T: PartialEq>(values: impl Iterator<Item = T>) -> Vec<T> {
    let mut distinct = Vec::new();
    for value in values {
        if !distinct.contains(&value) {
            distinct.push(value);
        }
    }
    distinct
}
