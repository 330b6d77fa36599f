//! A mean that is known well enough: a confidence sequence for few pairs, of which nobody knows the
//! spread.
//!
//! ```text
//!   half the interval
//!     │·
//!     │ ·                       3 pairs say nothing, 6 of them what makes a factor of seven
//!     │   · · · · asked for ─── ─── ┐
//!     │           ·  ·   ·     ·    ▼ it ends here, whatever the mean is
//!     └──────────────────────────── pairs, looked at after each of them
//! ```
//!
//! Whoever measures until an interval is narrow ends where the spread is small by chance, and a
//! Student interval then misses more often than it says. This one holds after all pairs at once.
//! The size of the effect, μ ÷ σ, is mixed over N(0, 1 ÷ c²), and σ over its right Haar measure.
//! What that makes of the likelihood ratio of μ = m against all others is a martingale if m is
//! true, whatever σ is; Ville's inequality bounds how often it ever exceeds 1 ÷ α:
//!
//! ```text
//!   M(m) = √(c² ÷ (n + c²)) · ((n + c²)V ÷ ((n + c²)V − S²))^(n ÷ 2)
//!          V = Σ(x − m)²   S = Σ(x − m)
//! ```
//!
//! (Wang and Ramdas, "Anytime-valid t-tests and confidence sequences for Gaussian means with
//! unknown variance", Sequential Analysis 44, 2025, arXiv:2310.03722: the Gaussian mixture; the
//! idea is that of Lai, "On confidence sequences", Annals of Statistics 4, 1976.) All m with
//! M(m) < 1 ÷ α are an interval around the mean, in closed form.
//!
//! Who plans for a number of pairs as well, and ends there at the latest, judges those once, by an
//! interval of 96 %: ended by the sequence at 1 % or by the plan at 4 %, both miss the truth in no
//! more than 5 % together, and the last interval is hardly wider than if nobody had looked.
//!
//! [`crate::ConfidenceSequence`] is another one, for verdicts: it has a horizon, and is the better
//! at small effects and the worse at knowing a large one after few pairs.

use dbdyno_model::{Interval, Verdict, Warning};

use crate::confidence::SHOWN_CONFIDENCE;
use crate::decision::{Judgement, budget_log, few_rounds};
use crate::error::StatsError;
use crate::power::{MIN_PAIRS, POWER};
use crate::sequence::{Look, p_value, verdict_from_widths};
use crate::student::{Moments, quantile};

/// How often any of the looks may miss the truth.
const LOOKS_ALPHA: f64 = 0.01;
/// c² of the mixture: of those between 0.02 and 1, which all say about the same of thirty pairs,
/// one that says something of five and six.
const MIXED: f64 = 0.1;

/// Half of an interval around the mean of `count` values whose standard deviation is `sd`. The
/// intervals after all values, from the first to whatever is the last one, hold the mean together
/// with a chance of 1 − `alpha` or more. Infinite for as few values as say nothing: three of them
/// at 1 %.
///
/// Assumes values that are independent and normal with one mean and one spread. Symmetric tails
/// that are heavier make it miss less often than it may; values that follow each other (an
/// autocorrelation of 0.3 and more) make it miss more often, which `tests/anytime.rs` counts.
pub fn anytime_half(count: u32, sd: f64, alpha: f64) -> f64 {
    let n = f64::from(count);
    if count < 2 {
        return f64::INFINITY;
    }
    let of_mixture = (n + MIXED) / MIXED;
    let most = (of_mixture / (alpha * alpha)).powf(1.0 / n);
    // M does not reach 1 ÷ α however far m is.
    if most >= of_mixture {
        return f64::INFINITY;
    }
    if sd == 0.0 {
        return 0.0;
    }
    let squares = (n - 1.0) * sd * sd;
    ((most - 1.0) * squares / (n * (1.0 - most / of_mixture))).sqrt()
}

/// Half of the interval of [`judge_anytime`], as a logarithm: what ends a measurement once it is as
/// small as was asked for.
///
/// Assumes what [`judge_anytime`] assumes.
///
/// # Errors
/// As [`crate::judge_pairs()`].
pub fn anytime_reach(pairs: &[f64], starts: u32, between_sd: f64) -> Result<f64, StatsError> {
    let moments = Moments::of_logs(pairs)?;
    let by_pairs = anytime_half(pairs.len() as u32, moments.sd, LOOKS_ALPHA);
    // What starts are off by is met once each, but many looks come near to it: half the level.
    let of_starts = between_sd / f64::from(starts.max(1)).sqrt();
    Ok(by_pairs.hypot(of_starts * quantile(1.0 - LOOKS_ALPHA / 4.0, f64::INFINITY)))
}

