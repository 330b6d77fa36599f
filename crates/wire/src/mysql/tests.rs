//! Answers that come a piece at a time to a client that does not wait. Server and client are one
//! thread: after each piece the client has received all there is, so nothing here depends on time.

use std::io::Write as _;
use std::os::unix::net::UnixStream;

use dbdyno_model::Secret;
use proptest::prelude::*;

use super::*;
use crate::client::Param;
use packet::put_packets;

const OK: &[u8] = &[0, 5, 0, 2, 0, 0, 0];
const OK_MORE: &[u8] = &[0, 3, 0, 10, 0, 0, 0];
const EOF: &[u8] = &[0xFE, 0, 0, 2, 0];
const OK_EOF: &[u8] = &[0xFE, 0, 0, 2, 0, 0, 0];
const COLUMN: &[u8] = b"\x03def\0\0\0\x01c\x01c\x0c\x08\0\x0a\0\0\0\xfd\0\0\0\0\0";
const PREPARED: &[u8] = &[0, 9, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0];
const DEADLOCK: &[u8] = b"\xff\xbd\x04#40001Deadlock";
/// Length that says "and more in the next packet".
const FULL: usize = 0xFF_FFFF;

fn greeting(ending: Ending) -> Vec<u8> {
    let newer = if ending == Ending::Ok { 1_u8 } else { 0 };
    [
        b"\x0a8.0.33\0\x4d\0\0\0abcdefgh\0",
        &[0x8D, 0xA2, 8, 2, 0, 0x0E, newer, 21][..],
        &[0; 10],
        b"ijklmnopqrst\0mysql_native_password\0",
    ]
    .concat()
}

fn packets(first: u8, payloads: &[&[u8]]) -> Vec<u8> {
    let (mut bytes, mut number) = (Vec::new(), first);
    for payload in payloads {
        put_packets(&mut bytes, &mut number, payload);
    }
    bytes
}

/// A connection with one prepared statement of one parameter, and the server's end of it.
fn connection(ending: Ending) -> (MysqlConnection, UnixStream) {
    let (ours, mut theirs) = UnixStream::pair().unwrap();
    theirs.write_all(&packets(0, &[&greeting(ending)])).unwrap();
    theirs.write_all(&packets(2, &[OK])).unwrap();
    let endpoint = Endpoint {
        transport: Transport::Unix("pair".to_owned()),
        user: "ann".to_owned(),
        password: Secret::default(),
        database: String::new(),
        security: crate::tls::Security::without_tls(),
    };
    let ours = SocketStream::from(ours);
    let cutoff = Cutoff::for_socket(ours.weak_socket()).unwrap();
    let (channel, greeting, its_ending) = MysqlConnection::log_in(ours, &endpoint).unwrap();
    let mut connection = MysqlConnection::new(channel, cutoff, greeting, its_ending);
    assert_eq!(connection.ending, ending);
    let end: &[&[u8]] = if ending == Ending::Eof { &[EOF] } else { &[] };
    theirs.write_all(&packets(1, &[&[PREPARED, COLUMN], end].concat())).unwrap();
    connection.prepare("SELECT c FROM t WHERE id=?").unwrap();
    (connection, theirs)
}

/// The answer of one result of such rows.
fn result<'a>(ending: Ending, rows: &[&'a [u8]]) -> Vec<&'a [u8]> {
    match ending {
        Ending::Ok => [&[&[1][..], COLUMN], rows, &[OK_EOF]].concat(),
        Ending::Eof => [&[&[1][..], COLUMN, EOF], rows, &[EOF]].concat(),
    }
}

/// Sends `answer` in these pieces; everything but the last leaves the client without an outcome.
fn in_pieces<'a>(
    connection: &mut MysqlConnection,
    theirs: &mut UnixStream,
    pieces: impl Iterator<Item = &'a [u8]>,
) -> Result<StatementCounts, WireError> {
    let mut pieces = pieces.peekable();
    assert!(connection.receive().unwrap().is_none(), "nothing has come");
    while let Some(piece) = pieces.next() {
        theirs.write_all(piece).unwrap();
        match connection.receive() {
            Ok(None) => assert!(pieces.peek().is_some(), "the answer is whole"),
            Ok(Some(outcome)) => {
                assert!(pieces.peek().is_none(), "the answer goes on");
                return Ok(outcome);
            }
            Err(error) => return Err(error),
        }
    }
    panic!("an answer of no bytes");
}

