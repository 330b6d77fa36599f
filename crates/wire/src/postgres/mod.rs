//! The PostgreSQL protocol, version 3.0, from the client's side.
//!
//! ```text
//!   execute   Bind Execute Sync     ──one write──▶
//!             ◀──usually one read──  BindComplete DataRow… CommandComplete ReadyForQuery
//!
//!   prepare   Parse Describe Sync       run, query   Query       bulk   Query, CopyData…, CopyDone
//! ```
//!
//! Every exchange ends with ReadyForQuery, also after an error; what comes before it is taken by
//! `PostgresConnection::advance` one message at a time. Notices, changed parameters and
//! notifications may come at any time and are skipped. A connection on which an exchange did not
//! reach its end (broken, protocol violated, a panic in the caller's data source) knows no longer
//! which answer belongs to which question; it then refuses every further call rather than count a
//! stranger's rows.

pub use scram::scram_verifier;

use std::fmt;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd as _, BorrowedFd};
use std::time::Duration;

pub(crate) mod answer;
mod bulk;
mod exchange;
pub(crate) mod incoming;
pub(crate) mod login;
pub(crate) mod outgoing;
pub(crate) mod scram;
mod source;

use crate::client::{Args, BulkTarget, Client, Pollable, Rows, StatementCounts, StatementId};
use crate::cutoff::{Cutoff, Patience};
use crate::error::WireError;
use crate::rows::RowBuffer;
use crate::stream::{Endpoint, SocketStream, Waiting};
use crate::tls::{Encryption, failure_in};
use exchange::{
    Answer, Direction, Event, FetchedText, Form, Parameters, RowCounter, Sink, TextRows,
};
use incoming::{Incoming, RowBodies};
use outgoing::{Results, SYNC, Statement, message, put_cstring};
use source::Source;

/// A server on its knees may take long to fork a process; one that is stopped takes for ever.
const LOGIN_TIMEOUT: Duration = Duration::from_secs(30);
/// How long a failed write waits for the server's reason.
const LAST_WORDS_TIMEOUT: Duration = Duration::from_secs(1);
/// How long [`Client::close`] waits for the server to let go.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(5);

/// A connection to a PostgreSQL server. See [`Client`] for what it offers.
///
/// Integers are sent in the width of the parameter's type; one that is beyond it is sent as
/// characters so that the refusal is the server's own. Character parameters go as they are, in the
/// encoding of the server: `client_encoding` is left alone.
///
/// `COMMIT` of a transaction in which a statement failed is answered by PostgreSQL as a success
/// that rolled back. Who ignores a [`WireError::Server`] and commits has committed nothing.
pub struct PostgresConnection {
    stream: SocketStream,
    cutoff: Cutoff,
    incoming: Incoming,
    outgoing: Vec<u8>,
    statements: Vec<Statement>,
    /// Names given to statements, those that were refused included: a name is never used twice.
    names_given: u32,
    session: login::Session,
    usable: bool,
    /// The answer to what was asked without waiting, as far as it has come.
    awaited: Option<Answer>,
}

impl PostgresConnection {
    /// Connects and logs in, within 30 seconds.
    ///
    /// # Errors
    /// [`WireError::Connect`] when nobody answers or the connection breaks before it is made,
    /// [`WireError::Tls`] when it cannot be reached encrypted, [`WireError::Login`] when the server
    /// refuses (also for a missing database, too many clients, or because it wants TLS),
    /// [`WireError::Exposed`] when it wants the password where others could read it,
    /// [`WireError::Late`] when it does not come to an end,
    /// [`WireError::Protocol`] when it is not PostgreSQL or wants to be convinced in a way that is
    /// not spoken here.
    pub fn connect(endpoint: &Endpoint) -> Result<PostgresConnection, WireError> {
        PostgresConnection::connect_within(endpoint, LOGIN_TIMEOUT)
    }

    /// As [`PostgresConnection::connect`], within another time.
    ///
    /// # Errors
    /// As there.
    pub fn connect_within(
        endpoint: &Endpoint,
        limit: Duration,
    ) -> Result<PostgresConnection, WireError> {
        let stream = SocketStream::connect(&endpoint.transport)?;
        Self::over(stream, endpoint, limit).map_err(|error| match error {
            WireError::Broken(error) => {
                failure_in(&error).map(WireError::Tls).unwrap_or_else(|| {
                    WireError::Connect(endpoint.transport.to_string(), during_login(&error))
                })
            }
            WireError::Late(limit) => WireError::unfinished_login(&endpoint.transport, limit),
            WireError::Protocol(text) => WireError::Protocol(format!(
                "{text}; is it a PostgreSQL server that listens on {}?",
                endpoint.transport
            )),
            other => other,
        })
    }

