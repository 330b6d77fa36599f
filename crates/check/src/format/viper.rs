//! Viper's logs in JSON: a file of each session, a transaction a line.
//!
//! ```text
//!   {"value": [["r", 4, 17, false], ["w", 5, 18, true], ["i", 6, 19, 0, false, true],
//!              ["d", 6, 20, 19, false, true],
//!              ["range", 1, 9, [{"id": 4, "sk": 4, "val": 17}], []]]}
//!   {"value": [["w", 4, 1, true]], "isInitial": true, "isFinal": false}
//!   {"preBeginTS": 10, "postBeginTS": 12, "preCommitTS": 30, "postCommitTS": 35, "value":
//!     [{"opType": "r", "key": 4, "value": 17, "isDead": false, "reqTS": 10, "resTS": 12}]}
//! ```
//!
//! An insertion and a deletion say what they read before; a deletion leaves a value of its own,
//! which reads see as one that `isDead`. A write that did not succeed wrote nothing. A search
//! tells the rows that it found, alive and dead; of the other keys of the history within its bounds
//! it saw that there was no row. The initial transaction is what keys held at the beginning; where
//! there is none, a value that none wrote is, as Viper has it, but only one of each key.
//!
//! Facts: Zhang et al., *Viper*, EuroSys 2023, its parser and the client that writes the logs.

use std::collections::{BTreeSet, HashMap, HashSet};

use serde_json::Value;

use super::sessions::{SessionOperation, Transaction, build_history};
use crate::bad_input::{BadInput, bad_input_at};
use crate::history::{History, Origin, Times, TransactionOutcome};

/// Keys that searches did not find, at most.
const MISSED_AT_MOST: usize = 50_000_000;

/// Whether a text is a log: its first line has the operations of a transaction.
pub(super) fn is_it(text: &str) -> bool {
    let first = text.lines().next().and_then(|line| dbdyno_json::value(line).ok());
    first.is_some_and(|first| {
        first.get("type").is_none()
            && first["value"].as_array().is_some_and(|ops| {
                ops.iter().all(|op| op["opType"].is_string() || op[0].is_string())
            })
    })
}

/// Reads logs, of which each has the name of its file.
pub(super) fn read(logs: &[(&str, &str)]) -> Result<History, BadInput> {
    let mut all = All::default();
    for (name, text) in logs {
        let mut session = Vec::new();
        for (number, line) in (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty()) {
            let wrong = |column: usize, what: String| {
                let BadInput { place, what } = bad_input_at(number, column, what);
                BadInput { place: format!("{name}, {place}"), what }
            };
            let value =
                dbdyno_json::value(line).map_err(|error| wrong(error.column, error.what))?;
            let places = (number, number);
            let origin = Origin { called: (*name).to_owned(), unit: "line", places };
            let told = all.transaction(&value, origin).map_err(|what| wrong(1, what))?;
            session.extend(told);
        }
        all.sessions.push(session);
    }
    all.sessions.retain(|session| !session.is_empty());
    all.history()
}

/// A search, until all keys are known.
struct Search {
    low: Option<i64>,
    high: Option<i64>,
    found: HashSet<String>,
}

/// An operation, or a search.
enum Part {
    Told(SessionOperation),
    Search(Search),
}

struct ViperLog {
    parts: Vec<Part>,
    times: Times,
    origin: Origin,
}

#[derive(Default)]
struct All {
    sessions: Vec<Vec<ViperLog>>,
    /// What the initial transaction wrote.
    initial: HashMap<String, String>,
    has_initial: bool,
}

impl All {
    /// A transaction; none if it is the initial one.
    fn transaction(&mut self, value: &Value, origin: Origin) -> Result<Option<ViperLog>, String> {
        let ops = value["value"].as_array().ok_or("a transaction needs \"value\", a list")?;
        let mut parts = Vec::new();
        for (at, op) in ops.iter().enumerate() {
            operation(op, &mut parts).map_err(|what| format!("operation {}: {what}", at + 1))?;
        }
        if value["isInitial"].as_bool() == Some(true) {
            self.has_initial = true;
            for part in parts {
                if let Part::Told(
                    SessionOperation::Write { key, value }
                    | SessionOperation::Read { key, value: Some(value) },
                ) = part
                {
                    self.initial.insert(key, value);
                }
            }
            return Ok(None);
        }
        let time = |name: &str| value[name].as_u64().unwrap_or(0);
        let times = Times {
            begin_invoke_ns: time("preBeginTS"),
            begin_return_ns: time("postBeginTS"),
            commit_invoke_ns: time("preCommitTS"),
            commit_return_ns: time("postCommitTS"),
        };
        if !times.are_in_order() {
            return Err("it was answered before it began".to_owned());
        }
        Ok(Some(ViperLog { parts, times, origin }))
    }

