//! A server for a test, and clients of it.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use dbdyno_engine::disk::SimDisk;
use dbdyno_engine::{Engine, EngineOptions};
use dbdyno_model::design::Device;
use dbdyno_model::{Design, Secret, Transport};
use dbdyno_serve::{EngineListener, Listener, ServeLimits, ServedEngine, Settings, engine_in};
use dbdyno_wire::mysql::MysqlConnection;
use dbdyno_wire::{Client, Endpoint, Security, WireError};

pub(crate) const PASSWORD: &str = "of the test";

/// 2026-11-25 19:30:00.5 UTC.
fn clock() -> i64 {
    1_795_635_000_500_000
}

/// A millisecond later whenever it is asked, so that a limit is reached on the slowest host.
fn uptime_ns() -> u64 {
    static LOOKS: AtomicU64 = AtomicU64::new(0);
    LOOKS.fetch_add(1_000_000, Ordering::Relaxed)
}

/// Those of a server that does not encrypt.
pub(crate) fn settings(limits: ServeLimits, password: &str) -> Settings {
    Settings {
        user: "dbdyno".to_owned(),
        password: Secret::new(password),
        security: None,
        database: "test".to_owned(),
        version: "8.0.33-test".to_owned(),
        clock,
        uptime_ns,
        limits,
    }
}

pub(crate) fn on_disk(disk: &SimDisk) -> Engine {
    Engine::open(Arc::new(disk.clone()), &Design::default(), EngineOptions::default()).unwrap()
}

/// A server with the usual limits on a disk in memory.
pub(crate) fn server() -> EngineListener {
    serve(on_disk(&SimDisk::default()), ServeLimits::default())
}

pub(crate) fn serve(served: impl Into<ServedEngine>, limits: ServeLimits) -> EngineListener {
    let listener = Listener::bind_tcp("127.0.0.1:0").unwrap();
    EngineListener::start(listener, served, settings(limits, PASSWORD)).unwrap()
}

/// A server whose account has no password, so that raw clients get in.
pub(crate) fn open_server(limits: ServeLimits) -> EngineListener {
    let listener = Listener::bind_tcp("127.0.0.1:0").unwrap();
    EngineListener::start(listener, on_disk(&SimDisk::default()), settings(limits, "")).unwrap()
}

/// A client of such a server.
pub(crate) fn connect_openly(server: &EngineListener) -> MysqlConnection {
    let endpoint = Endpoint { password: Secret::default(), ..endpoint(server) };
    MysqlConnection::connect(&endpoint).unwrap()
}

/// A server of tables in a directory; its commits wait for no disk.
pub(crate) fn in_directory(directory: &Path) -> EngineListener {
    let design = Design { device: Device::None, ..Design::default() };
    serve(engine_in(directory, &design, || 0).unwrap(), ServeLimits::default())
}

pub(crate) fn endpoint(server: &EngineListener) -> Endpoint {
    Endpoint {
        transport: server.transport().clone(),
        user: "dbdyno".to_owned(),
        password: Secret::new(PASSWORD),
        database: "test".to_owned(),
        security: Security::without_tls(),
    }
}

pub(crate) fn connect(server: &EngineListener) -> MysqlConnection {
    MysqlConnection::connect(&endpoint(server)).unwrap()
}

/// Rows of the answer to a query, values with `|` between them.
pub(crate) fn rows(client: &mut MysqlConnection, sql: &str) -> Vec<String> {
    let rows = client.query(sql).unwrap_or_else(|error| panic!("{sql}: {error}")).rows;
    let shown = |value: Option<String>| value.unwrap_or_else(|| "NULL".to_owned());
    rows.into_iter().map(|row| row.into_iter().map(shown).collect::<Vec<_>>().join("|")).collect()
}

/// MySQL's number of the error with which a statement is refused.
pub(crate) fn refused(done: Result<impl Sized, WireError>) -> (u16, String) {
    match done.err() {
        Some(WireError::Server(error) | WireError::Login(error)) => (error.code, error.sqlstate),
        other => panic!("not refused: {other:?}"),
    }
}

/// A client that says what it likes.
pub(crate) struct Raw(pub(crate) TcpStream);

impl Raw {
    /// One that has read the greeting.
    pub(crate) fn greeted(server: &EngineListener) -> Raw {
        let Transport::Tcp(host, port) = server.transport() else { panic!("it listens on TCP") };
        let mut raw = Raw(TcpStream::connect((host.as_str(), *port)).unwrap());
        assert_eq!(raw.packet().1[0], 10, "a greeting");
        raw
    }

    /// One that was let in: by a server whose account has no password.
    pub(crate) fn let_in(server: &EngineListener) -> Raw {
        let mut raw = Raw::greeted(server);
        raw.hello("dbdyno");
        assert_eq!(raw.packet().1[0], 0, "OK");
        raw
    }

    /// Says who it is, without a proof.
    pub(crate) fn hello(&mut self, user: &str) {
        // Protocol of 4.1, the length of the proof in one byte, methods with names.
        let mut payload = 0x0008_8200_u32.to_le_bytes().to_vec();
        payload.extend_from_slice(&[0, 0, 0, 1, 45]);
        payload.extend_from_slice(&[0; 23]);
        payload.extend_from_slice(user.as_bytes());
        payload.extend_from_slice(b"\0\0mysql_native_password\0");
        self.send(1, &payload);
    }

    pub(crate) fn send(&mut self, number: u8, payload: &[u8]) {
        let [low, middle, high, _] = (payload.len() as u32).to_le_bytes();
        let packet = [&[low, middle, high, number][..], payload].concat();
        self.0.write_all(&packet).unwrap();
    }

    /// The next packet: its number, and its payload.
    pub(crate) fn packet(&mut self) -> (u8, Vec<u8>) {
        let mut header = [0; 4];
        self.0.read_exact(&mut header).unwrap();
        let [low, middle, high, number] = header;
        let mut payload = vec![0; u32::from_le_bytes([low, middle, high, 0]) as usize];
        self.0.read_exact(&mut payload).unwrap();
        (number, payload)
    }

    /// The number of the error in the next packet.
    pub(crate) fn error(&mut self) -> u16 {
        let (_, payload) = self.packet();
        assert_eq!(payload[0], 0xFF, "an error: {payload:?}");
        u16::from_le_bytes([payload[1], payload[2]])
    }

    /// Reads until the other side closes.
    pub(crate) fn closes(mut self) {
        let mut rest = Vec::new();
        // A reset is an end as well.
        let _ = self.0.read_to_end(&mut rest);
    }
}