    fn over(
        stream: SocketStream,
        endpoint: &Endpoint,
        limit: Duration,
    ) -> Result<PostgresConnection, WireError> {
        let mut cutoff = Cutoff::for_socket(stream.weak_socket())?;
        cutoff.set_deadline(limit);
        let mut incoming = Incoming::of_login();
        let begun = login::encrypt(stream, &endpoint.security).and_then(|mut stream| {
            let privacy = stream.privacy();
            let session = login::log_in(&mut stream, &mut incoming, endpoint, privacy)?;
            Ok((stream, session))
        });
        let (stream, session) = begun.map_err(|error| cutoff.explain_error(error))?;
        incoming.end_login();
        cutoff.set_patience(Patience::QUESTION);
        Ok(PostgresConnection {
            stream,
            cutoff,
            incoming,
            outgoing: Vec::new(),
            statements: Vec::new(),
            names_given: 0,
            session,
            usable: true,
            awaited: None,
        })
    }

    /// Opens an exchange.
    #[inline]
    fn begin(&mut self) -> Result<(), WireError> {
        if !self.usable {
            return Err(self.unusable());
        }
        self.usable = false;
        self.outgoing.clear();
        self.cutoff.begin_request();
        Ok(())
    }

    #[cold]
    fn unusable(&self) -> WireError {
        let text = match self.awaited {
            Some(_) => "an earlier statement has not been answered yet; receive it",
            None => "an earlier error made this connection unusable; make a new one",
        };
        WireError::Broken(io::Error::new(io::ErrorKind::NotConnected, text))
    }

    /// Closes an exchange: the connection may be used again unless it failed for good.
    #[inline]
    fn settle<T>(&mut self, result: Result<T, WireError>) -> Result<T, WireError> {
        self.cutoff.end_request();
        match result {
            Err(error) if error.is_fatal() => Err(self.cutoff.explain_error(error)),
            result => {
                self.usable = true;
                result
            }
        }
    }

    #[inline]
    fn send(&mut self) -> Result<(), WireError> {
        match self.stream.write_all(&self.outgoing) {
            Ok(()) => Ok(()),
            Err(error) => Err(self.last_words(error)),
        }
    }

    /// A server that ends a session says why before it closes: that is worth more than "broken
    /// pipe".
    #[cold]
    fn last_words(&mut self, error: io::Error) -> WireError {
        let mut answer = Answer::new(Form::Simple);
        self.cutoff.part_within(LAST_WORDS_TIMEOUT);
        while let Ok(message) = self.incoming.next(&mut self.stream, RowBodies::Skip) {
            if message.tag == b'E' {
                answer.note_error(message.body);
                break;
            }
        }
        answer.explain_break(error)
    }

    /// Takes one message.
    #[inline]
    fn advance<K: Sink>(
        &mut self,
        waiting: Waiting,
        answer: &mut Answer,
        sink: &mut K,
    ) -> Result<Event, WireError> {
        let mut source = Source { stream: &mut self.stream, waiting };
        let message = match self.incoming.next(&mut source, K::BODIES) {
            Ok(message) => message,
            Err(error) if error.is_not_yet() => return Err(error),
            Err(WireError::Broken(error)) => return Err(answer.explain_break(error)),
            Err(error) => return Err(error),
        };
        match message.tag {
            b'D' => {
                answer.outcome.rows += 1;
                sink.take_row(message.body)?;
            }
            b'C' => {
                answer.complete_statement(message.body);
            }
            b'Z' => return Ok(Event::Ready),
            b'E' => answer.note_error(message.body),
            // EmptyQueryResponse stands for a CommandComplete.
            b'I' => answer.completed += 1,
            b'T' => sink.columns(message.body)?,
            b't' => sink.parameters(message.body)?,
            b'G' => return Ok(Event::CopyIn),
            // COPY … TO STDOUT sends one CopyData per row.
            b'H' => answer.direction = Direction::Out,
            b'd' => answer.outcome.rows += 1,
            // Parse-, Bind- and CloseComplete, NoData; CopyDone; NoticeResponse,
            // ParameterStatus, NotificationResponse.
            b'1' | b'2' | b'3' | b'n' | b'c' | b'N' | b'S' | b'A' => {}
            tag => return Err(unexpected(tag)),
        }
        Ok(Event::More)
    }

