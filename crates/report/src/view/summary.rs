//! The answer, in the words of the JSON contract.

use dbdyno_model::{
    ArmSummary, Cell, CellComparison, ClassSummary, Comparison, LatencyUs, Percentile, RateUnit,
    Run, Severity, VerdictMeasure, Warning,
};
use serde::Serialize;

use super::audit::AuditView;
use super::counts::CountView;
use super::curve::{CostView, CurveView};
use super::doubt::{DoubtView, FamilyView};
use super::insert_benchmark::StepView;
use super::mechanism::MechanismView;
use super::metric::MetricView;
use super::values::{VerdictView, WarningView, if_finite};

/// Version of the JSON contract of two arms; grows when a name is removed or changes its meaning.
const SCHEMA: u32 = 1;

/// The answer to a run. The names of the fields are the JSON contract.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Summary {
    /// Version of this contract.
    pub schema: u32,
    /// The version of dbdyno that measured.
    pub tool_version: String,
    /// Name of the run in the store.
    pub run: String,
    /// Name given by the user.
    pub name: Option<String>,
    /// `partial`, `interrupted` or `complete`.
    pub status: String,
    /// The command that reproduces the run.
    pub command: String,
    /// When the run began, milliseconds since 1970.
    pub started_unix_ms: u64,
    /// Seed of data, questions and order.
    pub seed: u64,
    /// `closed`, `rate …` or `find-max …`: who decided when events were sent.
    pub driving: String,
    /// Largest difference of rQPS that counts as equal, as a share.
    pub budget: Option<f64>,
    /// The reference arm.
    pub base: LabelView,
    /// The arm under test.
    pub test: LabelView,
    /// One entry per load and client count.
    pub cells: Vec<CellView>,
    /// The steps of the Insert Benchmark among them, in its own columns.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub insert_benchmark: Vec<StepView>,
    /// The rate over clients, for each load that was measured at several client counts.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub curves: Vec<CurveView>,
    /// The cost over rows, for loads that differ in nothing else.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub costs: Vec<CostView>,
    /// Instructions per operation, an entry for each load that was counted.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub counts: Vec<CountView>,
    /// What the mechanisms of reference engines did.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub mechanisms: Vec<MechanismView>,
    /// What the reader must know of the whole run, each once.
    pub warnings: Vec<WarningView>,
    /// Which cells were judged together.
    pub family: FamilyView,
    /// Where the arms are unequal.
    pub audit: AuditView,
    /// What comparisons of an arm with itself concluded on this host; null where not looked up.
    pub self_tests: Option<SelfTestsView>,
}

/// What comparisons of an arm with itself concluded.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct SelfTestsView {
    /// Cells of such comparisons.
    pub cells: u64,
    /// Those that were called slower or faster.
    pub wrong: u64,
    /// Their share.
    pub wrong_share: f64,
    /// The lower end of its 95 % interval.
    pub wrong_share_low: f64,
    /// The upper end.
    pub wrong_share_high: f64,
}

/// What an arm is called.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LabelView {
    /// For example `mariadb:10.11 (10.11.19)`.
    pub label: String,
}

/// Both arms under one load at one client count.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CellView {
    /// Name of the load.
    pub load: String,
    /// Number of concurrent clients.
    pub clients: u32,
    /// What its load does: `point`, `range`, `range-aggregate` or `write`; null where it does none
    /// of these.
    pub group: Option<String>,
    /// What `rate` counts, and `rqps` compares: `queries/s`, `rows/s` or `transactions/min`.
    pub unit: &'static str,
    /// From when `latency_us` counts: `sent`, or `intended` where clients rest between events.
    pub latency_since: &'static str,
    /// Relative rate, test ÷ base.
    pub rqps: Option<f64>,
    /// Lower end of its 95 % interval; `None`: not bounded.
    pub rqps_low: Option<f64>,
    /// Upper end of its 95 % interval; `None`: not bounded.
    pub rqps_high: Option<f64>,
    /// What the verdict rests on: `rate` (that of `unit`), `response` (response times at a
    /// rate), or `max_rate` (the highest rate of events at which the condition holds, which then
    /// stands in `rqps`).
    pub measure: &'static str,
    /// Response times at a rate, test ÷ base.
    pub response_ratio: Option<ResponseRatio>,
    /// The answer.
    pub verdict: VerdictView,
    /// What the interval rests on; its names stand beside the others.
    #[serde(flatten)]
    pub doubt: DoubtView,
    /// Pairs of rounds behind it.
    pub pairs: u32,
    /// Pairs that were left out because the host was not as usual.
    pub pairs_dropped: u32,
    /// Smallest change of rQPS that would probably be found, as a share.
    pub detectable: Option<f64>,
    /// How many more pairs would probably decide an undecided cell.
    pub pairs_missing: Option<u32>,
    /// About how long these would take, minutes.
    pub minutes_missing: Option<f64>,
    /// How often the cell was looked at; the interval holds for all looks together. `None`: judged
    /// once.
    pub looks: Option<u32>,
    /// What is judged beside the rate; empty where nothing is.
    pub metrics: Vec<MetricView>,
    /// What the reference arm did.
    pub base: ArmView,
    /// What the arm under test did.
    pub test: ArmView,
    /// What the reader of this cell must know.
    pub warnings: Vec<WarningView>,
    /// Whether a caution of the whole run speaks against this cell.
    #[serde(skip)]
    pub is_doubted_by_run: bool,
}

