//! A step that is far larger than whatever else lies between neighbours.
//!
//! ```text
//!   '.''.'                          the gap between the lowest value on one side and the highest
//!   ------  ▲                       on the other, against the other distances of neighbours
//!           │ gap
//!   ------  ▼   .:.':.'
//! ```
//!
//! Ranks know no sizes: where neighbours resemble each other, noise of thirty values has two levels
//! by itself, and a step of a hundred standard deviations has no higher rank than such a one. By
//! ranks alone, eleven of twelve series of 30 values with a correlation of 0.7 hid it. But noise
//! that remembers itself goes there by steps, and these are seen. Nor do ranks see the newest
//! change of independent values: the four lowest of 34 at the end are no surprise among all ends
//! that a level can have.
//!
//! *Statistic:* the gap between up to [`NEIGHBOURS`] values on both sides, in units of a distance
//! of neighbours that a sixth of them exceeds, so that other changes are no unit. *Null:* noise
//! that is more correlated than what is left around the levels that gaps tell, whose innovations
//! have heavy tails, Student's t with three degrees of freedom: the larger a single innovation may
//! be, the larger has a gap to be. Noise of two degrees of freedom with a correlation of 0.95 makes
//! one in 3 of 100 series, of 0.8 in 1 of 400, normal noise in none of 2 000
//! (`docs/journal/2026-11-28-jumps.md`).

use dbdyno_model::random::{self, RandomStream};

use super::null::Chance;
use super::scores::{Best, LEVEL_LEAST, draw_normal};

/// The values on each side that must lie beyond the gap.
const NEIGHBOURS: usize = 6;
/// One in so many distances of neighbours may be another change.
const OTHERS: usize = 6;
/// A gap of so many units is taken for that of a level when the correlation is asked.
const LEVEL_GAP_LEAST: f64 = 3.0;
/// A gap of fewer units is none: noise with a correlation of 0.3 and more has such.
const GAP_LEAST: f64 = 1.0;
const DRAWS_MOST: u32 = 20_000;
/// Values before those of a draw, until the first is forgotten.
const BEFORE: usize = 60;

/// The largest gap, and where it is; a statistic of 0 where there is none.
pub(crate) fn largest_gap(values: &[f64]) -> Best {
    let mut best = Best { statistic: 0.0, from: 0, to: values.len() };
    for (from, gap) in gaps(values, NEIGHBOURS) {
        if gap > best.statistic {
            best = Best { statistic: gap, from, to: values.len() };
        }
    }
    best
}

/// The first values of levels, as far as gaps tell them: of what is left around them the
/// correlation of neighbours is asked. Other changes would look like it.
pub(crate) fn levels(values: &[f64]) -> Vec<usize> {
    let large = gaps(values, LEVEL_LEAST).filter(|(_, gap)| *gap >= LEVEL_GAP_LEAST);
    apart(large.collect()).into_iter().map(|(first, _)| first).collect()
}

/// The places of all gaps larger than this, and how large they are.
pub(crate) fn gaps_above(values: &[f64], least: f64) -> Vec<(usize, f64)> {
    apart(gaps(values, NEIGHBOURS).filter(|(_, gap)| *gap > least).collect())
}

/// Of places that are too near for levels between them, those with the larger gap; in order.
fn apart(mut gaps: Vec<(usize, f64)>) -> Vec<(usize, f64)> {
    gaps.sort_by(|a, b| b.1.total_cmp(&a.1));
    let mut firsts: Vec<(usize, f64)> = Vec::new();
    for (from, gap) in gaps {
        if firsts.iter().all(|(first, _)| first.abs_diff(from) >= LEVEL_LEAST) {
            firsts.push((from, gap));
        }
    }
    firsts.sort_unstable_by_key(|(first, _)| *first);
    firsts
}

