//! One operation of a client on an object.

use crate::history::TransactionOutcome;

/// A value of a file.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Value {
    Nil,
    Number(i64),
    Word(String),
    Items(Vec<Value>),
    /// In rising order.
    Set(Vec<Value>),
    Map(Vec<(Value, Value)>),
}

impl Value {
    pub(crate) fn as_items(&self) -> Option<&[Value]> {
        match self {
            Value::Items(items) | Value::Set(items) => Some(items),
            _ => None,
        }
    }

    pub(crate) fn as_number(&self) -> Option<i64> {
        match self {
            Value::Number(number) => Some(*number),
            _ => None,
        }
    }

    /// For a terminal: without control characters.
    pub(crate) fn display_text(&self) -> String {
        match self {
            Value::Nil => "nil".to_owned(),
            Value::Number(number) => number.to_string(),
            Value::Word(word) => word
                .chars()
                .map(|c: char| if c.is_control() { char::REPLACEMENT_CHARACTER } else { c })
                .collect(),
            Value::Items(items) => format!("[{}]", display_texts(items)),
            Value::Set(items) => format!("#{{{}}}", display_texts(items)),
            Value::Map(pairs) => {
                let mut texts = Vec::new();
                for (key, value) in pairs {
                    texts.push(format!("{} {}", key.display_text(), value.display_text()));
                }
                format!("{{{}}}", texts.join(" "))
            }
        }
    }
}

fn display_texts(items: &[Value]) -> String {
    items.iter().map(Value::display_text).collect::<Vec<_>>().join(" ")
}

/// Whether a file says in which form the keys of its maps are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MapKeys {
    /// It does.
    AsWritten,
    /// They are texts whatever they stand for, as in JSON.
    AlwaysTexts,
}

/// When an operation began that began before the file: entries of it count from 1.
pub(crate) const BEFORE_THE_FILE: u32 = 0;

/// Never: when an operation ended that did not.
pub(super) const NEVER: u32 = u32::MAX;

/// What a client asked for, and was answered.
#[derive(Clone, Debug)]
pub(crate) struct Operation {
    /// Without the colon.
    pub function: String,
    pub process: String,
    /// The value that was asked with.
    pub value: Value,
    /// The answer: the value of the end, if that is `ok`.
    pub result: Value,
    pub outcome: TransactionOutcome,
    /// The place of its beginning among all beginnings and ends of the file.
    pub began: u32,
    /// The place of its end; [`NEVER`] if it is not known when it happened.
    pub ended: u32,
    /// What is counted, `line` or `operation`: that in which it begins, and that of its end.
    pub unit: &'static str,
    pub lines: (usize, usize),
}

impl Operation {
    /// Whether it is of a function, and was confirmed.
    pub(super) fn is_ok(&self, function: &str) -> bool {
        self.function == function && self.outcome == TransactionOutcome::Ok
    }

    /// Whether it may have done all that it did before the file begins.
    pub(super) fn began_before_the_file(&self) -> bool {
        self.began == BEFORE_THE_FILE
    }

    /// Whether it may have changed something.
    pub(super) fn may_have_happened(&self) -> bool {
        self.outcome != TransactionOutcome::Failed
    }

    /// Client and operation, and where that stands.
    pub(super) fn display_text(&self) -> String {
        let what = match (self.function.as_str(), &self.value) {
            ("read", _) => format!("read {}", self.result.display_text()),
            (function, Value::Nil) => function.to_owned(),
            (function, value) => format!("{function} {}", value.display_text()),
        };
        let unit = self.unit;
        let place = match self.lines {
            (one, other) if one == other => format!("{unit} {one}"),
            (one, other) => format!("{unit}s {one} and {other}"),
        };
        let process: String = self
            .process
            .chars()
            .map(|c: char| if c.is_control() { char::REPLACEMENT_CHARACTER } else { c })
            .collect();
        format!("process {process}: {what} ({place})")
    }
}

/// Reads that were answered before anything was sent that could change what they read.
pub(super) fn first_reads<'a>(
    operations: &'a [Operation],
) -> impl Iterator<Item = &'a Operation> + 'a {
    let changes = operations.iter().filter(|one| one.function != "read");
    let first = changes.map(|one| one.began).min().unwrap_or(NEVER);
    operations.iter().filter(move |one| one.is_ok("read") && one.ended < first)
}

/// A value as a user writes it.
pub(super) fn parse_value(text: &str) -> Value {
    match text.parse() {
        _ if text == "nil" => Value::Nil,
        Ok(number) => Value::Number(number),
        Err(_) => Value::Word(text.trim_start_matches(':').to_owned()),
    }
}
