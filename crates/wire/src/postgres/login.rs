//! From a connected socket to the first ReadyForQuery.
//!
//! ```text
//!   SSLRequest ──▶ 'S': TLS; 'N': none             or TLS at once (direct, 17 and later)
//!   StartupMessage ──▶   AuthenticationOk                    trust
//!                        CleartextPassword ─▶ password       password; over plain TCP refused
//!                        MD5Password(salt) ─▶ md5…           md5
//!                        SASL ─▶ … ◀─▶ … ◀─ SASLFinal        scram-sha-256
//!                  ◀──   AuthenticationOk, ParameterStatus…, BackendKeyData, ReadyForQuery
//! ```
//!
//! Which way is gone is the server's choice, or that of whoever stands between. The password itself
//! goes over TLS or a unix socket alone; md5 and SCRAM tell it to nobody, but passwords can be
//! tried on an md5.
//!
//! One byte answers SSLRequest, and no more than that is read in the clear: what came behind it
//! would be somebody else's.

use std::io::{self, Read, Write};

use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use md5::{Digest, Md5};

use super::answer::{Fields, lossy, server_error};
use super::incoming::{Incoming, RowBodies};
use super::outgoing::{message, put_cstring};
use super::scram::{self, Exchange, Proof};
use crate::error::{ServerError, WireError};
use crate::stream::{Endpoint, Privacy, SocketStream};
use crate::tls::Security;

const PROTOCOL_3_0: u32 = 3 << 16;

/// Bytes of all messages of a login; real ones have about a thousand.
const LOGIN_BYTES_MAX: usize = 256 << 10;

/// SSLRequest as a whole.
const SSL_REQUEST: [u8; 8] = [0, 0, 0, 8, 0x04, 0xd2, 0x16, 0x2f];

/// Asks for encryption, where it is wanted, and begins it.
///
/// # Errors
/// [`WireError::Tls`] where there is none and it must be.
pub(super) fn encrypt(
    mut stream: SocketStream,
    security: &Security,
) -> Result<SocketStream, WireError> {
    if !security.is_wanted() {
        return Ok(stream);
    }
    if security.is_direct() {
        return stream.encrypt(security);
    }
    stream.write_all(&SSL_REQUEST)?;
    let mut answer = [0];
    stream.read_exact(&mut answer)?;
    match answer[0] {
        b'S' => stream.encrypt(security),
        b'N' => security.permit_plaintext().map(|()| stream),
        other => Err(WireError::Protocol(format!(
            "the question for encryption was answered by '{}'",
            other.escape_ascii()
        ))),
    }
}

/// What a login leaves behind.
#[derive(Debug, Default)]
pub(super) struct Session {
    /// `15.20`, without the packager's additions.
    pub(super) server_version: String,
    pub(super) backend_pid: u32,
}

/// Logs in over `stream`.
///
/// # Errors
/// The server's refusal, a way of proving oneself that is not spoken here, or a broken connection.
pub(super) fn log_in<S: Read + Write>(
    stream: &mut S,
    incoming: &mut Incoming,
    endpoint: &Endpoint,
    privacy: Privacy,
) -> Result<Session, WireError> {
    let mut login = Login { stream, endpoint, privacy, sasl: Sasl::None };
    login.send(&startup(endpoint)?)?;
    let mut session = Session::default();
    let mut admitted = false;
    let mut left = LOGIN_BYTES_MAX;
    loop {
        let message = incoming.next(login.stream, RowBodies::Keep)?;
        left = left.checked_sub(message.body.len() + 1).ok_or_else(endless)?;
        let mut fields = Fields(message.body);
        match message.tag {
            b'E' => return Err(login.refused(server_error(message.body))),
            b'R' if !admitted => admitted = login.authenticate(fields)?,
            b'S' => {
                let (name, value) = (fields.cstring()?, fields.cstring()?);
                if name == b"server_version" {
                    let value = lossy(value);
                    value
                        .split(' ')
                        .next()
                        .unwrap_or_default()
                        .clone_into(&mut session.server_version);
                }
            }
            b'K' => session.backend_pid = fields.u32()?,
            b'N' => {}
            b'Z' if admitted => return Ok(session),
            tag => {
                return Err(WireError::Protocol(format!(
                    "the answer to the login was a message '{}'",
                    tag.escape_ascii()
                )));
            }
        }
    }
}

