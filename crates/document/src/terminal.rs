//! A terminal: colours that only repeat what words and signs say, and a width.
//!
//! ```text
//!   passages    parted by an empty line
//!   elements    below each other; what belongs to a headline or a title is indented
//!   text        wrapped at spaces; its further lines are indented once more
//!   tables      laid out by `layout`
//! ```

use unicode_width::UnicodeWidthStr as _;

use crate::cell::{TableCell, Tint, superscript_number};
pub use crate::colour::{COLOUR_SEQUENCES, Colour};
use crate::colour::{Paint, paint_text};
use crate::element::{ArmLabel, Document, Element, Footnote, LabelledItem};
use crate::layout::{Grid, Letters, Line, longest_word, wrap_lines, wrap_paragraph};
use crate::number::GLUE;
use crate::table::{Alignment, DataTable, TableRow};
use crate::text::Text;

/// Columns by which one thing stands further right than the one that it belongs to.
const INDENT: usize = 2;
/// A divided table has so many columns in a part, beside those that stand in each.
const PART_LEAST: usize = 1;

/// How text is to look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextStyle {
    /// Whether colour may be used.
    pub colour: Colour,
    /// Columns of the terminal. Tables need about 60; below that they stay wider than asked.
    pub width: usize,
}

/// The document on a terminal of this style. Ends with a line feed.
pub fn render_document(document: &Document, style: &TextStyle) -> String {
    let (mut passages, mut indent) = (Vec::new(), 0);
    for passage in document.visible_passages() {
        let mut text = String::new();
        indent = if passage.is_below { indent } else { 0 };
        for element in passage.elements.iter().filter(|element| element.is_shown()) {
            text.push_str(&of_element(element, indent, style));
            indent = match element {
                Element::Headline(_) | Element::Heading(_) | Element::Title(_) => INDENT,
                Element::Table(table) if !table.title.is_empty() || table.has_corner => INDENT,
                _ => indent,
            };
        }
        passages.push(text);
    }
    passages.join("\n").replace(GLUE, " ")
}

fn of_element(element: &Element, indent: usize, style: &TextStyle) -> String {
    let width = style.width;
    match element {
        Element::Headline(text) => {
            paint_text(&hanging(text, indent, width), Paint::Strong, style.colour)
        }
        Element::Status(text) => {
            paint_text(&hanging(text, indent, width), Paint::Caution, style.colour)
        }
        Element::Heading(text) | Element::Title(text) | Element::Sentence(text) => {
            hanging(text, indent, width)
        }
        Element::Prose(text) | Element::Aside(text) => flush(text, indent, width),
        Element::Lines(lines) => {
            let lines = lines.iter().map(|line| spaces(indent) + &line.one_line());
            lines.map(|line| wrap_lines(&format!("{}\n", line.trim_end()), width)).collect()
        }
        Element::Arms(arms) => of_arms(arms, indent, style),
        Element::Items(items) => items.iter().map(|item| of_item(item, indent, style)).collect(),
        Element::Terms(terms) => {
            let terms = terms.iter().map(|(term, said)| {
                let first = format!("{}{}: ", spaces(indent), term.one_line());
                wrap_paragraph(&said.one_line(), width, &first, &spaces(indent + INDENT))
            });
            terms.collect()
        }
        Element::Notes(notes) => notes.iter().map(|note| hanging(note, INDENT, width)).collect(),
        Element::Sparkline(series) => {
            let lines = series.lines(width.saturating_sub(indent));
            lines.map(|line| spaces(indent) + &line.one_line() + "\n").concat()
        }
        Element::Footnotes(notes) => notes.iter().map(|note| of_footnote(note, width)).collect(),
        Element::Table(table) => of_table(table, indent, style),
        // Nothing folds on a terminal.
        Element::Fold(_, elements) => {
            elements.iter().map(|element| of_element(element, indent, style)).collect()
        }
    }
}

/// A paragraph whose further lines begin further right.
fn hanging(text: &Text, indent: usize, width: usize) -> String {
    wrap_paragraph(&text.one_line(), width, &spaces(indent), &spaces(indent + INDENT))
}

