//! A connection to a model: every answer is one row, at once.

use dbdyno_wire::{
    Args, BulkTarget, Client, RowBuffer, Rows, StatementCounts, StatementId, WireError,
};

/// A connection that knows which of its statements ask, and which change.
#[derive(Debug, Default)]
pub(crate) struct MockClient {
    /// By prepared statement.
    outcomes: Vec<StatementCounts>,
}

fn outcome_of(sql: &str) -> StatementCounts {
    let word =
        sql.trim_start().split(|c: char| !c.is_ascii_alphabetic()).next().unwrap_or_default();
    match word.to_ascii_uppercase().as_str() {
        "INSERT" | "UPDATE" | "DELETE" | "REPLACE" => StatementCounts { rows: 0, affected: 1 },
        "BEGIN" | "START" | "COMMIT" | "ROLLBACK" | "SET" => {
            StatementCounts { rows: 0, affected: 0 }
        }
        _ => StatementCounts { rows: 1, affected: 0 },
    }
}

impl Client for MockClient {
    fn prepare(&mut self, sql: &str) -> Result<StatementId, WireError> {
        self.outcomes.push(outcome_of(sql));
        Ok(StatementId(self.outcomes.len() as u32 - 1))
    }

    fn execute(
        &mut self,
        statement: StatementId,
        _args: &dyn Args,
    ) -> Result<StatementCounts, WireError> {
        Ok(self.outcomes[statement.0 as usize])
    }

    fn fetch(
        &mut self,
        statement: StatementId,
        args: &dyn Args,
        into: &mut RowBuffer,
    ) -> Result<StatementCounts, WireError> {
        into.begin_rows(1);
        into.push_text(b"1");
        self.execute(statement, args)
    }

    fn run(&mut self, sql: &str) -> Result<StatementCounts, WireError> {
        Ok(outcome_of(sql))
    }

    fn query(&mut self, _sql: &str) -> Result<Rows, WireError> {
        Ok(Rows::default())
    }

    fn bulk_load(
        &mut self,
        _target: &BulkTarget<'_>,
        _more: &mut dyn FnMut(&mut Vec<u8>) -> bool,
    ) -> Result<u64, WireError> {
        unreachable!("the tables of a model are filled by its clock")
    }

    fn server_version(&self) -> &str {
        "mock"
    }

    fn connection_id(&self) -> u64 {
        0
    }

    fn close(self: Box<Self>) {}
}
