//! Text from outside in Markdown.

use crate::layout::printable;

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
