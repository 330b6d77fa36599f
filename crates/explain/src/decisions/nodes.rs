//! The plan of PostgreSQL as decisions: its nodes, outermost in.

use super::Decision;

/// The nodes of a plan, given the lines of EXPLAIN.
///
/// The trace of PostgreSQL's planner is not to be had; what it decided shows in the nodes that were
/// left, each at its place: `node 2`.
pub fn of_nodes<'a>(lines: impl IntoIterator<Item = &'a str>) -> Vec<Decision> {
    let nodes = lines.into_iter().filter_map(|line| line.split_once("  (cost=")).enumerate();
    nodes.map(|(at, (name, numbers))| decision(at, name, numbers)).collect()
}

/// The node at this place, from 0, given what stands in its line before and behind `(cost=`.
fn decision(at: usize, name: &str, numbers: &str) -> Decision {
    Decision {
        step: format!("node {}", at + 1),
        how: Some(name.trim().trim_start_matches("->").trim().to_owned()),
        cost: number_after(numbers, ".."),
        rows: number_after(numbers, " rows="),
        ..Decision::default()
    }
}

fn number_after(numbers: &str, mark: &str) -> Option<f64> {
    let (_, rest) = numbers.split_once(mark)?;
    rest.split([' ', ')']).next()?.parse().ok()
}
