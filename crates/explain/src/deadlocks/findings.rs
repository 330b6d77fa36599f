//! What readers of logs have found: deadlocks as they were told, and which of these are the same.
//!
//! ```text
//!   transactions, processes ──▶ key ──▶ told by the server at 10:00   ┐ the same
//!                                       told by the server at 10:00   ┘
//!                                       told by the server at 10:05     another one
//!                                       told by a client                one of them, if the key is
//!                                                                       never given twice
//! ```
//!
//! A monitor shows its latest deadlock whenever it is asked, and the log of an application repeats
//! what the server's log has told. The victim of a deadlock is gone, and its transaction's number
//! with it, so that the numbers of all transactions are of one deadlock of a server. Another server
//! may give the same ones, as servers do that were made from one image; where statements or what is
//! waited for contradict each other, deadlocks are two whatever their numbers and times are.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use dbdyno_model::DeadlockParty;

use super::carried::Source;
use super::open_statements::OpenStatements;
use super::order::Moment;

/// The deadlocks of a log, and how much of it tells of them.
#[derive(Default)]
pub(super) struct Findings {
    pub(super) tellings: Vec<DeadlockTelling>,
    /// Lines that have a part in one.
    pub(super) used: usize,
    /// Numbers of lines that announce one which is not told.
    pub(super) unread: Vec<usize>,
    /// What those lack that are told.
    pub(super) gaps: Vec<DeadlockGap>,
    /// The lines in which processes of a source say that they found a deadlock, as long as it is
    /// not told.
    detections: BTreeMap<(Source, u64), usize>,
    /// How many of the unread are of processes that found one, without an error.
    pub(super) errorless: usize,
    /// Errors of each source that were not understood, of which no process is told.
    nameless: BTreeMap<Source, usize>,
    /// The statements that were told last.
    pub(super) open_statements: OpenStatements,
}

/// What is missing of a deadlock that is told in part: a text that was cut, wrapped or damaged.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct DeadlockGap {
    /// The line that shows it, from 1.
    pub line: usize,
    /// What is not there, in words.
    pub missing: String,
}

impl DeadlockGap {
    pub(super) fn new(line: usize, missing: impl Into<String>) -> DeadlockGap {
        DeadlockGap { line, missing: missing.into() }
    }
}

/// Processes at the same time that have found a deadlock which is not told yet.
const DETECTIONS_MOST: usize = 1_000;
/// What is told of the lacks of one deadlock; more say nothing new.
const GAPS_MOST: usize = 4;

impl Findings {
    /// Notes a process that says that it has found a deadlock: its error follows, if it is logged.
    pub(super) fn note_detection(&mut self, source: Source, process: u64, line: usize) {
        if self.detections.len() >= DETECTIONS_MOST {
            self.leave_detections();
        }
        let before = self.detections.insert((source, process), line);
        self.errorless += usize::from(before.is_some());
        self.unread.extend(before);
    }

    /// Takes what one of these processes has said of the deadlock whose error is logged: of it is
    /// told, or its error is what was not understood.
    pub(super) fn take_detection(&mut self, source: Source, processes: &[u64]) {
        let found = processes.iter().find_map(|it| self.detections.remove(&(source, *it)));
        self.used += usize::from(found.is_some());
    }

    /// Notes an error that was not understood, of a process that is not told.
    pub(super) fn note_nameless_error(&mut self, source: Source) {
        *self.nameless.entry(source).or_default() += 1;
    }

    /// Takes those for deadlocks that were not understood whose error is not logged.
    pub(super) fn leave_detections(&mut self) {
        let mut nameless = std::mem::take(&mut self.nameless);
        for ((source, _), line) in std::mem::take(&mut self.detections) {
            match nameless.get_mut(&source).filter(|count| **count > 0) {
                Some(count) => *count -= 1,
                None => {
                    self.errorless += 1;
                    self.unread.push(line);
                }
            }
        }
    }

    /// Notes what the deadlock lacks that was told last.
    pub(super) fn note_gaps(&mut self, mut gaps: Vec<DeadlockGap>) {
        gaps.sort();
        gaps.truncate(GAPS_MOST);
        self.gaps.extend(gaps);
    }
}

