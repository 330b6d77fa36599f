//! Making a run longer that did not decide everything.
//!
//! ```text
//!   looked at     ├──┼──┼──┼──┼ 12 starts ┼──┼──┼──┼──        goes on by the same rule
//!   judged once   ├───────────┤ 12 starts ┼──┼──┼──┼──        from here on it is looked at
//! ```
//!
//! Whoever adds pairs to a run because it stayed undecided has looked. A run that was looked at all
//! along may go on for as long as its looks were paid for; one that was planned to be judged once
//! has spent its chance to err, and the looks from then on may spend a fifth of it once more: 1.2 %
//! instead of 1 % in all, which is counted in the crate `stats` and said in the run.

use dbdyno_model::{IntervalChoice, IntervalKind, Plan, RunPair, Stage, Stopping};
use dbdyno_workload::planned;

use crate::error::JudgeError;
use crate::sequential;

/// Stretches that a run is taken to have had which was not looked at and whose servers lived once.
const STRETCHES: u32 = 12;
/// The plan of a run by the rule by which it is made longer; `None` where it cannot be.
pub(crate) fn looked_at(run: RunPair<'_>) -> Option<Plan> {
    check_extendable(run.plan()).ok()?;
    Some(run.plan().stopped_by(extension_rule(run)))
}

/// The rule by which a run is made longer: from now on it is looked at.
pub(crate) fn extension_rule(run: RunPair<'_>) -> Stopping {
    match &run.plan().rule.stopping {
        // What ended it is no look at starts; all that it has was looked at once by now.
        Stopping::Fixed | Stopping::Known { .. } => judged_once(run),
        looked_at => looked_at.clone(),
    }
}

/// Says why a run of this plan cannot be made longer.
///
/// # Errors
/// [`JudgeError::Unlike`]: why.
pub(crate) fn check_extendable(plan: &Plan) -> Result<(), JudgeError> {
    let steps = || plan.cells().iter().any(|cell| planned::step_of(cell).is_some());
    if !plan.question.stages.iter().all(|stage| matches!(stage, Stage::Measure(_))) || steps() {
        let text = "a suite cannot be made longer, for its order leads from one state of the \
                    servers to the next; begin a new run with more --rounds";
        return Err(JudgeError::Unlike(text.to_owned()));
    }
    if plan.question.driving != dbdyno_model::Driving::Closed {
        let text = format!(
            "a run that is driven by {} is judged once and cannot be made longer; begin a new one \
             with more --rounds",
            plan.question.driving
        );
        return Err(JudgeError::Unlike(text));
    }
    refuse_levels(plan)
}

/// The rule for a run that was judged once: when its cells ended, which a limit on time may have
/// done after different numbers of starts.
fn judged_once(run: RunPair<'_>) -> Stopping {
    let plan = run.plan();
    let parts = if sequential::has_starts(plan) { plan.schedule.restarts + 1 } else { STRETCHES };
    let pairs = (plan.schedule.pairs / parts.max(1) / 2 * 2).max(2);
    let looked_at = plan.stopped_by(Stopping::Extended { pairs, judged: Vec::new() });
    Stopping::Extended {
        pairs,
        judged: plan
            .cells()
            .iter()
            .map(|cell| sequential::starts_so_far(&looked_at, run, cell))
            .collect(),
    }
}

/// What starts are the replicates of can be looked at, and nothing else.
fn refuse_levels(plan: &Plan) -> Result<(), JudgeError> {
    let text = match plan.rule.interval {
        _ if plan.schedule.reloads > 0 => {
            "a run in which tables were filled anew is judged by its fillings, once, and cannot be \
             made longer; begin a new one with more --reloads"
                .to_owned()
        }
        IntervalChoice::Auto | IntervalChoice::Given(IntervalKind::T) => return Ok(()),
        other => format!(
            "--interval {other} is for results that are judged once, and this run cannot be made \
             longer; begin a new one with more --rounds"
        ),
    };
    Err(JudgeError::Unlike(text))
}
