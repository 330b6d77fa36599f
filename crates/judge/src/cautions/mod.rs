//! What speaks against the rounds of a cell: values that stand beside its verdict, or withhold it.

pub mod background;
mod drift;
mod isolation;
mod latch_ceiling;
pub mod laws;
mod memory;
pub mod saturation;
mod standstill;
mod stationarity;
mod whole_events;

use dbdyno_model::{Arm, Cell, PerArm, Round, RunPair, Warning};

use crate::rate_unit::CellUnits;
pub(crate) use drift::drift_warning;

/// What speaks against the rounds of a cell, by themselves: clients that were not fast enough, laws
/// that are broken, rates that change.
pub(crate) fn cell_warnings(
    run: RunPair<'_>,
    cell: &Cell,
    units: &CellUnits,
    arms: &PerArm<Vec<&Round>>,
) -> Vec<Warning> {
    let of_arm = |arm: Arm| {
        let client = saturation::of_arm(run, cell, arm, &arms[arm]);
        let laws = laws::of_arm(run, cell, arm, &arms[arm]);
        let latches = latch_ceiling::of_arm(run, arm, &arms[arm]);
        let still = standstill::of_arm(arm, &arms[arm]);
        let memory = memory::of_arm(arm, &arms[arm]);
        let isolation = isolation::of_arm(cell, arm, &arms[arm]);
        client.into_iter().chain(laws).chain(still).chain(memory).chain(latches).chain(isolation)
    };
    let against = Arm::BOTH.into_iter().flat_map(of_arm);
    let against = against.chain(stationarity::average_warning(run, cell, units, arms));
    let against = against.chain(whole_events::cut_event_warning(run, cell, arms));
    against
        .chain(
            Arm::BOTH
                .into_iter()
                .filter_map(|arm| background::shortfall_warning(run.plan(), cell, arm, &arms[arm])),
        )
        .collect()
}
