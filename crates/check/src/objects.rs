//! Objects of one key that clients read and change without transactions: Jepsen's other workloads.
//!
//! ```text
//!   bank       reads add up to one total
//!   set        an element that was added, or once read, is in every later read
//!   counter    a read lies between what was certainly added and what may have been
//!   register   read, write and compare-and-set: some order agrees with time and all answers
//!   mutex      the same, of acquire and release
//! ```
//!
//! Operations of unknown outcome (`:info`) may have happened at any time after they began, or not
//! at all; those that failed have not. What an object began with is taken from what the file shows:
//! reads that were answered before anything was sent that could change it.
//!
//! Of a file that begins late ([`crate::late`]) it is not known. What contradicts itself even so is
//! broken, unless an operation of unknown outcome from before the file, which may happen at any
//! time, could have been what was not seen: then it cannot be told, and the contradiction is shown.
//!
//! Sources: the checkers of Jepsen (bank, set, set-full, counter), <https://github.com/jepsen-io>;
//! linearizability: Herlihy, Wing, *Linearizability*, ACM TOPLAS 12, 1990.

mod accounts;
mod bank;
mod counter;
mod effort;
mod fences;
mod finding;
mod forms;
mod linear;
mod operation;
mod presence;

pub use finding::ObjectVerdict;
pub(crate) use operation::{BEFORE_THE_FILE, MapKeys, Operation, Value};

use std::collections::BTreeMap;

use crate::history::TransactionOutcome;
use crate::late::LateBeginning;
use effort::{Effort, Limits, Share};

/// The operations of a history without transactions.
#[derive(Clone, Debug)]
pub struct Operations {
    pub(crate) all: Vec<Operation>,
    /// Entries that are of no client: faults that were injected.
    pub(crate) passed_over: usize,
    /// What shows that the file begins late, if it does.
    pub(crate) late: Option<LateBeginning>,
    pub(crate) map_keys: MapKeys,
}

/// What the operations are of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Workload {
    /// Transfers between accounts, and reads of all of them.
    Bank,
    /// Elements that are added, and reads of all of them.
    Set,
    /// Numbers that are added, and reads of their sum.
    Counter,
    /// A register that is read, written, and compared and set.
    Register,
    /// A lock that is acquired and released.
    Mutex,
}

/// How many operations there are, by what became of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ObjectCounts {
    /// All.
    pub operations: usize,
    /// Operations that were confirmed.
    pub ok: usize,
    /// Operations that certainly did nothing.
    pub failed: usize,
    /// Operations of which the outcome is not known.
    pub unknown: usize,
    /// Entries of no client, which were passed over.
    pub passed_over: usize,
    /// Objects of the same kind that are judged one by one.
    pub keys: usize,
}

/// What a history of objects was taken for, and what came out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectJudgement {
    /// What it was taken for.
    pub workload: Workload,
    /// How much was understood.
    pub counted: ObjectCounts,
    /// What was found.
    pub finding: ObjectVerdict,
    /// What else should be known of it.
    pub notes: Vec<String>,
}

/// What the file does not say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ObjectAssumptions {
    /// The total of a bank.
    pub total: Option<i64>,
    /// The accounts of a bank, as they are named in the file.
    pub accounts: Option<Vec<String>>,
    /// What a register held at the beginning, `nil` for nothing.
    pub initial: Option<String>,
}

