//! A way between two servers on which every byte takes a given time longer.
//!
//! ```text
//!   one ──▶ [reader] ─(read at t, bytes)─▶ queue ─▶ [writer sleeps until t + delay] ──▶ other
//!   one ◀── [writer sleeps until t + delay] ◀─ queue ◀─(read at t, bytes)─ [reader] ◀── other
//! ```
//!
//! The kernel's own instrument for this (netem) is absent from many, and asks for root. A way here
//! is a TCP port of ours that leads to another. What is read is not held back while what was read
//! before waits: latency is added, not a limit on the rate. The writer sleeps until a moment, not
//! for a time, so that lateness does not add up. The end of a stream is delayed like its bytes.
//!
//! What was added is recorded for each piece: from the moment it was read to the moment it was
//! given to the kernel again. It is at least the delay; what is above it is the lateness of our
//! writer. Two more trips through the kernel's loopback come on top, which `delay=0ms` shows.
//!
//! A port of this machine is open to each of its accounts. Members need a few connections, which
//! come from processes of their account: whoever connects as another one is refused, and nobody
//! gets more connections than [`CONNECTIONS_MOST`], each of which takes four threads.

use std::collections::{HashMap, VecDeque};
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, SocketAddrV4, TcpListener, TcpStream};
use std::os::fd::AsRawFd;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use dbdyno_host::SharedHost;
use dbdyno_model::{LatencyHistogram, SharedHistogram};

use crate::clock::{now_ns, sleep_until_ns};
use crate::server::listener;

/// What is read at once.
const PIECE_BYTES: usize = 64 << 10;
/// What may be on its way in one direction; then the reader waits, as a full network would let it.
const ON_THE_WAY_BYTES: usize = 64 << 20;
const CONNECT_WITHIN: Duration = Duration::from_secs(5);
/// Connections of a way at a time. A replica has one, a member of a group two for each other
/// member, and one more while it recovers; the rest is for those that are lost and not yet gone.
const CONNECTIONS_MOST: usize = 32;
/// What connects without having a descriptor for it is asked again so much later.
const ACCEPT_AGAIN: Duration = Duration::from_millis(50);

/// A delayed way to a server. Dropping it cuts its connections.
#[derive(Debug)]
pub(crate) struct Way {
    shared: Arc<DelayState>,
    listener: TcpListener,
    acceptor: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct DelayState {
    to: SocketAddr,
    delay_ns: u64,
    closed: AtomicBool,
    connections: Mutex<HashMap<u64, [TcpStream; 2]>>,
    /// By whom a connection may be made.
    host: SharedHost,
    accounts: [u32; 2],
    /// Connections that were refused.
    refused: AtomicU64,
    /// Added on the way there, and on the way back.
    added: [SharedHistogram; 2],
}

impl Way {
    /// A way from `from` to `to` for processes of these accounts; port 0 is any that is free.
    pub(crate) fn open(
        from: SocketAddrV4,
        to: SocketAddrV4,
        one_way_ns: u64,
        host: &SharedHost,
        accounts: [u32; 2],
    ) -> io::Result<Way> {
        let listener = TcpListener::bind(from)?;
        let shared = Arc::new(DelayState {
            to: SocketAddr::V4(to),
            delay_ns: one_way_ns,
            closed: AtomicBool::new(false),
            connections: Mutex::default(),
            host: host.clone(),
            accounts,
            refused: AtomicU64::new(0),
            added: [SharedHistogram::new(), SharedHistogram::new()],
        });
        let (accepting, door) = (Arc::clone(&shared), listener.try_clone()?);
        let acceptor = thread::Builder::new().name("way".into()).spawn(move || {
            accept_connections(&accepting, &door);
        })?;
        Ok(Way { shared, listener, acceptor: Some(acceptor) })
    }

    /// The port that leads to the server.
    pub(crate) fn port(&self) -> io::Result<u16> {
        Ok(self.listener.local_addr()?.port())
    }

    /// Connections that were refused, since another account made them or there were too many.
    pub(crate) fn refused_connections(&self) -> u64 {
        self.shared.refused.load(Ordering::Relaxed)
    }

