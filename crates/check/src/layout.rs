//! The nodes of a level's graph in a line, and the stretches of it that may hold a cycle.
//!
//! ```text
//!   s2 c0 s1 │ c1 s3 c2 c3 │ s4 c4 …      commits in the order of completion, each snapshot as
//!            └── ◀────── ──┘              early as what it reads allows
//!                back edge
//! ```
//!
//! A cycle that spans a stretch of the line crosses every cut in it with a *back edge*, one that
//! runs against the line. So it lies within one union of overlapping stretches of back edges, and
//! only those are searched. Where there is no back edge the line itself is the proof.

use crate::edges::Reach;
use crate::history::{History, UNKNOWN};
use crate::level::{Dependency, End, Keeps, Shape};
use crate::versions::Versions;

/// A node: twice the transaction for its snapshot, one more for its commit.
pub(crate) type Node = u32;

/// The line.
#[derive(Debug)]
pub(crate) struct Layout {
    /// By transaction, how many commits its snapshot stands behind; empty without snapshots.
    snapshot: Vec<u32>,
    /// Disjoint stretches of positions that back edges cover, in order.
    pub stretches: Vec<(u32, u32)>,
}

impl Layout {
    pub(crate) fn from_reach(
        history: &History,
        versions: &Versions,
        reach: &Reach,
        shape: &Shape,
        before: &Before,
    ) -> Layout {
        let mut layout = Layout { snapshot: Vec::new(), stretches: Vec::new() };
        if shape.has_snapshots {
            layout.snapshot = snapshots(history, reach, shape, before);
        }
        let mut found = Vec::new();
        for txn in (0..history.len() as u32).filter(|&txn| versions.is_in[txn as usize]) {
            let commit = 2 * txn + 1;
            let mut note = |low: u32, high: u32| {
                if low < high {
                    found.push((low, high));
                }
            };
            if shape.has_snapshots {
                note(commit, layout.position(2 * txn));
            } else if before.session(txn) > txn + 1 {
                note(commit, 2 * before.session(txn) - 1);
            }
            for (place, ends) in shape.ends.iter().enumerate() {
                let Some((from, to)) = *ends else { continue };
                let furthest = reach.furthest[txn as usize][place];
                if place < Dependency::Anti as usize {
                    if to == End::Commit && furthest > 0 {
                        note(commit, 2 * (furthest - 1) + 1);
                    }
                } else if furthest != UNKNOWN {
                    let own = if from == End::Commit { commit } else { layout.position(2 * txn) };
                    note(2 * furthest + 1, own);
                }
            }
        }
        layout.stretches = merged(found);
        layout
    }

    /// Where in the line a node stands.
    pub(crate) fn position(&self, node: Node) -> u32 {
        if node % 2 == 1 { node } else { 2 * self.snapshot[node as usize / 2] }
    }

    /// All nodes in the order of the line.
    pub(crate) fn ordered_nodes(&self, versions: &Versions) -> Vec<Node> {
        let all = 0..versions.is_in.len() as u32;
        let commits = all.filter(|&txn| versions.is_in[txn as usize]).map(|txn| 2 * txn + 1);
        if self.snapshot.is_empty() {
            return commits.collect();
        }
        let snapshots =
            (0..versions.is_in.len() as u32).filter(|&txn| versions.is_in[txn as usize]);
        let mut starts = vec![0_u32; versions.is_in.len() + 2];
        for txn in snapshots.clone() {
            starts[self.snapshot[txn as usize] as usize + 1] += 1;
        }
        for place in 1..starts.len() {
            starts[place] += starts[place - 1];
        }
        let mut sorted = vec![0; starts[starts.len() - 1] as usize];
        for txn in snapshots {
            let place = &mut starts[self.snapshot[txn as usize] as usize];
            sorted[*place as usize] = 2 * txn;
            *place += 1;
        }
        let mut line = Vec::with_capacity(2 * sorted.len());
        let mut rest = sorted.into_iter().peekable();
        for commit in commits {
            while let Some(node) = rest.next_if(|node| self.position(*node) < commit) {
                line.push(node);
            }
            line.push(commit);
        }
        line.extend(rest);
        line
    }
}

/// What each transaction follows beside versions, where the level keeps that.
#[derive(Debug)]
pub(crate) struct Before {
    /// By transaction, one more than the one before it in its session that was confirmed; empty if
    /// not kept.
    session: Vec<u32>,
    /// By transaction, how many were answered before it began; empty if not kept.
    answered: Vec<u32>,
}

impl Before {
    pub(crate) fn from_history(history: &History, versions: &Versions, keeps: Keeps) -> Before {
        let mut before = Before { session: Vec::new(), answered: Vec::new() };
        match keeps {
            Keeps::Nothing => {}
            Keeps::Sessions => {
                let mut last = vec![0; history.session_count()];
                let is_open = history.open_within_sessions(&versions.is_in);
                before.session = (0..history.len())
                    .map(|txn| {
                        let session = history.session[txn] as usize;
                        let found = last[session];
                        if versions.is_in[txn] && !is_open[txn] {
                            last[session] = txn as u32 + 1;
                        }
                        found
                    })
                    .collect();
            }
            Keeps::RealTime => {
                let times = &history.times;
                let answered = |begin: u64| times.partition_point(|t| t.commit_return_ns < begin);
                before.answered =
                    times.iter().map(|times| answered(times.begin_invoke_ns) as u32).collect();
            }
        }
        before
    }

    /// One more than the confirmed transaction before it in its session, 0 if there is none.
    pub(crate) fn session(&self, txn: u32) -> u32 {
        self.session.get(txn as usize).copied().unwrap_or(0)
    }

    /// Whether sessions are kept.
    pub(crate) fn has_sessions(&self) -> bool {
        !self.session.is_empty()
    }

    /// How many transactions were answered before it began.
    pub(crate) fn answered_count(&self, txn: u32) -> u32 {
        self.answered.get(txn as usize).copied().unwrap_or(0)
    }

    /// Whether real time is kept.
    pub(crate) fn has_times(&self) -> bool {
        !self.answered.is_empty()
    }
}

fn snapshots(history: &History, reach: &Reach, shape: &Shape, before: &Before) -> Vec<u32> {
    let reads = (0..Dependency::Anti as usize)
        .filter(|&place| shape.ends[place].is_some_and(|(_, to)| to == End::Snapshot));
    (0..history.len() as u32)
        .map(|txn| {
            let furthest = &reach.furthest[txn as usize];
            let read = reads.clone().map(|place| furthest[place]).max().unwrap_or(0);
            read.max(before.session(txn)).max(before.answered_count(txn))
        })
        .collect()
}

/// Unions of those that overlap.
fn merged(mut found: Vec<(u32, u32)>) -> Vec<(u32, u32)> {
    found.sort_unstable();
    let mut unions: Vec<(u32, u32)> = Vec::new();
    for (low, high) in found {
        match unions.last_mut() {
            Some(last) if low <= last.1 => last.1 = last.1.max(high),
            _ => unions.push((low, high)),
        }
    }
    unions
}
