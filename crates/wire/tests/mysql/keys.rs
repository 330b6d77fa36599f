//! A server, or who stands in its place, that asks for the password itself: to whom it is told, and
//! under which key.

use std::fs;

use dbdyno_model::{Dialect, PasswordKey, Secret, Tls, Transport};
use dbdyno_wire::mysql::MysqlConnection;
use dbdyno_wire::{Endpoint, Security, ServerKey, WireError};
use rsa::pkcs8::{EncodePublicKey as _, LineEnding};
use rsa::rand_core::OsRng;
use rsa::{Oaep, RsaPrivateKey};
use sha1::Sha1;

use super::mock::Folder;
use super::stage::{DEPRECATE_EOF, OK, Peer, greeting, stage};

const NONCE: &[u8] = b"ABCDEFGHIJKLMNOPQRST";

fn switch(method: &str) -> Vec<u8> {
    [b"\xfe", method.as_bytes(), b"\0", NONCE, b"\0"].concat()
}

fn believing(key: ServerKey, endpoint: Endpoint) -> Endpoint {
    Endpoint { security: Security::without_tls().with_key(key), ..endpoint }
}

/// All that a client still says until it has gone.
fn rest(peer: &mut Peer) -> Vec<u8> {
    use std::io::Read as _;
    let mut rest = Vec::new();
    // It may end with a reset, for not all was read.
    let _ = peer.0.read_to_end(&mut rest);
    rest
}

#[test]
fn no_key_of_a_stranger_gets_the_password() {
    // The full way announced at once, after another method, and the older method.
    for (announced, asks) in [
        ("caching_sha2_password", vec![b"\x01\x04".to_vec()]),
        ("mysql_native_password", vec![switch("caching_sha2_password"), b"\x01\x04".to_vec()]),
        ("mysql_native_password", vec![switch("sha256_password")]),
        ("caching_sha2_password", vec![switch("sha256_password")]),
    ] {
        let (endpoint, player) = stage(move |peer| {
            peer.send(0, &greeting(DEPRECATE_EOF, announced));
            peer.read();
            let mut number = 2;
            for (turn, ask) in asks.iter().enumerate() {
                peer.send(number, ask);
                if turn + 1 < asks.len() {
                    peer.read();
                }
                number += 2;
            }
            assert_eq!(rest(peer), b"", "nothing is asked for and nothing is told");
        });
        let error = MysqlConnection::connect(&endpoint).unwrap_err();
        assert!(matches!(error, WireError::Exposed(_)), "{error}");
        let text = error.to_string();
        for way in ["tls=required", "socket=", "server-public-key-path=", "get-server-public-key"] {
            assert!(text.contains(way), "{way}: {text}");
        }
        assert!(!text.contains("secret"), "{text}");
        drop(endpoint);
        player.join().unwrap();
    }
}

#[test]
fn the_password_is_sealed_under_the_key_that_the_user_gave() {
    let ours = RsaPrivateKey::new(&mut OsRng, 1024).unwrap();
    let folder = Folder::new();
    let file = folder.0.join("public_key.pem");
    // As MySQL 8.0.33 writes it.
    let pem = ours.to_public_key().to_public_key_pem(LineEnding::LF).unwrap() + "\0";
    fs::write(&file, pem).unwrap();
    for method in ["caching_sha2_password", "sha256_password"] {
        let key = ours.clone();
        let (endpoint, player) = stage(move |peer| {
            peer.send(0, &greeting(DEPRECATE_EOF, "mysql_native_password"));
            peer.read();
            peer.send(2, &switch(method));
            let mut sealed = peer.read();
            let mut number = 4;
            if method == "caching_sha2_password" {
                peer.send(number, b"\x01\x04");
                sealed = peer.read();
                number = 6;
            }
            // The key was not asked for: what came is the password.
            let masked = key.decrypt(Oaep::new::<Sha1>(), &sealed).unwrap();
            let plain: Vec<u8> = masked.iter().zip(NONCE).map(|(byte, mask)| byte ^ mask).collect();
            assert_eq!(plain, b"secret\0");
            peer.send(number, OK);
            peer.read();
        });
        drop(
            MysqlConnection::connect(&believing(ServerKey::InFile(file.clone()), endpoint))
                .unwrap(),
        );
        player.join().unwrap();
    }
}

