//! So many of so many.

use dbdyno_model::Interval;

use crate::error::StatsError;
use crate::student::quantile;

/// The share of cases in which something held, with its two-sided interval (Wilson, "Probable
/// Inference, the Law of Succession, and Statistical Inference", JASA 22, 1927): it has its bounds
/// between 0 and 1 and says something where none or all of few cases held. Of no cases nothing is
/// known: 0 to 1 around ½.
///
/// Assumes that the cases are independent, and that it holds in each with the same chance.
///
/// # Errors
/// A confidence that does not lie between 0 and 1.
pub fn share_interval(held: u64, cases: u64, confidence: f64) -> Result<Interval, StatsError> {
    if !(confidence > 0.0 && confidence < 1.0) {
        return Err(StatsError::Confidence(confidence));
    }
    if cases == 0 {
        return Ok(Interval { estimate: 0.5, low: 0.0, high: 1.0 });
    }
    let z = quantile(0.5 + confidence / 2.0, f64::INFINITY);
    let (share, cases) = (held as f64 / cases as f64, cases as f64);
    let centre = (share + z * z / (2.0 * cases)) / (1.0 + z * z / cases);
    let spread = (share * (1.0 - share) / cases + z * z / (4.0 * cases * cases)).sqrt();
    let half = z * spread / (1.0 + z * z / cases);
    // What is 0 or 1 by the formula is so to the last digit.
    let low = if held == 0 { 0.0 } else { (centre - half).max(0.0) };
    let high = if share >= 1.0 { 1.0 } else { (centre + half).min(1.0) };
    Ok(Interval { estimate: share, low, high })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `scipy.stats.binomtest(held, cases).proportion_ci(confidence, method="wilson")`, SciPy
    /// 1.17.1.
    #[test]
    fn agrees_with_scipy() {
        for (held, cases, at_95, at_99) in [
            (
                2,
                200,
                [0.002746658133544435, 0.0357217617161768],
                [0.001954851519633014, 0.0495122374181832],
            ),
            (0, 20, [0.0, 0.16112515805281935], [0.0, 0.2491054010987534]),
            (
                8,
                10,
                [0.4901624715366418, 0.9433178485456248],
                [0.4008186965216716, 0.9598688474953836],
            ),
            (10, 10, [0.7224672001371109, 1.0], [0.6011459066950919, 1.0]),
        ] {
            for (confidence, [low, high]) in [(0.95, at_95), (0.99, at_99)] {
                let share = share_interval(held, cases, confidence).unwrap();
                assert!((share.low - low).abs() < 1e-9, "{share:?}, not {low}");
                assert!((share.high - high).abs() < 1e-9, "{share:?}, not {high}");
            }
        }
        assert!(share_interval(1, 2, 1.0).is_err());
        assert_eq!(share_interval(0, 0, 0.95).unwrap().high, 1.0);
    }
}
