//! Jepsen's histories of objects, whose operations are no transactions.
//!
//! ```text
//!   {:type :invoke, :f :cas, :value [1 2], :process 0, :index 0}
//!   {:type :ok,     :f :cas, :value [1 2], :process 0, :index 1}
//!   {:type :info,   :f :transfer, :value {:from 0, :to 1, :amount 5}, :process 1, :index 2}
//! ```
//!
//! Maps are in the order of `:index` where each has one, else in that of the file. An operation
//! without an end is as one that ended with `:info`. What a process called `nemesis` did is passed
//! over, and counted.

use std::collections::HashMap;

use super::completion::{self, Beginning};
use super::edn::{Edn, Reader};
use super::jepsen::{Event, begun_twice, event_of, is_of_nemesis};
use crate::bad_input::{BadInput, bad_input_at};
use crate::builder::{NameForm, NameForms};
use crate::history::TransactionOutcome;
use crate::late::FirstEntries;
use crate::objects::{BEFORE_THE_FILE, MapKeys, Operation, Operations, Value};

/// The names of operations on objects.
const FUNCTIONS: [&str; 7] = ["read", "write", "cas", "add", "transfer", "acquire", "release"];

/// One map of the file.
struct Entry<'a> {
    map: Edn<'a>,
    line: usize,
    column: usize,
    index: Option<u64>,
}

fn is_step(item: &Edn<'_>) -> bool {
    matches!(item.as_items().and_then(<[_]>::first), Some(Edn::Keyword(_)))
}

/// Whether the first operation of a client is one on an object: its name is known, and its value is
/// no transaction.
pub(super) fn are_there(text: &str) -> bool {
    let mut reader = Reader::new(text);
    while let Ok(Some((map, ..))) = reader.next_item() {
        if is_of_nemesis(&map) {
            continue;
        }
        let Some(Edn::Keyword(function)) = map.get("f") else { return false };
        let items = map.get("value").and_then(Edn::as_items).unwrap_or_default();
        let is_transaction = !items.is_empty() && items.iter().all(is_step);
        return FUNCTIONS.contains(function) && !is_transaction;
    }
    false
}

/// Reads a text; `unit` is what a line of it is in the file that the user has.
pub(super) fn read(
    text: &str,
    unit: &'static str,
    map_keys: MapKeys,
) -> Result<Operations, BadInput> {
    let mut reader = Reader::new(text);
    let mut entries: Vec<Entry<'_>> = Vec::new();
    let mut passed_over = 0;
    let mut first = FirstEntries::default();
    while let Some((map, line, column)) = reader.next_item()? {
        let index = map.get_count("index");
        let index = index.map_err(|what| bad_input_at(line, column, what))?;
        first.note_index(index);
        if is_of_nemesis(&map) {
            passed_over += 1;
            continue;
        }
        entries.push(Entry { map, line, column, index });
    }
    if entries.iter().all(|entry| entry.index.is_some()) {
        entries.sort_by_key(|entry| entry.index);
    } else if !entries.iter().filter_map(|entry| entry.index).is_sorted()
        && let Some(without) = entries.iter().find(|entry| entry.index.is_none())
    {
        let what = "it has no :index, and those of others are in another order than the file: \
                    which of them was first is not known";
        return Err(bad_input_at(without.line, without.column, what));
    }
    let (all, open, forms) = (Vec::new(), HashMap::new(), NameForms::default());
    let mut told = OperationCollector { all, open, forms, first, unit };
    for (now, entry) in (BEFORE_THE_FILE + 1..).zip(&entries) {
        told.entry(entry, now).map_err(|what| bad_input_at(entry.line, entry.column, what))?;
    }
    let late = told.first.late_beginning();
    let cut = told.all.iter().find(|one| one.began == BEFORE_THE_FILE && late.is_none());
    if let Some(Operation { process, lines, .. }) = cut {
        return Err(bad_input_at(lines.1, 1, ended_without_beginning(process)));
    }
    Ok(Operations { all: told.all, passed_over, late, map_keys })
}

fn ended_without_beginning(process: &str) -> String {
    format!("process {process} ends an operation that it did not begin")
}

/// The operation that a process has begun: its place among all, and its beginning.
struct OpenOperation<'e, 'a> {
    place: usize,
    begun: &'e Entry<'a>,
}