#[test]
fn a_key_that_is_offered_is_taken_where_the_user_has_said_so() {
    let theirs = RsaPrivateKey::new(&mut OsRng, 1024).unwrap();
    let pem = theirs.to_public_key().to_public_key_pem(LineEnding::LF).unwrap();
    for (method, question) in [("caching_sha2_password", 2), ("sha256_password", 1)] {
        let (key, pem) = (theirs.clone(), pem.clone());
        let (endpoint, player) = stage(move |peer| {
            peer.send(0, &greeting(DEPRECATE_EOF, "mysql_native_password"));
            peer.read();
            peer.send(2, &switch(method));
            let mut number = 4;
            if method == "caching_sha2_password" {
                peer.read();
                peer.send(number, b"\x01\x04");
                number = 6;
            }
            assert_eq!(peer.read(), [question]);
            peer.send(number, &[b"\x01", pem.as_bytes()].concat());
            let masked = key.decrypt(Oaep::new::<Sha1>(), &peer.read()).unwrap();
            assert_eq!(masked[0] ^ NONCE[0], b's');
            // A second key, of which nobody has spoken, gets nothing.
            peer.send(number + 2, &[b"\x01", pem.as_bytes()].concat());
            assert_eq!(rest(peer), b"");
        });
        let error =
            MysqlConnection::connect(&believing(ServerKey::AnyOffered, endpoint)).unwrap_err();
        assert!(matches!(error, WireError::Protocol(_)), "{error}");
        player.join().unwrap();
    }
}

#[test]
fn the_cached_hash_lets_in_without_any_key() {
    let (endpoint, player) = stage(|peer| {
        peer.send(0, &greeting(DEPRECATE_EOF, "caching_sha2_password"));
        peer.read();
        peer.send(2, b"\x01\x03");
        peer.send(3, OK);
        peer.read();
    });
    drop(MysqlConnection::connect(&endpoint).unwrap());
    player.join().unwrap();
    let (endpoint, player) = stage(|peer| {
        peer.send(0, &greeting(DEPRECATE_EOF, "caching_sha2_password"));
        peer.read();
        peer.send(2, b"\x01\x04");
        assert_eq!(peer.read(), [0], "an account without a password has nothing to hide");
        peer.send(4, OK);
        peer.read();
    });
    let nobody = Endpoint { password: Secret::default(), ..endpoint };
    drop(MysqlConnection::connect(&nobody).unwrap());
    player.join().unwrap();
}

#[test]
fn a_file_that_is_no_key_is_complained_of_at_once() {
    let folder = Folder::new();
    let file = folder.0.join("not a key");
    fs::write(&file, "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n").unwrap();
    for path in [file.display().to_string(), "/nowhere/key.pem".to_owned()] {
        let tls = Tls { password_key: PasswordKey::File(path.clone()), ..Tls::default() };
        let to = Transport::Tcp("127.0.0.1".to_owned(), 1);
        let error = Security::from_options(&tls, Dialect::Mysql, &to).unwrap_err().to_string();
        assert!(error.contains(&path) && error.contains("public_key.pem"), "{error}");
    }
}

#[test]
fn a_greeting_takes_no_memory_for_what_it_announces() {
    // Packets of full length that go on without end: it is refused by the header of the first.
    let (endpoint, player) = stage(|peer| {
        use std::io::Write as _;
        let piece = vec![b'x'; 1 << 16];
        let mut sent = 0_usize;
        for number in 0..64 {
            if peer.0.write_all(&[0xFF, 0xFF, 0xFF, number]).is_err() {
                break;
            }
            for _ in 0..256 {
                if peer.0.write_all(&piece[..]).is_err() {
                    break;
                }
                sent += piece.len();
            }
        }
        // What the sockets hold, and not a gigabyte.
        assert!(sent < 64 << 20, "{sent} bytes were listened to");
    });
    let error = MysqlConnection::connect(&endpoint).unwrap_err();
    assert!(error.to_string().contains("in one piece"), "{error}");
    player.join().unwrap();
}
