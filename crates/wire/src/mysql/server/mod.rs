//! The MySQL protocol, server side.
//!
//! ```text
//!   Host ── login ──▶ Visitor ── request ──▶ Request: Query, Execute, …    what is asked
//!                        │                      └── Parameters             values that came along
//!                        └────── flush ◀── Answers: rows, OK, errors        built, then one write
//! ```
//!
//! It knows packets, commands and values, and nothing of what is asked. An answer is built whole
//! before it is sent, so that whoever makes it never waits for whoever reads it.
//!
//! A request that breaks the protocol is a [`Fault`]: what can be said of it is said to the client,
//! and the connection ends, since nobody knows where the next request begins.

mod answer;
mod fault;
mod login;
mod parameters;
mod request;

use std::io;
use std::time::Duration;

use super::packet::Channel;
use crate::cutoff::Cutoff;
use crate::stream::SocketStream;
use crate::tls::Encryption;
use fault::unreadable_request;

pub use answer::{
    ColumnFlags, ColumnType, Definition, DefinitionOrigin, Definitions, ResponseBuilder, Status,
    TextForm, ValueForm,
};
pub use fault::Fault;
pub(crate) use login::{Greeting, native_holds, nonce, read_hello, send_greeting, sha2_holds};
pub use login::{LoginAccount, LoginTerms};
pub use parameters::{ParameterValue, Parameters};
pub use request::{Execution, Request};

/// A client that was let in.
#[derive(Debug)]
pub struct Visitor {
    channel: Channel,
    answers: ResponseBuilder,
    /// The account by which it came.
    user: String,
    /// The database that it wants to use; empty for none.
    database: String,
    /// Number of the collation that it speaks.
    collation: u16,
    /// Whether an UPDATE tells it the rows that were found, and not those that changed.
    counts_found_rows: bool,
    /// Bytes of a request that are taken.
    most: usize,
    /// Ends an answer that is not read.
    cutoff: Cutoff,
    /// How long the client may take to read some of an answer.
    reading: Duration,
}

impl Visitor {
    /// Greets whoever has connected, as connection number `id`, and lets it in or refuses it. Who
    /// does not say within `patience` who it is has gone.
    ///
    /// # Errors
    /// What was in the way; the client was told.
    pub fn let_in(
        stream: SocketStream,
        terms: &LoginTerms,
        id: u32,
        patience: Duration,
    ) -> Result<Visitor, Fault> {
        stream.set_timeout(Some(patience)).map_err(Fault::Gone)?;
        // A byte now and then does not hold a place for longer.
        let mut cutoff = Cutoff::for_socket(stream.weak_socket()).map_err(Fault::Gone)?;
        cutoff.set_deadline(patience);
        let mut channel = Channel::new(stream);
        let hello = match login::let_in(&mut channel, terms, id) {
            Ok(hello) => hello,
            Err(fault) => {
                part(&mut channel, &fault);
                return Err(fault);
            }
        };
        cutoff.lift_deadline();
        Ok(Visitor {
            answers: ResponseBuilder::new(hello.result_ending()),
            user: String::from_utf8_lossy(&hello.user).into_owned(),
            database: String::from_utf8_lossy(&hello.database).into_owned(),
            collation: u16::from(hello.collation),
            counts_found_rows: hello.counts_found_rows(),
            most: terms.largest_request,
            reading: patience,
            channel,
            cutoff,
        })
    }

    /// Lets it ask: whoever let it in has what it wants.
    ///
    /// # Errors
    /// [`Fault::Gone`].
    pub fn send_welcome(&mut self) -> Result<(), Fault> {
        login::send_welcome(&mut self.channel)
    }

    /// The account by which it came.
    pub fn user(&self) -> &str {
        &self.user
    }

    /// The database that it wants to use; empty for none.
    pub fn database(&self) -> &str {
        &self.database
    }

    /// Number of the collation that it said it speaks.
    pub fn collation(&self) -> u16 {
        self.collation
    }

    /// Whether it wants to be told how many rows an UPDATE has found, and not how many it changed.
    pub fn counts_found_rows(&self) -> bool {
        self.counts_found_rows
    }

    /// How it is encrypted, if it is.
    pub fn encryption(&self) -> Option<Encryption> {
        self.channel.stream().encryption()
    }

    /// Bounds how long it may be silent, and how long it may take to read an answer.
    ///
    /// # Errors
    /// The operating system's.
    pub fn set_patience(&mut self, silent: Duration, reading: Duration) -> io::Result<()> {
        self.reading = reading;
        self.channel.stream().set_timeouts(Some(silent), Some(reading))
    }

    /// Waits for the next request; the answer is to be built in what is returned with it.
    ///
    /// # Errors
    /// [`Fault`]; nothing more can be read then.
    #[inline]
    pub fn next_request(&mut self) -> Result<(Request<'_>, &mut ResponseBuilder), Fault> {
        let Visitor { channel, answers, most, .. } = self;
        // Numbered from 0 anew with each request; the answer goes on behind its last packet.
        let payload =
            channel.take_request(0, *most).map_err(|unread| unreadable_request(unread, *most))?;
        answers.begin_response(request::packets(payload.len()));
        Ok((Request::read(payload)?, answers))
    }

    /// Sends what was built. Nothing is sent where nothing was.
    ///
    /// # Errors
    /// [`Fault::Gone`]: the client does not read, or has gone.
    #[inline]
    pub fn flush(&mut self) -> Result<(), Fault> {
        let built = self.answers.as_bytes();
        if built.len() > LONG_ANSWER {
            // A little of it now and then would be taken for reading.
            let slowest = Duration::from_secs((built.len() / BYTES_PER_SECOND_LEAST) as u64);
            self.cutoff.set_deadline(self.reading + slowest);
            let done = self.channel.write_built(built);
            self.cutoff.lift_deadline();
            done.map_err(Fault::Gone)?;
        } else if !built.is_empty() {
            self.channel.write_built(built).map_err(Fault::Gone)?;
        }
        self.answers.clear();
        Ok(())
    }

    /// Says why the conversation ends, if that can be said, and ends it.
    pub fn close_with(mut self, fault: &Fault) {
        part(&mut self.channel, fault);
    }
}

/// An answer of more bytes than these may be read in several pieces.
const LONG_ANSWER: usize = 1 << 16;
/// It is read at least as fast as that.
const BYTES_PER_SECOND_LEAST: usize = 1 << 18;

/// Tells a client that has connected why it is not served: without a greeting and without waiting.
pub fn turn_away(stream: SocketStream, code: u16, sqlstate: &'static str, message: &str) {
    let mut channel = Channel::new(stream);
    super::codec::put_error(channel.payload(), code, sqlstate, message);
    // Who does not hear it sees that the connection is closed.
    let _ = channel.send();
}

/// Bytes are read and dropped for a while: what is closed while something lies there unread takes
/// the last words with it.
fn part(channel: &mut Channel, fault: &Fault) {
    let (code, sqlstate, message) = match fault {
        Fault::Gone(_) => return,
        Fault::Silent => (4031, "HY000", "the connection was silent for too long"),
        Fault::Refused(code, sqlstate, message) => (*code, *sqlstate, &**message),
    };
    super::codec::put_error(channel.payload(), code, sqlstate, message);
    let is_said = channel.send().is_ok() && channel.end_writing().is_ok();
    let is_bounded = channel.stream().set_timeout(Some(LAST_WORDS)).is_ok();
    if is_said && is_bounded {
        channel.drain_input();
    }
}

/// How long who breaks the protocol is listened to before the connection is closed.
const LAST_WORDS: Duration = Duration::from_millis(200);
