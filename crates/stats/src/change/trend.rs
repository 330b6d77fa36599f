//! A level that slides from the first value to the last.
//!
//! ```text
//!   ''::..              a step explains half of it, and what that leaves resembles its neighbours
//!       '':..           as strongly as noise that goes anywhere by itself: no step is found
//!            ':..
//! ```
//!
//! *Statistic:* the correlation of the ranks with time. *Null:* noise as correlated as what the
//! line leaves, which has taken `(2 + 4φ)/n` of that (Kendall 1954, for two parameters instead of
//! one). Of 40 nights that lost 1 % each, in noise of 1 %, none was told before.

use dbdyno_model::random;

use super::null::{self, CORRELATION_MOST};
use crate::agreement::average_ranks;
use crate::correlation::{Correlation, FitBias};

/// Fewer values do not tell a slide from noise that goes somewhere.
pub(super) const VALUES_LEAST: usize = 20;
/// Of more values only this many draws are made that are as long.
pub(super) const VALUES_MOST: usize = 1_000;
const DRAWS_MOST: u32 = 20_000;
/// What fitting a line takes from the correlation of neighbours.
const BIAS: FitBias = FitBias { fixed: 2.0, by_phi: 4.0 };
/// By so many standard errors the correlation is taken as larger than it looks, and by so many
/// n-ths more.
const CAUTION: (f64, f64) = (1.5, 15.0);
const ROUNDING: f64 = 1e-12;

/// Whether the values slide from end to end, for a decision at `alpha`.
pub(super) fn is_found(values: &[f64], alpha: f64, seed: u64) -> bool {
    let n = values.len();
    if !(VALUES_LEAST..=VALUES_MOST).contains(&n) {
        return false;
    }
    let ranks = average_ranks(values);
    let Some((strength, left)) = fit_line(&ranks) else { return false };
    let Correlation { phi, standard_error } =
        Correlation::from_residuals(&left, BIAS, 0.0, ROUNDING);
    let caution = CAUTION.0 + CAUTION.1 / n as f64;
    let phi = (phi.max(0.0) + caution * standard_error).min(CORRELATION_MOST);
    let draws = ((1.0 / alpha).ceil() as u32).min(DRAWS_MOST);
    let mut stream = random::stream(&[seed, random::key_of("trend"), n as u64]);
    let mut noise = vec![0.0; n];
    (0..draws).all(|_| {
        null::simulate_noise(&mut stream, phi, &mut noise);
        fit_line(&noise).is_none_or(|(other, _)| other < strength)
    })
}

/// The slope of the line of least squares, by the place of a value.
pub(super) fn slope(values: &[f64]) -> f64 {
    let middle = (values.len() as f64 - 1.0) / 2.0;
    let (mut both, mut squares) = (0.0, 0.0);
    for (at, value) in values.iter().enumerate() {
        both += (at as f64 - middle) * value;
        squares += (at as f64 - middle) * (at as f64 - middle);
    }
    both / squares
}

/// The absolute correlation of values with their places, and what the line leaves; `None` where all
/// are equal.
pub(super) fn fit_line(values: &[f64]) -> Option<(f64, Vec<f64>)> {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let middle = (n - 1.0) / 2.0;
    let around = |(at, value): (usize, &f64)| (at as f64 - middle, value - mean);
    let (mut both, mut squares) = (0.0, 0.0);
    for (place, value) in values.iter().enumerate().map(around) {
        both += place * value;
        squares += value * value;
    }
    let of_places = n * (n * n - 1.0) / 12.0;
    if squares <= ROUNDING {
        return None;
    }
    let slope = both / of_places;
    let left = values.iter().enumerate().map(around).map(|(place, value)| value - slope * place);
    Some((both.abs() / (of_places * squares).sqrt(), left.collect()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::change::{ChangeOptions, change_points};

    fn nights(n: usize, phi: f64, slope: f64, seed: u64) -> Vec<f64> {
        let mut noise = vec![0.0; n];
        null::simulate_noise(
            &mut random::stream(&[random::key_of("slides"), seed]),
            phi,
            &mut noise,
        );
        let places = noise.iter().enumerate();
        places.map(|(at, noise)| 1000.0 * (slope * at as f64 + 0.01 * noise).exp()).collect()
    }

    #[test]
    fn a_line_is_told_from_what_it_leaves() {
        let (strength, left) = fit_line(&[1.0, 2.0, 3.0, 4.0]).unwrap();
        assert!((strength - 1.0).abs() < 1e-12 && left.iter().all(|one| one.abs() < 1e-12));
        // `scipy.stats.pearsonr([0, 1, 2, 3], [1, 3, 2, 4])`, SciPy 1.17.
        assert!((fit_line(&[1.0, 3.0, 2.0, 4.0]).unwrap().0 - 0.8).abs() < 1e-12);
        assert_eq!(fit_line(&[2.0; 5]), None);
    }

    #[test]
    fn a_slide_of_all_values_is_found() {
        let options = ChangeOptions::with_budget(0.02);
        for (n, slope) in [(40, -0.01), (60, -0.005), (100, -0.003)] {
            for seed in 0..15 {
                let changes = change_points(&nights(n, 0.0, slope, seed), &options).unwrap();
                let [slide] = changes.slides[..] else { panic!("{n} {slope} {seed}: {changes:?}") };
                assert_eq!((slide.from, slide.to), (0, n));
                let truth = (slope * (n - 1) as f64).exp_m1();
                assert!((slide.size - truth).abs() < 0.05, "{n} {slope} {seed}: {slide:?}");
            }
        }
    }

    /// Of noise that goes anywhere by itself few series slide.
    #[test]
    fn correlated_noise_does_not_slide() {
        for (n, phi, most) in [(20, 0.6, 1), (30, 0.6, 2), (60, 0.8, 3), (120, 0.9, 5)] {
            let found = (0..400).filter(|seed| is_found(&nights(n, phi, 0.0, *seed), 5e-4, 1));
            let count = found.count();
            assert!(count <= most, "{n} {phi}: {count}");
        }
    }
}
