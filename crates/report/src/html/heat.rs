//! rQPS by load and client count: a table whose cells are coloured.
//!
//! The scale diverges from 1 (no colour) in equal steps of log rQPS, purple for slower, green for
//! faster. A cell that is not decided is hatched and carries `~`: the number stays, the colour does
//! not claim anything.

use dbdyno_model::Verdict;

use super::escape::escape;
use crate::rows;
use crate::view::{CellView, View};
use crate::words;

/// Colour is full at this distance from 1 in log rQPS, unless a cell lies farther away (about 10
/// %).
const FULL_AT_LEAST: f64 = 0.1;
/// Colour is full at this distance however far a cell lies away (a factor of two).
const FULL_AT_MOST: f64 = std::f64::consts::LN_2;

pub(super) fn table(view: &View) -> String {
    let cells = &view.summary.cells;
    if cells.len() < 2 {
        return String::new();
    }
    let clients = distinct(cells.iter().map(|cell| cell.clients));
    let loads = distinct(cells.iter().map(|cell| cell.load.as_str()));
    let mut text = String::from(
        "<section aria-labelledby=\"heat-title\">\n<h2 id=\"heat-title\">rQPS by load and clients\
         </h2>\n<div class=\"scroll\"><table class=\"heat\">\n<thead><tr><td></td>",
    );
    for &count in &clients {
        text.push_str(&format!("<th scope=\"col\">{}</th>", words::clients(count)));
    }
    text.push_str("</tr></thead>\n<tbody>\n");
    let colours = Colours::of(cells);
    for load in loads {
        text.push_str(&format!("<tr><th scope=\"row\">{}</th>", escape(load)));
        for &count in &clients {
            let cell = cells.iter().find(|c| c.load == load && c.clients == count);
            text.push_str(&cell.map_or("<td></td>".to_owned(), |cell| heat(cell, &colours)));
        }
        text.push_str("</tr>\n");
    }
    text + "</tbody>\n</table></div>\n<p class=\"aside\">Test ÷ base. Below 1: test is slower \
            (purple); above 1: faster (green); hatched with ~: not decided.</p>\n</section>\n"
}

fn heat(cell: &CellView, colours: &Colours) -> String {
    let Some(_) = cell.effect().ratio else {
        return "<td class=\"undecided\">~</td>".to_owned();
    };
    let number = rows::rqps(cell);
    match cell.verdict.0 {
        Verdict::Undecided => colours.cell(cell, &format!("~ {number}")),
        _ => colours.cell(cell, &number),
    }
}

/// The scale of a table.
pub(crate) struct Colours {
    /// The log rQPS at which colour is full.
    full: f64,
}

impl Colours {
    /// For these cells.
    pub(crate) fn of<'a>(cells: impl IntoIterator<Item = &'a CellView>) -> Colours {
        let decided = cells.into_iter().filter(|cell| cell.verdict.0 != Verdict::Undecided);
        let sizes = decided.filter_map(|cell| cell.effect().ratio).map(|rqps| rqps.ln().abs());
        let sizes = sizes.filter(|size| size.is_finite());
        Colours { full: sizes.fold(FULL_AT_LEAST, f64::max).min(FULL_AT_MOST) }
    }

    /// A cell of the table with this text in it, which is HTML.
    pub(crate) fn cell(&self, cell: &CellView, text: &str) -> String {
        let (Some(rqps), verdict) = (cell.effect().ratio, cell.verdict.0) else {
            return format!("<td class=\"undecided\">{text}</td>");
        };
        if verdict == Verdict::Undecided {
            return format!("<td class=\"undecided\">{text}</td>");
        }
        let share = (rqps.ln().abs() / self.full).min(1.0) * 100.0;
        let side = if rqps < 1.0 { "below" } else { "above" };
        let word = words::word(verdict);
        format!("<td class=\"{side}\" style=\"--share:{share:.0}%\" title=\"{word}\">{text}</td>")
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
