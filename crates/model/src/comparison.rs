//! What a comparison concludes.

use std::fmt;

use crate::arm::PerArm;
use crate::audit::Audit;
use crate::classes::ClassUnit;
use crate::count::CountComparison;
use crate::curve::CurveComparison;
use crate::experiment::{FigureOutcome, RoundFigure};
use crate::insert_benchmark::StepMetrics;
use crate::levels::Levels;
use crate::method::{Basis, ExperimentLevel};
use crate::plan::Cell;
use crate::rate::{RateUnit, Since};
use crate::row_cost::CostComparison;
use crate::verdict::{Interval, Verdict};
use crate::warning::{Severity, Warning};
use crate::words::words;

/// One class of a load in one arm, over all its paired rounds.
#[derive(Clone, Debug, PartialEq)]
pub struct ClassSummary {
    /// Its name.
    pub name: String,
    /// What is counted under it.
    pub counted: ClassUnit,
    /// How often it came in a second: its share of the geometric mean over rounds, so that the
    /// classes of an arm add up to its events (or statements) per second.
    pub per_second: f64,
    /// Latency of its events over all rounds together; `None` for classes of statements.
    pub latency_us: Option<LatencyUs>,
    /// In the open loop, their response times.
    pub response_us: Option<LatencyUs>,
}

/// Percentiles of event latency, in microseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LatencyUs {
    /// Median.
    pub p50: f64,
    /// 95th percentile.
    pub p95: f64,
    /// 99th percentile.
    pub p99: f64,
    /// 99.9th percentile.
    pub p999: f64,
    /// Largest.
    pub max: f64,
}

/// What one arm did in an open loop, over all its paired rounds.
#[derive(Clone, Debug, PartialEq)]
pub struct OpenSummary {
    /// Events per second that were meant.
    pub offered_per_second: f64,
    /// Events per second that were answered while they were meant.
    pub achieved_per_second: f64,
    /// Events that nobody had begun to answer when their round was given up; their response times
    /// are at least what was counted.
    pub unanswered: u64,
    /// From the moment at which an event should have been sent to its answer.
    pub response_us: LatencyUs,
    /// How late the generator sent although a connection was free.
    pub lag_us: LatencyUs,
    /// In a search: the highest rate at which the condition held, with its 95 % interval over
    /// searches.
    pub max_rate: Option<Interval>,
}

/// What the verdict of a cell rests on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum VerdictMeasure {
    /// The rate in the closed loop.
    Rate,
    /// Response times at a given rate, test ÷ base.
    Response {
        /// Ratio of the medians.
        p50: Interval,
        /// Ratio of the 99th percentiles.
        p99: Interval,
        /// The one that tells most: that decided, or else p99.
        telling: Percentile,
    },
    /// The highest rate of events at which a condition holds; its ratio stands in place of rQPS.
    MaxRate,
}

words! {
    /// A percentile of response times that is judged.
    Percentile {
        /// The median.
        P50 = "p50",
        /// The 99th.
        P99 = "p99",
    }
}

words! {
    /// What is judged of a cell beside its rate. Of all of them less is better.
    Metric {
        /// Processor time of the server for each statement.
        ServerCpu = "server_cpu_us_per_op",
        /// The 99th percentile of latency, round by round.
        P99 = "latency_us_p99",
    }
}

impl Metric {
    /// What it is of a round.
    pub fn round_figure(self) -> RoundFigure {
        match self {
            Metric::ServerCpu => RoundFigure::ServerCpu,
            Metric::P99 => RoundFigure::P99,
        }
    }
}

words! {
    /// What a metric says of the test arm.
    MetricVerdict {
        /// It needs more, which is worse.
        Higher = "higher",
        /// Any difference is smaller than the budget.
        Equal = "equal",
        /// It needs less.
        Lower = "lower",
        /// What was measured does not decide it.
        Undecided = "undecided",
    }
}

/// A metric of both arms in one cell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MetricComparison {
    /// Which one.
    pub metric: Metric,
    /// Test ÷ base, with its 95 % interval: above 1 the test arm needs more.
    pub ratio: Interval,
    /// The answer.
    pub verdict: MetricVerdict,
    /// Two-sided p-value of "the arms are equal", of this metric by itself.
    pub p_value: f64,
    /// The same among all metrics of the comparison, which are a family apart from the rates.
    pub q_value: Option<f64>,
}

