//! JSON: the contract with scripts, [`crate::Summary`] as it stands.

use std::fmt::Write as _;

use dbdyno_model::foreign::steers;
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
pub fn json_text(document: &impl Serialize) -> String {
    let mut json = serde_json::to_string_pretty(document)
        .expect("documents have only string keys and values that JSON can express");
    json.push('\n');
    plain_json(json)
}

/// The same JSON, in which nothing steers: such characters stand in strings only, where they may be
/// escapes, and so may the number signs with which commands of continuous integration begin.
pub fn plain_json(json: String) -> String {
    let is_plain = |c: char| c == '\n' || !steers(c);
    if json.chars().all(is_plain) && !json.contains("##") {
        return json;
    }
    let mut plain = String::with_capacity(json.len());
    for c in json.chars() {
        if is_plain(c) {
            plain.push(c);
        } else {
            for unit in c.encode_utf16(&mut [0; 2]) {
                let _infallible = write!(plain, "\\u{unit:04x}");
            }
        }
    }
    plain.replace("##", "#\\u0023")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_reads_what_was_recorded() {
        let hostile = "a\u{9b}\u{7f}\u{202e}\n\u{e0041}###[error]\u{1b}é";
        let json = json_text(&hostile);
        assert_eq!(serde_json::from_str::<String>(&json).unwrap(), hostile);
        let (text, end) = json.split_at(json.len() - 1);
        assert!(!text.contains(steers) && !text.contains("##") && end == "\n", "{json}");
    }
}