/// Ratios of response times, test ÷ base: above 1 the test arm answers later.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ResponseRatio {
    /// Ratio of the medians.
    pub p50: Option<f64>,
    /// Lower end of its 95 % interval; `None`: not bounded.
    pub p50_low: Option<f64>,
    /// Upper end of its 95 % interval; `None`: not bounded.
    pub p50_high: Option<f64>,
    /// Ratio of the 99th percentiles.
    pub p99: Option<f64>,
    /// Lower end of its 95 % interval; `None`: not bounded.
    pub p99_low: Option<f64>,
    /// Upper end of its 95 % interval; `None`: not bounded.
    pub p99_high: Option<f64>,
    /// Which of the two is told first: `p50` or `p99`.
    pub telling: &'static str,
}

/// The ratio that a verdict rests on, test ÷ base, and its interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Effect {
    pub ratio: Option<f64>,
    pub low: Option<f64>,
    pub high: Option<f64>,
}

/// One arm in one cell. Costs are per statement, latencies and retries per event.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ArmView {
    /// The rate in the unit of the cell.
    pub rate: Option<f64>,
    /// Lower end of the 95 % interval of `rate`.
    pub rate_low: Option<f64>,
    /// Upper end of the 95 % interval of `rate`.
    pub rate_high: Option<f64>,
    /// Statements per second.
    pub qps: Option<f64>,
    /// Lower end of the 95 % interval of `qps`.
    pub qps_low: Option<f64>,
    /// Upper end of the 95 % interval of `qps`.
    pub qps_high: Option<f64>,
    /// Events per second.
    pub tps: Option<f64>,
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
    /// Events asked again, per event.
    pub retries_per_event: Option<f64>,
    /// New-Orders per minute, as they were counted; TPC-C only, and missing elsewhere.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tpm_c: Option<f64>,
    /// Transactions per minute; TPC-C only, and missing elsewhere.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tpm_total: Option<f64>,
    /// Latency of events: from sending to the answer.
    pub latency_us: LatencyView,
    /// In the open loop, response times: from the moment at which an event should have been sent.
    pub response_us: Option<LatencyView>,
    /// How late the generator itself sent.
    pub lag_us: Option<LatencyView>,
    /// Events per second that were meant.
    pub offered_per_second: Option<f64>,
    /// Events per second that were answered in time.
    pub achieved_per_second: Option<f64>,
    /// Events that were given up; their response times are at least what was counted.
    pub unanswered: Option<u64>,
    /// The highest rate of events at which the condition holds.
    pub max_rate: Option<f64>,
    /// Lower end of its 95 % interval.
    pub max_rate_low: Option<f64>,
    /// Upper end of its 95 % interval.
    pub max_rate_high: Option<f64>,
    /// By class; empty where the load has one class only.
    pub classes: Vec<ClassView>,
}

/// One class of events or statements in one arm.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ClassView {
    /// Its name.
    pub class: String,
    /// What is counted under it: `events` or `statements`.
    pub counts: &'static str,
    /// How often it came in a second.
    pub per_second: Option<f64>,
    /// Latency of its events; `None` for classes of statements.
    pub latency_us: Option<LatencyView>,
    /// In the open loop, their response times.
    pub response_us: Option<LatencyView>,
}

/// The class of TPC-C's New-Orders.
const NEW_ORDER: &str = "new-order";

/// Percentiles of event latency in microseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct LatencyView {
    /// Median.
    pub p50: Option<f64>,
    /// 95th percentile.
    pub p95: Option<f64>,
    /// 99th percentile.
    pub p99: Option<f64>,
    /// 99.9th percentile.
    pub p999: Option<f64>,
    /// Largest.
    pub max: Option<f64>,
}

