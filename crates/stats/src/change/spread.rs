//! Noise that has grown or shrunk, and levels that nothing else shows.
//!
//! ```text
//!   ................:·'                what is tested for a step has noise of one kind: where some
//!                   .  :' '            runs scatter ten times as much, the few of them that lie on
//!                     '  .             one side look like another level
//! ```
//!
//! The distances of values from their levels are a series of their own, which is cut where they are
//! at least [`RATIO_LEAST`] times as large or as small. If it is cut anywhere, a step of levels
//! stays only if it is proved where both sides may scatter as they do: by Welch's test, or because
//! values of the noisier side lie on one side of the other's median (the sign test). Each asks for
//! [`ALPHA`], since the place was chosen. That the noise has changed is told by itself.
//!
//! Counted by the series of the test, 300 of each length: where the noise grows tenfold and the
//! level stays, a level alarmed in 2 to 10 of 100 series without this, and in 1 to 3 with it.

use super::size::around_levels;
use super::tree::{self, SeriesCut};
use crate::median::median_or_nan;
use crate::paired::welch_estimate;
use crate::student::Moments;

/// Less is told by no sentence, and what it does to a step is small.
const RATIO_LEAST: f64 = 3.0;
/// Chance that a level is proved which is none.
const ALPHA: f64 = 0.001;
/// Where noise begins to change is known to so many values.
const PLACE_REACH: usize = 5;
/// Values of a side that are looked at: those next to the step.
const VALUES_MOST: usize = 400;

/// That values scatter more, or less, from one of them on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SpreadShift {
    /// The first value that does.
    pub first: usize,
    /// How many times as much, by the median distance from the level.
    pub ratio: f64,
}

/// Where the distances from 0 are larger or smaller from one value on.
pub(super) fn spread_shifts(left: &[f64], alpha: f64, seed: u64) -> Vec<SpreadShift> {
    let distances: Vec<f64> = left.iter().map(|value| value.abs()).collect();
    let tree = tree::grow_tree(&distances, 0, distances.len(), alpha, seed);
    let mut cuts = tree.all_cuts();
    tree::settle_cuts(&distances, &mut cuts, 0, distances.len());
    let ends: Vec<usize> = cuts.iter().map(|cut| cut.first).chain([distances.len()]).collect();
    let mut shifts = Vec::new();
    for (at, cut) in cuts.iter().enumerate() {
        let begin = if at == 0 { 0 } else { ends[at - 1] };
        let before = median_or_nan(&distances[begin..cut.first]);
        let ratio = median_or_nan(&distances[cut.first..ends[at + 1]]) / before;
        // Values that were all alike have no noise that could grow.
        if ratio.is_finite() && (ratio >= RATIO_LEAST || ratio * RATIO_LEAST <= 1.0) {
            shifts.push(SpreadShift { first: cut.first, ratio });
        }
    }
    shifts
}

/// Takes away, the least clear ones first, cuts that nothing but a change of the noise shows.
///
/// `cuts` are those of the values at the places `kept`. What was left out of the tests counts here:
/// of values that scatter more, those on one side of the others may be left out by chance.
pub(super) fn drop_unproved_cuts(
    values: &[f64],
    kept: &[usize],
    cuts: &mut Vec<SeriesCut>,
    alpha: f64,
    seed: u64,
) {
    while !cuts.is_empty() {
        let firsts: Vec<usize> = cuts.iter().map(|cut| kept[cut.first]).collect();
        let spreads = spread_shifts(&around_levels(values, &firsts), alpha, seed);
        let chances =
            (0..cuts.len()).map(|at| (chance_of_level(values, &firsts, at, &spreads), at));
        let least_clear = chances.max_by(|(one, _), (other, _)| one.total_cmp(other));
        match least_clear {
            Some((chance, at)) if chance > ALPHA => cuts.remove(at),
            _ => return,
        };
    }
}

/// The chance that the levels beside one of the cuts are one, where each side has the noise that
/// it has next to the cut.
fn chance_of_level(values: &[f64], firsts: &[usize], at: usize, spreads: &[SpreadShift]) -> f64 {
    let first = firsts[at];
    let mut begin = if at == 0 { 0 } else { firsts[at - 1] };
    let mut end = firsts.get(at + 1).copied().unwrap_or(values.len());
    for spread in spreads.iter().filter(|spread| spread.first.abs_diff(first) > PLACE_REACH) {
        if spread.first < first {
            begin = begin.max(spread.first);
        } else {
            end = end.min(spread.first);
        }
    }
    let before = &values[begin.max(first.saturating_sub(VALUES_MOST))..first];
    let after = &values[first..end.min(first + VALUES_MOST)];
    let (Ok(base), Ok(test)) = (Moments::of_values(before), Moments::of_values(after)) else {
        return 0.0;
    };
    let times = typical_distance(after) / typical_distance(before);
    if spreads.is_empty() && times.max(1.0 / times) < RATIO_LEAST {
        return 0.0;
    }
    let by_sign = if test.sd > base.sd {
        sign_chance(after, median_or_nan(before))
    } else {
        sign_chance(before, median_or_nan(after))
    };
    welch_estimate(&base, &test).p_value().min(by_sign)
}

