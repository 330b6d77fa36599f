//! Histories of Jepsen in JSON, as elle-cli and Jepsen's own export have them: an array of maps, or
//! a map a line. They are written as EDN, and read as that.
//!
//! ```text
//!   [{"type": "invoke", "f": "txn", "value": [["append", 5, 1], ["r", 5, null]], "process": 0}, …
//!      ─▶ {:type :invoke, :f :txn, :value [[:append "5" "1"] …
//! ```

use serde_json::Value;

use super::edn::is_word;
use super::elle;
use crate::bad_input::{BadInput, bad_json};
use crate::history::History;
use crate::late::LateBeginning;

/// Whether a text begins with an operation of such a history.
pub(super) fn begins_with_operation(text: &str) -> bool {
    let Some(Ok(first)) = dbdyno_json::values(text).next() else { return false };
    let map = first.get(0).unwrap_or(&first);
    map.get("type").is_some_and(Value::is_string)
        && (map.get("value").is_some() || map.get("f").is_some())
}

/// Reads a text of values that follow each other, or of one array.
pub(super) fn read(text: &str) -> Result<(History, Option<LateBeginning>), BadInput> {
    elle::read(&edn_of(text)?, "operation").map_err(of_operation)
}

/// The same history as EDN, an operation a line.
pub(super) fn edn_of(text: &str) -> Result<String, BadInput> {
    let mut edn = String::with_capacity(text.len());
    let mut count = 0;
    for value in dbdyno_json::values(text) {
        let value = value.map_err(|wrong| bad_json(1, wrong))?;
        let maps = value.as_array().map_or(std::slice::from_ref(&value), Vec::as_slice);
        for map in maps {
            count += 1;
            write_map(&mut edn, map)
                .map_err(|what| BadInput { place: format!("operation {count}"), what })?;
        }
    }
    Ok(edn)
}

/// What is wrong with a line of that EDN, as what is wrong with an operation.
pub(super) fn of_operation(wrong: BadInput) -> BadInput {
    BadInput { place: wrong.place.replace("line", "operation").replace(", column 1", ""), ..wrong }
}

/// A map in a line of its own, so that a line is the number of an operation.
fn write_map(edn: &mut String, map: &Value) -> Result<(), String> {
    let Value::Object(fields) = map else {
        return Err("it is no object with \"type\", \"process\" and \"value\"".to_owned());
    };
    edn.push('{');
    for (name, value) in fields {
        let name = name.trim_start_matches(':');
        let is_word = ["type", "f", "process", "time", "index", "value"].contains(&name);
        if !is_word {
            continue;
        }
        edn.push_str(&format!(":{name} "));
        match value {
            Value::String(word) if ["type", "f", "process"].contains(&name) => {
                write_keyword(edn, word);
            }
            value => write_value(edn, value, Place::Whole),
        }
        edn.push(' ');
    }
    edn.push_str("}\n");
    Ok(())
}

/// A word as a keyword, as far as it can be one: what ends a word must not end this one.
fn write_keyword(edn: &mut String, word: &str) {
    let word = word.trim_start_matches(':');
    if is_word(word) && !word.is_empty() {
        edn.push_str(&format!(":{word}"));
    } else {
        edn.push_str(&Value::from(word).to_string());
    }
}

/// Where in the value of an operation something stands: what a transaction does is a keyword.
#[derive(Clone, Copy, PartialEq)]
enum Place {
    Whole,
    Step,
    Within,
}

fn write_value(edn: &mut String, value: &Value, place: Place) {
    match value {
        Value::Null => edn.push_str("nil"),
        Value::Array(items) => {
            let within = if place == Place::Whole { Place::Step } else { Place::Within };
            edn.push('[');
            for (at, item) in items.iter().enumerate() {
                match item {
                    Value::String(word) if place == Place::Step && at == 0 => {
                        write_keyword(edn, word);
                    }
                    item => write_value(edn, item, within),
                }
                edn.push(' ');
            }
            edn.push(']');
        }
        Value::Number(number) => edn.push_str(&number_written(number)),
        Value::Bool(flag) => edn.push_str(if *flag { "true" } else { "false" }),
        Value::Object(fields) => {
            edn.push('{');
            for (name, value) in fields {
                edn.push_str(&Value::from(name.as_str()).to_string());
                edn.push(' ');
                write_value(edn, value, Place::Within);
                edn.push(' ');
            }
            edn.push('}');
        }
        Value::String(text) => edn.push_str(&Value::from(text.as_str()).to_string()),
    }
}

/// JSON has one kind of number: `1.0` and `1` are one value.
pub(super) fn number_written(number: &serde_json::Number) -> String {
    /// Whole numbers up to this are exact in a double.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    match number.as_f64() {
        Some(float) if number.is_f64() && float.fract() == 0.0 && float.abs() <= EXACT => {
            (float as i64).to_string()
        }
        _ => number.to_string(),
    }
}
