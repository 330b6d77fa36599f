//! How a run ended, where JSON says so with a list or an object.
//!
//! ```text
//!   "failed": [true]                a list of one is its element
//!   "error": {"message": "boom"}    something went wrong, and that is what
//!   "errors": {"4xx": 0, "5xx": 3}  figures, each under its own name
//!   "success": {"value": false}     not read, which is said: failed runs may count as fast ones
//! ```

use dbdyno_model::foreign;
use serde_json::Value;

use super::failures;
use super::kinds::{quoted_value, text_of};
use super::words::name_words;

/// Names of fields that have what went wrong, within an object.
const MESSAGES: [&str; 12] = [
    "message",
    "msg",
    "reason",
    "description",
    "detail",
    "text",
    "type",
    "kind",
    "name",
    "class",
    "stack",
    "cause",
];
/// Names of fields whose numbers are no figures, but 0 where nothing went wrong.
const CODES: [&str; 6] = ["code", "status", "errno", "number", "signal", "exit"];
/// A name is quoted by so many letters.
const NAME_LETTERS_MOST: usize = 80;

/// A value that is neither list nor object, with the name of its field.
struct Leaf<'v> {
    name: &'v str,
    value: &'v Value,
}

/// The cell that stands for a list or an object, where it says how the run ended.
pub(super) fn ending_cell(name: &str, value: &Value) -> Option<String> {
    if failures::is_of_messages(name) {
        return message_cell(name, value);
    }
    match value.as_array().map(Vec::as_slice) {
        Some([one]) if failures::is_of_endings(name) => text_of(one),
        _ => None,
    }
}

/// The name of a list or an object that says how the run ended in a form that is not read, and what
/// stands there.
pub(super) fn unread_ending(name: &str, value: &Value) -> Option<String> {
    if !failures::is_of_endings(name) {
        return None;
    }
    let leaves = leaves_of(name, value);
    let has_number = leaves.iter().any(|leaf| leaf.value.is_number());
    let is_read = match value {
        Value::Array(list) if list.iter().all(Value::is_string) => {
            !failures::is_of_failures(name)
                && !leaves.iter().any(|leaf| failures::is_word_of_endings(&cell_of(leaf.value)))
        }
        // Each field of an object is a column of its own.
        Value::Object(_) => {
            has_number || leaves.iter().any(|leaf| failures::is_of_endings(leaf.name))
        }
        _ => has_number,
    };
    let is_blank = leaves.iter().all(|leaf| cell_of(leaf.value).trim().is_empty());
    (!is_blank && (!is_read || failures::is_of_codes(name))).then(|| {
        let name: String = foreign::one_line(name).chars().take(NAME_LETTERS_MOST).collect();
        format!("{name:?} ({})", quoted_value(value))
    })
}

/// What went wrong, blank for nothing; `None` where figures stand there.
fn message_cell(name: &str, value: &Value) -> Option<String> {
    let leaves = leaves_of(name, value);
    if leaves.len() > 1 && leaves.iter().any(is_figure) && !leaves.iter().any(is_message)
        || value.is_object() && leaves.iter().all(is_figure) && !leaves.is_empty()
    {
        return None;
    }
    if let [Leaf { value: number @ Value::Number(_), .. }] = &leaves[..]
        && value.is_array()
    {
        return text_of(number);
    }
    let mut wrong = leaves.iter().filter(|leaf| is_trouble(leaf.value)).collect::<Vec<_>>();
    wrong.sort_by_key(|leaf| !leaf.value.is_string());
    let is_of_blanks = !leaves.is_empty() || value.as_array().is_none_or(Vec::is_empty);
    let Some(first) = wrong.first() else {
        return Some(if is_of_blanks { String::new() } else { "error".to_owned() });
    };
    let cell = cell_of(first.value);
    // A message that begins with a number would be taken for a figure.
    let is_plain = first.value.is_string() && cell.starts_with(char::is_alphabetic);
    Some(if is_plain { cell } else { format!("error: {cell}") })
}

fn is_figure(leaf: &Leaf<'_>) -> bool {
    leaf.value.is_number() && !is_called(leaf, &CODES)
}

fn is_message(leaf: &Leaf<'_>) -> bool {
    leaf.value.is_string() && is_called(leaf, &MESSAGES)
}

fn is_called(leaf: &Leaf<'_>, names: &[&str]) -> bool {
    name_words(leaf.name).last().is_some_and(|word| names.contains(&word.as_str()))
}

/// Whether a value within a message says that something went wrong.
fn is_trouble(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(is) => *is,
        Value::Number(number) => number.as_f64() != Some(0.0),
        value => !cell_of(value).trim().is_empty(),
    }
}

fn cell_of(value: &Value) -> String {
    text_of(value).unwrap_or_default()
}

