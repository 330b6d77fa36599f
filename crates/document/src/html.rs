//! Text on its way into HTML.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use dbdyno_model::foreign;
use serde::Serialize;
use sha2::{Digest as _, Sha256};

use crate::json::plain_json;

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
             <title>{}</title>\n<style>\n{}</style>\n</head>\n",
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
