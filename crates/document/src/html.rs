//! Text on its way into HTML.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use dbdyno_model::foreign;
use serde::Serialize;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::cell::TableCell;
use crate::element::{ArmLabel, Document, Element, Footnote, LabelledItem};
use crate::json::plain_json;
use crate::number::GLUE;
use crate::sparkline::WIDTH_IN_FILES;
use crate::table::{Alignment, ColumnHead, ColumnTone, DataTable, TableRow};
use crate::text::Text;

/// What tables need beside the style of a page.
const TABLE_STYLE: &str = "td.text,th.text{text-align:left}\
tr.sum td,tr.sum th{border-top:1px solid var(--ink);font-weight:600}\
td.answer{font-weight:600}td.answer.worse,b.worse{color:var(--slower)}\
td.answer.better,b.better{color:var(--faster)}td.answer.undecided,b.undecided{color:var(--doubt)}\
td.lowest{background:rgb(220 60 60/.28)}td.highest{background:rgb(50 170 80/.28)}\
td.incomparable{background:rgb(128 128 128/.28)}td.lower{background:rgb(230 190 30/.28)}\
td.higher{background:rgb(60 120 230/.28)}\n";

/// The passages of the document as parts of the body of a page.
pub fn render_document(document: &Document) -> String {
    document.visible_passages().map(|passage| of_passage(&passage.elements)).collect()
}

/// Elements for a part of a page that has a tag of its own.
pub fn render_elements(elements: &[Element]) -> String {
    render_elements_below("", elements)
}

/// The same below a title that the page has already: tables without one of their own are called
/// so where they are boxes that scroll.
pub fn render_elements_below(title: &str, elements: &[Element]) -> String {
    let mut above = title.to_owned();
    let mut text = String::new();
    for element in elements.iter().filter(|element| element.is_shown()) {
        if let Element::Headline(title) | Element::Heading(title) | Element::Title(title) = element
        {
            above = title.one_line();
        }
        text.push_str(&of_element(element, &above));
    }
    text
}

fn of_passage(passage: &[Element]) -> String {
    let is_head = passage.iter().any(|element| matches!(element, Element::Headline(_)));
    let tag = if is_head { "header" } else { "section" };
    format!("<{tag}>\n{}</{tag}>\n", render_elements(passage))
}

fn of_element(element: &Element, above: &str) -> String {
    match element {
        Element::Headline(text) => format!("<h1>{}</h1>\n", line(text)),
        Element::Heading(text) | Element::Title(text) => format!("<h2>{}</h2>\n", line(text)),
        Element::Sentence(text) | Element::Prose(text) => format!("<p>{}</p>\n", line(text)),
        Element::Lines(lines) => of_lines(lines),
        Element::Arms(arms) => {
            let arms: String = arms.iter().map(of_arm).collect();
            format!("<dl class=\"arms\">\n{arms}</dl>\n")
        }
        Element::Aside(text) => aside(text),
        Element::Items(items) => of_items(items),
        Element::Notes(notes) => notes.iter().map(aside).collect(),
        Element::Table(table) => of_table(table, above),
        Element::Sparkline(series) => of_lines(&series.lines(WIDTH_IN_FILES)),
        Element::Status(text) => format!("<p class=\"status\" role=\"note\">{}</p>\n", line(text)),
        Element::Terms(terms) => {
            let terms = terms
                .iter()
                .map(|(term, said)| format!("<dt>{}</dt><dd>{}</dd>\n", line(term), line(said)));
            format!("<dl class=\"terms\">\n{}</dl>\n", terms.collect::<String>())
        }
        Element::Footnotes(notes) => of_footnotes(notes),
        Element::Fold(title, elements) => {
            let elements = render_elements_below(&title.one_line(), elements);
            format!("<details><summary>{}</summary>\n{elements}</details>\n", line(title))
        }
    }
}

fn of_lines(lines: &[Text]) -> String {
    let lines: Vec<String> = lines.iter().map(line).collect();
    format!("<pre>{}</pre>\n", lines.join("\n"))
}

