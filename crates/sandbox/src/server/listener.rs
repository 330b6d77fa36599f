//! Who listens on a port.
//!
//! ```text
//!   /proc/net/tcp   0100007F:PORT … 0A … inode 4711        (0A: it listens)
//!   /proc/PID/fd    7 ─▶ socket:[4711]                      ours, or somebody else's?
//! ```
//!
//! A free port that is looked up may be another's when the server wants it, and so may the port
//! that a server had before it was stopped. Who has it then could pose as our server; so a port
//! counts only once the socket that listens there is seen in our own process.

use std::fs;
use std::io;

/// The state of a socket that listens (`TCP_LISTEN` of the kernel).
const LISTENS: &str = "0A";
/// 127.0.0.1 as the kernel writes it: four bytes, the last one first on this kind of processor.
const LOOPBACK: [u8; 4] = [127, 0, 0, 1];

/// Whether the socket that listens on this port of 127.0.0.1 is one of process `pid`. A wildcard
/// address does not count: ours listen on that one, which connections then go to.
///
/// # Errors
/// What the kernel says where it does not let us look.
pub(crate) fn is_of(pid: u32, port: u16) -> io::Result<bool> {
    let Some(inode) = listening_inode(&fs::read_to_string("/proc/net/tcp")?, port) else {
        return Ok(false);
    };
    let socket = format!("socket:[{inode}]");
    let files = fs::read_dir(format!("/proc/{pid}/fd"))?.flatten();
    Ok(files
        .filter_map(|file| fs::read_link(file.path()).ok())
        .any(|to| to.as_os_str() == &*socket))
}

/// The inode of what listens there, out of a table with the columns `sl`, `local_address`,
/// `rem_address`, `st` and, as the tenth, `inode`.
fn listening_inode(table: &str, port: u16) -> Option<u64> {
    let address = format!("{:08X}:{port:04X}", u32::from_ne_bytes(LOOPBACK));
    table.lines().find_map(|line| {
        let mut words = line.split_whitespace().skip(1);
        let is_there = words.next() == Some(&address) && words.nth(1) == Some(LISTENS);
        is_there.then(|| words.nth(5)?.parse().ok())?
    })
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;
    use crate::child;

    #[test]
    fn a_port_is_that_of_the_process_which_listens_on_it_and_of_no_other() {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        assert!(is_of(std::process::id(), port).unwrap());
        let mut stranger = child::tool("sleep").arg("600").spawn().unwrap();
        assert!(!is_of(stranger.id(), port).unwrap(), "a child that has nothing of it");
        stranger.kill().unwrap();
        stranger.wait().unwrap();
        // A connection to it has the same port, and does not listen.
        let _client = std::net::TcpStream::connect(("127.0.0.1", port)).unwrap();
        assert!(is_of(std::process::id(), port).unwrap());
        drop(listener);
        assert!(!is_of(std::process::id(), port).unwrap(), "nobody listens any more");
    }

    #[test]
    fn only_what_listens_on_our_address_is_read_from_the_table() {
        let line = |local: &str, state: &str, inode: u32| {
            format!(
                "   0: {local} 00000000:0000 {state} 00000000:00000000 00:00000000 00000000 65534 \
                 0 {inode} 1 0000000000000000 100 0 0 10 0\n"
            )
        };
        let ours = format!("{:08X}", u32::from_ne_bytes(LOOPBACK));
        let table = [
            "  sl  local_address rem_address   st tx_queue rx_queue …\n".to_owned(),
            line("00000000:0CEA", "0A", 1),
            line(&format!("{ours}:0CEA"), "01", 2),
            line(&format!("{ours}:0CEB"), "0A", 3),
            line(&format!("{ours}:0CEA"), "0A", 4),
        ];
        assert_eq!(listening_inode(&table.concat(), 3306), Some(4));
        assert_eq!(listening_inode(&table[..4].concat(), 3306), None);
        assert_eq!(listening_inode("", 3306), None);
    }
}
