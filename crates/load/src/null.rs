//! An arm that answers at once and rightly: what is left is the cost of asking.

use dbdyno_wire::{
    Args, BulkTarget, Client, Param, RowBuffer, Rows, StatementCounts, StatementId, WireError,
};

/// A connection to nothing. Every execution returns and changes one row, of one column: `1`.
#[derive(Debug, Default)]
pub struct NullClient {
    prepared: u32,
}

const ONE_ROW: StatementCounts = StatementCounts { rows: 1, affected: 1 };

impl Client for NullClient {
    fn prepare(&mut self, _sql: &str) -> Result<StatementId, WireError> {
        self.prepared += 1;
        Ok(StatementId(self.prepared - 1))
    }

    fn execute(
        &mut self,
        _statement: StatementId,
        args: &dyn Args,
    ) -> Result<StatementCounts, WireError> {
        // Parameters are visited as a real client would, lest the optimiser leaves out making them.
        for index in 0..args.count() {
            match args.get(index) {
                Param::Text(text) => std::hint::black_box(text.len()),
                Param::Int(number) => std::hint::black_box(number) as usize,
                Param::Null => 0,
            };
        }
        Ok(ONE_ROW)
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

    fn run(&mut self, _sql: &str) -> Result<StatementCounts, WireError> {
        Ok(ONE_ROW)
    }

    fn query(&mut self, _sql: &str) -> Result<Rows, WireError> {
        Ok(Rows::default())
    }

    fn bulk_load(
        &mut self,
        _target: &BulkTarget<'_>,
        more: &mut dyn FnMut(&mut Vec<u8>) -> bool,
    ) -> Result<u64, WireError> {
        let mut buffer = Vec::new();
        let mut rows = 0;
        while more(&mut buffer) {
            rows += buffer.iter().filter(|&&byte| byte == b'\n').count() as u64;
            buffer.clear();
        }
        Ok(rows)
    }

    fn server_version(&self) -> &str {
        "null"
    }

    fn connection_id(&self) -> u64 {
        0
    }

    fn close(self: Box<Self>) {}
}
