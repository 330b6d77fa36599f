//! Whatever a client says, the server answers it or ends its connection: it does not panic, does
//! not wait for ever, and serves the next one.

#![no_main]

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpStream};
use std::sync::{Arc, LazyLock};

use dbdyno_engine::disk::SimDisk;
use dbdyno_engine::{Engine, Options};
use dbdyno_model::{Design, Secret, Transport};
use dbdyno_serve::{Limits, Listener, Server, Settings};
use dbdyno_wire::mysql::Connection;
use dbdyno_wire::{Client as _, Endpoint, Security};
use libfuzzer_sys::arbitrary::{self, Arbitrary};
use libfuzzer_sys::fuzz_target;

#[derive(Arbitrary, Debug)]
struct Case {
    /// What is sent in the place of an answer to the greeting.
    hello: Option<Vec<u8>>,
    requests: Vec<Request>,
    /// What comes behind them as it is.
    bytes: Vec<u8>,
}

#[derive(Arbitrary, Debug)]
enum Request {
    Query(Vec<u8>),
    /// One of the statements that are prepared first.
    Execute(bool, Vec<u8>),
    Piece(bool, u8, Vec<u8>),
    Prepare(Vec<u8>),
    Close(u8),
    Reset(u8),
    /// Whatever code, and whatever number of the packet.
    Other(u8, u8, Vec<u8>),
}

const PREPARED: [&str; 2] =
    ["SELECT id, d, c, at FROM t WHERE id > ? AND c <> ?", "INSERT INTO t VALUES (?, ?, ?, ?)"];

static SERVER: LazyLock<Server> = LazyLock::new(|| {
    let engine = Engine::open(Arc::new(SimDisk::default()), &Design::default(), Options::default());
    let settings = Settings {
        user: "root".to_owned(),
        password: Secret::default(),
        database: "test".to_owned(),
        version: "8.0.33-fuzz".to_owned(),
        clock: || 0,
        limits: Limits { request_bytes: 1 << 16, answer_bytes: 1 << 20, ..Limits::default() },
    };
    let listener = Listener::tcp("127.0.0.1:0").unwrap();
    let server = Server::start(listener, engine.unwrap(), settings).unwrap();
    let mut client = connect(&server);
    let columns = "id INT PRIMARY KEY, d DECIMAL(8,2), c CHAR(20), at DATETIME";
    client.run(&format!("CREATE TABLE t ({columns})")).unwrap();
    client.run("INSERT INTO t VALUES (1, 1.5, 'abc', '2026-11-25'), (2, NULL, '', NULL)").unwrap();
    server
});

fn connect(server: &Server) -> Connection {
    let endpoint = Endpoint {
        transport: server.transport().clone(),
        user: "root".to_owned(),
        password: Secret::default(),
        database: "test".to_owned(),
        security: Security::off(),
    };
    Connection::connect(&endpoint).unwrap()
}

fn put(bytes: &mut Vec<u8>, number: u8, payload: &[&[u8]]) {
    let payload = payload.concat();
    let [low, middle, high, _] = (payload.len() as u32).to_le_bytes();
    bytes.extend_from_slice(&[low, middle, high, number]);
    bytes.extend_from_slice(&payload);
}

fn said(case: Case) -> Vec<u8> {
    let mut bytes = Vec::new();
    let hello = case.hello.unwrap_or_else(|| {
        let mut hello = 0x0108_8200_u32.to_le_bytes().to_vec();
        hello.extend_from_slice(&[0, 0, 0, 1, 45]);
        hello.extend_from_slice(&[0; 23]);
        hello.extend_from_slice(b"root\0\0mysql_native_password\0");
        hello
    });
    put(&mut bytes, 1, &[&hello]);
    for sql in PREPARED {
        put(&mut bytes, 0, &[&[0x16], sql.as_bytes()]);
    }
    for request in case.requests {
        match request {
            Request::Query(sql) => put(&mut bytes, 0, &[&[3], &sql]),
            Request::Execute(second, values) => {
                let head = [0x17, 1 + u8::from(second), 0, 0, 0, 0, 1, 0, 0, 0];
                put(&mut bytes, 0, &[&head, &values]);
            }
            Request::Piece(second, parameter, piece) => {
                let head = [0x18, 1 + u8::from(second), 0, 0, 0, parameter, 0];
                put(&mut bytes, 0, &[&head, &piece]);
            }
            Request::Prepare(sql) => put(&mut bytes, 0, &[&[0x16], &sql]),
            Request::Close(number) => put(&mut bytes, 0, &[&[0x19, number, 0, 0, 0]]),
            Request::Reset(number) => put(&mut bytes, 0, &[&[0x1A, number, 0, 0, 0]]),
            Request::Other(number, code, rest) => put(&mut bytes, number % 2, &[&[code], &rest]),
        }
    }
    bytes.extend_from_slice(&case.bytes);
    bytes
}

fuzz_target!(|case: Case| {
    let Transport::Tcp(host, port) = SERVER.transport() else { unreachable!("it listens on TCP") };
    let mut client = TcpStream::connect((host.as_str(), *port)).unwrap();
    // It may have ended the connection already.
    let _ = client.write_all(&said(case));
    let _ = client.shutdown(Shutdown::Write);
    let mut heard = Vec::new();
    let _ = client.read_to_end(&mut heard);
    assert_eq!(heard.get(4), Some(&10), "a greeting");
    let mut witness = connect(&SERVER);
    assert_eq!(witness.query("SELECT 1 + 1").unwrap().single(), Some("2"));
});
