//! E-divisive, for comparison: Matteson and James, "A Nonparametric Approach for Multiple Change
//! Point Analysis of Multivariate Data", JASA 109 (2014), sections 2 and 3.
//!
//! ```text
//!   ···|::::|          q(τ, κ) = mn/(m+n) · ( 2·mean|x−y| − mean|x−x'| − mean|y−y'| )
//!    m τ  n κ          largest over τ and κ; tested by permuting values within their clusters
//! ```
//!
//! Written from the paper with one dimension and α = 1. It assumes independent values: where
//! neighbours resemble each other it finds changes that are none.

use dbdyno_model::random;

use super::null::shuffle;
use super::scores::LEVEL_LEAST;
use crate::error::StatsError;

/// More values are too many for a matrix of all distances.
pub const E_DIVISIVE_MOST: usize = 1_000;

/// Where E-divisive sees changes: the first values of new levels, in order. Each is significant at
/// `alpha` under `draws` permutations; the smallest level has four values.
///
/// Assumes that the values of one level are independent and of one distribution, whatever it is:
/// that any order of them is as likely as any other.
///
/// # Errors
/// No values, values that are not finite, or more than [`E_DIVISIVE_MOST`].
pub fn e_divisive(
    values: &[f64],
    alpha: f64,
    draws: u32,
    seed: u64,
) -> Result<Vec<usize>, StatsError> {
    super::check(values)?;
    if values.len() > E_DIVISIVE_MOST {
        return Err(StatsError::TooMany { count: values.len(), most: E_DIVISIVE_MOST });
    }
    let mut firsts: Vec<usize> = Vec::new();
    let mut stream = random::stream(&[seed, random::key_of("e-divisive"), values.len() as u64]);
    while let Some((first, observed)) = best_of_clusters(values, &firsts) {
        let large_most = (f64::from(draws + 1) * alpha).floor() as u32;
        let mut large = 0;
        let mut shuffled = values.to_vec();
        for _ in 0..draws {
            for cluster in clusters(&firsts, values.len()) {
                shuffle(&mut stream, &mut shuffled[cluster]);
            }
            let drawn = best_of_clusters(&shuffled, &firsts).map_or(0.0, |(_, largest)| largest);
            large += u32::from(drawn >= observed);
            if large >= large_most {
                return Ok(firsts);
            }
        }
        firsts.push(first);
        firsts.sort_unstable();
    }
    Ok(firsts)
}

fn clusters(firsts: &[usize], n: usize) -> impl Iterator<Item = std::ops::Range<usize>> {
    let ends = firsts.iter().copied().chain([n]);
    [0].into_iter().chain(firsts.iter().copied()).zip(ends).map(|(from, to)| from..to)
}

fn best_of_clusters(values: &[f64], firsts: &[usize]) -> Option<(usize, f64)> {
    clusters(firsts, values.len())
        .filter_map(|cluster| {
            let from = cluster.start;
            best_of(&values[cluster]).map(|(first, statistic)| (from + first, statistic))
        })
        .max_by(|a, b| a.1.total_cmp(&b.1))
}

