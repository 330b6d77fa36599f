//! One connection: what is asked, and what is done for it.
//!
//! ```text
//!   greeting ─ login ─ database? ─ welcome ─┬─▶ request ─▶ sql ─▶ answer ─┐
//!                                           └─────────────────────────────┘ until one goes
//! ```

use std::sync::Arc;
use std::time::Duration;

use dbdyno_sql::{Autocommit, EffectWords, SqlConnection, SqlError, StatementEffect, Variables};
use dbdyno_wire::SocketStream;
use dbdyno_wire::mysql::server::{
    Execution, Fault, Parameters, Request, ResponseBuilder, Status, ValueForm, Visitor,
};

use crate::answer::{AnswerResult, ColumnDefinitions, Telling};
use crate::charset::Charset;
use crate::given::ExecutionParameters;
use crate::house::House;
use crate::kept::{KeptStatements, MostKept, StatementPlace};
use crate::processes::{Process, ProcessHost};
use crate::room::AnswerShare;
use crate::settings::ServeLimits;

/// Who connects and does not say within this time who it is, is not there.
const LOGIN: Duration = Duration::from_secs(10);

/// A client that was let in, and its session in the engine.
struct Session<'s> {
    visitor: Visitor,
    asked: ClientContext<'s>,
}

/// What a client asks of.
struct ClientContext<'s> {
    connection: SqlConnection,
    process: Arc<Process>,
    room: AnswerShare<'s>,
    limits: &'s ServeLimits,
    /// The one schema.
    schema: &'s str,
    /// In the order of their numbers, which grow.
    statements: Vec<Statement<'s>>,
    /// What is prepared on this connection, and on all.
    own_kept: &'s KeptStatements,
    all_kept: &'s KeptStatements,
    last_statement: u32,
    says: Charset,
    reads: Charset,
    /// Whether an UPDATE tells the rows that were found, and not those that changed.
    counts_found_rows: bool,
    /// As of which change of the variables that is so.
    changes: u64,
}

/// A prepared statement.
struct Statement<'s> {
    number: u32,
    /// Its number in the connection to the engine.
    place: usize,
    parameters: Parameters,
    kept: ColumnDefinitions<'s>,
    /// Its places among those of the connection, and of all.
    _places: [StatementPlace<'s>; 2],
}

/// Serves a connection from its greeting to its end.
pub(crate) fn serve(stream: SocketStream, id: u32, house: &House) {
    let socket = stream.socket_watch();
    let Ok(mut visitor) = Visitor::let_in(stream, &house.terms, id, LOGIN) else { return };
    let limits = &house.settings.limits;
    let known = &house.settings.database;
    if !visitor.database().is_empty() && visitor.database() != known {
        let error = SqlError::NoDatabase(visitor.database().to_owned());
        let fault = Fault::Refused(error.code(), error.sqlstate(), error.to_string());
        return visitor.close_with(&fault);
    }
    let charset = Charset::of_collation(visitor.collation());
    let variables = at_first(&visitor, id, charset, house);
    let mut connection =
        SqlConnection::with_variables(house.engine.clone(), house.settings.clock, variables);
    let entry = house.processes.add_session(
        id,
        visitor.user(),
        socket,
        connection.wait_watch(),
        house.settings.uptime_ns,
    );
    let process = entry.process.clone();
    let table = house.processes.clone();
    connection.set_host(Box::new(ProcessHost { table, process: process.clone() }));
    let charset = Charset::from_name(charset);
    let own_kept = KeptStatements::default();
    let asked = ClientContext {
        connection,
        process,
        room: house.room.empty_share(limits.all_answer_bytes),
        limits,
        schema: known,
        statements: Vec::new(),
        own_kept: &own_kept,
        all_kept: &house.kept,
        last_statement: 0,
        says: charset,
        reads: charset,
        counts_found_rows: visitor.counts_found_rows(),
        changes: 0,
    };
    if visitor.set_patience(limits.silent, limits.reading).is_ok() && visitor.send_welcome().is_ok()
    {
        Session { visitor, asked }.converse();
    }
}

