//! The plan of PostgreSQL as decisions: its nodes, outermost in.

use super::Decision;

/// The nodes of a plan, given the lines of EXPLAIN.
///
/// The trace of PostgreSQL's planner is not to be had; what it decided shows in the nodes that were
/// left, each at its place: `node 2`.
pub fn of_nodes<'a>(lines: impl IntoIterator<Item = &'a str>) -> Vec<Decision> {
    let node = |line: &str| {
        let (name, numbers) = line.split_once("  (cost=")?;
        let after = |mark: &str| {
            let (_, rest) = numbers.split_once(mark)?;
            rest.split([' ', ')']).next()?.parse::<f64>().ok()
        };
        Some((name.trim().trim_start_matches("->").trim().to_owned(), after(".."), after(" rows=")))
    };
    let nodes = lines.into_iter().filter_map(node).enumerate();
    let decision = |(at, (how, cost, rows)): (usize, (String, Option<f64>, Option<f64>))| {
        let step = format!("node {}", at + 1);
        Decision { step, how: Some(how), cost, rows, ..Decision::default() }
    };
    nodes.map(decision).collect()
}
