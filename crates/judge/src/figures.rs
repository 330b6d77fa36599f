//! A figure of each round, and what the pairs of a cell say of it.

use dbdyno_model::experiment::{FigureOutcome, RoundFigure, Sign};
use dbdyno_model::{Arm, Cell, Interval, PerArm, Round, RunPair, Verdict};
use dbdyno_stats as stats;

use crate::error::JudgeError;
use crate::judged::judgement_terms;
use crate::rate_unit::CellUnits;
use crate::variance::nested_figures;

/// What an engine has carried out, by its own count.
const STATEMENTS: &str = "engine.statements";

/// What these pairs of a cell say of a figure.
pub(crate) fn figure_outcome(
    run: RunPair<'_>,
    cell: &Cell,
    pairs: &[PerArm<&Round>],
    figure: &RoundFigure,
) -> Result<FigureOutcome, JudgeError> {
    let units = CellUnits::of_cell(run.plan(), cell);
    let telling = telling(pairs, figure);
    let pairs = if telling.is_empty() { pairs } else { &telling };
    let value = |round: &Round| of_round(round, figure, &units);
    let mean = |arm: Arm| {
        let all: Option<Vec<f64>> = pairs.iter().map(|pair| value(pair[arm])).collect();
        all.map(|all| all.iter().sum::<f64>() / all.len() as f64)
    };
    let [base, test] = [mean(Arm::Base), mean(Arm::Test)];
    let judged = of_values(run, pairs, &value)?;
    let (ratio, sign) = judged.map_or((None, None), |judged| (judged.ratio, judged.sign));
    Ok(FigureOutcome { figure: figure.clone(), cell: cell.clone(), base, test, ratio, sign })
}

/// What pairs say of a number that each round has.
pub(crate) struct FigureJudgement {
    /// Test ÷ base; `None` where one of them is zero.
    pub(crate) ratio: Option<Interval>,
    /// What is proved.
    pub(crate) sign: Option<Sign>,
}

/// Judges a number of each round; `None` where a round does not have it.
pub(crate) fn of_values(
    run: RunPair<'_>,
    pairs: &[PerArm<&Round>],
    value: &dyn Fn(&Round) -> Option<f64>,
) -> Result<Option<FigureJudgement>, JudgeError> {
    let of = |arm: Arm| -> Option<Vec<f64>> { pairs.iter().map(|pair| value(pair[arm])).collect() };
    let (Some(base), Some(test)) = (of(Arm::Base), of(Arm::Test)) else { return Ok(None) };
    let said = |round: &Round| value(round).unwrap_or(f64::NAN);
    let nest = nested_figures(pairs, |pair| (said(pair.test) / said(pair.base)).ln());
    if !nest.iter().flatten().flatten().all(|log| log.is_finite()) {
        return Ok(Some(FigureJudgement { ratio: None, sign: where_some_are_zero(&base, &test) }));
    }
    let judged = stats::judge_nested(&nest, &judgement_terms(run.plan()))?;
    Ok(Some(FigureJudgement { ratio: Some(judged.rqps), sign: sign_of(judged.verdict) }))
}

/// The pairs in which both rounds say something of a figure. What a counter is for each of another
/// is not known of a round that has neither; such pairs are left out where they are no more than a
/// quarter, for then what is left still stands for the cell.
fn telling<'r>(pairs: &[PerArm<&'r Round>], figure: &RoundFigure) -> Vec<PerArm<&'r Round>> {
    let RoundFigure::Counter(one, each) = figure else { return pairs.to_vec() };
    let seen = pairs.iter().filter(|pair| was_seen(pair.base) && was_seen(pair.test));
    let seen: Vec<_> = seen.copied().collect();
    let Some(each) = each else { return seen };
    let has_one =
        |round: &Round| [one, each].into_iter().any(|name| round.readings.get(name) != Some(0.0));
    let having = seen.iter().filter(|pair| has_one(pair.base) && has_one(pair.test));
    let having: Vec<_> = having.copied().collect();
    if 4 * having.len() >= 3 * seen.len() { having } else { seen }
}

/// Whether the looks at an engine's counters saw any of its work: where the host held up the one at
/// the beginning until the end, they saw none, whatever was done.
fn was_seen(round: &Round) -> bool {
    round.readings.get(STATEMENTS) != Some(0.0)
}

/// Proved where all pairs say the same, and are so many that coins would do so less often than
/// verdicts may be wrong: the sign test, of both sides.
fn where_some_are_zero(base: &[f64], test: &[f64]) -> Option<Sign> {
    let all =
        |holds: fn(f64, f64) -> bool| base.iter().zip(test).all(|(base, test)| holds(*base, *test));
    let by_chance = 2.0 * 0.5_f64.powi(base.len() as i32);
    if by_chance > stats::DECISION_ALPHA {
        return None;
    }
    if all(|base, test| base == test) {
        Some(Sign::Equal)
    } else if all(|base, test| base < test) {
        Some(Sign::More)
    } else {
        all(|base, test| base > test).then_some(Sign::Less)
    }
}

/// A figure of a round; `None` where it was not observed.
pub(crate) fn of_round(round: &Round, figure: &RoundFigure, units: &CellUnits) -> Option<f64> {
    let each = |sum: Option<u64>| {
        (round.statements > 0).then(|| sum.map(|sum| sum as f64 / round.done_statements()))?
    };
    match figure {
        RoundFigure::Rate => Some(units.rate(round)),
        RoundFigure::ServerCpu => each(round.cost.server_cpu_ns).map(|ns| ns / 1e3),
        RoundFigure::Switches => each(round.cost.server_context_switches),
        RoundFigure::P99 => Some(round.latency.quantile_ns(0.99) as f64 / 1e3),
        RoundFigure::Retries => {
            (round.events > 0).then(|| round.retries as f64 / round.events as f64)
        }
        RoundFigure::Counter(one, each) => {
            let per = match each {
                Some(name) => round.readings.get(name)?,
                None => round.done_statements(),
            };
            (per > 0.0).then(|| round.readings.get(one).map(|one| one / per))?
        }
    }
}

/// What a verdict says of the direction.
pub(crate) fn sign_of(verdict: Verdict) -> Option<Sign> {
    match verdict {
        Verdict::Faster => Some(Sign::More),
        Verdict::Slower => Some(Sign::Less),
        Verdict::Equal => Some(Sign::Equal),
        Verdict::Undecided => None,
    }
}
