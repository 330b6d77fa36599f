//! The first decision in which two optimizers part.
//!
//! ```text
//!   base   table scan t2 20188 · index b usable · range t2.b taken (57)       · access range …
//!   test   table scan t2 19678 · index b usable · range t2.b not taken (9839) · access scan …
//!                                                 ╰── here
//! ```
//!
//! Both lists are aligned by step and place with a longest common subsequence. Costs are in units
//! of their own and change with every release: they are told and never compared. Rows are compared
//! as the audit compares estimates. A step that one side alone has counts where it was taken; what
//! neither side took explains nothing.

use dbdyno_model::PlanParting;

use super::Decision;

/// Rows that are so many times apart are not the same estimate, unless both are below the least.
const ROWS_RATIO: f64 = 4.0;
const ROWS_LEAST: f64 = 10.0;

/// Where two lists of decisions part first.
pub(crate) fn plan_parting(base: &[Decision], test: &[Decision]) -> Option<PlanParting> {
    let pairs = aligned(base, test);
    let parted =
        pairs.into_iter().map(|pair| completed(pair, base, test)).find(|pair| match pair {
            (Some(base), Some(test)) => !agree(base, test),
            (Some(one), None) | (None, Some(one)) => is_taken(one),
            (None, None) => unreachable!("an aligned pair has a side"),
        });
    let (base, test) = parted?;
    let named = base.or(test).expect("an aligned pair has a side");
    let told = |side: Option<&Decision>| side.map(told);
    Some(PlanParting { at: place(named), base: told(base), test: told(test) })
}

/// Steps that only list what there is, or sum up what was decided: one family alone has the latter.
const TELLING: [&str; 2] = ["index", "best access"];

/// With what the other side decided at another time: that is no other decision, for orders are
/// tried in the order of tables.
fn completed<'a>(pair: Pair<'a>, base: &'a [Decision], test: &'a [Decision]) -> Pair<'a> {
    match pair {
        (Some(one), None) => (Some(one), test.iter().find(|other| is_same(one, other))),
        (None, Some(one)) => (base.iter().find(|other| is_same(one, other)), Some(one)),
        both => both,
    }
}

fn is_same(one: &Decision, other: &Decision) -> bool {
    one.step == other.step && one.of == other.of
}

/// What is a choice that made a plan, and not one more thing that was looked at.
fn is_taken(one: &Decision) -> bool {
    !TELLING.contains(&one.step.as_str())
        && (one.taken == Some(true) || (one.taken.is_none() && one.how.is_some()))
}

fn agree(base: &Decision, test: &Decision) -> bool {
    if base.taken == Some(false) && test.taken == Some(false) {
        return true;
    }
    let rows = match (base.rows, test.rows) {
        (Some(base), Some(test)) => {
            let (low, high) = (base.min(test), base.max(test));
            high < ROWS_LEAST || high <= ROWS_RATIO * low
        }
        _ => true,
    };
    rows && base.taken == test.taken && base.how == test.how && base.bounds == test.bounds
}

fn place(one: &Decision) -> String {
    if one.of.is_empty() { one.step.clone() } else { format!("{} of {}", one.step, one.of) }
}

/// `not taken: cost (? <= b; rows 9839, cost 3443.91)`.
fn told(one: &Decision) -> String {
    let verdict = match (one.taken, &one.how) {
        (_, Some(how)) => how.clone(),
        (Some(true), None) if one.step == "index" => "usable".to_owned(),
        (Some(false), None) if one.step == "index" => "not usable".to_owned(),
        (Some(true), None) => "taken".to_owned(),
        (Some(false), None) => "not taken".to_owned(),
        (None, None) => "weighed".to_owned(),
    };
    let why = one.why.as_ref().map_or(String::new(), |why| format!(": {why}"));
    let number = |name: &str, value: f64| format!("{name} {}", rounded(value));
    let rows = one.rows.map(|rows| number("rows", rows));
    let cost = one.cost.map(|cost| number("cost", cost));
    let filtered = one.filtered.map(|percent| format!("filtered to {} %", rounded(percent)));
    let numbers = one.bounds.clone().into_iter().chain(rows).chain(filtered).chain(cost);
    let numbers: Vec<String> = numbers.collect();
    if numbers.is_empty() {
        format!("{verdict}{why}")
    } else {
        format!("{verdict}{why} ({})", numbers.join(", "))
    }
}

