//! JSON, schema 2: what schema 1 says of two arms stands under each arm beside the reference.

use dbdyno_document::number::GLUE;
use dbdyno_model::MetricVerdict;
use serde::Serialize;
use serde_json::{Map, Value};

use super::costs::{self, Cost, Quantity, RateByCpu};
use super::groups::{Group, Median, Tally};
use super::rows::{Answer, Row};
use super::view::ArmsView;
use super::words;
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
    /// Loads that do the same kind of work, and all of them where there are several groups.
    groups: Vec<GroupOfCells<'a>>,
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
struct GroupOfCells<'a> {
    /// `point`, `range` and so on; null where its loads are of no group, or of several.
    group: Option<&'a str>,
    /// For people; null where it is the only one.
    called: Option<&'a str>,
    arms: Vec<ArmOfGroup>,
    /// The arm with which it starts to fall.
    falls_with: Option<String>,
    /// The first arm before that with which it may have.
    may_fall_with: Option<String>,
    sentence: Option<String>,
}

#[derive(Serialize)]
struct ArmOfGroup {
    arm: String,
    answer: Option<MedianOfCells>,
    against_before: Option<MedianOfCells>,
}

#[derive(Serialize)]
struct MedianOfCells {
    median: f64,
    /// That of most cells.
    verdict: &'static str,
    cells: u64,
    slower: u64,
    equal: u64,
    faster: u64,
    undecided: u64,
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
    group: Option<&'a str>,
    unit: &'a str,
    /// Whether each client takes turns with the server on one processor.
    one_processor: bool,
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
    /// What its operations cost of what those of the reference do.
    costs: Vec<CostOfCell>,
    /// rQPS by the server's processor time, where a client shares its processor.
    by_server_cpu: Option<RateOfCell>,
}

#[derive(Serialize)]
struct CostOfCell {
    /// The name of the figure in `did`.
    cost: &'static str,
    ratio: Option<f64>,
    ratio_low: Option<f64>,
    ratio_high: Option<f64>,
    /// Null where it is not judged.
    verdict: Option<&'static str>,
}

#[derive(Serialize)]
struct RateOfCell {
    rqps: f64,
    rqps_low: Option<f64>,
    rqps_high: Option<f64>,
    verdict: &'static str,
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
        cells: view.in_order().map(|row| cell(view, row)).collect(),
        groups: view.groups.iter().chain(&view.all).map(|of| group(view, of)).collect(),
        counts: view
            .counts
            .iter()
            .flat_map(|row| &row.arms)
            .map(|(arm, count)| Count { arm: arm.to_string(), count })
            .collect(),
        family: head.family.clone(),
        warnings: view.of_whole().collect(),
    };
    crate::json::json_text(&document)
}

fn cell<'a>(view: &ArmsView, row: &'a Row) -> Cell<'a> {
    let arms = view.arms.iter().zip(&row.arms).enumerate().map(|(at, (head, arm))| ArmOfCell {
        arm: head.index.to_string(),
        did: arm.did.as_ref(),
        answer: arm.answer.as_ref().map(answer),
        against_before: arm.step.as_ref().map(answer),
        costs: arm.answer.as_ref().map_or_else(Vec::new, costs_of),
        by_server_cpu: costs::rate_by_cpu(row, at).map(by_cpu),
    });
    Cell {
        load: &row.cell.load,
        clients: row.cell.clients,
        group: row.group.as_deref(),
        unit: row.unit,
        one_processor: row.is_on_one_processor,
        arms: arms.collect(),
    }
}

fn costs_of(of: &Answer) -> Vec<CostOfCell> {
    let costs = Quantity::ALL.into_iter().filter_map(|quantity| {
        let Cost { ratio, low, high, verdict } = quantity.cost_in(of)?;
        let verdict = verdict.map(MetricVerdict::name);
        Some(CostOfCell { cost: quantity.name(), ratio, ratio_low: low, ratio_high: high, verdict })
    });
    costs.collect()
}

fn by_cpu(of: RateByCpu) -> RateOfCell {
    let RateByCpu { rqps, low, high, verdict } = of;
    RateOfCell { rqps, rqps_low: low, rqps_high: high, verdict: verdict.name() }
}

fn group<'a>(view: &'a ArmsView, of: &'a Group) -> GroupOfCells<'a> {
    let names: Vec<String> = view.arms.iter().map(|arm| arm.index.to_string()).collect();
    let arms = of.arms.iter().enumerate().map(|(at, arm)| ArmOfGroup {
        arm: names[at].clone(),
        answer: arm.answer.as_ref().map(median),
        against_before: arm.step.as_ref().map(median),
    });
    GroupOfCells {
        group: of.name.as_deref(),
        called: of.called.as_deref(),
        arms: arms.collect(),
        falls_with: of.fall.with.map(|at| names[at].clone()),
        may_fall_with: of.fall.perhaps.map(|at| names[at].clone()),
        sentence: words::fall_sentence(view, of).map(|text| text.replace(GLUE, " ")),
    }
}

fn median(of: &Median) -> MedianOfCells {
    let Tally { cells, slower, equal, faster, undecided } = of.tally;
    let verdict = of.verdict.name();
    MedianOfCells { median: of.ratio, verdict, cells, slower, equal, faster, undecided }
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