    /// The operations that were told, without what searches missed.
    fn told(&self) -> impl Iterator<Item = &SessionOperation> {
        let parts = self.sessions.iter().flatten().flat_map(|read| &read.parts);
        parts.filter_map(|part| match part {
            Part::Told(told) => Some(told),
            Part::Search(_) => None,
        })
    }

    /// Of each key the one value that was read and never written, where no transaction says
    /// what there was at the beginning.
    fn guess_initial(&mut self) {
        let mut written: HashSet<(String, String)> = HashSet::new();
        let mut unwritten: HashMap<String, BTreeSet<String>> = HashMap::new();
        for told in self.told() {
            if let SessionOperation::Write { key, value } = told {
                written.insert((key.clone(), value.clone()));
            }
        }
        for told in self.told() {
            if let SessionOperation::Read { key, value: Some(value) } = told
                && !written.contains(&(key.clone(), value.clone()))
            {
                unwritten.entry(key.clone()).or_default().insert(value.clone());
            }
        }
        let only = unwritten.into_iter().filter(|(_, values)| values.len() == 1);
        self.initial = only
            .flat_map(|(key, values)| values.into_iter().map(move |v| (key.clone(), v)))
            .collect();
    }

    fn history(mut self) -> Result<History, BadInput> {
        if !self.has_initial {
            self.guess_initial();
        }
        let mut keys: Vec<(i64, String)> = Vec::new();
        for told in self.told() {
            let (SessionOperation::Read { key, .. }
            | SessionOperation::Write { key, .. }
            | SessionOperation::Missed { key }) = told;
            keys.extend(key.parse().ok().map(|number| (number, key.clone())));
        }
        keys.sort_unstable();
        keys.dedup();
        let mut missed = 0;
        let initial = &self.initial;
        let mut sessions = Vec::new();
        for session in self.sessions {
            let mut all = Vec::new();
            for ViperLog { parts, times, origin } in session {
                let mut ops = Vec::new();
                for part in parts {
                    match part {
                        Part::Told(told) => ops.push(seen(told, initial)),
                        Part::Search(search) => {
                            let before = ops.len();
                            ops.extend(search.missed(&keys, initial));
                            missed += ops.len() - before;
                        }
                    }
                    if missed > MISSED_AT_MOST {
                        let what = format!(
                            "searches missed more than {MISSED_AT_MOST} keys, which is too much \
                             here; give logs of fewer transactions"
                        );
                        return Err(BadInput { place: "all logs".to_owned(), what });
                    }
                }
                all.push(Transaction { ops, outcome: TransactionOutcome::Ok, times, origin });
            }
            sessions.push(all);
        }
        build_history(&sessions)
    }
}

/// A read of what a key held at the beginning says so.
fn seen(told: SessionOperation, initial: &HashMap<String, String>) -> SessionOperation {
    match told {
        SessionOperation::Read { key, value: Some(value) } if initial.get(&key) == Some(&value) => {
            SessionOperation::Read { key, value: None }
        }
        told => told,
    }
}

impl Search {
    /// The keys within its bounds that it did not find, though they may have a row.
    fn missed<'a>(
        &'a self,
        keys: &'a [(i64, String)],
        initial: &'a HashMap<String, String>,
    ) -> impl Iterator<Item = SessionOperation> + 'a {
        let first = self.low.map_or(0, |low| keys.partition_point(|(key, _)| *key < low));
        let within =
            keys[first..].iter().take_while(|(key, _)| self.high.is_none_or(|high| *key <= high));
        // What was there at the beginning was there; that it is missing has no version.
        let own =
            within.filter(|(_, name)| !self.found.contains(name) && !initial.contains_key(name));
        own.map(|(_, name)| SessionOperation::Missed { key: name.clone() })
    }
}

/// One operation, as an array or as an object.
fn operation(op: &Value, parts: &mut Vec<Part>) -> Result<(), String> {
    let is_object = op.is_object();
    let part = |name: &str, place: usize| if is_object { &op[name] } else { &op[place] };
    let word = part("opType", 0).as_str().unwrap_or_default();
    if word == "range" {
        return search(op, parts);
    }
    let key = key_of(part("key", 1))?;
    let value = part("value", 2);
    let is_done = |place: usize| part("succ", place).as_bool() != Some(false);
    let read = match word {
        "r" => Some(value),
        "i" | "d" => Some(part("readValue", 3)),
        "w" => None,
        other => {
            return Err(format!(
                "{other:?} is no operation of Viper; there are r, w, i, d and range"
            ));
        }
    };
    parts.extend(read.map(|value| {
        Part::Told(SessionOperation::Read { key: key.clone(), value: value_of(value) })
    }));
    let is_written = match word {
        "w" => is_done(3),
        "i" | "d" => is_done(5),
        _ => false,
    };
    if is_written {
        let value = value_of(value).unwrap_or_else(|| "0".to_owned());
        parts.push(Part::Told(SessionOperation::Write { key, value }));
    }
    Ok(())
}

