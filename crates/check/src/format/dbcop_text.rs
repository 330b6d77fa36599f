//! dbcop's text and JSON.
//!
//! ```text
//!   // comment                 [[{"events": [{"Write": {"variable": 0, "version": 1}},
//!   [x:=1 y==?] [x==1]!                      {"Read": {"variable": 1, "version": null}}],
//!   ---                           "committed": true}]]
//!   [y:=2]                     {"params": …, "data": [[{"events": [{"write": true, "variable": 0,
//!                                "value": 1, "success": true}], "success": true}]]}
//! ```
//!
//! What one object says in two ways, as in `committed` and `success`, must agree, or is refused.
//! `!` is behind what was not committed, `==?` and `null` are what a variable held at the
//! beginning. Sessions stand under each other, or are the outer list. Facts: dbcop's documents.

use serde_json::Value;

use super::fields::{flag_of, list_in};
use super::one_form::OneForm;
use super::sessions::{SessionOperation, Transaction, build_history};
use super::stated_counts::StatedCounts;
use crate::bad_input::{BadInput, bad_input_at, bad_json};
use crate::history::{History, Origin, Times, TransactionOutcome};

/// What dbcop's JSON calls things, and what others call an outcome or a key.
const WORDS: [&str; 14] = [
    "Read",
    "Write",
    "aborted",
    "committed",
    "events",
    "failed",
    "key",
    "outcome",
    "read",
    "success",
    "value",
    "variable",
    "version",
    "write",
];

/// Whether a text begins with a transaction of this form.
pub(super) fn is_text(text: &str) -> bool {
    let lines = text.lines().map(str::trim);
    let mut lines = lines.filter(|line| !line.is_empty() && !line.starts_with("//"));
    let inner = lines.next().and_then(|line| line.strip_prefix('['));
    let first = inner.and_then(|inner| inner.split([' ', ']']).find(|word| !word.is_empty()));
    first.is_some_and(|word| operation(word).is_ok())
}

/// Whether a text begins as dbcop's JSON does.
pub(super) fn is_json(text: &str) -> bool {
    let begin: String = text.chars().filter(|c| !c.is_whitespace()).take(64).collect();
    let is_bare = ["events", "committed", "success"].iter().any(|name| {
        begin.strip_prefix("[[{\"").is_some_and(|rest| rest.starts_with(&format!("{name}\"")))
    });
    let is_wrapped = || {
        let first = dbdyno_json::values(text).next();
        first.and_then(Result::ok).is_some_and(|first| first["data"].is_array())
    };
    is_bare || (begin.starts_with("{\"params\"") && is_wrapped())
}

/// Reads dbcop's text.
pub(super) fn read_text(text: &str) -> Result<History, BadInput> {
    let mut sessions: Vec<Vec<Transaction>> = vec![Vec::new()];
    for (number, line) in (1..).zip(text.lines()) {
        let body = line.trim();
        if body.is_empty() || body.starts_with("//") {
            continue;
        }
        if body.bytes().all(|byte| byte == b'-') {
            sessions.push(Vec::new());
            continue;
        }
        let indent = line.len() - line.trim_start().len();
        let mut rest = body;
        while !rest.is_empty() {
            let column = indent + body.len() - rest.len() + 1;
            let wrong = |what: String| bad_input_at(number, column, what);
            let split = rest.strip_prefix('[').and_then(|inner| inner.split_once(']'));
            let Some((inner, behind)) = split else {
                let what = "no transaction; write one as [x:=1 y==2]".to_owned();
                return Err(wrong(what));
            };
            let ops = inner.split_whitespace().map(operation).collect::<Result<_, String>>();
            let ops = ops.map_err(wrong)?;
            let (outcome, behind) = match behind.strip_prefix('!') {
                Some(behind) => (TransactionOutcome::Failed, behind),
                None => (TransactionOutcome::Ok, behind),
            };
            rest = behind.trim_start();
            let places = (number, number);
            let origin = Origin { called: String::new(), unit: "line", places };
            let times = Times::default();
            if let Some(session) = sessions.last_mut() {
                session.push(Transaction { parts: ops, outcome, times, origin });
            }
        }
    }
    sessions.retain(|session| !session.is_empty());
    build_history(&sessions)
}

fn operation(word: &str) -> Result<SessionOperation, String> {
    let parts = word.split_once(":=").map(|parts| (true, parts));
    let parts = parts.or_else(|| word.split_once("==").map(|parts| (false, parts)));
    let Some((is_write, (key, value))) = parts.filter(|(_, (key, value))| {
        !key.is_empty()
            && key.chars().all(|c: char| c.is_alphanumeric() || c == '_')
            && (*value == "?" || value.parse::<u64>().is_ok())
    }) else {
        return Err(format!("{word:?} is no event; there are x:=1, x==1 and x==?"));
    };
    let value = value.parse::<u64>().ok().map(|value| value.to_string());
    let key = key.parse::<u64>().map_or_else(|_| key.to_owned(), |key| key.to_string());
    match (is_write, value) {
        (true, None) => Err(format!("{word:?} writes no version")),
        (true, Some(value)) => Ok(SessionOperation::Write { key, value }),
        (false, value) => Ok(SessionOperation::Read { key, value }),
    }
}

