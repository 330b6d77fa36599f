//! The level above the pair: the start of a server, from one start to the next.
//!
//! ```text
//!   start 0            start 1            start 2        base and test are both started anew
//!   BT TB BT TB  ┆  TB BT TB BT  ┆  BT TB TB BT
//!   └─ mean ──┘     └─ mean ──┘     └─ mean ──┘
//!        ·               ·               ·            one value a start: these are the replicates
//! ```
//!
//! Two processes of the same build on the same data are not equally fast: where their memory came
//! to lie stays with them as long as they live, and pairs within one start all carry the same
//! error. More pairs make the answer surer about *these two processes*, not about the two servers
//! (the levels of Kalibera and Jones, "Rigorous Benchmarking in Reasonable Time", ISMM 2013). So
//! where servers were started several times, the values of their starts are what is judged, and
//! where tables were filled several times, those of the fillings; where servers lived once, the
//! spread between starts is assumed and added to the interval.

use dbdyno_model::{ExperimentLevel, IntervalChoice, IntervalKind, Severity, Verdict, Warning};

use crate::confidence::{DECISION_ALPHA, SHOWN_CONFIDENCE};
use crate::decision::{Judgement, budget_log, few_rounds, interval_verdict};
use crate::error::StatsError;
use crate::paired::ratio;
use crate::power::{MIN_PAIRS, POWER, detectable_change, pairs_missing};
use crate::replicates::{self, Nest, Replicates};
use crate::student::{Moments, quantile};
use crate::suspicion;

/// Standard deviation of the log-ratio of two arms of the same build that is assumed where they
/// were started only once: measured in the 400 starts of 50 runs of MariaDB 10.11 against itself
/// (`docs/CALIBRATION.md`), whose means had a standard deviation of 0.0166 for each start where
/// their pairs explained 0.0075.
pub const BETWEEN_STARTS_SD: f64 = 0.015;

/// By what a cell is judged.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct JudgementTerms {
    /// Standard deviation of a start's true log-ratio, assumed where there are fewer than
    /// [`MIN_PAIRS`] starts.
    pub between_sd: f64,
    /// The largest difference that counts as equal (0.02 = 2 %).
    pub budget: f64,
    /// Which interval is wanted.
    pub interval: IntervalChoice,
    /// Of resamples, where there are any.
    pub seed: u64,
}

/// Judges one cell from `starts`, the log-ratios of its pairs by the start of the servers in which
/// they were measured, in the order of measuring: [`judge_nested`] with one filling of the tables
/// and the automatic interval.
///
/// Assumes what [`judge_nested`] assumes.
///
/// # Errors
/// As [`crate::judge_pairs()`].
pub fn judge_starts(
    starts: &[Vec<f64>],
    between_sd: f64,
    budget: f64,
) -> Result<Judgement, StatsError> {
    let terms = JudgementTerms { between_sd, budget, interval: IntervalChoice::Auto, seed: 0 };
    judge_nested(&[starts.to_vec()], &terms)
}

/// Judges one cell from the log-ratios of its pairs, by filling of the tables and start of the
/// servers; see [`crate::judge_pairs()`] for the rule.
///
/// Assumes that the replicates, which are those of the highest level that was repeated
/// [`MIN_PAIRS`] times, are independent with a mean close to normal (`t`, `robust`), or what
/// [`crate::bca`] and [`crate::signed_rank`] assume; and that no level above them has a spread of
/// its own. With too few starts, that `between_sd` holds for these servers.
///
/// # Errors
/// As [`crate::judge_pairs()`].
pub fn judge_nested(nest: &Nest, terms: &JudgementTerms) -> Result<Judgement, StatsError> {
    judge_at(nest, terms, DECISION_ALPHA)
}

