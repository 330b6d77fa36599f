//! What is judged of the pairs of a cell, however it was driven.

use dbdyno_model::{
    Cell, Driving, PerArm, Plan, Round, RunPair, Stopping, VerdictMeasure, Warning,
};
use dbdyno_stats::{self as stats, JudgementTerms};

use crate::error::JudgeError;
use crate::exclusion::exclude_unusual;
use crate::pairs::pairs_of;
use crate::rate_unit::CellUnits;
use crate::response::{self, CellJudgement};
use crate::variance::{self, nested_figures};

/// The pairs of rounds that a verdict rests on, and what the reader must know of those that are
/// left out.
pub(crate) fn judged_pairs<'a>(
    run: RunPair<'a>,
    cell: &Cell,
) -> (Vec<PerArm<&'a Round>>, u32, Option<Warning>) {
    match run.plan().question.driving {
        Driving::Closed | Driving::Thinking(_) | Driving::Open(_) => {
            let sifted = exclude_unusual(run, cell, pairs_of(run, cell));
            (sifted.pairs, sifted.dropped, sifted.warning)
        }
        Driving::Search(slo) => {
            let (pairs, without) = response::ends_of_searches(run, cell, slo);
            (pairs, 0, (without > 0).then(|| response::nothing_found(without, slo)))
        }
    }
}

/// By what the cells of a run are judged.
pub(crate) fn judgement_terms(plan: &Plan) -> JudgementTerms {
    JudgementTerms {
        between_sd: stats::BETWEEN_STARTS_SD,
        budget: plan.rule.budget,
        interval: plan.rule.interval,
        seed: plan.question.seed,
    }
}

/// What a single judgement says of the pairs of a cell.
///
/// # Errors
/// Rates that cannot be judged.
pub(crate) fn judge_pairs(
    run: RunPair<'_>,
    units: &CellUnits,
    pairs: &[PerArm<&Round>],
) -> Result<CellJudgement, JudgeError> {
    let terms = judgement_terms(run.plan());
    let by_rate = |rate: &dyn Fn(&Round) -> f64, measure| -> Result<CellJudgement, JudgeError> {
        let nest = nested_figures(pairs, |pair| (rate(pair.test) / rate(pair.base)).ln());
        let mut judgement = stats::judge_nested(&nest, &terms)?;
        if matches!(run.plan().rule.stopping, Stopping::Known { .. }) {
            judgement.rqps = stats::beside_looks(&judgement);
        }
        let levels = variance::levels(&nest, pairs, judgement.basis.interval, terms.between_sd);
        Ok(CellJudgement { levels, ..CellJudgement::by_rate(judgement, measure) })
    };
    match run.plan().question.driving {
        Driving::Closed => by_rate(&|round| units.rate(round), VerdictMeasure::Rate),
        Driving::Thinking(_) | Driving::Open(_) => {
            let rqps = by_rate(&|round| units.rate(round), VerdictMeasure::Rate)?.rqps;
            CellJudgement::by_response(pairs, rqps, &terms)
        }
        Driving::Search(_) => by_rate(&response::offered_rate, VerdictMeasure::MaxRate),
    }
}
