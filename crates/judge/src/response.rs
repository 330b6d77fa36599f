//! What the open loop says: response times at a rate, and the highest rate.
//!
//! At a given rate both arms do the same number of events per second, unless one of them breaks
//! down; rQPS is 1 by construction and says nothing. What differs is how long people wait. So the
//! verdict rests on the ratio of response times of the two rounds of a pair, by their median and
//! their 99th percentile: what one of them proves and the other one does not refute
//! ([`dbdyno_stats::judge_jointly`]). An arm that does not hold the rate needs no rule of its own:
//! its queue grows, and its response times prove it.

use dbdyno_model::{
    Arm, ArmSummary, Basis, Cell, ExperimentLevel, Interval, IntervalKind, LatencyHistogram,
    LatencyUs, Levels, OpenSummary, PerArm, Percentile, Round, RunPair, Severity, Slo, Verdict,
    VerdictMeasure, Warning,
};
use dbdyno_stats::{self as stats, JudgementTerms};

use crate::error::JudgeError;
use crate::sequential;
use crate::variance::{self, nested_figures};

/// What is judged of a cell, however it was driven.
pub(crate) struct CellJudgement {
    pub(crate) rqps: Interval,
    pub(crate) measure: VerdictMeasure,
    pub(crate) verdict: Verdict,
    pub(crate) p_value: f64,
    pub(crate) basis: Basis,
    pub(crate) levels: Option<Levels>,
    pub(crate) detectable: Option<f64>,
    pub(crate) pairs_missing: Option<u32>,
    pub(crate) missing_ns: Option<u64>,
    pub(crate) looks: Option<u32>,
    pub(crate) warnings: Vec<Warning>,
}

impl CellJudgement {
    /// By rates, whatever they are rates of.
    pub(crate) fn by_rate(judgement: stats::Judgement, measure: VerdictMeasure) -> CellJudgement {
        CellJudgement {
            rqps: judgement.rqps,
            measure,
            verdict: judgement.verdict,
            p_value: judgement.p_value,
            basis: judgement.basis,
            levels: None,
            detectable: judgement.detectable,
            pairs_missing: judgement.pairs_missing,
            missing_ns: None,
            looks: None,
            warnings: judgement.warnings,
        }
    }

    /// Puts what the looks say in place of what a single judgement would, where the plan is looked
    /// at.
    pub(crate) fn look_again(&mut self, run: RunPair<'_>, cell: &Cell) -> Result<(), JudgeError> {
        if let Some((look, pairs)) = sequential::known_look(run, cell)? {
            let looks = look.looks;
            self.take(look, ExperimentLevel::Pair, pairs);
            self.looks = Some(looks);
            return Ok(());
        }
        let values = sequential::values_of(run, cell);
        if let (Some(sequence), Some(values)) = (&sequential::sequence_of(run.plan(), cell), values)
        {
            let (logs, known_sd) = (&values.logs, values.known_sd);
            let look = stats::judge_sequence(logs, known_sd, run.plan().rule.budget, sequence)?;
            // What was judged once was looked at for the first time then.
            self.looks = Some(match sequential::judged_starts(run.plan(), cell) {
                0 => look.looks,
                judged => logs.len() as u32 - judged + 1,
            });
            self.take(look, ExperimentLevel::Start, logs.len() as u32);
        }
        Ok(())
    }

    /// What the last look says, at so many replicates.
    fn take(&mut self, look: stats::Look, replicates: ExperimentLevel, count: u32) {
        self.warnings.retain(|warning| warning.code != "few-rounds");
        self.warnings.extend(look.warnings);
        self.rqps = look.rqps;
        self.verdict = look.verdict;
        self.p_value = look.p_value;
        self.basis = Basis {
            interval: IntervalKind::Sequence,
            replicates,
            count,
            why: "the run had interim analyses".to_owned(),
        };
        self.detectable = look.detectable;
    }

    /// By response times, where rates are given or nearly so.
    pub(crate) fn by_response(
        pairs: &[PerArm<&Round>],
        rqps: Interval,
        terms: &JudgementTerms,
    ) -> Result<CellJudgement, JudgeError> {
        let measures = [0.5, 0.99].map(|quantile| {
            let ns = |round: &Round| times(round).quantile_ns(quantile).max(1) as f64;
            nested_figures(pairs, |pair| (ns(pair.base) / ns(pair.test)).ln())
        });
        let joint = stats::judge_jointly(&[&measures[0], &measures[1]], terms)?;
        let decides = |index: usize| joint.measures[index].1 == joint.verdict;
        let told = joint.verdict != Verdict::Undecided;
        let telling =
            if told && decides(0) && !decides(1) { Percentile::P50 } else { Percentile::P99 };
        let shown = usize::from(telling == Percentile::P99);
        Ok(CellJudgement {
            rqps,
            measure: VerdictMeasure::Response {
                p50: slowness(joint.measures[0].0),
                p99: slowness(joint.measures[1].0),
                telling,
            },
            verdict: joint.verdict,
            p_value: joint.p_value,
            levels: variance::levels(
                &measures[shown],
                pairs,
                joint.basis.interval,
                terms.between_sd,
            ),
            basis: joint.basis,
            detectable: joint.detectable[shown],
            pairs_missing: joint.pairs_missing,
            missing_ns: None,
            looks: None,
            warnings: joint.warnings,
        })
    }
}

