//! A client's connection, and the statements of an event on it.
//!
//! ```text
//!   Event ──▶ call: a prepared statement, or a text with its parameters written into it
//!               └──▶ Outcome ── is it right? ──▶ Answer: the sum over the calls
//! ```

use dbdyno_wire::{Client, Patience, RowBuffer, StatementId, WireError};
use dbdyno_workload::{AnswerRows as Rows, Event, ReadyLoad, Statement, StatementKind};

use crate::answer::{
    EventAnswer, Setback, classify_error, is_right, rollback_error, wrong_result_error,
};
use crate::asking::{ROLLBACK, execute};
use crate::error::LoadError;
use crate::kept::Seat;

/// The connection and what is prepared on it.
pub(crate) struct Wire<'a> {
    pub(crate) client: Box<dyn Client>,
    pub(crate) load: &'a ReadyLoad,
    /// By statement of the load; `None` for those sent as text.
    pub(crate) prepared: Vec<Option<StatementId>>,
    /// The rows of the last fetch.
    pub(crate) fetched: DialogueRows,
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
pub(crate) struct DialogueRows(pub(crate) RowBuffer);

impl Rows for DialogueRows {
    fn rows(&self) -> usize {
        self.0.rows()
    }
    fn int(&self, row: usize, column: usize) -> Option<i64> {
        self.0.int(row, column)
    }
    fn text_at(&self, row: usize, column: usize) -> Option<&[u8]> {
        self.0.text_at(row, column)
    }
}

impl<'a> Wire<'a> {
    /// A connection on which this load is prepared.
    pub(crate) fn new(seat: Seat, load: &'a ReadyLoad, answers: Answers) -> Wire<'a> {
        let Seat { client, prepared } = seat;
        let (fetched, sql) = (DialogueRows::default(), String::new());
        Wire { client, load, prepared, fetched, answers, sql }
    }

    /// Leaves the connection to who goes on with it.
    pub(crate) fn into_seat(mut self) -> Seat {
        self.client.set_patience(Patience::QUESTION);
        Seat { client: self.client, prepared: self.prepared }
    }
}

impl Wire<'_> {
    /// Carries out an event and checks every answer.
    #[inline]
    pub(crate) fn ask_event(&mut self, event: &Event) -> Result<EventAnswer, Setback> {
        let mut answer = EventAnswer::for_event(event);
        for call in &event.calls {
            let (client, prepared) = (&mut *self.client, &self.prepared);
            let outcome = match execute(client, prepared, self.load, event, call, &mut self.sql) {
                Ok(outcome) => outcome,
                Err(error) => {
                    return Err(self.classify_error(error, call.statement, event.calls.len()));
                }
            };
            if self.answers == Answers::OfServer && !is_right(call, outcome) {
                let (client, prepared) = (&mut *self.client, &self.prepared);
                let error = wrong_result_error(client, prepared, self.load, event, call, outcome);
                return Err(Setback::Failed(error));
            }
            answer.count(outcome);
        }
        Ok(answer)
    }

    /// What an error of one of `statements` statements means.
    pub(crate) fn classify_error(
        &self,
        error: WireError,
        statement: u32,
        statements: usize,
    ) -> Setback {
        classify_error(self.load, error, statement, statements)
    }

    /// Ends a transaction, if there is one. A refusal ends the round: see [`rollback_error`].
    pub(crate) fn roll_back(&mut self) -> Result<(), LoadError> {
        self.client.run(ROLLBACK).map(drop).map_err(rollback_error)
    }
}

/// Prepares what of a load is prepared; by statement of the load.
pub(crate) fn prepare_all(
    client: &mut dyn Client,
    load: &ReadyLoad,
) -> Result<Vec<Option<StatementId>>, LoadError> {
    load.statements()
        .iter()
        .map(|statement: &Statement| match statement.kind {
            StatementKind::Control | StatementKind::Text => Ok(None),
            StatementKind::Prepared => match client.prepare(&statement.sql) {
                Ok(id) => Ok(Some(id)),
                Err(error) => Err(LoadError::Wire(error, Some(statement.sql.clone()))),
            },
        })
        .collect()
}
