//! The graph of one stretch of the line: a topological order, or a shortest cycle.
//!
//! Strong components: Tarjan, *Depth-first search and linear graph algorithms*, SIAM J. Comput. 1,
//! 1972, without recursion. Cycles: every one has a back edge, so that a breadth-first search from
//! the head of each back edge to its tail, one step deeper each time, meets a shortest one first.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::edges::{Edge, edges};
use crate::history::{History, Outcome, UNKNOWN};
use crate::layout::{Before, Layout, Node};
use crate::level::{Dependency, End, Shape};
use crate::versions::Versions;

/// Steps of searches for a cycle after which the next one found is taken.
const STEPS_AT_MOST: u64 = 4_000_000;
/// Cycles that are told of one stretch where several are wanted.
const CYCLES_AT_MOST: usize = 256;
/// A node that stands for the moment at which a transaction was answered.
const MOMENT: u32 = 1 << 31;

/// What all regions of a level share.
pub(crate) struct Region<'a> {
    pub history: &'a History,
    pub versions: &'a Versions,
    pub shape: &'a Shape,
    pub layout: &'a Layout,
    pub before: &'a Before,
    /// By node, its number in the region that is looked at.
    pub local: Vec<u32>,
}

/// One step of a cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// The transaction that comes first,
    pub from: usize,
    /// and the one that must follow it.
    pub to: usize,
    /// Why.
    pub dependency: Dependency,
    /// The key, where versions are the reason.
    pub key: u32,
    /// The version that `from` wrote or read.
    pub version: u32,
    /// Of [`Dependency::Seen`]: who had to see `from`, and read what `to` wrote.
    pub by: Option<usize>,
    /// Whether nothing tells the order of versions that it rests on.
    pub is_assumed: bool,
}

/// A cycle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cycle {
    /// Its steps; each begins where the one before ends, the first where the last one ends.
    pub steps: Vec<Step>,
    /// Whether it was proved that the graph of the level has no cycle with fewer edges, in the
    /// part that was searched.
    pub is_shortest: bool,
    /// Edges in the graph of the level, those within a transaction included.
    pub(crate) edges: usize,
}

/// What a region turned out to be.
pub(crate) enum Found {
    /// Its nodes in an order that every edge agrees with.
    Order(Vec<Node>),
    Cycle(Cycle),
}

/// Why an edge is there; without a dependency it lies within a transaction.
#[derive(Clone, Copy)]
pub(crate) struct Label {
    pub dependency: Option<Dependency>,
    pub key: u32,
    pub version: u32,
    /// Of [`Dependency::Seen`] the transaction that read, else UNKNOWN.
    pub by: u32,
}

const WITHIN: Label = Label { dependency: None, key: UNKNOWN, version: UNKNOWN, by: UNKNOWN };

/// Edges by their tails.
struct Graph {
    nodes: Vec<Node>,
    starts: Vec<u32>,
    heads: Vec<(u32, Label)>,
}

