//! All states of a state machine, the nearest first.
//!
//! ```text
//!   initial ──action──▶ state ──action──▶ state …      each state once, by its value
//!      0          depth 1          depth 2             its first parent lies on a shortest way
//! ```
//!
//! Breadth-first search: the way by which a state was found first is a shortest one, so that a
//! state that breaks something comes with a shortest trace. States lie in one vector, in the order
//! in which they were found; an open table of their places finds them again by their value.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::ControlFlow;

/// A state machine. Whatever is not an action is decided by the machine alone.
pub trait Protocol {
    /// What there is to know; equal states have the same future.
    type State: Clone + Eq + Hash;
    /// What may happen next.
    type Action: Copy + Eq + fmt::Debug + fmt::Display;

    /// Where it begins.
    fn initial(&self) -> Self::State;
    /// Adds what may happen in this state, always in the same order.
    fn add_actions(&self, state: &Self::State, to: &mut Vec<Self::Action>);
    /// What comes of it. The action must be one of those that the state has.
    fn next_state(&self, state: &Self::State, action: Self::Action) -> Self::State;
}

/// Whether transitions are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    /// States, each with the transition by which it was found first.
    States,
    /// All transitions as well.
    Transitions,
}

/// A transition: states by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edge<A> {
    /// Where it begins.
    pub from: u32,
    /// Where it leads.
    pub to: u32,
    /// What happens.
    pub action: A,
}

/// The states that were found.
#[derive(Debug)]
pub struct Graph<P: Protocol> {
    states: Vec<P::State>,
    /// By state: from where, by which action, and after how many actions it was found.
    found: Vec<(u32, Option<P::Action>, u32)>,
    /// Transitions, in the order in which they were taken; empty unless they are kept.
    pub edges: Vec<Edge<P::Action>>,
    /// How many transitions there are.
    pub transitions: u64,
    /// States that nothing follows.
    pub ends: u64,
    /// Whether all states were found.
    pub is_complete: bool,
}

/// What became of a transition.
enum TransitionInsertion {
    New,
    Known,
    TooMany,
}

impl<P: Protocol> Graph<P> {
    /// Finds the states, at most `most` of them, and shows each to `visit` when it is found;
    /// `visit` may end the search.
    pub fn explore_states(
        protocol: &P,
        most: usize,
        keep: Keep,
        mut visit: impl FnMut(u32, &P::State) -> ControlFlow<()>,
    ) -> Graph<P> {
        let first = protocol.initial();
        let mut places = Places::new();
        let mut graph = Graph {
            states: vec![first],
            found: vec![(0, None, 0)],
            edges: Vec::new(),
            transitions: 0,
            ends: 0,
            is_complete: true,
        };
        places.place_of(&graph.states, 0);
        if visit(0, &graph.states[0]).is_break() {
            graph.is_complete = false;
            return graph;
        }
        let mut actions = Vec::new();
        let mut at = 0;
        while at < graph.states.len() {
            actions.clear();
            protocol.add_actions(&graph.states[at], &mut actions);
            graph.ends += u64::from(actions.is_empty());
            for &action in &actions {
                let next = protocol.next_state(&graph.states[at], action);
                let is_over = match graph.add(&mut places, at, action, next, most, keep) {
                    TransitionInsertion::Known => false,
                    TransitionInsertion::TooMany => true,
                    TransitionInsertion::New => {
                        let last = graph.states.len() - 1;
                        visit(last as u32, &graph.states[last]).is_break()
                    }
                };
                if is_over {
                    graph.is_complete = false;
                    return graph;
                }
            }
            at += 1;
        }
        graph
    }

    /// Takes a transition.
    fn add(
        &mut self,
        places: &mut Places,
        from: usize,
        action: P::Action,
        next: P::State,
        most: usize,
        keep: Keep,
    ) -> TransitionInsertion {
        self.states.push(next);
        let last = self.states.len() - 1;
        let to = places.place_of(&self.states, last as u32);
        let is_new = to as usize == last;
        if !is_new || last >= most {
            self.states.pop();
        }
        if is_new && last >= most {
            return TransitionInsertion::TooMany;
        }
        self.transitions += 1;
        if keep == Keep::Transitions {
            self.edges.push(Edge { from: from as u32, to, action });
        }
        if !is_new {
            return TransitionInsertion::Known;
        }
        let depth = self.found[from].2 + 1;
        self.found.push((from as u32, Some(action), depth));
        TransitionInsertion::New
    }

    /// How many states there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.states.len()
    }

    /// Whether there is none, which there always is.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.states.is_empty()
    }

    /// A state by its number.
    #[must_use]
    pub fn state(&self, number: u32) -> &P::State {
        &self.states[number as usize]
    }

    /// How many actions lead to a state, at least.
    #[must_use]
    pub fn depth(&self, number: u32) -> u32 {
        self.found[number as usize].2
    }

    /// The largest number of actions that a state needs, at least.
    #[must_use]
    pub(crate) fn greatest_depth(&self) -> u32 {
        self.found.last().map_or(0, |found| found.2)
    }

    /// A shortest way to a state: each state after the first with the action that leads to it.
    #[must_use]
    pub(crate) fn way_to(&self, number: u32) -> Vec<(P::Action, &P::State)> {
        let mut way = Vec::new();
        let mut at = number;
        while let (from, Some(action), _) = self.found[at as usize] {
            way.push((action, &self.states[at as usize]));
            at = from;
        }
        way.reverse();
        way
    }
}

