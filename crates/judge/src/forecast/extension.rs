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

use std::time::Duration;

use crate::JudgeError;
use crate::extension::{check_extendable, extension_rule};
use crate::sequential::{has_starts, time_spent};
use dbdyno_model::{Cell, Plan, Round, RoundPace, RoundSchedule, Run, Severity, Stopping, Warning};
use dbdyno_stats::ConfidenceSequence;

/// How a run is made longer.
#[derive(Clone, Copy, Debug, Default)]
pub struct Extension {
    /// Pairs that are measured in addition; `None`: as many as the rule allows.
    pub pairs: Option<u32>,
    /// The longest that measuring may take from now on.
    pub limit: Option<Duration>,
}

/// Where nothing is said, a run may become so many times as long as its horizon; one that is as
/// long already, as long as anything is told.
const TIMES: u32 = 3;

/// The plan of `run`, made longer.
///
/// # Errors
/// [`JudgeError::Unlike`] for runs that cannot be: suites, whose order leads from one state of the
/// servers to the next, runs that are not judged by rates in the closed loop and by starts, and
/// more pairs than looks have a chance to err left for.
pub fn extended_plan(run: &Run, extension: &Extension) -> Result<Plan, JudgeError> {
    let plan = &run.plan;
    check_extendable(plan)?;
    let stopping = extension_rule(run.first_pair());
    let (between, horizon) = stopping.look_schedule().unwrap_or((2, 1));
    let told = between.saturating_mul(ConfidenceSequence::STARTS_MAX);
    let most = between.saturating_mul(horizon.saturating_mul(TIMES)).min(told);
    let had = plan.schedule.pairs.max(carried_out(run));
    let wanted = match extension.pairs {
        Some(more) => had.saturating_add(more),
        None if most > had => most,
        None => told.max(had),
    };
    let pairs = wanted.div_ceil(between).saturating_mul(between);
    if pairs > told.max(plan.schedule.pairs) {
        let text = format!(
            "results are looked at {} times at most, after every {between} pairs; this run has {} \
             pairs a cell and may get {} more; begin a new one for more than that",
            ConfidenceSequence::STARTS_MAX,
            had,
            told.saturating_sub(had)
        );
        return Err(JudgeError::Unlike(text));
    }
    let restarts =
        if has_starts(plan) { (pairs / between).saturating_sub(1) } else { plan.schedule.restarts };
    let limit =
        extension.limit.map(|limit| (time_spent(run.first_pair()) + limit).as_nanos() as u64);
    let mut longer = plan.stopped_by(stopping);
    longer.schedule = RoundSchedule { pairs, restarts, limit_ns: limit, ..plan.schedule };
    Ok(longer)
}

/// The pairs of a plan of which the slowest cell has what was measured of it. With longer rounds it
/// has had more than its part where starts were left out ([`RoundPace`]).
fn carried_out(run: &Run) -> u32 {
    /// Rounds end with their last event, so that their length says no more than this.
    const LONGER: f64 = 1.5;
    let of_round = |round: &Round| {
        let window_ns = RoundPace::of_round(&run.plan, round).window.as_nanos() as f64;
        let stretch = window_ns / run.plan.schedule.round_ns as f64;
        let pairs = f64::from(run.plan.question.driving.pair_of(round.key.pair) + 1);
        if stretch < LONGER { 0 } else { (pairs * stretch).ceil() as u32 }
    };
    run.first_pair().rounds().map(of_round).max().unwrap_or(0)
}

/// Pairs of the cell that has the fewest, when the run was judged.
fn judged_pairs(run: &Run) -> u32 {
    let pairs_of = |cell: &Cell| {
        let of_cell = run.first_pair().rounds().filter(|round| round.key.cell == *cell);
        of_cell.map(|round| round.key.pair + 1).max()
    };
    let fewest = run.plan.cells().iter().filter_map(pairs_of).min();
    fewest.map_or(run.plan.schedule.pairs, |pairs| pairs.min(run.plan.schedule.pairs))
}

/// What the reader of a run must know that was made longer after it had been judged once.
pub fn extension_warning(run: &Run, longer: &Plan) -> Option<Warning> {
    (run.plan.rule.stopping == Stopping::Fixed && longer.rule.stopping != Stopping::Fixed).then(|| {
        let text = format!(
            "the run was judged once, after {} pairs of a cell, and extended then, with interim \
             analyses; a cell in which nothing changed is called slower or faster in 1.2 % of such \
             runs instead of 1 %",
            judged_pairs(run)
        );
        Warning::new(Severity::Note, "extended", text)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::forecast::remaining::RemainingWork;
    use crate::sample;
    use std::collections::BTreeSet;

    #[test]
    fn looks_begin_where_the_run_was_judged_and_not_where_it_was_meant_to_end() {
        let mut run = sample::of_pairs(6, "point-query", "sqlite:", 1, |_| {});
        run.plan.schedule.pairs = 48;
        run.plan.schedule.limit_ns = Some(1_000_000_000);
        let plan = extended_plan(&run, &Extension::default()).unwrap();
        assert_eq!(plan.rule.stopping, Stopping::Extended { pairs: 4, judged: vec![2] });
        let told = extension_warning(&run, &plan).unwrap().text;
        assert!(told.contains("after 6 pairs"), "{told}");
        let again =
            extended_plan(&Run { plan: plan.clone(), ..run }, &Extension::default()).unwrap();
        assert_eq!(again.rule.stopping, plan.rule.stopping, "the rule is kept");
    }

    /// What was looked at for three horizons and stayed undecided may go on.
    #[test]
    fn a_run_goes_on_for_as_long_as_its_looks_were_paid_for() {
        let mut run = sample::of_pairs(6, "point-query", "sqlite:", 1, |_| {});
        run.plan.schedule.pairs = 48;
        run.plan.rule.stopping = Stopping::Decided { pairs: 4, horizon: 4 };
        let with = |more| extended_plan(&run, &Extension { pairs: Some(more), limit: None });
        assert_eq!(with(100).unwrap().schedule.pairs, 148);
        assert_eq!(with(912).unwrap().schedule.pairs, 4 * ConfidenceSequence::STARTS_MAX);
        let refused = with(913).unwrap_err().to_string();
        assert!(refused.contains("48 pairs a cell and may get 912 more"), "{refused}");
        assert_eq!(
            extended_plan(&run, &Extension::default()).unwrap().schedule.pairs,
            4 * ConfidenceSequence::STARTS_MAX
        );
    }

    /// Rounds that are ten times as long left time for 21 pairs instead of nine.
    #[test]
    fn a_slow_run_that_had_the_time_of_its_starts_goes_on_too() {
        let mut run = sample::of_pairs(21, "point-query", "sqlite:", 1, |round| {
            round.wall_ns *= 10;
            round.start = round.key.pair / 2;
        });
        run.plan.schedule.round_ns = run.rounds[0].wall_ns / 10;
        (run.plan.schedule.pairs, run.plan.schedule.restarts) = (96, 15);
        for pairs in [None, Some(96)] {
            let plan = extended_plan(&run, &Extension { pairs, limit: None }).unwrap();
            let left = RemainingWork::without_cells(&plan, Some(&run), BTreeSet::new());
            assert!(left.rounds_left > 0, "{pairs:?}: {plan:?}");
        }
    }
}
