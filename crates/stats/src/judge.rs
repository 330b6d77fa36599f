//! From numbers to a verdict. The rule is drawn in the essay of the crate.

use dbdyno_model::{
    Basis, Interval, IntervalChoice, IntervalKind, Level, Severity, Verdict, Warning,
};

use crate::error::StatsError;
use crate::lives::{self, Terms};
use crate::paired::{ratio, welch_estimate};
use crate::power::{MIN_PAIRS, POWER, detectable, pairs_missing};
use crate::rank::{self, Ranked};
use crate::replicates::{Located, Nest};
use crate::student::Moments;
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
    /// Two-sided p-value of "the ratio is 1"; below [`DECISION_ALPHA`] exactly where the interval
    /// of that level excludes 1.
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
    let located = Located::T(moments.estimate());
    let pairs = u32::try_from(moments.n).unwrap_or(u32::MAX);
    let verdict = verdict(&located, pairs, budget_log, DECISION_ALPHA)?;
    let missing = || pairs_missing(&moments, 0.0, budget_log, DECISION_ALPHA, SHOWN_CONFIDENCE);
    let mut warnings = few_rounds(pairs, "pairs of rounds");
    warnings.extend(suspicion::of_pairs(log_ratios, &moments));
    Ok(Judgement {
        verdict,
        rqps: ratio(&located, SHOWN_CONFIDENCE)?,
        p_value: located.p_value(),
        basis: Basis {
            interval: IntervalKind::T,
            replicates: Level::Pair,
            count: pairs,
            why: "asked for".to_owned(),
        },
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
/// stored runs. The rule is that of [`judge`], with Welch's interval, or that of Mann and Whitney
/// where `interval` asks for Hodges–Lehmann and there are enough rounds for it.
///
/// Assumes what [`crate::welch`] and [`crate::mann_whitney`] assume, which the rounds cannot
/// confirm; a caution says so in every result. Pairs that are missing are not given: more rounds do
/// not help against a host that changed between two runs.
///
/// # Errors
/// As [`judge`], for either arm.
pub fn judge_unpaired(
    base_logs: &[f64],
    test_logs: &[f64],
    budget: f64,
    interval: IntervalChoice,
) -> Result<Judgement, StatsError> {
    let budget_log = budget_log(budget)?;
    let (base, test) = (Moments::of_logs(base_logs)?, Moments::of_logs(test_logs)?);
    let rounds = u32::try_from(base.n.min(test.n)).unwrap_or(u32::MAX);
    let by_ranks = interval == IntervalChoice::Given(IntervalKind::HodgesLehmann)
        && rank::has_two_samples(base.n, test.n, 1.0 - DECISION_ALPHA);
    let (located, interval, why) = if by_ranks {
        let ranked = Ranked::two_samples(base_logs, test_logs);
        (Located::Ranks(ranked), IntervalKind::HodgesLehmann, "asked for")
    } else {
        let welch = welch_estimate(&base, &test);
        (Located::T(welch), IntervalKind::Welch, "the rounds were not paired")
    };
    Ok(Judgement {
        verdict: verdict(&located, rounds, budget_log, DECISION_ALPHA)?,
        rqps: ratio(&located, SHOWN_CONFIDENCE)?,
        p_value: located.p_value(),
        basis: Basis { interval, replicates: Level::Pair, count: rounds, why: why.to_owned() },
        pairs_missing: None,
        detectable: None,
        warnings: unpaired_warnings(rounds, "rounds in each arm"),
    })
}

/// What speaks against any two runs.
pub(crate) fn unpaired_warnings(count: u32, what: &str) -> Vec<Warning> {
    let mut warnings = few_rounds(count, what);
    warnings.push(Warning::new(
        Severity::Caution,
        "unpaired-rounds",
        "These rounds were not measured in turn, so any drift of the host between the two runs \
         looks like a difference between the arms. Compare both servers in one run to be sure.",
    ));
    warnings
}

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
    /// [`Judgement`].
    pub detectable: Vec<Option<f64>>,
    /// For an undecided cell: how many more pairs would let one measure prove a difference, or all
    /// of them be decided.
    pub pairs_missing: Option<u32>,
    /// What speaks against the assumptions.
    pub warnings: Vec<Warning>,
}

/// Judges one cell by several measures of *how fast*: `measures[m]` are the `ln(test ÷ base)` of
/// measure `m` by filling of the tables and life of the servers, positive where the test arm is
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
pub fn judge_jointly(measures: &[&Nest], terms: &Terms) -> Result<JointJudgement, StatsError> {
    let alpha = DECISION_ALPHA / measures.len() as f64;
    let mut judged = Vec::with_capacity(measures.len());
    let (mut detectable, mut warnings) = (Vec::with_capacity(measures.len()), Vec::new());
    let (mut to_differ, mut to_all) = (None::<u32>, Some(0));
    let mut surest: Option<(f64, Basis)> = None;
    for nest in measures {
        let alone = lives::judge_at(nest, terms, alpha)?;
        if surest.as_ref().is_none_or(|(p_value, _)| alone.p_value < *p_value) {
            surest = Some((alone.p_value, alone.basis));
        }
        judged.push((alone.rqps, alone.verdict));
        // No measure is equal within nothing: what is missing then would prove a difference.
        let differing = lives::judge_at(nest, &Terms { budget: 0.0, ..*terms }, alpha)?;
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

pub(crate) fn verdict(
    located: &Located,
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
