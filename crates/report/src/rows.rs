//! The rows of the tables, as strings: made once, laid out by text, Markdown and HTML.

use dbdyno_document::{ColumnTone, TableColumn, number};
use dbdyno_model::{Metric, MetricVerdict, Verdict};

use crate::view::{ArmView, CellView, ClassView, LatencyView, MetricView};
use crate::words;

/// The rate of one cell.
pub(crate) struct RateRow {
    /// Number of clients, with the word.
    pub clients: String,
    /// `21 840 ± 1.0 %`
    pub base: String,
    /// `20 700 ± 1.1 %`
    pub test: String,
    /// `−4.9 %`, after a `~` where nothing is decided.
    pub change: String,
    /// `−5.6 to −4.1 %`, or that there is none.
    pub interval: String,
    /// `0.951`
    pub rqps: String,
    /// The answer.
    pub verdict: Verdict,
}

/// One quantity of a cell beside its rate.
pub(crate) struct PlainRow {
    /// What and in which unit.
    pub label: String,
    /// Value of the base arm.
    pub base: String,
    /// Value of the test arm.
    pub test: String,
    /// Test ÷ base: with its interval, and a word where that decides it, of what is judged; else
    /// `~` where the cell is undecided.
    pub ratio: String,
}

/// Columns of quantities under these heads.
pub(crate) fn plain_columns<'a>(
    corner: &str,
    base: &str,
    test: &str,
    ratio: &str,
) -> [TableColumn<'a, PlainRow>; 4] {
    [
        TableColumn::word_texts(corner, |row: &PlainRow| (&row.label).into()),
        TableColumn::number_texts(base, |row: &PlainRow| (&row.base).into())
            .of_arm(ColumnTone::Base),
        TableColumn::number_texts(test, |row: &PlainRow| (&row.test).into())
            .of_arm(ColumnTone::Test),
        TableColumn::word_texts(ratio, |row: &PlainRow| (&row.ratio).into()),
    ]
}

/// The unit of TPC-C.
const TRANSACTIONS: &str = "transactions/min";

pub(crate) fn rate(cell: &CellView) -> RateRow {
    let verdict = cell.verdict.0;
    let change = words::cell_change(cell);
    let tilde = if verdict == Verdict::Undecided { "~ " } else { "" };
    RateRow {
        clients: words::clients(cell.clients),
        base: figure(cell, &cell.base, &cell.test),
        test: figure(cell, &cell.test, &cell.base),
        change: format!("{tilde}{}", change.estimate),
        interval: change.interval.unwrap_or_else(|| "no interval".to_owned()),
        rqps: rqps_text(cell),
        verdict,
    }
}

/// What an arm is judged by: its rate, or a latency in the unit that the other one's has, too.
fn figure(cell: &CellView, arm: &ArmView, other: &ArmView) -> String {
    if let Some(times) = &cell.response_ratio {
        // Where clients think, latency begins at the end of the pause.
        let [own, other] = [arm, other].map(|arm| {
            let latency = arm.response_us.unwrap_or(arm.latency_us);
            if times.telling == "p50" { latency.p50 } else { latency.p99 }
        });
        return format!("{} {}", times.telling, number::latency(own, other));
    }
    match cell.measure {
        "max_rate" => number::with_spread(arm.max_rate, arm.max_rate_low, arm.max_rate_high),
        _ => number::with_spread(arm.rate, arm.rate_low, arm.rate_high),
    }
}

/// rQPS with as many digits as its interval deserves, three decimals at most.
pub(crate) fn rqps_text(cell: &CellView) -> String {
    match cell.effect().ratio {
        Some(rqps) => number::format_fixed(rqps, rqps_decimals(cell)),
        None => number::UNKNOWN.to_owned(),
    }
}

/// The decimals of [`rqps_text`].
pub(crate) fn rqps_decimals(cell: &CellView) -> i32 {
    let effect = cell.effect();
    let decimals = match (effect.low, effect.high) {
        (Some(low), Some(high)) => number::decimals_for((high - low).abs() / 2.0).unwrap_or(3),
        _ => 2,
    };
    decimals.clamp(2, 3)
}

