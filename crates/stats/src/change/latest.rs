//! The latest values, where they are far from the level before them and too few to be one.
//!
//! ```text
//!   ::':.::::::':.:::      a level has four values at least, and it takes some to prove it: what
//!                    '.    lies at the end is neither a level yet nor a bad night
//! ```
//!
//! What came last is what most readers ask about, and nothing that follows says whether it stays.
//! *Far* is [`DEVIATIONS_LEAST`] robust standard deviations from the median of the [`NEIGHBOURS`]
//! before, as for strays: how often noise is so far stands in
//! `docs/journal/2026-11-29-levels-that-return.md`. Three or more are far, too, where they lie
//! beyond those before them by more than the budget ([`is_beyond_others`]), and any where that is
//! by more than those before lie apart: a level that drifts has a large deviation, and values that
//! are three times as large were not far from it.
//!
//! Where most values are equal, the others say nothing of how far noise goes: what differs by more
//! than the budget, and than digits round away, is far ([`is_far_from_equal`]).
//!
//! *Bad now and then from the beginning.* Of a series that is as far in one of ten runs, one of ten
//! ends with such a run, which says nothing. The latest are usual where single ones as far, or half
//! as far, came before, twice at least and in the later half too, and if the chance that the latest
//! of all places are among those is more than [`CHANCE_OF_USUAL`]. One alone excuses nothing.

use dbdyno_model::{SeriesChanges, ShiftWeight};

use super::ChangeOptions;
use super::beyond::{is_beyond_others, lowest_and_highest};
use super::rate::chance_of_as_many;
use super::scores::LEVEL_LEAST;
use super::size::{budget_unit, reported_size};
use crate::median::median_or_nan;

/// As for strays.
const DEVIATIONS_LEAST: f64 = 8.0;
/// The values of the level before.
const NEIGHBOURS: usize = 12;
/// What lies further back says little of what is usual now.
const RECENT: usize = 40;
/// Of values that were all the same, what lies so many units of their last digit away is far: two
/// values that round to neighbouring ones may be as near as noise that nobody sees.
const UNITS_OF_EQUAL: f64 = 1.5;
/// Nor is it noise what changes them by so much.
const SHARE_OF_EQUAL: f64 = 0.25;
/// What is always the whole, as a share or in per cent, is less for a reason, as no errors are
/// more.
const WHOLES: [f64; 2] = [1.0, 100.0];
const ROUNDING: f64 = 1e-12;
/// So many values say by themselves that most of them are equal.
const EQUAL_LEAST: usize = 2 * LEVEL_LEAST;
/// And that is so large a share of them.
const EQUAL_SHARE: f64 = 0.75;
/// One value as far may be the first of a new kind.
const ALIKE_LEAST: usize = 2;
/// Sizes of bad nights differ: a half of the distance is as far.
const ALIKE_SHARE: f64 = 0.5;
/// Where the latest are among the far ones with a smaller chance, they are a surprise.
const CHANCE_OF_USUAL: f64 = 0.05;
/// More values are found as a level.
const COUNT_MOST: usize = 6;

/// Values at the end of a series that are far from those before them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LatestValues {
    /// How many.
    pub count: usize,
    /// How far their median is from that of the level before, as sizes of shifts are told.
    pub size: f64,
}