struct OperationCollector<'e, 'a> {
    all: Vec<Operation>,
    /// By process, the operation that has not ended.
    open: HashMap<String, OpenOperation<'e, 'a>>,
    forms: NameForms,
    first: FirstEntries,
    unit: &'static str,
}

impl<'e, 'a> OperationCollector<'e, 'a> {
    /// An operation of which no end is known yet, and that began before the file.
    fn open_operation(
        &self,
        function: Option<&str>,
        process: &str,
        value: Value,
        line: usize,
    ) -> Result<Operation, String> {
        Ok(Operation {
            function: function.ok_or("an operation without :f")?.to_owned(),
            process: process.to_owned(),
            value,
            result: Value::Nil,
            outcome: TransactionOutcome::Unknown,
            began: BEFORE_THE_FILE,
            ended: u32::MAX,
            unit: self.unit,
            lines: (line, line),
        })
    }

    fn entry(&mut self, entry: &'e Entry<'a>, now: u32) -> Result<(), String> {
        let map = &entry.map;
        let event = event_of(map, ":f")?;
        let process = map.get_word("process")?.unwrap_or("0");
        let function = map.get_word("f")?;
        if map.get("key").is_some_and(|key| *key != Edn::Nil) {
            return Err(
                "it has a :key of its own, which would be passed over; write [key value] as \
                        its :value, as jepsen.independent does"
                    .to_owned(),
            );
        }
        if let Event::Ended(outcome) = event {
            return self.end(entry, process, outcome, now);
        }
        let value = value_of(completion::value_of(map), &mut self.forms)?;
        self.first.note_beginning(process);
        let open = OpenOperation { place: self.all.len(), begun: entry };
        if let Some(before) = self.open.insert(process.to_owned(), open) {
            return Err(begun_twice(process, self.unit, before.begun.line));
        }
        let begun = self.open_operation(function, process, value, entry.line)?;
        self.all.push(Operation { began: now, ..begun });
        Ok(())
    }

    /// The end of an operation of a process.
    fn end(
        &mut self,
        entry: &'e Entry<'a>,
        process: &str,
        outcome: TransactionOutcome,
        now: u32,
    ) -> Result<(), String> {
        let (place, value) = match self.open.remove(process) {
            Some(OpenOperation { place, begun: Entry { map, line, .. } }) => {
                let begun = Beginning { process, map, unit: self.unit, line: *line };
                let value = begun.completed_value(&entry.map, outcome)?;
                (place, value_of(value, &mut self.forms)?)
            }
            None if !self.first.note_cut_end(process) => {
                return Err(ended_without_beginning(process));
            }
            None => {
                let value = value_of(completion::value_of(&entry.map), &mut self.forms)?;
                let function = entry.map.get_word("f")?;
                let own = self.open_operation(function, process, value.clone(), entry.line)?;
                self.all.push(own);
                (self.all.len() - 1, value)
            }
        };
        let own = &mut self.all[place];
        own.outcome = outcome;
        own.lines.1 = entry.line;
        if outcome == TransactionOutcome::Ok {
            own.ended = now;
            own.result = value;
        }
        Ok(())
    }
}

/// A value of an object; those of the same letters that are written in two forms are refused.
fn value_of(value: &Edn<'_>, forms: &mut NameForms) -> Result<Value, String> {
    Ok(match value {
        Edn::Nil => Value::Nil,
        Edn::Items(items) => Value::Items(values_of(items, forms)?),
        Edn::Set(items) => {
            let mut items = values_of(items, forms)?;
            items.sort_unstable();
            Value::Set(items)
        }
        Edn::Map(pairs) => {
            let pairs = pairs
                .iter()
                .map(|(key, value)| Ok((value_of(key, forms)?, value_of(value, forms)?)));
            let mut pairs = pairs.collect::<Result<Vec<_>, String>>()?;
            pairs.sort_unstable();
            Value::Map(pairs)
        }
        Edn::Keyword(_) | Edn::Atom(_) | Edn::Text(_) => {
            let word = value.as_word().unwrap_or_default();
            let number = (value.name_form() == NameForm::Bare).then(|| word.parse().ok()).flatten();
            match number {
                Some(number) => Value::Number(number),
                None => {
                    forms.require_form(word, value.name_form())?;
                    Value::Word(word.to_owned())
                }
            }
        }
    })
}

fn values_of(items: &[Edn<'_>], forms: &mut NameForms) -> Result<Vec<Value>, String> {
    items.iter().map(|item| value_of(item, forms)).collect()
}
