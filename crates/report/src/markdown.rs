//! Markdown for a pull request: the sentence, two tables, footnotes.
//!
//! Text from outside is escaped, so that a label neither breaks the table nor becomes a link or
//! markup; footnotes are superscript digits and a list, which every renderer understands.

use dbdyno_document::Document;
use dbdyno_document::markdown::escape;
use dbdyno_model::foreign;

use crate::difference::{self, Extent};
use crate::doubt;
use crate::notes::{self, Notes};
use crate::rows::{self, PlainRow};
use crate::shapes;
use crate::sheet::Sheet;
use crate::sheets;
use crate::view::{CellView, View};
use crate::words;

/// Tables of costs beyond this number of cells are folded away.
const OPEN_CELLS_MAX: usize = 4;

/// The report as Markdown (GitHub's dialect: tables and `<details>`).
pub fn markdown(view: &View) -> String {
    let view = &view.printable();
    let notes = Notes::new(&view.summary);
    let mut text = headline(view);
    text.push_str(&rate_tables(view, &notes));
    text.push_str(&doubt_table(view));
    text.push_str(&plain_tables(view));
    text.push_str(&sheet_tables(view));
    text.push_str(&shape_tables(view));
    text.push_str(&footnotes(view, &notes));
    text.push_str(&unequal(view));
    text.push_str(&provenance(view));
    text
}

/// Where the arms are unequal, folded away.
fn unequal(view: &View) -> String {
    let audit = &view.summary.audit;
    if audit.is_empty() {
        return String::new();
    }
    let tables = Document::from(difference::unequal(audit, Extent::WhatMatters, ""));
    let tables = dbdyno_document::markdown::written(&tables);
    let gap = if tables.is_empty() { "" } else { "\n" };
    let counts = difference::counts(audit);
    format!("<details><summary>{counts}</summary>\n{gap}{tables}\n</details>\n\n")
}

fn headline(view: &View) -> String {
    let headline = words::headline(view);
    let mut text = String::new();
    if let Some(status) = &headline.status {
        text.push_str(&format!("> **{}**\n\n", escape(status)));
    }
    text.push_str(&format!("**{}**\n\n", escape(&headline.sentence)));
    for (verdict, members) in &headline.classes {
        text.push_str(&format!("- {}: {}\n", words::word(*verdict), escape(members)));
    }
    if !headline.classes.is_empty() {
        text.push('\n');
    }
    if let Some(trust) = words::trust(&view.summary) {
        text.push_str(&format!("{}\n\n", escape(&trust)));
    }
    text
}

/// One table for each unit.
fn rate_tables(view: &View, notes: &Notes<'_>) -> String {
    let summary = &view.summary;
    let mut of_run = notes::marks(&notes.of_run(summary));
    let mut text = String::new();
    for group in words::groups(view) {
        text.push_str(&format!(
            "| load | clients | base: {} | test: {} | test vs base | 95 % interval | rQPS | |\n\
             |:--|--:|--:|--:|--:|:-:|--:|:--|\n",
            escape(&summary.base.label),
            escape(&summary.test.label),
        ));
        for cell in group.cells {
            text.push_str(&rate_line(cell, notes));
        }
        let mean = if group.unit.is_some() { ", geometric mean over rounds" } else { "" };
        let caption = format!("\n{}{mean} {}", group.title, std::mem::take(&mut of_run));
        text.push_str(caption.trim_end());
        text.push_str("\n\n");
    }
    text
}

fn rate_line(cell: &CellView, notes: &Notes<'_>) -> String {
    let row = rows::rate(cell);
    let marks = notes::marks(&notes.of_cell(cell));
    let answer = format!("**{}** {marks}", row.answer);
    format!(
        "| {} | {} | {} | {} | {} | {} | {} | {} |\n",
        escape(&cell.load),
        cell.clients,
        row.base,
        row.test,
        row.change.replace('~', "\\~"),
        row.interval,
        row.rqps,
        answer.trim_end(),
    )
}

