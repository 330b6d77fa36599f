//! How the mock's MySQL side lets clients in.
//!
//! Servers differ in which method their greeting announces, whatever the account's own is. So does
//! this one: connections with an even number see the account's method, the others are told to
//! change theirs.

use std::sync::OnceLock;
use std::sync::atomic::Ordering;

use dbdyno_model::Secret;
use rsa::pkcs8::{EncodePublicKey, LineEnding};
use rsa::rand_core::OsRng;
use rsa::{Oaep, RsaPrivateKey};
use sha1::{Digest, Sha1};
use sha2::Sha256;

use super::login::Auth;
use super::session::Session;
use crate::error::WireError;
use crate::mysql::auth::{ASK_FOR_KEY, CACHED, MORE, Method, NONCE, WANTS_PASSWORD, xor};
use crate::mysql::codec::{EOF, OK, put_error};
use crate::mysql::handshake::capability;
use crate::mysql::packet::Channel;
use crate::mysql::server::{self, Greeting, native_holds, read_hello, send_greeting, sha2_holds};
use crate::stream::Privacy;

const VERSION: &str = "8.0.0-mock";
const CAPABILITIES: u32 = capability::LONG_PASSWORD
    | capability::LONG_FLAG
    | capability::CONNECT_WITH_DB
    | capability::PROTOCOL_41
    | capability::TRANSACTIONS
    | capability::SECURE_CONNECTION
    | capability::MULTI_RESULTS
    | capability::PS_MULTI_RESULTS
    | capability::PLUGIN_AUTH
    | capability::CONNECT_ATTRS
    | capability::DEPRECATE_EOF;
const ACCESS_DENIED: u16 = 1045;
/// Small, because it guards nothing and tests should not wait for it.
const KEY_BITS: usize = 1024;

/// How a result ends; agreed at login.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    /// Columns and rows each end with an EOF packet.
    Eof,
    /// Rows end with an OK packet, columns with nothing.
    Ok,
}

/// Greets, and lets the client in or refuses it, which is an error here too.
pub(super) fn log_in(session: &Session, channel: &mut Channel) -> Result<Ending, WireError> {
    let method = match session.login().auth {
        Auth::Native => Method::Native,
        Auth::CachingSha2 => Method::CachingSha2,
        Auth::Trust => Method::Native,
        other @ (Auth::Scram | Auth::Md5) => {
            return Err(WireError::Protocol(format!("{other:?} is PostgreSQL's")));
        }
    };
    let trusting = session.login().auth == Auth::Trust;
    let announced =
        if session.number.is_multiple_of(2) || trusting { method } else { another(method) };
    let nonce = nonce();
    let greeting = Greeting {
        version: session.version().unwrap_or(VERSION),
        id: session.number as u32 + 1,
        capabilities: CAPABILITIES,
        method: announced,
    };
    send_greeting(channel, &greeting, &nonce)?;
    let mut hello = read_hello(channel.take_piece()?)?;
    let accepted = trusting
        || hello.user == session.login().user.as_bytes() && {
            let mut gate = Gate { session, channel, nonce };
            if hello.method != method.name().as_bytes() {
                hello.proof = gate.change_method(method)?;
            }
            gate.passes(method, &hello.proof)?
        };
    if !accepted {
        let user = String::from_utf8_lossy(&hello.user);
        let message = format!("Access denied for user '{user}'@'localhost'");
        put_error(channel.payload(), ACCESS_DENIED, "28000", &message);
        channel.send()?;
        return Err(WireError::Protocol(message));
    }
    channel.payload().extend_from_slice(&[OK, 0, 0, 2, 0, 0, 0]);
    channel.send()?;
    let modern = hello.capabilities & capability::DEPRECATE_EOF != 0;
    Ok(if modern { Ending::Ok } else { Ending::Eof })
}

fn another(method: Method) -> Method {
    match method {
        Method::Native => Method::CachingSha2,
        Method::CachingSha2 => Method::Native,
    }
}

/// A nonce. Without randomness the mock still works: nothing is protected by it.
fn nonce() -> [u8; NONCE] {
    server::nonce().unwrap_or([b'x'; NONCE])
}

/// A login under way.
struct Gate<'a> {
    session: &'a Session,
    channel: &'a mut Channel,
    nonce: [u8; NONCE],
}

impl Gate<'_> {
    fn change_method(&mut self, method: Method) -> Result<Vec<u8>, WireError> {
        self.nonce = nonce();
        let payload = self.channel.payload();
        payload.push(EOF);
        payload.extend_from_slice(method.name().as_bytes());
        payload.push(0);
        payload.extend_from_slice(&self.nonce);
        payload.push(0);
        self.channel.send()?;
        Ok(self.channel.take_piece()?.to_vec())
    }

    fn passes(&mut self, method: Method, proof: &[u8]) -> Result<bool, WireError> {
        let password = self.password();
        if proof.is_empty() || password.is_empty() {
            return Ok(proof.is_empty() && password.is_empty());
        }
        if method == Method::Native {
            let stored = Sha1::digest(Sha1::digest(password.expose())).into();
            return Ok(native_holds(&stored, &self.nonce, proof));
        }
        let stored = Sha256::digest(Sha256::digest(password.expose())).into();
        let cached = self.session.shared.cached.load(Ordering::Acquire);
        if cached && sha2_holds(&stored, &self.nonce, proof) {
            self.say(CACHED)?;
            return Ok(true);
        }
        self.say(WANTS_PASSWORD)?;
        let right = self.hear_password()? == [password.expose().as_bytes(), &[0]].concat();
        if right {
            self.session.shared.cached.store(true, Ordering::Release);
        }
        Ok(right)
    }

    fn password(&self) -> Secret {
        self.session.login().password.clone()
    }

    fn say(&mut self, more: &[u8]) -> Result<(), WireError> {
        let payload = self.channel.payload();
        payload.push(MORE);
        payload.extend_from_slice(more);
        self.channel.send()
    }

    /// The password and its zero byte: in clear over a unix socket, else under our key.
    fn hear_password(&mut self) -> Result<Vec<u8>, WireError> {
        if self.channel.stream().privacy() == Privacy::Local {
            return Ok(self.channel.take_piece()?.to_vec());
        }
        if self.channel.take_piece()? != [ASK_FOR_KEY] {
            return Err(WireError::Protocol("a password in clear over TCP".to_owned()));
        }
        let key = key()?;
        let pem = key
            .to_public_key()
            .to_public_key_pem(LineEnding::LF)
            .map_err(|error| WireError::Protocol(error.to_string()))?;
        self.say(pem.as_bytes())?;
        let sealed = self.channel.take_piece()?;
        let masked = key
            .decrypt(Oaep::new::<Sha1>(), sealed)
            .map_err(|error| WireError::Protocol(error.to_string()))?;
        Ok(xor(&masked, &self.nonce))
    }
}

/// The key of this process's mocks, made when it is first needed.
fn key() -> Result<&'static RsaPrivateKey, WireError> {
    static KEY: OnceLock<Result<RsaPrivateKey, rsa::Error>> = OnceLock::new();
    KEY.get_or_init(|| RsaPrivateKey::new(&mut OsRng, KEY_BITS))
        .as_ref()
        .map_err(|error| WireError::Protocol(error.to_string()))
}
