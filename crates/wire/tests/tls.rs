//! What is said in the clear before a connection is encrypted, and what only after: against servers
//! of a few lines that say what no real one would.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use dbdyno_model::{Dialect, Secret, Tls, TlsMode, Transport};
use dbdyno_wire::{Client, Endpoint, Security, WireError, mysql, postgres};
use rustls::pki_types::PrivateKeyDer;
use rustls::{ServerConfig, ServerConnection, StreamOwned};

const TLS: u8 = 0x08;
const OK: &[u8] = &[0, 0, 0, 2, 0, 0, 0];

/// A server that plays one connection.
fn server(
    dialect: Dialect,
    mode: TlsMode,
    play: impl FnOnce(TcpStream) + Send + 'static,
) -> (Endpoint, JoinHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let transport = Transport::Tcp("127.0.0.1".to_owned(), listener.local_addr().unwrap().port());
    let tls = Tls { mode: Some(mode), ..Tls::default() };
    let endpoint = Endpoint {
        security: Security::from_options(&tls, dialect, &transport).unwrap(),
        transport,
        user: "ann".to_owned(),
        password: Secret::new("s3cret"),
        database: String::new(),
    };
    (endpoint, thread::spawn(move || play(listener.accept().unwrap().0)))
}

fn encrypted(stream: TcpStream) -> StreamOwned<ServerConnection, TcpStream> {
    let key = rcgen::KeyPair::generate().unwrap();
    let params = rcgen::CertificateParams::new(vec!["h".to_owned()]).unwrap();
    let certificate = params.self_signed(&key).unwrap().der().clone();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate], PrivateKeyDer::Pkcs8(key.serialize_der().into()))
        .unwrap();
    StreamOwned::new(ServerConnection::new(Arc::new(config)).unwrap(), stream)
}

fn packet(number: u8, payload: &[u8]) -> Vec<u8> {
    [&[payload.len() as u8, 0, 0, number], payload].concat()
}

/// Number and payload.
fn read(stream: &mut impl Read) -> (u8, Vec<u8>) {
    let mut header = [0; 4];
    stream.read_exact(&mut header).unwrap();
    let mut payload = vec![0; usize::from(header[0]) | usize::from(header[1]) << 8];
    stream.read_exact(&mut payload).unwrap();
    (header[3], payload)
}

/// That of a server that offers TLS.
fn greeting() -> Vec<u8> {
    let mut payload = b"\x0a8.0.0\0\x01\0\0\0".to_vec();
    payload.extend(b"01234567\0");
    payload.extend([0x00, 0x80 | 0x02 | TLS, 8, 2, 0, 0x08, 0, 21]);
    payload.extend([0; 10]);
    payload.extend(b"890123456789\0caching_sha2_password\0");
    packet(0, &payload)
}

fn wants_clear(number: u8) -> Vec<u8> {
    packet(number, b"\xfemysql_clear_password\0")
}

#[test]
fn account_and_password_are_said_after_the_handshake_only() {
    let (endpoint, server) = server(Dialect::Mysql, TlsMode::Required, |mut stream| {
        stream.write_all(&greeting()).unwrap();
        let (number, asked) = read(&mut stream);
        assert_eq!((number, asked.len()), (1, 32), "{asked:?}");
        assert_eq!(asked[1] & TLS, TLS);
        let mut stream = encrypted(stream);
        let (number, answer) = read(&mut stream);
        assert_eq!((number, &answer[..32]), (2, &asked[..]));
        assert_eq!(&answer[32..36], b"ann\0");
        stream.write_all(&wants_clear(3)).unwrap();
        assert_eq!(read(&mut stream), (4, b"s3cret\0".to_vec()));
        stream.write_all(&packet(5, OK)).unwrap();
        // Goodbye, encrypted as well.
        assert_eq!(read(&mut stream), (0, vec![1]));
    });
    let connection = mysql::MysqlConnection::connect(&endpoint).unwrap();
    assert_eq!(connection.encryption().unwrap().version, "TLSv1.3");
    drop(connection);
    server.join().unwrap();
}

#[test]
fn a_password_is_not_told_in_the_clear() {
    let (endpoint, server) = server(Dialect::Mysql, TlsMode::Off, |mut stream| {
        stream.write_all(&greeting()).unwrap();
        read(&mut stream);
        stream.write_all(&wants_clear(2)).unwrap();
        let mut rest = Vec::new();
        // It may end with a reset, for not all was read.
        let _ = stream.read_to_end(&mut rest);
        assert!(!rest.windows(6).any(|piece| piece == b"s3cret"));
    });
    let error = mysql::MysqlConnection::connect(&endpoint).unwrap_err();
    assert!(matches!(error, WireError::Exposed(_)), "{error}");
    assert!(error.to_string().contains("without TLS; it was not sent. Say tls="), "{error}");
    server.join().unwrap();
}

