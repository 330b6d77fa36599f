//! Which process serves an address of this host.
//!
//! ```text
//!   127.0.0.1:5432 ─▶ /proc/net/tcp, tcp6 ┐
//!   /run/….s.PGSQL.5432 ─▶ /proc/net/unix ┴▶ number of the listening socket
//!                     ─▶ /proc/*/fd ─▶ processes that hold it ─▶ the topmost of them
//! ```
//!
//! To find *a* process is easy; to find one that is not the server would be a flattering number.
//! So systemd, which keeps the sockets of services that it starts on demand, is passed over;
//! programs that hand the traffic on are refused; and so are two unrelated holders of one address.

use std::io::ErrorKind;
use std::net::{IpAddr, ToSocketAddrs};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use dbdyno_host::{Host, kernel};
use dbdyno_model::Transport;

use crate::error::NotObservable;
use crate::parse::{self, Stat, TcpListener};
use crate::processes::{all_processes, read_stat};

/// Programs that hand traffic on, by the first 15 bytes of their names, which is all that Linux
/// keeps.
const FORWARDERS: [&str; 14] = [
    "docker-proxy",
    "rootlessport",
    "slirp4netns",
    "pasta",
    "kubectl",
    "ssh",
    "sshd",
    "socat",
    "haproxy",
    "envoy",
    "pgbouncer",
    "proxysql",
    "maxscale",
    "mysqlrouter",
];

/// The process that serves `transport`, the topmost one that holds the listening socket.
pub(crate) fn find_listener(host: &dyn Host, transport: &Transport) -> Result<u32, NotObservable> {
    let address = transport.to_string();
    let inodes = match transport {
        Transport::Tcp(name, port) => tcp_inodes(host, name, *port)?,
        Transport::Unix(path) => unix_inodes(host, Path::new(path))?,
    };
    if inodes.is_empty() {
        return Err(NotObservable::NobodyListens(address));
    }
    let all = all_processes(host)?;
    let (holders, hidden) = holders(host, &inodes, &all);
    let tops = topmost(&holders, &all);
    match tops.as_slice() {
        [] if hidden => Err(NotObservable::NoPermission(address)),
        [] => Err(NotObservable::NobodyListens(address)),
        &[pid] if host.own_pid() == Some(pid) => Err(NotObservable::Ourselves(address)),
        &[pid] => refuse_forwarder(host, pid, address),
        _ => Err(NotObservable::Ambiguous(address, tops)),
    }
}

fn refuse_forwarder(host: &dyn Host, pid: u32, address: String) -> Result<u32, NotObservable> {
    let stat = read_stat(host, pid).ok_or(NotObservable::ServerDied(pid))?;
    let name = String::from_utf8_lossy(&stat.comm).into_owned();
    if FORWARDERS.contains(&name.as_str()) {
        return Err(NotObservable::Forwarder(address, name));
    }
    Ok(pid)
}

/// Goes through the addresses of a name in the order in which a client tries them: the first one on
/// which somebody listens is the one that it reaches.
fn tcp_inodes(host: &dyn Host, name: &str, port: u16) -> Result<Vec<u64>, NotObservable> {
    let addresses = (name, port)
        .to_socket_addrs()
        .map_err(|error| NotObservable::UnknownHost(name.to_owned(), error.to_string()))?;
    let mut listeners = parse::tcp_listeners(&host.kernel_file(&kernel::proc_path("net/tcp"))?);
    // A kernel without IPv6 has no such file.
    if let Ok(text) = host.kernel_file(&kernel::proc_path("net/tcp6")) {
        listeners.extend(parse::tcp_listeners(&text));
    }
    for address in addresses {
        let ip = address.ip().to_canonical();
        if !is_local(host, ip)? {
            return Err(NotObservable::OtherHost(address.to_string()));
        }
        let found = listening_on(ip, port, &listeners);
        if !found.is_empty() {
            return Ok(found);
        }
    }
    Ok(Vec::new())
}

/// Sockets that a connection to `ip` reaches: one bound to that address goes before one bound to
/// all. `::` takes IPv4 as well unless it was told not to, which `/proc` does not say: it comes
/// last.
fn listening_on(ip: IpAddr, port: u16, listeners: &[TcpListener]) -> Vec<u64> {
    let on_port = || listeners.iter().filter(|one| one.port == port);
    let same_family = |one: &TcpListener| one.address.is_ipv4() == ip.is_ipv4();
    let ranks: [&dyn Fn(&TcpListener) -> bool; 3] = [
        &|one| one.address.to_canonical() == ip,
        &|one| one.address.is_unspecified() && same_family(one),
        &|one| one.address.is_unspecified() && one.address.is_ipv6(),
    ];
    ranks
        .into_iter()
        .map(|rank| on_port().filter(|one| rank(one)).map(|one| one.inode))
        .map(Iterator::collect::<Vec<u64>>)
        .find(|inodes| !inodes.is_empty())
        .unwrap_or_default()
}