/// The latest values, if all of them are far from the level before, on the same side, and no
/// shift was found with them.
///
/// Assumes values and the changes that were found in them, on this scale; noise of one kind, whose
/// neighbours are independent or nearly so.
pub fn latest_values(
    values: &[f64],
    changes: &SeriesChanges,
    options: &ChangeOptions,
) -> Option<LatestValues> {
    let scale = options.scale;
    let scaled = super::scaled(values, scale).ok()?;
    let n = scaled.len();
    // The latest level, if it has values enough to be seen beside noise, or alarms by itself.
    let level = changes
        .shifts
        .iter()
        .rfind(|shift| n - shift.first >= 2 * LEVEL_LEAST || shift.weight == ShiftWeight::Alarm);
    let from = level.map_or(0, |shift| shift.first);
    let kept: Vec<usize> =
        (from..n).filter(|at| changes.strays.binary_search(at).is_err()).collect();
    let level: Vec<f64> = kept.iter().map(|&at| scaled[at]).collect();
    let written: Vec<f64> = kept.iter().map(|&at| values[at]).collect();
    let budget = options.budget * budget_unit(values, scale);
    let mut found = None;
    for count in 1..=COUNT_MOST.min(level.len().saturating_sub(LEVEL_LEAST)) {
        let (all_before, latest) = level.split_at(level.len() - count);
        let before = &all_before[all_before.len().saturating_sub(NEIGHBOURS)..];
        let centre = median_or_nan(before);
        let is_above = latest[0] > centre;
        let is_one_side = latest.iter().all(|&value| (value > centre) == is_above);
        if !is_one_side || before.len() < LEVEL_LEAST {
            continue;
        }
        let nearest = latest.iter().map(|value| value - centre).min_by(by_distance)?;
        let (_, latest_written) = written.split_at(written.len() - count);
        let is_within = reported_size(nearest, scale).abs() < budget;
        let is_far = match usual_value(&written[..written.len() - count]) {
            Some(usual) => !is_within && is_far_from_equal(usual, latest_written),
            None => nearest.abs() > least_distance(all_before),
        };
        let recent = &all_before[all_before.len().saturating_sub(RECENT)..];
        let is_beyond = is_beyond_range(all_before, latest)
            || is_beyond_others(all_before, latest)
            || is_beyond_others(recent, latest);
        let is_usual =
            changes.slides.is_empty() && is_usual(&scaled[from..], count, centre, nearest);
        if (is_far || (!is_within && is_beyond)) && !is_usual {
            found = Some(LatestValues {
                count,
                size: reported_size(median_or_nan(latest) - centre, scale),
            });
        }
    }
    found
}

fn by_distance(one: &f64, other: &f64) -> std::cmp::Ordering {
    one.abs().total_cmp(&other.abs())
}

/// Whether single values as far from `centre` as the latest came before, at a rate at which these
/// are no surprise.
fn is_usual(level: &[f64], count: usize, centre: f64, nearest: f64) -> bool {
    let before = &level[..level.len() - count];
    let is_alike = before.iter().map(|value| (value - centre) / nearest >= ALIKE_SHARE);
    let is_alike: Vec<bool> = is_alike.collect();
    let (mut alike, mut is_recent, mut from) = (0, false, 0);
    for spell in is_alike.chunk_by(|one, other| one == other) {
        let to = from + spell.len();
        // What begins the series or ends it may be a level.
        if spell[0] && spell.len() < LEVEL_LEAST && from > 0 && to < before.len() {
            alike += spell.len();
            is_recent |= 2 * to > before.len();
        }
        from = to;
    }
    alike >= ALIKE_LEAST
        && is_recent
        && chance_of_as_many(level.len(), count, alike + count, count) > CHANCE_OF_USUAL
}

/// Whether all of `latest` are farther from all before them than these lie apart from each other:
/// what the test counts in noise is none, also where its neighbours are alike.
fn is_beyond_range(before: &[f64], latest: &[f64]) -> bool {
    let (low, high) = lowest_and_highest(before);
    let (latest_low, latest_high) = lowest_and_highest(latest);
    let range = high - low;
    before.len() >= NEIGHBOURS
        && range > 0.0
        && (latest_low - high >= range || low - latest_high >= range)
}

/// How far from the level before a value is far; infinitely where that is not known. Where more
/// than half of the values are equal, as errors that are mostly 0 are, the robust deviation knows
/// nothing: there it is the plain one, or that of the others, which a single spike does not raise.
fn least_distance(values: &[f64]) -> f64 {
    let robust = DEVIATIONS_LEAST * deviation(values);
    if robust > ROUNDING {
        return robust;
    }
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    let centre = median_or_nan(values);
    let mut others: Vec<f64> = values.iter().map(|value| (value - centre).abs()).collect();
    others.retain(|distance| *distance > ROUNDING);
    let plain = DEVIATIONS_LEAST * (squares / n).sqrt().min(1.4826 * median_or_nan(&others));
    if plain > ROUNDING && values.len() >= NEIGHBOURS { plain } else { f64::INFINITY }
}

