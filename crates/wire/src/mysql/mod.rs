//! The MySQL protocol: the client side, for MySQL 5.5 and later and MariaDB, and what a server
//! needs.
//!
//! ```text
//!   Connection ── handshake ── auth          login, once
//!        │
//!        ├─────── statement ── result        hot path: write once, read once, skip rows by header
//!        │
//!        ├─────── bulk                      rows by the hundred
//!        ├─────── row_log                   what was committed, as a replica is told
//!        └─────── packet ── codec, latin1    bytes
//! ```
//!
//! Every session speaks latin1, so that two servers are asked the same question in the same bytes
//! whatever their defaults are.

pub(crate) mod auth;
mod binary;
mod bulk;
pub(crate) mod codec;
pub(crate) mod handshake;
pub mod latin1;
pub(crate) mod packet;
mod result;
pub mod row_log;
pub mod server;
mod statement;

use std::io::{self, ErrorKind};
use std::os::fd::{AsFd as _, BorrowedFd};
use std::time::Duration;

use dbdyno_model::Transport;

use crate::client::{Args, BulkTarget, Client, Pollable, Rows, StatementCounts, StatementId};
use crate::cutoff::{Cutoff, Patience};
use crate::error::WireError;
use crate::rows::RowBuffer;
use crate::stream::{Endpoint, Privacy, SocketStream, Waiting};
use crate::tls::{Encryption, failure_in};

use binary::Column;
use handshake::{Greeting, capability};
use packet::Channel;
use result::{BinaryRows, Ending, Form, Reading, RowCounter, Sink, TextRows};
use statement::Statement;

pub use auth::native_password_hash;

const QUIT: u8 = 0x01;
const QUERY: u8 = 0x03;
const PREPARE: u8 = 0x16;

/// A server that accepts and then says nothing for so long is not there.
const SILENCE_TIMEOUT: Duration = Duration::from_secs(10);
/// How long a login may take, from the connection to the last OK.
const LOGIN_TIMEOUT: Duration = Duration::from_secs(30);
const CLOSE_TIMEOUT: Duration = Duration::from_secs(2);

/// A connection to a MySQL or MariaDB server.
#[derive(Debug)]
pub struct MysqlConnection {
    channel: Channel,
    cutoff: Cutoff,
    statements: Vec<Statement>,
    /// The columns of the last result whose rows were kept, as memory to be used again.
    columns: Vec<Column>,
    ending: Ending,
    version: String,
    id: u64,
    state: State,
}

/// Whether more can be asked.
#[derive(Clone, Copy, Debug)]
enum State {
    Usable,
    /// Something was asked without waiting, and the answer has not been received as a whole.
    Awaiting(PendingAnswer),
    /// After a fatal error: the next bytes could be the rest of an old answer.
    Broken,
}

/// An answer of which a part may have been read.
#[derive(Clone, Copy, Debug)]
struct PendingAnswer {
    reading: Reading,
    /// The statement that was executed, if it was a prepared one.
    statement: Option<StatementId>,
}

impl MysqlConnection {
    /// Connects and logs in, within 30 seconds.
    ///
    /// # Errors
    /// [`WireError::Connect`] if nobody answers, [`WireError::Tls`] if it cannot be reached
    /// encrypted, [`WireError::Login`] with the server's words if it
    /// refuses account, password or database, or has no connection left,
    /// [`WireError::Exposed`] if it wants the password where others could read it,
    /// [`WireError::Late`] if it does not come to an end,
    /// [`WireError::Protocol`] if it speaks something else or wants to be convinced by a method
    /// that is not spoken here.
    pub fn connect(endpoint: &Endpoint) -> Result<MysqlConnection, WireError> {
        MysqlConnection::connect_within(endpoint, LOGIN_TIMEOUT)
    }

    /// As [`MysqlConnection::connect`], within another time.
    ///
    /// # Errors
    /// As there.
    pub fn connect_within(
        endpoint: &Endpoint,
        limit: Duration,
    ) -> Result<MysqlConnection, WireError> {
        let stream = SocketStream::connect(&endpoint.transport)?;
        let mut cutoff = Cutoff::for_socket(stream.weak_socket())?;
        cutoff.set_deadline(limit);
        stream.set_timeout(Some(SILENCE_TIMEOUT))?;
        let (channel, greeting, ending) = match Self::log_in(stream, endpoint) {
            Ok(logged_in) => logged_in,
            Err(error) => {
                return Err(during_login(cutoff.explain_error(error), &endpoint.transport));
            }
        };
        channel.stream().set_timeout(None)?;
        Ok(MysqlConnection::new(channel, cutoff, greeting, ending))
    }

