//! Numbers that no run can have, in a store that somebody else made.
//!
//! A plan of four milliards of pairs would be laid out for hours, and sums of rounds of five
//! centuries pass the end of 64 bits. What is larger than any run is refused with its place, so
//! that whoever judges may add, multiply and lay out.

use std::collections::BTreeSet;

use dbdyno_model::terms::{LargestValue, TermValue};
use dbdyno_model::{Plan, Round, Run, RunCounts, TERMS, Term, readings};

/// Of pairs, starts, fillings and clients: fifty times and more what the command line takes.
const COUNT_MOST: u32 = 1_000_000;

/// Whole numbers that a double holds; in nanoseconds a hundred days.
const AMOUNT_MOST: u64 = 1 << 53;

/// The year 2248.
const UNIX_MS_MOST: u64 = 1 << 43;

/// Loads times client counts: ten times and more what a run of all loads at a dozen counts has.
/// Each is judged, and what is asked of all of them takes the square of their number.
const CELLS_MOST: u64 = 10_000;

/// What is wrong with a plan.
pub(crate) fn wrong_in_plan(plan: &Plan) -> Option<String> {
    let question = &plan.question;
    let clients = question.clients.iter().copied().max().unwrap_or(0);
    let (labels, counts) = (plan.labels(), &question.clients);
    first_above([("clients", clients.into())], COUNT_MOST.into())
        .or_else(|| first_above([("cells", (labels.len() * counts.len()) as u64)], CELLS_MOST))
        .or_else(|| first_repeated(&labels).map(|label| format!("{label} is measured twice")))
        .or_else(|| {
            first_repeated(counts).map(|count| format!("{count} clients stand there twice"))
        })
        .or_else(|| TERMS.iter().find_map(|term| wrong_in_term(plan, term)))
}

fn first_repeated<T: Ord>(all: &[T]) -> Option<&T> {
    let mut known = BTreeSet::new();
    all.iter().find(|one| !known.insert(*one))
}

fn wrong_in_term(plan: &Plan, term: &Term) -> Option<String> {
    let TermValue::Number(number) = term.value(plan) else { return None };
    match term.largest {
        LargestValue::Any => None,
        LargestValue::Count(what) => first_above([(what, number)], COUNT_MOST.into()),
        LargestValue::Amount(what) => first_above([(what, number)], AMOUNT_MOST),
    }
}

/// What is wrong with when a run began.
pub(crate) fn wrong_in_run(run: &Run) -> Option<String> {
    first_above([("milliseconds since 1970", run.started_unix_ms)], UNIX_MS_MOST)
}

/// What is wrong with a round.
pub(crate) fn wrong_in_round(round: &Round) -> Option<String> {
    let counts = [
        ("pairs", round.key.pair),
        ("starts", round.start),
        ("fillings", round.filling),
        ("clients", round.key.cell.clients),
    ];
    let (cost, pauses) = (&round.cost, round.pauses);
    let amounts = [
        ("nanoseconds", Some(round.wall_ns)),
        ("events", Some(round.events)),
        ("statements", Some(round.statements)),
        ("rows read", Some(round.rows_read)),
        ("rows changed", Some(round.rows_changed)),
        ("retries", Some(round.retries)),
        ("nanoseconds of the server's processors", cost.server_cpu_ns),
        ("nanoseconds of its kernel", cost.server_kernel_ns),
        ("nanoseconds of the client's processors", cost.client_cpu_ns),
        ("nanoseconds of its kernel", cost.client_kernel_ns),
        ("nanoseconds of waiting to run", cost.client_run_delay_ns),
        ("context switches of the server", cost.server_context_switches),
        ("bytes that the server read", cost.server_read_bytes),
        ("bytes that the server wrote", cost.server_written_bytes),
        ("nanoseconds of pauses", pauses.map(|pauses| pauses.sum_ns)),
        ("nanoseconds of a pause", pauses.map(|pauses| pauses.longest_ns)),
        ("nanoseconds of a slot", Some(round.series.slot_ns)),
        ("events offered", round.open.as_ref().map(|open| open.offered)),
        ("events unanswered", round.open.as_ref().map(|open| open.unanswered)),
    ];
    first_above(counts.map(|(name, count)| (name, count.into())), COUNT_MOST.into())
        .or_else(|| first_above(amounts.map(|(name, n)| (name, n.unwrap_or(0))), AMOUNT_MOST))
        .or_else(|| first_above([("milliseconds since 1970", round.started_unix_ms)], UNIX_MS_MOST))
}

/// What is wrong with what further instruments showed in a round: of the events that its ends cut
/// each client has one at either end, and is off by less than one.
pub(crate) fn wrong_in_readings(round: &Round) -> Option<String> {
    let cut = round.readings.get(readings::EDGE_EVENTS).unwrap_or(0.0);
    if cut.is_nan() || cut.abs() > f64::from(round.key.cell.clients) {
        return Some(format!(
            "{cut:e} {} of {} clients are more than any round has",
            readings::EDGE_EVENTS,
            round.key.cell.clients
        ));
    }
    let (name, value) =
        round.readings.iter().find(|(_, value)| value.abs() > AMOUNT_MOST as f64)?;
    Some(format!("{value:e} as {name} is more than any round has"))
}

/// What is wrong with the slots of a series.
pub(crate) fn wrong_in_slots(slots: &[u64]) -> Option<String> {
    let sum = slots.iter().fold(0_u64, |sum, slot| sum.saturating_add(*slot));
    first_above([("statements in a series", sum)], AMOUNT_MOST)
}

/// What is wrong with how often something was counted.
pub(crate) fn wrong_in_amount(name: &str, amount: u64) -> Option<String> {
    first_above([(name, amount)], AMOUNT_MOST)
}

/// What is wrong with what was counted under callgrind.
pub(crate) fn wrong_in_counts(counts: &RunCounts) -> Option<String> {
    let samples = counts.samples.iter().find_map(|sample| {
        let amounts = [("operations", sample.operations), ("instructions", sample.instructions)];
        first_above(amounts, AMOUNT_MOST)
    });
    let of_functions =
        counts.functions.iter().flat_map(|one| [one.own_per_op, one.inclusive_per_op]);
    let of_calls = counts.calls.iter().map(|one| one.inclusive_per_op);
    let possible = 0.0..=AMOUNT_MOST as f64;
    samples.or_else(|| {
        let number = of_functions.chain(of_calls).find(|number| !possible.contains(number))?;
        Some(format!("{number} instructions of an operation are no count"))
    })
}

fn first_above<const N: usize>(numbers: [(&str, u64); N], most: u64) -> Option<String> {
    let (name, number) = numbers.into_iter().find(|(_, number)| *number > most)?;
    Some(format!("{number} {name} are more than any run has"))
}
