//! A history and a level in, a verdict with its proof out.
//!
//! ```text
//!   History ──▶ Versions (flaws) ──▶ Reach ──▶ per level: Layout ──▶ regions ──▶ verdict
//! ```
//!
//! Versions and reaches are worked out once for all levels. A level holds with a [`Certificate`]
//! that [`crate::replay()`] accepts, or is broken by a cycle or a flaw. Where the order of versions
//! is not known it is searched for ([`crate::orders`]); what that gives up cannot be told.

use crate::anomaly::cycle_name;
use crate::certificate::Certificate;
use crate::edges::Reach;
use crate::footprint::{Access, is_write, visit_accesses};
use crate::history::{History, INITIAL, Op, UNKNOWN, WriteId};
use crate::layout::{Before, Node};
use crate::level::{Dependency, Keeps, Level, Shape};
use crate::orders::{Chains, Choice, Search};
use crate::question::{Cycles, Question};
use crate::recoverable::{IntervalEvidence, interval_evidence};
use crate::region::{Cycle, CycleStep};
use crate::replaced::{behind_the_last, link_replaced};
use crate::versions::{Flaw, Versions};
use crate::visible::Visible;

/// Orders of versions that are tried at most.
const GUESSES_AT_MOST: u64 = 4_000;
/// Operations that are looked at for these orders in all, so that fewer are tried of a long
/// history.
const VISITS_AT_MOST: u64 = 20_000_000;
/// Orders of versions that are tried however long the history is.
const GUESSES_AT_LEAST: u64 = 16;

/// What can be said of a level.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LevelVerdict {
    /// The history has it, as this order shows.
    Holds(Certificate),
    /// It has not: a cycle that the level forbids, and its name.
    Cycle(String, Cycle),
    /// It has not: something that no order explains.
    Flaw(Flaw),
    /// It has not: a transaction lost sight of what it had seen (observed transaction vanishes).
    Vanished(VanishedWrite),
    /// It has not: some versions may stand in several orders, and each order has one of these
    /// cycles; what they are called.
    NoOrder(String, Vec<Cycle>),
    /// It cannot be told, and why.
    CannotTell(String),
}

impl LevelVerdict {
    /// The name of the anomaly, if there is one.
    #[must_use]
    pub fn anomaly(&self) -> Option<&str> {
        match self {
            LevelVerdict::Cycle(name, _) | LevelVerdict::NoOrder(name, _) => Some(name),
            LevelVerdict::Flaw(flaw) => Some(flaw.kind.name()),
            LevelVerdict::Vanished(_) => Some("OTV (observed transaction vanishes)"),
            LevelVerdict::Holds(_) | LevelVerdict::CannotTell(_) => None,
        }
    }
}

/// A transaction that saw one write of another, and then missed another write of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VanishedWrite {
    /// The transaction that read.
    pub txn: usize,
    /// The one whose writes it saw in part.
    pub writer: usize,
    /// The key at which it did not see it.
    pub key: u32,
    /// What it saw there instead.
    pub version: WriteId,
    /// What the other one had written there.
    pub instead: WriteId,
    /// The key at which it had seen the other one, and what it saw there.
    pub saw: (u32, WriteId),
}

impl VanishedWrite {
    /// The same as a cycle, for a caller that asks in which order versions stand.
    fn cycle(&self) -> Cycle {
        let (key, version) = (self.key, self.version);
        let step = |from, to, dependency, is_assumed| CycleStep {
            from,
            to,
            dependency,
            key,
            version,
            by: None,
            is_assumed,
        };
        let (writer, txn) = (self.writer, self.txn);
        let (key, version) = self.saw;
        let read = CycleStep { key, version, ..step(writer, txn, Dependency::Read, false) };
        let steps = vec![read, step(txn, writer, Dependency::Anti, true)];
        Cycle { steps, is_shortest: true }
    }
}

/// What the run exercised: a history without conflicts proves little.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Contention {
    /// Transactions that count as committed.
    pub committed: u64,
    /// Their dependencies: a version replaced, a version read, a version read and then replaced.
    pub ww: u64,
    /// See `ww`.
    pub wr: u64,
    /// See `ww`.
    pub rw: u64,
    /// Versions whose place among the others is not known.
    pub unplaced: u64,
}