/// The largest q over all τ and κ.
fn best_of(values: &[f64]) -> Option<(usize, f64)> {
    let n = values.len();
    if n < 2 * LEVEL_LEAST {
        return None;
    }
    // Sum of the distances between the first i and the first j values.
    let width = n + 1;
    let mut sums = vec![0.0; width * width];
    for i in 1..=n {
        let mut row = 0.0;
        for j in 1..=n {
            row += (values[i - 1] - values[j - 1]).abs();
            sums[i * width + j] = sums[(i - 1) * width + j] + row;
        }
    }
    let mut best = (0, 0.0);
    for first in LEVEL_LEAST..=n - LEVEL_LEAST {
        let m = first as f64;
        let inside = sums[first * width + first];
        for end in first + LEVEL_LEAST..=n {
            let k = (end - first) as f64;
            let cross = sums[first * width + end] - inside;
            let beyond = sums[end * width + end] - inside - 2.0 * cross;
            let energy =
                2.0 * cross / (m * k) - inside / (m * (m - 1.0)) - beyond / (k * (k - 1.0));
            let statistic = m * k / (m + k) * energy;
            if statistic > best.1 {
                best = (first, statistic);
            }
        }
    }
    (best.1 > 0.0).then_some(best)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The definition, sum by sum.
    fn energy(before: &[f64], after: &[f64]) -> f64 {
        let (m, n) = (before.len() as f64, after.len() as f64);
        let within = |values: &[f64]| -> f64 {
            let all = values.iter().enumerate();
            all.flat_map(|(at, a)| values[at + 1..].iter().map(move |b| (a - b).abs())).sum()
        };
        let cross: f64 = before.iter().flat_map(|a| after.iter().map(move |b| (a - b).abs())).sum();
        let pairs = |k: f64| k * (k - 1.0) / 2.0;
        let energy = 2.0 * cross / (m * n) - within(before) / pairs(m) - within(after) / pairs(n);
        m * n / (m + n) * energy
    }

    #[test]
    fn the_statistic_is_that_of_the_definition() {
        let values = [1.0, 3.0, 2.0, 2.5, 7.0, 8.0, 6.5, 7.5, 2.0, 1.0, 3.0, 2.2];
        let mut best = (0, 0.0);
        for first in 4..=8 {
            for end in first + 4..=12 {
                let q = energy(&values[..first], &values[first..end]);
                if q > best.1 {
                    best = (first, q);
                }
            }
        }
        let (first, statistic) = best_of(&values).unwrap();
        assert_eq!(first, best.0);
        assert!((statistic - best.1).abs() < 1e-9, "{statistic} {best:?}");
    }

    /// The largest of all q(τ, κ), worked out mean by mean in NumPy 2.4 from the distances of
    /// `np.subtract.outer`; each of them agrees with `scipy.stats.energy_distance(x, y)**2`, SciPy
    /// 1.17.1, whose means within a sample count every value against itself as well.
    #[test]
    fn the_statistic_agrees_with_numpy() {
        for (values, first, truth) in [
            (
                &[1.0, 3.0, 2.0, 2.5, 7.0, 8.0, 6.5, 7.5, 2.0, 1.0, 3.0, 2.2][..],
                4,
                16.666666666666664,
            ),
            (
                &[0.31, -0.84, 0.12, 0.97, -0.45, 0.26, 1.52, 0.47, 2.13, 0.88, 1.76, 1.34][..],
                6,
                3.4086666666666634,
            ),
            (
                &[
                    4.0, 3.1, 3.6, 3.3, 3.9, 3.5, 3.2, 3.8, 1.1, 0.7, 1.4, 0.9, 1.2, 3.7, 3.4, 3.0,
                    3.5,
                ][..],
                8,
                13.024175824175826,
            ),
        ] {
            let (found, statistic) = best_of(values).unwrap();
            assert_eq!(found, first, "{values:?}");
            assert!((statistic - truth).abs() < 1e-9, "{statistic}, not {truth}");
        }
    }

    #[test]
    fn two_clear_steps_are_found_and_none_in_constant_values() {
        let values: Vec<f64> = (0..60)
            .map(|at| {
                f64::from(u8::from((20..40).contains(&at))) * 5.0 + f64::from(at * 7 % 10) / 10.0
            })
            .collect();
        assert_eq!(e_divisive(&values, 0.01, 199, 1).unwrap(), [20, 40]);
        assert_eq!(e_divisive(&[1.0; 30], 0.01, 199, 1).unwrap(), [0usize; 0]);
        assert!(e_divisive(&[], 0.01, 199, 1).is_err());
        assert!(e_divisive(&[0.0; 1_001], 0.01, 199, 1).is_err());
    }
}
