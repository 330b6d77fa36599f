//! What servers did for an operation by their own account: the lines of that table, for all shapes.

use dbdyno_document::number::{UNKNOWN, ratio, ratio_between, three_digits};
use dbdyno_model::experiment::Sign;
use dbdyno_model::server_facts::FactKind;
use dbdyno_model::{DeadlockCounts, Explanation, FactComparison, FactWorth};

/// Heads of its columns.
pub(super) const HEADS: [&str; 4] = ["what servers did for an operation", "base", "test", "times"];
/// Lines that are shown of what differs; the others are counted.
const SHOWN_MOST: usize = 8;

/// Which facts are shown, and how many more differ.
pub(super) fn shown_facts(of: &Explanation) -> (Vec<&FactComparison>, usize) {
    let telling = of.work.iter().filter(|one| one.worth != FactWorth::Listed);
    let asked_for = |one: &&FactComparison| one.worth == FactWorth::AskedFor;
    if telling.clone().any(|one| asked_for(&one)) {
        (telling.collect(), 0)
    } else {
        (telling.clone().take(SHOWN_MOST).collect(), telling.count().saturating_sub(SHOWN_MOST))
    }
}

/// A line: name and unit, base, test, and how many times as much.
pub(super) fn fact_row(one: &FactComparison) -> [String; 4] {
    let name = match one.fact.kind {
        FactKind::Counter => format!("{}, {}", one.fact.name, one.fact.unit),
        FactKind::Gauge => format!("{}, {} at the end of rounds", one.fact.name, one.fact.unit),
        FactKind::Each(..) => one.fact.name.to_owned(),
    };
    let value = |value: Option<f64>| value.map_or(UNKNOWN.to_owned(), three_digits);
    [name, value(one.base), value(one.test), how_many_times(one)]
}

fn how_many_times(one: &FactComparison) -> String {
    let Some(times) = ratio(one.base, one.test) else { return String::new() };
    match (&one.ratio, one.ratio_to_base(), one.sign) {
        (Some(of), Some(value), _) if of.low.is_finite() && of.high.is_finite() => {
            ratio_between(value, of.low, of.high)
        }
        (_, _, Some(Sign::More | Sign::Less)) => format!("{times}, in all pairs"),
        _ => times,
    }
}

/// Deadlocks by signature, and whose transactions were open, a paragraph each.
pub(super) fn lock_notes(of: &Explanation) -> Vec<String> {
    let count = |count: Option<u64>| count.map_or("none".to_owned(), |count| count.to_string());
    let deadlock = |one: &DeadlockCounts| {
        let DeadlockCounts { signature, count: of } = one;
        format!("deadlocks, base {}, test {}: {signature}", count(of.base), count(of.test))
    };
    let told: u64 = of
        .deadlocks
        .iter()
        .map(|one| one.count.base.unwrap_or(0) + one.count.test.unwrap_or(0))
        .sum();
    let mut notes: Vec<String> = of.deadlocks.iter().take(SHOWN_MOST).map(deadlock).collect();
    if of.deadlocks.len() > SHOWN_MOST {
        notes.push(format!("{} more kinds of deadlocks", of.deadlocks.len() - SHOWN_MOST));
    }
    let counted = of.work.iter().find(|one| one.fact.name == "deadlocks");
    let has_more =
        counted.is_some_and(|one| [one.base, one.test].iter().flatten().any(|n| *n > 0.0));
    if has_more && told < 2 {
        notes.push(
            "InnoDB reports the latest deadlock only, and of each with \
             innodb_print_all_deadlocks=ON"
                .to_owned(),
        );
    }
    for (arm, lines) in [("base", &of.blockers.base), ("test", &of.blockers.test)] {
        if !lines.is_empty() {
            notes.push(format!("{arm} has transactions of others: {}", lines.join("; ")));
        }
    }
    notes
}

/// What is said beneath the table.
pub(super) fn table_note(of: &Explanation) -> Option<String> {
    let (told, more) = shown_facts(of);
    match (of.work.len(), told.len(), more) {
        (0, ..) => None,
        (all, 0, _) => Some(format!(
            "by their own account the servers did the same for an operation, in all {all} facts; \
             `dbdyno explain --all-facts` lists them"
        )),
        (_, _, 0) => None,
        (.., more) => {
            Some(format!("{more} more facts differ; `dbdyno explain --all-facts` lists all"))
        }
    }
}
