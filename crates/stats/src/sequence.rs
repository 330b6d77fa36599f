//! A verdict that may be looked at after every start: a confidence sequence.
//!
//! ```text
//!   interval   ├─────────────────────────┤           3 starts
//!              ├────────────┤                        6
//!                 ├───────┤                          12      each may end the measuring: all of
//!                   ├────┤                           24      them together miss the truth as
//!                 1 ┊                                        rarely as one interval would
//! ```
//!
//! Whoever looks after every start and stops at the first interval of 99 % that excludes 1 is wrong
//! far more often than once in a hundred times. Here the chance to err is a sum of money: look `n`
//! may spend what [`spent`] grows by, and its interval is as narrow as that buys. Up to the
//! *horizon*, the number of starts that are planned, it grows with the power 1.5 (Kim and DeMets,
//! "Design and analysis of group sequential tests based on the type I error spending rate
//! function", Biometrika 74, 1987); a rest is kept for those who go on, up to
//! [`ConfidenceSequence::STARTS_MAX`].
//!
//! What a look costs is computed for a sum of normal values by following its density from look to
//! look (Armitage, McPherson and Rowe, "Repeated significance tests on accumulating data", JRSS A
//! 132, 1969), here on a lattice; the quantile becomes one of Student's t by its p-value (Jennison
//! and Turnbull, "Group Sequential Methods", 2000, § 3.8). With few starts that is a little too
//! bold, by a tenth at most, which the levels leave room for; `tests/sequence.rs` counts it.
//!
//! Against the mixture of t-tests that needs no horizon (Lai 1976; Wang and Ramdas, "Anytime-valid
//! t-tests and confidence sequences for Gaussian means with unknown variance", Sequential Analysis
//! 44, 2025): of effects that one look after 30 starts finds with 90 %, this finds 83 % after 21
//! lives in the mean, the mixture 63 % after 24, and with four starts the mixture finds nothing.

use std::sync::OnceLock;

use dbdyno_model::{Interval, Verdict, Warning};

use crate::confidence::{DECISION_ALPHA, SHOWN_CONFIDENCE};
use crate::decision::{budget_log, few_rounds};
use crate::error::StatsError;
use crate::power::{MIN_PAIRS, POWER};
use crate::student::{Moments, probability_below, quantile};

/// Share of the chance to err that is spent up to the horizon.
const SPENT_AT_HORIZON: f64 = 0.7;
/// Share that is kept for looks beyond it. The two leave a tenth for the approximation by t.
const SPENT_BEYOND: f64 = 0.2;
/// How slowly it is spent: 1 decides large effects soonest, 3 loses least against a single look.
const SPENDING_POWER: f64 = 1.5;
/// Width of a step of the lattice, in standard deviations of a value.
const STEP: f64 = 0.05;
/// Steps that a value moves the sum by at most: six standard deviations.
const REACH: usize = 120;
/// The horizons that there are.
const HORIZON_MIN: u32 = MIN_PAIRS + 1;
const HORIZON_MAX: u32 = 80;
/// No sum is farther from the middle, in standard deviations of it.
const FAR: f64 = 8.0;

/// By how much looks may err together, look by look, at two levels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ConfidenceSequence {
    reaches: &'static Reaches,
}

/// How far looks reach, the first of them after [`MIN_PAIRS`] starts.
#[derive(Debug, PartialEq)]
struct Reaches {
    /// At [`DECISION_ALPHA`] in all.
    deciding: Vec<f64>,
    /// The same for the interval that is shown.
    shown: Vec<f64>,
}

/// What was worked out for each horizon, and beyond each number of starts: a tenth of a second of
/// arithmetic, and a list of stored runs asks for the same few again and again.
static OF_HORIZON: [OnceLock<Reaches>; HORIZON_MAX as usize + 1] =
    [const { OnceLock::new() }; HORIZON_MAX as usize + 1];
static BEYOND: [OnceLock<Reaches>; ConfidenceSequence::STARTS_MAX as usize + 1] =
    [const { OnceLock::new() }; ConfidenceSequence::STARTS_MAX as usize + 1];

impl Reaches {
    /// What looks may spend of each chance to err: all up to some number of starts.
    fn of(spent: impl Fn(u32) -> f64) -> Reaches {
        Reaches {
            deciding: reaches(&chances(&spent, DECISION_ALPHA)),
            shown: reaches(&chances(&spent, 1.0 - SHOWN_CONFIDENCE)),
        }
    }
}

