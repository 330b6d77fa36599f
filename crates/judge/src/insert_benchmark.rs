//! From the rounds of a step to its columns.

use dbdyno_model::insert_benchmark::{ArmMetrics, COLUMNS, SLA, StepMetrics};
use dbdyno_model::{
    Arm, Cell, Environment, PerArm, Round, RunPair, Severity, Verdict, Warning, readings,
};
use dbdyno_workload::insert_benchmark::BenchmarkStep;

use crate::response::CellJudgement;

/// The warning that takes a step's verdict away.
const SHORT: &str = "background-rate-missed";
const MIB: f64 = 1024.0 * 1024.0;
const GIB: f64 = 1024.0 * MIB;

/// The columns of a step from the paired rounds of both arms; `None` for other loads.
pub(crate) fn step_metrics(
    run: RunPair<'_>,
    cell: &Cell,
    rounds: &PerArm<Vec<&Round>>,
) -> Option<StepMetrics> {
    let step = BenchmarkStep::find(&cell.load)?.ok()?.0;
    let target = rounds.base.first()?.readings.get(readings::TARGET_ROWS_PER_S);
    let arms = PerArm::from_fn(|arm: Arm| {
        arm_metrics(&rounds[arm], target.is_some(), processors(run.environment(arm)))
    });
    Some(StepMetrics { cell: cell.clone(), step: step.name(), target_ips: target, arms })
}

/// Takes back a verdict that a step cannot have: its background fell short, or it is measured once.
pub(crate) fn restrain_verdict(step: &StepMetrics, judgement: &mut CellJudgement) {
    let once = (step.step == BenchmarkStep::MakeIndexes.name()).then(|| {
        judgement.warnings.retain(|warning| warning.code != "few-rounds");
        let text = "l.x makes its indexes once on each arm: that is one measurement, a ratio \
                    without an interval and without a verdict";
        Warning::new(Severity::Blocks, "one-measurement", text)
    });
    if let Some(warning) = once.or_else(|| short_background(step)) {
        judgement.verdict = Verdict::Undecided;
        judgement.pairs_missing = None;
        judgement.warnings.push(warning);
    }
}

fn short_background(step: &StepMetrics) -> Option<Warning> {
    let missed = Arm::BOTH.into_iter().filter(|arm| step.arms[*arm].has_missed_sla());
    let shares: Vec<String> = missed
        .map(|arm| {
            let kept = step.arms[arm].kept.unwrap_or_default();
            format!("{arm} inserted {:.1} %", kept * 100.0)
        })
        .collect();
    (!shares.is_empty()).then(|| {
        let text = format!(
            "{}: {} of the {:.0} rows/s that were asked for, and less than {:.0} % is not enough: \
             the background load was below its target, so the rates of queries are not comparable \
             and there is no verdict; ask for a lower rate (rates=) or fewer clients",
            step.step,
            shares.join(" and "),
            step.target_ips.unwrap_or_default(),
            SLA * 100.0
        );
        Warning::new(Severity::Blocks, SHORT, text)
    })
}

fn processors(environment: &Environment) -> Option<f64> {
    environment.get("host.cpu.logical").parse().ok()
}