fn doubt_table(view: &View) -> String {
    if view.summary.cells.is_empty() {
        return String::new();
    }
    let mut text =
        format!("| how sure | {} |\n|:--|:--|--:|--:|--:|--:|--:|:--|\n", doubt::HEAD.join(" | "));
    for cell in &view.summary.cells {
        let columns = doubt::row(view, cell).columns();
        let columns: Vec<String> = columns.iter().map(|text| escape(text)).collect();
        let place = escape(&words::place(cell));
        text.push_str(&format!("| {place} | {} |\n", columns.join(" | ")));
    }
    let reasons: Vec<String> =
        doubt::reasons(view).iter().map(|reason| format!("{}. ", escape(reason))).collect();
    text + &format!("\n<sub>{}{}</sub>\n\n", reasons.concat(), escape(&doubt::aside(view)))
}

fn plain_tables(view: &View) -> String {
    let cells = &view.summary.cells;
    let mut text = String::new();
    for cell in cells {
        text.push_str(&plain_table(&words::place_of_times(cell), &rows::plain(cell)));
        text.push_str(&plain_table(&words::place_of_classes(cell), &rows::classes(cell)));
    }
    if cells.len() > OPEN_CELLS_MAX {
        format!("<details><summary>cost and latency</summary>\n\n{text}</details>\n\n")
    } else {
        text
    }
}

fn plain_table(title: &str, rows: &[PlainRow]) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let mut text =
        format!("| {} | base | test | test ÷ base |\n|:--|--:|--:|--:|\n", escape(title));
    for row in rows {
        let (label, ratio) = (escape(&row.label), row.ratio.replace('~', "\\~"));
        text.push_str(&format!("| {label} | {} | {} | {ratio} |\n", row.base, row.test));
    }
    text + "\n"
}

/// The first three stand open: they are the summary.
fn sheet_tables(view: &View) -> String {
    const OPEN: usize = 3;
    let mut text = String::new();
    for (number, sheet) in sheets::sheets(view).iter().enumerate() {
        let table = sheet_table(sheet);
        let title = escape(&sheet.title);
        text.push_str(&if number < OPEN {
            format!("**{title}**\n\n{table}")
        } else {
            format!("<details><summary>{title}</summary>\n\n{table}</details>\n\n")
        });
    }
    text
}

/// Curves over clients and costs over rows.
fn shape_tables(view: &View) -> String {
    let mut text = String::new();
    for shape in shapes::curves(view).iter().chain(&shapes::costs(view)) {
        text.push_str(&format!("**{}**\n\n", escape(&shape.sentence)));
        shape.sheet.iter().for_each(|sheet| text.push_str(&sheet_table(sheet)));
        for warning in &shape.warnings {
            text.push_str(&format!("{}\n\n", escape(warning)));
        }
    }
    text
}

fn sheet_table(sheet: &Sheet) -> String {
    let mut text = format!("| | {} |\n|:--|", sheet.head.join(" | "));
    text.push_str(&"--:|".repeat(sheet.head.len()));
    text.push('\n');
    for (label, cells) in &sheet.rows {
        let cells: Vec<String> = cells.iter().map(|cell| escape(&cell.marked())).collect();
        text.push_str(&format!("| {} | {} |\n", escape(label), cells.join(" | ")));
    }
    text + &format!("\n<sub>{}</sub>\n\n", escape(&sheet.aside))
}

fn footnotes(view: &View, notes: &Notes<'_>) -> String {
    let mut text = String::new();
    for (number, warning) in notes.iter() {
        let mark = notes::superscript(number);
        let sentence = escape(&warning.text);
        text.push_str(&format!("{mark} **{}**: {sentence}  \n", warning.severity));
    }
    if !notes.is_empty() {
        text.push('\n');
    }
    text + &format!("<sub>{} {}</sub>\n\n", words::op(view), words::SIGNS.replace('~', "\\~"))
}

fn provenance(view: &View) -> String {
    let summary = &view.summary;
    let command = code(&summary.command);
    format!(
        "run {}, dbdyno {}, seed {}, reproduce with {command}\n",
        code(&summary.run),
        escape(&summary.tool_version),
        summary.seed,
    )
}

/// A code span that holds any text: fenced by more backquotes than stand in it.
fn code(text: &str) -> String {
    let text = &*foreign::one_line(text);
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest + 1);
    let pad = if longest > 0 { " " } else { "" };
    format!("{fence}{pad}{text}{pad}{fence}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_from_outside_stays_text() {
        assert_eq!(escape("a|b*c_d[e](f)<g>@h"), "a\\|b\\*c\\_d\\[e\\](f)&lt;g&gt;&#64;h");
        assert_eq!(code("a"), "`a`");
        assert_eq!(code("a``b"), "``` a``b ```");
    }
}
