//! Shares of the causes, which add up to the whole.
//!
//! Causes that work together have no share by themselves: what one is worth depends on which others
//! were taken back before. The Shapley value is the mean over all orders, and the only one whose
//! shares add up, treat equals alike and give nothing to what changes nothing (Shapley 1953).
//!
//! ```text
//!   v(∅) = cost of an operation in test ÷ that in base, v(S) = the same with S equal
//!   total = v(∅) − 1   causes: φ, Σφ = v(∅) − v(C)   others = v(C) − v(all)   code = v(all) − 1
//! ```
//!
//! Beside its share, each cause has what it is worth `alone`, which a single trial proves, and all
//! of them have what they are worth together beyond that:
//!
//! ```text
//!   alone(c) = v(∅) − v({c})     together = v(∅) − v(C) − Σ alone
//! ```
//!
//! All of it is computed twice, of v and of 1 ÷ v ([`crate::effect`]): what a part costs in time,
//! and in points of the rate.
//!
//! What test does not take is seen from the other side: b(S) is the cost of an operation in base
//! with S given to it as test has it, so that b(∅) = 1, and what base loses is taken out of the
//! code.
//!
//! ```text
//!   causes: ψ, Σψ = b(D) − 1   others += b(all) − b(D)   code = v(all) − b(all)
//! ```

use std::collections::BTreeMap;

use dbdyno_model::{
    DifferenceAccount, FoundCause, Interaction, Suspect, TrialDirection, Witness, Worth,
};

use crate::effect::{CostEstimate, Effect, WIDE};
use crate::search::{SearchLimits, Set, SetAnswer, value_of};

/// What trials have found of the causes of a difference.
pub struct CauseTrials<'t> {
    /// What is known of each set that was tried.
    pub known: &'t BTreeMap<Set, SetAnswer>,
    /// The causes that are told apart: all their sets have to be known.
    pub causes: &'t Set,
    /// All suspects that could be tried together.
    pub all: &'t Set,
}

/// What an operation costs in base, by which all costs are divided, with its own standard error.
fn base(error: f64) -> CostEstimate {
    CostEstimate { cost: 1.0, error }
}

/// All sets of these suspects, the empty one included.
pub fn all_subsets(of: &Set) -> Vec<Set> {
    let members: Vec<usize> = of.iter().copied().collect();
    let pick = |bits: u32| {
        let chosen = members.iter().enumerate().filter(|(at, _)| bits & (1 << at) != 0);
        chosen.map(|(_, one)| *one).collect()
    };
    (0..1_u32 << members.len()).map(pick).collect()
}

/// The first of these causes that can be told apart: all their sets are known.
pub fn told_apart(causes: impl Iterator<Item = usize>, known: &BTreeMap<Set, SetAnswer>) -> Set {
    causes.fold(Set::new(), |apart, one| {
        let more: Set = apart.iter().copied().chain([one]).collect();
        if all_subsets(&more).iter().all(|set| matches!(known.get(set), Some(SetAnswer::Is(_)))) {
            more
        } else {
            apart
        }
    })
}

/// Parts a difference, once all sets of the causes and the set of all that could be tried are
/// known; `None` before. What is smaller than what was looked for is no interaction. Base, by which
/// all values were divided, is off by `base_error` itself, as a share.
pub fn difference_account(
    witness: Witness,
    suspects: &[Suspect],
    trials: &CauseTrials<'_>,
    limits: &SearchLimits,
    base_error: f64,
) -> Option<DifferenceAccount> {
    let CauseTrials { known, causes, all } = *trials;
    let (with_causes, everything) = (effect_of(known, causes)?, effect_of(known, all)?);
    let nothing = effect_of(known, &Set::new())?;
    let values = all_values(known, causes)?;
    let of = |set: &Set| values[set];
    let mut found: Vec<FoundCause> = causes
        .iter()
        .map(|one| FoundCause {
            suspect: suspects[*one].clone(),
            direction: TrialDirection::TestAsBase,
            worth: between(shapley(*one, causes, of), base_error),
            alone: between(nothing.minus(of(&Set::from([*one]))), base_error),
        })
        .collect();
    found.sort_by(by_worth);
    let rest: Set = all.difference(causes).copied().collect();
    let without_causes = effect_of(known, &rest).filter(|_| !causes.is_empty() && !rest.is_empty());
    Some(DifferenceAccount {
        witness,
        total: beside_base(nothing, base_error),
        causes: found,
        together: between(together(causes, of), base_error),
        not_told_apart: Vec::new(),
        others: between(with_causes.minus(everything), base_error),
        others_alone: without_causes.map(|value| between(nothing.minus(value), base_error)),
        code: beside_base(everything, base_error),
        interactions: interactions(witness, suspects, causes, of, limits),
    })
}

