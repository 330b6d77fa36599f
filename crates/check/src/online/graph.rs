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
use crate::region::CycleStep;

/// Nodes that are not searched for a cycle.
const SEARCHED_FROM: usize = 1 << 10;

/// Why an edge is there.
#[derive(Clone, Copy, Debug)]
pub(super) struct EdgeReason {
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
    to: TransactionEnd,
    /// `None` within a transaction.
    why: Option<EdgeReason>,
    next: u32,
}

/// What became of an edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EdgeInsertion {
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
    ready: Vec<TransactionEnd>,
    search_at: usize,
    /// The name of a cycle.
    cycle: Option<String>,
}

const SNAPSHOT: usize = 0;
const COMMIT: usize = 1;

/// A node of the graph: where a transaction takes its snapshot, or where it commits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct TransactionEnd {
    number: u32,
    /// [`SNAPSHOT`] or [`COMMIT`].
    end: usize,
}

impl TransactionEnd {
    fn both(number: u32) -> [TransactionEnd; 2] {
        [SNAPSHOT, COMMIT].map(|end| TransactionEnd { number, end })
    }
}

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
    pub(super) fn found_cycle(&self) -> Option<&str> {
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
            let [snapshot, commit] = TransactionEnd::both(number);
            self.put(snapshot, commit, None);
        }
    }

    /// Adds a dependency, where the level has it.
    pub(super) fn add_dependency(&mut self, from: u32, to: u32, why: EdgeReason) -> EdgeInsertion {
        match self.shape.ends[why.dependency as usize] {
            Some((one, other)) => {
                let from = TransactionEnd { number: from, end: index(one) };
                let to = TransactionEnd { number: to, end: index(other) };
                self.join(from, to, why)
            }
            None => EdgeInsertion::Good,
        }
    }

    fn join(&mut self, from: TransactionEnd, to: TransactionEnd, why: EdgeReason) -> EdgeInsertion {
        if self.cycle.is_some() || self.is_gone(from) {
            return EdgeInsertion::Good;
        }
        if self.is_gone(to) {
            return EdgeInsertion::TooLate;
        }
        self.put(from, to, Some(why));
        EdgeInsertion::Good
    }

    fn put(&mut self, from: TransactionEnd, to: TransactionEnd, why: Option<EdgeReason>) {
        let next = self.pair(from.number).edges[from.end];
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
        self.pair(from.number).edges[from.end] = place;
        self.pair(to.number).waits[to.end] += 1;
    }

    fn pair(&mut self, number: u32) -> &mut Pair {
        &mut self.pairs[(number - self.base) as usize]
    }

    fn is_gone(&self, node: TransactionEnd) -> bool {
        let TransactionEnd { number, end } = node;
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
                self.ready.push(TransactionEnd { number, end });
                break;
            }
        }
        self.let_go();
    }

    fn let_go(&mut self) {
        while let Some(TransactionEnd { number, end }) = self.ready.pop() {
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
                let other = self.pair(to.number);
                other.waits[to.end] -= 1;
                if other.waits[to.end] == 0 && other.is_final {
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
    pub(super) fn search_if_due(&mut self) {
        if self.pairs.len() >= self.search_at {
            self.search_cycle();
            self.search_at = SEARCHED_FROM.max(2 * self.pairs.len());
        }
    }

    /// Looks for a cycle: every edge is a fact, so that each cycle is one.
    pub(super) fn search_cycle(&mut self) {
        let Some(on_cycle) = self.some_node_of_a_cycle() else { return };
        self.cycle = Some(cycle_name(&self.shortest(on_cycle)));
        (self.pairs, self.edges, self.ready) = (VecDeque::new(), Vec::new(), Vec::new());
    }

    fn edge(&self, place: u32) -> Edge {
        self.edges[place as usize]
    }

    fn first_edge(&self, node: TransactionEnd) -> u32 {
        self.pairs[(node.number - self.base) as usize].edges[node.end]
    }

    /// The place of a node among those of all transactions that are here.
    fn place(&self, node: TransactionEnd) -> usize {
        2 * (node.number - self.base) as usize + node.end
    }

    /// Depth-first: a node that leads to one on the path to it.
    fn some_node_of_a_cycle(&self) -> Option<TransactionEnd> {
        const ON_PATH: u8 = 1;
        const DONE: u8 = 2;
        let mut seen = vec![0_u8; 2 * self.pairs.len()];
        let mut path: Vec<(TransactionEnd, u32)> = Vec::new();
        let numbers = self.base..self.base + self.pairs.len() as u32;
        for start in numbers.flat_map(TransactionEnd::both) {
            if seen[self.place(start)] != 0 {
                continue;
            }
            seen[self.place(start)] = ON_PATH;
            path.push((start, self.first_edge(start)));
            while let Some((node, next)) = path.last_mut() {
                if *next == UNKNOWN {
                    seen[self.place(*node)] = DONE;
                    path.pop();
                    continue;
                }
                let Edge { to, next: after, .. } = self.edge(*next);
                *next = after;
                match seen[self.place(to)] {
                    ON_PATH => return Some(to),
                    DONE => {}
                    _ => {
                        seen[self.place(to)] = ON_PATH;
                        path.push((to, self.first_edge(to)));
                    }
                }
            }
        }
        None
    }

    /// The steps of a shortest cycle through a node that is on one, breadth-first.
    fn shortest(&self, start: TransactionEnd) -> Vec<CycleStep> {
        let mut came: Vec<Option<(TransactionEnd, u32)>> = vec![None; 2 * self.pairs.len()];
        let mut queue = VecDeque::from([start]);
        while let Some(node) = queue.pop_front() {
            let mut at = self.first_edge(node);
            while at != UNKNOWN {
                let edge = self.edge(at);
                if came[self.place(edge.to)].is_none() {
                    came[self.place(edge.to)] = Some((node, at));
                    if edge.to == start {
                        return self.steps(start, &came);
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
        start: TransactionEnd,
        came: &[Option<(TransactionEnd, u32)>],
    ) -> Vec<CycleStep> {
        let mut steps = Vec::new();
        let mut node = start;
        while let Some((from, at)) = came[self.place(node)] {
            if let Some(EdgeReason { dependency, key, version }) = self.edge(at).why {
                let (from, to) = (from.number, node.number);
                let (by, is_assumed) = (None, false);
                let (from, to) = (from as usize, to as usize);
                steps.push(CycleStep { from, to, dependency, key, version, by, is_assumed });
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
