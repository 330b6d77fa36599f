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
//! it saw that there was no row. The initial transaction is what keys held at the beginning: there
//! is one, first in its log, and it has writes or one range from nil to nil. Where there is
//! none, a value that none wrote is, as Viper has it, but only one of each key. So the values of a
//! key stand in one form: the text `"1"` beside the number 1 would be such a value.
//!
//! Facts: Zhang et al., *Viper*, EuroSys 2023, its parser and the client that writes the logs.

use std::collections::{BTreeSet, HashMap, HashSet};

use serde_json::Value;

use super::fields::{count_of, flag_of, list_in};
use super::one_form::OneForm;
use super::sessions::{SessionOperation, Transaction, build_from_parts, op_of};
use crate::bad_input::{BadInput, bad_input_at};
use crate::builder::Builder;
use crate::history::{History, Op, OperationKind, Origin, Times, TransactionOutcome};

/// Keys that searches did not find, at most: with 16 bytes each they take 320 MB.
const MISSED_AT_MOST: usize = 20_000_000;

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
            if told.is_none() && !session.is_empty() {
                let what = "an initial transaction behind another one of its session: it is what \
                            keys held before all others";
                return Err(wrong(1, what.to_owned()));
            }
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

#[derive(Default)]
struct All {
    sessions: Vec<Vec<Transaction<Part>>>,
    /// What the initial transaction wrote, and where that stands.
    initial: HashMap<String, String>,
    initial_place: Option<Origin>,
    forms: OneForm,
}

impl All {
    /// A transaction; none if it is the initial one.
    fn transaction(
        &mut self,
        value: &Value,
        origin: Origin,
    ) -> Result<Option<Transaction<Part>>, String> {
        let ops = list_in(&value["value"], "value")?;
        let mut parts = Vec::new();
        for (at, op) in ops.iter().enumerate() {
            let told = operation(op, &mut self.forms, &mut parts);
            told.map_err(|what| format!("operation {}: {what}", at + 1))?;
        }
        let is_final = flag_of(value, "isFinal")? == Some(true);
        if flag_of(value, "isInitial")? == Some(true) {
            if is_final {
                return Err("a transaction is initial or final, and not both".to_owned());
            }
            require_initial(ops)?;
            return self.take_initial(parts, origin).map(|()| None);
        }
        let [begin_invoke_ns, begin_return_ns, commit_invoke_ns, commit_return_ns] = [
            time_of(value, "preBeginTS")?,
            time_of(value, "postBeginTS")?,
            time_of(value, "preCommitTS")?,
            time_of(value, "postCommitTS")?,
        ];
        let told = Times { begin_invoke_ns, begin_return_ns, commit_invoke_ns, commit_return_ns };
        let times = if value["preBeginTS"].is_null() { Times::default() } else { told };
        if !times.are_in_order() {
            return Err("it was answered before it began".to_owned());
        }
        Ok(Some(Transaction { parts, outcome: TransactionOutcome::Ok, times, origin }))
    }

    /// Takes what keys held at the beginning.
    fn take_initial(&mut self, parts: Vec<Part>, origin: Origin) -> Result<(), String> {
        if let Some(Origin { called, places, .. }) = &self.initial_place {
            return Err(format!(
                "there is an initial transaction in {called}, line {}; a history has one",
                places.0
            ));
        }
        self.initial_place = Some(origin);
        for part in parts {
            if let Part::Told(
                SessionOperation::Write { key, value }
                | SessionOperation::Read { key, value: Some(value) },
            ) = part
                && let Some(before) = self.initial.insert(key.clone(), value.clone())
            {
                return Err(format!("key {key} held {before} and {value} at the beginning"));
            }
        }
        Ok(())
    }

