//! Pure parsers of what `/proc` says. Sources: proc(5) and the kernel's
//! `Documentation/filesystems/proc.rst`. They take bytes, for a process may call itself anything,
//! and give `None` (or leave a line out) for what they do not understand; none of them panics.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The fields of `/proc/PID/stat` that are used here. Times are in ticks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stat {
    /// Process id.
    pub pid: u32,
    /// The first 15 bytes of the program's name; may hold spaces, parentheses and worse.
    pub comm: Vec<u8>,
    /// `R`, `S`, `D`, `Z` (ended, not yet waited for), `X`, …
    pub state: u8,
    /// The parent's process id.
    pub ppid: u32,
    /// Time in user mode, of all threads, also those that ended.
    pub user_ticks: u64,
    /// The same in the kernel.
    pub kernel_ticks: u64,
    /// Time in user mode of children that ended and were waited for, and of theirs.
    pub reaped_user_ticks: u64,
    /// The same in the kernel.
    pub reaped_kernel_ticks: u64,
    /// When the process began, since boot: with `pid`, its identity.
    pub started_ticks: u64,
}

/// Parses `/proc/PID/stat`. The name ends at the *last* parenthesis: it may hold others itself.
pub fn process_stat(text: &[u8]) -> Option<Stat> {
    let open = text.iter().position(|&byte| byte == b'(')?;
    let close = text.iter().rposition(|&byte| byte == b')')?;
    let pid = number(text.get(..open)?)?;
    let comm = text.get(open + 1..close)?.to_vec();
    let fields: Vec<&[u8]> = words(&text[close + 1..]).take(20).collect();
    // Field 3 of proc(5), the state, is at index 0. The kernel prints children's times as signed.
    let field = |index: usize| fields.get(index - 3).copied();
    let ticks = |index| field(index).and_then(number::<i64>).map(|n| n.max(0) as u64);
    Some(Stat {
        pid,
        comm,
        state: *field(3)?.first()?,
        ppid: number(field(4)?)?,
        user_ticks: ticks(14)?,
        kernel_ticks: ticks(15)?,
        reaped_user_ticks: ticks(16)?,
        reaped_kernel_ticks: ticks(17)?,
        started_ticks: number(field(22)?)?,
    })
}

/// Context switches of a thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Switches {
    /// Times that it gave its processor away, because it had to wait.
    pub voluntary: u64,
    /// Times that its processor was taken from it.
    pub involuntary: u64,
}

/// Parses `/proc/PID/task/TID/status`.
pub(crate) fn thread_switches(status: &[u8]) -> Option<Switches> {
    let voluntary = number(value_of_key(status, b"voluntary_ctxt_switches:")?)?;
    let involuntary = number(value_of_key(status, b"nonvoluntary_ctxt_switches:")?)?;
    Some(Switches { voluntary, involuntary })
}

/// Those of both kinds together, from the same file.
pub fn context_switches(status: &[u8]) -> Option<u64> {
    let Switches { voluntary, involuntary } = thread_switches(status)?;
    voluntary.checked_add(involuntary)
}

/// Storage traffic of a process, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Io {
    /// Bytes that it caused to be fetched from storage.
    pub read_bytes: u64,
    /// Bytes that it caused to be sent to storage: pages count when they are made dirty.
    pub written_bytes: u64,
}

/// Parses `/proc/PID/io`.
pub fn io(text: &[u8]) -> Option<Io> {
    Some(Io {
        read_bytes: number(value_of_key(text, b"read_bytes:")?)?,
        written_bytes: number(value_of_key(text, b"write_bytes:")?)?,
    })
}

/// What all processors together did since boot, in ticks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HostTicks {
    /// User, nice, system and interrupts.
    pub busy: u64,
    /// Time that the hypervisor gave to others while we had work.
    pub steal: u64,
    /// All of it, idle and waiting for I/O included.
    pub total: u64,
}

