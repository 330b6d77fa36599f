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

use dbdyno_document::csv::{number_field, record_line};
use dbdyno_model::{Arm, Metric, PerArm};

use crate::view::{
    ArmView, CellView, ClassView, CountView, MetricView, Summary, View, WarningView,
};

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

type OfCell = fn(&CellView) -> String;

/// Columns of a cell, before and behind the one that says what latencies count from.
const CELL_COLUMNS: [(&str, OfCell); 19] = [
    ("group", |cell| cell.group.clone().unwrap_or_default()),
    ("rqps", |cell| number_field(cell.rqps)),
    ("rqps_low", |cell| number_field(cell.rqps_low)),
    ("rqps_high", |cell| number_field(cell.rqps_high)),
    ("measure", |cell| cell.measure.to_owned()),
    ("response_ratio_p50", |cell| number_field(cell.response_ratio.as_ref().and_then(|of| of.p50))),
    ("response_ratio_p50_low", |cell| {
        number_field(cell.response_ratio.as_ref().and_then(|of| of.p50_low))
    }),
    ("response_ratio_p50_high", |cell| {
        number_field(cell.response_ratio.as_ref().and_then(|of| of.p50_high))
    }),
    ("response_ratio_p99", |cell| number_field(cell.response_ratio.as_ref().and_then(|of| of.p99))),
    ("response_ratio_p99_low", |cell| {
        number_field(cell.response_ratio.as_ref().and_then(|of| of.p99_low))
    }),
    ("response_ratio_p99_high", |cell| {
        number_field(cell.response_ratio.as_ref().and_then(|of| of.p99_high))
    }),
    ("verdict", |cell| cell.verdict.0.name().to_owned()),
    ("pairs", |cell| cell.pairs.to_string()),
    ("pairs_dropped", |cell| cell.pairs_dropped.to_string()),
    ("detectable", |cell| number_field(cell.detectable)),
    ("pairs_missing", |cell| text(cell.pairs_missing)),
    ("minutes_missing", |cell| number_field(cell.minutes_missing)),
    ("looks", |cell| text(cell.looks)),
    ("unit", |cell| cell.unit.to_owned()),
];
const LATENCY_SINCE: &str = "latency_since";
const DOUBT_COLUMNS: [(&str, OfCell); 13] = [
    ("interval", |cell| cell.doubt.interval.to_owned()),
    ("interval_why", |cell| cell.doubt.interval_why.clone()),
    ("replicates", |cell| cell.doubt.replicates.to_owned()),
    ("replicate_count", |cell| cell.doubt.replicate_count.to_string()),
    ("p_value", |cell| number_field(cell.doubt.p_value)),
    ("q_value", |cell| number_field(cell.doubt.q_value)),
    ("single_runs_runs", |cell| text(cell.doubt.single_runs.as_ref().map(|of| of.runs))),
    ("single_runs_level", |cell| text(cell.doubt.single_runs.as_ref().map(|of| of.level))),
    ("single_runs_low", |cell| number_field(cell.doubt.single_runs.as_ref().and_then(|of| of.low))),
    ("single_runs_high", |cell| {
        number_field(cell.doubt.single_runs.as_ref().and_then(|of| of.high))
    }),
    ("share_pair", |cell| share(cell, "pair")),
    ("share_life", |cell| share(cell, "life")),
    ("share_filling", |cell| share(cell, "filling")),
];

type OfCount = fn(&CountView) -> String;

/// What was counted of a load.
const COUNT_COLUMNS: [(&str, OfCount); 8] = [
    ("base_instructions_per_op", |count| number_field(count.base.instructions_per_op)),
    ("test_instructions_per_op", |count| number_field(count.test.instructions_per_op)),
    ("instructions_ratio", |count| number_field(count.ratio)),
    ("instructions_ratio_low", |count| number_field(count.ratio_low)),
    ("instructions_ratio_high", |count| number_field(count.ratio_high)),
    ("instructions_verdict", |count| count.verdict.name().to_owned()),
    ("instructions_repeats", |count| count.repeats.to_string()),
    ("instructions_warnings", |count| codes(&count.warnings)),
];

/// Of what a row is. What is missing is empty.
#[derive(Default)]
struct CsvRow<'a> {
    load: &'a str,
    clients: u32,
    cell: Option<&'a CellView>,
    latency_since: &'a str,
    count: Option<&'a CountView>,
    class: &'a str,
    arms: PerArm<ArmView>,
    warnings: String,
}