    /// Refuses a write of what the key held at the beginning: nothing says which of both was read.
    fn require_other_writes(&self) -> Result<(), BadInput> {
        for transaction in self.sessions.iter().flatten() {
            for part in &transaction.parts {
                if let Part::Told(SessionOperation::Write { key, value }) = part
                    && value != "0"
                    && self.initial.get(key) == Some(value)
                {
                    let Origin { called, places, .. } = &transaction.origin;
                    let place = format!("{called}, line {}", places.0);
                    let what = format!(
                        "it writes {value} to key {key}, which held that at the beginning: values \
                         must be unique"
                    );
                    return Err(BadInput { place, what });
                }
            }
        }
        Ok(())
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
        match self.initial_place {
            None => self.guess_initial(),
            Some(_) => self.require_other_writes()?,
        }
        let mut named: BTreeSet<(i64, &str)> = BTreeSet::new();
        for told in self.told() {
            let (SessionOperation::Read { key, .. } | SessionOperation::Write { key, .. }) = told;
            named.extend(key.parse().ok().map(|number| (number, key.as_str())));
        }
        // What was there at the beginning was there; that it is missing has no version.
        named.retain(|(_, name)| !self.initial.contains_key(*name));
        let mut builder = Builder::new();
        let keys: Vec<(i64, u32)> =
            named.into_iter().map(|(number, name)| (number, builder.key(name))).collect();
        let parts = self.sessions.iter().flatten().flat_map(|transaction| &transaction.parts);
        let within = parts.map(|part| match part {
            Part::Told(_) => 0,
            Part::Search(search) => search.keys_within(&keys).len(),
        });
        if within.sum::<usize>() > MISSED_AT_MOST {
            let what = format!(
                "searches missed more than {MISSED_AT_MOST} keys, which is too much here; give \
                 logs of fewer transactions"
            );
            return Err(BadInput { place: "all logs".to_owned(), what });
        }
        build_from_parts(builder, &self.sessions, |builder, part, ops| match part {
            Part::Told(told) => ops.push(op_of(builder, &seen(told, &self.initial))),
            Part::Search(search) => {
                let found: HashSet<u32> = search.found.iter().map(|key| builder.key(key)).collect();
                let within = search.keys_within(&keys).iter().map(|(_, key)| *key);
                let missed = within.filter(|key| !found.contains(key));
                // A search of one key that found no row.
                ops.extend(missed.map(|key| Op {
                    key,
                    value: 1,
                    prev: 0,
                    kind: OperationKind::Scan,
                }));
            }
        })
    }
}

/// Refuses what no initial transaction does: for Viper it has one search of all keys, of which it
/// makes writes.
fn require_initial(ops: &[Value]) -> Result<(), String> {
    if ops.iter().all(is_done_write) || matches!(ops, [op] if searches_all_keys(op)) {
        return Ok(());
    }
    Err("the initial transaction tells what keys held before all others: it has writes that \
         succeeded, or one range from nil to nil, and nothing else"
        .to_owned())
}

fn is_done_write(op: &Value) -> bool {
    part_of(op, "opType", 0).is_ok_and(|word| word == "w")
        && part_of(op, "succ", 3) != Ok(&Value::Bool(false))
}

fn searches_all_keys(op: &Value) -> bool {
    part_of(op, "opType", 0).is_ok_and(|word| word == "range")
        && [("key1", 1), ("key2", 2)].iter().all(|(name, place)| {
            part_of(op, name, *place).is_ok_and(|bound| bound_of(bound) == Ok(None))
        })
}

/// When something happened, ns; 0 where it is not told.
fn time_of(transaction: &Value, name: &str) -> Result<u64, String> {
    Ok(count_of(transaction, name)?.unwrap_or(0))
}

/// A read of what a key held at the beginning says so.
fn seen(told: &SessionOperation, initial: &HashMap<String, String>) -> SessionOperation {
    match told {
        SessionOperation::Read { key, value: Some(value) } if initial.get(key) == Some(value) => {
            SessionOperation::Read { key: key.clone(), value: None }
        }
        told => told.clone(),
    }
}

impl Search {
    /// Those of some keys, which are in order, that lie within its bounds.
    fn keys_within<'a>(&self, keys: &'a [(i64, u32)]) -> &'a [(i64, u32)] {
        let first = self.low.map_or(0, |low| keys.partition_point(|(key, _)| *key < low));
        let end =
            self.high.map_or(keys.len(), |high| keys.partition_point(|(key, _)| *key <= high));
        &keys[first..end.max(first)]
    }
}