fn arm_metrics(rounds: &[&Round], queries: bool, processors: Option<f64>) -> ArmMetrics {
    let seconds: f64 = rounds.iter().map(|round| round.wall_ns as f64 / 1e9).sum();
    let operations: f64 = rounds.iter().map(|round| round.statements as f64).sum();
    let inserted = sum(rounds, readings::ROWS_INSERTED);
    let read = cost(rounds, |round| round.cost.server_read_bytes);
    let written = cost(rounds, |round| round.cost.server_written_bytes);
    let cpu_us = cost(rounds, |round| round.cost.server_cpu_ns).map(|ns| ns / 1e3);
    let switches = cost(rounds, |round| round.cost.server_context_switches);
    let tputs = per_second(rounds);
    let value = |column: &str| match column {
        "ips" => inserted.map(|rows| rows / seconds),
        "qps" => Some(if queries { operations / seconds } else { 0.0 }),
        "rmbps" => read.map(|bytes| bytes / MIB / seconds),
        "wmbps" => written.map(|bytes| bytes / MIB / seconds),
        "rkbpq" => read.map(|bytes| bytes / 1024.0 / operations),
        "wkbpi" => Some(written? / 1024.0 / inserted.filter(|rows| *rows > 0.0)?),
        "csps" => switches.map(|switches| switches / seconds),
        "cpups" => Some(cpu_us? / 1e6 / seconds / processors? * 100.0),
        "cspq" => switches.map(|switches| switches / operations),
        "cpupq" => cpu_us.map(|cpu_us| cpu_us / operations),
        "dbgb1" => last(rounds, readings::DATABASE_BYTES).map(|bytes| bytes / GIB),
        "dbgb2" => last(rounds, readings::DATA_DIR_BYTES).map(|bytes| bytes / GIB),
        "rss" => last(rounds, readings::RESIDENT_BYTES).map(|bytes| bytes / GIB),
        "maxop" => largest(rounds, readings::SLOWEST_NS).map(|ns| ns / 1e9),
        "p50" => reached(0.50, &tputs),
        "p99" => reached(0.99, &tputs),
        // Operations on storage, which the kernel does not count by process.
        _ => None,
    };
    let (getmin_count, getmin_ns) =
        (sum(rounds, readings::GETMIN_COUNT), sum(rounds, readings::GETMIN_NS));
    let due = sum(rounds, readings::ROWS_DUE).filter(|due| *due > 0.0);
    ArmMetrics {
        columns: COLUMNS.map(value),
        kept: due.and_then(|due| inserted.map(|rows| rows / due)),
        getmin_count: getmin_count.unwrap_or(0.0) as u64,
        getmin_ms_mean: getmin_count
            .filter(|count| *count > 0.0)
            .and_then(|count| getmin_ns.map(|ns| ns / count / 1e6)),
        getmin_ms_max: largest(rounds, readings::GETMIN_NS_MAX).map(|ns| ns / 1e6),
        debt_begin: rounds.first().and_then(|round| round.readings.get(readings::DEBT_BEGIN)),
        debt_end: last(rounds, readings::DEBT_END),
    }
}

/// The sum of a reading; `None` where a round has none.
fn sum(rounds: &[&Round], name: &str) -> Option<f64> {
    total(rounds.iter().map(|round| round.readings.get(name)))
}

/// The largest that a reading was in any round.
fn largest(rounds: &[&Round], name: &str) -> Option<f64> {
    rounds.iter().filter_map(|round| round.readings.get(name)).reduce(f64::max)
}

/// The reading of the last round.
fn last(rounds: &[&Round], name: &str) -> Option<f64> {
    rounds.last()?.readings.get(name)
}

/// The sum of a cost; `None` where it was not observed in a round.
fn cost(rounds: &[&Round], pick: fn(&Round) -> Option<u64>) -> Option<f64> {
    total(rounds.iter().map(|round| pick(round).map(|value| value as f64)))
}

/// The sum, if every round has a value.
fn total(values: impl Iterator<Item = Option<f64>>) -> Option<f64> {
    values.sum()
}

/// Throughput in intervals of one second. The rounds of an arm are put end to end, without the time
/// in which the other arm was measured, and what is left over at the end is not kept.
fn per_second(rounds: &[&Round]) -> Vec<f64> {
    let slot_ns = rounds.first().map_or(1, |round| round.series.slot_ns.max(1));
    let slots_per_second = (1_000_000_000 / slot_ns).max(1) as usize;
    let slots: Vec<u64> =
        rounds.iter().flat_map(|round| round.series.statements.iter().copied()).collect();
    let whole = slots.chunks_exact(slots_per_second);
    whole.map(|second| second.iter().sum::<u64>() as f64).collect()
}

/// The throughput that was reached or exceeded in this share of the intervals.
fn reached(share: f64, tputs: &[f64]) -> Option<f64> {
    let mut sorted = tputs.to_vec();
    sorted.sort_by(|a, b| b.total_cmp(a));
    let intervals = (share * sorted.len() as f64).ceil() as usize;
    sorted.get(intervals.checked_sub(1)?).copied()
}

#[cfg(test)]
mod tests {
    use super::*;
    use dbdyno_model::{ArmIndex, Cost, LatencyHistogram, Readings, RoundKey, Series};