fn search(op: &Value, parts: &mut Vec<Part>) -> Result<(), String> {
    let is_object = op.is_object();
    let part = |name: &str, place: usize| if is_object { &op[name] } else { &op[place] };
    let bound = |value: &Value| match value {
        Value::Number(number) => number.as_i64().map(Some).ok_or("a bound is no whole number"),
        _ if value.is_null() || value.as_str() == Some("nil") => Ok(None),
        _ => Err("a bound is a whole number or nil"),
    };
    let (low, high) = (bound(part("key1", 1))?, bound(part("key2", 2))?);
    let mut found = HashSet::new();
    for rows in [part("liveKVs", 3), part("deadKVs", 4)] {
        for row in rows.as_array().into_iter().flatten() {
            let key = key_of(&row["id"])?;
            found.insert(key.clone());
            parts.push(Part::Told(SessionOperation::Read { key, value: value_of(&row["val"]) }));
        }
    }
    parts.push(Part::Search(Search { low, high, found }));
    Ok(())
}

fn key_of(value: &Value) -> Result<String, String> {
    match value {
        Value::String(name) => Ok(name.clone()),
        Value::Number(number) => Ok(number.to_string()),
        _ => Err("it has no key".to_owned()),
    }
}

/// A value; nil and 0 are what was there before anybody wrote.
fn value_of(value: &Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::Number(number) if number.as_u64() == Some(0) => None,
        Value::String(word) if word == "nil" => None,
        Value::String(word) => Some(word.clone()),
        other => Some(other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::Checker;
    use crate::level::Level;

    fn anomaly(logs: &[&str], level: Level) -> Option<String> {
        let named: Vec<(&str, &str)> = logs.iter().map(|text| ("J1.log", *text)).collect();
        let history = read(&named).unwrap();
        Checker::new(&history).level_verdict(level).anomaly().map(str::to_owned)
    }

    #[test]
    fn a_lost_update_is_found_and_failed_writes_are_none() {
        let first = r#"{"value": [["w", 4, 1, true]], "isInitial": true, "isFinal": false}"#;
        let own =
            |value: u32| format!(r#"{{"value": [["r", 4, 1, false], ["w", 4, {value}, true]]}}"#);
        let (one, two) = (own(2), own(3));
        let found = anomaly(&[first, &one, &two], Level::SnapshotIsolation);
        assert_eq!(found.as_deref(), Some("lost update"));
        let failed = two.replace("3, true", "3, false");
        assert_eq!(anomaly(&[first, &one, &failed], Level::Serializable), None);
    }

    #[test]
    fn a_search_that_misses_a_row_is_one_before_its_insertion() {
        let text = |key: u32, low: u32| {
            format!(
                r#"{{"value": [["range", {low}, {low}, [], []], ["i", {key}, 1{key}, 0, false, true]]}}"#
            )
        };
        let found = anomaly(&[&text(1, 2), &text(2, 1)], Level::Serializable);
        assert_eq!(found.as_deref(), Some("G2"));
        assert_eq!(anomaly(&[&text(1, 2), &text(2, 1)], Level::SnapshotIsolation), None);
    }

    #[test]
    fn one_value_that_nobody_wrote_was_there_at_the_beginning() {
        let one = r#"{"value": [["r", 4, 77, false]]}"#;
        assert_eq!(anomaly(&[one, one], Level::Serializable), None);
        let other = one.replace("77", "78");
        assert_eq!(anomaly(&[one, &other], Level::Serializable).as_deref(), Some("garbage read"));
    }

    #[test]
    fn objects_are_read_as_arrays_are_and_tell_times() {
        let ops = r#"[{"opType": "r", "key": "k", "value": 0, "isDead": false},
            {"opType": "d", "key": "k", "value": 5, "readValue": 0, "isDead": false, "succ": true}]"#;
        let times = r#""preBeginTS": 10, "postBeginTS": 12, "preCommitTS": 30, "postCommitTS": 35"#;
        let line = &format!("{{{times}, \"value\": {}}}", ops.replace('\n', ""));
        assert!(is_it(line));
        let history = read(&[("J1.log", line)]).unwrap();
        assert_eq!((history.op_count(), history.txn(0).times.commit_return_ns), (3, 35));
        let wrong = read(&[("J1.log", r#"{"value": [["x", 1, 2]]}"#)]).unwrap_err().to_string();
        assert!(wrong.starts_with("J1.log, line 1, column 1: operation 1: \"x\""), "{wrong}");
    }
}