/// A part of an operation, which is an array or an object: by its name or by its place.
fn part_of<'a>(op: &'a Value, name: &str, place: usize) -> Result<&'a Value, String> {
    let part = if op.is_object() { op.get(name) } else { op.get(place) };
    part.ok_or_else(|| format!("it has no {name}"))
}

/// One operation, as an array or as an object.
fn operation(op: &Value, forms: &mut OneForm, parts: &mut Vec<Part>) -> Result<(), String> {
    let word = part_of(op, "opType", 0)?.as_str().unwrap_or_default();
    if word == "range" {
        return search(op, forms, parts);
    }
    let key = forms.key(part_of(op, "key", 1)?)?;
    let value = part_of(op, "value", 2)?;
    let read = match word {
        "r" => Some(value),
        "i" | "d" => Some(part_of(op, "readValue", 3)?),
        "w" => None,
        other => {
            return Err(format!(
                "{other:?} is no operation of Viper; there are r, w, i, d and range"
            ));
        }
    };
    if let Some(value) = read {
        let value = value_of(&key, value, forms)?;
        parts.push(Part::Told(SessionOperation::Read { key: key.clone(), value }));
    }
    let place = if word == "w" { 3 } else { 5 };
    let is_done = match part_of(op, "succ", place) {
        Err(_) => true,
        Ok(Value::Bool(is_done)) => *is_done,
        Ok(other) => return Err(format!("\"succ\" is {other}; it is true or false")),
    };
    if word != "r" && is_done {
        let value = value_of(&key, value, forms)?.unwrap_or_else(|| "0".to_owned());
        parts.push(Part::Told(SessionOperation::Write { key, value }));
    }
    Ok(())
}

fn search(op: &Value, forms: &mut OneForm, parts: &mut Vec<Part>) -> Result<(), String> {
    let bounds = [bound_of(part_of(op, "key1", 1)?)?, bound_of(part_of(op, "key2", 2)?)?];
    let mut found = HashSet::new();
    for (name, place) in [("liveKVs", 3), ("deadKVs", 4)] {
        for row in list_in(part_of(op, name, place)?, name)? {
            let key = forms.key(&row["id"])?;
            found.insert(key.clone());
            let value = row.get("val").ok_or("a row that was found has no \"val\"")?;
            let value = value_of(&key, value, forms)?;
            parts.push(Part::Told(SessionOperation::Read { key, value }));
        }
    }
    parts.push(Part::Search(Search { low: bounds[0], high: bounds[1], found }));
    Ok(())
}

fn bound_of(value: &Value) -> Result<Option<i64>, String> {
    match value {
        Value::Number(number) if number.as_i64().is_some() => Ok(number.as_i64()),
        Value::Null => Ok(None),
        Value::String(word) if word == "nil" => Ok(None),
        other => Err(format!("{other} is no bound, which is a whole number or nil")),
    }
}

