//! Whether values move while they are measured.
//!
//! Two questions rest on one test, the t-test of the slope of a straight line through the values:
//!
//! * *Is a warm-up over?* [`is_steady`] looks at the last few windows. It must not miss a rate that
//!   still rises, and a false alarm costs only a little more warming: so it looks at a generous
//!   level ([`STEADY_ALPHA`]).
//! * *Is there one number that describes a cell?* A false alarm takes trust away from a good
//!   number: so that is asked at the level at which cells are decided.
//!
//! Assumed: values at equal distances, with normal noise that does not depend on the values before
//! it. Neighbouring values of a host that wanders are alike, and then slopes are seen more often
//! than the level says; windows should be longer than what the host does for a moment.

use crate::error::StatsError;
use crate::student::{Estimate, Moments};

/// The level of [`is_steady`]: of ten windows without a trend, one look in five sees one.
///
/// Ten windows with noise of 5 % each, whose rate still rises by 2 % from one to the next, are
/// found not steady in 98 looks of 100; at a level of 1 % it would be 61.
pub(crate) const STEADY_ALPHA: f64 = 0.2;

/// A straight line through values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Slope {
    /// Change from one value to the next.
    pub per_step: f64,
    /// Chance of a slope at least as steep, up or down, where there is none; 1 where nothing can be
    /// said.
    pub p_value: f64,
}

/// The least-squares line through values at equal distances.
///
/// Assumes for the p-value, not for the line, that what is left beside the line is normal, of one
/// spread, and independent of what is left of the values before it.
///
/// # Errors
/// No values, or values that are not finite.
pub fn slope(values: &[f64]) -> Result<Slope, StatsError> {
    Ok(of_moments(values, &Moments::of_values(values)?))
}

/// Whether the logarithms of rates show no trend at `STEADY_ALPHA`. Fewer than three never do.
///
/// Assumes what the p-value of [`slope`] assumes: where neighbouring windows are alike, as on a
/// host that wanders, a trend is seen by chance more often than the level says.
///
/// # Errors
/// No values, or values that are not finite.
pub fn is_steady(log_rates: &[f64]) -> Result<bool, StatsError> {
    Ok(slope(log_rates)?.p_value >= STEADY_ALPHA)
}

pub(crate) fn of_moments(values: &[f64], moments: &Moments) -> Slope {
    let n = moments.n as f64;
    if moments.n < 3 {
        return Slope { per_step: 0.0, p_value: 1.0 };
    }
    let centre = (n - 1.0) / 2.0;
    let spread_x = n * (n * n - 1.0) / 12.0;
    let per_step = values
        .iter()
        .enumerate()
        .map(|(index, value)| (index as f64 - centre) * (value - moments.mean))
        .sum::<f64>()
        / spread_x;
    let total = moments.sd * moments.sd * (n - 1.0);
    let residual = (total - per_step * per_step * spread_x).max(0.0);
    let fitted = Estimate {
        mean: per_step,
        standard_error: (residual / (n - 2.0) / spread_x).sqrt(),
        degrees: n - 2.0,
    };
    Slope { per_step, p_value: fitted.p_value() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dbdyno_model::random;

    /// About normal: the sum of twelve uniform numbers.
    fn noise(key: &[u64], sd: f64) -> f64 {
        let mut stream = random::stream(key);
        let sum: f64 =
            (0..12).map(|_| stream.next_below(1 << 30) as f64 / (1u64 << 30) as f64).sum();
        (sum - 6.0) * sd
    }

    fn share_steady(rise: f64, sd: f64) -> f64 {
        let trials = 4_000;
        let steady = (0..trials).filter(|&trial| {
            let value = |window: u64| rise * window as f64 + noise(&[trial, window], sd);
            let windows: Vec<f64> = (0..10).map(value).collect();
            is_steady(&windows).unwrap()
        });
        steady.count() as f64 / trials as f64
    }

    /// `scipy.stats.linregress`, slope and p-value, SciPy 1.17.1.
    #[test]
    fn a_slope_agrees_with_scipy() {
        let values = [
            -0.011854, 0.000903, 0.00807, 0.013433, 0.000802, 0.010987, 0.010193, 0.024079,
            0.020783, 0.007855, 0.006628, 0.02709,
        ];
        let slope = slope(&values).unwrap();
        assert!((slope.per_step - 0.0020426258741258747).abs() < 1e-12, "{slope:?}");
        assert!((slope.p_value - 0.014624659904316073).abs() < 1e-9, "{slope:?}");
    }

    #[test]
    fn without_a_trend_one_look_in_five_sees_one() {
        for sd in [0.001, 0.05, 0.3] {
            let steady = share_steady(0.0, sd);
            assert!((steady - 0.8).abs() < 0.025, "{sd}: {steady}");
        }
    }

    #[test]
    fn a_rate_that_rises_is_seen_through_noise() {
        let missed = share_steady(0.02, 0.05);
        assert!(missed < 0.04, "{missed}");
        assert!(share_steady(-0.02, 0.01) < 0.001);
    }

    #[test]
    fn two_values_have_no_trend_and_a_line_has() {
        assert_eq!(slope(&[1.0, 2.0]).unwrap().p_value, 1.0);
        let line = slope(&[1.0, 2.0, 3.0, 4.0]).unwrap();
        assert!((line.per_step - 1.0).abs() < 1e-12 && line.p_value < 1e-6, "{line:?}");
        assert!(slope(&[]).is_err() && slope(&[1.0, f64::NAN]).is_err());
    }
}
