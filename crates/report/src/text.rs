//! Text for a terminal, in the manner of benchstat: value ± spread, change, word, footnotes.
//!
//! The widest shape that fits is taken:
//!
//! ```text
//!   1. answer with what is missing      cannot tell, needs about 14 more pairs
//!   2. answer as a word                 cannot tell
//!   3. and rates without their spread
//! ```
//!
//! Colour only repeats what the word and the sign say.

use dbdyno_document::layout::{self, Grid, Line};
use dbdyno_document::number::GLUE;
use dbdyno_document::terminal::{Colour, Paint, TextStyle, painted};
use dbdyno_model::Verdict;

use crate::difference;
use crate::doubt;
use crate::notes::{self, Notes};
use crate::rows::{self, PlainRow};
use crate::shapes::{self, NumberedSentence};
use crate::sheet::{Sheet, SheetCell};
use crate::sheets;
use crate::view::{CellView, View};
use crate::words::{self, Headline};

/// How much a table of rates says.
#[derive(Clone, Copy, PartialEq)]
enum Shape {
    Full,
    ShortAnswer,
    NoSpread,
}

/// The report for a terminal, with all that there is. Ends with a line feed.
pub fn text(view: &View, style: &TextStyle) -> String {
    let view = &view.printable();
    let notes = Notes::new(&view.summary);
    let mut text = headline_text(&words::headline(view), style);
    text.push_str(&arms_text_of(view, style.width));
    if !view.summary.audit.is_empty() {
        let counts = difference::counts(&view.summary.audit);
        text.push_str(&layout::paragraph(&counts, style.width, "  ", "        "));
    }
    if let Some(trust) = words::trust(&view.summary) {
        text.push_str(&layout::paragraph(&trust, style.width, "  ", "        "));
    }
    if !view.summary.cells.is_empty() {
        text.push('\n');
        text.push_str(&rate_table(view, &notes, style));
        text.push('\n');
        text.push_str(&doubt_table(view, style.width));
        text.push('\n');
        text.push_str(&plain_table(view, style.width));
    }
    for sheet in sheets::sheets(view) {
        text.push('\n');
        text.push_str(&sheet_text(&sheet, style.width));
    }
    for shape in shapes::curves(view).iter().chain(&shapes::costs(view)) {
        text.push('\n');
        text.push_str(&shape_text(shape, style.width));
    }
    text.push('\n');
    text.push_str(&footnotes(view, &notes, style));
    text.replace(GLUE, " ")
}

pub(crate) fn headline_text(headline: &Headline, style: &TextStyle) -> String {
    let mut text = String::new();
    if let Some(status) = &headline.status {
        let status = layout::paragraph(status, style.width, "", "");
        text.push_str(&painted(&status, Paint::Caution, style.colour));
        text.push('\n');
    }
    let sentence = layout::paragraph(&headline.sentence, style.width, "", "");
    text.push_str(&painted(&sentence, Paint::Strong, style.colour));
    for (verdict, members) in &headline.classes {
        let word = words::word(*verdict);
        let first = format!("  {word:<11}  ");
        let line = layout::paragraph(members, style.width, &first, "               ");
        let coloured = painted(word, words::paint(*verdict), style.colour);
        text.push_str(&line.replacen(word, &coloured, 1));
    }
    text
}

/// What the arms are called, behind an empty line.
pub(crate) fn arms_text_of(view: &View, width: usize) -> String {
    let summary = &view.summary;
    let line =
        |arm: &str, label: &str| layout::paragraph(label, width, &format!("  {arm}  "), "        ");
    format!("\n{}{}", line("base", &summary.base.label), line("test", &summary.test.label))
}

pub(crate) fn rate_table(view: &View, notes: &Notes<'_>, style: &TextStyle) -> String {
    let shapes = [Shape::Full, Shape::ShortAnswer, Shape::NoSpread];
    let grids = shapes.map(|shape| rate_grid(view, notes, shape));
    let fitting = grids.iter().position(|grid| grid.width() <= style.width);
    let table = grids[fitting.unwrap_or(grids.len() - 1)].render(style.width);
    table.lines().map(|line| paint_answer(line, style.colour) + "\n").collect()
}

fn rate_grid(view: &View, notes: &Notes<'_>, shape: Shape) -> Grid {
    let mut grid = Grid { lines: Vec::new(), ragged: 4 };
    let mut of_run = notes::marks(&notes.of_run(&view.summary));
    for group in words::groups(view) {
        if !grid.lines.is_empty() {
            grid.lines.push(Line::Across(String::new()));
        }
        let title = format!("{} {}", group.title, std::mem::take(&mut of_run));
        grid.lines.push(columns([title.trim_end(), "base", "test", "test vs base"]));
        let mut load = None;
        for cell in group.cells {
            if load != Some(&cell.load) {
                grid.lines.push(Line::Across(cell.load.clone()));
                load = Some(&cell.load);
            }
            grid.lines.push(rate_line(cell, notes, shape));
        }
    }
    grid
}

fn rate_line(cell: &CellView, notes: &Notes<'_>, shape: Shape) -> Line {
    let row = rows::rate(cell);
    let bare = |spread: &str| spread.split(" ±").next().unwrap_or_default().to_owned();
    let (base, test) = match shape {
        Shape::NoSpread => (bare(&row.base), bare(&row.test)),
        Shape::Full | Shape::ShortAnswer => (row.base, row.test),
    };
    let answer = match shape {
        Shape::Full => row.answer,
        Shape::ShortAnswer | Shape::NoSpread => words::word(row.verdict).to_owned(),
    };
    let marks = notes::marks(&notes.of_cell(cell));
    let interval = row.interval.replace(&format!("{GLUE}%"), "").replace(' ', &GLUE.to_string());
    let interval = format!("({interval})");
    let answer = format!("{answer} {marks}").trim_end().to_owned();
    columns([&format!("  {}", row.clients), &base, &test, &row.change, &interval, &answer])
}