/// A paragraph whose lines begin below each other.
fn flush(text: &Text, indent: usize, width: usize) -> String {
    wrap_paragraph(&text.one_line(), width, &spaces(indent), &spaces(indent))
}

/// Names and labels, in two columns.
fn of_arms(arms: &[ArmLabel], indent: usize, style: &TextStyle) -> String {
    let longest = arms.iter().map(|arm| arm.name.one_line().width()).max().unwrap_or(0);
    let items = arms.iter().map(|arm| {
        let item = LabelledItem::new(arm.label.clone()).with_label(arm.name.clone(), longest + 1);
        of_item(&item, indent, style)
    });
    items.collect()
}

/// An item. It goes on below its text, if each of its words has room there, and so do its details;
/// those of an item without a label stand further right.
fn of_item(item: &LabelledItem, indent: usize, style: &TextStyle) -> String {
    let mut first = spaces(indent);
    for label in &item.labels {
        first.push_str(&format!("{:<1$} ", label.text.one_line(), label.width));
    }
    let (text, beside) = (item.text.one_line(), first.width());
    let has_room = beside + longest_word(&text) <= style.width;
    let below = if item.labels.is_empty() || !has_room { indent + INDENT } else { beside };
    let mut text = wrap_paragraph(&text, style.width, &first, &spaces(below));
    for label in item.labels.iter().filter(|label| label.tint != Tint::None) {
        let word = label.text.one_line();
        text = text.replacen(&word, &paint_text(&word, label.tint.text_paint(), style.colour), 1);
    }
    text + &item.details.iter().map(|detail| of_item(detail, below, style)).collect::<String>()
}

/// `¹ caution: …`
fn of_footnote(note: &Footnote, width: usize) -> String {
    let number = note.number.map_or(String::new(), |number| superscript_number(number) + " ");
    let first = format!("{number}{}: ", note.severity);
    wrap_paragraph(&note.text.one_line(), width, &first, &spaces(INDENT))
}

/// A table below its title. Words may be wrapped, so that their columns are the last ones.
fn of_table(table: &DataTable, indent: usize, style: &TextStyle) -> String {
    let (above, indent) = if table.title.is_empty() {
        (String::new(), indent)
    } else {
        (hanging(&table.title, indent, style.width), indent + INDENT)
    };
    let parts = parts(table, indent, style.width);
    let grids = parts.iter().map(|(_, grid)| grid.render_coloured(style.width, style.colour));
    let grids = grids.collect::<Vec<String>>().join("\n");
    let indent = if table.has_corner { indent + INDENT } else { indent };
    let columns: Vec<usize> = parts.iter().flat_map(|(columns, _)| columns).copied().collect();
    let abouts =
        table.legend_texts(&columns).into_iter().map(|about| flush(about, indent, style.width));
    above + &grids + &abouts.collect::<String>()
}

/// Columns, and what is laid out of them.
type TablePart = (Vec<usize>, Grid);

/// The table as one grid, or as several: with the longest forms of its cells that fit, and without
/// what it can do without where none do.
fn parts(table: &DataTable, indent: usize, width: usize) -> Vec<TablePart> {
    let cells = table.rows.iter().flat_map(|row| &row.cells);
    let forms = cells.map(TableCell::form_count).max().unwrap_or(1).max(1);
    let mut columns = in_order(table);
    loop {
        let can_be_less =
            columns.len() > 1 && columns.last().is_some_and(|at| table.heads[*at].is_dispensable);
        for form in 0..forms {
            let parts = divided(table, &columns, indent, form, width);
            let is_last = form + 1 == forms && !can_be_less;
            if is_last || is_fitting(table, &parts, width) {
                return parts;
            }
        }
        columns.pop();
    }
}

/// The columns that a terminal shows: those of words behind the others, but for the first one.
fn in_order(table: &DataTable) -> Vec<usize> {
    let columns = (0..table.heads.len()).filter(|at| {
        let head = &table.heads[*at];
        !head.is_group && !head.is_off_terminals
    });
    let mut columns: Vec<usize> = columns.collect();
    if let Some((_, behind)) = columns.split_first_mut() {
        behind.sort_by_key(|at| table.heads[*at].alignment == Alignment::Left);
    }
    columns
}

