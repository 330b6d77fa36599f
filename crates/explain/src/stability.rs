//! How firmly plans are taken: what came next to them, and what fresh samples of statistics make.
//!
//! Statistics are sampled. A plan that one of ten samples takes and nine do not is a throw of dice;
//! two releases that were thrown for once each say nothing about each other.

use std::collections::{BTreeMap, BTreeSet};

use dbdyno_model::{Environment, PerArm, PlanStability, SampledPlans};
use dbdyno_stats::{SHOWN_CONFIDENCE, share_interval};
use serde::{Deserialize, Serialize};

use crate::decisions;

const SAMPLES: &str = "samples[";
pub(crate) const RUNNER_UP: &str = "runner_up[";

/// How firmly each arm takes its plans, statement by statement, as far as that is known.
pub fn plan_stability(facts: &PerArm<&Environment>) -> Vec<PlanStability> {
    let all = facts.base.facts.keys().chain(facts.test.facts.keys());
    let statements: BTreeSet<(String, u32)> = all.filter_map(|name| statement(name)).collect();
    let of = |(load, statement): (String, u32)| {
        let value = |kind: &str| {
            let name = format!("{kind}{load}].{statement}");
            PerArm { base: facts.base.get(&name), test: facts.test.get(&name) }
        };
        let runner_up = value(RUNNER_UP).map(decisions::read_runner_up);
        let sampled = value(SAMPLES).map(read);
        PlanStability { load, statement, runner_up, sampled }
    };
    statements.into_iter().map(of).collect()
}

/// `samples[LOAD].3` is about the third statement.
fn statement(fact: &str) -> Option<(String, u32)> {
    let rest = [SAMPLES, RUNNER_UP].iter().find_map(|kind| fact.strip_prefix(kind))?;
    let (load, number) = rest.rsplit_once("].")?;
    Some((load.to_owned(), number.parse().ok()?))
}

/// What was seen of a plan under samples, each with the most rows that a step expected, beside the
/// plan that was `noted` before; `None` where no sample showed a plan. Assumes that samples are
/// taken independently of each other.
pub fn sampled_plans(noted: &str, seen: &[(String, u64)]) -> Option<SampledPlans> {
    let mut by_plan: BTreeMap<&String, u32> = BTreeMap::new();
    seen.iter().for_each(|(plan, _)| *by_plan.entry(plan).or_default() += 1);
    let rows = || seen.iter().map(|(_, rows)| *rows);
    let samples = seen.len() as u32;
    let flipped = seen.iter().filter(|(plan, _)| plan != noted).count() as u32;
    let plans = by_plan.into_iter().map(|(plan, count)| (plan.clone(), count));
    let mut plans: Vec<(String, u32)> = plans.collect();
    plans.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let rows = [rows().min()?, rows().max()?];
    with_share(StabilityText { samples, flipped, rows, plans })
}

/// `None` of no samples, of which nothing is known.
fn with_share(
    StabilityText { samples, flipped, rows, plans }: StabilityText,
) -> Option<SampledPlans> {
    let share = share_interval(u64::from(flipped), u64::from(samples), SHOWN_CONFIDENCE)
        .expect("the confidence lies between 0 and 1");
    (samples > 0).then_some(SampledPlans { samples, flipped, share, rows, plans })
}

#[derive(Serialize, Deserialize)]
struct StabilityText {
    samples: u32,
    flipped: u32,
    rows: [u64; 2],
    plans: Vec<(String, u32)>,
}

/// Plans under samples as the text of a fact.
pub fn sampled_plans_text(one: &SampledPlans) -> String {
    let SampledPlans { samples, flipped, rows, plans, share: _ } = one.clone();
    let written = StabilityText { samples, flipped, rows, plans };
    serde_json::to_string(&written).expect("plans are texts and numbers")
}

fn read(text: &str) -> Option<SampledPlans> {
    serde_json::from_str(text).ok().and_then(with_share)
}

#[cfg(test)]
mod tests {
    use super::*;
    use dbdyno_model::RunnerUp;

    #[test]
    fn what_is_known_of_a_statement_is_put_together() {
        let (mut base, mut test) = (Environment::default(), Environment::default());
        let sampled = sampled_plans("ref t.b", &[("ref t.b".to_owned(), 10)]).unwrap();
        let next = RunnerUp { what: "access of t: scan".to_owned(), cost: 10.0, other: 11.0 };
        base.set("samples[a load].2", sampled_plans_text(&sampled));
        test.set("runner_up[a load].2", decisions::runner_up_text(&next));
        test.set("runner_up[other].10", "no runner-up");
        let found = plan_stability(&PerArm { base: &base, test: &test });
        assert_eq!(found.len(), 2);
        assert_eq!((&*found[0].load, found[0].statement), ("a load", 2));
        assert_eq!(found[0].sampled, PerArm { base: Some(sampled), test: None });
        assert_eq!(found[0].runner_up, PerArm { base: None, test: Some(next) });
        assert_eq!(found[1].runner_up, PerArm::default());
    }

    #[test]
    fn plans_that_are_not_the_noted_one_have_flipped() {
        let seen = |plans: &[(&str, u64)]| {
            plans.iter().map(|(plan, rows)| ((*plan).to_owned(), *rows)).collect::<Vec<_>>()
        };
        let three = seen(&[("ref t.b", 10), ("ALL t.-", 400), ("ref t.b", 30)]);
        let found = sampled_plans("ref t.b", &three).unwrap();
        assert_eq!((found.samples, found.flipped, found.rows), (3, 1, [10, 400]));
        assert_eq!(found.plans, [("ref t.b".to_owned(), 2), ("ALL t.-".to_owned(), 1)]);
        // Wilson's interval of 1 of 3, as SciPy 1.10.1 has it.
        assert!(
            (found.share.low - 0.0615).abs() < 1e-3 && (found.share.high - 0.7923).abs() < 1e-3
        );
        assert_eq!(sampled_plans("another", &three).unwrap().flipped, 3);
        assert_eq!(sampled_plans("another", &[]), None, "nothing is known of no samples");
        let none = r#"{"samples":0,"flipped":0,"rows":[0,0],"plans":[]}"#;
        assert_eq!(read(none), None, "earlier releases have stored them");
    }
}