pub(crate) fn plain_rows(cell: &CellView) -> Vec<PlainRow> {
    let mut rows = Vec::new();
    if cell.base.tpm_total.is_some() {
        rows.push(amount(cell, "tpmC", |arm| arm.tpm_c));
        rows.push(amount(cell, "tpmTotal", |arm| arm.tpm_total));
    }
    let server_cpu = amount(cell, "server CPU µs/op", |arm| arm.server_cpu_us_per_op);
    let p99 = time(cell, "latency p99", |arm| arm.latency_us.p99);
    rows.extend([
        judged(cell, Metric::ServerCpu, server_cpu),
        amount(cell, "client CPU µs/op", |arm| arm.client_cpu_us_per_op),
        amount(cell, "context switches/op", |arm| arm.context_switches_per_op),
        amount(cell, "KB read/op", |arm| arm.read_kb_per_op),
        amount(cell, "KB written/op", |arm| arm.written_kb_per_op),
        time(cell, "latency p50", |arm| arm.latency_us.p50),
        time(cell, "latency p95", |arm| arm.latency_us.p95),
        judged(cell, Metric::P99, p99),
        time(cell, "latency p99.9", |arm| arm.latency_us.p999),
        time(cell, "latency max", |arm| arm.latency_us.max),
    ]);
    let arms = [&cell.base, &cell.test];
    if arms.iter().any(|arm| arm.response_us.is_some()) {
        rows.extend([
            time(cell, "response p50", |arm| arm.response_us?.p50),
            time(cell, "response p95", |arm| arm.response_us?.p95),
            time(cell, "response p99", |arm| arm.response_us?.p99),
            time(cell, "response p99.9", |arm| arm.response_us?.p999),
            time(cell, "response max", |arm| arm.response_us?.max),
            amount(cell, "offered events/s", |arm| arm.offered_per_second),
            amount(cell, "achieved events/s", |arm| arm.achieved_per_second),
            time(cell, "generator's lag p99", |arm| arm.lag_us?.p99),
        ]);
        if arms.iter().any(|arm| arm.unanswered.unwrap_or(0) > 0) {
            rows.push(amount(cell, "events given up", |arm| {
                arm.unanswered.map(|count| count as f64)
            }));
        }
    }
    if arms.iter().any(|arm| arm.retries_per_event.is_some_and(|retries| retries > 0.0)) {
        rows.push(amount(cell, "retries/event", |arm| arm.retries_per_event));
    }
    rows
}

/// The row of a metric, with what was judged of it where something was.
fn judged(cell: &CellView, metric: Metric, row: PlainRow) -> PlainRow {
    let found = cell.metrics.iter().find(|found| found.metric == metric.name());
    match found.and_then(answer) {
        Some(ratio) => PlainRow { ratio, ..row },
        None => row,
    }
}

/// `×0.52 (0.50 to 0.54)  lower`; nothing decided has no word.
fn answer(metric: &MetricView) -> Option<String> {
    let ratio = number::ratio_between(metric.ratio?, metric.ratio_low?, metric.ratio_high?);
    Some(match metric.verdict {
        MetricVerdict::Undecided => ratio,
        decided => format!("{ratio}  {}", decided.name()),
    })
}

type OfTimes = fn(&LatencyView) -> Option<f64>;

/// How often each class of events came, and how long its events took: from when they were meant
/// where that is known. None for classes of statements, which have no times, and come as often as
/// the load has them in its events.
pub(crate) fn class_rows(cell: &CellView) -> Vec<PlainRow> {
    let (noun, seconds) = if cell.unit == TRANSACTIONS { ("min", 60.0) } else { ("s", 1.0) };
    let mut rows = Vec::new();
    for (at, class) in cell.base.classes.iter().enumerate() {
        if class.latency_us.is_none() {
            continue;
        }
        let name = class.class.as_str();
        rows.push(amount(cell, format!("{name}/{noun}"), |arm| {
            Some(class_of(arm, at, name)?.per_second? * seconds)
        }));
        let picks: [(&str, OfTimes); 3] =
            [("p50", |times| times.p50), ("p95", |times| times.p95), ("p99", |times| times.p99)];
        for (percentile, pick) in picks {
            rows.push(time(cell, format!("{name} {percentile}"), |arm| {
                let class = class_of(arm, at, name)?;
                pick(&class.response_us.or(class.latency_us)?)
            }));
        }
    }
    rows
}

fn class_of<'a>(arm: &'a ArmView, at: usize, name: &str) -> Option<&'a ClassView> {
    arm.classes.get(at).filter(|class| class.class == name)
}

/// A row of amounts.
fn amount(
    cell: &CellView,
    label: impl Into<String>,
    pick: impl Fn(&ArmView) -> Option<f64>,
) -> PlainRow {
    row(cell, label, pick, |value, _| {
        value.map_or(number::UNKNOWN.to_owned(), number::three_digits)
    })
}

/// A row of times, in a unit that both arms have.
fn time(
    cell: &CellView,
    label: impl Into<String>,
    pick: impl Fn(&ArmView) -> Option<f64>,
) -> PlainRow {
    row(cell, label, pick, number::latency)
}

fn row(
    cell: &CellView,
    label: impl Into<String>,
    pick: impl Fn(&ArmView) -> Option<f64>,
    show: impl Fn(Option<f64>, Option<f64>) -> String,
) -> PlainRow {
    let (base, test) = (pick(&cell.base), pick(&cell.test));
    let ratio = match number::ratio(base, test) {
        Some(_) if cell.verdict.0 == Verdict::Undecided => "~".to_owned(),
        Some(ratio) => ratio,
        None => String::new(),
    };
    PlainRow { label: label.into(), base: show(base, test), test: show(test, base), ratio }
}
