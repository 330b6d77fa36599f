//! JSON, a transaction a line.
//!
//! ```text
//!   {"session": 0, "outcome": "ok", "begin": [10, 20], "commit": [30, 40],
//!    "ops": [["r", "x", 1], ["R", "x", 1, 0], ["w", "x", 2, 1], ["append", "l", 3],
//!            ["r", "l", [1, 2, 3]]]}
//! ```
//!
//! `outcome` is `ok`, `failed` or `unknown`, and `ok` where it is missing; times, in nanoseconds,
//! are when the first statement and the commit were sent and answered, and may be missing. An
//! operation has a key, a value, and the value before that one where it is known. A list is what a
//! read of appended elements saw: it tells the order of all of them.

use serde_json::Value;

use super::fields::word_of;
use super::jepsen_json::number_written;
use super::list::list;
use crate::bad_input::{BadInput, bad_input_at, bad_json, txn};
use crate::builder::{Builder, NameForm};
use crate::history::{
    History, INITIAL, Op, OperationKind, Origin, Times, TransactionOutcome, UNKNOWN, WriteId,
};

pub(super) fn read(text: &str) -> Result<History, BadInput> {
    let mut builder = Builder::new();
    for (at, line) in text.lines().enumerate() {
        if line.trim().is_empty() {
            continue;
        }
        let number = at + 1;
        let value = dbdyno_json::value(line).map_err(|wrong| bad_json(number, wrong))?;
        transaction(&mut builder, &value, number).map_err(|what| bad_input_at(number, 1, what))?;
    }
    builder.require_all_times();
    Ok(builder.finish())
}

fn transaction(builder: &mut Builder, value: &Value, line: usize) -> Result<(), String> {
    let known = ["session", "outcome", "begin", "commit", "ops"];
    let unknown = value
        .as_object()
        .and_then(|fields| fields.keys().find(|name| !known.contains(&name.as_str())));
    if let Some(name) = unknown {
        return Err(format!("{name:?} is not known; a transaction has {}", known.join(", ")));
    }
    let session = value["session"].as_u64().filter(|session| *session < 1 << 20);
    let session = session.ok_or("a transaction needs \"session\", a number from 0")? as u32;
    let outcome = match word_of(value, "outcome")?.unwrap_or("ok") {
        "ok" => TransactionOutcome::Ok,
        "failed" => TransactionOutcome::Failed,
        "unknown" => TransactionOutcome::Unknown,
        other => return Err(format!("{other} is no outcome; there are ok, failed and unknown")),
    };
    let (begin_invoke_ns, begin_return_ns) = call_times(value, "begin")?;
    let (commit_invoke_ns, commit_return_ns) = call_times(value, "commit")?;
    let told = Times { begin_invoke_ns, begin_return_ns, commit_invoke_ns, commit_return_ns };
    let times = if value["begin"].is_null() { Times::default() } else { told };
    if !times.are_in_order() {
        return Err("it was answered before it began".to_owned());
    }
    let listed = value["ops"].as_array().ok_or("a transaction needs \"ops\", a list")?;
    let mut ops = Vec::with_capacity(listed.len());
    for (at, op) in listed.iter().enumerate() {
        operation(builder, op, &mut ops).map_err(|what| format!("operation {}: {what}", at + 1))?;
    }
    let origin = Origin { called: String::new(), unit: "line", places: (line, line) };
    builder.push_from(txn(session, outcome, times), &ops, origin);
    Ok(())
}

/// When a call was sent and answered, ns; 0 is not known. One number is both.
fn call_times(value: &Value, name: &str) -> Result<(u64, u64), String> {
    let time = |one: &Value| if one.is_null() { Some(0) } else { one.as_u64() };
    let times = match &value[name] {
        Value::Array(both) => match &both[..] {
            [sent, answered] => time(sent).zip(time(answered)),
            _ => None,
        },
        one => time(one).map(|at| (at, at)),
    };
    times.ok_or_else(|| {
        format!(
            "{name:?} is {}; it is [SENT, ANSWERED] in whole nanoseconds, or one number where \
             both are one",
            value[name]
        )
    })
}

fn operation(builder: &mut Builder, op: &Value, ops: &mut Vec<Op>) -> Result<(), String> {
    let kind = match op[0].as_str() {
        Some("r") => OperationKind::Read,
        Some("R") => OperationKind::CurrentRead,
        Some("w") => OperationKind::Write,
        Some("insert") => OperationKind::Insert,
        Some("delete") => OperationKind::Delete,
        Some("append") => OperationKind::Append,
        _ => {
            let known = "r, R, w, insert, delete and append";
            return Err(format!("{} is no operation; there are {known}", op[0]));
        }
    };
    let key = match &op[1] {
        Value::Null => return Err("it has no key".to_owned()),
        name => {
            let (name, form) = name_of(name);
            builder.key_in_form(&name, form)?
        }
    };
    let written = op.get(2).ok_or("it has no value")?;
    let is_read = matches!(kind, OperationKind::Read | OperationKind::CurrentRead);
    if !is_read && (written.is_null() || written.is_array()) {
        return Err(format!(
            "{} writes {written}: a value that is written is one of its own",
            op[0]
        ));
    }
    let Value::Array(elements) = written else {
        let value = id(builder, key, written)?;
        let prev = op.get(3).map_or(Ok(UNKNOWN), |prev| id(builder, key, prev))?;
        ops.push(Op { key, value, prev, kind });
        return Ok(());
    };
    let mut ids = Vec::with_capacity(elements.len());
    for element in elements {
        if element.is_null() {
            return Err("null is no element of a list that was read".to_owned());
        }
        ids.push(id(builder, key, element)?);
    }
    list(key, kind, &ids, ops);
    Ok(())
}

fn id(builder: &mut Builder, key: u32, value: &Value) -> Result<WriteId, String> {
    if value.is_null() {
        return Ok(INITIAL);
    }
    let (name, form) = name_of(value);
    if form == NameForm::Text && name == "null" {
        return Err("\"null\" is a text, and null without quotes is the initial value; write one \
                    of them"
            .to_owned());
    }
    builder.value_in_form(key, &name, form)
}

/// What a key or value is called, and in which form. JSON has one kind of number: `1.0`, `1e0` and
/// `1` are one, and so are `-0` and `0`.
fn name_of(value: &Value) -> (String, NameForm) {
    match value {
        Value::String(name) => (name.clone(), NameForm::Text),
        Value::Number(number) => (number_written(number), NameForm::Bare),
        other => (other.to_string(), NameForm::Bare),
    }
}
