//! Whether what was expected of an experiment is what was found.
//!
//! A figure is worked out for each round; the two of a pair give a log-ratio, and pairs are judged
//! as rates are: in their starts, by what servers of the same build differ in anyway, at the same
//! level. Of the rate itself the verdict of the cell is taken, of what is judged beside it that of
//! the metric ([`crate::metrics`]), and where something withholds the verdict of the cell, no other
//! figure is believed either. Where a figure is zero in an arm there is no ratio, and all pairs
//! have to say the same: eight of them at least, as a sign test of 1 % wants.

use dbdyno_model::experiment::{FigureOutcome, RoundFigure, Sign};
use dbdyno_model::{CellComparison, Comparison, MetricVerdict, RunPair, Severity};

use crate::error::JudgeError;
use crate::figures::{figure_outcome, sign_of};
use crate::judged::judged_pairs;

/// What was found of a figure, in each cell of what a run has found.
///
/// # Errors
/// Figures that cannot be judged, which only a damaged store can hold.
pub fn figure_outcomes(
    run: RunPair<'_>,
    comparison: &Comparison,
    figure: &RoundFigure,
) -> Result<Vec<FigureOutcome>, JudgeError> {
    let of_cell = |cell: &CellComparison| {
        let (pairs, ..) = judged_pairs(run, &cell.cell);
        let mut outcome = figure_outcome(run, &cell.cell, &pairs, figure)?;
        if *figure == RoundFigure::Rate {
            (outcome.ratio, outcome.sign) = (Some(cell.rqps), sign_of(cell.verdict));
        }
        if let Some(told) = cell.metrics.iter().find(|told| told.metric.round_figure() == *figure) {
            (outcome.ratio, outcome.sign) = (Some(told.ratio), sign_of_metric(told.verdict));
        }
        if cell.warnings.iter().any(|warning| warning.severity == Severity::Blocks) {
            outcome.sign = None;
        }
        Ok(outcome)
    };
    comparison.cells.iter().map(of_cell).collect()
}

fn sign_of_metric(verdict: MetricVerdict) -> Option<Sign> {
    match verdict {
        MetricVerdict::Higher => Some(Sign::More),
        MetricVerdict::Lower => Some(Sign::Less),
        MetricVerdict::Equal => Some(Sign::Equal),
        MetricVerdict::Undecided => None,
    }
}

#[cfg(test)]
mod tests {
    use dbdyno_model::{ArmIndex, Round, Run, Verdict};

    use super::*;
    use crate::sample;

    fn found(figure: &str, change: impl Fn(&mut Round)) -> FigureOutcome {
        let run = sample::of_pairs(20, "point-query", "sqlite:", 1, |round| change(round));
        of_run(&run, figure)
    }

    fn of_run(run: &Run, figure: &str) -> FigureOutcome {
        let comparison = crate::compare_run(run.first_pair()).unwrap();
        figure_outcomes(run.first_pair(), &comparison, &RoundFigure::read(figure))
            .unwrap()
            .remove(0)
    }

    /// What the table does not say, no expectation is held to have said.
    #[test]
    fn a_cell_without_a_verdict_proves_no_sign() {
        let mut run = sample::of_pairs(20, "point-query", "sqlite:", 1, |round| {
            let faster = u64::from(round.key.arm == ArmIndex::TEST) + 1;
            round.statements *= faster;
            round.events *= faster;
        });
        let mut comparison = crate::compare_run(run.first_pair()).unwrap();
        let sign = |run: &Run, comparison: &Comparison, figure: &str| {
            figure_outcomes(run.first_pair(), comparison, &RoundFigure::read(figure)).unwrap()[0]
                .sign
        };
        comparison.cells[0].warnings.clear();
        comparison.cells[0].verdict = Verdict::Faster;
        assert_eq!(sign(&run, &comparison, "rate"), Some(Sign::More));
        comparison.cells[0].verdict = Verdict::Undecided;
        assert_eq!(sign(&run, &comparison, "rate"), None, "as the table has it");
        for round in &mut run.rounds {
            let woken = if round.key.arm == ArmIndex::BASE { 1.0 } else { 2.0 };
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
        let mut comparison = crate::compare_run(run.first_pair()).unwrap();
        let sign = |comparison: &Comparison| {
            figure_outcomes(run.first_pair(), comparison, &RoundFigure::P99).unwrap()[0].sign
        };
        assert_eq!(sign(&comparison), Some(Sign::Less));
        comparison.cells[0].metrics[0].verdict = MetricVerdict::Undecided;
        assert_eq!(sign(&comparison), None, "among many it was taken back");
    }

    #[test]
    fn a_round_in_which_the_engine_was_not_seen_says_nothing() {
        let of = |unseen: u32| {
            found("engine.views / engine.statements", |round| {
                let is_seen = round.key.arm == ArmIndex::BASE || round.key.pair >= unseen;
                let views = if round.key.arm == ArmIndex::BASE { 100.0 } else { 50.0 };
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
            let wakes = if round.key.arm == ArmIndex::BASE { 194.0 } else { 100.0 };
            round.readings.set("wakes", Some(wakes + f64::from(round.key.pair % 3)));
            round.readings.set("commits", Some(100.0));
        });
        assert_eq!(half.sign, Some(Sign::Less));
        let ratio = half.ratio.unwrap();
        assert!(ratio.low < 0.52 && 0.50 < ratio.high, "{ratio:?}");
        assert!((half.base.unwrap() - 1.95).abs() < 0.01, "{half:?}");
    }

    /// The parallelism of a log is not known before its first thousand transactions.
    #[test]
    fn a_round_with_none_of_either_counter_says_nothing_of_their_ratio() {
        let of = |without: u32| {
            found("units / steps", |round| {
                let is_base = round.key.arm == ArmIndex::BASE;
                let many = if is_base && round.key.pair < without { 0.0 } else { 10.0 };
                round.readings.set("units", Some(if is_base { 2.0 } else { 1.0 } * many));
                round.readings.set("steps", Some(many));
            })
        };
        assert_eq!(
            (of(5).base, of(5).sign),
            (Some(2.0), Some(Sign::Less)),
            "a quarter is left out"
        );
        assert_eq!((of(6).base, of(6).sign), (None, None), "too few are left");
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
                let many = if round.key.arm == ArmIndex::BASE { base } else { test };
                round.readings.set("deadlocks", Some(many));
            })
        };
        assert_eq!(deadlocks(0.0, 7.0).sign, Some(Sign::More));
        assert_eq!(deadlocks(7.0, 0.0).sign, Some(Sign::Less));
        assert_eq!(deadlocks(0.0, 0.0).sign, Some(Sign::Equal));
        let now_and_then = found("deadlocks", |round| {
            let is_one = round.key.pair == 3 && round.key.arm == ArmIndex::TEST;
            round.readings.set("deadlocks", Some(if is_one { 1.0 } else { 0.0 }));
        });
        assert_eq!(now_and_then.sign, None, "one in twenty pairs is no proof");
    }

    /// Three coins fall alike once in four throws.
    #[test]
    fn few_pairs_that_agree_are_no_proof() {
        let of = |pairs: u32| {
            let run = sample::of_pairs(pairs, "point-query", "sqlite:", 1, |round| {
                let many = if round.key.arm == ArmIndex::BASE { 0.0 } else { 7.0 };
                round.readings.set("deadlocks", Some(many));
            });
            of_run(&run, "deadlocks").sign
        };
        assert_eq!([3, 7, 8].map(of), [None, None, Some(Sign::More)]);
    }
}