    /// Takes messages up to ReadyForQuery. A statement that unexpectedly wants data gets none.
    /// Where nothing is waited for and more must come ([`WireError::is_not_yet`]), it is to be
    /// called again later.
    #[inline]
    fn finish<K: Sink>(
        &mut self,
        waiting: Waiting,
        answer: &mut Answer,
        sink: &mut K,
    ) -> Result<(), WireError> {
        loop {
            match self.advance(waiting, answer, sink)? {
                Event::Ready => break,
                Event::More => {}
                Event::CopyIn => self.refuse_copy(answer.form)?,
            }
        }
        match answer.error.take() {
            Some(error) => Err(WireError::Server(error)),
            None => Ok(()),
        }
    }

    #[cold]
    fn refuse_copy(&mut self, form: Form) -> Result<(), WireError> {
        self.outgoing.clear();
        message(&mut self.outgoing, b'f', |out| put_cstring(out, b"data is sent only in bulk"))?;
        if form == Form::Extended {
            // The Sync of the execution is gone: a server that waits for data lets it pass unseen.
            self.outgoing.extend_from_slice(&SYNC);
        }
        self.send()
    }

    #[inline]
    fn put_text(&mut self, sql: &str) -> Result<(), WireError> {
        message(&mut self.outgoing, b'Q', |out| put_cstring(out, sql.as_bytes()))?;
        self.send()
    }

    fn ask<K: Sink>(&mut self, sql: &str, sink: &mut K) -> Result<StatementCounts, WireError> {
        self.put_text(sql)?;
        let mut answer = Answer::new(Form::Simple);
        self.finish(Waiting::UntilThere, &mut answer, sink)?;
        answer.final_counts()
    }

    fn parse(&mut self, sql: &str) -> Result<StatementId, WireError> {
        let name = self.names_given.to_string();
        self.names_given += 1;
        message(&mut self.outgoing, b'P', |out| {
            put_cstring(out, name.as_bytes());
            put_cstring(out, sql.as_bytes());
            // No types of ours: the server's own choice is what integers are fitted to.
            out.extend_from_slice(&[0, 0]);
        })?;
        message(&mut self.outgoing, b'D', |out| {
            out.push(b'S');
            put_cstring(out, name.as_bytes());
        })?;
        self.outgoing.extend_from_slice(&SYNC);
        self.send()?;
        let mut parameters = Parameters(None);
        self.finish(Waiting::UntilThere, &mut Answer::new(Form::Extended), &mut parameters)?;
        let Some(oids) = parameters.0 else {
            return Err(WireError::Protocol(
                "the server prepared a statement and did not describe it".to_owned(),
            ));
        };
        self.statements.push(Statement::new(&name, &oids));
        Ok(StatementId(self.statements.len() as u32 - 1))
    }

    #[inline]
    fn carry_out<K: Sink>(
        &mut self,
        id: StatementId,
        args: &dyn Args,
        sink: &mut K,
    ) -> Result<StatementCounts, WireError> {
        self.put(id, args, K::RESULTS)?;
        let mut answer = Answer::new(Form::Extended);
        self.finish(Waiting::UntilThere, &mut answer, sink)?;
        answer.final_counts()
    }

    /// Sends an execution.
    #[inline]
    fn put(&mut self, id: StatementId, args: &dyn Args, results: Results) -> Result<(), WireError> {
        let Some(statement) = self.statements.get(id.0 as usize) else {
            return Err(WireError::Protocol(format!(
                "statement {} was not prepared on this connection",
                id.0
            )));
        };
        statement.compose_execution(&mut self.outgoing, args, results)?;
        self.send()
    }

    /// Notes that the answer to what was sent is awaited, or closes the exchange.
    #[inline]
    fn await_answer(&mut self, sent: Result<(), WireError>, form: Form) -> Result<(), WireError> {
        match sent {
            Ok(()) => {
                self.awaited = Some(Answer::new(form));
                Ok(())
            }
            Err(error) => self.settle(Err(error)),
        }
    }
}

impl Client for PostgresConnection {
    fn prepare(&mut self, sql: &str) -> Result<StatementId, WireError> {
        self.begin()?;
        let result = self.parse(sql);
        self.settle(result)
    }