impl Summary {
    pub(crate) fn new(run: &Run, comparison: &Comparison) -> Summary {
        let label = |label: &String| LabelView { label: label.clone() };
        let labels = [&*comparison.labels.base, &*comparison.labels.test];
        let warnings = distinct(run.warnings.iter().chain(&comparison.warnings));
        let mut cells: Vec<CellView> = comparison.cells.iter().map(CellView::new).collect();
        for (view, cell) in cells.iter_mut().zip(&comparison.cells) {
            view.is_doubted_by_run = is_doubted(&cell.cell, &warnings);
        }
        Summary {
            schema: SCHEMA,
            tool_version: run.tool_version.clone(),
            run: run.id.0.clone(),
            name: run.name.clone(),
            status: run.status.name().to_owned(),
            command: run.command.clone(),
            started_unix_ms: run.started_unix_ms,
            seed: run.plan.question.seed,
            driving: run.plan.question.driving.to_string(),
            budget: if_finite(comparison.budget),
            base: label(&comparison.labels.base),
            test: label(&comparison.labels.test),
            cells,
            insert_benchmark: comparison
                .insert_benchmark
                .iter()
                .map(|step| StepView::new(step, labels))
                .collect(),
            curves: comparison.curves.iter().map(CurveView::new).collect(),
            costs: comparison.costs.iter().map(CostView::new).collect(),
            counts: comparison.counts.iter().map(CountView::new).collect(),
            warnings,
            family: FamilyView::new(&comparison.family),
            audit: AuditView::new(&comparison.audit),
            mechanisms: comparison.mechanisms.iter().map(MechanismView::from).collect(),
            self_tests: comparison.self_tests.map(|tests| SelfTestsView {
                cells: tests.cells,
                wrong: tests.wrong,
                wrong_share: tests.share.estimate,
                wrong_share_low: tests.share.low,
                wrong_share_high: tests.share.high,
            }),
        }
    }
}

impl CellView {
    fn new(cell: &CellComparison) -> CellView {
        // Without a pair there is no estimate, whatever number stands in its place.
        let known = |value: f64| if_finite(value).filter(|_| cell.pairs > 0);
        let low = |value: f64| lower_bound(value).filter(|_| cell.pairs > 0);
        CellView {
            load: cell.cell.load.clone(),
            clients: cell.cell.clients,
            group: cell.group.clone(),
            unit: cell.unit.name(),
            latency_since: cell.since.name(),
            rqps: known(cell.rqps.estimate),
            rqps_low: low(cell.rqps.low),
            rqps_high: known(cell.rqps.high),
            measure: match cell.measure {
                VerdictMeasure::Rate => "rate",
                VerdictMeasure::Response { .. } => "response",
                VerdictMeasure::MaxRate => "max_rate",
            },
            response_ratio: match cell.measure {
                VerdictMeasure::Response { p50, p99, telling } => Some(ResponseRatio {
                    p50: known(p50.estimate),
                    p50_low: low(p50.low),
                    p50_high: known(p50.high),
                    p99: known(p99.estimate),
                    p99_low: low(p99.low),
                    p99_high: known(p99.high),
                    telling: telling.name(),
                }),
                VerdictMeasure::Rate | VerdictMeasure::MaxRate => None,
            },
            verdict: VerdictView(cell.verdict),
            doubt: DoubtView::new(cell),
            pairs: cell.pairs,
            pairs_dropped: cell.pairs_dropped,
            detectable: cell.detectable.and_then(if_finite),
            pairs_missing: cell.pairs_missing,
            minutes_missing: cell.missing_ns.map(|ns| ns as f64 / 60e9),
            looks: cell.looks,
            metrics: cell.metrics.iter().map(MetricView::from).collect(),
            base: ArmView::new(cell.unit, &cell.arms.base, &known),
            test: ArmView::new(cell.unit, &cell.arms.test, &known),
            warnings: distinct(cell.warnings.iter()),
            is_doubted_by_run: false,
        }
    }

    /// The ratio that the verdict rests on.
    pub(crate) fn effect(&self) -> Effect {
        match &self.response_ratio {
            Some(times) if times.telling == Percentile::P50.name() => {
                Effect { ratio: times.p50, low: times.p50_low, high: times.p50_high }
            }
            Some(times) => Effect { ratio: times.p99, low: times.p99_low, high: times.p99_high },
            None => Effect { ratio: self.rqps, low: self.rqps_low, high: self.rqps_high },
        }
    }

