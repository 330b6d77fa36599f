//! Lost updates: pairs of transactions that read one version of a key and both wrote the key.
//!
//! ```text
//!   T0 read x = 1 and wrote x = 2
//!                                     T1 wrote x = 3, and had not read x
//!   T2 read x = 1 and wrote x = 4     T0 and T2 lost an update; the shortest cycle is over T1
//! ```
//!
//! Whatever was written between them, neither saw what the other one did (P4 of Berenson et al.,
//! SIGMOD 1995; Elle, whose lost updates are found the same way). No order of versions is needed.

use std::collections::HashMap;

use crate::edges::anti_dependency;
use crate::footprint::{Access, visit_accesses};
use crate::history::{ABSENT, History, INITIAL, UNKNOWN, WriteId};
use crate::level::Dependency;
use crate::region::CycleStep;
use crate::versions::Versions;

/// A transaction that read a version and wrote its key.
struct Member {
    key: u32,
    version: WriteId,
    txn: u32,
    how: Dependency,
}

impl Member {
    /// It read what the other one replaced.
    fn step_to(&self, other: &Member) -> CycleStep {
        CycleStep {
            from: self.txn as usize,
            to: other.txn as usize,
            dependency: self.how,
            key: self.key,
            version: self.version,
            by: None,
            is_assumed: false,
        }
    }
}

/// The transactions of a history that lost updates to each other.
pub(crate) struct LostUpdates {
    /// Two or more that read the same, in the order of completion.
    groups: Vec<Vec<Member>>,
    /// By transaction, its groups and its place in each.
    places: HashMap<u32, Vec<(usize, usize)>>,
}

impl LostUpdates {
    pub(crate) fn from_history(history: &History, versions: &Versions) -> LostUpdates {
        let mut all: Vec<Member> = Vec::new();
        for txn in (0..history.len() as u32).filter(|txn| versions.is_in[*txn as usize]) {
            let first = all.len();
            let mut written = Vec::new();
            visit_accesses(history.ops(txn as usize), |access| match access {
                Access::Read(seen) => {
                    let (key, version) = (seen.key, versions.resolved_version(&seen));
                    let is_known = version == INITIAL
                        || (version < ABSENT
                            && ![UNKNOWN, txn].contains(&versions.writer_of(version))
                            && versions.key(version) == key);
                    if is_known {
                        all.push(Member { key, version, txn, how: anti_dependency(&seen) });
                    }
                }
                Access::Write { op, .. } => written.push(op.key),
                _ => {}
            });
            let mut own = all.split_off(first);
            own.retain(|one| written.contains(&one.key));
            own.sort_by_key(|one| (one.key, one.version));
            own.dedup_by_key(|one| (one.key, one.version));
            all.extend(own);
        }
        all.sort_by_key(|one| (one.key, one.version, one.txn));
        let mut lost = LostUpdates { groups: Vec::new(), places: HashMap::new() };
        let mut rest = all.into_iter().peekable();
        while let Some(first) = rest.next() {
            let (key, version) = (first.key, first.version);
            let mut group = vec![first];
            while let Some(one) = rest.next_if(|one| (one.key, one.version) == (key, version)) {
                group.push(one);
            }
            if group.len() > 1 {
                for (place, one) in group.iter().enumerate() {
                    let at = (lost.groups.len(), place);
                    lost.places.entry(one.txn).or_default().push(at);
                }
                lost.groups.push(group);
            }
        }
        lost
    }

    /// How many pairs there are; a pair counts once, whatever it lost.
    pub(crate) fn pair_count(&self) -> u64 {
        self.places.values().map(|places| self.earlier_count(places) as u64).sum()
    }

    /// How many transactions stand before these places of one.
    fn earlier_count(&self, places: &[(usize, usize)]) -> usize {
        if let [(_, place)] = places {
            return *place;
        }
        let earlier = places.iter().flat_map(|(group, at)| &self.groups[*group][..*at]);
        let mut earlier: Vec<u32> = earlier.map(|one| one.txn).collect();
        earlier.sort_unstable();
        earlier.dedup();
        earlier.len()
    }

    /// Whether two transactions are such a pair.
    pub(crate) fn contains_pair(&self, one: u32, other: u32) -> bool {
        let (Some(one), Some(other)) = (self.places.get(&one), self.places.get(&other)) else {
            return false;
        };
        one.iter().any(|(group, _)| other.iter().any(|(its, _)| its == group))
    }

    /// A pair of each group: each of the two missed what the other one wrote.
    pub(crate) fn example_cycles(&self) -> impl Iterator<Item = [CycleStep; 2]> + '_ {
        self.groups.iter().map(|group| [group[1].step_to(&group[0]), group[0].step_to(&group[1])])
    }
}
