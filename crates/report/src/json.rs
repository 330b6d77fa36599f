//! JSON: the contract with scripts, [`crate::Summary`] as it stands.

use dbdyno_document::json::plain_json;
use serde::Serialize;

use crate::view::View;

/// The answer as JSON, indented, ending with a line feed. Unobservable values and interval bounds
/// that are not finite are `null`.
pub fn json(view: &View) -> String {
    json_text(&view.summary)
}

/// Any document as JSON, indented, ending with a line feed. A program reads what was recorded, and
/// a terminal shows it: characters that would steer one are written as escapes.
///
/// # Panics
/// If it has a key that is no string, or a value that JSON cannot express: none of ours has.
pub(crate) fn json_text(document: &impl Serialize) -> String {
    let mut json = serde_json::to_string_pretty(document)
        .expect("documents have only string keys and values that JSON can express");
    json.push('\n');
    plain_json(json)
}

/// The same as one line, for those who read lines as they come.
pub(crate) fn json_line(document: &impl Serialize) -> String {
    let mut json = serde_json::to_string(document)
        .expect("documents have only string keys and values that JSON can express");
    json.push('\n');
    plain_json(json)
}

#[cfg(test)]
mod tests {
    use super::*;
    use dbdyno_model::foreign::is_nonprinting;

    #[test]
    fn a_program_reads_what_was_recorded() {
        let hostile = "a\u{9b}\u{7f}\u{202e}\n\u{e0041}###[error]\u{1b}é";
        let json = json_text(&hostile);
        assert_eq!(serde_json::from_str::<String>(&json).unwrap(), hostile);
        let (text, end) = json.split_at(json.len() - 1);
        assert!(!text.contains(is_nonprinting) && !text.contains("##") && end == "\n", "{json}");
    }
}
