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

use std::collections::HashSet;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::Path;

use dbdyno_host::{Host, HostError, kernel};

/// The state of a socket that listens (`TCP_LISTEN` of the kernel).
const LISTENS: &str = "0A";
/// 127.0.0.1.
const LOOPBACK: [u8; 4] = [127, 0, 0, 1];

/// Whether the socket that listens on this port of 127.0.0.1 is one of process `pid`. A wildcard
/// address does not count: ours listen on that one, which connections then go to.
///
/// # Errors
/// What the kernel says where it does not let us look.
pub(crate) fn is_of(host: &dyn Host, pid: u32, port: u16) -> Result<bool, HostError> {
    let table = host.kernel_file(&kernel::proc_path("net/tcp"))?;
    let Some(inode) = listening_inode(&String::from_utf8_lossy(&table), port) else {
        return Ok(false);
    };
    Ok(sockets_of(host, pid)?.contains(&inode))
}

/// An address on which process `pid` listens and which is not one of this machine alone, as far as
/// the kernel lets us look.
pub(crate) fn beyond_loopback(host: &dyn Host, pid: u32) -> Option<SocketAddr> {
    let tables = ["net/tcp", "net/tcp6"]
        .map(|table| host.kernel_text(&kernel::proc_path(table)).unwrap_or_default());
    let open = |table: &String| listening(table).filter(|(address, _)| !is_own(address)).collect();
    let open: Vec<(SocketAddr, u64)> =
        tables.iter().flat_map(|table| -> Vec<_> { open(table) }).collect();
    // Most of the time nobody has such a socket, or some have, who are not ours.
    let ours =
        if open.is_empty() { HashSet::new() } else { sockets_of(host, pid).unwrap_or_default() };
    open.into_iter().find(|(_, inode)| ours.contains(inode)).map(|(address, _)| address)
}

/// The account that made the connection from `peer` to `own`, as far as the kernel shows it. Of a
/// process that is gone the kernel says root.
pub(crate) fn account_of(host: &dyn Host, peer: SocketAddr, own: SocketAddr) -> Option<u32> {
    // A socket of IPv6 may have an address of IPv4.
    let tables = ["net/tcp", "net/tcp6"];
    tables.iter().find_map(|table| {
        let table = host.kernel_text(&kernel::proc_path(table))?;
        table.lines().find_map(|line| account_in_line(line, [peer, own]))
    })
}

fn account_in_line(line: &str, ends: [SocketAddr; 2]) -> Option<u32> {
    let mut words = line.split_whitespace().skip(1);
    for end in ends {
        let address = socket_address(words.next()?)?;
        if (address.ip().to_canonical(), address.port()) != (end.ip(), end.port()) {
            return None;
        }
    }
    words.nth(4)?.parse().ok()
}

fn is_own(address: &SocketAddr) -> bool {
    address.ip().to_canonical().is_loopback()
}

/// The inodes of a process' sockets.
fn sockets_of(host: &dyn Host, pid: u32) -> Result<HashSet<u64>, HostError> {
    let files = kernel::process_path(pid, "fd");
    let numbers = host.numeric_names(&files)?.into_iter();
    let links = numbers.filter_map(|number| host.link_target(&files.join(number.to_string())).ok());
    Ok(links.filter_map(|to| socket_inode(&to)).collect())
}

fn socket_inode(link: &Path) -> Option<u64> {
    link.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?.parse().ok()
}

/// The inode of what listens on this port of 127.0.0.1.
fn listening_inode(table: &str, port: u16) -> Option<u64> {
    let ours = SocketAddr::from((LOOPBACK, port));
    listening(table).find(|(address, _)| *address == ours).map(|(_, inode)| inode)
}

/// What listens, and its inode, out of a table of IPv4 or IPv6 with the columns `sl`,
/// `local_address`, `rem_address`, `st` and, as the tenth, `inode`.
fn listening(table: &str) -> impl Iterator<Item = (SocketAddr, u64)> {
    table.lines().filter_map(|line| {
        let mut words = line.split_whitespace().skip(1);
        let address = socket_address(words.next()?);
        if words.nth(1)? != LISTENS {
            return None;
        }
        Some((address?, words.nth(5)?.parse().ok()?))
    })
}

/// An address and a port, `0100007F:0CEA`.
fn socket_address(word: &str) -> Option<SocketAddr> {
    let (ip, port) = word.split_once(':')?;
    Some(SocketAddr::new(address(ip)?, u16::from_str_radix(port, 16).ok()?))
}

