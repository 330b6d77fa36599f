//! The tables of the Insert Benchmark.

use super::escape::escape;
use crate::sheets::{Sheet, SheetCell, Tint, sheets};
use crate::view::View;

pub(super) fn tables(view: &View) -> String {
    let sheets = sheets(view);
    if sheets.is_empty() {
        return String::new();
    }
    let mut text = String::from(
        "<section aria-labelledby=\"steps-title\">\n<h2 id=\"steps-title\">Insert Benchmark</h2>\n",
    );
    sheets.iter().for_each(|sheet| text.push_str(&table(sheet)));
    text + "</section>\n"
}

fn table(sheet: &Sheet) -> String {
    let title = sheet.title.strip_prefix("Insert Benchmark: ").unwrap_or(&sheet.title);
    format!("<h3>{}</h3>\n{}", escape(title), bare(sheet))
}

/// A table without its title.
pub(super) fn bare(sheet: &Sheet) -> String {
    let mut text = String::from("<div class=\"scroll\"><table>\n<thead><tr><td></td>");
    for name in &sheet.head {
        text.push_str(&format!("<th scope=\"col\">{}</th>", escape(name)));
    }
    text.push_str("</tr></thead>\n<tbody>\n");
    for (label, cells) in &sheet.rows {
        text.push_str(&format!("<tr><th scope=\"row\">{}</th>", escape(label)));
        cells.iter().for_each(|cell| text.push_str(&field(cell)));
        text.push_str("</tr>\n");
    }
    text + &format!("</tbody>\n</table></div>\n<p class=\"aside\">{}</p>\n", escape(&sheet.aside))
}

/// Translucent, so that it is right on light and on dark paper.
fn field(cell: &SheetCell) -> String {
    let colour = match cell.tint {
        Tint::None => return format!("<td>{}</td>", escape(&cell.text)),
        Tint::Red => "220 60 60",
        Tint::Green => "50 170 80",
        Tint::Grey => "128 128 128",
        Tint::Yellow => "230 190 30",
        Tint::Blue => "60 120 230",
    };
    format!("<td style=\"background:rgb({colour} / .28)\">{}</td>", escape(&cell.marked()))
}
