//! What the answer rests on: rounds, pairs, latencies, environment, provenance.

use std::collections::{BTreeMap, BTreeSet};

use dbdyno_model::{
    Arm, Cell, CellComparison, Comparison, LatencyHistogram, PerArm, RateUnit, Round, RunPair,
    VerdictMeasure,
};
use serde::Serialize;

use super::values::if_finite;

/// Slots of series that one page may carry. Longer runs get coarser slots, with the extremes kept.
const SLOTS_PER_PAGE: usize = 200_000;
/// Slots of one round, whatever the size of the run: what a chart can show, and what still makes
/// sense.
const SLOTS_PER_ROUND: std::ops::RangeInclusive<usize> = 6..=120;
/// Points of a latency curve for each factor of ten in 1/(1−q).
const CURVE_POINTS_PER_DECADE: i32 = 8;

/// Everything behind the answer.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Detail {
    /// One entry per cell of the summary, in the same order.
    pub cells: Vec<CellDetail>,
    /// Facts of the host and the arms, sorted by name.
    pub facts: Vec<Fact>,
    /// How it was planned, as name and value, in the order of showing.
    pub plan: Vec<(String, String)>,
    /// Pairs of rounds that were planned, over all cells.
    pub pairs_planned: u64,
}

/// What was measured in one cell.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct CellDetail {
    /// Rounds in the order of measuring.
    pub rounds: Vec<RoundView>,
    /// Pairs of which both rounds were measured, by number.
    pub pairs: Vec<PairView>,
    /// Latency by quantile for the base arm.
    pub base_curve: Curve,
    /// Latency by quantile for the test arm.
    pub test_curve: Curve,
    /// The names of the classes that rounds tell apart; empty where there is one only.
    pub classes: Vec<String>,
    /// What the rates of the classes count.
    pub class_unit: &'static str,
}

/// One round.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RoundView {
    /// `base` or `test`.
    pub arm: &'static str,
    /// Number of the pair.
    pub pair: u32,
    /// Beginning of the measured window, milliseconds after the beginning of the run.
    pub started_ms: i64,
    /// Statements per second.
    pub qps: Option<f64>,
    /// Length of a slot, milliseconds.
    pub slot_ms: f64,
    /// The rate in the unit of the cell.
    #[serde(flatten)]
    pub whole: SlotsView,
    /// The rates of the classes of the cell, in its order.
    pub classes: Vec<SlotsView>,
}

/// A rate inside a round.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SlotsView {
    /// That of the whole round.
    pub rate: Option<f64>,
    /// That of each slot (mean, where slots were put together).
    pub slots: Vec<f64>,
    /// Slowest original slot in each; empty unless slots were put together.
    pub slots_low: Vec<f64>,
    /// Fastest original slot in each; empty unless slots were put together.
    pub slots_high: Vec<f64>,
}

/// One pair of rounds.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PairView {
    /// Number of the pair.
    pub pair: u32,
    /// Rate of the test round ÷ rate of the base round.
    pub ratio: f64,
}

/// Latency by quantile: `us[i]` is not exceeded by a share `q[i]` of the events.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Curve {
    /// Shares of events, 0 to below 1.
    pub q: Vec<f64>,
    /// Latencies, microseconds.
    pub us: Vec<f64>,
    /// Events behind the curve.
    pub events: u64,
}

/// Something that was true of an arm or the host. `None`: not recorded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Fact {
    /// For example `variable.sync_binlog`.
    pub name: String,
    /// Its value in the base arm.
    pub base: Option<String>,
    /// Its value in the test arm.
    pub test: Option<String>,
}

impl Fact {
    /// Whether both arms have the same value.
    pub(crate) fn is_equal(&self) -> bool {
        self.base == self.test
    }
}

