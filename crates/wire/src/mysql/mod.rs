//! The MySQL protocol, client side: MySQL 5.5 and later, MariaDB.
//!
//! ```text
//!   Connection ── handshake ── auth          login, once
//!        │
//!        ├─────── statement ── result        hot path: write once, read once, skip rows by header
//!        │
//!        └─────── packet ── codec, latin1    bytes
//! ```
//!
//! Every session speaks latin1 and no TLS, so that two servers are asked the same question in the
//! same bytes whatever their defaults are.

pub(crate) mod auth;
pub(crate) mod codec;
pub(crate) mod handshake;
mod latin1;
pub(crate) mod packet;
mod result;
mod statement;

use std::io::{self, ErrorKind};
use std::time::Duration;

use crate::client::{Args, Client, Outcome, Rows, StatementId};
use crate::error::WireError;
use crate::stream::{Endpoint, Stream};

use handshake::{Greeting, capability};
use packet::Channel;
use result::{Answer, Ending, Form};
use statement::Statement;

const QUIT: u8 = 0x01;
const QUERY: u8 = 0x03;
const PREPARE: u8 = 0x16;

/// Data of a bulk statement goes in packets of this size, well below any `max_allowed_packet`.
const PART: usize = 256 << 10;
/// A server that accepts and then says nothing for so long is not there.
const LOGIN_TIMEOUT: Duration = Duration::from_secs(10);
const CLOSE_TIMEOUT: Duration = Duration::from_secs(2);

/// A connection to a MySQL or MariaDB server.
#[derive(Debug)]
pub struct Connection {
    channel: Channel,
    statements: Vec<Statement>,
    ending: Ending,
    version: String,
    id: u64,
    state: State,
}

/// Whether more can be asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Usable,
    /// After a fatal error: the next bytes could be the rest of an old answer.
    Broken,
}

impl Connection {
    /// Connects and logs in.
    ///
    /// # Errors
    /// [`WireError::Connect`] if nobody answers, [`WireError::Login`] with the server's words if it
    /// refuses account, password or database, or has no connection left,
    /// [`WireError::Protocol`] if it speaks something else or wants to be convinced by a method
    /// other than `mysql_native_password` and `caching_sha2_password`.
    pub fn connect(endpoint: &Endpoint) -> Result<Connection, WireError> {
        let stream = Stream::connect(&endpoint.transport)?;
        stream.set_timeout(Some(LOGIN_TIMEOUT))?;
        let connection = Self::log_in(stream, endpoint).map_err(|error| match error {
            WireError::Broken(error) => {
                let mute = matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut);
                let error = if mute { no_answer() } else { error };
                WireError::Connect(endpoint.transport.to_string(), error)
            }
            other => other,
        })?;
        connection.channel.stream().set_timeout(None)?;
        Ok(connection)
    }

    fn log_in(stream: Stream, endpoint: &Endpoint) -> Result<Connection, WireError> {
        let mut channel = Channel::new(stream);
        let head = channel.head()?;
        let greeting = Greeting::parse(channel.take(head)?)?;
        greeting.answer(endpoint, channel.payload())?;
        channel.send()?;
        let modern = greeting.agreed(endpoint) & capability::DEPRECATE_EOF != 0;
        auth::finish(&mut channel, &endpoint.password, &greeting.nonce)
            .map_err(|error| greeting.explain(error))?;
        Ok(Connection {
            channel,
            statements: Vec::new(),
            ending: if modern { Ending::Ok } else { Ending::Eof },
            version: greeting.version,
            id: u64::from(greeting.connection_id),
            state: State::Usable,
        })
    }

    /// Runs one command; after a fatal error nothing more is asked.
    #[inline]
    fn ask<T>(
        &mut self,
        command: impl FnOnce(&mut Self) -> Result<T, WireError>,
    ) -> Result<T, WireError> {
        if self.state == State::Broken {
            return Err(WireError::Protocol(
                "the connection was given up after an earlier error; open a new one".to_owned(),
            ));
        }
        let result = command(self);
        if let Err(error) = &result
            && error.is_fatal()
        {
            self.state = State::Broken;
        }
        result
    }

    #[inline]
    fn send_text(&mut self, code: u8, sql: &str) -> Result<(), WireError> {
        let sql = latin1::encode(sql)?;
        self.channel.command(code)?.extend_from_slice(&sql);
        self.channel.send()
    }

    fn send_pieces(&mut self, more: &mut dyn FnMut(&mut Vec<u8>) -> bool) -> Result<(), WireError> {
        let mut piece = Vec::new();
        loop {
            piece.clear();
            let goes_on = more(&mut piece);
            // Nothing is sent for an empty piece: an empty packet would end the file.
            for part in piece.chunks(PART) {
                self.channel.payload().extend_from_slice(part);
                self.channel.send()?;
            }
            if !goes_on {
                self.channel.payload();
                return self.channel.send();
            }
        }
    }

    /// Says goodbye, once, if anybody listens.
    fn quit(&mut self) {
        if self.state == State::Usable {
            self.state = State::Broken;
            let said = self.channel.command(QUIT).is_ok();
            // Who is already gone need not be told.
            let _ = said && self.channel.send().is_ok();
        }
    }
}

impl Client for Connection {
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
    fn execute(&mut self, statement: StatementId, args: &dyn Args) -> Result<Outcome, WireError> {
        self.ask(|this| {
            let prepared = this.statements.get_mut(statement.0 as usize).ok_or_else(|| {
                WireError::Protocol(format!("statement {} was not prepared here", statement.0))
            })?;
            prepared.write(&mut this.channel, args)?;
            this.channel.send()?;
            match result::count(&mut this.channel, Form::Binary, this.ending) {
                Ok(outcome) => {
                    prepared.taken();
                    Ok(outcome)
                }
                Err(error) => {
                    prepared.refused();
                    Err(error)
                }
            }
        })
    }

    #[inline]
    fn run(&mut self, sql: &str) -> Result<Outcome, WireError> {
        self.ask(|this| {
            this.send_text(QUERY, sql)?;
            result::count(&mut this.channel, Form::Text, this.ending)
        })
    }

    fn query(&mut self, sql: &str) -> Result<Rows, WireError> {
        self.ask(|this| {
            this.send_text(QUERY, sql)?;
            result::keep(&mut this.channel, this.ending)
        })
    }

    fn bulk(
        &mut self,
        sql: &str,
        more: &mut dyn FnMut(&mut Vec<u8>) -> bool,
    ) -> Result<u64, WireError> {
        self.ask(|this| {
            this.send_text(QUERY, sql)?;
            match result::answer(&mut this.channel)? {
                Answer::File => this.send_pieces(more)?,
                Answer::Done(_) | Answer::Columns(_) => {
                    return Err(WireError::Protocol(
                        "the server took no data for this statement; LOAD DATA LOCAL INFILE does"
                            .to_owned(),
                    ));
                }
            }
            result::count(&mut this.channel, Form::Text, this.ending).map(|done| done.affected)
        })
    }

    fn server_version(&self) -> &str {
        &self.version
    }

    fn connection_id(&self) -> u64 {
        self.id
    }

    fn close(mut self: Box<Self>) {
        self.quit();
        if self.channel.stream().set_timeout(Some(CLOSE_TIMEOUT)).is_ok() {
            self.channel.drain();
        }
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.quit();
    }
}

fn no_answer() -> io::Error {
    let seconds = LOGIN_TIMEOUT.as_secs();
    io::Error::new(
        ErrorKind::TimedOut,
        format!("it accepts connections but says nothing for {seconds} s; is it a MySQL server?"),
    )
}
