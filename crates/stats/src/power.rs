//! What an experiment can find, before and after it is made.
//!
//! With `k` pairs of noise `s` the mean log-ratio has the standard error `s/√k`. A true effect is
//! found with the wanted chance when it exceeds
//!
//! ```text
//!   (t[1−α/2] + t[power]) · s/√k          t with k−1 degrees of freedom
//!    └ to be found    └ even on a day when chance is against it
//! ```
//!
//! (Snedecor and Cochran; against the noncentral t it errs by at most a few pairs, see the tests.)
//! Effects are shares of rQPS. The smaller logarithm of the two directions is used, so that a loss
//! and a gain of that share are both found.

use crate::student::{self, Moments};

/// The chance with which a detectable effect is found.
pub const POWER: f64 = 0.8;
/// More pairs than this are hopeless: rounds of ten seconds would take most of a working day.
pub const PAIRS_CAP: u32 = 1000;
/// Below this number of pairs there is no verdict: two points have a spread by accident only.
pub const MIN_PAIRS: u32 = 3;

/// The smallest change of rQPS, as a share (0.02 = 2 %), that `pairs` pairs with a standard
/// deviation `sd_log` of their log-ratios find at level `alpha` with chance `power`.
///
/// Assumes independent, normal log-ratios; `sd_log` may be an assumed one, before anything was
/// measured. Infinite for fewer than [`MIN_PAIRS`] pairs and for arguments that make no sense: such
/// an experiment finds nothing.
pub fn detectable_change(sd_log: f64, pairs: u32, alpha: f64, power: f64) -> f64 {
    if pairs < MIN_PAIRS || !arguments_make_sense(sd_log, alpha, power) {
        return f64::INFINITY;
    }
    detectable_log(sd_log, pairs, alpha, power).exp_m1()
}

/// The fewest pairs that find a change of `effect` (a share of rQPS, of either sign) at level
/// `alpha` with chance `power`, at least [`MIN_PAIRS`]. [`PAIRS_CAP`] stands for "that many or
/// more".
///
/// Assumes what [`detectable_change`] assumes. The critical values depend on the number of pairs,
/// so this is a search, not a formula.
pub fn pairs_needed(sd_log: f64, effect: f64, alpha: f64, power: f64) -> u32 {
    let target = effect.abs().ln_1p();
    if target.is_nan() || target <= 0.0 || !arguments_make_sense(sd_log, alpha, power) {
        return PAIRS_CAP;
    }
    first_pairs(MIN_PAIRS, |pairs| detectable_log(sd_log, pairs, alpha, power) <= target)
        .unwrap_or(PAIRS_CAP)
}

/// How many more pairs than were measured will probably (with chance [`POWER`]) decide the cell, if
/// mean and spread are what they seem: by excluding 1 at `alpha`, or by an interval of `confidence`
/// within ±`budget_log`, whichever comes first. `known_sd` is what all of them have in common,
/// which more of them do not lessen. `None`: not with [`PAIRS_CAP`] pairs.
pub(crate) fn pairs_missing(
    moments: &Moments,
    known_sd: f64,
    budget_log: f64,
    alpha: f64,
    confidence: f64,
) -> Option<u32> {
    let measured = u32::try_from(moments.n).ok()?;
    let total = first_pairs(MIN_PAIRS.max(measured + 1), |pairs| {
        let doubt = Doubt::of(moments.sd, known_sd, pairs);
        doubt.found(alpha, POWER) <= moments.mean.abs()
            || doubt.fits(moments.mean, budget_log, confidence) >= POWER
    })?;
    Some(total - measured)
}

/// How far the mean of so many pairs is off.
struct Doubt {
    standard: f64,
    degrees: f64,
}

impl Doubt {
    fn of(sd: f64, known_sd: f64, pairs: u32) -> Doubt {
        let own = sd * sd / f64::from(pairs);
        let all = own + known_sd * known_sd;
        // After Welch and Satterthwaite: what is known has no doubt of its own.
        let share = if known_sd == 0.0 { 1.0 } else { own / all };
        Doubt { standard: all.sqrt(), degrees: f64::from(pairs - 1) / (share * share) }
    }

    /// The logarithm of a change that is found with this chance.
    fn found(&self, alpha: f64, power: f64) -> f64 {
        let t = |share: f64| student::quantile(share, self.degrees);
        (t(1.0 - alpha / 2.0) + t(power)) * self.standard
    }

    /// The chance that the interval lies within ±`budget_log`.
    fn fits(&self, mean: f64, budget_log: f64, confidence: f64) -> f64 {
        let room =
            budget_log - student::quantile(0.5 + confidence / 2.0, self.degrees) * self.standard;
        if room < 0.0 {
            return 0.0;
        }
        if self.standard == 0.0 {
            return if mean.abs() <= room { 1.0 } else { 0.0 };
        }
        let below =
            |far: f64| student::probability_below((far - mean) / self.standard, self.degrees);
        below(room) - below(-room)
    }
}

