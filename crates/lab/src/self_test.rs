//! An arm against itself: how far the verdicts of this host are to be trusted.
//!
//! Two arms that are the same have no difference, so that whatever they are called but *equal* or
//! *cannot tell* is false. What such runs conclude is noted when they end, and told with every
//! later run on the same host.

use dbdyno_model::{CellComparison, Pairing, Plan, RunId, SelfTests, Severity};
use dbdyno_stats::{MIN_PAIRS, SHOWN_CONFIDENCE, share_interval};
use dbdyno_store::Store;

use crate::error::LabError;
use dbdyno_judge::{JudgeError, compare_run};

/// The first two arms between which nothing at all differs, on purpose.
fn self_test_of(plan: &Plan) -> Option<Pairing> {
    plan.against_base().into_iter().find(|pairing| {
        let (base, test) = (&plan.arms[pairing.base], &plan.arms[pairing.test]);
        base == test && base.slow == 0.0
    })
}

/// Notes what a run that has just ended says of this host, if its arms are the same.
///
/// # Errors
/// A store that cannot be read or written.
pub(crate) fn note_self_test(store: &mut Store, plan: &Plan, id: &RunId) -> Result<(), LabError> {
    let Some(pairing) = self_test_of(plan) else { return Ok(()) };
    let run = store.load(id)?;
    for cell in compare_run(run.pair(pairing))?.cells.iter().filter(|cell| could_be_wrong(cell)) {
        store.note_self_test(id, &cell.cell, cell.verdict)?;
    }
    Ok(())
}

/// Whether a verdict could have been told of the cell: what cannot be wrong proves nothing.
fn could_be_wrong(cell: &CellComparison) -> bool {
    let is_blocked = cell.warnings.iter().any(|warning| warning.severity == Severity::Blocks);
    cell.pairs >= MIN_PAIRS && !is_blocked
}

/// What comparisons of an arm with itself have concluded on the host of this run, beside itself.
///
/// # Errors
/// A store that cannot be read.
pub fn self_tests(store: &Store, id: &RunId) -> Result<SelfTests, LabError> {
    let (cells, wrong) = store.self_tests(id)?;
    let share = share_interval(wrong, cells, SHOWN_CONFIDENCE).map_err(JudgeError::from)?;
    Ok(SelfTests { cells, wrong, share })
}

#[cfg(test)]
mod tests {
    use super::*;
    use dbdyno_judge::sample::{WALL_NS, of_pairs};

    #[test]
    fn a_cell_without_a_verdict_does_not_count() {
        let counts = |pairs: u32, client_ns: u64| {
            let run = of_pairs(pairs, "point-query", "mysql://u@h/d", 1, |round| {
                round.cost.client_cpu_ns = Some(client_ns);
            });
            could_be_wrong(&compare_run(run.first_pair()).unwrap().cells[0])
        };
        assert!(counts(8, WALL_NS / 10));
        assert!(!counts(2, WALL_NS / 10), "too few pairs for any verdict");
        assert!(!counts(8, WALL_NS), "clients that are busy all the time limit the rate");
    }
}
