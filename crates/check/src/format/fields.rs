//! Fields of JSON: each is of its kind, or missing. What is of another kind was meant for
//! something, and is not taken for untold.

use serde_json::Value;

/// True or false; `None` where it is missing or null.
pub(super) fn flag_of(object: &Value, name: &str) -> Result<Option<bool>, String> {
    match &object[name] {
        Value::Null => Ok(None),
        Value::Bool(flag) => Ok(Some(*flag)),
        other => Err(of_another_kind(name, other, "true or false")),
    }
}

/// A whole number from 0; `None` where it is missing or null.
pub(super) fn count_of(object: &Value, name: &str) -> Result<Option<u64>, String> {
    match &object[name] {
        Value::Null => Ok(None),
        value => match value.as_u64() {
            Some(count) => Ok(Some(count)),
            None => Err(of_another_kind(name, value, "a whole number from 0")),
        },
    }
}

/// A text; `None` where it is missing.
pub(super) fn word_of<'a>(object: &'a Value, name: &str) -> Result<Option<&'a str>, String> {
    match object.get(name) {
        None => Ok(None),
        Some(Value::String(word)) => Ok(Some(word)),
        Some(other) => Err(of_another_kind(name, other, "a text")),
    }
}

/// A list.
pub(super) fn list_in<'a>(value: &'a Value, name: &str) -> Result<&'a [Value], String> {
    match value {
        Value::Array(items) => Ok(items),
        other => Err(of_another_kind(name, other, "a list")),
    }
}

fn of_another_kind(name: &str, value: &Value, kind: &str) -> String {
    /// Letters of a value that are told.
    const TOLD: usize = 40;
    let told: String = value.to_string().chars().take(TOLD).collect();
    format!("{name:?} is {told}; it is {kind}")
}
