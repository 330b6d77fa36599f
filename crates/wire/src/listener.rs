//! Where clients connect to: a port or a unix socket.

use std::io::{self, ErrorKind};
use std::net::{Shutdown, TcpListener, TcpStream, ToSocketAddrs};
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileTypeExt as _;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;

use dbdyno_model::Transport;
use rustix::io::Errno;
use rustix::net::{self, AddressFamily, SocketAddrUnix, SocketFlags, SocketType};

use crate::stream::SocketStream;

/// A port or a unix socket on which connections are accepted.
#[derive(Debug)]
pub struct Listener {
    socket: Socket,
    transport: Transport,
}

#[derive(Debug)]
enum Socket {
    Tcp(TcpListener),
    Unix(UnixListener),
}

impl Listener {
    /// Listens on an address; port 0 is one that is free.
    ///
    /// # Errors
    /// The operating system's, as where another listens there.
    pub fn bind_tcp(address: impl ToSocketAddrs) -> io::Result<Listener> {
        let listener = TcpListener::bind(address)?;
        let address = listener.local_addr()?;
        let transport = Transport::Tcp(address.ip().to_string(), address.port());
        Ok(Listener { socket: Socket::Tcp(listener), transport })
    }

    /// Listens on a unix socket. The file is left to the owner of its directory; one that was left
    /// behind, on which nobody listens any more, makes room.
    ///
    /// # Errors
    /// The operating system's, when the path cannot be bound or is taken.
    pub fn bind_unix(path: &Path) -> io::Result<Listener> {
        let listener = match UnixListener::bind(path) {
            Err(error) if error.kind() == ErrorKind::AddrInUse && is_left_behind(path) => {
                std::fs::remove_file(path)?;
                UnixListener::bind(path)?
            }
            bound => bound?,
        };
        let transport = Transport::Unix(path.to_string_lossy().into_owned());
        Ok(Listener { socket: Socket::Unix(listener), transport })
    }

    /// Where it listens.
    pub fn transport(&self) -> &Transport {
        &self.transport
    }

    /// Another handle on the same socket.
    ///
    /// # Errors
    /// The operating system's.
    pub fn duplicate(&self) -> io::Result<Listener> {
        let socket = match &self.socket {
            Socket::Tcp(listener) => Socket::Tcp(listener.try_clone()?),
            Socket::Unix(listener) => Socket::Unix(listener.try_clone()?),
        };
        Ok(Listener { socket, transport: self.transport.clone() })
    }

    /// Waits for the next connection.
    ///
    /// # Errors
    /// The operating system's; after [`Listener::shut`] always.
    pub fn accept(&self) -> io::Result<SocketStream> {
        match &self.socket {
            Socket::Tcp(listener) => {
                let (stream, _) = listener.accept()?;
                stream.set_nodelay(true)?;
                Ok(stream.into())
            }
            Socket::Unix(listener) => Ok(listener.accept()?.0.into()),
        }
    }

    /// Wakes whoever waits in [`Listener::accept`], for good. The standard library shuts down
    /// streams only, but to the kernel a listener is a socket like another.
    pub fn shut(&self) {
        let _ = self.duplicate().and_then(|listener| match listener.socket {
            Socket::Tcp(tcp) => TcpStream::from(OwnedFd::from(tcp)).shutdown(Shutdown::Both),
            Socket::Unix(unix) => UnixStream::from(OwnedFd::from(unix)).shutdown(Shutdown::Both),
        });
    }
}

/// Whether a file is a socket that nobody listens on.
fn is_left_behind(path: &Path) -> bool {
    let is_socket = std::fs::symlink_metadata(path).is_ok_and(|file| file.file_type().is_socket());
    is_socket && is_refused(path).unwrap_or(false)
}

/// Whether nobody listens there. Who listens and lets nobody in is not waited for.
fn is_refused(path: &Path) -> Result<bool, Errno> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket = net::socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
    let answer = net::connect(&socket, &SocketAddrUnix::new(path)?);
    Ok(answer == Err(Errno::CONNREFUSED))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A server that was killed left its socket, and could not be started again.
    #[test]
    fn a_socket_that_was_left_behind_makes_room() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("s");
        drop(Listener::bind_unix(&path).unwrap());
        let listener = Listener::bind_unix(&path).unwrap();
        let taken = |path: &Path| Listener::bind_unix(path).unwrap_err().kind();
        assert_eq!(taken(&path), ErrorKind::AddrInUse, "somebody listens");
        drop(listener);
        let file = directory.path().join("f");
        std::fs::write(&file, "kept").unwrap();
        assert_eq!(taken(&file), ErrorKind::AddrInUse);
        assert_eq!(std::fs::read(&file).unwrap(), b"kept");
    }
}
