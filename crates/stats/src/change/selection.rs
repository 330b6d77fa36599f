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
//! that it is what was tested; the test is one of ranks, whose limits are too low for large steps
//! among few values, and of the place that stands out most.

use dbdyno_model::Interval;
use statrs::distribution::{ContinuousCDF, Normal};

/// An end that would move by less, in standard errors, stays.
const ROUNDING: f64 = 1e-6;
/// Halvings of a stretch that is some standard errors long.
const HALVINGS: usize = 40;

/// A size that is told only if it is large enough.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct SelectedSize {
    pub size: Interval,
    /// What is left of the estimate where this one is in the middle of those that would be found.
    pub share: f64,
}

impl SelectedSize {
    /// `size` is that of all steps, found or not, with this two-sided confidence. It was seen as
    /// `z` standard errors, and at least `least_found` of them are found. No end is moved beyond
    /// zero.
    pub(crate) fn from_interval(
        size: Interval,
        confidence: f64,
        z: f64,
        least_found: f64,
    ) -> SelectedSize {
        // Without noise.
        if !z.is_finite() {
            return SelectedSize { size, share: 1.0 };
        }
        let usual = z - Normal::standard().inverse_cdf(0.5 + confidence / 2.0);
        let least = true_size(z, least_found, 0.5 - confidence / 2.0);
        let nearer = if usual <= 0.0 {
            0.0
        } else if least > usual - ROUNDING {
            1.0
        } else {
            least / usual
        };
        let moved = |end: f64| end * nearer;
        let Interval { estimate, low, high } = size;
        let size = if estimate > 0.0 {
            Interval { low: low.min(moved(low)), ..size }
        } else {
            Interval { high: high.max(moved(high)), ..size }
        };
        SelectedSize { size, share: (true_size(z, least_found, 0.5) / z).min(1.0) }
    }
}

/// The true size of which `z` or more is seen with this chance, among what is found; at least 0.
/// All sizes are in standard errors of `z`.
fn true_size(z: f64, least_found: f64, chance: f64) -> f64 {
    let normal = Normal::standard();
    let is_too_small = |size: f64| {
        let found = normal.sf(least_found - size);
        // Where it is less than a double can tell from nothing, nothing is found.
        found == 0.0 || normal.sf(z.max(least_found) - size) < chance * found
    };
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

    /// Standard errors of 1.
    fn selected(estimate: f64, least_found: f64) -> SelectedSize {
        let size = Interval { estimate, low: estimate - 1.96, high: estimate + 1.96 };
        SelectedSize::from_interval(size, 0.95, estimate.abs(), least_found)
    }

    #[test]
    fn what_is_found_in_any_case_stays_and_what_barely_was_reaches_zero() {
        let clear = selected(8.0, 2.0);
        assert!((clear.size.low - 6.04).abs() < 1e-4 && clear.share > 0.999, "{clear:?}");
        let far = selected(100.0, 95.0);
        assert!(far.size.low > 97.0, "{far:?}");
        let barely = selected(-8.0, 7.9);
        assert_eq!((barely.size.low, barely.size.high), (-9.96, 0.0));
        assert!(barely.share < 0.2, "{barely:?}");
        let (up, down) = (selected(8.0, 6.5).size, selected(-8.0, 6.5).size);
        assert!(down.high > -6.04 && down.high < 0.0, "{down:?}");
        assert_eq!((up.low, up.high), (-down.high, 9.96));
    }

    #[test]
    fn an_end_of_ties_moves_as_others_and_one_beyond_zero_stays() {
        let of = |low| {
            SelectedSize::from_interval(Interval { estimate: 2.0, low, high: 3.0 }, 0.95, 4.0, 3.9)
                .size
        };
        assert_eq!(of(2.0).low, 0.0);
        assert_eq!(of(-0.5).low, -0.5);
        assert_eq!(of(f64::NEG_INFINITY).low, f64::NEG_INFINITY);
    }

    #[test]
    fn without_noise_nothing_is_moved() {
        let exact = Interval { estimate: 0.1, low: 0.1, high: 0.1 };
        let share = 1.0;
        assert_eq!(
            SelectedSize::from_interval(exact, 0.95, f64::INFINITY, 4.0),
            SelectedSize { size: exact, share }
        );
    }

    /// The estimates of a true size, of which those below a limit are never seen.
    #[test]
    fn of_what_is_found_the_interval_holds_the_truth_as_often_as_it_says() {
        use super::super::scores::draw_normal;
        use dbdyno_model::random;

        const FOUND: usize = 4_000;
        const LEAST: f64 = 3.6;
        let mut stream = random::stream(&[random::key_of("selection")]);
        for truth in [1.5, 3.0, 4.5, 8.0] {
            let (mut found, mut held, mut naive) = (0, 0, 0);
            while found < FOUND {
                let estimate = truth + draw_normal(&mut stream);
                if estimate < LEAST {
                    continue;
                }
                found += 1;
                let told = selected(estimate, LEAST).size;
                held += usize::from(told.low <= truth && truth <= told.high);
                naive += usize::from((estimate - truth).abs() <= 1.96);
            }
            let share = |count: usize| count as f64 / FOUND as f64;
            // The end that stays is missed by fewer than 2.5 %.
            assert!((0.94..=0.985).contains(&share(held)), "{truth}: {}", share(held));
            assert!(truth > 2.0 || share(naive) < 0.4, "{truth}: {}", share(naive));
        }
    }
}