impl Region<'_> {
    /// Looks at the nodes of one stretch.
    pub(crate) fn search(&mut self, nodes: &[Node]) -> Found {
        let graph = self.graph(nodes, &[]);
        let (order, component, is_cyclic) = graph.components();
        if !is_cyclic {
            let all = order.iter().rev().map(|&at| graph.nodes[at as usize]);
            return Found::Order(all.filter(|node| node & MOMENT == 0).collect());
        }
        Found::Cycle(self.cycle(&graph, &component))
    }

    /// The same of all nodes, with more edges; the order is the one that always takes the node
    /// that comes first in the line among those that nothing stands before.
    pub(crate) fn search_with(
        &mut self,
        nodes: &[Node],
        more: &[(Node, Node, Label)],
    ) -> Result<Vec<Node>, Cycle> {
        let graph = self.graph(nodes, more);
        let places: Vec<u32> = graph.nodes.iter().map(|node| self.position(*node)).collect();
        if let Some(order) = graph.in_line(&places) {
            let all = order.iter().map(|&at| graph.nodes[at as usize]);
            return Ok(all.filter(|node| node & MOMENT == 0).collect());
        }
        let (_, component, _) = graph.components();
        Err(self.cycle(&graph, &component))
    }

    fn graph(&mut self, nodes: &[Node], more: &[(Node, Node, Label)]) -> Graph {
        for (at, node) in nodes.iter().enumerate() {
            self.local[*node as usize] = at as u32;
        }
        let graph = self.graph_of(nodes, more);
        for node in nodes {
            self.local[*node as usize] = UNKNOWN;
        }
        graph
    }

    fn graph_of(&self, nodes: &[Node], more: &[(Node, Node, Label)]) -> Graph {
        let mut all: Vec<(u32, u32, Label)> = Vec::new();
        let mut add = |from: u32, to: u32, label: Label| {
            if from != UNKNOWN && to != UNKNOWN {
                all.push((from, to, label));
            }
        };
        let local = |node: Node| self.local[node as usize];
        for &node in nodes {
            let txn = node / 2;
            let (snapshot, commit) = (2 * txn, 2 * txn + 1);
            if self.shape.has_snapshots && node == snapshot {
                add(local(snapshot), local(commit), WITHIN);
            }
            if node == snapshot && local(commit) != UNKNOWN {
                continue;
            }
            let first = if self.shape.has_snapshots { snapshot } else { commit };
            let session = self.before.session(txn);
            if session > 0 {
                let label = Label { dependency: Some(Dependency::Session), ..WITHIN };
                add(local(2 * session - 1), local(first), label);
            }
            edges(self.history, self.versions, txn, |edge| {
                if let Some((from, to)) = self.ends(&edge) {
                    let Edge { key, version, .. } = edge;
                    let label =
                        Label { dependency: Some(edge.dependency), key, version, by: UNKNOWN };
                    add(local(from), local(to), label);
                }
            });
        }
        for &(from, to, label) in more {
            add(local(from), local(to), label);
        }
        let mut nodes = nodes.to_vec();
        if self.before.has_times() {
            self.moments(&mut nodes, &mut all);
        }
        Graph::of(nodes, &all)
    }

    /// The nodes that an edge joins, if the level cares for it.
    fn ends(&self, edge: &Edge) -> Option<(Node, Node)> {
        joined(self.shape, edge.dependency, edge.from, edge.to)
    }

    /// Real time as a chain of moments: linear, though every pair may be ordered. Nobody begins
    /// after a transaction of unknown outcome: it may be carried out after its client gave up.
    fn moments(&self, nodes: &mut Vec<Node>, all: &mut Vec<(u32, u32, Label)>) {
        let label = Label { dependency: Some(Dependency::RealTime), ..WITHIN };
        let commits: Vec<u32> = nodes.iter().filter(|n| **n % 2 == 1).map(|n| n / 2).collect();
        let is_first = |node: &Node| self.shape.has_snapshots != (node % 2 == 1);
        let firsts: Vec<u32> = nodes.iter().copied().filter(is_first).collect();
        let base = nodes.len() as u32;
        for (at, &txn) in commits.iter().enumerate() {
            let moment = base + at as u32;
            if self.history.outcome[txn as usize] != Outcome::Unknown {
                all.push((self.local[2 * txn as usize + 1], moment, label));
            }
            if at > 0 {
                all.push((moment - 1, moment, label));
            }
            nodes.push(MOMENT | txn);
        }
        for node in firsts {
            let answered = self.before.answered(node / 2);
            let before = commits.partition_point(|txn| *txn < answered);
            if before > 0 {
                all.push((base + before as u32 - 1, self.local[node as usize], label));
            }
        }
    }

    fn position(&self, node: Node) -> u32 {
        if node & MOMENT != 0 { 2 * (node & !MOMENT) + 1 } else { self.layout.position(node) }
    }

    /// Cycles of a stretch that is known to have one: one of each of its first edges that run
    /// against the line, none of them more than once.
    pub(crate) fn cycles(&mut self, nodes: &[Node]) -> Vec<Cycle> {
        let graph = self.graph(nodes, &[]);
        let (_, component, _) = graph.components();
        let mut search = Search::new(graph.nodes.len());
        let mut all = Vec::new();
        for (tail, head, label) in self.back(&graph, &component) {
            if search.steps > STEPS_AT_MOST || all.len() == CYCLES_AT_MOST {
                break;
            }
            if search.path(&graph, &component, head, tail, u32::MAX) {
                let mut path = search.trail(&graph, head, tail);
                path.push((tail, head, label));
                let (edges, steps) = (path.len(), steps(&graph, &path));
                all.push(Cycle { edges, steps, is_shortest: false });
            }
        }
        all
    }

    /// The edges that run against the line within strong components.
    fn back(&self, graph: &Graph, component: &[u32]) -> Vec<(u32, u32, Label)> {
        let places: Vec<u32> = graph.nodes.iter().map(|node| self.position(*node)).collect();
        let mut back: Vec<(u32, u32, Label)> = Vec::new();
        for from in 0..graph.nodes.len() {
            for (head, label) in graph.out(from) {
                let is_back = places[from] > places[*head as usize];
                if is_back && component[from] == component[*head as usize] {
                    back.push((from as u32, *head, *label));
                }
            }
        }
        back
    }

    fn cycle(&self, graph: &Graph, component: &[u32]) -> Cycle {
        let back = self.back(graph, component);
        let mut search = Search::new(graph.nodes.len());
        for depth in 1.. {
            for &(tail, head, label) in &back {
                let limit = if search.steps > STEPS_AT_MOST { u32::MAX } else { depth };
                if search.path(graph, component, head, tail, limit) {
                    let is_shortest = search.steps <= STEPS_AT_MOST;
                    let mut path = search.trail(graph, head, tail);
                    path.push((tail, head, label));
                    return Cycle { edges: path.len(), steps: steps(graph, &path), is_shortest };
                }
            }
        }
        unreachable!("a strong component of several nodes has a cycle, and that a back edge")
    }
}

