//! The MySQL client and the mock server against each other: logins, statements, scripts.

use std::num::NonZeroU64;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use dbdyno_model::Secret;
use dbdyno_wire::mock::{
    Auth, EveryNth, FixedScript, Login, MockProtocol, MockReply, MockServer, Script, ServiceTime,
    Turn,
};
use dbdyno_wire::mysql::MysqlConnection;
use dbdyno_wire::{BulkTarget, Client, Endpoint, Param, StatementCounts, WireError};

fn start(auth: Auth, password: &str, script: impl Script + 'static) -> MockServer {
    let login = Login { user: "ann".to_owned(), password: Secret::new(password), auth };
    MockServer::start(MockProtocol::Mysql, login, Arc::new(script)).unwrap()
}

fn point() -> FixedScript {
    FixedScript(Turn::point_query())
}

/// A new folder that goes away with its content.
pub(crate) struct Folder(pub PathBuf);

impl Folder {
    pub(crate) fn new() -> Folder {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("dbdyno-mysql-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir(&path).unwrap();
        Folder(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Four logins: the account's method announced and not, and for `caching_sha2_password` the full
/// way first and the fast way after.
fn log_in_often(server: &MockServer) {
    for _ in 0..4 {
        let mut connection = MysqlConnection::connect(&server.endpoint()).unwrap();
        assert_eq!(connection.run("SELECT 1").unwrap().rows, 1);
    }
    assert_eq!((server.connection_count(), server.statements()), (4, 4));
}

#[test]
fn every_method_lets_the_right_password_in_over_tcp() {
    for auth in [Auth::Native, Auth::CachingSha2, Auth::Trust] {
        for password in ["secret", "", "päßwörd mit Länge, weit über zwanzig Bytes"] {
            log_in_often(&start(auth, password, point()));
        }
    }
}

#[test]
fn every_method_lets_the_right_password_in_over_a_unix_socket() {
    let folder = Folder::new();
    for (number, auth) in [Auth::Native, Auth::CachingSha2, Auth::Trust].into_iter().enumerate() {
        for password in ["secret", ""] {
            let path = folder.0.join(format!("{number}{password}.sock"));
            let login = Login { user: "ann".to_owned(), password: Secret::new(password), auth };
            let script = Arc::new(point());
            let server = MockServer::start_unix(MockProtocol::Mysql, login, script, &path).unwrap();
            log_in_often(&server);
        }
    }
}

#[test]
fn wrong_passwords_and_accounts_are_refused_with_the_servers_words() {
    for auth in [Auth::Native, Auth::CachingSha2] {
        let server = start(auth, "secret", point());
        let right = server.endpoint();
        for round in 0..2 {
            for (user, password) in [("ann", "Secret"), ("ann", ""), ("bob", "secret")] {
                let wrong = Endpoint {
                    user: user.to_owned(),
                    password: Secret::new(password),
                    ..right.clone()
                };
                let error = MysqlConnection::connect(&wrong).unwrap_err();
                let WireError::Login(refusal) = &error else { panic!("{auth:?}: {error}") };
                assert_eq!((refusal.code, refusal.sqlstate.as_str()), (1045, "28000"));
                assert!(error.to_string().contains("Access denied for user"), "{error}");
                assert!(!error.to_string().contains("ecret"), "{error}");
            }
            // The second round meets a server that knows the right password by its hash.
            if round == 0 {
                MysqlConnection::connect(&right).unwrap();
            }
        }
        assert_eq!(server.statements(), 0);
    }
    let server = start(Auth::Native, "", point());
    let wrong = Endpoint { password: Secret::new("x"), ..server.endpoint() };
    assert!(matches!(MysqlConnection::connect(&wrong), Err(WireError::Login(_))));
}

#[test]
fn names_with_a_zero_byte_are_not_sent() {
    let server = start(Auth::Trust, "", point());
    let wrong = Endpoint { user: "ann\0root".to_owned(), ..server.endpoint() };
    let text = MysqlConnection::connect(&wrong).unwrap_err().to_string();
    assert!(text.contains("zero byte"), "{text}");
}

#[test]
fn statements_controls_and_connections_are_counted() {
    let server = start(Auth::Trust, "", point());
    let mut connection = MysqlConnection::connect(&server.endpoint()).unwrap();
    let select = connection.prepare("SELECT c FROM t WHERE id IN (?, '?')").unwrap();
    let update = connection.prepare("UPDATE t SET k=k+1 WHERE id=?").unwrap();
    let begin = connection.prepare("BEGIN").unwrap();
    assert_eq!(server.statements(), 0, "preparing is not executing");
    let one = vec![Param::Int(1)];
    connection.execute(begin, &vec![]).unwrap();
    let outcome = connection.execute(select, &one).unwrap();
    assert_eq!(outcome, StatementCounts { rows: 1, affected: 0 });
    let outcome = connection.execute(update, &one).unwrap();
    assert_eq!(outcome, StatementCounts { rows: 0, affected: 1 });
    assert_eq!(connection.run("COMMIT").unwrap(), StatementCounts::default());
    let rows = connection.query("SELECT c FROM t").unwrap();
    assert_eq!(rows.first_value(), Some("x".repeat(119).as_str()));
    assert_eq!((server.statements(), server.control_count(), server.connection_count()), (3, 2, 1));
    assert!(connection.execute(select, &vec![]).is_err());
}

fn results_are_counted_and_kept(count: u32, width: u32) {
    let server = start(Auth::Trust, "", FixedScript(Turn::now(MockReply::Rows { count, width })));
    let mut connection = MysqlConnection::connect(&server.endpoint()).unwrap();
    let statement = connection.prepare("SELECT c FROM t").unwrap();
    for _ in 0..2 {
        let outcome = connection.execute(statement, &vec![]).unwrap();
        assert_eq!(outcome.rows, u64::from(count), "{width}");
        assert_eq!(connection.run("SELECT c FROM t").unwrap().rows, u64::from(count), "{width}");
    }
    let rows = connection.query("SELECT c FROM t").unwrap().rows;
    assert_eq!(rows.len(), count as usize);
    assert!(rows.iter().all(|row| row[0].as_ref().unwrap().len() == width as usize));
}

#[test]
fn results_of_every_size_are_counted_and_kept() {
    for width in [0, 1, 250, 251, 65_535, 70_000] {
        results_are_counted_and_kept(3, width);
    }
    results_are_counted_and_kept(100_000, 3);
}

#[test]
fn rows_longer_than_a_packet_are_counted_and_kept() {
    // A row of 2^24-1 bytes fills a packet and an empty one follows: with the length of four bytes
    // before it in text form, and two bytes more in binary form, these widths do.
    for width in [0xFF_FFFF - 4, 0xFF_FFFF - 6, 0xFF_FFFF] {
        results_are_counted_and_kept(2, width);
    }
}

#[test]
fn counts_of_every_size_are_read() {
    for count in [0, 250, 251, 65_536, 1 << 24, u64::MAX] {
        let server = start(Auth::Trust, "", FixedScript(Turn::now(MockReply::Affected(count))));
        let mut connection = MysqlConnection::connect(&server.endpoint()).unwrap();
        assert_eq!(
            connection.run("DELETE FROM t").unwrap(),
            StatementCounts { rows: 0, affected: count }
        );
    }
}

#[test]
fn statements_longer_than_a_packet_are_understood() {
    let server = start(Auth::Trust, "", point());
    let mut connection = MysqlConnection::connect(&server.endpoint()).unwrap();
    for length in [0xFF_FFFF - 1, 0xFF_FFFF, 0xFF_FFFF + 1, 0x1FF_FFFE] {
        // The command's byte is part of the payload.
        let sql = format!("SELECT '{}'", "x".repeat(length - 1 - 9));
        assert_eq!(connection.run(&sql).unwrap().rows, 1);
    }
    assert_eq!(server.statements(), 4);
}

#[test]
fn every_nth_statement_gets_its_own_turn() {
    let refusal =
        MockReply::Error { code: 1205, sqlstate: "HY000", message: "Lock wait".to_owned() };
    let n = NonZeroU64::new(3).unwrap();
    let script = EveryNth { n, usual: Turn::point_query(), rare: Turn::now(refusal) };
    let server = start(Auth::Trust, "", script);
    for _ in 0..2 {
        let mut connection = MysqlConnection::connect(&server.endpoint()).unwrap();
        let statement = connection.prepare("SELECT c FROM t").unwrap();
        let seen: Vec<bool> = (0..9)
            .map(|_| match connection.execute(statement, &vec![]) {
                Ok(_) => true,
                Err(error) => {
                    assert!(error.is_retryable() && error.to_string().contains("Lock wait"));
                    false
                }
            })
            .collect();
        assert_eq!(seen, [true, true, false, true, true, false, true, true, false]);
    }
    assert_eq!(server.statements(), 18, "a refusal is an answer");
}

#[test]
fn a_cut_connection_is_broken_and_not_counted() {
    let n = NonZeroU64::new(2).unwrap();
    let script = EveryNth { n, usual: Turn::point_query(), rare: Turn::now(MockReply::Cut) };
    let server = start(Auth::Trust, "", script);
    let mut connection = MysqlConnection::connect(&server.endpoint()).unwrap();
    connection.run("SELECT 1").unwrap();
    let error = connection.run("SELECT 1").unwrap_err();
    assert!(matches!(error, WireError::Broken(_)), "{error}");
    assert!(connection.run("SELECT 1").unwrap_err().is_fatal());
    assert_eq!(server.statements(), 1);
    // The others live on.
    MysqlConnection::connect(&server.endpoint()).unwrap().run("SELECT 1").unwrap();
}

/// The mock answers an INSERT with one changed row, however many came.
#[test]
fn rows_go_over_by_the_hundred_whatever_the_pieces() {
    let server = start(Auth::Trust, "", FixedScript(Turn::now(MockReply::Affected(1))));
    let mut connection = MysqlConnection::connect(&server.endpoint()).unwrap();
    let columns = ["id", "c"].map(str::to_owned);
    let target = BulkTarget { table: "t", columns: &columns, numbers: &[] };
    for (pieces, inserts) in [
        (vec![0], 0),
        (vec![0, 1, 0, 2], 1),
        (vec![512], 1),
        (vec![511, 1, 511, 2], 3),
        (vec![300_000], 586),
    ] {
        let mut left = pieces.iter();
        let taken = connection.bulk_load(&target, &mut |buffer| {
            assert!(buffer.is_empty());
            (0..*left.next().unwrap()).for_each(|_| buffer.extend_from_slice(b"1\tabcdefg\n"));
            left.len() > 0
        });
        assert_eq!(taken.unwrap(), inserts, "{pieces:?}");
    }
    assert_eq!(server.statements(), 1 + 1 + 3 + 586);
}

#[test]
fn dropping_a_server_wakes_those_that_wait_for_it() {
    for delay in [ServiceTime::Sleep(Duration::MAX), ServiceTime::Spin(Duration::MAX)] {
        let turn = Turn { delay, reply: MockReply::Affected(1) };
        let server = start(Auth::Trust, "", FixedScript(turn));
        let endpoint = server.endpoint();
        let mut connection = MysqlConnection::connect(&endpoint).unwrap();
        let client = std::thread::spawn(move || connection.run("SELECT 1"));
        drop(server);
        let error = client.join().unwrap().unwrap_err();
        assert!(error.is_fatal(), "{error}");
        assert!(matches!(MysqlConnection::connect(&endpoint), Err(WireError::Connect(..))));
    }
}

#[test]
fn delays_are_waited_before_the_answer() {
    // No duration is asserted: a delay that is over is one that lets the answer through.
    for delay in [
        ServiceTime::Sleep(Duration::from_micros(300)),
        ServiceTime::Spin(Duration::from_micros(50)),
    ] {
        let turn = Turn { delay, reply: MockReply::Affected(7) };
        let server = start(Auth::Trust, "", FixedScript(turn));
        let mut connection = MysqlConnection::connect(&server.endpoint()).unwrap();
        assert_eq!(connection.run("SELECT 1").unwrap().affected, 7);
        Box::new(connection).close();
    }
}