fn startup(endpoint: &Endpoint) -> Result<Vec<u8>, WireError> {
    let parameters = [
        ("user", endpoint.user.as_str()),
        ("database", endpoint.database.as_str()),
        ("application_name", "dbdyno"),
    ];
    let mut out = vec![0; 4];
    out.extend_from_slice(&PROTOCOL_3_0.to_be_bytes());
    for (name, value) in parameters {
        if value.contains('\0') {
            return Err(WireError::Protocol(format!("the {name} {value:?} contains a NUL byte")));
        }
        // Without a database the server takes the one that is named like the user.
        if !value.is_empty() {
            put_cstring(&mut out, name.as_bytes());
            put_cstring(&mut out, value.as_bytes());
        }
    }
    out.push(0);
    let length = (out.len() as u32).to_be_bytes();
    out[..4].copy_from_slice(&length);
    Ok(out)
}

/// `md5` and the hash of the hash, as `pg_hba.conf`'s method md5 wants it.
pub(crate) fn md5_response(user: &str, password: &str, salt: &[u8]) -> String {
    let inner = hex(&Md5::new().chain_update(password).chain_update(user).finalize());
    format!("md5{}", hex(&Md5::new().chain_update(inner).chain_update(salt).finalize()))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// How far SCRAM got.
enum Sasl {
    None,
    Begun(Exchange),
    Proved(Proof),
}

struct Login<'a, S> {
    stream: &'a mut S,
    endpoint: &'a Endpoint,
    privacy: Privacy,
    sasl: Sasl,
}