/// The nodes that a dependency between two transactions joins, if the level cares for it.
pub(crate) fn joined(
    shape: &Shape,
    dependency: Dependency,
    from: u32,
    to: u32,
) -> Option<(Node, Node)> {
    let (tail, head) = shape.ends[dependency as usize]?;
    let node = |txn: u32, end: End| 2 * txn + u32::from(end == End::Commit);
    Some((node(from, tail), node(to, head)))
}

/// The path as steps between transactions.
fn steps(graph: &Graph, path: &[(u32, u32, Label)]) -> Vec<Step> {
    let is_moment = |at: u32| graph.nodes[at as usize] & MOMENT != 0;
    let turn = path.iter().position(|(from, ..)| !is_moment(*from)).unwrap_or(0);
    let txn = |at: u32| graph.nodes[at as usize] as usize / 2;
    let mut all = Vec::new();
    let mut since = None;
    for &(from, to, label) in path[turn..].iter().chain(&path[..turn]) {
        let Some(dependency) = label.dependency else { continue };
        if is_moment(to) {
            since = since.or(Some(txn(from)));
            continue;
        }
        let from = since.take().unwrap_or_else(|| txn(from));
        let Label { key, version, by, .. } = label;
        let by = (by != UNKNOWN).then_some(by as usize);
        all.push(Step { from, to: txn(to), dependency, key, version, by, is_assumed: false });
    }
    all
}

impl Graph {
    fn of(nodes: Vec<Node>, all: &[(u32, u32, Label)]) -> Graph {
        let mut starts = vec![0_u32; nodes.len() + 2];
        for (from, ..) in all {
            starts[*from as usize + 2] += 1;
        }
        for at in 1..starts.len() {
            starts[at] += starts[at - 1];
        }
        let mut heads = vec![(0, WITHIN); all.len()];
        for (from, to, label) in all {
            let place = &mut starts[*from as usize + 1];
            heads[*place as usize] = (*to, *label);
            *place += 1;
        }
        Graph { nodes, starts, heads }
    }

    fn out(&self, from: usize) -> &[(u32, Label)] {
        &self.heads[self.starts[from] as usize..self.starts[from + 1] as usize]
    }

