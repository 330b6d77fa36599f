//! The mock's MySQL side.
//!
//! It passes for a server of version 8.0: the greeting, logins by `mysql_native_password` and
//! `caching_sha2_password`, text queries and prepared statements. The reply
//! to a `SELECT` is built once and written as it is for every statement that gets the same.

use std::io;

use super::mysql_login::{Ending, log_in};
use super::script::MockReply;
use super::session::Session;
use super::sql::{Kind, kind, placeholders};
use crate::error::WireError;
use crate::mysql::codec::{EOF, OK, put_error, put_length};
use crate::mysql::packet::{Channel, put_packets};

const QUIT: u8 = 0x01;
const INIT_DB: u8 = 0x02;
const QUERY: u8 = 0x03;
const PING: u8 = 0x0E;
const PREPARE: u8 = 0x16;
const EXECUTE: u8 = 0x17;
const SEND_LONG_DATA: u8 = 0x18;
const CLOSE: u8 = 0x19;
const RESET: u8 = 0x1A;
const SET_OPTION: u8 = 0x1B;
const RESET_CONNECTION: u8 = 0x1F;

const UNKNOWN_COMMAND: u16 = 1047;
const UNKNOWN_STATEMENT: u16 = 1243;
const LATIN1: u16 = 8;
const TYPE_STRING: u8 = 0xFE;
const AUTOCOMMIT: [u8; 2] = [2, 0];

/// The form of rows: text to a query, binary to an execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Text,
    Binary,
}

struct Server<'a> {
    session: &'a mut Session,
    channel: Channel,
    ending: Ending,
    /// Kinds of the prepared statements; the first has id 1.
    prepared: Vec<Kind>,
    /// The last result that was built, with what it was built for.
    built: Vec<u8>,
    built_for: Option<(u32, u32, Form, u8)>,
}

/// Serves one connection to its end.
pub(super) fn serve(session: &mut Session) -> io::Result<()> {
    let mut channel = Channel::new(session.stream.duplicate()?);
    let served = log_in(session, &mut channel).and_then(|ending| {
        let mut server = Server {
            session,
            channel,
            ending,
            prepared: Vec::new(),
            built: Vec::new(),
            built_for: None,
        };
        while server.command()? == Next::Command {}
        Ok(())
    });
    served.map_err(|error| match error {
        WireError::Broken(error) => error,
        other => io::Error::other(other),
    })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    Command,
    End,
}

