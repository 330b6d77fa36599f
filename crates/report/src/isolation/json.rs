//! The same as JSON; names are a contract.

use dbdyno_model::isolation::{
    CaseOutcome, CaseTold, IsolationTold, LevelTold, Promise, ShapeTold, StepAnswer, StepTold,
};
use serde::Serialize;

/// Version of the JSON; raised when a name changes its meaning.
const SCHEMA: u32 = 1;

#[derive(Serialize)]
struct Document<'a> {
    schema: u32,
    servers: Vec<Server<'a>>,
}

#[derive(Serialize)]
struct Server<'a> {
    target: &'a str,
    version: &'a str,
    family: &'a str,
    cut_short: bool,
    levels: Vec<Level<'a>>,
}

#[derive(Serialize)]
struct Level<'a> {
    level: &'static str,
    cases: Vec<Case<'a>>,
    interleavings: Vec<Shape<'a>>,
}

#[derive(Serialize)]
struct Case<'a> {
    case: &'a str,
    anomaly: &'a str,
    outcome: &'static str,
    error: Option<&'a str>,
    why: Option<&'a str>,
    promised: bool,
    broken: bool,
    steps: Vec<Step<'a>>,
}

#[derive(Serialize)]
struct Step<'a> {
    session: u8,
    sql: &'a str,
    answer: &'static str,
    rows: Option<&'a [Vec<Option<String>>]>,
    changed: Option<u64>,
    error: Option<u16>,
    sqlstate: Option<&'a str>,
    message: Option<&'a str>,
    waited: bool,
    waited_for: Option<&'a [u8]>,
    answered_after_step: Option<usize>,
}

#[derive(Serialize)]
struct Shape<'a> {
    shape: &'a str,
    canonical: u64,
    played: u64,
    allowed: u64,
    completed: u64,
    waited: u64,
    refused_after_waiting: u64,
    refused: u64,
    misread: u64,
    let_through: u64,
    not_serializable: u64,
    unknown: u64,
    permissiveness: Option<f64>,
    example: Option<&'a str>,
}

/// Everything, indented, ending with a line feed.
pub fn isolation_json(all: &[IsolationTold]) -> String {
    let document = Document { schema: SCHEMA, servers: all.iter().map(server).collect() };
    crate::json::json_text(&document)
}

fn server(told: &IsolationTold) -> Server<'_> {
    Server {
        target: &told.target,
        version: &told.version,
        family: &told.family,
        cut_short: told.is_cut_short,
        levels: told.levels.iter().map(level).collect(),
    }
}

fn level(told: &LevelTold) -> Level<'_> {
    Level {
        level: told.level.name(),
        cases: told.cases.iter().map(case).collect(),
        interleavings: told.shapes.iter().map(shape).collect(),
    }
}

fn case(told: &CaseTold) -> Case<'_> {
    let (outcome, error, why) = match &told.outcome {
        CaseOutcome::Occurs => ("occurs", None, None),
        CaseOutcome::ByWaiting => ("waits", None, None),
        CaseOutcome::ByError(error) => ("error", Some(error.as_str()), None),
        CaseOutcome::BySnapshot => ("snapshot", None, None),
        CaseOutcome::Unknown(why) => ("unknown", None, Some(why.as_str())),
    };
    Case {
        case: &told.name,
        anomaly: &told.anomaly,
        outcome,
        error,
        why,
        promised: told.promise == Promise::Prevents,
        broken: told.breaks_promise(),
        steps: told.steps.iter().map(step).collect(),
    }
}

fn step(told: &StepTold) -> Step<'_> {
    let mut step = Step {
        session: told.session,
        sql: &told.sql,
        answer: "nothing",
        rows: None,
        changed: None,
        error: None,
        sqlstate: None,
        message: None,
        waited: told.waited.is_some(),
        waited_for: told.waited.as_ref().map(|wait| wait.for_whom.as_slice()),
        answered_after_step: told.waited.as_ref().and_then(|wait| wait.until),
    };
    match &told.answer {
        StepAnswer::Rows(rows) => (step.answer, step.rows) = ("rows", Some(rows.as_slice())),
        StepAnswer::Changed(rows) => (step.answer, step.changed) = ("changed", Some(*rows)),
        StepAnswer::Refused { code, sqlstate, message } => {
            step.answer = "refused";
            step.error = (*code != 0).then_some(*code);
            (step.sqlstate, step.message) = (Some(sqlstate.as_str()), Some(message.as_str()));
        }
        StepAnswer::LeftOut => step.answer = "left-out",
        StepAnswer::Nothing => {}
    }
    step
}

fn shape(told: &ShapeTold) -> Shape<'_> {
    let counts = &told.counts;
    Shape {
        shape: &told.shape,
        canonical: told.canonical,
        played: counts.played,
        allowed: counts.allowed,
        completed: counts.completed,
        waited: counts.waited,
        refused_after_waiting: counts.refused_after_waiting,
        refused: counts.aborted,
        misread: counts.misread,
        let_through: counts.let_through,
        not_serializable: counts.not_serializable,
        unknown: counts.unknown,
        permissiveness: counts.completed_share(),
        example: told.example.as_deref(),
    }
}
