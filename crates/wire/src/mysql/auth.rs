//! Proofs of the password.
//!
//! ```text
//!   mysql_native_password     SHA1(p) ⊕ SHA1(nonce · SHA1(SHA1(p)))
//!   caching_sha2_password     SHA256(p) ⊕ SHA256(SHA256(SHA256(p)) · nonce)
//!        │
//!        ├── 3: the server had the hash in its cache; done
//!        └── 4: it wants the password itself
//!              ├── over TLS or a unix socket: as it is
//!              └── else: ⊕ nonce, then RSA-OAEP under a key that the user believes, or not at all
//!   sha256_password           the password itself: over TLS as it is, else under such a key
//!   mysql_clear_password      the password itself, over TLS that was asked for or not at all
//! ```
//!
//! Which method is spoken is the server's choice, or that of whoever stands between, and so is the
//! nonce. A proof tells nobody the password, but who has it can try passwords on it. The password
//! itself goes where the key that hides it is believed: see [`crate::server_key`]. TLS that
//! verifies nobody, `preferred` or `required`, hides it from listeners and not from one who answers
//! in the server's place. Who is across a hostile network says `tls=verify-identity`.

use dbdyno_model::{KEY_FILE, KEY_OFFERED, Secret};
use rsa::{Oaep, RsaPublicKey};
use sha1::{Digest, Sha1};
use sha2::Sha256;

use super::codec::{EOF, ERR, OK, Reader, server_error};
use super::latin1;
use super::packet::Channel;
use crate::error::WireError;
use crate::server_key::{self, ServerKey};
use crate::stream::{Endpoint, Privacy};

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
    pub(crate) fn from_name(name: &str) -> Option<Method> {
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

/// What MySQL and MariaDB keep of this password for `mysql_native_password`, `*` and 40 hexadecimal
/// digits, which `SET PASSWORD` takes in the place of the password. Who reads it in a log of
/// statements cannot log in with it alone, and finds a password of 128 random bits by no guessing.
pub fn native_password_hash(password: &Secret) -> String {
    let twice = Sha1::digest(Sha1::digest(password.expose()));
    let digits: Vec<String> = twice.iter().map(|byte| format!("{byte:02X}")).collect();
    format!("*{}", digits.concat())
}

/// XOR, the mask repeated as often as needed.
pub(crate) fn xor(bytes: &[u8], mask: &[u8]) -> Vec<u8> {
    bytes.iter().zip(mask.iter().cycle()).map(|(byte, mask)| byte ^ mask).collect()
}

/// How an account is proved, by the name that the server gave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AuthRequest {
    Proof(Method),
    Sha256(Key),
    Clear,
}

/// Whether the server has been asked for its key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Key {
    Unasked,
    Awaited,
    Used,
}

/// A login under way.
struct Login<'a> {
    channel: &'a mut Channel,
    endpoint: &'a Endpoint,
    nonce: Vec<u8>,
    asked: AuthRequest,
}

/// Converses with the server until it lets us in or refuses. The first proof, by `method`, has been
/// sent.
///
/// # Errors
/// [`WireError::Login`] with the server's words; [`WireError::Exposed`] where the password would be
/// told to whoever listens; [`WireError::Protocol`] for a method that is not spoken.
pub(super) fn finish(
    channel: &mut Channel,
    endpoint: &Endpoint,
    method: Method,
    nonce: &[u8],
) -> Result<(), WireError> {
    let (nonce, asked) = (nonce.to_vec(), AuthRequest::Proof(method));
    let mut login = Login { channel, endpoint, nonce, asked };
    for _ in 0..PATIENCE {
        if login.step()? == Step::Done {
            return Ok(());
        }
    }
    Err(WireError::Protocol("the login does not come to an end".to_owned()))
}

/// What one packet of the server led to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Step {
    More,
    Done,
}

