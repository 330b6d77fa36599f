//! The search for causes by group tests: what to try next, given what was tried.
//!
//! ```text
//!   all ──┬─ part 1   no effect: all of it is ruled out
//!         ├─ part 2   an effect ──┬─ part 2.1   …
//!         │                       └─ part 2.2   …until a single suspect is left
//!         └─ part 3   no effect
//!   effect of all ≠ sum of the parts: some work only together; each part is searched once more
//!   while the others are made equal (Zeller, "Yesterday, my program worked", 1999: interference)
//! ```
//!
//! Those that work only together are looked for only where the causes that work alone, taken back
//! together, do not make what all of them make.
//!
//! Where facts of the cell point to a few suspects ([`crate::Pointing`]), each of them is tried
//! alone first, beside all together and beside all the others: three trials then know a cause that
//! makes what all of them make, while the others, taken back without it, bring nothing back. If
//! they do, the difference is made by one of each together, and the others are looked at, too.
//!
//! A handful of trials thus finds a few causes among a hundred suspects (Dorfman, "The Detection of
//! Defective Members of Large Populations", 1943). Parts have about equal weight, so that suspects
//! which mattered elsewhere are tried almost alone.
//!
//! The search is a function of what is known: it goes down as far as values are there, and asks for
//! those that are not. Whoever carries trials out calls it again; what was stored is never tried
//! twice, so that an interrupted explanation goes on where it was.

use std::collections::{BTreeMap, BTreeSet};

use dbdyno_model::Suspect;

use crate::effect::{CostEstimate, Effect};
use crate::usual;

/// Suspects that are made equal, by their place in the list.
pub type Set = BTreeSet<usize>;

/// What is known of a set.
#[derive(Clone, Debug, PartialEq)]
pub enum SetAnswer {
    /// It was measured.
    Is(CostEstimate),
    /// The server did not start so; the suspects that it names itself, if any.
    Refused(Set),
}

/// How finely is looked.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SearchLimits {
    /// The least effect that matters, as a share of the cost of an operation in base.
    pub least: f64,
    /// And the least one of the rate, as a share of that of base: what is nothing beside a factor
    /// of a hundred may be most of what users get once the first cause is taken back.
    pub least_rate: f64,
    /// And how many times its standard error it must be.
    pub errors: f64,
    /// The most parts that a group is split into.
    pub parts: usize,
}

/// What comes next.
#[derive(Clone, Debug, PartialEq)]
pub enum NextTrials {
    /// These are to be tried, the most telling first.
    Wanted(Vec<Set>),
    /// Nothing more is to be tried.
    Done(SearchFinding),
}

/// What the search has found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SearchFinding {
    /// Suspects that make a difference, alone or with others.
    pub causes: Set,
    /// Suspects with which the server does not start.
    pub refused: Set,
}

/// What is to be tried next for causes among so many suspects, without those that are `dropped`.
/// The empty set, test as it is, must be known.
///
/// # Panics
/// Where the empty set is not known.
pub fn next_trials(
    suspects: &[Suspect],
    known: &BTreeMap<Set, SetAnswer>,
    limits: &SearchLimits,
    dropped: &Set,
) -> NextTrials {
    let refused = refused_suspects(known);
    let out = refused.union(dropped).copied().collect();
    let begin = |interplay| Search {
        suspects,
        known,
        limits,
        out: &out,
        interplay,
        wanted: Vec::new(),
        causes: Set::new(),
    };
    let all: Vec<usize> = (0..suspects.len()).collect();
    let mut first = begin(Interplay::Ignored);
    let is_explained = first.by_those_pointed_to(&all);
    if is_explained || !first.wanted.is_empty() {
        return if first.wanted.is_empty() {
            NextTrials::Done(SearchFinding { causes: first.causes, refused })
        } else {
            NextTrials::Wanted(first.wanted)
        };
    }
    let mut alone = begin(Interplay::Ignored);
    alone.within(&all, &Set::new());
    if alone.wanted.is_empty() && !alone.is_explained(&all) && alone.wanted.is_empty() {
        let causes = std::mem::take(&mut alone.causes);
        alone = begin(Interplay::Sought);
        alone.within(&all, &Set::new());
        alone.causes.extend(causes);
    }
    if alone.wanted.is_empty() {
        NextTrials::Done(SearchFinding { causes: alone.causes, refused })
    } else {
        NextTrials::Wanted(alone.wanted)
    }
}

