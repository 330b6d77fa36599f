//! What is judged of a cell beside its rate: what it costs the server, and how slow the slow ones
//! are.
//!
//! ```text
//!   the two rounds of a pair   server CPU of an op   test ÷ base ─┐  by filling and start,
//!                              p99 latency           test ÷ base ─┴▶ as rates are  ──▶ higher …
//! ```
//!
//! Both are figures of a round, and rounds are the replicates. The p99 of a round is that of its
//! own events, so that its ratio need not be the one of the two percentiles over all rounds, which
//! stand beside it. Whoever looks at rates on the way may have ended the run where a metric
//! pleases: it is then judged by the interval that holds for all looks. In a cell whose rate is not
//! believed nothing else is, and where rates are given, response times are the verdict. What is
//! said of so many metrics holds among all of them: [`crate::family`].

use std::collections::BTreeMap;

use dbdyno_model::{
    Cell, CellComparison, Driving, Interval, Metric, MetricComparison, MetricVerdict, PerArm,
    Round, RunPair, Severity, Verdict,
};
use dbdyno_stats::{self as stats, JudgementTerms};

use crate::error::JudgeError;
use crate::figures::of_round;
use crate::judged::judgement_terms;
use crate::rate_unit::CellUnits;
use crate::sequential::{self, Values};
use crate::variance::nested_figures;
use dbdyno_workload::planned::step_of;

/// Standard deviation of a start's true log-ratio, assumed where servers live once: that of rates
/// ([`stats::BETWEEN_STARTS_SD`]) is too small for these. In 257 starts of seven runs of MariaDB
/// 10.11 against itself with slower clients (point-query at 1 client, rounds of 0.2 s, four pairs a
/// start) the means of starts had 0.0223 of processor time where their pairs explained 0.0130, and
/// 0.0409 of p99 where these explained 0.0343. That leaves 0.018 and 0.022 to the starts; taken are
/// the upper ends of their intervals of 95 %, rounded.
fn between_starts_sd(metric: Metric) -> f64 {
    match metric {
        Metric::ServerCpu => 0.02,
        Metric::P99 => 0.03,
    }
}

/// What the pairs that a cell was judged by say of each metric; nothing of one that was not seen in
/// all of their rounds.
pub(crate) fn cell_metrics(
    run: RunPair<'_>,
    cell: &CellComparison,
    pairs: &[PerArm<&Round>],
) -> Result<Vec<MetricComparison>, JudgeError> {
    let is_blocked = cell.warnings.iter().any(|warning| warning.severity == Severity::Blocks);
    let is_step = step_of(&cell.cell).is_some();
    if is_blocked || is_step || run.plan().question.driving != Driving::Closed {
        return Ok(Vec::new());
    }
    let mut metrics = Vec::new();
    for metric in Metric::ALL {
        metrics.extend(of_metric(run, &cell.cell, pairs, metric)?);
    }
    Ok(metrics)
}

fn of_metric(
    run: RunPair<'_>,
    cell: &Cell,
    pairs: &[PerArm<&Round>],
    metric: Metric,
) -> Result<Option<MetricComparison>, JudgeError> {
    let units = CellUnits::of_cell(run.plan(), cell);
    let figure = metric.round_figure();
    let said = |round: &Round| of_round(round, &figure, &units).unwrap_or(f64::NAN);
    // A percentile is a walk through a histogram: each round is asked once.
    let log = |pair: &PerArm<&Round>| (said(pair.test) / said(pair.base)).ln();
    let logs: BTreeMap<u32, f64> =
        pairs.iter().map(|pair| (pair.base.key.pair, log(pair))).collect();
    if logs.values().any(|log| !log.is_finite()) {
        return Ok(None);
    }
    let (ratio, verdict, p_value) =
        judged(run, cell, pairs, |pair| logs[&pair.base.key.pair], between_starts_sd(metric))?;
    let verdict = of_need(verdict);
    Ok(Some(MetricComparison { metric, ratio, verdict, p_value, q_value: None }))
}

/// By the looks where the cell was looked at, else once.
fn judged(
    run: RunPair<'_>,
    cell: &Cell,
    pairs: &[PerArm<&Round>],
    log: impl Fn(&PerArm<&Round>) -> f64,
    between_sd: f64,
) -> Result<(Interval, Verdict, f64), JudgeError> {
    let plan = run.plan();
    let sequence = sequential::sequence_of(plan, cell);
    let values =
        sequence.and_then(|sequence| Some((sequence, Values::of_pairs(plan, pairs, &log)?)));
    if let Some((sequence, values)) = values {
        let known_sd = if sequential::has_starts(plan) { 0.0 } else { between_sd };
        let look = stats::judge_sequence(&values.logs, known_sd, plan.rule.budget, &sequence)?;
        return Ok((look.rqps, look.verdict, look.p_value));
    }
    let terms = JudgementTerms { between_sd, ..judgement_terms(plan) };
    let once = stats::judge_nested(&nested_figures(pairs, &log), &terms)?;
    Ok((once.rqps, once.verdict, once.p_value))
}

