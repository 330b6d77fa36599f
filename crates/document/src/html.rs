//! Text on its way into HTML.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use dbdyno_model::{Arm, foreign};
use serde::Serialize;
use sha2::{Digest as _, Sha256};

use crate::element::{Document, Element, LabelledItem};
use crate::json::plain_json;
use crate::table::{Alignment, DataTable};
use crate::text::Text;

/// What tables need beside the style of a page.
const TABLE_STYLE: &str = "td.text,th.text{text-align:left}\
tr.sum td{border-top:1px solid var(--ink);font-weight:600}\n";

/// The passages of the document as parts of the body of a page.
pub fn written(document: &Document) -> String {
    document.passages.iter().map(|passage| of_passage(passage)).collect()
}

fn of_passage(passage: &[Element]) -> String {
    let is_head = passage.iter().any(|element| matches!(element, Element::Headline(_)));
    let tag = if is_head { "header" } else { "section" };
    let elements: String = passage.iter().map(of_element).collect();
    format!("<{tag}>\n{elements}</{tag}>\n")
}

fn of_element(element: &Element) -> String {
    match element {
        Element::Headline(text) => format!("<h1>{}</h1>\n", line(text)),
        Element::Title(text) => format!("<h2>{}</h2>\n", line(text)),
        Element::Sentence(text) | Element::Prose(text) => format!("<p>{}</p>\n", line(text)),
        Element::Lines(lines) => {
            let lines: Vec<String> = lines.iter().map(line).collect();
            format!("<pre>{}</pre>\n", lines.join("\n"))
        }
        Element::Arms(labels) => {
            let label =
                |arm| format!("<dt class=\"{arm}\">{arm}</dt><dd>{}</dd>\n", line(&labels[arm]));
            format!("<dl class=\"arms\">\n{}</dl>\n", Arm::BOTH.map(label).concat())
        }
        Element::Items(items) => of_items(items),
        Element::Notes(notes) => {
            notes.iter().map(|note| format!("<p class=\"aside\">{}</p>\n", line(note))).collect()
        }
        Element::Table(table) => of_table(table),
    }
}

fn of_items(items: &[LabelledItem]) -> String {
    let of_item = |item: &LabelledItem| {
        let labels = item.labels.iter().map(|label| format!("<b>{}</b> ", line(&label.text)));
        let labels: String = labels.collect();
        let details = match item.details.as_slice() {
            [] => String::new(),
            details => of_items(details),
        };
        format!("<li>{labels}{}{details}</li>\n", line(&item.text))
    };
    format!("<ul>\n{}</ul>\n", items.iter().map(of_item).collect::<String>())
}

fn of_table(table: &DataTable) -> String {
    let class = |at: usize| match table.heads[at].alignment {
        Alignment::Left => " class=\"text\"",
        Alignment::Right => "",
    };
    let mut text = String::new();
    if !table.title.is_empty() {
        text.push_str(&format!("<h2>{}</h2>\n", line(&table.title)));
    }
    text.push_str("<div class=\"scroll\"><table>\n<thead><tr>");
    for (at, head) in table.heads.iter().enumerate() {
        text.push_str(&format!("<th scope=\"col\"{}>{}</th>", class(at), line(&head.title)));
    }
    text.push_str("</tr></thead>\n<tbody>\n");
    for (number, row) in table.rows.iter().enumerate() {
        let is_sum = table.has_sum && number + 1 == table.rows.len();
        text.push_str(if is_sum { "<tr class=\"sum\">" } else { "<tr>" });
        for (at, cell) in row.iter().enumerate() {
            text.push_str(&format!("<td{}>{}</td>", class(at), line(cell)));
        }
        text.push_str("</tr>\n");
    }
    text + "</tbody>\n</table></div>\n"
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

/// JSON for a `<script>` block. Inside one, only `<` can end the block or open a comment, and JSON
/// has `<` in strings only, where it may be written as an escape.
pub fn data_block(data: &impl Serialize) -> String {
    let json = serde_json::to_string(data)
        .expect("the data of a page has only string keys and values that JSON can express");
    plain_json(json).replace('<', "\\u003c").replace("##", "#\\u0023")
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
    }
}