    /// All nodes in an order that every edge agrees with, always the first one that is free;
    /// `None` if there is a cycle.
    fn in_line(&self, places: &[u32]) -> Option<Vec<u32>> {
        let count = self.nodes.len();
        let mut waits = vec![0_u32; count];
        for (head, _) in &self.heads {
            waits[*head as usize] += 1;
        }
        let placed = |at: u32| Reverse((places[at as usize], at));
        let free = (0..count as u32).filter(|&at| waits[at as usize] == 0).map(placed);
        let mut free: BinaryHeap<Reverse<(u32, u32)>> = free.collect();
        let mut order = Vec::with_capacity(count);
        while let Some(Reverse((_, at))) = free.pop() {
            order.push(at);
            for (head, _) in self.out(at as usize) {
                let left = &mut waits[*head as usize];
                *left -= 1;
                if *left == 0 {
                    free.push(placed(*head));
                }
            }
        }
        (order.len() == count).then_some(order)
    }

    /// Nodes in the order in which their components are complete (heads before tails), the
    /// component of each, and whether any has several nodes.
    fn components(&self) -> (Vec<u32>, Vec<u32>, bool) {
        let count = self.nodes.len();
        let mut index = vec![UNKNOWN; count];
        let mut low = vec![0; count];
        let mut component = vec![UNKNOWN; count];
        let (mut order, mut open) = (Vec::with_capacity(count), Vec::new());
        let (mut next, mut components) = (0, 0);
        let mut calls: Vec<(u32, u32)> = Vec::new();
        for root in 0..count as u32 {
            if index[root as usize] != UNKNOWN {
                continue;
            }
            calls.push((root, self.starts[root as usize]));
            while let Some((node, edge)) = calls.pop() {
                let at = node as usize;
                if index[at] == UNKNOWN {
                    (index[at], low[at]) = (next, next);
                    next += 1;
                    open.push(node);
                }
                if edge < self.starts[at + 1] {
                    calls.push((node, edge + 1));
                    let head = self.heads[edge as usize].0;
                    if index[head as usize] == UNKNOWN {
                        calls.push((head, self.starts[head as usize]));
                    } else if component[head as usize] == UNKNOWN {
                        low[at] = low[at].min(index[head as usize]);
                    }
                    continue;
                }
                if low[at] == index[at] {
                    while let Some(member) = open.pop() {
                        component[member as usize] = components;
                        order.push(member);
                        if member == node {
                            break;
                        }
                    }
                    components += 1;
                }
                if let Some((parent, _)) = calls.last() {
                    let parent = *parent as usize;
                    low[parent] = low[parent].min(low[at]);
                }
            }
        }
        (order, component, (components as usize) < count)
    }
}

/// Breadth-first searches that share their memory.
struct Search {
    /// By node, the search that reached it last, from where, and over which edge.
    reached: Vec<(u32, u32, u32)>,
    queue: Vec<(u32, u32)>,
    turn: u32,
    steps: u64,
}

impl Search {
    fn new(nodes: usize) -> Search {
        Search { reached: vec![(0, 0, 0); nodes], queue: Vec::new(), turn: 0, steps: 0 }
    }

    /// Whether `to` can be reached from `from` in at most `limit` edges within its component.
    fn path(&mut self, graph: &Graph, component: &[u32], from: u32, to: u32, limit: u32) -> bool {
        self.turn += 1;
        self.queue.clear();
        self.queue.push((from, 0));
        self.reached[from as usize] = (self.turn, from, UNKNOWN);
        let mut done = 0;
        while let Some(&(node, depth)) = self.queue.get(done) {
            done += 1;
            if depth == limit {
                return false;
            }
            for edge in graph.starts[node as usize]..graph.starts[node as usize + 1] {
                self.steps += 1;
                let head = graph.heads[edge as usize].0;
                if component[head as usize] != component[to as usize]
                    || self.reached[head as usize].0 == self.turn
                {
                    continue;
                }
                self.reached[head as usize] = (self.turn, node, edge);
                if head == to {
                    return true;
                }
                self.queue.push((head, depth + 1));
            }
        }
        false
    }

    /// The path that was found.
    fn trail(&self, graph: &Graph, from: u32, to: u32) -> Vec<(u32, u32, Label)> {
        let mut path = Vec::new();
        let mut at = to;
        while at != from {
            let (_, before, edge) = self.reached[at as usize];
            path.push((before, at, graph.heads[edge as usize].1));
            at = before;
        }
        path.reverse();
        path
    }
}
