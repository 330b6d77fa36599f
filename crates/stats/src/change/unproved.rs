//! A step among few values that lie apart, which would be told if it were known that neighbours do
//! not resemble each other.
//!
//! ```text
//!   ::':.:.'::'·      ten values and ten: no value of one level lies among the other's, and noise
//!             ':.:    that goes somewhere and stays for some runs cannot be told from it
//! ```
//!
//! Among 20 values the correlation of neighbours is known to ±0.25, and a step that is tested
//! against noise as correlated as it may be is found in half of such series. What is not proved is
//! no change, and to say nothing of it flatters.

use dbdyno_model::{ChangeScale, SeriesChanges};

use super::scores::LEVEL_LEAST;
use super::size::around_levels;
use crate::median::median_or_nan;

/// Of more values the correlation is known well enough.
const VALUES_MOST: usize = 40;
/// The levels are so many standard deviations of what is around them apart.
const DEVIATIONS_LEAST: f64 = 4.0;

/// A step that is not proved.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct UnprovedStep {
    /// The first value of the new level.
    pub first: usize,
    /// The median before.
    pub before: f64,
    /// The median after.
    pub after: f64,
}

/// The widest step of 12 to 40 values in which nothing was found: at least four values on both
/// sides, of which none lies among those of the other side.
///
/// Assumes values in the order of time and the changes that were found in them, on this scale.
pub fn unproved_step(
    values: &[f64],
    changes: &SeriesChanges,
    scale: ChangeScale,
) -> Option<UnprovedStep> {
    let n = values.len();
    let is_open = changes.shifts.is_empty() && changes.slides.is_empty();
    if !is_open || !(super::CHANGE_VALUES_LEAST..=VALUES_MOST).contains(&n) {
        return None;
    }
    let scaled = super::scaled(values, scale).ok()?;
    let mut widest = None;
    for first in LEVEL_LEAST..=n - LEVEL_LEAST {
        let gap = gap(&scaled, first);
        if gap > widest.map_or(0.0, |(widest, _)| widest) {
            widest = Some((gap, first));
        }
    }
    let (_, first) = widest?;
    let left = around_levels(&scaled, &[first]);
    let deviation = (left.iter().map(|one| one * one).sum::<f64>() / (n - 2) as f64).sqrt();
    let (before, after) = (median_or_nan(&scaled[..first]), median_or_nan(&scaled[first..]));
    ((after - before).abs() >= DEVIATIONS_LEAST * deviation).then(|| UnprovedStep {
        first,
        before: median_or_nan(&values[..first]),
        after: median_or_nan(&values[first..]),
    })
}

/// How far all values before lie from all from there on; not above 0 where they do not.
fn gap(values: &[f64], first: usize) -> f64 {
    let (before, after) = values.split_at(first);
    (lowest(after) - highest(before)).max(lowest(before) - highest(after))
}

fn lowest(part: &[f64]) -> f64 {
    part.iter().copied().fold(f64::INFINITY, f64::min)
}

fn highest(part: &[f64]) -> f64 {
    part.iter().copied().fold(f64::NEG_INFINITY, f64::max)
}

#[cfg(test)]
mod tests {
    use super::super::null::simulate_noise;
    use super::*;
    use crate::change::{ChangeOptions, change_points};
    use dbdyno_model::random;

    fn series(n: usize, phi: f64, (first, step): (usize, f64), seed: u64) -> Vec<f64> {
        let mut noise = vec![0.0; n];
        let mut stream = random::stream(&[random::key_of("unproved"), seed]);
        simulate_noise(&mut stream, phi, &mut noise);
        let level = |at: usize| if at >= first { 100.0 * (1.0 + step) } else { 100.0 };
        noise.iter().enumerate().map(|(at, noise)| level(at) * (1.0 + 0.02 * noise)).collect()
    }

    fn told(values: &[f64]) -> (bool, Option<UnprovedStep>) {
        let options = ChangeOptions::with_budget(0.02);
        let changes = change_points(values, &options).unwrap();
        (!changes.shifts.is_empty(), unproved_step(values, &changes, options.scale))
    }

    /// Of eight runs and eight that are 12 % slower, half were "no change".
    #[test]
    fn a_clean_step_of_few_values_is_found_or_named() {
        for (n, first) in [(16, 8), (20, 10), (14, 7), (26, 20), (26, 6)] {
            for seed in 0..60 {
                let values = series(n, 0.0, (first, 0.15), seed);
                let (is_found, unproved) = told(&values);
                assert!(is_found || unproved.is_some(), "{n} {first} {seed}: {values:?}");
                if let Some(step) = unproved {
                    assert_eq!(step.first, first, "{n} {seed}");
                }
            }
        }
    }

    #[test]
    fn noise_is_seldom_named() {
        for (n, phi, most) in
            [(12, 0.0, 6), (16, 0.0, 2), (30, 0.0, 0), (16, 0.6, 30), (30, 0.6, 4)]
        {
            let named = (0..1000).filter(|seed| told(&series(n, phi, (n, 0.0), *seed)).1.is_some());
            let count = named.count();
            assert!(count <= most, "{n} {phi}: {count} of 1000");
        }
    }
}
