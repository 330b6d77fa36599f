//! How large a change is, give or take.
//!
//! The Hodges–Lehmann shift, the median of all differences of a later and an earlier value, with
//! the interval of Mann and Whitney's test (order statistics of those differences, normal
//! approximation: for independent levels of 4 to 16 values the exact ends of 95 %, or the
//! differences next to them, farther out). It assumes that both levels have noise of one shape,
//! whatever it is. The interval is as wide as the correlation of neighbours makes that of a mean,
//! √((1+φ)/(1−φ)). That it is looked at because it stands out, `change::selection` takes into
//! account.

use dbdyno_model::{ChangeScale, Interval};
use statrs::distribution::{ContinuousCDF, Normal};

use crate::correlation::{Correlation, variance_inflation};
use crate::median::{median_of_sorted, median_or_nan};

/// Values of a level that its size rests on: those next to the change.
const VALUES_MOST: usize = 400;
/// How much stronger the correlation is taken than it looks: `change` has the reason.
const WARY: f64 = 24.0;

/// The correlation as it is taken, larger by no more than half of what is missing to 1: a dozen
/// values know next to nothing of it.
fn wary(correlation: Correlation) -> f64 {
    correlation.with_wariness(WARY).phi.min(f64::midpoint(correlation.phi, 1.0))
}

/// The standard error of the difference of two levels, in standard deviations of their noise.
pub(crate) fn standard_error(before: &[f64], after: &[f64], correlation: Correlation) -> f64 {
    (variance_inflation(wary(correlation)) * (share_of_level(before) + share_of_level(after)))
        .sqrt()
}

fn share_of_level(level: &[f64]) -> f64 {
    1.0 / level.len() as f64
}

/// The shift from `before` to `after` with its two-sided interval, and the chance that a value of
/// `after` lies above one of `before`, equal ones counting half.
pub(crate) fn estimate_shift(
    before: &[f64],
    after: &[f64],
    confidence: f64,
    correlation: Correlation,
) -> (Interval, f64) {
    let before = &before[before.len().saturating_sub(VALUES_MOST)..];
    let after = &after[..after.len().min(VALUES_MOST)];
    let (m, n) = (before.len() as f64, after.len() as f64);
    let mut all: Vec<f64> =
        after.iter().flat_map(|late| before.iter().map(move |early| late - early)).collect();
    all.sort_by(f64::total_cmp);
    let above = all.iter().filter(|&&difference| difference > 0.0).count() as f64;
    let equal = all.iter().filter(|&&difference| difference == 0.0).count() as f64;
    let z = Normal::standard().inverse_cdf(0.5 + confidence / 2.0);
    // The k-th smallest and the k-th largest difference.
    let k_for = |phi| {
        let half = z * (variance_inflation(phi) * m * n * (m + n + 1.0) / 12.0).sqrt();
        (m * n / 2.0 - half).floor()
    };
    let (low, high) = if k_for(correlation.phi) >= 1.0 {
        // Wariness alone takes no interval away.
        let k = k_for(wary(correlation)).max(1.0) as usize;
        (all[k - 1], all[all.len() - k])
    } else {
        (f64::NEG_INFINITY, f64::INFINITY)
    };
    (Interval { estimate: median_of_sorted(&all), low, high }, (above + equal / 2.0) / (m * n))
}

/// The values around the medians of their levels.
pub(crate) fn around_levels(values: &[f64], firsts: &[usize]) -> Vec<f64> {
    let mut left = Vec::with_capacity(values.len());
    let mut begin = 0;
    for end in firsts.iter().copied().chain([values.len()]) {
        let level = median_or_nan(&values[begin..end]);
        left.extend(values[begin..end].iter().map(|value| value - level));
        begin = end;
    }
    left
}

/// A size as it is told.
pub(super) fn reported_size(size: f64, scale: ChangeScale) -> f64 {
    match scale {
        ChangeScale::Share => size.exp_m1(),
        ChangeScale::Difference => size,
    }
}

