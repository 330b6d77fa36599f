//! Who is let in.
//!
//! ```text
//!   greeting: version, number, nonce ──▶
//!                                     ◀── I want TLS           where it was offered, then all
//!   ◀─────────────── handshake ──────────▶                     that follows is encrypted
//!                                     ◀── account, proof by a method of the client's choice
//!   another method, another nonce ──▶         only where the method is none of ours
//!                                     ◀── proof
//!   OK, or 1045 ──▶
//! ```
//!
//! There is one account. Its password is known from the start, so that `caching_sha2_password`
//! always goes the fast way: a server that keeps a hash only has to be told the password once,
//! under an RSA key or TLS; this one never is, and a wrong proof is refused without asking for
//! more.

use dbdyno_model::Secret;
use sha1::{Digest, Sha1};
use sha2::Sha256;

use super::fault::{Fault, malformed_request, unreadable_request};
use crate::error::WireError;
use crate::mysql::auth::{CACHED, MORE, Method, NONCE, xor};
use crate::mysql::codec::{EOF, OK, Reader};
use crate::mysql::handshake::capability;
use crate::mysql::packet::{Channel, Unread};
use crate::mysql::result::Ending;
use crate::stream::Privacy;
use crate::tls::ServerSecurity;

/// What a server is towards all who come.
#[derive(Debug)]
pub struct LoginTerms {
    /// What it calls itself: `8.0.0-…` for what MySQL 8.0 speaks.
    pub version: String,
    /// Whom it lets in.
    pub account: LoginAccount,
    /// Bytes of a request that are taken: `max_allowed_packet`.
    pub largest_request: usize,
    /// How it encrypts; nothing where it does not.
    pub security: Option<ServerSecurity>,
}

/// Whom a server lets in.
pub struct LoginAccount {
    user: String,
    has_password: bool,
    /// What MySQL keeps of a password, for each method.
    native: [u8; 20],
    sha2: [u8; 32],
}

impl LoginAccount {
    /// An account; an empty password lets everybody in who says the name.
    pub fn new(user: &str, password: &Secret) -> LoginAccount {
        LoginAccount {
            user: user.to_owned(),
            has_password: !password.is_empty(),
            native: Sha1::digest(Sha1::digest(password.expose())).into(),
            sha2: Sha256::digest(Sha256::digest(password.expose())).into(),
        }
    }
}

impl std::fmt::Debug for LoginAccount {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Account").field("user", &self.user).finish_non_exhaustive()
    }
}

const CAPABILITIES: u32 = capability::LONG_PASSWORD
    | capability::FOUND_ROWS
    | capability::LONG_FLAG
    | capability::CONNECT_WITH_DB
    | capability::PROTOCOL_41
    | capability::TRANSACTIONS
    | capability::SECURE_CONNECTION
    | capability::MULTI_RESULTS
    | capability::PS_MULTI_RESULTS
    | capability::PLUGIN_AUTH
    | capability::DEPRECATE_EOF;

/// What is said first.
pub(crate) struct Greeting<'a> {
    pub version: &'a str,
    pub id: u32,
    pub capabilities: u32,
    pub method: Method,
}

/// Says it.
pub(crate) fn send_greeting(
    channel: &mut Channel,
    greeting: &Greeting<'_>,
    nonce: &[u8; NONCE],
) -> Result<(), WireError> {
    let Greeting { version, id, capabilities, method } = greeting;
    let [low, high] = [*capabilities as u16, (capabilities >> 16) as u16];
    let (first, second) = nonce.split_at(8);
    let payload = channel.payload();
    payload.push(10);
    payload.extend_from_slice(version.as_bytes());
    payload.push(0);
    payload.extend_from_slice(&id.to_le_bytes());
    payload.extend_from_slice(first);
    payload.push(0);
    payload.extend_from_slice(&low.to_le_bytes());
    payload.push(UTF8MB4_BIN);
    payload.extend_from_slice(&AUTOCOMMIT);
    payload.extend_from_slice(&high.to_le_bytes());
    payload.push(NONCE as u8 + 1);
    payload.extend_from_slice(&[0; 10]);
    payload.extend_from_slice(second);
    payload.push(0);
    payload.extend_from_slice(method.name().as_bytes());
    payload.push(0);
    channel.send()
}

