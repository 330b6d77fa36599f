//! The first screen: the answer, the table, what endangers it, and where the rest is.
//!
//! ```text
//!   4 cells: test is slower on 4; median −5.0 %          one sentence
//!     base  …                                            the arms
//!     test  …
//!   queries/s at 1 client   base   test   test vs base   a line a cell; groups from 9 cells on;
//!     point-query           …      …      −5.0 % slower  several client counts side by side
//!   doubt    caution: …                                  at most three, the worst first
//!   rest     dbdyno show RUN --all                       costs, how sure, notes
//! ```
//!
//! For up to eight cells it has at most [`LINES_MOST`] lines, if labels and warnings are no longer
//! than usual: doubts give way. Nothing is hidden that would change a verdict: what blocks one
//! comes first, and a cell that anything speaks against has a `!`.

use dbdyno_document::layout::{self, Grid, Line};
use dbdyno_document::markdown::escape;
use dbdyno_document::number::GLUE;
use dbdyno_document::terminal::TextStyle;
use dbdyno_model::{Severity, Verdict};

use crate::cautions;
use crate::counts;
use crate::groups;
use crate::notes::Notes;
use crate::rows;
use crate::text::{arms_text_of, headline_text, paint_answer, sheet_text};
use crate::view::{CellView, Summary, View};
use crate::words;

/// Lines of a first screen of up to eight cells.
const LINES_MOST: usize = 25;
/// In which order cells stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CellOrder {
    /// As they were measured, in groups where there are many.
    Groups,
    /// What has lost most comes first.
    WorstFirst,
}

/// The first screen for a terminal. Ends with a line feed.
pub fn first_screen(view: &View, order: CellOrder, style: &TextStyle) -> String {
    let view = &view.printable();
    let mut text = head(view, order, style);
    let rest = paragraph_of(&rest(&view.summary), "rest", style.width);
    let doubts = cautions::of(&view.summary);
    let told: Vec<String> = doubts
        .iter()
        .map(|doubt| paragraph_of(&doubt.text(view.summary.cells.len()), doubt.word(), style.width))
        .collect();
    let lines = |text: &str| text.lines().count();
    let mut left = LINES_MOST.saturating_sub(lines(&text) + lines(&rest) + 1);
    let mut shown = 0;
    for (at, doubt) in told.iter().take(cautions::TOLD_MOST).enumerate() {
        let is_told = at == 0 || view.summary.cells.len() > groups::UNGROUPED_MOST;
        if !is_told && lines(doubt) > left {
            break;
        }
        if at == 0 {
            text.push('\n');
        }
        text.push_str(doubt);
        left = left.saturating_sub(lines(doubt));
        shown += 1;
    }
    if told.len() > shown {
        let more = words::plural((told.len() - shown) as u64, "more caution");
        text.push_str(&paragraph_of(&format!("{more}: --section notes"), "", style.width));
    }
    text.push('\n');
    text.push_str(&rest);
    text.replace(GLUE, " ")
}

/// The answer and the table of rates: what each choice of sections begins with.
pub(crate) fn head(view: &View, order: CellOrder, style: &TextStyle) -> String {
    let mut headline = words::headline(view);
    // The members of a class stand in the table.
    headline.classes.clear();
    headline.sentence.push_str(&median_of_all(&view.summary));
    let mut text = headline_text(&headline, style);
    text.push_str(&arms_text_of(view, style.width));
    for sheet in counts::sheets(view).iter().filter(|_| view.summary.cells.is_empty()) {
        text.push('\n');
        text.push_str(&sheet_text(sheet, style.width));
    }
    for group in words::groups(view) {
        text.push('\n');
        let table = Table { title: group.title, cells: group.cells, order };
        let rendered = table.grid(style.width).render(style.width);
        text.extend(rendered.lines().map(|line| paint_answer(line, style.colour) + "\n"));
    }
    text
}