impl Detail {
    pub(super) fn new(run: RunPair<'_>, comparison: &Comparison) -> Detail {
        let series: usize = run.rounds().map(|round| 1 + round.classes.len()).sum();
        let slots_max = (SLOTS_PER_PAGE / series.max(1))
            .clamp(*SLOTS_PER_ROUND.start(), *SLOTS_PER_ROUND.end());
        let mut rounds: BTreeMap<&Cell, Vec<(Arm, &Round)>> = BTreeMap::new();
        for round in run.rounds() {
            let side = if round.key.arm == run.pairing.base { Arm::Base } else { Arm::Test };
            rounds.entry(&round.key.cell).or_default().push((side, round));
        }
        let detail_of = |cell: &CellComparison| match rounds.get(&cell.cell) {
            Some(rounds) => {
                let begun = run.whole.started_unix_ms;
                let mut detail = CellDetail::new(rounds, cell.unit, begun, slots_max);
                // In the open loop rates are given, and the verdict rests on something else.
                if cell.measure != VerdictMeasure::Rate {
                    detail.pairs.clear();
                }
                detail
            }
            None => CellDetail::default(),
        };
        Detail {
            cells: comparison.cells.iter().map(detail_of).collect(),
            facts: facts(run),
            plan: plan(run),
            pairs_planned: run.plan().cells().len() as u64 * u64::from(run.plan().schedule.pairs),
        }
    }
}

impl CellDetail {
    fn new(
        rounds: &[(Arm, &Round)],
        unit: RateUnit,
        run_started_unix_ms: u64,
        slots_max: usize,
    ) -> CellDetail {
        let mut halves: BTreeMap<u32, PerArm<Option<&Round>>> = BTreeMap::new();
        for (side, round) in rounds {
            halves.entry(round.key.pair).or_default()[*side] = Some(round);
        }
        let mut latency: PerArm<Option<LatencyHistogram>> = PerArm::default();
        let mut pairs = Vec::new();
        for (&pair, half) in &halves {
            let (Some(base), Some(test)) = (half.base, half.test) else {
                continue;
            };
            let ratio = unit.rate(test) / unit.rate(base);
            if ratio.is_finite() && ratio > 0.0 {
                pairs.push(PairView { pair, ratio });
            }
            for (side, round) in [(Arm::Base, base), (Arm::Test, test)] {
                match &mut latency[side] {
                    Some(sum) => sum.merge(&round.latency),
                    empty => *empty = Some(round.latency.clone()),
                }
            }
        }
        let curve = |arm: Arm| latency[arm].as_ref().map(Curve::new).unwrap_or_default();
        let first = rounds.first().map_or(&[][..], |(_, round)| &round.classes[..]);
        let classes: Vec<String> = first.iter().map(|class| class.name.clone()).collect();
        CellDetail {
            rounds: rounds
                .iter()
                .map(|(side, round)| {
                    RoundView::new(*side, round, unit, &classes, run_started_unix_ms, slots_max)
                })
                .collect(),
            pairs,
            base_curve: curve(Arm::Base),
            test_curve: curve(Arm::Test),
            class_unit: first.first().map_or("", |class| unit.of_class(class.count_unit())),
            classes,
        }
    }
}

impl RoundView {
    fn new(
        side: Arm,
        round: &Round,
        unit: RateUnit,
        classes: &[String],
        run_started_unix_ms: u64,
        slots_max: usize,
    ) -> RoundView {
        let series = &round.series;
        let together = series.statements.len().div_ceil(slots_max).max(1);
        let class = |name: &String| {
            let tally = round.classes.iter().find(|class| class.name == *name)?;
            let seconds = unit.class_seconds();
            let per_slot = seconds * 1e9 / series.slot_ns as f64;
            let slots: Vec<f64> =
                tally.slots.iter().map(|count| *count as f64 * per_slot).collect();
            let rate = tally.count as f64 * seconds * 1e9 / round.wall_ns as f64;
            Some(SlotsView::new(rate, &slots, together))
        };
        RoundView {
            arm: side.name(),
            pair: round.key.pair,
            started_ms: round.started_unix_ms as i64 - run_started_unix_ms as i64,
            qps: if_finite(round.qps()),
            slot_ms: (series.slot_ns * together as u64) as f64 / 1e6,
            whole: SlotsView::new(unit.rate(round), &unit.slot_rates(round), together),
            // A round that lacks one of them has none.
            classes: classes.iter().map(class).collect::<Option<_>>().unwrap_or_default(),
        }
    }
}

