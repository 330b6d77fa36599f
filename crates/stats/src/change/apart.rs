//! Whether all of the latest values are worse than all right before them, however the series went
//! until then.
//!
//! ```text
//!        .:'.:'                five of 63, and none of the 58 before is as high: one of
//!   :'.:'      ':.'            7 028 847 choices of five places, though the level was at
//!                    '::'.     three places before
//! ```
//!
//! The other tests ask whether a *level* is new, and what they take for noise has everything in it
//! that the series did before: where it went up and came down again, wandered or has two levels, a
//! step at its end is small beside that. A reader sees that the latest runs are all worse than any
//! before them. So this is asked last, of ranks alone. The run of values before that are all better
//! is taken as far as it goes, and then a fifth less of it again and again
//! ([`lengths_right_before`]). Where no order is as likely as another, the chance of `m` before and
//! `k` latest ones is 1 ∕ C(m + k, k) ([`LN_RARITY_LEAST`]). Where too few came before for that, it
//! takes values that are far, the nearest of them or all of them together
//! ([`DEVIATIONS_OF_NEAREST`]), or a gap of half the range of those before. How far the latest lie
//! from each other says nothing for them.
//!
//! It proves nothing: a level that wanders has stretches like that. Of 500 series of 13, 18, 25,
//! 40, 60 and 100 values without a change, of which the latest ten are asked about, at most 5 are
//! told as worse where neighbours are independent, 30 where their correlation is 0.5, 71 at 0.7 and
//! 111 at 0.9.
//!
//! Where single good values stand among the latest, half of them may lie beyond all before
//! ([`latest_half_beyond`]): of 500 such series at most 30 at a correlation of 0.9, 3 at 0.7 and
//! none below.

use statrs::function::gamma::ln_gamma;

use super::ChangeOptions;
use super::beyond::lowest_and_highest;
use super::size::{budget_unit, reported_size};
use crate::median::median_or_nan;

/// One alone is [`super::latest`]'s.
const COUNT_LEAST: usize = 2;
/// Fewer before say nothing.
const BEFORE_LEAST: usize = 5;
/// One of so many choices of places at least, as a logarithm: of 5 000.
const LN_RARITY_LEAST: f64 = 8.517_193_191_416_238;
/// The levels are so many standard deviations apart at least. Of more of the latest than
/// [`FEW_LATEST`] a level that wanders makes as much.
const DEVIATIONS_LEAST: f64 = 1.5;
const DEVIATIONS_OF_MANY: f64 = 2.5;
const FEW_LATEST: usize = 8;
/// With fewer before: one of so many choices at least, as a logarithm (of 70), and the nearest of
/// `k` lies so many robust standard deviations ∕ √k away, or all of them together so many ∙ √k, as
/// in Stouffer's sum of scores.
const LN_RARITY_OF_FEW: f64 = 4.248_495_242_049_359;
const DEVIATIONS_OF_NEAREST: f64 = 5.0;
const DEVIATIONS_TOGETHER: f64 = 7.0;
/// Of which each counts so many at most: one bad night makes no two.
const DEVIATIONS_MOST: f64 = 8.0;
/// Or a gap of so many ranges of those before.
const GAP_LEAST: f64 = 0.5;
/// The values that say how far noise goes: all of them, or those that came last.
const NEIGHBOURS: usize = 12;

/// Values at the end of a series that all lie apart from those right before.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LatestApart {
    /// How many they are.
    pub count: usize,
    /// Of how many right before all are on the other side.
    pub passed: usize,
    /// The median of those before.
    pub before: f64,
    /// Their median.
    pub after: f64,
}

/// The fewest of the latest values, of `most` at most, that are all higher, or all lower, than so
/// many right before them that it is no chance, and differ from them by the budget.
///
/// Assumes values in the order of time, on the scale of the options.
pub fn latest_apart(
    values: &[f64],
    is_higher: bool,
    most: usize,
    options: &ChangeOptions,
) -> Option<LatestApart> {
    let scaled = super::scaled(values, options.scale).ok()?;
    let sign = if is_higher { 1.0 } else { -1.0 };
    let signed: Vec<f64> = scaled.iter().map(|value| sign * value).collect();
    let budget = options.budget * budget_unit(values, options.scale);
    let n = values.len();
    (COUNT_LEAST..=most.min(n / 2)).find_map(|count| {
        let (all_before, latest) = signed.split_at(n - count);
        let nearest = lowest_and_highest(latest).0;
        let passed = all_before.iter().rev().take_while(|value| **value < nearest).count();
        lengths_right_before(passed).find_map(|passed| {
            let before = &all_before[all_before.len() - passed..];
            let apart = median_or_nan(latest) - median_or_nan(before);
            let is_large = reported_size(sign * apart, options.scale).abs() >= budget;
            (is_large && is_no_chance(before, latest, apart)).then(|| LatestApart {
                count,
                passed,
                before: median_or_nan(&values[n - count - passed..n - count]),
                after: median_or_nan(&values[n - count..]),
            })
        })
    })
}

