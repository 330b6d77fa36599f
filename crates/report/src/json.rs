//! JSON: the contract with scripts, [`crate::Summary`] as it stands.

use crate::view::View;

/// The answer as JSON, indented, ending with a line feed. Unobservable values and interval bounds
/// that are not finite are `null`.
pub fn json(view: &View) -> String {
    let mut json = serde_json::to_string_pretty(&view.summary)
        .expect("a summary has only string keys and values that JSON can express");
    json.push('\n');
    json
}
