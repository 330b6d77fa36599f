//! What else changed where a level did.
//!
//! A change of level that comes with a new kernel is a question to the kernel first: a published
//! case of a regression was the upgrade of the runner's kernel. Named are facts that rarely change
//! and did so within the range in which the shift may lie. That is a coincidence, not a proof.

use std::collections::BTreeMap;
use std::rc::Rc;

use dbdyno_model::{Cause, Severity, Shift, Warning};

/// What was true of a run, by name.
pub(super) type Facts = BTreeMap<String, String>;

/// No more of them are told.
const CAUSES_MOST: usize = 12;
/// A fact that changes more often than once in so many runs is no cause of anything rare.
const RUNS_PER_CHANGE: usize = 8;
const CHANGES_LEAST: usize = 3;

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
