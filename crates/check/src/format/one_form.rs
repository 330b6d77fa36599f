//! Keys and values that a file of JSON has in one form each.
//!
//! ```text
//!   ["w", "x", 1]   ["r", "x", 1]       one value
//!   ["w", "x", 1]   ["r", "x", "1"]     two, of which nobody wrote the second: refused
//! ```
//!
//! Whoever wrote a number and a text of the same digits has two values; a client that turned one
//! into the other meant one. Where a value that nobody wrote is taken for what was there at the
//! beginning, either may hide what is broken.

use std::collections::HashMap;

use serde_json::Value;

use super::jepsen_json::number_written;
use crate::builder::{NameForm, NameForms};

/// The forms that keys and values of a file have.
#[derive(Default)]
pub(super) struct OneForm {
    keys: NameForms,
    /// By key the form of its values, and the first of them.
    values: HashMap<String, (NameForm, String)>,
}

impl OneForm {
    /// What a key is called.
    ///
    /// # Errors
    /// It is neither a number nor a text, or stood in the other form before.
    pub(super) fn key(&mut self, key: &Value) -> Result<String, String> {
        match key {
            Value::String(name) => {
                self.keys.require_form(name, NameForm::Text)?;
                Ok(name_of_text(name))
            }
            Value::Number(number) => {
                let name = number_written(number);
                self.keys.require_form(&name, NameForm::Bare)?;
                Ok(name)
            }
            Value::Null => Err("it has no key".to_owned()),
            other => Err(format!("{other} is no key, which is a number or a text")),
        }
    }

    /// What a value of a key is called.
    ///
    /// # Errors
    /// It is neither a whole number nor a text, or another value of the key is of the other kind.
    pub(super) fn value(&mut self, key: &str, value: &Value) -> Result<String, String> {
        let (form, name) = match value {
            Value::String(name) => (NameForm::Text, name_of_text(name)),
            Value::Number(number) if is_whole(&number_written(number)) => {
                (NameForm::Bare, number_written(number))
            }
            other => return Err(format!("{other} is no value, which is a whole number or a text")),
        };
        let known = self.values.get(key);
        let Some((_, first)) = known.filter(|(known, _)| *known != form) else {
            if known.is_none() {
                self.values.insert(key.to_owned(), (form, value.to_string()));
            }
            return Ok(name);
        };
        let (kind, other) = match form {
            NameForm::Text => ("a text", "a number"),
            _ => ("a number", "a text"),
        };
        Err(format!(
            "{value} is {kind}, and {first}, another value of this key, is {other}: whoever wrote \
             them may have meant one value or two; write the values of a key in one form"
        ))
    }
}

/// A text of digits is another name than the number.
fn name_of_text(name: &str) -> String {
    if name.parse::<f64>().is_ok() { format!("{name:?}") } else { name.to_owned() }
}

fn is_whole(number: &str) -> bool {
    number.trim_start_matches('-').bytes().all(|byte| byte.is_ascii_digit())
}