/// The first screen as Markdown.
pub fn first_markdown(view: &View, order: CellOrder) -> String {
    let view = &view.printable();
    let summary = &view.summary;
    let headline = words::headline(view);
    let mut text = String::new();
    if let Some(status) = &headline.status {
        text.push_str(&format!("> **{}**\n\n", escape(status)));
    }
    let sentence = format!("{}{}", headline.sentence, median_of_all(summary));
    text.push_str(&format!("**{}**\n\n", escape(&sentence)));
    for (arm, label) in [("base", &summary.base.label), ("test", &summary.test.label)] {
        text.push_str(&format!("* {arm}: {}\n", escape(label)));
    }
    for group in words::groups(view) {
        let table = Table { title: group.title, cells: group.cells, order };
        text.push('\n');
        text.push_str(&table.markdown());
    }
    let doubts = cautions::of(summary);
    if !doubts.is_empty() {
        text.push('\n');
    }
    for doubt in doubts.iter().take(cautions::TOLD_MOST) {
        let said = escape(&doubt.text(summary.cells.len()));
        text.push_str(&format!("* {}: {said}\n", doubt.word()));
    }
    text.push_str(&format!("\n{}\n", escape(&rest(summary))));
    text.replace(GLUE, " ")
}

fn paragraph_of(text: &str, word: &str, width: usize) -> String {
    layout::paragraph(text, width, &format!("{word:<9}"), "         ")
}

/// Where the rest is.
fn rest(summary: &Summary) -> String {
    let notes = Notes::new(summary)
        .iter()
        .filter(|(_, warning)| warning.severity == Severity::Note.name())
        .count();
    let notes = match notes {
        0 => String::new(),
        some => format!(", {}", words::plural(some as u64, "note")),
    };
    format!(
        "dbdyno show {} --all: costs and latencies, how sure, what differs{notes}; or --section \
         cost, doubt, engine, facts, notes",
        summary.run
    )
}

/// Cells of one unit.
struct Table<'a> {
    title: String,
    cells: Vec<&'a CellView>,
    order: CellOrder,
}

impl<'a> Table<'a> {
    fn clients(&self) -> Vec<u32> {
        let mut clients: Vec<u32> = self.cells.iter().map(|cell| cell.clients).collect();
        clients.sort_unstable();
        clients.dedup();
        clients
    }

    /// The cells in groups, each with its title.
    fn groups(&self) -> Vec<groups::NamedGroup<&'a CellView>> {
        let mut cells = self.cells.clone();
        if self.order == CellOrder::WorstFirst {
            cells.sort_by(|a, b| gain(a).total_cmp(&gain(b)));
            return vec![(None, cells)];
        }
        groups::of_cells(cells)
    }

    fn grid(&self, width: usize) -> Grid {
        let clients = self.clients();
        match clients.as_slice() {
            [one] => {
                let shapes = [Row::Full, Row::ShortAnswer, Row::NoSpread];
                let mut grids = shapes.map(|shape| self.of_one_count(*one, shape)).into_iter();
                let fitting = grids.find(|grid| grid.width() <= width);
                fitting.unwrap_or_else(|| self.of_one_count(*one, Row::NoSpread))
            }
            several => {
                let with = self.of_counts(several, Bounds::Told);
                if with.width() <= width { with } else { self.of_counts(several, Bounds::None) }
            }
        }
    }

    /// A line a load: rates, change, interval, answer.
    fn of_one_count(&self, clients: u32, shape: Row) -> Grid {
        let title = format!("{} at {}", self.title, words::clients(clients));
        let head = [&*title, "base", "test", "test vs base"].map(str::to_owned).to_vec();
        let mut lines = vec![Line::Columns(head)];
        for (called, cells) in self.groups() {
            if let Some(called) = called {
                let median = groups::median(&cells);
                let median = median.map_or_else(String::new, |median| format!("median {median}"));
                let texts = [called, String::new(), String::new(), median];
                lines.push(Line::Columns(texts.to_vec()));
            }
            for cell in cells {
                lines.push(Line::Columns(shape.of(cell)));
            }
        }
        Grid { lines, ragged: 4 }
    }

    /// A line a load, and a column for each number of clients.
    fn of_counts(&self, clients: &[u32], bounds: Bounds) -> Grid {
        let counts = clients.iter().map(|clients| words::clients(*clients));
        let title = format!("{}, test vs base", self.title);
        let mut lines = vec![Line::Columns(std::iter::once(title).chain(counts).collect())];
        for (called, cells) in self.groups() {
            lines.extend(called.map(|called| Line::Columns(vec![called])));
            let mut loads: Vec<&str> = cells.iter().map(|cell| cell.load.as_str()).collect();
            let mut seen = std::collections::BTreeSet::new();
            loads.retain(|load| seen.insert(*load));
            for load in loads {
                let at = |clients: &u32| {
                    cells
                        .iter()
                        .find(|cell| cell.load == load && cell.clients == *clients)
                        .map_or_else(String::new, |cell| in_column(cell, bounds))
                };
                let texts = std::iter::once(format!("  {load}")).chain(clients.iter().map(at));
                lines.push(Line::Columns(texts.collect()));
            }
        }
        lines.push(Line::Across("  ▼ slower, ▲ faster, = equal, ~ cannot tell".to_owned()));
        Grid { lines, ragged: clients.len() + 1 }
    }

    fn markdown(&self) -> String {
        let width = usize::MAX;
        let mut text = String::new();
        let mut columns = 0;
        for line in self.grid(width).lines {
            let texts = match line {
                Line::Columns(texts) => texts,
                Line::Across(across) => {
                    text.push_str(&format!("\n{across}\n"));
                    continue;
                }
            };
            let is_head = columns == 0;
            if is_head {
                // The answer has no title, and the interval beside it neither.
                columns = if self.clients().len() == 1 { Row::COLUMNS } else { texts.len() };
            }
            let mut cells: Vec<String> = texts.iter().map(|text| escape(text.trim())).collect();
            cells.resize(columns, String::new());
            text.push_str(&format!("| {} |\n", cells.join(" | ")));
            if is_head {
                text.push_str(&format!("|:--|{}\n", "--:|".repeat(columns - 1)));
            }
        }
        text
    }
}