#[test]
fn a_password_is_not_told_to_who_merely_can_encrypt() {
    let (endpoint, server) = server(Dialect::Mysql, TlsMode::Preferred, |mut stream| {
        stream.write_all(&greeting()).unwrap();
        read(&mut stream);
        let mut stream = encrypted(stream);
        read(&mut stream);
        stream.write_all(&wants_clear(3)).unwrap();
        let mut rest = Vec::new();
        let _ = stream.read_to_end(&mut rest);
        assert_eq!(rest, b"");
    });
    let error = mysql::MysqlConnection::connect(&endpoint).unwrap_err();
    assert!(matches!(error, WireError::Exposed(_)), "{error}");
    assert!(error.to_string().contains("only preferred"), "{error}");
    server.join().unwrap();
}

#[test]
fn postgresql_gets_no_password_in_clear_over_tcp() {
    for mode in [TlsMode::Off, TlsMode::Preferred] {
        let (endpoint, server) = server(Dialect::Postgres, mode, move |mut stream| {
            if mode == TlsMode::Preferred {
                stream.read_exact(&mut [0; 8]).unwrap();
                stream.write_all(b"N").unwrap();
            }
            let mut length = [0; 4];
            stream.read_exact(&mut length).unwrap();
            let mut startup = vec![0; u32::from_be_bytes(length) as usize - 4];
            stream.read_exact(&mut startup).unwrap();
            stream.write_all(b"R\0\0\0\x08\0\0\0\x03").unwrap();
            let mut rest = Vec::new();
            let _ = stream.read_to_end(&mut rest);
            assert_eq!(rest, b"");
        });
        let error = postgres::PostgresConnection::connect(&endpoint).unwrap_err();
        assert!(matches!(error, WireError::Exposed(_)), "{error}");
        let text = error.to_string();
        for way in ["tls=required", "host=DIRECTORY", "scram-sha-256"] {
            assert!(text.contains(way), "{text}");
        }
        server.join().unwrap();
    }
}

#[test]
fn what_comes_in_the_clear_is_not_taken_for_what_comes_encrypted() {
    let (endpoint, injected) = server(Dialect::Mysql, TlsMode::Required, |mut stream| {
        stream.write_all(&[greeting(), packet(2, OK)].concat()).unwrap();
        let _ = stream.read_to_end(&mut Vec::new());
    });
    let error = mysql::MysqlConnection::connect(&endpoint).unwrap_err();
    assert!(matches!(error, WireError::Protocol(_) | WireError::Tls(_)), "{error}");
    drop(endpoint);
    injected.join().unwrap();
    let (endpoint, injected) = server(Dialect::Postgres, TlsMode::Required, |mut stream| {
        let mut asked = [0; 8];
        stream.read_exact(&mut asked).unwrap();
        assert_eq!(asked, [0, 0, 0, 8, 0x04, 0xd2, 0x16, 0x2f]);
        stream.write_all(b"SR\0\0\0\x08\0\0\0\0Z\0\0\0\x05I").unwrap();
        let _ = stream.read_to_end(&mut Vec::new());
    });
    let error = postgres::PostgresConnection::connect(&endpoint).unwrap_err();
    assert!(matches!(error, WireError::Tls(_)), "{error}");
    injected.join().unwrap();
}

#[test]
fn a_server_that_only_hangs_up_is_told_so() {
    for (dialect, mode) in [
        (Dialect::Mysql, TlsMode::Required),
        (Dialect::Mysql, TlsMode::Preferred),
        (Dialect::Postgres, TlsMode::Required),
    ] {
        let (endpoint, server) = server(dialect, mode, move |mut stream| {
            if dialect == Dialect::Mysql {
                stream.write_all(&greeting()).unwrap();
                read(&mut stream);
            } else {
                stream.read_exact(&mut [0; 8]).unwrap();
                stream.write_all(b"S").unwrap();
            }
            let _ = stream.read(&mut [0; 1]);
        });
        let error = match dialect {
            Dialect::Mysql => mysql::MysqlConnection::connect(&endpoint).unwrap_err(),
            _ => postgres::PostgresConnection::connect(&endpoint).unwrap_err(),
        };
        let text = error.to_string();
        assert!(text.contains("closed the connection during the handshake"), "{text}");
        assert!(text.contains("say tls=off"), "{text}");
        server.join().unwrap();
    }
}
