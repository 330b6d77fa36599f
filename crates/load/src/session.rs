//! One client's connection with all statements of a load prepared on it.
//!
//! ```text
//!   turn(operation) ── Program:  fill the event, execute its calls ─┐
//!                   └─ Dialogue: partner.turn(operation, Wire) ─────┤
//!                                                                   ▼
//!                                     rolled back for others? ROLLBACK and ask again
//! ```

use dbdyno_wire::{Args, Client, Outcome, Param, StatementId, WireError};
use dbdyno_workload::ready::Part;
use dbdyno_workload::{
    Call, Event, Expect, Partner, Program, ReadyLoad, Statement, StatementKind, Value,
};

use crate::connector::Connector;
use crate::error::LoadError;
use crate::kept::Seat;
use crate::talk::{Fetched, Talk};

/// A client's connection, ready to be asked.
pub struct Session<'a> {
    wire: Wire<'a>,
    part: Turn<'a>,
    number: u32,
}

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

/// Why an event was not carried out.
pub(crate) enum Setback {
    /// It was rolled back for the sake of others, and is to be asked again.
    AskAgain,
    /// It failed for good.
    Failed(LoadError),
}

/// How the next event comes about.
#[expect(clippy::large_enum_variant, reason = "one for each client, and the large one is usual")]
enum Turn<'a> {
    Program { program: &'a Program, client: u32, event: Event },
    Partner(Box<dyn Partner>),
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
    /// Times that the event was rolled back for the sake of others and asked again.
    pub retries: u64,
    /// The kind of the event, as [`dbdyno_workload::Filing`] counts them: in a dialogue, its class.
    pub kind: u32,
}

impl Answer {
    /// The answer to an event of which nothing has been answered.
    #[inline]
    pub(crate) fn to(event: &Event) -> Answer {
        Answer { kind: event.kind, ..Answer::default() }
    }

    pub(crate) fn count(&mut self, outcome: Outcome) {
        self.statements += 1;
        self.rows_read += outcome.rows;
        self.rows_changed += outcome.affected;
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

impl<'a> Session<'a> {
    /// Connects as client number `client` and prepares.
    ///
    /// # Errors
    /// No connection, or a statement that the server refuses to prepare.
    pub fn open(
        connector: &Connector,
        load: &'a ReadyLoad,
        client: u32,
    ) -> Result<Session<'a>, LoadError> {
        let mut connection = connector.connect()?;
        let prepared = prepare_all(&mut *connection, load)?;
        Ok(Session::resume(Seat { client: connection, prepared }, connector, load, client))
    }

    /// Goes on as client number `client` with its connection of an earlier round, on which this
    /// load is prepared.
    pub(crate) fn resume(
        seat: Seat,
        connector: &Connector,
        load: &'a ReadyLoad,
        client: u32,
    ) -> Session<'a> {
        let part = match load.part() {
            Part::Program(program) => Turn::Program { program, client, event: Event::default() },
            Part::Dialogue(dialogue, dialect) => Turn::Partner(dialogue.partner(client, *dialect)),
        };
        let (fetched, sql) = (Fetched::default(), String::new());
        let answers = match connector {
            Connector::Null | Connector::Mock(_) => Answers::OfNobody,
            _ => Answers::OfServer,
        };
        let Seat { client: connection, prepared } = seat;
        let wire = Wire { client: connection, load, prepared, fetched, answers, sql };
        Session { wire, part, number: client }
    }

    /// Leaves the connection to who goes on with it.
    pub(crate) fn leave(self) -> Seat {
        let Wire { client, prepared, .. } = self.wire;
        Seat { client, prepared }
    }

    /// The connection itself.
    pub(crate) fn client(&mut self) -> &mut dyn Client {
        &mut *self.wire.client
    }

    /// Takes leave of the server.
    pub(crate) fn close(self) {
        self.wire.client.close();
    }

    /// The client's number.
    pub(crate) fn number(&self) -> u32 {
        self.number
    }

    /// Makes operation number `operation` ready. What making costs falls before the event's start
    /// where the caller reads the clock after this; a dialogue makes its statements as it goes.
    #[inline]
    pub fn make(&mut self, operation: u64) {
        if let Turn::Program { program, client, event } = &mut self.part {
            program.fill(*client, operation, event);
        }
    }

    /// As [`Session::make`], but the operation is that of another client: in the open loop any
    /// connection may ask any client's question. A dialogue has its own client's questions only.
    #[inline]
    pub(crate) fn make_as(&mut self, client: u32, operation: u64) {
        if let Turn::Program { program, event, .. } = &mut self.part {
            program.fill(client, operation, event);
        }
    }

