//! Encryption of a connection, by rustls.
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
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::time::Duration;

use dbdyno_model::{Dialect, Tls, TlsMode, TlsStart, TlsWords, Transport};
use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::net::{RecvFlags, SendFlags, recv, send};
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ClientConnection, Error, ProtocolVersion};

use crate::error::WireError;

mod authorities;
mod trouble;
mod trust;

/// What PostgreSQL's protocol is called where TLS names what it carries.
const POSTGRESQL: &[u8] = b"postgresql";

/// How connections to one server are encrypted. Its files have been read.
#[derive(Clone, Default)]
pub struct Security(Option<Arc<Wanted>>);

struct Wanted {
    /// Never [`TlsMode::Off`].
    mode: TlsMode,
    start: TlsStart,
    config: Arc<ClientConfig>,
    name: ServerName<'static>,
    about: trouble::About,
}

/// What was agreed upon.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Encryption {
    /// `TLSv1.3` or `TLSv1.2`.
    pub version: &'static str,
    /// The suite by its registered name, such as `TLS_AES_256_GCM_SHA384`.
    pub cipher: String,
}

impl fmt::Debug for Security {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.as_ref().map_or("off", |wanted| wanted.mode.name()))
    }
}

impl Security {
    /// Nothing is encrypted.
    pub fn off() -> Security {
        Security(None)
    }

    /// Reads the files that the user names, and makes ready what all connections share.
    ///
    /// # Errors
    /// [`WireError::Tls`]: a file that cannot be read or has nothing of use in it, a certificate
    /// without its key, a host whose name no certificate can have.
    pub fn of(tls: &Tls, dialect: Dialect, to: &Transport) -> Result<Security, WireError> {
        let mode = tls.mode_to(to);
        if mode == TlsMode::Off {
            return Ok(Security::off());
        }
        let host = match to {
            Transport::Tcp(host, _) => host.as_str(),
            // What MySQL's client takes for the name of the other end of a socket.
            Transport::Unix(_) => "localhost",
        };
        let about =
            trouble::About { to: to.to_string(), host: host.to_owned(), dialect, tls: tls.clone() };
        let named = ServerName::try_from(host.to_owned());
        let mut config = trust::config(tls, mode, TlsWords::of(dialect))
            .map_err(|text| WireError::Tls(about.not_ready(&text)))?;
        let name = match named {
            Ok(name) => name,
            Err(_) if mode == TlsMode::VerifyIdentity => {
                return Err(WireError::Tls(about.unnameable()));
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
        Ok(Security(Some(Arc::new(Wanted { mode, start, config, name, about }))))
    }

    /// Whether encryption is to be asked for.
    pub(crate) fn is_wanted(&self) -> bool {
        self.0.is_some()
    }

    /// Whether the connection begins with TLS.
    pub(crate) fn is_direct(&self) -> bool {
        self.0.as_ref().is_some_and(|wanted| wanted.start == TlsStart::Direct)
    }

    /// What follows where the server offers no encryption: nothing, or no connection.
    ///
    /// # Errors
    /// [`WireError::Tls`] where encryption is required.
    pub(crate) fn without(&self) -> Result<(), WireError> {
        match &self.0 {
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
    pub(crate) fn encrypt(&self, socket: OwnedFd) -> Result<Encrypted, WireError> {
        let wanted = self.0.as_ref().expect("only what is wanted is begun");
        let begun = ClientConnection::new(Arc::clone(&wanted.config), wanted.name.clone());
        let session =
            begun.map_err(|error| WireError::Tls(wanted.about.failed(&error, self.is_direct())))?;
        let mut encrypted = Encrypted { socket, session, wanted: Arc::clone(wanted) };
        encrypted.shake_hands().map_err(|error| wanted.during_handshake(error))?;
        if wanted.start == TlsStart::Direct && encrypted.session.alpn_protocol() != Some(POSTGRESQL)
        {
            return Err(WireError::Tls(wanted.about.not_direct()));
        }
        Ok(encrypted)
    }
}

impl Wanted {
    fn during_handshake(&self, error: io::Error) -> WireError {
        if let Some(failure) = failure_in(&error) {
            return WireError::Tls(failure);
        }
        WireError::Tls(self.about.broken(&error, self.start == TlsStart::Direct))
    }
}

/// A sentence about TLS that travels through code which knows of sockets alone.
#[derive(Debug)]
struct Failure(String);

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Failure {}

/// The sentence, if it was TLS that failed and not the socket.
pub(crate) fn failure_in(error: &io::Error) -> Option<String> {
    error.get_ref()?.downcast_ref::<Failure>().map(|failure| failure.0.clone())
}

/// A connected socket whose bytes are encrypted.
pub struct Encrypted {
    socket: OwnedFd,
    session: ClientConnection,
    wanted: Arc<Wanted>,
}

impl fmt::Debug for Encrypted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Encrypted").field("socket", &self.socket).finish_non_exhaustive()
    }
}

impl Encrypted {
    fn shake_hands(&mut self) -> io::Result<()> {
        while self.session.is_handshaking() {
            self.flush_records()?;
            if self.session.is_handshaking() {
                self.receive_records(RecvFlags::empty())?;
            }
        }
        self.flush_records()
    }

    /// Reads what has been decrypted; receives more only where that is nothing, so that a socket
    /// in which nothing is left has nothing left here either.
    pub(crate) fn read(&mut self, flags: RecvFlags, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.session.reader().read(buffer) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                // It closed the socket without saying goodbye in TLS, as many servers do. Their
                // own protocols tell where an answer ends.
                Err(error) if error.kind() == ErrorKind::UnexpectedEof => return Ok(0),
                other => return other,
            }
            self.receive_records(flags)?;
        }
    }