/// Adds causes that are proved by themselves and whose sets with the others are not known.
pub fn with_not_told_apart(
    account: DifferenceAccount,
    suspects: &[Suspect],
    known: &BTreeMap<Set, SetAnswer>,
    causes: impl IntoIterator<Item = usize>,
    base_error: f64,
) -> DifferenceAccount {
    let mut account = account;
    for one in causes {
        let values = (effect_of(known, &Set::new()), effect_of(known, &Set::from([one])));
        let (Some(nothing), Some(with_it)) = values else { continue };
        let alone = between(nothing.minus(with_it), base_error);
        let (suspect, direction) = (suspects[one].clone(), TrialDirection::TestAsBase);
        account.not_told_apart.push(FoundCause { suspect, direction, worth: alone, alone });
    }
    account
}

/// The value of a set, if a trial of it has one.
fn effect_of(known: &BTreeMap<Set, SetAnswer>, set: &Set) -> Option<Effect> {
    value_of(known, set).map(Effect::from_estimate)
}

/// The worth of a difference between two arms that were both divided by base.
fn between(difference: Effect, base_error: f64) -> Worth {
    difference.with_base_error(difference, base_error).with_intervals()
}

/// The worth of what an arm costs beside base.
fn beside_base(value: Effect, base_error: f64) -> Worth {
    value
        .minus(Effect::from_estimate(base(0.0)))
        .with_base_error(value, base_error)
        .with_intervals()
}

/// What all sets of the causes are worth; `None` where one is not known.
fn all_values(known: &BTreeMap<Set, SetAnswer>, causes: &Set) -> Option<BTreeMap<Set, Effect>> {
    let values = all_subsets(causes).into_iter().map(|set| Some((value_of(known, &set)?, set)));
    values.map(|one| one.map(|(value, set)| (set, Effect::from_estimate(value)))).collect()
}

/// What causes are worth together beyond what each of them is worth alone: nothing of one.
fn together(causes: &Set, of: impl Fn(&Set) -> Effect) -> Effect {
    let nothing = of(&Set::new());
    // Each value once, so that what all of them share is no error of theirs.
    let count = causes.len() as f64;
    let alone = causes.iter().map(|one| (1.0, of(&Set::from([*one]))));
    let terms: Vec<(f64, Effect)> =
        alone.chain([(1.0 - count, nothing), (-1.0, of(causes))]).collect();
    if causes.len() < 2 { Effect::sum(&[]) } else { Effect::sum(&terms) }
}

/// Takes out of the code of an account what base loses when it is given what test has: the causes
/// among all that could be given. `None` where not all sets of the causes are known.
pub fn with_given(
    account: &DifferenceAccount,
    suspects: &[Suspect],
    trials: &CauseTrials<'_>,
    base_error: f64,
) -> Option<DifferenceAccount> {
    let CauseTrials { known, causes, all } = *trials;
    let mut known = known.clone();
    known.insert(Set::new(), SetAnswer::Is(base(base_error)));
    let itself = Effect::from_estimate(base(base_error));
    let with_causes = Effect::from_estimate(value_of(&known, causes)?);
    let everything = Effect::from_estimate(value_of(&known, all)?);
    let values = all_values(&known, causes)?;
    let of = |set: &Set| values[set];
    let mut whole = account.clone();
    whole.causes.extend(causes.iter().map(|one| FoundCause {
        suspect: suspects[*one].clone(),
        direction: TrialDirection::BaseAsTest,
        worth: Effect::sum(&[(-1.0, shapley(*one, causes, of))]).with_intervals(),
        alone: of(&Set::from([*one])).minus(itself).with_intervals(),
    }));
    whole.causes.sort_by(by_worth);
    let before = Effect::of_part;
    whole.together = before(&account.together).minus(together(causes, of)).with_intervals();
    whole.others = before(&account.others).plus(everything).minus(with_causes).with_intervals();
    whole.code = before(&account.code).minus(everything).plus(itself).with_intervals();
    Some(whole)
}