/// Of some of the latest values that are each higher, or each lower, than all before: the fewest
/// latest values, of `most` at most, of which at least half are, where no order of all values being
/// as likely as another makes that rarer than one in 10⁸. `passed` is how many there
/// are before, and `count` how many of the latest lie beyond them; `after` is the median of those.
///
/// Assumes values in the order of time, on the scale of the options.
pub fn latest_half_beyond(
    values: &[f64],
    is_higher: bool,
    most: usize,
    options: &ChangeOptions,
) -> Option<LatestApart> {
    let scaled = super::scaled(values, options.scale).ok()?;
    let sign = if is_higher { 1.0 } else { -1.0 };
    let signed: Vec<f64> = scaled.iter().map(|value| sign * value).collect();
    let budget = options.budget * budget_unit(values, options.scale);
    let n = values.len();
    (2 * COUNT_LEAST..=most.min(n / 2)).find_map(|latest| {
        let (before, after) = signed.split_at(n - latest);
        let highest = lowest_and_highest(before).1;
        let beyond: Vec<f64> = after.iter().copied().filter(|value| *value > highest).collect();
        let count = beyond.len();
        if count < 2 * COUNT_LEAST || 2 * count < latest || before.len() < NEIGHBOURS {
            return None;
        }
        // That the largest `count` of all are among the latest.
        let rarity = ln_choices(n - count, count) - ln_choices(latest - count, count);
        let apart = median_or_nan(&beyond) - median_or_nan(before);
        let is_large = reported_size(sign * apart, options.scale).abs() >= budget
            && apart >= DEVIATIONS_OF_HALF * deviation(before);
        (is_large && rarity >= RARITY_OF_HALF.ln()).then(|| {
            let of_latest = &values[n - latest..];
            let beyond = (0..latest).filter(|&at| after[at] > highest).map(|at| of_latest[at]);
            LatestApart {
                count,
                passed: before.len(),
                before: median_or_nan(&values[..n - latest]),
                after: median_or_nan(&beyond.collect::<Vec<f64>>()),
            }
        })
    })
}

/// See [`latest_half_beyond`].
const RARITY_OF_HALF: f64 = 1e8;
const DEVIATIONS_OF_HALF: f64 = 1.5;

/// How many of the values right before are looked at: all, and fewer of them, since a better level
/// at the beginning makes the others look far from each other.
fn lengths_right_before(all: usize) -> impl Iterator<Item = usize> {
    std::iter::successors(Some(all), |&length| Some(length * 4 / 5))
        .take_while(|&length| length >= BEFORE_LEAST)
}

/// Whether so many higher values behind so many others, whose medians are so far apart, are no
/// chance.
fn is_no_chance(before: &[f64], latest: &[f64], apart: f64) -> bool {
    let count = latest.len();
    let least = if count > FEW_LATEST { DEVIATIONS_OF_MANY } else { DEVIATIONS_LEAST };
    let is_rare = ln_choices(before.len(), count) >= LN_RARITY_LEAST;
    if is_rare && apart >= least * deviation(before) {
        return true;
    }
    let (low, high) = lowest_and_highest(before);
    let nearest = lowest_and_highest(latest).0;
    if before.len() >= NEIGHBOURS && high > low && nearest - high >= GAP_LEAST * (high - low) {
        return true;
    }
    let recent = &before[before.len() - before.len().min(NEIGHBOURS)..];
    [before, recent].into_iter().any(|level| {
        let (centre, deviation) = (median_or_nan(level), robust_deviation(level));
        let scores: Vec<f64> = latest.iter().map(|value| (value - centre) / deviation).collect();
        let nearest = scores.iter().copied().fold(f64::INFINITY, f64::min);
        let together: f64 = scores.iter().map(|score| score.min(DEVIATIONS_MOST)).sum();
        let root = (count as f64).sqrt();
        deviation > 0.0
            && ln_choices(level.len(), count) >= LN_RARITY_OF_FEW
            && (nearest * root >= DEVIATIONS_OF_NEAREST || together / root >= DEVIATIONS_TOGETHER)
    })
}

/// In how many ways `latest` places are chosen of `before` and these, as a logarithm.
fn ln_choices(before: usize, latest: usize) -> f64 {
    let (before, latest) = (before as f64, latest as f64);
    ln_gamma(before + latest + 1.0) - ln_gamma(before + 1.0) - ln_gamma(latest + 1.0)
}

