//! Proofs of the password.
//!
//! ```text
//!   mysql_native_password     SHA1(p) ⊕ SHA1(nonce · SHA1(SHA1(p)))
//!   caching_sha2_password     SHA256(p) ⊕ SHA256(SHA256(SHA256(p)) · nonce)
//!        │
//!        ├── 3: the server had the hash in its cache; done
//!        └── 4: it wants the password itself
//!              ├── over TLS or a unix socket: as it is
//!              └── else: ⊕ nonce, then RSA-OAEP under the key that the server sends
//!   sha256_password           the password itself: over TLS as it is, else under that key
//!   mysql_clear_password      the password itself, over TLS or not at all
//! ```
//!
//! The key is not vouched for: who can stand between client and server can offer its own and read
//! the password. That is the protocol without TLS; MySQL's clients do the same when told to
//! (`--get-server-public-key`). The same holds for TLS that verifies nobody, `tls=required`. Who is
//! across a hostile network says `tls=verify-identity`.

use dbdyno_model::Secret;
use rsa::pkcs8::DecodePublicKey;
use rsa::{Oaep, RsaPublicKey};
use sha1::{Digest, Sha1};
use sha2::Sha256;

use super::codec::{EOF, ERR, OK, Reader, server_error};
use super::latin1;
use super::packet::Channel;
use crate::error::WireError;
use crate::stream::Privacy;

/// Bytes of a nonce.
pub(crate) const NONCE: usize = 20;

/// First byte of a packet with more of the method's own conversation.
pub(crate) const MORE: u8 = 0x01;
pub(crate) const CACHED: &[u8] = &[3];
pub(crate) const WANTS_PASSWORD: &[u8] = &[4];
pub(crate) const ASK_FOR_KEY: u8 = 2;
/// The same in the conversation of `sha256_password`.
const ASK_FOR_KEY_OF_SHA256: u8 = 1;
/// Packets that a login can take. Real ones need at most five.
const PATIENCE: usize = 16;

/// A way to prove a password without telling it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Method {
    /// `mysql_native_password`: MySQL up to 5.7, MariaDB.
    Native,
    /// `caching_sha2_password`: MySQL since 8.0.
    CachingSha2,
}

impl Method {
    /// The method with this name.
    pub(crate) fn named(name: &str) -> Option<Method> {
        [Method::Native, Method::CachingSha2].into_iter().find(|method| method.name() == name)
    }

    /// The name in the protocol and in `CREATE USER … IDENTIFIED WITH`.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Method::Native => "mysql_native_password",
            Method::CachingSha2 => "caching_sha2_password",
        }
    }

    /// The proof for this nonce. An empty password has the empty proof.
    pub(crate) fn proof(self, password: &Secret, nonce: &[u8]) -> Vec<u8> {
        if password.is_empty() {
            return Vec::new();
        }
        match self {
            Method::Native => {
                let once = Sha1::digest(password.expose());
                let twice = Sha1::digest(once);
                xor(&once, &Sha1::new().chain_update(nonce).chain_update(twice).finalize())
            }
            Method::CachingSha2 => {
                let once = Sha256::digest(password.expose());
                let twice = Sha256::digest(once);
                xor(&once, &Sha256::new().chain_update(twice).chain_update(nonce).finalize())
            }
        }
    }
}

/// XOR, the mask repeated as often as needed.
pub(crate) fn xor(bytes: &[u8], mask: &[u8]) -> Vec<u8> {
    bytes.iter().zip(mask.iter().cycle()).map(|(byte, mask)| byte ^ mask).collect()
}

/// How an account is proved, by the name that the server gave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Asked {
    Proof(Method),
    Sha256,
    Clear,
}

/// Converses with the server until it lets us in or refuses. The first proof has been sent.
///
/// # Errors
/// [`WireError::Login`] with the server's words; [`WireError::Protocol`] for a method that is not
/// spoken, or that would tell the password to whoever listens.
pub(super) fn finish(
    channel: &mut Channel,
    password: &Secret,
    nonce: &[u8],
) -> Result<(), WireError> {
    let mut nonce = nonce.to_vec();
    let mut asked = None;
    for _ in 0..PATIENCE {
        let head = channel.head()?;
        let mut reader = Reader(channel.take(head)?);
        match reader.u8()? {
            OK => return Ok(()),
            ERR => {
                let head = [&[ERR], reader.0].concat();
                return Err(refused(server_error(&head)));
            }
            EOF => {
                let method = asked_method(&mut reader)?;
                nonce = reader.0.iter().copied().take(NONCE).collect();
                begin(channel, method, password, &nonce)?;
                asked = Some(method);
            }
            MORE if reader.0 == CACHED => {}
            MORE if reader.0 == WANTS_PASSWORD => send_password(channel, password, &nonce)?,
            MORE if asked == Some(Asked::Sha256) => {
                let sealed = seal(reader.0, &xor(&clear(password), &nonce))?;
                channel.payload().extend_from_slice(&sealed);
                channel.send()?;
            }
            other => {
                return Err(WireError::Protocol(format!(
                    "packet of kind {other:#x} during the login"
                )));
            }
        }
    }
    Err(WireError::Protocol("the login does not come to an end".to_owned()))
}

