//! The independent judge of a proof that a level is broken.
//!
//! ```text
//!   flaw       the answer is there, and the level forbids it
//!   cycle      T0 ──wr──▶ T1 ──rw?──▶ T0      each arrow is a dependency of the history;
//!                                             those with ? follow if one chain of versions comes
//!                                             before another
//!   no order   cycles, of which every order of the chains has one
//! ```
//!
//! It knows the history, the level and what is claimed, and shares no code with what finds cycles:
//! dependencies are looked up in the operations ([`facts`]), which of them a level has is written
//! down here once more from its definition (see [`crate::level`]), and that some cycles leave no
//! choice is shown by trying all choices ([`choices`]).

mod choices;
mod facts;
mod sight;

use std::cell::OnceCell;

use crate::check::{LevelVerdict, VanishedWrite};
use crate::history::{ABSENT, History, INITIAL, TransactionOutcome, UNKNOWN, WriteId};
use crate::level::{Dependency, Level};
use crate::region::{Cycle, CycleStep};
use crate::versions::{Flaw, FlawKind};
use choices::leave_a_choice;
use facts::{Choice, Facts, Precedence, REPLACING, Replacing};

/// Follows what is claimed to break a level.
///
/// # Errors
/// The first thing that the history does not say, or that the level allows; also of a verdict that
/// does not claim a violation.
pub fn retrace_violation(
    history: &History,
    level: Level,
    verdict: &LevelVerdict,
) -> Result<(), String> {
    Retracer::new(history).follow_violation(level, verdict)
}

/// The judge of several claims about one history.
pub(crate) struct Retracer<'a> {
    history: &'a History,
    /// By what levels say of rows that are read and written.
    facts: [OnceCell<Facts<'a>>; REPLACING.len()],
}

impl<'a> Retracer<'a> {
    pub(crate) fn new(history: &'a History) -> Retracer<'a> {
        Retracer { history, facts: Default::default() }
    }

    /// See [`retrace_violation`].
    pub(crate) fn follow_violation(
        &self,
        level: Level,
        verdict: &LevelVerdict,
    ) -> Result<(), String> {
        let lasts = Vec::new();
        let judge = Judge { history: self.history, level, facts: self.facts(level), lasts };
        match verdict {
            LevelVerdict::Holds(_) | LevelVerdict::CannotTell(_) => {
                Err("no violation is claimed".to_owned())
            }
            LevelVerdict::Flaw(flaw) => judge.flaw(flaw),
            _ if level == Level::ViewSerializable => {
                let (history, level) = (
                    self.history.without_order(|txn| judge.facts.is_counted[txn]),
                    Level::Serializable,
                );
                let facts = &Facts::from_history(&history, Replacing::for_level(level));
                let lasts = judge.facts.last_versions();
                Judge { history: &history, level, facts, lasts }.violation(verdict)
            }
            _ => judge.violation(verdict),
        }
    }

    fn facts(&self, level: Level) -> &Facts<'a> {
        let replacing = Replacing::for_level(level);
        let at = REPLACING.iter().position(|one| *one == replacing).unwrap_or_default();
        self.facts[at].get_or_init(|| Facts::from_history(self.history, replacing))
    }
}

/// Where in a transaction a dependency begins or ends: at its snapshot, or at its commit.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Point {
    Snapshot,
    Commit,
}

struct Judge<'a> {
    history: &'a History,
    level: Level,
    facts: &'a Facts<'a>,
    /// By key, the version that has to be the last one, or UNKNOWN; of view serializability.
    lasts: Vec<WriteId>,
}

