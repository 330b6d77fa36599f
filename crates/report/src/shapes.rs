//! What is said of curves over clients and of costs over rows: a sentence and a table each.
//!
//! ```text
//!   point-query over 1 to 16 clients: contention is slower (−5.1 % at 16 clients), …
//!                        base            test            test ÷ base   95 % interval   answer
//!     one client (λ)     21 840 ± 1 %    21 800 ± 1 %    −0.2 %        −0.9 to 0.5 %   equal
//! ```

use dbdyno_document::number::{self, GLUE, UNKNOWN};
use dbdyno_document::{DataTable, Element, TableCell};
use dbdyno_model::Verdict;

use crate::view::{
    CostChangeView, CostView, CurveChangeView, CurveView, IntervalView, UslView, View, WarningView,
};
use crate::words;

/// A sentence with the numbers behind it.
pub(crate) struct NumberedSentence {
    /// What was found, or why nothing was.
    pub sentence: String,
    /// The numbers; `None` where nothing was judged.
    pub table: Option<DataTable>,
    /// What the reader must know, with its severity.
    pub warnings: Vec<String>,
}

impl NumberedSentence {
    /// All of it, as a passage of a document.
    pub(crate) fn into_elements(self) -> Vec<Element> {
        let mut elements = vec![Element::Title(self.sentence.into())];
        elements.extend(self.table.map(Element::Table));
        elements.extend(self.warnings.into_iter().map(|warning| Element::Aside(warning.into())));
        elements
    }

    /// Where nothing was judged.
    fn without_numbers(sentence: String, warnings: Vec<String>) -> NumberedSentence {
        NumberedSentence { sentence, table: None, warnings }
    }
}

/// Of all curves.
pub(crate) fn curve_sentences(view: &View) -> Vec<NumberedSentence> {
    view.summary.curves.iter().map(curve_sentence).collect()
}

/// Of all costs over rows.
pub(crate) fn cost_sentences(view: &View) -> Vec<NumberedSentence> {
    view.summary.costs.iter().map(cost_sentence).collect()
}

fn sentences(warnings: &[WarningView]) -> Vec<String> {
    warnings.iter().map(|warning| format!("{}: {}", warning.severity, warning.text)).collect()
}

const HEAD: [&str; 5] = ["base", "test", "test vs base", "95\u{a0}% interval", "answer"];

fn cells(texts: [String; 5]) -> Vec<TableCell> {
    texts.map(TableCell::from).into()
}

/// One curve.
pub(crate) fn curve_sentence(curve: &CurveView) -> NumberedSentence {
    let warnings = sentences(&curve.warnings);
    let place = curve_place(curve);
    let (Some(base), Some(test)) = (&curve.base, &curve.test) else {
        let sentence = format!("{place}: no curve was fitted");
        return NumberedSentence::without_numbers(sentence, warnings);
    };
    if curve.changes.is_empty() {
        let sentence = format!("{place}: no verdict on the curve");
        return NumberedSentence::without_numbers(sentence, warnings);
    }
    let parts = curve.changes.iter().filter_map(|change| {
        let name = match change.question {
            "single_client" => "one client alone",
            "contention" => "contention",
            "coherency" => "coherency",
            _ => return None,
        };
        Some(format!("{name}: {}", answer(change.effect, change.verdict.0)))
    });
    let parts: Vec<String> = parts.collect();
    let most = curve.most_clients();
    let rows = curve.changes.iter().map(|change| changed(change, base, test, most));
    let table = DataTable::of_numbers("", HEAD, rows).with_legend(format!(
        "Rates: {}. Gunther's law, λN / (1 + σ(N−1) + κN(N−1)). Contention and coherency: the \
         part of the change of the rate at {most} clients that they explain; with that of one \
         client they add up to all of it. Nothing is said beyond {} clients. The five answers are \
         one family: in 1{GLUE}% of all curves at most is any of them slower or faster by chance, \
         and equal is proved for all together with 95{GLUE}% confidence.",
        curve.unit,
        2 * most
    ));
    let sentence = format!("{place}: {}", parts.join(", "));
    NumberedSentence { sentence, table: Some(table), warnings }
}

