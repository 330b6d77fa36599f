//! How servers isolate, for people and for programs.
//!
//! ```text
//!   table     levels × anomalies, one word for each; Markdown has a row for each level
//!   stories   what was said and answered, session beside session
//!   counts    what became of all small interleavings
//! ```

mod cells;
mod json;
mod stories;

use dbdyno_document::layout::{self, Grid, Line, paragraph, printable};
use dbdyno_model::isolation::{IsolationTold, LevelTold, Permissiveness, ShapeTold};

use cells::{anomalies, cell};
pub use json::isolation_json;

/// How much is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IsolationExtent {
    /// Tables.
    Tables,
    /// The stories of all cases as well.
    Stories,
}

/// What marks in tables mean.
const KEY: &str = "occurs: the anomaly was seen. Otherwise it was prevented: waits, a transaction \
                   had to wait; error N, one was refused; snapshot, what was read was old enough. \
                   some: it was seen in one of the cases and not in another.";
const BROKEN: &str = "! this server is known to prevent it";
const BETTER: &str = "* prevented, though that is not known of this server at this level";

/// Tables for a terminal. Ends with a line feed.
pub fn isolation_text(all: &[IsolationTold], extent: IsolationExtent, width: usize) -> String {
    let mut text = String::new();
    for (index, told) in all.iter().enumerate() {
        if index > 0 {
            text.push('\n');
        }
        text.push_str(&paragraph(&headline(told), width, "", "  "));
        if has_cases(told) {
            text.push('\n');
            text.push_str(&table(told).render(width));
        }
        text.push_str(&counts_text(told, width));
        if extent == IsolationExtent::Stories {
            text.push_str(&layout::fitted(&stories::stories(told), width));
        }
    }
    if all.iter().any(has_cases) {
        text.push('\n');
        text.push_str(&paragraph(KEY, width, "", ""));
        for mark in marks(all) {
            text.push_str(&paragraph(mark, width, "", "  "));
        }
    }
    for sentence in broken(all) {
        text.push_str(&paragraph(&format!("! {sentence}"), width, "", "  "));
    }
    if extent == IsolationExtent::Tables && all.iter().any(has_cases) {
        text.push_str("Each story, step by step: --all\n");
    }
    text
}

/// The same for a page: one table of all servers. Ends with a line feed.
pub fn isolation_markdown(all: &[IsolationTold], extent: IsolationExtent) -> String {
    let mut text = String::new();
    if all.iter().any(has_cases) {
        let names = anomalies(all);
        text.push_str(&format!("| server | level | {} |\n", names.join(" | ")));
        text.push_str(&format!("|---|---|{}\n", "---|".repeat(names.len())));
        for told in all {
            for level in told.levels.iter().filter(|level| !level.cases.is_empty()) {
                let cells: Vec<String> =
                    names.iter().map(|name| cell(level, name).to_string()).collect();
                let server = printable(&told.target).replace('|', "\\|");
                let (level, cells) = (level.level, cells.join(" | "));
                text.push_str(&format!("| {server} {} | {level} | {cells} |\n", brief(told)));
            }
        }
        text.push_str(&format!("\n{}\n", KEY.replace(". ", ".\n")));
        for mark in marks(all) {
            text.push_str(&format!("\n{mark}\n"));
        }
    }
    text.push_str(&counts_markdown(all));
    for sentence in broken(all) {
        text.push_str(&format!("\n{sentence}\n"));
    }
    if extent == IsolationExtent::Stories {
        for told in all {
            let stories = stories::stories(told);
            text.push_str(&format!("\n{}\n\n```text{stories}```\n", headline(told)));
        }
    }
    text
}

fn has_cases(told: &IsolationTold) -> bool {
    told.levels.iter().any(|level| !level.cases.is_empty())
}

fn headline(told: &IsolationTold) -> String {
    let cut = if told.is_cut_short { "; it was ended before the end" } else { "" };
    let levels = told.levels.iter().flat_map(|level| &level.shapes);
    let unknown: u64 = levels.map(|shape| shape.counts.unknown).sum();
    let unknown = match unknown {
        0 => String::new(),
        some => format!("; of {some} interleavings the outcome is unknown"),
    };
    let (target, version) = (printable(&told.target), printable(&told.version));
    format!("{target} ({version}), promises of {}{unknown}{cut}", told.family)
}

/// The version, without what is said behind a hyphen.
fn brief(told: &IsolationTold) -> String {
    let version = told.version.split(['-', ' ']).next().unwrap_or_default();
    format!("({})", printable(version))
}