const UTF8MB4_BIN: u8 = 46;
const AUTOCOMMIT: [u8; 2] = [2, 0];

/// What a client answers to the greeting.
#[derive(Debug)]
pub(crate) struct Hello {
    pub capabilities: u32,
    pub collation: u8,
    pub user: Vec<u8>,
    pub proof: Vec<u8>,
    pub database: Vec<u8>,
    pub method: Vec<u8>,
}

impl Hello {
    /// Whether it wants to be told how many rows an UPDATE has found, and not how many it changed.
    pub(super) fn counts_found_rows(&self) -> bool {
        self.capabilities & capability::FOUND_ROWS != 0
    }

    /// How results end that this client is sent.
    pub(super) fn result_ending(&self) -> Ending {
        let modern = self.capabilities & capability::DEPRECATE_EOF != 0;
        if modern { Ending::Ok } else { Ending::Eof }
    }
}

/// Reads it.
pub(crate) fn read_hello(payload: &[u8]) -> Result<Hello, WireError> {
    let mut reader = Reader(payload);
    let capabilities = reader.u32()?;
    if capabilities & capability::PROTOCOL_41 == 0 {
        return Err(WireError::Protocol("a client of before MySQL 4.1".to_owned()));
    }
    reader.u32()?;
    let collation = reader.u8()?;
    reader.bytes(23)?;
    let user = reader.until_zero().to_vec();
    let length = usize::from(reader.u8()?);
    let proof = reader.bytes(length)?.to_vec();
    let has = |what| capabilities & what != 0;
    let database =
        if has(capability::CONNECT_WITH_DB) { reader.until_zero().to_vec() } else { Vec::new() };
    let method = if has(capability::PLUGIN_AUTH) {
        reader.until_zero().to_vec()
    } else {
        Method::Native.name().into()
    };
    Ok(Hello { capabilities, collation, user, proof, database, method })
}

/// Random and without zero bytes, as some clients take it for a string.
pub(crate) fn nonce() -> std::io::Result<[u8; NONCE]> {
    let mut nonce = [0; NONCE];
    getrandom::fill(&mut nonce).map_err(|error| std::io::Error::other(error.to_string()))?;
    Ok(nonce.map(|byte| byte % 94 + 33))
}

/// Whether a proof by `mysql_native_password` is that of the password with this double hash.
pub(crate) fn native_holds(stored: &[u8; 20], nonce: &[u8], proof: &[u8]) -> bool {
    let mask = Sha1::new().chain_update(nonce).chain_update(stored).finalize();
    proof.len() == stored.len() && Sha1::digest(xor(proof, &mask))[..] == stored[..]
}

/// The same by `caching_sha2_password`.
pub(crate) fn sha2_holds(stored: &[u8; 32], nonce: &[u8], proof: &[u8]) -> bool {
    let mask = Sha256::new().chain_update(stored).chain_update(nonce).finalize();
    proof.len() == stored.len() && Sha256::digest(xor(proof, &mask))[..] == stored[..]
}

