//! A history and a level in, a verdict with its proof out.
//!
//! ```text
//!   History ──▶ Versions (flaws) ──▶ Reach ──▶ per level: Layout ──▶ regions ──▶ verdict
//! ```
//!
//! Versions and reaches are worked out once for all levels. A level holds with a [`Certificate`]
//! that [`crate::replay()`] accepts, or is broken by a cycle or a flaw, or cannot be told: where
//! the order of versions is not known and what is known has no cycle.

use crate::anomaly::cycle_name;
use crate::edges::Reach;
use crate::footprint::{Access, accesses};
use crate::history::{History, INITIAL, UNKNOWN, WriteId};
use crate::layout::{Before, Layout, Node};
use crate::level::{Dependency, Keeps, Level};
use crate::region::{Cycle, Found, Region};
use crate::replay::Certificate;
use crate::versions::{Flaw, Versions};

/// What can be said of a level.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The history has it, as this order shows.
    Holds(Certificate),
    /// It has not: a cycle that the level forbids, and its name.
    Cycle(String, Cycle),
    /// It has not: something that no order explains.
    Flaw(Flaw),
    /// It has not: a transaction lost sight of what it had seen (observed transaction vanishes).
    Vanished(Vanished),
    /// It cannot be told, and why.
    CannotTell(String),
}

impl Verdict {
    /// The name of the anomaly, if there is one.
    #[must_use]
    pub fn anomaly(&self) -> Option<&str> {
        match self {
            Verdict::Cycle(name, _) => Some(name),
            Verdict::Flaw(flaw) => Some(flaw.kind.name()),
            Verdict::Vanished(_) => Some("OTV (observed transaction vanishes)"),
            Verdict::Holds(_) | Verdict::CannotTell(_) => None,
        }
    }
}

/// A transaction that saw one write of another, and then missed another write of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Vanished {
    /// The transaction that read.
    pub txn: usize,
    /// The one whose writes it saw in part.
    pub writer: usize,
    /// The key at which it did not see it.
    pub key: u32,
    /// What it saw there instead.
    pub version: WriteId,
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
    reach: Reach,
}

impl<'a> Checker<'a> {
    /// Finds the versions and how far dependencies reach: linear in the operations.
    #[must_use]
    pub fn new(history: &'a History) -> Checker<'a> {
        let versions = Versions::of(history);
        let reach = Reach::of(history, &versions);
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
    pub fn verdict(&self, level: Level) -> Verdict {
        let flaws = &self.versions.flaws;
        if let Some(flaw) = flaws.iter().find(|flaw| level.forbids(flaw.kind)) {
            return Verdict::Flaw(*flaw);
        }
        let shape = level.shape();
        let lasts = self.history.times.iter().map(|times| times.commit_return_ns);
        if shape.keeps == Keeps::RealTime && !self.history.is_empty() && lasts.max() == Some(0) {
            return Verdict::CannotTell("the history has no times".to_owned());
        }
        let before = Before::of(self.history, &self.versions, shape.keeps);
        let layout = Layout::of(self.history, &self.versions, &self.reach, &shape, &before);
        let local = vec![UNKNOWN; if layout.stretches.is_empty() { 0 } else { 2 * self.len() }];
        let (history, versions) = (self.history, &self.versions);
        let region =
            Region { history, versions, shape: &shape, layout: &layout, before: &before, local };
        match self.ordered(&layout, region) {
            Err(cycle) => Verdict::Cycle(cycle_name(&cycle.steps), cycle),
            Ok(_) if self.versions.unplaced > 0 => Verdict::CannotTell(format!(
                "nothing says where {} versions stand among those of their keys, and what is \
                 known has no cycle",
                self.versions.unplaced
            )),
            Ok(events) => {
                let is_asked = level == Level::MonotonicAtomicView;
                match if is_asked { self.vanished() } else { None } {
                    Some(vanished) => Verdict::Vanished(vanished),
                    None => Verdict::Holds(Certificate { events }),
                }
            }
        }
    }

    fn len(&self) -> usize {
        self.history.len()
    }

    /// The line, with an order of their own in stretches that hold no cycle; else a cycle with the
    /// fewest edges among those of all stretches.
    fn ordered(&self, layout: &Layout, mut region: Region<'_>) -> Result<Vec<Node>, Cycle> {
        let mut line = layout.line(&self.versions);
        let mut worst: Option<Cycle> = None;
        for &(low, high) in &layout.stretches {
            let first = line.partition_point(|node| layout.position(*node) < low);
            let end = line.partition_point(|node| layout.position(*node) <= high);
            match region.search(&line[first..end]) {
                Found::Order(order) => line[first..end].copy_from_slice(&order),
                Found::Cycle(cycle) => {
                    if worst.as_ref().is_none_or(|known| cycle.edges < known.edges) {
                        worst = Some(cycle);
                    }
                }
            }
            if worst.as_ref().is_some_and(|cycle| cycle.edges == 2) {
                break;
            }
        }
        worst.map_or(Ok(line), Err)
    }

    /// The first transaction that lost sight of another one: Bailis et al., *Highly Available
    /// Transactions*, VLDB 2014, of monotonic atomic view.
    fn vanished(&self) -> Option<Vanished> {
        let places = self.places();
        let place = |id: WriteId| if id == INITIAL { 0 } else { places[id as usize] };
        let mut found = None;
        let mut wanted: Vec<(u32, u32, u32)> = Vec::new();
        for txn in (0..self.len()).filter(|&txn| self.versions.is_in[txn]) {
            wanted.clear();
            accesses(self.history.ops(txn), |access| {
                let Access::Read(seen) = access else { return };
                let version = self.versions.resolved(&seen);
                if version == UNKNOWN {
                    return;
                }
                let lost = wanted.iter().find(|(key, least, _)| {
                    *key == seen.key && place(version) != UNKNOWN && place(version) < *least
                });
                if let Some(&(key, _, writer)) = lost {
                    let writer = writer as usize;
                    found = found.or(Some(Vanished { txn, writer, key, version }));
                }
                let writer = if version == INITIAL { UNKNOWN } else { self.writer(version) };
                if writer != UNKNOWN && !wanted.iter().any(|known| known.2 == writer) {
                    let ops = self.history.ops(writer as usize).iter();
                    wanted.extend(
                        ops.filter(|op| crate::footprint::is_write(op.kind))
                            .filter(|op| self.versions.is_final(op.value))
                            .map(|op| (op.key, place(op.value), writer))
                            .filter(|(_, place, _)| *place != UNKNOWN),
                    );
                }
            });
            if found.is_some() {
                return found;
            }
        }
        None
    }

    fn writer(&self, id: WriteId) -> u32 {
        self.versions.all[id as usize].writer
    }

    /// By id, its place among the versions of its key, from 1; UNKNOWN where that is not known.
    fn places(&self) -> Vec<u32> {
        let mut places = vec![UNKNOWN; self.versions.all.len()];
        for &first in &self.versions.first {
            let (mut at, mut place) = (first, 1);
            while at != UNKNOWN {
                places[at as usize] = place;
                at = self.versions.all[at as usize].next;
                place += 1;
            }
        }
        places
    }
}
