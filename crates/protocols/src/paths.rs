//! The fewest ways through a state graph that take every transition.
//!
//! ```text
//!   start ─▶ ● ─▶ ● ─▶ end         every transition carries at least one way: a flow with lower
//!            └──▶ ● ─▶ end         bounds of 1; the smallest flow is the smallest number of ways
//! ```
//!
//! The graph has no circles, for every action does something that is not undone. First any flow is
//! made that has at least 1 everywhere, then as much as possible is sent back from the ends to the
//! start along transitions that carry more than 1 (Dinitz's algorithm in the residual graph). Where
//! nothing more can be sent back, a cut separates start and ends whose transitions carry 1 each and
//! of which no way takes two: so many ways there must be, and that bound is counted, not trusted.
//!
//! Beside it stands what MongoDB's generator of tests does (`gentests.py` of mongodb-labs/wt-spec):
//! the shortest ways to the farthest states, until each state has been met, which leaves
//! transitions out. Its authors name the minimum flow as the better way.

use crate::explore::{Graph, Protocol};

/// How well some ways cover a graph.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cover {
    /// Ways.
    pub ways: u64,
    /// Actions of all of them together.
    pub steps: u64,
    /// States that are met.
    pub states: u64,
    /// Transitions that are taken.
    pub transitions: u64,
}

/// Ways that take every transition, from the start to an end each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Ways {
    /// By way, the numbers of its transitions.
    pub(crate) all: Vec<Vec<u32>>,
    /// Transitions of which no way can take two.
    pub(crate) lower_bound: u64,
}

impl Ways {
    /// The fewest ways through a graph that was kept with its transitions.
    ///
    /// # Panics
    /// If the graph was cut short, or has a circle.
    #[must_use]
    pub(crate) fn through_graph<P: Protocol>(graph: &Graph<P>) -> Ways {
        assert!(graph.is_complete, "a graph that was cut short has ends that are none");
        let mut flow = Flow::of(graph);
        flow.make_feasible();
        while flow.send_back() {}
        let lower_bound = flow.bound();
        Ways { all: flow.ways(), lower_bound }
    }

    /// What they cover.
    #[must_use]
    pub(crate) fn cover_of<P: Protocol>(&self, graph: &Graph<P>) -> Cover {
        cover(graph, self.all.iter().map(|way| way.iter().copied()))
    }
}

/// What the shortest ways to the farthest states cover, until each state has been met.
#[must_use]
pub(crate) fn cover_of_shortest<P: Protocol>(graph: &Graph<P>) -> Cover {
    let mut first = vec![u32::MAX; graph.len()];
    for (number, edge) in graph.edges.iter().enumerate() {
        let is_first = edge.to != 0 && first[edge.to as usize] == u32::MAX;
        if is_first {
            first[edge.to as usize] = number as u32;
        }
    }
    let mut is_met = vec![false; graph.len()];
    let mut ways = Vec::new();
    // States were found the nearest first.
    for state in (1..graph.len()).rev() {
        if is_met[state] {
            continue;
        }
        let (mut at, mut way) = (state, Vec::new());
        while at != 0 {
            is_met[at] = true;
            way.push(first[at]);
            at = graph.edges[first[at] as usize].from as usize;
        }
        way.reverse();
        ways.push(way);
    }
    cover(graph, ways.iter().map(|way| way.iter().copied()))
}

fn cover<P: Protocol>(
    graph: &Graph<P>,
    ways: impl Iterator<Item = impl Iterator<Item = u32>>,
) -> Cover {
    let mut cover = Cover::default();
    let mut is_taken = vec![false; graph.edges.len()];
    let mut is_met = vec![false; graph.len()];
    is_met[0] = true;
    for way in ways {
        cover.ways += 1;
        for edge in way {
            cover.steps += 1;
            is_taken[edge as usize] = true;
            is_met[graph.edges[edge as usize].to as usize] = true;
        }
    }
    cover.states = is_met.iter().filter(|met| **met).count() as u64;
    cover.transitions = is_taken.iter().filter(|taken| **taken).count() as u64;
    cover
}

/// A flow from the start to one node behind all ends.
struct Flow {
    /// From, to; those behind `own` lead from ends to the sink.
    edges: Vec<(u32, u32)>,
    own: usize,
    flow: Vec<u64>,
    out: Vec<Vec<u32>>,
    into: Vec<Vec<u32>>,
    sink: usize,
    level: Vec<u32>,
}

const FAR: u32 = u32::MAX;

/// A step of the residual graph.
#[derive(Clone, Copy)]
struct ResidualStep {
    edge: u32,
    /// Whether it gives back, or takes more.
    gives: bool,
}

impl Flow {
    fn of<P: Protocol>(graph: &Graph<P>) -> Flow {
        let sink = graph.len();
        let mut edges: Vec<(u32, u32)> =
            graph.edges.iter().map(|edge| (edge.from, edge.to)).collect();
        let own = edges.len();
        let mut has_next = vec![false; sink];
        edges.iter().for_each(|(from, _)| has_next[*from as usize] = true);
        let ends = (0..sink).filter(|node| !has_next[*node]);
        edges.extend(ends.map(|node| (node as u32, sink as u32)));
        let (mut out, mut into) = (vec![Vec::new(); sink + 1], vec![Vec::new(); sink + 1]);
        for (number, (from, to)) in edges.iter().enumerate() {
            out[*from as usize].push(number as u32);
            into[*to as usize].push(number as u32);
        }
        let flow = vec![1; edges.len()];
        Flow { edges, own, flow, out, into, sink, level: Vec::new() }
    }

