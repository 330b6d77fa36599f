//! The graph of one stretch of the line: a topological order, or a shortest cycle.
//!
//! Strong components: Tarjan, *Depth-first search and linear graph algorithms*, SIAM J. Comput. 1,
//! 1972, without recursion. Cycles: every one has a back edge, so that a breadth-first search from
//! the head of each back edge to its tail, one step deeper each time, meets a shortest one first.
//!
//! ```text
//!   c1 ──1──▶ m1 ──0──▶ m2 ──0──▶ m3        one session: every earlier transaction comes before
//!             c2 ──1────▶┘ │                every later one, in one step, over as many edges as
//!                          └──0──▶ s3       transactions
//! ```
//!
//! What counts is steps between transactions: edges within one cost nothing, and those of sessions
//! and of real time lead over *moments*, between which a way costs nothing either. A line is found
//! over neighbours of a session alone, which is all the same there.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::edges::{Edge, visit_edges};
use crate::history::{History, TransactionOutcome, UNKNOWN};
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
pub struct CycleStep {
    /// The transaction that comes first.
    pub from: usize,
    /// The transaction that must follow it.
    pub to: usize,
    /// Why.
    pub dependency: Dependency,
    /// The key, where versions are the reason.
    pub key: u32,
    /// The version that `from` wrote or read.
    pub version: u32,
    /// Of [`Dependency::Seen`]: the transaction that had to see `from`, and read what `to` wrote.
    pub by: Option<usize>,
    /// Whether nothing tells the order of versions that it rests on.
    pub is_assumed: bool,
}

/// A cycle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cycle {
    /// Its steps; each begins where the one before ends, the first where the last one ends.
    pub steps: Vec<CycleStep>,
    /// Whether it was proved that the graph of the level, in which each transaction follows all
    /// earlier ones of its session, has no cycle with fewer steps.
    pub is_shortest: bool,
}

/// Which earlier ones of its session a transaction has an edge from.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Earlier {
    /// The last one.
    Neighbour,
    /// Each, over moments.
    All,
}

/// What a region turned out to be.
pub(crate) enum RegionResult {
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
pub(crate) struct Graph {
    nodes: Vec<Node>,
    starts: Vec<u32>,
    heads: Vec<(u32, Label)>,
}

impl Region<'_> {
    /// Looks at the nodes of one stretch.
    pub(crate) fn search_stretch(&mut self, nodes: &[Node]) -> RegionResult {
        let graph = self.graph(nodes, &[], Earlier::Neighbour);
        let (order, _, is_cyclic) = graph.strong_components();
        if !is_cyclic {
            let all = order.iter().rev().map(|&at| graph.nodes[at as usize]);
            return RegionResult::Order(all.filter(|node| node & MOMENT == 0).collect());
        }
        RegionResult::Cycle(self.cycle(nodes, &[]))
    }

    /// The same of all nodes, with more edges; the order is the one that always takes the node
    /// that comes first in the line among those that nothing stands before.
    pub(crate) fn search_with(
        &mut self,
        nodes: &[Node],
        more: &[(Node, Node, Label)],
    ) -> Result<Vec<Node>, Cycle> {
        let graph = self.graph(nodes, more, Earlier::Neighbour);
        let places: Vec<u32> = graph.nodes.iter().map(|node| self.position(*node)).collect();
        if let Some(order) = graph.in_line(&places) {
            let all = order.iter().map(|&at| graph.nodes[at as usize]);
            return Ok(all.filter(|node| node & MOMENT == 0).collect());
        }
        Err(self.cycle(nodes, more))
    }

    fn graph(&mut self, nodes: &[Node], more: &[(Node, Node, Label)], earlier: Earlier) -> Graph {
        for (at, node) in nodes.iter().enumerate() {
            self.local[*node as usize] = at as u32;
        }
        let graph = self.graph_of(nodes, more, earlier);
        for node in nodes {
            self.local[*node as usize] = UNKNOWN;
        }
        graph
    }

