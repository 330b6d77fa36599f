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
//! What test does not take is seen from the other side: b(S) is the cost of an operation in base
//! with S given to it as test has it, so that b(∅) = 1, and what base loses is taken out of the
//! code.
//!
//! ```text
//!   causes: ψ, Σψ = b(D) − 1   others += b(all) − b(D)   code = v(all) − b(all)
//! ```

use std::collections::BTreeMap;

use dbdyno_model::{
    DifferenceAccount, FoundCause, Interaction, Interval, Suspect, TrialDirection, Witness, Worth,
};

use crate::search::{CostEstimate, Set, SetAnswer, WIDE, value_of};

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

/// A difference of which this part was divided by base: what base is off by, it is in that measure.
fn divided(difference: CostEstimate, part: f64, base_error: f64) -> Worth {
    let error = difference.error.hypot(part * base_error);
    CostEstimate { error, ..difference }.worth()
}

/// All sets of these suspects, the empty one included.
pub fn subsets(of: &Set) -> Vec<Set> {
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
        if subsets(&more).iter().all(|set| matches!(known.get(set), Some(SetAnswer::Is(_)))) {
            more
        } else {
            apart
        }
    })
}

/// Parts a difference, once all sets of the causes and the set of all that could be tried are
/// known; `None` before. What is smaller than `least` is no interaction. Base, by which all values
/// were divided, is off by `base_error` itself, as a share.
pub fn account(
    witness: Witness,
    suspects: &[Suspect],
    trials: &CauseTrials<'_>,
    least: f64,
    base_error: f64,
) -> Option<DifferenceAccount> {
    let CauseTrials { known, causes, all } = *trials;
    let with_causes = value_of(known, causes)?;
    let everything = value_of(known, all)?;
    let nothing = value_of(known, &Set::new())?;
    let values = all_values(known, causes)?;
    let of = |set: &Set| values[set];
    let mut found: Vec<FoundCause> = causes
        .iter()
        .map(|one| FoundCause {
            suspect: suspects[*one].clone(),
            direction: TrialDirection::TestAsBase,
            worth: between(shapley(*one, causes, of), base_error),
            alone: between(difference(nothing, of(&Set::from([*one]))), base_error),
        })
        .collect();
    found.sort_by(by_worth);
    Some(DifferenceAccount {
        witness,
        total: beside_base(nothing, base_error),
        causes: found,
        others: between(difference(with_causes, everything), base_error),
        code: beside_base(everything, base_error),
        interactions: interactions(suspects, causes, of, least),
    })
}

/// What all sets of the causes cost; `None` where one is not known.
fn all_values(
    known: &BTreeMap<Set, SetAnswer>,
    causes: &Set,
) -> Option<BTreeMap<Set, CostEstimate>> {
    let values = subsets(causes).into_iter().map(|set| Some((value_of(known, &set)?, set)));
    values.map(|one| one.map(|(value, set)| (set, value))).collect()
}

/// What one value costs more than another.
fn difference(more: CostEstimate, less: CostEstimate) -> CostEstimate {
    sum(&[(1.0, more), (-1.0, less)])
}

/// The worth of a difference between two arms that were both divided by base.
fn between(difference: CostEstimate, base_error: f64) -> Worth {
    divided(difference, difference.cost, base_error)
}

/// The worth of what an arm costs beside base.
fn beside_base(value: CostEstimate, base_error: f64) -> Worth {
    divided(difference(value, base(0.0)), value.cost, base_error)
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
    let itself = base(base_error);
    let mut known = known.clone();
    known.insert(Set::new(), SetAnswer::Is(itself));
    let with_causes = value_of(&known, causes)?;
    let everything = value_of(&known, all)?;
    let values = all_values(&known, causes)?;
    let of = |set: &Set| values[set];
    let mut account = account.clone();
    account.causes.extend(causes.iter().map(|one| {
        let won = shapley(*one, causes, of);
        FoundCause {
            suspect: suspects[*one].clone(),
            direction: TrialDirection::BaseAsTest,
            worth: CostEstimate { cost: -won.cost, ..won }.worth(),
            alone: difference(of(&Set::from([*one])), itself).worth(),
        }
    }));
    account.causes.sort_by(by_worth);
    let (others, code) = (value_of_part(&account.others), value_of_part(&account.code));
    account.others = sum(&[(1.0, others), (1.0, everything), (-1.0, with_causes)]).worth();
    account.code = sum(&[(1.0, code), (-1.0, everything), (1.0, itself)]).worth();
    Some(account)
}

/// The largest first.
fn by_worth(a: &FoundCause, b: &FoundCause) -> std::cmp::Ordering {
    b.worth.cost.estimate.abs().total_cmp(&a.worth.cost.estimate.abs())
}

/// What a part is worth, with the error that its interval has.
fn value_of_part(part: &Worth) -> CostEstimate {
    let Interval { estimate, low, high } = part.cost;
    CostEstimate { cost: estimate, error: (high - low) / (2.0 * WIDE) }
}