impl Workload {
    /// What it is called in a sentence.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Workload::Bank => "bank",
            Workload::Set => "set",
            Workload::Counter => "counter",
            Workload::Register => "register",
            Workload::Mutex => "mutex",
        }
    }

    /// What it means that the file begins late.
    fn late_meaning(self) -> &'static str {
        match self {
            Workload::Bank => "no transfer of then changed the total",
            Workload::Set => {
                "an element that is read without being added here counts as added then"
            }
            Workload::Counter => "the counter may have held any number",
            Workload::Register => "the register may have held any value",
            Workload::Mutex => "the mutex may have been held or free",
        }
    }

    /// The property that is judged.
    #[must_use]
    pub fn judged_property(self) -> &'static str {
        match self {
            Workload::Bank => "constant total",
            Workload::Set => "no element lost",
            Workload::Counter => "sums within bounds",
            Workload::Register | Workload::Mutex => "linearizable",
        }
    }

    /// Whose definition that is.
    #[must_use]
    pub fn definition_source(self) -> &'static str {
        match self {
            Workload::Bank => "Jepsen's bank",
            Workload::Set => "Jepsen's set-full",
            Workload::Counter => "Jepsen's counter",
            Workload::Register | Workload::Mutex => "Herlihy and Wing 1990",
        }
    }
}

impl Operations {
    /// Says what the operations are of, and judges them.
    ///
    /// # Errors
    /// A sentence, if they are of nothing that is known, or if the file does not say what they have
    /// to be judged by.
    pub fn judge_workload(&self, stated: &ObjectAssumptions) -> Result<ObjectJudgement, String> {
        self.judged_within(stated, Limits::OF_A_FILE)
    }

    fn judged_within(
        &self,
        stated: &ObjectAssumptions,
        limits: Limits,
    ) -> Result<ObjectJudgement, String> {
        let (groups, is_keyed) = self.by_key()?;
        let workload = workload_of(&self.all, is_keyed)?;
        self.refuse_superfluous(workload, stated)?;
        for operations in groups.values() {
            match workload {
                Workload::Bank => forms::require_form_of_accounts(operations, self.map_keys)?,
                Workload::Set => forms::require_form_of_elements(operations)?,
                Workload::Register => forms::require_form_of_values(operations)?,
                Workload::Counter | Workload::Mutex => {}
            }
        }
        let counted = self.counted(groups.len());
        let mut effort = Effort::new(limits);
        let mut told = Vec::new();
        let mut open = Vec::new();
        for (at, operations) in groups.values().enumerate() {
            let share = if groups.len() == 1 { Share::Whole } else { Share::Half };
            effort.begin_key(share, groups.len() - at);
            told.push(judged_alone(workload, operations, stated, self.late, &mut effort)?);
            if share == Share::Half && effort.wants_more() {
                open.push((at, operations));
            }
        }
        for (left, (at, operations)) in (1..=open.len()).rev().zip(open) {
            effort.begin_key(Share::Whole, left);
            told[at] = judged_alone(workload, operations, stated, self.late, &mut effort)?;
        }
        let mut notes = Vec::new();
        if let Some(late) = self.late {
            notes.push(format!("the file {late}, and {}", workload.late_meaning()));
        }
        let mut findings = Vec::new();
        for (key, (finding, more)) in groups.keys().zip(told) {
            notes.extend(more.iter().map(|note| of_key(is_keyed, key, note)));
            findings.push((key, finding));
        }
        let told = findings;
        Ok(ObjectJudgement { workload, counted, finding: together(is_keyed, &told), notes })
    }

    fn refuse_superfluous(
        &self,
        workload: Workload,
        stated: &ObjectAssumptions,
    ) -> Result<(), String> {
        match workload {
            Workload::Bank if stated.initial.is_some() => {
                Err("this is a bank, which begins with a total and no value".to_owned())
            }
            Workload::Set | Workload::Counter | Workload::Mutex if stated.initial.is_some() => {
                Err(format!("a {} begins empty, and with no other value", workload.name()))
            }
            Workload::Bank => Ok(()),
            Workload::Register if stated.initial.is_some() && self.late.is_some() => {
                Err("the file begins late: what the register held at the beginning of its history \
                     says nothing of what it held where the file begins"
                    .to_owned())
            }
            other if stated.total.is_some() => {
                Err(format!("a {} has no total; only a bank has one", other.name()))
            }
            other if stated.accounts.is_some() => {
                Err(format!("a {} has no accounts; only a bank has some", other.name()))
            }
            _ => Ok(()),
        }
    }

