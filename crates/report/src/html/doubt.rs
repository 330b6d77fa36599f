//! How sure each cell is, with the levels as a bar.
//!
//! ```text
//!   ████████████▓▓▓▓▓▓▓░░    pairs, restarts, reloads: shares of the variance
//! ```

use dbdyno_document::html::escape;

use super::fold::folded;
use crate::doubt;
use crate::view::{CellView, View};
use crate::words;

/// The table with its bars, reasons and what q-values are of.
pub(super) fn table(view: &View) -> String {
    let cells = &view.summary.cells;
    if cells.is_empty() {
        return String::new();
    }
    let mut text = String::from("<div class=\"scroll\"><table>\n<thead><tr><td></td>");
    for (at, head) in doubt::HEAD.iter().enumerate() {
        text.push_str(&format!("<th scope=\"col\">{}</th>", escape(head)));
        if at == 2 {
            text.push_str(
                "<th scope=\"col\" class=\"picture\"><span class=\"unseen\">levels drawn</span>\
                 </th>",
            );
        }
    }
    text.push_str("</tr></thead>\n<tbody>\n");
    for cell in cells {
        let row = doubt::row(view, cell);
        text.push_str(&format!("<tr><th scope=\"row\">{}</th>", escape(&words::place(cell))));
        for told in [&row.interval, &row.q, &row.single] {
            text.push_str(&format!("<td>{}</td>", escape(told)));
        }
        text.push_str(&format!("<td class=\"picture\">{}</td>", bar(cell)));
        for share in &row.shares {
            text.push_str(&format!("<td>{}</td>", escape(share)));
        }
        text.push_str(&format!("<td>{}</td></tr>\n", escape(&row.minute)));
    }
    text.push_str("</tbody>\n</table></div>\n");
    for reason in doubt::reasons(view) {
        text.push_str(&format!("<p class=\"aside\">{}.</p>\n", escape(&reason)));
    }
    text.push_str(&format!("<p class=\"aside\">{}</p>\n", escape(&doubt::aside(view))));
    folded("doubt", "How sure, and where the doubt comes from", &text)
}

/// Shares of the variance side by side, the lowest level first and darkest.
fn bar(cell: &CellView) -> String {
    const WIDTH: f64 = 110.0;
    const SHADES: [&str; 3] = ["0.75", "0.4", "0.15"];
    if cell.doubt.levels.is_empty() {
        return String::new();
    }
    let mut parts = String::new();
    let mut from = 0.0;
    for (level, shade) in cell.doubt.levels.iter().zip(SHADES) {
        let width = level.share.unwrap_or(0.0) * WIDTH;
        parts.push_str(&format!(
            "<path fill=\"currentColor\" fill-opacity=\"{shade}\" d=\"M{from:.1} 2H{:.1}V14H{from:.1}Z\"/>",
            from + width
        ));
        from += width;
    }
    format!(
        "<svg viewBox=\"0 0 {WIDTH} 16\" width=\"{WIDTH}\" height=\"16\" aria-hidden=\"true\">\
         {parts}</svg>"
    )
}
