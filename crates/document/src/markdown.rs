//! Markdown, in GitHub's dialect: for a pull request.

use crate::cell::superscript_number;
use crate::element::{ArmLabel, Document, Element, Footnote, LabelledItem};
use crate::layout::printable_line;
use crate::number::GLUE;
use crate::sparkline::WIDTH_IN_FILES;
use crate::table::{Alignment, DataTable, TableRow};
use crate::text::Text;

/// The document as Markdown. Ends with a line feed.
pub fn render_document(document: &Document) -> String {
    in_turn(document.all_elements())
}

/// Elements that people see, with an empty line between them.
fn in_turn<'e>(elements: impl Iterator<Item = &'e Element>) -> String {
    let shown = elements.filter(|element| element.is_shown());
    shown.map(of_element).collect::<Vec<String>>().join("\n")
}

fn of_element(element: &Element) -> String {
    match element {
        Element::Headline(text) => format!("**{}**\n", line(text)),
        Element::Heading(text) => format!("### {}\n", line(text)),
        Element::Title(text) => format!("{}:\n", line(text)),
        Element::Sentence(text) => format!("{}\n", line(text)),
        Element::Prose(text) | Element::Aside(text) => prose(text),
        Element::Lines(lines) => of_lines(lines),
        Element::Arms(arms) => arms
            .iter()
            .map(|ArmLabel { name, label, .. }| format!("* {}: {}\n", line(name), line(label)))
            .collect(),
        Element::Items(items) => items.iter().map(|item| of_item(item, "")).collect(),
        Element::Notes(notes) => notes.iter().map(|note| format!("* {}\n", line(note))).collect(),
        Element::Table(table) => of_table(table),
        Element::Sparkline(series) => of_lines(&series.lines(WIDTH_IN_FILES)),
        Element::Status(text) => format!("> **{}**\n", line(text)),
        Element::Terms(terms) => terms
            .iter()
            .map(|(term, said)| format!("* **{}**: {}\n", line(term), line(said)))
            .collect(),
        Element::Footnotes(notes) => notes.iter().map(of_footnote).collect(),
        Element::Fold(title, elements) => {
            let elements = in_turn(elements.iter());
            format!("<details><summary>{}</summary>\n\n{elements}\n</details>\n", line(title))
        }
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

/// `¹ **caution**: …`, whose line ends where Markdown would go on.
fn of_footnote(note: &Footnote) -> String {
    let number = note.number.map_or(String::new(), |number| superscript_number(number) + " ");
    format!("{number}**{}**: {}  \n", note.severity, line(&note.text))
}

/// A table. Its title is the head of the column of groups, if it has one.
fn of_table(table: &DataTable) -> String {
    let has_groups = table.heads.iter().any(|head| head.is_group);
    let above = match &table.title {
        title if title.is_empty() || has_groups => String::new(),
        title => format!("{}:\n\n", line(title)),
    };
    let columns = 0..table.heads.len();
    let columns: Vec<usize> = columns.filter(|at| !table.heads[*at].is_drawing).collect();
    let heads = columns.iter().map(|at| match &table.heads[*at] {
        head if head.is_group => line(&table.title),
        head => line(&head.title) + &head.cell().superscript_marks(),
    });
    let rules = columns.iter().map(|at| match table.heads[*at].alignment {
        Alignment::Left => ":--|",
        Alignment::Right => "--:|",
    });
    let mut text = format!("{above}{}|{}\n", row(heads), rules.collect::<String>());
    for one in &table.rows {
        text.push_str(&row(columns.iter().map(|at| of_cell(one, *at))));
    }
    let abouts =
        table.legend_texts(&columns).into_iter().map(|about| format!("\n{}", prose(about)));
    text + &abouts.collect::<String>()
}

fn of_cell(row: &TableRow, at: usize) -> String {
    let Some(cell) = row.cells.get(at).filter(|cell| !cell.is_empty()) else {
        return String::new();
    };
    let text = escape(&cell.one_line(0)).replace(GLUE, " ");
    let is_strong = cell.is_answer || row.is_group && at == 0;
    let text = if is_strong { format!("**{text}**") } else { text };
    text + &cell.superscript_marks()
}

fn row(cells: impl Iterator<Item = String>) -> String {
    let cells =
        cells.map(|cell| if cell.is_empty() { " ".to_owned() } else { format!(" {cell} ") });
    format!("|{}|\n", cells.collect::<Vec<String>>().join("|"))
}

/// Markdown has one sentence per line.
fn prose(text: &Text) -> String {
    format!("{}\n", line(text).replace(". ", ".\n"))
}

fn line(text: &Text) -> String {
    escape(&text.one_line()).replace(GLUE, " ")
}

/// Makes text from outside mean itself, on one line.
pub fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in printable_line(text).chars() {
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
