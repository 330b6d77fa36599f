//! Values of JSON, of the kind that their place in a known form has.
//!
//! ```text
//!   "iterations": 0      a number, as the tool writes it
//!   "iterations": "0"    the same, from a program between the tool and the file
//!   "iterations": [0]    refused, with its place
//! ```
//!
//! A value of another kind is not the same as none: where it is left out, a run that failed counts
//! as a fast one, and a row that is worse vanishes.

use dbdyno_model::foreign;
use serde_json::Value;

/// A value is quoted by so many letters.
const QUOTED_LETTERS_MOST: usize = 60;

/// A value as it would stand in a cell; `None` for a list or an object.
pub(super) fn text_of(value: &Value) -> Option<String> {
    match value {
        Value::Null => Some(String::new()),
        Value::Bool(is) => Some(is.to_string()),
        Value::Number(number) => Some(number.to_string()),
        Value::String(text) => Some(text.clone()),
        Value::Array(_) | Value::Object(_) => None,
    }
}

/// A number with its unit; blank where there is none.
pub(super) fn with_unit(value: &str, unit: &str) -> String {
    if value.is_empty() { String::new() } else { format!("{value} {unit}").trim().to_owned() }
}

/// A value in JSON, of a long one the beginning.
pub(super) fn quoted_value(value: &Value) -> String {
    let json = value.to_string();
    let mut letters = json.chars();
    let quoted: String = letters.by_ref().take(QUOTED_LETTERS_MOST).collect();
    let more = if letters.next().is_some() { "…" } else { "" };
    format!("{}{more}", foreign::one_line(&quoted))
}

/// Why a value cannot stand in its place.
pub(super) fn kind_refusal(name: &str, value: &Value, wanted: &str) -> String {
    format!("{name:?} is {}, and no {wanted}", quoted_value(value))
}

/// A field as it would stand in a cell; blank for null.
///
/// # Errors
/// It is a list or an object.
pub(super) fn cell_at(of: &Value, name: &str) -> Result<Option<String>, String> {
    let Some(value) = of.get(name) else { return Ok(None) };
    text_of(value).map(Some).ok_or_else(|| kind_refusal(name, value, "single value"))
}

/// A field that is a text; `None` for null.
///
/// # Errors
/// It is of another kind.
pub(super) fn text_at(of: &Value, name: &str) -> Result<Option<String>, String> {
    match of.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(other) => Err(kind_refusal(name, other, "text")),
    }
}

/// A field that is a number, or a text of one; `None` for null and for a blank text.
///
/// # Errors
/// It is of another kind.
pub(super) fn number_at(of: &Value, name: &str) -> Result<Option<f64>, String> {
    let Some(value) = of.get(name) else { return Ok(None) };
    let number = match value {
        Value::Null => return Ok(None),
        Value::String(text) if text.trim().is_empty() => return Ok(None),
        Value::String(text) => text.trim().parse().ok(),
        other => other.as_f64(),
    };
    number.map(Some).ok_or_else(|| kind_refusal(name, value, "number"))
}

/// A field that is true or false, or one of these words; `None` for null and for a blank text.
///
/// # Errors
/// It is of another kind.
pub(super) fn truth_at(of: &Value, name: &str) -> Result<Option<bool>, String> {
    match of.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::Bool(is)) => Ok(Some(*is)),
        Some(value) => match value.as_str().map(|text| text.trim().to_ascii_lowercase()).as_deref()
        {
            Some("") => Ok(None),
            Some("true") => Ok(Some(true)),
            Some("false") => Ok(Some(false)),
            _ => Err(kind_refusal(name, value, "true or false")),
        },
    }
}

/// A field that is a list; empty where there is none.
///
/// # Errors
/// It is of another kind.
pub(super) fn list_at<'v>(of: &'v Value, name: &str) -> Result<&'v [Value], String> {
    match of.get(name) {
        None => Ok(&[]),
        Some(Value::Array(list)) => Ok(list),
        Some(other) => Err(kind_refusal(name, other, "list")),
    }
}

/// A field that is an object; null where there is none.
///
/// # Errors
/// It is of another kind.
pub(super) fn object_at<'v>(of: &'v Value, name: &str) -> Result<&'v Value, String> {
    match of.get(name) {
        None | Some(Value::Null) => Ok(&Value::Null),
        Some(object) if object.is_object() => Ok(object),
        Some(other) => Err(kind_refusal(name, other, "object")),
    }
}
