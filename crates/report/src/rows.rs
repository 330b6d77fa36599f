//! The rows of the tables, as strings: made once, laid out by text, Markdown and HTML.

use dbdyno_model::Verdict;

use crate::number;
use crate::view::{ArmView, CellView, LatencyView};
use crate::words;

/// Queries per second of one cell.
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
    /// The answer in words, with what is missing.
    pub answer: String,
}

/// One quantity of a cell that carries no verdict.
pub(crate) struct PlainRow {
    /// What and in which unit.
    pub label: &'static str,
    /// Value of the base arm.
    pub base: String,
    /// Value of the test arm.
    pub test: String,
    /// Test ÷ base, or `~` where the cell is undecided.
    pub ratio: String,
}

pub(crate) fn rate(cell: &CellView) -> RateRow {
    let verdict = cell.verdict.0;
    let change = words::change(cell);
    let spread = |arm: &ArmView| number::with_spread(arm.qps, arm.qps_low, arm.qps_high);
    let tilde = match verdict {
        Verdict::Undecided => "~ ",
        _ => "",
    };
    let answer = match words::needs(cell) {
        Some(needs) => format!("{}, {needs}", words::word(verdict)),
        None => words::word(verdict).to_owned(),
    };
    RateRow {
        clients: words::clients(cell.clients),
        base: spread(&cell.base),
        test: spread(&cell.test),
        change: format!("{tilde}{}", change.estimate),
        interval: change.interval.unwrap_or_else(|| "no interval".to_owned()),
        rqps: rqps(cell),
        verdict,
        answer,
    }
}

/// rQPS with as many digits as its interval deserves, three decimals at most.
pub(crate) fn rqps(cell: &CellView) -> String {
    let Some(rqps) = cell.rqps else {
        return number::UNKNOWN.to_owned();
    };
    let decimals = match (cell.rqps_low, cell.rqps_high) {
        (Some(low), Some(high)) => number::decimals_for((high - low).abs() / 2.0).unwrap_or(3),
        _ => 2,
    };
    number::fixed(rqps, decimals.clamp(2, 3))
}

pub(crate) fn plain(cell: &CellView) -> Vec<PlainRow> {
    let cost = |label, pick: fn(&ArmView) -> Option<f64>| {
        row(cell, label, pick, |value, _| {
            value.map_or(number::UNKNOWN.to_owned(), number::three_digits)
        })
    };
    let latency = |label, pick: fn(&LatencyView) -> Option<f64>| {
        row(cell, label, |arm| pick(&arm.latency_us), number::latency)
    };
    let mut rows = vec![
        cost("server CPU µs/op", |arm| arm.server_cpu_us_per_op),
        cost("client CPU µs/op", |arm| arm.client_cpu_us_per_op),
        cost("context switches/op", |arm| arm.context_switches_per_op),
        cost("KB read/op", |arm| arm.read_kb_per_op),
        cost("KB written/op", |arm| arm.written_kb_per_op),
        latency("latency p50", |latency| latency.p50),
        latency("latency p95", |latency| latency.p95),
        latency("latency p99", |latency| latency.p99),
        latency("latency p99.9", |latency| latency.p999),
        latency("latency max", |latency| latency.max),
    ];
    if cell.base.tpm_total.is_some() {
        let tpcc = [cost("tpmC", |arm| arm.tpm_c), cost("tpmTotal", |arm| arm.tpm_total)];
        rows.splice(0..0, tpcc);
    }
    let retried = |arm: &ArmView| arm.retries_per_event.is_some_and(|retries| retries > 0.0);
    if retried(&cell.base) || retried(&cell.test) {
        rows.push(cost("retries/event", |arm| arm.retries_per_event));
    }
    rows
}

fn row(
    cell: &CellView,
    label: &'static str,
    pick: impl Fn(&ArmView) -> Option<f64>,
    show: impl Fn(Option<f64>, Option<f64>) -> String,
) -> PlainRow {
    let (base, test) = (pick(&cell.base), pick(&cell.test));
    let ratio = match number::ratio(base, test) {
        Some(_) if cell.verdict.0 == Verdict::Undecided => "~".to_owned(),
        Some(ratio) => ratio,
        None => String::new(),
    };
    PlainRow { label, base: show(base, test), test: show(test, base), ratio }
}
