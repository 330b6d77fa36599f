//! Whether the latest few values lie beyond all before them by more than chance.
//!
//! ```text
//!   ::'.::':.::.:'::.:::'::.:::':.:::       three of sixty, and none before them is as low:
//!                                    '·.    one of 34 220 choices of three places
//! ```
//!
//! If the latest were like the others, each choice of places for the lowest few would be as likely,
//! which asks nothing of the noise but that its values are exchangeable. Neighbours that resemble
//! each other are fewer values than they look ([`variance_inflation`]); where the correlation that
//! is measured leaves too few, it takes [`DEVIATIONS_LEAST`] robust standard deviations as well,
//! and where there are too few values to be so sure, more ([`OF_FEW`]).
//!
//! Counted by the series of the test, 1 000 of each: of 20, 30, 60 and 100 values without a change
//! at most 1 where they are independent, none where their correlation is 0.3 or 0.5, and at 0.8 13,
//! 4, 3 and 3. Of three that are moved by four standard deviations 727 are found among 60 values,
//! of three by six 997.

use statrs::function::gamma::ln_gamma;

use super::null::correlation_around;
use super::size::around_levels;
use crate::correlation::variance_inflation;
use crate::median::median_or_nan;

/// Chance that equal runs have their latest values beyond all others, on both sides together and
/// for all [`COUNTS`].
const ALPHA: f64 = 0.001;
/// So many of the latest are looked at.
const COUNTS: std::ops::RangeInclusive<usize> = 3..=6;
/// Against neighbours that resemble each other.
const DEVIATIONS_LEAST: f64 = 3.0;
/// Where there are too few values for ranks to tell it alone: of so many choices at least it takes
/// so many robust standard deviations.
const OF_FEW: [(f64, f64); 3] = [(1_000.0, 3.5), (200.0, 6.0), (100.0, 8.0)];
/// The same, of neighbours that resemble each other and count as if they did not.
const OF_FEW_ALIKE: (f64, f64) = (1_000.0, 5.0);

/// Whether all of `latest` lie above `before`, or all below, but for so few of these that the
/// chance of it is small: `c` of the latest and `e` before are the farthest `c + e` of `n` with a
/// chance of C(c + e, c) ∕ C(n, c).
///
/// Assumes values of one level in the order of time, those of `latest` right behind `before`.
pub(super) fn is_beyond_others(before: &[f64], latest: &[f64]) -> bool {
    if before.is_empty() || !COUNTS.contains(&latest.len()) {
        return false;
    }
    let (lowest, highest) = lowest_and_highest(latest);
    let as_high = before.iter().filter(|&&value| value >= lowest).count();
    let as_low = before.iter().filter(|&&value| value <= highest).count();
    // Those before that are as far, which are among the places that chance chooses from.
    let (as_far, few) = (as_high.min(as_low) as f64, latest.len() as f64);
    let shares = COUNTS.count() as f64;
    let ln_least = (2.0 * shares / ALPHA).ln();
    let all = (before.len() + latest.len()) as f64;
    let rarity = ln_rarity(all, few, as_far);
    let is_rare = rarity >= ln_least;
    let phi = correlation_around(&around_levels(before, &[])).phi;
    let share = 1.0 / variance_inflation(phi).max(1.0);
    let rarity_of_alike = ln_rarity(all * share, few * share, as_far * share);
    if is_rare && rarity_of_alike >= ln_least {
        return true;
    }
    let of_few = OF_FEW.iter().filter(|(choices, _)| rarity_of_alike >= choices.ln());
    let of_alike = Some(&OF_FEW_ALIKE).filter(|(choices, _)| rarity >= choices.ln());
    let least = of_few.chain(of_alike).map(|(_, least)| *least).fold(f64::INFINITY, f64::min);
    let least = if is_rare { DEVIATIONS_LEAST } else { least };
    nearest_deviations(before, latest) > least
}

/// The lowest and the highest one.
pub(super) fn lowest_and_highest(values: &[f64]) -> (f64, f64) {
    let ends = (f64::INFINITY, f64::NEG_INFINITY);
    values.iter().fold(ends, |(low, high), &value| (low.min(value), high.max(value)))
}