impl ConfidenceSequence {
    /// Looks after every start from the third one on, at their best after `horizon` starts. A
    /// horizon is taken to lie between 4 and 80.
    ///
    /// Assumes nothing: it is a function of the horizon alone, to be fixed before the first look.
    pub fn new(horizon: u32) -> ConfidenceSequence {
        let horizon = horizon.clamp(HORIZON_MIN, HORIZON_MAX);
        ConfidenceSequence {
            reaches: OF_HORIZON[horizon as usize]
                .get_or_init(|| Reaches::of(|starts| spent(starts, horizon))),
        }
    }

    /// Looks after every start for a run that was judged once, with `judged` starts, and went on
    /// because that did not decide it. The first judgement had its chance to err; all looks
    /// together have a fifth of it again, 1.2 % instead of 1 % in all.
    ///
    /// Assumes nothing.
    pub fn after_judgement(judged: u32) -> ConfidenceSequence {
        let judged = judged.clamp(1, ConfidenceSequence::STARTS_MAX);
        ConfidenceSequence {
            reaches: BEYOND[judged as usize].get_or_init(|| {
                Reaches::of(|starts| {
                    if starts <= judged {
                        0.0
                    } else {
                        SPENT_BEYOND * (1.0 - f64::from(judged) / f64::from(starts))
                    }
                })
            }),
        }
    }

    /// The number of starts after which nothing more is told, whatever the horizon: a lattice for
    /// more of them would be slow.
    pub const STARTS_MAX: u32 = 240;

    /// The smallest change of rQPS, as a share, that is found with chance `power` and a p-value of
    /// `alpha` when `starts` starts with a standard deviation `sd` (of a log-ratio) have been
    /// looked at; see [`judge_sequence`] for `known_sd`. Infinite for too few of them.
    ///
    /// Assumes what [`judge_sequence`] assumes, and that the spread of the starts is `sd`.
    pub fn detectable_change(
        &self,
        sd: f64,
        known_sd: f64,
        starts: u32,
        alpha: f64,
        power: f64,
    ) -> f64 {
        Widths { sequence: self, known_sd, sd }.found(starts, alpha, power).exp_m1()
    }

    /// Half the widths of the intervals of so many starts that share nothing, for the decision and
    /// as shown.
    pub(crate) fn half_widths(&self, sd: f64, starts: u32) -> (f64, f64) {
        Widths { sequence: self, known_sd: 0.0, sd }.half(starts)
    }

    /// The distance from the mean, in standard errors, that the interval of this look reaches:
    /// for the decision, and as shown. Infinite before the first look and after the last.
    ///
    /// Assumes nothing.
    pub(crate) fn interval_reach(&self, starts: u32) -> (f64, f64) {
        let at = |reaches: &[f64]| {
            let index = starts.checked_sub(MIN_PAIRS).map(|index| index as usize);
            index.and_then(|index| reaches.get(index)).copied().unwrap_or(f64::INFINITY)
        };
        (at(&self.reaches.deciding), at(&self.reaches.shown))
    }
}

/// What the last look says.
#[derive(Clone, Debug, PartialEq)]
pub struct Look {
    /// The answer.
    pub verdict: Verdict,
    /// Relative rate, test ÷ base, with an interval that holds for all looks together with 95 %.
    pub rqps: Interval,
    /// Two-sided p-value of "the ratio is 1", whatever ends the run: at [`DECISION_ALPHA`] where
    /// the deciding interval of this look ends at 1, elsewhere as far from it as normal noise.
    pub p_value: f64,
    /// How often was looked.
    pub looks: u32,
    /// The smallest change of rQPS, as a share, that this look finds with a chance of 80 %.
    pub detectable: Option<f64>,
    /// What speaks against the assumptions.
    pub warnings: Vec<Warning>,
}

