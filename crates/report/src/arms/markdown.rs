//! Markdown for a pull request: the sentence, one table, footnotes.

use super::{ArmsView, Row, words};
use crate::escape::escape;
use crate::notes;
use crate::number::UNKNOWN;

/// The report as Markdown (GitHub's dialect).
pub fn arms_markdown(view: &ArmsView) -> String {
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
    let mut unit = None;
    for row in &view.rows {
        if row.begins(unit) {
            text.push_str(&head(view, row, unit.is_none()));
            unit = Some(row.unit);
        }
        text.push_str(&line(view, row));
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
    text.push_str(&format!("\n{}\n", escape(&words::signs(view))));
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

fn head(view: &ArmsView, row: &Row, is_first: bool) -> String {
    let gap = if is_first { "" } else { "\n" };
    let heads = view.heads().into_iter().enumerate().map(|(at, head)| {
        let is_reference = at == view.first();
        let unit = if is_reference { format!(", {}", row.unit) } else { String::new() };
        format!(" {}{unit} |", escape(&head))
    });
    let rules = "--:|".repeat(view.arms.len());
    format!(
        "{gap}| load | clients |{} against the arm before |\n|:--|--:|{rules}:--|\n",
        heads.collect::<String>()
    )
}

fn line(view: &ArmsView, row: &Row) -> String {
    let arm = |at: usize| {
        if at == view.first() {
            return format!(" {} |", words::rate(row, at));
        }
        match &row.arms[at].answer {
            Some(answer) => {
                let marks: Vec<usize> = answer.marks.iter().map(|note| note + 1).collect();
                let ratio = words::ratio(answer, true).replace('~', "\\~");
                format!(" {} |", format!("{ratio} {}", notes::marks(&marks)).trim_end())
            }
            None => format!(" {UNKNOWN} |"),
        }
    };
    format!(
        "| {} | {} |{} {} |\n",
        escape(&row.cell.load),
        row.cell.clients,
        (0..view.arms.len()).map(arm).collect::<String>(),
        words::steps(row).replace('~', "\\~")
    )
}
