//! The quotient of two fitted parameters (Fieller, "Some Problems in Interval Estimation", Journal
//! of the Royal Statistical Society B 16, 1954).
//!
//! ```text
//!   all ρ with  (n − ρ·d)² ≤ t²·V(n − ρ·d)      exact where n and d are normal
//!
//!   d far from 0        ├──────ρ──────┤
//!   d may be 0          ├──────ρ────────────────▶   no upper end, and that is the answer
//! ```

use crate::student::{Estimate, quantile};

/// The bounds of `numerator ÷ denominator`, neither of which is negative in truth, at this
/// confidence. `errors` are those of the numerator, of the denominator, and of numerator less
/// `ratio` times denominator, where `ratio` is the quotient of the two, or any other positive
/// number where there is none.
pub(crate) fn ratio_bounds(
    [numerator, denominator]: [f64; 2],
    errors: [Estimate; 3],
    ratio: f64,
    confidence: f64,
) -> (f64, f64) {
    let [of_numerator, of_denominator, of_both] = errors.map(|error| error.standard_error.powi(2));
    let degrees = errors[2].degrees;
    if degrees <= 0.0 || !ratio.is_finite() || ratio <= 0.0 {
        return (0.0, f64::INFINITY);
    }
    let t = quantile(0.5 + confidence / 2.0, degrees);
    let shared = (of_numerator + ratio * ratio * of_denominator - of_both) / (2.0 * ratio);
    let a = denominator * denominator - t * t * of_denominator;
    let b = numerator * denominator - t * t * shared;
    let c = numerator * numerator - t * t * of_numerator;
    let inside = b * b - a * c;
    if a > 0.0 && denominator > 0.0 {
        let half = inside.max(0.0).sqrt();
        return (((b - half) / a).max(0.0), ((b + half) / a).max(0.0));
    }
    // Not bounded above; what is left out, if anything, lies between two roots.
    if a == 0.0 || inside < 0.0 {
        return (0.0, f64::INFINITY);
    }
    let roots = [(b - inside.sqrt()) / a, (b + inside.sqrt()) / a];
    let (lower, upper) = (roots[0].min(roots[1]), roots[0].max(roots[1]));
    (if lower <= 0.0 { upper.max(0.0) } else { 0.0 }, f64::INFINITY)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(standard_error: f64) -> Estimate {
        Estimate { mean: 0.0, standard_error, degrees: 1e9 }
    }

    /// Independent normals, z = 1.959964, NumPy 2: `np.roots([4-z*z*.04, -2*6, 9-z*z*.01])`.
    #[test]
    fn bounds_solve_the_quadratic() {
        let bounds = |n, d, en, ed: f64| {
            let ratio: f64 = n / d;
            let both = error(f64::hypot(en, ratio * ed));
            ratio_bounds([n, d], [error(en), error(ed), both], ratio, 0.95)
        };
        let (low, high) = bounds(3.0, 2.0, 0.1, 0.2);
        assert!(
            (low - 1.23826575).abs() < 1e-6 && (high - 1.88158191).abs() < 1e-6,
            "{low} {high}"
        );
        assert_eq!(bounds(3.0, 2.0, 0.1, 1.2).1, f64::INFINITY, "the denominator may be 0");
        let (low, high) = bounds(3.0, 2.0, 0.0, 0.0);
        assert!((low - 1.5).abs() < 1e-12 && (high - 1.5).abs() < 1e-12);
    }
}