/// A deadlock as it was told once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeadlockTelling {
    /// Who took part.
    pub(super) parties: Vec<DeadlockParty>,
    pub(super) identity: Identity,
}

/// By what a deadlock is known again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Identity {
    /// Of its transactions or processes, and what they wait for.
    pub(super) key: u64,
    /// Whether a server never gives the key twice.
    pub(super) uniqueness: Uniqueness,
    pub(super) witness: Witness,
    pub(super) moment: Option<Moment>,
    pub(super) source: Source,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Uniqueness {
    Unique,
    MayRecur,
}

/// Who tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Witness {
    Log,
    Status,
    Client,
}

/// A key of parts whose order is chance.
pub(super) fn key_of<'a>(parts: impl Iterator<Item = &'a str>) -> u64 {
    let mut parts: Vec<&str> = parts.collect();
    parts.sort_unstable();
    let mut hasher = DefaultHasher::new();
    parts.hash(&mut hasher);
    hasher.finish()
}

/// Deadlocks that were told with one key.
pub(super) struct DeadlockGroup {
    /// Who took part, as the telling has it that tells most.
    pub(super) parties: Vec<DeadlockParty>,
    /// How many they are.
    pub(super) count: u64,
    /// How many of them may be the same as another one.
    pub(super) doubtful: u64,
    /// How often they were told.
    pub(super) shown: u64,
}

/// Puts together what is told of the same deadlock, in the order in which they came.
pub(super) fn group_tellings(
    tellings: impl Iterator<Item = DeadlockTelling>,
) -> Vec<DeadlockGroup> {
    let mut places: BTreeMap<u64, usize> = BTreeMap::new();
    let mut groups: Vec<Vec<DeadlockTelling>> = Vec::new();
    for telling in tellings {
        let place = *places.entry(telling.identity.key).or_insert(groups.len());
        match groups.get_mut(place) {
            Some(group) => group.push(telling),
            None => groups.push(vec![telling]),
        }
    }
    groups.into_iter().flat_map(without_contradictions).map(of_one_server).collect()
}

/// A telling is held against so many of the latest that contradict each other, so that a text of
/// nothing else takes no time that grows with its square.
const PARTS_MOST: usize = 64;

/// Parts tellings with one key so that the statements of a part can be those of one deadlock.
fn without_contradictions(group: Vec<DeadlockTelling>) -> Vec<Vec<DeadlockTelling>> {
    let mut parts: Vec<Vec<DeadlockTelling>> = Vec::new();
    for telling in group {
        let from = parts.len().saturating_sub(PARTS_MOST);
        // The first of a part tells most.
        let mut late = parts[from..].iter_mut();
        let same = late.find(|part| may_be_same(&part[0], &telling));
        let Some(part) = same else {
            parts.push(vec![telling]);
            continue;
        };
        part.push(telling);
        let last = part.len() - 1;
        if fullness(&part[last]) > fullness(&part[0]) {
            part.swap(0, last);
        }
    }
    parts
}

/// Whether two tellings may be of one deadlock, by their statements and by what is waited for.
fn may_be_same(one: &DeadlockTelling, other: &DeadlockTelling) -> bool {
    !are_other_waits(one, other) && may_be_same_statements(&one.parties, &other.parties)
}

/// Whether both tell for each party what it waits for, and do not tell the same. A client is told
/// less of a lock than the server's log has.
fn are_other_waits(one: &DeadlockTelling, other: &DeadlockTelling) -> bool {
    let witnesses = [one.identity.witness, other.identity.witness];
    let by_clients = witnesses.into_iter().filter(|witness| *witness == Witness::Client).count();
    let (of_one, of_other) = (waits(&one.parties), waits(&other.parties));
    let are_whole = of_one.is_some() && of_other.is_some();
    are_whole && by_clients != 1 && of_one != of_other
}

/// What parties wait for, in an order that does not depend on theirs; `None` if one is not told.
fn waits(parties: &[DeadlockParty]) -> Option<Vec<&str>> {
    if parties.iter().any(|party| party.waits_for.is_empty()) {
        return None;
    }
    let mut waits: Vec<&str> =
        parties.iter().flat_map(|party| &party.waits_for).map(String::as_str).collect();
    waits.sort_unstable();
    Some(waits)
}