/// The value that most of them are, if they are enough to say so.
fn usual_value(values: &[f64]) -> Option<f64> {
    let usual = median_or_nan(values);
    let equal = values.iter().filter(|&&value| value == usual).count();
    let is_usual = values.len() >= EQUAL_LEAST && equal as f64 >= EQUAL_SHARE * values.len() as f64;
    is_usual.then_some(usual)
}

/// The value that all of them are, if they are enough to say so.
pub(super) fn equal_value(values: &[f64]) -> Option<f64> {
    let first = *values.first()?;
    let are_equal = values.len() >= NEIGHBOURS && values.iter().all(|&value| value == first);
    are_equal.then_some(first)
}

/// Whether all of `latest` are far from a value that all before them were: beside none, or below
/// the whole, each is; else by what their last digit can round away, which of whole numbers is 1
/// however round they are.
pub(super) fn is_far_from_equal(equal: f64, latest: &[f64]) -> bool {
    let digits = latest.iter().chain([&equal]).filter_map(|&value| last_digit(value));
    let unit = 10f64.powi(digits.fold(0, i32::min));
    let is_bound = equal == 0.0
        || WHOLES.contains(&equal) && latest.iter().all(|value| (0.0..equal).contains(value));
    let least = (UNITS_OF_EQUAL * unit).min(SHARE_OF_EQUAL * equal.abs());
    latest.iter().all(|value| (value - equal).abs() > if is_bound { 0.0 } else { least })
}

/// The place of the last decimal digit that is not 0, as a power of ten; none of 0.
fn last_digit(value: f64) -> Option<i32> {
    let text = format!("{value:e}");
    let (digits, exponent) = text.split_once('e')?;
    let behind_point = digits.split_once('.').map_or(0, |(_, behind)| behind.len());
    let exponent: i32 = exponent.parse().ok()?;
    (value != 0.0).then_some(exponent - behind_point as i32)
}

/// A robust standard deviation: the larger one of values around their median, and of what lies
/// between neighbours.
fn deviation(values: &[f64]) -> f64 {
    let centre = median_or_nan(values);
    let around: Vec<f64> = values.iter().map(|value| (value - centre).abs()).collect();
    let between: Vec<f64> = values.windows(2).map(|two| (two[1] - two[0]).abs()).collect();
    1.4826 * median_or_nan(&around).max(median_or_nan(&between) / std::f64::consts::SQRT_2)
}

#[cfg(test)]
mod tests {
    use super::super::scores::draw_normal;
    use super::*;
    use crate::change::{ChangeOptions, change_points};
    use dbdyno_model::{ChangeScale, random};

    /// The latest of 60 values with noise of 1 %, so many of them at this level, and whether a
    /// shift alarms there.
    fn found(seed: u64, latest: usize, level: f64) -> (Option<LatestValues>, bool) {
        let mut stream = random::stream(&[random::key_of("latest"), seed]);
        let of = |at: usize| if at < 60 - latest { 1000.0 } else { 1000.0 * level };
        let values: Vec<f64> =
            (0..60).map(|at| of(at) * (1.0 + 0.01 * draw_normal(&mut stream))).collect();
        let options = ChangeOptions::with_budget(0.02);
        let changes = change_points(&values, &options).unwrap();
        let alarms = changes
            .shifts
            .iter()
            .any(|shift| shift.first >= 50 && shift.weight == ShiftWeight::Alarm);
        (latest_values(&values, &changes, &options), alarms)
    }

    /// Half the level in the latest runs was in no note.
    #[test]
    fn latest_values_far_away_are_told_with_their_size() {
        for seed in 0..20 {
            for count in 1..=3 {
                let (latest, alarms) = found(seed, count, 0.5);
                let Some(latest) = latest else {
                    assert!(alarms, "{seed} {count}");
                    continue;
                };
                assert_eq!(latest.count, count, "{seed}");
                assert!((latest.size + 0.5).abs() < 0.02, "{seed} {latest:?}");
            }
        }
    }

