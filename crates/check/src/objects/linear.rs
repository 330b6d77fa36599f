//! Registers and mutexes: whether their operations can be put into one order that agrees with time
//! and with every answer (Herlihy and Wing 1990).
//!
//! ```text
//!   write 1 ├────────┤                       orders that are possible so far, each as
//!      read 2  ├──────────┤                  { what the register holds, which of the open
//!   write 2  ├───┤        ▲                    operations are in it, which lost ones are }
//!                         an operation ends: it must be in every order that goes on
//! ```
//!
//! Events are looked at one after the other. When an operation ends, every order without it is
//! continued by open operations until it is in it (*just in time*: Lowe, *Testing for
//! linearizability*, 2017, after Wing and Gong, 1993); orders that agree in both are one.
//! Operations that never ended stay open for good: of those that do the same only the number
//! matters, and an order that used fewer of them is worth more than one that used more. An
//! open operation that sees what is held, and leaves it, joins at once, which never hurts.
//!
//! What a register holds at first is not known: the first operation that sees it says so. The
//! search is bounded by what it has done and by what it holds (`effort`), which does not depend on
//! the machine; beyond a bound nothing is told but how far it came.

use std::collections::{BTreeMap, HashMap};
use std::hash::{BuildHasherDefault, DefaultHasher};

use super::effort::{Effort, Exhaustion};
use super::fences::judge_fences;
use super::finding::ObjectVerdict;
use super::operation::{BEFORE_THE_FILE, NEVER, Operation, Value, first_reads, parse_value};
use crate::history::TransactionOutcome;
use crate::late::LateBeginning;

/// Open operations at most: bits of a word.
const OPEN_AT_MOST: usize = 128;
/// What is held, while it has not been seen.
const UNSEEN: u32 = u32::MAX;
/// Examples of open operations that are told.
const TOLD: usize = 6;

/// What it is called that no order agrees with time and all answers.
const NO_ORDER: &str = "no order of the operations";
/// Lost operations before a file up to which contradictions are counted: each is a search.
const LOST_COUNTED: u64 = 64;

/// What an operation does, by numbers of values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Act {
    Read(u32),
    Write(u32),
    /// What is held must be the first, and becomes the second.
    Change(u32, u32),
}

impl Act {
    /// What is held afterwards, if it can be done to what is held.
    fn on(self, held: u32) -> Option<u32> {
        match self {
            Act::Read(value) => (held == value || held == UNSEEN).then_some(value),
            Act::Write(value) => Some(value),
            Act::Change(from, to) => (held == from || held == UNSEEN).then_some(to),
        }
    }

    /// Whether it can be done to what is held, and never changes anything.
    fn only_sees(self, held: u32) -> bool {
        self.saw() == Some(held) && self.on(held) == Some(held)
    }

    /// What it says was held.
    fn saw(self) -> Option<u32> {
        match self {
            Act::Read(value) | Act::Change(value, _) => Some(value),
            Act::Write(_) => None,
        }
    }
}

/// An operation that happened, or may have.
#[derive(Clone, Copy, Debug)]
struct Call {
    act: Act,
    began: u32,
    ended: u32,
    /// Whether it may have happened before what is looked at begins.
    is_optional: bool,
    /// Its place among all operations.
    of: usize,
}

impl Call {
    fn from_operation(act: Act, of: usize, one: &Operation) -> Call {
        let is_optional = one.began_before_the_file();
        Call { act, began: one.began, ended: one.ended, is_optional, of }
    }
}

/// Values as numbers, 0 for nil.
struct Names {
    numbers: HashMap<Value, u32>,
    values: Vec<Value>,
}

impl Names {
    fn new() -> Names {
        let mut names = Names { numbers: HashMap::new(), values: Vec::new() };
        names.number(&Value::Nil);
        names
    }

    fn number(&mut self, value: &Value) -> u32 {
        if let Some(&known) = self.numbers.get(value) {
            return known;
        }
        let next = self.values.len() as u32;
        self.numbers.insert(value.clone(), next);
        self.values.push(value.clone());
        next
    }

