//! Where clients and servers run.

use dbdyno_model::plan::THREADS_MAX;
use dbdyno_model::{Arms, Idle, Pin, Placement, Plan, Processors, Severity, Warning};
use dbdyno_workload::Content;

use crate::arm::Station;
use crate::error::LabError;
use dbdyno_workload::planned;

/// Puts the servers where a cell with this many clients wants them, and says where its clients
/// belong.
///
/// # Errors
/// A server that the kernel does not let us place.
pub(crate) fn place_servers(
    plan: &Plan,
    clients: u32,
    stations: &Arms<Station>,
) -> Result<Placement, LabError> {
    let all = dbdyno_sandbox::allowed_processors();
    let placement = wanted(plan, clients, &all).filter(|_| can_be_placed(stations)).unwrap_or(FREE);
    let servers: Vec<usize> = placement.servers.numbers().collect();
    let servers = if servers.is_empty() { all } else { servers };
    for (arm, station) in stations.iter() {
        station.pin_server(arm, &servers)?;
    }
    Ok(placement)
}

/// The scheduler decides.
const FREE: Placement = Placement { clients: Processors::ANY, servers: Processors::ANY };

fn wanted(plan: &Plan, clients: u32, all: &[usize]) -> Option<Placement> {
    plan.quiet.pin.placement_for(clients, all)
}

/// All arms or none: a server that is not ours stays where it is, and so must the others.
fn can_be_placed(stations: &Arms<Station>) -> bool {
    stations.values().all(|station| station.is_ours() && !station.is_mock())
}

fn are_embedded(stations: &Arms<Station>) -> bool {
    stations.values().all(|station| station.connector.is_embedded())
}

/// What the reader of a run must know of its placement.
pub(crate) fn placement_warnings(plan: &Plan, stations: &Arms<Station>) -> Vec<Warning> {
    if stations.values().any(Station::is_mock) {
        return Vec::new();
    }
    let embedded = are_embedded(stations);
    // Clients of the Insert Benchmark have three connections each, which keep processors awake.
    let steps = plan.labels().iter().any(|label| planned::dataset_of_step(plan, label).is_some());
    let idle = match plan.quiet.idle {
        Idle::Poll => Some(polling()),
        Idle::Halt if embedded || steps => None,
        Idle::Halt => idle_states(
            plan.quiet.pin,
            &plan.question.clients,
            &dbdyno_sandbox::allowed_processors(),
        ),
    };
    let all = [placed(plan, stations), idle, sharded(plan, stations)];
    all.into_iter().flatten().collect()
}

/// One client that waits on another processor than the one that works for it lets both fall asleep.
fn idle_states(pin: Pin, clients: &[u32], processors: &[usize]) -> Option<Warning> {
    let together = pin.placement_for(1, processors).is_some_and(|place| place.is_one_processor());
    if !clients.contains(&1) || processors.len() < 2 || together {
        return None;
    }
    let text = "at 1 client, client and server sleep in turn on processors of their own: where the \
                machine has nothing else to do, the wake-up of a processor is measured, 14 thousand \
                queries per second where both on one had 48 thousand; leave --pin out, or use \
                --idle poll";
    Some(Warning::new(Severity::Caution, "idle-states", text))
}

/// What no server has that runs by itself.
fn polling() -> Warning {
    let text = "processors without work polled (--idle poll): no statement contains the wake-up \
                of a processor, as those of a busy host do not; a quiet host that halts is slower \
                at few clients";
    Warning::new(Severity::Note, "idle-poll", text)
}

/// Many clients share threads, which a reader who compares client counts must know.
fn sharded(plan: &Plan, stations: &Arms<Station>) -> Option<Warning> {
    let &clients = plan.question.clients.iter().find(|&&clients| clients > THREADS_MAX)?;
    let embedded = are_embedded(stations);
    // In the open loop, and in a conversation, each client has a thread whatever their number.
    let closed = !plan.question.driving.is_open();
    let is_conversation = |label: &str| {
        let load = planned::planned_load(plan, label);
        load.is_ok_and(|load| matches!(load.content, Content::Dialogue(_)))
    };
    if embedded || !closed || plan.labels().iter().all(|label| is_conversation(label)) {
        return None;
    }
    let text = format!(
        "at {clients} clients and more than {THREADS_MAX} in general, clients share one thread for \
         each processor instead of having a thread each: latencies include the time until that \
         thread serves the client"
    );
    Some(Warning::new(Severity::Note, "sharded-clients", text))
}

fn placed(plan: &Plan, stations: &Arms<Station>) -> Option<Warning> {
    let all = dbdyno_sandbox::allowed_processors();
    let (count, placement) = plan
        .question
        .clients
        .iter()
        .find_map(|&clients| Some((clients, wanted(plan, clients, &all)?)))?;
    let clients = if count == 1 { "1 client".to_owned() } else { format!("{count} clients") };
    let (code, text) = if !can_be_placed(stations) {
        let text = format!(
            "at {clients}, client and server run where the scheduler puts them, because a \
             server that dbdyno did not start is not moved: wake-ups of idle processors are part \
             of every statement"
        );
        ("not-placed", text)
    } else if placement.is_one_processor() {
        let text = format!(
            "at {clients}, client and server share one processor (--pin): apart, on an \
             idle machine, the wake-ups of sleeping processors would be measured instead"
        );
        ("one-processor", text)
    } else {
        let Placement { clients: of_clients, servers } = placement;
        let text = format!(
            "at {clients}, clients are on processors {of_clients} and servers on {servers} (--pin)"
        );
        ("placed", text)
    };
    Some(Warning::new(Severity::Note, code, text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_client_on_processors_of_its_own_measures_their_sleep() {
        let told = |pin, clients: &[u32], processors: &[usize]| {
            idle_states(pin, clients, processors).map(|warning| warning.code)
        };
        let idle = Some("idle-states".to_owned());
        assert_eq!(told(Pin::None, &[1, 4], &[0, 1]), idle);
        assert_eq!(told(Pin::Auto, &[1, 4], &[0, 1]), None, "both on one");
        assert_eq!(told(Pin::Same, &[1], &[0, 1]), None);
        assert_eq!(told(Pin::None, &[4], &[0, 1]), None, "busy enough to stay awake");
        assert_eq!(told(Pin::None, &[1], &[0]), None, "there is but one");
    }
}
