//! The ratio of two arms.

use dbdyno_model::Interval;

use crate::error::StatsError;
use crate::replicates::LocationEstimate;
use crate::student::{Estimate, Moments};

/// What pairs of rounds say of the ratio test ÷ base.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PairedEstimate {
    /// The ratio with its interval.
    pub ratio: Interval,
    /// Mean of the log-ratios.
    pub mean_log: f64,
    /// Standard deviation of the log-ratios (n−1); 0 for a single pair.
    pub sd_log: f64,
    /// Number of pairs.
    pub pairs: u32,
    /// Two-sided p-value of "the ratio is 1".
    pub p_value: f64,
}

/// What rounds that were not paired say of the ratio test ÷ base.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct UnpairedEstimate {
    /// The ratio with its interval.
    pub ratio: Interval,
    /// Difference of the mean logarithms, test − base.
    pub mean_log: f64,
    /// Standard error of that difference; 0 where an arm has one round only and nothing is known.
    pub standard_error_log: f64,
    /// Welch–Satterthwaite degrees of freedom; 0 where an arm has one round only.
    pub degrees_of_freedom: f64,
    /// Two-sided p-value of "the ratio is 1".
    pub p_value: f64,
}

/// The ratio of two arms from `log_ratios`, one `ln(test ÷ base)` for each pair.
///
/// Assumes that the pairs are independent of each other and that the mean of the log-ratios is
/// close to normal. Assumes nothing about drift of the host that is slow against a pair: it
/// cancels.
///
/// # Errors
/// No pairs, a log-ratio that is not finite or beyond ±50, a confidence that does not lie between 0
/// and 1.
pub fn paired_estimate(log_ratios: &[f64], confidence: f64) -> Result<PairedEstimate, StatsError> {
    let moments = Moments::of_logs(log_ratios)?;
    let estimate = moments.mean_estimate();
    Ok(PairedEstimate {
        ratio: ratio(&LocationEstimate::T(estimate), confidence)?,
        mean_log: moments.mean,
        sd_log: moments.sd,
        pairs: u32::try_from(moments.n).unwrap_or(u32::MAX),
        p_value: estimate.p_value(),
    })
}

/// The ratio of two arms from the logarithms of their rates, for rounds that were not paired: two
/// stored runs (Welch's test; the arms may differ in noise).
///
/// Assumes that all rounds are independent, that the mean of each arm is close to normal, *and that
/// nothing but the arm changed between the two runs*. The last is rarely true of runs hours apart,
/// and the rounds themselves cannot show it: prefer [`paired_estimate`] wherever there are pairs.
///
/// # Errors
/// As [`paired_estimate`], for either arm.
pub fn welch(
    base_logs: &[f64],
    test_logs: &[f64],
    confidence: f64,
) -> Result<UnpairedEstimate, StatsError> {
    let estimate = welch_estimate(&Moments::of_logs(base_logs)?, &Moments::of_logs(test_logs)?);
    Ok(UnpairedEstimate {
        ratio: ratio(&LocationEstimate::T(estimate), confidence)?,
        mean_log: estimate.mean,
        standard_error_log: estimate.standard_error,
        degrees_of_freedom: estimate.degrees,
        p_value: estimate.p_value(),
    })
}

/// Welch 1947, with the degrees of freedom of Satterthwaite 1946.
pub(crate) fn welch_estimate(base: &Moments, test: &Moments) -> Estimate {
    let mean = test.mean - base.mean;
    if base.n < 2 || test.n < 2 {
        return Estimate { mean, standard_error: 0.0, degrees: 0.0 };
    }
    let (of_base, of_test) = (base.squared_error(), test.squared_error());
    let variance = of_base + of_test;
    let degrees = if variance == 0.0 {
        (base.n + test.n - 2) as f64
    } else {
        // Shares of the variance first: their squares cannot underflow together.
        let (base_part, test_part) = (of_base / variance, of_test / variance);
        1.0 / (base_part.powi(2) / (base.n - 1) as f64 + test_part.powi(2) / (test.n - 1) as f64)
    };
    Estimate { mean, standard_error: variance.sqrt(), degrees }
}

/// The interval of the mean logarithm, as a ratio.
pub(crate) fn ratio(located: &LocationEstimate, confidence: f64) -> Result<Interval, StatsError> {
    let (low, high) = located.bounds(confidence)?;
    Ok(Interval { estimate: located.point_estimate().exp(), low: low.exp(), high: high.exp() })
}
