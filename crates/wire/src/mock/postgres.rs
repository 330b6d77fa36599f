//! The mock's PostgreSQL side.
//!
//! ```text
//!   startup, proof          ──▶ AuthenticationOk, ParameterStatus, BackendKeyData, ReadyForQuery
//!   Bind Execute Sync       ──▶ BindComplete, what the script says, ReadyForQuery   (one write)
//!   Query "COPY …", data    ──▶ CopyInResponse, then the number of lines that came
//! ```
//!
//! Answers gather in one buffer that is written at Sync, so an execution costs one read and one
//! write. The rows of a reply are laid out once and copied from then on. Every parameter is an
//! int4. All that libpq sends is understood, so that psql and pgbench can be put on it too.

use std::collections::HashMap;
use std::io::{self, Write};
use std::rc::Rc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;

use super::login::Auth;
use super::script::MockReply;
use super::session::Session;
use super::sql::{self, Kind};
use crate::error::WireError;
use crate::postgres::answer::Fields;
use crate::postgres::incoming::{Incoming, RowBodies};
use crate::postgres::login::md5_response;
use crate::postgres::outgoing::{message, put_cstring};
use crate::postgres::scram::{self, Keys};

const PROTOCOL_3_0: u32 = 3 << 16;
const SSL_REQUEST: u32 = 80_877_103;
const GSS_REQUEST: u32 = 80_877_104;
const STARTUP_BYTES_MAX: usize = 10_000;
const INT4: u32 = 23;
const BPCHAR: u32 = 1042;
const READY: [u8; 6] = *b"Z\0\0\0\x05I";
const SALT: &[u8] = b"salt of the mock";
const ITERATIONS: u32 = 4_096;
/// Different replies whose bytes are kept; scripts have two or three.
const LAID_OUT_MAX: usize = 16;

/// Serves one connection to its end.
pub(super) fn serve(session: &mut Session) -> io::Result<()> {
    let mut talk = Talk {
        session,
        incoming: Incoming::new(),
        out: Vec::new(),
        statements: HashMap::new(),
        portal: None,
        laid_out: Vec::new(),
        skipping: Skipping::No,
    };
    talk.run().or_else(|end| match end {
        End::Over => Ok(()),
        End::Failed(error) => Err(error),
    })
}

/// Why the conversation ends.
enum End {
    /// It was said or scripted so.
    Over,
    Failed(io::Error),
}

impl From<io::Error> for End {
    fn from(error: io::Error) -> End {
        End::Failed(error)
    }
}

impl From<WireError> for End {
    fn from(error: WireError) -> End {
        End::Failed(io::Error::other(error.to_string()))
    }
}

/// Whether messages are passed over after an error, as the extended protocol wants it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Skipping {
    No,
    UntilSync,
}

struct MockStatement {
    kind: Kind,
    /// First word, in capitals.
    verb: String,
    parameters: usize,
}

struct Talk<'a> {
    session: &'a mut Session,
    incoming: Incoming,
    out: Vec<u8>,
    statements: HashMap<Vec<u8>, Rc<MockStatement>>,
    /// The unnamed one; there is no other.
    portal: Option<Rc<MockStatement>>,
    /// DataRows and CommandComplete by number and width of rows.
    laid_out: Vec<((u32, u32), Vec<u8>)>,
    skipping: Skipping,
}

