//! Clients that do not keep to the protocol: each is told, and nobody else is disturbed.

use std::io::Write as _;
use std::net::Shutdown;
use std::thread;
use std::time::Duration;

use dbdyno_engine::disk::SimDisk;
use dbdyno_serve::{EngineListener, ServeLimits};
use dbdyno_wire::Client as _;
use dbdyno_wire::mysql::MysqlConnection;

use crate::place::{Raw, connect, endpoint, on_disk, open_server, refused, rows, serve};

/// A client of such a server that keeps to the protocol, in the midst of a transaction.
fn witness(server: &EngineListener) -> MysqlConnection {
    let mut endpoint = endpoint(server);
    endpoint.password = Default::default();
    let mut client = MysqlConnection::connect(&endpoint).unwrap();
    client.run("CREATE TABLE IF NOT EXISTS t (id INT PRIMARY KEY, c LONGTEXT)").unwrap();
    client.run("BEGIN").unwrap();
    client.run("INSERT INTO t VALUES (1, 'kept')").unwrap();
    client
}

/// The transaction goes on as if nothing had been.
fn undisturbed(mut client: MysqlConnection, server: EngineListener) {
    client.run("COMMIT").unwrap();
    assert_eq!(rows(&mut client, "SELECT c FROM t WHERE id = 1"), ["kept"]);
    server.stop().unwrap();
}

#[test]
fn torn_packets_end_their_own_connection() {
    let server = open_server(ServeLimits::default());
    let witness = witness(&server);
    let query = b"\x12\0\0\0\x03SELECT 1 AS whole";
    for torn in 1..query.len() {
        let mut raw = Raw::let_in(&server);
        raw.0.write_all(&query[..torn]).unwrap();
        raw.0.shutdown(Shutdown::Write).unwrap();
        raw.closes();
    }
    // In pieces, as long as they all come, it is a request like any other.
    let mut slow = Raw::let_in(&server);
    for byte in query {
        slow.0.write_all(&[*byte]).unwrap();
    }
    assert_eq!(slow.packet(), (1, vec![1]), "one column");
    undisturbed(witness, server);
}

#[test]
fn packets_out_of_order_and_without_content_are_refused_by_number() {
    let server = open_server(ServeLimits::default());
    let witness = witness(&server);
    let mut raw = Raw::let_in(&server);
    raw.send(7, b"\x03SELECT 1");
    assert_eq!(raw.error(), 1156);
    raw.closes();
    let mut raw = Raw::let_in(&server);
    raw.send(0, b"");
    assert_eq!(raw.error(), 1835);
    raw.closes();
    let mut raw = Raw::let_in(&server);
    raw.send(0, b"\x17\x01");
    assert_eq!(raw.error(), 1835, "an execution that ends before its statement");
    raw.closes();
    let mut raw = Raw::greeted(&server);
    raw.send(1, b"\x00\x01\x02");
    assert_eq!(raw.error(), 1835, "an answer to the greeting that is none");
    raw.closes();
    undisturbed(witness, server);
}

#[test]
fn what_is_too_large_is_refused_before_it_has_come() {
    let limits =
        ServeLimits { request_bytes: 1 << 20, answer_bytes: 4 << 20, ..ServeLimits::default() };
    let server = open_server(limits);
    let mut witness = witness(&server);
    let mut raw = Raw::let_in(&server);
    // Sixteen megabytes are announced; what matters is that they are not waited for.
    raw.0.write_all(&[0xFF, 0xFF, 0xFF, 0, 3]).unwrap();
    assert_eq!(raw.error(), 1153);
    raw.closes();
    let mut raw = Raw::let_in(&server);
    raw.send(0, b"\x16SELECT ?");
    assert_eq!(raw.packet().1[0], 0, "prepared");
    let piece = [&b"\x18\x01\0\0\0\0\0"[..], &vec![b'x'; 700_000]].concat();
    raw.send(0, &piece);
    raw.send(0, &piece);
    // Definitions of the parameter and of the column, and what ends them, come first.
    let errors = (0..5).map(|_| raw.packet().1).find(|payload| payload[0] == 0xFF);
    assert_eq!(errors.map(|error| u16::from_le_bytes([error[1], error[2]])), Some(1153));
    raw.closes();
    for id in 2..8 {
        let text = "x".repeat(900_000);
        witness.run(&format!("INSERT INTO t VALUES ({id}, '{text}')")).unwrap();
    }
    assert_eq!(refused(witness.query("SELECT c FROM t")), (1041, "HY000".to_owned()));
    undisturbed(witness, server);
}

