//! Histories of Jepsen as Elle reads them: lists that are appended to, and registers.
//!
//! ```text
//!   {:type :invoke, :f :txn, :value [[:append 5 1] [:r 5 nil]], :process 0, :time 10}
//!   {:type :ok,     :f :txn, :value [[:append 5 1] [:r 5 [1]]], :process 0, :time 20}
//!   {:type :info,   :f :txn, :value [[:w x 1] [:r y nil]], :process 1, :time 30}
//! ```
//!
//! One map after the other, or one vector or list of maps. What `:f` is called does not matter
//! where `:value` is such a vector of operations. Another value is of an object
//! ([`crate::objects`]), and refused among transactions: it would have every level.
//!
//! `:ok` was committed, `:fail` was rolled back, `:info` is unknown; an invocation without an
//! end is as `:info`. Times are those of `:time`, or of `:index` where there is none; when commits
//! were sent is not told, and left at 0. Where what was committed has no invocation, as in lines
//! that were searched for, its beginning is not known, and the history has no times.
//!
//! Source: Kingsbury, Alvaro, *Elle*, VLDB 2020; <https://github.com/jepsen-io/elle>.

use std::collections::HashMap;

use super::completion::{Beginning, function_of, operations_of, value_of};
use super::edn::{Edn, Reader};
use super::jepsen::{Event, begun_twice, event_of, is_of_nemesis};
use super::list::list;
use crate::bad_input::{BadInput, bad_input_at, txn};
use crate::builder::Builder;
use crate::history::{
    History, INITIAL, Op, OperationKind, Origin, Times, TransactionOutcome, UNKNOWN, WriteId,
};
use crate::late::{FirstEntries, LateBeginning};

/// Reads a text, and what shows that it begins late; `unit` is what a line of it is in the file
/// that the user has.
pub(super) fn read(
    text: &str,
    unit: &'static str,
) -> Result<(History, Option<LateBeginning>), BadInput> {
    let mut reader = Reader::new(text);
    let (builder, open, sessions) = (Builder::new(), HashMap::new(), HashMap::new());
    let entries = FirstEntries::default();
    let mut told =
        ElleCollector { builder, clock: None, open, sessions, unit, entries, has_begun: true };
    let mut count = 0;
    while let Some((map, line, column)) = reader.next_item()? {
        told.map(map, (line, column), count).map_err(|what| bad_input_at(line, column, what))?;
        count += 1;
    }
    let mut open: Vec<Open<'_>> = told.open.drain().map(|(_, open)| open).collect();
    open.sort_by_key(|open| open.count);
    for open in open {
        let by =
            By { process: &open.process, index: open.index, lines: (open.place.0, open.place.0) };
        let (function, value) = (function_of(&open.map), value_of(&open.map));
        told.end(&by, function, value, TransactionOutcome::Unknown, open.time, u64::MAX)
            .map_err(|what| bad_input_at(open.place.0, open.place.1, what))?;
    }
    let late = told.entries.late_beginning();
    told.has_begun &= late.is_some() || !told.entries.has_cut_ends();
    let mut history = told.builder.finish();
    if !told.has_begun {
        history.times.fill(Times::default());
    }
    Ok((history, late))
}

/// A transaction that was asked for and not answered.
struct Open<'a> {
    process: String,
    map: Edn<'a>,
    time: u64,
    /// The number of the map in the file, and where that stands.
    count: u64,
    place: (usize, usize),
    index: Option<u64>,
}

/// The process that did something, and where that stands.
struct By<'a> {
    /// Empty where the file does not say it.
    process: &'a str,
    index: Option<u64>,
    lines: (usize, usize),
}

/// Which moments a file tells: all operations have those of the first one.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Clock {
    Time,
    Index,
    /// The order of the file.
    Place,
}

struct ElleCollector<'a> {
    builder: Builder,
    clock: Option<Clock>,
    /// By process.
    open: HashMap<String, Open<'a>>,
    sessions: HashMap<String, u32>,
    unit: &'static str,
    entries: FirstEntries,
    /// Whether each committed transaction has an invocation, or had it before the file begins.
    has_begun: bool,
}

impl<'a> ElleCollector<'a> {
    fn map(&mut self, map: Edn<'a>, place: (usize, usize), count: u64) -> Result<(), String> {
        let index = map.get_count("index")?;
        self.entries.note_index(index);
        if is_of_nemesis(&map) {
            let steps = operations_of(value_of(&map)).unwrap_or_default();
            if !steps.is_empty() && steps.iter().all(is_operation_on_data) {
                return Err(
                    "what breaks the system is called nemesis, and this is a transaction; \
                            call its process otherwise"
                        .to_owned(),
                );
            }
            return Ok(());
        }
        let event = event_of(&map, ":value")?;
        // Without a process the client is not known, and no two have a session in common.
        let process = map.get_word("process")?.unwrap_or_default().to_owned();
        let time = self.moment(&map, index, count)?;
        let Event::Ended(outcome) = event else {
            let name = process.clone();
            self.entries.note_beginning(&name);
            let open = Open { process, map, time, count, place, index };
            let before = self.open.insert(name.clone(), open);
            let name = if name.is_empty() { "without a name" } else { &name };
            return before
                .map_or(Ok(()), |before| Err(begun_twice(name, self.unit, before.place.0)));
        };
        let open = self.open.remove(&process);
        let is_cut = open.is_none() && self.entries.note_cut_end(&process);
        self.has_begun &= open.is_some() || is_cut || outcome != TransactionOutcome::Ok;
        let begun_map = open.as_ref().map(|open| &open.map);
        let function = function_of(&map).or(begun_map.and_then(function_of));
        let unknown = if is_cut { 0 } else { time };
        let begun = open.as_ref().map_or(unknown, |open| open.time);
        let begun_at = open.as_ref().map_or(place.0, |open| open.place.0);
        let value = match &open {
            Some(Open { map: begun, place: (line, _), .. }) => {
                let unit = self.unit;
                Beginning { process: &process, map: begun, unit, line: *line }
                    .completed_value(&map, outcome)?
            }
            None => value_of(&map),
        };
        let by = By { process: &process, index, lines: (begun_at, place.0) };
        self.end(&by, function, value, outcome, begun, time)
    }