/// The standard deviation around the median.
fn deviation(before: &[f64]) -> f64 {
    let centre = median_or_nan(before);
    let squares: f64 = before.iter().map(|value| (value - centre).powi(2)).sum();
    (squares / (before.len() - 1) as f64).sqrt()
}

/// The larger one of values around their median, and of what lies between neighbours.
fn robust_deviation(level: &[f64]) -> f64 {
    let centre = median_or_nan(level);
    let around: Vec<f64> = level.iter().map(|value| (value - centre).abs()).collect();
    let between: Vec<f64> = level.windows(2).map(|two| (two[1] - two[0]).abs()).collect();
    1.4826 * median_or_nan(&around).max(median_or_nan(&between) / std::f64::consts::SQRT_2)
}

#[cfg(test)]
mod tests {
    use super::super::scores::draw_normal;
    use super::*;
    use dbdyno_model::random;

    fn told(values: &[f64]) -> Option<LatestApart> {
        latest_apart(values, true, 10, &ChangeOptions::with_budget(0.02))
    }

    /// Values of a standard deviation of 3 % whose neighbours have such a correlation.
    fn noise(length: usize, phi: f64, seed: u64) -> Vec<f64> {
        let mut stream = random::stream(&[random::key_of("apart"), length as u64, seed]);
        let (mut last, scale) = (0.0, (1.0 - phi * phi).sqrt());
        let noise = (0..length + 30).map(|_| {
            last = phi * last + draw_normal(&mut stream);
            100.0 + 3.0 * scale * last
        });
        noise.skip(30).collect()
    }

    /// How many of 500 series are told whose neighbours have such a correlation.
    fn told_of_noise(length: usize, phi: f64) -> usize {
        let is_told = |seed: &u64| told(&noise(length, phi, *seed)).is_some();
        (0..500).filter(is_told).count()
    }

    /// How many of 500 series have half of their latest 20 beyond all before.
    fn half_beyond_in_noise(length: usize, phi: f64) -> usize {
        let is_told = |seed: &u64| {
            let values = noise(length, phi, *seed);
            let options = ChangeOptions::with_budget(0.02);
            latest_half_beyond(&values, true, 20, &options).is_some()
        };
        (0..500).filter(is_told).count()
    }

    #[test]
    fn half_of_the_latest_are_seldom_beyond_all_before() {
        for length in [40, 60, 100, 200] {
            let counts = [0.0, 0.5, 0.7, 0.9].map(|phi| half_beyond_in_noise(length, phi));
            let most = [0, 1, 5, 35];
            let is_few = counts.iter().zip(most).all(|(count, most)| *count <= most);
            assert!(is_few, "{length}: {counts:?}");
        }
    }

    #[test]
    fn noise_is_seldom_told() {
        for length in [13, 18, 25, 40, 60, 100] {
            let counts = [0.0, 0.5, 0.7, 0.9].map(|phi| told_of_noise(length, phi));

            let most = [6, 30, 75, 115];
            let is_few = counts.iter().zip(most).all(|(count, most)| *count <= most);
            assert!(is_few, "{length}: {counts:?}");
        }
    }

    /// Milliseconds of a compiler's nightly benchmark: five runs above all 58 before were no
    /// change, because the level had gone up and come back.
    #[test]
    fn runs_that_are_worse_than_all_before_are_told() {
        let hump = [
            1111.0, 1079.0, 1100.0, 1101.0, 1085.0, 1091.0, 1100.0, 1091.0, 1090.0, 1095.0, 1101.0,
            1116.0, 1118.0, 1082.0, 1106.0, 1119.0, 1113.0, 1116.0, 1109.0, 1114.0, 1130.0, 1094.0,
            1106.0, 1098.0, 1086.0, 1113.0, 1119.0, 1158.0, 1153.0, 1150.0, 1164.0, 1158.0, 1181.0,
            1156.0, 1158.0, 1160.0, 1163.0, 1152.0, 1159.0, 1173.0, 1166.0, 1151.0, 1157.0, 1124.0,
            1142.0, 1165.0, 1142.0, 1148.0, 1136.0, 1142.0, 1084.0, 1081.0, 1098.0, 1087.0, 1087.0,
            1087.0, 1099.0, 1092.0,
        ];
        let latest = [1242.0, 1237.0, 1196.0, 1195.0, 1202.0];
        let found = told(&[&hump[..], &latest].concat()).unwrap();
        assert_eq!((found.count, found.passed, found.after), (5, 58, 1202.0));
        assert_eq!(told(&hump), None);
        let lower: Vec<f64> = [&hump[..], &latest].concat().iter().map(|it| 1.0 / it).collect();
        let options = ChangeOptions::with_budget(0.02);
        assert_eq!(latest_apart(&lower, false, 10, &options).map(|it| it.count), Some(5));
        assert_eq!(latest_apart(&lower, true, 10, &options), None);
        assert_eq!(
            told(&[&hump[..], &latest].concat()[51..]).unwrap().count,
            5,
            "and seven before"
        );
    }