    #[inline]
    fn execute(
        &mut self,
        statement: StatementId,
        args: &dyn Args,
    ) -> Result<StatementCounts, WireError> {
        self.begin()?;
        let result = self.carry_out(statement, args, &mut RowCounter);
        self.settle(result)
    }

    fn fetch(
        &mut self,
        statement: StatementId,
        args: &dyn Args,
        into: &mut RowBuffer,
    ) -> Result<StatementCounts, WireError> {
        into.clear();
        self.begin()?;
        let result = self.carry_out(statement, args, &mut FetchedText(into));
        self.settle(result)
    }

    /// Several statements in one string are allowed; their counts are summed.
    fn run(&mut self, sql: &str) -> Result<StatementCounts, WireError> {
        self.begin()?;
        let result = self.ask(sql, &mut RowCounter);
        self.settle(result)
    }

    /// Of several statements in one string, the rows of the last one that returns any are kept.
    fn query(&mut self, sql: &str) -> Result<Rows, WireError> {
        self.begin()?;
        let mut kept = TextRows::default();
        let result = self.ask(sql, &mut kept);
        self.settle(result).map(|_| kept.rows)
    }

    fn bulk_load(
        &mut self,
        target: &BulkTarget<'_>,
        more: &mut dyn FnMut(&mut Vec<u8>) -> bool,
    ) -> Result<u64, WireError> {
        self.begin()?;
        let (table, columns) = (target.table, target.columns.join(", "));
        let result = self.copy_in(&format!("COPY {table} ({columns}) FROM STDIN"), more);
        self.settle(result)
    }

    fn server_version(&self) -> &str {
        &self.session.server_version
    }

    fn connection_id(&self) -> u64 {
        u64::from(self.session.backend_pid)
    }

    fn set_patience(&mut self, patience: Patience) {
        self.cutoff.set_patience(patience);
    }

    fn encryption(&self) -> Option<Encryption> {
        self.stream.encryption()
    }

    /// Waits up to five seconds for the server to let go, so that its place is free for the next.
    fn close(mut self: Box<Self>) {
        if !self.usable {
            return;
        }
        self.usable = false;
        self.cutoff.part_within(CLOSE_TIMEOUT);
        if self.stream.write_all(&TERMINATE).is_ok() {
            let mut rest = [0; 512];
            while matches!(self.stream.read(&mut rest), Ok(1..)) {}
        }
    }
}

impl Pollable for PostgresConnection {
    fn socket(&self) -> BorrowedFd<'_> {
        self.stream.as_fd()
    }

    #[inline]
    fn send_execute(&mut self, statement: StatementId, args: &dyn Args) -> Result<(), WireError> {
        self.begin()?;
        let sent = self.put(statement, args, Results::Binary);
        self.await_answer(sent, Form::Extended)
    }

    #[inline]
    fn send_run(&mut self, sql: &str) -> Result<(), WireError> {
        self.begin()?;
        let sent = self.put_text(sql);
        self.await_answer(sent, Form::Simple)
    }

    #[inline]
    fn receive(&mut self) -> Result<Option<StatementCounts>, WireError> {
        let Some(mut answer) = self.awaited.take() else {
            return Err(WireError::Protocol("nothing was asked of this connection".to_owned()));
        };
        match self.finish(Waiting::Never, &mut answer, &mut RowCounter) {
            Err(error) if error.is_not_yet() => {
                self.awaited = Some(answer);
                Ok(None)
            }
            finished => {
                let outcome = finished.and_then(|()| answer.final_counts());
                self.settle(outcome).map(Some)
            }
        }
    }
}

impl Drop for PostgresConnection {
    fn drop(&mut self) {
        if self.usable {
            self.cutoff.part_within(LAST_WORDS_TIMEOUT);
            // Nobody is left to be told of a failure; the socket closes in any case.
            let _ = self.stream.write_all(&TERMINATE);
        }
    }
}

impl fmt::Debug for PostgresConnection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connection")
            .field("session", &self.session)
            .field("statements", &self.statements.len())
            .field("usable", &self.usable)
            .finish_non_exhaustive()
    }
}

const TERMINATE: [u8; 5] = *b"X\0\0\0\x04";

fn during_login(error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{error} during the login; see the server's log"))
}

#[cold]
fn unexpected(tag: u8) -> WireError {
    WireError::Protocol(format!("the server sent a message '{}' out of turn", tag.escape_ascii()))
}

#[cfg(test)]
mod tests;
