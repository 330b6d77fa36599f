//! What is usual, and what is outside of it.
//!
//! ```text
//!   outside ─────────────── centre + reach ──────────── ×
//!             · ·  · ·· ·    ·  ·   · ·  ·  ·     ·  ·
//!   centre  ─ · ── ·· ─ · · ── · ─── · · ── · ── ·  ─ ─ ·     median; reach from the median
//!              ·    ·  ·   · ·    ·   ·    · ·   · ·         deviation, which outliers do not move
//!   outside ─────────────── centre − reach ────────────────
//! ```
//!
//! The control chart of single values (Shewhart, "Economic Control of Quality of Manufactured
//! Product", 1931) with its centre and scale taken by median and median absolute deviation (Hampel,
//! "The Influence Curve and its Role in Robust Estimation", JASA 69, 1974): up to half of the
//! values may be outside without hiding each other.

use crate::median::{median_in_place, median_or_nan};

/// Standard deviation of normal values whose median absolute deviation is 1.
const SD_PER_MAD: f64 = 1.482_602_218_505_602;
/// How many standard deviations are usual. Of normal values two in a million are farther out.
const USUAL_SD: f64 = 4.75;
/// Fewer values than this do not say what is usual.
pub(crate) const MIN_CONTROLLED: usize = 12;

/// What is usual of a series.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ControlLimits {
    /// Median.
    pub centre: f64,
    /// How far from it is still usual, on either side.
    pub reach: f64,
}

impl ControlLimits {
    /// The limits that `values` set themselves; nothing that is nearer to the centre than `least`
    /// is outside, however even the values are. `None` for fewer than `MIN_CONTROLLED` values.
    ///
    /// Assumes that more than half of the values are usual. Does not assume that they are normal;
    /// where tails are heavier, more than two in a million of the usual ones are outside.
    pub fn from_values(values: &[f64], least: f64) -> Option<ControlLimits> {
        if values.len() < MIN_CONTROLLED {
            return None;
        }
        let centre = median_or_nan(values);
        let mut distances: Vec<f64> = values.iter().map(|value| (value - centre).abs()).collect();
        let deviation = median_in_place(&mut distances);
        let reach = (USUAL_SD * SD_PER_MAD * deviation).max(least);
        Some(ControlLimits { centre, reach })
    }

    /// How far outside a value lies, above (positive) or below (negative) the centre; `None` inside
    /// the limits, and for what is no number.
    ///
    /// Assumes that what is usual reaches as far below the centre as above it: of values with one
    /// long tail the usual ones of that tail are outside more often.
    pub fn distance_outside(&self, value: f64) -> Option<f64> {
        let off = value - self.centre;
        (off.abs() > self.reach).then_some(off)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `numpy.median(x)` and `4.75 * scipy.stats.median_abs_deviation(x, scale="normal")`, SciPy
    /// 1.17.1, for an odd and an even number of values.
    #[test]
    fn limits_agree_with_scipy() {
        let values =
            [0.31, -0.84, 0.12, 0.97, -0.45, 0.26, -1.13, 0.68, 0.05, -0.29, 1.41, -0.62, 9.5];
        for (count, centre, reach) in
            [(13, 0.12, 4.014145506603917), (12, 0.085, 3.9789337039144095)]
        {
            let limits = ControlLimits::from_values(&values[..count], 0.0).unwrap();
            assert!((limits.centre - centre).abs() < 1e-12, "{limits:?}");
            assert!((limits.reach - reach).abs() < 1e-12, "{limits:?}");
        }
    }

    #[test]
    fn what_is_far_out_is_found_although_it_is_not_alone() {
        let mut values: Vec<f64> = (0..20).map(|n| f64::from(n % 5)).collect();
        values.extend([100.0; 9]);
        let limits = ControlLimits::from_values(&values, 0.0).unwrap();
        assert_eq!(values.iter().filter(|v| limits.distance_outside(**v).is_some()).count(), 9);
        assert!(limits.distance_outside(-50.0).unwrap() < 0.0);
    }

    #[test]
    fn even_values_are_not_outside_for_a_trifle() {
        let mut values = vec![1.0; 30];
        values[7] = 1.05;
        assert!(ControlLimits::from_values(&values, 0.1).unwrap().distance_outside(1.05).is_none());
        assert!(
            ControlLimits::from_values(&values, 0.01).unwrap().distance_outside(1.05).is_some()
        );
        assert_eq!(ControlLimits::from_values(&values[..MIN_CONTROLLED - 1], 0.1), None);
    }
}
