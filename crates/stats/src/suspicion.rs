//! What the pairs themselves speak against.
//!
//! Two assumptions of the interval can be seen to fail in the pairs, each by an exact test at the
//! level at which cells are decided, so that sound pairs are rarely suspected. Nothing is ever
//! removed: the reader is told which pair to look at.

use dbdyno_model::{Severity, Warning};

use crate::confidence::DECISION_ALPHA;
use crate::slope;
use crate::student::{self, Moments};

/// Fewer pairs than this give neither test any power.
const PAIRS_MIN: usize = 6;
/// Noise below this (a ten-thousandth of a per cent) is of the arithmetic, not of the host.
const NOISE_MIN: f64 = 1e-6;

/// The code of the warning about a pair that lies far out.
pub(crate) const OUTLIER: &str = "outlier-pair";

/// Warnings about pairs in the order of measuring.
pub(crate) fn of_pairs(log_ratios: &[f64], moments: &Moments) -> Vec<Warning> {
    if moments.n < PAIRS_MIN || moments.sd < NOISE_MIN {
        return Vec::new();
    }
    outlier(log_ratios, moments).into_iter().chain(trend(log_ratios, moments)).collect()
}

/// Grubbs 1950, two-sided: one pair lies further from the mean than normal noise explains.
fn outlier(log_ratios: &[f64], moments: &Moments) -> Option<Warning> {
    let distance = |value: f64| (value - moments.mean).abs();
    let (index, &value) =
        log_ratios.iter().enumerate().max_by(|a, b| distance(*a.1).total_cmp(&distance(*b.1)))?;
    if distance(value) / moments.sd <= grubbs(moments.n as f64) {
        return None;
    }
    Some(Warning::new(
        Severity::Caution,
        OUTLIER,
        format!(
            "Pair {index} has a ratio of {:.4} where the mean is {:.4}, further out than noise \
             explains; it is kept. Look at what the host did in that pair, or measure more pairs.",
            value.exp(),
            moments.mean.exp(),
        ),
    ))
}

/// The distance from the mean, in standard deviations, that the furthest of `n` normal values
/// passes with a chance of [`DECISION_ALPHA`].
fn grubbs(n: f64) -> f64 {
    let t = student::quantile(1.0 - DECISION_ALPHA / (2.0 * n), n - 2.0);
    (n - 1.0) / n.sqrt() * (t * t / (n - 2.0 + t * t)).sqrt()
}

/// The t-test of the slope of the log-ratio over the number of the pair.
fn trend(log_ratios: &[f64], moments: &Moments) -> Option<Warning> {
    let slope = slope::of_moments(log_ratios, moments);
    if slope.p_value >= DECISION_ALPHA {
        return None;
    }
    Some(Warning::new(
        Severity::Caution,
        "trend",
        format!(
            "The ratio moves by {:+.2} % from one pair to the next, so that no single number \
             describes it. Let the servers warm up for longer, or look for what grows in one arm.",
            100.0 * slope.per_step.exp_m1(),
        ),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn codes(log_ratios: &[f64]) -> Vec<String> {
        let moments = Moments::of_logs(log_ratios).unwrap();
        let warnings = of_pairs(log_ratios, &moments);
        warnings.into_iter().map(|warning| warning.code).collect()
    }

    /// Twelve pairs whose slope has p = 0.014624659904316073 by `scipy.stats.linregress`: not yet a
    /// trend at 1 %.
    const RISING: [f64; 12] = [
        -0.011854, 0.000903, 0.00807, 0.013433, 0.000802, 0.010987, 0.010193, 0.024079, 0.020783,
        0.007855, 0.006628, 0.02709,
    ];

    #[test]
    fn a_trend_is_named_when_it_is_sure() {
        assert!(codes(&RISING).is_empty());
        let steeper: Vec<f64> =
            RISING.iter().enumerate().map(|(index, value)| value + 0.001 * index as f64).collect();
        assert_eq!(codes(&steeper), ["trend"]);
        let straight: Vec<f64> = (0..8).map(|index| 0.01 * f64::from(index)).collect();
        assert_eq!(codes(&straight), ["trend"]);
    }

    /// The definition of the test with `scipy.stats.t.ppf`.
    #[test]
    fn the_critical_distance_agrees_with_scipy() {
        for (n, truth) in [
            (6.0, 1.9728167175443074),
            (12.0, 2.6357330437345126),
            (28.0, 3.1988509199404875),
            (60.0, 3.5598485756363014),
        ] {
            assert!((grubbs(n) - truth).abs() < 1e-6, "{n}: {}", grubbs(n));
        }
    }

    #[test]
    fn an_outlier_is_named_and_a_large_value_is_not() {
        // Five values of one kind and one that is far out are 5/√6 = 2.041 deviations apart.
        let mut pairs = [0.001, -0.001, 0.0011, -0.0011, 0.0, -0.2];
        assert_eq!(codes(&pairs), ["outlier-pair"]);
        pairs[5] = -0.005;
        assert!(codes(&pairs).is_empty());
    }

    #[test]
    fn rounding_is_no_outlier() {
        let mut pairs = [0.1; 8];
        pairs[3] += 1e-16;
        assert!(codes(&pairs).is_empty());
    }
}
