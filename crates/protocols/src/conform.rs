//! Whether a server does what a protocol says, statement by statement.
//!
//! ```text
//!   graph ─▶ fewest ways that take every transition ─▶ what clients ask on them: schedules
//!                                                            │ played on a server
//!   model: all ways to take a schedule (any victim) ─▶ same replies?  else where they part
//! ```

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use dbdyno_cases::{Interleaving, StatementAnswer, StatementReply};

use crate::explore::{Graph, Keep};
use crate::paths::{Cover, Ways, cover_of_shortest};
use crate::script::{Run, possible_runs};
use crate::single::{Single, SingleAction};

/// Tests that take every transition of a protocol.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tests {
    /// What clients ask, each once: ways that differ in the victim of a deadlock alone ask the
    /// same.
    pub schedules: Vec<Interleaving>,
    /// What the ways cover.
    pub cover: Cover,
    /// So many ways there must be: transitions of which no way takes two.
    pub lower_bound: u64,
    /// What the shortest ways to all states would cover.
    pub shortest: Cover,
    /// What there is to be covered: states and transitions.
    pub states: u64,
    /// See `states`.
    pub transitions: u64,
}

impl Tests {
    /// The fewest tests; `None` if there are more than `most` states.
    #[must_use]
    pub fn of_protocol(protocol: &Single, most: usize) -> Option<Tests> {
        let graph = Graph::explore_states(protocol, most, Keep::Transitions, |_, _| {
            ControlFlow::Continue(())
        });
        if !graph.is_complete {
            return None;
        }
        let ways = Ways::through_graph(&graph);
        let asked = |way: &Vec<u32>| -> Vec<_> {
            let actions = way.iter().map(|edge| graph.edges[*edge as usize].action);
            let asked = actions.filter_map(|action| match action {
                SingleAction::Asks(who, what) => Some((who, what)),
                SingleAction::Victim(_) => None,
            });
            asked.collect()
        };
        let distinct: BTreeSet<Vec<_>> = ways.all.iter().map(asked).collect();
        Some(Tests {
            schedules: distinct.into_iter().map(|steps| Interleaving { steps }).collect(),
            cover: ways.cover_of(&graph),
            lower_bound: ways.lower_bound,
            shortest: cover_of_shortest(&graph),
            states: graph.len() as u64,
            transitions: graph.transitions,
        })
    }
}

/// Where a server parts from the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The statement, by its place in the schedule.
    pub place: usize,
    /// What the protocol says.
    pub model: StatementReply,
    /// What the server did.
    pub server: StatementReply,
}

/// In which way a server differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Nonconformity {
    /// It waits where the protocol does not.
    Waits,
    /// It does not wait where the protocol does.
    GoesOn,
    /// It refuses what the protocol does not.
    Refuses,
    /// It does not refuse what the protocol refuses.
    LetsThrough,
    /// It reads another version.
    ReadsOther,
    /// It does not answer, and does not say that it waits.
    Silent,
}

impl Difference {
    /// In which way.
    #[must_use]
    pub fn kind(&self) -> Nonconformity {
        let (model, server) = (self.model, self.server);
        match (model.answer, server.answer) {
            (_, StatementAnswer::Nothing) => Nonconformity::Silent,
            _ if server.waited && !model.waited => Nonconformity::Waits,
            _ if model.waited && !server.waited => Nonconformity::GoesOn,
            (StatementAnswer::Refused | StatementAnswer::LeftOut, _) => Nonconformity::LetsThrough,
            (_, StatementAnswer::Refused | StatementAnswer::LeftOut) => Nonconformity::Refuses,
            _ => Nonconformity::ReadsOther,
        }
    }
}

impl Nonconformity {
    /// In words, of so many statements.
    #[must_use]
    pub fn in_words(self) -> &'static str {
        match self {
            Nonconformity::Waits => "waits where the protocol does not",
            Nonconformity::GoesOn => "does not wait where the protocol does",
            Nonconformity::Refuses => "refuses what the protocol does not",
            Nonconformity::LetsThrough => "lets through what the protocol refuses",
            Nonconformity::ReadsOther => "reads another version",
            Nonconformity::Silent => "has no answer, and does not say that it waits",
        }
    }
}

/// Holds replies of a server against a protocol; `None` if the protocol can do the same. Else the
/// first place where they part, by the way of the protocol that goes along the longest.
#[must_use]
pub fn difference(
    protocol: &Single,
    schedule: &Interleaving,
    server: &[StatementReply],
) -> Option<Difference> {
    let parts = |run: &Run| {
        let differs = |place: &usize| {
            let (model, server) = (run.replies[*place], server[*place]);
            let waits_alike = model.waited == server.waited || run.closed_circle[*place];
            model.answer != server.answer || !waits_alike
        };
        let place = (0..run.replies.len()).find(differs)?;
        Some(Difference { place, model: run.replies[place], server: server[place] })
    };
    let all = possible_runs(protocol, schedule);
    let differences: Option<Vec<Difference>> = all.iter().map(parts).collect();
    differences.and_then(|all| all.into_iter().max_by_key(|one| one.place))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::ONE_SERVER;
    use crate::single::Names;

    fn single(name: &str, shape: &str) -> Single {
        let entry = ONE_SERVER.iter().find(|entry| entry.name == name).unwrap();
        Single { rules: entry.rules, shape: shape.parse().unwrap(), names: Names::ByAppearance }
    }

    #[test]
    fn the_fewest_ways_take_every_transition() {
        for entry in ONE_SERVER {
            for shape in ["2x1x2", "2x2x2", "3x2x1"] {
                let tests = Tests::of_protocol(&single(entry.name, shape), usize::MAX).unwrap();
                let what = format!("{} {shape}: {:?}", entry.name, tests.cover);
                assert_eq!(tests.cover.transitions, tests.transitions, "{what}");
                assert_eq!(tests.cover.states, tests.states, "{what}");
                assert_eq!(tests.cover.ways, tests.lower_bound, "{what}");
                assert_eq!(tests.shortest.states, tests.states, "{what}");
                assert!(tests.shortest.transitions < tests.transitions, "{what}");
                assert!(tests.schedules.len() as u64 <= tests.cover.ways, "{what}");
            }
        }
    }

    /// Every protocol does what it says, and no two of them do the same.
    #[test]
    fn protocols_are_told_apart_by_their_replies() {
        for model in ONE_SERVER {
            let protocol = single(model.name, "2x2x2");
            let tests = Tests::of_protocol(&protocol, usize::MAX).unwrap();
            for other in ONE_SERVER {
                let server = single(other.name, "2x2x2");
                let parts = |schedule: &&Interleaving| {
                    let replies = &possible_runs(&server, schedule)[0].replies;
                    difference(&protocol, schedule, replies).is_some()
                };
                let parted = tests.schedules.iter().filter(parts).count();
                assert_eq!(parted == 0, model.name == other.name, "{} {}", model.name, other.name);
            }
        }
    }
}