/// The variables of a session that begins.
fn at_first(visitor: &Visitor, id: u32, charset: &str, house: &House) -> Variables {
    let mut variables = Variables::new(house.known.clone());
    variables.set_initial("connection_id()", id.to_string());
    variables.set_initial("user()", format!("{}@localhost", visitor.user()));
    variables.set_initial("current_user()", format!("{}@localhost", visitor.user()));
    for name in ["character_set_client", "character_set_connection", "character_set_results"] {
        variables.set_initial(name, charset.to_owned());
    }
    let encryption = visitor.encryption();
    let version = encryption.as_ref().map_or("", |encryption| encryption.version);
    variables.tell_status("Ssl_version", version.to_owned());
    variables.tell_status("Ssl_cipher", encryption.map_or_else(String::new, |with| with.cipher));
    variables
}

impl Session<'_> {
    fn converse(mut self) {
        loop {
            match self.turn() {
                Ok(Next::Request) => {}
                Ok(Next::End) | Err(Fault::Gone(_)) => return,
                Err(fault) => {
                    // Its locks are given back before it is told, which may take a while.
                    drop(self.asked);
                    return self.visitor.close_with(&fault);
                }
            }
        }
    }

    fn turn(&mut self) -> Result<Next, Fault> {
        let Session { visitor, asked } = self;
        let (request, answers) = visitor.next_request()?;
        if request == Request::Quit {
            return Ok(Next::End);
        }
        if !asked.process.begin_request() {
            return Ok(Next::End);
        }
        asked.answer(request, answers)?;
        asked.process.end_request();
        visitor.flush()?;
        asked.room.give_back();
        if asked.changes != asked.connection.variables().change_count() {
            let silent = asked.renew();
            visitor.set_patience(silent, asked.limits.reading).map_err(Fault::Gone)?;
        }
        Ok(Next::Request)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    Request,
    End,
}

impl<'s> ClientContext<'s> {
    #[inline]
    fn answer(&mut self, request: Request<'_>, answers: &mut ResponseBuilder) -> Result<(), Fault> {
        match request {
            Request::Execute(execution) => self.execute(execution, answers)?,
            Request::Query(text) => self.query(text, answers),
            Request::Prepare(text) => self.prepare(text, answers),
            Request::Close(number) => {
                if let Ok(at) = self.find(number) {
                    let statement = self.statements.remove(at);
                    self.connection.forget_statement(statement.place);
                }
            }
            Request::LongData { statement, parameter, piece } => {
                let most = self.limits.request_bytes;
                if let Ok(at) = self.find(statement) {
                    let parameters = &mut self.statements[at].parameters;
                    if parameters.pieces_bytes() + piece.len() > most {
                        let text = format!("values in pieces of more than {most} bytes");
                        return Err(Fault::Refused(1153, "08S01", text));
                    }
                    parameters.add_piece(parameter, piece);
                }
            }
            Request::Reset(number) => match self.find(number) {
                Ok(at) => {
                    self.statements[at].parameters.forget_pieces();
                    answers.put_ok(0, 0, self.status());
                }
                Err(_) => unknown(number, answers),
            },
            Request::UseDatabase(name) => {
                let name = self.says.read(name).unwrap_or_default();
                match self.connection.use_database(&name) {
                    Ok(()) => answers.put_ok(0, 0, self.status()),
                    Err(error) => refuse(&error, answers),
                }
            }
            Request::ResetConnection => {
                self.connection.reset();
                self.statements.clear();
                answers.put_ok(0, 0, self.status());
            }
            Request::Ping => answers.put_ok(0, 0, self.status()),
            Request::Quit => {}
            Request::Other(code, name) => {
                let text = format!("{name} (command {code:#04x}) is not known here");
                answers.error(1047, "08S01", &text);
            }
        }
        Ok(())
    }