fn is_local(host: &dyn Host, ip: IpAddr) -> Result<bool, NotObservable> {
    Ok(ip.is_loopback() || ip.is_unspecified() || host.interface_addresses()?.contains(&ip))
}

/// Compares paths with links resolved, for `/var/run` is `/run` on most systems.
fn unix_inodes(host: &dyn Host, path: &Path) -> Result<Vec<u64>, NotObservable> {
    let resolved = |path: &Path| host.without_links(path).unwrap_or_else(|_| path.to_owned());
    let wanted = resolved(path);
    let listeners = parse::unix_listeners(&host.kernel_file(&kernel::proc_path("net/unix"))?);
    let same = |bytes: &[u8]| {
        let bound = PathBuf::from(std::ffi::OsString::from_vec(bytes.to_vec()));
        bound == path || resolved(&bound) == wanted
    };
    Ok(listeners.into_iter().filter(|(bound, _)| same(bound)).map(|(_, inode)| inode).collect())
}

/// Processes that hold one of the sockets, and whether there are processes that we may not look
/// into.
fn holders(host: &dyn Host, inodes: &[u64], all: &[Stat]) -> (Vec<u32>, bool) {
    let mut hidden = false;
    let mut found = Vec::new();
    for stat in all {
        if stat.comm == b"systemd" {
            continue;
        }
        let files = kernel::process_path(stat.pid, "fd");
        let links = match host.names(&files) {
            Ok(links) => links,
            Err(error) => {
                hidden |= error.kind() == ErrorKind::PermissionDenied;
                continue;
            }
        };
        let holds = links.iter().any(|number| {
            host.link_target(&files.join(number))
                .ok()
                .and_then(|link| parse::socket_inode(link.as_os_str().as_bytes()))
                .is_some_and(|inode| inodes.contains(&inode))
        });
        if holds {
            found.push(stat.pid);
        }
    }
    (found, hidden)
}

/// Those of `holders` that have no other holder above them.
fn topmost(holders: &[u32], all: &[Stat]) -> Vec<u32> {
    let parent = |pid: u32| all.iter().find(|stat| stat.pid == pid).map(|stat| stat.ppid);
    let below_another = |pid: u32| {
        let mut above = parent(pid);
        // No chain of parents is longer than the list of processes.
        for _ in 0..all.len() {
            match above {
                Some(ancestor) if holders.contains(&ancestor) => return true,
                Some(ancestor) => above = parent(ancestor),
                None => return false,
            }
        }
        false
    };
    let mut tops: Vec<u32> = holders.to_vec();
    tops.retain(|&pid| !below_another(pid));
    tops
}

#[cfg(test)]
mod tests {
    use dbdyno_host::{Local, ScriptedHost};

    use super::*;

    fn on(address: &str, inode: u64) -> TcpListener {
        TcpListener { address: address.parse().unwrap(), port: 3306, inode }
    }

    #[test]
    fn the_nearest_binding_is_the_one_that_is_reached() {
        let all = [on("0.0.0.0", 1), on("127.0.0.2", 2), on("::", 3)];
        let reach = |ip: &str| listening_on(ip.parse().unwrap(), 3306, &all);
        assert_eq!(reach("127.0.0.2"), [2]);
        assert_eq!(reach("127.0.0.1"), [1]);
        assert_eq!(reach("::1"), [3]);
        let dual = [on("::", 3), on("::ffff:127.0.0.9", 4)];
        let reach = |ip: &str| listening_on(ip.parse().unwrap(), 3306, &dual);
        assert_eq!(reach("127.0.0.1"), [3]);
        assert_eq!(reach("127.0.0.9"), [4]);
        assert_eq!(listening_on([127, 0, 0, 1].into(), 3307, &dual), [0u64; 0]);
        let v6_only = [on("::1", 5)];
        assert!(listening_on([127, 0, 0, 1].into(), 3306, &v6_only).is_empty());
    }

    #[test]
    fn addresses_of_others_are_not_local() {
        let host = ScriptedHost::default().with_addresses(&[[203, 0, 113, 7].into()]);
        for (last, is_own) in [(7, true), (8, false)] {
            assert_eq!(is_local(&host, [203, 0, 113, last].into()), Ok(is_own), "{last}");
        }
        assert!(is_local(&host, [127, 0, 0, 53].into()).unwrap());
        // TEST-NET-3 (RFC 5737) belongs to nobody.
        assert!(!is_local(&Local, [203, 0, 113, 7].into()).unwrap());
    }
}