/// The leaves of a value, each under the name of the innermost field around it.
fn leaves_of<'v>(name: &'v str, value: &'v Value) -> Vec<Leaf<'v>> {
    let mut leaves = Vec::new();
    let mut open = vec![(name, value)];
    while let Some((name, value)) = open.pop() {
        match value {
            Value::Array(list) => open.extend(list.iter().rev().map(|one| (name, one))),
            Value::Object(fields) => {
                open.extend(fields.iter().rev().map(|(name, one)| (name.as_str(), one)));
            }
            value => leaves.push(Leaf { name, value }),
        }
    }
    leaves
}

#[cfg(test)]
mod tests {
    use dbdyno_model::BenchmarkHistory;

    use super::super::file::of_file;
    use super::super::{HistoryQuestion, UNREAD};

    fn told(field: &str, good: &str, bad: &str) -> BenchmarkHistory {
        let row = |day: u32| {
            let (ms, told) = if day > 12 { (1, bad) } else { (10, good) };
            format!(
                "{{\"date\":\"2026-01-{day:02}\",\"ms\":{ms}.{},\"{field}\":{told}}}\n",
                day % 4
            )
        };
        let text: String = (1..=24).map(row).collect();
        of_file("f", &text, &HistoryQuestion::of_figures(&["ms"])).unwrap()
    }

    fn codes(history: &BenchmarkHistory) -> Vec<&str> {
        let codes = history.warnings.iter().map(|one| one.code.as_str());
        codes.filter(|code| [UNREAD, "failed"].contains(code)).collect()
    }

    /// Failed runs, which are fast, counted without a word.
    #[test]
    fn lists_and_objects_say_how_a_run_ended() {
        for (field, good, bad) in [
            ("failed", "false", "[true]"),
            ("success", "true", "[false]"),
            ("status", "\"ok\"", "[\"error\"]"),
            ("exit_code", "0", "[139]"),
            ("error", "null", "{\"message\":\"boom\"}"),
            ("error", "null", "{\"code\":137}"),
            ("error", "null", "{\"message\":\"404 not found\",\"line\":12}"),
            ("error", "{}", "{\"occurred\":true}"),
            ("error", "{\"code\":0,\"message\":\"\"}", "{\"code\":3,\"message\":\"\"}"),
            ("errors", "[]", "[\"404 not found\",\"x\"]"),
            ("errors", "[]", "[{}]"),
            ("errors", "[null]", "[{\"message\":\"boom\"}]"),
        ] {
            assert_eq!(codes(&told(field, good, bad)), ["failed"], "{field}: {bad}");
        }
        for (field, good, bad) in [
            ("success", "true", "{\"value\":false}"),
            ("status", "\"ok\"", "{\"code\":\"error\"}"),
            ("status", "\"ok\"", "[\"error\",\"error\"]"),
            ("failed", "false", "[[true],[true]]"),
            ("exit_code", "0", "{\"value\":139}"),
            ("exit_code", "0", "[0,139]"),
        ] {
            let history = told(field, good, bad);
            assert_eq!(codes(&history), [UNREAD], "{field}: {bad}");
            let text = &history.warnings.iter().find(|one| one.code == UNREAD).unwrap().text;
            assert!(text.contains(&format!("{field:?} ({bad})")), "{text}");
        }
        for (field, good, bad) in [
            ("error", "{}", "{}"),
            ("errors", "{\"4xx\":0,\"5xx\":0}", "{\"4xx\":1,\"5xx\":2}"),
            ("error", "{\"value\":0.1,\"unit\":\"ms\"}", "{\"value\":0.2,\"unit\":\"ms\"}"),
            ("result", "{\"rows\":3,\"unit\":\"ms\"}", "{\"rows\":3,\"unit\":\"ms\"}"),
            ("passed", "[\"a\",\"b\"]", "[\"a\",\"b\"]"),
        ] {
            assert_eq!(codes(&told(field, good, bad)), [""; 0], "{field}: {bad}");
        }
    }

    /// How a run ended was lost where its figures stand in a list of their own.
    #[test]
    fn how_a_run_ended_is_told_of_each_entry_of_its_list() {
        let told = |list: &str, bad: &str| {
            let row = |day: u32| {
                let (ms, passed) = if day > 12 { (1, bad) } else { (10, "true") };
                let ms = format!("{ms}.{}", day % 4);
                format!(
                    "{{\"date\":\"2026-01-{day:02}\",\"passed\":{passed},\"{list}\":[{{\"name\":\"m\",\
                     \"value\":{ms},\"unit\":\"ms\"}}]}}"
                )
            };
            let rows: Vec<String> = (1..=24).map(row).collect();
            let text = match list {
                "metrics" => format!("[{}]", rows.join(",")),
                _ => rows.join("\n"),
            };
            of_file("f", &text, &HistoryQuestion::of_figures(&["value"])).unwrap()
        };
        for list in ["metrics", "parts"] {
            assert_eq!(codes(&told(list, "[false]")), ["failed"], "{list}");
            assert_eq!(codes(&told(list, "{\"value\":false}")), [UNREAD], "{list}");
        }
    }
}