    #[inline]
    fn execute(
        &mut self,
        execution: Execution<'_>,
        answers: &mut ResponseBuilder,
    ) -> Result<(), Fault> {
        let Ok(at) = self.find(execution.statement) else {
            unknown(execution.statement, answers);
            return Ok(());
        };
        let ClientContext { connection, statements, says, reads, limits, room, .. } = self;
        let Statement { place, parameters, kept, .. } = &mut statements[at];
        parameters.read(execution.values)?;
        let given = ExecutionParameters { parameters, values: execution.values, charset: *says };
        if let Some(number) = given.first_wrong_text() {
            parameters.forget_pieces();
            wrong_text(number, answers);
            return Ok(());
        }
        let mut telling =
            Telling::new(answers, kept, ValueForm::Binary, *reads, limits.answer_bytes, room);
        let done = connection.execute(*place, &given, &mut telling);
        let told = telling.answer_result();
        parameters.forget_pieces();
        self.end(done, told, answers);
        Ok(())
    }

    fn query(&mut self, text: &[u8], answers: &mut ResponseBuilder) {
        let Some(text) = self.says.read(text) else { return not_text(answers) };
        if text.trim_ascii().is_empty() {
            return answers.error(1065, "42000", "the query is empty");
        }
        let mut kept = ColumnDefinitions::in_schema(self.schema);
        let most = self.limits.answer_bytes;
        let mut telling =
            Telling::new(answers, &mut kept, ValueForm::Text, self.reads, most, &mut self.room);
        let done = self.connection.run(&text, &mut telling);
        let told = telling.answer_result();
        self.end(done, told, answers);
    }

    /// Ends an answer.
    #[inline]
    fn end(
        &mut self,
        done: Result<StatementEffect, SqlError>,
        told: AnswerResult,
        answers: &mut ResponseBuilder,
    ) {
        match (done, told) {
            (Ok(_), AnswerResult::Rows) => answers.end_rows(self.status()),
            (Ok(done), AnswerResult::NoRows) => {
                let StatementEffect { found, affected, words, .. } = done;
                let number = done.first_number.unwrap_or_default() as u64;
                let rows = if self.counts_found_rows { found } else { affected };
                let matched =
                    format_args!("Rows matched: {found}  Changed: {affected}  Warnings: 0");
                let records = format_args!("Records: {affected}  Duplicates: 0  Warnings: 0");
                let words = match words {
                    EffectWords::None => None,
                    EffectWords::Matched => Some(matched),
                    EffectWords::Records => Some(records),
                };
                answers.put_ok_with_words(rows, number, self.status(), words);
            }
            (Ok(_), AnswerResult::TooLarge) => {
                answers.take_back();
                let most = self.limits.answer_bytes;
                let text = format!("an answer of more than {most} bytes; ask for it in parts");
                answers.error(1041, "HY000", &text);
            }
            (Ok(_), AnswerResult::NoRoom) => {
                answers.take_back();
                let text = "the answers of all connections together are too long; try again later";
                answers.error(1041, "HY000", text);
            }
            (Ok(_), AnswerResult::OutOfRange) => {
                answers.take_back();
                answers.error(1690, "22003", "a number that its column has no room for");
            }
            (Err(error), _) => {
                answers.take_back();
                refuse(&error, answers);
            }
        }
    }