impl Talk<'_> {
    fn run(&mut self) -> Result<(), End> {
        let user = self.startup()?;
        self.prove(&user)?;
        self.welcome()?;
        loop {
            let Talk { session, incoming, .. } = self;
            let message = incoming.next(&mut session.stream, RowBodies::Keep)?;
            let body = Fields(message.body);
            match message.tag {
                b'S' => {
                    self.skipping = Skipping::No;
                    self.out.extend_from_slice(&READY);
                    self.flush()?;
                }
                b'X' => return Ok(()),
                // Data that was on its way when a COPY was refused.
                b'd' | b'c' | b'f' => {}
                _ if self.skipping == Skipping::UntilSync => {}
                b'B' => {
                    let bound = bind(&self.statements, body);
                    match bound {
                        Ok(prepared) => {
                            self.portal = Some(prepared);
                            self.out.extend_from_slice(b"2\0\0\0\x04");
                        }
                        Err(what) => self.refuse("08P01", &what)?,
                    }
                }
                b'E' => self.execute()?,
                b'P' => parse(&mut self.statements, &mut self.out, body)?,
                b'D' => describe(&self.statements, self.portal.as_deref(), &mut self.out, body)?,
                b'C' => self.out.extend_from_slice(b"3\0\0\0\x04"),
                b'H' => self.flush()?,
                b'Q' => {
                    let prepared = prepared(Fields(message.body).cstring()?);
                    self.query(&prepared)?;
                }
                _ => return Err(End::Over),
            }
        }
    }

    fn flush(&mut self) -> Result<(), End> {
        self.session.stream.write_all(&self.out)?;
        self.out.clear();
        Ok(())
    }

    fn refuse(&mut self, sqlstate: &str, words: &str) -> Result<(), End> {
        self.skipping = Skipping::UntilSync;
        Ok(error_response(&mut self.out, "ERROR", sqlstate, words)?)
    }

    fn execute(&mut self) -> Result<(), End> {
        match self.portal.clone() {
            None => self.refuse("34000", "no portal is bound"),
            Some(prepared) => self.carry_out(&prepared),
        }
    }

    fn query(&mut self, prepared: &MockStatement) -> Result<(), End> {
        match prepared.kind {
            Kind::Bulk => self.copy()?,
            Kind::Select => {
                row_description(&mut self.out)?;
                self.carry_out(prepared)?;
            }
            Kind::Control | Kind::Write => self.carry_out(prepared)?,
        }
        self.skipping = Skipping::No;
        self.out.extend_from_slice(&READY);
        self.flush()
    }

    /// Appends the answer of one execution.
    fn carry_out(&mut self, prepared: &MockStatement) -> Result<(), End> {
        if prepared.kind == Kind::Control {
            return match self.session.control_reply() {
                MockReply::Error { sqlstate, message, .. } => self.refuse(sqlstate, &message),
                MockReply::Cut => Err(End::Over),
                MockReply::Rows { .. } | MockReply::Text(_) | MockReply::Affected(_) => {
                    Ok(complete(&mut self.out, &prepared.verb)?)
                }
            };
        }
        match self.session.statement_reply() {
            MockReply::Rows { count, width } if prepared.kind == Kind::Select => {
                self.rows(count, width)
            }
            MockReply::Rows { count, .. } => self.affected(prepared, u64::from(count)),
            MockReply::Text(_) => self.affected(prepared, 1),
            MockReply::Affected(count) => self.affected(prepared, count),
            MockReply::Error { sqlstate, message, .. } => self.refuse(sqlstate, &message),
            MockReply::Cut => Err(End::Over),
        }
    }

    fn affected(&mut self, prepared: &MockStatement, count: u64) -> Result<(), End> {
        self.out.extend_from_slice(b"C\0\0\0\0");
        let start = self.out.len();
        match prepared.verb.as_str() {
            "INSERT" => write!(self.out, "INSERT 0 {count}\0")?,
            "DELETE" => write!(self.out, "DELETE {count}\0")?,
            _ => write!(self.out, "UPDATE {count}\0")?,
        }
        let length = (self.out.len() - start + 4) as u32;
        self.out[start - 4..start].copy_from_slice(&length.to_be_bytes());
        Ok(())
    }

    fn rows(&mut self, count: u32, width: u32) -> Result<(), End> {
        let place = self.laid_out.iter().position(|(shape, _)| *shape == (count, width));
        let place = match place {
            Some(place) => place,
            None => {
                if self.laid_out.len() == LAID_OUT_MAX {
                    self.laid_out.clear();
                }
                self.laid_out.push(((count, width), lay_out(count, width)?));
                self.laid_out.len() - 1
            }
        };
        self.out.extend_from_slice(&self.laid_out[place].1);
        Ok(())
    }

    /// Takes data. The script is asked when they begin to come, so that a scripted error meets the
    /// client in the middle of its sending.
    fn copy(&mut self) -> Result<(), End> {
        self.out.extend_from_slice(b"G\0\0\0\x07\0\0\0");
        self.flush()?;
        let (mut lines, mut reply) = (0_usize, None);
        loop {
            let Talk { session, incoming, .. } = self;
            let message = incoming.next(&mut session.stream, RowBodies::Keep)?;
            let done = match message.tag {
                b'd' => {
                    lines += message.body.iter().filter(|byte| **byte == b'\n').count();
                    false
                }
                b'c' => true,
                b'f' => return self.refuse("57014", "COPY from stdin failed"),
                b'S' | b'H' => continue,
                _ => return Err(End::Over),
            };
            if reply.is_none() {
                reply = Some(self.session.statement_reply());
            }
            match &reply {
                Some(MockReply::Error { sqlstate, message, .. }) => {
                    return self.refuse(sqlstate, message);
                }
                Some(MockReply::Cut) => return Err(End::Over),
                _ if done => return Ok(complete(&mut self.out, &format!("COPY {lines}"))?),
                _ => {}
            }
        }
    }

    /// Takes the startup message and gives the user that it names.
    fn startup(&mut self) -> Result<String, End> {
        loop {
            let mut length = [0; 4];
            io::Read::read_exact(&mut self.session.stream, &mut length)?;
            let length = u32::from_be_bytes(length) as usize;
            if !(8..=STARTUP_BYTES_MAX).contains(&length) {
                return Err(End::Over);
            }
            let mut body = vec![0; length - 4];
            io::Read::read_exact(&mut self.session.stream, &mut body)?;
            let mut fields = Fields(&body);
            match fields.u32()? {
                SSL_REQUEST | GSS_REQUEST => self.session.stream.write_all(b"N")?,
                PROTOCOL_3_0 => loop {
                    let (name, value) = (fields.cstring()?, fields.cstring()?);
                    if name == b"user" {
                        return Ok(String::from_utf8_lossy(value).into_owned());
                    }
                },
                _ => return Err(End::Over),
            }
        }
    }

    /// Demands the proof that the login wants; ends the conversation if it is not given.
    fn prove(&mut self, user: &str) -> Result<(), End> {
        let login = self.session.login().clone();
        let password = login.password.expose();
        let proved = match login.auth {
            Auth::Trust => true,
            Auth::Md5 => {
                self.out.extend_from_slice(b"R\0\0\0\x0c\0\0\0\x05SaLt");
                let shown = self.proof()?;
                let mut expected = md5_response(user, password, b"SaLt").into_bytes();
                expected.push(0);
                shown == expected
            }
            Auth::Scram => self.scram(password)?,
            Auth::Native | Auth::CachingSha2 => {
                return self.turn_away("0A000", "the mock's login is one of MySQL");
            }
        };
        if proved && user == login.user {
            return Ok(());
        }
        let words = format!("password authentication failed for user \"{user}\"");
        self.turn_away("28P01", &words)
    }

    fn turn_away(&mut self, sqlstate: &str, words: &str) -> Result<(), End> {
        error_response(&mut self.out, "FATAL", sqlstate, words)?;
        self.flush()?;
        Err(End::Over)
    }

    /// Sends the challenge and takes what the client answers.
    fn proof(&mut self) -> Result<Vec<u8>, End> {
        self.flush()?;
        let message = self.incoming.next(&mut self.session.stream, RowBodies::Keep)?;
        if message.tag == b'p' { Ok(message.body.to_vec()) } else { Err(End::Over) }
    }

    fn scram(&mut self, password: &str) -> Result<bool, End> {
        message(&mut self.out, b'R', |out| {
            out.extend_from_slice(&[0, 0, 0, 10]);
            put_cstring(out, scram::MECHANISM.as_bytes());
            out.push(0);
        })?;
        let first = self.proof()?;
        let mut fields = Fields(&first);
        fields.cstring()?;
        fields.u32()?;
        let text = String::from_utf8_lossy(fields.0).into_owned();
        let Some(bare) = text.strip_prefix("n,,") else { return Ok(false) };
        let nonce = bare.split_once("r=").map_or("", |(_, nonce)| nonce);
        let challenge = format!("r={nonce}mock,s={},i={ITERATIONS}", BASE64.encode(SALT));
        sasl(&mut self.out, 11, &challenge)?;
        let last = String::from_utf8_lossy(&self.proof()?).into_owned();
        let Some((without_proof, proof)) = last.split_once(",p=") else { return Ok(false) };
        let auth_message = format!("{bare},{challenge},{without_proof}");
        let keys = Keys::derive(password.as_bytes(), SALT, ITERATIONS);
        sasl(
            &mut self.out,
            12,
            &format!("v={}", BASE64.encode(keys.signature(auth_message.as_bytes()))),
        )?;
        if without_proof != format!("c=biws,r={nonce}mock")
            || proof != BASE64.encode(keys.proof(auth_message.as_bytes()))
        {
            self.out.clear();
            return Ok(false);
        }
        Ok(true)
    }

    fn welcome(&mut self) -> Result<(), End> {
        self.out.extend_from_slice(b"R\0\0\0\x08\0\0\0\0");
        for (name, value) in [
            ("server_version", "15.0 (dbdyno mock)"),
            ("client_encoding", "UTF8"),
            ("standard_conforming_strings", "on"),
        ] {
            message(&mut self.out, b'S', |out| {
                put_cstring(out, name.as_bytes());
                put_cstring(out, value.as_bytes());
            })?;
        }
        let pid = self.session.number as u32 + 1;
        message(&mut self.out, b'K', |out| {
            out.extend_from_slice(&pid.to_be_bytes());
            out.extend_from_slice(&[0; 4]);
        })?;
        self.out.extend_from_slice(&READY);
        self.flush()
    }
}

