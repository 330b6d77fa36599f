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

use dbdyno_wire::{Client, Rows};
use serde_json::Value;

/// The trace of a statement needs so much memory at most.
const TRACE_BYTES: u64 = 4 << 20;

/// The bounds of a statement's plan on MySQL or MariaDB; `None` where it keeps no trace.
/// `explained` is the answer to its EXPLAIN.
pub(super) fn mysql(client: &mut dyn Client, sql: &str, explained: &Rows) -> Option<String> {
    let trace = traced(client, sql)?;
    let trace: Value = serde_json::from_str(&trace).ok()?;
    let mut bounds = BTreeSet::new();
    ranges(&trace, &mut bounds);
    bounds.extend(looked_up(explained));
    Some(bounds.into_iter().collect::<Vec<_>>().join("; "))
}

/// The optimizer's trace of a statement.
fn traced(client: &mut dyn Client, sql: &str) -> Option<String> {
    client.run(&format!("SET optimizer_trace_max_mem_size={TRACE_BYTES}")).ok()?;
    client.run("SET optimizer_trace='enabled=on'").ok()?;
    let explained = client.query(&format!("EXPLAIN {sql}"));
    let trace = client.query("SELECT trace FROM information_schema.OPTIMIZER_TRACE");
    client.run("SET optimizer_trace='enabled=off'").ok()?;
    explained.ok()?;
    trace.ok()?.rows.into_iter().next()?.into_iter().next()?
}

/// The ranges of each index that was chosen, wherever in the trace.
fn ranges(trace: &Value, found: &mut BTreeSet<String>) {
    match trace {
        Value::Object(fields) => {
            for (name, value) in fields {
                if name == "range_access_plan" {
                    let index = value["index"].as_str().unwrap_or("?");
                    let texts = value["ranges"].as_array().into_iter().flatten();
                    let texts = texts.filter_map(Value::as_str).map(with_holes);
                    found.extend(texts.map(|text| format!("{index}: {text}")));
                }
                ranges(value, found);
            }
        }
        Value::Array(values) => values.iter().for_each(|value| ranges(value, found)),
        _ => {}
    }
}

/// With what rows are looked up where no range is read: `t2: ref const,func`.
fn looked_up(explained: &Rows) -> Vec<String> {
    let at = |name: &str| explained.columns.iter().position(|own| own.eq_ignore_ascii_case(name));
    let (Some(table), Some(by)) = (at("table"), at("ref")) else { return Vec::new() };
    let text = |row: &[Option<String>], at: usize| row.get(at).cloned().flatten();
    let row = |row: &Vec<Option<String>>| {
        let by = text(row, by).filter(|by| !by.is_empty())?;
        Some(format!("{}: ref {by}", text(row, table).unwrap_or_default()))
    };
    explained.rows.iter().filter_map(row).collect()
}

/// The conditions of PostgreSQL's nodes.
pub(super) fn postgres(rows: &Rows) -> String {
    let lines = rows.rows.iter().filter_map(|row| row.first()?.as_deref());
    let conditions = lines.map(str::trim).filter(|line| {
        ["Index Cond:", "Filter:", "Recheck Cond:", "Hash Cond:", "Merge Cond:", "Join Filter:"]
            .iter()
            .any(|kind| line.starts_with(kind))
    });
    conditions.map(with_holes).collect::<Vec<_>>().join("; ")
}

/// A condition with `?` for each literal, and without what releases write differently: brackets,
/// casts, and an equality as two bounds.
fn with_holes(condition: &str) -> String {
    let plain: String = condition.chars().filter(|c| !"()`".contains(*c)).collect();
    let words: Vec<&str> = plain.split_whitespace().collect();
    let mut parts: Vec<String> = Vec::with_capacity(words.len());
    let equality = match words.as_slice() {
        [low, "<=", name @ .., "<=", high] if low == high => Some(name.join(" ")),
        _ => None,
    };
    if let Some(name) = equality {
        return format!("{name} = ?");
    }
    for word in words {
        let word = word.split("::").next().unwrap_or(word);
        let bare = word.trim_end_matches(',');
        let is_number = bare.parse::<f64>().is_ok();
        let is_text = bare.starts_with('\'') || bare.starts_with("0x") || bare.starts_with("'{");
        parts.push(if is_number || is_text { "?".to_owned() } else { word.to_owned() });
    }
    // A list has as many literals as the question happened to have.
    parts.dedup_by(|a, b| a == "?" && b == "?");
    parts.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_are_holes_and_releases_agree() {
        for (condition, bounds) in [
            ("1 <= id <= 5", "? <= id <= ?"),
            ("(1) <= (id) <= (5)", "? <= id <= ?"),
            ("7 <= id <= 7", "id = ?"),
            ("id = 7", "id = ?"),
            ("5 < k", "? < k"),
            ("'a' <= c <= 'b' AND NULL < k", "? <= c <= ? AND NULL < k"),
            ("Index Cond: ((id >= 1) AND (id <= 5))", "Index Cond: id >= ? AND id <= ?"),
            ("Index Cond: (k = ANY ('{1,2,3}'::integer[]))", "Index Cond: k = ANY ?"),
        ] {
            assert_eq!(with_holes(condition), bounds, "{condition}");
        }
    }

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
        ranges(&trace, &mut found);
        let expected = ["k_1: ? <= k <= ?", "k_1: k = ?"].map(str::to_owned);
        assert_eq!(found.into_iter().collect::<Vec<_>>(), expected);
    }
}
