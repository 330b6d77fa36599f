//! Values far to the worse that the latest runs have more often than those before them.
//!
//! ```text
//!   0 0 0 0 0 0 0 0 0 │ 0 3 0 0 2 0 4 0     every other run fails: the median is the same, and so
//!   ::::::::::::::::: │ :.:::.:.::.:        are most values, of which a change moves none
//! ```
//!
//! Change points ask where the typical value lies. Here the question is how often a run is bad,
//! and the answer is exact: if the latest runs were like those before, each choice of places for
//! the bad ones among all would be as likely (Fisher's exact test of two shares).
//!
//! *Far* is more than the budget and [`DEVIATIONS_LEAST`] robust standard deviations from the
//! median of the values before. Neighbours that resemble each other make bad runs come together:
//! how often that is taken for an excess stands in the tests, and it is no more than a caution.
//!
//! A rate is looked at as the time that one takes: a fall of the rate and the rise of the time that
//! it is are found alike.
//!
//! *Values that were all the same* until the first bad one, as failures that never were: where they
//! begin is no choice of a stretch, so that one question is asked with [`ALPHA_OF_EQUAL`]. Of runs
//! that are like the others, the `m` latest hold all `k` bad ones of `n` with a chance of
//! C(m, k) ∕ C(n, k).
//!
//! *Values as far as strays*, which noise does not have, are asked about at any place, by the exact
//! answer of [`super::rate`]: eight of the latest forty, where none of the forty before was, are
//! one choice of 377, and four of the latest seven of forty, with good ones between, of 2 600.
//! Where that proves nothing, those alone are asked about that are half as far as the farthest:
//! small strays that a series always had say nothing of large ones.

use super::latest::{equal_value, is_far_from_equal};
use super::rate::{BEFORE_LEAST, chance_of_as_many, stretch_with_more};
use crate::median::median_or_nan;

/// Robust standard deviations from the median, at least.
const DEVIATIONS_LEAST: f64 = 4.0;
/// As for strays: of those that are asked about at any place and with a larger chance.
const DEVIATIONS_OF_STRAYS: f64 = 8.0;
/// Strays at this share of the distance of the farthest are as large.
const LARGE_SHARE: f64 = 0.5;
/// Fewer bad runs are for [`super::latest_values`] and strays.
const FAR_LEAST: usize = 4;
/// Chance that equal runs show such an excess in any of the stretches that are looked at.
const ALPHA: f64 = 0.001;
/// Chance that runs which are bad now and then from the beginning begin to be so as late as that.
/// A single bad value that comes last is told of a series like this, which has a larger one.
const ALPHA_OF_EQUAL: f64 = 0.01;
/// Fewer are single bad nights.
const FAR_OF_EQUAL_LEAST: usize = 3;

/// More bad runs among the latest than before.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FarExcess {
    /// How many of the latest values are looked at.
    pub latest: usize,
    /// How many of them are far to the worse.
    pub far: usize,
    /// How many of all before are.
    pub far_before: usize,
    /// The median of the values before.
    pub usual: f64,
    /// The median of those of the latest that are far.
    pub typical_far: f64,
}

/// The excess of the stretch that shows it most clearly: of the latest `asked` values, or of their
/// 10, 20 or 40, or of a half of all.
///
/// Assumes values of runs in the order of time that are exchangeable where nothing changes; of
/// `higher_is_better` depends which side is the worse one. `budget` is a share of the median.
pub fn far_excess(
    values: &[f64],
    asked: usize,
    higher_is_better: bool,
    budget: f64,
) -> Option<FarExcess> {
    let n = values.len();
    let mut stretches = vec![asked, 10, 20, 40, n / 2];
    stretches.retain(|&latest| latest >= FAR_LEAST && latest + BEFORE_LEAST <= n);
    stretches.sort_unstable();
    stretches.dedup();
    let alpha = ALPHA / stretches.len().max(1) as f64;
    let found = stretches.iter().filter_map(|&latest| {
        let excess = excess_of(values, latest, higher_is_better, budget)?;
        let all = excess.far + excess.far_before;
        Some((chance_of_as_many(n, latest, all, excess.far), excess))
    });
    let found = found.min_by(|(one, _), (other, _)| one.total_cmp(other));
    let found = found.filter(|(chance, _)| *chance <= alpha).map(|(_, excess)| excess);
    found
        .or_else(|| excess_beside_equal(values, higher_is_better, budget))
        .or_else(|| excess_of_strays(values, asked, higher_is_better, budget))
}

