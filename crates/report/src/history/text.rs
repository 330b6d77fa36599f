//! A history for a terminal.
//!
//! ```text
//!   1.003 │▆▇▆▇▆▇▇▆▇▂▁▂▁▂▁▁▂     31 values, …
//!   0.898 │         ▲             a shift; ┄ where it may begin
//! ```

use dbdyno_model::{History, HistorySeries};

use super::words;
use crate::layout::{Grid, Line, paragraph, printable};
use crate::number::GLUE;
use crate::text::{Colour, TextStyle};

const BLOCKS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
const INDENT: &str = "  ";

/// The history for a terminal. Ends with a line feed.
pub fn history_text(history: &History, style: &TextStyle) -> String {
    let width = style.width;
    let mut text = paragraph(&words::headline(history), width, "", "");
    if style.colour == Colour::Ansi {
        text = format!("\u{1b}[1m{}\u{1b}[0m\n", text.trim_end());
    }
    text.push_str(&paragraph(&printable(&history.source), width, "  of  ", "      "));
    for warning in &history.warnings {
        let first = format!("  {}  ", warning.severity.name());
        text.push_str(&paragraph(&printable(&warning.text), width, &first, "      "));
    }
    for series in &history.series {
        text.push('\n');
        text.push_str(&of_series(series, width));
    }
    text.replace(GLUE, " ")
}

fn of_series(series: &HistorySeries, width: usize) -> String {
    let mut text = paragraph(&words::title(series), width, "", INDENT);
    if !series.about.is_empty() {
        text.push_str(&paragraph(&printable(&series.about), width, INDENT, INDENT));
    }
    text.push_str(&paragraph(&words::span(series), width, INDENT, INDENT));
    text.push_str(&plot(series, width));
    let rows = words::rows(series);
    if !rows.is_empty() {
        let heads = Line::Columns(words::HEADS.map(str::to_owned).to_vec());
        let lines = rows.into_iter().map(Line::Columns);
        let grid = Grid { lines: [heads].into_iter().chain(lines).collect(), ragged: 8 };
        let table = grid.render(width);
        table.lines().for_each(|line| text.push_str(&format!("{INDENT}{line}\n")));
    }
    for warning in &series.warnings {
        let first = format!("{INDENT}{}  ", warning.severity.name());
        text.push_str(&paragraph(&printable(&warning.text), width, &first, "    "));
    }
    for remark in words::remarks(series) {
        text.push_str(&paragraph(&remark, width, INDENT, INDENT));
    }
    text
}

/// A line of blocks, each the median of its values, and below it where levels begin.
fn plot(series: &HistorySeries, width: usize) -> String {
    let values: Vec<f64> = series.points.iter().map(|point| point.value).collect();
    let (low, high) =
        values.iter().fold((f64::MAX, f64::MIN), |(low, high), &v| (low.min(v), high.max(v)));
    let labels = [words::value(series, high), words::value(series, low)];
    let gutter = labels.iter().map(|label| label.chars().count()).max().unwrap_or(0);
    let room = width.saturating_sub(gutter + INDENT.len() + 2).clamp(10, 200);
    let columns = values.len().min(room);
    let column_of = |at: usize| at * columns / values.len();
    let mut blocks = String::new();
    for column in 0..columns {
        let mut own: Vec<f64> =
            (0..values.len()).filter(|&at| column_of(at) == column).map(|at| values[at]).collect();
        own.sort_by(f64::total_cmp);
        let share = if high > low { (own[own.len() / 2] - low) / (high - low) } else { 0.5 };
        blocks.push(BLOCKS[((share * 7.0).round() as usize).min(7)]);
    }
    let mut marks = vec![' '; columns];
    for shift in &series.changes.shifts {
        for mark in &mut marks[column_of(shift.earliest)..=column_of(shift.latest)] {
            *mark = '┄';
        }
    }
    for shift in &series.changes.shifts {
        marks[column_of(shift.first)] = '▲';
    }
    let marks: String = marks.into_iter().collect();
    let line = |label: &str, rest: &str| {
        let pad = " ".repeat(gutter - label.chars().count());
        format!("{INDENT}{pad}{label} │{rest}").trim_end().to_owned() + "\n"
    };
    line(&labels[0], &blocks) + &line(&labels[1], &marks)
}