impl SlotsView {
    /// The rates of slots, so many of them put together.
    fn new(rate: f64, slots: &[f64], together: usize) -> SlotsView {
        let extremes = |pick: fn(f64, f64) -> f64| -> Vec<f64> {
            slots
                .chunks(together)
                .filter(|_| together > 1)
                .map(|chunk| whole(chunk.iter().copied().reduce(pick).unwrap_or(0.0)))
                .collect()
        };
        SlotsView {
            rate: if_finite(rate),
            slots: slots
                .chunks(together)
                .map(|chunk| whole(chunk.iter().sum::<f64>() / chunk.len() as f64))
                .collect(),
            slots_low: extremes(f64::min),
            slots_high: extremes(f64::max),
        }
    }
}

/// A rate to the nearest whole number: the page needs no more.
fn whole(rate: f64) -> f64 {
    if rate.is_finite() { rate.round() } else { 0.0 }
}

impl Curve {
    /// Quantiles at equal steps of log 1/(1−q), as far out as there are events to tell them apart.
    fn new(histogram: &LatencyHistogram) -> Curve {
        let events = histogram.count();
        let mut curve = Curve { events, ..Curve::default() };
        if events == 0 {
            return curve;
        }
        for step in 0.. {
            let beyond = 10f64.powf(-f64::from(step) / f64::from(CURVE_POINTS_PER_DECADE));
            if beyond * (events as f64) < 1.0 {
                break;
            }
            let q = 1.0 - beyond;
            curve.q.push((q * 1e9).round() / 1e9);
            let us = histogram.quantile_ns(q) as f64 / 1e3;
            curve.us.push((us * 1e3).round() / 1e3);
        }
        curve
    }
}

fn facts(run: RunPair<'_>) -> Vec<Fact> {
    let environment = PerArm::from_fn(|arm| run.environment(arm));
    let names: BTreeSet<&String> =
        environment.base.facts.keys().chain(environment.test.facts.keys()).collect();
    names
        .into_iter()
        .map(|name| Fact {
            name: name.clone(),
            base: environment.base.facts.get(name).cloned(),
            test: environment.test.facts.get(name).cloned(),
        })
        .collect()
}

fn plan(run: RunPair<'_>) -> Vec<(String, String)> {
    let plan = run.plan();
    let stages: Vec<String> = plan.question.stages.iter().map(ToString::to_string).collect();
    let clients: Vec<String> = plan.question.clients.iter().map(u32::to_string).collect();
    [
        ("base", run.spec_on(Arm::Base).to_string()),
        ("test", run.spec_on(Arm::Test).to_string()),
        ("stages", stages.join(", ")),
        ("clients", clients.join(", ")),
        ("pairs of rounds per cell", plan.schedule.pairs.to_string()),
        ("measured window of a round", seconds_text(plan.schedule.round_ns)),
        ("lead-in of a round", seconds_text(plan.schedule.lead_in_ns)),
        ("longest warm-up of a cell", seconds_text(plan.schedule.warm_up_ns)),
        ("tables", plan.question.tables.to_string()),
        ("rows in each table", plan.question.rows.to_string()),
        ("driving", plan.question.driving.to_string()),
    ]
    .map(|(name, value)| (name.to_owned(), value))
    .to_vec()
}

fn seconds_text(ns: u64) -> String {
    format!("{} s", ns as f64 / 1e9)
}

#[cfg(test)]
mod tests {
    use super::*;
    use dbdyno_model::{ArmIndex, ClassTally, ClassTimes, RoundKey, Series};

    fn round(statements: Vec<u64>) -> Round {
        Round {
            key: RoundKey {
                cell: Cell { load: "point-query".to_owned(), clients: 1 },
                pair: 0,
                arm: ArmIndex::BASE,
            },
            start: 0,
            filling: 0,
            started_unix_ms: 5,
            wall_ns: 1_000_000_000,
            events: 0,
            statements: statements.iter().sum(),
            rows_read: 0,
            rows_changed: 0,
            retries: 0,
            latency: LatencyHistogram::new(),
            series: Series { slot_ns: 1_000_000, statements },
            classes: Vec::new(),
            cost: Default::default(),
            pauses: None,
            open: None,
            readings: Default::default(),
        }
    }

    fn view(round: &Round, started_unix_ms: u64) -> RoundView {
        let classes: Vec<String> = round.classes.iter().map(|class| class.name.clone()).collect();
        RoundView::new(Arm::Base, round, RateUnit::Queries, &classes, started_unix_ms, 100)
    }

