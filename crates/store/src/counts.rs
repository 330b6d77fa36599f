//! Instructions per operation, on disk: repetitions, functions and calls of one load in one arm
//! come together, or not at all.

use dbdyno_model::{ArmIndex, CallCount, CountSample, FunctionCount, RunCounts, RunId};
use rusqlite::{Connection, Row, params};

use crate::Store;
use crate::error::Result;
use crate::transaction::seq_of;
use crate::write::as_signed;

impl Store {
    /// Stores what was counted of a load in an arm; every sample and every function is of those.
    ///
    /// # Errors
    /// No such run, counts that are stored already, or a file that cannot be written.
    pub fn add_counts(&mut self, run: &RunId, counts: &RunCounts) -> Result<()> {
        self.write(|transaction| {
            let seq = seq_of(transaction, run)?;
            for sample in &counts.samples {
                let (operations, count) =
                    (as_signed(sample.operations), as_signed(sample.instructions));
                transaction.execute(
                    "INSERT INTO counted VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
                    params![
                        seq,
                        sample.load,
                        sample.arm.to_string(),
                        sample.repeat,
                        operations,
                        count
                    ],
                )?;
            }
            for one in &counts.functions {
                let arm = one.arm.to_string();
                let (own, inclusive) = (one.own_per_op, one.inclusive_per_op);
                transaction.execute(
                    "INSERT INTO counted_function VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
                    params![seq, one.load, arm, one.name, one.object, own, inclusive],
                )?;
            }
            for one in &counts.calls {
                let CallCount { load, arm, caller, callee, inclusive_per_op } = one;
                transaction.execute(
                    "INSERT INTO counted_call VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
                    params![seq, load, arm.to_string(), caller, callee, inclusive_per_op],
                )?;
            }
            Ok(())
        })
    }
}

/// What run number `seq` has counted, in the order of names.
pub(crate) fn read(connection: &Connection, seq: i64) -> rusqlite::Result<RunCounts> {
    let mut calls = connection.prepare(
        "SELECT load, arm, caller, callee, inclusive_per_op FROM counted_call WHERE run = ?1 \
         ORDER BY load, arm, caller, callee",
    )?;
    let mut samples = connection.prepare(
        "SELECT load, arm, repeat, operations, instructions FROM counted WHERE run = ?1 \
         ORDER BY load, arm, repeat",
    )?;
    let mut functions = connection.prepare(
        "SELECT load, arm, name, object, own_per_op, inclusive_per_op FROM counted_function \
         WHERE run = ?1 ORDER BY load, arm, own_per_op DESC, name, object",
    )?;
    Ok(RunCounts {
        samples: samples.query_map([seq], sample)?.collect::<rusqlite::Result<_>>()?,
        functions: functions.query_map([seq], function)?.collect::<rusqlite::Result<_>>()?,
        calls: calls.query_map([seq], call)?.collect::<rusqlite::Result<_>>()?,
    })
}

fn sample(row: &Row) -> rusqlite::Result<CountSample> {
    Ok(CountSample {
        load: row.get(0)?,
        arm: arm(row, 1)?,
        repeat: row.get(2)?,
        operations: row.get::<_, i64>(3)? as u64,
        instructions: row.get::<_, i64>(4)? as u64,
    })
}

fn function(row: &Row) -> rusqlite::Result<FunctionCount> {
    Ok(FunctionCount {
        load: row.get(0)?,
        arm: arm(row, 1)?,
        name: row.get(2)?,
        object: row.get(3)?,
        own_per_op: row.get(4)?,
        inclusive_per_op: row.get(5)?,
    })
}

fn call(row: &Row) -> rusqlite::Result<CallCount> {
    Ok(CallCount {
        load: row.get(0)?,
        arm: arm(row, 1)?,
        caller: row.get(2)?,
        callee: row.get(3)?,
        inclusive_per_op: row.get(4)?,
    })
}

fn arm(row: &Row, index: usize) -> rusqlite::Result<ArmIndex> {
    let name: String = row.get(index)?;
    ArmIndex::from_name(&name).ok_or(rusqlite::Error::InvalidQuery)
}
