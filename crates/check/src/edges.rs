//! The dependencies of a transaction, to nearest versions only: Adya's direct serialization graph.
//!
//! Edges to nearest versions are enough: a version that is further away is reached over the writers
//! between (ww), so that a cycle exists among all conflicts exactly if one exists here. That makes
//! the graph linear in the number of operations.

use crate::footprint::{Access, VersionRead, visit_accesses};
use crate::history::{ABSENT, History, INITIAL, UNKNOWN, WriteId};
use crate::level::Dependency;
use crate::versions::Versions;

/// `to` depends on `from`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Edge {
    pub from: u32,
    pub to: u32,
    pub dependency: Dependency,
    pub key: u32,
    /// The version that `from` wrote or read.
    pub version: WriteId,
}

/// Gives the edges that the operations of `txn` make; each has `txn` at one end.
#[inline]
pub(crate) fn visit_edges(
    history: &History,
    versions: &Versions,
    txn: u32,
    mut give: impl FnMut(Edge),
) {
    if !versions.is_in[txn as usize] {
        return;
    }
    let ops = history.ops(txn as usize);
    visit_accesses(ops, |access| match access {
        Access::Read(seen) => read(versions, txn, &seen, &mut give),
        Access::Write { op, .. } if op.value != INITIAL && op.value < ABSENT => {
            let version = &versions.all[op.value as usize];
            if version.writer != txn || version.prev == INITIAL || version.prev >= ABSENT {
                return;
            }
            let from = versions.writer_of(version.prev);
            if from != UNKNOWN && from != txn {
                let (key, version) = (op.key, version.prev);
                give(Edge { from, to: txn, dependency: Dependency::Write, key, version });
            }
        }
        Access::Count { key, first, end } => {
            let included = ops[first..end].iter().flat_map(|op| [op.value, op.prev]);
            let mut included: Vec<WriteId> = included.filter(|id| *id < ABSENT).collect();
            included.sort_unstable();
            let all = &versions.increments;
            let begin = all.partition_point(|(other, ..)| *other < key);
            for &(_, id, writer) in all[begin..].iter().take_while(|(other, ..)| *other == key) {
                if writer == txn || !versions.is_in[writer as usize] {
                    continue;
                }
                let (dependency, from, to) = match included.binary_search(&id) {
                    Ok(_) => (Dependency::Read, writer, txn),
                    Err(_) => (Dependency::Anti, txn, writer),
                };
                give(Edge { from, to, dependency, key, version: id });
            }
        }
        Access::Write { .. }
        | Access::Increment { .. }
        | Access::Own { .. }
        | Access::Internal { .. } => {}
    });
}

#[inline]
fn read(versions: &Versions, txn: u32, seen: &VersionRead, give: &mut impl FnMut(Edge)) {
    let (key, version) = (seen.key, versions.resolved_version(seen));
    if version == UNKNOWN {
        return;
    }
    let next_writer;
    if version != INITIAL {
        let known = &versions.all[version as usize];
        let from = known.writer;
        if from == UNKNOWN || versions.key(version) != key {
            return;
        }
        next_writer = known.next_writer;
        if from != txn && versions.is_in[from as usize] {
            let is_current = seen.is_current;
            let dependency = if is_current { Dependency::CurrentRead } else { Dependency::Read };
            give(Edge { from, to: txn, dependency, key, version });
        }
    } else {
        next_writer = versions.first_writer[key as usize];
    }
    if next_writer != UNKNOWN && next_writer != txn {
        give(Edge { from: txn, to: next_writer, dependency: anti_dependency(seen), key, version });
    }
}

/// How the reader of a version precedes the writer that replaces it.
pub(crate) fn anti_dependency(seen: &VersionRead) -> Dependency {
    match (seen.is_predicate, seen.is_current) {
        (false, false) => Dependency::Anti,
        (false, true) => Dependency::CurrentAnti,
        (true, false) => Dependency::PredicateAnti,
        (true, true) => Dependency::CurrentPredicateAnti,
    }
}

/// Of each transaction, the furthest that its dependencies reach: what decides, for the graph of
/// every level, which edges run against the order of completion.
#[derive(Debug)]
pub(crate) struct Reach {
    /// By transaction and dependency. Of ww and wr one more than the last transaction that it
    /// depends on, 0 if there is none; of rw the first that depends on it, UNKNOWN if none.
    pub furthest: Vec<[u32; Dependency::OF_VERSIONS]>,
    /// How many edges there are of each.
    pub counts: [u64; Dependency::OF_VERSIONS],
}

impl Reach {
    pub(crate) fn from_versions(history: &History, versions: &Versions) -> Reach {
        let none = [0, 0, 0, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN];
        let mut reach = Reach { furthest: Vec::with_capacity(history.len()), counts: [0; 7] };
        for txn in 0..history.len() as u32 {
            versions.fetch_ahead(history, txn as usize);
            let mut own = none;
            visit_edges(history, versions, txn, |edge| {
                let place = edge.dependency as usize;
                reach.counts[place] += 1;
                if edge.to != txn {
                    own[place] = own[place].min(edge.to);
                } else {
                    own[place] = own[place].max(edge.from + 1);
                }
            });
            reach.furthest.push(own);
        }
        reach
    }
}
