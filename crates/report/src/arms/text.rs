//! Text for a terminal: one load at one client count on a line, arms across.
//!
//! ```text
//!   queries/s     clients   mysql:5.6   mysql:5.7   mysql:8.0   against the arm before
//!   point-query         1      21 840      = 0.99      ▼ 0.91   =  ▼ 0.92
//! ```
//!
//! Where a terminal is too narrow, the arms stand in several tables.

use super::{ArmsView, Row, words};
use crate::layout::{self, Grid, Line};
use crate::notes;
use crate::number::{GLUE, UNKNOWN};
use crate::text::{Colour, Paint, TextStyle, painted};

/// How much a table of several arms says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// Ratios.
    Ratios,
    /// And their intervals.
    Intervals,
}

/// Fewer arms than this are not put into a table of their own.
const ARMS_LEAST: usize = 2;

/// The report for a terminal. Ends with a line feed.
pub fn arms_text(view: &ArmsView, detail: Detail, style: &TextStyle) -> String {
    let mut text = String::new();
    for status in words::status(view) {
        let status = layout::paragraph(&status, style.width, "", "  ");
        text.push_str(&painted(&status, Paint::Caution, style.colour));
    }
    let headline = layout::paragraph(&words::headline(view), style.width, "", "");
    text.push_str(&painted(&headline, Paint::Strong, style.colour));
    text.push('\n');
    text.push_str(&arms(view, style.width));
    text.push('\n');
    if view.rows.iter().any(|row| row.answers().next().is_some()) {
        text.push_str(&tables(view, detail, style));
        text.push('\n');
    }
    let counted = words::counted(view);
    if !counted.is_empty() {
        let ragged = counted[0].len();
        let lines = counted.into_iter().map(Line::Columns).collect();
        text.push_str(&Grid { lines, ragged }.render(style.width));
        text.push('\n');
    }
    text.push_str(&footnotes(view, style.width));
    text.replace(GLUE, " ")
}

fn arms(view: &ArmsView, width: usize) -> String {
    let counts = words::of_arms(view);
    let line = |arm: &super::ArmHead| {
        let count = counts.iter().find(|(of, _)| of.index == arm.index);
        let count = count.map_or(String::new(), |(_, count)| format!(": {count}"));
        let first = format!("  {:6}  ", arm.index);
        layout::paragraph(&format!("{}{count}", arm.label), width, &first, "          ")
    };
    view.arms.iter().map(line).collect()
}

/// As many tables as the width needs; the reference stands in each. What there is no room for
/// beside the last arms stands in a table of its own.
fn tables(view: &ArmsView, detail: Detail, style: &TextStyle) -> String {
    let others: Vec<usize> = (0..view.arms.len()).filter(|at| *at != view.first()).collect();
    let of = |arms: &[usize], steps| grid(view, detail, arms, steps);
    let (mut grids, mut from) = (Vec::new(), 0);
    while from < others.len() {
        let fits = |to: &usize| {
            *to < from + ARMS_LEAST || of(&others[from..*to], Steps::No).width() <= style.width
        };
        let to = (from + 1..=others.len()).rev().find(fits).unwrap_or(from + 1);
        let with = of(&others[from..to], Steps::Yes);
        if to < others.len() {
            grids.push(of(&others[from..to], Steps::No));
        } else if with.width() <= style.width {
            grids.push(with);
        } else {
            grids.extend([of(&others[from..to], Steps::No), of(&[], Steps::Only)]);
        }
        from = to;
    }
    let rendered = grids.iter().map(|grid| {
        let lines = grid.render(style.width);
        lines.lines().map(|line| coloured(line, style.colour) + "\n").collect::<String>()
    });
    rendered.collect::<Vec<_>>().join("\n")
}

/// Whether a table says how each arm is against the one before it.
#[derive(Clone, Copy, PartialEq)]
enum Steps {
    No,
    Yes,
    /// And no more.
    Only,
}

fn grid(view: &ArmsView, detail: Detail, arms: &[usize], steps: Steps) -> Grid {
    let heads = view.heads();
    let mut grid =
        Grid { lines: Vec::new(), ragged: arms.len() + 3 - usize::from(steps == Steps::Only) };
    let mut unit = None;
    for row in &view.rows {
        if row.begins(unit) {
            let mut head = vec![row.unit.to_owned(), "clients".to_owned()];
            head.extend((steps != Steps::Only).then(|| heads[view.first()].clone()));
            head.extend(arms.iter().map(|&at| heads[at].clone()));
            head.extend((steps != Steps::No).then(|| "against the arm before".to_owned()));
            grid.lines.push(Line::Columns(head));
            unit = Some(row.unit);
        }
        grid.lines.push(line(row, view.first(), detail, arms, steps));
    }
    grid
}

fn line(row: &Row, reference: usize, detail: Detail, arms: &[usize], steps: Steps) -> Line {
    let answer = |at: &usize| match &row.arms[*at].answer {
        Some(answer) => {
            let marks: Vec<usize> = answer.marks.iter().map(|note| note + 1).collect();
            let ratio = words::ratio(answer, detail == Detail::Intervals);
            format!("{ratio} {}", notes::marks(&marks)).trim_end().to_owned()
        }
        None => UNKNOWN.to_owned(),
    };
    let load = format!("  {}", layout::printable(&row.cell.load));
    let mut texts = vec![load, row.cell.clients.to_string()];
    texts.extend((steps != Steps::Only).then(|| words::rate(row, reference)));
    texts.extend(arms.iter().map(answer));
    texts.extend((steps != Steps::No).then(|| words::steps(row)));
    Line::Columns(texts)
}

/// Colours the signs of a line; the figure behind each of them says the same.
fn coloured(line: &str, colour: Colour) -> String {
    let mut text = line.to_owned();
    if line.starts_with("  ") {
        for (sign, paint) in [("▼", Paint::Bad), ("▲", Paint::Good), ("~", Paint::Doubt)] {
            text = text.replace(sign, &painted(sign, paint, colour));
        }
    }
    text
}

fn footnotes(view: &ArmsView, width: usize) -> String {
    let mut text = String::new();
    for (at, note) in view.notes.iter().enumerate() {
        let first = format!("{} {}: ", notes::superscript(at + 1), note.warning.severity);
        text.push_str(&layout::paragraph(&note.text(), width, &first, "  "));
    }
    if !view.notes.is_empty() {
        text.push('\n');
    }
    text + &layout::paragraph(&words::signs(view), width, "", "  ")
}