/// The gap at each place, between so many values on both sides.
fn gaps(values: &[f64], neighbours: usize) -> impl Iterator<Item = (usize, f64)> {
    let n = values.len();
    let mut distances: Vec<f64> = values.windows(2).map(|pair| (pair[1] - pair[0]).abs()).collect();
    distances.sort_by(|a, b| b.total_cmp(a));
    let unit = distances.get(n.div_ceil(OTHERS)).copied().unwrap_or(0.0);
    let places = if unit > 0.0 { LEVEL_LEAST..(n + 1).saturating_sub(LEVEL_LEAST) } else { 0..0 };
    places.map(move |from| {
        let before = ends(&values[from.saturating_sub(neighbours)..from]);
        let after = ends(&values[from..(from + neighbours).min(n)]);
        (from, (after.0 - before.1).max(before.0 - after.1) / unit)
    })
}

/// The smallest value and the largest.
fn ends(values: &[f64]) -> (f64, f64) {
    let first = (f64::INFINITY, f64::NEG_INFINITY);
    values.iter().fold(first, |(low, high), &value| (low.min(value), high.max(value)))
}

/// The chance of a gap as large in noise with this correlation, for a decision at `alpha`; `None`
/// if that is clear without asking.
pub(crate) fn gap_chance(best: &Best, phi: f64, alpha: f64, seed: u64) -> Option<Chance> {
    // So many draws would be needed that none decides.
    if best.statistic < GAP_LEAST || alpha * f64::from(DRAWS_MOST) < 1.0 {
        return None;
    }
    let draws = ((1.0 / alpha).ceil() as u32).min(DRAWS_MOST);
    let mut stream = random::stream(&[seed, random::key_of("jump"), best.to as u64]);
    let mut least_found = 0.0_f64;
    let mut values = vec![0.0; best.to];
    for draw in 1..=draws {
        simulate(&mut stream, phi, &mut values);
        least_found = least_found.max(self::largest_gap(&values).statistic);
        if least_found >= best.statistic {
            let p_value = 2.0 / f64::from(draw + 1);
            return Some(Chance { p_value: p_value.min(1.0), least_found: f64::INFINITY });
        }
    }
    Some(Chance { p_value: 1.0 / f64::from(draws + 1), least_found })
}

/// Stationary noise with innovations of Student's t with three degrees of freedom.
fn simulate(stream: &mut RandomStream, phi: f64, values: &mut [f64]) {
    let mut value = 0.0;
    for at in 0..BEFORE + values.len() {
        let squares: f64 = (0..3).map(|_| draw_normal(stream).powi(2)).sum();
        value = phi * value + draw_normal(stream) / (squares / 3.0).sqrt();
        if let Some(place) = at.checked_sub(BEFORE) {
            values[place] = value;
        }
    }
}

#[cfg(test)]
mod tests {
    use dbdyno_model::{Shift, ShiftWeight};

    use super::*;
    use crate::change::{ChangeOptions, change_points};

    /// Noise around 1000 with a deviation of 0.2 % and this correlation, and a step in the middle.
    fn nights(n: usize, phi: f64, step: f64, seed: u64) -> Vec<f64> {
        let mut stream = random::stream(&[random::key_of("jumps"), seed]);
        let mut noise = 0.0;
        (0..n)
            .map(|at| {
                noise = phi * noise + (1.0 - phi * phi).sqrt() * draw_normal(&mut stream);
                let level = if at < n / 2 { 1.0 } else { 1.0 - step };
                1000.0 * level * (1.0 + 0.002 * noise)
            })
            .collect()
    }

    #[test]
    fn a_gap_is_between_what_lies_on_both_sides() {
        let values = [1.0, 2.0, 1.5, 2.5, 1.0, 7.5, 8.0, 7.0, 8.0, 7.0, 8.0, 7.5];
        let found = largest_gap(&values);
        assert_eq!((found.from, found.statistic), (5, 4.5), "from 2.5 to 7, by 1");
        assert_eq!(largest_gap(&[3.0; 20]).statistic, 0.0);
        assert_eq!(largest_gap(&values[..6]).statistic, 0.0, "a level has four values");
    }

