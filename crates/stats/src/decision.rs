//! What an interval decides.

use dbdyno_model::{Basis, Interval, Severity, Verdict, Warning};

use crate::confidence::SHOWN_CONFIDENCE;
use crate::error::StatsError;
use crate::power::MIN_PAIRS;
use crate::replicates::LocationEstimate;

/// What a cell concludes, and how much that is worth.
#[derive(Clone, Debug, PartialEq)]
pub struct Judgement {
    /// The answer.
    pub verdict: Verdict,
    /// Relative rate, test ÷ base, with its interval of 95 %.
    pub rqps: Interval,
    /// Two-sided p-value of "the ratio is 1"; below [`crate::DECISION_ALPHA`] exactly where the
    /// interval of that level excludes 1.
    pub p_value: f64,
    /// What the interval rests on.
    pub basis: Basis,
    /// For an undecided cell: how many more pairs would decide it with a chance of 80 %, if the
    /// present estimate is true. `None`: it is decided, or 1 000 pairs would not decide it, or
    /// fewer than two pairs say nothing of the noise.
    pub pairs_missing: Option<u32>,
    /// The smallest change of rQPS that this many pairs of this noise find with a chance of 80 %,
    /// as a share. `None` for fewer than [`MIN_PAIRS`] pairs.
    pub detectable: Option<f64>,
    /// What speaks against the assumptions.
    pub warnings: Vec<Warning>,
}

/// The verdict of a location by its intervals. `sequence::verdict_from_widths` and
/// `several_questions::family_verdicts` have the rule for *equal* as well: change it in all three.
pub(crate) fn interval_verdict(
    located: &LocationEstimate,
    rounds: u32,
    budget_log: f64,
    alpha: f64,
) -> Result<Verdict, StatsError> {
    if rounds < MIN_PAIRS {
        return Ok(Verdict::Undecided);
    }
    let (low, high) = located.bounds(SHOWN_CONFIDENCE)?;
    if low >= -budget_log && high <= budget_log {
        return Ok(Verdict::Equal);
    }
    let (low, high) = located.bounds(1.0 - alpha)?;
    Ok(if high < 0.0 {
        Verdict::Slower
    } else if low > 0.0 {
        Verdict::Faster
    } else {
        Verdict::Undecided
    })
}

/// Half the width of the band of equality: the budget bounds a loss, its mirror image a gain.
pub(crate) fn budget_log(budget: f64) -> Result<f64, StatsError> {
    if (0.0..1.0).contains(&budget) {
        Ok(-(-budget).ln_1p())
    } else {
        Err(StatsError::Budget(budget))
    }
}

pub(crate) fn few_rounds(rounds: u32, what: &str) -> Vec<Warning> {
    if rounds >= MIN_PAIRS {
        return Vec::new();
    }
    vec![Warning::new(
        Severity::Blocks,
        "few-rounds",
        format!(
            "Only {rounds} {what} were measured, and fewer than {MIN_PAIRS} never give a verdict. \
             Ask for more rounds."
        ),
    )]
}