/// Times from the intended moment: of clients that think this is the end of their pause.
fn times(round: &Round) -> &LatencyHistogram {
    round.open.as_ref().map_or(&round.latency, |open| &open.response)
}

/// The ratio of times that belongs to a ratio of speeds.
fn slowness(speed: Interval) -> Interval {
    Interval { estimate: 1.0 / speed.estimate, low: 1.0 / speed.high, high: 1.0 / speed.low }
}

/// Events per second that a round was meant to do.
pub(crate) fn offered_rate(round: &Round) -> f64 {
    let offered = round.open.as_ref().map_or(0, |open| open.offered);
    offered as f64 / (round.wall_ns as f64 / 1e9)
}

/// Whether a round satisfies the condition and held its rate: with a queue that grows, a condition
/// holds for as long as the round is short.
pub fn holds_slo(round: &Round, slo: Slo) -> bool {
    round.open.as_ref().is_some_and(|open| slo.holds_for(&open.response)) && round.holds_its_rate()
}

/// The rounds in which the searches of a cell ended, as pairs, and how many searches found no rate
/// at all.
pub(crate) fn ends_of_searches<'a>(
    run: RunPair<'a>,
    cell: &Cell,
    slo: Slo,
) -> (Vec<PerArm<&'a Round>>, u32) {
    let (mut pairs, mut without) = (Vec::new(), 0);
    for number in 0..run.plan().schedule.pairs {
        let end = |arm: Arm| {
            let steps = run.rounds_of(arm).filter(|round| {
                round.key.cell == *cell
                    && run.plan().question.driving.pair_of(round.key.pair) == number
            });
            let (mut measured, mut best) = (false, None::<&Round>);
            for step in steps {
                measured = true;
                let higher = best.is_none_or(|best| offered_rate(step) > offered_rate(best));
                if holds_slo(step, slo) && higher {
                    best = Some(step);
                }
            }
            measured.then_some(best)
        };
        match (end(Arm::Base), end(Arm::Test)) {
            (Some(Some(base)), Some(Some(test))) => pairs.push(PerArm { base, test }),
            (Some(_), Some(_)) => without += 1,
            _ => {}
        }
    }
    (pairs, without)
}

/// What the rounds of an arm were like in the open loop; `None` for the closed one.
pub(crate) fn open_summary(rounds: &[&Round]) -> Option<OpenSummary> {
    let seconds = rounds.iter().map(|round| round.wall_ns as f64 / 1e9).sum::<f64>();
    let (mut response, mut lag) = (LatencyHistogram::new(), LatencyHistogram::new());
    let (mut offered, mut unanswered, mut events) = (0, 0, 0);
    for round in rounds {
        let open = round.open.as_ref()?;
        response.merge(&open.response);
        lag.merge(&open.lag);
        offered += open.offered;
        unanswered += open.unanswered;
        events += round.events;
    }
    Some(OpenSummary {
        offered_per_second: offered as f64 / seconds,
        achieved_per_second: events as f64 / seconds,
        unanswered,
        response_us: percentiles(&response),
        lag_us: percentiles(&lag),
        max_rate: None,
    })
}

/// The percentiles that are shown.
pub(crate) fn percentiles(histogram: &LatencyHistogram) -> LatencyUs {
    let at = |quantile| histogram.quantile_ns(quantile) as f64 / 1e3;
    LatencyUs {
        p50: at(0.5),
        p95: at(0.95),
        p99: at(0.99),
        p999: at(0.999),
        max: histogram.max_ns() as f64 / 1e3,
    }
}

/// Less than this share of what was meant is a rate that was not held.
const HELD: f64 = 0.99;
/// A generator whose lag is this share of the response time colours it.
const LAG_SHARE_HIGH: f64 = 0.2;

/// What the reader of response times must know.
pub(crate) fn response_warnings(arm: Arm, summary: &ArmSummary) -> Vec<Warning> {
    let Some(open) = &summary.open else { return Vec::new() };
    let mut warnings = Vec::new();
    if open.unanswered > 0 || open.achieved_per_second < HELD * open.offered_per_second {
        let given_up = match open.unanswered {
            0 => String::new(),
            events => format!(
                ", and {events} events were given up, whose response times count with what they \
                 had waited"
            ),
        };
        let text = format!(
            "{arm} does not hold the rate: of {:.0} events per second it answered {:.0} in \
             time{given_up}; response times grow with the length of a round then, so try a lower \
             --rate",
            open.offered_per_second, open.achieved_per_second
        );
        warnings.push(Warning::new(Severity::Caution, "rate-not-held", text));
    }
    if open.lag_us.p99 > LAG_SHARE_HIGH * open.response_us.p99 {
        let text = format!(
            "{arm}: the generator itself was late, by {:.0} µs or more for one event in a hundred \
             (p99 of response times: {:.0} µs); give the machine more processors, or less else to \
             do",
            open.lag_us.p99, open.response_us.p99
        );
        warnings.push(Warning::new(Severity::Caution, "generator-late", text));
    }
    warnings
}

/// That some searches found nothing.
pub(crate) fn nothing_found(searches: u32, slo: Slo) -> Warning {
    let text = format!(
        "{searches} searches found no rate at which {slo} holds, not even the lowest; try a weaker \
         condition"
    );
    Warning::new(Severity::Caution, "condition-never-held", text)
}