/// Asks for statements of so many bytes until one is refused; gives how many there are then, and
/// the number of the last. Each has an answer of five packets.
fn prepare_until_refused(raw: &mut Raw, bytes: usize) -> (u32, u16) {
    let text = format!("SELECT ?, '{}'", "x".repeat(bytes - 12));
    for count in 0.. {
        raw.send(0, &[b"\x16", text.as_bytes()].concat());
        let answer = raw.packet().1;
        if answer[0] == 0xFF {
            return (count, u16::from_le_bytes([answer[1], answer[2]]));
        }
        (0..5).for_each(|_| drop(raw.packet()));
    }
    unreachable!()
}

#[test]
fn prepared_statements_are_limited_by_number_and_by_bytes_and_given_back() {
    let limits = ServeLimits {
        statements: 4,
        statement_bytes: 1_000,
        all_statements: 6,
        all_statement_bytes: 1_500,
        ..ServeLimits::default()
    };
    let server = open_server(limits);
    let witness = witness(&server);
    let mut first = Raw::let_in(&server);
    assert_eq!(prepare_until_refused(&mut first, 20), (4, 1461), "of a connection, by number");
    let mut second = Raw::let_in(&server);
    assert_eq!(prepare_until_refused(&mut second, 20), (2, 1461), "of all, by number");
    first.send(0, b"\x19\x01\0\0\0");
    assert_eq!(prepare_until_refused(&mut first, 20), (1, 1461), "what is closed is given back");
    first.send(0, b"\x1f");
    assert_eq!(first.packet().1[0], 0, "reset");
    assert_eq!(prepare_until_refused(&mut first, 400), (2, 1461), "of a connection, by bytes");
    let mut third = Raw::let_in(&server);
    assert_eq!(prepare_until_refused(&mut third, 650), (1, 1461), "of all, by bytes");
    // Nothing is kept of who has gone.
    third.send(0, b"\x01");
    third.closes();
    while prepare_until_refused(&mut second, 650).0 == 0 {
        thread::yield_now();
    }
    undisturbed(witness, server);
}

#[test]
fn who_does_not_read_holds_up_nobody() {
    let limits = ServeLimits { ending: Duration::from_millis(50), ..ServeLimits::default() };
    let server = open_server(limits);
    let mut witness = witness(&server);
    let text = "x".repeat(8 << 20);
    witness.run(&format!("INSERT INTO t VALUES (2, '{text}')")).unwrap();
    witness.run("COMMIT").unwrap();
    // More than sockets hold: the answer stays with its thread.
    let deaf: Vec<Raw> = (0..4)
        .map(|_| {
            let mut raw = Raw::let_in(&server);
            raw.send(0, b"\x03SELECT c, c, c FROM t");
            raw
        })
        .collect();
    for id in 3..50 {
        witness.run(&format!("INSERT INTO t VALUES ({id}, 'y')")).unwrap();
        witness.run(&format!("UPDATE t SET c = 'kept' WHERE id = {id}")).unwrap();
    }
    witness.run("UPDATE t SET c = 'z' WHERE id = 2").unwrap();
    witness.run("BEGIN").unwrap();
    undisturbed(witness, server);
    drop(deaf);
}

#[test]
fn one_connection_too_many_is_told_so() {
    let server = serve(
        on_disk(&SimDisk::default()),
        ServeLimits { connections: 3, ..ServeLimits::default() },
    );
    let mut first = connect(&server);
    let others: Vec<_> = (0..2).map(|_| connect(&server)).collect();
    for _ in 0..20 {
        let refused = refused(MysqlConnection::connect(&endpoint(&server)));
        assert_eq!(refused, (1040, "08004".to_owned()));
    }
    assert_eq!(rows(&mut first, "SELECT 1"), ["1"]);
    drop(others);
    // The server sees that they have gone as soon as their threads run.
    while MysqlConnection::connect(&endpoint(&server)).is_err() {
        thread::yield_now();
    }
    server.stop().unwrap();
}

#[test]
fn a_disk_that_is_full_is_told_and_nothing_acknowledged_is_lost() {
    let disk = SimDisk::default();
    let server = serve(on_disk(&disk), ServeLimits::default());
    let mut client = connect(&server);
    client.run("CREATE TABLE t (id INT PRIMARY KEY)").unwrap();
    client.run("INSERT INTO t VALUES (1), (2)").unwrap();
    disk.fail_at(disk.operations());
    assert_eq!(refused(client.run("INSERT INTO t VALUES (3)")), (1026, "HY000".to_owned()));
    let mut other = connect(&server);
    assert_eq!(rows(&mut other, "SELECT id FROM t"), ["1", "2"], "reading goes on");
    assert_eq!(refused(other.run("INSERT INTO t VALUES (4)")).0, 1026, "writing does not");
    drop((client, other));
    assert!(server.stop().is_err(), "and the end says so");
    let server = serve(on_disk(&disk.after_crash(7)), ServeLimits::default());
    let kept = rows(&mut connect(&server), "SELECT id FROM t WHERE id <= 2");
    assert_eq!(kept, ["1", "2"]);
    server.stop().unwrap();
}