    /// Of 58 cycle counts forty were equal, and one spike long ago made another one usual.
    #[test]
    fn a_spike_long_ago_hides_none_beside_values_that_are_mostly_equal() {
        let mut values: Vec<f64> = (0..58).map(|at| 804.0 + f64::from(at % 3 / 2) * 3.0).collect();
        (values[33], values[57]) = (1206.0, 1201.5);
        let options = ChangeOptions::with_budget(0.02);
        let changes = change_points(&values, &options).unwrap();
        assert_eq!(latest_values(&values, &changes, &options).unwrap().count, 1);
    }

    /// Errors that were always 0, and whole milliseconds: the median of distances is 0, and one run
    /// with 500 errors was in no note.
    #[test]
    fn values_that_were_all_alike_have_a_distance() {
        let latest = |before: &[f64], latest: &[f64], scale| {
            let values: Vec<f64> = before.iter().cycle().take(57).chain(latest).copied().collect();
            let options = ChangeOptions { scale, ..ChangeOptions::with_budget(0.02) };
            let changes = change_points(&values, &options).unwrap();
            latest_values(&values, &changes, &options).map(|found| found.count)
        };
        let (share, difference) = (ChangeScale::Share, ChangeScale::Difference);
        for at in 1..=3 {
            let errors = &[500.0, 501.0, 502.0][..at];
            assert_eq!(latest(&[0.0], errors, difference), Some(at));
            assert_eq!(latest(&[1.0], &[100.0; 3][..at], share), Some(at));
            let rates = [&[1000.0; 8][..], &[1001.0]].concat();
            assert_eq!(latest(&rates, &[500.0; 3][..at], share), Some(at));
        }
        assert_eq!(latest(&[0.0], &[1.0], difference), Some(1), "an error is one");
        assert_eq!(latest(&[12.0], &[13.0], share), None, "whole milliseconds");
        assert_eq!(latest(&[12.0], &[13.0; 2], share), None);
        assert_eq!(latest(&[12.0], &[13.0; 3], share), Some(3), "three of 60");
        assert_eq!(latest(&[500.0], &[620.0], share), Some(1), "twelve units");
        assert_eq!(latest(&[0.25], &[0.26], share), None, "the last digit");
        for (usual, now) in [(1.0, 0.9), (2_000.0, 1_000.0), (100.0, 110.0), (3.0, 2.0), (1.0, 2.0)]
        {
            for at in 1..=2 {
                assert_eq!(latest(&[usual], &[now; 2][..at], share), Some(at), "{usual} {now}");
            }
        }
        for (usual, now) in [(1.0, 0.0), (100.0, 97.0)] {
            assert_eq!(latest(&[usual], &[now], difference), Some(1), "the whole: {usual} {now}");
        }
        assert_eq!(latest(&[2_500.0], &[2_501.0; 4], share), None, "within the budget");
        let rates = [&[1000.0; 8][..], &[1001.0]].concat();
        assert_eq!(latest(&rates, &[1001.0], share), None);
        let mostly_none = [&[0.0; 9][..], &[500.0]].concat();
        assert_eq!(latest(&mostly_none, &[500.0], difference), None, "as before");
    }

    /// Three to five values, each beyond all 55 before, were no change and in no note where they
    /// were nearer than eight standard deviations.
    #[test]
    fn few_values_beyond_all_others_are_told() {
        for (count, level) in [(3, 1.06), (4, 1.06), (5, 0.94)] {
            let told = (0..100).filter(|&seed| {
                let (latest, alarms) = found(seed, count, level);
                alarms || latest.is_some_and(|latest| latest.count >= count)
            });
            assert!(told.count() >= 95, "{count} at {level}");
        }
    }

