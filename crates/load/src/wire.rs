//! A client's connection, and the statements of an event on it.
//!
//! ```text
//!   Event ──▶ call: a prepared statement, or a text with its parameters written into it
//!               └──▶ Outcome ── is it right? ──▶ Answer: the sum over the calls
//! ```

use dbdyno_wire::{Args, Client, Outcome, Param, RowBuffer, StatementId, WireError};
use dbdyno_workload::{Answer as Rows, Call, Event, ReadyLoad, Statement, StatementKind, Value};

use crate::answer::{Answer, Setback, check, setback};
use crate::error::LoadError;
use crate::kept::Seat;

/// The connection and what is prepared on it.
pub(crate) struct Wire<'a> {
    pub(crate) client: Box<dyn Client>,
    pub(crate) load: &'a ReadyLoad,
    /// By statement of the load; `None` for those sent as text.
    pub(crate) prepared: Vec<Option<StatementId>>,
    /// The rows of the last fetch.
    pub(crate) fetched: Fetched,
    answers: Answers,
    /// A text statement with its parameters written into it.
    sql: String,
}

/// Who answers.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answers {
    /// A server, whose answers are checked.
    OfServer,
    /// Nobody: there is one row for everything, see [`crate::null`].
    OfNobody,
}

/// The rows of an answer as a dialogue sees them.
#[derive(Default)]
pub(crate) struct Fetched(pub(crate) RowBuffer);

impl Rows for Fetched {
    fn rows(&self) -> usize {
        self.0.rows()
    }
    fn int(&self, row: usize, column: usize) -> Option<i64> {
        self.0.int(row, column)
    }
    fn text(&self, row: usize, column: usize) -> Option<&[u8]> {
        self.0.text(row, column)
    }
}

/// The parameters of one call of an event.
pub(crate) struct EventArgs<'a> {
    event: &'a Event,
    values: &'a [Value],
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
            Value::Null => Param::Null,
            Value::Int(number) => Param::Int(number),
            Value::Text { start, length } => Param::Text(self.event.text(start, length)),
        }
    }
}

impl<'a> Wire<'a> {
    /// A connection on which this load is prepared.
    pub(crate) fn new(seat: Seat, load: &'a ReadyLoad, answers: Answers) -> Wire<'a> {
        let Seat { client, prepared } = seat;
        let (fetched, sql) = (Fetched::default(), String::new());
        Wire { client, load, prepared, fetched, answers, sql }
    }

    /// Leaves the connection to who goes on with it.
    pub(crate) fn leave(self) -> Seat {
        Seat { client: self.client, prepared: self.prepared }
    }
}

impl Wire<'_> {
    /// Carries out an event and checks every answer.
    #[inline]
    pub(crate) fn ask_event(&mut self, event: &Event) -> Result<Answer, Setback> {
        let mut answer = Answer::to(event);
        for call in &event.calls {
            let outcome = match self.execute(event, call) {
                Ok(outcome) => outcome,
                Err(error) => return Err(self.setback(error, call.statement, event.calls.len())),
            };
            if self.answers == Answers::OfServer {
                check(self.load, call, outcome).map_err(Setback::Failed)?;
            }
            answer.count(outcome);
        }
        Ok(answer)
    }

    /// What an error of one of `statements` statements means.
    pub(crate) fn setback(&self, error: WireError, statement: u32, statements: usize) -> Setback {
        setback(self.load, error, statement, statements)
    }

    #[inline]
    fn execute(&mut self, event: &Event, call: &Call) -> Result<Outcome, WireError> {
        if let Some(id) = self.prepared[call.statement as usize] {
            return self.client.execute(id, &EventArgs::new(event, call));
        }
        let statement = &self.load.statements()[call.statement as usize];
        match statement.kind {
            StatementKind::Text => {
                event.write_sql(call, statement, &mut self.sql);
                self.client.run(&self.sql)
            }
            StatementKind::Control | StatementKind::Prepared => self.client.run(&statement.sql),
        }
    }

    /// Ends a transaction, if there is one.
    ///
    /// Outside a transaction the server complains about the ROLLBACK or takes it; either way the
    /// connection is where it should be.
    pub(crate) fn roll_back(&mut self) -> Result<(), LoadError> {
        match self.client.run("ROLLBACK") {
            Err(error) if error.is_fatal() => Err(error.into()),
            Err(_) | Ok(_) => Ok(()),
        }
    }
}

/// Prepares what of a load is prepared; by statement of the load.
pub(crate) fn prepare_all(
    client: &mut dyn Client,
    load: &ReadyLoad,
) -> Result<Vec<Option<StatementId>>, LoadError> {
    let prepare = |statement: &Statement| match statement.kind {
        StatementKind::Control | StatementKind::Text => Ok(None),
        StatementKind::Prepared => match client.prepare(&statement.sql) {
            Ok(id) => Ok(Some(id)),
            Err(error) => Err(LoadError::Wire(error, Some(statement.sql.clone()))),
        },
    };
    load.statements().iter().map(prepare).collect()
}