fn of_arm(arm: &ArmLabel) -> String {
    let class = if arm.is_base { "base" } else { "test" };
    format!("<dt class=\"{class}\">{}</dt><dd>{}</dd>\n", line(&arm.name), line(&arm.label))
}

/// A list in which marks find their notes by number; a bare one where none has a number.
fn of_footnotes(notes: &[Footnote]) -> String {
    let tag = if notes.iter().any(|note| note.number.is_some()) { "ol" } else { "ul" };
    let notes = notes.iter().map(|note| {
        let id = note.number.map_or(String::new(), |number| format!(" id=\"note-{number}\""));
        let (severity, text) = (note.severity, line(&note.text));
        let code = match &note.code {
            code if code.is_empty() => String::new(),
            code => format!(" <code>{}</code>", line(code)),
        };
        format!("<li{id}><b class=\"{severity}\">{severity}</b> {text}{code}</li>\n")
    });
    let notes: String = notes.collect();
    format!("<{tag} class=\"notes\">\n{notes}</{tag}>\n")
}

fn of_items(items: &[LabelledItem]) -> String {
    let items = items.iter().map(|item| {
        let labels = item.labels.iter().map(|label| {
            let class = match label.tint.css_class() {
                "" => String::new(),
                class => format!(" class=\"{class}\""),
            };
            format!("<b{class}>{}</b> ", line(&label.text))
        });
        let labels: String = labels.collect();
        let details = match item.details.as_slice() {
            [] => String::new(),
            details => of_items(details),
        };
        format!("<li>{labels}{}{details}</li>\n", line(&item.text))
    });
    format!("<ul>\n{}</ul>\n", items.collect::<String>())
}

/// The beginning of a box that scrolls sideways where what stands in it is too wide: the keyboard
/// has to come to it, and a screen reader to say what it is.
pub fn scroll_box(name: &str) -> String {
    let name = escape(&foreign::one_line(name));
    format!("<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{name}\">")
}

/// What a table is called: by itself, by what stands above it, or by its columns.
fn table_name(table: &DataTable, above: &str) -> String {
    let title = table.title.one_line();
    let own = [title.as_str(), above].into_iter().find(|name| !name.is_empty());
    own.map(str::to_owned).unwrap_or_else(|| {
        let heads = table.heads.iter().map(|head| head.title.one_line());
        let heads: Vec<String> = heads.filter(|head| !head.is_empty()).collect();
        if heads.is_empty() { "table".to_owned() } else { format!("table of {}", heads.join(", ")) }
    })
}

/// Characters of the longest word that is not broken anywhere.
const LONG_WORD: usize = 24;
/// Characters that a drawing and the space between two columns take.
const OF_DRAWING: usize = 16;
const OF_SPACE: usize = 2;

/// Characters of the longest piece that a line may not be broken in.
fn longest_word(cell: &TableCell) -> usize {
    let of_small = cell.small.iter().map(longest_word).max().unwrap_or(0);
    let text = cell.one_line(0);
    let words = text.split([' ', '-']).map(|word| word.chars().count() + 1);
    words.max().unwrap_or(0).saturating_sub(1).max(of_small) + cell.marks.len()
}

/// Whether paper may break words of a cell anywhere.
fn is_long(cell: &TableCell) -> bool {
    longest_word(cell) > LONG_WORD
}

/// About how many characters of a line a table takes where all words are wrapped: by this, paper
/// finds a size of letters at which nothing is cut off.
fn least_characters(table: &DataTable) -> usize {
    let columns = table.heads.iter().enumerate().map(|(at, head)| {
        let title = Text::from(head.title.one_line().replace(GLUE, " "));
        let of_head = longest_word(&title.into()) + head.marks.len();
        let cells = table.rows.iter().filter_map(|row| row.cells.get(at));
        let words = cells.map(longest_word).fold(of_head, usize::max);
        let least = match (head.is_drawing, head.alignment) {
            (true, _) => OF_DRAWING,
            (false, Alignment::Left) => words.min(LONG_WORD),
            (false, Alignment::Right) => words,
        };
        least + OF_SPACE
    });
    columns.sum()
}

