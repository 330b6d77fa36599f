//! What continuous integration is told, and where.

use dbdyno_model::{ArmIndex, Comparison, Gate, Round};
use dbdyno_report::{GateCheck, View};
use serde_json::json;

use crate::failure::Failure;
use crate::files;

/// Where a workflow of GitHub wants its summary.
const SUMMARY: &str = "GITHUB_STEP_SUMMARY";

/// Two arms, and what the gate says of their cells.
pub(crate) fn gate_check(view: View, comparison: &Comparison, gate: Option<Gate>) -> GateCheck {
    GateCheck {
        view,
        gate,
        outcomes: gate
            .into_iter()
            .flat_map(|gate| comparison.cells.iter().map(move |cell| gate.judge_cell(cell)))
            .collect(),
    }
}

/// Annotations for stdout; the summary is appended where the workflow wants it, or stands behind
/// them where none runs.
pub(crate) fn github_output(all: &[GateCheck], summary: &str) -> Result<String, Failure> {
    let annotations = dbdyno_report::github_annotations(all);
    let Some(path) = std::env::var_os(SUMMARY).filter(|path| !path.is_empty()) else {
        return Ok(format!("{annotations}\n{summary}"));
    };
    files::append(path.as_ref(), format!("{summary}\n"))?;
    Ok(annotations)
}

/// A round as a line of JSON.
pub(crate) fn round_line(arm: ArmIndex, round: &Round) -> String {
    let seconds = round.wall_ns as f64 / 1e9;
    let line = json!({
        "event": "round",
        "arm": arm.to_string(),
        "load": round.key.cell.load,
        "clients": round.key.cell.clients,
        "pair": round.key.pair,
        "start": round.start,
        "started_unix_ms": round.started_unix_ms,
        "wall_ns": round.wall_ns,
        "qps": round.done_statements() / seconds,
        "events": round.events,
        "latency_ns_p99": round.latency.quantile_ns(0.99),
    });
    dbdyno_document::json::plain_json(format!("{line}\n"))
}

/// A JSON text of several lines as one: no string of JSON has a line feed in it.
pub(crate) fn result_line(json: &str) -> String {
    let joined: String = json.lines().map(str::trim_start).collect();
    format!("{{\"event\":\"result\",\"result\":{joined}}}\n")
}
