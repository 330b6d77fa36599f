//! The greeting of the server and the answer to it.

use super::auth::{self, Method, login_error};
use super::codec::{ERR, Reader, put_length, server_error};
use super::latin1;
use crate::error::WireError;
use crate::stream::{Endpoint, Privacy};

/// Bits that both sides exchange to agree on the dialect of the protocol.
pub(crate) mod capability {
    pub(crate) const LONG_PASSWORD: u32 = 1;
    pub(crate) const FOUND_ROWS: u32 = 1 << 1;
    pub(crate) const LONG_FLAG: u32 = 1 << 2;
    pub(crate) const CONNECT_WITH_DB: u32 = 1 << 3;
    pub(crate) const PROTOCOL_41: u32 = 1 << 9;
    pub(crate) const TLS: u32 = 1 << 11;
    pub(crate) const TRANSACTIONS: u32 = 1 << 13;
    pub(crate) const SECURE_CONNECTION: u32 = 1 << 15;
    pub(crate) const MULTI_RESULTS: u32 = 1 << 17;
    pub(crate) const PS_MULTI_RESULTS: u32 = 1 << 18;
    pub(crate) const PLUGIN_AUTH: u32 = 1 << 19;
    pub(crate) const CONNECT_ATTRS: u32 = 1 << 20;
    pub(crate) const DEPRECATE_EOF: u32 = 1 << 24;
}
use capability::*;

/// Without these there is no login: servers before 4.1, which nobody can mean.
const REQUIRED: u32 = PROTOCOL_41 | SECURE_CONNECTION;
/// Asked for where the server offers it.
const WANTED: u32 = LONG_PASSWORD
    | LONG_FLAG
    | TRANSACTIONS
    | MULTI_RESULTS
    | PS_MULTI_RESULTS
    | PLUGIN_AUTH
    | CONNECT_ATTRS
    | DEPRECATE_EOF;

const LATIN1_SWEDISH_CI: u8 = 8;
const LARGEST_PACKET: u32 = 1 << 30;
const ACCESS_DENIED: u16 = 1045;
const SECURE_TRANSPORT_REQUIRED: u16 = 3159;

/// What the server says first.
#[derive(Debug)]
pub(super) struct Greeting {
    pub version: String,
    pub connection_id: u32,
    pub capabilities: u32,
    /// Random bytes that the proof of the password is made with.
    pub nonce: Vec<u8>,
    /// The method that the server would like; the account's own may differ.
    pub method: String,
}

impl Greeting {
    /// Reads the first packet.
    ///
    /// # Errors
    /// [`WireError::Login`] if the server refuses at once (too many connections, host blocked).
    pub(super) fn parse(payload: &[u8]) -> Result<Greeting, WireError> {
        let mut reader = Reader(payload);
        match reader.u8()? {
            ERR => return Err(login_error(server_error(payload))),
            10 => {}
            version => {
                return Err(WireError::Protocol(format!(
                    "the greeting has version {version} where MySQL and MariaDB say 10; is this \
                     the port of a MySQL server (and not of its X protocol, 33060)?"
                )));
            }
        }
        let version = latin1::decode(reader.until_zero());
        let connection_id = reader.u32()?;
        let mut nonce = reader.bytes(8)?.to_vec();
        reader.u8()?;
        let low = reader.u16()?;
        reader.bytes(3)?;
        let high = reader.u16()?;
        let length = usize::from(reader.u8()?);
        reader.bytes(10)?;
        nonce.extend_from_slice(reader.bytes(length.saturating_sub(8).max(13))?);
        nonce.truncate(auth::NONCE);
        let method = latin1::decode(reader.until_zero());
        let capabilities = u32::from(low) | u32::from(high) << 16;
        if capabilities & REQUIRED != REQUIRED {
            return Err(WireError::Protocol(format!(
                "server {version} does not speak the protocol of MySQL 4.1 and later"
            )));
        }
        Ok(Greeting { version: plain(&version), connection_id, capabilities, nonce, method })
    }

    /// Whether the server can encrypt.
    pub(super) fn offers_tls(&self) -> bool {
        self.capabilities & TLS != 0
    }

