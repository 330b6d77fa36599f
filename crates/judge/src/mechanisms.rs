//! What the mechanisms of a reference engine did in a cell, beside how fast it was.
//!
//! The engine counts (`engine::meter`); counters of a round stand among its readings under
//! [`ENGINE_PREFIX`]. Counts repeat where times do not, so that they often tell what a rate cannot.
//! What is shown are figures that mean something by themselves: activations for each commit,
//! commits in each group, bytes copied into each view. How often threads gave their processor away,
//! and how often it was taken from them, the kernel counts.

use dbdyno_model::experiment::{FigureOutcome, RoundFigure};
use dbdyno_model::readings::{ENGINE_PREFIX, ENGINE_SWITCHES};
use dbdyno_model::{Cell, PerArm, Round, RunPair};

use crate::error::JudgeError;
use crate::figures::figure_outcome;

/// Counters, and for each of what they are told. The engine's own statements and not the client's:
/// the two are not counted from the same nanosecond on, and a host with many clients may be late.
pub const FIGURES: [(&str, &str); 29] = [
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
    ("replica_lag_ns_sum", "replicated"),
    ("replica_lag_ns_p50", "replica_windows"),
    ("replica_lag_ns_p99", "replica_windows"),
    ("replica_lag_ns_max", "replica_windows"),
    ("apply_units", "apply_steps"),
    ("track_ns", "tracked_rows"),
];

/// The figures of a cell that are not zero in both arms.
pub(crate) fn engine_figures(
    run: RunPair<'_>,
    cell: &Cell,
    pairs: &[PerArm<&Round>],
) -> Result<Vec<FigureOutcome>, JudgeError> {
    let counts =
        |round: &Round| round.readings.iter().any(|(name, _)| name.starts_with(ENGINE_PREFIX));
    if !pairs.iter().any(|pair| counts(pair.base) || counts(pair.test)) {
        return Ok(Vec::new());
    }
    let name = |counter: &str| format!("{ENGINE_PREFIX}{counter}");
    let figures =
        FIGURES.iter().map(|(one, each)| RoundFigure::Counter(name(one), Some(name(each))));
    let figures =
        figures.chain(ENGINE_SWITCHES.iter().map(|one| RoundFigure::Counter(name(one), None)));
    let mut outcomes = Vec::new();
    for figure in figures {
        let outcome = figure_outcome(run, cell, pairs, &figure)?;
        if [outcome.base, outcome.test].into_iter().flatten().any(|mean| mean > 0.0) {
            outcomes.push(outcome);
        }
    }
    Ok(outcomes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;
    use dbdyno_model::ArmIndex;

    #[test]
    fn what_both_arms_never_did_is_not_told() {
        let run = sample::of_pairs(10, "point-query", "sqlite:", 1, |round| {
            let woken = if round.key.arm == ArmIndex::BASE { 190.0 } else { 100.0 };
            let counted = [
                ("commits", 100.0),
                ("activations", woken),
                ("syncs", 0.0),
                ("voluntary_switches", 2.0 * woken),
            ];
            for (name, value) in counted {
                round.readings.set(&format!("{ENGINE_PREFIX}{name}"), Some(value));
            }
        });
        let compared = crate::compare_run(run.first_pair()).unwrap().mechanisms;
        let told: Vec<String> = compared.iter().map(|one| one.figure.to_string()).collect();
        assert_eq!(told, ["engine.activations / engine.commits", "engine.voluntary_switches"]);
        assert_eq!((compared[0].base, compared[0].test), (Some(1.9), Some(1.0)));
    }

    #[test]
    fn other_arms_have_no_mechanisms() {
        let run = sample::of_pairs(10, "point-query", "sqlite:", 1, |_| {});
        assert!(crate::compare_run(run.first_pair()).unwrap().mechanisms.is_empty());
    }
}
