//! CSV: one row per cell, the names of the JSON contract flattened with `_`, and below it one row
//! for each of its classes.
//!
//! ```text
//!   load        clients  class      base_tps  base_latency_us_p99 …
//!   tpcc        4                   312       9120                     the cell
//!   tpcc        4        new-order  138       7400                     what is known by class
//! ```
//!
//! Instructions are counted with one client, whatever the cell has: they stand in the row of each
//! cell of a load, and in a row of their own where no rate of the load was measured.
//!
//! An empty field is what `null` is in JSON. Numbers have a decimal point and no grouping.

use dbdyno_document::csv::{line, number};
use dbdyno_model::Metric;

use crate::view::{ArmView, CellView, ClassView, CountView, LabelView, MetricView, View};

pub(crate) type OfArm = fn(&ArmView) -> Option<f64>;

pub(crate) const ARM_COLUMNS: [(&str, OfArm); 32] = [
    ("qps", |arm| arm.qps),
    ("qps_low", |arm| arm.qps_low),
    ("qps_high", |arm| arm.qps_high),
    ("tps", |arm| arm.tps),
    ("server_cpu_us_per_op", |arm| arm.server_cpu_us_per_op),
    ("client_cpu_us_per_op", |arm| arm.client_cpu_us_per_op),
    ("context_switches_per_op", |arm| arm.context_switches_per_op),
    ("read_kb_per_op", |arm| arm.read_kb_per_op),
    ("written_kb_per_op", |arm| arm.written_kb_per_op),
    ("retries_per_event", |arm| arm.retries_per_event),
    ("latency_us_p50", |arm| arm.latency_us.p50),
    ("latency_us_p95", |arm| arm.latency_us.p95),
    ("latency_us_p99", |arm| arm.latency_us.p99),
    ("latency_us_p999", |arm| arm.latency_us.p999),
    ("latency_us_max", |arm| arm.latency_us.max),
    ("response_us_p50", |arm| arm.response_us?.p50),
    ("response_us_p95", |arm| arm.response_us?.p95),
    ("response_us_p99", |arm| arm.response_us?.p99),
    ("response_us_p999", |arm| arm.response_us?.p999),
    ("response_us_max", |arm| arm.response_us?.max),
    ("lag_us_p99", |arm| arm.lag_us?.p99),
    ("offered_per_second", |arm| arm.offered_per_second),
    ("achieved_per_second", |arm| arm.achieved_per_second),
    ("unanswered", |arm| arm.unanswered.map(|events| events as f64)),
    ("max_rate", |arm| arm.max_rate),
    ("max_rate_low", |arm| arm.max_rate_low),
    ("max_rate_high", |arm| arm.max_rate_high),
    ("rate", |arm| arm.rate),
    ("rate_low", |arm| arm.rate_low),
    ("rate_high", |arm| arm.rate_high),
    ("tpm_c", |arm| arm.tpm_c),
    ("tpm_total", |arm| arm.tpm_total),
];

/// What is judged beside the rate: what its columns begin with, and what they end with.
const METRICS: [(&str, Metric); 2] = [("server_cpu", Metric::ServerCpu), ("p99", Metric::P99)];
const METRIC_COLUMNS: [&str; 4] = ["ratio", "ratio_low", "ratio_high", "verdict"];

const CELL_COLUMNS: [&str; 46] = [
    "run",
    "status",
    "load",
    "clients",
    "group",
    "rqps",
    "rqps_low",
    "rqps_high",
    "measure",
    "response_ratio_p50",
    "response_ratio_p50_low",
    "response_ratio_p50_high",
    "response_ratio_p99",
    "response_ratio_p99_low",
    "response_ratio_p99_high",
    "verdict",
    "pairs",
    "pairs_dropped",
    "detectable",
    "pairs_missing",
    "minutes_missing",
    "looks",
    "unit",
    "latency_since",
    "interval",
    "interval_why",
    "replicates",
    "replicate_count",
    "p_value",
    "q_value",
    "single_runs_runs",
    "single_runs_level",
    "single_runs_low",
    "single_runs_high",
    "share_pair",
    "share_life",
    "share_filling",
    "base_instructions_per_op",
    "test_instructions_per_op",
    "instructions_ratio",
    "instructions_ratio_low",
    "instructions_ratio_high",
    "instructions_verdict",
    "instructions_repeats",
    "instructions_warnings",
    "class",
];

