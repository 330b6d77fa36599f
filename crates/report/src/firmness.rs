//! How firmly plans are taken: how often a fresh sample of the statistics flips them, and what came
//! next to them.
//!
//! A statement is told where a sample has flipped its plan, or where the next plan costs hardly
//! more; the others are counted.

use dbdyno_model::{Arm, PlanStability, SampledPlans};
use serde::Serialize;

use crate::explanation::json::{RunnerUpJson, Sides, runner_up as runner_up_json};
use crate::explanation::plan::runner_up;

/// A plan is fragile whose runner-up costs less than so many times as much.
const FRAGILE: f64 = 1.1;
/// Plans that are named of a statement.
const PLANS_NAMED: usize = 3;

/// What is said of all statements, a paragraph each; nothing where there is nothing to say.
pub(crate) fn stability_notes(all: &[PlanStability]) -> Vec<String> {
    let mut told: Vec<String> = Vec::new();
    let (mut firm, mut samples) = (0, u32::MAX);
    for one in all {
        let of_arms: Vec<String> =
            Arm::BOTH.into_iter().filter_map(|arm| of_arm(one, arm)).collect();
        let sampled = [&one.sampled.base, &one.sampled.test].into_iter().flatten();
        let fewest = sampled.map(|sampled| sampled.samples).min();
        if of_arms.is_empty() && fewest.is_some() {
            firm += 1;
            samples = samples.min(fewest.unwrap_or(0));
        }
        told.extend(
            of_arms
                .iter()
                .map(|of_arm| format!("{}, statement {}: {of_arm}", one.load, one.statement)),
        );
    }
    if firm > 0 {
        let statements = if firm == 1 { "1 statement" } else { &format!("{firm} statements") };
        told.push(format!(
            "{statements}: none of {samples} samples of the statistics flips a plan"
        ));
    }
    told
}

/// What is said of the plan of an arm, where it is not firm.
fn of_arm(one: &PlanStability, arm: Arm) -> Option<String> {
    let next = one.runner_up[arm].as_ref();
    let sampled = one.sampled[arm].as_ref();
    let is_flipped = sampled.is_some_and(|sampled| sampled.flipped > 0);
    let is_near = next.is_some_and(|next| next.cost_ratio() < FRAGILE);
    if !is_flipped && !is_near {
        return None;
    }
    let next = next.map(|next| format!("next to it: {}", runner_up(next)));
    let parts: Vec<String> = sampled.map(flips).into_iter().chain(next).collect();
    Some(format!("{}: {}", arm.name(), parts.join("; ")))
}

/// `the plan flips in 3 of 20 samples of its statistics (15 %, 95 %: 5.2 to 36 %)`.
fn flips(of: &SampledPlans) -> String {
    let SampledPlans { samples, flipped, share, rows: [low, high], plans } = of;
    let mut text = format!(
        "the plan flips in {flipped} of {samples} samples of its statistics ({}, 95 % interval {} \
         to {}), {low} to {high} rows expected",
        percent(share.estimate),
        percent(share.low),
        percent(share.high)
    );
    if *flipped > 0 {
        let named = plans.iter().take(PLANS_NAMED);
        let named: Vec<String> =
            named.map(|(plan, count)| format!("{count} times {plan}")).collect();
        text.push_str(&format!(": {}", named.join("; ")));
    }
    text
}

fn percent(share: f64) -> String {
    format!("{:.0} %", 100.0 * share)
}

/// How firmly the plans of a statement are taken.
#[derive(Serialize)]
pub(crate) struct FirmnessJson<'a> {
    load: &'a str,
    statement: u32,
    #[serde(flatten)]
    arms: Sides<ArmJson<'a>>,
}

#[derive(Serialize)]
struct ArmJson<'a> {
    runner_up: Option<RunnerUpJson<'a>>,
    /// Missing where no samples were taken.
    sampled: Option<SampledJson<'a>>,
}

#[derive(Serialize)]
struct SampledJson<'a> {
    samples: u32,
    flipped: u32,
    share: f64,
    share_low: f64,
    share_high: f64,
    rows_low: u64,
    rows_high: u64,
    plans: Vec<SampledPlanJson<'a>>,
}

#[derive(Serialize)]
struct SampledPlanJson<'a> {
    plan: &'a str,
    samples: u32,
}

pub(crate) fn json(of: &PlanStability) -> FirmnessJson<'_> {
    let side = |arm: Arm| ArmJson {
        runner_up: of.runner_up[arm].as_ref().map(runner_up_json),
        sampled: of.sampled[arm].as_ref().map(sampled),
    };
    let arms = Sides { base: side(Arm::Base), test: side(Arm::Test) };
    FirmnessJson { load: &of.load, statement: of.statement, arms }
}

fn sampled(of: &SampledPlans) -> SampledJson<'_> {
    SampledJson {
        samples: of.samples,
        flipped: of.flipped,
        share: of.share.estimate,
        share_low: of.share.low,
        share_high: of.share.high,
        rows_low: of.rows[0],
        rows_high: of.rows[1],
        plans: of
            .plans
            .iter()
            .map(|(plan, samples)| SampledPlanJson { plan, samples: *samples })
            .collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dbdyno_model::{Interval, PerArm, RunnerUp};

    fn stability(flipped: u32, other: f64) -> PlanStability {
        let plans = vec![("ref t.b".to_owned(), 20 - flipped), ("ALL t.-".to_owned(), flipped)];
        let share = Interval { estimate: f64::from(flipped) / 20.0, low: 0.052, high: 0.36 };
        let sampled = SampledPlans { samples: 20, flipped, share, rows: [10, 400], plans };
        let next = RunnerUp { what: "access of t: scan".to_owned(), cost: 100.0, other };
        PlanStability {
            load: "a load".to_owned(),
            statement: 2,
            runner_up: PerArm { base: None, test: Some(next) },
            sampled: PerArm { base: None, test: Some(sampled) },
        }
    }

    #[test]
    fn plans_that_flip_or_nearly_do_are_told_and_the_others_counted() {
        assert_eq!(
            stability_notes(&[stability(3, 150.0), stability(0, 150.0)]),
            [
                "a load, statement 2: test: the plan flips in 3 of 20 samples of its statistics \
                 (15 %, 95 % interval 5 % to 36 %), 10 to 400 rows expected: 17 times ref t.b; 3 \
                 times ALL t.-; next to it: access of t: scan at 1.50 times the cost",
                "1 statement: none of 20 samples of the statistics flips a plan",
            ]
        );
        let near = stability_notes(&[stability(0, 104.0)]);
        assert_eq!(near.len(), 1);
        assert!(near[0].ends_with("access of t: scan at 1.04 times the cost"), "{near:?}");
        let unsampled = PlanStability { sampled: PerArm::default(), ..stability(0, 150.0) };
        assert!(stability_notes(&[unsampled]).is_empty());
    }
}
