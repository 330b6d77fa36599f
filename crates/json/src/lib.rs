//! JSON of strangers, in which a name stands once in an object.
//!
//! ```text
//!   {"value": 1, "value": 2}      most readers take the last, some the first: the other is gone
//!                     ▲            without a word. Here it is an error, at its line and column
//! ```
//!
//! Whatever reads JSON that a user names reads it by this rule: what is told twice is not known.
//! Documents in which servers tell of themselves say things twice and in an order that matters:
//! they are read as they are written ([`parse_tree()`]). Both may take so much memory and no more
//! (`budget`). What a store has kept is written by programs that are known.

mod budget;
mod tree;
mod unique;

use std::fmt;

pub use tree::JsonTree;
pub use unique::{Unique, stands_twice};

use serde_json::Value;

/// What is wrong with a text, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wrong {
    /// From 1.
    pub line: usize,
    /// From 1, in bytes.
    pub column: usize,
    /// A sentence that says what stands there.
    pub what: String,
}

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.line, self.column, self.what)
    }
}

impl std::error::Error for Wrong {}

impl Wrong {
    /// What a reader of JSON has found wrong, without the place in its words.
    pub fn from_error(error: &serde_json::Error) -> Wrong {
        let text = error.to_string();
        let what = text.split(" at line ").next().unwrap_or_default();
        let what =
            if error.is_data() { what.to_owned() } else { format!("this is no JSON: {what}") };
        Wrong { line: error.line().max(1), column: error.column().max(1), what }
    }
}

/// The one value that a text is.
///
/// # Errors
/// What is no JSON, and a name that stands twice in an object.
pub fn value(text: &str) -> Result<Value, Wrong> {
    serde_json::from_str(text).map(|Unique(value)| value).map_err(|error| Wrong::from_error(&error))
}

/// The one document of a server that a text is, as it is written.
///
/// # Errors
/// What is no JSON, is nested too deeply, or takes too much memory.
pub fn parse_tree(text: &str) -> Result<JsonTree, Wrong> {
    serde_json::from_str(text).map_err(|error| Wrong::from_error(&error))
}

/// The values of a text that stand one behind the other. After an error there is no other one.
pub fn values(text: &str) -> impl Iterator<Item = Result<Value, Wrong>> {
    let all = serde_json::Deserializer::from_str(text).into_iter::<Unique>();
    all.map(|next| next.map(|Unique(value)| value).map_err(|error| Wrong::from_error(&error)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wrong_has_one_place() {
        let wrong = value("{\"a\": 1,\n \"a\": 2}").unwrap_err();
        assert!(wrong.to_string().starts_with("2:4: the name \"a\" stands twice"), "{wrong}");
        let wrong = value("{\"a\": }").unwrap_err();
        assert_eq!(wrong.to_string(), "1:7: this is no JSON: expected value");
        assert_eq!(value("[1, null]").unwrap(), serde_json::json!([1, null]));
        let all: Vec<_> = values("{\"a\": 1}\n{\"b\": 1, \"b\": 2}\n{}").collect();
        assert_eq!(all[0], Ok(serde_json::json!({"a": 1})));
        assert_eq!(all[1].as_ref().map_err(|wrong| (wrong.line, wrong.column)), Err((2, 12)));
    }
}