fn of_table(table: &DataTable, above: &str) -> String {
    let mut text = String::new();
    if !table.title.is_empty() {
        text.push_str(&format!("<h2>{}</h2>\n", line(&table.title)));
    }
    let (name, least) = (table_name(table, above), least_characters(table));
    text.push_str(&format!("{}<table style=\"--least:{least}\">\n", scroll_box(&name)));
    if table.heads.iter().any(|head| !head.title.is_empty()) {
        let heads: String = table.heads.iter().map(of_head).collect();
        text.push_str(&format!("<thead><tr>{heads}</tr></thead>\n"));
    }
    text.push_str("<tbody>\n");
    for (number, row) in table.rows.iter().enumerate() {
        let is_sum = table.has_sum && number + 1 == table.rows.len();
        if row.is_group && number > 0 {
            text.push_str("</tbody>\n<tbody>\n");
        }
        text.push_str(&of_row(table, row, if is_sum { "sum" } else { "group" }));
    }
    text.push_str("</tbody>\n</table></div>\n");
    let columns: Vec<usize> = (0..table.heads.len()).collect();
    text.extend(table.legend_texts(&columns).into_iter().map(aside));
    text
}

fn aside(text: &Text) -> String {
    format!("<p class=\"aside\">{}</p>\n", line(text))
}

fn of_head(head: &ColumnHead) -> String {
    if head.title.is_empty() {
        return "<td></td>".to_owned();
    }
    if head.is_drawing {
        let title = line(&head.title);
        return format!(
            "<th scope=\"col\" class=\"picture\"><span class=\"unseen\">{title}</span></th>"
        );
    }
    let class = match (head.tone, head.alignment) {
        (ColumnTone::Base, _) => " class=\"base\"",
        (ColumnTone::Test, _) => " class=\"test\"",
        (ColumnTone::None, Alignment::Left) => " class=\"text\"",
        (ColumnTone::None, Alignment::Right) => "",
    };
    // A target is broken behind its kind, if it must be.
    let title = of_text(&head.cell()).replacen(':', ":<wbr>", 1);
    // No screen breaks heads, but paper does, where there are many columns.
    let title = title.replace(GLUE, " ");
    format!("<th scope=\"col\"{class}>{title}</th>")
}

/// A row, whose first cell names it if it has words. One that names others, or is their sum, has a
/// class.
fn of_row(table: &DataTable, row: &TableRow, class: &str) -> String {
    let is_special = row.is_group || class == "sum";
    let mut text = if is_special { format!("<tr class=\"{class}\">") } else { "<tr>".to_owned() };
    for (at, cell) in row.cells.iter().enumerate() {
        let is_across = row.is_group && row.cells.len() == 1;
        text.push_str(&match at {
            0 if is_across => {
                let span = table.heads.len();
                format!("<th scope=\"rowgroup\" colspan=\"{span}\">{}</th>", of_text(cell))
            }
            0 if table.heads[0].alignment == Alignment::Left => {
                let scope = if row.is_group { "rowgroup" } else { "row" };
                let class = if is_long(cell) { " class=\"long\"" } else { "" };
                format!("<th scope=\"{scope}\"{class}>{}</th>", of_text(cell))
            }
            _ => of_cell(&table.heads[at], cell),
        });
    }
    text + "</tr>\n"
}

fn of_cell(head: &ColumnHead, cell: &TableCell) -> String {
    if head.is_drawing {
        return format!("<td class=\"picture\">{}</td>", cell.drawing);
    }
    let (shade, strength) = cell.shade;
    let tint = cell.nth_form(0).first().map_or("", |span| span.tint.css_class());
    let words = match (head.alignment, head.tone) {
        (Alignment::Left, _) => "text",
        (Alignment::Right, ColumnTone::Base) => "base",
        (Alignment::Right, _) => "",
    };
    let answer = if cell.is_answer { ["answer", tint] } else { ["", ""] };
    let long = if head.alignment == Alignment::Left && is_long(cell) { "long" } else { "" };
    let classes = [&[words, long], &answer[..], &[shade.css_class()]].concat();
    let classes: Vec<&str> = classes.into_iter().filter(|class| !class.is_empty()).collect();
    let class = match classes.join(" ") {
        none if none.is_empty() => none,
        some => format!(" class=\"{some}\""),
    };
    let style = strength.map(|share| format!(" style=\"--share:{share:.0}%\""));
    let id = cell.anchor.as_ref().map(|anchor| format!(" id=\"{}\"", escape(anchor)));
    let attributes = [id, style].into_iter().flatten().collect::<String>();
    format!("<td{class}{attributes}>{}</td>", of_text(cell))
}