/// Reads dbcop's JSON.
pub(super) fn read_json(text: &str) -> Result<History, BadInput> {
    let value = dbdyno_json::value(text).map_err(|wrong| bad_json(1, wrong))?;
    let data = if value.is_array() { &value } else { &value["data"] };
    let wrong = |place: String, what: String| BadInput { place, what };
    let Some(listed) = data.as_array() else {
        let what = "a history of dbcop is a list of sessions".to_owned();
        return Err(wrong("all of it".to_owned(), what));
    };
    let params = if value.is_array() { &Value::Null } else { &value["params"] };
    let stated = StatedCounts::from_params(params);
    let stated = stated.map_err(|what| wrong("params".to_owned(), what))?;
    let (mut sessions, mut forms) = (Vec::new(), OneForm::default());
    for (number, session) in listed.iter().enumerate() {
        let mut all = Vec::new();
        let listed = list_in(session, "a session");
        let listed = listed.map_err(|what| wrong(format!("session {number}"), what))?;
        for (at, one) in listed.iter().enumerate() {
            let called = format!("session {number}");
            let origin = Origin { called, unit: "transaction", places: (at, at) };
            let read = transaction(one, origin, &mut forms);
            all.push(
                read.map_err(|what| wrong(format!("session {number}, transaction {at}"), what))?,
            );
        }
        sessions.push(all);
    }
    stated.require_sessions(&sessions).map_err(|what| wrong("params".to_owned(), what))?;
    build_history(&sessions)
}

fn transaction(value: &Value, origin: Origin, forms: &mut OneForm) -> Result<Transaction, String> {
    require_place(value, &["events", "committed", "success"])?;
    let events = value["events"].as_array().ok_or("a transaction needs \"events\", a list")?;
    let parts = events.iter().filter_map(|event| of_json(event, forms).transpose());
    let parts = parts.collect::<Result<_, String>>()?;
    let outcome = match (flag_of(value, "committed")?, flag_of(value, "success")?) {
        (Some(committed), Some(success)) if committed != success => {
            return Err(format!(
                "\"committed\" is {committed} and \"success\" is {success}, and a transaction \
                 ended in one way; leave out the one that is not so"
            ));
        }
        (Some(true), _) | (_, Some(true)) => TransactionOutcome::Ok,
        (Some(false), _) | (_, Some(false)) => TransactionOutcome::Failed,
        (None, None) => {
            return Err("a transaction needs \"committed\", true or false".to_owned());
        }
    };
    Ok(Transaction { parts, outcome, times: Times::default(), origin })
}

/// Refuses a word of this form, or of an outcome, beside those that belong into an object: what it
/// says would be passed over.
fn require_place(object: &Value, known: &[&str]) -> Result<(), String> {
    let fields = object.as_object().into_iter().flatten();
    let mut others = fields.filter(|(name, _)| !known.contains(&name.as_str()));
    match others.find(|(name, _)| WORDS.contains(&name.as_str())) {
        Some((name, _)) => Err(format!(
            "{name:?} stands where there are {}: it would be passed over, or says something twice",
            known.join(", ")
        )),
        None => Ok(()),
    }
}

/// An event; none if it did not succeed: it read or wrote nothing.
fn of_json(event: &Value, forms: &mut OneForm) -> Result<Option<SessionOperation>, String> {
    let notation = (event.get("Write"), event.get("Read"), flag_of(event, "write")?);
    let has_succeeded = flag_of(event, "success")? != Some(false);
    let (body, version, is_write) = match notation {
        (Some(body), None, None) => (body, "version", true),
        (None, Some(body), None) => (body, "version", false),
        (None, None, Some(true)) => (event, "value", true),
        (None, None, Some(false)) => (event, "value", false),
        _ => return Err(format!("{event} is no event; there are Read and Write")),
    };
    let of_event = |what: String| format!("{event}: {what}");
    if version == "value" {
        require_place(event, &["write", "variable", "value", "success"])
    } else {
        require_place(event, &["Write", "Read", "success"])
            .and_then(|()| require_place(body, &["variable", "version"]))
    }
    .map_err(of_event)?;
    let key = forms.key(&body["variable"]).map_err(of_event)?;
    let value = match body.get(version) {
        None => return Err(format!("{event} has no {version}")),
        Some(Value::Null) if is_write => return Err(format!("{event} writes no version")),
        Some(Value::Null) => None,
        Some(value) => Some(forms.value(&key, value).map_err(of_event)?),
    };
    let event = match value {
        Some(value) if is_write => SessionOperation::Write { key, value },
        value => SessionOperation::Read { key, value },
    };
    Ok(has_succeeded.then_some(event))
}