/// One row per cell, and one per class of it, under a row of names. In the row of a class stand its
/// name and what is known by class: `tps` of a class of events, `qps` of one of statements, times.
/// `warnings` holds the codes of the cell and of the whole
/// run, separated by spaces.
pub fn csv(view: &View) -> String {
    let Summary { cells, counts, warnings, .. } = &view.summary;
    let mut rows = Vec::new();
    for cell in cells {
        let CellView { load, clients, latency_since, .. } = cell;
        let place = CsvRow { load, clients: *clients, latency_since, ..CsvRow::default() };
        let all: Vec<WarningView> = cell.warnings.iter().chain(warnings).cloned().collect();
        rows.push(CsvRow {
            cell: Some(cell),
            count: counts.iter().find(|count| count.load == *load),
            arms: PerArm { base: cell.base.clone(), test: cell.test.clone() },
            warnings: codes(&all),
            ..place
        });
        for ClassView { class, .. } in &cell.base.classes {
            let arms = PerArm { base: &cell.base, test: &cell.test };
            let arms = arms.map(|arm| {
                let found = arm.classes.iter().find(|found| found.class == *class);
                found.map(as_arm).unwrap_or_default()
            });
            rows.push(CsvRow {
                load,
                clients: *clients,
                latency_since,
                class,
                arms,
                ..CsvRow::default()
            });
        }
    }
    for count in counts.iter().filter(|count| !cells.iter().any(|cell| cell.load == count.load)) {
        let (load, warnings) = (count.load.as_str(), codes(warnings));
        rows.push(CsvRow { load, clients: 1, count: Some(count), warnings, ..CsvRow::default() });
    }
    let rows = rows.iter().map(|row| record_line(fields(&view.summary, row)));
    record_line(header()) + &rows.collect::<String>()
}

fn header() -> Vec<String> {
    let mut names = vec!["run", "status", "load", "clients"];
    names.extend(CELL_COLUMNS.iter().map(|(name, _)| *name));
    names.push(LATENCY_SINCE);
    names.extend(DOUBT_COLUMNS.iter().map(|(name, _)| *name));
    names.extend(COUNT_COLUMNS.iter().map(|(name, _)| *name));
    names.push("class");
    let mut names: Vec<String> = names.into_iter().map(str::to_owned).collect();
    for arm in Arm::BOTH {
        names.push(format!("{arm}_label"));
        names.extend(ARM_COLUMNS.iter().map(|(name, _)| format!("{arm}_{name}")));
    }
    names.push("warnings".to_owned());
    names.extend(metric_columns());
    names
}

fn fields(summary: &Summary, row: &CsvRow<'_>) -> Vec<String> {
    let mut fields = vec![summary.run.clone(), summary.status.clone()];
    fields.extend([row.load.to_owned(), row.clients.to_string()]);
    fields.extend(CELL_COLUMNS.map(|(_, of)| row.cell.map_or_else(String::new, of)));
    fields.push(row.latency_since.to_owned());
    fields.extend(DOUBT_COLUMNS.map(|(_, of)| row.cell.map_or_else(String::new, of)));
    fields.extend(COUNT_COLUMNS.map(|(_, of)| row.count.map_or_else(String::new, of)));
    fields.push(row.class.to_owned());
    for arm in Arm::BOTH {
        let labels = PerArm { base: &summary.base, test: &summary.test };
        fields.push(labels[arm].label.clone());
        fields.extend(ARM_COLUMNS.map(|(_, of)| number_field(of(&row.arms[arm]))));
    }
    fields.push(row.warnings.clone());
    fields.extend(metric_fields(row.cell.map_or(&[], |cell| &cell.metrics)));
    fields
}

fn text(value: Option<impl ToString>) -> String {
    value.map_or(String::new(), |value| value.to_string())
}

fn share(cell: &CellView, name: &str) -> String {
    let level = cell.doubt.levels.iter().find(|level| level.level == name);
    number_field(level.and_then(|level| level.share))
}

fn codes(warnings: &[WarningView]) -> String {
    warnings.iter().map(|warning| warning.code.as_str()).collect::<Vec<&str>>().join(" ")
}

/// The columns of what is judged beside the rate.
pub(crate) fn metric_columns() -> impl Iterator<Item = String> {
    METRICS
        .into_iter()
        .flat_map(|(name, _)| METRIC_COLUMNS.map(|column| format!("{name}_{column}")))
}

/// What is judged beside the rate, in the columns of that.
pub(crate) fn metric_fields(judged: &[MetricView]) -> Vec<String> {
    let fields = METRICS.into_iter().flat_map(|(_, metric)| -> [String; 4] {
        let found = judged.iter().find(|found| found.metric == metric.name());
        found.map_or_else(Default::default, |found| {
            let ratios = [found.ratio, found.ratio_low, found.ratio_high];
            let [ratio, low, high] = ratios.map(number_field);
            [ratio, low, high, found.verdict.name().to_owned()]
        })
    });
    fields.collect()
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
