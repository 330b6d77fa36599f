//! What PostgreSQL would have done next: its plan with each kind of node forbidden in turn.
//!
//! The planner tells nothing of what it has weighed. A session may forbid a kind of node, though,
//! and the cheapest plan without one of those that were taken is the runner-up. What cannot be done
//! otherwise it does nevertheless: such a plan is none.

use dbdyno_explain::decisions::{Decision, of_nodes};
use dbdyno_model::RunnerUp;
use dbdyno_server::explained_without;
use dbdyno_wire::Client;

/// How nodes begin, and what forbids them.
const NODES: [(&str, &str); 12] = [
    ("Seq Scan", "enable_seqscan"),
    ("Index Scan", "enable_indexscan"),
    ("Index Only Scan", "enable_indexonlyscan"),
    ("Bitmap Heap Scan", "enable_bitmapscan"),
    ("Nested Loop", "enable_nestloop"),
    ("Hash Join", "enable_hashjoin"),
    ("Merge Join", "enable_mergejoin"),
    ("HashAggregate", "enable_hashagg"),
    ("Sort", "enable_sort"),
    ("Materialize", "enable_material"),
    ("Memoize", "enable_memoize"),
    ("Gather", "enable_gathermerge"),
];
/// A plan that does what is forbidden costs so much more before PostgreSQL 18, which says so in a
/// line instead (costsize.c, `disable_cost`).
const FORBIDDEN: f64 = 1e9;
const FORBIDDEN_SINCE_18: &str = "Disabled: true";

/// The runner-up of the plan of a statement, whose nodes are these.
pub(super) fn of_postgres(
    client: &mut dyn Client,
    sql: &str,
    nodes: &[Decision],
) -> Option<RunnerUp> {
    let cost = nodes.first()?.cost?;
    let is_taken = |name: &str| kinds(nodes).any(|kind| kind.starts_with(name));
    let mut best: Option<RunnerUp> = None;
    for (name, switch) in NODES.iter().filter(|(name, _)| is_taken(name)) {
        let Some(explained) = explained_without(client, switch, sql).ok()? else { continue };
        let lines = || explained.rows.iter().filter_map(|row| row.first()?.as_deref());
        let other = of_nodes(lines());
        let is_forbidden = lines().any(|line| line.trim() == FORBIDDEN_SINCE_18);
        let Some(of_other) = other.first().and_then(|node| node.cost) else { continue };
        let is_same = kinds(nodes).eq(kinds(&other));
        if is_forbidden || is_same || of_other >= FORBIDDEN {
            continue;
        }
        if best.as_ref().is_none_or(|best| of_other < best.other) {
            let what = format!("a plan without {name}");
            best = Some(RunnerUp { what, cost, other: of_other });
        }
    }
    best
}

fn kinds(nodes: &[Decision]) -> impl Iterator<Item = &str> {
    nodes.iter().filter_map(|node| node.how.as_deref())
}