    /// A few values that were much better long ago made the others look far from each other, and
    /// the latest near.
    #[test]
    fn better_values_long_ago_hide_no_worse_ones_now() {
        let noise = |at: usize| (at * 7 % 31) as f64 * 0.6;
        for count in [3, 8, 20, 60] {
            let early = (0..count).map(|at| 45.0 + noise(at) / 3.0);
            let usual = (0..30).map(|at| 92.0 + noise(at));
            let latest = [113.5, 134.6, 122.1, 122.8, 122.4];
            let values: Vec<f64> = early.chain(usual).chain(latest).collect();
            assert!(told(&values).is_some(), "{count}");
            assert_eq!(told(&values[..values.len() - 5]), None, "{count}");
        }
    }

    /// Times of a file format's benchmark that somebody published; the latest fifteen are slower by
    /// three tenths, and four of them lie where values lay before.
    #[test]
    fn half_of_the_latest_beyond_all_before_are_told() {
        let values = [
            617.4, 522.8, 632.4, 615.1, 620.0, 627.6, 526.6, 638.7, 619.2, 464.2, 624.6, 640.0,
            621.5, 637.6, 615.6, 527.0, 526.8, 618.6, 631.2, 531.0, 468.4, 457.2, 642.7, 638.8,
            634.5, 453.1, 469.7, 639.1, 527.4, 526.5, 627.2, 628.6, 626.2, 629.5, 639.9, 622.6,
            525.2, 521.4, 636.0, 456.1, 627.5, 521.4, 451.9, 517.1, 615.6, 624.3, 650.7, 457.6,
            419.8, 634.6, 529.0, 641.8, 627.4, 634.2, 536.7, 643.8, 629.4, 638.0, 624.0, 627.7,
            816.4, 810.7, 837.5, 845.4, 818.1, 848.3, 541.4, 546.8, 716.1, 592.1, 830.0, 840.6,
            595.3, 802.9, 797.7,
        ];
        let options = ChangeOptions::with_budget(0.02);
        let found = latest_half_beyond(&values, true, 20, &options).unwrap();
        assert!(found.count >= 7 && found.after > 790.0, "{found:?}");
        assert_eq!(latest_half_beyond(&values[..60], true, 20, &options), None);
        let rates: Vec<f64> = values.iter().map(|value| 1e6 / value).collect();
        assert!(latest_half_beyond(&rates, false, 20, &options).is_some());
    }

    /// Rates of a file system that somebody published: a run at −60 % among three that were all
    /// worse than any before hid the others.
    #[test]
    fn runs_that_are_unequally_worse_are_told() {
        let before: Vec<f64> =
            (0..23).map(|at| 7_400.0 + f64::from(at * 7 % 23 - 11) * 65.0).collect();
        let options = ChangeOptions::with_budget(0.02);
        for latest in [
            &[2882.0, 5764.0, 5404.0][..],
            &[5404.0, 5764.0, 2882.0],
            &[2882.0, 6000.0, 5820.0, 6120.0],
            &[5950.0, 6000.0, 5820.0, 6120.0],
            &[2882.0, 6000.0],
        ] {
            let values = [&before[..], latest].concat();
            let found = latest_apart(&values, false, 10, &options).unwrap();
            assert!((2..=latest.len()).contains(&found.count), "{found:?}");
        }
        let values = [&before[..], &[2882.0, 7400.0, 7000.0]].concat();
        assert_eq!(latest_apart(&values, false, 10, &options), None, "one bad night");
    }

    #[test]
    fn two_runs_take_values_that_are_far() {
        let before =
            [26.0, 19.6, 24.5, 23.6, 23.2, 24.0, 25.1, 19.2, 24.2, 19.1, 16.9, 20.8, 22.0, 23.3];
        assert_eq!(told(&[&before[..], &[48.0, 47.6]].concat()).unwrap().count, 2);
        assert_eq!(told(&[&before[..], &[27.0, 28.6]].concat()), None);
        assert_eq!(told(&[&before[..], &[48.0]].concat()), None);
        let two_levels = [353.0, 563.0, 360.0, 355.0, 560.0, 561.0, 358.0, 357.0, 562.0].repeat(3);
        assert_eq!(told(&[&two_levels[..], &[793.0, 792.0]].concat()).unwrap().count, 2);
    }
}
