//! Markdown, in GitHub's dialect: for a pull request.

use dbdyno_model::Arm;

use crate::element::{Document, Element, LabelledItem};
use crate::layout::printable;
use crate::number::GLUE;
use crate::table::{Alignment, DataTable};
use crate::text::Text;

/// The document as Markdown. Ends with a line feed.
pub fn written(document: &Document) -> String {
    let elements = document.passages.iter().flatten().map(of_element);
    elements.collect::<Vec<String>>().join("\n")
}

fn of_element(element: &Element) -> String {
    match element {
        Element::Headline(text) => format!("**{}**\n", line(text)),
        Element::Title(text) => format!("{}:\n", line(text)),
        Element::Sentence(text) => format!("{}\n", line(text)),
        // Markdown has one sentence per line.
        Element::Prose(text) => format!("{}\n", line(text).replace(". ", ".\n")),
        Element::Lines(lines) => of_lines(lines),
        Element::Arms(labels) => {
            Arm::BOTH.map(|arm| format!("* {arm}: {}\n", line(&labels[arm]))).concat()
        }
        Element::Items(items) => items.iter().map(|item| of_item(item, "")).collect(),
        Element::Notes(notes) => notes.iter().map(|note| format!("* {}\n", line(note))).collect(),
        Element::Table(table) => of_table(table),
    }
}

/// Lines as they stand, in a fence that is longer than whatever they have of one.
fn of_lines(lines: &[Text]) -> String {
    let lines: String = lines.iter().map(|line| line.one_line() + "\n").collect();
    let longest = lines.split(|letter| letter != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}text\n{}{fence}\n", lines.replace(GLUE, " "))
}

fn of_item(item: &LabelledItem, indent: &str) -> String {
    let labels = item.labels.iter().map(|label| format!("{}: ", line(&label.text)));
    let text = format!("{indent}* {}{}\n", labels.collect::<String>(), line(&item.text));
    let deeper = format!("{indent}  ");
    text + &item.details.iter().map(|detail| of_item(detail, &deeper)).collect::<String>()
}

/// A table. Its title is the head of the column of groups, if it has one.
fn of_table(table: &DataTable) -> String {
    let has_groups = table.heads.iter().any(|head| head.is_group);
    let above = match &table.title {
        title if title.is_empty() || has_groups => String::new(),
        title => format!("{}:\n\n", line(title)),
    };
    let heads = table.heads.iter().map(|head| {
        let title = if head.is_group { &table.title } else { &head.title };
        line(title)
    });
    let rules = table.heads.iter().map(|head| match head.alignment {
        Alignment::Left => ":--|",
        Alignment::Right => "--:|",
    });
    let mut text = format!("{above}{}|{}\n", row(heads), rules.collect::<String>());
    table.rows.iter().for_each(|cells| text.push_str(&row(cells.iter().map(line))));
    text
}

fn row(cells: impl Iterator<Item = String>) -> String {
    let cells =
        cells.map(|cell| if cell.is_empty() { " ".to_owned() } else { format!(" {cell} ") });
    format!("|{}|\n", cells.collect::<Vec<String>>().join("|"))
}

fn line(text: &Text) -> String {
    escape(&text.one_line()).replace(GLUE, " ")
}

/// Makes text from outside mean itself, on one line.
pub fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in printable(text).chars() {
        match c {
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '&' => escaped.push_str("&amp;"),
            '\\' | '|' | '*' | '_' | '`' | '[' | ']' | '~' | '#' => {
                escaped.push('\\');
                escaped.push(c);
            }
            // Nobody is to be notified by a server's version.
            '@' => escaped.push_str("&#64;"),
            c => escaped.push(c),
        }
    }
    escaped
}