/// One row per cell, and one per class of it, under a row of names. In the row of a class stand its
/// name and what is known by class: `tps` of a class of events, `qps` of one of statements, times.
/// `warnings` holds the codes of the cell and of the whole
/// run, separated by spaces.
pub fn csv(view: &View) -> String {
    let mut csv = line(header());
    for cell in &view.summary.cells {
        csv.push_str(&line(row(view, cell)));
        let classes = cell.base.classes.iter().map(|class| &*class.class);
        classes.for_each(|class| csv.push_str(&line(class_row(view, cell, class))));
    }
    let is_alone =
        |count: &&CountView| !view.summary.cells.iter().any(|cell| cell.load == count.load);
    for count in view.summary.counts.iter().filter(is_alone) {
        csv.push_str(&line(count_row(view, count)));
    }
    csv
}

fn header() -> Vec<String> {
    let mut names: Vec<String> = CELL_COLUMNS.map(str::to_owned).to_vec();
    for arm in ["base", "test"] {
        names.push(format!("{arm}_label"));
        names.extend(ARM_COLUMNS.iter().map(|(name, _)| format!("{arm}_{name}")));
    }
    names.push("warnings".to_owned());
    names.extend(metric_columns());
    names
}

/// The columns of what is judged beside the rate.
pub(crate) fn metric_columns() -> impl Iterator<Item = String> {
    METRICS
        .into_iter()
        .flat_map(|(name, _)| METRIC_COLUMNS.map(|column| format!("{name}_{column}")))
}

fn row(view: &View, cell: &CellView) -> Vec<String> {
    let summary = &view.summary;
    let times = cell.response_ratio.as_ref();
    let single = cell.doubt.single_runs.as_ref();
    let share = |name: &str| {
        let level = cell.doubt.levels.iter().find(|level| level.level == name);
        number(level.and_then(|level| level.share))
    };
    let mut fields = vec![
        summary.run.clone(),
        summary.status.clone(),
        cell.load.clone(),
        cell.clients.to_string(),
        cell.group.clone().unwrap_or_default(),
        number(cell.rqps),
        number(cell.rqps_low),
        number(cell.rqps_high),
        cell.measure.to_owned(),
        number(times.and_then(|times| times.p50)),
        number(times.and_then(|times| times.p50_low)),
        number(times.and_then(|times| times.p50_high)),
        number(times.and_then(|times| times.p99)),
        number(times.and_then(|times| times.p99_low)),
        number(times.and_then(|times| times.p99_high)),
        cell.verdict.0.name().to_owned(),
        cell.pairs.to_string(),
        cell.pairs_dropped.to_string(),
        number(cell.detectable),
        cell.pairs_missing.map_or(String::new(), |pairs| pairs.to_string()),
        number(cell.minutes_missing),
        cell.looks.map_or(String::new(), |looks| looks.to_string()),
        cell.unit.to_owned(),
        cell.latency_since.to_owned(),
        cell.doubt.interval.to_owned(),
        cell.doubt.interval_why.clone(),
        cell.doubt.replicates.to_owned(),
        cell.doubt.replicate_count.to_string(),
        number(cell.doubt.p_value),
        number(cell.doubt.q_value),
        single.map_or_else(String::new, |single| single.runs.to_string()),
        single.map_or_else(String::new, |single| single.level.to_owned()),
        number(single.and_then(|single| single.low)),
        number(single.and_then(|single| single.high)),
        share("pair"),
        share("life"),
        share("filling"),
    ];
    fields.extend(counted(summary.counts.iter().find(|count| count.load == cell.load)));
    fields.push(String::new());
    fields.extend(arm(&summary.base, &cell.base));
    fields.extend(arm(&summary.test, &cell.test));
    let warnings = cell.warnings.iter().chain(&summary.warnings);
    let codes: Vec<&str> = warnings.map(|warning| warning.code.as_str()).collect();
    fields.push(codes.join(" "));
    fields.extend(metrics(&cell.metrics));
    fields
}