/// [`judge_nested`] at another level than [`DECISION_ALPHA`].
pub(crate) fn judge_at(
    nest: &Nest,
    terms: &JudgementTerms,
    alpha: f64,
) -> Result<Judgement, StatsError> {
    let pairs: Vec<f64> = nest.iter().flatten().flatten().copied().collect();
    let all = Moments::of_logs(&pairs)?;
    let replicates =
        replicates::cell_replicates(nest, terms.between_sd, terms.interval, terms.seed, alpha)?;
    let is_robust =
        matches!(replicates.basis.interval, IntervalKind::Robust | IntervalKind::HodgesLehmann);
    let mut judgement = match replicates.basis.replicates {
        ExperimentLevel::Pair => by_assumption(replicates, terms, alpha)?,
        ExperimentLevel::Start | ExperimentLevel::Filling => {
            by_replicates(replicates, pairs.len(), terms, alpha)?
        }
    };
    let suspicions = suspicion::of_pairs(&pairs, &all).into_iter();
    // Heavy tails are what such an interval is for.
    let told = |warning: &Warning| !(is_robust && warning.code == suspicion::OUTLIER);
    judgement.warnings.extend(suspicions.filter(told));
    Ok(judgement)
}

/// Starts or fillings are the replicates.
fn by_replicates(
    replicates: Replicates,
    pairs: usize,
    terms: &JudgementTerms,
    alpha: f64,
) -> Result<Judgement, StatsError> {
    let budget_log = budget_log(terms.budget)?;
    let Replicates { located, moments, basis, .. } = replicates;
    let verdict = interval_verdict(&located, basis.count, budget_log, alpha)?;
    let pairs_in_each = u32::try_from(pairs.div_ceil(moments.n)).unwrap_or(u32::MAX);
    let missing = || pairs_missing(&moments, 0.0, budget_log, alpha, SHOWN_CONFIDENCE);
    Ok(Judgement {
        verdict,
        rqps: ratio(&located, SHOWN_CONFIDENCE)?,
        p_value: located.p_value(),
        pairs_missing: match verdict {
            Verdict::Undecided => missing().map(|more| more.saturating_mul(pairs_in_each)),
            _ => None,
        },
        detectable: Some(detectable_change(moments.sd, basis.count, alpha, POWER)),
        basis,
        warnings: Vec::new(),
    })
}

/// The spread of the pairs, and that of starts which were not lived.
fn by_assumption(
    replicates: Replicates,
    terms: &JudgementTerms,
    alpha: f64,
) -> Result<Judgement, StatsError> {
    let budget_log = budget_log(terms.budget)?;
    let Replicates { located, moments, estimate, known_sd, basis } = replicates;
    let pairs = basis.count;
    let verdict = interval_verdict(&located, pairs, budget_log, alpha)?;
    let missing = || pairs_missing(&moments, known_sd, budget_log, alpha, SHOWN_CONFIDENCE);
    let missing = if verdict == Verdict::Undecided { missing() } else { None };
    let mut warnings = few_rounds(pairs, "pairs of rounds");
    if terms.between_sd > 0.0 && warnings.is_empty() {
        let is_hopeless = verdict == Verdict::Undecided && missing.is_none();
        warnings.push(assumed(terms.between_sd, is_hopeless));
    }
    Ok(Judgement {
        verdict,
        rqps: ratio(&located, SHOWN_CONFIDENCE)?,
        p_value: located.p_value(),
        pairs_missing: missing,
        detectable: (pairs >= MIN_PAIRS).then(|| {
            let t =
                quantile(1.0 - alpha / 2.0, estimate.degrees) + quantile(POWER, estimate.degrees);
            (t * estimate.standard_error).exp_m1()
        }),
        basis,
        warnings,
    })
}

