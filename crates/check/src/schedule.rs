//! Orders of versions that could have been carried out: tried before anything is searched for.
//!
//! ```text
//!   ready:  nodes behind which all known edges lie
//!   key x:  chain a was written, R has not read it yet      the next writer waits for R
//!           ▼
//!   R is carried out ──▶ x is free ──▶ the next writer of x is ready
//! ```
//!
//! Transactions are carried out one after the other, any that can be: a chain of versions begins
//! only where the one before it is written and read by all its readers. If all are carried out,
//! that is an order without a cycle, and nothing has to be searched for: most histories of real
//! stores end here, in linear time. Where it gets stuck, one goes on all the same; the order is
//! then a good first guess and no more.
//!
//! What would get it stuck is mostly forced: B comes before A if B's beginning reaches a writer or
//! reader of A. In a level that keeps sessions each session is a chain of the graph, so that what
//! reaches a node is told by one number for each session (vector clocks: Fidge; Mattern, 1988; of
//! weak levels: Møldrup and Pavlogiannis, *AWDIT*, PLDI 2025), and of each session the last such B
//! is enough. That is linear in sessions where pairs of chains are quadratic.

use std::collections::VecDeque;

use crate::history::{History, UNKNOWN};
use crate::polygraph::{Edge, Outs, Polygraph};
use crate::versions::Versions;

/// Words of clocks at most: 1 GiB.
const CLOCKS_AT_MOST: usize = 1 << 28;
/// Rounds of forcing at most.
const ROUNDS_AT_MOST: usize = 40;

/// An order of all nodes.
pub(crate) struct Schedule {
    pub order: Vec<u32>,
    /// Whether none went on that had to wait: then it has no cycle.
    pub is_carried_out: bool,
}

/// Carries nodes out along known edges and others; `None` if those have a cycle.
pub(crate) fn build_schedule(graph: &Polygraph, outs: &Outs) -> Option<Schedule> {
    let mut now = Now::of(graph, outs);
    let mut is_carried_out = true;
    loop {
        while let Some(node) = now.ready.pop_front() {
            now.carry_out(node);
        }
        if let Some(node) = now.patient.pop_front() {
            if !now.is_done[node as usize] && now.held_by_writers(node).is_none() {
                now.finish(node);
            }
            continue;
        }
        // One goes on that has to wait, the first that began to.
        let Some(node) = now.first_waiting() else { break };
        is_carried_out = false;
        now.finish(node);
    }
    let is_whole = now.order.len() == graph.nodes as usize;
    is_whole.then_some(Schedule { order: now.order, is_carried_out })
}

/// What has been carried out.
struct Now<'a> {
    graph: &'a Polygraph,
    outs: &'a Outs,
    /// By node, how many edges to it begin at nodes that were not reached yet.
    left: Vec<u32>,
    is_done: Vec<bool>,
    order: Vec<u32>,
    ready: VecDeque<u32>,
    /// Snapshots that may be taken, but whose commits would have to wait for readers.
    patient: VecDeque<u32>,
    /// Nodes that waited for a key at some time, in that order.
    waiting: VecDeque<u32>,
    is_waiting: Vec<bool>,
    /// By chain, its key among those with several chains.
    key: Vec<u32>,
    keys: Vec<Key>,
    /// By node, the chains that begin there by a write, begin there for readers, and end there.
    begins: Lists,
    begins_for_readers: Lists,
    ends: Lists,
}

/// One key with several chains.
#[derive(Clone, Default)]
struct Key {
    /// The chain that is being written, one more than its number; 0 if none.
    writing: u32,
    /// The chain that was begun last, of which not all have read; one more than its number.
    reading: u32,
    /// The nodes that wait for it.
    waits: Vec<u32>,
}

/// Chains by node.
struct Lists {
    starts: Vec<u32>,
    all: Vec<u32>,
}

impl Lists {
    fn of(nodes: u32, pairs: impl Iterator<Item = (u32, u32)> + Clone) -> Lists {
        let mut starts = vec![0_u32; nodes as usize + 2];
        for (node, _) in pairs.clone() {
            starts[node as usize + 2] += 1;
        }
        for at in 1..starts.len() {
            starts[at] += starts[at - 1];
        }
        let mut all = vec![0; starts[starts.len() - 1] as usize];
        for (node, chain) in pairs {
            let place = &mut starts[node as usize + 1];
            all[*place as usize] = chain;
            *place += 1;
        }
        Lists { starts, all }
    }

    fn of_node(&self, node: u32) -> &[u32] {
        let (first, end) = (self.starts[node as usize], self.starts[node as usize + 1]);
        &self.all[first as usize..end as usize]
    }
}

