//! From numbers to a verdict. The rule is drawn in the essay of the crate.

use dbdyno_model::{
    Basis, ExperimentLevel, IntervalChoice, IntervalKind, Severity, Verdict, Warning,
};

use crate::confidence::{DECISION_ALPHA, SHOWN_CONFIDENCE};
use crate::decision::{Judgement, budget_log, few_rounds, interval_verdict};
use crate::error::StatsError;
use crate::paired::{ratio, welch_estimate};
use crate::power::{MIN_PAIRS, POWER, detectable_change, pairs_missing};
use crate::rank::{self, SignedRanks};
use crate::replicates::LocationEstimate;
use crate::student::Moments;
use crate::suspicion;

/// Judges one cell from `log_ratios`, one `ln(test ÷ base)` for each pair *in the order of
/// measuring*, against `budget`, the largest difference that counts as equal (0.02 = 2 %).
///
/// Assumes independent pairs whose mean is close to normal; [`Judgement::warnings`] says where the
/// pairs speak against it. Fewer than [`MIN_PAIRS`] pairs are always undecided. Pairs without any
/// spread are taken as exact, as counts of a deterministic engine are.
///
/// # Errors
/// No pairs, a log-ratio that is not finite or beyond ±50, a budget outside 0 ≤ budget < 1.
pub fn judge_pairs(log_ratios: &[f64], budget: f64) -> Result<Judgement, StatsError> {
    let budget_log = budget_log(budget)?;
    let moments = Moments::of_logs(log_ratios)?;
    let located = LocationEstimate::T(moments.mean_estimate());
    let pairs = u32::try_from(moments.n).unwrap_or(u32::MAX);
    let verdict = interval_verdict(&located, pairs, budget_log, DECISION_ALPHA)?;
    let missing = || pairs_missing(&moments, 0.0, budget_log, DECISION_ALPHA, SHOWN_CONFIDENCE);
    let mut warnings = few_rounds(pairs, "pairs of rounds");
    warnings.extend(suspicion::of_pairs(log_ratios, &moments));
    Ok(Judgement {
        verdict,
        rqps: ratio(&located, SHOWN_CONFIDENCE)?,
        p_value: located.p_value(),
        basis: Basis {
            interval: IntervalKind::T,
            replicates: ExperimentLevel::Pair,
            count: pairs,
            why: "asked for".to_owned(),
        },
        pairs_missing: match verdict {
            Verdict::Undecided if pairs >= 2 => missing(),
            _ => None,
        },
        detectable: (pairs >= MIN_PAIRS)
            .then(|| detectable_change(moments.sd, pairs, DECISION_ALPHA, POWER)),
        warnings,
    })
}

/// Judges one cell from the logarithms of the rates of rounds that were not paired, as those of two
/// stored runs. The rule is that of [`judge_pairs`], with Welch's interval, or that of Mann and
/// Whitney where `interval` asks for Hodges–Lehmann and there are enough rounds for it.
///
/// Assumes what [`crate::welch`] and [`crate::mann_whitney`] assume, which the rounds cannot
/// confirm; a caution says so in every result. Pairs that are missing are not given: more rounds do
/// not help against a host that changed between two runs.
///
/// # Errors
/// As [`judge_pairs`], for either arm.
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
        let ranked = SignedRanks::two_samples(base_logs, test_logs);
        (LocationEstimate::Ranks(ranked), IntervalKind::HodgesLehmann, "asked for")
    } else {
        let welch = welch_estimate(&base, &test);
        (LocationEstimate::T(welch), IntervalKind::Welch, "the rounds were not paired")
    };
    Ok(Judgement {
        verdict: interval_verdict(&located, rounds, budget_log, DECISION_ALPHA)?,
        rqps: ratio(&located, SHOWN_CONFIDENCE)?,
        p_value: located.p_value(),
        basis: Basis {
            interval,
            replicates: ExperimentLevel::Pair,
            count: rounds,
            why: why.to_owned(),
        },
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