fn asked_method(reader: &mut Reader<'_>) -> Result<Asked, WireError> {
    let name = latin1::decode(reader.until_zero());
    match name.as_str() {
        "sha256_password" => return Ok(Asked::Sha256),
        "mysql_clear_password" => return Ok(Asked::Clear),
        _ => {}
    }
    Method::named(&name).map(Asked::Proof).ok_or_else(|| {
        let name = if name.is_empty() { "mysql_old_password" } else { &name };
        WireError::Protocol(format!(
            "the account wants to be proved by {name:?}, which dbdyno does not speak; use an \
             account IDENTIFIED WITH caching_sha2_password, mysql_native_password or \
             sha256_password"
        ))
    })
}

/// Says first what the method wants to hear first.
fn begin(
    channel: &mut Channel,
    method: Asked,
    password: &Secret,
    nonce: &[u8],
) -> Result<(), WireError> {
    let encrypted = channel.stream().privacy() == Privacy::Encrypted;
    let first = match method {
        Asked::Proof(method) => method.proof(password, nonce),
        Asked::Sha256 if !encrypted && !password.is_empty() => vec![ASK_FOR_KEY_OF_SHA256],
        Asked::Clear if !encrypted => {
            return Err(WireError::Protocol(
                "the account wants its password in clear (mysql_clear_password), which dbdyno \
                 sends over TLS only; say tls=verify-identity, or tls=required where the network \
                 is trusted"
                    .to_owned(),
            ));
        }
        Asked::Sha256 | Asked::Clear => clear(password),
    };
    channel.payload().extend_from_slice(&first);
    channel.send()
}

/// The password and the zero byte that ends it.
fn clear(password: &Secret) -> Vec<u8> {
    [password.expose().as_bytes(), &[0]].concat()
}

fn send_password(channel: &mut Channel, password: &Secret, nonce: &[u8]) -> Result<(), WireError> {
    if channel.stream().privacy() != Privacy::Open {
        channel.payload().extend_from_slice(&clear(password));
        return channel.send();
    }
    channel.payload().push(ASK_FOR_KEY);
    channel.send()?;
    let head = channel.head()?;
    let answer = channel.take(head)?;
    let mut reader = Reader(answer);
    match reader.u8()? {
        MORE => {}
        ERR => return Err(refused(server_error(answer))),
        other => {
            return Err(WireError::Protocol(format!("packet of kind {other:#x} instead of a key")));
        }
    }
    let sealed = seal(reader.0, &xor(&clear(password), nonce))?;
    channel.payload().extend_from_slice(&sealed);
    channel.send()
}

/// Encrypts under the key that the server sent.
fn seal(pem: &[u8], masked: &[u8]) -> Result<Vec<u8>, WireError> {
    let pem = latin1::decode(pem);
    let key = RsaPublicKey::from_public_key_pem(pem.trim()).map_err(|error| {
        WireError::Protocol(format!("the server's RSA key cannot be read: {error}"))
    })?;
    key.encrypt(&mut rsa::rand_core::OsRng, Oaep::new::<Sha1>(), masked).map_err(|error| {
        WireError::Protocol(format!("the password does not fit the server's RSA key: {error}"))
    })
}

/// The meaning of an error packet during the login.
pub(super) fn refused(error: WireError) -> WireError {
    match error {
        WireError::Server(error) => WireError::Login(error),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hex(bytes: &[u8]) -> String {
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    #[test]
    fn proofs_are_undone_by_the_hash_that_a_server_stores() {
        // SELECT PASSWORD('secret') in MariaDB: *14E65567ABDB5135D0CFD9A70B3032C179A49EE7.
        let stored = "14e65567abdb5135d0cfd9a70b3032c179a49ee7";
        let (password, nonce) = (Secret::new("secret"), b"0123456789abcdefghij");
        let proof = Method::Native.proof(&password, nonce);
        let twice = Sha1::digest(Sha1::digest("secret"));
        assert_eq!(hex(&twice), stored);
        let mask = Sha1::new().chain_update(nonce).chain_update(twice).finalize();
        assert_eq!(Sha1::digest(xor(&proof, &mask)), twice);
    }

    #[test]
    fn the_empty_password_has_the_empty_proof() {
        for method in [Method::Native, Method::CachingSha2] {
            assert!(method.proof(&Secret::default(), &[7; NONCE]).is_empty());
            assert_eq!(Method::named(method.name()), Some(method));
        }
    }
}