/// Judges one cell from `starts`, one log-ratio for each start in the order of measuring (the mean
/// of its pairs), as often as wanted while more of them come. `known_sd` is the standard deviation
/// of what all of them have in common beside the truth, and 0 where servers were started anew for
/// each of them: where they live once, their start is off by something that no look can see.
///
/// Assumes starts that are independent with a mean close to normal, and a `sequence` that was
/// chosen before the first of them. Of more than [`ConfidenceSequence::STARTS_MAX`] only those are
/// looked at, for no chance to err is left.
///
/// # Errors
/// As [`crate::judge_pairs()`].
pub fn judge_sequence(
    starts: &[f64],
    known_sd: f64,
    budget: f64,
    sequence: &ConfidenceSequence,
) -> Result<Look, StatsError> {
    let budget_log = budget_log(budget)?;
    let starts = &starts[..starts.len().min(ConfidenceSequence::STARTS_MAX as usize)];
    let moments = Moments::of_logs(starts)?;
    let count = starts.len() as u32;
    let at = Widths { sequence, known_sd, sd: moments.sd };
    let estimate = moments.mean_estimate();
    let (deciding, shown) = at.half(count);
    let verdict = verdict_from_widths(estimate.mean, count, deciding, shown, budget_log);
    let around = |half: f64| ((estimate.mean - half).exp(), (estimate.mean + half).exp());
    let (low, high) = around(shown);
    Ok(Look {
        verdict,
        rqps: Interval { estimate: estimate.mean.exp(), low, high },
        p_value: p_value(estimate.mean, deciding),
        looks: (count + 1).saturating_sub(MIN_PAIRS),
        detectable: Some(at.found(count, DECISION_ALPHA, POWER).exp_m1())
            .filter(|share| share.is_finite()),
        warnings: few_rounds(count, "starts, or stretches of pairs,"),
    })
}

/// How many more starts than `starts` will probably (with a chance of 80 %) decide an undecided
/// cell, with a p-value of `alpha`, if mean and spread are what they seem. `None`:
/// [`ConfidenceSequence::STARTS_MAX`] would not, or there are too few starts to tell.
///
/// Assumes what [`judge_sequence`] assumes.
///
/// # Errors
/// As [`crate::judge_pairs()`].
pub fn starts_missing(
    starts: &[f64],
    known_sd: f64,
    budget: f64,
    alpha: f64,
    sequence: &ConfidenceSequence,
) -> Result<Option<u32>, StatsError> {
    let budget_log = budget_log(budget)?;
    let moments = Moments::of_logs(starts)?;
    let at = Widths { sequence, known_sd, sd: moments.sd };
    let count = u32::try_from(moments.n).unwrap_or(u32::MAX);
    if count < MIN_PAIRS {
        return Ok(None);
    }
    Ok((count..ConfidenceSequence::STARTS_MAX)
        .map(|before| before + 1)
        .find(|&total| {
            at.found(total, alpha, POWER) <= moments.mean.abs()
                || at.fits(total, moments.mean, budget_log) >= POWER
        })
        .map(|total| total - count))
}

/// The rule of the crate, for a mean and half the widths of its intervals; see
/// `decision::interval_verdict`, which has to agree with it.
pub(crate) fn verdict_from_widths(
    mean: f64,
    starts: u32,
    deciding: f64,
    shown: f64,
    budget_log: f64,
) -> Verdict {
    if starts < MIN_PAIRS {
        Verdict::Undecided
    } else if mean.abs() + shown <= budget_log {
        Verdict::Equal
    } else if mean.abs() <= deciding {
        Verdict::Undecided
    } else if mean < 0.0 {
        Verdict::Slower
    } else {
        Verdict::Faster
    }
}

/// See [`Look::p_value`].
pub(crate) fn p_value(mean: f64, deciding: f64) -> f64 {
    match (mean.abs(), deciding) {
        (0.0, _) => 1.0,
        (_, 0.0) => 0.0,
        (far, half) => {
            2.0 * probability_below(-normal_quantile(DECISION_ALPHA) * far / half, f64::INFINITY)
        }
    }
}

/// Half the widths of intervals of starts with a spread.
struct Widths<'a> {
    sequence: &'a ConfidenceSequence,
    known_sd: f64,
    sd: f64,
}

