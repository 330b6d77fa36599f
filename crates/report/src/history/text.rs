//! A history for a terminal.
//!
//! ```text
//!   1.003 │▆▇▆▇▆▇▇▆▇▂▁▂▁▂▁▁▂     31 values, …
//!   0.898 │         ▲             a shift; ┄ where it may begin
//! ```

use dbdyno_document::layout::{Grid, Line, paragraph, printable};
use dbdyno_document::number::GLUE;
use dbdyno_document::terminal::{Colour, TextStyle};
use dbdyno_model::{BenchmarkHistory, HistorySeries};

use super::words;

const BLOCKS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
const INDENT: &str = "  ";

/// Which series are printed in full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HistoryExtent {
    /// Those with a change, and the others where they are few.
    Changes,
    /// All of them.
    Whole,
}

/// So many series are printed in full whatever they show.
const FEW: usize = 3;

/// The history for a terminal. Ends with a line feed.
pub fn history_text(
    history: &BenchmarkHistory,
    extent: HistoryExtent,
    style: &TextStyle,
) -> String {
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
    let is_whole = extent == HistoryExtent::Whole || history.series.len() <= FEW;
    let is_told = |series: &&HistorySeries| is_whole || has_change(series);
    for series in history.series.iter().filter(is_told) {
        text.push('\n');
        text.push_str(&of_series(series, width));
    }
    let left: Vec<&HistorySeries> =
        history.series.iter().filter(|series| !is_told(series)).collect();
    if !left.is_empty() {
        text.push('\n');
        text.push_str(&paragraph(&words::without_change(&left), width, "", INDENT));
    }
    text.replace(GLUE, " ")
}

/// Whether anything is to be said of a series beside that it has no change.
fn has_change(series: &HistorySeries) -> bool {
    let changes = &series.changes;
    !changes.shifts.is_empty() || !changes.slides.is_empty() || !series.lapsed.is_empty()
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
        let table = table(&rows, width.saturating_sub(INDENT.len()));
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

/// A table, or where it is too wide two of them: what changed, and how it was found.
fn table(rows: &[Vec<String>], width: usize) -> String {
    const ALL: [usize; 9] = [0, 1, 2, 3, 4, 5, 6, 7, 8];
    const CHANGE: [usize; 5] = [0, 1, 4, 5, 8];
    const FIGURES: [usize; 5] = [0, 2, 3, 6, 7];
    let heads: Vec<String> = words::HEADS.map(str::to_owned).to_vec();
    let grid = |columns: &[usize]| {
        let lines = std::iter::once(&heads)
            .chain(rows)
            .map(|row| columns.iter().map(|&at| row[at].clone()).collect())
            .map(Line::Columns)
            .collect();
        let ragged = columns.iter().position(|&at| words::HEADS[at] == "answer");
        Grid { lines, ragged: ragged.unwrap_or(usize::MAX) }
    };
    let whole = grid(&ALL);
    if whole.width() <= width {
        whole.render(width)
    } else {
        grid(&CHANGE).render(width) + &grid(&FIGURES).render(width)
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::sample;
    use dbdyno_model::{Severity, Warning};

    fn told(count: usize, extent: HistoryExtent) -> String {
        let mut all: Vec<HistorySeries> = (0..count)
            .map(|_| sample::series(100, &[], Some(&[])))
            .chain([sample::series(100, &[31], Some(&[31]))])
            .collect();
        all[0].warnings.push(Warning::new(Severity::Caution, "too-short", "4 values are too few"));
        let history = sample::history(all, Vec::new());
        history_text(&history, extent, &TextStyle { colour: Colour::Plain, width: 100 })
    }

    #[test]
    fn a_narrow_screen_gets_two_tables_and_loses_nothing() {
        let history = sample::history(vec![sample::series(100, &[31], Some(&[30]))], Vec::new());
        let text = |width| {
            let style = TextStyle { colour: Colour::Plain, width };
            history_text(&history, HistoryExtent::Whole, &style)
        };
        let words = |text: &str| {
            // The plot is as wide as there is room.
            let told = text.lines().filter(|line| !line.contains('│'));
            let mut words: Vec<&str> = told.flat_map(str::split_whitespace).collect();
            words.sort_unstable();
            words.dedup();
            words.join(" ")
        };
        let narrow = text(76);
        assert!(narrow.lines().all(|line| line.chars().count() <= 76), "{narrow}");
        assert!(narrow.lines().count() > text(120).lines().count(), "{narrow}");
        assert_eq!(words(&narrow), words(&text(120)), "{narrow}");
    }

    #[test]
    fn many_series_without_a_change_are_counted() {
        let text = told(40, HistoryExtent::Changes);
        assert!(text.lines().count() <= 25, "{text}");
        assert_eq!(text.matches("higher is better").count(), 1, "the one with a change");
        let said = "40 series without a change, 1 of them too short to show one: --all prints each";
        assert!(text.contains(said), "{text}");
        let whole = told(40, HistoryExtent::Whole);
        assert_eq!(whole.matches("higher is better").count(), 41);
        assert_eq!(told(2, HistoryExtent::Changes), told(2, HistoryExtent::Whole), "few");
    }
}
