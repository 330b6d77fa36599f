//! Values that are far from their neighbours on both sides: bad nights, and no level.
//!
//! ```text
//!   ::::':.::::::   ::':::.:::              a level has four values at least, so that three
//!                .':            ':.:'::.    together that lie far away are none
//!           ::                              ◀── nor do they say how alike neighbours are
//! ```
//!
//! Two of them side by side look like noise whose neighbours resemble each other: of 40 values that
//! are independent they make a correlation of 0.46 instead of 0.15. Against such noise a step of
//! ten standard deviations is nothing, and by ranks the two are the lowest of all, whatever
//! follows. So they are put aside before anything is looked for, and what is found has the places
//! that it has among all values.
//!
//! *Far* is [`DEVIATIONS_LEAST`] robust standard deviations from the median of the [`NEIGHBOURS`]
//! before it and from that of those after it: a value next to a step is near to one of them. Of
//! normal noise nothing is so far, and of noise with heavy tails little, as counted in
//! `docs/journal/2026-11-28-bad-nights.md`. Where noise has grown, it is
//! [`DEVIATIONS_AROUND_LEAST`] of those around it as well: else the farther half of all runs would
//! be left out, on whichever side they lie, and what remains would be another level. Where more
//! than a few are so far, they are a part of the series and stay; the first and the last values
//! stay too, because what follows them is not known.

use super::scores::LEVEL_LEAST;
use crate::median::median_or_nan;

/// Of 5, 6.5 and 8, false alarms in noise with heavy tails grew by least, and all found the same.
const DEVIATIONS_LEAST: f64 = 8.0;
/// As many of those around a value, where they scatter more than others do.
const DEVIATIONS_AROUND_LEAST: f64 = 5.0;
/// The median of seven values is that of the level, if a spell lies among them.
const NEIGHBOURS: usize = 7;
/// A larger share is no spike, as for `shape::find_modes`.
const SHARE_MOST: f64 = 0.15;

/// The indices of the values that are not strays, in order.
///
/// Assumes values on the scale on which sizes add up.
pub(crate) fn indices_without_strays(values: &[f64]) -> Vec<usize> {
    let n = values.len();
    let mut distances = Vec::with_capacity(n);
    for (at, value) in values.iter().enumerate() {
        let around = at.saturating_sub(NEIGHBOURS)..(at + NEIGHBOURS + 1).min(n);
        distances.push((value - median_or_nan(&values[around])).abs());
    }
    let least = DEVIATIONS_LEAST * 1.4826 * median_or_nan(&distances);
    if least < 1e-12 {
        return (0..n).collect();
    }
    let mut is_far = Vec::with_capacity(n);
    for at in 0..n {
        let [before, after] = [sided(values, at, NEIGHBOURS, 0), sided(values, at, 0, NEIGHBOURS)];
        let around = at.saturating_sub(2 * NEIGHBOURS)..(at + 2 * NEIGHBOURS + 1).min(n);
        let around = DEVIATIONS_AROUND_LEAST * 1.4826 * median_or_nan(&distances[around]);
        is_far.push(before.min(after) > least.max(around));
    }
    let mut strays = vec![false; n];
    let mut from = 0;
    for spell in is_far.chunk_by(|one, other| one == other) {
        let to = from + spell.len();
        let is_stray = spell[0] && spell.len() < LEVEL_LEAST && from > 0 && to < n;
        strays[from..to].fill(is_stray);
        from = to;
    }
    let count = strays.iter().filter(|&&is_stray| is_stray).count();
    if count as f64 > SHARE_MOST * n as f64 {
        (0..n).collect()
    } else {
        (0..n).filter(|&at| !strays[at]).collect()
    }
}

/// How far a value is from the median of so many before it or after it; not a number where there is
/// none, which is not far.
fn sided(values: &[f64], at: usize, before: usize, after: usize) -> f64 {
    let end = if after == 0 { at } else { (at + after + 1).min(values.len()) };
    let begin = if before == 0 { at + 1 } else { at.saturating_sub(before) };
    (values[at] - median_or_nan(&values[begin..end])).abs()
}

#[cfg(test)]
mod tests {
    use dbdyno_model::random;

    use super::super::scores::draw_normal;
    use super::*;
    use crate::change::{ChangeOptions, change_points};
    use dbdyno_model::ShiftWeight;

    /// 40 values around 1000 ± 8, by 10 % lower from the 26th on, with these at 700.
    fn nights(seed: u64, bad: &[usize], step: f64) -> Vec<f64> {
        let mut stream = random::stream(&[random::key_of("nights"), seed]);
        let level = |at: usize| if at < 25 { 1000.0 } else { 1000.0 * (1.0 - step) };
        let value = |at: usize, noise: f64| match bad.contains(&at) {
            true => 700.0 + noise,
            false => level(at) * (1.0 + 0.008 * noise),
        };
        (0..40).map(|at| value(at, draw_normal(&mut stream))).collect()
    }

    #[test]
    fn a_spell_is_a_stray_and_a_level_is_none() {
        let away = |bad: &[usize], step| -> Vec<usize> {
            let kept = indices_without_strays(&nights(1, bad, step));
            (0..40).filter(|at| !kept.contains(at)).collect()
        };
        assert_eq!(away(&[], 0.1), [0usize; 0]);
        assert_eq!(away(&[10, 11], 0.1), [10, 11]);
        assert_eq!(away(&[3, 4, 20, 21], 0.1), [3, 4, 20, 21], "and none next to the step");
        assert_eq!(away(&[24, 25, 26], 0.1), [24, 25, 26]);
        assert_eq!(away(&[10, 11, 12, 13], 0.1), [0usize; 0], "a level has four");
        assert_eq!(away(&[0, 38, 39], 0.1), [0usize; 0], "what follows is not known");
        assert_eq!(away(&[3, 6, 9, 12, 15, 18, 21, 31], 0.1), [0usize; 0], "these are a mode");
        assert_eq!(
            indices_without_strays(&[1.0, 1.0, 1.0, 9.0, 1.0, 1.0]).len(),
            6,
            "nothing says what is far"
        );
    }

    /// Two side by side hid the change in 20 of 20 series, and two apart in 6.
    #[test]
    fn bad_nights_hide_no_change_and_are_none() {
        let options = ChangeOptions::with_budget(0.02);
        let alarms = |bad: &[usize], step: f64| {
            let of_one = |seed: &u64| {
                let changes = change_points(&nights(*seed, bad, step), &options).unwrap();
                changes.shifts.iter().any(|shift| shift.weight == ShiftWeight::Alarm)
            };
            (0..20).filter(of_one).count()
        };
        for bad in [&[][..], &[10, 11], &[10, 11, 12], &[5, 15], &[10, 11, 30], &[3, 4, 18, 19]] {
            assert!(alarms(bad, 0.1) >= 19, "{bad:?}: {}", alarms(bad, 0.1));
            assert_eq!(alarms(bad, 0.0), 0, "{bad:?}");
        }
        let changes = change_points(&nights(1, &[10, 11], 0.1), &options).unwrap();
        assert_eq!((changes.strays, changes.shifts[0].first), (vec![10, 11], 25));
    }
}