/// One arm in one cell, over all its paired rounds. Costs are per statement, the unit of QPS;
/// latencies are per event. `None`: could not be observed.
#[derive(Clone, Debug, PartialEq)]
pub struct ArmSummary {
    /// The rate in the unit of the cell: geometric mean over rounds, with its 95 % interval.
    pub rate: Interval,
    /// Statements per second: geometric mean over rounds, with its 95 % interval.
    pub qps: Interval,
    /// Events per second, geometric mean over rounds.
    pub tps: f64,
    /// Server processor time per statement, microseconds.
    pub server_cpu_us_per_op: Option<f64>,
    /// Client processor time per statement, microseconds.
    pub client_cpu_us_per_op: Option<f64>,
    /// Server context switches per statement.
    pub context_switches_per_op: Option<f64>,
    /// Kilobytes (1 024) read from storage per statement.
    pub read_kb_per_op: Option<f64>,
    /// Kilobytes (1 024) written to storage per statement.
    pub written_kb_per_op: Option<f64>,
    /// Latency of events over all rounds together.
    pub latency_us: LatencyUs,
    /// Events that had to be asked again, per event.
    pub retries_per_event: f64,
    /// In the open loop.
    pub open: Option<OpenSummary>,
    /// By class, where all rounds have the same ones; empty for loads with one class.
    pub classes: Vec<ClassSummary>,
}

/// Both arms in one cell, and what follows.
#[derive(Clone, Debug, PartialEq)]
pub struct CellComparison {
    /// Which load at which client count.
    pub cell: Cell,
    /// Name of the group of its load: `point`, `range`, `range-aggregate` or `write`; `None` where
    /// it is in none.
    pub group: Option<String>,
    /// Pairs of rounds that the interval rests on.
    pub pairs: u32,
    /// Pairs that were left out, blind to their results, because the host was not as usual.
    pub pairs_dropped: u32,
    /// What the rates count.
    pub unit: RateUnit,
    /// From when latencies count.
    pub since: Since,
    /// Relative rate, test ÷ base, with its 95 % interval.
    pub rqps: Interval,
    /// What the verdict rests on.
    pub measure: VerdictMeasure,
    /// The answer.
    pub verdict: Verdict,
    /// What the interval rests on.
    pub basis: Basis,
    /// Two-sided p-value of "the arms are equal", of this cell by itself.
    pub p_value: f64,
    /// The same among all cells of the comparison: the share of false ones among those told, if
    /// this one is told. `None` for a cell that is not judged.
    pub q_value: Option<f64>,
    /// Where the doubt comes from; `None` where too little was measured to tell.
    pub levels: Option<Levels>,
    /// What a single run of each arm could have claimed; `None` where there is one run of each.
    pub single_runs: Option<SingleRuns>,
    /// The smallest change of rQPS that this many pairs of this noise would find with 80 % chance,
    /// as a share (0.02 = two points).
    pub detectable: Option<f64>,
    /// For an undecided cell: how many more pairs would probably decide it.
    pub pairs_missing: Option<u32>,
    /// About how long these would take, restarts included, at the pace of this cell. Nanoseconds.
    pub missing_ns: Option<u64>,
    /// How often the cell was looked at while it was measured, if results could end it; the
    /// interval is then one that holds for all looks together. `None`: judged once.
    pub looks: Option<u32>,
    /// What is judged beside the rate, as far as all rounds tell it. Empty where a warning
    /// withholds the verdict, where rates are given or searched for, and in steps of the Insert
    /// Benchmark.
    pub metrics: Vec<MetricComparison>,
    /// What each arm did.
    pub arms: PerArm<ArmSummary>,
    /// What the reader of this cell must know.
    pub warnings: Vec<Warning>,
}

/// The claims of those who run each arm once: a run of test against a run of base, each with each.
/// A run is a start of the servers, or a round where they were started once.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SingleRuns {
    /// How many runs of each arm there are.
    pub runs: u32,
    /// What was repeated.
    pub level: ExperimentLevel,
    /// The least rQPS that one such comparison finds.
    pub low: f64,
    /// The largest.
    pub high: f64,
}

/// Cells whose q-values belong together: those of one comparison that are judged. Their metrics are
/// a second family, under the same rule.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TestFamily {
    /// Their number.
    pub cells: u32,
    /// The number of metrics of all cells together.
    pub metrics: u32,
    /// A cell is told slower or faster, and a metric higher or lower, if its p-value is at most
    /// this,
    pub p_at_most: f64,
    /// and its q-value at most that.
    pub q_at_most: f64,
}

/// The answer to a whole run.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// What the arms are called, e.g. `mariadb:10.11 (10.11.19)`.
    pub labels: PerArm<String>,
    /// Largest difference that counts as equal, as a share of rQPS.
    pub budget: f64,
    /// One entry per load and client count, in the order of the plan.
    pub cells: Vec<CellComparison>,
    /// The steps of the Insert Benchmark among them, in its own columns.
    pub insert_benchmark: Vec<StepMetrics>,
    /// Instructions per operation, an entry for each load that was counted.
    pub counts: Vec<CountComparison>,
    /// For each load that was measured at several client counts: its curves.
    pub curves: Vec<CurveComparison>,
    /// For loads that differ in nothing but their rows: fixed cost and cost per row.
    pub costs: Vec<CostComparison>,
    /// Which cells are judged together, and by which levels.
    pub family: TestFamily,
    /// Where the arms are unequal in what is known of them.
    pub audit: Audit,
    /// What the mechanisms of reference engines did, figure by figure in each cell; empty where no
    /// arm is one.
    pub mechanisms: Vec<FigureOutcome>,
    /// What arms compared with themselves on this host were called; `None` where that was not
    /// looked up.
    pub self_tests: Option<SelfTests>,
    /// What the reader must know of the whole.
    pub warnings: Vec<Warning>,
}

