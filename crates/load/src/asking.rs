//! One call of an event, as a client is asked it.

use dbdyno_wire::{Args, Client, Param, StatementCounts, StatementId, WireError};
use dbdyno_workload::{Call, CallValue, Event, ReadyLoad, StatementKind};

/// What ends a transaction that is to be asked again; outside of one, servers take it too.
pub(crate) const ROLLBACK: &str = "ROLLBACK";

/// The parameters of one call of an event.
pub(crate) struct EventArgs<'a> {
    event: &'a Event,
    values: &'a [CallValue],
}

impl<'a> EventArgs<'a> {
    #[inline]
    pub(crate) fn new(event: &'a Event, call: &Call) -> EventArgs<'a> {
        EventArgs { event, values: event.values(call) }
    }
}

impl Args for EventArgs<'_> {
    #[inline]
    fn count(&self) -> usize {
        self.values.len()
    }
    #[inline]
    fn get(&self, index: usize) -> Param<'_> {
        match self.values[index] {
            CallValue::Null => Param::Null,
            CallValue::Int(number) => Param::Int(number),
            CallValue::Text { start, length } => Param::Text(self.event.text_slice(start, length)),
        }
    }
}

/// Asks a call: the prepared statement, or as a text, for which `sql` is the memory.
#[inline]
pub(crate) fn execute(
    client: &mut dyn Client,
    prepared: &[Option<StatementId>],
    load: &ReadyLoad,
    event: &Event,
    call: &Call,
    sql: &mut String,
) -> Result<StatementCounts, WireError> {
    if let Some(id) = prepared[call.statement as usize] {
        return client.execute(id, &EventArgs::new(event, call));
    }
    let statement = &load.statements()[call.statement as usize];
    match statement.kind {
        StatementKind::Text => {
            event.write_sql(call, statement, sql);
            client.run(sql)
        }
        StatementKind::Control | StatementKind::Prepared => client.run(&statement.sql),
    }
}
