//! CSV: one row for each arm in each cell, under the names of schema 2.

use super::{Answer, ArmsView};
use crate::csv::{ARM_COLUMNS, line, number};

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
    let mut csv = line(names);
    for row in &view.rows {
        for (arm, found) in view.arms.iter().zip(&row.arms) {
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
            let did = |of: crate::csv::OfArm| number(found.did.as_ref().and_then(of));
            fields.extend(ARM_COLUMNS.map(|(_, of)| did(of)));
            fields.push(arm.ended.clone().unwrap_or_default());
            let notes = found.answer.iter().flat_map(|answer| &answer.notes);
            let of_run = 0..view.of_run;
            let codes =
                notes.copied().chain(of_run).map(|note| view.notes[note].warning.code.as_str());
            fields.push(codes.collect::<Vec<_>>().join(" "));
            csv.push_str(&line(fields));
        }
    }
    csv
}

fn answer(answer: Option<&Answer>) -> [String; ANSWER_COLUMNS.len()] {
    let Some(Answer { view, .. }) = answer else { return Default::default() };
    let effect = view.effect();
    [
        number(effect.ratio),
        number(effect.low),
        number(effect.high),
        view.measure.to_owned(),
        view.verdict.0.name().to_owned(),
        view.pairs.to_string(),
        number(view.detectable),
        number(view.doubt.p_value),
        number(view.doubt.q_value),
        view.looks.map_or(String::new(), |looks| looks.to_string()),
    ]
}