/// What a budget is a share of, in the unit of sizes: 1 where those are shares themselves, else the
/// median of all absolute values.
pub(super) fn budget_unit(values: &[f64], scale: ChangeScale) -> f64 {
    match scale {
        ChangeScale::Share => 1.0,
        ChangeScale::Difference => {
            median_or_nan(&values.iter().map(|value| value.abs()).collect::<Vec<f64>>())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOTHING: Correlation = Correlation { phi: 0.0, standard_error: 0.0 };

    struct Sample {
        before: &'static [f64],
        after: &'static [f64],
        estimate: f64,
        /// The ends of 95 % by the exact distribution, and ours.
        exact: [f64; 2],
        ours: [f64; 2],
        above: f64,
    }

    /// Sorted `np.subtract.outer(after, before)`: its median, and the exact ends, where the p-value
    /// of `scipy.stats.mannwhitneyu(after - shift, before, method="exact")` passes 5 %; above: its
    /// U/(m·n) without a shift. SciPy 1.17.1. In the last sample the normal approximation takes the
    /// differences next to the exact ends.
    const SHIFTS: &[Sample] = &[
        Sample {
            before: &[1.0, 2.5, 3.0, 4.2, 5.1, 2.2],
            after: &[4.0, 5.5, 6.1, 7.0, 4.2],
            estimate: 2.25,
            exact: [0.0, 4.5],
            ours: [0.0, 4.5],
            above: 0.8833333333333333,
        },
        Sample {
            before: &[10.31, 10.29, 10.35, 10.27, 10.33, 10.30, 10.24, 10.38, 10.26, 10.28],
            after: &[10.22, 10.265, 10.185, 10.245, 10.315, 10.23, 10.19, 10.21, 10.255, 10.175],
            estimate: -0.07,
            exact: [-0.115, -0.03],
            ours: [-0.115, -0.03],
            above: 0.11,
        },
        Sample {
            before: &[0.31, -0.84, 0.12, 0.97, -0.45, 0.26, -1.13, 0.68, 0.05, -0.29, 1.41, -0.62],
            after: &[
                1.52, 0.47, 2.13, 0.88, 1.76, -0.11, 1.34, 2.61, 0.93, 1.19, 0.36, 1.67, 2.02,
                0.71, 1.08,
            ],
            estimate: 1.205,
            exact: [0.61, 1.82],
            ours: [0.59, 1.84],
            above: 0.8777777777777778,
        },
    ];

    #[test]
    fn a_shift_agrees_with_scipy() {
        for sample in SHIFTS {
            let (size, above) = estimate_shift(sample.before, sample.after, 0.95, NOTHING);
            assert!((size.estimate - sample.estimate).abs() < 1e-9, "{size:?}");
            assert!((size.low - sample.ours[0]).abs() < 1e-9, "{size:?}");
            assert!((size.high - sample.ours[1]).abs() < 1e-9, "{size:?}");
            let [low, high] = sample.exact;
            assert!(
                size.low < low + 1e-9 && high < size.high + 1e-9,
                "bolder than exact: {size:?}"
            );
            assert!((above - sample.above).abs() < 1e-12, "{above}");
        }
        let Sample { before, after, .. } = SHIFTS[0];
        let (few, _) = estimate_shift(&before[..2], &after[..2], 0.95, NOTHING);
        assert!(few.low.is_infinite() && few.high.is_infinite());
    }

    /// Six values know their correlation to ±0.5, and taken at its worst it would leave nothing.
    #[test]
    fn wariness_takes_no_interval_away() {
        let Sample { before, after, .. } = SHIFTS[1];
        let some = Correlation { phi: 0.4, standard_error: 0.5 };
        let (size, _) = estimate_shift(before, after, 0.95, some);
        assert_eq!((size.low, size.high), (10.175 - 10.38, 10.315 - 10.24));
    }
}