    /// Cycles of a kernel that are the same in all runs but for two, of which the latest has ten
    /// times as many; and the one behind eleven equal values.
    #[test]
    fn one_spike_among_equal_values_excuses_no_other() {
        let latest = |values: &[f64]| {
            let options = ChangeOptions::with_budget(0.02);
            let changes = change_points(values, &options).unwrap();
            latest_values(values, &changes, &options).map(|found| (found.count, found.size))
        };
        for spike in [640.0, 6_400.0] {
            let mut values = vec![640.0; 60];
            values[30] = spike;
            values[59] = 6_400.0;
            assert_eq!(latest(&values).map(|(count, _)| count), Some(1), "{spike}");
        }
        assert_eq!(latest(&[&[640.0; 11][..], &[700.0]].concat()).map(|one| one.0), Some(1));
        assert_eq!(latest(&[&[640.0; 30][..], &[645.0]].concat()), None, "within the budget");
        assert_eq!(latest(&[&[12.0; 30][..], &[13.0]].concat()), None, "what digits round away");
        // At a constant rate: one of eight, the latest too.
        let mut spiky = vec![640.0; 64];
        (7..64).step_by(8).for_each(|at| spiky[at] = 6_400.0);
        assert_eq!(latest(&spiky), None);
        spiky[63] = 64_000.0;
        assert_eq!(latest(&spiky).map(|one| one.0), Some(1), "none before was as far by half");
        let mut early = spiky.clone();
        early[30..63].fill(640.0);
        early[63] = 6_400.0;
        assert_eq!(latest(&early).map(|one| one.0), Some(1), "they were over");
    }

    /// Of series that are bad in one of ten runs, one of ten ends with such a run.
    #[test]
    fn bad_runs_at_a_constant_rate_are_no_surprise_at_the_end() {
        for (one_of, most) in [(20, 14), (10, 14), (5, 10)] {
            let found = (0..300).filter(|&seed| {
                let mut stream = random::stream(&[random::key_of("constant"), one_of, seed]);
                let mut next = || {
                    let far = f64::from(stream.next_below(one_of) == 0);
                    1_000.0 * (1.0 + 0.3 * far + 0.01 * draw_normal(&mut stream))
                };
                let values: Vec<f64> = (0..60).map(|_| next()).collect();
                let options = ChangeOptions::with_budget(0.02);
                let changes = change_points(&values, &options).unwrap();
                latest_values(&values, &changes, &options).is_some()
            });
            let found = found.count();
            assert!(found <= most, "one of {one_of}: {found} of 300");
        }
    }

    #[test]
    fn noise_and_levels_that_are_found_are_none() {
        for seed in 0..100 {
            assert_eq!(found(seed, 1, 1.0).0, None, "{seed}");
        }
        assert_eq!(found(1, 20, 0.5).0, None, "it is a level");
    }

    /// A benchmark that somebody published: 55 to 99 ms in 26 runs, then 180 and 192.
    #[test]
    fn what_lies_beyond_all_by_more_than_they_lie_apart_is_far() {
        let mut values = vec![
            95.6, 93.91, 91.78, 98.78, 93.88, 93.72, 79.94, 77.54, 87.69, 92.42, 88.11, 88.33,
            83.65, 96.07, 87.86, 81.04, 65.24, 63.36, 65.14, 55.01, 57.1, 54.57, 60.37, 64.35,
            61.37, 60.47,
        ];
        let options = ChangeOptions::with_budget(0.02);
        for next in [180.09, 192.36, 191.85] {
            values.push(next);
            let changes = change_points(&values, &options).unwrap();
            let latest = latest_values(&values, &changes, &options).unwrap();
            assert_eq!(latest.count, values.len() - 26);
            assert!(latest.size > 1.0, "{latest:?}");
        }
    }

    #[test]
    fn noise_is_not_beyond_its_own_range() {
        for phi in [0.0, 0.5, 0.8] {
            let is_found = |seed: &u64| {
                let mut stream = random::stream(&[random::key_of("range"), *seed]);
                let mut last = 0.0;
                let mut next = || {
                    last = phi * last + draw_normal(&mut stream);
                    last
                };
                let values: Vec<f64> = (0..40).map(|_| next()).skip(20).collect();
                is_beyond_range(&values[..19], &values[19..])
            };
            assert_eq!((0..1_000).filter(is_found).count(), 0, "{phi}");
        }
    }
}