fn detectable_log(sd_log: f64, pairs: u32, alpha: f64, power: f64) -> f64 {
    Doubt::of(sd_log, 0.0, pairs).found(alpha, power)
}

fn arguments_make_sense(sd_log: f64, alpha: f64, power: f64) -> bool {
    sd_log.is_finite() && sd_log >= 0.0 && is_share(alpha) && is_share(power)
}

fn is_share(value: f64) -> bool {
    value > 0.0 && value < 1.0
}

/// The first number of pairs in `from..=PAIRS_CAP` for which `holds`, which must not turn false
/// again as pairs are added.
fn first_pairs(from: u32, holds: impl Fn(u32) -> bool) -> Option<u32> {
    if from > PAIRS_CAP || !holds(PAIRS_CAP) {
        return None;
    }
    let (mut fails_below, mut holds_at) = (from, PAIRS_CAP);
    while fails_below < holds_at {
        let middle = fails_below + (holds_at - fails_below) / 2;
        if holds(middle) {
            holds_at = middle;
        } else {
            fails_below = middle + 1;
        }
    }
    Some(holds_at)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The fewest pairs by the noncentral t distribution, computed with SciPy 1.17
    /// (`scipy.stats.nct`): noise, effect, pairs at level 0.01, pairs at level 0.05.
    const EXACT: &[(f64, f64, u32, u32)] = &[
        (0.005, 0.05, 3, 3),
        (0.01, 0.05, 4, 3),
        (0.01, 0.02, 7, 5),
        (0.02, 0.02, 16, 11),
        (0.03, 0.01, 110, 74),
        (0.05, 0.02, 78, 52),
        (0.02, 0.20, 3, 3),
    ];

    #[test]
    fn pairs_needed_is_within_one_pair_of_the_noncentral_t() {
        for &(sd, effect, at_01, at_05) in EXACT {
            let pairs = |alpha| pairs_needed(sd, effect, alpha, POWER);
            assert!(pairs(0.01).abs_diff(at_01) <= 1, "{sd} {effect}: {}", pairs(0.01));
            assert!(pairs(0.05).abs_diff(at_05) <= 1, "{sd} {effect}: {}", pairs(0.05));
        }
    }

    /// What two starts of a server differ by is no less after more pairs of one start.
    #[test]
    fn pairs_lessen_only_what_is_their_own() {
        let moments = Moments { n: 20, mean: 0.08, sd: 0.2 };
        let missing = |moments: &Moments, known_sd| {
            pairs_missing(moments, known_sd, 0.02_f64.ln_1p(), 0.01, 0.95)
        };
        let (alone, beside) = (missing(&moments, 0.0), missing(&moments, 0.015));
        assert!(alone.unwrap() < beside.unwrap(), "{alone:?} {beside:?}");
        assert_eq!(missing(&moments, 0.03), None, "0.08 is less than two and a half times that");
        let equal = Moments { mean: 0.0, sd: 0.05, ..moments };
        assert_eq!(missing(&equal, 0.015), None, "the budget is less than its interval");
        assert!(missing(&equal, 0.005).is_some());
    }

    #[test]
    fn pairs_needed_and_detectable_are_inverse() {
        for &(sd, effect, ..) in EXACT {
            let pairs = pairs_needed(sd, effect, 0.01, POWER);
            assert!(detectable_change(sd, pairs, 0.01, POWER) <= effect);
            if pairs > MIN_PAIRS {
                assert!(detectable_change(sd, pairs - 1, 0.01, POWER) > effect);
            }
            assert_eq!(pairs, pairs_needed(sd, -effect, 0.01, POWER), "a loss is an effect too");
        }
    }

    #[test]
    fn what_cannot_be_found_is_never_promised() {
        assert_eq!(detectable_change(0.01, 0, 0.01, POWER), f64::INFINITY);
        assert_eq!(detectable_change(0.01, 2, 0.01, POWER), f64::INFINITY);
        assert_eq!(detectable_change(f64::NAN, 6, 0.01, POWER), f64::INFINITY);
        assert_eq!(detectable_change(0.01, 6, 0.0, POWER), f64::INFINITY);
        assert_eq!(detectable_change(0.01, 6, 0.01, f64::NAN), f64::INFINITY);
        assert_eq!(pairs_needed(0.01, 0.0, 0.01, POWER), PAIRS_CAP);
        assert_eq!(pairs_needed(0.01, f64::NAN, 0.01, POWER), PAIRS_CAP);
        assert_eq!(pairs_needed(f64::INFINITY, 0.02, 0.01, POWER), PAIRS_CAP);
        assert_eq!(pairs_needed(1.0, 1e-6, 0.01, POWER), PAIRS_CAP);
        assert_eq!(pairs_needed(0.0, 1e-6, 0.01, POWER), MIN_PAIRS, "no noise, no doubt");
    }
}
