//! Which level is stronger than which, and verdicts that agree with that.
//!
//! ```text
//!   strict-serializable ─▶ strong-session-serializable ─▶ serializable ─▶ repeatable-read ─▶ …
//!            │                         │                       │
//!            ▼                         ▼                       ▼
//!       strong-SI ──────────▶ strong-session-SI ─────────────▶ SI ─▶ … ─▶ read-committed ─▶ …
//! ```
//!
//! A level is stronger than another if every history that has it has the other one too: its graph
//! has all edges of the other's, or makes them superfluous. So a proof of the stronger is one of
//! the weaker, and what breaks the weaker breaks the stronger. A search that gave up at one level
//! is answered by what was found at another. Some pairs can be compared only where a history
//! has no locking reads, no predicates, or sessions that time orders as well.
//!
//! Where the graphs of two levels are compared, the argument is in [`ORDER`]; it is held against
//! random histories, and against trying all executions of small ones.

use crate::certificate::Certificate;
use crate::check::{Checker, LevelVerdict};
use crate::history::{History, OperationKind, TransactionOutcome};
use crate::level::Level;
use crate::replay::replay;
use crate::retrace::Retracer;
use crate::versions::Versions;

/// What must be true of a history for two levels to be comparable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Precondition {
    Always,
    /// Locking reads of InnoDB's repeatable read see more than its snapshot.
    NoCurrentReads,
    /// PL-2.99 says nothing of predicates, and is PL-3 without them.
    NoPredicates,
    /// Each transaction began after the confirmed one before it in its session was answered.
    TimedSessions,
}

/// The stronger level, the weaker one, and where.
const ORDER: [(Level, Level, Precondition); 32] = [
    (Level::Cascadeless, Level::Recoverable, Precondition::Always),
    (Level::Strict, Level::Cascadeless, Precondition::Always),
    (Level::ReadCommitted, Level::ReadUncommitted, Precondition::Always),
    (Level::MonotonicAtomicView, Level::ReadCommitted, Precondition::Always),
    (Level::ReadYourWrites, Level::ReadCommitted, Precondition::Always),
    (Level::MonotonicReads, Level::ReadCommitted, Precondition::Always),
    (Level::MonotonicWrites, Level::ReadCommitted, Precondition::Always),
    (Level::WritesFollowReads, Level::ReadCommitted, Precondition::Always),
    // In the order of its commits no transaction that was read before is missed.
    (Level::MonotonicReadCommitted, Level::MonotonicAtomicView, Precondition::Always),
    (Level::ReadAtomic, Level::MonotonicReadCommitted, Precondition::Always),
    (Level::ReadAtomic, Level::ReadYourWrites, Precondition::Always),
    // From a transaction that must be seen by the rules of sessions, a path of reads and
    // sessions leads to the one that sees it.
    (Level::Causal, Level::ReadAtomic, Precondition::Always),
    (Level::Causal, Level::MonotonicReads, Precondition::Always),
    (Level::Causal, Level::MonotonicWrites, Precondition::Always),
    (Level::Causal, Level::WritesFollowReads, Precondition::Always),
    (Level::InnodbRepeatableRead, Level::ReadCommitted, Precondition::Always),
    (Level::InnodbRepeatableRead, Level::MonotonicAtomicView, Precondition::NoCurrentReads),
    (Level::RepeatableRead, Level::ReadCommitted, Precondition::Always),
    (Level::RepeatableRead, Level::Serializable, Precondition::NoPredicates),
    (Level::SnapshotIsolation, Level::MonotonicAtomicView, Precondition::Always),
    (Level::SnapshotIsolation, Level::InnodbRepeatableRead, Precondition::NoCurrentReads),
    (Level::StrongSessionSnapshotIsolation, Level::SnapshotIsolation, Precondition::Always),
    // All from which a path leads to a transaction have committed before its snapshot.
    (Level::StrongSessionSnapshotIsolation, Level::Causal, Precondition::Always),
    (Level::StrongSnapshotIsolation, Level::SnapshotIsolation, Precondition::Always),
    (
        Level::StrongSnapshotIsolation,
        Level::StrongSessionSnapshotIsolation,
        Precondition::TimedSessions,
    ),
    // A serial order is one of snapshots that are taken right before their commits.
    (Level::Serializable, Level::SnapshotIsolation, Precondition::Always),
    (Level::Serializable, Level::InnodbRepeatableRead, Precondition::Always),
    (Level::Serializable, Level::RepeatableRead, Precondition::Always),
    (Level::Serializable, Level::ViewSerializable, Precondition::Always),
    (Level::StrongSessionSerializable, Level::StrongSessionSnapshotIsolation, Precondition::Always),
    (Level::StrongSessionSerializable, Level::Serializable, Precondition::Always),
    (Level::StrictSerializable, Level::StrongSnapshotIsolation, Precondition::Always),
];