    /// The number of a value as a user writes it, in the form that the file has.
    fn stated_number(&mut self, text: &str) -> u32 {
        let word = Value::Word(text.trim_start_matches(':').to_owned());
        match self.numbers.get(&word) {
            Some(&known) if text != "nil" => known,
            _ => self.number(&parse_value(text)),
        }
    }

    fn shown(&self, number: u32) -> String {
        self.values.get(number as usize).map_or_else(|| "anything".to_owned(), Value::display_text)
    }
}

/// Judges a register.
pub(super) fn judge_register(
    operations: &[Operation],
    initial: Option<&str>,
    effort: &mut Effort,
) -> Result<(ObjectVerdict, Vec<String>), String> {
    let mut names = Names::new();
    let calls = calls_of_register(operations, &mut names)?;
    let stated = initial.map(|text| names.stated_number(text));
    let mut shown: Vec<&Value> = first_reads(operations).map(|read| &read.result).collect();
    shown.dedup();
    let shown = match shown[..] {
        [only] => Some(names.number(only)),
        _ => None,
    };
    let known = stated.or(shown);
    let mut notes = Vec::new();
    if let Some(number) = known {
        let why = if stated.is_some() { "as stated" } else { "which reads before any change say" };
        notes.push(format!("the register began with {}, {why}", names.shown(number)));
    }
    let mut search = Search::new(&calls, operations, &names, effort);
    let found = search.order(known.unwrap_or(UNSEEN));
    let began_with = match &found {
        LinearSearchResult::Order(order) => first_seen(order, &calls),
        _ => None,
    };
    let finding = match began_with {
        Some(number) if known.is_none() && number != 0 => match search.order(0) {
            LinearSearchResult::Order(order) => proved(&calls, &order, 0),
            _ => ObjectVerdict::CannotTell(format!(
                "there is an order if the register began with {}, and none was found for nil; \
                 state what it held with --initial",
                names.shown(number)
            )),
        },
        _ => match found {
            LinearSearchResult::Order(order) => proved(&calls, &order, known.unwrap_or(UNSEEN)),
            LinearSearchResult::None(evidence, _) => {
                ObjectVerdict::Broken { anomaly: NO_ORDER.to_owned(), evidence }
            }
            LinearSearchResult::GaveUp(why) => ObjectVerdict::CannotTell(why),
        },
    };
    let before = if stated.is_some() { 0 } else { first_reads(operations).count() };
    let answers = calls.iter().filter(|call| call.act.saw().is_some() && call.ended != NEVER);
    let what = "no read and no compare-and-set was answered after a write was sent";
    Ok((of_compared(finding, answers.count().saturating_sub(before), what), notes))
}

/// What may have happened to a register.
fn calls_of_register(operations: &[Operation], names: &mut Names) -> Result<Vec<Call>, String> {
    let mut calls = Vec::new();
    for (of, one) in operations.iter().enumerate().filter(|(_, one)| one.may_have_happened()) {
        let act = match (one.function.as_str(), &one.value) {
            ("read", _) if one.outcome == TransactionOutcome::Ok => {
                Act::Read(names.number(&one.result))
            }
            ("read", _) => continue,
            ("write", value) => Act::Write(names.number(value)),
            (_, Value::Items(change)) if change.len() == 2 => {
                Act::Change(names.number(&change[0]), names.number(&change[1]))
            }
            _ => return Err(format!("it needs two values: {}", one.display_text())),
        };
        calls.push(Call::from_operation(act, of, one));
    }
    Ok(calls)
}

/// Judges a register that may have held anything where the file begins.
pub(super) fn judge_late_register(
    operations: &[Operation],
    late: LateBeginning,
    effort: &mut Effort,
) -> Result<(ObjectVerdict, Vec<String>), String> {
    let mut names = Names::new();
    let calls = calls_of_register(operations, &mut names)?;
    let finding = order_since_cut(&calls, operations, &names, late, effort);
    let answers = calls.iter().filter(|one| one.act.saw().is_some() && !one.is_optional);
    let answers = answers.filter(|one| one.ended != NEVER).count();
    let what = "fewer than two reads and compare-and-sets began and were answered in the file";
    Ok((of_compared(finding, answers.saturating_sub(1), what), Vec::new()))
}

