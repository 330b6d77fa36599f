//! What is found was found because it stands out, by chance as well.
//!
//! ```text
//!             least that is found
//!    ────────────────┤▒▒▒▒▒▒▓▓▓▓▓▓▓▓▓▒▒▒▒▒▒───▶  estimates that anybody ever sees
//!        true size ↑                            the more of them are cut off, the more what is
//!                                               left is too large
//! ```
//!
//! A true step of one and a half standard deviations is found in half of the series of 30 values,
//! those in which noise makes it larger: by 16 % in the middle. So its true size is asked for given
//! that it was found: the one below which an estimate this large, *of those that are found*, is as
//! rare as the confidence says (Zhong and Prentice, "Bias-reduced estimators and confidence
//! intervals for odds ratios in genome-wide association studies", Biostatistics 9, 2008; Lee, Sun,
//! Sun and Taylor, "Exact post-selection inference", Annals of Statistics 44, 2016). Where a step
//! is found in any case this is the usual interval. The estimate stays what was seen, and the end
//! that is farther away from zero stays where it is. Assumed is that the estimate is normal, and
//! that it is what was tested; the test is one of ranks, and of the place that stands out most.

use dbdyno_model::Interval;
use statrs::distribution::{ContinuousCDF, Normal};

/// Halvings of a stretch that is some standard errors long.
const HALVINGS: usize = 40;

/// A size that is told only if it is large enough.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Selected {
    pub size: Interval,
    /// What is left of the estimate where this one is in the middle of those that would be found.
    pub share: f64,
}

impl Selected {
    /// `size` is that of all steps, found or not, with this two-sided confidence; at least
    /// `least_found` of its standard errors are found. No end is moved beyond zero.
    pub(crate) fn of(size: Interval, confidence: f64, least_found: f64) -> Selected {
        let errors = Normal::standard().inverse_cdf(0.5 + confidence / 2.0);
        let Interval { estimate, low, high } = size;
        let z = 2.0 * errors * estimate.abs() / (high - low);
        // Without noise, or with so few values that there is no interval.
        if !z.is_finite() || z == 0.0 {
            return Selected { size, share: 1.0 };
        }
        let least = true_size(z, least_found, 0.5 - confidence / 2.0);
        let farther = ((z - least) / errors).max(1.0);
        let moved = |end: f64| estimate + farther * (end - estimate);
        let size = match estimate > 0.0 {
            true => Interval { low: moved(low).max(low.min(0.0)), ..size },
            false => Interval { high: moved(high).min(high.max(0.0)), ..size },
        };
        Selected { size, share: (true_size(z, least_found, 0.5) / z).min(1.0) }
    }
}

/// The true size of which `z` or more is seen with this chance, among what is found; at least 0.
/// All sizes are in standard errors of `z`.
fn true_size(z: f64, least_found: f64, chance: f64) -> f64 {
    let normal = Normal::standard();
    let is_too_small =
        |size: f64| normal.sf(z.max(least_found) - size) < chance * normal.sf(least_found - size);
    let (mut low, mut high) = (0.0, z + 5.0);
    for _ in 0..HALVINGS {
        let middle = f64::midpoint(low, high);
        match is_too_small(middle) {
            true => low = middle,
            false => high = middle,
        }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `scipy.optimize.brentq(lambda m: norm.sf(z - m) - chance * norm.sf(least - m), -9, 20)`,
    /// SciPy 1.17.1; what it finds below zero is zero here.
    #[test]
    fn the_true_size_agrees_with_scipy() {
        let cases = [
            (3.7, 3.6, 0.5, 0.0),
            (4.0, 3.6, 0.025, 0.0),
            (4.0, 3.6, 0.5, 2.545899679),
            (4.6, 3.6, 0.025, 0.667427312),
            (5.2, 3.6, 0.025, 2.484319696),
            (5.2, 3.6, 0.5, 5.119264097),
            (7.0, 3.6, 0.025, 5.004572647),
            (9.0, 3.6, 0.975, 10.959963985),
            (2.5, 0.5, 0.025, 0.129880484),
        ];
        for (z, least_found, chance, truth) in cases {
            let ours = true_size(z, least_found, chance);
            assert!((ours - truth).abs() < 1e-6, "{z} {least_found} {chance}: {ours}");
        }
    }

    #[test]
    fn what_is_found_in_any_case_stays_and_what_barely_was_reaches_zero() {
        let size = Interval { estimate: -0.04, low: -0.05, high: -0.03 };
        let clear = Selected::of(size, 0.95, 2.0);
        assert!((clear.size.high - size.high).abs() < 1e-6 && clear.share > 0.999, "{clear:?}");
        let barely = Selected::of(size, 0.95, 7.8);
        assert_eq!((barely.size.low, barely.size.high), (-0.05, 0.0));
        assert_eq!(barely.share, 0.0);
        let up = Interval { estimate: 0.04, low: 0.03, high: 0.05 };
        let mirrored = Selected::of(up, 0.95, 6.0).size;
        let down = Selected::of(size, 0.95, 6.0).size;
        assert!(down.high > size.high && down.high < 0.0, "{down:?}");
        assert!((mirrored.low + down.high).abs() < 1e-12 && mirrored.high == 0.05);
    }

    #[test]
    fn without_noise_and_without_an_interval_nothing_is_moved() {
        let exact = Interval { estimate: 0.1, low: 0.1, high: 0.1 };
        assert_eq!(Selected::of(exact, 0.95, 4.0), Selected { size: exact, share: 1.0 });
        let none = Interval { estimate: 0.1, low: f64::NEG_INFINITY, high: f64::INFINITY };
        assert_eq!(Selected::of(none, 0.95, 4.0), Selected { size: none, share: 1.0 });
    }

    /// The estimates of a true size, of which those below a limit are never seen.
    #[test]
    fn of_what_is_found_the_interval_holds_the_truth_as_often_as_it_says() {
        use super::super::scores::normal;
        use dbdyno_model::random;

        const FOUND: usize = 4_000;
        const LEAST: f64 = 3.6;
        let mut stream = random::stream(&[random::key_of("selection")]);
        for truth in [1.5, 3.0, 4.5, 8.0] {
            let (mut found, mut held, mut naive) = (0, 0, 0);
            while found < FOUND {
                let estimate = truth + normal(&mut stream);
                if estimate < LEAST {
                    continue;
                }
                found += 1;
                let seen = Interval { estimate, low: estimate - 1.96, high: estimate + 1.96 };
                let told = Selected::of(seen, 0.95, LEAST).size;
                held += usize::from(told.low <= truth && truth <= told.high);
                naive += usize::from(seen.low <= truth && truth <= seen.high);
            }
            let share = |count: usize| count as f64 / FOUND as f64;
            // The end that stays is missed by fewer than 2.5 %.
            assert!((0.94..=0.985).contains(&share(held)), "{truth}: {}", share(held));
            assert!(truth > 2.0 || share(naive) < 0.4, "{truth}: {}", share(naive));
        }
    }
}
