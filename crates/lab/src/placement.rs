//! Where clients and servers run.

use dbdyno_load::THREADS_MAX;
use dbdyno_model::{Arm, PerArm, Plan, Severity, Warning};
use dbdyno_workload::Content;

use crate::error::LabError;
use crate::loads;
use crate::station::Station;

/// Puts the servers where a cell with this many clients wants them, and says on which processor its
/// clients belong; `None` leaves all of them to the scheduler.
///
/// # Errors
/// A server that the kernel does not let us place.
pub fn place(
    plan: &Plan,
    clients: u32,
    stations: &PerArm<Station>,
) -> Result<Option<usize>, LabError> {
    let all = dbdyno_sandbox::processors();
    let shared = shares(plan, clients, stations);
    // The last one: the first serves most interrupts.
    let processor = all.last().copied().filter(|_| shared);
    let processors = processor.map_or(all, |processor| vec![processor]);
    for arm in Arm::BOTH {
        stations[arm].place(arm, &processors)?;
    }
    Ok(processor)
}

/// What the reader of a run must know of its placement.
pub fn warnings(plan: &Plan, stations: &PerArm<Station>) -> Vec<Warning> {
    one_processor(plan, stations).into_iter().chain(sharded(plan, stations)).collect()
}

/// Many clients share threads, which a reader who compares client counts must know.
fn sharded(plan: &Plan, stations: &PerArm<Station>) -> Option<Warning> {
    let &clients = plan.clients.iter().find(|&&clients| clients > THREADS_MAX)?;
    let embedded = Arm::BOTH.into_iter().all(|arm| stations[arm].connector.is_embedded());
    // In the open loop, and in a conversation, each client has a thread whatever their number.
    let closed = !plan.driving.is_open();
    let is_conversation = |label: &str| {
        let load = loads::resolve(plan, label);
        load.is_ok_and(|load| matches!(load.content, Content::Dialogue(_)))
    };
    if embedded || !closed || plan.labels().iter().all(|label| is_conversation(label)) {
        return None;
    }
    let text = format!(
        "at {clients} clients and more than {THREADS_MAX} in general, clients are served by one \
         thread for each processor instead of a thread each: latencies include the time until \
         that thread comes round"
    );
    Some(Warning::new(Severity::Note, "sharded-clients", text))
}

fn one_processor(plan: &Plan, stations: &PerArm<Station>) -> Option<Warning> {
    let wants = |clients: &&u32| plan.pin.shares_processor(**clients);
    let &clients = plan.clients.iter().find(wants)?;
    let plural = if clients == 1 { "client" } else { "clients" };
    let (code, text) = if shares(plan, clients, stations) {
        let text = format!(
            "at {clients} {plural}, client and server share one processor (--pin): apart, on an \
             idle machine, the wake-ups of sleeping processors would be measured instead"
        );
        ("one-processor", text)
    } else {
        let text = format!(
            "at {clients} {plural}, client and server run where the scheduler puts them, because a \
             server that dbdyno did not start is not moved: wake-ups of idle processors are part \
             of every statement"
        );
        ("not-placed", text)
    };
    Some(Warning::new(Severity::Note, code, text))
}

/// Both arms or none: a server that is not ours stays where it is, and so must the other one.
fn shares(plan: &Plan, clients: u32, stations: &PerArm<Station>) -> bool {
    plan.pin.shares_processor(clients)
        && Arm::BOTH.into_iter().all(|arm| stations[arm].can_be_placed())
}