/// Whether each statement that the one tells may be one that the other tells: it is the same, the
/// beginning of it, or was not logged. Servers and clients write keywords in either case. Of two
/// statements the bytes of the shorter one are looked at, for one is held against many.
fn may_be_same_statements(one: &[DeadlockParty], other: &[DeadlockParty]) -> bool {
    let (fewer, more) = if one.len() <= other.len() { (one, other) } else { (other, one) };
    let (mut left, mut sought) = (statements(more), statements(fewer));
    // What is equal goes first, then beginnings: one that is missing is left for the rest.
    sought.retain(|statement| take(&mut left, |one| one.eq_ignore_ascii_case(statement)).is_none());
    sought.retain(|statement| {
        take(&mut left, |one| !one.is_empty() && have_one_beginning(one, statement)).is_none()
    });
    sought.retain(|_| take(&mut left, str::is_empty).is_none());
    sought.is_empty()
}

/// Whether one of two texts is the beginning of the other one.
fn have_one_beginning(one: &str, other: &str) -> bool {
    let bytes = one.len().min(other.len());
    one.as_bytes()[..bytes].eq_ignore_ascii_case(&other.as_bytes()[..bytes])
}

fn statements(parties: &[DeadlockParty]) -> Vec<&str> {
    parties.iter().map(|party| party.statement.as_str()).collect()
}

/// Takes the first away that is so.
fn take<'a>(left: &mut Vec<&'a str>, is: impl Fn(&str) -> bool) -> Option<&'a str> {
    left.iter().position(|one| is(one)).map(|at| left.swap_remove(at))
}

fn of_one_server(group: Vec<DeadlockTelling>) -> DeadlockGroup {
    type Places = BTreeSet<(Source, Option<Moment>)>;
    let mut moments: BTreeMap<Witness, (Places, u64)> = BTreeMap::new();
    for DeadlockTelling { identity, .. } in &group {
        let (known, untimed) = moments.entry(identity.witness).or_default();
        match (identity.source, identity.moment) {
            (source, None) if !source.is_told() => *untimed += 1,
            place => drop(known.insert(place)),
        }
    }
    let is_unique = group.iter().any(|one| one.identity.uniqueness == Uniqueness::Unique);
    let timed = moments.values().map(|(known, _)| known.len() as u64);
    let least = timed.clone().max().unwrap_or(0).max(1);
    let most = timed.sum::<u64>() + moments.values().map(|(_, untimed)| untimed).sum::<u64>();
    let count = if is_unique { least } else { most };
    let shown = group.len() as u64;
    let parties = group.into_iter().next().map_or_else(Vec::new, |fullest| fullest.parties);
    DeadlockGroup { parties, count, doubtful: count - least, shown }
}

/// How much it tells: statements first, for a client is told none, then locks.
fn fullness(telling: &DeadlockTelling) -> (usize, usize) {
    let parties = &telling.parties;
    let statements = parties.iter().filter(|party| !party.statement.is_empty()).count();
    (statements, parties.iter().map(|party| party.waits_for.len() + party.holds.len()).sum())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn telling(statement: String) -> DeadlockTelling {
        let waits_for = vec!["ShareLock on transaction ?".to_owned()];
        let identity = Identity {
            key: 7,
            uniqueness: Uniqueness::Unique,
            witness: Witness::Log,
            moment: None,
            source: Source::default(),
        };
        let party = DeadlockParty { statement, waits_for, holds: Vec::new() };
        DeadlockTelling { parties: vec![party], identity }
    }

    /// Long statements are not gone through for each short one that is held against them.
    #[test]
    fn short_statements_are_held_against_many_long_ones() {
        let long = (0..PARTS_MOST).map(|at| format!("select {at} {}", "c, ".repeat(20_000)));
        let short = (0..2_000).map(|at| format!("SELECT {} c", at % PARTS_MOST));
        let groups = group_tellings(long.chain(short).map(telling));
        assert_eq!(groups.len(), PARTS_MOST);
        assert_eq!(groups.iter().map(|group| group.shown).sum::<u64>(), 2_064);
    }
}
