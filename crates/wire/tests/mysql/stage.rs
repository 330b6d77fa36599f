//! A stage: one connection played byte by byte, as the protocol's documentation spells it, with
//! nothing of the crate under test.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread::{self, JoinHandle};

use dbdyno_model::{Secret, Transport};
use dbdyno_wire::Endpoint;

pub(crate) const DEPRECATE_EOF: u32 = 1 << 24;
/// Long password and flag, database, local files, 4.1, transactions, secure, results, plugins.
const CAPABILITIES: u32 = 0x000E_A28D;

/// The server's side of the one connection.
pub(crate) struct Peer(pub TcpStream);

impl Peer {
    pub(crate) fn write(&mut self, bytes: &[u8]) {
        self.0.write_all(bytes).unwrap();
    }

    pub(crate) fn send(&mut self, number: u8, payload: &[u8]) {
        self.write(&packet(number, payload));
    }

    /// The next packet's payload.
    pub(crate) fn read(&mut self) -> Vec<u8> {
        let mut header = [0; 4];
        self.0.read_exact(&mut header).unwrap();
        let length = u32::from_le_bytes([header[0], header[1], header[2], 0]);
        let mut payload = vec![0; length as usize];
        self.0.read_exact(&mut payload).unwrap();
        payload
    }

    /// Greets and lets in whoever comes, with or without the newer manner of ending rows.
    pub(crate) fn let_in(&mut self, capabilities: u32) {
        self.send(0, &greeting(capabilities, "mysql_native_password"));
        self.read();
        self.send(2, OK);
    }
}

pub(crate) const OK: &[u8] = &[0, 0, 0, 2, 0, 0, 0];
pub(crate) const OK_MORE: &[u8] = &[0, 3, 0, 10, 0, 0, 0];
pub(crate) const EOF: &[u8] = &[0xFE, 0, 0, 2, 0];
pub(crate) const EOF_MORE: &[u8] = &[0xFE, 0, 0, 10, 0];
pub(crate) const OK_EOF: &[u8] = &[0xFE, 0, 0, 2, 0, 0, 0];
pub(crate) const COLUMN: &[u8] = b"\x03def\0\0\0\x01c\x01c\x0c\x08\0\x0a\0\0\0\xfd\0\0\0\0\0";

pub(crate) fn packet(number: u8, payload: &[u8]) -> Vec<u8> {
    let length = (payload.len() as u32).to_le_bytes();
    [&length[..3], &[number], payload].concat()
}

/// Packets numbered from `number`.
pub(crate) fn packets(number: u8, payloads: &[&[u8]]) -> Vec<u8> {
    let numbered = payloads.iter().enumerate();
    numbered
        .flat_map(|(index, payload)| packet(number.wrapping_add(index as u8), payload))
        .collect()
}

pub(crate) fn error(code: u16, text: &str) -> Vec<u8> {
    [&[0xFF], &code.to_le_bytes()[..], b"#42000", text.as_bytes()].concat()
}

pub(crate) fn greeting(capabilities: u32, method: &str) -> Vec<u8> {
    let flags = (CAPABILITIES | capabilities).to_le_bytes();
    [
        b"\x0a5.5.5-10.11.19-MariaDB-stage\0",
        &77u32.to_le_bytes()[..],
        b"abcdefgh\0",
        &flags[..2],
        &[8, 2, 0],
        &flags[2..],
        &[21],
        &[0; 10],
        b"ijklmnopqrst\0",
        method.as_bytes(),
        b"\0",
    ]
    .concat()
}

/// Plays one connection in a thread of its own.
pub(crate) fn stage(play: impl FnOnce(&mut Peer) + Send + 'static) -> (Endpoint, JoinHandle<()>) {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    let endpoint = Endpoint {
        transport: Transport::Tcp("127.0.0.1".to_owned(), port),
        user: "ann".to_owned(),
        password: Secret::new("secret"),
        database: "d".to_owned(),
        security: dbdyno_wire::Security::without_tls(),
    };
    let player = thread::spawn(move || {
        let (stream, _) = listener.accept().unwrap();
        stream.set_nodelay(true).unwrap();
        play(&mut Peer(stream));
    });
    (endpoint, player)
}