impl Widths<'_> {
    /// For the decision, and as shown.
    fn half(&self, starts: u32) -> (f64, f64) {
        let (deciding, shown) = self.sequence.interval_reach(starts);
        let error = self.sd / f64::from(starts.max(1)).sqrt();
        // What starts have in common is met once, but many looks come near to it: half the level.
        let known = |alpha: f64| self.known_sd * quantile(1.0 - alpha / 4.0, f64::INFINITY);
        // No spread is no doubt, however few lives there are.
        let by_starts = |reach: f64| if error == 0.0 { 0.0 } else { reach * error };
        (
            by_starts(deciding).hypot(known(DECISION_ALPHA)),
            by_starts(shown).hypot(known(1.0 - SHOWN_CONFIDENCE)),
        )
    }

    /// The logarithm of a change that is found with this chance, and a p-value of `alpha`.
    fn found(&self, starts: u32, alpha: f64, power: f64) -> f64 {
        if starts < MIN_PAIRS {
            return f64::INFINITY;
        }
        let error = self.sd / f64::from(starts).sqrt();
        let t = quantile(power, f64::from(starts - 1));
        self.half(starts).0 * times_of(alpha) + t * error.hypot(self.known_sd)
    }

    /// The chance that the interval shown lies within ±`budget_log`.
    fn fits(&self, starts: u32, mean: f64, budget_log: f64) -> f64 {
        let room = budget_log - self.half(starts).1;
        let error = self.sd / f64::from(starts).sqrt();
        if room < 0.0 || error == 0.0 {
            return if mean.abs() <= room { 1.0 } else { 0.0 };
        }
        let degrees = f64::from(starts - 1);
        probability_below((room - mean) / error, degrees)
            - probability_below((-room - mean) / error, degrees)
    }
}

/// How far the ends of an interval are that errs in `alpha`, in standard errors.
fn normal_quantile(alpha: f64) -> f64 {
    quantile(1.0 - alpha / 2.0, f64::INFINITY)
}

/// So many times the half width that decides, a p-value is `alpha`; see [`Look::p_value`].
fn times_of(alpha: f64) -> f64 {
    normal_quantile(alpha) / normal_quantile(DECISION_ALPHA)
}

/// What all looks up to this one may err, as a share of the chance to.
fn spent(starts: u32, horizon: u32) -> f64 {
    let before = MIN_PAIRS - 1;
    if starts <= horizon {
        let way = f64::from(starts - before) / f64::from(horizon - before);
        return SPENT_AT_HORIZON * way.powf(SPENDING_POWER);
    }
    SPENT_AT_HORIZON + SPENT_BEYOND * (1.0 - f64::from(horizon) / f64::from(starts))
}

/// The two-sided p-value below which each look excludes the truth.
///
/// The sum of the starts walks on a lattice; what lies beyond the bound of a look has been stopped
/// there and walks no further. What a bound on the lattice leaves unspent, the next look has.
fn chances(spent: impl Fn(u32) -> f64, alpha: f64) -> Vec<f64> {
    let weights: Vec<f64> =
        (0..=2 * REACH).map(|step| normal_weight(step.abs_diff(REACH))).collect();
    // Mass by place; the middle is zero.
    let mut mass = vec![1.0];
    let (mut gone, mut chances) = (0.0, Vec::new());
    for starts in 1..=ConfidenceSequence::STARTS_MAX {
        mass = within(moved(&mass, &weights), FAR * f64::from(starts).sqrt());
        if starts < MIN_PAIRS {
            continue;
        }
        let may_go = alpha * spent(starts) - gone;
        if may_go <= 0.0 {
            chances.push(0.0);
            continue;
        }
        let middle = mass.len() / 2;
        let mut leaving = 0.0;
        let mut bound = middle + 1;
        while bound > 1 && leaving + 2.0 * mass[middle + bound - 1] <= may_go {
            bound -= 1;
            leaving += 2.0 * mass[middle + bound];
        }
        gone += leaving;
        mass = mass[middle + 1 - bound..middle + bound].to_vec();
        // Each place of the lattice stands for what is nearer to it than to others.
        let edge = (bound as f64 - 0.5) * STEP / f64::from(starts).sqrt();
        chances.push(2.0 * probability_below(-edge, f64::INFINITY));
    }
    chances
}

fn normal_weight(steps: usize) -> f64 {
    let far = steps as f64 * STEP;
    (-far * far / 2.0).exp() * STEP / (2.0 * std::f64::consts::PI).sqrt()
}

/// The distances in standard errors that these p-values are of.
fn reaches(chances: &[f64]) -> Vec<f64> {
    chances
        .iter()
        .enumerate()
        .map(|(index, &chance)| {
            if chance > 0.0 {
                quantile(1.0 - chance / 2.0, (index + MIN_PAIRS as usize - 1) as f64)
            } else {
                f64::INFINITY
            }
        })
        .collect()
}

/// The masses that lie no farther from the middle than so many standard deviations of a value.
fn within(mut mass: Vec<f64>, far: f64) -> Vec<f64> {
    let beyond = (mass.len() / 2).saturating_sub((far / STEP).ceil() as usize);
    mass.truncate(mass.len() - beyond);
    mass.drain(..beyond);
    mass
}