    /// Of several edges between two nodes, the one that rests on the least comes first: those of
    /// sessions and time, then reads, then those that say which version follows which.
    fn graph_of(&self, nodes: &[Node], more: &[(Node, Node, Label)], earlier: Earlier) -> Graph {
        let mut all: Vec<(u32, u32, Label)> = Vec::new();
        let mut own: Vec<Node> = nodes.to_vec();
        match earlier {
            Earlier::Neighbour => self.neighbours(nodes, &mut all),
            Earlier::All => self.sessions(&mut own, &mut all),
        }
        if self.before.has_times() {
            self.moments(&mut own, &mut all);
        }
        let mut links: Vec<(u32, u32, Label)> = Vec::new();
        let local = |node: Node| self.local[node as usize];
        for &node in nodes {
            let txn = node / 2;
            let (snapshot, commit) = (2 * txn, 2 * txn + 1);
            let (from, to) = (local(snapshot), local(commit));
            if self.shape.has_snapshots && node == snapshot && to != UNKNOWN {
                all.push((from, to, WITHIN));
            }
            if node == snapshot && to != UNKNOWN {
                continue;
            }
            visit_edges(self.history, self.versions, txn, |edge| {
                let Some((from, to)) = self.ends(&edge) else { return };
                let (from, to) = (local(from), local(to));
                if from == UNKNOWN || to == UNKNOWN {
                    return;
                }
                let Edge { key, version, dependency, .. } = edge;
                let label = Label { dependency: Some(dependency), key, version, by: UNKNOWN };
                let group = if dependency.is_link() { &mut links } else { &mut all };
                group.push((from, to, label));
            });
        }
        all.append(&mut links);
        for &(from, to, label) in more {
            let (from, to) = (local(from), local(to));
            if from != UNKNOWN && to != UNKNOWN {
                all.push((from, to, label));
            }
        }
        Graph::from_edges(own, &all)
    }

    /// The first node of a transaction.
    fn first(&self, txn: u32) -> Node {
        if self.shape.has_snapshots { 2 * txn } else { 2 * txn + 1 }
    }

    /// The nodes that come first of their transactions.
    fn firsts(&self, nodes: &[Node]) -> Vec<Node> {
        nodes.iter().copied().filter(|node| *node == self.first(node / 2)).collect()
    }

    /// Edges from the one before in the session.
    fn neighbours(&self, nodes: &[Node], all: &mut Vec<(u32, u32, Label)>) {
        let label = Label { dependency: Some(Dependency::Session), ..WITHIN };
        for node in self.firsts(nodes) {
            let before = self.before.session(node / 2);
            let from = if before > 0 { self.local[2 * before as usize - 1] } else { UNKNOWN };
            if from != UNKNOWN {
                all.push((from, self.local[node as usize], label));
            }
        }
    }

    /// Each session as a chain of moments. None follows a transaction of unknown outcome.
    fn sessions(&self, nodes: &mut Vec<Node>, all: &mut Vec<(u32, u32, Label)>) {
        if !self.before.has_sessions() {
            return;
        }
        let label = Label { dependency: Some(Dependency::Session), ..WITHIN };
        let firsts = self.firsts(nodes);
        let session = |txn: u32| self.history.session[txn as usize];
        let mut commits: Vec<(u32, u32)> =
            nodes.iter().filter(|n| **n % 2 == 1).map(|n| (session(n / 2), n / 2)).collect();
        commits.sort_unstable();
        let base = nodes.len() as u32;
        for (at, &(session, txn)) in commits.iter().enumerate() {
            let moment = base + at as u32;
            if self.history.outcome[txn as usize] != TransactionOutcome::Unknown {
                all.push((self.local[2 * txn as usize + 1], moment, label));
            }
            if at > 0 && commits[at - 1].0 == session {
                all.push((moment - 1, moment, label));
            }
            nodes.push(MOMENT | txn);
        }
        for node in firsts {
            let txn = node / 2;
            let before = commits.partition_point(|commit| *commit < (session(txn), txn));
            if before > 0 && commits[before - 1].0 == session(txn) {
                all.push((base + before as u32 - 1, self.local[node as usize], label));
            }
        }
    }

    /// The nodes that an edge joins, if the level cares for it.
    fn ends(&self, edge: &Edge) -> Option<(Node, Node)> {
        joined_nodes(self.shape, edge.dependency, edge.from, edge.to)
    }