/// Parses the first line of `/proc/stat`. Time of guests is part of user time and not added again.
pub fn host_ticks(text: &[u8]) -> Option<HostTicks> {
    let line = text.split(|&byte| byte == b'\n').next()?;
    let mut fields = words(line);
    if fields.next()? != b"cpu" {
        return None;
    }
    let ticks: Option<Vec<u64>> = fields.take(8).map(number).collect();
    let &[user, nice, system, idle, iowait, irq, softirq, steal] = ticks?.as_slice() else {
        return None;
    };
    let sum = |parts: &[u64]| parts.iter().try_fold(0u64, |sum, &part| sum.checked_add(part));
    let busy = sum(&[user, nice, system, irq, softirq])?;
    Some(HostTicks { busy, steal, total: sum(&[busy, idle, iowait, steal])? })
}

/// A TCP socket that listens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TcpListener {
    /// Its address; unspecified (`0.0.0.0`, `::`) when it listens on all.
    pub address: IpAddr,
    /// Its port.
    pub port: u16,
    /// The number of the socket, as in `/proc/PID/fd`.
    pub inode: u64,
}

/// The listening sockets of `/proc/net/tcp` or `/proc/net/tcp6`.
pub fn tcp_listeners(text: &[u8]) -> Vec<TcpListener> {
    text.split(|&byte| byte == b'\n').filter_map(tcp_listener).collect()
}

fn tcp_listener(line: &[u8]) -> Option<TcpListener> {
    const LISTEN: &[u8] = b"0A";
    let fields: Vec<&[u8]> = words(line).take(10).collect();
    if *fields.get(3)? != LISTEN {
        return None;
    }
    let local = std::str::from_utf8(fields.get(1)?).ok()?;
    let (address, port) = local.split_once(':')?;
    Some(TcpListener {
        address: hex_address(address)?,
        port: u16::from_str_radix(port, 16).ok()?,
        inode: number(fields.get(9)?)?,
    })
}

/// Addresses are printed as 32-bit words in the byte order of the host.
fn hex_address(text: &str) -> Option<IpAddr> {
    let word = |index: usize| {
        let digits = text.get(8 * index..8 * index + 8)?;
        Some(u32::from_str_radix(digits, 16).ok()?.to_ne_bytes())
    };
    match text.len() {
        8 => Some(IpAddr::V4(Ipv4Addr::from(word(0)?))),
        32 => {
            let mut bytes = [0; 16];
            for index in 0..4 {
                bytes[4 * index..4 * index + 4].copy_from_slice(&word(index)?);
            }
            Some(IpAddr::V6(Ipv6Addr::from(bytes)))
        }
        _ => None,
    }
}

/// Path and number of the listening sockets of `/proc/net/unix` that have a path.
pub fn unix_listeners(text: &[u8]) -> Vec<(Vec<u8>, u64)> {
    text.split(|&byte| byte == b'\n').filter_map(unix_listener).collect()
}

fn unix_listener(line: &[u8]) -> Option<(Vec<u8>, u64)> {
    // SO_ACCEPTCON of include/linux/net.h, set by listen().
    const ACCEPTS: u32 = 1 << 16;
    let fields: Vec<&[u8]> = words(line).take(7).collect();
    let flags = std::str::from_utf8(fields.get(3)?).ok()?;
    if u32::from_str_radix(flags, 16).ok()? & ACCEPTS == 0 {
        return None;
    }
    // The path is all that follows the number, spaces included.
    let inode = *fields.get(6)?;
    let after = inode.as_ptr() as usize - line.as_ptr() as usize + inode.len();
    let path = line.get(after + 1..)?;
    (path.first() == Some(&b'/')).then_some((path.to_vec(), number(inode)?))
}

/// The number of the socket behind a link of `/proc/PID/fd`, which reads `socket:[123]`.
pub fn socket_inode(link: &[u8]) -> Option<u64> {
    number(link.strip_prefix(b"socket:[")?.strip_suffix(b"]")?)
}

/// The value on the first line that begins with `key`, without the spaces around it.
pub(crate) fn value_of_key<'a>(text: &'a [u8], key: &[u8]) -> Option<&'a [u8]> {
    text.split(|&byte| byte == b'\n')
        .find_map(|line| line.strip_prefix(key))
        .map(<[u8]>::trim_ascii)
}

fn words(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split(|byte| byte.is_ascii_whitespace()).filter(|word| !word.is_empty())
}

fn number<T: std::str::FromStr>(text: &[u8]) -> Option<T> {
    std::str::from_utf8(text).ok()?.trim().parse().ok()
}
