//! The client against servers that say what no server should. The whole of what the server will
//! ever say lies in the socket before the client begins, and its end is closed: no answer can be
//! waited for in vain.

use std::net::Shutdown;
use std::os::unix::net::UnixStream;

use dbdyno_model::{Secret, Transport};
use proptest::prelude::*;

use super::*;
use crate::client::Param;

/// Authentication done, version 15.20, backend 77.
const WELCOME: &[u8] = b"R\0\0\0\x08\0\0\0\0S\0\0\0\x1dserver_version\x0015.20 (D)\0\
    K\0\0\0\x0c\0\0\0\x4d\0\0\0\x01Z\0\0\0\x05I";
/// A statement with one int4 parameter and no columns.
const PREPARED: &[u8] = b"1\0\0\0\x04t\0\0\0\x0a\0\x01\0\0\0\x17n\0\0\0\x04Z\0\0\0\x05I";
const READY: &[u8] = b"Z\0\0\0\x05I";

fn framed(tag: u8, body: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    message(&mut out, tag, |out| out.extend_from_slice(body)).unwrap();
    out
}

fn endpoint() -> Endpoint {
    Endpoint {
        transport: Transport::Unix("pair".to_owned()),
        user: "bob".to_owned(),
        password: Secret::new("secret"),
        database: String::new(),
        security: crate::tls::Security::without_tls(),
    }
}

/// Logs in to a server that says `bytes` and hangs up. Its ear stays open, else writing would fail.
fn hear(bytes: &[u8]) -> (Result<PostgresConnection, WireError>, UnixStream) {
    let (ours, mut theirs) = UnixStream::pair().unwrap();
    theirs.write_all(bytes).unwrap();
    theirs.shutdown(Shutdown::Write).unwrap();
    (PostgresConnection::over(ours.into(), &endpoint(), LOGIN_TIMEOUT), theirs)
}

/// Logs in, prepares, and leaves `bytes` for what comes next.
fn prepared(bytes: &[u8]) -> (PostgresConnection, UnixStream) {
    let (connection, ear) = hear(&[WELCOME, PREPARED, bytes].concat());
    let mut connection = connection.unwrap();
    assert_eq!(connection.prepare("UPDATE t SET k=k+1 WHERE id=$1").unwrap(), StatementId(0));
    (connection, ear)
}

const CALLS: usize = 6;

fn call(connection: &mut PostgresConnection, which: usize) -> Result<StatementCounts, WireError> {
    match which {
        0 => connection.execute(StatementId(0), &&[Param::Int(1)][..]),
        1 => connection.run("SELECT 1"),
        2 => connection.query("SELECT 1").map(|_| StatementCounts::default()),
        3 => connection.prepare("SELECT 1").map(|_| StatementCounts::default()),
        4 => connection.fetch(StatementId(0), &&[Param::Int(1)][..], &mut RowBuffer::new()),
        _ => connection
            .bulk_load(
                &BulkTarget { table: "t", columns: &["a".to_owned()], numbers: &[] },
                &mut |piece| {
                    piece.extend_from_slice(b"1\n");
                    false
                },
            )
            .map(|affected| StatementCounts { rows: 0, affected }),
    }
}

#[test]
fn what_the_server_says_of_itself_is_kept() {
    let (connection, _ear) = hear(WELCOME);
    let connection = connection.unwrap();
    assert_eq!((connection.server_version(), connection.connection_id()), ("15.20", 77));
}

#[test]
fn messages_out_of_band_are_skipped_everywhere() {
    let noise = [
        framed(b'N', b"SNOTICE\0C00000\0Mhello\0\0"),
        framed(b'S', b"TimeZone\0UTC\0"),
        framed(b'A', b"\0\0\0\x01channel\0payload\0"),
    ]
    .concat();
    let answer = [
        &noise[..],
        b"2\0\0\0\x04",
        &noise,
        b"D\0\0\0\x06\0\0",
        &noise,
        b"D\0\0\0\x06\0\0",
        b"C\0\0\0\x0dUPDATE 5\0",
        &noise,
        READY,
        &noise,
    ]
    .concat();
    let (mut connection, _ear) = prepared(&[&answer[..], &answer].concat());
    for _ in 0..2 {
        assert_eq!(call(&mut connection, 0).unwrap(), StatementCounts { rows: 2, affected: 5 });
    }
}

/// A connection with one prepared statement whose server can go on speaking.
fn awake() -> (PostgresConnection, UnixStream) {
    let (ours, mut theirs) = UnixStream::pair().unwrap();
    theirs.write_all(&[WELCOME, PREPARED].concat()).unwrap();
    let mut connection = PostgresConnection::over(ours.into(), &endpoint(), LOGIN_TIMEOUT).unwrap();
    connection.prepare("UPDATE t SET k=k+1 WHERE id=$1").unwrap();
    (connection, theirs)
}