/// More of the same, of strict serializability.
const OF_STRICT: [(Level, Level, Precondition); 2] = [
    (Level::StrictSerializable, Level::Serializable, Precondition::Always),
    (Level::StrictSerializable, Level::StrongSessionSerializable, Precondition::TimedSessions),
];

/// The order of the levels, as far as one history goes.
#[derive(Debug)]
struct Lattice {
    has_current_reads: bool,
    has_predicates: bool,
    has_timed_sessions: bool,
}

impl Lattice {
    fn of(history: &History, versions: &Versions) -> Lattice {
        let has = |kinds: [OperationKind; 2]| history.ops.iter().any(|op| kinds.contains(&op.kind));
        Lattice {
            has_current_reads: has([OperationKind::CurrentRead, OperationKind::CurrentScan]),
            has_predicates: has([OperationKind::Scan, OperationKind::CurrentScan]),
            has_timed_sessions: has_timed_sessions(history, versions),
        }
    }

    fn is_true(&self, of: Precondition) -> bool {
        match of {
            Precondition::Always => true,
            Precondition::NoCurrentReads => !self.has_current_reads,
            Precondition::NoPredicates => !self.has_predicates,
            Precondition::TimedSessions => self.has_timed_sessions,
        }
    }

    /// All levels that a history with this one has as well, without itself.
    fn below(&self, level: Level) -> Vec<Level> {
        let mut found = vec![level];
        let mut done = 0;
        while let Some(&stronger) = found.get(done) {
            done += 1;
            for (above, weaker, of) in ORDER.iter().chain(&OF_STRICT) {
                if *above == stronger && self.is_true(*of) && !found.contains(weaker) {
                    found.push(*weaker);
                }
            }
        }
        found.split_off(1)
    }
}

/// Whether time tells the order of every session, as far as a session has one: nothing in it
/// follows a transaction of unknown outcome.
fn has_timed_sessions(history: &History, versions: &Versions) -> bool {
    let mut last: Vec<Option<usize>> = vec![None; history.session_count()];
    (0..history.len()).filter(|&txn| versions.is_in[txn]).all(|txn| {
        let last = &mut last[history.session[txn] as usize];
        let before = *last;
        if history.outcome[txn] != TransactionOutcome::Unknown {
            *last = Some(txn);
        }
        before.is_none_or(|before| {
            history.times[before].commit_return_ns < history.times[txn].begin_invoke_ns
        })
    })
}

