//! Whether what was expected of an experiment is what was found.
//!
//! A figure is worked out for each round; the two of a pair give a log-ratio, and pairs are judged
//! as rates are: in their lives, by what servers of the same build differ in anyway, at the same
//! level. Of the rate itself the verdict of the cell is taken, of what is judged beside it that of
//! the metric ([`crate::metrics`]), and where something withholds the verdict of the cell, no other
//! figure is believed either. Where a figure is zero in an arm there is no ratio, and all pairs
//! have to say the same: eight of them at least, as a sign test of 1 % wants.

use dbdyno_model::experiment::{Figure, Outcome, Sign};
use dbdyno_model::{
    Arm, Cell, CellComparison, Comparison, MetricVerdict, PerArm, Round, Run, Severity, Verdict,
};
use dbdyno_stats as stats;

use crate::error::LabError;
use crate::judge::{judged_pairs, terms};
use crate::nest::nested;
use crate::yardstick::Yardstick;

/// What an engine has carried out, by its own count.
const STATEMENTS: &str = "engine.statements";

/// What was found of a figure, in each cell of what a run has found.
///
/// # Errors
/// Figures that cannot be judged, which only a damaged store can hold.
pub fn outcomes(
    run: &Run,
    comparison: &Comparison,
    figure: &Figure,
) -> Result<Vec<Outcome>, LabError> {
    let of_cell = |cell: &CellComparison| {
        let (pairs, ..) = judged_pairs(run, &cell.cell);
        let mut outcome = of_pairs(run, &cell.cell, &pairs, figure)?;
        if *figure == Figure::Rate {
            (outcome.ratio, outcome.sign) = (Some(cell.rqps), sign_of(cell.verdict));
        }
        if let Some(told) = cell.metrics.iter().find(|told| told.metric.figure() == *figure) {
            (outcome.ratio, outcome.sign) = (Some(told.ratio), sign_of_metric(told.verdict));
        }
        if cell.warnings.iter().any(|warning| warning.severity == Severity::Blocks) {
            outcome.sign = None;
        }
        Ok(outcome)
    };
    comparison.cells.iter().map(of_cell).collect()
}

fn sign_of(verdict: Verdict) -> Option<Sign> {
    match verdict {
        Verdict::Faster => Some(Sign::More),
        Verdict::Slower => Some(Sign::Less),
        Verdict::Equal => Some(Sign::Equal),
        Verdict::Undecided => None,
    }
}

fn sign_of_metric(verdict: MetricVerdict) -> Option<Sign> {
    match verdict {
        MetricVerdict::Higher => Some(Sign::More),
        MetricVerdict::Lower => Some(Sign::Less),
        MetricVerdict::Equal => Some(Sign::Equal),
        MetricVerdict::Undecided => None,
    }
}