/// By the value of a state, its number: an open table, at most half full.
#[derive(Debug)]
struct Places {
    slots: Vec<u32>,
    used: usize,
}

const FREE: u32 = u32::MAX;

impl Places {
    fn new() -> Places {
        Places { slots: vec![FREE; 1 << 10], used: 0 }
    }

    /// The number of the state with the value of state `number`, which is that one if it is new.
    fn place_of<S: Eq + Hash>(&mut self, states: &[S], number: u32) -> u32 {
        if 2 * (self.used + 1) > self.slots.len() {
            let old = std::mem::take(&mut self.slots);
            self.slots = vec![FREE; 2 * old.len()];
            for number in old.into_iter().filter(|number| *number != FREE) {
                let slot = self.slot_of(states, number);
                self.slots[slot] = number;
            }
        }
        let slot = self.slot_of(states, number);
        if self.slots[slot] == FREE {
            self.slots[slot] = number;
            self.used += 1;
        }
        self.slots[slot]
    }

    fn slot_of<S: Eq + Hash>(&self, states: &[S], number: u32) -> usize {
        let wanted = &states[number as usize];
        let mut hasher = Fold(0);
        wanted.hash(&mut hasher);
        let mask = self.slots.len() - 1;
        let mut slot = (hasher.finish() >> 20) as usize & mask;
        loop {
            match self.slots[slot] {
                FREE => return slot,
                known if known == number || states[known as usize] == *wanted => return slot,
                _ => slot = (slot + 1) & mask,
            }
        }
    }
}

/// Multiply and fold, eight bytes at a time: states are small and come from nobody who means harm.
struct Fold(u64);

impl Fold {
    fn mix(&mut self, word: u64) {
        let wide = u128::from(self.0 ^ word ^ 0x9e37_79b9_7f4a_7c15)
            * u128::from(0xd6e8_feb8_6659_fd93_u64);
        self.0 = (wide >> 64) as u64 ^ wide as u64;
    }
}

impl Hasher for Fold {
    fn write(&mut self, bytes: &[u8]) {
        for part in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..part.len()].copy_from_slice(part);
            self.mix(u64::from_le_bytes(word));
        }
    }

    fn write_u8(&mut self, value: u8) {
        self.mix(u64::from(value));
    }

    fn write_u64(&mut self, value: u64) {
        self.mix(value);
    }

    fn write_usize(&mut self, value: usize) {
        self.mix(value as u64);
    }

    fn write_isize(&mut self, value: isize) {
        self.mix(value as u64);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A walk on a grid: right or up, never beyond `side`.
    struct Grid {
        side: u32,
    }

    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    enum Go {
        Right,
        Up,
    }

    impl fmt::Display for Go {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            write!(f, "{self:?}")
        }
    }

    impl Protocol for Grid {
        type State = (u32, u32);
        type Action = Go;

        fn initial(&self) -> (u32, u32) {
            (0, 0)
        }

        fn add_actions(&self, state: &(u32, u32), to: &mut Vec<Go>) {
            to.extend((state.0 < self.side).then_some(Go::Right));
            to.extend((state.1 < self.side).then_some(Go::Up));
        }

        fn next_state(&self, state: &(u32, u32), action: Go) -> (u32, u32) {
            match action {
                Go::Right => (state.0 + 1, state.1),
                Go::Up => (state.0, state.1 + 1),
            }
        }
    }

    #[test]
    fn all_states_are_found_once_by_a_shortest_way() {
        let side = 40;
        let mut seen = std::collections::HashSet::new();
        let graph =
            Graph::explore_states(&Grid { side }, usize::MAX, Keep::Transitions, |_, state| {
                assert!(seen.insert(*state), "{state:?} was found twice");
                ControlFlow::Continue(())
            });
        let across = u64::from(side) + 1;
        assert_eq!(graph.len() as u64, across * across);
        assert_eq!(graph.transitions, 2 * across * u64::from(side));
        assert_eq!(graph.edges.len() as u64, graph.transitions);
        assert_eq!((graph.ends, graph.greatest_depth(), graph.is_complete), (1, 2 * side, true));
        for number in 0..graph.len() as u32 {
            let (right, up) = *graph.state(number);
            assert_eq!(graph.depth(number), right + up);
            assert_eq!(graph.way_to(number).len() as u32, right + up);
        }
    }

    #[test]
    fn a_bound_is_kept_and_told() {
        let never = |_, _: &(u32, u32)| ControlFlow::Continue(());
        let graph = Graph::explore_states(&Grid { side: 40 }, 100, Keep::States, never);
        assert_eq!((graph.len(), graph.is_complete), (100, false));
        let exact = Graph::explore_states(&Grid { side: 9 }, 100, Keep::States, never);
        assert_eq!((exact.len(), exact.is_complete), (100, true));
        let stopped =
            Graph::explore_states(&Grid { side: 9 }, 100, Keep::States, |at, _| match at {
                5 => ControlFlow::Break(()),
                _ => ControlFlow::Continue(()),
            });
        assert_eq!((stopped.len(), stopped.is_complete), (6, false));
    }
}
