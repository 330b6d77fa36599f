//! Whatever a server sends, the MySQL client returns: no panic, no endless wait, and no memory for
//! what was only announced.

use dbdyno_wire::mysql::MysqlConnection;
use dbdyno_wire::{BulkTarget, Client, Param, RowBuffer};
use proptest::prelude::*;

use crate::allocations::LARGEST_SEEN;
use crate::mysql::blast::blast;
use crate::mysql::stage::*;

const LARGEST: usize = 1 << 20;

/// A payload as real servers send them, or noise.
fn payload() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
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
        proptest::collection::vec(any::<u8>(), 0..60),
    ]
}

/// Whole conversations, which the client follows far before it meets the damage.
fn conversation() -> impl Strategy<Value = Vec<Vec<u8>>> {
    let of = |payloads: &[&[u8]]| payloads.iter().map(|payload| payload.to_vec()).collect();
    let rows: [&[u8]; 3] = [b"\x01x", b"\xfb", b"\xfc\x05\0abcde"];
    let result: Vec<Vec<u8>> = of(&[&[&[1][..], COLUMN], &rows[..], &[OK_EOF]].concat());
    let older: Vec<Vec<u8>> = of(&[&[&[1][..], COLUMN, EOF], &rows[..], &[EOF_MORE, OK]].concat());
    // A row in binary form with a value of each kind that has a length of its own.
    let kinds = [0x01, 0x03, 0x05, 0x08, 0x0A, 0x0B, 0x0C, 0xF6, 0xFD];
    let definitions =
        kinds.map(|kind| [&COLUMN[..COLUMN.len() - 6], &[kind, 0, 0, 0, 0, 0]].concat());
    let binary = [
        &[0; 3][..],
        &[7, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xF0, 0x3F, 1, 0, 0, 0, 0, 0, 0, 0],
        &[4, 0xEA, 7, 1, 2, 8, 0, 1, 0, 0, 0, 2, 3, 4, 7, 0xEA, 7, 1, 2, 3, 4, 5],
        b"\x041.50\x01x",
    ]
    .concat();
    let columns: Vec<&[u8]> = definitions.iter().map(Vec::as_slice).collect();
    let typed: Vec<Vec<u8>> = of(&[&[&[9][..]], &columns[..], &[&binary, OK_EOF]].concat());
    let prepared: [&[u8]; 3] = [&[0, 9, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0], COLUMN, COLUMN];
    prop_oneof![
        Just(result),
        Just(older),
        Just(typed),
        Just(of(&prepared)),
        Just(vec![greeting(DEPRECATE_EOF, "caching_sha2_password")]),
        proptest::collection::vec(payload(), 0..8),
    ]
}

/// What a hostile server may say: noise; and conversations with a payload changed or cut short,
/// with frames that do not fit, or with an end that comes too early.
fn answer(number: u8) -> impl Strategy<Value = Vec<u8>> {
    let (place, byte) = (any::<proptest::sample::Index>, any::<u8>());
    let damage = (place(), place(), byte, 0u8..6);
    let damaged = (conversation(), damage).prop_map(move |(mut payloads, damage)| {
        let (which, at, value, manner) = damage;
        if !payloads.is_empty() {
            let which = which.index(payloads.len());
            let payload = &mut payloads[which];
            let at = at.index(payload.len().max(1));
            match manner {
                0 if at < payload.len() => payload[at] = value,
                1 => payload.truncate(at),
                _ => {}
            }
        }
        let number = if manner == 2 { value } else { number };
        let frames = payloads.iter().map(Vec::as_slice).collect::<Vec<_>>();
        let mut bytes = packets(number, &frames);
        match manner {
            3 if !bytes.is_empty() => {
                let at = at.index(bytes.len());
                bytes[at] = value;
            }
            4 => bytes.truncate(at.index(bytes.len() + 1)),
            _ => {}
        }
        bytes
    });
    prop_oneof![1 => proptest::collection::vec(any::<u8>(), 0..60), 9 => damaged]
}

fn check_memory() -> Result<(), TestCaseError> {
    let largest = LARGEST_SEEN.get();
    prop_assert!(largest <= LARGEST, "{} bytes at once", largest);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn any_answer_to_the_login_is_survived(
        (greeted, bytes) in prop_oneof![
            answer(2).prop_map(|bytes| (true, bytes)),
            answer(0).prop_map(|bytes| (false, bytes)),
        ],
    ) {
        let (endpoint, player) = stage(move |peer| {
            if greeted {
                peer.send(0, &greeting(DEPRECATE_EOF, "caching_sha2_password"));
            }
            blast(&mut peer.0, &bytes);
        });
        // Whether this is a login or an error is the answer's business.
        let _ = MysqlConnection::connect(&endpoint).map(drop);
        player.join().unwrap();
        check_memory()?;
    }

    #[test]
    fn any_answer_to_a_statement_is_survived(
        modern: bool,
        bytes in answer(1),
        which in 0u8..6,
    ) {
        let (endpoint, player) = stage(move |peer| {
            peer.let_in(if modern { DEPRECATE_EOF } else { 0 });
            if which >= 4 {
                peer.read();
                let end: &[&[u8]] = if modern { &[] } else { &[EOF] };
                let prepared = [0, 9, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0];
                peer.write(&packets(1, &[&[&prepared[..], COLUMN], end].concat()));
            }
            blast(&mut peer.0, &bytes);
        });
        let mut connection = MysqlConnection::connect(&endpoint).unwrap();
        let failed = match which {
            0 => connection.run("SELECT 1").map(drop),
            1 => connection.query("SELECT 1").map(drop),
            2 => connection.prepare("SELECT ?").map(drop),
            3 => {
                let target = BulkTarget { table: "t", columns: &["id".to_owned()], numbers: &[] };
                connection.bulk_load(&target, &mut |_| false).map(drop)
            }
            4 => {
                let statement = connection.prepare("SELECT ?").unwrap();
                let mut rows = RowBuffer::new();
                connection.fetch(statement, &vec![Param::Int(1)], &mut rows).map(drop)
            }
            _ => {
                let statement = connection.prepare("SELECT ?").unwrap();
                connection.execute(statement, &vec![Param::Int(1)]).map(drop)
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

#[test]
fn memory_grows_with_what_arrives_and_not_with_what_is_announced() {
    for length in [[0xFE, 0xFF, 0xFF], [0xFF, 0xFF, 0xFF]] {
        let (endpoint, player) = stage(move |peer| {
            peer.let_in(DEPRECATE_EOF);
            peer.read();
            let row = [&length[..], &[3, 0xFD], &[0xFF; 3], &[b'x'; 100_000]].concat();
            blast(&mut peer.0, &[packets(1, &[b"\x01", COLUMN]), row].concat());
        });
        let mut connection = MysqlConnection::connect(&endpoint).unwrap();
        let error = connection.query("SELECT 1").unwrap_err();
        assert!(error.to_string().contains("in the middle of a packet"), "{error}");
        drop(connection);
        player.join().unwrap();
        check_memory().unwrap();
    }
}