/// What these pairs of a cell say of a figure.
pub(crate) fn of_pairs(
    run: &Run,
    cell: &Cell,
    pairs: &[PerArm<&Round>],
    figure: &Figure,
) -> Result<Outcome, LabError> {
    let yardstick = Yardstick::of(&run.plan, cell);
    let was_seen = |pair: &&PerArm<&Round>| Arm::BOTH.into_iter().all(|arm| was_seen(pair[arm]));
    let seen: Vec<PerArm<&Round>> = pairs.iter().filter(was_seen).copied().collect();
    let pairs = match figure {
        Figure::Counter(..) if !seen.is_empty() => &seen,
        _ => pairs,
    };
    let of = |arm: Arm| -> Option<Vec<f64>> {
        pairs.iter().map(|pair| of_round(pair[arm], figure, &yardstick)).collect()
    };
    let figures: PerArm<Option<Vec<f64>>> = PerArm::from_fn(of);
    let mean = |figures: &Option<Vec<f64>>| {
        figures.as_ref().map(|all| all.iter().sum::<f64>() / all.len() as f64)
    };
    let [base, test] = [mean(&figures.base), mean(&figures.test)];
    let mut outcome =
        Outcome { figure: figure.clone(), cell: cell.clone(), base, test, ratio: None, sign: None };
    let (Some(base), Some(test)) = (figures.base, figures.test) else { return Ok(outcome) };
    let said = |round: &Round| of_round(round, figure, &yardstick).unwrap_or(f64::NAN);
    let nest = nested(pairs, |pair| (said(pair.test) / said(pair.base)).ln());
    if nest.iter().flatten().flatten().all(|log| log.is_finite()) {
        let judged = stats::judge_nested(&nest, &terms(&run.plan))?;
        (outcome.ratio, outcome.sign) = (Some(judged.rqps), sign_of(judged.verdict));
    } else {
        outcome.sign = where_some_are_zero(&base, &test);
    }
    Ok(outcome)
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
pub(crate) fn of_round(round: &Round, figure: &Figure, yardstick: &Yardstick) -> Option<f64> {
    let each = |sum: Option<u64>| {
        (round.statements > 0).then(|| sum.map(|sum| sum as f64 / round.done_statements()))?
    };
    match figure {
        Figure::Rate => Some(yardstick.rate(round)),
        Figure::ServerCpu => each(round.cost.server_cpu_ns).map(|ns| ns / 1e3),
        Figure::Switches => each(round.cost.server_context_switches),
        Figure::P99 => Some(round.latency.quantile_ns(0.99) as f64 / 1e3),
        Figure::Retries => (round.events > 0).then(|| round.retries as f64 / round.events as f64),
        Figure::Counter(one, each) => {
            let per = match each {
                Some(name) => round.readings.get(name)?,
                None => round.done_statements(),
            };
            (per > 0.0).then(|| round.readings.get(one).map(|one| one / per))?
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    fn found(figure: &str, change: impl Fn(&mut Round)) -> Outcome {
        let run = sample::of_pairs(20, "point-query", "sqlite:", 1, |round| change(round));
        of_run(&run, figure)
    }

    fn of_run(run: &Run, figure: &str) -> Outcome {
        let comparison = crate::compare(run).unwrap();
        outcomes(run, &comparison, &Figure::read(figure)).unwrap().remove(0)
    }

    /// What the table does not say, no expectation is held to have said.
    #[test]
    fn a_cell_without_a_verdict_proves_no_sign() {
        let mut run = sample::of_pairs(20, "point-query", "sqlite:", 1, |round| {
            let faster = u64::from(round.key.arm == Arm::Test) + 1;
            round.statements *= faster;
            round.events *= faster;
        });
        let mut comparison = crate::compare(&run).unwrap();
        let sign = |run: &Run, comparison: &Comparison, figure: &str| {
            outcomes(run, comparison, &Figure::read(figure)).unwrap()[0].sign
        };
        comparison.cells[0].warnings.clear();
        comparison.cells[0].verdict = Verdict::Faster;
        assert_eq!(sign(&run, &comparison, "rate"), Some(Sign::More));
        comparison.cells[0].verdict = Verdict::Undecided;
        assert_eq!(sign(&run, &comparison, "rate"), None, "as the table has it");
        for round in &mut run.rounds {
            let woken = if round.key.arm == Arm::Base { 1.0 } else { 2.0 };
            round.readings.set("one", Some(1.0));
            round.readings.set("woken", Some(woken));
        }
        assert_eq!(sign(&run, &comparison, "woken / one"), Some(Sign::More));
        comparison.cells[0].warnings.push(dbdyno_model::Warning::new(Severity::Blocks, "x", "y"));
        assert_eq!(sign(&run, &comparison, "woken / one"), None, "the rounds are not believed");
    }

    #[test]
    fn of_a_metric_the_verdict_of_the_table_is_taken() {
        let run = sample::of_pairs(20, "point-query", "sqlite:", 1, |_| {});
        let mut comparison = crate::compare(&run).unwrap();
        let sign =
            |comparison: &Comparison| outcomes(&run, comparison, &Figure::P99).unwrap()[0].sign;
        assert_eq!(sign(&comparison), Some(Sign::Less));
        comparison.cells[0].metrics[0].verdict = MetricVerdict::Undecided;
        assert_eq!(sign(&comparison), None, "among many it was taken back");
    }

    #[test]
    fn a_round_in_which_the_engine_was_not_seen_says_nothing() {
        let of = |unseen: u32| {
            found("engine.views / engine.statements", |round| {
                let is_seen = round.key.arm == Arm::Base || round.key.pair >= unseen;
                let views = if round.key.arm == Arm::Base { 100.0 } else { 50.0 };
                let times = if is_seen { 1.0 } else { 0.0 };
                round.readings.set("engine.views", Some(times * views));
                round.readings.set("engine.statements", Some(times * 100.0));
            })
        };
        assert_eq!((of(1).test, of(1).sign), (Some(0.5), Some(Sign::Less)));
        assert_eq!((of(20).test, of(20).sign), (None, None), "never seen");
    }

    #[test]
    fn a_counter_is_judged_as_a_rate_is() {
        let half = found("wakes / commits", |round| {
            let wakes = if round.key.arm == Arm::Base { 194.0 } else { 100.0 };
            round.readings.set("wakes", Some(wakes + f64::from(round.key.pair % 3)));
            round.readings.set("commits", Some(100.0));
        });
        assert_eq!(half.sign, Some(Sign::Less));
        let ratio = half.ratio.unwrap();
        assert!(ratio.low < 0.52 && 0.50 < ratio.high, "{ratio:?}");
        assert!((half.base.unwrap() - 1.95).abs() < 0.01, "{half:?}");
    }

    #[test]
    fn what_was_not_observed_has_no_sign() {
        let nowhere = found("wakes", |_| {});
        assert_eq!((nowhere.base, nowhere.sign), (None, None));
    }

    #[test]
    fn zeros_speak_where_all_pairs_agree() {
        let deadlocks = |base: f64, test: f64| {
            found("deadlocks", move |round| {
                let many = if round.key.arm == Arm::Base { base } else { test };
                round.readings.set("deadlocks", Some(many));
            })
        };
        assert_eq!(deadlocks(0.0, 7.0).sign, Some(Sign::More));
        assert_eq!(deadlocks(7.0, 0.0).sign, Some(Sign::Less));
        assert_eq!(deadlocks(0.0, 0.0).sign, Some(Sign::Equal));
        let now_and_then = found("deadlocks", |round| {
            let is_one = round.key.pair == 3 && round.key.arm == Arm::Test;
            round.readings.set("deadlocks", Some(if is_one { 1.0 } else { 0.0 }));
        });
        assert_eq!(now_and_then.sign, None, "one in twenty pairs is no proof");
    }

    /// Three coins fall alike once in four throws.
    #[test]
    fn few_pairs_that_agree_are_no_proof() {
        let of = |pairs: u32| {
            let run = sample::of_pairs(pairs, "point-query", "sqlite:", 1, |round| {
                let many = if round.key.arm == Arm::Base { 0.0 } else { 7.0 };
                round.readings.set("deadlocks", Some(many));
            });
            of_run(&run, "deadlocks").sign
        };
        assert_eq!([3, 7, 8].map(of), [None, None, Some(Sign::More)]);
    }
}
