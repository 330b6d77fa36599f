//! One client's connection with all statements of a load prepared on it.

use dbdyno_wire::{Args, Client, Outcome, Param, StatementId, WireError};
use dbdyno_workload::{Call, Event, Expect, Program, StatementKind, Value};

use crate::connector::Connector;
use crate::error::LoadError;

/// A client's connection, ready to be asked.
pub struct Session<'a> {
    client: Box<dyn Client>,
    program: &'a Program,
    /// By statement of the program; `None` for those sent as text.
    prepared: Vec<Option<StatementId>>,
}

/// What the statements of an event did together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    /// Statements executed.
    pub statements: u64,
    /// Rows returned.
    pub rows_read: u64,
    /// Rows changed.
    pub rows_changed: u64,
}

struct EventArgs<'a> {
    event: &'a Event,
    values: &'a [Value],
}

impl Args for EventArgs<'_> {
    #[inline]
    fn count(&self) -> usize {
        self.values.len()
    }
    #[inline]
    fn get(&self, index: usize) -> Param<'_> {
        match self.values[index] {
            Value::Int(number) => Param::Int(number),
            Value::Text { start, length } => Param::Text(self.event.text(start, length)),
        }
    }
}

impl<'a> Session<'a> {
    /// Connects and prepares.
    ///
    /// # Errors
    /// No connection, or a statement that the server refuses to prepare.
    pub fn open(connector: &Connector, program: &'a Program) -> Result<Session<'a>, LoadError> {
        let mut client = connector.connect()?;
        let mut prepared = Vec::with_capacity(program.statements().len());
        for statement in program.statements() {
            prepared.push(match statement.kind {
                StatementKind::Control => None,
                StatementKind::Prepared => {
                    let id = client.prepare(&statement.sql);
                    Some(id.map_err(|error| LoadError::Wire(error, Some(statement.sql.clone())))?)
                }
            });
        }
        Ok(Session { client, program, prepared })
    }

    /// Asks all statements of an event and checks every answer. When the server rolls the event
    /// back for the sake of others it is asked again, as sysbench does; `retries` counts that.
    ///
    /// # Errors
    /// A broken connection, a refusal that is not for the sake of others, or a wrong result.
    pub fn ask(&mut self, event: &Event, retries: &mut u64) -> Result<Answer, LoadError> {
        loop {
            match self.ask_once(event) {
                Err(LoadError::Wire(error, _)) if asked_again(&error, event) => {
                    *retries += 1;
                    // Outside a transaction the server complains about the ROLLBACK or takes it;
                    // either way the connection is where it should be.
                    match self.client.run("ROLLBACK") {
                        Err(error) if error.is_fatal() => return Err(error.into()),
                        Err(_) | Ok(_) => {}
                    }
                }
                answer => return answer,
            }
        }
    }

    fn ask_once(&mut self, event: &Event) -> Result<Answer, LoadError> {
        let mut answer = Answer::default();
        for call in &event.calls {
            let outcome = match self.prepared[call.statement as usize] {
                Some(id) => {
                    let args = EventArgs { event, values: event.values(call) };
                    self.client.execute(id, &args)
                }
                None => self.client.run(&self.program.statements()[call.statement as usize].sql),
            };
            let outcome = outcome.map_err(|error| LoadError::Wire(error, Some(self.sql(call))))?;
            if let Some(expect) = call.expect
                && !is_right(expect, outcome)
            {
                return Err(LoadError::WrongResult { sql: self.sql(call), expect, outcome });
            }
            answer.statements += 1;
            answer.rows_read += outcome.rows;
            answer.rows_changed += outcome.affected;
        }
        Ok(answer)
    }

    fn sql(&self, call: &Call) -> String {
        self.program.statements()[call.statement as usize].sql.clone()
    }
}

/// In PostgreSQL two clients that delete and put back the same row meet in the primary key: the
/// second INSERT finds the first one's row (SQLSTATE 23505). sysbench asks again, and so do we, but
/// only within a transaction: elsewhere it would mean that the tables are not what they should be.
fn asked_again(error: &WireError, event: &Event) -> bool {
    let duplicate = match error {
        WireError::Server(error) => error.code == 0 && error.sqlstate == "23505",
        _ => false,
    };
    error.is_retryable() || (duplicate && event.calls.len() > 1)
}

#[inline]
fn is_right(expect: Expect, outcome: Outcome) -> bool {
    match expect {
        Expect::Rows(low, high) => (low..=high).contains(&outcome.rows),
        Expect::Changed(low, high) => (low..=high).contains(&outcome.affected),
    }
}