fn row(length: usize) -> Vec<u8> {
    let value = [&(length as u32).to_be_bytes()[..], &vec![b'x'; length]].concat();
    framed(b'D', &[&[0, 1][..], &value].concat())
}

proptest! {
    #[test]
    fn pieces_of_any_size_make_the_same_answer(
        rows in prop::collection::vec(prop::sample::select(vec![0_usize, 119, 70_000]), 0..9),
        size in 70_usize..3000,
    ) {
        let (mut connection, mut theirs) = awake();
        let rows: Vec<Vec<u8>> = rows.into_iter().map(row).collect();
        let answer = [b"2\0\0\0\x04", &rows.concat()[..], b"C\0\0\0\x0dUPDATE 5\0", READY];
        let answer = answer.concat();
        for _ in 0..2 {
            connection.send_execute(StatementId(0), &&[Param::Int(1)][..]).unwrap();
            let mut outcome = connection.receive().unwrap();
            for piece in answer.chunks(size) {
                prop_assert_eq!(outcome, None);
                theirs.write_all(piece).unwrap();
                outcome = connection.receive().unwrap();
            }
            let expected = StatementCounts { rows: rows.len() as u64, affected: 5 };
            prop_assert_eq!(outcome, Some(expected));
        }
        // What waits may follow what does not, on the same connection.
        let done = [b"2\0\0\0\x04C\0\0\0\x0dUPDATE 7\0", READY].concat();
        theirs.write_all(&done).unwrap();
        prop_assert_eq!(call(&mut connection, 0).unwrap().affected, 7);
    }
}

#[test]
fn questions_and_answers_take_turns() {
    let (mut connection, mut theirs) = awake();
    assert!(connection.receive().is_err(), "nothing was asked");
    connection.send_run("SELECT 1").unwrap();
    for _ in 0..2 {
        let early = connection.send_run("SELECT 2").unwrap_err();
        assert!(early.to_string().contains("receive it"), "{early}");
    }
    let refusal = framed(b'E', b"SERROR\0C40001\0Mno\0\0");
    for byte in refusal.iter().chain(&READY[..READY.len() - 1]) {
        theirs.write_all(&[*byte]).unwrap();
        assert!(connection.receive().unwrap().is_none());
    }
    theirs.write_all(b"I").unwrap();
    assert!(connection.receive().is_err_and(|error| error.is_retryable()));
    theirs.write_all(&[b"C\0\0\0\x0dROLLBACK\0", READY].concat()).unwrap();
    connection.send_run("ROLLBACK").unwrap();
    assert_eq!(connection.receive().unwrap(), Some(StatementCounts::default()));
    // An end without a completion does not count as done.
    connection.send_execute(StatementId(0), &&[Param::Int(1)][..]).unwrap();
    theirs.write_all(&[b"2\0\0\0\x04", READY].concat()).unwrap();
    assert!(matches!(connection.receive(), Err(WireError::Protocol(_))));
    assert!(connection.send_run("SELECT 1").unwrap_err().to_string().contains("make a new one"));
}

#[test]
fn the_reason_of_a_server_that_leaves_is_told() {
    let parting = framed(b'E', b"SFATAL\0VFATAL\0C57P01\0Mterminating connection\0\0");
    for which in 0..CALLS {
        let (mut connection, _ear) = prepared(&parting);
        let error = call(&mut connection, which).unwrap_err();
        assert!(error.is_fatal());
        assert!(error.to_string().contains("terminating connection"), "{error}");
        let after = connection.run("SELECT 1").unwrap_err();
        assert!(after.to_string().contains("make a new one"), "{after}");
    }
    let (mut connection, _ear) = prepared(&parting);
    connection.send_run("SELECT 1").unwrap();
    let error = connection.receive().unwrap_err();
    assert!(error.is_fatal() && error.to_string().contains("terminating connection"), "{error}");
}

#[test]
fn the_reason_is_told_even_if_the_question_could_not_be_sent() {
    let parting = framed(b'E', b"SFATAL\0VFATAL\0C57P01\0Mterminating connection\0\0");
    let (mut connection, ear) = prepared(&parting);
    drop(ear);
    let error = call(&mut connection, 0).unwrap_err();
    assert!(error.is_fatal());
    assert!(error.to_string().contains("terminating connection"), "{error}");
}

#[test]
fn an_end_without_completion_does_not_count_as_done() {
    for answer in [&b"2\0\0\0\x04Z\0\0\0\x05I"[..], READY] {
        let (mut connection, _ear) = prepared(answer);
        assert!(matches!(call(&mut connection, 0), Err(WireError::Protocol(_))));
        let (mut connection, _ear) = prepared(answer);
        assert!(matches!(call(&mut connection, 1), Err(WireError::Protocol(_))));
    }
}

