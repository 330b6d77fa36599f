//! What else changed where a level did.
//!
//! A change of level that comes with a new kernel is a question to the kernel first: a published
//! case of a regression was the upgrade of the runner's kernel. Named are facts that rarely change
//! and did so within the range in which the shift may lie. That is a coincidence, not a proof.

use std::collections::BTreeMap;
use std::rc::Rc;

use dbdyno_model::latest_doubt::WORK_GONE;
use dbdyno_model::{Cause, Severity, Shift, Warning};

/// What was true of a run, by name.
pub(super) type Facts = BTreeMap<String, String>;

/// No more of them are told.
const CAUSES_MOST: usize = 12;
/// A fact that changes more often than once in so many runs is no cause of anything rare.
const RUNS_PER_CHANGE: usize = 8;
const CHANGES_LEAST: usize = 3;
/// So many runs did work before none did.
const WORK_RUNS_LEAST: usize = 4;
/// What benchmarks count of what they did.
const WORK: [&str; 22] = [
    "bytes",
    "docs",
    "documents",
    "events",
    "found",
    "hits",
    "inserted",
    "items",
    "keys",
    "matches",
    "operations",
    "ops",
    "processed",
    "queries",
    "records",
    "requests",
    "results",
    "returned",
    "rows",
    "statements",
    "transactions",
    "tuples",
];

/// Facts that changed where the shift may lie, those of the host first.
pub(super) fn shift_causes(shift: &Shift, facts: &[Rc<Facts>]) -> Vec<Cause> {
    let most = (facts.len() / RUNS_PER_CHANGE).max(CHANGES_LEAST);
    let mut causes: Vec<Cause> = Vec::new();
    for at in shift.earliest.max(1)..=shift.latest.min(facts.len().saturating_sub(1)) {
        for (name, after) in facts[at].iter() {
            let Some(before) = facts[at - 1].get(name) else { continue };
            let is_new = causes.iter().all(|cause| cause.fact != *name);
            if before != after && is_new && changes_of(name, facts) <= most {
                causes.push(Cause {
                    at,
                    fact: name.clone(),
                    before: before.clone(),
                    after: after.clone(),
                });
            }
        }
    }
    causes.sort_by_key(|cause| (rank(&cause.fact), cause.at.abs_diff(shift.first)));
    causes.truncate(CAUSES_MOST);
    causes
}

/// How often a fact changes from one run to the next.
fn changes_of(name: &str, facts: &[Rc<Facts>]) -> usize {
    let is_change = |pair: &&[Rc<Facts>]| match (pair[0].get(name), pair[1].get(name)) {
        (Some(before), Some(after)) => before != after,
        _ => false,
    };
    facts.windows(2).filter(is_change).count()
}

/// A caution where runs did work that is counted, and the latest ones did none: no rows are found
/// in no time.
pub(super) fn work_gone(facts: &[Rc<Facts>]) -> Option<Warning> {
    let latest = facts.last()?;
    let gone = latest.keys().filter(|name| is_count_of_work(name)).find_map(|name| {
        let counts: Vec<f64> = facts
            .iter()
            .map(|facts| facts.get(name)?.parse().ok().filter(|count: &f64| *count >= 0.0))
            .collect::<Option<_>>()?;
        let first = counts.iter().position(|&count| count == 0.0)?;
        let is_gone = first >= WORK_RUNS_LEAST && counts[first..].iter().all(|&count| count == 0.0);
        is_gone.then(|| (name, facts[first - 1][name].clone(), first))
    });
    let (name, before, first) = gone?;
    let text = format!(
        "{name:?} was {before} and is 0 from value {} on: runs that do no work are fast for no \
         reason.",
        first + 1
    );
    Some(Warning::new(Severity::Caution, WORK_GONE, text))
}

/// Whether a name counts what a run did, by its last word.
fn is_count_of_work(name: &str) -> bool {
    let last = name.rsplit(|letter: char| !letter.is_alphanumeric()).next().unwrap_or(name);
    WORK.contains(&last.to_lowercase().as_str())
}

/// What is told first.
fn rank(fact: &str) -> usize {
    const FIRST: [&str; 6] = ["host.", "dbdyno", "plan.", "test.server", "base.server", "test."];
    FIRST.iter().position(|word| fact.starts_with(word)).unwrap_or(FIRST.len())
}

/// A note where runs of several hosts stand in turn.
pub(super) fn mixed_hosts(facts: &[Rc<Facts>]) -> Option<Warning> {
    const NAME: &str = "host.cpu.model";
    if changes_of(NAME, facts) < CHANGES_LEAST {
        return None;
    }
    let mut models: Vec<&str> =
        facts.iter().filter_map(|facts| facts.get(NAME)).map(String::as_str).collect();
    models.sort_unstable();
    models.dedup();
    let text = format!(
        "Runs of different hosts stand in turn ({}); what differs between hosts is noise here. Keep \
         one store for each host.",
        models.join(", ")
    );
    Some(Warning::new(Severity::Caution, "mixed-hosts", text))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(name: &str, counts: &[&str]) -> Vec<Rc<Facts>> {
        let of_run = |count: &&str| Rc::new(Facts::from([(name.to_owned(), (*count).to_owned())]));
        counts.iter().map(of_run).collect()
    }

    /// A query that finds nothing is fast, and was told as a change to the better.
    #[test]
    fn runs_that_do_no_work_any_more_are_told() {
        let told = |name, counts: &[&str]| work_gone(&facts(name, counts)).map(|one| one.text);
        let stopped = ["1000", "1000", "1001", "1000", "0", "0"];
        let text = told("result rows", &stopped).unwrap();
        assert!(text.contains("was 1000 and is 0 from value 5 on"), "{text}");
        assert!(told("Rows", &stopped).is_some());
        assert_eq!(told("fsync", &stopped), None, "a switch");
        assert_eq!(told("rows", &["1000", "0", "1000", "1000", "1000", "0"]), None, "as before");
        assert_eq!(told("rows", &["1000", "1000", "1000", "1000", "0", "999"]), None, "again");
        assert_eq!(told("rows", &["many", "many", "many", "many", "0"]), None);
    }
}
