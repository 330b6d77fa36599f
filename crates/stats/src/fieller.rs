//! The ratio of two means of rounds that were not paired.
//!
//! A ratio ρ is in doubt as long as `test − ρ·base` may have the mean 0:
//!
//! ```text
//!   (T − ρB)² ≤ t² (vₜ + ρ² v_b)        a quadratic in ρ
//!
//!   B far from 0     ────[====•====]────        an interval
//!   B perhaps 0      ====]──────[=======        all but an interval: one end is beyond infinity
//!   both perhaps 0   ===================        every ratio
//! ```
//!
//! Fieller, "Some Problems in Interval Estimation", Journal of the Royal Statistical Society B 16
//! (1954). Unlike the ratio of two logarithmic means, it is the ratio of what was done in all
//! rounds together, and the one that needs no logarithm of a rate that may have been 0. Degrees of
//! freedom are those of Welch and Satterthwaite at the estimated ratio.

use dbdyno_model::Interval;

use crate::error::StatsError;
use crate::student::{self, Moments};

/// What two samples say of the ratio of their means, test ÷ base.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FiellerEstimate {
    /// The ratio. Both ends are infinite where the mean of the base may be 0: then no interval
    /// bounds it.
    pub ratio: Interval,
    /// Two-sided p-value of "the ratio is 1".
    pub p_value: f64,
}

/// The ratio of the means of `test` and `base`, rates and not their logarithms.
///
/// Assumes independent rounds, means close to normal, *and that nothing but the arm changed between
/// the two*; noise may differ.
///
/// # Errors
/// No values, one that is not finite, or a confidence that does not lie between 0 and 1.
pub fn fieller(base: &[f64], test: &[f64], confidence: f64) -> Result<FiellerEstimate, StatsError> {
    if !(confidence > 0.0 && confidence < 1.0) {
        return Err(StatsError::Confidence(confidence));
    }
    let (base, test) = (Moments::of_values(base)?, Moments::of_values(test)?);
    let ratio = test.mean / base.mean;
    let unbounded = Interval { estimate: ratio, low: f64::NEG_INFINITY, high: f64::INFINITY };
    if base.n < 2 || test.n < 2 || !ratio.is_finite() {
        return Ok(FiellerEstimate { ratio: unbounded, p_value: 1.0 });
    }
    let (of_base, of_test) = (base.squared_error(), test.squared_error());
    let t = student::quantile(0.5 + confidence / 2.0, degrees(&base, &test, ratio));
    let slope = base.mean * base.mean - t * t * of_base;
    let product = base.mean * test.mean;
    let inside = product * product - slope * (test.mean * test.mean - t * t * of_test);
    let ratio = if slope > 0.0 && inside >= 0.0 {
        let (low, high) = ((product - inside.sqrt()) / slope, (product + inside.sqrt()) / slope);
        Interval { low, high, ..unbounded }
    } else {
        unbounded
    };
    let error = (of_base + of_test).sqrt();
    let p_value = match (test.mean - base.mean).abs() {
        0.0 => 1.0,
        _ if error == 0.0 => 0.0,
        far => {
            (2.0 * student::probability_below(-far / error, degrees(&base, &test, 1.0))).min(1.0)
        }
    };
    Ok(FiellerEstimate { ratio, p_value })
}

/// Of `test − ρ·base`.
fn degrees(base: &Moments, test: &Moments, ratio: f64) -> f64 {
    let of_base = (ratio * base.sd).powi(2) / base.n as f64;
    let of_test = test.sd * test.sd / test.n as f64;
    let sum = of_base + of_test;
    if sum == 0.0 {
        return (base.n + test.n - 2) as f64;
    }
    let share = |part: f64, n: usize| (part / sum).powi(2) / (n - 1) as f64;
    1.0 / (share(of_base, base.n) + share(of_test, test.n))
}

#[cfg(test)]
mod tests {
    use super::*;

    const BASE: [f64; 7] = [99.1, 101.4, 100.2, 97.8, 102.5, 100.9, 98.3];
    const TEST: [f64; 6] = [93.0, 96.7, 95.1, 91.2, 94.4, 97.9];

    /// The definition, by trial: which ratios does Welch's test of `test − ρ·base` not exclude?
    #[test]
    fn ends_are_where_the_test_turns() {
        let found = fieller(&BASE, &TEST, 0.95).unwrap();
        let (base, test) = (Moments::of_values(&BASE).unwrap(), Moments::of_values(&TEST).unwrap());
        let t = student::quantile(0.975, degrees(&base, &test, test.mean / base.mean));
        let in_doubt = |ratio: f64| {
            let variance = ratio * ratio * base.sd.powi(2) / 7.0 + test.sd.powi(2) / 6.0;
            (test.mean - ratio * base.mean).abs() <= t * variance.sqrt()
        };
        let Interval { low, high, .. } = found.ratio;
        assert!(in_doubt(low + 1e-6) && !in_doubt(low - 1e-6));
        assert!(in_doubt(high - 1e-6) && !in_doubt(high + 1e-6));
    }

    #[test]
    fn a_base_that_may_be_nothing_bounds_nothing() {
        let near_zero = [0.5, -0.7, 0.9, -0.2, 0.3];
        for test in [&TEST[..], &near_zero[..]] {
            let open = fieller(&near_zero, test, 0.95).unwrap().ratio;
            assert_eq!((open.low, open.high), (f64::NEG_INFINITY, f64::INFINITY));
        }
        assert_eq!(fieller(&[1.0], &TEST, 0.95).unwrap().p_value, 1.0);
        assert_eq!(fieller(&[0.0, 0.0], &TEST, 0.95).unwrap().ratio.high, f64::INFINITY);
    }

    #[test]
    fn counts_without_noise_are_exact() {
        let exact = fieller(&[4.0, 4.0], &[3.0, 3.0], 0.99).unwrap();
        assert_eq!((exact.ratio.low, exact.ratio.high, exact.p_value), (0.75, 0.75, 0.0));
        assert!(fieller(&BASE, &TEST, 0.0).is_err() && fieller(&[], &TEST, 0.95).is_err());
    }
}
