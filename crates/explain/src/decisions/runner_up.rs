//! The runner-up: the best plan that an optimizer has weighed and not taken.
//!
//! ```text
//!   join order  few, many 1585   many, few 1355 taken    the other order: 1585 ÷ 1355
//!   access      few after many: eq ref by b 350 taken, scan 9001
//!                                                        the other access: (1355 + 8651) ÷ 1355
//!   range       t.a 24 taken, t.b 31                     likewise
//! ```
//!
//! A plan whose runner-up costs next to nothing more is taken today by the chance of a sample, and
//! the next sample may flip it. An order that was given up half-way costs at least what it had cost
//! until then. Costs are those of one optimizer and compared with nothing else.

use dbdyno_model::RunnerUp;
use serde::{Deserialize, Serialize};

use super::Decision;

const ORDER: &str = "join order";
const ACCESS: &str = "access";
const RANGE: &str = "range";
const SCAN: &str = "table scan";

/// The runner-up of a plan that these decisions have led to; `None` where nothing else was weighed.
pub fn runner_up(decisions: &[Decision]) -> Option<RunnerUp> {
    let orders: Vec<&Decision> = decisions.iter().filter(|one| one.step == ORDER).collect();
    let tables = |order: &Decision| order.of.split(", ").count();
    let most = orders.iter().map(|order| tables(order)).max()?;
    // MySQL says of each that it is the best so far, MariaDB only which ones are not.
    let is_whole = |order: &&&Decision| tables(order) == most && order.taken != Some(false);
    let costs = orders.iter().filter(is_whole).filter_map(|order| Some((order, order.cost?)));
    let (plan, cost) = costs.min_by(|(_, a), (_, b)| a.total_cmp(b))?;
    let rivals = orders.iter().filter(|order| {
        let is_given_up = order.taken == Some(false);
        order.of != plan.of && (is_given_up || tables(order) == most)
    });
    let rivals = rivals.filter_map(|order| Some((place(order), order.cost?)));
    let others = accesses(decisions, plan).into_iter().chain(ranges(decisions, plan));
    let others = others.map(|(what, more)| (what, cost + more));
    let all = rivals.chain(others).filter(|(_, other)| *other >= cost);
    let (what, other) = all.min_by(|(_, a), (_, b)| a.total_cmp(b))?;
    Some(RunnerUp { what, cost, other })
}

fn place(one: &Decision) -> String {
    format!("{} of {}", one.step, one.of)
}

/// Other ways to the tables of the plan, each at its place, with what they cost more.
fn accesses(decisions: &[Decision], plan: &Decision) -> Vec<(String, f64)> {
    let mut found = Vec::new();
    let tables: Vec<&str> = plan.of.split(", ").collect();
    for (at, table) in tables.iter().enumerate() {
        let place = match at {
            0 => format!("{table}: "),
            _ => format!("{table} after {}: ", tables[..at].join(", ")),
        };
        found.extend(dearer(
            decisions.iter().filter(|one| one.step == ACCESS && one.of.starts_with(&place)),
            None,
        ));
    }
    found
}

/// Other indexes to read a range of, for each table of the plan whose range is not settled.
fn ranges(decisions: &[Decision], plan: &Decision) -> Vec<(String, f64)> {
    let mut found = Vec::new();
    for table in plan.of.split(", ") {
        let of_table = format!("{table}.");
        let scan = decisions.iter().find(|one| one.step == SCAN && one.of == table);
        found.extend(dearer(
            decisions.iter().filter(|one| one.step == RANGE && one.of.starts_with(&of_table)),
            scan.and_then(|scan| scan.cost),
        ));
    }
    found
}

/// What was not taken among alternatives, with what each costs more than the one that was; where
/// none was, than what they were weighed against.
fn dearer<'a>(
    alternatives: impl Iterator<Item = &'a Decision>,
    against: Option<f64>,
) -> Vec<(String, f64)> {
    let alternatives: Vec<&Decision> = alternatives.collect();
    let taken = alternatives.iter().rposition(|one| one.taken == Some(true));
    let Some(cost) = taken.map_or(against, |at| alternatives[at].cost) else { return Vec::new() };
    let others = alternatives.iter().enumerate().filter(|(at, _)| Some(*at) != taken);
    let more = others.filter_map(|(_, one)| Some((place(one), one.cost? - cost)));
    more.filter(|(_, more)| *more >= 0.0).collect()
}

/// A runner-up as the text of a fact.
#[derive(Serialize, Deserialize)]
struct RunnerUpText {
    what: String,
    cost: f64,
    other: f64,
}

/// A runner-up as the text of a fact.
pub fn runner_up_text(one: &RunnerUp) -> String {
    let RunnerUp { what, cost, other } = one.clone();
    serde_json::to_string(&RunnerUpText { what, cost, other }).expect("a name and two numbers")
}

/// A runner-up from the text of a fact; `None` where it is none.
pub(crate) fn read(text: &str) -> Option<RunnerUp> {
    let RunnerUpText { what, cost, other } = serde_json::from_str(text).ok()?;
    Some(RunnerUp { what, cost, other })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decision(step: &str, of: &str, taken: Option<bool>, cost: f64) -> Decision {
        let (step, of) = (step.to_owned(), of.to_owned());
        Decision { step, of, taken, cost: Some(cost), ..Decision::default() }
    }

    #[test]
    fn the_nearest_of_orders_accesses_and_ranges_is_it() {
        let mut decisions = vec![
            decision(SCAN, "a", None, 20.0),
            decision(RANGE, "a.x", Some(false), 29.0),
            decision(ACCESS, "a: scan", Some(true), 20.0),
            decision(ORDER, "a", None, 20.0),
            decision(ACCESS, "b after a: ref by y", Some(true), 80.0),
            decision(ACCESS, "b after a: scan", Some(false), 95.0),
            decision(ORDER, "a, b", Some(true), 100.0),
            decision(ORDER, "b", Some(false), 104.0),
        ];
        let found = |decisions: &[Decision]| {
            let one = runner_up(decisions).unwrap();
            (one.what.clone(), one.cost_ratio())
        };
        assert_eq!(found(&decisions), ("join order of b".to_owned(), 1.04));
        decisions.pop();
        assert_eq!(found(&decisions), ("range of a.x".to_owned(), 1.09));
        decisions.remove(1);
        assert_eq!(found(&decisions), ("access of b after a: scan".to_owned(), 1.15));
        decisions.remove(4);
        assert_eq!(runner_up(&decisions), None, "nothing else was weighed");
        assert_eq!(runner_up(&[]), None);
    }

    #[test]
    fn an_order_that_was_the_best_until_a_better_one_came_is_the_runner_up() {
        let decisions = [
            decision(ORDER, "a, b", Some(true), 120.0),
            decision(ORDER, "b, a", Some(true), 100.0),
        ];
        let one = runner_up(&decisions).unwrap();
        assert_eq!((&*one.what, one.cost_ratio()), ("join order of a, b", 1.2));
        assert_eq!(read(&runner_up_text(&one)), Some(one));
    }
}