/// What comparisons of an arm with itself concluded. They have no difference, so that whatever was
/// called slower or faster was called so falsely.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SelfTests {
    /// Cells of such comparisons.
    pub cells: u64,
    /// Those that were called slower or faster.
    pub wrong: u64,
    /// Their share, with its 95 % interval.
    pub share: Interval,
}

/// A condition for CI: `rqps > 0.98`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gate {
    /// Lowest acceptable rQPS.
    pub rqps_above: f64,
}

/// What a gate says of one cell, or of all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GateOutcome {
    /// The whole interval satisfies the condition.
    Holds,
    /// The whole interval violates it.
    Fails,
    /// The interval straddles the threshold, or nothing rests on it.
    CannotTell,
}

impl Gate {
    /// Parses `rqps > 0.98` (spaces are optional). There is no `>=`: an interval that begins at the
    /// limit leaves the gate open, so that it would promise more than is done.
    ///
    /// # Errors
    /// A sentence that says what a gate looks like.
    pub fn parse(text: &str) -> Result<Gate, String> {
        let usage = || {
            format!(
                "gate {text:?} is not of the form 'rqps > 0.98': rqps, the rate of TEST divided by \
                 that of BASE, and a number between 0 and 10"
            )
        };
        let rest = text.trim().strip_prefix("rqps").ok_or_else(usage)?.trim_start();
        let rest = rest.strip_prefix('>').ok_or_else(usage)?;
        if let Some(number) = rest.strip_prefix('=') {
            return Err(format!(
                "gate {text:?}: a gate has no >=, because it holds only where the whole interval of \
                 rqps lies above the number; write 'rqps > {}'",
                number.trim()
            ));
        }
        let rqps_above: f64 = rest.trim().parse().map_err(|_| usage())?;
        if !(rqps_above > 0.0 && rqps_above < 10.0) {
            return Err(format!("gate {text:?}: the threshold must lie between 0 and 10"));
        }
        Ok(Gate { rqps_above })
    }

    /// Judges an interval of rQPS.
    pub fn judge_interval(self, rqps: Interval) -> GateOutcome {
        if rqps.low > self.rqps_above {
            GateOutcome::Holds
        } else if rqps.high < self.rqps_above {
            GateOutcome::Fails
        } else {
            GateOutcome::CannotTell
        }
    }

    /// Judges a cell. Nothing rests on a rate where a warning blocks the verdict, nor where rates
    /// are given and response times are what is measured.
    pub fn judge_cell(self, cell: &CellComparison) -> GateOutcome {
        let is_given = matches!(cell.measure, VerdictMeasure::Response { .. });
        if is_given || cell.warnings.iter().any(|warning| warning.severity == Severity::Blocks) {
            return GateOutcome::CannotTell;
        }
        self.judge_interval(cell.rqps)
    }

    /// Judges all cells: one failure fails, one doubt leaves a doubt.
    pub fn judge_all(self, cells: &[CellComparison]) -> GateOutcome {
        let outcomes: Vec<_> = cells.iter().map(|cell| self.judge_cell(cell)).collect();
        if outcomes.contains(&GateOutcome::Fails) {
            GateOutcome::Fails
        } else if outcomes.is_empty() || outcomes.contains(&GateOutcome::CannotTell) {
            GateOutcome::CannotTell
        } else {
            GateOutcome::Holds
        }
    }
}

impl fmt::Display for Gate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "rqps > {}", self.rqps_above)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gates_parse_or_explain() {
        assert_eq!(Gate::parse("rqps>0.98").unwrap().rqps_above, 0.98);
        assert_eq!(Gate::parse(" rqps > 0.9 ").unwrap().rqps_above, 0.9);
        let refused = Gate::parse(" rqps >= 0.9 ").unwrap_err();
        assert!(refused.ends_with("write 'rqps > 0.9'"), "{refused}");
        for wrong in
            ["", "qps > 1", "rqps < 1", "rqps <= 1", "rqps > fast", "rqps > -1", "rqps > NaN"]
        {
            assert!(Gate::parse(wrong).is_err(), "{wrong:?} was taken");
        }
    }

    #[test]
    fn a_gate_needs_the_whole_interval() {
        let gate = Gate { rqps_above: 0.98 };
        let rqps = |low, high| Interval { estimate: (low + high) / 2.0, low, high };
        assert_eq!(gate.judge_interval(rqps(0.99, 1.01)), GateOutcome::Holds);
        assert_eq!(gate.judge_interval(rqps(0.90, 0.97)), GateOutcome::Fails);
        assert_eq!(gate.judge_interval(rqps(0.97, 1.01)), GateOutcome::CannotTell);
        assert_eq!(gate.judge_all(&[]), GateOutcome::CannotTell);
    }
}