/// Suspects with which the server does not start: it has named them, or was told one alone.
pub fn refused_suspects(known: &BTreeMap<Set, SetAnswer>) -> Set {
    let mut refused = Set::new();
    for (set, told) in known {
        if let SetAnswer::Refused(named) = told {
            refused.extend(named.intersection(set));
            refused.extend(set.iter().filter(|_| set.len() == 1));
        }
    }
    refused
}

/// Suspects that are proved to be causes, each by itself, the largest first, with what an operation
/// costs where it alone is equal: they can be told while others are looked for.
pub fn proved_causes(
    known: &BTreeMap<Set, SetAnswer>,
    limits: &SearchLimits,
) -> Vec<(usize, CostEstimate)> {
    let Some(nothing) = value_of(known, &Set::new()) else { return Vec::new() };
    let alone = known.keys().filter(|set| set.len() == 1);
    let alone = alone.filter_map(|set| Some((*set.first()?, value_of(known, set)?)));
    let mut proved: Vec<(usize, CostEstimate)> =
        alone.filter(|(_, alone)| matters(effect_of(*alone, nothing), limits)).collect();
    proved.sort_by(|(_, a), (_, b)| {
        (b.cost - nothing.cost).abs().total_cmp(&(a.cost - nothing.cost).abs())
    });
    proved
}

/// What an operation costs where a set is equal, if a trial of it has a value.
pub(crate) fn value_of(known: &BTreeMap<Set, SetAnswer>, set: &Set) -> Option<CostEstimate> {
    match known.get(set) {
        Some(SetAnswer::Is(value)) => Some(*value),
        _ => None,
    }
}

/// Whether suspects are looked for that work only together.
#[derive(Clone, Copy, PartialEq)]
enum Interplay {
    Ignored,
    Sought,
}

struct Search<'a> {
    suspects: &'a [Suspect],
    known: &'a BTreeMap<Set, SetAnswer>,
    limits: &'a SearchLimits,
    /// Suspects that take no part.
    out: &'a Set,
    interplay: Interplay,
    wanted: Vec<Set>,
    causes: Set,
}

