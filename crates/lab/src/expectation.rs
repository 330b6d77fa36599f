//! Whether what was expected of an experiment is what was found.
//!
//! A figure is worked out for each round; the two of a pair give a log-ratio, and pairs are judged
//! as rates are: by what servers of the same build differ in anyway, at the same level. Where a
//! figure is zero in an arm there is no ratio, and the means have to speak for themselves.

use dbdyno_model::experiment::{Figure, Outcome, Sign};
use dbdyno_model::{Arm, Cell, PerArm, Round, Run, Verdict};
use dbdyno_stats as stats;

use crate::error::LabError;
use crate::judge::judged_pairs;
use crate::yardstick::Yardstick;

/// What was found of a figure, in each cell that was measured.
///
/// # Errors
/// Figures that cannot be judged, which only a damaged store can hold.
pub fn outcomes(run: &Run, figure: &Figure) -> Result<Vec<Outcome>, LabError> {
    let mut outcomes = Vec::new();
    for cell in run.plan.cells() {
        let (pairs, ..) = judged_pairs(run, &cell);
        if !pairs.is_empty() {
            outcomes.push(of_pairs(run, &cell, &pairs, figure)?);
        }
    }
    Ok(outcomes)
}

/// What these pairs of a cell say of a figure.
pub(crate) fn of_pairs(
    run: &Run,
    cell: &Cell,
    pairs: &[PerArm<&Round>],
    figure: &Figure,
) -> Result<Outcome, LabError> {
    let yardstick = Yardstick::of(&run.plan, cell);
    let of = |arm: Arm| -> Option<Vec<f64>> {
        pairs.iter().map(|pair| of_round(pair[arm], figure, &yardstick)).collect()
    };
    let figures: PerArm<Option<Vec<f64>>> = PerArm::from_fn(of);
    let mean = |figures: &Option<Vec<f64>>| {
        figures.as_ref().map(|all| all.iter().sum::<f64>() / all.len() as f64)
    };
    let [base, test] = [mean(&figures.base), mean(&figures.test)];
    let (figure, cell) = (figure.clone(), cell.clone());
    let mut outcome = Outcome { figure, cell, base, test, ratio: None, sign: None };
    let (Some(base), Some(test)) = (figures.base, figures.test) else { return Ok(outcome) };
    let logs: Vec<f64> = base.iter().zip(&test).map(|(base, test)| (test / base).ln()).collect();
    if logs.iter().all(|log| log.is_finite()) {
        let judged = stats::judge(&logs, run.plan.budget)?;
        outcome.ratio = Some(judged.rqps);
        outcome.sign = match judged.verdict {
            Verdict::Faster => Some(Sign::More),
            Verdict::Slower => Some(Sign::Less),
            Verdict::Equal => Some(Sign::Equal),
            Verdict::Undecided => None,
        };
    } else {
        outcome.sign = where_some_are_zero(&base, &test);
    }
    Ok(outcome)
}

/// Proved where at least [`stats::MIN_PAIRS`] pairs all say the same: by chance that is seldom.
fn where_some_are_zero(base: &[f64], test: &[f64]) -> Option<Sign> {
    let all =
        |holds: fn(f64, f64) -> bool| base.iter().zip(test).all(|(base, test)| holds(*base, *test));
    if base.len() < stats::MIN_PAIRS as usize {
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

fn of_round(round: &Round, figure: &Figure, yardstick: &Yardstick) -> Option<f64> {
    let each = |sum: Option<u64>| {
        (round.statements > 0).then(|| sum.map(|sum| sum as f64 / round.statements as f64))?
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
                None => round.statements as f64,
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
        outcomes(&run, &Figure::read(figure)).unwrap().remove(0)
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
}