/// Judges speak of rates, of which more is *faster*.
fn of_need(verdict: Verdict) -> MetricVerdict {
    match verdict {
        Verdict::Faster => MetricVerdict::Higher,
        Verdict::Equal => MetricVerdict::Equal,
        Verdict::Slower => MetricVerdict::Lower,
        Verdict::Undecided => MetricVerdict::Undecided,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{WALL_NS, of_load, of_pairs, set_events};
    use dbdyno_model::{Arm, ArmIndex, Run, Stopping};

    const SERVER: &str = "mysql://u@h/d";

    /// Arms of the same rate, in starts of two pairs; an op of test costs this many percent of one
    /// of base.
    fn run(pairs: u32, target: &str, percent: u64) -> Run {
        let mut run = of_pairs(pairs, "point-query", target, 1, |round| {
            let is_test = round.key.arm == ArmIndex::TEST;
            let noise = |step: u32| u64::from(round.key.pair * step % 5);
            let (events, share) = if is_test { (noise(13), percent) } else { (noise(7), 100) };
            let each_ns = 50 * share + 20 * noise(11) * u64::from(is_test);
            set_events(round, (10_000 + 10 * events) as f64);
            round.cost.server_cpu_ns = Some(round.statements * each_ns);
            round.start = round.key.pair / 2;
        });
        run.plan.schedule.restarts = pairs / 2 - 1;
        run
    }

    fn told(run: &Run) -> Vec<(Metric, MetricVerdict)> {
        let cell = crate::compare_run(run.first_pair()).unwrap().cells.remove(0);
        cell.metrics.iter().map(|one| (one.metric, one.verdict)).collect()
    }

    #[test]
    fn what_costs_more_at_the_same_rate_is_found() {
        let p99 = (Metric::P99, MetricVerdict::Equal);
        let of = |percent| told(&run(18, SERVER, percent));
        assert_eq!(of(130), [(Metric::ServerCpu, MetricVerdict::Higher), p99]);
        assert_eq!(of(77), [(Metric::ServerCpu, MetricVerdict::Lower), p99]);
        let comparison = crate::compare_run(run(18, SERVER, 130).first_pair()).unwrap();
        assert_eq!(comparison.cells[0].verdict, Verdict::Equal, "of the rate");
        let Interval { estimate, low, high } = comparison.cells[0].metrics[0].ratio;
        assert!(1.29 < low && low < estimate && estimate < high && high < 1.32, "{low} {high}");
        assert_eq!((comparison.family.cells, comparison.family.metrics), (1, 2));
        assert!(comparison.cells[0].metrics.iter().all(|one| one.q_value.is_some()));
    }

    #[test]
    fn what_was_not_seen_in_each_round_is_not_judged() {
        let mut run = run(18, SERVER, 130);
        run.rounds[7].cost.server_cpu_ns = None;
        assert_eq!(told(&run), [(Metric::P99, MetricVerdict::Equal)]);
    }

    /// Two processes of one build differ: what one start shows is no proof, however often.
    #[test]
    fn a_metric_of_one_start_has_the_doubt_of_starts() {
        let mut run = run(18, SERVER, 104);
        assert_eq!(told(&run)[0].1, MetricVerdict::Higher);
        run.plan.schedule.restarts = 0;
        run.rounds.iter_mut().for_each(|round| round.start = 0);
        assert_eq!(told(&run)[0].1, MetricVerdict::Undecided);
        assert_eq!(told(&run)[1].1, MetricVerdict::Undecided, "nor is equal proved");
    }

    #[test]
    fn where_the_rate_is_not_believed_no_metric_is() {
        let busy = of_pairs(8, "point-query", SERVER, 1, |round| {
            round.cost.client_cpu_ns = Some(WALL_NS);
        });
        assert!(told(&busy).is_empty(), "the client was measured");
        assert!(told(&run(2, SERVER, 130)).is_empty(), "two pairs");
        assert!(!told(&of_load("point-query", SERVER, 1, |_| {})).is_empty());
    }

    #[test]
    fn a_step_of_the_insert_benchmark_has_columns_of_its_own() {
        let comparison =
            crate::compare_run(of_load("l.i0", SERVER, 1, |_| {}).first_pair()).unwrap();
        let cell = &comparison.cells[0];
        assert!(cell.q_value.is_some(), "its rate is judged: {:?}", cell.warnings);
        assert!(cell.metrics.is_empty());
    }

    #[test]
    fn where_rates_are_given_response_times_are_the_verdict() {
        let mut run = run(18, SERVER, 130);
        run.plan.question.driving = "think 1ms".parse().unwrap();
        assert!(told(&run).is_empty());
    }

    /// The interval of a single judgement would let the run end where it pleases.
    #[test]
    fn a_run_that_is_looked_at_is_judged_by_all_its_looks() {
        let mut run = run(20, "sqlite:", 103);
        let metric = |run: &Run| crate::compare_run(run.first_pair()).unwrap().cells[0].metrics[0];
        let once = metric(&run);
        run.plan.rule.stopping = Stopping::Decided { pairs: 2, horizon: 20 };
        run.plan.schedule.pairs = 40;
        let looked_at = metric(&run);
        let cost =
            |round: &Round| round.cost.server_cpu_ns.unwrap() as f64 / round.done_statements();
        let of = |arm: Arm| run.rounds.iter().filter(move |round| round.key.arm == arm.into());
        let mut of_start = BTreeMap::<u32, Vec<f64>>::new();
        for base in of(Arm::Base) {
            let test = of(Arm::Test).find(|test| test.key.pair == base.key.pair).unwrap();
            of_start.entry(base.start).or_default().push((cost(test) / cost(base)).ln());
        }
        let starts: Vec<f64> =
            of_start.values().map(|start| crate::variance::mean(start)).collect();
        let sequence = stats::ConfidenceSequence::new(20);
        let look = stats::judge_sequence(&starts, 0.0, run.plan.rule.budget, &sequence).unwrap();
        assert!((looked_at.ratio.low - look.rqps.low).abs() < 1e-12, "{looked_at:?}");
        assert!((looked_at.p_value - look.p_value).abs() < 1e-12, "{looked_at:?}");
        assert!(looked_at.ratio.low < once.ratio.low && once.ratio.high < looked_at.ratio.high);
    }
}
