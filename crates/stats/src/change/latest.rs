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
//! `docs/journal/2026-11-29-levels-that-return.md`.

use dbdyno_model::{ChangeScale, SeriesChanges, ShiftWeight};

use super::scores::LEVEL_LEAST;
use super::size::reported_size;
use crate::median::median_or_nan;

/// As for strays.
const DEVIATIONS_LEAST: f64 = 8.0;
/// The values of the level before.
const NEIGHBOURS: usize = 12;
/// Of values that were all the same, what lies so far away is far.
const SHARE_OF_EQUAL: f64 = 0.25;
const ROUNDING: f64 = 1e-12;
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
    scale: ChangeScale,
) -> Option<LatestValues> {
    let scaled = super::scaled(values, scale).ok()?;
    let n = scaled.len();
    // The latest level, if it has values enough to be seen beside noise, or alarms by itself.
    let level = changes
        .shifts
        .iter()
        .rfind(|shift| n - shift.first >= 2 * LEVEL_LEAST || shift.weight == ShiftWeight::Alarm);
    let from = level.map_or(0, |shift| shift.first);
    let level: Vec<f64> = (from..n)
        .filter(|at| changes.strays.binary_search(at).is_err())
        .map(|at| scaled[at])
        .collect();
    let mut found = None;
    for count in 1..=COUNT_MOST.min(level.len().saturating_sub(LEVEL_LEAST)) {
        let (before, latest) = level.split_at(level.len() - count);
        let before = &before[before.len().saturating_sub(NEIGHBOURS)..];
        let least = least_distance(&level[..level.len() - count], scale);
        let centre = median_or_nan(before);
        let nearest = latest.iter().map(|value| (value - centre).abs()).fold(f64::MAX, f64::min);
        let is_above = latest[0] > centre;
        let is_one_side = latest.iter().all(|&value| (value > centre) == is_above);
        if is_one_side && nearest > least && before.len() >= LEVEL_LEAST && least > ROUNDING {
            found = Some(LatestValues {
                count,
                size: reported_size(median_or_nan(latest) - centre, scale),
            });
        }
    }
    found
}

/// How far from the level before a value is far. Where more than half of the values are equal, as
/// errors that are always 0 and whole milliseconds are, the robust deviation knows nothing: there
/// it is the plain one, and of values that were all the same a quarter of them; 0, which tells
/// nothing, where those are too few.
fn least_distance(values: &[f64], scale: ChangeScale) -> f64 {
    let robust = DEVIATIONS_LEAST * deviation(values);
    if robust > ROUNDING || values.len() < NEIGHBOURS {
        return robust;
    }
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    let plain = DEVIATIONS_LEAST * (squares / n).sqrt();
    match scale {
        _ if plain > ROUNDING => plain,
        ChangeScale::Share => SHARE_OF_EQUAL,
        ChangeScale::Difference => (SHARE_OF_EQUAL * mean.abs()).max(2.0 * ROUNDING),
    }
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
    use dbdyno_model::random;

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
        (latest_values(&values, &changes, options.scale), alarms)
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

    /// Errors that were always 0, and whole milliseconds: the median of distances is 0, and one run
    /// with 500 errors was in no note.
    #[test]
    fn values_that_were_all_alike_have_a_distance() {
        let latest = |before: &[f64], latest: &[f64], scale| {
            let values: Vec<f64> = before.iter().cycle().take(57).chain(latest).copied().collect();
            let options = ChangeOptions { scale, ..ChangeOptions::with_budget(0.02) };
            let changes = change_points(&values, &options).unwrap();
            latest_values(&values, &changes, scale).map(|found| found.count)
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
        let rates = [&[1000.0; 8][..], &[1001.0]].concat();
        assert_eq!(latest(&rates, &[1001.0], share), None);
        let mostly_none = [&[0.0; 9][..], &[500.0]].concat();
        assert_eq!(latest(&mostly_none, &[500.0], difference), None, "as before");
    }

    #[test]
    fn noise_and_levels_that_are_found_are_none() {
        for seed in 0..100 {
            assert_eq!(found(seed, 1, 1.0).0, None, "{seed}");
        }
        assert_eq!(found(1, 20, 0.5).0, None, "it is a level");
    }
}