/// The logarithm of the number of ways to choose so many of all, of which neither is whole.
fn ln_choices(all: f64, few: f64) -> f64 {
    ln_gamma(all + 1.0) - ln_gamma(few + 1.0) - ln_gamma(all - few + 1.0)
}

/// How rarely so few of all are among the farthest, with so many others: the logarithm of one of
/// how many choices it is.
fn ln_rarity(all: f64, few: f64, as_far: f64) -> f64 {
    ln_choices(all, few) - ln_choices(few + as_far, few)
}

/// How many robust standard deviations the nearest one is from the median of those before; where
/// more than half of these are equal, plain ones.
fn nearest_deviations(before: &[f64], latest: &[f64]) -> f64 {
    let centre = median_or_nan(before);
    let around: Vec<f64> = before.iter().map(|value| (value - centre).abs()).collect();
    let nearest = latest.iter().map(|value| (value - centre).abs()).fold(f64::MAX, f64::min);
    let robust = 1.4826 * median_or_nan(&around);
    let squares: f64 = around.iter().map(|distance| distance.powi(2)).sum();
    nearest / if robust > 0.0 { robust } else { (squares / before.len() as f64).sqrt() }
}

#[cfg(test)]
mod tests {
    use super::super::scores::draw_normal;
    use super::*;
    use dbdyno_model::random;

    /// How many of 1 000 series have their latest values beyond all before; the latest `count` of
    /// them are moved by so many standard deviations.
    fn found(length: usize, phi: f64, count: usize, moved: f64) -> usize {
        let is_found = |seed: &u64| {
            let mut stream = random::stream(&[random::key_of("beyond"), length as u64, *seed]);
            let mut last = 0.0;
            let mut values = Vec::with_capacity(length);
            for at in 0..length + 20 {
                last = phi * last + draw_normal(&mut stream);
                if at >= 20 {
                    values.push(last);
                }
            }
            for value in &mut values[length - count..] {
                *value += moved;
            }
            COUNTS.rev().any(|count| {
                let (before, latest) = values.split_at(length - count);
                is_beyond_others(before, latest)
            })
        };
        (0..1_000).filter(is_found).count()
    }

    #[test]
    fn three_beyond_all_others_are_found_and_noise_is_not() {
        for length in [20, 60] {
            let counts = [0.0, 0.5, 0.8].map(|phi| found(length, phi, 0, 0.0));
            let most = [3, 5, 20];
            assert!(counts.iter().zip(most).all(|(count, most)| *count <= most), "{counts:?}");
        }
        for (count, moved, least) in [(3, 4.0, 650), (4, 4.0, 700), (5, 4.0, 700), (3, -6.0, 930)] {
            let found = found(60, 0.0, count, moved);
            assert!(found >= least, "{count} by {moved}: {found}");
        }
        let of_few = found(25, 0.0, 3, 8.0);
        assert!(of_few >= 800, "too few for ranks alone: {of_few}");
    }

    #[test]
    fn few_before_that_are_as_far_make_it_no_wonder() {
        let before: Vec<f64> = (0..57).map(|at| f64::from(at % 5)).collect();
        assert!(is_beyond_others(&before, &[9.0, 8.0, 9.0]));
        assert!(is_beyond_others(&before, &[-9.0, -8.0, -9.0]));
        assert!(!is_beyond_others(&before, &[9.0, -8.0, 9.0]), "on both sides");
        let once: Vec<f64> = [&before[..20], &[9.0], &before[21..]].concat();
        assert!(is_beyond_others(&once, &[9.0, 8.0, 9.0]), "one of 8 555 choices");
        assert!(!is_beyond_others(&once[10..], &[7.0, 7.0, 7.0]), "one of 4 900, and so near");
        let often: Vec<f64> = [&once[..], &[9.0; 5]].concat();
        assert!(!is_beyond_others(&often, &[9.0, 8.0, 9.0]), "one of 532");
        assert!(!is_beyond_others(&before[..12], &[9.0, 8.0, 9.0]), "of 15 three are no wonder");
        assert!(!is_beyond_others(&before[..20], &[9.0, 8.0, 9.0]), "nor of 23, so near");
        assert!(is_beyond_others(&before[..20], &[19.0, 18.0, 19.0]));
        assert!(is_beyond_others(&[7.0; 57], &[8.0; 3]), "values that were all alike");
    }
}