pub(crate) fn doubt_table(view: &View, width: usize) -> String {
    let cells = &view.summary.cells;
    let rows: Vec<Vec<String>> =
        cells.iter().map(|cell| doubt::row(view, cell).columns()).collect();
    let mut columns: Vec<usize> =
        (0..doubt::HEAD.len()).filter(|at| rows.iter().any(|row| !row[*at].is_empty())).collect();
    let grid = |columns: &[usize]| {
        let line = |place: String, row: &[String]| {
            let texts = columns.iter().map(|&at| row[at].clone());
            Line::Columns(std::iter::once(place).chain(texts).collect())
        };
        let mut lines = vec![line("how sure".to_owned(), &doubt::HEAD.map(str::to_owned))];
        let places = cells.iter().map(|cell| format!("  {}", words::place(cell)));
        lines.extend(places.zip(&rows).map(|(place, row)| line(place, row)));
        Grid { lines, ragged: columns.len() }
    };
    // On a narrow terminal the last columns are left out: they stand in the other shapes.
    while columns.len() > 1 && grid(&columns).width() > width {
        columns.pop();
    }
    let mut text = grid(&columns).render(width);
    for reason in doubt::reasons(view) {
        text.push_str(&layout::paragraph(&reason, width, "  ", "    "));
    }
    text + &layout::paragraph(&doubt::aside(view), width, "  ", "  ")
}

pub(crate) fn plain_table(view: &View, width: usize) -> String {
    let mut grid = Grid { lines: Vec::new(), ragged: 3 };
    let title = ["cost and latency", "base", "test", "test ÷ base"];
    grid.lines.push(columns(title));
    for cell in &view.summary.cells {
        grid.lines.push(Line::Across(words::place_of_times(cell)));
        grid.lines.extend(rows::plain(cell).iter().map(plain_line));
    }
    for cell in &view.summary.cells {
        let rows = rows::classes(cell);
        if !rows.is_empty() {
            grid.lines.push(Line::Across(words::place_of_classes(cell)));
            grid.lines.extend(rows.iter().map(plain_line));
        }
    }
    grid.render(width)
}

fn plain_line(row: &PlainRow) -> Line {
    columns([&format!("  {}", row.label), &row.base, &row.test, &row.ratio])
}

/// What is said of a curve, its numbers, and what must be known.
pub(crate) fn shape_text(shape: &NumberedSentence, width: usize) -> String {
    let mut text = layout::paragraph(&shape.sentence, width, "", "  ");
    if let Some(sheet) = &shape.sheet {
        text.push_str(sheet_text(sheet, width).split_once('\n').map_or("", |(_, rest)| rest));
    }
    for warning in &shape.warnings {
        text.push_str(&layout::paragraph(warning, width, "  ", "  "));
    }
    text
}

/// A sheet; its grid is divided where the terminal is too narrow for it.
pub(crate) fn sheet_text(sheet: &Sheet, width: usize) -> String {
    let head = std::iter::once(String::new()).chain(sheet.head.iter().cloned());
    let row = |(label, cells): &(String, Vec<SheetCell>)| {
        let first = std::iter::once(format!("  {label}"));
        Line::Columns(first.chain(cells.iter().map(SheetCell::marked)).collect())
    };
    let lines = std::iter::once(Line::Columns(head.collect())).chain(sheet.rows.iter().map(row));
    let grid = Grid { lines: lines.collect(), ragged: usize::MAX };
    let aside = layout::paragraph(&sheet.aside, width, "  ", "  ");
    format!("{}\n{}{aside}", sheet.title, grid.render(width))
}

fn columns<const N: usize>(texts: [&str; N]) -> Line {
    Line::Columns(texts.map(str::to_owned).to_vec())
}

pub(crate) fn footnotes(view: &View, notes: &Notes<'_>, style: &TextStyle) -> String {
    let mut text = String::new();
    for (number, warning) in notes.iter() {
        let first = format!("{} {}: ", notes::superscript(number), warning.severity);
        text.push_str(&layout::paragraph(&warning.text, style.width, &first, "  "));
    }
    if !notes.is_empty() {
        text.push('\n');
    }
    text.push_str(&layout::paragraph(&words::op(view), style.width, "", "  "));
    text.push_str(&layout::paragraph(words::SIGNS, style.width, "", "  "));
    text
}

/// Colours the answer at the end of a line of the table of rates. The answer follows the bracket of
/// the interval, so that a load called "slower" stays as it is.
pub(crate) fn paint_answer(line: &str, colour: Colour) -> String {
    let Some(bracket) = line.rfind(')').filter(|_| line.starts_with("  ")) else {
        return line.to_owned();
    };
    let (head, tail) = line.split_at(bracket);
    let verdicts = [Verdict::Slower, Verdict::Faster, Verdict::Equal, Verdict::Undecided];
    match verdicts.into_iter().find(|&verdict| tail.contains(words::word(verdict))) {
        Some(verdict) => {
            let word = words::word(verdict);
            let coloured = painted(word, words::paint(verdict), colour);
            format!("{head}{}", tail.replacen(word, &coloured, 1))
        }
        None => line.to_owned(),
    }
}
