//! From several measures of the same pairs to one verdict.

use dbdyno_model::{Basis, Interval, Severity, Verdict, Warning};

use crate::confidence::DECISION_ALPHA;
use crate::error::StatsError;
use crate::replicates::Nest;
use crate::starts::{self, JudgementTerms};

/// What a cell concludes from several measures of the same pairs.
#[derive(Clone, Debug, PartialEq)]
pub struct JointJudgement {
    /// The answer.
    pub verdict: Verdict,
    /// Two-sided p-value of "the arms are equal": the smallest one, times the number of measures.
    pub p_value: f64,
    /// What the interval of the measure with that p-value rests on.
    pub basis: Basis,
    /// For each measure its ratio, test ÷ base, with its interval of 95 %, and what this measure
    /// says by itself.
    pub measures: Vec<(Interval, Verdict)>,
    /// For each measure the smallest change that its share of the chances finds, as in
    /// [`crate::Judgement`].
    pub detectable: Vec<Option<f64>>,
    /// For an undecided cell: how many more pairs would let one measure prove a difference, or all
    /// of them be decided.
    pub pairs_missing: Option<u32>,
    /// What speaks against the assumptions.
    pub warnings: Vec<Warning>,
}

/// Judges one cell by several measures of *how fast*: `measures[m]` are the `ln(test ÷ base)` of
/// measure `m` by filling of the tables and start of the servers, positive where the test arm is
/// faster.
///
/// *Slower* or *faster* is what one measure proves and none refutes. There are several chances to
/// be wrong, so each measure has only its share of [`DECISION_ALPHA`] (Bonferroni): a cell in which
/// nothing changed is called slower or faster as rarely as by one measure, however the measures
/// hang together. *Equal* needs every measure to be equal, which needs no such share (an
/// intersection-union test: Berger and Hsu, "Bioequivalence Trials, Intersection-Union Tests and
/// Equivalence Confidence Sets", Statistical Science 11, 1996). Measures that contradict each other
/// leave the cell undecided, with a caution.
///
/// Assumes of each measure what [`crate::judge_nested`] assumes.
///
/// # Errors
/// [`StatsError::Empty`] without a measure; else as [`crate::judge_nested`], for any of them.
pub fn judge_jointly(
    measures: &[&Nest],
    terms: &JudgementTerms,
) -> Result<JointJudgement, StatsError> {
    let alpha = DECISION_ALPHA / measures.len() as f64;
    let mut judged = Vec::with_capacity(measures.len());
    let (mut detectable, mut warnings) = (Vec::with_capacity(measures.len()), Vec::new());
    let (mut to_differ, mut to_all) = (None::<u32>, Some(0));
    let mut surest: Option<(f64, Basis)> = None;
    for nest in measures {
        let alone = starts::judge_at(nest, terms, alpha)?;
        if surest.as_ref().is_none_or(|(p_value, _)| alone.p_value < *p_value) {
            surest = Some((alone.p_value, alone.basis));
        }
        judged.push((alone.rqps, alone.verdict));
        // No measure is equal within nothing: what is missing then would prove a difference.
        let differing = starts::judge_at(nest, &JudgementTerms { budget: 0.0, ..*terms }, alpha)?;
        to_differ = differing.pairs_missing.into_iter().chain(to_differ).min();
        let is_open = alone.verdict == Verdict::Undecided;
        let to_this = if is_open { alone.pairs_missing } else { Some(0) };
        to_all = to_all.zip(to_this).map(|(all, this)| all.max(this));
        detectable.push(alone.detectable);
        warnings.extend(alone.warnings);
    }
    let (p_value, basis) = surest.ok_or(StatsError::Empty)?;
    let p_value = (p_value * measures.len() as f64).min(1.0);
    warnings.dedup();
    let says = |verdict| judged.iter().any(|(_, said)| *said == verdict);
    let verdict = match (says(Verdict::Slower), says(Verdict::Faster)) {
        (true, false) => Verdict::Slower,
        (false, true) => Verdict::Faster,
        (false, false) if !says(Verdict::Undecided) => Verdict::Equal,
        (contradicted, _) => {
            warnings.extend(contradicted.then(|| {
                let text = "one measure proves the test arm slower and another one proves it \
                     faster: read them one by one";
                Warning::new(Severity::Caution, "measures-contradict", text)
            }));
            Verdict::Undecided
        }
    };
    let missing = to_all.filter(|more| *more > 0).into_iter().chain(to_differ).min();
    let pairs_missing = missing.filter(|_| verdict == Verdict::Undecided);
    let measures = judged;
    Ok(JointJudgement { verdict, p_value, basis, measures, detectable, pairs_missing, warnings })
}
