//! What a read must see, by the definitions of the levels that say so: Terry et al., PDIS 1994;
//! Biswas, Enea, OOPSLA 2019.

use std::collections::HashSet;

use super::facts::Facts;
use crate::history::INITIAL;
use crate::level::Level;

/// Whether the read at a place of a transaction must see another transaction.
pub(super) fn must_see(
    facts: &Facts<'_>,
    level: Level,
    txn: usize,
    place: usize,
    other: usize,
) -> bool {
    let is_earlier = |one: usize, two: usize| facts.is_earlier_in_session(one, two);
    match level {
        Level::ReadYourWrites => is_earlier(other, txn),
        Level::MonotonicReads => facts
            .earlier_in_session(txn)
            .any(|own| sources(facts, own, usize::MAX).contains(&other)),
        Level::MonotonicWrites => {
            sources(facts, txn, usize::MAX).iter().any(|source| is_earlier(other, *source))
        }
        Level::WritesFollowReads => sources(facts, txn, usize::MAX).iter().any(|&source| {
            let own = facts.earlier_in_session(source).chain([source]);
            own.into_iter().any(|own| sources(facts, own, usize::MAX).contains(&other))
        }),
        Level::MonotonicReadCommitted => sources(facts, txn, place).contains(&other),
        Level::ReadAtomic => {
            is_earlier(other, txn) || sources(facts, txn, usize::MAX).contains(&other)
        }
        _ => leads_to(facts, other, txn),
    }
}

/// The transactions that one read before a place.
fn sources(facts: &Facts<'_>, txn: usize, place: usize) -> Vec<usize> {
    let sights = facts.external_reads(txn);
    let before = sights.iter().filter(|sight| sight.place < place && sight.value != INITIAL);
    before
        .filter_map(|sight| facts.counted_writer(sight.key, facts.resolved_version(sight)))
        .collect()
}

/// Whether a path of reads and sessions leads from one transaction to another.
fn leads_to(facts: &Facts<'_>, from: usize, to: usize) -> bool {
    let mut reached = HashSet::from([to]);
    let mut todo = vec![to];
    while let Some(txn) = todo.pop() {
        let before =
            sources(facts, txn, usize::MAX).into_iter().chain(facts.earlier_in_session(txn).next());
        for other in before {
            if other == from {
                return true;
            }
            if reached.insert(other) {
                todo.push(other);
            }
        }
    }
    false
}