    /// Of 300 series of noise that goes far by itself a few have a gap that passes for a step.
    #[test]
    fn heavy_tails_make_few_jumps() {
        let count = |seeds: u64, phi: f64| {
            (0..seeds)
                .filter(|seed| {
                    let mut values = vec![0.0; 30];
                    let mut stream = random::stream(&[random::key_of("tails"), *seed]);
                    simulate(&mut stream, phi, &mut values);
                    let best = largest_gap(&values);
                    gap_chance(&best, 0.9, 5e-4, 1).is_some_and(|chance| chance.p_value <= 5e-4)
                })
                .count()
        };
        assert!(count(300, 0.9) <= 2, "{}", count(300, 0.9));
        assert_eq!(count(300, 0.6), 0);
    }

    /// A level that comes and goes several times, by a fifth: by ranks it looked like correlation,
    /// and of the steps one was told, or none.
    #[test]
    fn levels_that_return_are_found() {
        let options = ChangeOptions::with_budget(0.02);
        for (count, length) in [(8, 8), (10, 12), (6, 10), (8, 10), (8, 20)] {
            for seed in 0..12 {
                let mut stream = random::stream(&[random::key_of("returning"), seed]);
                let level =
                    |at: usize| if (at / length).is_multiple_of(2) { 1000.0 } else { 800.0 };
                let values: Vec<f64> = (0..count * length)
                    .map(|at| level(at) * (1.0 + 0.01 * draw_normal(&mut stream)))
                    .collect();
                let changes = change_points(&values, &options).unwrap();
                let alarms = changes.shifts.iter().filter(|one| one.weight == ShiftWeight::Alarm);
                let firsts: Vec<usize> = alarms.map(|one| one.first).collect();
                let truth: Vec<usize> = (1..count).map(|at| at * length).collect();
                assert_eq!(firsts, truth, "{count} {length} {seed}");
                assert!(changes.slides.is_empty() && changes.modes.is_none());
            }
        }
    }

    /// A third less in the last nights, of noise of 1 %: by ranks 10 of 15 such series showed
    /// nothing.
    #[test]
    fn a_drop_among_the_last_few_values_is_found() {
        let options = ChangeOptions::with_budget(0.02);
        for (before, after) in [(30, 4), (30, 6), (60, 4), (16, 5), (8, 8)] {
            for seed in 0..15 {
                let mut stream = random::stream(&[random::key_of("last"), seed]);
                let values: Vec<f64> = (0..before + after)
                    .map(|at| {
                        let level = if at < before { 1000.0 } else { 700.0 };
                        level * (1.0 + 0.01 * draw_normal(&mut stream))
                    })
                    .collect();
                let changes = change_points(&values, &options).unwrap();
                let firsts: Vec<usize> = changes.shifts.iter().map(|one| one.first).collect();
                assert_eq!(firsts, [before], "{before} {after} {seed}");
                assert_eq!(changes.shifts[0].weight, ShiftWeight::Alarm);
            }
        }
    }

    /// A step of a hundred standard deviations was missed in 7 to 11 of 12 such series.
    #[test]
    fn a_step_far_beyond_correlated_noise_is_found() {
        let options = ChangeOptions::with_budget(0.02);
        for (n, phi) in [(30, 0.5), (30, 0.7), (60, 0.7), (60, 0.8), (60, 0.9), (120, 0.9)] {
            for seed in 0..12 {
                let changes = change_points(&nights(n, phi, 0.2, seed), &options).unwrap();
                let large: Vec<&Shift> =
                    changes.shifts.iter().filter(|one| one.weight == ShiftWeight::Alarm).collect();
                let [only] = large[..] else { panic!("{n} {phi} {seed}: {large:?}") };
                assert_eq!(only.first, n / 2, "{n} {phi} {seed}");
                assert!((only.size.estimate + 0.2).abs() < 0.01, "{n} {phi} {seed}: {only:?}");
                assert_eq!(changes.modes, None);
            }
        }
    }
}
