//! Between which bounds a plan reads: what tells two plans of one shape apart.
//!
//! A range that lost one of its bounds is a plan of the same shape that reads a thousand times as
//! many rows, as MySQL 8.0.27 did where a bound came from a table with one row (Wang, Enhanced
//! MySQL, ch. 8.1.1). The bounds stand in the optimizer's trace of MySQL and MariaDB, and in the
//! plan of PostgreSQL; SQLite's are a part of its shape.
//!
//! ```text
//!   MySQL, MariaDB   k_1: ? <= k <= ?         ranges of the index that was chosen, literals as ?
//!                    t2: ref const            with what a key is looked up otherwise
//!   PostgreSQL       Index Cond: k >= ? AND k <= ?
//! ```

use std::collections::BTreeSet;

use dbdyno_explain::with_holes;
use dbdyno_json::JsonTree;
use dbdyno_wire::Rows;

/// The bounds of a statement's plan on MySQL or MariaDB. `explained` is the answer to its EXPLAIN.
pub(super) fn mysql_bounds(trace: &JsonTree, explained: &Rows) -> String {
    let mut bounds = BTreeSet::new();
    ranges(trace, &mut bounds);
    bounds.extend(looked_up(explained));
    bounds.into_iter().collect::<Vec<_>>().join("; ")
}

/// The ranges of each index that was chosen, wherever in the trace.
fn ranges(trace: &JsonTree, found: &mut BTreeSet<String>) {
    if let JsonTree::Fields(fields) = trace {
        for (_, plan) in fields.iter().filter(|(name, _)| name == "range_access_plan") {
            let index = plan.text_field("index").unwrap_or("?");
            let texts = plan.get("ranges").into_iter().flat_map(JsonTree::children);
            let texts = texts.filter_map(JsonTree::as_text).map(with_holes);
            found.extend(texts.map(|text| format!("{index}: {text}")));
        }
    }
    trace.children().for_each(|inner| ranges(inner, found));
}

/// With what rows are looked up where no range is read: `t2: ref const,func`.
fn looked_up(explained: &Rows) -> Vec<String> {
    let (Some(table), Some(by)) = (explained.column("table"), explained.column("ref")) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for row in &explained.rows {
        let text = |at: usize| row.get(at)?.as_deref();
        if let Some(by) = text(by).filter(|by| !by.is_empty()) {
            found.push(format!("{}: ref {by}", text(table).unwrap_or_default()));
        }
    }
    found
}

/// The conditions of PostgreSQL's nodes.
pub(super) fn postgres_bounds(rows: &Rows) -> String {
    let lines = rows.rows.iter().filter_map(|row| row.first()?.as_deref());
    let conditions = lines.map(str::trim).filter(|line| {
        ["Index Cond:", "Filter:", "Recheck Cond:", "Hash Cond:", "Merge Cond:", "Join Filter:"]
            .iter()
            .any(|kind| line.starts_with(kind))
    });
    conditions.map(with_holes).collect::<Vec<_>>().join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ranges_of_chosen_indexes_are_found_wherever_they_stand() {
        let trace = serde_json::json!({ "steps": [ { "join_optimization": { "steps": [
            { "rows_estimation": [ { "range_analysis": {
                "analyzing_range_alternatives": { "range_scan_alternatives": [
                    { "index": "other", "ranges": ["1 <= a"] } ] },
                "chosen_range_access_summary": { "range_access_plan": {
                    "type": "range_scan", "index": "k_1",
                    "ranges": ["3 <= k <= 3", "8 <= k <= 8", "9 <= k <= 12"] } } } } ] } ] } } ] });
        let mut found = BTreeSet::new();
        ranges(&dbdyno_json::parse_tree(&trace.to_string()).unwrap(), &mut found);
        let expected = ["k_1: ? <= k <= ?", "k_1: k = ?"].map(str::to_owned);
        assert_eq!(found.into_iter().collect::<Vec<_>>(), expected);
    }
}
