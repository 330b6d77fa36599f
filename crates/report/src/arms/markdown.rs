//! Markdown for a pull request: the sentence, one table, footnotes.

use dbdyno_document::markdown::escape;
use dbdyno_document::number::UNKNOWN;
use dbdyno_model::Reference;

use super::figure::Figure;
use super::table::{self, Table};
use super::view::ArmsView;
use super::words::Signs;
use super::{costs, history, words};
use crate::notes;
use crate::sections::Section;
use crate::words as told;

/// The report as Markdown (GitHub's dialect).
pub fn arms_markdown(view: &ArmsView, parts: &[Section]) -> String {
    let mut text = String::new();
    for status in words::status(view) {
        text.push_str(&format!("> **{}**\n\n", escape(&status)));
    }
    text.push_str(&format!("**{}**\n\n", escape(&words::headline(view))));
    let counts = words::of_arms(view);
    for arm in &view.arms {
        let count = counts.iter().find(|(of, _)| of.index == arm.index);
        let count = count.map_or(String::new(), |(_, count)| format!(": {count}"));
        text.push_str(&format!("- {}: {}{}\n", arm.index, escape(&arm.label), escape(&count)));
    }
    text.push('\n');
    if view.has_answers() {
        text.push_str(&rates(view));
        for (called, sentence) in words::falls(view) {
            text.push_str(&format!("\n- **{}**: {}", escape(&called), escape(&sentence)));
        }
        text.push('\n');
        if parts.contains(&Section::Cost) {
            text.push_str(&cost_tables(view));
        }
    }
    let counted = words::counted(view);
    for (at, row) in counted.iter().enumerate() {
        let cells = row.iter().map(|cell| format!(" {} |", escape(cell)));
        let gap = if at == 0 { "\n" } else { "" };
        text.push_str(&format!("{gap}|{}\n", cells.collect::<String>()));
        if at == 0 {
            text.push_str(&format!("|:--|{}\n", "--:|".repeat(row.len() - 1)));
        }
    }
    text.push_str(&format!("\n{}\n", escape(&words::signs(view, Signs::WithMethod))));
    for (at, note) in view.notes.iter().enumerate() {
        let number = notes::superscript(at + 1);
        let severity = note.warning.severity;
        text.push_str(&format!("\n- {number} {severity}: {}", escape(&note.text())));
    }
    if !view.notes.is_empty() {
        text.push('\n');
    }
    text.push_str(&format!("\n    {}\n", view.head.command));
    text
}

fn rates(view: &ArmsView) -> String {
    let with_history = view.reference != Reference::Before;
    let tail = |history: String, steps: String| -> Vec<String> {
        if with_history { vec![history, steps] } else { Vec::new() }
    };
    let line = |row: usize| {
        let row = &view.rows[row];
        tail(history::blocks(view, row), words::steps(row))
    };
    let part = |part: usize| tail(String::new(), words::steps_of_group(view, &view.groups[part]));
    let heads = tail("history".to_owned(), "against the arm before".to_owned());
    let mut text = table_text(view, &table::rates(view), &Tail { heads, line: &line, part: &part });
    if with_history {
        text.push_str(&format!("\n{}\n", escape(history::LEGEND)));
    }
    text
}

fn cost_tables(view: &ArmsView) -> String {
    let (of_costs, said) = costs::tables(view);
    let by_cpu = costs::by_cpu(view);
    let nothing = Tail { heads: Vec::new(), line: &|_| Vec::new(), part: &|_| Vec::new() };
    let mut text = String::new();
    for table in by_cpu.iter().chain(&of_costs) {
        let told = table_text(view, table, &nothing);
        text.push_str(&format!("\n**{}**\n\n{told}", escape(&table.title)));
    }
    let sharing = by_cpu.as_ref().and(costs::about_sharing(view));
    for aside in said.into_iter().chain([costs::ABOUT.to_owned()]).chain(sharing) {
        text.push_str(&format!("\n{}\n", escape(&aside)));
    }
    text
}

/// What stands behind the arms.
struct Tail<'a> {
    heads: Vec<String>,
    /// Of a row of the view.
    line: &'a dyn Fn(usize) -> Vec<String>,
    /// Of a part of the table.
    part: &'a dyn Fn(usize) -> Vec<String>,
}

fn table_text(view: &ArmsView, of: &Table, tail: &Tail<'_>) -> String {
    let heads = view.heads().into_iter().enumerate().map(|(at, head)| match at == of.first {
        true if !of.unit.is_empty() => format!("{head}, {}", of.unit),
        _ => head,
    });
    let first = match of.clients {
        Some(one) => vec![format!("at {}", told::clients(one))],
        None => vec!["load".to_owned(), "clients".to_owned()],
    };
    let begins = first.len();
    let head: Vec<String> = first.into_iter().chain(heads).chain(tail.heads.clone()).collect();
    let mut text = line(head.iter().map(|head| escape(head)));
    let rules = "--:|".repeat(begins - 1 + view.arms.len()) + &":--|".repeat(tail.heads.len());
    text.push_str(&format!("|:--|{rules}\n"));
    for (number, part) in of.parts.iter().enumerate() {
        if let Some((called, medians)) = part.head() {
            let mut cells = vec![format!("**{}**", escape(called))];
            cells.resize(begins, String::new());
            cells.extend(medians.iter().map(|of| of.as_ref().map_or(String::new(), figure)));
            cells.extend((tail.part)(number).iter().map(|text| escape(text)));
            text.push_str(&line(cells));
        }
        for one in &part.lines {
            let mut cells = vec![escape(&one.load)];
            cells.extend(of.clients.is_none().then(|| one.clients.to_string()));
            cells.extend((0..view.arms.len()).map(|at| match &one.figures[at] {
                _ if at == of.first => one.reference.clone(),
                Some(of) => figure(of),
                None => UNKNOWN.to_owned(),
            }));
            cells.extend((tail.line)(one.row).iter().map(|text| escape(text)));
            text.push_str(&line(cells));
        }
    }
    text
}

fn line(cells: impl IntoIterator<Item = String>) -> String {
    let cells: String = cells.into_iter().map(|cell| format!(" {cell} |")).collect();
    format!("|{cells}\n")
}

fn figure(of: &Figure) -> String {
    let marks: Vec<usize> = of.marks.iter().map(|note| note + 1).collect();
    let text = format!("{} {}", escape(&of.with_interval()), notes::marks(&marks));
    text.trim_end().to_owned()
}
