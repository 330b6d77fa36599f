//! The plan on tables that can be counted on, and its loads.

use dbdyno_model::{Begin, Dialect, ImageUse, Plan};
use dbdyno_workload::ReadyLoad;
use dbdyno_workload::planned::planned_load;

use crate::error::LabError;

/// Rows of all tables together, at most. Few, so that what servers learn of their pages by and by,
/// such as InnoDB's adaptive hash index, is learned before anything is counted.
pub const ROWS_MOST: u64 = 10_000;

/// The plan on tables that can be counted on: its arms alone, warm and freshly filled.
pub(super) fn small_plan(plan: &Plan) -> Plan {
    let mut plan = plan.clone();
    plan.question.rows =
        plan.question.rows.min((ROWS_MOST / u64::from(plan.question.tables)).max(1));
    plan.question.clients = vec![1];
    for arm in plan.arms.indices() {
        plan.arms[arm].begin = Begin { image: ImageUse::None, ..Begin::default() };
    }
    plan
}

/// A load in the words of a dialect, on small tables.
pub(super) fn ready_small_load(
    plan: &Plan,
    dialect: Dialect,
    label: &str,
) -> Result<ReadyLoad, LabError> {
    let load = planned_load(&small_plan(plan), label)?;
    Ok(ReadyLoad::compile(&load, dialect)
        .expect("the templates of the catalog parse, and those of a file that has been read"))
}
