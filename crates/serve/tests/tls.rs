//! Clients that ask for encryption, and what can go wrong on the way to it.

use std::io::{Read, Write};
use std::net::Shutdown;
use std::sync::Arc;

use dbdyno_engine::disk::SimDisk;
use dbdyno_model::{Dialect, Secret, Tls, TlsMode};
use dbdyno_serve::{EngineListener, Listener, ServeLimits, ServerSecurity, Settings};
use dbdyno_wire::mysql::MysqlConnection;
use dbdyno_wire::{Client as _, Endpoint, Param, Security};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{
    ClientConfig, ClientConnection, DigitallySignedStruct, Error, SignatureScheme, StreamOwned,
};

use crate::place::{Raw, connect, endpoint, on_disk, refused, rows, settings};

/// The number of this bit is 11: CLIENT_SSL.
const TLS: u32 = 1 << 11;
/// Protocol of 4.1, the length of the proof in one byte, methods with names.
const USUAL: u32 = 0x0008_8200;

fn server(security: ServerSecurity, password: &str) -> EngineListener {
    on(Listener::bind_tcp("127.0.0.1:0").unwrap(), security, password)
}

fn on(listener: Listener, security: ServerSecurity, password: &str) -> EngineListener {
    let limits = ServeLimits { request_bytes: 8 << 20, ..ServeLimits::default() };
    let settings = Settings { security: Some(security), ..settings(limits, password) };
    EngineListener::start(listener, on_disk(&SimDisk::default()), settings).unwrap()
}

fn encrypted(plain: &Endpoint) -> Endpoint {
    let tls = Tls { mode: Some(TlsMode::Required), ..Tls::default() };
    let security = Security::from_options(&tls, Dialect::Mysql, &plain.transport).unwrap();
    Endpoint { security, ..plain.clone() }
}

#[test]
fn who_asks_for_encryption_has_it_and_others_need_not() {
    let server = server(ServerSecurity::self_signed().unwrap(), crate::place::PASSWORD);
    let mut open = connect(&server);
    assert_eq!(open.encryption(), None);
    assert_eq!(rows(&mut open, "SHOW STATUS LIKE 'ssl%'"), ["Ssl_version|", "Ssl_cipher|"]);
    let mut client = MysqlConnection::connect(&encrypted(&endpoint(&server))).unwrap();
    let with = client.encryption().unwrap();
    let told = [format!("Ssl_version|{}", with.version), format!("Ssl_cipher|{}", with.cipher)];
    assert_eq!(rows(&mut client, "SHOW SESSION STATUS LIKE 'Ssl%'"), told);
    assert_eq!(rows(&mut client, "SHOW VARIABLES LIKE 'have_ssl'"), ["have_ssl|YES"]);
    // More than a record of TLS holds, in both directions.
    client.run("CREATE TABLE t (id INT PRIMARY KEY, c LONGTEXT)").unwrap();
    let text = "0123456789abcdef".repeat(3 << 16);
    let insert = client.prepare("INSERT INTO t VALUES (?, ?)").unwrap();
    client.execute(insert, &vec![Param::Int(1), Param::Text(text.as_bytes())]).unwrap();
    assert_eq!(rows(&mut client, "SELECT c FROM t"), [&*text]);
    assert_eq!(rows(&mut open, "SELECT c FROM t"), [&*text]);
    let wrong = Endpoint { password: Secret::new("wrong"), ..encrypted(&endpoint(&server)) };
    assert_eq!(refused(MysqlConnection::connect(&wrong)).0, 1045);
    server.stop().unwrap();
}

#[test]
fn who_has_to_encrypt_and_does_not_is_told_so() {
    let required = ServerSecurity::self_signed().unwrap().required();
    let over_tcp = server(required.clone(), crate::place::PASSWORD);
    let plain = endpoint(&over_tcp);
    let error = MysqlConnection::connect(&plain).unwrap_err().to_string();
    assert!(error.contains("3159") && error.contains("tls=required"), "{error}");
    let mut client = MysqlConnection::connect(&encrypted(&plain)).unwrap();
    let shown = rows(&mut client, "SHOW VARIABLES LIKE 'require%'");
    assert_eq!(shown, ["require_secure_transport|ON"]);
    over_tcp.stop().unwrap();
    // What goes through a socket of this host is nobody else's to read.
    let directory = tempfile::tempdir().unwrap();
    let socket = Listener::bind_unix(&directory.path().join("s")).unwrap();
    let over_socket = on(socket, required, crate::place::PASSWORD);
    assert_eq!(connect(&over_socket).encryption(), None);
    let client = MysqlConnection::connect(&encrypted(&endpoint(&over_socket))).unwrap();
    assert!(client.encryption().is_some());
    over_socket.stop().unwrap();
}

/// The short answer to the greeting, which asks for encryption: a packet.
fn question() -> Vec<u8> {
    let mut packet = vec![32, 0, 0, 1];
    packet.extend_from_slice(&(USUAL | TLS).to_le_bytes());
    packet.extend_from_slice(&[0, 0, 0, 1, 45]);
    packet.extend_from_slice(&[0; 23]);
    packet
}

/// Who it is, as packet number 2, behind the handshake.
fn hello() -> Vec<u8> {
    let mut payload = (USUAL | TLS).to_le_bytes().to_vec();
    payload.extend_from_slice(&[0, 0, 0, 1, 45]);
    payload.extend_from_slice(&[0; 23]);
    payload.extend_from_slice(b"dbdyno\0\0mysql_native_password\0");
    [&[payload.len() as u8, 0, 0, 2][..], &payload].concat()
}