/// Whether intervals stand in columns of client counts: where there is room.
#[derive(Clone, Copy, PartialEq)]
enum Bounds {
    Told,
    None,
}

/// How the answer of a cell stands in a column.
fn in_column(cell: &CellView, bounds: Bounds) -> String {
    let sign = match cell.verdict.0 {
        Verdict::Slower => "▼",
        Verdict::Faster => "▲",
        Verdict::Equal => "=",
        Verdict::Undecided => "~",
    };
    let change = words::change(cell);
    let interval = match (bounds, change.interval) {
        (Bounds::Told, Some(interval)) => {
            format!(" ({})", interval.replace(&format!("{GLUE}%"), ""))
        }
        _ => String::new(),
    };
    format!("{sign} {}{interval}{}", change.estimate, mark(cell))
}

/// How much a line of one client count says; the interval is in each.
#[derive(Clone, Copy, PartialEq)]
enum Row {
    Full,
    /// Without what is missing for an answer.
    ShortAnswer,
    /// And without the spread of the rates.
    NoSpread,
}

impl Row {
    const COLUMNS: usize = 6;

    fn of(self, cell: &CellView) -> Vec<String> {
        let row = rows::rate(cell);
        let rate = |spread: String| match self {
            Row::NoSpread => spread.split(" ±").next().unwrap_or_default().to_owned(),
            Row::Full | Row::ShortAnswer => spread,
        };
        let interval =
            row.interval.replace(&format!("{GLUE}%"), "").replace(' ', &GLUE.to_string());
        let interval = format!("({interval})");
        let answer = match self {
            Row::Full => row.answer,
            Row::ShortAnswer | Row::NoSpread => words::word(row.verdict).to_owned(),
        };
        let load = format!("  {}", cell.load);
        let answer = format!("{answer}{}", mark(cell));
        vec![load, rate(row.base), rate(row.test), row.change, interval, answer]
    }
}

/// The sign of a cell that anything speaks against.
fn mark(cell: &CellView) -> &'static str {
    if cell.warnings.iter().any(|warning| cautions::is_doubt(&warning)) { " !" } else { "" }
}

/// The logarithm of the ratio of rates, test ÷ base; of response times, of the inverse ratio.
/// Infinite where there is no estimate.
pub(crate) fn gain(cell: &CellView) -> f64 {
    let log = cell.effect().ratio.map_or(f64::INFINITY, f64::ln);
    if cell.response_ratio.is_some() && log.is_finite() { -log } else { log }
}

/// The median of all cells of several, where they are of one kind.
fn median_of_all(summary: &Summary) -> String {
    let cells: Vec<&CellView> = summary.cells.iter().collect();
    let is_one_kind = cells.iter().all(|cell| cell.measure == cells[0].measure);
    match groups::median(&cells).filter(|_| cells.len() > 1 && is_one_kind) {
        Some(median) => format!("; median {median}"),
        None => String::new(),
    }
}