impl Search<'_> {
    /// Looks for causes in `group`, a part of the list in its order, while `equal` are equal.
    fn within(&mut self, group: &[usize], equal: &Set) {
        let left: Set = self.left(group);
        if left.is_empty() {
            return;
        }
        let both = |more: &Set| equal.union(more).copied().collect::<Set>();
        let parts = parts_of(group, self.suspects, self.limits.parts);
        let first_of_all = self.known.len() == 1;
        let before = self.value(equal);
        let whole = self.value(&both(&left));
        // At the very beginning the whole and its parts are tried in one go: nearly always there is
        // something to find.
        if whole.is_none() && !first_of_all {
            return;
        }
        let effect = match (before, whole.flatten()) {
            (Some(Some(before)), Some(after)) => Some(effect_of(after, before)),
            _ => None,
        };
        if let Some(effect) = effect {
            let matters = self.matters(effect);
            if left.len() == 1 && matters {
                self.causes.extend(&left);
            }
            if left.len() == 1 || (!matters && !equal.is_empty()) {
                return;
            }
            // Of all suspects, the parts are looked at in any case: two may balance each other.
            if !matters && group.len() < self.suspects.len() {
                return;
            }
        }
        if left.len() == 1 {
            return;
        }
        let effects: Vec<Option<Effect>> = parts
            .iter()
            .map(|part| {
                let left = self.left(part);
                let value = (!left.is_empty()).then(|| self.value(&both(&left)))?;
                Some(effect_of(value??, before.flatten()?))
            })
            .collect();
        for (part, of_part) in parts.iter().zip(&effects) {
            let is_refused =
                matches!(self.known.get(&both(&self.left(part))), Some(SetAnswer::Refused(_)));
            if is_refused || of_part.is_some_and(|effect| self.matters(effect)) {
                self.within(part, equal);
            }
        }
        if self.interplay == Interplay::Sought {
            self.interference(&parts, &effects, effect, equal);
        }
    }

    /// Whether those that facts point to, where they are few, make what all suspects make, and the
    /// others bring nothing back without them: each is tried alone, and all the others together.
    fn by_those_pointed_to(&mut self, all: &[usize]) -> bool {
        let left = self.left(all);
        let heaviest = left.iter().map(|one| self.suspects[*one].weight).fold(0.0, f64::max);
        let likely: Vec<usize> =
            left.iter().copied().filter(|one| self.suspects[*one].weight == heaviest).collect();
        let is_for_few = likely.len() < self.limits.parts && likely.len() < left.len();
        if !is_for_few || !usual::is_pointed_to(heaviest) {
            return false;
        }
        let before = self.value(&Set::new());
        let whole = self.value(&left);
        let alone: Vec<_> = likely.iter().map(|one| self.value(&Set::from([*one]))).collect();
        let others: Set = left.iter().copied().filter(|one| !likely.contains(one)).collect();
        let others = self.value(&others);
        let (Some(Some(before)), Some(Some(_))) = (before, whole) else { return false };
        for (one, alone) in likely.iter().zip(alone) {
            if alone.flatten().is_some_and(|alone| self.matters(effect_of(alone, before))) {
                self.causes.insert(*one);
            }
        }
        let is_made_with_others =
            others.flatten().is_some_and(|others| self.matters(effect_of(others, before)));
        !is_made_with_others
            && !self.causes.is_empty()
            && self.wanted.is_empty()
            && self.is_explained(all)
    }

    /// Whether the causes that were found make together what all suspects make.
    fn is_explained(&mut self, all: &[usize]) -> bool {
        let (all, causes) = (self.left(all), self.causes.clone());
        match (self.value(&causes), self.value(&all)) {
            (Some(Some(causes)), Some(Some(all))) => !self.matters(effect_of(all, causes)),
            // With all of them the server does not start: nothing is known that speaks against it.
            (Some(_), Some(_)) => true,
            _ => false,
        }
    }

    /// Looks for those that work only together, where the parts of a group do not add up.
    fn interference(
        &mut self,
        parts: &[Vec<usize>],
        effects: &[Option<Effect>],
        whole: Option<Effect>,
        equal: &Set,
    ) {
        let Some(whole) = whole else { return };
        let present: Vec<&Vec<usize>> =
            parts.iter().filter(|part| !self.left(part).is_empty()).collect();
        let known: Vec<(f64, Effect)> =
            effects.iter().flatten().map(|effect| (1.0, *effect)).collect();
        if present.len() < 2 || known.len() < present.len() {
            return;
        }
        if !self.matters(whole.minus(Effect::sum(&known))) {
            return;
        }
        let everything: Vec<usize> = present.iter().flat_map(|part| part.iter().copied()).collect();
        for part in present {
            let others: Vec<usize> =
                everything.iter().copied().filter(|one| !part.contains(one)).collect();
            let context: Set = equal.union(&self.left(&others)).copied().collect();
            self.within(part, &context);
        }
    }

    fn left(&self, group: &[usize]) -> Set {
        group.iter().copied().filter(|one| !self.out.contains(one)).collect()
    }

    /// What is known of a set: `None` if it has to be tried first, `Some(None)` if it was refused.
    fn value(&mut self, set: &Set) -> Option<Option<CostEstimate>> {
        match self.known.get(set) {
            Some(SetAnswer::Is(value)) => Some(Some(*value)),
            Some(SetAnswer::Refused(_)) => Some(None),
            None => {
                assert!(!set.is_empty(), "test as it is is known before anything is tried");
                if !self.wanted.contains(set) {
                    self.wanted.push(set.clone());
                }
                None
            }
        }
    }

    fn matters(&self, effect: Effect) -> bool {
        matters(effect, self.limits)
    }
}