    fn prepare(&mut self, text: &[u8], answers: &mut ResponseBuilder) {
        let Some(text) = self.says.read(text) else { return not_text(answers) };
        let places = match self.places(text.len()) {
            Ok(places) => places,
            Err(text) => return answers.error(1461, "42000", &text),
        };
        let place = match self.connection.prepare(&text) {
            Ok(place) => place,
            Err(error) => return refuse(&error, answers),
        };
        let about = self.connection.describe_statement(place);
        let marks = u16::try_from(about.marks);
        if let (Ok(marks), false) = (marks, about.is_control) {
            self.last_statement = self.last_statement.wrapping_add(1);
            let number = self.last_statement;
            let kept = ColumnDefinitions::in_schema(self.schema);
            kept.write_prepare_response(answers, number, marks, &about.columns, self.reads);
            let parameters = Parameters::new(about.marks);
            self.statements.push(Statement { number, place, parameters, kept, _places: places });
            return;
        }
        self.connection.forget_statement(place);
        match about.is_control {
            // MySQL's clients then send it as a query.
            true => answers.error(1295, "HY000", "this statement cannot be prepared; query it"),
            false => answers.error(1390, "HY000", "a statement has at most 65535 marks"),
        }
    }

    /// Places for a statement whose text has so many bytes.
    fn places(&self, bytes: usize) -> Result<[StatementPlace<'s>; 2], String> {
        let limits = self.limits;
        let most = MostKept { count: limits.statements, bytes: limits.statement_bytes };
        let own = self.own_kept.reserve_place(bytes, most);
        let own = own.ok_or_else(|| too_many_prepared(most, "on this connection"))?;
        let most = MostKept { count: limits.all_statements, bytes: limits.all_statement_bytes };
        let all = self.all_kept.reserve_place(bytes, most);
        let all = all.ok_or_else(|| too_many_prepared(most, "on all connections together"))?;
        Ok([own, all])
    }

    #[inline]
    fn find(&self, number: u32) -> Result<usize, usize> {
        self.statements.binary_search_by_key(&number, |statement| statement.number)
    }

    #[inline]
    fn status(&self) -> Status {
        Status {
            in_transaction: self.connection.is_in_transaction(),
            autocommit: self.connection.autocommit() == Autocommit::On,
        }
    }

    /// Takes over what variables say; gives how long the client may be silent.
    #[cold]
    fn renew(&mut self) -> Duration {
        let variables = self.connection.variables();
        self.changes = variables.change_count();
        let charset = |name: &str| match variables.value_text(name) {
            // NULL: as they are.
            None | Some("") => Charset::Utf8,
            Some(name) => Charset::from_name(name),
        };
        self.says = charset("character_set_client");
        self.reads = charset("character_set_results");
        let limit = variables.value_text("max_execution_time").and_then(|text| text.parse().ok());
        let limit = limit.filter(|limit_ms: &u64| *limit_ms > 0).map(Duration::from_millis);
        self.process.set_limit(limit);
        let seconds = variables.value_text("wait_timeout").and_then(|text| text.parse().ok());
        // The kernel takes zero for no bound at all.
        seconds.map_or(self.limits.silent, |seconds: u64| {
            Duration::from_secs(seconds.clamp(1, YEAR_SECONDS))
        })
    }
}

/// MySQL's greatest `wait_timeout`.
const YEAR_SECONDS: u64 = 31_536_000;

fn refuse(error: &SqlError, answers: &mut ResponseBuilder) {
    answers.error(error.code(), error.sqlstate(), &error.to_string());
}

fn too_many_prepared(most: MostKept, place: &str) -> String {
    format!(
        "with this one more than {} statements, or {} bytes of them, would be prepared {place}; \
         close some of them",
        most.count, most.bytes
    )
}

fn unknown(statement: u32, answers: &mut ResponseBuilder) {
    let text = format!("there is no prepared statement {statement} on this connection");
    answers.error(1243, "HY000", &text);
}

fn wrong_text(parameter: usize, answers: &mut ResponseBuilder) {
    let text = format!(
        "parameter {parameter} is no text in the character set of the connection; the engine \
         keeps text alone: write bytes in hexadecimal or base 64"
    );
    answers.error(1366, "HY000", &text);
}

fn not_text(answers: &mut ResponseBuilder) {
    let text = "the statement is not text in the character set of the connection; say SET NAMES";
    answers.error(1300, "HY000", text);
}