impl<S: Write> Login<'_, S> {
    /// Answers one Authentication message; true when the server is satisfied.
    fn authenticate(&mut self, mut fields: Fields<'_>) -> Result<bool, WireError> {
        match (fields.u32()?, std::mem::replace(&mut self.sasl, Sasl::None)) {
            (0, Sasl::None) => return Ok(true),
            (3, Sasl::None) if self.privacy == Privacy::Open => return Err(exposed()),
            (3, Sasl::None) => {
                let mut text = self.password()?.as_bytes().to_vec();
                text.push(0);
                self.reply(&text)?;
            }
            (5, Sasl::None) => {
                let salt = fields.bytes(4)?;
                let mut text = md5_response(&self.endpoint.user, self.password()?, salt);
                text.push('\0');
                self.reply(text.as_bytes())?;
            }
            (10, Sasl::None) => self.begin_scram(fields)?,
            (11, Sasl::Begun(exchange)) => {
                let proof = exchange.answer_challenge(fields.0, self.password()?)?;
                self.reply(proof.message.as_bytes())?;
                self.sasl = Sasl::Proved(proof);
            }
            (12, Sasl::Proved(proof)) => proof.check_final_message(fields.0)?,
            (kind, _) => return Err(unsupported(kind)),
        }
        Ok(false)
    }

    fn begin_scram(&mut self, mut fields: Fields<'_>) -> Result<(), WireError> {
        let mut offered = Vec::new();
        loop {
            match fields.cstring()? {
                b"" => break,
                name => offered.push(lossy(name)),
            }
        }
        if !offered.iter().any(|name| name == scram::MECHANISM) {
            return Err(WireError::Protocol(format!(
                "the server offers only {offered:?}; dbdyno proves itself with {}",
                scram::MECHANISM
            )));
        }
        self.password()?;
        let mut nonce = [0; 18];
        getrandom::fill(&mut nonce)
            .map_err(|error| WireError::Broken(io::Error::other(error.to_string())))?;
        let exchange = Exchange::new(BASE64.encode(nonce));
        let first = exchange.first();
        let mut body = Vec::new();
        put_cstring(&mut body, scram::MECHANISM.as_bytes());
        body.extend_from_slice(&(first.len() as u32).to_be_bytes());
        body.extend_from_slice(first.as_bytes());
        self.reply(&body)?;
        self.sasl = Sasl::Begun(exchange);
        Ok(())
    }

    fn password(&self) -> Result<&str, WireError> {
        let password = &self.endpoint.password;
        if !password.is_empty() {
            return Ok(password.expose());
        }
        Err(WireError::Login(ServerError {
            code: 0,
            sqlstate: "28P01".to_owned(),
            message: format!(
                "the server asks for the password of user {:?} and none was given; give one, \
                 e.g. postgres://{0}:PASSWORD@host/database",
                self.endpoint.user
            )
            .into(),
        }))
    }

    /// PasswordMessage, SASLInitialResponse and SASLResponse have one tag.
    fn reply(&mut self, body: &[u8]) -> Result<(), WireError> {
        let mut out = Vec::new();
        message(&mut out, b'p', |out| out.extend_from_slice(body))?;
        self.send(&out)
    }

    fn send(&mut self, bytes: &[u8]) -> Result<(), WireError> {
        Ok(self.stream.write_all(bytes)?)
    }

    /// The server's refusal, with advice where we have some.
    fn refused(&self, mut error: ServerError) -> WireError {
        // In words that are older than 14, and of later ones.
        let says = |words: [&str; 2]| {
            error.sqlstate == "28000" && words.iter().any(|words| error.message.contains(words))
        };
        let advice = if says(["no encryption", "SSL off"]) {
            "say tls=required if it wants encryption (a `hostssl` line in pg_hba.conf), or connect \
             over the unix socket"
        } else if says(["SSL encryption", "SSL on"]) {
            "say tls=off if it wants none (a `hostnossl` line in pg_hba.conf)"
        } else if error.sqlstate == "28P01" && !self.endpoint.password.expose().is_ascii() {
            "the password has characters outside ASCII, which are sent as they are, without the \
             normalisation of SASLprep: try it in composed form"
        } else {
            return WireError::Login(error);
        };
        error.message.push_str(&format!("; {advice}"));
        WireError::Login(error)
    }
}

/// A server, or who stands in its place, wants to be told the password over a wire that anybody may
/// read.
#[cold]
fn exposed() -> WireError {
    WireError::Exposed(
        "the server asks for the password in clear over TCP without encryption, where whoever \
         answers or stands between could read it; it was not sent. Say tls=required, or \
         tls=verify-identity to be sure who answers; or use the unix socket, ?host=DIRECTORY; or \
         have the server ask by scram-sha-256 (pg_hba.conf)"
            .to_owned(),
    )
}

#[cold]
fn endless() -> WireError {
    WireError::Protocol("the login does not come to an end".to_owned())
}

fn unsupported(kind: u32) -> WireError {
    let demand = match kind {
        0 | 3 | 5 | 10..=12 => {
            return WireError::Protocol(format!(
                "the server sent authentication message {kind} out of turn"
            ));
        }
        2 => "Kerberos",
        7 | 8 => "GSSAPI",
        9 => "SSPI",
        _ => "an unknown kind of",
    };
    WireError::Protocol(format!(
        "the server demands {demand} authentication ({kind}), which dbdyno does not speak: allow \
         scram-sha-256, md5, password or trust for this account in pg_hba.conf"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn md5_is_that_of_the_server() {
        // From Python's hashlib, by the manual's formula.
        assert_eq!(
            md5_response("bob", "secret", &[1, 2, 3, 4]),
            "md5f21dfe33ff3a9e03dbc3e008251fe5cc"
        );
    }
}