/// The mean of what taking `one` back is worth, over all orders of the causes.
fn shapley(one: usize, causes: &Set, of: impl Fn(&Set) -> CostEstimate) -> CostEstimate {
    let others: Set = causes.iter().copied().filter(|other| *other != one).collect();
    let count = causes.len();
    let factorial = |n: usize| (1..=n).product::<usize>() as f64;
    let mut terms: Vec<(f64, CostEstimate)> = Vec::new();
    for before in subsets(&others) {
        let orders = factorial(before.len()) * factorial(count - before.len() - 1);
        let weight = orders / factorial(count);
        let mut after = before.clone();
        after.insert(one);
        terms.extend([(weight, of(&before)), (-weight, of(&after))]);
    }
    sum(&terms)
}

fn interactions(
    suspects: &[Suspect],
    causes: &Set,
    of: impl Fn(&Set) -> CostEstimate,
    least: f64,
) -> Vec<Interaction> {
    let mut found = Vec::new();
    for one in causes {
        for other in causes.range(one + 1..) {
            let set = |members: &[usize]| members.iter().copied().collect::<Set>();
            // g(both) − g(one) − g(other), of g(S) = v(∅) − v(S).
            let (both, none) = (of(&set(&[*one, *other])), of(&Set::new()));
            let alone = [of(&set(&[*one])), of(&set(&[*other]))];
            let beyond = sum(&[(-1.0, both), (1.0, alone[0]), (1.0, alone[1]), (-1.0, none)]);
            if beyond.cost.abs() >= least && beyond.cost.abs() >= WIDE * beyond.error {
                let names = [one, other].map(|one| suspects[*one].name.clone());
                found.push(Interaction {
                    names,
                    each: alone.map(|left| taken_back(none, left)),
                    together: taken_back(none, both),
                    worth: beyond.worth(),
                });
            }
        }
    }
    found
}

/// What causes are worth that were taken back: all that there is, less what is left.
fn taken_back(all: CostEstimate, left: CostEstimate) -> Worth {
    sum(&[(1.0, all), (-1.0, left)]).worth()
}

fn sum(terms: &[(f64, CostEstimate)]) -> CostEstimate {
    CostEstimate {
        cost: terms.iter().map(|(weight, value)| weight * value.cost).sum(),
        error: terms.iter().fold(0.0, |sum: f64, (weight, value)| sum.hypot(weight * value.error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

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
                subsets(&causes).into_iter().zip(values.iter().map(|cost| is(*cost))).collect();
            known.insert(everything.clone(), is(all));
            let account = account(
                Witness::Rate,
                &suspects(6),
                &CauseTrials { known: &known, causes: &causes, all: &everything },
                0.01,
                0.0,
            ).unwrap();
            let parts = account.causes.iter().map(|cause| cause.worth);
            let parts: Vec<Worth> = parts.chain([account.others, account.code]).collect();
            let costs: f64 = parts.iter().map(|part| part.cost.estimate).sum();
            prop_assert!((costs - account.total.cost.estimate).abs() < 1e-12);
            let points: f64 = parts.iter().map(|part| part.points(&account.total).estimate).sum();
            let rqps = 1.0 / (1.0 + account.total.cost.estimate);
            prop_assert!((points - 100.0 * (rqps - 1.0)).abs() < 1e-6, "{points} of {rqps}");
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
            let before = account(Witness::Rate, &suspects(5), &trials, 0.01, 0.0).unwrap();
            let (causes, everything): (Set, Set) = ([2, 3].into(), [2, 3, 4].into());
            let mut known: BTreeMap<Set, SetAnswer> =
                subsets(&causes).into_iter().zip(given.iter().map(|cost| is(*cost))).collect();
            known.insert(everything.clone(), is(given_all));
            let trials = CauseTrials { known: &known, causes: &causes, all: &everything };
            let after = with_given(&before, &suspects(5), &trials, 0.0).unwrap();
            let cost = |worth: &Worth| worth.cost.estimate;
            let sum: f64 = after.causes.iter().map(|cause| cost(&cause.worth)).sum();
            let sum = sum + cost(&after.others) + cost(&after.code);
            prop_assert!((sum - cost(&after.total)).abs() < 1e-9);
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
        let account = account(Witness::Instructions, &suspects(3), &trials, 0.01, 0.0).unwrap();
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

    /// What base is off by makes the whole uncertain, and no part that is nothing.
    #[test]
    fn what_base_is_off_by_is_in_each_part_in_its_measure() {
        let is = |cost| SetAnswer::Is(CostEstimate { cost, error: 0.0 });
        let set = |members: &[usize]| members.iter().copied().collect::<Set>();
        let known =
            BTreeMap::from([(set(&[]), is(3.5)), (set(&[0]), is(1.0)), (set(&[0, 1]), is(1.0))]);
        let trials = CauseTrials { known: &known, causes: &set(&[0]), all: &set(&[0, 1]) };
        let account = account(Witness::Instructions, &suspects(2), &trials, 0.01, 0.01).unwrap();
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
