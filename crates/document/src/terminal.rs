//! A terminal: colours that only repeat what words and signs say, and a width.
//!
//! ```text
//!   passages    parted by an empty line
//!   elements    below each other; what belongs to a headline or a title is indented
//!   text        wrapped at spaces; its further lines are indented once more
//!   tables      laid out by `layout`
//! ```

use dbdyno_model::Arm;
use unicode_width::UnicodeWidthStr as _;

use crate::element::{Document, Element, LabelledItem};
use crate::layout::{Grid, Line, fitted, paragraph};
use crate::number::GLUE;
use crate::table::{Alignment, DataTable};
use crate::text::Text;

/// Columns by which one thing stands further right than the one that it belongs to.
const INDENT: usize = 2;
/// Columns of the name of an arm.
const ARM_WIDTH: usize = 5;

/// Whether the text carries colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Colour {
    /// Characters only.
    Plain,
    /// ANSI escape sequences.
    Ansi,
}

/// The escape sequences of reports: those of each colour, and the end of all.
pub const COLOUR_SEQUENCES: [&str; 7] = [
    "\u{1b}[0m",
    "\u{1b}[1m",
    "\u{1b}[2m",
    "\u{1b}[31m",
    "\u{1b}[32m",
    "\u{1b}[33m",
    "\u{1b}[1;33m",
];

/// How text is to look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextStyle {
    /// Whether colour may be used.
    pub colour: Colour,
    /// Columns of the terminal. Tables need about 60; below that they stay wider than asked.
    pub width: usize,
}

/// What a colour says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Paint {
    /// The answer.
    Strong,
    /// What the answer may not hold for.
    Caution,
    /// Slower, worse.
    Bad,
    /// Faster, better.
    Good,
    /// Undecided.
    Doubt,
    /// Not worth a look.
    Faint,
    /// Nothing.
    None,
}

impl Paint {
    fn code(self) -> Option<&'static str> {
        match self {
            Paint::Strong => Some("1"),
            Paint::Caution => Some("1;33"),
            Paint::Bad => Some("31"),
            Paint::Good => Some("32"),
            Paint::Doubt => Some("33"),
            Paint::Faint => Some("2"),
            Paint::None => None,
        }
    }
}

/// Colours a text, and leaves line feeds outside of the colour.
pub fn painted(text: &str, paint: Paint, colour: Colour) -> String {
    let (Colour::Ansi, Some(code)) = (colour, paint.code()) else {
        return text.to_owned();
    };
    let mut painted = String::new();
    for line in text.split_inclusive('\n') {
        let bare = line.trim_end_matches('\n');
        painted.push_str(&format!("\u{1b}[{code}m{bare}\u{1b}[0m{}", &line[bare.len()..]));
    }
    painted
}

/// The document on a terminal of this style. Ends with a line feed.
pub fn written(document: &Document, style: &TextStyle) -> String {
    let passages = document.passages.iter().map(|passage| of_passage(passage, style));
    passages.collect::<Vec<String>>().join("\n").replace(GLUE, " ")
}

fn of_passage(passage: &[Element], style: &TextStyle) -> String {
    let (mut text, mut indent) = (String::new(), 0);
    for element in passage {
        text.push_str(&of_element(element, indent, style));
        indent = match element {
            Element::Headline(_) | Element::Title(_) => INDENT,
            Element::Table(table) if !table.title.is_empty() => INDENT,
            _ => indent,
        };
    }
    text
}

fn of_element(element: &Element, indent: usize, style: &TextStyle) -> String {
    let width = style.width;
    match element {
        Element::Headline(text) => {
            let headline = hanging(text, indent, width);
            painted(&headline, Paint::Strong, style.colour)
        }
        Element::Title(text) | Element::Sentence(text) => hanging(text, indent, width),
        Element::Prose(text) => {
            paragraph(&text.one_line(), width, &spaces(indent), &spaces(indent))
        }
        Element::Lines(lines) => lines.iter().map(|line| fitted(&line.one_line(), width)).collect(),
        Element::Arms(labels) => {
            let of = |arm: Arm| LabelledItem::new(labels[arm].clone()).label(arm.name(), ARM_WIDTH);
            Arm::BOTH.map(|arm| of_item(&of(arm), indent, width)).concat()
        }
        Element::Items(items) => items.iter().map(|item| of_item(item, indent, width)).collect(),
        Element::Notes(notes) => notes.iter().map(|note| hanging(note, INDENT, width)).collect(),
        Element::Table(table) => of_table(table, indent, width),
    }
}

/// A paragraph whose further lines begin further right.
fn hanging(text: &Text, indent: usize, width: usize) -> String {
    paragraph(&text.one_line(), width, &spaces(indent), &spaces(indent + INDENT))
}

/// An item. It goes on below its text, and so do its details; those of an item without a label
/// stand further right.
fn of_item(item: &LabelledItem, indent: usize, width: usize) -> String {
    let mut first = spaces(indent);
    for label in &item.labels {
        first.push_str(&format!("{:<1$} ", label.text.one_line(), label.width));
    }
    let below = if item.labels.is_empty() { indent + INDENT } else { first.width() };
    let text = paragraph(&item.text.one_line(), width, &first, &spaces(below));
    text + &item.details.iter().map(|detail| of_item(detail, below, width)).collect::<String>()
}

/// A table below its title. Words may be wrapped, so that their columns are the last ones.
fn of_table(table: &DataTable, indent: usize, width: usize) -> String {
    let title = &table.title;
    let (above, indent) = if title.is_empty() {
        (String::new(), indent)
    } else {
        (hanging(title, indent, width), indent + INDENT)
    };
    let group = table.heads.iter().position(|head| head.is_group);
    let mut order: Vec<usize> = (0..table.heads.len()).filter(|at| Some(*at) != group).collect();
    let first = order.first().copied();
    let is_behind =
        |at: &usize| Some(*at) != first && table.heads[*at].alignment == Alignment::Left;
    order.sort_by_key(is_behind);
    let ragged = order.iter().filter(|at| !is_behind(at)).count();
    let mut grid = Grid { lines: Vec::new(), ragged };
    if group.is_none() {
        let heads = order.iter().map(|at| table.heads[*at].title.one_line());
        grid.lines.push(columns(heads.collect(), indent));
    }
    let mut last = None;
    for row in &table.rows {
        let own = group.map(|at| &row[at]);
        if let Some(name) = own.filter(|_| own != last) {
            grid.lines.push(Line::Across(spaces(indent) + &name.one_line()));
        }
        last = own;
        let cells = order.iter().map(|at| cut(&row[*at].one_line(), table.heads[*at].most));
        let indent = if group.is_some() { indent + INDENT } else { indent };
        grid.lines.push(columns(cells.collect(), indent));
    }
    above + &grid.render(width)
}

fn columns(mut texts: Vec<String>, indent: usize) -> Line {
    if let Some(first) = texts.first_mut() {
        first.insert_str(0, &spaces(indent));
    }
    Line::Columns(texts)
}

fn cut(text: &str, most: Option<usize>) -> String {
    match most.and_then(|most| text.char_indices().nth(most)) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

fn spaces(count: usize) -> String {
    " ".repeat(count)
}
