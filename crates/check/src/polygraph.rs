//! Orders of versions that nothing tells, as a graph with choices.
//!
//! ```text
//!   chain a: 4 ▶ 7      chain b: 9          either   7's writer ─▶ 9's writer
//!     7 was read by T, U                             T ─▶ D(a) ─▶ 9's writer,  U ─▶ D(a)
//!                                           or       the same from b to a
//! ```
//!
//! What is known links versions to *chains* ([`crate::orders`]). Of two chains of a key one comes
//! first, whole: its last writer, and all readers of that version, come before the first writer of
//! the other. A level holds if the choices can be made so that the graph has no cycle: the
//! polygraphs of Papadimitriou (J. ACM 26, 1979), with versions grouped as in Cobra (Tan et al.,
//! OSDI 2020). All readers of a chain meet in one node, so that a choice is two edges.

use crate::edges::{anti_dependency, visit_edges};
use crate::footprint::{Access, visit_accesses};
use crate::history::{History, TransactionOutcome, UNKNOWN};
use crate::layout::Before;
use crate::level::{Dependency, Shape};
use crate::orders::Chains;
use crate::region::joined_nodes;
use crate::versions::Versions;

/// A chain before another one.
pub(crate) type Pair = (u32, u32);

/// Why an edge is there: it is known; or one chain comes before another, which was chosen, forced,
/// or is certain because the first one begins with INITIAL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PolygraphReason {
    Known,
    Pair(Pair),
}

/// An edge.
pub(crate) type Edge = (u32, u32, PolygraphReason);

/// Where choices of a chain begin and end.
#[derive(Clone, Copy)]
struct Ends {
    /// The node of its last writer, and that in which its readers meet; UNKNOWN where there is
    /// none.
    written: u32,
    read: u32,
    /// The nodes of its first writer: for writes, and for reads of other chains.
    after_write: u32,
    after_read: u32,
}

/// The graph.
pub(crate) struct Polygraph {
    /// Nodes of transactions come first, two each.
    pub nodes: u32,
    pub known: Vec<Edge>,
    /// By key with several chains, its chains.
    pub groups: Vec<std::ops::Range<u32>>,
    /// Whether a transaction has two nodes.
    pub has_snapshots: bool,
    ends: Vec<Ends>,
    /// From which chain on they are those of INITIAL, which are not chosen.
    bases: u32,
}

impl Polygraph {
    pub(crate) fn from_chains(
        history: &History,
        versions: &Versions,
        shape: &Shape,
        before: &Before,
        chains: &Chains,
    ) -> Polygraph {
        let groups = chains.key_groups().collect();
        let nodes = 2 * history.len() as u32;
        let bases = chains.len() as u32;
        let (known, ends) = (Vec::new(), Vec::new());
        let has_snapshots = shape.has_snapshots;
        let mut graph = Polygraph { nodes, known, groups, has_snapshots, ends, bases };
        graph.add_known(history, versions, shape, before);
        graph.add_ends(versions, shape, chains);
        graph.add_readers(history, versions, shape, chains);
        for base in chains.initial_chains() {
            for chain in base.first..base.end {
                let own: Vec<Edge> = graph.choice_edges(base.id, chain).collect();
                graph.known.extend(own);
            }
        }
        graph
    }

    fn add_known(
        &mut self,
        history: &History,
        versions: &Versions,
        shape: &Shape,
        before: &Before,
    ) {
        let first = |txn: u32| if shape.has_snapshots { 2 * txn } else { 2 * txn + 1 };
        let mut answered: Vec<u32> = Vec::new();
        if before.has_times() {
            // Real time is a chain of moments, one after each answer.
            answered = (0..history.len() as u32).map(|txn| self.nodes + txn).collect();
            self.nodes += history.len() as u32;
        }
        for txn in (0..history.len() as u32).filter(|&txn| versions.is_in[txn as usize]) {
            if shape.has_snapshots {
                self.known.push((2 * txn, 2 * txn + 1, PolygraphReason::Known));
            }
            let session = before.session(txn);
            if session > 0 {
                self.known.push((2 * session - 1, first(txn), PolygraphReason::Known));
            }
            visit_edges(history, versions, txn, |edge| {
                if let Some((from, to)) = joined_nodes(shape, edge.dependency, edge.from, edge.to) {
                    self.known.push((from, to, PolygraphReason::Known));
                }
            });
        }
        for (txn, moment) in (0_u32..).zip(&answered) {
            let is_in = versions.is_in[txn as usize];
            if is_in && history.outcome[txn as usize] != TransactionOutcome::Unknown {
                self.known.push((2 * txn + 1, *moment, PolygraphReason::Known));
            }
            if txn > 0 {
                self.known.push((moment - 1, *moment, PolygraphReason::Known));
            }
            let count = before.answered_count(txn);
            if is_in && count > 0 {
                self.known.push((answered[count as usize - 1], first(txn), PolygraphReason::Known));
            }
        }
    }