/// Whether there is an order of calls whatever was held where the file begins; if there is none,
/// contradictions that lie apart in time are counted, as far as their number may decide.
fn order_since_cut(
    calls: &[Call],
    operations: &[Operation],
    names: &Names,
    late: LateBeginning,
    effort: &mut Effort,
) -> ObjectVerdict {
    let most = late.lost_at_most().unwrap_or(u64::MAX);
    let most = if most > LOST_COUNTED { 0 } else { most };
    let mut evidence = Vec::new();
    let (mut since, mut count) = (BEFORE_THE_FILE, 0);
    while count <= most {
        let rest = calls_since(calls, since);
        match Search::new(&rest, operations, names, effort).order(UNSEEN) {
            LinearSearchResult::Order(order) if count == 0 => return proved(&rest, &order, UNSEEN),
            LinearSearchResult::GaveUp(why) if count == 0 => return ObjectVerdict::CannotTell(why),
            LinearSearchResult::Order(_) | LinearSearchResult::GaveUp(_) => break,
            LinearSearchResult::None(own, ended) => {
                if count == 0 {
                    evidence = own;
                }
                (since, count) = (ended, count + 1);
            }
        }
    }
    ObjectVerdict::from_contradictions(count, late, NO_ORDER, evidence)
}

/// The calls that say something of the time behind an event. Those that had begun may have happened
/// before it, and reads among them say nothing.
fn calls_since(calls: &[Call], since: u32) -> Vec<Call> {
    let mut rest: Vec<Call> = calls.iter().filter(|call| call.ended > since).copied().collect();
    for call in rest.iter_mut().filter(|call| call.began <= since) {
        call.is_optional = true;
    }
    rest.retain(|call| !call.is_optional || !matches!(call.act, Act::Read(_)));
    rest
}

/// A finding, unless it holds and nothing was answered that could have shown that it does not.
fn of_compared(finding: ObjectVerdict, answers: usize, what: &str) -> ObjectVerdict {
    match finding {
        ObjectVerdict::Holds(_) if answers == 0 => {
            ObjectVerdict::NothingCompared(format!("{what}, so that nothing was compared"))
        }
        other => other,
    }
}

/// Judges a mutex: acquire changes free to held, release held to free.
pub(super) fn mutex(
    operations: &[Operation],
    late: Option<LateBeginning>,
    effort: &mut Effort,
) -> Result<(ObjectVerdict, Vec<String>), String> {
    let mut names = Names::new();
    let free = names.number(&Value::Word("free".to_owned()));
    let held = names.number(&Value::Word("held".to_owned()));
    let all = operations.iter().enumerate().filter(|(_, one)| one.may_have_happened());
    let calls: Vec<Call> = all
        .map(|(of, one)| {
            let is_acquired = one.function == "acquire";
            let (from, to) = if is_acquired { (free, held) } else { (held, free) };
            Call::from_operation(Act::Change(from, to), of, one)
        })
        .collect();
    let finding = match late {
        Some(late) => order_since_cut(&calls, operations, &names, late, effort),
        None => match Search::new(&calls, operations, &names, effort).order(free) {
            LinearSearchResult::Order(order) => proved(&calls, &order, free),
            LinearSearchResult::None(evidence, _) => {
                ObjectVerdict::Broken { anomaly: NO_ORDER.to_owned(), evidence }
            }
            LinearSearchResult::GaveUp(why) => ObjectVerdict::CannotTell(why),
        },
    };
    // The first that acquires it finds it free, whatever the lock does.
    let ended = calls.iter().filter(|call| call.ended != NEVER && !call.is_optional);
    let answers = ended.count();
    let what = "fewer than two operations were confirmed";
    let finding = of_compared(finding, answers.saturating_sub(1), what);
    let (finding, of_fences) = judge_fences(operations, finding);
    let of_beginning = late.is_none().then(|| "the mutex is taken to begin free".to_owned());
    let notes = of_beginning.into_iter().chain(of_fences).collect();
    Ok((finding, notes))
}

/// What an order says the register held at first.
fn first_seen(order: &[usize], calls: &[Call]) -> Option<u32> {
    let first = order.first().map(|at| calls[*at].act)?;
    first.saw()
}