/// The masses after one more value.
fn moved(mass: &[f64], weights: &[f64]) -> Vec<f64> {
    let mut moved = vec![0.0; mass.len() + 2 * REACH];
    for (place, &mass) in mass.iter().enumerate() {
        for (target, weight) in moved[place..].iter_mut().zip(weights) {
            *target += mass * weight;
        }
    }
    moved
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two-sided p-values at some looks of three sequences at 1 %, by SciPy 1.17: the recursion of
    /// Armitage, McPherson and Rowe with 801 points, `scipy.stats.norm` for steps and tails.
    const EXACT: &[(u32, u32, f64)] = &[
        (6, 3, 8.750000e-04),
        (6, 5, 3.237624e-03),
        (6, 6, 4.503294e-03),
        (6, 12, 4.351861e-04),
        (12, 3, 2.213594e-04),
        (12, 8, 1.674768e-03),
        (12, 12, 3.139414e-03),
        (12, 24, 3.400154e-04),
        (30, 5, 1.569552e-04),
        (30, 17, 9.884142e-04),
        (30, 30, 2.349145e-03),
        (30, 60, 2.772170e-04),
    ];

    #[test]
    fn chances_agree_with_a_finer_recursion() {
        for &(horizon, starts, truth) in EXACT {
            let ours = chances(|starts| spent(starts, horizon), DECISION_ALPHA)
                [(starts - MIN_PAIRS) as usize];
            assert!(
                (ours / truth - 1.0).abs() < 0.1,
                "{horizon} {starts}: {ours:e}, not {truth:e}"
            );
        }
    }

    #[test]
    fn a_single_look_would_be_narrower_and_more_starts_never_hurt() {
        for horizon in [4, 12, 48, 80] {
            let sequence = ConfidenceSequence::new(horizon);
            let at_horizon = sequence.interval_reach(horizon).0;
            let once = quantile(0.995, f64::from(horizon - 1));
            assert!(
                once < at_horizon && at_horizon < 1.25 * once,
                "{horizon}: {at_horizon} {once}"
            );
            let half = |starts: u32| sequence.interval_reach(starts).0 / f64::from(starts).sqrt();
            for starts in MIN_PAIRS + 1..=ConfidenceSequence::STARTS_MAX {
                assert!(half(starts) < half(starts - 1) * 1.15, "{horizon}: {starts}");
            }
        }
    }

    /// What was judged once is not looked at again, and all looks after it cost a fifth.
    #[test]
    fn beyond_a_judgement_there_is_little_left() {
        for judged in [1, 2, 3, 12, 100] {
            let sequence = ConfidenceSequence::after_judgement(judged);
            for starts in 1..=judged {
                assert_eq!(sequence.interval_reach(starts).0, f64::INFINITY, "{judged}: {starts}");
            }
            let first = (judged + 1).max(MIN_PAIRS);
            let once = quantile(0.995, f64::from(first - 1));
            assert!(sequence.interval_reach(first).0 > once, "{judged}");
            assert!(sequence.interval_reach(ConfidenceSequence::STARTS_MAX).0.is_finite());
        }
    }

    #[test]
    fn too_few_starts_are_undecided_and_no_spread_is_exact() {
        let sequence = ConfidenceSequence::new(12);
        let look = |starts: &[f64]| judge_sequence(starts, 0.0, 0.02, &sequence).unwrap();
        assert_eq!(look(&[-0.5, -0.5]).verdict, Verdict::Undecided);
        assert_eq!(look(&[-0.5, -0.5]).looks, 0);
        assert_eq!(look(&[-0.5; 3]).verdict, Verdict::Slower);
        assert_eq!(look(&[0.0; 3]).verdict, Verdict::Equal);
        assert!(judge_sequence(&[], 0.0, 0.02, &sequence).is_err());
    }

    #[test]
    fn verdicts_mirror() {
        let forth: Vec<f64> = (0..9).map(|start| 0.05 + 0.001 * f64::from(start % 3)).collect();
        let back: Vec<f64> = forth.iter().map(|log| -log).collect();
        let sequence = ConfidenceSequence::new(12);
        let forth = judge_sequence(&forth, 0.003, 0.02, &sequence).unwrap();
        let back = judge_sequence(&back, 0.003, 0.02, &sequence).unwrap();
        assert_eq!((forth.verdict, back.verdict), (Verdict::Faster, Verdict::Slower));
        assert!((forth.rqps.low * back.rqps.high - 1.0).abs() < 1e-12);
        assert_eq!(forth.looks, 7);
    }
}