    fn counted(&self, keys: usize) -> ObjectCounts {
        let of = |outcome| self.all.iter().filter(|one| one.outcome == outcome).count();
        ObjectCounts {
            operations: self.all.len(),
            ok: of(TransactionOutcome::Ok),
            failed: of(TransactionOutcome::Failed),
            unknown: of(TransactionOutcome::Unknown),
            passed_over: self.passed_over,
            keys,
        }
    }

    /// The operations of each key, where every value is a pair of a key and a value (Jepsen's
    /// `independent`); else all of them under no key.
    ///
    /// # Errors
    /// A key in two forms, or a read that was asked with a key and whose answer has none.
    fn by_key(&self) -> Result<(BTreeMap<String, Vec<Operation>>, bool), String> {
        let is_pair = |one: &Operation| match (one.function.as_str(), one.value.as_items()) {
            ("cas", Some([_, change])) => change.as_items().is_some_and(|pair| pair.len() == 2),
            ("read" | "write" | "add", Some([_, _])) => true,
            _ => false,
        };
        let is_keyed = !self.all.is_empty() && self.all.iter().all(is_pair);
        if is_keyed {
            forms::require_form_of_keys(&self.all)?;
        }
        let mut groups: BTreeMap<String, Vec<Operation>> = BTreeMap::new();
        for one in &self.all {
            let mut own = one.clone();
            let mut key = String::new();
            if let Some([of, value]) = one.value.as_items().filter(|_| is_keyed) {
                (key, own.value) = (of.display_text(), value.clone());
            }
            match one.result.as_items() {
                Some([of, result]) if is_keyed && of.display_text() == key => {
                    own.result = result.clone()
                }
                _ if is_keyed && one.is_ok("read") => return Err(keyless(one, &key)),
                _ => {}
            }
            groups.entry(key).or_default().push(own);
        }
        Ok((groups, is_keyed))
    }
}

fn keyless(read: &Operation, key: &str) -> String {
    format!(
        "every value is a pair of a key and a value, as Jepsen's independent writes them, and the \
         read of process {} in {} {} is answered without the key {key}: needed is [{key} VALUE], or \
         values without keys",
        read.process, read.unit, read.lines.1
    )
}

fn of_key(is_keyed: bool, key: &str, text: &str) -> String {
    if is_keyed { format!("key {key}: {text}") } else { text.to_owned() }
}

fn judged_alone(
    workload: Workload,
    operations: &[Operation],
    stated: &ObjectAssumptions,
    late: Option<LateBeginning>,
    effort: &mut Effort,
) -> Result<(ObjectVerdict, Vec<String>), String> {
    match workload {
        Workload::Bank => bank::judge_bank(operations, stated.total, stated.accounts.as_deref()),
        Workload::Set => presence::judge_presence(operations, late),
        Workload::Counter => counter::judge_counter(operations, late),
        Workload::Register => match late {
            None => linear::judge_register(operations, stated.initial.as_deref(), effort),
            Some(late) => linear::judge_late_register(operations, late, effort),
        },
        Workload::Mutex => linear::mutex(operations, late, effort),
    }
}

/// The finding of all keys: the first one that is broken, else the first one that is not told. Keys
/// of which nothing was compared say nothing of the others.
fn together(is_keyed: bool, told: &[(&String, ObjectVerdict)]) -> ObjectVerdict {
    let broken = told.iter().find(|(_, finding)| matches!(finding, ObjectVerdict::Broken { .. }));
    let open = told.iter().find(|(_, finding)| matches!(finding, ObjectVerdict::CannotTell(_)));
    match broken.or(open) {
        Some((key, ObjectVerdict::Broken { anomaly, evidence })) => {
            let evidence = evidence.iter().map(|line| of_key(is_keyed, key, line)).collect();
            ObjectVerdict::Broken { anomaly: anomaly.clone(), evidence }
        }
        Some((key, ObjectVerdict::CannotTell(why))) => {
            ObjectVerdict::CannotTell(of_key(is_keyed, key, why))
        }
        _ => of_keys_in_order(told),
    }
}

