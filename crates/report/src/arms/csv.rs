//! CSV: one row for each arm in each cell, under the names of schema 2.

use super::costs::{self, Quantity, RateByCpu};
use super::rows::Answer;
use super::view::ArmsView;
use dbdyno_document::csv::{number_field, record_line};

use crate::csv::{ARM_COLUMNS, metric_columns, metric_fields};

/// What is known of an answer, once against the reference and once, with `before_` in front,
/// against the arm before.
const ANSWER_COLUMNS: [&str; 10] = [
    "rqps",
    "rqps_low",
    "rqps_high",
    "measure",
    "verdict",
    "pairs",
    "detectable",
    "p_value",
    "q_value",
    "looks",
];

/// Ratios of costs that are not judged.
const UNJUDGED: [(&str, Quantity); 3] = [
    ("context_switches_ratio", Quantity::Switches),
    ("read_kb_ratio", Quantity::Read),
    ("written_kb_ratio", Quantity::Written),
];

/// Whether client and server share a processor, and rQPS by the server's processor time if so.
const BY_CPU_COLUMNS: [&str; 5] = [
    "one_processor",
    "rqps_by_server_cpu",
    "rqps_by_server_cpu_low",
    "rqps_by_server_cpu_high",
    "rqps_by_server_cpu_verdict",
];

/// Under a row of names; lines end with CR LF, and an empty field is what `null` is in JSON.
pub fn arms_csv(view: &ArmsView) -> String {
    let head = &view.head;
    let mut names: Vec<String> =
        ["run", "status", "load", "clients", "unit", "arm", "target", "against"]
            .map(str::to_owned)
            .into();
    names.extend(ANSWER_COLUMNS.map(str::to_owned));
    names.extend(ANSWER_COLUMNS.map(|name| format!("before_{name}")));
    names.extend(ARM_COLUMNS.map(|(name, _)| name.to_owned()));
    names.push("ended".to_owned());
    names.push("warnings".to_owned());
    names.push("group".to_owned());
    names.extend(metric_columns());
    names.extend(UNJUDGED.map(|(name, _)| name.to_owned()));
    names.extend(BY_CPU_COLUMNS.map(str::to_owned));
    let mut csv = record_line(names);
    for row in view.in_order() {
        for (at, (arm, found)) in view.arms.iter().zip(&row.arms).enumerate() {
            let mut fields = vec![
                head.run.clone(),
                head.status.clone(),
                row.cell.load.clone(),
                row.cell.clients.to_string(),
                row.unit.to_owned(),
                arm.index.to_string(),
                arm.target.clone(),
                found.answer.as_ref().map_or(String::new(), |answer| answer.against.to_string()),
            ];
            fields.extend(answer(found.answer.as_ref()));
            fields.extend(answer(found.step.as_ref()));
            fields.extend(ARM_COLUMNS.map(|(_, of)| number_field(found.did.as_ref().and_then(of))));
            fields.push(arm.ended.clone().unwrap_or_default());
            let notes = found.answer.iter().flat_map(|answer| &answer.notes);
            let of_run = view.notes.iter().filter(|note| note.is_of_run);
            let notes = notes.map(|&note| &view.notes[note]).chain(of_run);
            let codes: Vec<&str> = notes.map(|note| note.warning.code.as_str()).collect();
            fields.push(codes.join(" "));
            fields.push(row.group.clone().unwrap_or_default());
            fields.extend(costs_of(found.answer.as_ref()));
            fields.push(row.is_on_one_processor.to_string());
            fields.extend(by_cpu(costs::rate_by_cpu(row, at)));
            csv.push_str(&record_line(fields));
        }
    }
    csv
}

/// What is judged beside the rate, and what its operations cost of what those of the reference do.
fn costs_of(answer: Option<&Answer>) -> Vec<String> {
    let mut fields = metric_fields(answer.map_or(&[][..], |answer| &answer.view.metrics[..]));
    fields.extend(UNJUDGED.map(|(_, quantity)| {
        number_field(answer.and_then(|answer| quantity.cost_in(answer)?.ratio))
    }));
    fields
}

fn by_cpu(of: Option<RateByCpu>) -> [String; BY_CPU_COLUMNS.len() - 1] {
    let Some(RateByCpu { rqps, low, high, verdict }) = of else { return Default::default() };
    [number_field(Some(rqps)), number_field(low), number_field(high), verdict.name().to_owned()]
}

fn answer(answer: Option<&Answer>) -> [String; ANSWER_COLUMNS.len()] {
    let Some(Answer { view, .. }) = answer else { return Default::default() };
    let effect = view.effect();
    [
        number_field(effect.ratio),
        number_field(effect.low),
        number_field(effect.high),
        view.measure.to_owned(),
        view.verdict.0.name().to_owned(),
        view.pairs.to_string(),
        number_field(view.detectable),
        number_field(view.doubt.p_value),
        number_field(view.doubt.q_value),
        view.looks.map_or(String::new(), |looks| looks.to_string()),
    ]
}
