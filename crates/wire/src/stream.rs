//! A socket, TCP or unix, or what is encrypted above one. It blocks, except where a reader asks
//! only for what is there.
//!
//! Bytes go in and out by system calls of our own: the C library's are points at which a thread may
//! be cancelled, and guarding them costs four locked instructions for each statement.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream, ToSocketAddrs};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Weak};
use std::time::Duration;

use dbdyno_model::{Secret, Transport};
use rustix::io::Errno;
use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::net::{self, AddressFamily, RecvFlags, SendFlags, SocketAddrUnix, SocketFlags};
use rustix::net::{SocketType, recv, send, socket_with};

use crate::cutoff::is_all_cut;
use crate::error::WireError;
use crate::tls::{EncryptedStream, Encryption, Security, ServerSecurity};

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// Addresses of one name that are tried.
const ADDRESSES_MAX: usize = 16;

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
///
/// The handle is shared with what watches over it (`cutoff`) and nobody else.
#[derive(Debug)]
pub enum SocketStream {
    /// TCP, with Nagle's algorithm switched off.
    Tcp(Arc<OwnedFd>),
    /// A unix socket.
    Unix(Arc<OwnedFd>),
    /// Either, encrypted.
    Tls(Box<EncryptedStream>),
}

impl SocketStream {
    /// Connects within ten seconds, trying the addresses that the name has.
    ///
    /// # Errors
    /// [`WireError::Connect`]; [`WireError::Cut`] where this process is to stop.
    pub fn connect(transport: &Transport) -> Result<SocketStream, WireError> {
        if is_all_cut() {
            return Err(WireError::Cut);
        }
        let failed = |error| WireError::Connect(transport.to_string(), error);
        match transport {
            Transport::Unix(path) => connect_unix(path).map_err(failed),
            Transport::Tcp(host, port) => {
                let addresses = (host.as_str(), *port).to_socket_addrs().map_err(failed)?;
                let addresses: Vec<_> = addresses.take(ADDRESSES_MAX).collect();
                let each = CONNECT_TIMEOUT / addresses.len().max(1) as u32;
                let mut last = io::Error::new(io::ErrorKind::NotFound, "the name has no address");
                for address in addresses {
                    match TcpStream::connect_timeout(&address, each) {
                        Ok(stream) => {
                            stream.set_nodelay(true).map_err(failed)?;
                            return Ok(stream.into());
                        }
                        Err(error) => last = error,
                    }
                }
                Err(failed(last))
            }
        }
    }

    /// The socket, for who watches over it.
    pub(crate) fn weak_socket(&self) -> Weak<OwnedFd> {
        match self {
            SocketStream::Tcp(socket) | SocketStream::Unix(socket) => Arc::downgrade(socket),
            SocketStream::Tls(encrypted) => encrypted.weak_socket(),
        }
    }

    /// A look at it from another thread.
    pub fn socket_watch(&self) -> SocketWatch {
        SocketWatch(self.weak_socket())
    }

    /// Goes on encrypted.
    ///
    /// # Errors
    /// [`WireError::Tls`].
    pub(crate) fn encrypt(self, security: &Security) -> Result<SocketStream, WireError> {
        let socket = match self {
            SocketStream::Tcp(socket) | SocketStream::Unix(socket) => socket,
            SocketStream::Tls(_) => return Ok(self),
        };
        Ok(SocketStream::Tls(Box::new(security.encrypt(socket)?)))
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
        let (SocketStream::Tcp(socket) | SocketStream::Unix(socket)) = self else { return Ok(()) };
        *self = SocketStream::Tls(Box::new(security.encrypt(Arc::clone(socket), read)?));
        Ok(())
    }

    /// How it is encrypted.
    pub(crate) fn encryption(&self) -> Option<Encryption> {
        match self {
            SocketStream::Tls(encrypted) => Some(encrypted.encryption()),
            SocketStream::Tcp(_) | SocketStream::Unix(_) => None,
        }
    }