fn table(told: &IsolationTold) -> Grid {
    let levels: Vec<&LevelTold> = told.levels.iter().filter(|one| !one.cases.is_empty()).collect();
    let mut head = vec![String::new()];
    head.extend(levels.iter().map(|level| level.level.to_string()));
    let mut grid = Grid { lines: vec![Line::Columns(head)], ragged: 1 };
    for name in anomalies(std::slice::from_ref(told)) {
        let mut line = vec![name.clone()];
        line.extend(levels.iter().map(|level| cell(level, &name).to_string()));
        grid.lines.push(Line::Columns(line));
    }
    grid
}

/// Marks that occur in these tables.
fn marks(all: &[IsolationTold]) -> Vec<&'static str> {
    let cases = || all.iter().flat_map(|told| &told.levels).flat_map(|level| &level.cases);
    let mut marks = Vec::new();
    if cases().any(|case| case.breaks_promise()) {
        marks.push(BROKEN);
    }
    if cases().any(|case| case.exceeds_promise()) {
        marks.push(BETTER);
    }
    marks
}

/// Sentences about what should not have been.
fn broken(all: &[IsolationTold]) -> Vec<String> {
    let mut sentences = Vec::new();
    for told in all {
        for level in &told.levels {
            for case in level.cases.iter().filter(|case| case.breaks_promise()) {
                sentences.push(printable(&format!(
                    "{} at {}: {} was seen: {}",
                    told.target, level.level, case.name, case.about
                )));
            }
            for shape in level.shapes.iter().filter(|shape| level.breaks_serializability(shape)) {
                sentences.push(printable(&format!(
                    "{} at {}: {} interleavings of {} ended as no serial order does{}",
                    told.target,
                    level.level,
                    shape.counts.not_serializable,
                    shape.shape,
                    example(shape)
                )));
            }
        }
    }
    sentences
}

fn example(shape: &ShapeTold) -> String {
    shape.example.as_ref().map_or_else(String::new, |one| format!(", as {one}"))
}

const COLUMNS: [&str; 9] = [
    "shape",
    "played",
    "allowed",
    "at once",
    "waited",
    "waited, refused",
    "refused",
    "misread",
    "let through",
];
const COUNTS_KEY: &str = "allowed: a scheduler that shows committed values only could complete it \
                          at once, and some serial order does the same; shares are of these. at \
                          once: so it went. waited: it was completed after a wait. waited, \
                          refused: a transaction was refused after a wait, as in a deadlock. \
                          refused: one was refused without any. misread: it was completed at once \
                          with a result of no serial order. let through: it is not allowed, and \
                          was completed at once all the same.";

fn counts_row(shape: &ShapeTold) -> Vec<String> {
    let counts: &Permissiveness = &shape.counts;
    let share = |part: u64| match counts.allowed {
        0 => "–".to_owned(),
        all => format!("{:.1} %", 100.0 * part as f64 / all as f64),
    };
    let mut row = vec![shape.shape.clone(), format!("{}/{}", counts.played, shape.canonical)];
    row.push(counts.allowed.to_string());
    let parts = [
        counts.completed,
        counts.waited,
        counts.refused_after_waiting,
        counts.aborted,
        counts.misread,
    ];
    row.extend(parts.map(share));
    row.push(counts.let_through.to_string());
    row
}

fn counts_text(told: &IsolationTold, width: usize) -> String {
    let mut head = vec![String::new()];
    head.extend(COLUMNS.map(str::to_owned));
    let mut grid = Grid { lines: vec![Line::Columns(head)], ragged: 99 };
    for level in &told.levels {
        for shape in &level.shapes {
            let mut line = vec![level.level.to_string()];
            line.extend(counts_row(shape));
            grid.lines.push(Line::Columns(line));
        }
    }
    if grid.lines.len() == 1 {
        return String::new();
    }
    format!("\n{}\n{}", grid.render(width), paragraph(COUNTS_KEY, width, "", ""))
}

fn counts_markdown(all: &[IsolationTold]) -> String {
    let mut text = String::new();
    for told in all {
        for level in &told.levels {
            for shape in &level.shapes {
                if text.is_empty() {
                    text.push_str(&format!("\n| server | level | {} |\n", COLUMNS.join(" | ")));
                    text.push_str(&format!("|---|---|{}\n", "---|".repeat(COLUMNS.len())));
                }
                let server = printable(&told.target).replace('|', "\\|");
                let (level, cells) = (level.level, counts_row(shape).join(" | "));
                text.push_str(&format!("| {server} {} | {level} | {cells} |\n", brief(told)));
            }
        }
    }
    if !text.is_empty() {
        text.push_str(&format!("\n{}\n", COUNTS_KEY.replace(". ", ".\n")));
    }
    text
}

#[cfg(test)]
mod tests;