impl Checker<'_> {
    /// The levels that a history with this one has as well, as far as this history goes.
    #[must_use]
    pub fn weaker_levels(&self, level: Level) -> Vec<Level> {
        Lattice::of(self.history, &self.versions).below(level)
    }

    /// Decides levels, in the order in which they are given: each one that holds has a proof that
    /// [`replay`] accepts, each one that is broken one that [`crate::retrace_violation()`] follows,
    /// and no two verdicts contradict each other.
    #[must_use]
    pub fn proved_verdicts(&self, levels: &[Level]) -> Vec<(Level, LevelVerdict)> {
        let lattice = Lattice::of(self.history, &self.versions);
        let retracer = Retracer::new(self.history);
        let mut told: Vec<(Level, LevelVerdict)> = Vec::new();
        for level in Level::ALL.into_iter().rev().filter(|level| levels.contains(level)) {
            let known = told.iter().find_map(|(stronger, verdict)| match verdict {
                LevelVerdict::Holds(proof) if lattice.below(*stronger).contains(&level) => {
                    self.carried_down(level, proof)
                }
                _ => None,
            });
            told.push((level, known.unwrap_or_else(|| self.proved_by(level, &retracer))));
        }
        let told = self.agreeing(&lattice, told);
        levels
            .iter()
            .filter_map(|level| told.iter().find(|(other, _)| other == level).cloned())
            .collect()
    }

    /// Decides a level; that it holds, or is broken, is told only if the proof is accepted.
    #[must_use]
    pub fn proved_verdict(&self, level: Level) -> LevelVerdict {
        self.proved_by(level, &Retracer::new(self.history))
    }

    fn proved_by(&self, level: Level, retracer: &Retracer<'_>) -> LevelVerdict {
        let verdict = self.level_verdict(level);
        let accepted = match &verdict {
            LevelVerdict::Holds(proof) => replay(self.history, level, proof),
            LevelVerdict::CannotTell(_) => Ok(()),
            _ => retracer.follow_violation(level, &verdict),
        };
        match accepted {
            Ok(()) => verdict,
            Err(what) => LevelVerdict::CannotTell(format!(
                "the proof was not accepted: {what}; that is a fault of this program: please \
                 report it with the history"
            )),
        }
    }

    /// The proof of a stronger level as one of this level, if that is accepted.
    fn carried_down(&self, level: Level, proof: &Certificate) -> Option<LevelVerdict> {
        let proof = adapted(level, proof);
        replay(self.history, level, &proof).is_ok().then_some(LevelVerdict::Holds(proof))
    }

    /// What was not decided at one level and is decided by another; and nothing of two that
    /// contradict each other, of which one must be wrong.
    fn agreeing(
        &self,
        lattice: &Lattice,
        told: Vec<(Level, LevelVerdict)>,
    ) -> Vec<(Level, LevelVerdict)> {
        let is_above = |one: Level, other: Level| lattice.below(one).contains(&other);
        let settled = |(level, verdict): &(Level, LevelVerdict)| {
            let (level, holds) = (*level, matches!(verdict, LevelVerdict::Holds(_)));
            let is_open = matches!(verdict, LevelVerdict::CannotTell(_));
            let mut below = told.iter().filter(|(other, _)| is_above(level, *other));
            let mut above = told.iter().filter(|(other, _)| is_above(*other, level));
            let refuted = below.find(|(_, other)| other.anomaly().is_some());
            let shown = above.find(|(_, other)| matches!(other, LevelVerdict::Holds(_)));
            let verdict = match (refuted, shown) {
                (Some((other, _)), _) if holds => contradicted(level, *other),
                (_, Some((other, _))) if verdict.anomaly().is_some() => contradicted(*other, level),
                (Some((other, _)), Some((one, _))) => contradicted(*one, *other),
                (Some((_, broken)), None) if is_open => carried_up(broken),
                (None, Some((_, LevelVerdict::Holds(proof)))) if is_open => {
                    self.carried_down(level, proof).unwrap_or_else(|| verdict.clone())
                }
                _ => verdict.clone(),
            };
            (level, verdict)
        };
        told.iter().map(settled).collect()
    }
}

fn contradicted(stronger: Level, weaker: Level) -> LevelVerdict {
    LevelVerdict::CannotTell(format!(
        "{stronger} was found to hold, and {weaker} to be broken, which cannot be: a fault of this \
         program; please report it with the history"
    ))
}

/// What breaks a weaker level, as what breaks a stronger one: there may be shorter cycles there.
fn carried_up(broken: &LevelVerdict) -> LevelVerdict {
    let mut broken = broken.clone();
    if let LevelVerdict::Cycle(_, cycle) = &mut broken {
        cycle.is_shortest = false;
    }
    broken
}

/// An order of events with the events that the level has.
fn adapted(level: Level, proof: &Certificate) -> Certificate {
    let has_snapshots = proof.events.iter().any(|event| event % 2 == 0);
    let events = match (level.graph_shape().has_snapshots, has_snapshots) {
        (true, true) | (false, false) => proof.events.clone(),
        (true, false) => proof.events.iter().flat_map(|commit| [commit - 1, *commit]).collect(),
        (false, true) => proof.events.iter().copied().filter(|event| event % 2 == 1).collect(),
    };
    Certificate { events }
}
