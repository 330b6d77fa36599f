//! A server that talks and does not listen.

use std::io::Write as _;
use std::net::{Shutdown, TcpStream};

/// Sends everything and nothing more, and takes whatever comes.
pub(crate) fn blast(peer: &mut TcpStream, bytes: &[u8]) {
    // The client may have left already.
    let _ = peer.write_all(bytes);
    let _ = peer.shutdown(Shutdown::Write);
    let _ = std::io::copy(peer, &mut std::io::sink());
}