    /// Who can read what is sent.
    pub(crate) fn privacy(&self) -> Privacy {
        match self {
            SocketStream::Tcp(_) => Privacy::Open,
            SocketStream::Unix(_) => Privacy::Local,
            SocketStream::Tls(_) => Privacy::Encrypted,
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
        let socket = self.as_fd();
        set_socket_timeout(socket, Timeout::Recv, read)?;
        set_socket_timeout(socket, Timeout::Send, write)?;
        Ok(())
    }

    /// Another handle on the same socket.
    ///
    /// # Errors
    /// The operating system's; `Unsupported` for one that is encrypted.
    pub fn duplicate(&self) -> io::Result<SocketStream> {
        Ok(match self {
            SocketStream::Tcp(socket) => SocketStream::Tcp(Arc::new(socket.try_clone()?)),
            SocketStream::Unix(socket) => SocketStream::Unix(Arc::new(socket.try_clone()?)),
            SocketStream::Tls(_) => return Err(io::ErrorKind::Unsupported.into()),
        })
    }

    /// Ends reading, writing or both, for all handles.
    ///
    /// # Errors
    /// The operating system's, as where the other side was first.
    pub fn shut(&self, how: Shutdown) -> io::Result<()> {
        let how = match how {
            Shutdown::Read => net::Shutdown::Read,
            Shutdown::Write => net::Shutdown::Write,
            Shutdown::Both => net::Shutdown::Both,
        };
        Ok(net::shutdown(self.as_fd(), how)?)
    }

    /// Ends writing; the other side is told so, and knows that it has heard all.
    ///
    /// # Errors
    /// The operating system's.
    pub(crate) fn end_writing(&mut self) -> io::Result<()> {
        if let SocketStream::Tls(encrypted) = self {
            encrypted.say_goodbye()?;
        }
        self.shut(Shutdown::Write)
    }
}

impl From<TcpStream> for SocketStream {
    fn from(stream: TcpStream) -> SocketStream {
        SocketStream::Tcp(Arc::new(stream.into()))
    }
}

impl From<UnixStream> for SocketStream {
    fn from(stream: UnixStream) -> SocketStream {
        SocketStream::Unix(Arc::new(stream.into()))
    }
}

/// Connects to a unix socket. Where nobody accepts and the queue is full, the kernel would wait for
/// ever.
fn connect_unix(path: &str) -> io::Result<SocketStream> {
    let flags = SocketFlags::CLOEXEC;
    let socket = socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
    set_socket_timeout(&socket, Timeout::Send, Some(CONNECT_TIMEOUT))?;
    match net::connect(&socket, &SocketAddrUnix::new(path)?) {
        Err(Errno::AGAIN) => {
            let text = "its queue is full and it accepts nobody";
            return Err(io::Error::new(io::ErrorKind::TimedOut, text));
        }
        connected => connected?,
    }
    set_socket_timeout(&socket, Timeout::Send, None)?;
    Ok(SocketStream::Unix(Arc::new(socket)))
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

impl SocketStream {
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
        if let SocketStream::Tls(encrypted) = self {
            return encrypted.read(flags, buffer);
        }
        let (read, _) = recv(self.as_fd(), buffer, flags)?;
        Ok(read)
    }
}

/// A look at a socket from another thread; it is closed all the same when its stream is dropped.
#[derive(Clone, Debug)]
pub struct SocketWatch(Weak<OwnedFd>);

impl SocketWatch {
    /// Whether the other side has closed it, and said nothing before that.
    pub fn is_hung_up(&self) -> bool {
        let Some(socket) = self.0.upgrade() else { return true };
        let flags = RecvFlags::PEEK | RecvFlags::DONTWAIT;
        match recv(&*socket, &mut [0; 1], flags) {
            Ok((read, _)) => read == 0,
            Err(error) => error != Errno::AGAIN && error != Errno::INTR,
        }
    }

    /// Ends reading: whoever waits for the other side waits no more.
    pub fn end_reading(&self) {
        if let Some(socket) = self.0.upgrade() {
            // It fails only where the other side was first.
            let _ = net::shutdown(&*socket, net::Shutdown::Read);
        }
    }
}

impl AsFd for SocketStream {
    #[inline]
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            SocketStream::Tcp(socket) | SocketStream::Unix(socket) => socket.as_fd(),
            SocketStream::Tls(encrypted) => encrypted.as_fd(),
        }
    }
}

impl Read for SocketStream {
    #[inline]
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.read_as(Waiting::UntilThere, buffer)
    }
}

impl Write for SocketStream {
    #[inline]
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        if let SocketStream::Tls(encrypted) = self {
            return encrypted.write(buffer);
        }
        Ok(send(self.as_fd(), buffer, SendFlags::NOSIGNAL)?)
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
