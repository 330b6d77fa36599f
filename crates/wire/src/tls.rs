//! Encryption of a connection, by rustls: a client's here, a server's in `server`.
//!
//! ```text
//!   Tls (the user's words) ──files read, once for each arm──▶ Security ──for each connection──┐
//!                                                                                             ▼
//!   plain socket ── "I want TLS", in the words of the protocol ── handshake ────────▶ Encrypted
//! ```
//!
//! TLS 1.2 and 1.3 with ephemeral keys, as rustls has them. Sessions are not resumed: every
//! connection of a crowd pays the same, the first one and the last.
//! `required` believes whoever answers, as the clients do; what verifies is webpki.
//!
//! A server that offers TLS and then fails in it ends the login, also where TLS is only preferred:
//! a client that went on in the clear would measure something else than was said, and some of a
//! crowd might and others not.

use std::fmt;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use dbdyno_model::{Dialect, Tls, TlsMode, TlsStart, TlsWords, Transport};
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ClientConnection, Error};

use crate::error::WireError;
use crate::server_key::ServerKey;

mod authorities;
mod encrypted;
mod server;
mod trouble;
mod trust;

pub(crate) use encrypted::failure_in;
pub use encrypted::{EncryptedStream, Encryption};
pub use server::ServerSecurity;

/// What PostgreSQL's protocol is called where TLS names what it carries.
const POSTGRESQL: &[u8] = b"postgresql";

/// How what is said to one server is kept from others. Files of certificates have been read.
#[derive(Clone, Default)]
pub struct Security {
    wanted: Option<Arc<TlsRequest>>,
    key: ServerKey,
}

struct TlsRequest {
    /// Never [`TlsMode::Off`].
    mode: TlsMode,
    start: TlsStart,
    config: Arc<ClientConfig>,
    name: ServerName<'static>,
    about: trouble::About,
}

impl fmt::Debug for Security {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.wanted.as_ref().map_or("off", |wanted| wanted.mode.name()))
    }
}

impl Security {
    /// Nothing is encrypted.
    pub fn without_tls() -> Security {
        Security::default()
    }

    /// The same, to a server that has this key.
    #[must_use]
    pub fn with_key(self, key: ServerKey) -> Security {
        Security { key, ..self }
    }

    /// The key under which a password goes where nothing is encrypted.
    pub(crate) fn key(&self) -> &ServerKey {
        &self.key
    }

    /// Whether the user has asked for encryption, and does not merely take what the server offers.
    pub(crate) fn is_demanded(&self) -> bool {
        self.wanted.as_ref().is_some_and(|wanted| wanted.mode > TlsMode::Preferred)
    }

    /// Reads the files that the user names, and makes ready what all connections share.
    ///
    /// # Errors
    /// [`WireError::Tls`]: a file that cannot be read or has nothing of use in it, a certificate
    /// without its key, a host whose name no certificate can have.
    pub fn from_options(
        tls: &Tls,
        dialect: Dialect,
        to: &Transport,
    ) -> Result<Security, WireError> {
        let mode = tls.mode_to(to);
        let security =
            Security::without_tls().with_key(ServerKey::from_password_key(&tls.password_key)?);
        if mode == TlsMode::Off {
            return Ok(security);
        }
        let host = match to {
            Transport::Tcp(host, _) => host.as_str(),
            // What MySQL's client takes for the name of the other end of a socket.
            Transport::Unix(_) => "localhost",
        };
        let about =
            trouble::About { to: to.to_string(), host: host.to_owned(), dialect, tls: tls.clone() };
        let named = ServerName::try_from(host.to_owned());
        let mut config = trust::client_config(tls, mode, TlsWords::for_dialect(dialect))
            .map_err(|text| WireError::Tls(about.not_ready(&text)))?;
        let name = match named {
            Ok(name) => name,
            Err(_) if mode == TlsMode::VerifyIdentity => {
                return Err(WireError::Tls(about.unnameable_host()));
            }
            Err(_) => {
                config.enable_sni = false;
                ServerName::try_from("localhost").expect("it is a name")
            }
        };
        config.resumption = rustls::client::Resumption::disabled();
        if dialect == Dialect::Postgres {
            config.alpn_protocols = vec![POSTGRESQL.to_vec()];
        }
        let (config, start) = (Arc::new(config), tls.start);
        let wanted = Some(Arc::new(TlsRequest { mode, start, config, name, about }));
        Ok(Security { wanted, ..security })
    }

    /// Whether encryption is to be asked for.
    pub(crate) fn is_wanted(&self) -> bool {
        self.wanted.is_some()
    }

    /// Whether the connection begins with TLS.
    pub(crate) fn is_direct(&self) -> bool {
        self.wanted.as_ref().is_some_and(|wanted| wanted.start == TlsStart::Direct)
    }

    /// What follows where the server offers no encryption: nothing, or no connection.
    ///
    /// # Errors
    /// [`WireError::Tls`] where encryption is required.
    pub(crate) fn permit_plaintext(&self) -> Result<(), WireError> {
        match &self.wanted {
            Some(wanted) if wanted.mode > TlsMode::Preferred => {
                Err(WireError::Tls(wanted.about.not_offered()))
            }
            _ => Ok(()),
        }
    }

    /// Shakes hands over a connected socket, at the other end of which somebody waits for that.
    ///
    /// # Errors
    /// [`WireError::Tls`] says why not, and what to do.
    ///
    /// # Panics
    /// Where no encryption is wanted.
    pub(crate) fn encrypt(&self, socket: Arc<OwnedFd>) -> Result<EncryptedStream, WireError> {
        let wanted = self.wanted.as_ref().expect("only what is wanted is begun");
        let begun = ClientConnection::new(Arc::clone(&wanted.config), wanted.name.clone());
        let session = begun.map_err(|error| WireError::Tls(wanted.failed(&error)))?;
        let ours = Some(Arc::clone(wanted));
        let encrypted = EncryptedStream::shake_hands(socket, session.into(), ours, &[])
            .map_err(|error| wanted.during_handshake(error))?;
        if wanted.start == TlsStart::Direct && encrypted.agreed_protocol() != Some(POSTGRESQL) {
            return Err(WireError::Tls(wanted.about.not_direct()));
        }
        Ok(encrypted)
    }
}

impl TlsRequest {
    /// Why TLS failed, and what to do.
    fn failed(&self, error: &Error) -> String {
        self.about.tls_failure(error, self.start == TlsStart::Direct)
    }

    fn during_handshake(&self, error: io::Error) -> WireError {
        if let Some(failure) = failure_in(&error) {
            return WireError::Tls(failure);
        }
        WireError::Tls(self.about.socket_failure(&error, self.start == TlsStart::Direct))
    }
}