/// The bad ones among all values from the first one on that is not what all before it were, if
/// those are [`BEFORE_LEAST`] and no fewer.
fn excess_beside_equal(values: &[f64], higher_is_better: bool, budget: f64) -> Option<FarExcess> {
    let n = values.len();
    let first = values.iter().position(|&value| value != values[0])?;
    let (before, after) = values.split_at(first);
    let usual = equal_value(before)?;
    if before.len() < BEFORE_LEAST.max(after.len()) {
        return None;
    }
    let mut far = after.to_vec();
    far.retain(|value| {
        let worse_by = if higher_is_better { usual - value } else { value - usual };
        worse_by > budget * usual.abs() && is_far_from_equal(usual, &[*value])
    });
    let chance = chance_of_as_many(n, after.len(), far.len(), far.len());
    (far.len() >= FAR_OF_EQUAL_LEAST && chance <= ALPHA_OF_EQUAL).then(|| FarExcess {
        latest: after.len(),
        far: far.len(),
        far_before: 0,
        usual,
        typical_far: median_or_nan(&far),
    })
}

/// The stretch, of any length up to the longest that is looked at, that has more values as far as
/// strays than all before it. They are far from the median of all, so that the answer is exact
/// ([`super::rate`]); where more than half of all are equal, by more than the last digit can round
/// away.
fn excess_of_strays(
    values: &[f64],
    asked: usize,
    higher_is_better: bool,
    budget: f64,
) -> Option<FarExcess> {
    let usual = median_or_nan(values);
    let equal = values.iter().filter(|&&value| value == usual).count();
    let n = values.len();
    let mut is_far = far_marks(values, n, DEVIATIONS_OF_STRAYS, higher_is_better, budget);
    if 2 * equal > n {
        let apart = values.iter().map(|&value| is_far_from_equal(usual, &[value]));
        is_far.iter_mut().zip(apart).for_each(|(is_far, is_apart)| *is_far &= is_apart);
    }
    let most = asked.max(40).max(n / 2);
    if let Some(latest) = stretch_with_more(&is_far, most) {
        return Some(excess_from(values, n - latest, &is_far));
    }
    let costs = costs_of(values, higher_is_better);
    let usual_cost = median_or_nan(&costs);
    let farthest = costs.iter().map(|cost| cost - usual_cost).fold(0.0, f64::max);
    let is_large = costs.iter().map(|cost| cost - usual_cost >= LARGE_SHARE * farthest);
    is_far.iter_mut().zip(is_large).for_each(|(is_far, is_large)| *is_far &= is_large);
    let latest = stretch_with_more(&is_far, most)?;
    Some(excess_from(values, n - latest, &is_far))
}

/// Which values are far to the worse from the median of the first so many: by more than the budget
/// and so many of their robust standard deviations.
fn far_marks(
    values: &[f64],
    level: usize,
    deviations: f64,
    higher_is_better: bool,
    budget: f64,
) -> Vec<bool> {
    let usual = median_or_nan(&values[..level]);
    let costs = costs_of(values, higher_is_better);
    let usual_cost = median_or_nan(&costs[..level]);
    let around: Vec<f64> = costs[..level].iter().map(|cost| (cost - usual_cost).abs()).collect();
    let least = deviations * 1.4826 * median_or_nan(&around);
    let is_far = |(&value, cost): (&f64, &f64)| {
        let worse_by = if higher_is_better { usual - value } else { value - usual };
        worse_by > budget * usual.abs() && cost - usual_cost > least
    };
    values.iter().zip(&costs).map(is_far).collect()
}

/// The excess of the values from `first` on, of which these are far.
fn excess_from(values: &[f64], first: usize, is_far: &[bool]) -> FarExcess {
    let far = (first..values.len()).filter(|&at| is_far[at]).map(|at| values[at]);
    let far: Vec<f64> = far.collect();
    FarExcess {
        latest: values.len() - first,
        far: far.len(),
        far_before: is_far[..first].iter().filter(|&&is_far| is_far).count(),
        usual: median_or_nan(&values[..first]),
        typical_far: median_or_nan(&far),
    }
}

fn excess_of(
    values: &[f64],
    latest: usize,
    higher_is_better: bool,
    budget: f64,
) -> Option<FarExcess> {
    let first = values.len() - latest;
    let is_far = far_marks(values, first, DEVIATIONS_LEAST, higher_is_better, budget);
    let excess = excess_from(values, first, &is_far);
    (excess.far >= FAR_LEAST).then_some(excess)
}