    fn new(
        channel: Channel,
        mut cutoff: Cutoff,
        greeting: Greeting,
        ending: Ending,
    ) -> MysqlConnection {
        cutoff.set_patience(Patience::QUESTION);
        MysqlConnection {
            channel,
            cutoff,
            statements: Vec::new(),
            columns: Vec::new(),
            ending,
            version: greeting.version,
            id: u64::from(greeting.connection_id),
            state: State::Usable,
        }
    }

    fn log_in(
        stream: SocketStream,
        endpoint: &Endpoint,
    ) -> Result<(Channel, Greeting, Ending), WireError> {
        let mut channel = Channel::new(stream);
        channel.begin_login();
        let head = channel.await_head()?;
        let greeting = Greeting::parse(channel.take_payload(head)?)?;
        if endpoint.security.is_wanted() {
            if greeting.offers_tls() {
                greeting.ask_for_tls(endpoint, channel.payload());
                channel.send()?;
                channel = channel.encrypt(&endpoint.security)?;
            } else {
                endpoint.security.permit_plaintext()?;
            }
        }
        let privacy = channel.stream().privacy();
        let tls = if privacy == Privacy::Encrypted { capability::TLS } else { 0 };
        let capabilities = greeting.shared_capabilities(endpoint) | tls;
        greeting.put_response(endpoint, capabilities, channel.payload())?;
        channel.send()?;
        let modern = capabilities & capability::DEPRECATE_EOF != 0;
        auth::finish(&mut channel, endpoint, greeting.first_method(), &greeting.nonce)
            .map_err(|error| greeting.explain_refusal(error, privacy))?;
        channel.end_login();
        Ok((channel, greeting, if modern { Ending::Ok } else { Ending::Eof }))
    }

    /// Runs one command; after a fatal error nothing more is asked.
    #[inline]
    fn ask<T>(
        &mut self,
        command: impl FnOnce(&mut Self) -> Result<T, WireError>,
    ) -> Result<T, WireError> {
        if !matches!(self.state, State::Usable) {
            return Err(self.unusable());
        }
        self.cutoff.begin_request();
        let result = command(self);
        self.cutoff.end_request();
        match result {
            Err(error) if error.is_fatal() => {
                self.state = State::Broken;
                Err(self.cutoff.explain_error(error))
            }
            result => result,
        }
    }

    #[cold]
    fn unusable(&self) -> WireError {
        let text = match self.state {
            State::Awaiting(_) => "an earlier statement has not been answered yet; receive it",
            _ => "the connection was given up after an earlier error; open a new one",
        };
        WireError::Protocol(text.to_owned())
    }

    #[inline]
    fn send_text(&mut self, code: u8, sql: &str) -> Result<(), WireError> {
        let sql = latin1::encode(sql)?;
        self.channel.begin_command(code)?.extend_from_slice(&sql);
        self.channel.send()
    }

    /// Executes a statement and reads the answer to it.
    #[inline]
    fn carry_out<K: Sink>(
        &mut self,
        statement: StatementId,
        args: &dyn Args,
        sink: &mut K,
    ) -> Result<StatementCounts, WireError> {
        self.ask(|this| {
            let prepared = find(&mut this.statements, statement)?;
            prepared.write(&mut this.channel, args)?;
            this.channel.send()?;
            let outcome = Reading::new(Form::Binary, this.ending).finish(&mut this.channel, sink);
            prepared.note_outcome(&outcome);
            outcome
        })
    }

    /// Says goodbye, once, if anybody listens.
    fn quit(&mut self) {
        if matches!(self.state, State::Usable) {
            self.state = State::Broken;
            self.cutoff.part_within(CLOSE_TIMEOUT);
            let said = self.channel.begin_command(QUIT).is_ok();
            // Who is already gone need not be told.
            let _ = said && self.channel.send().is_ok();
        }
    }
}

impl Client for MysqlConnection {
    fn prepare(&mut self, sql: &str) -> Result<StatementId, WireError> {
        self.ask(|this| {
            this.send_text(PREPARE, sql)?;
            let statement = Statement::read(&mut this.channel, this.ending)?;
            let number = this.statements.len() as u32;
            this.statements.push(statement);
            Ok(StatementId(number))
        })
    }

    #[inline]
    fn execute(
        &mut self,
        statement: StatementId,
        args: &dyn Args,
    ) -> Result<StatementCounts, WireError> {
        self.carry_out(statement, args, &mut RowCounter)
    }

