//! The optimizer's trace of MySQL and MariaDB, reduced to decisions.
//!
//! ```text
//!   rows_estimation              range_scan_alternatives      range t2.range_in_b  not taken: cost
//!   considered_execution_plans   considered_access_paths      access t2: scan      taken
//!                                                             join order t1, t2    taken
//! ```
//!
//! Each object with a verdict (`chosen`, `usable`, `pruned_by_cost`) is a decision at the step that
//! its field is named after. Names that are not known are taken as they are, so that a step which a
//! later release adds is a decision as well.

use std::rc::Rc;

use dbdyno_json::JsonTree;

use super::Decision;
use crate::holes::with_holes;

/// Fields, and what their step is called here. The two families and their releases name some steps
/// otherwise.
const STEPS: [(&str, &str); 12] = [
    ("potential_range_indexes", "index"),
    ("potential_range_indices", "index"),
    ("range_scan_alternatives", "range"),
    ("chosen_range_access_summary", "best range"),
    ("considered_access_paths", "access"),
    ("chosen_access_method", "best access"),
    ("considered_execution_plans", "join order"),
    ("rest_of_plan", "join order"),
    ("group_index_range", "group by index"),
    ("skip_scan_range", "skip scan"),
    ("index_order_summary", "order by index"),
    ("rows_estimation", "table"),
];
/// What is joined behind a table that was decided on; it is decided on later.
const REST: &str = "rest_of_plan";
/// Decisions that are looked at: each names the tables joined before it, and a trace of 250 KB that
/// repeats a long list took 1.6 GB.
const WALKED_MOST: usize = 10_000;
/// Kinds of ranges of one index; of two columns there are some ten.
const RANGES_MOST: usize = 100;
/// Tables of a join: MySQL 8.0 Reference Manual, 13.2.13.2, has 61.
const TABLES_MOST: usize = 64;
/// Letters of the name of a table: 64 for those that have one, more for `<subquery2>`.
const NAME_MOST: usize = 80;

/// The decisions of a trace in their order; none of what is no trace.
pub fn of_trace(trace: &JsonTree) -> Vec<Decision> {
    let mut found = Vec::new();
    walk(trace, "", &Place::default(), &mut found);
    found
}

/// Where in the trace one is.
#[derive(Clone, Default)]
struct Place {
    /// The table that is looked at.
    table: String,
    /// Those that are joined already, by all that is inside.
    before: Rc<[String]>,
}

/// Goes through a node of the field `name`. What it consists of is decided before it is.
fn walk(node: &JsonTree, name: &str, place: &Place, found: &mut Vec<Decision>) {
    if found.len() >= WALKED_MOST {
        return;
    }
    match node {
        JsonTree::List(nodes) => nodes.iter().for_each(|one| walk(one, name, place, found)),
        JsonTree::Fields(fields) => {
            let mut place = place.clone();
            if let Some(table) = node.text_field("table") {
                place.table = alias(table);
            }
            if let Some(before) = prefix(node) {
                place.before = before;
            }
            let inner = fields.iter().filter(|(field, _)| field != REST);
            inner.for_each(|(field, inner)| walk(inner, field, &place, found));
            found.extend(decision(node, name, &place));
            let rest = fields.iter().filter(|(field, _)| field == REST);
            rest.for_each(|(field, inner)| walk(inner, field, &place, found));
        }
        _ => {}
    }
}

/// The tables that are joined already: a list, or since MariaDB 10.10 a text.
fn prefix(node: &JsonTree) -> Option<Rc<[String]>> {
    if let Some(list) = node.text_list("plan_prefix") {
        return Some(list.into_iter().take(TABLES_MOST).map(alias).collect());
    }
    let text = node.text_field("plan_prefix")?;
    let names = text.split(',').map(str::trim).filter(|name| !name.is_empty());
    Some(names.take(TABLES_MOST).map(alias).collect())
}

/// What a table is called in the statement: `` `range_in` `t2` `` is t2.
fn alias(table: &str) -> String {
    let last = table.split_whitespace().last().unwrap_or(table);
    last.trim_matches('`').chars().take(NAME_MOST).collect()
}

fn decision(node: &JsonTree, field: &str, place: &Place) -> Option<Decision> {
    let pruned = ["pruned_by_cost", "pruned_by_heuristic"].into_iter();
    let pruned = pruned.filter(|name| node.bool_field(name) == Some(true)).map(words).next();
    let taken =
        node.bool_field("chosen").or(node.bool_field("usable")).or(node.bool_field("plan_changed"));
    let step = STEPS.iter().find(|(name, _)| *name == field).map(|(_, step)| *step);
    let how = match field {
        "chosen_access_method" => node.text_field("type").map(words),
        "rows_estimation" if node.text_field("table_type").is_some() => {
            Some("is one row".to_owned())
        }
        "index_order_summary" => node.text_field("access_type").map(words),
        _ => None,
    };
    // What is weighed on the way to an order has no verdict yet, and numbers that lead to one.
    let is_weighed = match step {
        Some("join order") => node.number_field(&["rows_for_plan"]).is_some(),
        _ => field == "table_scan" && node.number_field(&["rows"]).is_some(),
    };
    if taken.is_none() && pruned.is_none() && how.is_none() && !is_weighed {
        return None;
    }
    let taken = if pruned.is_some() { Some(false) } else { taken };
    Some(Decision {
        step: step.map_or_else(|| words(field), str::to_owned),
        of: of(node, step, place),
        taken,
        why: pruned.or_else(|| node.text_field("cause").map(words)).filter(|_| taken != Some(true)),
        how,
        bounds: node.text_list("ranges").filter(|ranges| !ranges.is_empty()).map(bounds),
        rows: node.number_field(&["rows", "resulting_rows", "records", "rows_for_plan"]),
        cost: node.number_field(&["cost", "cost_for_plan"]),
        filtered: node
            .number_field(&["condition_filtering_pct"])
            .filter(|percent| *percent < 100.0),
    })
}

/// What a decision is about.
fn of(node: &JsonTree, step: Option<&str>, place: &Place) -> String {
    let index = node
        .text_field("index")
        .or(node.get("range_access_plan").and_then(|p| p.text_field("index")));
    let used = node.get("range_details").and_then(|details| details.text_field("used_index"));
    let behind = || {
        if place.before.is_empty() {
            return String::new();
        }
        format!(" after {}", place.before.join(", "))
    };
    match (step, index.or(used)) {
        (Some("join order"), _) => {
            let joined = place.before.iter().chain([&place.table]);
            joined.map(String::as_str).collect::<Vec<_>>().join(", ")
        }
        (Some("access"), index) => {
            let how = node.text_field("access_type").map_or_else(|| "?".to_owned(), words);
            let by = index.map_or(String::new(), |index| format!(" by {index}"));
            format!("{}{}: {how}{by}", place.table, behind())
        }
        (Some("best access"), _) => format!("{}{}", place.table, behind()),
        (_, Some(index)) => format!("{}.{index}", place.table),
        (_, None) => place.table.clone(),
    }
}

/// Each kind of range once; a list of values has as many as the question happened to have.
fn bounds(ranges: Vec<&str>) -> String {
    let mut kinds: Vec<String> = Vec::new();
    for range in ranges {
        let kind = with_holes(range);
        if !kinds.contains(&kind) {
            kinds.push(kind);
        }
        if kinds.len() == RANGES_MOST {
            break;
        }
    }
    kinds.join(" or ")
}

fn words(name: &str) -> String {
    name.replace('_', " ").trim().to_owned()
}