fn prepared(text: &[u8]) -> MockStatement {
    let text = text.trim_ascii_start();
    let word = text.split(|byte| !byte.is_ascii_alphabetic()).next().unwrap_or_default();
    MockStatement {
        kind: sql::kind(text),
        verb: String::from_utf8_lossy(word).to_ascii_uppercase(),
        parameters: numbered_placeholders(text),
    }
}

/// The highest `$n` outside quotes.
fn numbered_placeholders(text: &[u8]) -> usize {
    let mut highest = 0;
    for unquoted in text.split(|byte| *byte == b'\'').step_by(2) {
        for after in unquoted.split(|byte| *byte == b'$').skip(1) {
            let digits = after.iter().take_while(|byte| byte.is_ascii_digit()).take(5);
            let number = digits.fold(0, |sum, digit| sum * 10 + usize::from(digit - b'0'));
            highest = highest.max(number);
        }
    }
    highest.min(usize::from(u16::MAX))
}

fn parse(
    statements: &mut HashMap<Vec<u8>, Rc<MockStatement>>,
    out: &mut Vec<u8>,
    mut body: Fields<'_>,
) -> Result<(), End> {
    let (name, text) = (body.cstring()?, body.cstring()?);
    statements.insert(name.to_vec(), Rc::new(prepared(text)));
    out.extend_from_slice(b"1\0\0\0\x04");
    Ok(())
}

