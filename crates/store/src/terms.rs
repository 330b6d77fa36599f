//! What a plan says beside the columns of its row: a name and a text each.
//!
//! ```text
//!   stopping   decided 18 48     a term that has its usual value is not written, so that
//!   limit_ns   300000000000      runs of before are runs with usual values
//! ```
//!
//! A new field of the plan is a line in [`of_plan`] and one in [`apply`], and needs no new version
//! of the store as long as its usual value is what older programs did.

use dbdyno_model::{Counting, Idle, KeepMemory, Plan, Stopping};
use rusqlite::{Connection, params};

/// The terms of a plan that have not their usual values.
pub(crate) fn of_plan(plan: &Plan) -> Vec<(&'static str, String)> {
    let stopping =
        (plan.rule.stopping != Stopping::default()).then(|| plan.rule.stopping.to_string());
    let counting =
        (plan.question.counting != Counting::No).then(|| plan.question.counting.name().to_owned());
    let limit = plan.schedule.limit_ns.map(|limit| limit.to_string());
    let idle = (plan.quiet.idle != Idle::default()).then(|| plan.quiet.idle.to_string());
    let is_usual = plan.quiet.keep_memory == KeepMemory::default();
    let keep_memory = (!is_usual).then(|| plan.quiet.keep_memory.to_string());
    let terms = [
        ("stopping", stopping),
        ("limit_ns", limit),
        ("counting", counting),
        ("idle", idle),
        ("keep_memory", keep_memory),
    ];
    terms.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
}

/// Gives a plan one of its terms.
///
/// # Errors
/// A sentence about a name or a value that this program does not know.
pub(crate) fn apply(plan: &mut Plan, name: &str, value: &str) -> Result<(), String> {
    match name {
        "stopping" => plan.rule.stopping = value.parse()?,
        "limit_ns" => {
            let limit = value.parse().map_err(|_| format!("{value:?} is no number"))?;
            plan.schedule.limit_ns = Some(limit);
        }
        "counting" => {
            let named = Counting::named(value);
            plan.question.counting =
                named.ok_or_else(|| format!("{value:?} is no way of counting"))?;
        }
        "idle" => plan.quiet.idle = value.parse()?,
        "keep_memory" => plan.quiet.keep_memory = value.parse()?,
        _ => return Err(format!("the plan has a term {name:?}, which this dbdyno does not know")),
    }
    Ok(())
}

/// Writes the terms of run number `seq` in place of those that it has.
pub(crate) fn write(connection: &Connection, seq: i64, plan: &Plan) -> rusqlite::Result<()> {
    connection.execute("DELETE FROM plan_term WHERE run = ?1", [seq])?;
    for (name, value) in of_plan(plan) {
        connection
            .execute("INSERT INTO plan_term VALUES (?1, ?2, ?3)", params![seq, name, value])?;
    }
    Ok(())
}