/// The largest first.
fn by_worth(a: &FoundCause, b: &FoundCause) -> std::cmp::Ordering {
    b.worth.cost.estimate.abs().total_cmp(&a.worth.cost.estimate.abs())
}

/// The mean of what taking `one` back is worth, over all orders of the causes.
fn shapley(one: usize, causes: &Set, of: impl Fn(&Set) -> Effect) -> Effect {
    let others: Set = causes.iter().copied().filter(|other| *other != one).collect();
    let count = causes.len();
    let factorial = |n: usize| (1..=n).product::<usize>() as f64;
    let mut terms: Vec<(f64, Effect)> = Vec::new();
    for before in all_subsets(&others) {
        let orders = factorial(before.len()) * factorial(count - before.len() - 1);
        let weight = orders / factorial(count);
        let mut after = before.clone();
        after.insert(one);
        terms.extend([(weight, of(&before)), (-weight, of(&after))]);
    }
    Effect::sum(&terms)
}

/// Pairs of causes that do not add up in what the witness is told in: the rate, or instructions.
fn interactions(
    witness: Witness,
    suspects: &[Suspect],
    causes: &Set,
    of: impl Fn(&Set) -> Effect,
    limits: &SearchLimits,
) -> Vec<Interaction> {
    let mut found = Vec::new();
    for one in causes {
        for other in causes.range(one + 1..) {
            let pair = Set::from([*one, *other]);
            // g(both) − g(one) − g(other), of g(S) = v(∅) − v(S).
            let beyond = together(&pair, &of);
            let (part, least) = match witness {
                Witness::Rate => (beyond.rate, limits.least_rate),
                Witness::Instructions => (beyond.cost, limits.least),
            };
            if part.is_at_least(least, WIDE) {
                let nothing = of(&Set::new());
                found.push(Interaction {
                    names: [one, other].map(|one| suspects[*one].name.clone()),
                    each: [one, other]
                        .map(|one| nothing.minus(of(&Set::from([*one]))).with_intervals()),
                    together: nothing.minus(of(&pair)).with_intervals(),
                    worth: beyond.with_intervals(),
                });
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const LIMITS: SearchLimits =
        SearchLimits { least: 0.01, least_rate: 0.01, errors: 3.0, parts: 4 };

    fn suspects(count: usize) -> Vec<Suspect> {
        let one = |at| Suspect {
            name: format!("s{at}"),
            facts: Vec::new(),
            told: Vec::new(),
            given: Vec::new(),
            base: String::new(),
            test: String::new(),
            weight: 1.0,
        };
        (0..count).map(one).collect()
    }

    proptest! {
        /// Whatever the causes do to each other, the lines add up, and so do their points.
        #[test]
        fn the_parts_add_up(
            values in prop::collection::vec(0.3_f64..3.0, 16), all in 0.3_f64..3.0,
        ) {
            let causes: Set = (0..4).collect();
            let everything: Set = (0..6).collect();
            let is = |cost| SetAnswer::Is(CostEstimate { cost, error: 0.001 });
            let mut known: BTreeMap<Set, SetAnswer> =
                all_subsets(&causes).into_iter().zip(values.iter().map(|cost| is(*cost))).collect();
            known.insert(everything.clone(), is(all));
            let account = difference_account(
                Witness::Rate,
                &suspects(6),
                &CauseTrials { known: &known, causes: &causes, all: &everything },
                &LIMITS,
                0.0,
            ).unwrap();
            let parts = account.causes.iter().map(|cause| cause.worth);
            let parts: Vec<Worth> = parts.chain([account.others, account.code]).collect();
            let costs: f64 = parts.iter().map(|part| part.cost.estimate).sum();
            prop_assert!((costs - account.total.cost.estimate).abs() < 1e-12);
            let points: f64 = parts.iter().map(|part| part.points.estimate).sum();
            let rqps = 1.0 / (1.0 + account.total.cost.estimate);
            prop_assert!((points - 100.0 * (rqps - 1.0)).abs() < 1e-6, "{points} of {rqps}");
            // And so do what each is worth alone and what they are worth together beyond that, each
            // of which single trials tell.
            let rate = |set: &[usize]| match known[&set.iter().copied().collect::<Set>()] {
                SetAnswer::Is(value) => 100.0 / value.cost,
                SetAnswer::Refused(_) => panic!("all were measured"),
            };
            let (none, mut sum) = (rate(&[]), 0.0);
            for cause in &account.causes {
                let one = cause.suspect.name[1..].parse::<usize>().unwrap();
                prop_assert!((cause.alone.points.estimate - (none - rate(&[one]))).abs() < 1e-9);
                sum += cause.alone.points.estimate;
            }
            let lines = [account.together, account.others, account.code];
            sum += lines.map(|line| line.points.estimate).iter().sum::<f64>();
            prop_assert!((sum - account.total.points.estimate).abs() < 1e-6);
        }
    }

    proptest! {
        /// What base was given comes out of the code, and out of nothing else.
        #[test]
        fn what_base_loses_comes_out_of_the_code(
            forward in 0.3_f64..3.0, all in 0.3_f64..3.0,
            given in prop::collection::vec(0.3_f64..3.0, 4), given_all in 0.3_f64..3.0,
        ) {
            let is = |cost| SetAnswer::Is(CostEstimate { cost, error: 0.001 });
            let none = Set::new();
            let back: Set = [0, 1].into();
            let known = BTreeMap::from([(none.clone(), is(forward)), (back.clone(), is(all))]);
            let trials = CauseTrials { known: &known, causes: &none, all: &back };
            let before = difference_account(Witness::Rate, &suspects(5), &trials, &LIMITS, 0.0);
            let before = before.unwrap();
            let (causes, everything): (Set, Set) = ([2, 3].into(), [2, 3, 4].into());
            let mut known: BTreeMap<Set, SetAnswer> =
                all_subsets(&causes).into_iter().zip(given.iter().map(|cost| is(*cost))).collect();
            known.insert(everything.clone(), is(given_all));
            let trials = CauseTrials { known: &known, causes: &causes, all: &everything };
            let after = with_given(&before, &suspects(5), &trials, 0.0).unwrap();
            let cost = |worth: &Worth| worth.cost.estimate;
            let sum: f64 = after.causes.iter().map(|cause| cost(&cause.worth)).sum();
            let sum = sum + cost(&after.others) + cost(&after.code);
            prop_assert!((sum - cost(&after.total)).abs() < 1e-9);
            let alone: f64 = after.causes.iter().map(|cause| points(&cause.alone)).sum();
            let lines = alone + points(&after.together) + points(&after.others);
            prop_assert!((lines + points(&after.code) - points(&after.total)).abs() < 1e-6);
            prop_assert!((cost(&before.code) - cost(&after.code) - (given_all - 1.0)).abs() < 1e-9);
            let shares: f64 = after.causes.iter().map(|cause| cost(&cause.worth)).sum();
            prop_assert!((shares - (given[3] - 1.0)).abs() < 1e-9, "what both together cost base");
        }
    }

    #[test]
    fn two_that_work_only_together_share_alike_and_are_told() {
        let is = |cost| SetAnswer::Is(CostEstimate { cost, error: 1e-4 });
        let set = |members: &[usize]| members.iter().copied().collect::<Set>();
        let known = BTreeMap::from([
            (set(&[]), is(1.4)),
            (set(&[0]), is(1.4)),
            (set(&[1]), is(1.4)),
            (set(&[0, 1]), is(1.1)),
            (set(&[0, 1, 2]), is(1.1)),
        ]);
        let (causes, all) = (set(&[0, 1]), set(&[0, 1, 2]));
        let trials = CauseTrials { known: &known, causes: &causes, all: &all };
        let account =
            difference_account(Witness::Instructions, &suspects(3), &trials, &LIMITS, 0.0).unwrap();
        for cause in &account.causes {
            assert!((cause.worth.cost.estimate - 0.15).abs() < 1e-12);
            assert!(cause.alone.cost.estimate.abs() < 1e-12);
        }
        let [one] = account.interactions.as_slice() else { panic!("one interaction") };
        assert!((one.worth.cost.estimate - 0.3).abs() < 1e-12, "together they are worth 0.3");
        assert!((one.together.cost.estimate - 0.3).abs() < 1e-12);
        assert!(one.each.iter().all(|each| each.cost.estimate.abs() < 1e-12));
        assert!(account.others.cost.estimate.abs() < 1e-12);
    }

    /// A journal and its syncs: taken back alone the one brings back a fifth of the rate and the
    /// other one nothing, and both together all of it.
    #[test]
    fn what_only_both_bring_back_stands_in_a_line_of_its_own() {
        let account = of_two([177.0, 5.0, 175.0, 1.0]);
        assert_eq!(account.causes[0].suspect.name, "s0");
        assert!((points(&account.causes[0].alone) + 19.4).abs() < 0.1, "{account:?}");
        assert!(points(&account.causes[1].alone).abs() < 0.1, "{account:?}");
        assert!((points(&account.together) + 80.0).abs() < 0.1, "{account:?}");
        assert!(points(&account.code).abs() < 1e-9 && points(&account.others).abs() < 1e-9);
        assert!(!account.interactions[0].is_only_together(), "{account:?}");
    }

    /// Two switches of the optimizer, either of which heals all.
    #[test]
    fn what_either_of_two_brings_back_is_made_by_both_together() {
        let account = of_two([27.0, 1.01, 1.0, 1.0]);
        assert!(account.causes.iter().all(|cause| points(&cause.alone) < -95.0), "{account:?}");
        assert!((points(&account.together) - 95.3).abs() < 0.2, "{account:?}");
        assert!(account.interactions[0].is_only_together(), "{account:?}");
        // Two that take a third each: what one has taken the other one cannot.
        assert!(!of_two([2.25, 1.5, 1.5, 1.0]).interactions.iter().any(|i| i.is_only_together()));
    }

    fn points(worth: &Worth) -> f64 {
        worth.points.estimate
    }

    /// With nothing, the first, the second and both of two equal, of two that could be.
    fn of_two(costs: [f64; 4]) -> DifferenceAccount {
        let is = |cost| SetAnswer::Is(CostEstimate { cost, error: 0.001 * cost });
        let causes: Set = [0, 1].into();
        let known = all_subsets(&causes).into_iter().zip(costs.map(is)).collect();
        let trials = CauseTrials { known: &known, causes: &causes, all: &causes };
        difference_account(Witness::Rate, &suspects(2), &trials, &LIMITS, 0.0).unwrap()
    }

    /// What base is off by makes the whole uncertain, and no part that is nothing.
    #[test]
    fn what_base_is_off_by_is_in_each_part_in_its_measure() {
        let is = |cost| SetAnswer::Is(CostEstimate { cost, error: 0.0 });
        let set = |members: &[usize]| members.iter().copied().collect::<Set>();
        let known =
            BTreeMap::from([(set(&[]), is(3.5)), (set(&[0]), is(1.0)), (set(&[0, 1]), is(1.0))]);
        let trials = CauseTrials { known: &known, causes: &set(&[0]), all: &set(&[0, 1]) };
        let account =
            difference_account(Witness::Instructions, &suspects(2), &trials, &LIMITS, 0.01)
                .unwrap();
        let error = |worth: &Worth| (worth.cost.high - worth.cost.low) / (2.0 * WIDE);
        assert!((error(&account.total) - 0.035).abs() < 1e-12);
        assert!((error(&account.causes[0].worth) - 0.025).abs() < 1e-12);
        assert!(error(&account.others) < 1e-12);
        assert!((error(&account.code) - 0.01).abs() < 1e-12);
    }

    #[test]
    fn causes_are_told_apart_as_far_as_their_sets_are_known() {
        let value = SetAnswer::Is(CostEstimate { cost: 1.0, error: 0.1 });
        let set = |members: &[usize]| members.iter().copied().collect::<Set>();
        let sets: [&[usize]; 6] = [&[], &[0], &[1], &[2], &[0, 1], &[0, 2]];
        let known = sets.map(|members| (set(members), value.clone())).into();
        assert_eq!(told_apart([0, 1, 2].into_iter(), &known), set(&[0, 1]));
        assert_eq!(told_apart([2, 1, 0].into_iter(), &known), set(&[2, 0]));
        assert_eq!(told_apart([3].into_iter(), &known), Set::new());
    }
}
