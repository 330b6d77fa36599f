//! A socket, TCP or unix, or what is encrypted above one. It blocks, except where a reader asks
//! only for what is there.
//!
//! Bytes go in and out by system calls of our own: the C library's are points at which a thread may
//! be cancelled, and guarding them costs four locked instructions for each statement.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream, ToSocketAddrs};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use dbdyno_model::{Secret, Transport};
use rustix::net::{RecvFlags, SendFlags, recv, send};

use crate::error::WireError;
use crate::tls::{Encrypted, Encryption, Security, ServerSecurity};

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// Where a server listens and as whom to log in.
#[derive(Clone, Debug)]
pub struct Endpoint {
    /// Address.
    pub transport: Transport,
    /// Account.
    pub user: String,
    /// Password; empty if none is needed.
    pub password: Secret,
    /// Database to use; empty for none (MySQL) or the account's own (PostgreSQL).
    pub database: String,
    /// Whether it is reached encrypted.
    pub security: Security,
}

/// A connected socket.
#[derive(Debug)]
pub enum Stream {
    /// TCP, with Nagle's algorithm switched off.
    Tcp(TcpStream),
    /// A unix socket.
    Unix(UnixStream),
    /// Either, encrypted.
    Tls(Box<Encrypted>),
}

impl Stream {
    /// Connects within ten seconds, trying every address that the name has.
    ///
    /// # Errors
    /// [`WireError::Connect`].
    pub fn connect(transport: &Transport) -> Result<Stream, WireError> {
        let failed = |error| WireError::Connect(transport.to_string(), error);
        match transport {
            Transport::Unix(path) => UnixStream::connect(path).map(Stream::Unix).map_err(failed),
            Transport::Tcp(host, port) => {
                let addresses = (host.as_str(), *port).to_socket_addrs().map_err(failed)?;
                let mut last = io::Error::new(io::ErrorKind::NotFound, "the name has no address");
                for address in addresses {
                    match TcpStream::connect_timeout(&address, CONNECT_TIMEOUT) {
                        Ok(stream) => {
                            stream.set_nodelay(true).map_err(failed)?;
                            return Ok(Stream::Tcp(stream));
                        }
                        Err(error) => last = error,
                    }
                }
                Err(failed(last))
            }
        }
    }

    /// Goes on encrypted.
    ///
    /// # Errors
    /// [`WireError::Tls`].
    pub(crate) fn encrypt(self, security: &Security) -> Result<Stream, WireError> {
        let socket = match self {
            Stream::Tcp(stream) => OwnedFd::from(stream),
            Stream::Unix(stream) => OwnedFd::from(stream),
            Stream::Tls(_) => return Ok(self),
        };
        Ok(Stream::Tls(Box::new(security.encrypt(socket)?)))
    }

    /// Goes on encrypted, as a server whom a client has asked for it; `read` is what was read of
    /// the client's handshake together with its question.
    ///
    /// # Errors
    /// The operating system's, and a handshake that failed.
    pub(crate) fn serve_encrypted(
        &mut self,
        security: &ServerSecurity,
        read: &[u8],
    ) -> io::Result<()> {
        let socket = self.as_fd().try_clone_to_owned()?;
        *self = Stream::Tls(Box::new(security.encrypt(socket, read)?));
        Ok(())
    }

    /// How it is encrypted.
    pub(crate) fn encryption(&self) -> Option<Encryption> {
        match self {
            Stream::Tls(encrypted) => Some(encrypted.encryption()),
            Stream::Tcp(_) | Stream::Unix(_) => None,
        }
    }

    /// Who can read what is sent.
    pub(crate) fn privacy(&self) -> Privacy {
        match self {
            Stream::Tcp(_) => Privacy::Open,
            Stream::Unix(_) => Privacy::Local,
            Stream::Tls(_) => Privacy::Encrypted,
        }
    }

    /// Bounds every read and write; `None` waits for ever.
    ///
    /// # Errors
    /// The operating system's.
    pub(crate) fn set_timeout(&self, timeout: Option<Duration>) -> io::Result<()> {
        self.set_timeouts(timeout, timeout)
    }

    /// Bounds every read, and every write.
    ///
    /// # Errors
    /// The operating system's.
    pub(crate) fn set_timeouts(
        &self,
        read: Option<Duration>,
        write: Option<Duration>,
    ) -> io::Result<()> {
        match self {
            Stream::Tcp(stream) => {
                stream.set_read_timeout(read)?;
                stream.set_write_timeout(write)
            }
            Stream::Unix(stream) => {
                stream.set_read_timeout(read)?;
                stream.set_write_timeout(write)
            }
            Stream::Tls(encrypted) => encrypted.set_timeouts(read, write),
        }
    }

    /// Another handle on the same socket.
    ///
    /// # Errors
    /// The operating system's; `Unsupported` for one that is encrypted.
    pub fn duplicate(&self) -> io::Result<Stream> {
        Ok(match self {
            Stream::Tcp(stream) => Stream::Tcp(stream.try_clone()?),
            Stream::Unix(stream) => Stream::Unix(stream.try_clone()?),
            Stream::Tls(_) => return Err(io::ErrorKind::Unsupported.into()),
        })
    }

    /// Ends reading, writing or both, for all handles.
    ///
    /// # Errors
    /// The operating system's, as where the other side was first.
    pub fn shut(&self, how: Shutdown) -> io::Result<()> {
        match self {
            Stream::Tcp(stream) => stream.shutdown(how),
            Stream::Unix(stream) => stream.shutdown(how),
            Stream::Tls(encrypted) => encrypted.shut(how),
        }
    }

    /// Ends writing; the other side is told so, and knows that it has heard all.
    ///
    /// # Errors
    /// The operating system's.
    pub(crate) fn end_writing(&mut self) -> io::Result<()> {
        if let Stream::Tls(encrypted) = self {
            encrypted.say_goodbye()?;
        }
        self.shut(Shutdown::Write)
    }
}

/// Who can read what is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Privacy {
    /// Whoever is on the way.
    Open,
    /// Nobody outside of this host: it goes through no network device.
    Local,
    /// Nobody but the other end.
    Encrypted,
}

/// What a reader does when nothing is there yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Waiting {
    /// It waits.
    UntilThere,
    /// It returns with [`io::ErrorKind::WouldBlock`].
    Never,
}

impl Stream {
    /// Reads what is there, at least one byte unless the other side has closed.
    ///
    /// # Errors
    /// The operating system's.
    #[inline]
    pub(crate) fn read_as(&mut self, waiting: Waiting, buffer: &mut [u8]) -> io::Result<usize> {
        let flags = match waiting {
            Waiting::UntilThere => RecvFlags::empty(),
            Waiting::Never => RecvFlags::DONTWAIT,
        };
        if let Stream::Tls(encrypted) = self {
            return encrypted.read(flags, buffer);
        }
        let (read, _) = recv(self.as_fd(), buffer, flags)?;
        Ok(read)
    }
}

impl AsFd for Stream {
    #[inline]
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Stream::Tcp(stream) => stream.as_fd(),
            Stream::Unix(stream) => stream.as_fd(),
            Stream::Tls(encrypted) => encrypted.as_fd(),
        }
    }
}

impl Read for Stream {
    #[inline]
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.read_as(Waiting::UntilThere, buffer)
    }
}

impl Write for Stream {
    #[inline]
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        if let Stream::Tls(encrypted) = self {
            return encrypted.write(buffer);
        }
        Ok(send(self.as_fd(), buffer, SendFlags::NOSIGNAL)?)
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