/// Whether an effect is large enough in time or in the rate, and not within its error there.
fn matters(effect: Effect, limits: &SearchLimits) -> bool {
    effect.cost.is_at_least(limits.least, limits.errors)
        || effect.rate.is_at_least(limits.least_rate, limits.errors)
}

fn effect_of(after: CostEstimate, before: CostEstimate) -> Effect {
    Effect::from_estimate(after).minus(Effect::from_estimate(before))
}

/// Splits a group into parts of about equal weight, in its order.
pub(crate) fn parts_of(group: &[usize], suspects: &[Suspect], most: usize) -> Vec<Vec<usize>> {
    let total: f64 = group.iter().map(|one| suspects[*one].weight).sum();
    let count = most.min(group.len()).max(1);
    let mut parts: Vec<Vec<usize>> = Vec::with_capacity(count);
    let mut seen = 0.0;
    for (at, one) in group.iter().enumerate() {
        let weight = suspects[*one].weight;
        // By the middle of its weight, so that a heavy one is not drawn into the part before.
        let by_weight = ((seen + weight / 2.0) / total * count as f64) as usize;
        seen += weight;
        // No part stays empty as long as there are enough suspects for all.
        let least = count.saturating_sub(group.len() - at);
        if by_weight.min(count - 1).max(least) >= parts.len() {
            parts.push(Vec::new());
        }
        parts.last_mut().expect("the first one opens a part").push(*one);
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn suspects(weights: &[f64]) -> Vec<Suspect> {
        let one = |(at, weight): (usize, &f64)| Suspect {
            name: format!("s{at}"),
            facts: Vec::new(),
            told: Vec::new(),
            given: Vec::new(),
            base: String::new(),
            test: String::new(),
            weight: *weight,
        };
        weights.iter().enumerate().map(one).collect()
    }

    const LIMITS: SearchLimits =
        SearchLimits { least: 0.01, least_rate: 0.01, errors: 3.0, parts: 4 };

    /// Tries what is asked for until nothing is, and says what was found and with how many trials.
    fn found(suspects: &[Suspect], truth: impl Fn(&Set) -> Option<f64>) -> (SearchFinding, usize) {
        let told = |set: &Set| match truth(set) {
            Some(more) => SetAnswer::Is(CostEstimate { cost: 1.0 + more, error: 1e-4 }),
            None => SetAnswer::Refused(Set::new()),
        };
        let mut known = BTreeMap::from([(Set::new(), told(&Set::new()))]);
        loop {
            match next_trials(suspects, &known, &LIMITS, &Set::new()) {
                NextTrials::Done(found) => return (found, known.len() - 1),
                NextTrials::Wanted(sets) => {
                    for set in sets {
                        assert!(known.insert(set.clone(), told(&set)).is_none(), "{set:?} twice");
                    }
                }
            }
        }
    }

    /// A factor of seven that one setting makes is known after the first trial, whatever else is
    /// looked for.
    #[test]
    fn what_is_proved_is_known_before_all_is() {
        let told = |cost, error| SetAnswer::Is(CostEstimate { cost, error });
        let set = |members: &[usize]| members.iter().copied().collect::<Set>();
        let known = BTreeMap::from([
            (set(&[]), told(7.1, 0.2)),
            (set(&[0]), told(1.01, 0.02)),
            (set(&[1]), told(6.9, 0.2)),
            (set(&[2]), SetAnswer::Refused(set(&[2]))),
            (set(&[3]), told(5.0, 0.3)),
            (set(&[4, 5]), told(2.0, 0.1)),
            (set(&[0, 1, 2, 3, 4, 5]), told(1.0, 0.02)),
        ]);
        let proved = proved_causes(
            &known,
            &SearchLimits { least: 0.14, least_rate: 0.02, errors: 3.0, parts: 4 },
        );
        let names: Vec<usize> = proved.iter().map(|(one, _)| *one).collect();
        assert_eq!(names, [0, 3]);
        assert_eq!(proved[0].1, CostEstimate { cost: 1.01, error: 0.02 });
    }

    #[test]
    fn two_causes_among_eighty_take_a_handful_of_trials() {
        let (found, trials) = found(&suspects(&[1.0; 80]), |equal| {
            Some(
                0.3 * f64::from(u8::from(equal.contains(&17)))
                    - if equal.contains(&60) { 0.1 } else { 0.0 },
            )
        });
        assert_eq!(found.causes, Set::from([17, 60]));
        assert!(trials <= 25, "{trials} trials");
    }

    #[test]
    fn causes_that_were_met_before_are_found_at_once() {
        let mut weights = vec![30.0, 30.0, 30.0, 5.0];
        weights.extend([1.0; 60]);
        let (found, trials) = found(&suspects(&weights), |equal| {
            Some(
                [(0, 0.4), (2, 0.05)]
                    .iter()
                    .filter(|(one, _)| equal.contains(one))
                    .map(|x| x.1)
                    .sum(),
            )
        });
        assert_eq!(found.causes, Set::from([0, 2]));
        assert!(trials <= 9, "{trials} trials");
    }

    /// A cause that the facts point to, among a dozen others: all together, that one alone, and the
    /// others without it.
    #[test]
    fn a_cause_that_facts_point_to_takes_three_trials() {
        let mut weights = vec![3_000.0];
        weights.extend([30.0, 5.0, 5.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0]);
        let worth = |equal: &Set| Some(7.0 - if equal.contains(&0) { 6.0 } else { 0.0 });
        let (one, trials) = found(&suspects(&weights), worth);
        assert_eq!((one.causes, trials), (Set::from([0]), 3));
        // Where facts point to the wrong one, it is found nevertheless, and two of them are, too.
        let (one, _) = found(&suspects(&weights), |equal| {
            Some(7.0 - if equal.contains(&5) { 6.0 } else { 0.0 })
        });
        assert_eq!(one.causes, Set::from([5]));
        let (one, _) = found(&suspects(&weights), |equal| {
            let worth = |one, cost| if equal.contains(&one) { cost } else { 0.0 };
            Some(7.0 - worth(0, 3.0) - worth(7, 2.0))
        });
        assert_eq!(one.causes, Set::from([0, 7]));
        // Two that facts point to are told apart with all together, each of them alone, and others.
        weights[1] = 3_000.0;
        let (one, trials) = found(&suspects(&weights), worth);
        assert_eq!((one.causes, trials), (Set::from([0]), 4));
    }

    /// Two switches that cost only together, so that either one taken back heals all: the facts
    /// point to one of them, and the other one is no innocent.
    #[test]
    fn the_other_half_of_a_cause_is_found_though_facts_point_to_one() {
        let mut weights = vec![3_000.0];
        weights.extend([1.0; 20]);
        for other in 1..=20 {
            let (found, trials) = found(&suspects(&weights), |equal| {
                let is_healed = equal.contains(&0) || equal.contains(&other);
                Some(if is_healed { 0.0 } else { 27.0 })
            });
            assert_eq!(found.causes, Set::from([0, other]));
            assert!(trials <= 18, "{trials} trials");
        }
    }

    /// Of an operation that takes 177 times as long, one takes 172 away, and then another one four
    /// fifths of the rate: beside 177 four is nothing, and it is most of what users get.
    #[test]
    fn what_is_small_beside_a_large_factor_is_found_where_it_takes_the_rate() {
        let limits = SearchLimits { least: 3.54, least_rate: 0.02, ..LIMITS };
        let truth = |equal: &Set| {
            let (first, second) = (equal.contains(&0), equal.contains(&5));
            let cost = match (first, second) {
                (true, true) => 1.0,
                (true, false) => 4.0,
                (false, true) => 176.5,
                (false, false) => 177.0,
            };
            SetAnswer::Is(CostEstimate { cost, error: 0.02 * cost })
        };
        let weights = [3_000.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0];
        let mut known = BTreeMap::from([(Set::new(), truth(&Set::new()))]);
        let found = loop {
            match next_trials(&suspects(&weights), &known, &limits, &Set::new()) {
                NextTrials::Done(found) => break found,
                NextTrials::Wanted(sets) => {
                    known.extend(sets.into_iter().map(|set| (set.clone(), truth(&set))));
                }
            }
        };
        assert_eq!(found.causes, Set::from([0, 5]));
        assert!(known.len() <= 17, "{} trials", known.len() - 1);
    }

    #[test]
    fn nothing_is_found_where_nothing_is() {
        let (found, trials) = found(&suspects(&[1.0; 50]), |_| Some(0.2));
        assert_eq!(found, SearchFinding::default());
        assert_eq!(trials, 5, "the whole and four parts");
    }

    #[test]
    fn causes_that_balance_each_other_are_both_found() {
        let (found, _) = found(&suspects(&[1.0; 40]), |equal| {
            let worth = |one, cost| if equal.contains(&one) { cost } else { 0.0 };
            Some(worth(3, 0.1) + worth(33, -0.1))
        });
        assert_eq!(found.causes, Set::from([3, 33]));
    }

    proptest! {
        #[test]
        fn every_cause_is_found_and_nothing_else(
            weights in prop::collection::vec(
                prop::sample::select(vec![1.0, 5.0, 30.0, 500.0, 3_000.0]), 1..90,
            ),
            causes in prop::collection::vec((0_usize..90, 0.02_f64..0.5), 0..4),
            refused in prop::collection::btree_set(0_usize..90, 0..3),
        ) {
            let count = weights.len();
            let mut worth: BTreeMap<usize, f64> = BTreeMap::new();
            let is_there = |(one, _): &(usize, f64)| *one < count && !refused.contains(one);
            worth.extend(causes.into_iter().filter(is_there));
            let refused: Set = refused.into_iter().filter(|one| *one < count).collect();
            let (found, _) = found(&suspects(&weights), |equal| {
                let is_refused = refused.iter().any(|one| equal.contains(one));
                let sum = worth.iter().filter(|(one, _)| equal.contains(one)).map(|(_, cost)| cost);
                (!is_refused).then(|| sum.sum())
            });
            prop_assert_eq!(found.causes, worth.keys().copied().collect::<Set>());
            prop_assert_eq!(found.refused, refused);
        }

        /// Two that work only together, wherever they stand, beside one that works alone.
        #[test]
        fn two_that_work_only_together_are_found(
            weights in prop::collection::vec(prop::sample::select(vec![1.0, 30.0]), 3..60),
            places in prop::collection::btree_set(0_usize..60, 3),
        ) {
            let count = weights.len();
            let places: Vec<usize> = places.into_iter().collect();
            prop_assume!(places.iter().all(|one| *one < count));
            let (found, _) = found(&suspects(&weights), |equal| {
                let both = equal.contains(&places[0]) && equal.contains(&places[2]);
                let alone = equal.contains(&places[1]);
                Some(if both { 0.2 } else { 0.0 } + if alone { 0.05 } else { 0.0 })
            });
            prop_assert_eq!(found.causes, places.into_iter().collect::<Set>());
        }

        #[test]
        fn parts_have_everybody_once_and_in_order(
            weights in prop::collection::vec(0.5_f64..40.0, 1..60), most in 1_usize..9,
        ) {
            let all: Vec<usize> = (0..weights.len()).collect();
            let parts = parts_of(&all, &suspects(&weights), most);
            prop_assert_eq!(parts.concat(), all);
            prop_assert_eq!(parts.len() <= most, true);
            prop_assert!(parts.iter().all(|part| !part.is_empty()));
            prop_assert!(weights.len() < 2 || most < 2 || parts.len() > 1, "it gets smaller");
        }
    }
}
