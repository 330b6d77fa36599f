//! JSON, schema 2: what schema 1 says of two arms stands under each arm beside the reference.

use serde::Serialize;
use serde_json::{Map, Value};

use super::{Answer, ArmsView, Row};
use crate::view::{ArmView, CellView, CountView, FamilyView, WarningView};

/// Version of the JSON contract of several arms.
const SCHEMA: u32 = 2;

#[derive(Serialize)]
struct Document<'a> {
    schema: u32,
    tool_version: &'a str,
    run: &'a str,
    name: Option<&'a str>,
    status: &'a str,
    command: &'a str,
    started_unix_ms: u64,
    seed: u64,
    driving: &'a str,
    budget: Option<f64>,
    /// The arm that the others are judged against.
    against: String,
    arms: Vec<Arm<'a>>,
    cells: Vec<Cell<'a>>,
    /// Instructions of each arm against the reference; missing where nothing was counted.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    counts: Vec<Count<'a>>,
    family: FamilyView,
    /// Those of the whole run and those of pairs, with the names of the arms in their text. Those
    /// of cells stand in their answers.
    warnings: Vec<&'a WarningView>,
}

#[derive(Serialize)]
struct Arm<'a> {
    arm: String,
    target: &'a str,
    label: &'a str,
    /// Why it ended before the run did.
    ended: Option<&'a str>,
}

#[derive(Serialize)]
struct Count<'a> {
    arm: String,
    #[serde(flatten)]
    count: &'a CountView,
}

#[derive(Serialize)]
struct Cell<'a> {
    load: &'a str,
    clients: u32,
    unit: &'a str,
    arms: Vec<ArmOfCell<'a>>,
}

#[derive(Serialize)]
struct ArmOfCell<'a> {
    arm: String,
    /// What it did: the names of `base` and `test` in schema 1.
    did: Option<&'a ArmView>,
    /// Against the reference: the names of a cell in schema 1, but for what both arms did.
    answer: Option<Value>,
    /// The same against the arm before it.
    against_before: Option<Value>,
}

/// The answer as JSON, indented, ending with a line feed.
pub fn arms_json(view: &ArmsView) -> String {
    let head = &view.head;
    let arms = view.arms.iter().map(|arm| Arm {
        arm: arm.index.to_string(),
        target: &arm.target,
        label: &arm.label,
        ended: arm.ended.as_deref(),
    });
    let document = Document {
        schema: SCHEMA,
        tool_version: &head.tool_version,
        run: &head.run,
        name: head.name.as_deref(),
        status: &head.status,
        command: &head.command,
        started_unix_ms: head.started_unix_ms,
        seed: head.seed,
        driving: &head.driving,
        budget: head.budget,
        against: view.reference.to_string(),
        arms: arms.collect(),
        cells: view.rows.iter().map(|row| cell(view, row)).collect(),
        counts: view
            .counts
            .iter()
            .flat_map(|row| &row.arms)
            .map(|(arm, count)| Count { arm: arm.to_string(), count })
            .collect(),
        family: head.family.clone(),
        warnings: view.of_whole().collect(),
    };
    let mut json = serde_json::to_string_pretty(&document)
        .expect("a summary has only string keys and values that JSON can express");
    json.push('\n');
    json
}

fn cell<'a>(view: &ArmsView, row: &'a Row) -> Cell<'a> {
    let arms = view.arms.iter().zip(&row.arms).map(|(head, arm)| ArmOfCell {
        arm: head.index.to_string(),
        did: arm.did.as_ref(),
        answer: arm.answer.as_ref().map(answer),
        against_before: arm.step.as_ref().map(answer),
    });
    Cell { load: &row.cell.load, clients: row.cell.clients, unit: row.unit, arms: arms.collect() }
}

/// A cell without its place and without its arms, which stand beside it.
fn answer(answer: &Answer) -> Value {
    let view: &CellView = &answer.view;
    let Ok(Value::Object(fields)) = serde_json::to_value(view) else {
        unreachable!("a cell is an object of fields")
    };
    let stand_elsewhere = ["load", "clients", "unit", "base", "test"];
    let fields = fields.into_iter().filter(|(name, _)| !stand_elsewhere.contains(&name.as_str()));
    Value::Object(fields.collect::<Map<String, Value>>())
}
