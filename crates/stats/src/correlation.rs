//! Values whose neighbours in time resemble each other, and how much wider that makes an interval.
//!
//! ```text
//!   what a fit leaves  ─▶  correlation of neighbours φ, what the fit took from it put back
//!                      ─▶  (1+φ)/(1−φ): the variance of a mean against that of independent values,
//!                          where each resembles the one before it (autoregressive of order 1)
//! ```
//!
//! *Among 20 values φ is known to ±0.25.* Of independent ones half come out positive by chance and
//! would widen their interval; if the other half narrowed theirs as much, intervals would be too
//! narrow as often. Noise of hosts does not alternate, so a negative φ is believed down to
//! [`PHI_LEAST`] only: of −0.2, −0.15, −0.12, −0.1, −0.08 and 0 that one came nearest to 95 % for
//! the drift of 40 and 400 rounds that are independent, or remember 0.3 or 0.6 of the one before.
//! `docs/CALIBRATION.md` counts it, and the sizes of shifts, with other numbers.

/// A negative correlation is believed as far as this.
const PHI_LEAST: f64 = -0.1;
/// In any case below 1, where nothing would bound anything.
const PHI_MOST: f64 = 0.95;
/// Of few values, what a fit took cannot be put back: it would blow up what is left by more than
/// this to the minus one.
pub(crate) const KEPT_LEAST: f64 = 1.0 / 3.0;

/// What a fit takes from the correlation φ of n neighbours: `(fixed + by_phi·φ)/n`.
#[derive(Clone, Copy)]
pub(crate) struct FitBias {
    pub fixed: f64,
    pub by_phi: f64,
}

/// The correlation of neighbours, and how well it is known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Correlation {
    pub phi: f64,
    pub standard_error: f64,
}

impl Correlation {
    /// Of values that do not vary.
    pub(crate) const NONE: Correlation = Correlation { phi: 0.0, standard_error: 1.0 };

    /// Of what a fit has left of values, given what it took; what the fit leaves of φ is taken as
    /// no less than `kept_least`. Squares that sum up to no more than `rounding` are rounding, and
    /// no values.
    pub(crate) fn from_residuals(
        left: &[f64],
        bias: FitBias,
        kept_least: f64,
        rounding: f64,
    ) -> Correlation {
        let n = left.len() as f64;
        let squares: f64 = left.iter().map(|value| value * value).sum();
        if squares <= rounding {
            return Correlation::NONE;
        }
        let seen = left.windows(2).map(|pair| pair[0] * pair[1]).sum::<f64>() / squares;
        let kept = (1.0 - bias.by_phi / n).max(kept_least);
        Correlation {
            phi: ((seen + bias.fixed / n) / kept).clamp(-PHI_MOST, PHI_MOST),
            // Bartlett 1946; 0.95 is for residuals, by the simulations of `change::null`.
            standard_error: 0.95 * ((1.0 - seen * seen) / n).sqrt() / kept,
        }
    }

    /// One that is stronger by `wariness` times (φ times its standard error)²: next to nothing in
    /// long series and where φ is small, and as much as there is room for among a dozen values.
    pub(crate) fn with_wariness(self, wariness: f64) -> Correlation {
        let more = wariness * (self.phi.max(0.0) * self.standard_error).powi(2);
        Correlation { phi: (self.phi + more).min(PHI_MOST), ..self }
    }

    /// One that is as likely as this one.
    pub(crate) fn draw_plausible(self, normal: f64) -> f64 {
        (self.phi + self.standard_error * normal).clamp(0.0, PHI_MOST)
    }
}

/// The variance of a mean of values with this correlation of neighbours, against that of as many
/// independent ones.
pub(crate) fn variance_inflation(phi: f64) -> f64 {
    let phi = phi.clamp(PHI_LEAST, PHI_MOST);
    (1.0 + phi) / (1.0 - phi)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOTHING: FitBias = FitBias { fixed: 0.0, by_phi: 0.0 };
    const ALTERNATING: [f64; 4] = [1.0, -1.0, 1.0, -1.0];

    #[test]
    fn what_a_fit_took_is_put_back_and_few_values_are_not_blown_up() {
        let phi = |fixed, by_phi, kept| {
            Correlation::from_residuals(&ALTERNATING, FitBias { fixed, by_phi }, kept, 0.0).phi
        };
        // Products −1, −1, −1 over four squares.
        assert_eq!(phi(0.0, 0.0, 1.0), -0.75);
        // (−0.75 + 1/4) / (1 − 2/4).
        assert!((phi(1.0, 1.0, 0.1) + 0.5 / 0.75).abs() < 1e-12);
        assert_eq!(phi(2.0, 4.0, 0.5), -0.5);
        assert_eq!(phi(9.0, 4.0, 0.1), PHI_MOST);
    }

    #[test]
    fn rounding_has_no_correlation() {
        assert_eq!(
            Correlation::from_residuals(&[1e-14; 9], NOTHING, 1.0, 1e-24),
            Correlation::NONE
        );
    }

    #[test]
    fn of_correlated_values_that_are_few_one_is_wary() {
        let wary =
            |phi, standard_error| Correlation { phi, standard_error }.with_wariness(24.0).phi;
        assert!((wary(0.5, 0.125) - (0.5 + 24.0 / 256.0)).abs() < 1e-12);
        assert_eq!(wary(0.0, 0.2), 0.0);
        assert_eq!(wary(-0.3, 0.2), -0.3);
        assert_eq!(wary(0.9, 0.3), PHI_MOST);
    }

    #[test]
    fn a_correlation_widens_and_a_negative_one_hardly_narrows() {
        assert!((variance_inflation(0.6) - 4.0).abs() < 1e-12);
        assert_eq!(variance_inflation(0.0), 1.0);
        assert!((variance_inflation(-0.9) - 0.9 / 1.1).abs() < 1e-12);
    }
}