/// `is_hopeless`: more pairs of the same two processes would not decide it.
fn assumed(between_sd: f64, is_hopeless: bool) -> Warning {
    let hopeless =
        if is_hopeless { " No number of further pairs is likely to decide it." } else { "" };
    let text = format!(
        "The arms were started once, and two starts of one server differ by about {:.1} %; the \
         interval includes this as an assumption.{hopeless} For servers that dbdyno starts or \
         opens, --restarts measures it.",
        between_sd * 100.0
    );
    Warning::new(Severity::Note, "one-start", text)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Noise without a generator: the fractional parts of multiples of the golden ratio, spread
    /// evenly over ±`width`.
    fn noise(index: usize, width: f64) -> f64 {
        (index as f64 * 0.618_033_988_749_895).fract().mul_add(2.0 * width, -width)
    }

    fn starts(count: usize, pairs: usize, between: f64, effect: f64) -> Vec<Vec<f64>> {
        let start = |start: usize| {
            let own = effect + noise(start + 1, between);
            (0..pairs).map(|pair| own + noise(start * pairs + pair, 0.05)).collect()
        };
        (0..count).map(start).collect()
    }

    #[test]
    fn one_start_of_many_pairs_is_no_proof_about_the_server() {
        // A start that is off by 2 %, measured so often that its pairs have no doubt.
        let off = starts(1, 2000, 0.0, 0.02);
        assert_eq!(crate::judge_pairs(&off[0], 0.005).unwrap().verdict, Verdict::Faster);
        let judged = judge_starts(&off, BETWEEN_STARTS_SD, 0.005).unwrap();
        assert_eq!(judged.verdict, Verdict::Undecided);
        let told = judged.warnings.iter().find(|warning| warning.code == "one-start").unwrap();
        assert!(told.text.contains("No number of further pairs"), "{}", told.text);
        assert_eq!(judged.pairs_missing, None);
        // Ten pairs that seem to lose 10 % lack pairs, and not starts.
        let short = judge_starts(&starts(1, 10, 0.0, -0.04), BETWEEN_STARTS_SD, 0.0).unwrap();
        assert_eq!(short.verdict, Verdict::Undecided);
        assert_eq!(short.pairs_missing, None, "two standard deviations of a start");
        let short = judge_starts(&starts(1, 4, 0.0, -0.07), BETWEEN_STARTS_SD, 0.0).unwrap();
        assert_eq!(short.verdict, Verdict::Undecided);
        assert!(short.pairs_missing.is_some(), "{short:?}");
        // What is far beyond the spread of starts is found nevertheless.
        let judged = judge_starts(&starts(1, 2000, 0.0, -0.08), BETWEEN_STARTS_SD, 0.02).unwrap();
        assert_eq!(judged.verdict, Verdict::Slower);
    }

    #[test]
    fn starts_are_the_replicates_where_there_are_several() {
        let judged = judge_starts(&starts(8, 20, 0.01, 0.0), 9.9, 0.02).unwrap();
        assert_ne!(judged.verdict, Verdict::Faster);
        assert_ne!(judged.verdict, Verdict::Slower);
        let means: Vec<f64> =
            starts(8, 20, 0.01, 0.0).iter().map(|start| start.iter().sum::<f64>() / 20.0).collect();
        assert_eq!(judged.rqps, crate::judge_pairs(&means, 0.02).unwrap().rqps);
        let judged = judge_starts(&starts(8, 20, 0.01, -0.05), 9.9, 0.02).unwrap();
        assert_eq!(judged.verdict, Verdict::Slower);
        assert!(judged.warnings.is_empty(), "{:?}", judged.warnings);
    }

    #[test]
    fn missing_starts_are_told_as_pairs() {
        let judged = judge_starts(&starts(4, 20, 0.03, 0.02), 9.9, 0.001).unwrap();
        assert_eq!(judged.verdict, Verdict::Undecided);
        assert_eq!(judged.pairs_missing.map(|pairs| pairs % 20), Some(0));
        assert!(judge_starts(&[vec![]], 0.01, 0.02).is_err());
    }

    /// Swapping the arms turns a verdict into its opposite.
    #[test]
    fn verdicts_mirror() {
        for count in [1, 2, 8] {
            let forth = starts(count, 30, 0.01, 0.06);
            let back: Vec<Vec<f64>> =
                forth.iter().map(|start| start.iter().map(|log| -log).collect()).collect();
            let (forth, back) = (
                judge_starts(&forth, 0.01, 0.02).unwrap(),
                judge_starts(&back, 0.01, 0.02).unwrap(),
            );
            assert_eq!((forth.verdict, back.verdict), (Verdict::Faster, Verdict::Slower));
            assert!((forth.rqps.low * back.rqps.high - 1.0).abs() < 1e-12);
        }
    }
}
