//! A set: what was added, or was once read, is there in every read that begins later.
//!
//! ```text
//!   add 7 ├──┤ known                                          lost: absent to the end
//!               read {7} ├──┤   read {} ├──┤   read {} ├──┤   (stale: absent, then there again)
//! ```
//!
//! An element is *known* when its addition was confirmed, or when a read that has it ended. It is
//! *lost* if a read does not have it that began after that, and after every read that has it began
//! (Jepsen's set-full). An element that was never added, or whose addition failed, must not be
//! read, and none twice; where the file begins late it may have been added before.

use std::collections::{BTreeMap, HashSet};

use super::finding::ObjectVerdict;
use super::operation::{BEFORE_THE_FILE, NEVER, Operation, Value};
use crate::history::TransactionOutcome;
use crate::late::LateBeginning;

/// Examples that are told of each kind.
const TOLD: usize = 4;

/// What happened to one element.
struct Element<'a> {
    /// `None` of one that was added before the file begins.
    add: Option<&'a Operation>,
    /// When somebody first asked for it to be added.
    asked: u32,
    /// When it was known to be there.
    known: u32,
    /// The reads that have it, in order.
    seen: Vec<usize>,
    /// The last read that has it.
    present: Option<&'a Operation>,
    /// The last read that does not have it.
    absent: Option<&'a Operation>,
}

/// What is wrong with which elements.
#[derive(Default)]
struct Wrong {
    unexpected: Vec<String>,
    failed: Vec<String>,
    twice: Vec<String>,
    lost: Vec<String>,
}

pub(super) fn judge_presence(
    operations: &[Operation],
    late: Option<LateBeginning>,
) -> Result<(ObjectVerdict, Vec<String>), String> {
    let mut elements: BTreeMap<&Value, Element<'_>> = BTreeMap::new();
    for add in operations.iter().filter(|one| one.function == "add") {
        let known = if add.outcome == TransactionOutcome::Ok { add.ended } else { NEVER };
        let seen = Vec::new();
        let element =
            Element { add: Some(add), asked: add.began, known, seen, present: None, absent: None };
        let own = elements.entry(&add.value).or_insert(element);
        own.asked = own.asked.min(add.began);
        own.known = own.known.min(known);
        if own.has_outcome(TransactionOutcome::Failed) {
            own.add = Some(add);
        }
    }
    let mut reads: Vec<&Operation> = operations.iter().filter(|one| one.is_ok("read")).collect();
    reads.sort_by_key(|read| read.began);
    let mut wrong = Wrong::default();
    for (at, read) in reads.iter().enumerate() {
        if late.is_some() {
            note_earlier(read, &mut elements);
        }
        look(at, read, &mut elements, &mut wrong)?;
    }
    for element in elements.values_mut() {
        element.settle(&reads);
    }
    for (value, element) in &elements {
        if let Some(absent) = element.absent.filter(|_| element.is_lost()) {
            let value = value.display_text();
            let add = element.add.map(Operation::display_text).unwrap_or_default();
            wrong.lost.push(match element.present {
                None => format!("{value} was added by {add}, and is missing in {}", at(absent)),
                Some(present) => {
                    format!("{value} was read by {}, and is missing in {}", at(present), at(absent))
                }
            });
        }
    }
    Ok(told(&elements, reads.len(), wrong))
}

/// Where a read stands: all of what it saw would be too long.
fn at(read: &Operation) -> String {
    format!("the read of process {} in {} {}", read.process, read.unit, read.lines.1)
}

/// Takes what a read has and nobody had been asked for by then as added before the file begins.
fn note_earlier<'a>(read: &'a Operation, elements: &mut BTreeMap<&'a Value, Element<'a>>) {
    for item in read.result.as_items().unwrap_or_default() {
        let earlier = Element {
            add: None,
            asked: BEFORE_THE_FILE,
            known: NEVER,
            seen: Vec::new(),
            present: None,
            absent: None,
        };
        let own = elements.entry(item).or_insert(earlier);
        if own.has_outcome(TransactionOutcome::Failed) || read.ended < own.asked {
            (own.add, own.asked) = (None, BEFORE_THE_FILE);
        }
    }
}

