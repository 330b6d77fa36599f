//! The graph of one level while transactions arrive: nodes go as soon as nothing can come before
//! them any more.
//!
//! ```text
//!   waits = edges into a node from nodes that are still here
//!   final, waits = 0 ──▶ the node goes, and with it its edges ──▶ the next ones wait for less
//! ```
//!
//! Kahn's algorithm (1962), fed by a stream. A node is *final* when no further edge into it can be
//! learnt. What goes is on no cycle; what is on a cycle stays. So the nodes that stay are searched
//! for one whenever they have doubled, and in the end. An edge into a node that is gone cannot be
//! judged here.

use std::collections::VecDeque;

use crate::anomaly::cycle_name;
use crate::history::UNKNOWN;
use crate::level::{Dependency, End, Shape};
use crate::region::Step;

/// Nodes that are not searched for a cycle.
const SEARCHED_FROM: usize = 1 << 10;

/// Why an edge is there.
#[derive(Clone, Copy, Debug)]
pub(super) struct Why {
    pub dependency: Dependency,
    pub key: u32,
    pub version: u32,
}

/// The two nodes of a transaction; the first one is not used where levels have no snapshots.
#[derive(Clone, Copy, Debug)]
struct Pair {
    waits: [u32; 2],
    /// The first of its edges, by where they begin.
    edges: [u32; 2],
    is_gone: [bool; 2],
    is_final: bool,
}

#[derive(Clone, Copy, Debug)]
struct Edge {
    /// Transaction and end.
    to: (u32, usize),
    /// `None` within a transaction.
    why: Option<Why>,
    next: u32,
}

/// What became of an edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Added {
    Good,
    /// It leads to a node that is gone, and comes from one that is not.
    TooLate,
}

/// The graph of a level.
#[derive(Debug)]
pub(super) struct Graph {
    shape: Shape,
    /// The number of the first transaction that is here.
    base: u32,
    pairs: VecDeque<Pair>,
    edges: Vec<Edge>,
    free: u32,
    ready: Vec<(u32, usize)>,
    search_at: usize,
    /// The name of a cycle.
    cycle: Option<String>,
}

const SNAPSHOT: usize = 0;
const COMMIT: usize = 1;

fn index(end: End) -> usize {
    match end {
        End::Snapshot => SNAPSHOT,
        End::Commit => COMMIT,
    }
}

impl Graph {
    pub(super) fn new(shape: Shape) -> Graph {
        Graph {
            shape,
            base: 0,
            pairs: VecDeque::new(),
            edges: Vec::new(),
            free: UNKNOWN,
            ready: Vec::new(),
            search_at: SEARCHED_FROM,
            cycle: None,
        }
    }

    /// The name of a cycle that it has.
    pub(super) fn cycle(&self) -> Option<&str> {
        self.cycle.as_deref()
    }

    /// The first transaction that is here; `None` when all are gone or the level is decided.
    pub(super) fn first(&self) -> Option<u32> {
        (self.cycle.is_none() && !self.pairs.is_empty()).then_some(self.base)
    }

    /// Transactions that are here.
    pub(super) fn len(&self) -> usize {
        self.pairs.len()
    }

    /// Takes in the next transaction.
    pub(super) fn push(&mut self) {
        if self.cycle.is_some() {
            return;
        }
        let number = self.base + self.pairs.len() as u32;
        let has_snapshot = self.shape.has_snapshots;
        self.pairs.push_back(Pair {
            waits: [0, 0],
            edges: [UNKNOWN, UNKNOWN],
            is_gone: [!has_snapshot, false],
            is_final: false,
        });
        if has_snapshot {
            self.put((number, SNAPSHOT), (number, COMMIT), None);
        }
    }

    /// Adds a dependency, where the level has it.
    pub(super) fn add(&mut self, from: u32, to: u32, why: Why) -> Added {
        match self.shape.ends[why.dependency as usize] {
            Some((one, other)) => self.join((from, index(one)), (to, index(other)), why),
            None => Added::Good,
        }
    }

    fn join(&mut self, from: (u32, usize), to: (u32, usize), why: Why) -> Added {
        if self.cycle.is_some() || self.is_gone(from) {
            return Added::Good;
        }
        if self.is_gone(to) {
            return Added::TooLate;
        }
        self.put(from, to, Some(why));
        Added::Good
    }

    fn put(&mut self, from: (u32, usize), to: (u32, usize), why: Option<Why>) {
        let next = self.pair(from.0).edges[from.1];
        let edge = Edge { to, why, next };
        let place = match self.free {
            UNKNOWN => {
                self.edges.push(edge);
                self.edges.len() as u32 - 1
            }
            place => {
                self.free = self.edges[place as usize].next;
                self.edges[place as usize] = edge;
                place
            }
        };
        self.pair(from.0).edges[from.1] = place;
        self.pair(to.0).waits[to.1] += 1;
    }

    fn pair(&mut self, number: u32) -> &mut Pair {
        &mut self.pairs[(number - self.base) as usize]
    }