/// A history that was looked at once, to be asked for levels.
#[derive(Debug)]
pub struct Checker<'a> {
    pub(crate) history: &'a History,
    pub(crate) versions: Versions,
    pub(crate) reach: Reach,
}

impl<'a> Checker<'a> {
    /// Finds the versions and how far dependencies reach: linear in the operations.
    #[must_use]
    pub fn new(history: &'a History) -> Checker<'a> {
        let versions = Versions::from_history(history);
        let reach = Reach::from_versions(history, &versions);
        Checker { history, versions, reach }
    }

    /// What was exercised.
    #[must_use]
    pub fn contention(&self) -> Contention {
        let count = |kinds: &[Dependency]| -> u64 {
            kinds.iter().map(|kind| self.reach.counts[*kind as usize]).sum()
        };
        Contention {
            committed: self.versions.is_in.iter().filter(|is_in| **is_in).count() as u64,
            ww: count(&[Dependency::Write]),
            wr: count(&[Dependency::Read, Dependency::CurrentRead]),
            rw: self.reach.counts[Dependency::Anti as usize..].iter().sum(),
            unplaced: self.versions.unplaced,
        }
    }

    /// Decides a level.
    #[must_use]
    pub fn level_verdict(&self, level: Level) -> LevelVerdict {
        let flaws = &self.versions.flaws;
        if let Some(flaw) = flaws.iter().find(|flaw| level.forbids_flaw(flaw.kind)) {
            return LevelVerdict::Flaw(*flaw);
        }
        if level.is_of_commits() {
            return self.commits(level);
        }
        if level == Level::ViewSerializable {
            let history = self.history.without_order(|txn| self.versions.is_in[txn]);
            let lasts = self.versions.last_versions();
            return Checker::new(&history).ordered(Level::Serializable, &lasts);
        }
        self.ordered(level, &[])
    }

    /// Decides a level by an order of transactions; of each key `lasts` has the version that has to
    /// be the last one, if it is not empty.
    fn ordered(&self, level: Level, lasts: &[WriteId]) -> LevelVerdict {
        let shape = level.graph_shape();
        let is_timed = self.history.is_empty() || self.history.has_clock();
        if shape.keeps == Keeps::RealTime && !is_timed {
            let has_some = self.history.times.iter().any(|times| times.commit_return_ns > 0);
            let what = if has_some {
                "all times of the history are one and the same, so that no clock was read and \
                     nothing is known of real time"
            } else {
                "the history does not say when all of its transactions began and were answered: it has \
                 no times, or of some none, or no :invoke"
            };
            return LevelVerdict::CannotTell(what.to_owned());
        }
        if self.versions.unplaced > 0 {
            let mut versions = self.versions.clone();
            if let Err(cycle) = link_replaced(self.history, &mut versions, &shape) {
                return cycle_verdict(cycle);
            }
            if let Some(cycle) = behind_the_last(&versions, lasts) {
                return cycle_verdict(cycle);
            }
            let reach = Reach::from_versions(self.history, &versions);
            let linked = Checker { history: self.history, versions, reach };
            return linked.in_line(level, shape, lasts);
        }
        self.in_line(level, shape, lasts)
    }

    /// The same, of versions that are linked as far as the level links them.
    fn in_line(&self, level: Level, shape: Shape, lasts: &[WriteId]) -> LevelVerdict {
        let before = Before::from_history(self.history, &self.versions, shape.keeps);
        let question = Question { history: self.history, shape, before };
        match question.order_events(&self.versions, &self.reach, Cycles::Shortest) {
            Err(cycles) => cycle_verdict(shortest(cycles)),
            Ok(line) if level.is_of_visibility() => self.visible(level, &question, line),
            Ok(line) if self.versions.unplaced > 0 => self.searched(level, &question, line, lasts),
            Ok(events) => {
                let lost = self.lost_sight(level, &self.versions);
                lost.first().map_or(LevelVerdict::Holds(Certificate { events }), |vanished| {
                    LevelVerdict::Vanished(*vanished)
                })
            }
        }
    }

    /// Decides which commits came first, as far as clients' clocks tell.
    fn commits(&self, level: Level) -> LevelVerdict {
        match interval_evidence(self.history, &self.versions, level) {
            IntervalEvidence::Proved => {
                let all = (0..self.len() as u32).filter(|&txn| self.versions.is_in[txn as usize]);
                LevelVerdict::Holds(Certificate { events: all.map(|txn| 2 * txn + 1).collect() })
            }
            IntervalEvidence::Contradicted(cycle) => {
                LevelVerdict::Cycle(format!("not {level}"), cycle)
            }
            IntervalEvidence::Open { overlapping, all } => LevelVerdict::CannotTell(format!(
                "nothing contradicts it; of {all} dependencies {overlapping} are of transactions \
                 whose times overlap"
            )),
            IntervalEvidence::NoTimes => {
                LevelVerdict::CannotTell("the history does not say when commits were sent".into())
            }
        }
    }

    /// Decides a level of visibility: with the edges that it infers there is an order, or a cycle.
    fn visible(&self, level: Level, question: &Question<'_>, mut line: Vec<Node>) -> LevelVerdict {
        let visible = match Visible::new(self.history, &self.versions, level, &line) {
            Ok(visible) => visible,
            Err(what) => return LevelVerdict::CannotTell(what),
        };
        let mut all = Vec::new();
        loop {
            let more = visible.backward_edges(&line);
            if more.is_empty() {
                return LevelVerdict::Holds(Certificate { events: line });
            }
            all.extend(more);
            match question.line_with(&self.versions, &self.reach, &all) {
                Ok(next) => line = next,
                Err(cycle) => return cycle_verdict(cycle),
            }
        }
    }

    /// Decides a level where the order of some versions is not known: some order has to be right.
    fn searched(
        &self,
        level: Level,
        question: &Question<'_>,
        mut line: Vec<Node>,
        lasts: &[WriteId],
    ) -> LevelVerdict {
        let chains = Chains::from_versions(self.history, &self.versions);
        // A solver is asked once, after the first guess: that is right for most histories.
        let mut is_to_be_made = lasts.is_empty() && level != Level::MonotonicAtomicView;
        let mut search = Search::new(&chains);
        let most = VISITS_AT_MOST / (self.history.op_count() as u64 + 1);
        let mut left = most.clamp(GUESSES_AT_LEAST, GUESSES_AT_MOST);
        if !lasts.is_empty() {
            search.end_with(&self.versions, lasts);
            line = match self.chosen(question, &mut search, &mut left) {
                Ok(line) => line,
                Err(verdict) => return verdict,
            };
        }
        let mut versions = self.versions.clone();
        while left > 0 {
            left -= 1;
            let after = chains.line_up(&mut versions, &line);
            let reach = Reach::from_versions(self.history, &versions);
            match question.order_events(&versions, &reach, Cycles::OfEachStretch) {
                Err(cycles) => {
                    let is_due = std::mem::take(&mut is_to_be_made);
                    if let Some(verdict) =
                        is_due.then(|| self.solved_verdict(question, &chains)).flatten()
                    {
                        return verdict;
                    }
                    for cycle in cycles {
                        if !search.refute_guess(cycle.clone(), &after) {
                            return cycle_verdict(cycle);
                        }
                    }
                }
                Ok(events) => {
                    let lost = self.lost_sight(level, &versions);
                    if lost.is_empty() {
                        return LevelVerdict::Holds(Certificate { events });
                    }
                    for vanished in lost {
                        let pair = chains.unordered_pair(vanished.version, vanished.instead);
                        let known =
                            pair.map(|pair| search.forbid_orders(&[pair], vanished.cycle()));
                        if known.is_none() {
                            return LevelVerdict::Vanished(vanished);
                        }
                    }
                }
            }
            line = match self.chosen(question, &mut search, &mut left) {
                Ok(line) => line,
                Err(verdict) => return verdict,
            };
        }
        gave_up(&self.versions)
    }

    /// An order of transactions that agrees with all that was refuted so far; graphs that it builds
    /// are taken from those that are `left`.
    fn chosen(
        &self,
        question: &Question<'_>,
        search: &mut Search<'_>,
        left: &mut u64,
    ) -> Result<Vec<Node>, LevelVerdict> {
        while *left > 0 {
            *left -= 1;
            let chosen = match search.next_choice() {
                Choice::Pairs(chosen) => chosen,
                Choice::None(cycles) => return Err(no_order(cycles)),
                Choice::GaveUp => break,
            };
            let more = search.chains().all_edges(&self.versions, &question.shape, &chosen);
            match question.line_with(&self.versions, &self.reach, &more) {
                Ok(line) => return Ok(line),
                Err(cycle) => {
                    if !search.refute_choice(&self.versions, cycle.clone(), &chosen) {
                        return Err(cycle_verdict(cycle));
                    }
                }
            }
        }
        Err(gave_up(&self.versions))
    }

    /// Transactions that lost sight of a write, where the level forbids that.
    fn lost_sight(&self, level: Level, versions: &Versions) -> Vec<VanishedWrite> {
        match level {
            Level::MonotonicAtomicView => self.vanished_writes(versions),
            _ => Vec::new(),
        }
    }

    fn len(&self) -> usize {
        self.history.len()
    }

    /// The transactions that lost sight of another one: Bailis et al., *Highly Available
    /// Transactions*, VLDB 2014, of monotonic atomic view.
    pub(crate) fn vanished_writes(&self, versions: &Versions) -> Vec<VanishedWrite> {
        let places = places(versions);
        let place = |id: WriteId| if id == INITIAL { 0 } else { places[id as usize] };
        let mut found = Vec::new();
        let mut wanted: Vec<(Op, (u32, WriteId))> = Vec::new();
        for txn in (0..self.len()).filter(|&txn| versions.is_in[txn]) {
            wanted.clear();
            visit_accesses(self.history.ops(txn), |access| {
                let Access::Read(seen) = access else { return };
                let version = versions.resolved_version(&seen);
                if version == UNKNOWN {
                    return;
                }
                let is_lost = |(op, _): &&(Op, (u32, WriteId))| {
                    op.key == seen.key
                        && place(version) != UNKNOWN
                        && place(version) < place(op.value)
                };
                if let Some(&(lost, saw)) = wanted.iter().find(is_lost) {
                    let (key, instead) = (lost.key, lost.value);
                    let writer = versions.writer_of(instead) as usize;
                    found.push(VanishedWrite { txn, writer, key, version, instead, saw });
                }
                let writer = if version == INITIAL { UNKNOWN } else { versions.writer_of(version) };
                let is_known = wanted.iter().any(|(op, _)| versions.writer_of(op.value) == writer);
                if writer != UNKNOWN && !is_known {
                    let ops = self.history.ops(writer as usize).iter();
                    let finals = ops.filter(|op| {
                        let is_last = is_write(op.kind) && versions.is_final(op.value);
                        is_last && place(op.value) != UNKNOWN
                    });
                    wanted.extend(finals.map(|op| (*op, (seen.key, version))));
                }
            });
        }
        found
    }
}

/// By id, its place among the versions of its key, from 1; UNKNOWN where that is not known.
fn places(versions: &Versions) -> Vec<u32> {
    let mut places = vec![UNKNOWN; versions.all.len()];
    for &first in &versions.first {
        for (place, id) in (1..).zip(versions.from(first)) {
            places[id as usize] = place;
        }
    }
    places
}

pub(crate) fn cycle_verdict(cycle: Cycle) -> LevelVerdict {
    LevelVerdict::Cycle(cycle_name(&cycle.steps), cycle)
}

pub(crate) fn no_order(cycles: Vec<Cycle>) -> LevelVerdict {
    let mut names: Vec<String> = cycles.iter().map(|cycle| cycle_name(&cycle.steps)).collect();
    names.sort();
    names.dedup();
    LevelVerdict::NoOrder(format!("{} in every order of versions", names.join(" or ")), cycles)
}

/// The cycle with the fewest steps, which is a shortest one if no stretch may have a shorter one.
fn shortest(cycles: Vec<Cycle>) -> Cycle {
    let is_shortest = cycles.iter().all(|cycle| cycle.is_shortest);
    let shortest = cycles.into_iter().min_by_key(|cycle| cycle.steps.len());
    let mut shortest = shortest.expect("a line is refused with at least one cycle");
    shortest.is_shortest = is_shortest || shortest.steps.len() == 2;
    shortest
}

fn gave_up(versions: &Versions) -> LevelVerdict {
    LevelVerdict::CannotTell(format!(
        "nothing says where {} versions stand among those of their keys; the search for an order \
         gave up",
        versions.unplaced
    ))
}
