//! An explanation for a terminal, and as Markdown.

use dbdyno_document::layout::{self, Grid, Line, printable};
use dbdyno_document::markdown::escape;
use dbdyno_document::number::GLUE;
use dbdyno_document::terminal::{Paint, TextStyle, painted};
use dbdyno_model::{Account, Explanation};

use super::{facts, words};

/// The explanations for a terminal. Ends with a line feed.
pub fn explanation_text(all: &[Explanation], style: &TextStyle) -> String {
    let texts: Vec<String> = all.iter().map(|one| of_cell(one, style)).collect();
    texts.join("\n")
}

fn of_cell(of: &Explanation, style: &TextStyle) -> String {
    let headline = layout::paragraph(&printable(&words::headline(of)), style.width, "", "  ");
    let mut text = painted(&headline, Paint::Strong, style.colour);
    for (arm, label) in ["base", "test"].iter().zip(&of.labels) {
        let first = format!("  {arm}  ");
        text.push_str(&layout::paragraph(&printable(label), style.width, &first, "        "));
    }
    for account in &of.accounts {
        text.push_str(&format!("\n{}\n", words::title(account)));
        text.push_str(&table(account, of, style));
    }
    if let Some(ledger) = &of.ledger {
        let heads = words::LEDGER_HEADS.map(str::to_owned);
        let rows = std::iter::once(heads).chain(words::ledger(ledger));
        let lines = rows.map(|row| Line::Columns(row.to_vec())).collect();
        text.push('\n');
        text.push_str(&Grid { lines, ragged: words::LEDGER_HEADS.len() }.render(style.width));
    }
    let (told, _) = facts::told(of);
    if !told.is_empty() {
        let heads = facts::HEADS.map(str::to_owned);
        let rows = std::iter::once(heads).chain(told.into_iter().map(facts::row));
        let lines = rows.map(|row| Line::Columns(row.to_vec())).collect();
        text.push('\n');
        text.push_str(&Grid { lines, ragged: facts::HEADS.len() }.render(style.width));
    }
    text.push('\n');
    for note in words::plans(of).into_iter().chain(words::notes(of)) {
        text.push_str(&layout::paragraph(&printable(&note), style.width, "  ", "    "));
    }
    text.replace(GLUE, " ")
}

fn table(account: &Account, of: &Explanation, style: &TextStyle) -> String {
    let heads = words::heads(account);
    let columns = |[name, values, share, alone]: [String; 4]| {
        Line::Columns(vec![format!("  {name}"), share, alone, values])
    };
    let mut lines = vec![columns(heads.map(str::to_owned))];
    for row in words::rows(account, of) {
        lines.push(columns([printable(&row.name), printable(&row.values), row.share, row.alone]));
    }
    Grid { lines, ragged: 3 }.render(style.width)
}

/// The explanations as Markdown. Ends with a line feed.
pub fn explanation_markdown(all: &[Explanation]) -> String {
    let texts: Vec<String> = all.iter().map(markdown_of_cell).collect();
    texts.join("\n")
}

fn markdown_of_cell(of: &Explanation) -> String {
    let line = |text: &str| escape(&printable(text)).replace(GLUE, " ");
    let mut text = format!("**{}**\n\n", line(&words::headline(of)));
    for (arm, label) in ["base", "test"].iter().zip(&of.labels) {
        text.push_str(&format!("* {arm}: {}\n", line(label)));
    }
    for account in &of.accounts {
        let [name, values, share, alone] = words::heads(account);
        text.push_str(&format!("\n{}:\n\n", line(&words::title(account))));
        text.push_str(&format!("| {name} | {values} | {share} | {alone} |\n|:--|:--|--:|--:|\n"));
        for row in words::rows(account, of) {
            let cells = [row.name, row.values, row.share, row.alone].map(|cell| line(&cell));
            text.push_str(&format!("| {} |\n", cells.join(" | ")));
        }
    }
    if let Some(ledger) = &of.ledger {
        let heads = words::LEDGER_HEADS.join(" | ");
        text.push_str(&format!("\n| {heads} |\n|:--|--:|--:|--:|\n"));
        for row in words::ledger(ledger) {
            text.push_str(&format!("| {} |\n", row.map(|cell| line(&cell)).join(" | ")));
        }
    }
    let (told, _) = facts::told(of);
    if !told.is_empty() {
        text.push_str(&format!("\n| {} |\n|:--|--:|--:|--:|\n", facts::HEADS.join(" | ")));
        for one in told {
            text.push_str(&format!(
                "| {} |\n",
                facts::row(one).map(|cell| line(&cell)).join(" | ")
            ));
        }
    }
    text.push('\n');
    for note in words::plans(of).into_iter().chain(words::notes(of)) {
        text.push_str(&format!("* {}\n", line(&note)));
    }
    text
}
