//! Runs that were never measured, for tests of the judgement.

use dbdyno_model::{
    ArmIndex, Arms, Cost, Environment, LatencyHistogram, Pin, Plan, Question, Quiet, Round,
    RoundKey, RoundSchedule, Run, RunId, RunStatus, Series, Stage,
};

/// Lets a round do so many events of equal length.
#[cfg(test)]
pub(crate) fn set_events(round: &mut Round, events: f64) {
    let count = events.round() as u64;
    (round.events, round.statements) = (count, count);
    round.latency = LatencyHistogram::new();
    let clients = u64::from(round.key.cell.clients);
    (0..count).for_each(|_| round.latency.record_latency(clients * WALL_NS / count));
}

/// Length of a round.
pub const WALL_NS: u64 = 100_000_000;

/// A run in which test is twice as fast, and the client did what `disturb` says.
pub fn point_queries(targets: &str, clients: u32, disturb: impl Fn(&mut Round)) -> Run {
    of_load("point-query", targets, clients, disturb)
}

/// The same under another load.
pub fn of_load(label: &str, targets: &str, clients: u32, disturb: impl Fn(&mut Round)) -> Run {
    of_pairs(8, label, targets, clients, disturb)
}

/// The same with so many pairs.
pub fn of_pairs(
    pairs: u32,
    label: &str,
    targets: &str,
    clients: u32,
    disturb: impl Fn(&mut Round),
) -> Run {
    of_cells(pairs, &[label], targets, &[clients], disturb)
}

/// The same under several loads at several client counts.
pub fn of_cells(
    pairs: u32,
    labels: &[&str],
    targets: &str,
    clients: &[u32],
    disturb: impl Fn(&mut Round),
) -> Run {
    let plan = plan(pairs, labels, targets, clients);
    let mut known = Environment::default();
    known.set("host.cpu.logical", "4");
    let round = |key: RoundKey| {
        let mut round = round(key);
        disturb(&mut round);
        round
    };
    let keys = plan.cells().into_iter().flat_map(|cell| plan.rounds(&cell));
    let rounds = keys.map(round).collect();
    Run {
        id: RunId("0".into()),
        name: None,
        started_unix_ms: 0,
        status: RunStatus::Complete,
        tool_version: String::new(),
        command: String::new(),
        plan,
        environment: Arms::from([known.clone(), known]),
        rounds,
        ended: Vec::new(),
        counts: dbdyno_model::RunCounts::default(),
        warnings: Vec::new(),
    }
}

fn plan(pairs: u32, labels: &[&str], targets: &str, clients: &[u32]) -> Plan {
    Plan {
        arms: Arms::from([targets; 2].map(|arm| arm.parse().unwrap())),
        question: Question {
            stages: labels.iter().map(|label| Stage::Measure((*label).to_owned())).collect(),
            clients: clients.to_vec(),
            rows: 1,
            ..Question::default()
        },
        schedule: RoundSchedule {
            pairs,
            round_ns: WALL_NS,
            slice_ns: 0,
            ..RoundSchedule::default()
        },
        quiet: Quiet { pin: Pin::None, ..Quiet::default() },
        ..Plan::default()
    }
}

/// A round in which test does twice as much, and nothing else happens.
fn round(key: RoundKey) -> Round {
    let rate = if key.arm == ArmIndex::TEST { 2_000 } else { 1_000 } + u64::from(key.pair % 3);
    // As long as Little's law wants them.
    let mut latency = LatencyHistogram::new();
    let clients = u64::from(key.cell.clients);
    (0..rate).for_each(|_| latency.record_latency(clients * WALL_NS / rate));
    Round {
        key,
        start: 0,
        filling: 0,
        started_unix_ms: 0,
        wall_ns: WALL_NS,
        events: rate,
        statements: rate,
        rows_read: rate,
        rows_changed: 0,
        retries: 0,
        latency,
        series: Series::default(),
        classes: Vec::new(),
        cost: Cost { client_cpu_ns: Some(WALL_NS / 10), ..Cost::default() },
        pauses: None,
        open: None,
        readings: dbdyno_model::Readings::default(),
    }
}
