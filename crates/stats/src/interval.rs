//! Means of one arm, with their intervals.

use dbdyno_model::Interval;

use crate::error::StatsError;
use crate::student::Moments;

/// The mean of `values` with its two-sided interval.
///
/// Assumes that the values are independent and that their mean is close to normal, as it is for
/// rounds (not for the seconds of a round). Student's t with n−1 degrees of freedom. A single value
/// has infinite bounds; equal values are taken as exact.
///
/// # Errors
/// No values, a value that is not finite, a confidence that does not lie between 0 and 1.
pub fn mean_interval(values: &[f64], confidence: f64) -> Result<Interval, StatsError> {
    let estimate = Moments::of_values(values)?.mean_estimate();
    let (low, high) = estimate.bounds(confidence)?;
    Ok(Interval { estimate: estimate.mean, low, high })
}

/// The geometric mean of `values` with its two-sided interval.
///
/// Assumes of the logarithms what [`mean_interval`] assumes of the values: the right choice for
/// rates, whose noise is a percentage. A single value is bounded by 0 and infinity.
///
/// # Errors
/// As [`mean_interval`], and a value that is zero or negative.
pub fn geometric_mean_interval(values: &[f64], confidence: f64) -> Result<Interval, StatsError> {
    let logs = logarithms(values)?;
    let estimate = Moments::of_logs(&logs)?.mean_estimate();
    let (low, high) = estimate.bounds(confidence)?;
    Ok(Interval { estimate: estimate.mean.exp(), low: low.exp(), high: high.exp() })
}

fn logarithms(values: &[f64]) -> Result<Vec<f64>, StatsError> {
    let log = |(index, &value): (usize, &f64)| {
        if value.is_finite() && value <= 0.0 {
            Err(StatsError::NotPositive { index, value })
        } else if value.is_finite() {
            Ok(value.ln())
        } else {
            Err(StatsError::NotFinite { index, value })
        }
    };
    values.iter().enumerate().map(log).collect()
}
