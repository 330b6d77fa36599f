//! A run as lines of JSON: each round when it is done, and the result at the end.
//!
//! Keys are part of the contract (`docs/CONTRACT.md`): what is renamed here is renamed for whoever
//! reads it.

use dbdyno_document::json::plain_json;
use dbdyno_model::{ArmIndex, Round};
use serde::Serialize;

/// In the order of names, as they have always stood.
#[derive(Serialize)]
struct RoundLine<'a> {
    arm: String,
    clients: u32,
    event: &'a str,
    events: u64,
    latency_ns_p99: u64,
    load: &'a str,
    pair: u32,
    qps: f64,
    start: u32,
    started_unix_ms: u64,
    wall_ns: u64,
}

/// A round as a line of JSON.
pub fn round_line(arm: ArmIndex, round: &Round) -> String {
    let line = RoundLine {
        arm: arm.to_string(),
        clients: round.key.cell.clients,
        event: "round",
        events: round.events,
        latency_ns_p99: round.latency.quantile_ns(0.99),
        load: &round.key.cell.load,
        pair: round.key.pair,
        qps: round.done_statements() / (round.wall_ns as f64 / 1e9),
        start: round.start,
        started_unix_ms: round.started_unix_ms,
        wall_ns: round.wall_ns,
    };
    let text = serde_json::to_string(&line).expect("numbers and texts have a form in JSON");
    plain_json(format!("{text}\n"))
}

/// Why there is no result, as a line of JSON.
#[derive(Serialize)]
struct ErrorLine<'a> {
    error: &'a str,
    event: &'a str,
}

/// The line of a command that could not be carried out.
pub fn error_line(reason: &str) -> String {
    let line = ErrorLine { error: reason, event: "error" };
    let text = serde_json::to_string(&line).expect("texts have a form in JSON");
    plain_json(format!("{text}\n"))
}

/// A JSON text of several lines as one: no string of JSON has a line feed in it.
pub fn result_line(json: &str) -> String {
    let joined: String = json.lines().map(str::trim_start).collect();
    format!("{{\"event\":\"result\",\"result\":{joined}}}\n")
}