    /// Real time as a chain of moments: linear, though every pair may be ordered. None begins
    /// after a transaction of unknown outcome: it may be carried out after its client gave up.
    fn moments(&self, nodes: &mut Vec<Node>, all: &mut Vec<(u32, u32, Label)>) {
        let label = Label { dependency: Some(Dependency::RealTime), ..WITHIN };
        let commits: Vec<u32> = nodes.iter().filter(|n| **n % 2 == 1).map(|n| n / 2).collect();
        let firsts = self.firsts(nodes);
        let base = nodes.len() as u32;
        for (at, &txn) in commits.iter().enumerate() {
            let moment = base + at as u32;
            if self.history.outcome[txn as usize] != TransactionOutcome::Unknown {
                all.push((self.local[2 * txn as usize + 1], moment, label));
            }
            if at > 0 {
                all.push((moment - 1, moment, label));
            }
            nodes.push(MOMENT | txn);
        }
        for node in firsts {
            let answered = self.before.answered_count(node / 2);
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
    pub(crate) fn stretch_cycles(&mut self, nodes: &[Node]) -> Vec<Cycle> {
        let graph = self.graph(nodes, &[], Earlier::All);
        let (_, component, _) = graph.strong_components();
        let mut search = Search::new(graph.nodes.len());
        let mut all = Vec::new();
        for (tail, head, label) in self.back(&graph, &component) {
            if search.steps > STEPS_AT_MOST || all.len() == CYCLES_AT_MOST {
                break;
            }
            let found = search.cycle(&graph, &component, tail, head, label, u32::MAX);
            all.extend(found.map(|steps| Cycle { steps, is_shortest: false }));
        }
        all
    }

    /// The edges that run against the line within strong components.
    fn back(&self, graph: &Graph, component: &[u32]) -> Vec<(u32, u32, Label)> {
        let places: Vec<u32> = graph.nodes.iter().map(|node| self.position(*node)).collect();
        let mut back: Vec<(u32, u32, Label)> = Vec::new();
        for from in 0..graph.nodes.len() {
            for (head, label) in graph.out_edges(from) {
                let is_back = places[from] > places[*head as usize];
                if is_back && component[from] == component[*head as usize] {
                    back.push((from as u32, *head, *label));
                }
            }
        }
        back
    }

    /// A shortest cycle of nodes that are known to have one.
    fn cycle(&mut self, nodes: &[Node], more: &[(Node, Node, Label)]) -> Cycle {
        let graph = self.graph(nodes, more, Earlier::All);
        let (_, component, _) = graph.strong_components();
        let back = self.back(&graph, &component);
        let mut search = Search::new(graph.nodes.len());
        for depth in 2.. {
            for &(tail, head, label) in &back {
                let is_shortest = search.steps <= STEPS_AT_MOST;
                let limit = if is_shortest { depth } else { u32::MAX };
                let found = search.cycle(&graph, &component, tail, head, label, limit);
                if let Some(steps) = found {
                    return Cycle { steps, is_shortest };
                }
            }
        }
        unreachable!("a strong component of several nodes has a cycle, and that a back edge")
    }
}

/// The nodes that a dependency between two transactions joins, if the level cares for it.
pub(crate) fn joined_nodes(
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
fn steps(graph: &Graph, path: &[(u32, u32, Label)]) -> Vec<CycleStep> {
    let is_moment = |at: u32| graph.is_moment(at);
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
        all.push(CycleStep { from, to: txn(to), dependency, key, version, by, is_assumed: false });
    }
    all
}

impl Graph {
    pub(crate) fn from_edges(nodes: Vec<Node>, all: &[(u32, u32, Label)]) -> Graph {
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

    fn is_moment(&self, at: u32) -> bool {
        self.nodes[at as usize] & MOMENT != 0
    }

    /// How many steps between transactions an edge is.
    fn cost(&self, from: u32, label: &Label) -> u32 {
        u32::from(label.dependency.is_some() && !self.is_moment(from))
    }

    /// An edge by its number: its head, and why it is there.
    pub(crate) fn edge_at(&self, number: u32) -> (u32, Label) {
        self.heads[number as usize]
    }

    /// The number of the first edge from a node; its others follow.
    pub(crate) fn first_edge(&self, from: usize) -> u32 {
        self.starts[from]
    }

    /// The edges from a node.
    pub(crate) fn out_edges(&self, from: usize) -> &[(u32, Label)] {
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
            for (head, _) in self.out_edges(at as usize) {
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
    pub(crate) fn strong_components(&self) -> (Vec<u32>, Vec<u32>, bool) {
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

/// How a search reached a node.
#[derive(Clone, Copy)]
struct RegionVisit {
    /// The search that reached it last.
    turn: u32,
    /// How many steps it takes to get here.
    steps: u32,
    /// The node of the step before.
    from: u32,
    /// The edge from there.
    edge: u32,
}

/// Breadth-first searches that share their memory.
struct Search {
    /// By node.
    reached: Vec<RegionVisit>,
    /// Nodes of the depth that is looked at, and of the next one.
    layers: [Vec<u32>; 2],
    turn: u32,
    /// Edges that were looked at, in all searches.
    steps: u64,
}

impl Search {
    fn new(nodes: usize) -> Search {
        let never = RegionVisit { turn: 0, steps: 0, from: 0, edge: UNKNOWN };
        Search { reached: vec![never; nodes], layers: [Vec::new(), Vec::new()], turn: 0, steps: 0 }
    }

    /// A cycle over a back edge of at most `limit` steps, with as few as there are.
    fn cycle(
        &mut self,
        graph: &Graph,
        component: &[u32],
        tail: u32,
        head: u32,
        label: Label,
        limit: u32,
    ) -> Option<Vec<CycleStep>> {
        let left = limit - graph.cost(tail, &label);
        self.reaches(graph, component, head, tail, left).then(|| {
            let mut path = self.trail(graph, head, tail);
            path.push((tail, head, label));
            steps(graph, &path)
        })
    }

    /// Whether the second node can be reached from the first in at most `limit` steps within its
    /// component.
    fn reaches(
        &mut self,
        graph: &Graph,
        component: &[u32],
        from: u32,
        to: u32,
        limit: u32,
    ) -> bool {
        self.turn += 1;
        let [mut layer, mut next] = std::mem::take(&mut self.layers);
        layer.clear();
        layer.push(from);
        self.reached[from as usize] =
            RegionVisit { turn: self.turn, steps: 0, from, edge: UNKNOWN };
        let mut depth = 0;
        while !layer.is_empty() && depth <= limit && !self.is_reached(to, depth) {
            next.clear();
            let mut done = 0;
            while let Some(&node) = layer.get(done) {
                done += 1;
                if self.reached[node as usize].steps == depth {
                    self.spread(graph, component, node, to, [&mut layer, &mut next]);
                }
            }
            if self.is_reached(to, depth) {
                break;
            }
            std::mem::swap(&mut layer, &mut next);
            depth += 1;
        }
        self.layers = [layer, next];
        self.is_reached(to, limit)
    }

    fn is_reached(&self, node: u32, limit: u32) -> bool {
        let reached = self.reached[node as usize];
        reached.turn == self.turn && reached.steps <= limit
    }

    /// Notes what is reached from a node, in this depth or in the next one.
    fn spread(
        &mut self,
        graph: &Graph,
        component: &[u32],
        node: u32,
        to: u32,
        layers: [&mut Vec<u32>; 2],
    ) {
        let depth = self.reached[node as usize].steps;
        for edge in graph.starts[node as usize]..graph.starts[node as usize + 1] {
            self.steps += 1;
            let (head, label) = &graph.heads[edge as usize];
            let cost = graph.cost(node, label);
            let steps = depth + cost;
            if component[*head as usize] == component[to as usize] && !self.is_reached(*head, steps)
            {
                let turn = self.turn;
                self.reached[*head as usize] = RegionVisit { turn, steps, from: node, edge };
                layers[cost as usize].push(*head);
            }
        }
    }

    /// The path that was found.
    fn trail(&self, graph: &Graph, from: u32, to: u32) -> Vec<(u32, u32, Label)> {
        let mut path = Vec::new();
        let mut at = to;
        while at != from {
            let RegionVisit { from: before, edge, .. } = self.reached[at as usize];
            path.push((before, at, graph.heads[edge as usize].1));
            at = before;
        }
        path.reverse();
        path
    }
}
