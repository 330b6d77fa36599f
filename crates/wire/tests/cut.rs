//! What is cut off when a limit of time has passed, and what comes after it. It is alone in its
//! program, for it cuts off all connections of that.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::channel;
use std::thread;

use dbdyno_model::{Secret, Transport};
use dbdyno_wire::{AllCut, Client as _, Endpoint, Security, WireError, is_all_cut, postgres};

/// Authentication done, version 15.20, backend 77.
const WELCOME: &[u8] = b"R\0\0\0\x08\0\0\0\0S\0\0\0\x1dserver_version\x0015.20 (D)\0\
    K\0\0\0\x0c\0\0\0\x4d\0\0\0\x01Z\0\0\0\x05I";

/// Welcomes whoever comes.
fn welcomed(listener: &TcpListener) -> TcpStream {
    let (mut stream, _) = listener.accept().unwrap();
    assert!(stream.read(&mut [0; 1024]).unwrap() > 0);
    stream.write_all(WELCOME).unwrap();
    stream
}

#[test]
fn what_is_cut_off_returns_and_what_is_begun_later_is_not() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let endpoint = Endpoint {
        transport: Transport::Tcp("127.0.0.1".to_owned(), listener.local_addr().unwrap().port()),
        user: "ann".to_owned(),
        password: Secret::new("secret"),
        database: String::new(),
        security: Security::without_tls(),
    };
    let (hears, heard) = channel();
    let server = thread::spawn(move || {
        let mut first = welcomed(&listener);
        assert!(first.read(&mut [0; 1024]).unwrap() > 0);
        hears.send(()).unwrap();
        // It never answers; the client leaves.
        let _ends = first.read_to_end(&mut Vec::new());
        drop(welcomed(&listener));
    });
    let mut connection = postgres::PostgresConnection::connect(&endpoint).unwrap();
    let asks = thread::spawn(move || connection.query("SELECT 1").unwrap_err());
    heard.recv().unwrap();
    let cut = AllCut::cut_connections();
    assert!(matches!(asks.join().unwrap(), WireError::Cut));
    assert!(matches!(postgres::PostgresConnection::connect(&endpoint), Err(WireError::Cut)));
    // Two limits may have passed at once.
    drop(AllCut::cut_connections());
    assert!(is_all_cut());
    drop(cut);
    assert!(!is_all_cut());
    assert!(postgres::PostgresConnection::connect(&endpoint).is_ok());
    server.join().unwrap();
}
