//! Whatever a server sends, the MySQL client returns: no panic, no endless wait, and no memory for
//! what was only announced.

#[path = "mysql/stage.rs"]
mod stage;

use std::alloc::{GlobalAlloc, Layout, System};
use std::io::Write;
use std::net::Shutdown;
use std::sync::atomic::{AtomicUsize, Ordering};

use dbdyno_wire::mysql::Connection;
use dbdyno_wire::{Client, Param};
use proptest::prelude::*;

use stage::*;

/// Refuses what no answer of a few kilobytes can justify.
struct Limited;

const LARGEST: usize = 1 << 20;
static LARGEST_SEEN: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call goes to the system's allocator unchanged.
unsafe impl GlobalAlloc for Limited {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        LARGEST_SEEN.fetch_max(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller's promise is passed on.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise is passed on.
        unsafe { System.dealloc(pointer, layout) }
    }
    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        LARGEST_SEEN.fetch_max(size, Ordering::Relaxed);
        // SAFETY: the caller's promise is passed on.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Limited = Limited;

/// What a hostile server may say: noise, packets of noise, and real packets damaged.
fn answer() -> impl Strategy<Value = Vec<u8>> {
    let noise = || proptest::collection::vec(any::<u8>(), 0..60);
    let real = prop_oneof![
        Just(OK.to_vec()),
        Just(OK_MORE.to_vec()),
        Just(EOF.to_vec()),
        Just(EOF_MORE.to_vec()),
        Just(OK_EOF.to_vec()),
        Just(COLUMN.to_vec()),
        Just(vec![1]),
        Just(vec![2]),
        Just(vec![0xFC, 0xFF, 0xFF]),
        Just(vec![0xFE, 0, 0, 0, 0, 1, 0, 0, 0]),
        Just(b"\x01x".to_vec()),
        Just(b"\0\0\x01x".to_vec()),
        Just(b"\xfbfile".to_vec()),
        Just(vec![0, 9, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0]),
        Just(vec![0, 9, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0]),
        Just(error(1064, "You have an error")),
        Just(b"\x01\x03".to_vec()),
        Just(b"\x01\x04".to_vec()),
        Just(b"\x01-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n".to_vec()),
        Just(b"\xfecaching_sha2_password\0abcdefghijklmnopqrst\0".to_vec()),
        noise(),
    ];
    let framed = (proptest::collection::vec(real, 0..8), 0u8..4).prop_map(|(payloads, first)| {
        packets(first, &payloads.iter().map(Vec::as_slice).collect::<Vec<_>>())
    });
    let damaged = (framed.clone(), any::<proptest::sample::Index>(), any::<u8>(), 0usize..9)
        .prop_map(|(mut bytes, index, value, cut)| {
            if !bytes.is_empty() {
                let at = index.index(bytes.len());
                bytes[at] = value;
                bytes.truncate(bytes.len().saturating_sub(cut));
            }
            bytes
        });
    prop_oneof![noise(), framed, damaged]
}

/// Sends everything and nothing more, and takes whatever comes.
fn blast(peer: &mut Peer, bytes: &[u8]) {
    // The client may have left already.
    let _ = peer.0.write_all(bytes);
    let _ = peer.0.shutdown(Shutdown::Write);
    let _ = std::io::copy(&mut peer.0, &mut std::io::sink());
}

fn check_memory() -> Result<(), TestCaseError> {
    let largest = LARGEST_SEEN.load(Ordering::Relaxed);
    prop_assert!(largest <= LARGEST, "{} bytes at once", largest);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn any_answer_to_the_login_is_survived(greeted: bool, bytes in answer()) {
        let (endpoint, player) = stage(move |peer| {
            if greeted {
                peer.send(0, &greeting(DEPRECATE_EOF, "caching_sha2_password"));
            }
            blast(peer, &bytes);
        });
        // Whether this is a login or an error is the answer's business.
        let _ = Connection::connect(&endpoint).map(drop);
        player.join().unwrap();
        check_memory()?;
    }

    #[test]
    fn any_answer_to_a_statement_is_survived(
        modern: bool,
        bytes in answer(),
        which in 0u8..5,
    ) {
        let (endpoint, player) = stage(move |peer| {
            peer.let_in(if modern { DEPRECATE_EOF } else { 0 });
            if which == 4 {
                peer.read();
                let end: &[&[u8]] = if modern { &[] } else { &[EOF] };
                let prepared = [0, 9, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0];
                peer.write(&packets(1, &[&[&prepared[..], COLUMN], end].concat()));
            }
            blast(peer, &bytes);
        });
        let mut connection = Connection::connect(&endpoint).unwrap();
        let failed = match which {
            0 => connection.run("SELECT 1").map(drop),
            1 => connection.query("SELECT 1").map(drop),
            2 => connection.prepare("SELECT ?").map(drop),
            3 => connection.bulk("LOAD", &mut |_| false).map(drop),
            _ => {
                let statement = connection.prepare("SELECT ?").unwrap();
                connection.execute(statement, &List(vec![Param::Int(1)])).map(drop)
            }
        };
        if failed.is_err_and(|error| error.is_fatal()) {
            prop_assert!(connection.run("SELECT 1").is_err_and(|error| error.is_fatal()));
        }
        Box::new(connection).close();
        player.join().unwrap();
        check_memory()?;
    }
}