/// Values of which less is better, in the same order. Of a rate they are the times that one takes,
/// so that a rate falls as far as its time rises: where values scatter by a quarter, a rate that
/// halves lies two quarters below the usual one, and a time that doubles four above it.
fn costs_of(values: &[f64], higher_is_better: bool) -> Vec<f64> {
    if !higher_is_better {
        return values.to_vec();
    }
    let is_rate = values.iter().all(|&value| value > 0.0);
    values.iter().map(|&value| if is_rate { value.recip() } else { -value }).collect()
}

#[cfg(test)]
mod tests {
    use super::super::scores::draw_normal;
    use super::*;
    use dbdyno_model::random;

    /// A cycle count that had small strays at its beginning, and large ones by turns at its end.
    #[test]
    fn small_strays_excuse_no_large_ones() {
        let mut values = vec![279.0; 80];
        for at in [3, 7, 13, 16, 19, 24, 29, 34] {
            values[at] = 303.0;
        }
        assert_eq!(far_excess(&values, 10, false, 0.02), None);
        for at in [73, 75, 77, 79] {
            values[at] = 362.7;
        }
        let excess = far_excess(&values, 10, false, 0.02).unwrap();
        assert_eq!((excess.latest, excess.far, excess.far_before), (7, 4, 0));
    }

    /// Runs that fail now and then were no change to the median, and a gate passed them.
    #[test]
    fn runs_that_are_bad_now_and_then_are_seen() {
        for seed in 0..15 {
            let mut stream = random::stream(&[random::key_of("now and then"), seed]);
            let mut series = |good: f64, bad: f64, of_ten: usize, noise: f64| -> Vec<f64> {
                let level = |at: usize| if at >= 60 && at % 10 < of_ten { bad } else { good };
                (0..100).map(|at| level(at) * (1.0 + noise * draw_normal(&mut stream))).collect()
            };
            for of_ten in [3, 5] {
                let deadlocks = far_excess(&series(0.0, 4.0, of_ten, 0.0), 40, false, 0.02);
                let deadlocks = deadlocks.unwrap_or_else(|| panic!("{seed} {of_ten}"));
                assert_eq!((deadlocks.latest, deadlocks.far_before), (40, 0), "{seed} {of_ten}");
                assert_eq!((deadlocks.usual, deadlocks.typical_far), (0.0, 4.0));
                let rate = series(1_000.0, 800.0, of_ten, 0.01);
                assert!(far_excess(&rate, 40, true, 0.02).is_some(), "{seed} {of_ten}");
                assert_eq!(far_excess(&rate, 40, false, 0.02), None, "more is better there");
                let latency = series(5.0, 500.0, of_ten, 0.01);
                assert!(far_excess(&latency, 40, false, 0.02).is_some(), "{seed} {of_ten}");
            }
        }
    }

    /// A rate that fell from 13 700 to 7 900 for a hundred runs passed a gate, and the same as a
    /// time did not.
    #[test]
    fn a_fall_of_a_rate_is_found_as_the_rise_of_its_time() {
        for seed in 0..15 {
            let mut stream = random::stream(&[random::key_of("rate"), seed]);
            let wave = |at: usize| 2_600.0 * (at as f64 / 11.0).sin();
            let rate: Vec<f64> = (0..220)
                .map(|at| if at < 115 { 13_700.0 + wave(at) } else { 7_900.0 + wave(at) / 5.0 })
                .map(|level| level + 150.0 * draw_normal(&mut stream))
                .collect();
            let time: Vec<f64> = rate.iter().map(|rate| 1e6 / rate).collect();
            let fall = far_excess(&rate, 100, true, 0.02).unwrap_or_else(|| panic!("{seed}"));
            let rise = far_excess(&time, 100, false, 0.02).unwrap_or_else(|| panic!("{seed}"));
            assert_eq!((fall.latest, fall.far), (rise.latest, rise.far), "{seed}");
            assert_eq!(far_excess(&rate, 100, false, 0.02), None, "{seed}");
        }
    }