/// Whole, or with one decimal below 100.
fn rounded(value: f64) -> String {
    let decimals = usize::from(value.abs() < 100.0 && value.fract() != 0.0);
    format!("{value:.decimals$}")
}

type Pair<'a> = (Option<&'a Decision>, Option<&'a Decision>);

/// Both lists side by side: the longest common subsequence of their steps and places.
fn aligned<'a>(base: &'a [Decision], test: &'a [Decision]) -> Vec<Pair<'a>> {
    let (rows, columns) = (base.len(), test.len());
    let mut longest = vec![vec![0_usize; columns + 1]; rows + 1];
    for at in (0..rows).rev() {
        for beside in (0..columns).rev() {
            longest[at][beside] = if is_same(&base[at], &test[beside]) {
                longest[at + 1][beside + 1] + 1
            } else {
                longest[at + 1][beside].max(longest[at][beside + 1])
            };
        }
    }
    let (mut at, mut beside, mut pairs) = (0, 0, Vec::new());
    while at < rows || beside < columns {
        let here = base.get(at).zip(test.get(beside));
        if let Some((one, other)) = here.filter(|(one, other)| is_same(one, other)) {
            pairs.push((Some(one), Some(other)));
            (at, beside) = (at + 1, beside + 1);
        } else if beside == columns
            || (at < rows && longest[at + 1][beside] >= longest[at][beside + 1])
        {
            pairs.push((base.get(at), None));
            at += 1;
        } else {
            pairs.push((None, test.get(beside)));
            beside += 1;
        }
    }
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decision(step: &str, of: &str, taken: Option<bool>, rows: f64) -> Decision {
        let (step, of) = (step.to_owned(), of.to_owned());
        Decision { step, of, taken, rows: Some(rows), ..Decision::default() }
    }

    #[test]
    fn what_is_the_same_or_taken_by_nobody_parts_nothing() {
        let base = [
            decision("table scan", "t", None, 1000.0),
            decision("index", "t.a", Some(true), 1.0),
            decision("range", "t.a", Some(false), 10.0),
        ];
        let mut test = base.to_vec();
        test[0].rows = Some(3900.0);
        test[2].rows = Some(100.0);
        test.push(decision("skip scan", "t", Some(false), 0.0));
        assert_eq!(plan_parting(&base, &test), None);
        test[0].rows = Some(4100.0);
        let parted = plan_parting(&base, &test).unwrap();
        assert_eq!(parted.at, "table scan of t");
        assert_eq!(parted.base.as_deref(), Some("weighed (rows 1000)"));
    }

    #[test]
    fn what_was_decided_alike_at_another_time_parts_nothing() {
        let few = decision("access", "few: scan", Some(true), 10.0);
        let many = decision("access", "many: scan", Some(true), 1000.0);
        assert_eq!(plan_parting(&[few.clone(), many.clone()], &[many.clone(), few.clone()]), None);
        let parted =
            plan_parting(&[few.clone(), many], &[decision("access", "many: scan", None, 1.0), few]);
        assert_eq!(parted.unwrap().at, "access of many: scan");
    }

    #[test]
    fn another_bound_parts_whatever_the_rows() {
        let bounded = |bounds: &str| {
            let bounds = Some(bounds.to_owned());
            [Decision { bounds, ..decision("range", "t.a", Some(true), 10.0) }]
        };
        let parted = plan_parting(&bounded("? <= a <= ?"), &bounded("? <= a")).unwrap();
        assert_eq!(parted.base.as_deref(), Some("taken (? <= a <= ?, rows 10)"));
        assert_eq!(plan_parting(&bounded("? <= a"), &bounded("? <= a")), None);
    }

    #[test]
    fn a_step_that_one_side_alone_took_parts() {
        let base = [decision("range", "t.a", Some(true), 10.0)];
        let test = [
            decision("best access", "t", Some(true), 5.0),
            decision("group by index", "t.b", Some(true), 5.0),
            base[0].clone(),
        ];
        let parted = plan_parting(&base, &test).unwrap();
        assert_eq!(parted.at, "group by index of t.b");
        assert_eq!((parted.base, parted.test.as_deref()), (None, Some("taken (rows 5)")));
    }
}
