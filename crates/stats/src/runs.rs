//! Two runs of which results ended at least one.
//!
//! ```text
//!   run a   ├──────┼──────┤        its interval holds whenever it ended: of all its looks, or
//!   run b       ├───┼───┤          Student's t where it was judged once
//!   b − a   mean ± √(half a² + half b²)
//! ```
//!
//! Who stops where an interval first excludes 1 stops where the noise is small by chance, and
//! Welch's test of two such runs errs more often than it says. The interval of a sequence is as
//! wide as that takes. Squares may be added where errors are normal and independent; that results
//! end the runs does no more harm than the sequences leave room for, which is counted
//! (`docs/CALIBRATION.md`, looking after every start).

use dbdyno_model::{Basis, ExperimentLevel, Interval, IntervalKind};

use crate::confidence::{DECISION_ALPHA, SHOWN_CONFIDENCE};
use crate::decision::{Judgement, budget_log};
use crate::error::StatsError;
use crate::sequence::{ConfidenceSequence, p_value, verdict_from_widths};
use crate::single_interval::unpaired_warnings;
use crate::student::Moments;

/// The starts of a run: the mean of the log-ratios of each, in the order of measuring.
#[derive(Clone, Copy, Debug)]
pub struct RunStarts<'a> {
    /// Of [`crate::judge_sequence`], where that could end the run.
    pub starts: &'a [f64],
    /// The looks that could; `None` where the run was judged once.
    pub looks: Option<&'a ConfidenceSequence>,
}

/// Judges the ratio of two ratios, test ÷ base, of two runs with the same base arm.
///
/// Assumes starts that are independent with a mean close to normal, and looks that were chosen
/// before the first of them; and that what changed between the runs changed both arms alike.
/// Fewer than [`crate::MIN_PAIRS`] lives in a run are undecided.
///
/// # Errors
/// As [`crate::judge_pairs()`], for either run.
pub fn judge_runs(
    base: RunStarts<'_>,
    test: RunStarts<'_>,
    budget: f64,
) -> Result<Judgement, StatsError> {
    let budget_log = budget_log(budget)?;
    let (base, test) = (Mean::of(base)?, Mean::of(test)?);
    let starts = base.starts.min(test.starts);
    let mean = test.mean - base.mean;
    let deciding = base.deciding.hypot(test.deciding);
    let shown = base.shown.hypot(test.shown);
    Ok(Judgement {
        verdict: verdict_from_widths(mean, starts, deciding, shown, budget_log),
        rqps: Interval {
            estimate: mean.exp(),
            low: (mean - shown).exp(),
            high: (mean + shown).exp(),
        },
        p_value: p_value(mean, deciding),
        basis: Basis {
            interval: IntervalKind::Sequence,
            replicates: ExperimentLevel::Start,
            count: starts,
            why: "results could end a run".to_owned(),
        },
        pairs_missing: None,
        detectable: None,
        warnings: unpaired_warnings(starts, "starts in each run"),
    })
}

/// The mean of a run, and how far from it the truth may lie.
struct Mean {
    mean: f64,
    starts: u32,
    deciding: f64,
    shown: f64,
}

impl Mean {
    fn of(run: RunStarts<'_>) -> Result<Mean, StatsError> {
        let told = run.starts.len().min(ConfidenceSequence::STARTS_MAX as usize);
        let starts = if run.looks.is_some() { &run.starts[..told] } else { run.starts };
        let moments = Moments::of_logs(starts)?;
        let count = u32::try_from(moments.n).unwrap_or(u32::MAX);
        let (deciding, shown) = match run.looks {
            Some(sequence) => sequence.half_widths(moments.sd, count),
            None => {
                let estimate = moments.mean_estimate();
                let half =
                    |confidence| estimate.bounds(confidence).map(|(low, high)| (high - low) / 2.0);
                (half(1.0 - DECISION_ALPHA)?, half(SHOWN_CONFIDENCE)?)
            }
        };
        Ok(Mean { mean: moments.mean, starts: count, deciding, shown })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dbdyno_model::Verdict;

    fn starts(mean: f64, count: u32) -> Vec<f64> {
        (0..count).map(|start| mean + 0.004 * (f64::from(start * 7 % 5) - 2.0)).collect()
    }

    #[test]
    fn runs_that_were_judged_once_have_the_halves_of_student() {
        let (a, b) = (starts(0.0, 10), starts(-0.05, 10));
        let once = |starts| RunStarts { starts, looks: None };
        let judged = judge_runs(once(&a), once(&b), 0.02).unwrap();
        // `scipy.stats.t.ppf(0.975, 9)`, SciPy 1.17.
        let half =
            2.262_157_162_740_992 * Moments::of_logs(&a).unwrap().mean_estimate().standard_error;
        let width = (judged.rqps.high / judged.rqps.low).ln();
        assert!((width - 2.0 * 2_f64.sqrt() * half).abs() < 1e-9, "{width} {half}");
        assert_eq!(judged.verdict, Verdict::Slower);
    }

    #[test]
    fn looks_cost_width_and_swapping_the_runs_mirrors_the_verdict() {
        let sequence = ConfidenceSequence::new(10);
        let (a, b) = (starts(0.0, 10), starts(-0.05, 10));
        let looked = |starts| RunStarts { starts, looks: Some(&sequence) };
        let once = |starts| RunStarts { starts, looks: None };
        let forth = judge_runs(looked(&a), looked(&b), 0.02).unwrap();
        let back = judge_runs(looked(&b), looked(&a), 0.02).unwrap();
        assert_eq!((forth.verdict, back.verdict), (Verdict::Slower, Verdict::Faster));
        assert!((forth.rqps.low * back.rqps.high - 1.0).abs() < 1e-12);
        let half = |judged: &Judgement| judged.rqps.high / judged.rqps.estimate;
        let mixed = judge_runs(once(&a), looked(&b), 0.02).unwrap();
        let single = judge_runs(once(&a), once(&b), 0.02).unwrap();
        assert!(half(&single) < half(&mixed) && half(&mixed) < half(&forth));
    }

    #[test]
    fn what_is_equal_and_what_is_too_little_is_said() {
        let sequence = ConfidenceSequence::new(10);
        let (a, b) = (starts(0.0, 10), starts(0.001, 10));
        let looked = |starts| RunStarts { starts, looks: Some(&sequence) };
        assert_eq!(judge_runs(looked(&a), looked(&b), 0.03).unwrap().verdict, Verdict::Equal);
        let few = judge_runs(looked(&a[..2]), looked(&b), 0.03).unwrap();
        assert_eq!(few.verdict, Verdict::Undecided);
        assert!(few.warnings.iter().any(|warning| warning.code == "few-rounds"));
        assert!(judge_runs(looked(&[]), looked(&b), 0.03).is_err());
    }
}
