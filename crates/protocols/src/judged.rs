//! A protocol, explored, and all that it lets through judged.
//!
//! ```text
//!   state in which nobody is in the midst of a transaction ─▶ outcome ─new?─▶ `check` at a level
//!                                                                                 │ broken
//!                                                       the way to it, a shortest one ◀┘
//! ```

use std::collections::HashSet;
use std::ops::ControlFlow;

use dbdyno_check::{Level, LevelVerdict, violation_drawing};

use crate::explore::{Graph, Keep, Protocol};
use crate::fact::{Facts, Scene};
use crate::outcome::ProtocolOutcome;
use crate::single::{Single, SingleState};

/// A protocol of transactions.
pub trait Transactional: Protocol {
    /// What came of the transactions, if none of them is open.
    fn outcome_of(&self, state: &Self::State) -> Option<ProtocolOutcome>;
    /// What is shown of a state.
    fn facts_of(&self, state: &Self::State) -> Facts;
}

impl Transactional for Single {
    fn outcome_of(&self, state: &SingleState) -> Option<ProtocolOutcome> {
        Single::outcome_of(self, state)
    }

    fn facts_of(&self, state: &SingleState) -> Facts {
        Single::facts_of(self, state)
    }
}

/// An outcome that breaks the level.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BrokenOutcome {
    /// The name of the anomaly.
    pub anomaly: String,
    /// The transactions and the cycle, drawn.
    pub drawing: String,
}

/// What was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExplorationVerdict {
    /// States.
    pub states: u64,
    /// Transitions between them.
    pub transitions: u64,
    /// States that nothing follows.
    pub ends: u64,
    /// The largest number of actions that a state needs at least.
    pub depth: u32,
    /// Different outcomes: what committed transactions read and wrote, and the order of versions.
    pub outcomes: u64,
    /// The first outcome that breaks the level; nothing was looked at behind it.
    pub broken: Option<BrokenOutcome>,
    /// Why the level cannot be told of outcomes: they have no times, and no order of commits.
    pub undecided: Option<String>,
    /// Whether there are more states than were looked for.
    pub is_cut_short: bool,
    /// The way to what is broken, else to one of the farthest outcomes of all transactions.
    pub trace: Vec<Scene>,
}

/// Explores a protocol, at most `most` states of it, and judges its outcomes by a level.
///
/// # Panics
/// If `check` accepts no proof of its own.
pub fn judge_outcomes<P: Transactional>(
    protocol: &P,
    level: Level,
    most: usize,
) -> ExplorationVerdict {
    let mut known: HashSet<ProtocolOutcome> = HashSet::new();
    let mut broken = None;
    let mut undecided = None;
    let mut shown = 0;
    let mut most_committed = 0;
    let graph = Graph::explore_states(protocol, most, Keep::States, |number, state| {
        let Some(outcome) = protocol.outcome_of(state) else { return ControlFlow::Continue(()) };
        let is_new = known.insert(outcome);
        let committed = outcome.committed_count();
        if committed >= most_committed {
            (shown, most_committed) = (number, committed);
        }
        if !is_new {
            return ControlFlow::Continue(());
        }
        let history = outcome.as_history();
        match outcome.level_verdict(level) {
            LevelVerdict::Holds(_) => ControlFlow::Continue(()),
            LevelVerdict::CannotTell(why) => {
                undecided = Some(why);
                ControlFlow::Break(())
            }
            verdict => {
                let anomaly = verdict.anomaly().unwrap_or_default().to_owned();
                broken =
                    Some(BrokenOutcome { anomaly, drawing: violation_drawing(&history, &verdict) });
                shown = number;
                ControlFlow::Break(())
            }
        }
    });
    let first = Scene { action: String::new(), facts: protocol.facts_of(graph.state(0)) };
    let way = graph.way_to(shown).into_iter().map(|(action, state)| Scene {
        action: action.to_string(),
        facts: protocol.facts_of(state),
    });
    ExplorationVerdict {
        states: graph.len() as u64,
        transitions: graph.transitions,
        ends: graph.ends,
        depth: graph.greatest_depth(),
        outcomes: known.len() as u64,
        is_cut_short: !graph.is_complete && broken.is_none() && undecided.is_none(),
        trace: std::iter::once(first).chain(way).collect(),
        broken,
        undecided,
    }
}
