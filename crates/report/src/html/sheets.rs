//! The tables of the Insert Benchmark, of what engines did, and of what was counted.

use dbdyno_document::html::escape;

use crate::counts;
use crate::mechanisms;
use crate::sheet::{Sheet, SheetCell, Tint};
use crate::sheets::of_steps;
use crate::view::View;

pub(super) fn tables(view: &View) -> String {
    let steps = section("steps", "Insert Benchmark", &of_steps(view));
    let engines = section("mechanisms", mechanisms::TITLE, &mechanisms::sheets(view));
    steps + &engines + &section("counts", counts::TITLE, &counts::sheets(view))
}

fn section(id: &str, title: &str, sheets: &[Sheet]) -> String {
    if sheets.is_empty() {
        return String::new();
    }
    let mut text = format!(
        "<section aria-labelledby=\"{id}-title\">\n<h2 id=\"{id}-title\">{}</h2>\n",
        escape(title)
    );
    for sheet in sheets {
        let own = sheet.title.strip_prefix(title).unwrap_or(&sheet.title);
        let own = own.strip_prefix(": ").unwrap_or(own);
        // The first table of a section may have no other name than the section.
        if !own.is_empty() {
            text.push_str(&format!("<h3>{}</h3>\n", escape(own.trim_start())));
        }
        text.push_str(&bare(sheet));
    }
    text + "</section>\n"
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