    #[test]
    fn a_stall_survives_when_slots_are_put_together() {
        let mut statements = vec![10; 1_001];
        statements[500] = 0;
        let view = view(&round(statements), 0);
        let SlotsView { slots, slots_low, slots_high, .. } = view.whole;
        assert!(slots.len() <= 100, "{} slots", slots.len());
        assert_eq!(slots_low.len(), slots.len());
        assert_eq!(slots_low.iter().filter(|&&low| low == 0.0).count(), 1);
        assert!(slots.iter().all(|&mean| mean > 8_000.0));
        assert!(slots_high.iter().all(|&high| high == 10_000.0));
        assert_eq!(view.slot_ms, 11.0);
    }

    #[test]
    fn a_short_series_is_kept_as_it_is() {
        let whole = view(&round(vec![1, 2, 3]), 0).whole;
        assert_eq!(whole.slots, [1_000.0, 2_000.0, 3_000.0]);
        assert!(whole.slots_low.is_empty() && whole.slots_high.is_empty());
        let empty = view(&round(vec![]), 10);
        assert!(empty.whole.slots.is_empty());
        assert_eq!((empty.started_ms, empty.qps), (-5, Some(0.0)));
    }

    #[test]
    fn a_round_without_length_has_no_rate() {
        let mut round = round(vec![1]);
        round.wall_ns = 0;
        round.series.slot_ns = 0;
        let view = view(&round, 0);
        assert_eq!((view.qps, view.whole.slots.as_slice()), (None, [0.0].as_slice()));
    }

    #[test]
    fn transactions_are_told_by_the_minute_and_by_class() {
        let class = |name: &str, slots: [u64; 2]| ClassTally {
            name: name.to_owned(),
            count: slots.iter().sum(),
            slots: slots.to_vec(),
            times: Some(ClassTimes { latency: LatencyHistogram::new(), response: None }),
        };
        let mut round = round(vec![40, 90]);
        (round.events, round.series.slot_ns) = (8, 500_000_000);
        round.classes = vec![class("new-order", [1, 2]), class("payment", [3, 2])];
        let classes = ["new-order", "payment"].map(str::to_owned);
        let view = RoundView::new(Arm::Base, &round, RateUnit::Transactions, &classes, 0, 100);
        assert_eq!((view.whole.rate, &*view.whole.slots), (Some(480.0), &[480.0, 480.0][..]));
        let told = |at: usize| (view.classes[at].rate, view.classes[at].slots.clone());
        assert_eq!(told(0), (Some(180.0), vec![120.0, 240.0]));
        assert_eq!(told(1), (Some(300.0), vec![360.0, 240.0]));
        // Without classes, events are spread as statements are.
        round.classes.clear();
        let view = RoundView::new(Arm::Base, &round, RateUnit::Transactions, &classes, 0, 100);
        assert_eq!(view.whole.slots, [295.0, 665.0]);
        assert!(view.classes.is_empty());
    }

    #[test]
    fn scans_are_told_in_rows() {
        let view = RoundView::new(Arm::Base, &round(vec![1, 2]), RateUnit::Rows(50), &[], 0, 100);
        assert_eq!((view.qps, view.whole.rate), (Some(3.0), Some(150.0)));
        assert_eq!(view.whole.slots, [50_000.0, 100_000.0]);
    }

    /// Sorted latencies are the oracle: a share q of them does not exceed the curve.
    #[test]
    fn the_curve_agrees_with_sorted_latencies() {
        let latencies: Vec<u64> = (1..=5_000u64).map(|n| n * n).collect();
        let mut histogram = LatencyHistogram::new();
        latencies.iter().for_each(|&ns| histogram.record_latency(ns));
        let curve = Curve::new(&histogram);
        assert_eq!(curve.events, 5_000);
        assert!(*curve.q.last().unwrap() > 0.999 && *curve.q.last().unwrap() < 1.0);
        for (q, us) in curve.q.iter().zip(&curve.us) {
            let rank = ((q * 5_000.0).ceil() as usize).clamp(1, 5_000);
            let exact_us = latencies[rank - 1] as f64 / 1e3;
            assert!((us - exact_us).abs() <= exact_us * 0.002 + 0.002, "q={q}: {us} {exact_us}");
        }
        assert_eq!(Curve::new(&LatencyHistogram::new()), Curve::default());
    }
}
