//! An arm against itself: how far the verdicts of this host are to be trusted.
//!
//! Two arms that are the same have no difference, so that whatever they are called but *equal* or
//! *cannot tell* is false. What such runs conclude is noted when they end, and told with every
//! later run on the same host.

use dbdyno_model::{PerArm, Plan, RunId, SelfTests};
use dbdyno_stats::{SHOWN_CONFIDENCE, share_interval};
use dbdyno_store::Store;

use crate::error::LabError;
use crate::judge::compare;

/// Whether nothing at all differs between the arms, on purpose.
fn is_self_test(plan: &Plan) -> bool {
    let PerArm { base, test } = &plan.arms;
    base == test && base.slow == 0.0
}

/// Notes what a run that has just ended says of this host, if its arms are the same.
///
/// # Errors
/// A store that cannot be read or written.
pub(crate) fn note(store: &mut Store, plan: &Plan, id: &RunId) -> Result<(), LabError> {
    if !is_self_test(plan) {
        return Ok(());
    }
    for cell in compare(&store.load(id)?)?.cells {
        store.note_self_test(id, &cell.cell, cell.verdict)?;
    }
    Ok(())
}

/// What comparisons of an arm with itself have concluded on the host of this run, beside itself.
///
/// # Errors
/// A store that cannot be read.
pub fn self_tests(store: &Store, id: &RunId) -> Result<SelfTests, LabError> {
    let (cells, wrong) = store.self_tests(id)?;
    Ok(SelfTests { cells, wrong, share: share_interval(wrong, cells, SHOWN_CONFIDENCE)? })
}