/// Whether no part is too wide; of a table that may be divided, whether no part has words alone.
fn is_fitting(table: &DataTable, parts: &[TablePart], width: usize) -> bool {
    parts.iter().all(|(columns, grid)| match table.leads {
        0 => grid.width() <= width,
        leads => columns[leads.min(columns.len())..]
            .iter()
            .any(|at| table.heads[*at].alignment == Alignment::Right),
    })
}

/// As many parts as the width needs, where a table may be divided; each with its columns.
fn divided(
    table: &DataTable,
    columns: &[usize],
    indent: usize,
    form: usize,
    width: usize,
) -> Vec<TablePart> {
    let (leads, mut rest) = columns.split_at(table.leads.min(columns.len()));
    let (mut parts, mut count) = (Vec::new(), rest.len());
    loop {
        let part = [leads, &rest[..count]].concat();
        let grid = grid(table, &part, indent, form);
        if table.leads > 0 && count > PART_LEAST && grid.width() > width {
            count -= 1;
            continue;
        }
        parts.push((part, grid));
        rest = &rest[count..];
        count = rest.len();
        if rest.is_empty() {
            return parts;
        }
    }
}

/// These columns of the table, with cells of this form.
fn grid(table: &DataTable, columns: &[usize], indent: usize, form: usize) -> Grid {
    let behind = columns.iter().skip(1);
    let words = behind.filter(|at| table.heads[**at].alignment == Alignment::Left).count();
    let mut grid = Grid { lines: Vec::new(), ragged: columns.len() - words };
    let group = table.heads.iter().position(|head| head.is_group);
    if group.is_none() {
        let heads = columns.iter().map(|at| match &table.heads[*at] {
            head if head.is_untitled_on_terminals => TableCell::default(),
            head => head.cell(),
        });
        grid.lines.push(cells(heads, indent, 0));
    }
    let has_groups = group.is_some() || table.rows.iter().any(|row| row.is_group);
    let own_indent = if has_groups || table.has_corner { indent + INDENT } else { indent };
    let mut last = None;
    for row in &table.rows {
        let name = group.map(|at| row.cells[at].one_line(0));
        if let Some(name) = name.clone().filter(|_| name != last) {
            grid.lines.push(Line::Across(spaces(indent) + &name));
        }
        last = name;
        if row.is_group && row.cells.len() == 1 {
            grid.lines.push(Line::Across(spaces(indent) + &row.cells[0].one_line(0)));
            continue;
        }
        let own = columns.iter().map(|at| shown(table, row, *at));
        grid.lines.push(cells(own, if row.is_group { indent } else { own_indent }, form));
    }
    grid
}

/// A cell of a row, cut where its column is.
fn shown(table: &DataTable, row: &TableRow, at: usize) -> TableCell {
    match (table.heads[at].most, row.cells.get(at)) {
        (_, None) => TableCell::default(),
        (None, Some(cell)) => cell.clone(),
        (Some(most), Some(cell)) => TableCell::from(cut(&cell.one_line(0), most)),
    }
}

fn cells(cells: impl Iterator<Item = TableCell>, indent: usize, form: usize) -> Line {
    let indents = std::iter::once(indent).chain(std::iter::repeat(0));
    Line::Cells(cells.zip(indents).map(|(cell, indent)| coloured(&cell, indent, form)).collect())
}

/// The text of a cell, and the colours of its letters.
fn coloured(cell: &TableCell, indent: usize, form: usize) -> (String, Letters) {
    let letters = cell.nth_form(form).iter().map(|span| {
        let letters = span.text.one_line().chars().filter(|letter| *letter != ' ').count();
        (letters, span.tint)
    });
    let text = spaces(indent) + &cell.one_line(form) + &cell.superscript_marks();
    (text, letters.collect())
}

fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

fn spaces(count: usize) -> String {
    " ".repeat(count)
}