/// A question to a curve with what both arms answer. Nothing is said beyond twice `most` clients.
fn changed(
    change: &CurveChangeView,
    base: &UslView,
    test: &UslView,
    most: u32,
) -> (&'static str, Vec<TableCell>) {
    let (name, pick) = question(change.question);
    let limit = (change.question == "peak_clients").then_some(2 * most);
    let [base, test] = [base, test].map(|arm| match change.question {
        "contention" | "coherency" => parameter(pick(arm)),
        _ => peak(pick(arm), limit),
    });
    let verdict = change.verdict.0;
    let change = [percent(change.effect, verdict), range(change.effect)];
    let [change, range] = change;
    (name, cells([base, test, change, range, words::verdict_word(verdict).to_owned()]))
}

/// `point-query over 1 to 16 clients`.
pub(crate) fn curve_place(curve: &CurveView) -> String {
    let counts = curve.points.iter().map(|point| point.clients);
    let (least, most) = (counts.clone().min().unwrap_or(0), counts.max().unwrap_or(0));
    format!("{} over {least} to {}", curve.load, words::clients(most))
}

type OfCurve = fn(&UslView) -> IntervalView;

fn question(name: &str) -> (&'static str, OfCurve) {
    match name {
        "single_client" => ("one client (λ)", |arm| arm.lambda),
        "contention" => ("contention (σ)", |arm| arm.sigma),
        "coherency" => ("coherency (κ)", |arm| arm.kappa),
        "peak_rate" => ("highest rate", |arm| arm.peak_rate),
        _ => ("its clients (N*)", |arm| arm.peak_clients),
    }
}

/// `0.051 ± 12 %`, or how large it may be where it may be 0.
fn parameter(interval: IntervalView) -> String {
    let IntervalView { value: Some(value), low: Some(low), high: Some(high) } = interval else {
        return peak(interval, None);
    };
    if low > 0.0 {
        return number::with_spread(Some(value), Some(low), Some(high));
    }
    let decimals = number::decimals_for(high / 2.0).unwrap_or(1);
    format!(
        "{} (up to {})",
        number::format_fixed(value, decimals),
        number::format_fixed(high, decimals)
    )
}

/// A value with its spread, or that it lies beyond what was measured.
fn peak(interval: IntervalView, limit: Option<u32>) -> String {
    let IntervalView { value, low, high } = interval;
    match (value, low, high) {
        (None, Some(low), _) => match limit {
            Some(limit) => format!("beyond {limit} (from {})", number::three_digits(low)),
            None => format!("not reached (from {})", number::three_digits(low)),
        },
        (Some(value), Some(low), None) => {
            format!("{} (from {})", number::three_digits(value), number::three_digits(low))
        }
        _ => number::with_spread(value, low, high),
    }
}

fn decimals(interval: IntervalView) -> i32 {
    match (interval.low, interval.high) {
        (Some(low), Some(high)) => {
            number::decimals_for((high - low).abs() * 50.0).unwrap_or(1).clamp(0, 3)
        }
        _ => 1,
    }
}

fn signed(ratio: f64, decimals: i32) -> String {
    number::format_signed((ratio - 1.0) * 100.0, decimals)
}

/// `−4.9 %`, after a `~` where nothing is decided.
fn percent(ratio: IntervalView, verdict: Verdict) -> String {
    let Some(value) = ratio.value else { return UNKNOWN.to_owned() };
    let mark = if verdict == Verdict::Undecided { "~ " } else { "" };
    format!("{mark}{}{GLUE}%", signed(value, decimals(ratio)))
}

fn range(ratio: IntervalView) -> String {
    match (ratio.low, ratio.high) {
        (Some(low), Some(high)) => {
            let decimals = decimals(ratio);
            format!("{} to {}{GLUE}%", signed(low, decimals), signed(high, decimals))
        }
        _ => "not bounded".to_owned(),
    }
}