fn handshake() -> ClientConnection {
    let provider = Arc::new(ring::default_provider());
    let config = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .unwrap()
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(Anybody(provider)))
        .with_no_client_auth();
    ClientConnection::new(Arc::new(config), ServerName::try_from("localhost").unwrap()).unwrap()
}

/// What a client begins with: the question, and the first message of TLS, which waits for nothing.
fn beginning() -> (ClientConnection, Vec<u8>) {
    let mut session = handshake();
    let mut bytes = question();
    session.write_tls(&mut bytes).unwrap();
    (session, bytes)
}

/// Logs in behind a handshake that has begun, and asks for a number.
fn is_served(session: ClientConnection, raw: Raw) {
    let mut stream = StreamOwned::new(session, raw.0);
    stream.write_all(&hello()).unwrap();
    assert_eq!(packet(&mut stream), (3, vec![0, 0, 0, 2, 0, 0, 0]), "OK");
    stream.write_all(b"\x09\0\0\0\x03SELECT 7").unwrap();
    assert_eq!(packet(&mut stream), (1, vec![1]), "one column");
}

fn packet(stream: &mut impl Read) -> (u8, Vec<u8>) {
    let mut header = [0; 4];
    stream.read_exact(&mut header).unwrap();
    let mut payload = vec![0; usize::from(header[0])];
    stream.read_exact(&mut payload).unwrap();
    (header[3], payload)
}

/// A server whose account has no password, so that raw clients get in.
fn open_server() -> EngineListener {
    server(ServerSecurity::self_signed().unwrap(), "")
}

/// Another client is served, encrypted and not.
fn undisturbed(server: EngineListener) {
    let plain = Endpoint { password: Secret::default(), ..endpoint(&server) };
    for endpoint in [encrypted(&plain), plain] {
        let mut client = MysqlConnection::connect(&endpoint).unwrap();
        assert_eq!(rows(&mut client, "SELECT 1"), ["1"]);
    }
    server.stop().unwrap();
}

#[test]
fn the_handshake_may_come_together_with_the_question_or_byte_by_byte() {
    let server = open_server();
    let (session, bytes) = beginning();
    let mut raw = Raw::greeted(&server);
    raw.0.write_all(&bytes).unwrap();
    is_served(session, raw);
    let (session, bytes) = beginning();
    let mut raw = Raw::greeted(&server);
    for byte in bytes {
        raw.0.write_all(&[byte]).unwrap();
    }
    is_served(session, raw);
    undisturbed(server);
}

#[test]
fn a_handshake_that_breaks_off_ends_its_own_connection() {
    let server = open_server();
    let (_, bytes) = beginning();
    for torn in (question().len() - 2..bytes.len()).step_by(9) {
        let mut raw = Raw::greeted(&server);
        raw.0.write_all(&bytes[..torn]).unwrap();
        // The server may have been first.
        let _ = raw.0.shutdown(Shutdown::Write);
        raw.closes();
    }
    undisturbed(server);
}

#[test]
fn what_is_no_handshake_is_answered_by_tls_and_not_in_the_clear() {
    const ALERT: u8 = 21;
    let server = open_server();
    // A login in the clear behind the question: it must not count as said under encryption.
    for after in [&hello()[..], b"\x03SELECT 1", &[0x16, 3, 1, 0xFF, 0xFF, 1], &[0; 600]] {
        let mut raw = Raw::greeted(&server);
        raw.0.write_all(&[&question(), after].concat()).unwrap();
        // The server may have been first.
        let _ = raw.0.shutdown(Shutdown::Write);
        let mut said = Vec::new();
        let _ = raw.0.read_to_end(&mut said);
        assert!(said.is_empty() || said[0] == ALERT, "{after:?}: {said:?}");
    }
    undisturbed(server);
}

#[test]
fn a_second_question_and_one_that_was_not_invited_are_refused() {
    let server = open_server();
    let (session, bytes) = beginning();
    let mut raw = Raw::greeted(&server);
    raw.0.write_all(&bytes).unwrap();
    let mut stream = StreamOwned::new(session, raw.0);
    let mut again = question();
    again[3] = 2;
    stream.write_all(&again).unwrap();
    let (number, payload) = packet(&mut stream);
    assert_eq!((number, &payload[..3]), (3, &[0xFF, 0x2B, 0x07][..]), "1835, malformed");
    let mut rest = Vec::new();
    assert_eq!(stream.read_to_end(&mut rest).unwrap(), 0, "and a goodbye in TLS: no torn end");
    undisturbed(server);
    let plain = crate::place::serve(on_disk(&SimDisk::default()), ServeLimits::default());
    let mut raw = Raw::greeted(&plain);
    raw.0.write_all(&question()).unwrap();
    assert_eq!(raw.error(), 1835, "it does not encrypt");
    raw.closes();
    plain.stop().unwrap();
}

#[test]
fn a_server_ends_while_clients_are_silent_under_encryption() {
    let server = open_server();
    let plain = Endpoint { password: Secret::default(), ..endpoint(&server) };
    let mut silent = MysqlConnection::connect(&encrypted(&plain)).unwrap();
    silent.run("CREATE TABLE t (id INT PRIMARY KEY)").unwrap();
    let mut torn = Raw::greeted(&server);
    torn.0.write_all(&beginning().1[..80]).unwrap();
    server.stop().unwrap();
    assert!(silent.query("SELECT 1").is_err());
    torn.closes();
}

/// Believes whoever answers.
#[derive(Debug)]
struct Anybody(Arc<CryptoProvider>);

impl ServerCertVerifier for Anybody {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let known = &self.0.signature_verification_algorithms;
        rustls::crypto::verify_tls12_signature(message, certificate, signed, known)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let known = &self.0.signature_verification_algorithms;
        rustls::crypto::verify_tls13_signature(message, certificate, signed, known)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