    /// Failures in 5 of 12 nights after 28 without any passed a gate.
    #[test]
    fn what_never_failed_and_fails_now_and_then_is_seen() {
        let series = |before: usize, latest: &[f64]| [&vec![0.0; before][..], latest].concat();
        let nights = [2.0, 0.0, 1.0, 0.0, 0.0, 3.0, 0.0, 1.0, 0.0, 0.0, 2.0, 0.0];
        let excess = far_excess(&series(28, &nights), 8, false, 0.02).unwrap();
        assert_eq!((excess.latest, excess.far, excess.far_before), (12, 5, 0));
        assert_eq!((excess.usual, excess.typical_far), (0.0, 2.0));
        assert_eq!(far_excess(&series(28, &nights), 8, true, 0.02), None, "more is better there");
        assert_eq!(far_excess(&series(11, &nights), 8, false, 0.02), None, "too few before");
        let often = [&nights[..6], &[0.0; 22], &nights].concat();
        assert_eq!(far_excess(&often, 8, false, 0.02), None, "it failed before");
        let rounded = [13.0, 12.0, 13.0, 12.0, 12.0, 13.0];
        let rounded = [&[12.0; 40][..], &rounded].concat();
        assert_eq!(far_excess(&rounded, 8, false, 0.02), None, "what rounding may do");
        // Of runs that are bad by chance from the beginning, in one of so many.
        for one_of in [10, 20, 40, 80] {
            let found = (0..2_000).filter(|&seed| {
                let mut stream = random::stream(&[random::key_of("fails"), one_of, seed]);
                let fails = |_| f64::from(stream.next_below(one_of) == 0);
                let values: Vec<f64> = (0..60).map(fails).collect();
                far_excess(&values, 8, false, 0.02).is_some()
            });
            let found = found.count();
            assert!(found <= 28, "one of {one_of}: {found} of 2000");
        }
    }

    /// A gate passed with 8 of the latest 40 runs at +20 to +50 % in 16 of 20 series, where none of
    /// the 40 before was, and with four of the latest seven, with good nights between.
    #[test]
    fn runs_that_are_bad_more_often_than_before_are_seen() {
        let series = |seed: u64, n: usize, bad: &[usize], by: f64| -> Vec<f64> {
            let mut stream = random::stream(&[random::key_of("more often"), seed]);
            let of = |at: usize| if bad.contains(&at) { 1.0 + by } else { 1.0 };
            (0..n).map(|at| 1_000.0 * of(at) * (1.0 + 0.01 * draw_normal(&mut stream))).collect()
        };
        for seed in 0..50 {
            let eight: Vec<usize> = (40..80).step_by(5).map(|at| at + seed as usize % 5).collect();
            let values = series(seed, 80, &eight, 0.2 + 0.005 * seed as f64);
            let excess = far_excess(&values, 0, false, 0.02).unwrap_or_else(|| panic!("{seed}"));
            assert_eq!((excess.far, excess.far_before), (8, 0), "{seed}");
            assert_eq!(far_excess(&values, 0, true, 0.02), None, "{seed}: more is better there");
            assert_eq!(far_excess(&values, 0, false, 0.6), None, "{seed}: within the budget");
            let by_turns = series(seed, 40, &[33, 35, 37, 38], 0.2);
            let excess = far_excess(&by_turns, 0, false, 0.02).unwrap_or_else(|| panic!("{seed}"));
            assert_eq!((excess.latest, excess.far, excess.far_before), (7, 4, 0), "{seed}");
            let all_along: Vec<usize> = (3..80).step_by(5).collect();
            assert_eq!(far_excess(&series(seed, 80, &all_along, 0.3), 0, false, 0.02), None);
        }
    }

    /// How often equal runs show an excess, by the kind of their noise: exact where places are
    /// exchangeable, and rare where neighbours resemble each other.
    #[test]
    fn equal_runs_show_none() {
        type Noise = fn(f64, f64, &mut random::RandomStream) -> f64;
        let kinds: [(&str, Noise, usize); 5] = [
            ("normal", |_, own, _| own, 4),
            ("AR(1) of 0.5", |last, own, _| 0.5 * last + own, 4),
            ("AR(1) of 0.8", |last, own, _| 0.8 * last + own, 20),
            ("heavy tails", |_, own, stream| own / draw_normal(stream).abs().max(0.01), 8),
            (
                "bad now and then",
                |_, own, stream| own - 30.0 * f64::from(stream.next_below(10) == 0),
                // As far as strays: 20 of 1 000 are allowed.
                20,
            ),
        ];
        for (name, noise, most) in kinds {
            let mut found = 0;
            for seed in 0..1_000 {
                let mut stream = random::stream(&[random::key_of(name), seed]);
                let mut last = 0.0;
                let values: Vec<f64> = (0..100)
                    .map(|_| {
                        let own = draw_normal(&mut stream);
                        last = noise(last, own, &mut stream);
                        1_000.0 + 10.0 * last
                    })
                    .collect();
                found += usize::from(far_excess(&values, 40, true, 0.02).is_some());
            }
            assert!(found <= most, "{name}: {found} of 1000");
        }
    }
}
