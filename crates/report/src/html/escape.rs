//! Text on its way into HTML.

use dbdyno_model::foreign;
use serde::Serialize;

use crate::json::plain_json;

/// Text that means itself, as content and between double or single quotes; XML, of which drawings
/// are, has no control characters.
pub(crate) fn escape(text: &str) -> String {
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
pub(crate) fn data_block(data: &impl Serialize) -> String {
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