    fn add_ends(&mut self, versions: &Versions, shape: &Shape, chains: &Chains) {
        let write = |txn: u32| joined_nodes(shape, Dependency::Write, txn, txn);
        for (head, tail) in chains.end_versions() {
            let writer = |id: u32| {
                let version = versions.all.get(id as usize)?;
                (version.writer != UNKNOWN).then_some(version.writer)
            };
            let (first, last) = (writer(head), writer(tail));
            self.ends.push(Ends {
                written: last.and_then(write).map_or(UNKNOWN, |(from, _)| from),
                read: UNKNOWN,
                after_write: first.and_then(write).map_or(UNKNOWN, |(_, to)| to),
                after_read: first.map_or(UNKNOWN, |txn| 2 * txn + 1),
            });
        }
    }

    /// The readers of the last versions of chains.
    fn add_readers(
        &mut self,
        history: &History,
        versions: &Versions,
        shape: &Shape,
        chains: &Chains,
    ) {
        for txn in (0..history.len() as u32).filter(|&txn| versions.is_in[txn as usize]) {
            visit_accesses(history.ops(txn as usize), |access| {
                let Access::Read(seen) = access else { return };
                let dependency = anti_dependency(&seen);
                let chain = chains.ending_or_base(seen.key, versions.resolved_version(&seen));
                let (Some(chain), Some((from, _))) =
                    (chain, joined_nodes(shape, dependency, txn, txn))
                else {
                    return;
                };
                let meeting = &mut self.ends[chain as usize].read;
                if *meeting == UNKNOWN {
                    *meeting = self.nodes;
                    self.nodes += 1;
                }
                self.known.push((from, *meeting, PolygraphReason::Known));
            });
        }
    }

    /// The edges of a choice.
    pub(crate) fn choice_edges(
        &self,
        first: u32,
        second: u32,
    ) -> impl Iterator<Item = Edge> + use<> {
        let (one, two) = (self.ends[first as usize], self.ends[second as usize]);
        let why = PolygraphReason::Pair((first, second));
        let all = [(one.written, two.after_write), (one.read, two.after_read)];
        all.into_iter()
            .filter(|(from, to)| *from != UNKNOWN && *to != UNKNOWN)
            .map(move |(from, to)| (from, to, why))
    }

    /// Whether nothing can be otherwise: the first chain begins with INITIAL.
    pub(crate) fn is_certain(&self, pair: Pair) -> bool {
        pair.0 >= self.bases
    }

    /// The nodes from which edges of choices of a chain lead.
    pub(crate) fn choice_tails(&self, chain: u32) -> [u32; 2] {
        let ends = self.ends[chain as usize];
        [ends.written, ends.read]
    }

    /// The nodes to which edges of choices lead, in the order of [`Polygraph::choice_tails`].
    pub(crate) fn choice_heads(&self, chain: u32) -> [u32; 2] {
        let ends = self.ends[chain as usize];
        [ends.after_write, ends.after_read]
    }
}

/// Edges by their tails.
pub(crate) struct Outs {
    starts: Vec<u32>,
    heads: Vec<(u32, PolygraphReason)>,
}

impl Outs {
    pub(crate) fn from_edges(nodes: u32, all: &[Edge]) -> Outs {
        let mut starts = vec![0_u32; nodes as usize + 2];
        for (from, ..) in all {
            starts[*from as usize + 2] += 1;
        }
        for at in 1..starts.len() {
            starts[at] += starts[at - 1];
        }
        let mut heads = vec![(0, PolygraphReason::Known); all.len()];
        for (from, to, why) in all {
            let place = &mut starts[*from as usize + 1];
            heads[*place as usize] = (*to, *why);
            *place += 1;
        }
        Outs { starts, heads }
    }

    pub(crate) fn nodes(&self) -> u32 {
        self.starts.len() as u32 - 2
    }

    pub(crate) fn of_node(&self, node: u32) -> &[(u32, PolygraphReason)] {
        let (first, end) = (self.starts[node as usize], self.starts[node as usize + 1]);
        &self.heads[first as usize..end as usize]
    }

    /// All nodes, tails before heads; fewer than all if there is a cycle.
    pub(crate) fn in_order(&self) -> Vec<u32> {
        let count = self.starts.len() - 2;
        let mut waits = vec![0_u32; count];
        for (head, _) in &self.heads {
            waits[*head as usize] += 1;
        }
        let mut order: Vec<u32> =
            (0..count as u32).filter(|node| waits[*node as usize] == 0).collect();
        let mut done = 0;
        while let Some(&node) = order.get(done) {
            done += 1;
            for (head, _) in self.of_node(node) {
                let left = &mut waits[*head as usize];
                *left -= 1;
                if *left == 0 {
                    order.push(*head);
                }
            }
        }
        order
    }
}