    fn is_gone(&self, (number, end): (u32, usize)) -> bool {
        number < self.base || self.pairs[(number - self.base) as usize].is_gone[end]
    }

    /// No further edge leads to this transaction.
    pub(super) fn finish(&mut self, number: u32) {
        if self.cycle.is_some() {
            return;
        }
        let pair = self.pair(number);
        pair.is_final = true;
        for end in [SNAPSHOT, COMMIT] {
            if pair.waits[end] == 0 && !pair.is_gone[end] {
                self.ready.push((number, end));
                break;
            }
        }
        self.let_go();
    }

    fn let_go(&mut self) {
        while let Some((number, end)) = self.ready.pop() {
            let pair = self.pair(number);
            if pair.is_gone[end] {
                continue;
            }
            pair.is_gone[end] = true;
            let mut place = std::mem::replace(&mut pair.edges[end], UNKNOWN);
            while place != UNKNOWN {
                let Edge { to, next, .. } = self.edges[place as usize];
                self.edges[place as usize].next = self.free;
                self.free = place;
                place = next;
                let other = self.pair(to.0);
                other.waits[to.1] -= 1;
                if other.waits[to.1] == 0 && other.is_final {
                    self.ready.push(to);
                }
            }
        }
        while self.pairs.front().is_some_and(|pair| pair.is_gone == [true, true]) {
            self.pairs.pop_front();
            self.base += 1;
        }
    }

    /// Looks for a cycle where enough is here that has not been searched.
    pub(super) fn look(&mut self) {
        if self.pairs.len() >= self.search_at {
            self.search();
            self.search_at = SEARCHED_FROM.max(2 * self.pairs.len());
        }
    }

    /// Looks for a cycle: every edge is a fact, so that each cycle is one.
    pub(super) fn search(&mut self) {
        let Some(on_cycle) = self.some_node_of_a_cycle() else { return };
        self.cycle = Some(cycle_name(&self.shortest(on_cycle)));
        (self.pairs, self.edges, self.ready) = (VecDeque::new(), Vec::new(), Vec::new());
    }

    fn edge(&self, place: u32) -> Edge {
        self.edges[place as usize]
    }

    fn first_edge(&self, (number, end): (u32, usize)) -> u32 {
        self.pairs[(number - self.base) as usize].edges[end]
    }

    /// Depth-first: a node that leads to one on the path to it.
    fn some_node_of_a_cycle(&self) -> Option<(u32, usize)> {
        const ON_PATH: u8 = 1;
        const DONE: u8 = 2;
        let place = |(number, end): (u32, usize)| 2 * (number - self.base) as usize + end;
        let mut seen = vec![0_u8; 2 * self.pairs.len()];
        let mut path: Vec<((u32, usize), u32)> = Vec::new();
        let numbers = self.base..self.base + self.pairs.len() as u32;
        for start in numbers.flat_map(|number| [(number, SNAPSHOT), (number, COMMIT)]) {
            if seen[place(start)] != 0 {
                continue;
            }
            seen[place(start)] = ON_PATH;
            path.push((start, self.first_edge(start)));
            while let Some((node, next)) = path.last_mut() {
                if *next == UNKNOWN {
                    seen[place(*node)] = DONE;
                    path.pop();
                    continue;
                }
                let Edge { to, next: after, .. } = self.edge(*next);
                *next = after;
                match seen[place(to)] {
                    ON_PATH => return Some(to),
                    DONE => {}
                    _ => {
                        seen[place(to)] = ON_PATH;
                        path.push((to, self.first_edge(to)));
                    }
                }
            }
        }
        None
    }

    /// The steps of a shortest cycle through a node that is on one, breadth-first.
    fn shortest(&self, start: (u32, usize)) -> Vec<Step> {
        let place = |(number, end): (u32, usize)| 2 * (number - self.base) as usize + end;
        let mut came: Vec<Option<((u32, usize), u32)>> = vec![None; 2 * self.pairs.len()];
        let mut queue = VecDeque::from([start]);
        while let Some(node) = queue.pop_front() {
            let mut at = self.first_edge(node);
            while at != UNKNOWN {
                let edge = self.edge(at);
                if came[place(edge.to)].is_none() {
                    came[place(edge.to)] = Some((node, at));
                    if edge.to == start {
                        return self.steps(start, &came, place);
                    }
                    queue.push_back(edge.to);
                }
                at = edge.next;
            }
        }
        unreachable!("the node is on a cycle")
    }

    fn steps(
        &self,
        start: (u32, usize),
        came: &[Option<((u32, usize), u32)>],
        place: impl Fn((u32, usize)) -> usize,
    ) -> Vec<Step> {
        let mut steps = Vec::new();
        let mut node = start;
        while let Some((from, at)) = came[place(node)] {
            if let Some(Why { dependency, key, version }) = self.edge(at).why {
                let (from, to) = (from.0, node.0);
                let (by, is_assumed) = (None, false);
                let (from, to) = (from as usize, to as usize);
                steps.push(Step { from, to, dependency, key, version, by, is_assumed });
            }
            node = from;
            if node == start {
                break;
            }
        }
        steps.reverse();
        steps
    }
}