/// An order that was found, if it is one: time and all answers are compared again.
fn proved(calls: &[Call], order: &[usize], initial: u32) -> ObjectVerdict {
    let mut is_in = vec![false; calls.len()];
    let (mut held, mut latest) = (initial, 0);
    for &at in order {
        let call = calls[at];
        latest = latest.max(call.began);
        let next = call.act.on(held).filter(|_| !is_in[at] && call.ended >= latest);
        let Some(next) = next else {
            let what = "an order was found that does not give these answers: a fault of this \
                        program; please report it with the history";
            return ObjectVerdict::CannotTell(what.to_owned());
        };
        (held, is_in[at]) = (next, true);
    }
    let mut missing = calls.iter().zip(&is_in).filter(|(_, is_in)| !**is_in);
    if missing.any(|(call, _)| call.ended != NEVER && !call.is_optional) {
        ObjectVerdict::CannotTell("an order was found that is not of all operations".to_owned())
    } else {
        ObjectVerdict::Holds(format!("an order of {} operations was replayed", order.len()))
    }
}

/// What a search came to.
enum LinearSearchResult {
    /// Calls in an order.
    Order(Vec<usize>),
    /// Sentences: where no order goes on, and the event at which none does.
    None(Vec<String>, u32),
    GaveUp(String),
}

/// The lost ones that are in an order: classes of the same act, and how many of each.
type Used = Vec<(u32, u32)>;

/// What distinguishes orders but for lost operations.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Place {
    /// What is held.
    held: u32,
    /// Which of the open operations are in, by their bits.
    is_in: u128,
}

impl Place {
    fn without(self, mask: u128) -> Place {
        Place { is_in: self.is_in & !mask, ..self }
    }
}

/// Orders that are possible so far: by place the least sets of lost operations, and the last entry
/// in the log of operations that were added. The hasher has no seed: a file has one answer.
type Orders = HashMap<Place, Vec<(Used, u32)>, BuildHasherDefault<DefaultHasher>>;

struct Search<'a> {
    calls: &'a [Call],
    operations: &'a [Operation],
    names: &'a Names,
    /// Calls by class of lost ones, in the order in which they began.
    classes: Vec<Vec<usize>>,
    class: Vec<u32>,
    /// Operations that were added to an order: the entry before, and the call.
    log: Vec<(u32, u32)>,
    effort: &'a mut Effort,
    /// By bit, the open call.
    open: Vec<Option<usize>>,
    /// By class, how many have begun.
    begun: Vec<u32>,
}

/// No entry before.
const ROOT: u32 = u32::MAX;