impl Login<'_> {
    /// Answers one packet.
    fn step(&mut self) -> Result<Step, WireError> {
        let head = self.channel.await_head()?;
        let packet = self.channel.take_payload(head)?.to_vec();
        let mut reader = Reader(&packet);
        match (reader.u8()?, self.asked) {
            (OK, _) => return Ok(Step::Done),
            (ERR, _) => return Err(login_error(server_error(&packet))),
            (EOF, _) => {
                self.asked = asked_method(&mut reader)?;
                self.nonce = reader.0.iter().copied().take(NONCE).collect();
                self.begin()?;
            }
            (MORE, AuthRequest::Proof(Method::CachingSha2)) if reader.0 == CACHED => {}
            (MORE, AuthRequest::Proof(Method::CachingSha2)) if reader.0 == WANTS_PASSWORD => {
                self.send_password()?;
            }
            (MORE, AuthRequest::Sha256(Key::Awaited)) => {
                self.asked = AuthRequest::Sha256(Key::Used);
                self.seal(&offered(reader.0)?)?;
            }
            (other, _) => {
                return Err(WireError::Protocol(format!(
                    "packet of kind {other:#x} during the login"
                )));
            }
        }
        Ok(Step::More)
    }

    /// Says first what the method wants to hear first.
    fn begin(&mut self) -> Result<(), WireError> {
        let password = &self.endpoint.password;
        let first = match self.asked {
            AuthRequest::Proof(method) => method.proof(password, &self.nonce),
            AuthRequest::Sha256(_) => return self.begin_sha256(),
            AuthRequest::Clear => {
                let encrypted = self.channel.stream().privacy() == Privacy::Encrypted;
                if !encrypted || !self.endpoint.security.is_demanded() {
                    return Err(self.exposed_clear());
                }
                clear(password)
            }
        };
        self.say(&first)
    }

    fn begin_sha256(&mut self) -> Result<(), WireError> {
        let password = &self.endpoint.password;
        let privacy = self.channel.stream().privacy();
        if password.is_empty() || privacy == Privacy::Encrypted {
            return self.say(&clear(password));
        }
        match self.endpoint.security.key() {
            ServerKey::InFile(file) => self.seal(&server_key::read(file)?),
            // On this host nobody stands between.
            ServerKey::None if privacy == Privacy::Open => Err(exposed("sha256_password")),
            ServerKey::None | ServerKey::AnyOffered => {
                self.asked = AuthRequest::Sha256(Key::Awaited);
                self.say(&[ASK_FOR_KEY_OF_SHA256])
            }
        }
    }

    /// Does what a server wants that has no hash in its cache.
    fn send_password(&mut self) -> Result<(), WireError> {
        let password = &self.endpoint.password;
        if password.is_empty() || self.channel.stream().privacy() != Privacy::Open {
            return self.say(&clear(password));
        }
        match self.endpoint.security.key() {
            ServerKey::None => Err(exposed("caching_sha2_password, which has not met it lately")),
            ServerKey::InFile(file) => self.seal(&server_key::read(file)?),
            ServerKey::AnyOffered => {
                self.say(&[ASK_FOR_KEY])?;
                let key = self.hear_key()?;
                self.seal(&key)
            }
        }
    }

    fn hear_key(&mut self) -> Result<RsaPublicKey, WireError> {
        let head = self.channel.await_head()?;
        let answer = self.channel.take_payload(head)?;
        match answer.split_first() {
            Some((&MORE, pem)) => offered(pem),
            Some((&ERR, _)) => Err(login_error(server_error(answer))),
            _ => Err(WireError::Protocol(format!(
                "packet of kind {:#x} instead of a key",
                head.kind
            ))),
        }
    }

    /// Sends the password under a key.
    fn seal(&mut self, key: &RsaPublicKey) -> Result<(), WireError> {
        let masked = xor(&clear(&self.endpoint.password), &self.nonce);
        let sealed = key
            .encrypt(&mut rsa::rand_core::OsRng, Oaep::new::<Sha1>(), &masked)
            .map_err(|error| {
                WireError::Protocol(format!(
                    "the password does not fit the server's RSA key: {error}"
                ))
            })?;
        self.say(&sealed)
    }

    fn say(&mut self, words: &[u8]) -> Result<(), WireError> {
        self.channel.payload().extend_from_slice(words);
        self.channel.send()
    }

    #[cold]
    fn exposed_clear(&self) -> WireError {
        let how = match self.channel.stream().privacy() {
            Privacy::Encrypted => "over TLS that is only preferred, whoever answers",
            Privacy::Open | Privacy::Local => "without TLS",
        };
        WireError::Exposed(format!(
            "the server asks for the password in clear (mysql_clear_password) {how}; it was not \
             sent. Say tls=verify-identity, or tls=required where the network is trusted"
        ))
    }
}

/// A server, or who stands in its place, wants to be told the password over a wire that anybody may
/// read.
#[cold]
fn exposed(method: &str) -> WireError {
    WireError::Exposed(format!(
        "the server asks for the password itself ({method}) over TCP without encryption, where \
         whoever answers or stands between could read it; it was not sent. Say tls=required, or \
         tls=verify-identity to be sure who answers; or use the unix socket, ?socket=PATH; or name \
         the server's RSA key, {KEY_FILE}=FILE (its public_key.pem), or take whichever it offers, \
         {KEY_OFFERED}=on, which hides the password from listeners only"
    ))
}

fn asked_method(reader: &mut Reader<'_>) -> Result<AuthRequest, WireError> {
    let name = latin1::decode(reader.until_zero());
    match name.as_str() {
        "sha256_password" => return Ok(AuthRequest::Sha256(Key::Unasked)),
        "mysql_clear_password" => return Ok(AuthRequest::Clear),
        _ => {}
    }
    Method::from_name(&name).map(AuthRequest::Proof).ok_or_else(|| {
        let name = if name.is_empty() { "mysql_old_password" } else { &name };
        WireError::Protocol(format!(
            "the account wants to be proved by {name:?}, which dbdyno does not speak; use an \
             account IDENTIFIED WITH caching_sha2_password, mysql_native_password or \
             sha256_password"
        ))
    })
}

/// The password and the zero byte that ends it.
fn clear(password: &Secret) -> Vec<u8> {
    [password.expose().as_bytes(), &[0]].concat()
}

/// The key that a server offers.
fn offered(pem: &[u8]) -> Result<RsaPublicKey, WireError> {
    server_key::in_pem(pem).map_err(|error| {
        WireError::Protocol(format!("the server's RSA key cannot be read: {error}"))
    })
}

/// The meaning of an error packet during the login.
pub(super) fn login_error(error: WireError) -> WireError {
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
        assert_eq!(native_password_hash(&password), format!("*{}", stored.to_uppercase()));
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
            assert_eq!(Method::from_name(method.name()), Some(method));
        }
    }
}
