//! JSON that whoever shows it is not steered by.

use std::fmt::Write as _;

use dbdyno_model::foreign::is_nonprinting;

/// The same JSON, in which nothing steers: such characters stand in strings only, where they may be
/// escapes, and so may the number signs with which commands of continuous integration begin.
pub fn plain_json(json: String) -> String {
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

fn is_plain(c: char) -> bool {
    c == '\n' || !is_nonprinting(c)
}
