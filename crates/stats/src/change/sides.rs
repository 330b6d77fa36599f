//! Steps of one of two levels that values jump between.
//!
//! ```text
//!   ':':':.:.:.:          every other value is 0: what falls by a fifth is the upper level alone,
//!   ............          and beside the distance of the two that is nothing
//! ```
//!
//! The values of each level are looked at by themselves, each with half the α.

use dbdyno_model::{SeriesChanges, ShiftWeight};

use super::size::around_levels;
use super::{CHANGE_VALUES_LEAST, ChangeOptions, change_points, scaled};
use crate::error::StatsError;

/// A step of one of two levels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ModeShift {
    /// The first value of the new level, among all values.
    pub first: usize,
    /// How large it is, on the scale of the question.
    pub size: f64,
    /// The median of the level before it, which tells the upper from the lower one.
    pub before: f64,
}

/// The latest step that alarms in each of the two levels of `changes.modes`, the lower one first;
/// none where there are no such levels, or no step.
///
/// Assumes values and the changes that were found in them with these options.
///
/// # Errors
/// As [`change_points`].
pub fn mode_shifts(
    values: &[f64],
    changes: &SeriesChanges,
    options: &ChangeOptions,
) -> Result<Vec<ModeShift>, StatsError> {
    let Some(modes) = changes.modes else { return Ok(Vec::new()) };
    let all = scaled(values, options.scale)?;
    let kept: Vec<usize> =
        (0..all.len()).filter(|at| changes.strays.binary_search(at).is_err()).collect();
    let firsts: Vec<usize> =
        changes.shifts.iter().map(|shift| kept.partition_point(|&at| at < shift.first)).collect();
    let left = around_levels(&kept.iter().map(|&at| all[at]).collect::<Vec<f64>>(), &firsts);
    let mut sorted = left.clone();
    sorted.sort_by(f64::total_cmp);
    let lower = ((1.0 - modes.share_upper) * sorted.len() as f64).round() as usize;
    let lower = lower.clamp(1, sorted.len() - 1);
    let middle = f64::midpoint(sorted[lower - 1], sorted[lower]);
    let own = ChangeOptions { alpha: options.alpha / 2.0, ..*options };
    let mut latest = Vec::new();
    for is_upper in [false, true] {
        let side: Vec<usize> = (0..kept.len())
            .filter(|&at| (left[at] >= middle) == is_upper)
            .map(|at| kept[at])
            .collect();
        if side.len() < CHANGE_VALUES_LEAST {
            continue;
        }
        let of_side: Vec<f64> = side.iter().map(|&at| values[at]).collect();
        let mut found = change_points(&of_side, &own)?.shifts.into_iter();
        let last = found.rfind(|shift| shift.weight == ShiftWeight::Alarm);
        latest.extend(last.map(|shift| ModeShift {
            first: side[shift.first],
            size: shift.size.estimate,
            before: shift.before,
        }));
    }
    Ok(latest)
}

#[cfg(test)]
mod tests {
    use super::super::scores::draw_normal;
    use super::*;
    use dbdyno_model::{ChangeScale, random};

    fn found(seed: u64, step: f64) -> Vec<ModeShift> {
        let mut stream = random::stream(&[random::key_of("sides"), seed]);
        let level = |at: usize| match (at % 2, at < 30) {
            (1, _) => 0.0,
            (_, true) => 1000.0,
            (_, false) => 1000.0 * (1.0 - step),
        };
        let values: Vec<f64> =
            (0..60).map(|at| level(at) * (1.0 + 0.01 * draw_normal(&mut stream))).collect();
        let options =
            ChangeOptions { scale: ChangeScale::Difference, ..ChangeOptions::with_budget(0.02) };
        let changes = change_points(&values, &options).unwrap();
        assert!(changes.modes.is_some(), "{seed}");
        mode_shifts(&values, &changes, &options).unwrap()
    }

    /// A fifth less of what is not 0 was told as a jump between two levels, and nothing else.
    #[test]
    fn a_step_of_one_level_is_found_and_none_is_made() {
        for seed in 0..20 {
            let [shift] = found(seed, 0.2)[..] else { panic!("{seed}") };
            assert_eq!(shift.first, 30, "{seed}");
            assert!((shift.size + 200.0).abs() < 20.0, "{seed} {shift:?}");
            assert_eq!(found(seed, 0.0), [], "{seed}");
        }
    }
}