/// A value of a key; nil and 0 are what was there before anybody wrote.
fn value_of(key: &str, value: &Value, forms: &mut OneForm) -> Result<Option<String>, String> {
    match value {
        Value::Null => Ok(None),
        Value::Number(number) if number.as_u64() == Some(0) => Ok(None),
        Value::String(word) if word == "nil" => Ok(None),
        value => forms.value(key, value).map(Some),
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

    /// On any other transaction it took writes out of the history, so that a lost update held.
    #[test]
    fn an_initial_transaction_is_one_and_first_and_only_writes() {
        let initial = |ops: &str| format!(r#"{{"value": [{ops}], "isInitial": true}}"#);
        let own = r#"{"value": [["r", 4, 1, false], ["w", 4, 2, true]]}"#;
        let searched = r#"["range", "nil", "nil", [{"id": 4, "val": 1}], [{"id": 5, "val": 9}]]"#;
        let written = r#"["w", 4, 1, true], ["w", 5, 9]"#;
        for ops in [searched, written, r#"["range", null, null, [{"id": 4, "val": 1}], []]"#, ""] {
            let first = initial(ops);
            assert_eq!(read_logs(&[&first, own]).unwrap().len(), 1, "{ops}");
            assert_eq!(read_logs(&[own, &first]).unwrap().len(), 1, "{ops}");
            assert_eq!(read_logs(&[&format!("{first}\n{own}")]).unwrap().len(), 1, "{ops}");
        }
        let refused = |logs: &[&str]| read_logs(logs).unwrap_err().to_string();
        for ops in [
            r#"["r", 4, 1, false]"#,
            r#"["i", 4, 1, 0, false, true]"#,
            r#"["d", 4, 1, 0, false, true]"#,
            r#"["w", 4, 1, false]"#,
            r#"["w", 4, 1, true], ["r", 4, 1, false]"#,
            r#"["range", 1, 9, [{"id": 4, "val": 1}], []]"#,
            r#"["range", "nil", "nil", [], []], ["w", 4, 1, true]"#,
        ] {
            let told = refused(&[&initial(ops), own]);
            assert!(told.starts_with("J1.log, line 1, column 1: the initial"), "{ops}: {told}");
        }
        let first = initial(written);
        let told = refused(&[&first, &first]);
        assert!(told.starts_with("J2.log, line 1, column 1: there is an initial"), "{told}");
        assert!(told.contains("in J1.log, line 1"), "{told}");
        let told = refused(&[&format!("{own}\n{first}")]);
        assert!(
            told.starts_with("J1.log, line 2, column 1: an initial transaction behind"),
            "{told}"
        );
        let told = refused(&[&initial(r#"["w", 4, 1], ["w", 4, 2]"#)]);
        assert!(told.contains("key 4 held 1 and 2 at the beginning"), "{told}");
        let told = refused(&[&initial(r#"["w", 4, 2]"#), own]);
        assert!(told.starts_with("J2.log, line 1: it writes 2 to key 4"), "{told}");
        let told = refused(&[&first.replace("true}", "true, \"isFinal\": true}"), own]);
        assert!(told.contains("initial or final"), "{told}");
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

    /// Each was taken for what the key held at the beginning, so that a lost update held.
    #[test]
    fn a_value_or_a_key_in_another_form_is_refused_where_it_stands() {
        let refused = |read: &str| {
            let write = r#"{"value": [["w", 5, 1]]}"#;
            let other = format!("\n{{\"value\": [[\"w\", \"x\", 7], {read}]}}");
            read_logs(&[write, &other]).unwrap_err().to_string()
        };
        for value in ["\"1\"", "\"1 \"", "\"a\"", "\"0\""] {
            let told = refused(&format!("[\"r\", 5, {value}]"));
            assert!(told.starts_with("J2.log, line 2, column 1: operation 2: "), "{told}");
            assert!(told.contains("a text") && told.contains("one form"), "{told}");
        }
        for value in ["[1]", "{\"a\": 1}", "true", "1.5", "1e25"] {
            let told = refused(&format!("[\"r\", 5, {value}]"));
            assert!(told.contains("a whole number or a text"), "{told}");
        }
        let told = refused("[\"w\", \"5\", 2]");
        assert!(told.contains("5 stands here in another form"), "{told}");
        let told = refused("[\"range\", 1, 9, [{\"id\": 5, \"val\": \"1\"}], []]");
        assert!(told.contains("one form"), "{told}");
        for whole in
            ["[\"r\", 5, 1.0]", "[\"r\", 5, \"nil\"]", "[\"r\", 5, 0]", "[\"r\", 6, \"a\"]"]
        {
            let line = format!("{{\"value\": [{whole}]}}");
            assert!(read_logs(&[r#"{"value": [["w", 5, 1]]}"#, &line]).is_ok(), "{whole}");
        }
    }

    fn read_logs(logs: &[&str]) -> Result<History, BadInput> {
        let named: Vec<(&str, &str)> =
            ["J1.log", "J2.log"].into_iter().zip(logs.iter().copied()).collect();
        read(&named)
    }
}