    /// Appends what asks the server to encrypt: the beginning of an answer.
    pub(super) fn ask_for_tls(&self, endpoint: &Endpoint, payload: &mut Vec<u8>) {
        put_head(payload, self.shared_capabilities(endpoint) | TLS);
    }

    /// Adds to a refusal what the server does not say. MySQL names a demand for TLS; MariaDB, and
    /// both for an account with `REQUIRE SSL`, call it a wrong password.
    pub(super) fn explain_refusal(&self, mut error: WireError, privacy: Privacy) -> WireError {
        if let WireError::Login(refusal) = &mut error {
            refusal.message.push_str(match (refusal.code, privacy) {
                (SECURE_TRANSPORT_REQUIRED, _) => "; say tls=required, or use the unix socket",
                (ACCESS_DENIED, Privacy::Open | Privacy::Local) if self.offers_tls() => {
                    "; if account and password are right, it may demand encryption (REQUIRE SSL): \
                     say tls=required"
                }
                (ACCESS_DENIED, Privacy::Encrypted) => {
                    "; if account and password are right, it may demand a certificate (REQUIRE \
                     X509): name one with ssl-cert=FILE and ssl-key=FILE"
                }
                _ => "",
            });
        }
        error
    }

    /// The method of the first proof. One that we do not know may be the server's default and not
    /// the account's: the server will say so after any first attempt.
    pub(super) fn first_method(&self) -> Method {
        Method::from_name(&self.method).unwrap_or(Method::Native)
    }

    /// The capabilities that both sides have.
    pub(super) fn shared_capabilities(&self, endpoint: &Endpoint) -> u32 {
        let database = if endpoint.database.is_empty() { 0 } else { CONNECT_WITH_DB };
        self.capabilities & (REQUIRED | WANTED | database)
    }

    /// Appends the answer: who we are, and the first attempt at a proof.
    pub(super) fn put_response(
        &self,
        endpoint: &Endpoint,
        capabilities: u32,
        payload: &mut Vec<u8>,
    ) -> Result<(), WireError> {
        let method = self.first_method();
        put_head(payload, capabilities);
        put_zero_ended(payload, &endpoint.user, "the account's name")?;
        let proof = method.proof(&endpoint.password, &self.nonce);
        payload.push(proof.len() as u8);
        payload.extend_from_slice(&proof);
        if capabilities & CONNECT_WITH_DB != 0 {
            put_zero_ended(payload, &endpoint.database, "the database's name")?;
        }
        if capabilities & PLUGIN_AUTH != 0 {
            put_zero_ended(payload, method.name(), "the method")?;
        }
        if capabilities & CONNECT_ATTRS != 0 {
            put_attributes(payload, &[("program_name", "dbdyno")]);
        }
        Ok(())
    }
}

/// MariaDB up to 10.x calls itself `5.5.5-10.…` for the sake of old replicas.
fn plain(version: &str) -> String {
    match version.strip_prefix("5.5.5-") {
        Some(real) if real.starts_with(|c: char| c.is_ascii_digit()) => real.to_owned(),
        _ => version.to_owned(),
    }
}

/// What an answer begins with; where encryption is asked for, that is all of it at first.
fn put_head(payload: &mut Vec<u8>, capabilities: u32) {
    payload.extend_from_slice(&capabilities.to_le_bytes());
    payload.extend_from_slice(&LARGEST_PACKET.to_le_bytes());
    payload.push(LATIN1_SWEDISH_CI);
    payload.extend_from_slice(&[0; 23]);
}

fn put_zero_ended(payload: &mut Vec<u8>, text: &str, what: &str) -> Result<(), WireError> {
    if text.contains('\0') {
        return Err(WireError::Protocol(format!("{what} contains a zero byte: {text:?}")));
    }
    payload.extend_from_slice(&latin1::encode(text)?);
    payload.push(0);
    Ok(())
}

/// What `performance_schema.session_connect_attrs` shows of us.
fn put_attributes(payload: &mut Vec<u8>, attributes: &[(&str, &str)]) {
    let mut list = Vec::new();
    for text in attributes.iter().flat_map(|&(name, value)| [name, value]) {
        put_length(&mut list, text.len() as u64);
        list.extend_from_slice(text.as_bytes());
    }
    put_length(payload, list.len() as u64);
    payload.extend_from_slice(&list);
}