/// The finding of keys that are as they should be, as far as something of them was compared.
fn of_keys_in_order(told: &[(&String, ObjectVerdict)]) -> ObjectVerdict {
    if let [(_, only)] = told {
        return only.clone();
    }
    let idle = told.iter().filter(|(_, one)| matches!(one, ObjectVerdict::NothingCompared(_)));
    let (count, first) = (idle.clone().count(), idle.map(|(_, finding)| finding).next());
    match first {
        Some(nothing) if count == told.len() => nothing.clone(),
        None => ObjectVerdict::Holds(format!("each of {} keys is as it should be", told.len())),
        Some(_) => ObjectVerdict::Holds(format!(
            "each of {} keys is as it should be; of {count} more nothing was compared",
            told.len() - count
        )),
    }
}

/// What operations with these names and values are of.
fn workload_of(operations: &[Operation], is_keyed: bool) -> Result<Workload, String> {
    let mut names: Vec<&str> = operations.iter().map(|one| one.function.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    let are = |known: &[&str]| names.iter().all(|name| known.contains(name));
    let (is_transferred, is_added) = (names.contains(&"transfer"), names.contains(&"add"));
    let is_register = names.contains(&"write") || names.contains(&"cas");
    let answers = || {
        let reads = operations.iter().filter(|one| one.function == "read");
        let ok = reads.filter(|one| one.outcome == TransactionOutcome::Ok);
        ok.map(move |one| match one.result.as_items().filter(|_| is_keyed) {
            Some([_, value]) => value,
            _ => &one.result,
        })
    };
    let is_of_items = answers().any(|value| value.as_items().is_some());
    let is_of_maps = answers().any(|value| matches!(value, Value::Map(_)));
    if are(&["acquire", "release"]) {
        return Ok(Workload::Mutex);
    }
    if are(&["read", "transfer"]) && (is_transferred || is_of_maps) {
        return Ok(Workload::Bank);
    }
    if are(&["read", "write", "cas"]) && is_register {
        return Ok(Workload::Register);
    }
    if are(&["read", "add"]) && is_of_items {
        return Ok(Workload::Set);
    }
    if are(&["read", "add"]) && is_added {
        return match answers().next() {
            Some(_) => Ok(Workload::Counter),
            None => Err("no read was answered, so that a set and a counter look the same, and \
                         nothing can be judged"
                .to_owned()),
        };
    }
    let told: Vec<String> = names.iter().map(|name| format!(":{name}")).collect();
    Err(format!(
        "operations {} are of no workload that is known: there are transactions (:txn), banks \
         (:transfer, :read), sets and counters (:add, :read), registers (:read, :write, :cas) and \
         mutexes (:acquire, :release)",
        told.join(", ")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Open changes from each of some values to each, then reads of what they may have made.
    fn open_changes(values: i64, of_each: usize, reads: u32) -> Operations {
        let operation = |function: &str, value, result, outcome, began, ended| Operation {
            function: function.to_owned(),
            process: "0".to_owned(),
            value,
            result,
            outcome,
            began,
            ended,
            unit: "line",
            lines: (began as usize, began as usize),
        };
        let number = Value::Number;
        let mut all = Vec::new();
        for from in 0..values {
            for to in (0..values).filter(|to| *to != from) {
                let change = Value::Items(vec![number(from), number(to)]);
                let open = |at| {
                    operation(
                        "cas",
                        change.clone(),
                        Value::Nil,
                        TransactionOutcome::Unknown,
                        at,
                        operation::NEVER,
                    )
                };
                all.extend((0..of_each).map(|_| open(0)));
            }
        }
        for (at, one) in all.iter_mut().enumerate() {
            one.began = at as u32;
        }
        let first = all.len() as u32;
        for at in 0..reads {
            let value = number(i64::from(at * 7) % values);
            let began = first + 2 * at;
            all.push(operation(
                "read",
                Value::Nil,
                value,
                TransactionOutcome::Ok,
                began,
                began + 1,
            ));
        }
        Operations { all, passed_over: 0, late: None, map_keys: MapKeys::AsWritten }
    }

    fn told(operations: &Operations, limits: Limits) -> ObjectVerdict {
        operations.judged_within(&ObjectAssumptions::default(), limits).unwrap().finding
    }

    const ENOUGH: Limits = Limits { tried: u64::MAX, steps: u64::MAX, held: u64::MAX };

    #[test]
    fn a_search_ends_by_what_it_did_and_says_how_far_it_came() {
        let hard = open_changes(5, 200, 40);
        let why = |limits| match told(&hard, limits) {
            ObjectVerdict::CannotTell(why) => why,
            other => panic!("{other:?}"),
        };
        let steps = why(Limits { steps: 300_000, ..ENOUGH });
        assert!(steps.starts_with("the search took more than 300000 steps; "), "{steps}");
        assert!(steps.contains(" of 40 operations that ended were put into orders"), "{steps}");
        assert!(steps.contains("4000 of unknown outcome that may have happened or not"), "{steps}");
        assert_eq!(why(Limits { steps: 300_000, ..ENOUGH }), steps, "whatever the machine does");
        let held = why(Limits { held: 20_000, ..ENOUGH });
        assert!(held.starts_with("the orders that are possible take more than 0 MB"), "{held}");
        let tried = why(Limits { tried: 5_000, ..ENOUGH });
        assert!(tried.starts_with("more than 5000 continuations"), "{tried}");
        // A step is a piece of work: what goes beyond the limit is one continuation.
        let mut effort = Effort::new(Limits { steps: 300_000, ..ENOUGH });
        linear::judge_register(&hard.all, None, &mut effort).unwrap();
        assert!((300_000..330_000).contains(&effort.steps()), "{}", effort.steps());
    }

    #[test]
    fn what_is_open_and_does_not_fit_is_looked_at_and_counts() {
        // Open changes from values that are never held: none of them is a continuation.
        let mut none = open_changes(60, 1, 30);
        let ended = none.all.iter_mut().filter(|one| one.function == "read");
        for (at, one) in ended.enumerate() {
            one.function = ["write", "read"][at % 2].to_owned();
            (one.value, one.result) = (Value::Number(-1), Value::Number(-1));
        }
        let mut effort = Effort::new(ENOUGH);
        let (finding, _) = linear::judge_register(&none.all, Some("-1"), &mut effort).unwrap();
        assert!(matches!(finding, ObjectVerdict::Holds(_)), "{finding:?}");
        assert!(effort.steps() >= 15 * 60 * 59, "{}", effort.steps());
    }

    #[test]
    fn a_hard_key_takes_nothing_from_an_easy_one() {
        let mut all = open_changes(5, 200, 40);
        let keyed = |key: &str, value: &Value| {
            Value::Items(vec![Value::Word(key.to_owned()), value.clone()])
        };
        for one in &mut all.all {
            (one.value, one.result) = (keyed("a", &one.value), keyed("a", &one.result));
        }
        let last = all.all.last().unwrap().ended;
        let mut read = all.all.last().unwrap().clone();
        for (at, value) in [1, 2].into_iter().enumerate() {
            (read.began, read.ended) = (last + 1 + 2 * at as u32, last + 2 + 2 * at as u32);
            (read.value, read.result) =
                (keyed("b", &Value::Nil), keyed("b", &Value::Number(value)));
            all.all.push(read.clone());
        }
        let limits = Limits { steps: 300_000, ..ENOUGH };
        assert!(
            matches!(told(&all, limits), ObjectVerdict::Broken { .. }),
            "{:?}",
            told(&all, limits)
        );
        // Alone it is not decided, and of what the other one left it gets all.
        all.all.pop();
        let ObjectVerdict::CannotTell(why) = told(&all, limits) else { panic!() };
        let steps: u64 = why.split_whitespace().find_map(|word| word.parse().ok()).unwrap();
        assert!(why.starts_with("key a: ") && (215_000..226_000).contains(&steps), "{why}");
    }
}