    fn fetch(
        &mut self,
        statement: StatementId,
        args: &dyn Args,
        into: &mut RowBuffer,
    ) -> Result<StatementCounts, WireError> {
        into.clear();
        let mut columns = std::mem::take(&mut self.columns);
        let mut sink = BinaryRows { columns: &mut columns, rows: into };
        let outcome = self.carry_out(statement, args, &mut sink);
        self.columns = columns;
        outcome
    }

    #[inline]
    fn run(&mut self, sql: &str) -> Result<StatementCounts, WireError> {
        self.ask(|this| {
            this.send_text(QUERY, sql)?;
            Reading::new(Form::Text, this.ending).finish(&mut this.channel, &mut RowCounter)
        })
    }

    fn query(&mut self, sql: &str) -> Result<Rows, WireError> {
        self.ask(|this| {
            this.send_text(QUERY, sql)?;
            let mut kept = TextRows::default();
            Reading::new(Form::Text, this.ending).finish(&mut this.channel, &mut kept)?;
            Ok(kept.rows)
        })
    }

    fn bulk_load(
        &mut self,
        target: &BulkTarget<'_>,
        more: &mut dyn FnMut(&mut Vec<u8>) -> bool,
    ) -> Result<u64, WireError> {
        self.insert_in_bulk(target, more)
    }

    fn server_version(&self) -> &str {
        &self.version
    }

    fn connection_id(&self) -> u64 {
        self.id
    }

    fn set_patience(&mut self, patience: Patience) {
        self.cutoff.set_patience(patience);
    }

    fn encryption(&self) -> Option<Encryption> {
        self.channel.stream().encryption()
    }

    fn close(mut self: Box<Self>) {
        self.quit();
        self.cutoff.part_within(CLOSE_TIMEOUT);
        self.channel.drain_input();
    }
}

impl Pollable for MysqlConnection {
    fn socket(&self) -> BorrowedFd<'_> {
        self.channel.stream().as_fd()
    }

    #[inline]
    fn send_execute(&mut self, statement: StatementId, args: &dyn Args) -> Result<(), WireError> {
        self.ask(|this| {
            find(&mut this.statements, statement)?.write(&mut this.channel, args)?;
            this.channel.send()
        })?;
        let reading = Reading::new(Form::Binary, self.ending);
        self.state = State::Awaiting(PendingAnswer { reading, statement: Some(statement) });
        Ok(())
    }

    #[inline]
    fn send_run(&mut self, sql: &str) -> Result<(), WireError> {
        self.ask(|this| this.send_text(QUERY, sql))?;
        let reading = Reading::new(Form::Text, self.ending);
        self.state = State::Awaiting(PendingAnswer { reading, statement: None });
        Ok(())
    }

    #[inline]
    fn receive(&mut self) -> Result<Option<StatementCounts>, WireError> {
        let State::Awaiting(awaited) = &mut self.state else {
            return Err(WireError::Protocol("nothing was asked of this connection".to_owned()));
        };
        self.channel.set_waiting(Waiting::Never);
        let outcome = awaited.reading.finish(&mut self.channel, &mut RowCounter);
        self.channel.set_waiting(Waiting::UntilThere);
        if outcome.as_ref().is_err_and(WireError::is_not_yet) {
            return Ok(None);
        }
        if let Some(id) = awaited.statement {
            find(&mut self.statements, id)?.note_outcome(&outcome);
        }
        let fatal = outcome.as_ref().is_err_and(WireError::is_fatal);
        self.state = if fatal { State::Broken } else { State::Usable };
        outcome.map(Some).map_err(|error| self.cutoff.explain_error(error))
    }
}

impl Drop for MysqlConnection {
    fn drop(&mut self) {
        self.quit();
    }
}

#[inline]
fn find(statements: &mut [Statement], id: StatementId) -> Result<&mut Statement, WireError> {
    statements
        .get_mut(id.0 as usize)
        .ok_or_else(|| WireError::Protocol(format!("statement {} was not prepared here", id.0)))
}

/// What a failure means that comes before the login is over.
fn during_login(error: WireError, transport: &Transport) -> WireError {
    let error = match error {
        WireError::Broken(error) => error,
        WireError::Late(limit) => return WireError::unfinished_login(transport, limit),
        other => return other,
    };
    failure_in(&error).map(WireError::Tls).unwrap_or_else(|| {
        let mute = matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut);
        WireError::Connect(transport.to_string(), if mute { no_answer() } else { error })
    })
}

fn no_answer() -> io::Error {
    let seconds = SILENCE_TIMEOUT.as_secs();
    io::Error::new(
        ErrorKind::TimedOut,
        format!("it accepts connections but says nothing for {seconds} s; is it a MySQL server?"),
    )
}

#[cfg(test)]
mod tests;
