//! From numbers to a verdict. The rule is drawn in the essay of the crate.

use dbdyno_model::{Interval, Severity, Verdict, Warning};

use crate::error::StatsError;
use crate::lives;
use crate::paired::{ratio, welch_estimate};
use crate::power::{MIN_PAIRS, POWER, detectable, pairs_missing};
use crate::student::{Estimate, Moments};
use crate::suspicion;

/// The confidence of every interval that is shown.
pub const SHOWN_CONFIDENCE: f64 = 0.95;
/// How often a cell in which nothing changed may be called slower or faster.
pub const DECISION_ALPHA: f64 = 0.01;

/// What a cell concludes, and how much that is worth.
#[derive(Clone, Debug, PartialEq)]
pub struct Judgement {
    /// The answer.
    pub verdict: Verdict,
    /// Relative rate, test ÷ base, with its interval of 95 %.
    pub rqps: Interval,
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

/// Judges one cell from `log_ratios`, one `ln(test ÷ base)` for each pair *in the order of
/// measuring*, against `budget`, the largest difference that counts as equal (0.02 = 2 %).
///
/// Assumes independent pairs whose mean is close to normal; [`Judgement::warnings`] says where the
/// pairs speak against it. Fewer than [`MIN_PAIRS`] pairs are always undecided. Pairs without any
/// spread are taken as exact, as counts of a deterministic engine are.
///
/// # Errors
/// No pairs, a log-ratio that is not finite or beyond ±50, a budget outside 0 ≤ budget < 1.
pub fn judge(log_ratios: &[f64], budget: f64) -> Result<Judgement, StatsError> {
    let budget_log = budget_log(budget)?;
    let moments = Moments::of_logs(log_ratios)?;
    let estimate = moments.estimate();
    let pairs = u32::try_from(moments.n).unwrap_or(u32::MAX);
    let verdict = verdict(&estimate, pairs, budget_log, DECISION_ALPHA)?;
    let missing = || pairs_missing(&moments, budget_log, DECISION_ALPHA, SHOWN_CONFIDENCE);
    let mut warnings = few_rounds(pairs, "pairs of rounds");
    warnings.extend(suspicion::of_pairs(log_ratios, &moments));
    Ok(Judgement {
        verdict,
        rqps: ratio(&estimate, SHOWN_CONFIDENCE)?,
        pairs_missing: match verdict {
            Verdict::Undecided if pairs >= 2 => missing(),
            _ => None,
        },
        detectable: (pairs >= MIN_PAIRS)
            .then(|| detectable(moments.sd, pairs, DECISION_ALPHA, POWER)),
        warnings,
    })
}

/// Judges one cell from the logarithms of the rates of rounds that were not paired, as those of two
/// stored runs. The rule is that of [`judge`], with Welch's interval.
///
/// Assumes what [`crate::welch`] assumes, which the rounds cannot confirm; a caution says so in
/// every result. Pairs that are missing are not given: more rounds do not help against a host that
/// changed between two runs.
///
/// # Errors
/// As [`judge`], for either arm.
pub fn judge_unpaired(
    base_logs: &[f64],
    test_logs: &[f64],
    budget: f64,
) -> Result<Judgement, StatsError> {
    let budget_log = budget_log(budget)?;
    let (base, test) = (Moments::of_logs(base_logs)?, Moments::of_logs(test_logs)?);
    let estimate = welch_estimate(&base, &test);
    let rounds = u32::try_from(base.n.min(test.n)).unwrap_or(u32::MAX);
    let mut warnings = few_rounds(rounds, "rounds in each arm");
    warnings.push(Warning::new(
        Severity::Caution,
        "unpaired-rounds",
        "These rounds were not measured in turn, so any drift of the host between the two runs \
         looks like a difference between the arms. Compare both servers in one run to be sure.",
    ));
    Ok(Judgement {
        verdict: verdict(&estimate, rounds, budget_log, DECISION_ALPHA)?,
        rqps: ratio(&estimate, SHOWN_CONFIDENCE)?,
        pairs_missing: None,
        detectable: None,
        warnings,
    })
}

/// What a cell concludes from several measures of the same pairs.
#[derive(Clone, Debug, PartialEq)]
pub struct JointJudgement {
    /// The answer.
    pub verdict: Verdict,
    /// For each measure its ratio, test ÷ base, with its interval of 95 %, and what this measure
    /// says by itself.
    pub measures: Vec<(Interval, Verdict)>,
    /// For an undecided cell: how many more pairs would let the surest measure decide it.
    pub pairs_missing: Option<u32>,
    /// What speaks against the assumptions.
    pub warnings: Vec<Warning>,
}

/// Judges one cell by several measures of *how fast*: `measures[m]` are the `ln(test ÷ base)` of
/// measure `m` by the life of the servers, positive where the test arm is faster; `between_sd` as
/// for [`crate::judge_lives`].
///
/// *Slower* or *faster* is what one measure proves and none refutes. There are several chances to
/// be wrong, so each measure has only its share of [`DECISION_ALPHA`] (Bonferroni): a cell in which
/// nothing changed is called slower or faster as rarely as by one measure, however the measures
/// hang together. *Equal* needs every measure to be equal, which needs no such share (an
/// intersection-union test: Berger and Hsu, "Bioequivalence Trials, Intersection-Union Tests and
/// Equivalence Confidence Sets", Statistical Science 11, 1996). Measures that contradict each other
/// leave the cell undecided, with a caution.
///
/// Assumes of each measure what [`crate::judge_lives`] assumes.
///
/// # Errors
/// As [`crate::judge_lives`], for any measure.
pub fn judge_jointly(
    measures: &[Vec<Vec<f64>>],
    between_sd: f64,
    budget: f64,
) -> Result<JointJudgement, StatsError> {
    let alpha = DECISION_ALPHA / measures.len() as f64;
    let mut judged = Vec::with_capacity(measures.len());
    let (mut missing, mut warnings) = (None::<u32>, Vec::new());
    for lives in measures {
        let alone = lives::judge_at(lives, between_sd, budget, alpha)?;
        judged.push((alone.rqps, alone.verdict));
        missing = alone.pairs_missing.into_iter().chain(missing).min();
        warnings.extend(alone.warnings);
    }
    warnings.dedup();
    let says = |verdict| judged.iter().any(|(_, said)| *said == verdict);
    let verdict = match (says(Verdict::Slower), says(Verdict::Faster)) {
        (true, false) => Verdict::Slower,
        (false, true) => Verdict::Faster,
        (false, false) if !says(Verdict::Undecided) && !judged.is_empty() => Verdict::Equal,
        (contradicted, _) => {
            warnings.extend(contradicted.then(|| {
                let text = "one measure proves the test arm slower and another one proves it \
                     faster: read them one by one";
                Warning::new(Severity::Caution, "measures-contradict", text)
            }));
            Verdict::Undecided
        }
    };
    let pairs_missing = missing.filter(|_| verdict == Verdict::Undecided);
    Ok(JointJudgement { verdict, measures: judged, pairs_missing, warnings })
}

pub(crate) fn verdict(
    estimate: &Estimate,
    rounds: u32,
    budget_log: f64,
    alpha: f64,
) -> Result<Verdict, StatsError> {
    if rounds < MIN_PAIRS {
        return Ok(Verdict::Undecided);
    }
    let (low, high) = estimate.bounds(SHOWN_CONFIDENCE)?;
    if low >= -budget_log && high <= budget_log {
        return Ok(Verdict::Equal);
    }
    let (low, high) = estimate.bounds(1.0 - alpha)?;
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
