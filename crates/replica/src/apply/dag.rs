//! In any order, each when those that it depends on have committed; the oldest first.
//!
//! ```text
//!   node   of each transaction behind the low-water mark: what it waits for, what waits for it
//!   low    those that wait for the low-water mark, the nearest first
//!   ready  those that wait for nothing and have not begun, the oldest first
//! ```

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use super::order::{Order, Progress};
use crate::depend::Dependencies;
use crate::ids::Sequence;

pub(super) struct Dag {
    /// The transaction before the first node.
    base: Sequence,
    nodes: VecDeque<Node>,
    low: BinaryHeap<Reverse<(Sequence, Sequence)>>,
    ready: BinaryHeap<Reverse<Sequence>>,
    /// Lists that are not in use.
    spare: Vec<Vec<Sequence>>,
}

#[derive(Default)]
struct Node {
    waits_for: u32,
    dependents: Vec<Sequence>,
}

impl Dag {
    pub(super) fn new(applied: Sequence) -> Dag {
        Dag {
            base: applied,
            nodes: VecDeque::new(),
            low: BinaryHeap::new(),
            ready: BinaryHeap::new(),
            spare: Vec::new(),
        }
    }

    fn node(&mut self, sequence: Sequence) -> &mut Node {
        &mut self.nodes[(sequence.0 - self.base.0 - 1) as usize]
    }

    fn push(&mut self, sequence: Sequence, waits_for: u32) {
        debug_assert_eq!(sequence.0, self.base.0 + self.nodes.len() as u64 + 1);
        let dependents = self.spare.pop().unwrap_or_default();
        self.nodes.push_back(Node { waits_for, dependents });
    }

    fn has_one_less(&mut self, sequence: Sequence) {
        let node = self.node(sequence);
        node.waits_for -= 1;
        if node.waits_for == 0 {
            self.ready.push(Reverse(sequence));
        }
    }
}

impl Order for Dag {
    fn on_arrival(&mut self, dependencies: Dependencies<'_>, progress: &Progress) {
        let Dependencies { sequence, low, on } = dependencies;
        let mut waits_for = 0;
        if low > progress.low {
            self.low.push(Reverse((low, sequence)));
            waits_for += 1;
        }
        for &on in on.iter().filter(|&&on| !progress.has_committed(on)) {
            self.node(on).dependents.push(sequence);
            waits_for += 1;
        }
        self.push(sequence, waits_for);
        if waits_for == 0 {
            self.ready.push(Reverse(sequence));
        }
    }

    fn on_commit(&mut self, sequence: Sequence, progress: &Progress) {
        if sequence.0 > self.base.0 + self.nodes.len() as u64 {
            self.push(sequence, 0);
        }
        let mut dependents = std::mem::take(&mut self.node(sequence).dependents);
        dependents.drain(..).for_each(|dependent| self.has_one_less(dependent));
        self.spare.push(dependents);
        while let Some(&Reverse((low, waiting))) = self.low.peek()
            && low <= progress.low
        {
            self.low.pop();
            self.has_one_less(waiting);
        }
        while self.base < progress.low {
            self.nodes.pop_front();
            self.base = self.base.next();
        }
    }

    fn next(&mut self, _progress: &Progress) -> Option<Sequence> {
        self.ready.pop().map(|Reverse(sequence)| sequence)
    }
}