    /// The kind of an operation that will not be asked, of this client or, unless it is a dialogue,
    /// of any; `None` where only asking would tell.
    pub(crate) fn kind_of(&mut self, client: u32, operation: u64) -> Option<u32> {
        match &mut self.part {
            Turn::Program { program, event, .. } => {
                program.fill(client, operation, event);
                Some(event.kind)
            }
            Turn::Partner(partner) => partner.class_of(operation).map(|class| class as u32),
        }
    }

    /// Whether its questions may be those of other clients.
    pub(crate) fn is_program(&self) -> bool {
        matches!(self.part, Turn::Program { .. })
    }

    /// Carries out the operation that was made ready and checks every answer. When the server rolls
    /// it back for the sake of others it is asked again, as sysbench does.
    ///
    /// # Errors
    /// A broken connection, a refusal that is not for the sake of others, or a wrong result;
    /// [`LoadError::Interrupted`] where the round is over and it still waited for others.
    pub fn ask(&mut self, operation: u64) -> Result<Answer, LoadError> {
        let mut retries = 0;
        loop {
            let asked = match &mut self.part {
                Turn::Program { event, .. } => self.wire.ask_event(event),
                Turn::Partner(partner) => Talk::new(&mut self.wire).turn(&mut **partner, operation),
            };
            match asked {
                Ok(answer) => return Ok(Answer { retries, ..answer }),
                Err(Setback::AskAgain) => {
                    retries += 1;
                    self.wire.roll_back()?;
                }
                Err(Setback::Failed(error)) => return Err(error),
            }
        }
    }

    /// Pause before the first operation of a round, microseconds, if the load has pauses.
    pub fn phase_us(&mut self, operation: u64) -> Option<u64> {
        match &mut self.part {
            Turn::Program { .. } => None,
            Turn::Partner(partner) => partner.phase_us(operation),
        }
    }

    /// Pause after an operation, microseconds, if the load has pauses.
    pub fn pause_us(&mut self, operation: u64) -> Option<u64> {
        match &mut self.part {
            Turn::Program { .. } => None,
            Turn::Partner(partner) => partner.pause_us(operation),
        }
    }
}

impl Wire<'_> {
    fn ask_event(&mut self, event: &Event) -> Result<Answer, Setback> {
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

    /// Outside a transaction the server complains about the ROLLBACK or takes it; either way the
    /// connection is where it should be.
    fn roll_back(&mut self) -> Result<(), LoadError> {
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

/// What an error of one of an event's `statements` statements means.
///
/// Two clients that delete and put back the same row can meet in the primary key: the second INSERT
/// finds the first one's row. sysbench asks again, and so do we, but only where the event has other
/// statements and the load deletes: elsewhere it would mean that the tables are not what they
/// should be, and asking again would find the same row without end.
pub(crate) fn setback(
    load: &ReadyLoad,
    error: WireError,
    statement: u32,
    statements: usize,
) -> Setback {
    if error.is_retryable() || (statements > 1 && is_duplicate(&error) && deletes(load)) {
        return Setback::AskAgain;
    }
    Setback::Failed(LoadError::of_statement(error, || sql_of(load, statement)))
}

fn deletes(load: &ReadyLoad) -> bool {
    let word = |statement: &Statement| statement.sql.trim_start().get(..6).map(str::to_owned);
    load.statements().iter().filter_map(word).any(|word| word.eq_ignore_ascii_case("delete"))
}

pub(crate) fn sql_of(load: &ReadyLoad, statement: u32) -> String {
    load.statements()[statement as usize].sql.clone()
}

fn is_duplicate(error: &WireError) -> bool {
    const MYSQL_DUPLICATE: u16 = 1062;
    match error {
        WireError::Server(error) => match error.code {
            0 => error.sqlstate == "23505",
            code => code == MYSQL_DUPLICATE,
        },
        _ => false,
    }
}

/// Whether this is the answer that the call must get.
#[inline]
pub(crate) fn check(load: &ReadyLoad, call: &Call, outcome: Outcome) -> Result<(), LoadError> {
    let (got, low, high) = match call.expect {
        None => return Ok(()),
        Some(Expect::Rows(low, high)) => (outcome.rows, low, high),
        Some(Expect::Changed(low, high)) => (outcome.affected, low, high),
    };
    if (low..=high).contains(&got) { Ok(()) } else { Err(wrong(load, call, outcome)) }
}

#[cold]
fn wrong(load: &ReadyLoad, call: &Call, outcome: Outcome) -> LoadError {
    let expect = call.expect.expect("what expects nothing is right");
    LoadError::WrongResult { sql: sql_of(load, call.statement), expect, outcome }
}