    pub(crate) fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        let taken = self.session.writer().write(buffer)?;
        self.flush_records()?;
        Ok(taken)
    }

    fn receive_records(&mut self, flags: RecvFlags) -> io::Result<()> {
        let mut socket = Socket { socket: self.socket.as_fd(), flags };
        let received = self.session.read_tls(&mut socket)?;
        if received == 0 && self.session.is_handshaking() {
            return Err(ErrorKind::UnexpectedEof.into());
        }
        let processed = self.session.process_new_packets();
        // Replies, and where it failed, the reason that the other side is owed.
        let replied = self.flush_records();
        match processed {
            Ok(_) => replied,
            Err(error) => Err(self.failed(&error)),
        }
    }

    #[cold]
    fn failed(&self, error: &Error) -> io::Error {
        let direct = self.wanted.start == TlsStart::Direct;
        io::Error::new(ErrorKind::InvalidData, Failure(self.wanted.about.failed(error, direct)))
    }

    fn flush_records(&mut self) -> io::Result<()> {
        while self.session.wants_write() {
            let mut socket = Socket { socket: self.socket.as_fd(), flags: RecvFlags::empty() };
            match self.session.write_tls(&mut socket) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                other => drop(other?),
            }
        }
        Ok(())
    }

    pub(crate) fn set_timeouts(
        &self,
        read: Option<Duration>,
        write: Option<Duration>,
    ) -> io::Result<()> {
        set_socket_timeout(&self.socket, Timeout::Recv, read)?;
        set_socket_timeout(&self.socket, Timeout::Send, write)?;
        Ok(())
    }

    /// What was agreed upon.
    pub(crate) fn encryption(&self) -> Encryption {
        let version = match self.session.protocol_version() {
            Some(ProtocolVersion::TLSv1_2) => "TLSv1.2",
            _ => "TLSv1.3",
        };
        let suite = self.session.negotiated_cipher_suite().map(|suite| suite.suite());
        let cipher = suite.and_then(|suite| suite.as_str()).unwrap_or("unknown");
        // rustls tells suites of 1.3 from those of 1.2 by a name of its own.
        Encryption { version, cipher: cipher.replace("TLS13_", "TLS_") }
    }
}

impl AsFd for Encrypted {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

/// The socket below, as rustls wants it.
struct Socket<'a> {
    socket: BorrowedFd<'a>,
    flags: RecvFlags,
}

impl Read for Socket<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let (read, _) = recv(self.socket, buffer, self.flags)?;
        Ok(read)
    }
}

impl Write for Socket<'_> {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        Ok(send(self.socket, buffer, SendFlags::NOSIGNAL)?)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