/// The text of a cell with its links.
fn of_text(cell: &TableCell) -> String {
    let mut text = escape(&cell.one_line(0));
    if let Some(anchor) = &cell.link {
        text = format!("<a href=\"#{}\">{text}</a>", escape(anchor));
    }
    let marks = cell.marks.iter().map(|mark| format!("<a href=\"#note-{mark}\">{mark}</a>"));
    let marks = marks.collect::<Vec<String>>().join(" ");
    if !marks.is_empty() {
        text.push_str(&format!("<sup class=\"marks\">{marks}</sup>"));
    }
    for small in &cell.small {
        let class = small.shade.0.css_class();
        text.push_str(&format!("<br><small class=\"{class}\">{}</small>", of_text(small)));
    }
    text
}

fn line(text: &Text) -> String {
    escape(&text.one_line())
}

/// The head of a page that opens from disk, fetches nothing, and runs no script but its own.
pub struct PageHead<'a> {
    /// What the page is called.
    pub title: &'a str,
    /// Its styles, one behind the other.
    pub styles: &'a [&'a str],
    /// The text of the only script that may run: a policy admits it by its hash.
    pub script: Option<&'a str>,
}

impl PageHead<'_> {
    /// All of a page before its body.
    pub fn html(&self) -> String {
        let script = match self.script {
            Some(script) => format!("'sha256-{}'", STANDARD.encode(Sha256::digest(script))),
            None => "'none'".to_owned(),
        };
        format!(
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; \
             style-src 'unsafe-inline'; script-src {script}; base-uri 'none'; form-action 'none'\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta name=\"color-scheme\" content=\"light dark\">\n\
             <title>{}</title>\n<style>\n{}{TABLE_STYLE}</style>\n</head>\n",
            escape(&foreign::one_line(self.title)),
            self.styles.concat()
        )
    }
}

/// Text that means itself, as content and between double or single quotes; XML, of which drawings
/// are, has no control characters.
pub fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len() + 16);
    let mut before = ' ';
    for c in foreign::lines(text).chars() {
        match c {
            // No word of a runner's, if somebody prints the page into a log.
            '#' if before == '#' => escaped.push_str("&#35;"),
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            c => escaped.push(c),
        }
        before = c;
    }
    escaped
}

/// JSON for a `<script>` block, whose texts show themselves as those of the page do. Inside one,
/// only `<` can end the block or open a comment, and JSON has `<` in strings only, where it may be
/// written as an escape.
pub fn data_block(data: &impl Serialize) -> String {
    let mut data = serde_json::to_value(data)
        .expect("the data of a page has only string keys and values that JSON can express");
    show_texts(&mut data);
    plain_json(data.to_string()).replace('<', "\\u003c").replace("##", "#\\u0023")
}

fn show_texts(data: &mut Value) {
    match data {
        Value::String(text) => *text = foreign::lines(text).into_owned(),
        Value::Array(all) => all.iter_mut().for_each(show_texts),
        Value::Object(all) => all.values_mut().for_each(show_texts),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_leaves_its_place() {
        assert_eq!(escape("<a b='\"'>&amp;"), "&lt;a b=&#39;&quot;&#39;&gt;&amp;amp;");
        assert_eq!(data_block(&"</script><!--"), "\"\\u003c/script>\\u003c!--\"");
        assert_eq!(escape("# ##vso[x]"), "# #&#35;vso[x]");
        assert_eq!(data_block(&"##vso[x]"), "\"#\\u0023vso[x]\"");
        assert_eq!(data_block(&["a\u{1b}[31m", "b\nc"]), "[\"a\u{fffd}[31m\",\"b\\nc\"]");
    }
}
