//! The least that any client can cost: the bytes of an execution written, the bytes of its answer
//! read, nothing else. What a client costs above this is its own doing.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike as _;

use crate::Cost;

/// PROTOCOL_41, CONNECT_WITH_DB, SECURE_CONNECTION, PLUGIN_AUTH, DEPRECATE_EOF.
const CAPABILITIES: u32 = 1 << 9 | 1 << 3 | 1 << 15 | 1 << 19 | 1 << 24;
const LARGEST_PACKET: u32 = 1 << 24;
const LATIN1: u8 = 8;
const PREPARE: u8 = 0x16;
const EXECUTE: u8 = 0x17;
const TYPE_LONG: [u8; 2] = [3, 0];

/// `clients` threads, each with a connection of its own, for this long.
pub(crate) fn measure(port: u16, clients: u32, window: Duration) -> Cost {
    let barrier = Barrier::new(clients as usize);
    let costs: Vec<(u64, i64, i64)> = thread::scope(|scope| {
        let client = || exchange(port, &barrier, window);
        let threads: Vec<_> = (0..clients).map(|_| scope.spawn(client)).collect();
        threads.into_iter().map(|thread| thread.join().expect("no panic")).collect()
    });
    let events: u64 = costs.iter().map(|(events, ..)| events).sum();
    let per_event = |ns: i64| ns as f64 / 1e3 / events as f64;
    Cost {
        user_us: per_event(costs.iter().map(|(_, user, _)| user).sum()),
        kernel_us: per_event(costs.iter().map(|(.., kernel)| kernel).sum()),
        per_second: events as f64 / window.as_secs_f64(),
    }
}

/// Events, nanoseconds of user and of kernel time of this thread.
#[expect(clippy::disallowed_methods, reason = "a benchmark measures")]
fn exchange(port: u16, barrier: &Barrier, window: Duration) -> (u64, i64, i64) {
    let mut stream = log_in(port);
    send(&mut stream, 0, &[&[PREPARE], &b"SELECT c FROM sbtest1 WHERE id=?"[..]].concat());
    let mut answer = [0; 4096];
    let prepared = receive(&mut stream, &mut answer);
    let id = &answer[5..9];
    assert!(prepared > 9 && answer[4] == 0, "the statement is prepared");
    let mut execution = vec![EXECUTE];
    execution.extend_from_slice(id);
    execution.extend_from_slice(&[0, 1, 0, 0, 0, 0, 1]);
    execution.extend_from_slice(&TYPE_LONG);
    execution.extend_from_slice(&500_i32.to_le_bytes());
    let request = packet(0, &execution);
    stream.write_all(&request).expect("the null server reads");
    let length = receive(&mut stream, &mut answer);
    barrier.wait();
    let usage = || {
        let usage = getrusage(UsageWho::RUSAGE_THREAD).expect("the kernel tells");
        (usage.user_time().num_nanoseconds(), usage.system_time().num_nanoseconds())
    };
    let (start, before, mut events) = (Instant::now(), usage(), 0);
    // The clock is read once for each event, as any client that measures latency must.
    while start.elapsed() < window {
        stream.write_all(&request).expect("the null server reads");
        let mut got = 0;
        while got < length {
            got += stream.read(&mut answer).expect("the null server answers");
        }
        events += 1;
    }
    let after = usage();
    (events, after.0 - before.0, after.1 - before.1)
}

fn log_in(port: u16) -> TcpStream {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).expect("the null server listens");
    stream.set_nodelay(true).expect("TCP knows no delay");
    let mut answer = [0; 4096];
    receive(&mut stream, &mut answer);
    let mut reply = CAPABILITIES.to_le_bytes().to_vec();
    reply.extend_from_slice(&LARGEST_PACKET.to_le_bytes());
    reply.push(LATIN1);
    reply.extend_from_slice(&[0; 23]);
    reply.extend_from_slice(b"bench\0\0sbtest\0mysql_native_password\0");
    send(&mut stream, 1, &reply);
    receive(&mut stream, &mut answer);
    stream
}

fn send(stream: &mut TcpStream, sequence: u8, payload: &[u8]) {
    stream.write_all(&packet(sequence, payload)).expect("the null server reads");
}

fn packet(sequence: u8, payload: &[u8]) -> Vec<u8> {
    let mut packet = (payload.len() as u32).to_le_bytes()[..3].to_vec();
    packet.push(sequence);
    packet.extend_from_slice(payload);
    packet
}

/// Reads what has come; the null server writes an answer in one piece.
fn receive(stream: &mut TcpStream, answer: &mut [u8]) -> usize {
    let got = stream.read(answer).expect("the null server answers");
    assert!(got > 4 && answer[4] != 0xff, "the null server refuses");
    got
}