impl Judge<'_> {
    fn violation(&self, verdict: &LevelVerdict) -> Result<(), String> {
        match verdict {
            LevelVerdict::Cycle(_, cycle) => match self.cycle(cycle)?.as_slice() {
                [] => Ok(()),
                _ => Err("the cycle rests on an order of versions that nothing tells".to_owned()),
            },
            LevelVerdict::NoOrder(_, cycles) => {
                let choices: Vec<Vec<Choice>> =
                    cycles.iter().map(|cycle| self.cycle(cycle)).collect::<Result<_, _>>()?;
                match leave_a_choice(&choices) {
                    Some(true) => Err("an order of versions has none of the cycles".to_owned()),
                    // That is left to the solver where trying all choices would take too long.
                    Some(false) | None => Ok(()),
                }
            }
            LevelVerdict::Vanished(vanished) => match self.vanished(vanished)? {
                Precedence::Surely => Ok(()),
                _ => Err("nothing tells which of the two versions comes first".to_owned()),
            },
            _ => Err("no violation is claimed".to_owned()),
        }
    }

    /// The choices that a cycle rests on.
    fn cycle(&self, cycle: &Cycle) -> Result<Vec<Choice>, String> {
        if let Some(vanished) = self.vanished_in(cycle) {
            return Ok(self.vanished(&vanished)?.assumed_choices());
        }
        if self.is_lost_update(cycle) {
            return Ok(Vec::new());
        }
        let next = cycle.steps.iter().skip(1).chain(cycle.steps.first());
        let mut choices = Vec::new();
        for (step, next) in cycle.steps.iter().zip(next) {
            let told = format!("T{} -{}-> T{}", step.from, step.dependency.short_name(), step.to);
            let of_step = |what: &str| format!("{told}: {what}");
            if step.to != next.from {
                return Err(of_step("the next step begins elsewhere"));
            }
            let ends = self.ends(step.dependency).zip(self.ends(next.dependency));
            let Some(((_, arrival), (departure, _))) = ends else {
                return Err(of_step("the level does not ask for that"));
            };
            if (arrival, departure) == (Point::Commit, Point::Snapshot) {
                return Err(of_step("a snapshot may be older than what its transaction commits"));
            }
            choices.extend(self.step(step).map_err(|what| of_step(&what))?);
        }
        if cycle.steps.len() < 2 {
            return Err("a cycle has two steps at least".to_owned());
        }
        choices.sort_unstable();
        choices.dedup();
        Ok(choices)
    }

    /// Two transactions read one version and both replaced it: whichever of them came first, the
    /// other one had not seen it, which a level forbids that allows no write between.
    fn is_lost_update(&self, cycle: &Cycle) -> bool {
        let [one, other] = cycle.steps.as_slice() else { return false };
        let is_closed = one.from == other.to && one.to == other.from && one.from != one.to;
        let is_of_one = (one.key, one.version) == (other.key, other.version);
        let has_replaced = |step: &CycleStep| {
            let is_counted = self.facts.is_counted.get(step.from).copied().unwrap_or(false);
            let is_current = step.dependency == Dependency::CurrentAnti;
            let is_forbidden = Replacing::for_level(self.level).is_at_once(is_current);
            let is_row = is_current || step.dependency == Dependency::Anti;
            let is_read = is_counted && self.facts.is_read_and_written(step.from, step);
            is_forbidden && is_row && is_read
        };
        is_closed && is_of_one && has_replaced(one) && has_replaced(other)
    }

    /// Which points of two transactions a dependency joins, if the level has it.
    fn ends(&self, dependency: Dependency) -> Option<(Point, Point)> {
        use Dependency as D;
        use Level as L;
        let (commits, view, write) = (
            (Point::Commit, Point::Commit),
            (Point::Commit, Point::Snapshot),
            (Point::Snapshot, Point::Commit),
        );
        let has_sessions =
            matches!(self.level, L::StrongSessionSerializable | L::StrongSessionSnapshotIsolation)
                || self.level.is_of_visibility();
        let has_time = matches!(self.level, L::StrictSerializable | L::StrongSnapshotIsolation);
        let is_of_snapshots = matches!(
            self.level,
            L::SnapshotIsolation | L::StrongSessionSnapshotIsolation | L::StrongSnapshotIsolation
        );
        match (dependency, self.level) {
            (D::Session, _) if !has_sessions => None,
            (D::RealTime, _) if !has_time => None,
            (D::Write | D::Read | D::CurrentRead | D::Session | D::RealTime, _)
                if is_of_snapshots =>
            {
                Some(view)
            }
            (kind, _) if is_of_snapshots && kind.is_anti() => Some(write),
            (D::Read, L::InnodbRepeatableRead) => Some(view),
            (D::Anti | D::PredicateAnti, L::InnodbRepeatableRead) => Some(write),
            (D::Seen, level) if !level.is_of_visibility() => None,
            (D::Last, _) if self.lasts.is_empty() => None,
            (D::CommitAsked, level) if !level.is_of_commits() => None,
            (D::Write, L::Recoverable | L::Cascadeless) => None,
            (D::Read | D::CurrentRead, L::ReadUncommitted) => None,
            (D::Anti | D::CurrentAnti, L::RepeatableRead) => Some(commits),
            (kind, L::RepeatableRead) if kind.is_predicate() => None,
            (kind, L::ReadUncommitted | L::ReadCommitted | L::MonotonicAtomicView)
                if kind.is_anti() =>
            {
                None
            }
            (kind, level) if kind.is_anti() && level.is_of_commits() => None,
            _ => Some(commits),
        }
    }

    /// The choice that a step rests on, if any.
    fn step(&self, step: &CycleStep) -> Result<Vec<Choice>, String> {
        let is_in = |txn: usize| self.facts.is_counted.get(txn).copied().unwrap_or(false);
        if step.from == step.to || !is_in(step.from) || !is_in(step.to) {
            return Err("one of them did not commit, or both are the same".to_owned());
        }
        let ordered = match step.dependency {
            Dependency::Session => self.session(step),
            Dependency::RealTime => self.real_time(step),
            Dependency::CommitAsked => self.commit_asked(step),
            Dependency::Last => self.last(step),
            Dependency::Seen => self.seen(step),
            Dependency::Write => {
                self.facts.replacement_precedence(step.from, step.to, step.key, step.version)
            }
            Dependency::Read | Dependency::CurrentRead => {
                let is_current = step.dependency == Dependency::CurrentRead;
                let is_read = self.facts.counted_writer(step.key, step.version) == Some(step.from)
                    && self.facts.has_read(step.to, step.key, step.version, |sight| {
                        sight.is_current == is_current
                    });
                Precedence::surely_if(is_read)
            }
            _ if self.level.is_of_visibility() => self.missed(step),
            dependency => self.facts.overwrite_precedence(step, dependency),
        };
        match ordered {
            Precedence::Not => Err("the history does not say that".to_owned()),
            Precedence::If(..) if !step.is_assumed => {
                Err("nothing tells the order of versions that it rests on".to_owned())
            }
            ordered => Ok(ordered.assumed_choices()),
        }
    }

    fn session(&self, step: &CycleStep) -> Precedence {
        Precedence::surely_if(self.facts.is_earlier_in_session(step.from, step.to))
    }

    fn real_time(&self, step: &CycleStep) -> Precedence {
        let times = &self.history.times;
        let is_answered = self.history.outcome[step.from] == TransactionOutcome::Ok;
        let is_before = times[step.from].commit_return_ns < times[step.to].begin_invoke_ns;
        Precedence::surely_if(is_answered && is_before)
    }

    /// `from` was done with what had to wait before `to` asked for its commit.
    fn commit_asked(&self, step: &CycleStep) -> Precedence {
        let (dependent, awaited) = (self.history.times[step.from], self.history.times[step.to]);
        let done_ns = match self.level {
            Level::Recoverable => dependent.commit_return_ns,
            _ => dependent.commit_invoke_ns,
        };
        Precedence::surely_if(done_ns < awaited.commit_invoke_ns)
    }

    /// `to` wrote the version that is the last one, and `from` another one of the key.
    fn last(&self, step: &CycleStep) -> Precedence {
        let is_last = self.lasts.get(step.key as usize) == Some(&step.version);
        let is_written = self.facts.counted_writer(step.key, step.version) == Some(step.to);
        Precedence::surely_if(is_last && is_written && self.facts.has_written(step.from, step.key))
    }

    /// `by` had to see `from`, and read the key of `to`: a writer that is not seen came before.
    fn seen(&self, step: &CycleStep) -> Precedence {
        let Some(by) = step.by else { return Precedence::Not };
        let is_written = self.facts.counted_writer(step.key, step.version) == Some(step.to)
            && self.facts.has_written(step.from, step.key);
        Precedence::surely_if(is_written && self.must_see(by, step, step.from))
    }

    /// `from` had to see `to`, which wrote the key, and read what was there before all writes.
    fn missed(&self, step: &CycleStep) -> Precedence {
        let is_missed = step.version == INITIAL
            && self.facts.has_written(step.to, step.key)
            && self.must_see(step.from, step, step.to);
        Precedence::surely_if(is_missed)
    }

    /// Whether a read of a step's key and version had to see another transaction.
    fn must_see(&self, reader: usize, step: &CycleStep, other: usize) -> bool {
        let sights = self.facts.external_reads(reader);
        let reads = sights.iter().filter(|sight| sight.key == step.key);
        let mut reads = reads.filter(|sight| self.facts.resolved_version(sight) == step.version);
        reads.any(|sight| sight::must_see(self.facts, self.level, reader, sight.place, other))
    }

    /// A transaction lost sight of another one, told as a cycle of two steps.
    fn vanished_in(&self, cycle: &Cycle) -> Option<VanishedWrite> {
        let [read, anti] = cycle.steps.as_slice() else { return None };
        let is_read = read.dependency == Dependency::Read && anti.dependency == Dependency::Anti;
        let is_closed = read.from == anti.to && read.to == anti.from;
        if self.level != Level::MonotonicAtomicView || !is_read || !is_closed {
            return None;
        }
        let instead = self.facts.last_written(read.from, anti.key)?;
        let saw = (read.key, read.version);
        let (txn, writer, key, version) = (read.to, read.from, anti.key, anti.version);
        Some(VanishedWrite { txn, writer, key, version, instead, saw })
    }

    fn vanished(&self, told: &VanishedWrite) -> Result<Precedence, String> {
        let sights = self.facts.external_reads(told.txn);
        let read = |(key, version)| {
            let is_it = move |sight: &&facts::Sight| {
                sight.key == key && self.facts.resolved_version(sight) == version
            };
            sights.iter().filter(is_it).map(|sight| sight.place)
        };
        let first = read(told.saw).min();
        let last = read((told.key, told.version)).max();
        let is_in_order = first.zip(last).is_some_and(|(first, last)| first < last);
        let is_written = self.facts.counted_writer(told.saw.0, told.saw.1) == Some(told.writer)
            && self.facts.last_written(told.writer, told.key) == Some(told.instead);
        if !is_in_order || !is_written || self.level != Level::MonotonicAtomicView {
            return Err(format!("T{} did not lose sight of T{}", told.txn, told.writer));
        }
        Ok(self.facts.version_precedence(told.key, told.version, told.instead))
    }

    fn flaw(&self, flaw: &Flaw) -> Result<(), String> {
        let refused = |what: &str| Err(format!("T{}: {what}", flaw.txn));
        if !self.level.forbids_flaw(flaw.kind) {
            return refused("the level does not forbid that");
        }
        let (key, version) = (flaw.key, flaw.version);
        let writers = self.facts.all_writers(version);
        let is_there = match flaw.kind {
            FlawKind::DuplicateWrite => writers.len() > 1,
            FlawKind::IncompatibleOrder => self.facts.contradicts_itself(key),
            _ if !self.facts.mentions_version(flaw.txn, key, version) => false,
            FlawKind::GarbageRead => version < ABSENT && !writers.iter().any(|w| w.1 == key),
            FlawKind::AbortedRead => {
                !writers.is_empty()
                    && writers
                        .iter()
                        .all(|w| self.history.outcome[w.0] == TransactionOutcome::Failed)
            }
            FlawKind::IntermediateRead => writers.iter().any(|&(txn, _)| {
                txn != flaw.txn && self.facts.last_written(txn, key) != Some(version)
            }),
            FlawKind::Internal if flaw.instead == UNKNOWN => {
                // It read what it writes itself later.
                writers.iter().any(|w| w.0 == flaw.txn)
            }
            FlawKind::Internal => self.facts.forgets_its_own(flaw.txn, key, version),
        };
        if is_there { Ok(()) } else { refused("the history does not say that") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::Checker;
    use crate::format::read_history;

    const SKEW: &str = "r(x,0,0,0)\nw(y,1<0,0,0)\nr(y,0,1,1)\nw(x,2<0,1,1)\n";

    fn broken(text: &str, level: Level) -> (History, LevelVerdict) {
        let history = read_history(text.as_bytes()).unwrap();
        let verdict = Checker::new(&history).level_verdict(level);
        assert!(verdict.anomaly().is_some(), "{verdict:?}");
        (history, verdict)
    }

    #[test]
    fn a_cycle_is_followed_where_it_was_found_and_not_where_it_is_allowed() {
        let (history, verdict) = broken(SKEW, Level::Serializable);
        assert_eq!(retrace_violation(&history, Level::Serializable, &verdict), Ok(()));
        for allowed in [Level::SnapshotIsolation, Level::ReadCommitted, Level::ReadUncommitted] {
            assert!(retrace_violation(&history, allowed, &verdict).is_err(), "{allowed}");
        }
    }

    #[test]
    fn a_step_that_the_history_does_not_have_is_refused() {
        let (history, verdict) = broken(SKEW, Level::Serializable);
        let LevelVerdict::Cycle(name, cycle) = verdict else { panic!() };
        let changes: [fn(&mut CycleStep); 5] = [
            |step| step.version += 1,
            |step| step.key = 1 - step.key,
            |step| std::mem::swap(&mut step.from, &mut step.to),
            |step| step.dependency = Dependency::Read,
            |step| step.dependency = Dependency::CurrentAnti,
        ];
        for (at, change) in changes.iter().enumerate() {
            let mut wrong = cycle.clone();
            change(&mut wrong.steps[0]);
            let told = retrace_violation(
                &history,
                Level::Serializable,
                &LevelVerdict::Cycle(name.clone(), wrong),
            );
            assert!(told.is_err(), "change {at}");
        }
        let mut open = cycle;
        open.steps.pop();
        let open = LevelVerdict::Cycle(name, open);
        assert!(retrace_violation(&history, Level::Serializable, &open).is_err());
    }

    #[test]
    fn a_proof_without_one_of_its_cycles_is_refused() {
        let text = "w(x,1,0,0)\nw(x,2,1,1)\nr(x,1,2,2)\nr(x,2,2,3)\nr(x,2,3,4)\nr(x,1,3,5)\n";
        let level = Level::StrongSessionSerializable;
        let (history, verdict) = broken(text, level);
        assert_eq!(retrace_violation(&history, level, &verdict), Ok(()));
        let LevelVerdict::NoOrder(name, cycles) = verdict else { panic!("{verdict:?}") };
        for at in 0..cycles.len() {
            let mut fewer = cycles.clone();
            fewer.remove(at);
            let told =
                retrace_violation(&history, level, &LevelVerdict::NoOrder(name.clone(), fewer));
            assert_eq!(told, Err("an order of versions has none of the cycles".to_owned()));
        }
        let mut told = cycles;
        told[0].steps.iter_mut().for_each(|step| step.is_assumed = false);
        assert!(retrace_violation(&history, level, &LevelVerdict::NoOrder(name, told)).is_err());
    }
}
