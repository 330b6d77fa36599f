//! What became of an anomaly, from what the sessions were answered.

use dbdyno_model::isolation::{CaseOutcome, StepAnswer, StepTold};

use crate::case::{Action, Case};
use crate::condition::END;

/// A step that was sent: which one of the case it is, and what came of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Played {
    /// Its place in the case, from 0.
    pub place: usize,
    /// What was said and answered.
    pub told: StepTold,
}

/// Errors by which servers keep transactions apart: MySQL's of deadlocks, waits that took too long,
/// rows that changed, tables that changed, and locks that are not waited for.
const NUMBERS: [u16; 5] = [1213, 1205, 1020, 1412, 3572];
/// SQLSTATEs for the same: serialization failures, deadlocks, locks that are not to be had.
const STATES: [&str; 3] = ["40001", "40P01", "55P03"];

/// Judges a case by its steps, in any order, and by the rows that were left.
pub fn judge(case: &Case, steps: &[Played], end: &StepAnswer) -> CaseOutcome {
    if let Some(silent) = steps.iter().find(|one| one.told.answer == StepAnswer::Nothing) {
        return CaseOutcome::Unknown(format!(
            "T{} had no answer to `{}`, and the server does not say that it waits",
            silent.told.session, silent.told.sql
        ));
    }
    if let Some(text) = steps.iter().find_map(|one| stranger(&one.told)) {
        return CaseOutcome::Unknown(text);
    }
    let answer = |name: &str| {
        let called = |one: &&Played| case.steps[one.place].name.as_deref() == Some(name);
        let named = || steps.iter().find(called).map(|one| &one.told.answer);
        if name == END { Some(end) } else { named() }
    };
    let committed = |one: &&Played| case.steps[one.place].action == Action::Commit;
    let all_committed =
        steps.iter().filter(committed).all(|one| matches!(one.told.answer, StepAnswer::Changed(_)));
    if all_committed && case.occurs.holds(answer) {
        return CaseOutcome::Occurs;
    }
    if let Some(error) = steps.iter().find_map(|one| one.told.answer.error()) {
        return CaseOutcome::ByError(error);
    }
    let waited = |one: &Played| one.told.waited.is_some() && !case.steps[one.place].waits_anyway;
    match steps.iter().any(waited) {
        true => CaseOutcome::ByWaiting,
        false => CaseOutcome::BySnapshot,
    }
}

/// What a server says that has nothing to do with other transactions.
fn stranger(told: &StepTold) -> Option<String> {
    let StepAnswer::Refused { code, sqlstate, message } = &told.answer else { return None };
    let is_known = match code {
        0 => STATES.contains(&sqlstate.as_str()),
        code => NUMBERS.contains(code),
    };
    (!is_known).then(|| format!("T{} was refused `{}`: {message}", told.session, told.sql))
}