    /// All nodes, each behind those that lead to it.
    fn order(&self) -> Vec<usize> {
        let mut missing: Vec<usize> = self.into.iter().map(Vec::len).collect();
        let mut order = vec![0];
        let mut at = 0;
        while at < order.len() {
            for &edge in &self.out[order[at]] {
                let to = self.edges[edge as usize].1 as usize;
                missing[to] -= 1;
                if missing[to] == 0 {
                    order.push(to);
                }
            }
            at += 1;
        }
        assert_eq!(order.len(), self.out.len(), "a state graph has no circle");
        order
    }

    /// More where less comes in than goes out, then more where less goes out than comes in.
    fn make_feasible(&mut self) {
        let order = self.order();
        for &node in order.iter().rev().filter(|node| **node != 0 && **node != self.sink) {
            let (comes, goes) =
                (flow_sum(&self.flow, &self.into[node]), flow_sum(&self.flow, &self.out[node]));
            self.flow[self.into[node][0] as usize] += goes.saturating_sub(comes);
        }
        for &node in order.iter().filter(|node| **node != 0 && **node != self.sink) {
            let (comes, goes) =
                (flow_sum(&self.flow, &self.into[node]), flow_sum(&self.flow, &self.out[node]));
            self.flow[self.out[node][0] as usize] += comes.saturating_sub(goes);
        }
    }

    /// What an edge may give back: all but the 1 that it has to carry.
    fn spare(&self, edge: u32) -> u64 {
        let least = u64::from((edge as usize) < self.own);
        self.flow[edge as usize] - least
    }

    /// One phase: sends back what shortest ways from the sink to the start have to spare; whether
    /// there was any.
    fn send_back(&mut self) -> bool {
        self.level = self.distances();
        if self.level[0] == FAR {
            return false;
        }
        let mut next = vec![0_usize; self.out.len()];
        let mut way: Vec<ResidualStep> = Vec::new();
        let mut at = self.sink;
        loop {
            if at == 0 {
                let giving = way.iter().filter(|step| step.gives);
                let least = giving.map(|step| self.spare(step.edge)).min().unwrap_or(0);
                for &ResidualStep { edge, gives } in &way {
                    let flow = &mut self.flow[edge as usize];
                    *flow = if gives { *flow - least } else { *flow + least };
                }
                way.clear();
                at = self.sink;
                continue;
            }
            let Some(step) = self.next_step(at, &mut next[at]) else {
                let Some(back) = way.pop() else { return true };
                at = self.behind(back);
                next[at] += 1;
                continue;
            };
            way.push(step);
            at = self.ahead(step);
        }
    }

    /// Where a step leads.
    fn ahead(&self, step: ResidualStep) -> usize {
        let (from, to) = self.edges[step.edge as usize];
        if step.gives { from as usize } else { to as usize }
    }

    /// Where a step comes from.
    fn behind(&self, step: ResidualStep) -> usize {
        self.ahead(ResidualStep { gives: !step.gives, ..step })
    }

    /// The next step from a node that comes nearer to the start, from `place` on.
    fn next_step(&self, node: usize, place: &mut usize) -> Option<ResidualStep> {
        let (into, out) = (&self.into[node], &self.out[node]);
        while *place < into.len() + out.len() {
            let step = match into.get(*place) {
                Some(&edge) => ResidualStep { edge, gives: true },
                None => ResidualStep { edge: out[*place - into.len()], gives: false },
            };
            let is_open = !step.gives || self.spare(step.edge) > 0;
            if is_open && self.level[self.ahead(step)] == self.level[node] + 1 {
                return Some(step);
            }
            *place += 1;
        }
        None
    }

    /// By node, how many steps of the residual graph it is from the sink.
    fn distances(&self) -> Vec<u32> {
        let mut level = vec![FAR; self.out.len()];
        level[self.sink] = 0;
        let mut open = std::collections::VecDeque::from([self.sink]);
        while let Some(node) = open.pop_front() {
            let gives = self.into[node].iter().filter(|edge| self.spare(**edge) > 0);
            let gives = gives.map(|&edge| ResidualStep { edge, gives: true });
            let takes = self.out[node].iter().map(|&edge| ResidualStep { edge, gives: false });
            for step in gives.chain(takes) {
                let to = self.ahead(step);
                if level[to] == FAR {
                    level[to] = level[node] + 1;
                    open.push_back(to);
                }
            }
        }
        level
    }

    /// Transitions that lead into what the sink reaches: no way takes two, for none leads out.
    fn bound(&self) -> u64 {
        let level = self.distances();
        let is_behind = |node: u32| level[node as usize] != FAR;
        debug_assert!(self.edges.iter().all(|edge| !is_behind(edge.0) || is_behind(edge.1)));
        self.edges[..self.own].iter().filter(|edge| !is_behind(edge.0) && is_behind(edge.1)).count()
            as u64
    }

    /// The flow as ways.
    fn ways(mut self) -> Vec<Vec<u32>> {
        let mut ways = Vec::new();
        loop {
            let (mut at, mut way) = (0, Vec::new());
            while at != self.sink {
                let open = self.out[at].iter().copied().find(|edge| self.flow[*edge as usize] > 0);
                let Some(edge) = open else { break };
                self.flow[edge as usize] -= 1;
                way.push(edge);
                at = self.edges[edge as usize].1 as usize;
            }
            if way.is_empty() {
                return ways;
            }
            assert_eq!(at, self.sink, "what comes in goes out");
            way.pop();
            ways.push(way);
        }
    }
}

fn flow_sum(flow: &[u64], edges: &[u32]) -> u64 {
    edges.iter().map(|edge| flow[*edge as usize]).sum()
}
