//! What the mechanisms of a reference engine did in a cell, beside how fast it was.
//!
//! The engine counts (`engine::meter`); counters of a round stand among its readings under
//! [`PREFIX`]. Counts repeat where times do not, so that they often tell what a rate cannot. What
//! is shown are figures that mean something by themselves: activations for each commit, commits in
//! each group, bytes copied into each view. How often threads gave their processor away, and how
//! often it was taken from them, the kernel counts.

use dbdyno_model::experiment::{Figure, Outcome};
use dbdyno_model::{Cell, PerArm, Readings, Round, Run};

use crate::cost::Seen;
use crate::error::LabError;
use crate::expectation::of_pairs;
use crate::neighbours::Look;

/// What the names of the engine's counters begin with among the readings.
pub(crate) const PREFIX: &str = "engine.";

/// Counters, and for each of what they are told. The engine's own statements and not the client's:
/// the two are not counted from the same nanosecond on, and a host with many clients may be late.
const FIGURES: [(&str, &str); 23] = [
    ("activations", "commits"),
    ("useful_activations", "activations"),
    ("grouped_commits", "groups"),
    ("syncs", "commits"),
    ("logged_bytes", "commits"),
    ("log_full_waits", "commits"),
    ("views", "statements"),
    ("views_reused", "views"),
    ("view_copied_bytes", "views"),
    ("trx_latches", "statements"),
    ("trx_latch_held_ns", "trx_latches"),
    ("demotions", "statements"),
    ("versions_walked", "statements"),
    ("lock_requests", "statements"),
    ("lock_waits", "lock_requests"),
    ("lock_wait_depth_sum", "lock_waits"),
    ("lock_latches", "statements"),
    ("lock_latch_held_ns", "lock_latches"),
    ("lock_timeouts", "commits"),
    ("deadlocks", "commits"),
    ("deadlock_printed_bytes", "deadlocks"),
    ("rollbacks", "commits"),
    ("gate_waits", "statements"),
];

/// Switches of the clients' threads, which are the engine's while it is asked, and of its own; for
/// each statement of the clients, over whose window they are counted.
const SWITCHES: [&str; 2] = ["voluntary_switches", "involuntary_switches"];

/// Notes what the engine counted between two looks, from the opening to the close of a window, and
/// the kernel of its threads.
pub(crate) fn note(seen: &Seen<'_>, readings: &mut Readings) {
    let [Look { counts: Some(opened), .. }, Look { counts: Some(closed), .. }] = seen.looks else {
        return;
    };
    let (usage, own) = (seen.usage, seen.own_threads());
    let switches = [
        usage.voluntary_switches + own.voluntary_switches,
        usage.involuntary_switches + own.involuntary_switches,
    ];
    for (name, count) in SWITCHES.iter().zip(switches) {
        readings.set(&format!("{PREFIX}{name}"), Some(count as f64));
    }
    for (name, count) in closed.since(opened).all() {
        readings.set(&format!("{PREFIX}{name}"), Some(count as f64));
    }
}

/// The figures of a cell that are not zero in both arms.
pub(crate) fn of_cell(
    run: &Run,
    cell: &Cell,
    pairs: &[PerArm<&Round>],
) -> Result<Vec<Outcome>, LabError> {
    let counts = |round: &Round| round.readings.iter().any(|(name, _)| name.starts_with(PREFIX));
    if !pairs.iter().any(|pair| counts(pair.base) || counts(pair.test)) {
        return Ok(Vec::new());
    }
    let name = |counter: &str| format!("{PREFIX}{counter}");
    let figures = FIGURES.iter().map(|(one, each)| Figure::Counter(name(one), Some(name(each))));
    let figures = figures.chain(SWITCHES.iter().map(|one| Figure::Counter(name(one), None)));
    let mut outcomes = Vec::new();
    for figure in figures {
        let outcome = of_pairs(run, cell, pairs, &figure)?;
        if [outcome.base, outcome.test].into_iter().flatten().any(|mean| mean > 0.0) {
            outcomes.push(outcome);
        }
    }
    Ok(outcomes)
}

#[cfg(test)]
mod tests {
    use dbdyno_load::usage::ThreadUsage;
    use dbdyno_load::{Connector, EngineArm};
    use dbdyno_model::design::{Device, Metered};
    use dbdyno_model::{Arm, Design};

    use super::*;
    use crate::sample;

    fn seen(looks: &[Look], usage: ThreadUsage) -> Seen<'_> {
        Seen { usage, wall_ns: 1, observed_ns: 1, looks, asking_ns: None }
    }

    #[test]
    fn what_both_arms_never_did_is_not_told() {
        let run = sample::of_pairs(10, "point-query", "sqlite:", 1, |round| {
            let woken = if round.key.arm == Arm::Base { 190.0 } else { 100.0 };
            let counted = [
                ("commits", 100.0),
                ("activations", woken),
                ("syncs", 0.0),
                ("voluntary_switches", 2.0 * woken),
            ];
            for (name, value) in counted {
                round.readings.set(&format!("{PREFIX}{name}"), Some(value));
            }
        });
        let compared = crate::compare(&run).unwrap().mechanisms;
        let told: Vec<String> = compared.iter().map(|one| one.figure.to_string()).collect();
        assert_eq!(told, ["engine.activations / engine.commits", "engine.voluntary_switches"]);
        assert_eq!((compared[0].base, compared[0].test), (Some(1.9), Some(1.0)));
    }

    #[test]
    fn what_the_engine_counts_in_a_window_is_among_its_readings() {
        let directory = tempfile::tempdir().unwrap();
        let design = Design { device: Device::None, meter: Metered::Times, ..Design::default() };
        let connector = Connector::Engine(EngineArm::open(directory.path(), &design).unwrap());
        let mut client = connector.connect().unwrap();
        client.run("CREATE TABLE t (id INT PRIMARY KEY)").unwrap();
        let opened = Look::take(None, None).with_those_of(&connector);
        for id in 0..10 {
            client.run(&format!("INSERT INTO t VALUES ({id})")).unwrap();
        }
        let looks = [opened, Look::take(None, None).with_those_of(&connector)];
        let mut readings = Readings::default();
        let usage = ThreadUsage {
            voluntary_switches: 7,
            involuntary_switches: 3,
            ..ThreadUsage::default()
        };
        note(&seen(&looks, usage), &mut readings);
        assert_eq!(readings.get("engine.commits"), Some(10.0));
        let [voluntary, involuntary] =
            SWITCHES.map(|name| readings.get(&format!("{PREFIX}{name}")).unwrap());
        assert!(voluntary >= 7.0 && involuntary >= 3.0, "those of clients, and of its own threads");
        let held = ["engine.lock_latch_held_ns", "engine.trx_latch_held_ns"];
        assert!(held.iter().all(|name| readings.get(name).unwrap() > 0.0), "{readings:?}");
        let counters = FIGURES.iter().flat_map(|(one, each)| [*one, *each]);
        for name in counters {
            assert!(readings.get(&format!("{PREFIX}{name}")).is_some(), "{name} is not counted");
        }
        let mut none = Readings::default();
        let blind = [Look::take(None, None), Look::take(None, None)];
        note(&seen(&blind, usage), &mut none);
        assert!(none.is_empty());
    }

    #[test]
    fn other_arms_have_no_mechanisms() {
        let run = sample::of_pairs(10, "point-query", "sqlite:", 1, |_| {});
        assert!(crate::compare(&run).unwrap().mechanisms.is_empty());
    }
}