fn typical_distance(side: &[f64]) -> f64 {
    median_or_nan(&around_levels(side, &[]).iter().map(|value| value.abs()).collect::<Vec<f64>>())
}

/// The two-sided chance that so many of `values` lie on one side of `centre`, if each were as
/// likely to lie on either.
fn sign_chance(values: &[f64], centre: f64) -> f64 {
    let n = values.len();
    let above = values.iter().filter(|&&value| value > centre).count();
    let below = values.iter().filter(|&&value| value < centre).count();
    let mut choices = 1.0;
    let mut sum = 0.0;
    for taken in 0..=n - above.max(below) {
        sum += choices;
        choices *= (n - taken) as f64 / (taken + 1) as f64;
    }
    (2.0 * sum * 0.5f64.powi(n as i32)).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::super::scores::draw_normal;
    use super::*;
    use crate::change::{ChangeOptions, change_points, spread_shift};
    use dbdyno_model::{ShiftWeight, random};

    /// Values around 1 000 with noise of 1 %, from `at` on `factor` times as much and moved by
    /// `step`.
    fn series(seed: u64, n: usize, at: usize, factor: f64, step: f64) -> Vec<f64> {
        let mut stream = random::stream(&[random::key_of("spread"), n as u64, at as u64, seed]);
        (0..n)
            .map(|index| {
                let (times, moved) = if index >= at { (factor, step) } else { (1.0, 0.0) };
                1_000.0 * (1.0 + moved + 0.01 * times * draw_normal(&mut stream)).max(0.01)
            })
            .collect()
    }

    /// Of 60 series: those in which a level alarms, and those whose noise is told to change.
    fn counts(n: usize, at: usize, factor: f64, step: f64) -> [usize; 2] {
        let options = ChangeOptions::with_budget(0.02);
        let (mut alarms, mut told) = (0, 0);
        for seed in 0..60 {
            let values = series(seed, n, at, factor, step);
            let changes = change_points(&values, &options).unwrap();
            let is_alarm = changes.shifts.iter().any(|shift| shift.weight == ShiftWeight::Alarm);
            alarms += usize::from(is_alarm);
            let spread = spread_shift(&values, &changes, &options);
            told += usize::from(spread.is_some_and(|spread| spread.first.abs_diff(at) <= 6));
        }
        [alarms, told]
    }

    /// A level alarmed in 2 to 10 of 100 of them, most often to the better, and the noise that had
    /// grown was not told.
    #[test]
    fn noise_that_grows_is_told_and_is_no_level() {
        for (n, at) in [(60, 45), (40, 28)] {
            let [alarms, told] = counts(n, at, 10.0, 0.0);
            assert!(alarms <= 2 && told >= 45, "{n}: {alarms} {told}");
            let [alarms, told] = counts(n, at, 1.0, 0.0);
            assert!(alarms <= 1 && told <= 1, "{n}: {alarms} {told}");
            let [alarms, _] = counts(n, at, 10.0, 0.3);
            assert!(alarms >= 56, "a level that noise does not hide, {n}: {alarms}");
            let [alarms, told] = counts(n, at, 1.0, 0.1);
            assert!(alarms >= 58 && told <= 2, "{n}: {alarms} {told}");
        }
    }

    #[test]
    fn less_noise_is_told_by_its_ratio() {
        let values = series(1, 80, 40, 0.1, 0.0);
        let options = ChangeOptions::with_budget(0.02);
        let changes = change_points(&values, &options).unwrap();
        let spread = spread_shift(&values, &changes, &options).unwrap();
        assert!((0.05..0.2).contains(&spread.ratio), "{spread:?}");
    }

    #[test]
    fn the_sign_test_is_that_of_a_coin() {
        assert!((sign_chance(&[1.0; 11], 0.0) - 2.0 / 2048.0).abs() < 1e-12);
        assert!((sign_chance(&[1.0, 1.0, 1.0, -1.0], 0.0) - 10.0 / 16.0).abs() < 1e-12);
        assert!((sign_chance(&[1.0, -1.0], 0.0) - 1.0).abs() < 1e-12);
    }
}