    /// Whether a warning forbids a verdict.
    pub fn is_blocked(&self) -> bool {
        self.warnings.iter().any(|warning| warning.severity == Severity::Blocks.name())
    }
}

impl ArmView {
    fn new(unit: RateUnit, arm: &ArmSummary, known: &dyn Fn(f64) -> Option<f64>) -> ArmView {
        let tpcc = unit == RateUnit::Transactions;
        let per_minute = |per_second: f64| known(per_second * 60.0).filter(|_| tpcc);
        let new_order = arm.classes.iter().find(|class| class.name == NEW_ORDER);
        let open = arm.open.as_ref();
        let found = open.and_then(|open| open.max_rate);
        ArmView {
            rate: known(arm.rate.estimate),
            rate_low: known(arm.rate.low).and_then(lower_bound),
            rate_high: known(arm.rate.high),
            qps: known(arm.qps.estimate),
            qps_low: known(arm.qps.low).and_then(lower_bound),
            qps_high: known(arm.qps.high),
            tps: known(arm.tps),
            server_cpu_us_per_op: arm.server_cpu_us_per_op.and_then(known),
            client_cpu_us_per_op: arm.client_cpu_us_per_op.and_then(known),
            context_switches_per_op: arm.context_switches_per_op.and_then(known),
            read_kb_per_op: arm.read_kb_per_op.and_then(known),
            written_kb_per_op: arm.written_kb_per_op.and_then(known),
            retries_per_event: known(arm.retries_per_event),
            tpm_c: new_order.and_then(|class| per_minute(class.per_second)),
            tpm_total: per_minute(arm.tps),
            latency_us: LatencyView::new(&arm.latency_us, known),
            response_us: open.map(|open| LatencyView::new(&open.response_us, known)),
            lag_us: open.map(|open| LatencyView::new(&open.lag_us, known)),
            offered_per_second: open.and_then(|open| known(open.offered_per_second)),
            achieved_per_second: open.and_then(|open| known(open.achieved_per_second)),
            unanswered: open.map(|open| open.unanswered),
            max_rate: found.and_then(|found| known(found.estimate)),
            max_rate_low: found.and_then(|found| known(found.low)).and_then(lower_bound),
            max_rate_high: found.and_then(|found| known(found.high)),
            classes: arm.classes.iter().map(|class| ClassView::new(class, known)).collect(),
        }
    }
}

impl ClassView {
    fn new(class: &ClassSummary, known: &dyn Fn(f64) -> Option<f64>) -> ClassView {
        let view = |latency: &Option<LatencyUs>| {
            latency.as_ref().map(|latency| LatencyView::new(latency, known))
        };
        ClassView {
            class: class.name.clone(),
            counts: class.counted.name(),
            per_second: known(class.per_second),
            latency_us: view(&class.latency_us),
            response_us: view(&class.response_us),
        }
    }
}

impl LatencyView {
    fn new(latency: &LatencyUs, known: &dyn Fn(f64) -> Option<f64>) -> LatencyView {
        LatencyView {
            p50: known(latency.p50),
            p95: known(latency.p95),
            p99: known(latency.p99),
            p999: known(latency.p999),
            max: known(latency.max),
        }
    }
}

/// Rates and ratios are estimated as logarithms, where zero lies infinitely far away: it bounds
/// nothing.
fn lower_bound(value: f64) -> Option<f64> {
    if_finite(value).filter(|&low| low > 0.0)
}

/// Cautions of a run that speak against each of its cells: who else was at work, and who made the
/// programs.
const OF_EACH_CELL: [&str; 5] =
    ["another-dbdyno", "different-builders", "foreign-load", "steal", "waiting-arm-busy"];
/// A caution of a run that speaks against the cell that it names.
const OF_NAMED_CELL: &str = "not-steady";

/// Whether any of the warnings of a run speaks against a cell.
fn is_doubted(cell: &Cell, warnings: &[WarningView]) -> bool {
    let place = format!(", {cell}:");
    warnings.iter().any(|warning| {
        let code = warning.code.as_str();
        OF_EACH_CELL.contains(&code) || code == OF_NAMED_CELL && warning.text.contains(&place)
    })
}

fn distinct<'a>(warnings: impl Iterator<Item = &'a Warning>) -> Vec<WarningView> {
    let mut views: Vec<WarningView> = Vec::new();
    for warning in warnings {
        let view = WarningView::new(warning);
        if !views.contains(&view) {
            views.push(view);
        }
    }
    views
}