fn describe(
    statements: &HashMap<Vec<u8>, Rc<MockStatement>>,
    portal: Option<&MockStatement>,
    out: &mut Vec<u8>,
    mut body: Fields<'_>,
) -> Result<(), End> {
    let of_statement = body.u8()? == b'S';
    let name = body.cstring()?;
    let described = if of_statement { statements.get(name).map(Rc::as_ref) } else { portal };
    let Some(prepared) = described else { return Err(End::Over) };
    if of_statement {
        message(out, b't', |out| {
            out.extend_from_slice(&(prepared.parameters as u16).to_be_bytes());
            for _ in 0..prepared.parameters {
                out.extend_from_slice(&INT4.to_be_bytes());
            }
        })?;
    }
    if prepared.kind == Kind::Select {
        row_description(out)?;
    } else {
        out.extend_from_slice(b"n\0\0\0\x04");
    }
    Ok(())
}

/// Reads a Bind to its last byte; the words of the refusal if it is not well formed.
fn bind(
    statements: &HashMap<Vec<u8>, Rc<MockStatement>>,
    mut body: Fields<'_>,
) -> Result<Rc<MockStatement>, String> {
    let mut check = || {
        body.cstring()?;
        let name = body.cstring()?;
        let formats = body.u16()?;
        body.bytes(2 * usize::from(formats))?;
        let values = body.u16()?;
        for _ in 0..values {
            match body.u32()? {
                u32::MAX => {}
                length => _ = body.bytes(length as usize)?,
            }
        }
        let results = body.u16()?;
        body.bytes(2 * usize::from(results))?;
        body.expect_end()?;
        Ok((name, values))
    };
    let (name, values) = check().map_err(|error: WireError| error.to_string())?;
    let prepared = statements.get(name).ok_or("no such prepared statement")?;
    if usize::from(values) != prepared.parameters {
        return Err(format!("{values} parameters were bound to {}", prepared.parameters));
    }
    Ok(Rc::clone(prepared))
}