/// Notes what a read saw.
fn look<'a>(
    place: usize,
    read: &'a Operation,
    elements: &mut BTreeMap<&'a Value, Element<'a>>,
    wrong: &mut Wrong,
) -> Result<(), String> {
    let items = match &read.result {
        Value::Items(items) | Value::Set(items) => items.as_slice(),
        Value::Nil => &[],
        other => return Err(format!("{} is no set: {}", other.display_text(), at(read))),
    };
    let mut seen: HashSet<&Value> = HashSet::new();
    for item in items {
        if !seen.insert(item) {
            wrong.twice.push(format!("{} stands twice in {}", item.display_text(), at(read)));
        }
        match elements.get_mut(item) {
            None => wrong.unexpected.push(format!("{} is in {}", item.display_text(), at(read))),
            Some(element) if element.has_outcome(TransactionOutcome::Failed) => {
                let add = element.add.map(Operation::display_text).unwrap_or_default();
                let item = item.display_text();
                wrong.failed.push(format!("{item} is in {}: {add} failed", at(read)));
            }
            Some(element) if read.ended < element.asked => {
                let add = element.add.map(Operation::display_text).unwrap_or_default();
                let item = item.display_text();
                wrong.unexpected.push(format!("{item} is in {}, before {add} began", at(read)));
            }
            Some(element) => {
                element.known = element.known.min(read.ended);
                element.seen.push(place);
            }
        }
    }
    Ok(())
}

impl<'a> Element<'a> {
    /// Whether its addition is in the file, and had this outcome.
    fn has_outcome(&self, outcome: TransactionOutcome) -> bool {
        self.add.is_some_and(|add| add.outcome == outcome)
    }

    /// Finds the last reads that have it and that have it not.
    fn settle(&mut self, reads: &[&'a Operation]) {
        self.seen.dedup();
        self.present = self.seen.last().map(|at| reads[*at]);
        let mut end = reads.len();
        for at in self.seen.iter().rev() {
            if at + 1 != end {
                break;
            }
            end = *at;
        }
        self.absent = end.checked_sub(1).map(|at| reads[at]);
    }

    fn has_been_seen_since(&self, absent: &Operation) -> bool {
        self.present.is_some_and(|present| present.began > absent.began)
    }

    /// Absent for good from a read that began after it was known.
    fn is_lost(&self) -> bool {
        let late = self.absent.filter(|absent| absent.began > self.known);
        late.is_some_and(|absent| !self.has_been_seen_since(absent))
    }

    /// Absent from such a read, and there again.
    fn is_stale(&self) -> bool {
        let late = self.absent.filter(|absent| absent.began > self.known);
        late.is_some_and(|absent| self.has_been_seen_since(absent))
    }

    /// Whether it is in the last read, as far as that says anything.
    fn is_stable(&self) -> bool {
        self.present.is_some() && !self.is_lost()
    }
}

fn told(
    elements: &BTreeMap<&Value, Element<'_>>,
    reads: usize,
    wrong: Wrong,
) -> (ObjectVerdict, Vec<String>) {
    let mut notes = Vec::new();
    let mut note = |count: usize, what: &str| {
        if count > 0 {
            notes.push(format!("{count} {what}"));
        }
    };
    note(
        count(elements, |one| one.has_outcome(TransactionOutcome::Unknown) && one.is_stable()),
        "elements of unknown outcome were read: they were added",
    );
    note(
        count(elements, |one| one.has_outcome(TransactionOutcome::Ok) && one.present.is_none())
            - unread_and_lost(elements),
        "elements were added and never read",
    );
    note(
        count(elements, Element::is_stale),
        "elements are stale: missing in a read that began after they were known, and there again \
         later; a linearizable set has none, and Jepsen's set-full allows them unless asked",
    );
    let kinds = [
        ("lost elements", wrong.lost),
        ("unexpected elements", wrong.unexpected),
        ("elements of failed additions", wrong.failed),
        ("elements read twice", wrong.twice),
    ];
    let broken: Vec<&(&str, Vec<String>)> =
        kinds.iter().filter(|(_, all)| !all.is_empty()).collect();
    let stable = count(elements, Element::is_stable);
    let finding = if let Some((anomaly, _)) = broken.first() {
        let mut evidence = Vec::new();
        for (name, all) in &broken {
            evidence.push(format!("{} {name}, of {} in {reads} reads", all.len(), elements.len()));
            evidence.extend(all.iter().take(TOLD).cloned());
        }
        ObjectVerdict::Broken { anomaly: (*anomaly).to_owned(), evidence }
    } else if stable == 0 {
        ObjectVerdict::CannotTell(format!(
            "none of {} elements was in a read, or should have been in one",
            elements.len()
        ))
    } else {
        ObjectVerdict::Holds(format!(
            "{stable} of {} elements are there to the end of {reads} reads, and none was lost",
            elements.len()
        ))
    };
    (finding, notes)
}

fn count<'a>(elements: &BTreeMap<&Value, Element<'a>>, is: impl Fn(&Element<'a>) -> bool) -> usize {
    elements.values().filter(|one| is(one)).count()
}

fn unread_and_lost(elements: &BTreeMap<&Value, Element<'_>>) -> usize {
    count(elements, |one| one.present.is_none() && one.is_lost())
}