/// What is judged beside the rate, in the columns of that.
pub(crate) fn metrics(judged: &[MetricView]) -> Vec<String> {
    let of = |(_, metric): (&str, Metric)| -> [String; 4] {
        let found = judged.iter().find(|found| found.metric == metric.name());
        found.map_or_else(Default::default, |found| {
            let ratios = [found.ratio, found.ratio_low, found.ratio_high];
            let [ratio, low, high] = ratios.map(number);
            [ratio, low, high, found.verdict.name().to_owned()]
        })
    };
    METRICS.into_iter().flat_map(of).collect()
}

/// What was counted of a load, in the columns of that.
fn counted(count: Option<&CountView>) -> [String; 8] {
    let Some(count) = count else { return Default::default() };
    let codes: Vec<&str> = count.warnings.iter().map(|warning| &*warning.code).collect();
    [
        number(count.base.instructions_per_op),
        number(count.test.instructions_per_op),
        number(count.ratio),
        number(count.ratio_low),
        number(count.ratio_high),
        count.verdict.name().to_owned(),
        count.repeats.to_string(),
        codes.join(" "),
    ]
}

/// The row of a load that was counted and not measured.
fn count_row(view: &View, count: &CountView) -> Vec<String> {
    let summary = &view.summary;
    let mut fields = with(&[
        ("run", &summary.run),
        ("status", &summary.status),
        ("load", &count.load),
        ("clients", "1"),
    ]);
    let first = CELL_COLUMNS.iter().position(|column| *column == "base_instructions_per_op");
    let first = first.expect("the table of columns has it");
    fields.splice(first..first + 8, counted(Some(count)));
    let nothing = ArmView::default();
    fields.extend(arm(&summary.base, &nothing));
    fields.extend(arm(&summary.test, &nothing));
    let codes: Vec<&str> = summary.warnings.iter().map(|warning| &*warning.code).collect();
    fields.push(codes.join(" "));
    fields.extend(metrics(&[]));
    fields
}

/// The columns of a cell, empty but for these.
fn with(values: &[(&str, &str)]) -> Vec<String> {
    let mut fields = vec![String::new(); CELL_COLUMNS.len()];
    for (name, value) in values {
        let at = CELL_COLUMNS.iter().position(|column| column == name);
        fields[at.expect("the table of columns has it")] = (*value).to_owned();
    }
    fields
}

fn class_row(view: &View, cell: &CellView, class: &str) -> Vec<String> {
    let summary = &view.summary;
    let mut fields = with(&[
        ("run", &summary.run),
        ("status", &summary.status),
        ("load", &cell.load),
        ("clients", &cell.clients.to_string()),
        ("latency_since", cell.latency_since),
        ("class", class),
    ]);
    let of = |arm: &ArmView| {
        let found = arm.classes.iter().find(|found| found.class == class);
        found.map(as_arm).unwrap_or_default()
    };
    fields.extend(arm(&summary.base, &of(&cell.base)));
    fields.extend(arm(&summary.test, &of(&cell.test)));
    fields.push(String::new());
    fields.extend(metrics(&[]));
    fields
}

/// What is known of a class, in the columns of arms.
fn as_arm(class: &ClassView) -> ArmView {
    let of_events = class.latency_us.is_some();
    ArmView {
        tps: class.per_second.filter(|_| of_events),
        qps: class.per_second.filter(|_| !of_events),
        latency_us: class.latency_us.unwrap_or_default(),
        response_us: class.response_us,
        ..ArmView::default()
    }
}

fn arm(label: &LabelView, arm: &ArmView) -> Vec<String> {
    let mut fields = vec![label.label.clone()];
    fields.extend(ARM_COLUMNS.iter().map(|(_, pick)| number(pick(arm))));
    fields
}