/// Judges one cell from the log-ratios of its `pairs`, whatever ended the measuring after them,
/// where the servers were started `starts` times. The interval holds for all looks together with
/// 99 %, which is more than is shown elsewhere: it leaves the rest to [`beside_looks`].
///
/// Assumes what [`anytime_half`] assumes, and that what a start is off by is normal and has the
/// standard deviation `between_sd`.
///
/// # Errors
/// As [`crate::judge_pairs()`].
pub fn judge_anytime(
    pairs: &[f64],
    starts: u32,
    between_sd: f64,
    budget: f64,
) -> Result<Look, StatsError> {
    let budget_log = budget_log(budget)?;
    let half = anytime_reach(pairs, starts, between_sd)?;
    let moments = Moments::of_logs(pairs)?;
    let (mean, count) = (moments.mean, pairs.len() as u32);
    let found = half + quantile(POWER, f64::INFINITY) * moments.sd / f64::from(count).sqrt();
    let warnings: Vec<Warning> = few_rounds(count, "pairs of rounds");
    let verdict: Verdict = verdict_from_widths(mean, count, half, half, budget_log);
    Ok(Look {
        verdict,
        rqps: Interval {
            estimate: mean.exp(),
            low: (mean - half).exp(),
            high: (mean + half).exp(),
        },
        p_value: if half.is_finite() { p_value(mean, half) } else { 1.0 },
        looks: (count + 1).saturating_sub(MIN_PAIRS),
        detectable: Some(found.exp_m1()).filter(|share| share.is_finite()),
        warnings,
    })
}

/// The interval of a single judgement that was planned beside looks by [`judge_anytime`] which
/// would have ended the measuring: it misses in 4 % instead of 5 %, so that both together miss in
/// no more than 5 %.
///
/// Assumes what the judgement assumes.
pub fn beside_looks(judgement: &Judgement) -> Interval {
    let degrees = f64::from(judgement.basis.count.saturating_sub(1)).max(1.0);
    let at = |alpha: f64| quantile(1.0 - alpha / 2.0, degrees);
    let alpha = 1.0 - SHOWN_CONFIDENCE;
    let wider = at(alpha - LOOKS_ALPHA) / at(alpha);
    let Interval { estimate, low, high } = judgement.rqps;
    let to = |end: f64| estimate * (end / estimate).powf(wider);
    Interval { estimate, low: to(low), high: to(high) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// ln M(m), as the paper has it.
    fn martingale(values: &[f64], m: f64) -> f64 {
        let n = values.len() as f64;
        let squares: f64 = values.iter().map(|value| (value - m).powi(2)).sum();
        let sum: f64 = values.iter().map(|value| value - m).sum();
        let mixed = (n + MIXED) * squares;
        0.5 * (MIXED / (n + MIXED)).ln() + n / 2.0 * (mixed / (mixed - sum * sum)).ln()
    }

    /// Half the interval in standard deviations at 1 %, by a program in Python that bisects the
    /// martingale of the paper, value by value.
    #[test]
    fn few_values_say_something_and_many_nearly_as_much_as_one_look() {
        for (count, half) in
            [(4, 6.9004), (5, 3.7571), (6, 2.8386), (8, 2.0498), (16, 1.1720), (30, 0.7913)]
        {
            let ours = anytime_half(count, 1.0, 0.01);
            assert!((ours - half).abs() < 1e-4, "{count}: {ours}");
        }
        assert_eq!(anytime_half(3, 1.0, 0.01), f64::INFINITY);
        assert_eq!(anytime_half(1, 0.0, 0.01), f64::INFINITY);
        assert_eq!(anytime_half(4, 0.0, 0.01), 0.0, "no spread is no doubt");
    }

    /// What a seventh of a rate is known to a twentieth of by, on a host whose pairs differ by 3 %.
    #[test]
    fn a_factor_of_seven_is_known_after_six_pairs() {
        let seventh = -(7.0_f64.ln());
        let pairs: Vec<f64> =
            [0.0, 0.03, -0.02, 0.04, -0.03, -0.02].iter().map(|off| seventh + off).collect();
        let asked = seventh.abs() / 20.0;
        let reach =
            |count: usize| anytime_reach(&pairs[..count], 1, crate::BETWEEN_STARTS_SD).unwrap();
        assert!(reach(4) > asked && reach(6) <= asked, "{} {}", reach(4), reach(6));
        let look = judge_anytime(&pairs, 1, crate::BETWEEN_STARTS_SD, 0.02).unwrap();
        assert_eq!(look.verdict, Verdict::Slower);
        assert!(look.p_value < 1e-9, "{}", look.p_value);
    }

    #[test]
    fn an_interval_beside_looks_is_hardly_wider() {
        let logs: Vec<f64> = (0..40).map(|pair| -0.1 + 0.02 * f64::from(pair % 5)).collect();
        let judgement = crate::judge_pairs(&logs, 0.02).unwrap();
        let wider = beside_looks(&judgement);
        let width = |of: Interval| (of.high / of.low).ln();
        let times = width(wider) / width(judgement.rqps);
        assert!((1.04..1.07).contains(&times), "{times}");
    }

    proptest! {
        /// The ends of the interval are where the martingale of the paper reaches 1 ÷ α.
        #[test]
        fn the_ends_are_where_the_martingale_reaches_its_bound(
            values in prop::collection::vec(-3.0_f64..3.0, 5..60),
            alpha in prop::sample::select(vec![0.01, 0.05, 0.2]),
        ) {
            let moments = Moments::of_values(&values).unwrap();
            prop_assume!(moments.sd > 1e-6);
            let half = anytime_half(values.len() as u32, moments.sd, alpha);
            for end in [moments.mean - half, moments.mean + half] {
                let log = martingale(&values, end);
                prop_assert!((log + f64::ln(alpha)).abs() < 1e-6, "{log}");
            }
            prop_assert!(martingale(&values, moments.mean) < 0.0);
        }
    }
}