impl<'a> Now<'a> {
    fn of(graph: &'a Polygraph, outs: &'a Outs) -> Now<'a> {
        let count = graph.nodes as usize;
        let mut left = vec![0_u32; count];
        for node in 0..graph.nodes {
            outs.of_node(node).iter().for_each(|(head, _)| left[*head as usize] += 1);
        }
        let chains = graph.groups.last().map_or(0, |group| group.end);
        let mut key = vec![0; chains as usize];
        for (at, group) in (0..).zip(&graph.groups) {
            key[group.start as usize..group.end as usize].fill(at);
        }
        let side = |of: fn(&Polygraph, u32) -> u32| {
            let all = (0..chains).map(move |chain| (of(graph, chain), chain));
            Lists::of(graph.nodes, all.filter(|(node, _)| *node != UNKNOWN))
        };
        let ends =
            (0..chains).flat_map(|chain| graph.choice_tails(chain).map(|tail| (tail, chain)));
        let ends = Lists::of(graph.nodes, ends.filter(|(node, _)| *node != UNKNOWN));
        let ready = (0..graph.nodes).filter(|node| left[*node as usize] == 0).collect();
        Now {
            graph,
            outs,
            left,
            is_done: vec![false; count],
            order: Vec::with_capacity(count),
            ready,
            patient: VecDeque::new(),
            waiting: VecDeque::new(),
            is_waiting: vec![false; count],
            key,
            keys: vec![Key::default(); graph.groups.len()],
            begins: side(|graph, chain| graph.choice_heads(chain)[0]),
            begins_for_readers: side(|graph, chain| graph.choice_heads(chain)[1]),
            ends,
        }
    }

    /// Carries a node out, if no key holds it up.
    fn carry_out(&mut self, node: u32) {
        if self.is_done[node as usize] {
            return;
        }
        let held = self.held_by_writers(node).or_else(|| self.held_by_readers(node));
        // A snapshot that is taken keeps other writers of its keys from beginning.
        let is_snapshot = self.graph.has_snapshots && !self.begins.of_node(node).is_empty();
        let later = if is_snapshot { self.held_by_readers(node + 1) } else { None };
        let Some(chain) = held.or(later) else { return self.finish(node) };
        self.keys[self.key[chain as usize] as usize].waits.push(node);
        if held.is_none() {
            self.patient.push_back(node);
        }
        if !self.is_waiting[node as usize] {
            self.is_waiting[node as usize] = true;
            self.waiting.push_back(node);
        }
    }

    /// A chain that begins at a node, where another one of its key is not written yet.
    fn held_by_writers(&self, node: u32) -> Option<u32> {
        self.begins
            .of_node(node)
            .iter()
            .find(|chain| self.keys[self.key[**chain as usize] as usize].writing != 0)
            .copied()
    }

    /// A chain that begins at a node, where not all have read the one before.
    fn held_by_readers(&self, node: u32) -> Option<u32> {
        let is_held = |chain: &&u32| {
            let reading = self.keys[self.key[**chain as usize] as usize].reading;
            reading != 0 && reading != **chain + 1
        };
        self.begins_for_readers.of_node(node).iter().find(is_held).copied()
    }

    /// A node that all known edges let begin: readers first, for others wait for them.
    fn let_begin(&mut self, node: u32) {
        let is_writer = !self.begins.of_node(node).is_empty()
            || !self.begins_for_readers.of_node(node).is_empty();
        if is_writer { self.ready.push_back(node) } else { self.ready.push_front(node) }
    }

    /// The node that has waited longest.
    fn first_waiting(&mut self) -> Option<u32> {
        while let Some(node) = self.waiting.pop_front() {
            if !self.is_done[node as usize] {
                return Some(node);
            }
        }
        None
    }

    /// A node is carried out.
    fn finish(&mut self, node: u32) {
        self.is_done[node as usize] = true;
        self.order.push(node);
        for at in 0..self.begins.of_node(node).len() {
            let chain = self.begins.of_node(node)[at];
            self.keys[self.key[chain as usize] as usize].writing = chain + 1;
        }
        for at in 0..self.begins_for_readers.of_node(node).len() {
            let chain = self.begins_for_readers.of_node(node)[at];
            self.keys[self.key[chain as usize] as usize].reading = chain + 1;
            self.end(chain);
        }
        for at in 0..self.ends.of_node(node).len() {
            let chain = self.ends.of_node(node)[at];
            self.end(chain);
        }
        let outs = self.outs;
        for &(head, _) in outs.of_node(node) {
            let left = &mut self.left[head as usize];
            *left -= 1;
            if *left == 0 {
                self.let_begin(head);
            }
        }
    }

    /// Lets a key go whose chain is written, or was read by all.
    fn end(&mut self, chain: u32) {
        let [written, read] = self.graph.choice_tails(chain);
        let is_past = |node: u32| node == UNKNOWN || self.is_done[node as usize];
        let (is_written, is_read) = (is_past(written), is_past(read));
        let key = &mut self.keys[self.key[chain as usize] as usize];
        let mut is_freed = false;
        if is_written && key.writing == chain + 1 {
            key.writing = 0;
            is_freed = true;
        }
        if is_read && key.reading == chain + 1 {
            key.reading = 0;
            is_freed = true;
        }
        if is_freed {
            self.ready.extend(key.waits.drain(..));
        }
    }
}

