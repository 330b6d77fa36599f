//! Protocols by name.

use std::ops::ControlFlow;

use dbdyno_cases::InterleavingSize;
use dbdyno_check::Level;

use crate::explore::{Graph, Keep};
use crate::judged::{ExplorationVerdict, Transactional, judge_outcomes};
use crate::level::LEVELS;
use crate::results::{ProducedHistories, Results};
use crate::rules::{ONE_SERVER, ProtocolEntry};
use crate::schedules::Schedules;
use crate::sharded::{SHARDED, ShardEntry, ShardedProtocol};
use crate::single::{Names, Single};

/// A protocol with a name, and a fault in it or none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NamedProtocol {
    kind: Kind,
    fault: Option<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Single(&'static ProtocolEntry),
    Sharded(&'static ShardEntry),
}

impl NamedProtocol {
    /// All protocols, without faults.
    pub fn all() -> impl Iterator<Item = NamedProtocol> {
        let single = ONE_SERVER.iter().map(Kind::Single);
        let all = single.chain(SHARDED.iter().map(Kind::Sharded));
        all.map(|kind| NamedProtocol { kind, fault: None })
    }

    /// The protocol of this name.
    #[must_use]
    pub fn by_name(name: &str) -> Option<NamedProtocol> {
        NamedProtocol::all().find(|one| one.name() == name)
    }

    /// With the fault of this name.
    #[must_use]
    pub fn with_fault(self, name: &str) -> Option<NamedProtocol> {
        let fault = self.faults().position(|(known, _)| known == name)?;
        Some(NamedProtocol { fault: Some(fault), ..self })
    }

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self.kind {
            Kind::Single(entry) => entry.name,
            Kind::Sharded(entry) => entry.name,
        }
    }

    /// What it does.
    #[must_use]
    pub fn about(self) -> &'static str {
        match self.kind {
            Kind::Single(entry) => entry.about,
            Kind::Sharded(entry) => entry.about,
        }
    }

    /// The level that it promises.
    #[must_use]
    pub fn level(self) -> Level {
        match self.kind {
            Kind::Single(entry) => entry.level,
            Kind::Sharded(entry) => entry.level,
        }
    }

    /// Names of faults that can be planted, and what is wrong then.
    pub fn faults(self) -> impl Iterator<Item = (&'static str, &'static str)> {
        let all: Vec<_> = match self.kind {
            Kind::Single(entry) => entry.faults.iter().map(|one| (one.name, one.about)).collect(),
            Kind::Sharded(entry) => entry.faults.iter().map(|one| (one.0, one.1)).collect(),
        };
        all.into_iter()
    }

    /// The name of the fault, and what is wrong.
    #[must_use]
    pub fn fault(self) -> Option<(&'static str, &'static str)> {
        self.faults().nth(self.fault?)
    }

    /// As a state machine of one server; `None` if it is one of several.
    #[must_use]
    pub fn as_single(self, shape: InterleavingSize, names: Names) -> Option<Single> {
        let Kind::Single(entry) = self.kind else { return None };
        let rules = self.fault.map_or(entry.rules, |fault| entry.faults[fault].rules);
        Some(Single { rules, shape, names })
    }

    /// Explores it, at most `most` states, once up to symmetry, and judges what it lets through by
    /// `level`.
    #[must_use]
    pub fn judge_outcomes(
        self,
        shape: InterleavingSize,
        level: Level,
        most: usize,
    ) -> ExplorationVerdict {
        let names = Names::ByAppearance;
        match self.kind {
            Kind::Single(entry) => {
                let rules = self.fault.map_or(entry.rules, |fault| entry.faults[fault].rules);
                judge_outcomes(&Single { rules, shape, names }, level, most)
            }
            Kind::Sharded(entry) => judge_outcomes(&self.sharded(entry, shape, names), level, most),
        }
    }

    fn sharded(self, entry: &ShardEntry, shape: InterleavingSize, names: Names) -> ShardedProtocol {
        let fault = self.fault.map_or(entry.without, |fault| entry.faults[fault].2);
        ShardedProtocol { concern: entry.concern, fault, shape, names }
    }

    /// Permissiveness of results, level by level; `None` if there are too many sets, or more than
    /// `most` states where all have to be found.
    #[must_use]
    pub fn result_permissiveness(
        self,
        shape: InterleavingSize,
        most: usize,
    ) -> Option<Vec<Results>> {
        let Kind::Sharded(entry) = self.kind else {
            let single = self.as_single(shape, Names::Given)?;
            return Some(ProducedHistories::of_protocol(&single)?.count(&LEVELS));
        };
        // Classes do not depend on names.
        let sharded = self.sharded(entry, shape, Names::ByAppearance);
        let mut produced = ProducedHistories::new(shape)?;
        let graph = Graph::explore_states(&sharded, most, Keep::States, |_, state| {
            if let Some(outcome) = sharded.outcome_of(state) {
                produced.add_outcome(&outcome);
            }
            ControlFlow::Continue(())
        });
        graph.is_complete.then(|| produced.count(&LEVELS))
    }

    /// Permissiveness of schedules, at most `most` of them; `None` for protocols of several
    /// servers, whose schedules have more steps than those of clients.
    #[must_use]
    pub fn schedule_permissiveness(
        self,
        shape: InterleavingSize,
        level: Level,
        most: u64,
    ) -> Option<Schedules> {
        let single = self.as_single(shape, Names::Given)?;
        Some(Schedules::of_shape(single.rules, shape, level, most))
    }
}