#[test]
fn an_integer_parameter_is_sent_as_the_server_described_it() {
    let (mut connection, mut ear) = prepared(b"2\0\0\0\x04C\0\0\0\x0dUPDATE 1\0Z\0\0\0\x05I");
    call(&mut connection, 0).unwrap();
    drop(connection);
    let mut heard = Vec::new();
    ear.read_to_end(&mut heard).unwrap();
    let bind = b"B\0\0\0\x19\x000\0\0\x01\0\x01\0\x01\0\0\0\x04\0\0\0\x01\0\x01\0\x01";
    let rest = b"E\0\0\0\x09\0\0\0\0\0S\0\0\0\x04X\0\0\0\x04";
    assert!(heard.ends_with(&[&bind[..], rest].concat()), "{}", heard.escape_ascii());
}

#[test]
fn an_unfinished_proof_is_not_a_login() {
    let offer = framed(b'R', b"\0\0\0\x0aSCRAM-SHA-256\0\0");
    let (result, _ear) = hear(&[&offer[..], WELCOME].concat());
    assert!(matches!(result, Err(WireError::Protocol(_))));
    let (result, _ear) = hear(READY);
    assert!(matches!(result, Err(WireError::Protocol(_))));
}

#[test]
fn demands_that_are_not_spoken_are_named() {
    for (demand, expected) in [
        (&b"\0\0\0\x07"[..], "GSSAPI"),
        (b"\0\0\0\x09", "SSPI"),
        (b"\0\0\0\x0aSCRAM-SHA-256-PLUS\0\0", "SCRAM-SHA-256-PLUS"),
    ] {
        let (result, _ear) = hear(&framed(b'R', demand));
        let error = result.unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
    let refusal = b"SFATAL\0C28000\0Mno pg_hba.conf entry for host \"::1\", no encryption\0\0";
    let (result, _ear) = hear(&framed(b'E', refusal));
    let error = result.unwrap_err();
    assert!(
        matches!(&error, WireError::Login(e) if e.message.contains("say tls=required")),
        "{error}"
    );
}

#[test]
fn a_greeting_of_mysql_is_no_login() {
    let (result, _ear) = hear(b"\x4a\0\0\0\x0a8.0.33\0\x08\0\0\0abcdefgh\0\xff\xff");
    assert!(matches!(result, Err(WireError::Protocol(_) | WireError::Broken(_))));
}

/// One message of a server out of its mind: mostly known tags, sometimes a lying length.
fn utterance() -> impl Strategy<Value = Vec<u8>> {
    let tag = prop_oneof![
        8 => prop::sample::select(b"RSKZEN12nTtDCIGHWdcsA3".to_vec()),
        1 => any::<u8>(),
    ];
    let body = prop_oneof![
        prop::collection::vec(any::<u8>(), 0..40),
        prop::sample::select(vec![
            b"UPDATE 5\0".to_vec(),
            b"\0\x01\0\0\0\x17".to_vec(),
            b"\0\x01c\0\0\0\0\0\0\0\0\0\0\x19\xff\xff\xff\xff\xff\xff\0\0".to_vec(),
            b"\0\x01\0\0\0\x02ab".to_vec(),
            b"C40001\0Mno\0\0".to_vec(),
            b"I".to_vec(),
            b"".to_vec(),
        ]),
    ];
    let lie = prop_oneof![9 => Just(None), 1 => any::<u32>().prop_map(Some)];
    (tag, body, lie).prop_map(|(tag, body, lie)| {
        let mut bytes = framed(tag, &body);
        if let Some(length) = lie {
            bytes[1..5].copy_from_slice(&length.to_be_bytes());
        }
        bytes
    })
}

fn speech() -> impl Strategy<Value = Vec<u8>> {
    (prop::collection::vec(utterance(), 0..12), any::<prop::sample::Index>()).prop_map(
        |(utterances, cut)| {
            let mut bytes = utterances.concat();
            bytes.truncate(cut.index(bytes.len() + 1).max(bytes.len() / 2));
            bytes
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn no_answer_to_a_login_makes_us_panic(
        bytes in prop_oneof![speech(), prop::collection::vec(any::<u8>(), 0..200)],
    ) {
        let (result, _ear) = hear(&bytes);
        prop_assert!(result.is_ok() || result.unwrap_err().is_fatal());
    }

    #[test]
    fn no_answer_to_a_statement_makes_us_panic_or_go_on_after_a_fatal_error(
        bytes in speech(),
        which in 0..CALLS,
        next in 0..CALLS,
    ) {
        let (mut connection, _ear) = prepared(&bytes);
        let first = call(&mut connection, which);
        let second = call(&mut connection, next);
        if first.is_err_and(|error| error.is_fatal()) {
            let refused = matches!(
                &second,
                Err(WireError::Broken(error)) if error.kind() == io::ErrorKind::NotConnected
            );
            prop_assert!(refused, "{second:?}");
        }
    }
}