/// The place of a transaction that nothing in its session follows.
const ASIDE: u32 = u32::MAX;

/// Chains that have to come before others, in a graph that keeps sessions.
pub(crate) struct Sessions {
    /// By node, its session and one more than its place there; no place where it is in none.
    places: Vec<(u32, u32)>,
    count: usize,
    /// By key, and by session with a chain of it: the chains by the place where they begin.
    keys: Vec<Vec<(u32, Vec<u32>)>>,
}

impl Sessions {
    /// `None` if clocks would need too much memory.
    pub(crate) fn from_history(
        graph: &Polygraph,
        history: &History,
        versions: &Versions,
    ) -> Option<Sessions> {
        let count = history.session_count();
        if (graph.nodes as usize).saturating_mul(count) > CLOCKS_AT_MOST {
            return None;
        }
        let mut places = vec![(0, 0); graph.nodes as usize];
        let mut next = vec![1_u32; count];
        let is_open = history.open_within_sessions(&versions.is_in);
        for txn in (0..history.len()).filter(|&txn| versions.is_in[txn]) {
            let session = history.session[txn];
            if is_open[txn] {
                places[2 * txn] = (session, ASIDE);
                places[2 * txn + 1] = (session, ASIDE);
                continue;
            }
            let place = &mut next[session as usize];
            places[2 * txn] = (session, *place);
            places[2 * txn + 1] = (session, *place + 1);
            *place += 2;
        }
        let mut keys = Vec::with_capacity(graph.groups.len());
        for group in &graph.groups {
            let mut own: Vec<(u32, u32, u32)> = group
                .clone()
                .filter_map(|chain| {
                    let head =
                        graph.choice_heads(chain).into_iter().find(|head| *head != UNKNOWN)?;
                    let (session, place) = places[head as usize];
                    Some((session, place, chain))
                })
                .collect();
            own.sort_unstable();
            let by_session = own.chunk_by(|one, other| one.0 == other.0);
            keys.push(
                by_session.map(|own| (own[0].0, own.iter().map(|c| c.2).collect())).collect(),
            );
        }
        Some(Sessions { places, count, keys })
    }

    /// The edges of all pairs that are forced, but for those that follow from others.
    pub(crate) fn forced_edges(&self, graph: &Polygraph, outs: &Outs, order: &[u32]) -> Vec<Edge> {
        let clocks = self.clocks(graph, outs, order);
        let clock = |node: u32| &clocks[node as usize * self.count..][..self.count];
        let mut all = Vec::new();
        for (group, sessions) in graph.groups.iter().zip(&self.keys) {
            for one in group.clone() {
                for (session, chains) in sessions {
                    let mut reaching = 0;
                    for (side, tail) in graph.choice_tails(one).into_iter().enumerate() {
                        if tail == UNKNOWN {
                            continue;
                        }
                        let until = clock(tail)[*session as usize];
                        let is_past = |chain: &u32| {
                            let head = graph.choice_heads(*chain)[side];
                            head != UNKNOWN && self.places[head as usize].1 <= until
                        };
                        reaching = reaching.max(chains.partition_point(is_past));
                    }
                    let mut before = chains[..reaching].iter().rev();
                    if let Some(&two) = before.find(|two| **two != one) {
                        all.extend(graph.choice_edges(two, one));
                    }
                }
            }
        }
        all
    }

    /// By node and session, the last place from which a way leads to it.
    fn clocks(&self, graph: &Polygraph, outs: &Outs, order: &[u32]) -> Vec<u32> {
        let count = self.count;
        let mut clocks = vec![0_u32; graph.nodes as usize * count];
        let mut own = vec![0_u32; count];
        for &node in order {
            let (session, place) = self.places[node as usize];
            let row = &mut clocks[node as usize * count..][..count];
            if place > 0 && place != ASIDE {
                row[session as usize] = row[session as usize].max(place);
            }
            own.copy_from_slice(row);
            for &(head, _) in outs.of_node(node) {
                let row = &mut clocks[head as usize * count..][..count];
                for (its, own) in row.iter_mut().zip(&own) {
                    *its = (*its).max(*own);
                }
            }
        }
        clocks
    }
}

/// The best order that is found: with what sessions force, where there are any. `None` if known
/// edges, or forced ones, have a cycle.
pub(crate) fn best_schedule(graph: &Polygraph, sessions: Option<&Sessions>) -> Option<Schedule> {
    let mut forced: Vec<Edge> = Vec::new();
    for round in 0.. {
        let all: Vec<Edge> = graph.known.iter().chain(&forced).copied().collect();
        let outs = Outs::from_edges(graph.nodes, &all);
        drop(all);
        let found = build_schedule(graph, &outs)?;
        let Some(sessions) = sessions.filter(|_| !found.is_carried_out && round < ROUNDS_AT_MOST)
        else {
            return Some(found);
        };
        let more = sessions.forced_edges(graph, &outs, &found.order);
        if more == forced {
            return Some(found);
        }
        forced = more;
    }
    None
}
