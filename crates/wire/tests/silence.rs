//! Servers that are silent, that send without end, or a byte now and then: whoever asks them gets
//! an error of the right kind, and gets it although the server does not stop. The limits are short,
//! and nothing here depends on how short.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use dbdyno_model::{Dialect, Secret, Tls, TlsMode, Transport};
use dbdyno_wire::{BulkTarget, Client, Endpoint, Patience, Security, WireError, mysql, postgres};

use crate::mysql::stage::{COLUMN, DEPRECATE_EOF, OK, greeting, packet, packets};

const SHORT: Duration = Duration::from_millis(100);
/// Authentication done, version 15.20, backend 77.
const WELCOME: &[u8] = b"R\0\0\0\x08\0\0\0\0S\0\0\0\x1dserver_version\x0015.20 (D)\0\
    K\0\0\0\x0c\0\0\0\x4d\0\0\0\x01Z\0\0\0\x05I";
const ONE_COLUMN: &[u8] = b"T\0\0\0\x1a\0\x01c\0\0\0\0\0\0\0\0\0\0\x19\xff\xff\xff\xff\xff\xff\0\0";
const ROW: &[u8] = b"D\0\0\0\x0b\0\x01\0\0\0\x01x";
const NOTICE: &[u8] = b"N\0\0\0\x0bSNOTE\0\0";
const STATUS: &[u8] = b"S\0\0\0\x0bname\0v\0";

/// What a server does that has said what it says first.
#[derive(Clone, Debug)]
enum Then {
    Silence,
    /// This again and again.
    Endless(Vec<u8>),
    /// Numbered rows of MySQL, without end.
    EndlessRows,
    /// A byte of a packet that never becomes whole, now and then.
    Dribble,
}

/// Does it until the client has cut the connection off.
fn carry_on(stream: &mut TcpStream, then: &Then) {
    match then {
        Then::Silence => drop(stream.read_to_end(&mut Vec::new())),
        Then::Endless(bytes) => {
            let many = bytes.repeat(1000);
            while stream.write_all(&many).is_ok() {}
        }
        Then::EndlessRows => {
            let mut number = 3_u8;
            loop {
                let mut many = Vec::new();
                for _ in 0..1000 {
                    many.extend(packet(number, b"\x01x"));
                    number = number.wrapping_add(1);
                }
                if stream.write_all(&many).is_err() {
                    return;
                }
            }
        }
        Then::Dribble => {
            while stream.write_all(&[1]).is_ok() {
                thread::sleep(Duration::from_millis(1));
            }
        }
    }
}

/// A server that plays one connection, and where it is.
fn server(
    security: Security,
    play: impl FnOnce(&mut TcpStream) + Send + 'static,
) -> (Endpoint, JoinHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let endpoint = Endpoint {
        transport: Transport::Tcp("127.0.0.1".to_owned(), port),
        user: "ann".to_owned(),
        password: Secret::new("secret"),
        database: String::new(),
        security,
    };
    (endpoint, thread::spawn(move || play(&mut listener.accept().unwrap().0)))
}

fn connect(
    dialect: Dialect,
    endpoint: &Endpoint,
    limit: Duration,
) -> Result<Box<dyn Client>, WireError> {
    Ok(match dialect {
        Dialect::Postgres => {
            Box::new(postgres::PostgresConnection::connect_within(endpoint, limit)?)
        }
        _ => Box::new(mysql::MysqlConnection::connect_within(endpoint, limit)?),
    })
}

#[test]
fn a_login_ends_although_the_server_does_not_come_to_an_end() {
    let tls = Tls { mode: Some(TlsMode::Required), ..Tls::default() };
    let to = Transport::Tcp("127.0.0.1".to_owned(), 1);
    let encrypted = |dialect| Security::from_options(&tls, dialect, &to).unwrap();
    let offers_tls = packet(0, &greeting(DEPRECATE_EOF | 1 << 11, "mysql_native_password"));
    let greets = packet(0, &greeting(DEPRECATE_EOF, "mysql_native_password"));
    let plain = Security::without_tls();
    for (dialect, security, first, then) in [
        (Dialect::Mysql, plain.clone(), vec![], Then::Silence),
        (Dialect::Mysql, plain.clone(), vec![200, 0, 0, 0, 10], Then::Dribble),
        (Dialect::Mysql, plain.clone(), greets, Then::Silence),
        (Dialect::Mysql, encrypted(Dialect::Mysql), offers_tls, Then::Silence),
        (Dialect::Postgres, plain.clone(), vec![], Then::Silence),
        (Dialect::Postgres, plain, b"N\0\0\x70\0".to_vec(), Then::Dribble),
        (Dialect::Postgres, encrypted(Dialect::Postgres), b"S".to_vec(), Then::Silence),
    ] {
        let case = format!("{dialect:?} {first:?} {then:?}");
        let (endpoint, player) = server(security, move |stream| {
            stream.write_all(&first).unwrap();
            carry_on(stream, &then);
        });
        let error = connect(dialect, &endpoint, SHORT).err().unwrap();
        let WireError::Connect(_, cause) = &error else { panic!("{case}: {error}") };
        assert_eq!(cause.kind(), std::io::ErrorKind::TimedOut, "{case}: {error}");
        player.join().unwrap();
    }
}