    /// What was added so far, on the way there and on the way back.
    pub(crate) fn added_delay(&self) -> [LatencyHistogram; 2] {
        [self.shared.added[0].sum(), self.shared.added[1].sum()]
    }
}

impl Drop for Way {
    fn drop(&mut self) {
        self.shared.closed.store(true, Ordering::Release);
        // Wakes the one that accepts.
        // SAFETY: a call of the system on a descriptor that we own.
        unsafe { nix::libc::shutdown(self.listener.as_raw_fd(), nix::libc::SHUT_RDWR) };
        for stream in lock(&self.shared.connections).values().flatten() {
            let _ = stream.shutdown(Shutdown::Both);
        }
        if let Some(acceptor) = self.acceptor.take() {
            let _ = acceptor.join();
        }
    }
}

/// Lets in who may come, until the way is closed.
fn accept_connections(shared: &Arc<DelayState>, door: &TcpListener) {
    for number in 0.. {
        let accepted = door.accept();
        if shared.closed.load(Ordering::Acquire) {
            return;
        }
        let Ok((stream, peer)) = accepted else {
            // For want of descriptors, which others may give back.
            thread::sleep(ACCEPT_AGAIN);
            continue;
        };
        let is_full = lock(&shared.connections).len() >= CONNECTIONS_MOST;
        if is_full || !shared.lets_in(peer, &stream) {
            shared.refused.fetch_add(1, Ordering::Relaxed);
            continue;
        }
        // Whoever cannot be connected, or carried, sees the end of the connection at once.
        if connect(shared, stream, number).is_err()
            && let Some(streams) = lock(&shared.connections).remove(&number)
        {
            for stream in streams {
                let _ = stream.shutdown(Shutdown::Both);
            }
        }
    }
}

impl DelayState {
    /// Whether the other end of a connection is of an account that may come. One that the kernel
    /// does not show may: the number of connections is limited.
    fn lets_in(&self, peer: SocketAddr, stream: &TcpStream) -> bool {
        let Ok(own) = stream.local_addr() else { return false };
        let account = listener::account_of(&*self.host, peer, own);
        account.is_none_or(|account| self.accounts.contains(&account))
    }
}

/// Connects to the other side, and lets four threads carry.
fn connect(shared: &Arc<DelayState>, one: TcpStream, number: u64) -> io::Result<()> {
    let other = TcpStream::connect_timeout(&shared.to, CONNECT_WITHIN)?;
    let mut directions = Vec::new();
    for (index, from, to) in [(0, &one, &other), (1, &other, &one)] {
        from.set_nodelay(true)?;
        directions.push((index, from.try_clone()?, to.try_clone()?));
    }
    lock(&shared.connections).insert(number, [one, other]);
    let left = Arc::new(Mutex::new(directions.len()));
    for (index, from, to) in directions {
        let (queue, shared, left) = (Arc::new(Queue::default()), Arc::clone(shared), left.clone());
        let filled = Arc::clone(&queue);
        thread::Builder::new().name("way-in".into()).spawn(move || read(from, &filled))?;
        thread::Builder::new().name("way-out".into()).spawn(move || {
            write(to, &queue, shared.delay_ns, &shared.added[index]);
            let mut left = lock(&left);
            *left -= 1;
            if *left == 0 {
                lock(&shared.connections).remove(&number);
            }
        })?;
    }
    if shared.closed.load(Ordering::Acquire) {
        // Closed between the look of the acceptor and the entry above.
        for stream in lock(&shared.connections).values().flatten() {
            let _ = stream.shutdown(Shutdown::Both);
        }
    }
    Ok(())
}

/// Bytes, and when they were read.
#[derive(Debug)]
struct Piece {
    read_ns: u64,
    /// Empty at the end of the stream.
    bytes: Vec<u8>,
}

#[derive(Debug, Default)]
struct Queue {
    on_the_way: Mutex<OnTheWay>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct OnTheWay {
    pieces: VecDeque<Piece>,
    bytes: usize,
    /// Nobody takes them any more.
    abandoned: bool,
}

impl Queue {
    /// Whether somebody will take it.
    fn put(&self, piece: Piece) -> bool {
        let mut on_the_way = lock(&self.on_the_way);
        while on_the_way.bytes > ON_THE_WAY_BYTES && !on_the_way.abandoned {
            on_the_way = self.changed.wait(on_the_way).unwrap_or_else(PoisonError::into_inner);
        }
        on_the_way.bytes += piece.bytes.len();
        on_the_way.pieces.push_back(piece);
        self.changed.notify_all();
        !on_the_way.abandoned
    }