    fn round(statements: u64, wall_ms: u64, slots: &[u64], taken: &[(&str, f64)]) -> Round {
        let mut readings = Readings::default();
        for (name, value) in taken {
            readings.set(name, Some(*value));
        }
        Round {
            key: RoundKey {
                cell: Cell { load: "qr100".to_owned(), clients: 1 },
                pair: 0,
                arm: ArmIndex::BASE,
            },
            start: 0,
            filling: 0,
            started_unix_ms: 0,
            wall_ns: wall_ms * 1_000_000,
            events: statements,
            statements,
            rows_read: 0,
            rows_changed: 0,
            retries: 0,
            latency: LatencyHistogram::new(),
            series: Series { slot_ns: 100_000_000, statements: slots.to_vec() },
            classes: Vec::new(),
            cost: Cost {
                server_cpu_ns: Some(500_000_000),
                server_context_switches: Some(3000),
                server_written_bytes: Some(10 << 20),
                ..Cost::default()
            },
            pauses: None,
            open: None,
            readings,
        }
    }

    /// Of [40, 10, 30, 20]: 30 is reached or exceeded in two of four seconds, 10 in all of them.
    #[test]
    fn p50_and_p99_are_throughput_reached_or_exceeded() {
        let tputs = [40.0, 10.0, 30.0, 20.0];
        assert_eq!(reached(0.50, &tputs), Some(30.0));
        assert_eq!(reached(0.99, &tputs), Some(10.0));
        assert_eq!(reached(0.25, &tputs), Some(40.0));
        assert_eq!(reached(0.50, &[]), None);
        let hundred: Vec<f64> = (1..=100).map(f64::from).collect();
        assert_eq!(reached(0.99, &hundred), Some(2.0));
        assert_eq!(reached(0.50, &hundred), Some(51.0));
    }

    #[test]
    fn seconds_run_on_from_round_to_round() {
        let first = round(0, 1500, &[10; 15], &[]);
        let second = round(0, 800, &[1; 8], &[]);
        assert_eq!(per_second(&[&first, &second]), [100.0, 55.0]);
    }

    /// 2 rounds of 2 s: 8 000 queries, 400 of 400 rows; 1 s of processor on 2 processors.
    #[test]
    fn columns_are_those_of_a_calculation_by_hand() {
        let taken = [(readings::ROWS_INSERTED, 200.0), (readings::ROWS_DUE, 200.0)];
        let a = round(3000, 2000, &[150; 20], &taken);
        let b = round(5000, 2000, &[250; 20], &taken);
        let metrics = arm_metrics(&[&a, &b], true, Some(2.0));
        let column = |name| metrics.column(name);
        assert_eq!(column("qps"), Some(2000.0));
        assert_eq!(column("ips"), Some(100.0));
        assert_eq!(column("cpupq"), Some(125.0));
        assert_eq!(column("cpups"), Some(12.5));
        assert_eq!(column("cspq"), Some(0.75));
        assert_eq!(column("csps"), Some(1500.0));
        assert_eq!(column("wmbps"), Some(5.0));
        assert_eq!(column("wkbpi"), Some(51.2));
        assert_eq!((column("rmbps"), column("rkbpq")), (None, None));
        assert_eq!((column("rps"), column("wpi")), (None, None));
        assert_eq!((column("p50"), column("p99")), (Some(2500.0), Some(1500.0)));
        assert_eq!(metrics.kept, Some(1.0));
        assert!(!metrics.has_missed_sla());
    }

    fn step(kept: f64) -> StepMetrics {
        let arm = ArmMetrics { kept: Some(kept), ..ArmMetrics::default() };
        StepMetrics {
            cell: Cell { load: "qr100".to_owned(), clients: 4 },
            step: "qr100".to_owned(),
            target_ips: Some(400.0),
            arms: PerArm { base: arm, test: ArmMetrics { kept: Some(1.0), ..Default::default() } },
        }
    }

    /// 4 clients × 100 rows/s: 380 rows/s are 95 % and enough, 379 are not.
    #[test]
    fn ninety_five_per_cent_of_the_target_is_enough_and_less_is_not() {
        assert_eq!(short_background(&step(380.0 / 400.0)), None);
        let warning = short_background(&step(379.0 / 400.0)).unwrap();
        assert_eq!((warning.severity, &*warning.code), (Severity::Blocks, SHORT));
        assert!(warning.text.contains("base inserted 94.8 % of the 400"), "{}", warning.text);
        assert!(!warning.text.contains("test inserted"), "{}", warning.text);
    }
}
