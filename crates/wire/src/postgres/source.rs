//! Where answers come from: waiting for one without being woken for nothing, or not waiting at all.
//!
//! ```text
//!   client   send ─┐ sleeps in recv … woken: nothing there, sleeps again … woken: the answer
//!   server         └▶ recv takes the request ──▲                      send ──▲
//! ```
//!
//! When the other end of a unix socket takes what was sent, Linux wakes whoever waits on the
//! socket, for there is room again; one who sleeps in `recv` wakes too. One who sleeps in `poll`
//! for something to read does not. With point queries of one client on PostgreSQL 15 and two cores
//! that was 1.0 context switch per statement instead of 1.7, and a tenth less of the client's
//! processor time although it is one system call more. TCP sockets wake by room only who has met a
//! full buffer; they are read at once.

use std::io::{self, Read};
use std::os::fd::AsFd;

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use crate::stream::{SocketStream, Waiting};

/// Reads from a socket that blocks and has no timeout.
pub(super) struct Source<'a> {
    pub(super) stream: &'a mut SocketStream,
    pub(super) waiting: Waiting,
}

impl Read for Source<'_> {
    #[inline]
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if let (SocketStream::Unix(socket), Waiting::UntilThere) = (&*self.stream, self.waiting) {
            let mut waited_for = [PollFd::new(socket.as_fd(), PollFlags::POLLIN)];
            while let Err(error) = poll(&mut waited_for, PollTimeout::NONE) {
                if error != Errno::EINTR {
                    return Err(error.into());
                }
            }
        }
        self.stream.read_as(self.waiting, into)
    }
}