    fn take(&self) -> Piece {
        let mut on_the_way = lock(&self.on_the_way);
        loop {
            if let Some(piece) = on_the_way.pieces.pop_front() {
                on_the_way.bytes -= piece.bytes.len();
                self.changed.notify_all();
                return piece;
            }
            on_the_way = self.changed.wait(on_the_way).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn abandon(&self) {
        lock(&self.on_the_way).abandoned = true;
        self.changed.notify_all();
    }
}

fn read(mut from: TcpStream, queue: &Queue) {
    let mut buffer = vec![0; PIECE_BYTES];
    loop {
        let count = from.read(&mut buffer).unwrap_or(0);
        let piece = Piece { read_ns: now_ns(), bytes: buffer[..count].to_vec() };
        if !queue.put(piece) || count == 0 {
            return;
        }
    }
}

fn write(mut to: TcpStream, queue: &Queue, delay_ns: u64, added: &SharedHistogram) {
    // The kernel may else round the moment up by 50 µs to save a wake-up.
    let _ = nix::sys::prctl::set_timerslack(1);
    loop {
        let piece = queue.take();
        sleep_until_ns(piece.read_ns.saturating_add(delay_ns));
        if piece.bytes.is_empty() {
            let _ = to.shutdown(Shutdown::Write);
            return;
        }
        added.record_latency(now_ns().saturating_sub(piece.read_ns));
        if to.write_all(&piece.bytes).is_err() {
            // Who sends into a broken connection learns of it.
            let _ = to.shutdown(Shutdown::Both);
            queue.abandon();
            return;
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Any free port of 127.0.0.1.
pub(crate) const ANYWHERE: SocketAddrV4 = SocketAddrV4::new(Ipv4Addr::LOCALHOST, 0);

#[cfg(test)]
mod tests {
    use super::*;

    fn localhost(port: u16) -> SocketAddrV4 {
        SocketAddrV4::new(Ipv4Addr::LOCALHOST, port)
    }

    /// Answers what it is told, connection after connection.
    fn echo() -> u16 {
        let listener = TcpListener::bind(ANYWHERE).unwrap();
        let port = listener.local_addr().unwrap().port();
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                thread::spawn(move || {
                    let mut to = stream.try_clone().unwrap();
                    let mut from = stream;
                    io::copy(&mut from, &mut to).unwrap_or(0);
                    let _ = to.shutdown(Shutdown::Write);
                });
            }
        });
        port
    }

    fn local_host() -> SharedHost {
        Arc::new(dbdyno_host::Local)
    }

    /// A way for the account of this test.
    fn way_to(port: u16, delay_ns: u64) -> Way {
        let account = nix::unistd::geteuid().as_raw();
        Way::open(ANYWHERE, localhost(port), delay_ns, &local_host(), [account; 2]).unwrap()
    }

    fn is_refused(stream: &mut TcpStream) -> bool {
        let _ = stream.write_all(b"x");
        !matches!(stream.read(&mut [0]), Ok(1))
    }

    /// Round trips by the caller's own clock, in order of their length.
    fn trips(way: &Way, count: usize) -> Vec<u64> {
        let mut stream = TcpStream::connect(localhost(way.port().unwrap())).unwrap();
        stream.set_nodelay(true).unwrap();
        let mut trips: Vec<u64> = (0..count)
            .map(|_| {
                let began = now_ns();
                stream.write_all(b"x").unwrap();
                stream.read_exact(&mut [0]).unwrap();
                now_ns() - began
            })
            .collect();
        trips.sort_unstable();
        trips
    }

    #[test]
    fn no_trip_is_shorter_than_twice_the_delay_and_what_is_recorded_is_part_of_it() {
        const DELAY_NS: u64 = 3_000_000;
        let way = way_to(echo(), DELAY_NS);
        let trips = trips(&way, 41);
        assert!(trips[0] >= 2 * DELAY_NS, "{trips:?}");
        let added = way.added_delay();
        for direction in &added {
            assert_eq!(direction.count(), 41);
            // A histogram keeps three digits.
            assert!(direction.quantile_ns(0.0) >= DELAY_NS / 1_001 * 1_000);
        }
        // Every trip went both ways, so its order statistics bound the sum of the ways'.
        let least = added[0].quantile_ns(0.0) + added[1].quantile_ns(0.0);
        assert!(trips[0] >= least / 1_001 * 1_000, "{} {least}", trips[0]);
        let most = added[0].max_ns().max(added[1].max_ns());
        assert!(trips[40] + most / 1_000 >= most, "{} {most}", trips[40]);
    }

    #[test]
    fn latency_is_added_and_the_rate_is_not_limited() {
        const DELAY_NS: u64 = 50_000_000;
        const BYTES: usize = 8 << 20;
        let way = way_to(echo(), DELAY_NS);
        let stream = TcpStream::connect(localhost(way.port().unwrap())).unwrap();
        let mut sender = stream.try_clone().unwrap();
        let sent: Vec<u8> = (0..BYTES).map(|at| (at % 251) as u8).collect();
        let expected = sent.clone();
        let writer = thread::spawn(move || {
            sender.write_all(&sent).unwrap();
            sender.shutdown(Shutdown::Write).unwrap();
        });
        let mut got = Vec::new();
        (&stream).read_to_end(&mut got).unwrap();
        writer.join().unwrap();
        assert!(got == expected, "{} of {BYTES} bytes, or others", got.len());
        // Far more pieces were on the way at a time than one, or this would take seconds.
        let pieces = way.added_delay()[0].count();
        assert!(pieces >= (BYTES / PIECE_BYTES) as u64, "{pieces}");
    }

    #[test]
    fn a_way_that_is_closed_cuts_its_connections_and_one_that_leads_nowhere_ends_at_once() {
        let way = way_to(echo(), 0);
        let port = way.port().unwrap();
        let mut stream = TcpStream::connect(localhost(port)).unwrap();
        stream.write_all(b"x").unwrap();
        stream.read_exact(&mut [0]).unwrap();
        drop(way);
        assert!(matches!(stream.read(&mut [0]), Ok(0) | Err(_)));
        assert!(TcpStream::connect(localhost(port)).is_err());

        let nobody = TcpListener::bind(ANYWHERE).unwrap().local_addr().unwrap().port();
        let way = way_to(nobody, 0);
        let mut stream = TcpStream::connect(localhost(way.port().unwrap())).unwrap();
        assert!(matches!(stream.read(&mut [0]), Ok(0) | Err(_)));
    }

    #[test]
    fn whoever_is_no_member_is_refused_and_nobody_has_connections_without_end() {
        let echo = echo();
        let others = [nix::unistd::geteuid().as_raw() + 1; 2];
        let way = Way::open(ANYWHERE, localhost(echo), 0, &local_host(), others).unwrap();
        let mut stream = TcpStream::connect(localhost(way.port().unwrap())).unwrap();
        assert!(is_refused(&mut stream));
        assert_eq!(way.refused_connections(), 1);

        let way = way_to(echo, 0);
        let mut held: Vec<TcpStream> = Vec::new();
        for _ in 0..CONNECTIONS_MOST {
            let mut stream = TcpStream::connect(localhost(way.port().unwrap())).unwrap();
            assert!(!is_refused(&mut stream));
            held.push(stream);
        }
        assert_eq!(way.refused_connections(), 0);
        let mut stream = TcpStream::connect(localhost(way.port().unwrap())).unwrap();
        assert!(is_refused(&mut stream));
        assert_eq!(way.refused_connections(), 1);
        assert!(!is_refused(&mut held[0]), "those that are there go on");
    }
}
