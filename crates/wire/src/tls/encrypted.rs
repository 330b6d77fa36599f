//! A connected socket whose bytes are encrypted, at either end.

use std::fmt;
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::{Arc, Weak};

use rustix::net::{RecvFlags, SendFlags, recv, send};
use rustls::{Connection, Error, ProtocolVersion};

use super::TlsRequest;

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

/// What was agreed upon.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Encryption {
    /// `TLSv1.3` or `TLSv1.2`.
    pub version: &'static str,
    /// The suite by its registered name, such as `TLS_AES_256_GCM_SHA384`.
    pub cipher: String,
}

/// A connected socket whose bytes are encrypted.
pub struct EncryptedStream {
    socket: Arc<OwnedFd>,
    session: Connection,
    /// What a client wanted, which explains its failures; nothing for a server.
    wanted: Option<Arc<TlsRequest>>,
}

impl fmt::Debug for EncryptedStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Encrypted").field("socket", &self.socket).finish_non_exhaustive()
    }
}

impl EncryptedStream {
    /// Shakes hands over a connected socket, from which these bytes were read already.
    ///
    /// # Errors
    /// The operating system's, or a sentence of [`failure_in`].
    pub(super) fn shake_hands(
        socket: Arc<OwnedFd>,
        session: Connection,
        wanted: Option<Arc<TlsRequest>>,
        read: &[u8],
    ) -> io::Result<EncryptedStream> {
        let mut encrypted = EncryptedStream { socket, session, wanted };
        encrypted.process(read)?;
        encrypted.finish_handshake()?;
        Ok(encrypted)
    }

    /// Takes records that were read by somebody else.
    fn process(&mut self, mut read: &[u8]) -> io::Result<()> {
        while !read.is_empty() {
            self.session.read_tls(&mut read)?;
            self.process_records()?;
        }
        Ok(())
    }

    fn finish_handshake(&mut self) -> io::Result<()> {
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
        self.process_records()
    }

    fn process_records(&mut self) -> io::Result<()> {
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
        let text = match &self.wanted {
            Some(wanted) => wanted.failed(error),
            None => format!("TLS failed: {error}"),
        };
        io::Error::new(ErrorKind::InvalidData, Failure(text))
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

    /// Tells the other side that nothing more is written.
    pub(crate) fn say_goodbye(&mut self) -> io::Result<()> {
        self.session.send_close_notify();
        self.flush_records()
    }

    /// The socket below, for who watches over it.
    pub(crate) fn weak_socket(&self) -> Weak<OwnedFd> {
        Arc::downgrade(&self.socket)
    }

    /// The application's protocol, where one was agreed upon.
    pub(super) fn agreed_protocol(&self) -> Option<&[u8]> {
        self.session.alpn_protocol()
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

impl AsFd for EncryptedStream {
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