/// Greets, and lets the client in or refuses it.
pub(super) fn let_in(channel: &mut Channel, terms: &LoginTerms, id: u32) -> Result<Hello, Fault> {
    let mut nonce = nonce().map_err(Fault::Gone)?;
    let greeting = Greeting {
        version: &terms.version,
        id,
        capabilities: CAPABILITIES | if terms.security.is_some() { capability::TLS } else { 0 },
        method: Method::CachingSha2,
    };
    send_greeting(channel, &greeting, &nonce).map_err(sent)?;
    let mut hello = hear(channel, terms)?;
    let method = match Method::from_name(&String::from_utf8_lossy(&hello.method)) {
        Some(method) => method,
        None => {
            nonce = self::nonce().map_err(Fault::Gone)?;
            change(channel, Method::CachingSha2, &nonce)?;
            hello.proof =
                channel.take_request(channel.packet_number(), LONGEST).map_err(unread)?.to_vec();
            Method::CachingSha2
        }
    };
    if !is_known(&terms.account, &hello, method, &nonce) {
        let user = String::from_utf8_lossy(&hello.user);
        let using = if is_empty(&hello.proof) { "NO" } else { "YES" };
        let text = format!("Access denied for user '{user}' (using password: {using})");
        return Err(Fault::Refused(1045, "28000", text));
    }
    if method == Method::CachingSha2 && terms.account.has_password {
        let payload = channel.payload();
        payload.push(MORE);
        payload.extend_from_slice(CACHED);
        channel.send().map_err(sent)?;
    }
    Ok(hello)
}

/// Waits for what the client answers to the greeting, encrypted where it asks for that.
fn hear(channel: &mut Channel, terms: &LoginTerms) -> Result<Hello, Fault> {
    let payload = channel.take_request(1, LONGEST).map_err(unread)?;
    let Some(security) = terms.security.as_ref() else { return understood(payload) };
    if wants_tls(payload) {
        channel.serve_encrypted(security).map_err(Fault::Gone)?;
        return understood(channel.take_request(2, LONGEST).map_err(unread)?);
    }
    let hello = understood(payload)?;
    // What is not encrypted and stays within this host is nobody else's to read.
    if security.is_required() && channel.stream().privacy() == Privacy::Open {
        let text = "this server takes encrypted connections only; ask for TLS, or use its socket";
        return Err(Fault::Refused(3159, "HY000", text.to_owned()));
    }
    Ok(hello)
}

/// Whether an answer to the greeting is the short one that asks for encryption.
fn wants_tls(payload: &[u8]) -> bool {
    let capabilities = payload.first_chunk().map_or(0, |bits| u32::from_le_bytes(*bits));
    capabilities & capability::TLS != 0 && payload.len() == SHORT
}

/// Capabilities, the largest packet, a collation and 23 bytes that mean nothing.
const SHORT: usize = 32;

fn understood(payload: &[u8]) -> Result<Hello, Fault> {
    read_hello(payload).map_err(|error| match error {
        WireError::Protocol(text) => malformed_request(&text),
        other => malformed_request(&other.to_string()),
    })
}

/// Bytes that an answer to the greeting takes at most.
const LONGEST: usize = 1 << 16;

/// The OK that ends a login, with which the client may begin to ask.
pub(super) fn send_welcome(channel: &mut Channel) -> Result<(), Fault> {
    channel.payload().extend_from_slice(&[OK, 0, 0, AUTOCOMMIT[0], AUTOCOMMIT[1], 0, 0]);
    channel.send().map_err(sent)
}

fn change(channel: &mut Channel, method: Method, nonce: &[u8; NONCE]) -> Result<(), Fault> {
    let payload = channel.payload();
    payload.push(EOF);
    payload.extend_from_slice(method.name().as_bytes());
    payload.push(0);
    payload.extend_from_slice(nonce);
    payload.push(0);
    channel.send().map_err(sent)
}

/// An empty password has the empty proof; some clients end it with a zero byte.
fn is_empty(proof: &[u8]) -> bool {
    matches!(proof, [] | [0])
}

fn is_known(account: &LoginAccount, hello: &Hello, method: Method, nonce: &[u8]) -> bool {
    let holds = match method {
        _ if !account.has_password => is_empty(&hello.proof),
        Method::Native => native_holds(&account.native, nonce, &hello.proof),
        Method::CachingSha2 => sha2_holds(&account.sha2, nonce, &hello.proof),
    };
    holds && hello.user == account.user.as_bytes()
}

fn unread(unread: Unread) -> Fault {
    unreadable_request(unread, LONGEST)
}

fn sent(error: WireError) -> Fault {
    match error {
        WireError::Broken(error) => Fault::Gone(error),
        other => Fault::Gone(std::io::Error::other(other)),
    }
}