#[test]
fn a_login_takes_no_more_than_a_login_needs() {
    let switch = b"\xfemysql_native_password\0ABCDEFGHIJKLMNOPQRST\0";
    let mut switches = packet(0, &greeting(DEPRECATE_EOF, "mysql_native_password"));
    for number in 1..100 {
        switches.extend(packet(2 * number, switch));
    }
    for (dialect, first, then) in [
        (Dialect::Mysql, switches, Then::Silence),
        (Dialect::Postgres, vec![], Then::Endless(NOTICE.to_vec())),
        (Dialect::Postgres, vec![], Then::Endless(STATUS.to_vec())),
    ] {
        let (endpoint, player) = server(Security::without_tls(), move |stream| {
            // The client may have had enough before all is said.
            let _ = stream.write_all(&first);
            carry_on(stream, &then);
        });
        // By what was sent and not by the clock.
        let error = connect(dialect, &endpoint, Duration::from_secs(3600)).err().unwrap();
        let WireError::Protocol(text) = &error else { panic!("{dialect:?}: {error}") };
        assert!(text.contains("the login does not come to an end"), "{text}");
        player.join().unwrap();
    }
}

/// What is asked.
type Ask = fn(&mut dyn Client) -> Result<(), WireError>;

const ASKS: [Ask; 5] = [
    |client| client.query("SELECT c FROM t").map(drop),
    |client| client.run("SELECT c FROM t").map(drop),
    |client| client.prepare("SELECT c FROM t").map(drop),
    |client| {
        let target = BulkTarget { table: "t", columns: &["c".to_owned()], numbers: &[] };
        client.bulk_load(&target, &mut |_| false).map(drop)
    },
    // Nobody takes what is sent: the buffers of the sockets fill up.
    |client| client.run(&"x".repeat(64 << 20)).map(drop),
];

fn let_in(dialect: Dialect, stream: &mut TcpStream) {
    let mut heard = [0; 4096];
    if dialect == Dialect::Postgres {
        assert!(stream.read(&mut heard).unwrap() > 0);
        return stream.write_all(WELCOME).unwrap();
    }
    stream.write_all(&packet(0, &greeting(DEPRECATE_EOF, "mysql_native_password"))).unwrap();
    assert!(stream.read(&mut heard).unwrap() > 0);
    stream.write_all(&packet(2, OK)).unwrap();
}

#[test]
fn every_question_ends_although_the_server_is_silent() {
    for dialect in [Dialect::Mysql, Dialect::Postgres] {
        for (number, ask) in ASKS.into_iter().enumerate() {
            let (over, is_over) = mpsc::channel::<()>();
            let (endpoint, player) = server(Security::without_tls(), move |stream| {
                let_in(dialect, stream);
                // It hears nothing and says nothing until the client has had enough.
                let _ = is_over.recv();
            });
            let mut client = connect(dialect, &endpoint, Duration::from_secs(3600)).unwrap();
            client.set_patience(Patience::Each(SHORT));
            let error = ask(&mut *client).unwrap_err();
            assert!(matches!(error, WireError::Late(SHORT)), "{dialect:?} {number}: {error}");
            let again = client.query("SELECT 1").unwrap_err();
            assert!(again.is_fatal(), "it is of no further use: {again}");
            drop(over);
            player.join().unwrap();
        }
    }
}

#[test]
fn every_question_ends_although_the_answer_does_not() {
    let columns = packets(1, &[&[1], COLUMN]);
    for (dialect, first, then) in [
        (Dialect::Mysql, columns.clone(), Then::EndlessRows),
        (Dialect::Mysql, [columns, vec![200, 0, 0, 3, 1]].concat(), Then::Dribble),
        (Dialect::Postgres, ONE_COLUMN.to_vec(), Then::Endless(ROW.to_vec())),
        (Dialect::Postgres, vec![], Then::Endless(NOTICE.to_vec())),
        (Dialect::Postgres, vec![], Then::Endless(STATUS.to_vec())),
        (Dialect::Postgres, b"N\0\0\x70\0".to_vec(), Then::Dribble),
    ] {
        for patience in [Patience::Each(SHORT), Patience::Whole(SHORT)] {
            let case = format!("{dialect:?} {then:?}");
            let (first, then) = (first.clone(), then.clone());
            let (endpoint, player) = server(Security::without_tls(), move |stream| {
                let_in(dialect, stream);
                assert!(stream.read(&mut [0; 4096]).unwrap() > 0);
                stream.write_all(&first).unwrap();
                carry_on(stream, &then);
            });
            let mut client = connect(dialect, &endpoint, Duration::from_secs(3600)).unwrap();
            client.set_patience(patience);
            let error = client.run("SELECT c FROM t").unwrap_err();
            assert!(matches!(error, WireError::Late(SHORT)), "{case}: {error}");
            player.join().unwrap();
        }
    }
}