fn row_description(out: &mut Vec<u8>) -> Result<(), WireError> {
    message(out, b'T', |out| {
        out.extend_from_slice(b"\0\x01c\0\0\0\0\0\0\0");
        out.extend_from_slice(&BPCHAR.to_be_bytes());
        out.extend_from_slice(b"\xff\xff\xff\xff\xff\xff\0\0");
    })
}

fn lay_out(count: u32, width: u32) -> Result<Vec<u8>, WireError> {
    let mut row = Vec::new();
    message(&mut row, b'D', |row| {
        row.extend_from_slice(&[0, 1]);
        row.extend_from_slice(&width.to_be_bytes());
        row.resize(row.len() + width as usize, b'x');
    })?;
    let mut out = row.repeat(count as usize);
    complete(&mut out, &format!("SELECT {count}"))?;
    Ok(out)
}

fn complete(out: &mut Vec<u8>, tag: &str) -> Result<(), WireError> {
    message(out, b'C', |out| put_cstring(out, tag.as_bytes()))
}

fn sasl(out: &mut Vec<u8>, step: u32, text: &str) -> Result<(), WireError> {
    message(out, b'R', |out| {
        out.extend_from_slice(&step.to_be_bytes());
        out.extend_from_slice(text.as_bytes());
    })
}

fn error_response(
    out: &mut Vec<u8>,
    severity: &str,
    sqlstate: &str,
    words: &str,
) -> Result<(), WireError> {
    message(out, b'E', |out| {
        for (kind, text) in [(b'S', severity), (b'V', severity), (b'C', sqlstate), (b'M', words)] {
            out.push(kind);
            put_cstring(out, text.as_bytes());
        }
        out.push(0);
    })
}

#[cfg(test)]
mod tests {
    use super::numbered_placeholders;

    #[test]
    fn the_highest_number_outside_quotes_counts() {
        for (sql, expected) in [
            ("SELECT 1", 0),
            ("SELECT c FROM t WHERE id IN ($1,$3,$2)", 3),
            ("SELECT '$9', $1", 1),
            ("SELECT 'it''s $9', $2::text", 2),
            ("SELECT $", 0),
            ("SELECT $99999999999", 65_535),
        ] {
            assert_eq!(numbered_placeholders(sql.as_bytes()), expected, "{sql}");
        }
    }
}