impl<'a> Search<'a> {
    fn new(
        calls: &'a [Call],
        operations: &'a [Operation],
        names: &'a Names,
        effort: &'a mut Effort,
    ) -> Search<'a> {
        let mut by_act: BTreeMap<Act, Vec<usize>> = BTreeMap::new();
        for (at, call) in calls.iter().enumerate().filter(|(_, call)| call.ended == NEVER) {
            by_act.entry(call.act).or_default().push(at);
        }
        let mut class = vec![ROOT; calls.len()];
        let mut classes: Vec<Vec<usize>> = by_act.into_values().collect();
        for (number, own) in classes.iter_mut().enumerate() {
            own.sort_by_key(|at| calls[*at].began);
            for at in own {
                class[*at] = number as u32;
            }
        }
        let begun = vec![0; classes.len()];
        let (log, open) = (Vec::new(), Vec::new());
        Search { calls, operations, names, classes, class, log, effort, open, begun }
    }

    /// An order that begins with what is held.
    fn order(&mut self, initial: u32) -> LinearSearchResult {
        self.log.clear();
        self.open.clear();
        self.begun.fill(0);
        self.effort.begin_search();
        let mut events: Vec<(u32, usize)> = Vec::new();
        for (at, call) in self.calls.iter().enumerate() {
            events.push((call.began, at));
            if call.ended != NEVER {
                events.push((call.ended, at));
            }
        }
        events.sort_unstable();
        let mut orders =
            Orders::from_iter([(Place { held: initial, is_in: 0 }, vec![(Vec::new(), ROOT)])]);
        let ends = self.calls.iter().filter(|call| call.ended != NEVER).count();
        let mut ended = 0;
        for (event, at) in events {
            if event == self.calls[at].began {
                match self.begin(at) {
                    true => continue,
                    false => {
                        return LinearSearchResult::GaveUp(format!(
                            "more than {OPEN_AT_MOST} operations are open at a time"
                        ));
                    }
                }
            }
            let before = orders;
            let Some(bit) = self.open.iter().position(|open| *open == Some(at)) else {
                return LinearSearchResult::GaveUp(
                    "an operation ends that did not begin".to_owned(),
                );
            };
            orders = self.with(&before, bit);
            if self.calls[at].is_optional {
                self.add_without(&before, bit, &mut orders);
            }
            if let Some(spent) = self.effort.exhausted_limit() {
                return LinearSearchResult::GaveUp(self.given_up(spent, at, ended, ends));
            }
            ended += 1;
            if orders.is_empty() {
                return LinearSearchResult::None(self.evidence(&before, at), event);
            }
            self.open[bit] = None;
        }
        let last = orders.values().flatten().map(|(_, last)| *last).min();
        LinearSearchResult::Order(self.trail(last.unwrap_or(ROOT)))
    }

    fn begin(&mut self, at: usize) -> bool {
        if self.calls[at].ended == NEVER {
            self.begun[self.class[at] as usize] += 1;
            return true;
        }
        match self.open.iter().position(Option::is_none) {
            Some(free) => self.open[free] = Some(at),
            None => self.open.push(Some(at)),
        }
        self.open.len() <= OPEN_AT_MOST
    }

    /// The orders continued until a call is in them, which then leaves the open ones.
    fn with(&mut self, before: &Orders, bit: usize) -> Orders {
        let mask = 1_u128 << bit;
        let mut orders = Orders::default();
        let mut seen = Orders::default();
        let mut todo: Vec<(Place, Used, u32)> = Vec::new();
        for (place, all) in before {
            for (used, last) in all {
                if self.effort.exhausted_limit().is_some() {
                    return orders;
                }
                self.effort.hold_order(used.len());
                if place.is_in & mask != 0 {
                    add(&mut orders, place.without(mask), used.clone(), *last, self.effort);
                } else {
                    todo.push((*place, used.clone(), *last));
                }
            }
        }
        while let Some((place, used, last)) = todo.pop() {
            let (place, last) = self.joined(place, last);
            if place.is_in & mask != 0 {
                add(&mut orders, place.without(mask), used, last, self.effort);
                continue;
            }
            self.effort.hold_order(used.len());
            if !add(&mut seen, place, used.clone(), last, self.effort) {
                self.effort.let_go(used.len());
                continue;
            }
            if self.effort.exhausted_limit().is_some() {
                return orders;
            }
            self.continued(place, &used, last, &mut todo);
            self.effort.let_go(used.len());
        }
        let gone = before.values().chain(seen.values()).flatten();
        gone.for_each(|(used, _)| self.effort.let_go(used.len()));
        orders
    }

    /// Adds the orders without a call, which happened before they begin.
    fn add_without(&mut self, before: &Orders, bit: usize, orders: &mut Orders) {
        for (place, all) in before.iter().filter(|(place, _)| place.is_in & (1 << bit) == 0) {
            for (used, last) in all {
                self.effort.hold_order(used.len());
                add(orders, *place, used.clone(), *last, self.effort);
            }
        }
    }

    /// Why nothing is told, and what was looked at until then: how many of the operations that
    /// ended have been put into orders.
    #[cold]
    fn given_up(&self, spent: Exhaustion, at: usize, ended: usize, ends: usize) -> String {
        let lost: u32 = self.begun.iter().sum();
        let open = self.open.iter().flatten().count();
        format!(
            "{spent}; {ended} of {ends} operations that ended were put into orders, and the search \
             was at {}, with {open} operations open and {lost} of unknown outcome that may have \
             happened or not",
            self.operations[self.calls[at].of].display_text()
        )
    }

    /// An order with all open reads of what is held.
    fn joined(&mut self, place: Place, last: u32) -> (Place, u32) {
        let Place { held, mut is_in } = place;
        let mut last = last;
        if held == UNSEEN {
            return (place, last);
        }
        for (bit, open) in self.open.iter().enumerate() {
            if let Some(at) = open.filter(|_| is_in & (1 << bit) == 0)
                && self.calls[at].act.only_sees(held)
            {
                is_in |= 1 << bit;
                self.effort.try_one();
                self.log.push((last, at as u32));
                last = self.log.len() as u32 - 1;
            }
        }
        (Place { held, is_in }, last)
    }

    /// The order continued by each open or lost operation that can follow.
    fn continued(
        &mut self,
        place: Place,
        used: &Used,
        last: u32,
        todo: &mut Vec<(Place, Used, u32)>,
    ) {
        let Place { held, is_in } = place;
        self.effort.count_steps(self.open.len() + self.classes.len());
        for (bit, open) in self.open.iter().enumerate() {
            let Some(at) = open.filter(|_| is_in & (1 << bit) == 0) else { continue };
            let Some(next) = self.calls[at].act.on(held) else { continue };
            self.effort.try_one();
            self.effort.hold_order(used.len());
            self.log.push((last, at as u32));
            let place = Place { held: next, is_in: is_in | 1 << bit };
            todo.push((place, used.clone(), self.log.len() as u32 - 1));
        }
        for (class, own) in self.classes.iter().enumerate() {
            let place = used.binary_search_by_key(&(class as u32), |(class, _)| *class);
            let count = place.map_or(0, |place| used[place].1);
            if count == self.begun[class] {
                continue;
            }
            let at = own[count as usize];
            let Some(next) = self.calls[at].act.on(held).filter(|next| *next != held) else {
                continue;
            };
            if self.effort.exhausted_limit().is_some() {
                return;
            }
            self.effort.try_one();
            let mut more = used.clone();
            match place {
                Ok(place) => more[place].1 += 1,
                Err(place) => more.insert(place, (class as u32, 1)),
            }
            self.effort.hold_order(more.len());
            self.log.push((last, at as u32));
            todo.push((Place { held: next, is_in }, more, self.log.len() as u32 - 1));
        }
    }

    fn trail(&self, last: u32) -> Vec<usize> {
        let mut all = Vec::new();
        let mut next = last;
        while let Some((before, at)) = self.log.get(next as usize) {
            all.push(*at as usize);
            next = *before;
        }
        all.reverse();
        all
    }

    /// Where no order goes on: what ends there, what was held, and what was open.
    fn evidence(&self, before: &Orders, at: usize) -> Vec<String> {
        let mut held: Vec<String> =
            before.keys().map(|place| self.names.shown(place.held)).collect();
        held.sort_unstable();
        held.dedup();
        let told = |at: usize| self.operations[self.calls[at].of].display_text();
        let mut evidence = vec![
            format!("{}: no order of the operations so far has a place for it", told(at)),
            format!("what may be held before it: {}", held.join(", ")),
        ];
        let others: Vec<usize> = self.open.iter().flatten().copied().filter(|o| *o != at).collect();
        evidence.extend(others.iter().take(TOLD).map(|other| format!("open: {}", told(*other))));
        if others.len() > TOLD {
            evidence.push(format!("and {} more are open", others.len() - TOLD));
        }
        let lost: u32 = self.begun.iter().sum();
        if lost > 0 {
            evidence.push(format!(
                "operations of unknown outcome that may have happened as well: {lost}"
            ));
        }
        evidence
    }
}

/// Adds an order that is held, unless one of its place uses no more lost operations; those that use
/// more go. What does not stay is no longer held.
fn add(orders: &mut Orders, place: Place, used: Used, last: u32, effort: &mut Effort) -> bool {
    let own = orders.entry(place).or_default();
    if own.iter().any(|(other, _)| is_within(other, &used, effort)) {
        effort.let_go(used.len());
        return false;
    }
    own.retain(|(other, _)| {
        let stays = !is_within(&used, other, effort);
        if !stays {
            effort.let_go(other.len());
        }
        stays
    });
    own.push((used, last));
    true
}

/// Whether one uses no more of any class than the other.
fn is_within(one: &Used, other: &Used, effort: &mut Effort) -> bool {
    effort.count_comparison();
    one.iter().all(|(class, count)| {
        effort.count_steps(1);
        let place = other.binary_search_by_key(class, |(class, _)| *class);
        place.is_ok_and(|place| other[place].1 >= *count)
    })
}