proptest! {
    #[test]
    fn pieces_of_any_size_make_the_same_answer(
        modern: bool,
        rows in prop::collection::vec(prop::sample::select(vec![0_usize, 1, 119, 70_000]), 0..9),
        sizes in prop::collection::vec(70_usize..3000, 1..5),
    ) {
        let ending = if modern { Ending::Ok } else { Ending::Eof };
        let (mut connection, mut theirs) = connection(ending);
        let texts: Vec<Vec<u8>> = rows
            .iter()
            .map(|&length| {
                let mut row = vec![0, 0];
                codec::put_length(&mut row, length as u64);
                row.resize(row.len() + length, b'x');
                row
            })
            .collect();
        let views: Vec<&[u8]> = texts.iter().map(Vec::as_slice).collect();
        let answer = packets(1, &result(ending, &views));
        let mut pieces = Vec::new();
        let mut rest = &answer[..];
        for size in sizes.iter().cycle() {
            let (piece, after) = rest.split_at((*size).min(rest.len()));
            pieces.push(piece);
            rest = after;
            if rest.is_empty() {
                break;
            }
        }
        for _ in 0..2 {
            connection.send_execute(StatementId(0), &vec![Param::Int(1)]).unwrap();
            let outcome = in_pieces(&mut connection, &mut theirs, pieces.iter().copied()).unwrap();
            prop_assert_eq!(outcome, StatementCounts { rows: rows.len() as u64, affected: 0 });
        }
        // What waits may follow what does not, on the same connection.
        theirs.write_all(&packets(1, &[OK])).unwrap();
        prop_assert_eq!(connection.run("COMMIT").unwrap().affected, 5);
    }
}

#[test]
fn every_byte_may_come_alone() {
    for ending in [Ending::Ok, Ending::Eof] {
        let (mut connection, mut theirs) = connection(ending);
        let answer = packets(1, &[&[OK_MORE][..], &result(ending, &[b"\x01x", b"\xfb"])].concat());
        connection.send_run("CALL p()").unwrap();
        let outcome = in_pieces(&mut connection, &mut theirs, answer.chunks(1)).unwrap();
        assert_eq!(outcome, StatementCounts { rows: 2, affected: 3 });
    }
}

#[test]
fn rows_longer_than_a_packet_pass_in_pieces() {
    for length in [FULL - 1, FULL, FULL + 1, 2 * FULL] {
        let (mut connection, mut theirs) = connection(Ending::Ok);
        let mut row = vec![0, 0, 0xFD, 0xFF, 0xFF, 0xFF];
        row.resize(length, b'x');
        let answer = packets(1, &result(Ending::Ok, &[&row, b"\0\0\x01y", &row]));
        connection.send_execute(StatementId(0), &vec![Param::Int(1)]).unwrap();
        let pieces = answer.chunks(60_000);
        let outcome = in_pieces(&mut connection, &mut theirs, pieces).unwrap();
        assert_eq!(outcome.rows, 3);
        assert_eq!(connection.channel.capacity(), 64 << 10, "what is passed over is not kept");
    }
}

#[test]
fn errors_in_pieces_leave_the_connection_usable() {
    let (mut connection, mut theirs) = connection(Ending::Ok);
    for answer in [packets(1, &[DEADLOCK]), packets(1, &[&[1], COLUMN, b"\0\0\x01x", DEADLOCK])] {
        connection.send_execute(StatementId(0), &vec![Param::Int(1)]).unwrap();
        let error = in_pieces(&mut connection, &mut theirs, answer.chunks(3)).unwrap_err();
        assert!(error.is_retryable(), "{error}");
    }
    theirs.write_all(&packets(1, &[OK])).unwrap();
    connection.send_run("ROLLBACK").unwrap();
    assert_eq!(connection.receive().unwrap().map(|outcome| outcome.affected), Some(5));
}

#[test]
fn questions_and_answers_take_turns() {
    let (mut connection, mut theirs) = connection(Ending::Ok);
    assert!(connection.receive().is_err(), "nothing was asked");
    connection.send_run("SELECT 1").unwrap();
    assert!(connection.send_run("SELECT 2").unwrap_err().to_string().contains("receive it"));
    assert!(connection.run("SELECT 2").unwrap_err().to_string().contains("receive it"));
    theirs.write_all(&packets(1, &[OK])).unwrap();
    assert!(connection.receive().unwrap().is_some(), "the first question still stands");
    connection.send_run("SELECT 3").unwrap();
    drop(theirs);
    assert!(connection.receive().is_err_and(|error| error.is_fatal()));
    assert!(connection.send_run("SELECT 4").unwrap_err().to_string().contains("given up"));
}