impl Server<'_> {
    fn command(&mut self) -> Result<Next, WireError> {
        let (code, arguments) = self.channel.await_command()?;
        match code {
            EXECUTE => {
                let id = arguments.first_chunk().map_or(0, |id| u32::from_le_bytes(*id));
                let kind = self.prepared.get((id as usize).wrapping_sub(1)).copied();
                match kind {
                    Some(kind) => return self.statement(kind, Form::Binary),
                    None => self.error(UNKNOWN_STATEMENT, "HY000", "no such statement")?,
                }
            }
            QUERY => {
                let kind = kind(arguments);
                if let Some(reply) = self.session.text_reply(arguments) {
                    return self.reply(reply, kind, Form::Text);
                }
                return self.statement(kind, Form::Text);
            }
            PREPARE => {
                let (kind, parameters) = (kind(arguments), placeholders(arguments));
                self.prepare(kind, parameters)?;
            }
            INIT_DB | PING | RESET | SET_OPTION | RESET_CONNECTION => self.ok(0)?,
            SEND_LONG_DATA | CLOSE => {}
            QUIT => return Ok(Next::End),
            _ => self.error(UNKNOWN_COMMAND, "08S01", "the mock does not know this command")?,
        }
        Ok(Next::Command)
    }

    fn statement(&mut self, kind: Kind, form: Form) -> Result<Next, WireError> {
        let reply = match kind {
            Kind::Control => self.session.control_reply(),
            Kind::Select | Kind::Bulk | Kind::Write => self.session.statement_reply(),
        };
        self.reply(reply, kind, form)
    }

    fn reply(&mut self, reply: MockReply, kind: Kind, form: Form) -> Result<Next, WireError> {
        match (reply, kind) {
            (MockReply::Cut, _) => return Ok(Next::End),
            (MockReply::Error { code, sqlstate, message }, _) => {
                self.error(code, sqlstate, &message)?
            }
            (MockReply::Rows { count, width }, Kind::Select) => self.rows(count, width, form)?,
            (MockReply::Rows { count, .. }, _) => self.ok(u64::from(count))?,
            (MockReply::Affected(count), _) => self.ok(count)?,
            (MockReply::Text(text), _) => self.text(&text)?,
        }
        Ok(Next::Command)
    }

    fn prepare(&mut self, kind: Kind, parameters: usize) -> Result<(), WireError> {
        self.prepared.push(kind);
        let columns = u16::from(kind == Kind::Select);
        let Ok(parameters) = u16::try_from(parameters) else {
            return self.error(1390, "HY000", "a statement has at most 65535 placeholders");
        };
        let mut head = vec![OK];
        head.extend_from_slice(&(self.prepared.len() as u32).to_le_bytes());
        head.extend_from_slice(&columns.to_le_bytes());
        head.extend_from_slice(&parameters.to_le_bytes());
        head.extend_from_slice(&[0; 3]);
        let (mut packets, mut number) = (Vec::new(), self.channel.packet_number());
        put_packets(&mut packets, &mut number, &head);
        for (count, name) in [(parameters, "?"), (columns, "c")] {
            for _ in 0..count {
                put_packets(&mut packets, &mut number, &definition(name, 0));
            }
            if count > 0 && self.ending == Ending::Eof {
                put_packets(&mut packets, &mut number, &EOF_PACKET);
            }
        }
        self.channel.write_built(&packets)?;
        Ok(())
    }

    fn rows(&mut self, count: u32, width: u32, form: Form) -> Result<(), WireError> {
        // After a request of several packets the answer does not begin with number 1.
        let first = self.channel.packet_number();
        let wanted = Some((count, width, form, first));
        if self.built_for != wanted {
            self.built.clear();
            build_rows(&mut self.built, first, count, width, form, self.ending);
            self.built_for = wanted;
        }
        self.channel.write_built(&self.built)?;
        Ok(())
    }

    /// A result of one row with one text.
    fn text(&mut self, text: &str) -> Result<(), WireError> {
        let mut row = Vec::new();
        put_length(&mut row, text.len() as u64);
        row.extend_from_slice(text.as_bytes());
        let mut result = Vec::new();
        put_result(&mut result, self.channel.packet_number(), &row, 1, 0, self.ending);
        self.channel.write_built(&result)?;
        Ok(())
    }

    fn ok(&mut self, affected: u64) -> Result<(), WireError> {
        let payload = self.channel.payload();
        payload.push(OK);
        put_length(payload, affected);
        put_length(payload, 0);
        payload.extend_from_slice(&AUTOCOMMIT);
        payload.extend_from_slice(&[0; 2]);
        self.channel.send()
    }

    fn error(&mut self, code: u16, sqlstate: &str, message: &str) -> Result<(), WireError> {
        put_error(self.channel.payload(), code, sqlstate, message);
        self.channel.send()
    }
}

const EOF_PACKET: [u8; 5] = [EOF, 0, 0, AUTOCOMMIT[0], AUTOCOMMIT[1]];
const OK_AS_EOF: [u8; 7] = [EOF, 0, 0, AUTOCOMMIT[0], AUTOCOMMIT[1], 0, 0];

/// A whole result of one column, `c CHAR(width)`.
fn build_rows(output: &mut Vec<u8>, first: u8, count: u32, width: u32, form: Form, ending: Ending) {
    let mut row = match form {
        Form::Text => Vec::new(),
        // A zero, and the bits of the NULL columns, of which there are none.
        Form::Binary => vec![0, 0],
    };
    put_length(&mut row, u64::from(width));
    row.resize(row.len() + width as usize, b'x');
    put_result(output, first, &row, count, width, ending);
}

/// A result of one column with the same row so many times.
fn put_result(output: &mut Vec<u8>, first: u8, row: &[u8], count: u32, width: u32, ending: Ending) {
    let mut number = first;
    put_packets(output, &mut number, &[1]);
    put_packets(output, &mut number, &definition("c", width));
    if ending == Ending::Eof {
        put_packets(output, &mut number, &EOF_PACKET);
    }
    for _ in 0..count {
        put_packets(output, &mut number, row);
    }
    match ending {
        Ending::Eof => put_packets(output, &mut number, &EOF_PACKET),
        Ending::Ok => put_packets(output, &mut number, &OK_AS_EOF),
    }
}

/// The definition of a column of characters.
fn definition(name: &str, width: u32) -> Vec<u8> {
    let mut payload = Vec::new();
    for text in ["def", "", "", "", name, name] {
        put_length(&mut payload, text.len() as u64);
        payload.extend_from_slice(text.as_bytes());
    }
    payload.push(0x0C);
    payload.extend_from_slice(&LATIN1.to_le_bytes());
    payload.extend_from_slice(&width.to_le_bytes());
    payload.push(TYPE_STRING);
    payload.extend_from_slice(&[0; 5]);
    payload
}
