//! rQPS by load and client count: a table whose cells are coloured.
//!
//! The scale diverges from 1 (no colour) in equal steps of log rQPS, purple for slower, green for
//! faster. A cell that is not decided is hatched and carries `~`: the number stays, the colour does
//! not claim anything. Where there are many, loads stand in groups beside each other.

use dbdyno_document::html::escape;
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

pub(super) fn table(view: &View) -> String {
    let cells = &view.summary.cells;
    if cells.len() < 2 {
        return String::new();
    }
    let colours = Colours::of(cells);
    let panels = groups::of_cells(cells.iter().collect());
    let panels = panels.iter().map(|(called, cells)| panel(called.as_deref(), cells, &colours));
    format!(
        "<section aria-labelledby=\"heat-title\">\n<h2 id=\"heat-title\">rQPS by load and clients\
         </h2>\n<div class=\"panels\">{}</div>\n<p>{}</p>\n<p class=\"aside\">Test ÷ base. Below 1: \
         test is slower (purple); above 1: faster (green); hatched with ~: not decided.</p>\n\
         </section>\n",
        panels.collect::<String>(),
        escape(&finding(cells)),
    )
}

/// The loads of a group, a row each.
fn panel(called: Option<&str>, cells: &[&CellView], colours: &Colours) -> String {
    let clients = distinct(cells.iter().map(|cell| cell.clients));
    let loads = distinct(cells.iter().map(|cell| cell.load.as_str()));
    let title = called.map_or_else(String::new, |called| {
        let median =
            groups::median(cells).map_or_else(String::new, |one| format!(", median {one}"));
        format!("<h3>{}</h3>\n", escape(&format!("{called}{median}")))
    });
    let mut text =
        format!("<div>{title}<div class=\"scroll\"><table class=\"heat\">\n<thead><tr><td></td>");
    for &count in &clients {
        text.push_str(&format!("<th scope=\"col\">{}</th>", words::clients(count)));
    }
    text.push_str("</tr></thead>\n<tbody>\n");
    for load in loads {
        text.push_str(&format!("<tr><th scope=\"row\">{}</th>", escape(load)));
        for &count in &clients {
            let cell = cells.iter().find(|c| c.load == load && c.clients == count);
            text.push_str(&cell.map_or("<td></td>".to_owned(), |cell| heat(cell, colours)));
        }
        text.push_str("</tr>\n");
    }
    text + "</tbody>\n</table></div></div>\n"
}

/// Which cell lost most, and which gained most, of those that are decided.
fn finding(cells: &[CellView]) -> String {
    let told = |cell: &CellView| format!("{} ({})", words::place(cell), rows::rqps(cell));
    let of = |verdict: Verdict| cells.iter().filter(move |cell| cell.verdict.0 == verdict);
    let size = |cell: &&CellView| cell.effect().ratio.map_or(0.0, |rqps| rqps.ln().abs());
    let most = |verdict| of(verdict).max_by(|a, b| size(a).total_cmp(&size(b))).map(told);
    match (most(Verdict::Slower), most(Verdict::Faster)) {
        (Some(lost), Some(gained)) => format!("Lost most: {lost}. Gained most: {gained}."),
        (Some(lost), None) => format!("Lost most: {lost}."),
        (None, Some(gained)) => format!("Gained most: {gained}."),
        (None, None) => "No cell is proved slower or faster.".to_owned(),
    }
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
struct Colours {
    /// The log rQPS at which colour is full.
    full: f64,
}

impl Colours {
    /// For these cells.
    fn of<'a>(cells: impl IntoIterator<Item = &'a CellView>) -> Colours {
        let decided = cells.into_iter().filter(|cell| cell.verdict.0 != Verdict::Undecided);
        let sizes = decided.filter_map(|cell| cell.effect().ratio).map(|rqps| rqps.ln().abs());
        let sizes = sizes.filter(|size| size.is_finite());
        Colours { full: sizes.fold(FULL_AT_LEAST, f64::max).min(FULL_AT_MOST) }
    }

    /// A cell of the table with this text in it, which is HTML.
    fn cell(&self, cell: &CellView, text: &str) -> String {
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
