//! CSV by RFC 4180: fields with a comma, a quote or a line break are quoted, quotes doubled, lines
//! end with CR LF. A text that a spreadsheet would run begins with an apostrophe.

use dbdyno_model::foreign;

use crate::element::{Document, Element};

/// The tables of the document, of each the columns that programs read, under a row of their names.
/// Tables of the same names that follow each other are one.
pub fn render_document(document: &Document) -> String {
    let tables = document.all_elements().filter_map(|element| match element {
        Element::Table(table) if !table.names.is_empty() => Some(table),
        _ => None,
    });
    let (mut text, mut names): (String, &[&str]) = (String::new(), &[]);
    for table in tables {
        if table.names != names {
            names = &table.names;
            text.push_str(&record_line(names.iter().map(|name| (*name).to_owned()).collect()));
        }
        table.records.iter().for_each(|record| text.push_str(&record_line(record.clone())));
    }
    text
}

/// A number as it was recorded; one that is not known, or not finite, is an empty field.
pub fn number_field(value: Option<f64>) -> String {
    value.filter(|value| value.is_finite()).map_or_else(String::new, |value| value.to_string())
}

/// A line of these fields, with its end.
pub fn record_line(fields: Vec<String>) -> String {
    let quoted: Vec<String> = fields.into_iter().map(quote).collect();
    quoted.join(",") + "\r\n"
}

fn quote(field: String) -> String {
    let field = no_formula(foreign::lines(&field).into_owned());
    if field.contains(['"', ',', '\n', '\r']) {
        format!("\"{}\"", field.replace('"', "\"\""))
    } else {
        field
    }
}

/// A spreadsheet runs what begins like a formula, also behind blanks and in wide letters; behind an
/// apostrophe it is text (OWASP, "CSV Injection"). Numbers stay numbers.
fn no_formula(field: String) -> String {
    let begins = ['=', '+', '-', '@', '＝', '＋', '－', '＠'];
    let is_formula = field.trim_start().starts_with(begins) || field.starts_with('\t');
    let is_number = field.parse::<f64>().is_ok();
    if is_formula && !is_number { format!("'{field}") } else { field }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_needs_quotes_gets_them() {
        let quoted = |text: &str| quote(text.to_owned());
        assert_eq!(quoted("plain text µ"), "plain text µ");
        assert_eq!(quoted("a,b"), "\"a,b\"");
        assert_eq!(quoted("say \"x\""), "\"say \"\"x\"\"\"");
        assert_eq!(quoted("two\nlines"), "\"two\nlines\"");
    }

    #[test]
    fn no_spreadsheet_runs_a_field() {
        let quoted = |text: &str| quote(text.to_owned());
        assert_eq!(quoted("=cmd|' /C calc'!A0"), "'=cmd|' /C calc'!A0");
        assert_eq!(quoted(" @SUM(1,2)"), "\"' @SUM(1,2)\"");
        assert_eq!(quoted("\t=1"), "'\t=1");
        assert_eq!(quoted("＝1+1"), "'＝1+1");
        assert_eq!(quoted("-1+1"), "'-1+1");
        for number in ["-0.25", "+1", "-1e-9", "12"] {
            assert_eq!(quoted(number), number);
        }
        assert_eq!(quoted("a\u{1b}[2J\u{202e}"), "a\u{fffd}[2J\u{fffd}");
    }
}