    /// When it was, by the clock of the file.
    fn moment(&mut self, map: &Edn<'_>, index: Option<u64>, count: u64) -> Result<u64, String> {
        let (clock, moment) = match (map.get_count("time")?, index) {
            (Some(time), _) => (Clock::Time, time),
            (None, Some(index)) => (Clock::Index, index),
            (None, None) => (Clock::Place, count),
        };
        if *self.clock.get_or_insert(clock) == clock {
            return Ok(moment);
        }
        let told = match clock {
            Clock::Time => ":time, and those before it have none",
            Clock::Index => "no :time but an :index, unlike those before it",
            Clock::Place => "neither :time nor :index, and those before it have one",
        };
        Err(format!("it has {told}: which of them was first is not known"))
    }

    fn end(
        &mut self,
        by: &By<'_>,
        function: Option<&str>,
        value: &Edn<'_>,
        outcome: TransactionOutcome,
        begun: u64,
        ended: u64,
    ) -> Result<(), String> {
        let next = self.sessions.len() as u32;
        let name = match by.process {
            "" => format!("\0{next}"),
            process => process.to_owned(),
        };
        let session = *self.sessions.entry(name).or_insert(next);
        let listed = operations_of(value).ok_or_else(|| other_workload(function))?;
        let mut ops = Vec::with_capacity(listed.len());
        for op in listed {
            operation(&mut self.builder, op, outcome, &mut ops)?;
        }
        let times = Times { begin_invoke_ns: begun, commit_return_ns: ended, ..Times::default() };
        if !times.are_in_order() {
            return Err("it was answered before it began".to_owned());
        }
        let index = by.index.map(|index| format!("index {index}"));
        let called = match (by.process, index) {
            ("", Some(index)) => index,
            ("", None) => format!("operation in line {}", by.lines.0),
            (process, Some(index)) => format!("process {process}, {index}"),
            (process, None) => format!("process {process}"),
        };
        let origin = Origin { called, unit: self.unit, places: by.lines };
        self.builder.push_from(txn(session, outcome, times), &ops, origin);
        Ok(())
    }
}

/// `[:append key value]` and the like.
fn is_operation_on_data(step: &Edn<'_>) -> bool {
    let word = step.as_items().filter(|items| items.len() == 3).and_then(<[_]>::first);
    matches!(word, Some(Edn::Keyword("append" | "w" | "r")))
}

fn other_workload(function: Option<&str>) -> String {
    if let Some(function @ ("get" | "put" | "append")) = function {
        return format!(
            ":f :{function} is of a store whose keys are texts that are put and appended to, as in \
             Porcupine's kv logs; these are not judged here. An append to a list is \
             {{:f :txn, :value [[:append x 1]]}}, and of a register there are :read, :write and :cas"
        );
    }
    format!(
        "{} has no transaction as its :value, a vector such as [[:append x 1] [:r x nil]]; beside \
         histories of transactions only, there are those of a bank (:transfer, :read), a set or \
         counter (:add, :read), a register (:read, :write, :cas) and a mutex (:acquire, :release)",
        function.map_or_else(|| "an operation without :f".to_owned(), |f| format!(":f :{f}"))
    )
}

fn operation(
    builder: &mut Builder,
    op: &Edn<'_>,
    outcome: TransactionOutcome,
    ops: &mut Vec<Op>,
) -> Result<(), String> {
    let known = "an operation is [:append key value], [:w key value] or [:r key value]";
    let [Edn::Keyword(word), key, value] = op.as_items().unwrap_or_default() else {
        return Err(known.to_owned());
    };
    let kind = match *word {
        "append" => OperationKind::Append,
        "w" => OperationKind::Write,
        "r" => OperationKind::Read,
        other => return Err(format!(":{other} is no operation; {known}")),
    };
    let key = builder.key_in_form(&key.to_text(), key.name_form())?;
    if kind == OperationKind::Read && outcome != TransactionOutcome::Ok {
        return Ok(());
    }
    let read = value.as_items().filter(|_| kind == OperationKind::Read);
    let Some(items) = read else {
        let value = id(builder, key, value)?;
        if kind != OperationKind::Read && value == INITIAL {
            return Err("a write of nil: values must be unique".to_owned());
        }
        ops.push(Op { key, value, prev: UNKNOWN, kind });
        return Ok(());
    };
    let mut ids = Vec::with_capacity(items.len());
    for item in items {
        if matches!(item, Edn::Nil) {
            return Err("nil is no element of a list that was read".to_owned());
        }
        ids.push(id(builder, key, item)?);
    }
    list(key, kind, &ids, ops);
    Ok(())
}

fn id(builder: &mut Builder, key: u32, value: &Edn<'_>) -> Result<WriteId, String> {
    match value {
        Edn::Nil => Ok(INITIAL),
        value => {
            let word = value.as_word().ok_or_else(|| {
                format!(
                    "{} is no value, which is a number, a word or nil; of lists those that are \
                     read are told, and of sets there are histories of :add and :read",
                    value.to_notation()
                )
            })?;
            builder.value_in_form(key, word, value.name_form())
        }
    }
}
