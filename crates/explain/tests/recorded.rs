//! Plans that are known to have changed with a release, as servers told them.
//!
//! The traces were recorded from the servers that their files are named after, on tables made as
//! the source describes them, and are kept as far as they decide. What no server of the sandbox
//! shows any more is told with the words of its source.

use dbdyno_explain::decisions::{decisions_text, of_nodes, of_trace};
use dbdyno_explain::plan_changes;
use dbdyno_json::parse_tree;
use dbdyno_model::{Audit, FactChange, Inequality, PlanChange, PlanClass, Weight};

/// Facts of the only statement of a load that are not the same in both arms.
fn told(facts: &[(&str, String, String)]) -> PlanChange {
    let unequal = facts.iter().map(|(kind, base, test)| Inequality {
        name: format!("{kind}[load].1"),
        base: Some(base.clone()),
        test: Some(test.clone()),
        weight: if *kind == "decisions" { Weight::Harmless } else { Weight::Annotates },
        change: FactChange::Default,
        rule: "plan",
        topic: "plans",
    });
    let audit = Audit { unequal: unequal.collect(), equal: 0 };
    let mut changes = plan_changes(&audit, "load");
    assert_eq!(changes.len(), 1);
    changes.remove(0)
}

fn fact(kind: &'static str, base: &str, test: &str) -> (&'static str, String, String) {
    (kind, base.to_owned(), test.to_owned())
}

fn decisions(base: &str, test: &str) -> (&'static str, String, String) {
    (
        "decisions",
        decisions_text(&of_trace(&parse_tree(base).unwrap())),
        decisions_text(&of_trace(&parse_tree(test).unwrap())),
    )
}

/// At which decision, and what base and test decided.
fn parting(change: &PlanChange) -> (&str, Option<&str>, Option<&str>) {
    let parting = change.parting.as_ref().expect("the optimizers part somewhere");
    (&parting.at, parting.base.as_deref(), parting.test.as_deref())
}

/// Wang, Enhanced MySQL, ch. 8.1.1: 8.0.27 loses the upper bound of a range that comes from a table
/// of one row. The plan has the same shape.
#[test]
fn a_lost_bound_of_8_0_27_is_found_at_its_range() {
    let base = include_str!("traces/range_of_a_constant.mysql-8.0.15.json");
    let test = include_str!("traces/range_of_a_constant.mysql-8.0.33.json");
    let change = told(&[
        fact(
            "bounds",
            "range_in_b: ? <= b <= ?; t1: ref const",
            "range_in_b: ? <= b; t1: ref const",
        ),
        fact("estimate", "69", "818"),
        decisions(base, test),
    ]);
    assert_eq!(change.class, PlanClass::Bounds);
    assert_eq!(
        parting(&change),
        (
            "range of t2.range_in_b",
            Some("taken (? <= b <= ?, rows 69, cost 24.4)"),
            Some("taken (? <= b, rows 818, cost 287)"),
        )
    );
}

/// MySQL bug 100191: since 5.7 conditions without an index are believed to filter, and the join
/// begins with the large table.
#[test]
fn another_order_of_tables_since_5_7_is_found_where_it_is_weighed() {
    let base = include_str!("traces/condition_fanout.mysql-5.6.24.json");
    let test = include_str!("traces/condition_fanout.mysql-8.0.33.json");
    let change = told(&[
        fact("plan", "ALL few.-, ref many.b", "ALL many.-, eq_ref few.b"),
        fact("estimate", "100", "10000"),
        decisions(base, test),
    ]);
    assert_eq!(change.class, PlanClass::Shape);
    assert_eq!(
        parting(&change),
        (
            "join order of few, many",
            Some("taken (rows 2500, cost 3021)"),
            Some("taken (rows 450, filtered to 10 %, cost 1585)"),
        )
    );
}

/// A trace of 600 KB in which each decision stands behind the same long list of tables took
/// gigabytes: each of them had the list.
#[test]
fn a_trace_takes_no_more_than_it_is_long() {
    let tables: Vec<String> = (0..50_000).map(|at| format!("`t{at}`")).collect();
    let names = tables.iter().map(|name| format!("\"{name}\"")).collect::<Vec<_>>().join(",");
    let step = r#"{"chosen": true, "access_type": "ref", "index": "a"}"#;
    let steps = vec![step; 50_000].join(",");
    for prefix in [format!("[{names}]"), format!("\"{}\"", tables.join(","))] {
        let trace = format!(
            r#"{{"x": {{"plan_prefix": {prefix}, "considered_access_paths": [{steps}]}}}}"#
        );
        let found = of_trace(&dbdyno_json::parse_tree(&trace).unwrap());
        let letters: usize = found.iter().map(|one| one.of.len()).sum();
        assert!((1_000..=10_000).contains(&found.len()), "{}", found.len());
        assert!(found[0].of.contains("t63") && letters < 10 * trace.len(), "{letters}");
    }
}

/// A trace is a story: what a join order consists of is decided before it, what is joined behind it
/// after it.
#[test]
fn decisions_stand_in_the_order_in_which_they_are_made() {
    let trace = include_str!("traces/condition_fanout.mysql-8.0.33.json");
    let told: Vec<String> = of_trace(&parse_tree(trace).unwrap())
        .iter()
        .map(|one| format!("{} {}", one.step, one.of))
        .collect();
    let expected = [
        "table scan many",
        "table scan few",
        "access few: ref by b",
        "access few: scan",
        "join order few",
        "access many after few: ref by b",
        "access many after few: scan",
        "join order few, many",
        "access many: ref by b",
        "access many: scan",
        "join order many",
        "access few after many: eq ref by b",
        "access few after many: scan",
        "join order many, few",
    ];
    assert_eq!(told, expected);
}

/// MySQL bug 119421, told with its words: 8.4.7 reads by one part of a key where 8.0.39 used two;
/// the second one is a prefix of its column. 9.7.4 uses both again.
#[test]
fn a_lost_part_of_a_key_is_another_shape_with_fewer_bounds() {
    let change = told(&[
        fact("plan", "range repro.PRIMARY", "ref repro.PRIMARY"),
        fact("bounds", "PRIMARY: a = ? AND b = ?", "repro: ref const"),
    ]);
    assert_eq!(change.class, PlanClass::Shape);
    assert_eq!(change.base, "range repro.PRIMARY | PRIMARY: a = ? AND b = ?");
    assert_eq!(change.test, "ref repro.PRIMARY | repro: ref const");
    assert_eq!(change.parting, None, "without a trace nothing is guessed");
}

/// The same join with and without a hash table, in the form of PostgreSQL 17, written by hand.
#[test]
fn nodes_of_postgres_part_outermost_in() {
    let plan = |lines: &str| decisions_text(&of_nodes(lines.lines()));
    let base = "\
Aggregate  (cost=41.50..41.51 rows=1 width=8)
  ->  Hash Join  (cost=4.25..41.25 rows=100 width=0)
        Hash Cond: (many.b = few.b)";
    let test = "\
Aggregate  (cost=61.50..61.51 rows=1 width=8)
  ->  Nested Loop  (cost=0.28..61.25 rows=100 width=0)";
    let change = told(&[
        fact("plan", "Aggregate > Hash Join", "Aggregate > Nested Loop"),
        ("decisions", plan(base), plan(test)),
    ]);
    assert_eq!(
        parting(&change),
        (
            "node 2",
            Some("Hash Join (rows 100, cost 41.2)"),
            Some("Nested Loop (rows 100, cost 61.2)"),
        )
    );
}