/// An address as the kernel writes it: in words of four bytes, each as this processor has numbers.
fn address(digits: &str) -> Option<IpAddr> {
    let word = |at: usize| u32::from_str_radix(digits.get(at..at + 8)?, 16).ok();
    match digits.len() {
        8 => Some(Ipv4Addr::from(word(0)?.to_ne_bytes()).into()),
        32 => {
            let mut bytes = [0; 16];
            for (number, part) in bytes.chunks_exact_mut(4).enumerate() {
                part.copy_from_slice(&word(number * 8)?.to_ne_bytes());
            }
            Some(Ipv6Addr::from(bytes).into())
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use dbdyno_host::{Local, ScriptedHost};

    use super::*;

    /// What this kernel writes of sockets is what we read of it.
    #[test]
    fn a_port_of_this_machine_is_that_of_the_process_which_listens_on_it() {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let own = std::process::id();
        assert!(is_of(&Local, own, port).unwrap());
        // A connection to it has the same port, and does not listen.
        let _client = std::net::TcpStream::connect(("127.0.0.1", port)).unwrap();
        assert!(is_of(&Local, own, port).unwrap());
        drop(listener);
        assert!(!is_of(&Local, own, port).unwrap(), "nobody listens any more");
    }

    #[test]
    fn a_connection_is_that_of_the_account_that_made_it() {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let client = std::net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (peer, own) = (client.local_addr().unwrap(), listener.local_addr().unwrap());
        let us = Some(nix::unistd::geteuid().as_raw());
        assert_eq!(account_of(&Local, peer, own), us);
        assert_eq!(account_of(&Local, own, own), None);
        let mapped = SocketAddr::new(Ipv4Addr::LOCALHOST.to_ipv6_mapped().into(), own.port());
        let client = std::net::TcpStream::connect(mapped).unwrap();
        let IpAddr::V6(ip) = client.local_addr().unwrap().ip() else { panic!("IPv6") };
        let peer = SocketAddr::new(ip.to_canonical(), client.local_addr().unwrap().port());
        assert_eq!(account_of(&Local, peer, own), us, "a socket of IPv6");
        assert_eq!(account_in_line("0: 0:0 1 2 3 4 5", [peer, own]), None);
    }

    /// A line of a table, and the process that has the socket; addresses are words of this
    /// machine's byte order.
    fn socket(table: &str, ip: &str, port: u16, [inode, pid]: [u32; 2]) -> String {
        let bytes = match ip.parse().unwrap() {
            IpAddr::V4(ip) => ip.octets().to_vec(),
            IpAddr::V6(ip) => ip.octets().to_vec(),
        };
        let (words, _) = bytes.as_chunks::<4>();
        let ip: String =
            words.iter().map(|word| format!("{:08X}", u32::from_ne_bytes(*word))).collect();
        format!(
            "@ /proc/net/{table}\n  sl  local_address rem_address …\n   0: {ip}:{port:04X} 0:0 0A \
             0:0 0:0 0 65534 0 {inode} 1\n@ /proc/{pid}/fd/9 -> socket:[{inode}]\n"
        )
    }

    #[test]
    fn what_listens_where_others_can_reach_it_is_found_if_it_is_the_servers() {
        const SERVER: u32 = 70;
        for (table, ip, pid, found) in [
            ("tcp", "127.0.0.1", SERVER, None),
            ("tcp", "0.0.0.0", SERVER, Some("0.0.0.0:3306")),
            ("tcp", "10.1.2.3", SERVER, Some("10.1.2.3:3306")),
            ("tcp", "0.0.0.0", 71, None),
            ("tcp6", "::1", SERVER, None),
            ("tcp6", "::", SERVER, Some("[::]:3306")),
            ("tcp6", "::ffff:127.0.0.1", SERVER, None),
            ("tcp6", "2001:db8::1", SERVER, Some("[2001:db8::1]:3306")),
        ] {
            let host = ScriptedHost::new(&socket(table, ip, 3306, [4711, pid]));
            let found = found.map(|address| address.parse().unwrap());
            assert_eq!(beyond_loopback(&host, SERVER), found, "{ip} of {pid}");
            let is_port = (table, ip, pid) == ("tcp", "127.0.0.1", SERVER);
            let known = is_of(&host, SERVER, 3306);
            assert_eq!(known.unwrap_or(false), is_port, "{ip} of {pid}");
        }
        // A port is nobody's where we may not look, and the reason says where.
        let host = ScriptedHost::new(&socket("tcp", "127.0.0.1", 3306, [4711, 71]));
        host.add_places("@ /proc/70/fd !");
        let error = is_of(&host, SERVER, 3306).unwrap_err().to_string();
        assert!(error.starts_with("/proc/70/fd cannot be listed"), "{error}");
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