/// `slower by 5.1 %`, `equal` or `cannot tell`.
fn answer(effect: IntervalView, verdict: Verdict) -> String {
    match (verdict, effect.value) {
        (Verdict::Slower | Verdict::Faster, Some(value)) => {
            let size = number::format_fixed((value - 1.0).abs() * 100.0, decimals(effect));
            format!("{} by {size}{GLUE}%", words::verdict_word(verdict))
        }
        _ => words::verdict_word(verdict).to_owned(),
    }
}

/// One cost over rows.
pub(crate) fn cost_sentence(cost: &CostView) -> NumberedSentence {
    let warnings = sentences(&cost.warnings);
    let place = cost_place(cost);
    let (Some(base), Some(test)) = (&cost.base, &cost.test) else {
        let sentence = format!("{place}: no line was fitted");
        return NumberedSentence::without_numbers(sentence, warnings);
    };
    let (Some(fixed), Some(per_row)) = (cost.fixed, cost.per_row) else {
        let sentence = format!("{place}: no verdict on its parts");
        return NumberedSentence::without_numbers(sentence, warnings);
    };
    let rows = [
        ("fixed, µs per event", part(fixed, base.fixed_us, test.fixed_us)),
        ("per row, µs", part(per_row, base.per_row_us, test.per_row_us)),
    ];
    let table = DataTable::of_numbers("", HEAD, rows).with_legend(format!(
        "cost(rows) = fixed + per row × rows, fitted to {} sizes of loads that differ in nothing \
         else. The answers of all measures of these loads are one family: in 1{GLUE}% of all such \
         families at most is any of them by chance.",
        cost.points.len()
    ));
    let sentence = format!("{place}: {}", inference(fixed, per_row));
    NumberedSentence { sentence, table: Some(table), warnings }
}

/// A part of a cost, of both arms.
fn part(change: CostChangeView, base: IntervalView, test: IntervalView) -> Vec<TableCell> {
    let verdict = change.verdict.0;
    cells([
        spread(base),
        spread(test),
        percent(change.ratio, verdict),
        range(change.ratio),
        cost_word(verdict).to_owned(),
    ])
}

/// `server CPU of random-points over 10 to 1000 rows at 1 client`.
pub(crate) fn cost_place(cost: &CostView) -> String {
    let ends = [cost.points.first(), cost.points.last()];
    let [least, most] = ends
        .map(|point| point.map_or(UNKNOWN.to_owned(), |point| number::format_fixed(point.rows, 0)));
    format!(
        "{} of {} over {least} to {most} rows at {}",
        if cost.measure == "server_cpu" { "server CPU" } else { "elapsed time" },
        cost.loads,
        words::clients(cost.clients)
    )
}

fn spread(interval: IntervalView) -> String {
    number::with_spread(interval.value, interval.low, interval.high)
}

/// Of costs people say that they are higher, not that they are slower.
fn cost_word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Slower => "higher",
        Verdict::Faster => "lower",
        Verdict::Equal | Verdict::Undecided => words::verdict_word(verdict),
    }
}

/// Which of the two changed, and what that says.
fn inference(fixed: CostChangeView, per_row: CostChangeView) -> String {
    let [fixed_part, row_part] =
        [("fixed cost", fixed), ("cost per row", per_row)].map(|(name, change)| {
            let percent = match change.ratio.value {
                Some(ratio) if is_change(change) => {
                    format!(" {}{GLUE}%", signed(ratio, decimals(change.ratio)))
                }
                _ => String::new(),
            };
            format!("{name}{percent} ({})", cost_word(change.verdict.0))
        });
    let parts = format!("{fixed_part}, {row_part}");
    let why = if is_change(fixed) && per_row.verdict.0 == Verdict::Equal {
        "; what changed lies above the storage engine: parsing, planning, the protocol"
    } else if fixed.verdict.0 == Verdict::Equal && is_change(per_row) {
        "; what changed lies in finding, reading or sending rows"
    } else {
        ""
    };
    parts + why
}

fn is_change(change: CostChangeView) -> bool {
    matches!(change.verdict.0, Verdict::Slower | Verdict::Faster)
}
