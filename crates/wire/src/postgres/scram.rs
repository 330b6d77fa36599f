//! SCRAM-SHA-256 (RFC 5802 and 7677): both sides prove that they know the password, neither shows
//! it.
//!
//! ```text
//!   client                                          server: salt, iterations, StoredKey, ServerKey
//!     n,,n=,r=<ours>                     ──▶
//!                                        ◀──        r=<ours><theirs>,s=<salt>,i=<iterations>
//!     c=biws,r=<both>,p=<ClientProof>    ──▶        checks: SHA-256(proof ⊕ signature) = StoredKey
//!     checks the signature               ◀──        v=<HMAC(ServerKey, all of the above)>
//! ```
//!
//! The user's name stays empty, as PostgreSQL takes it from the startup message. Channel binding
//! needs TLS, which is not spoken here. The password's bytes are used as they are: for ASCII that
//! is what SASLprep gives, for other characters it is so if the password is in the composed form
//! that keyboards produce.

use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use dbdyno_model::Secret;
use hmac::{Hmac, Mac};
use sha2::{Digest, Sha256};

use crate::error::WireError;

/// The mechanism's name on the wire.
pub(crate) const MECHANISM: &str = "SCRAM-SHA-256";

/// More would be minutes of our processor at a stranger's word; servers use 4,096.
const ITERATIONS_MAX: u32 = 10_000_000;

/// As servers have them.
const ITERATIONS: u32 = 4_096;
const SALT: usize = 16;

type Hash = [u8; 32];

/// What either side computes from the password.
pub(crate) struct Keys {
    client_key: Hash,
    server_key: Hash,
}

impl Keys {
    /// `SaltedPassword` of RFC 5802, and the two keys made from it.
    pub(crate) fn derive(password: &[u8], salt: &[u8], iterations: u32) -> Keys {
        let keyed = keyed(password);
        let mut block = keyed.clone();
        block.update(salt);
        block.update(&1_u32.to_be_bytes());
        let mut last: Hash = block.finalize().into_bytes().into();
        let mut salted = last;
        for _ in 1..iterations {
            let mut block = keyed.clone();
            block.update(&last);
            last = block.finalize().into_bytes().into();
            xor(&mut salted, &last);
        }
        Keys { client_key: hmac(&salted, b"Client Key"), server_key: hmac(&salted, b"Server Key") }
    }

    /// What the client shows.
    pub(crate) fn proof(&self, auth_message: &[u8]) -> Hash {
        let stored_key: Hash = Sha256::digest(self.client_key).into();
        let mut proof = hmac(&stored_key, auth_message);
        xor(&mut proof, &self.client_key);
        proof
    }

    /// What the server shows.
    pub(crate) fn signature(&self, auth_message: &[u8]) -> Hash {
        hmac(&self.server_key, auth_message)
    }
}

/// What PostgreSQL keeps of this password, `SCRAM-SHA-256$4096:salt$StoredKey:ServerKey` (RFC
/// 5803), which it takes in the place of the password in `ALTER ROLE … PASSWORD`. Who reads it in a
/// log of statements cannot log in with it, and finds a password of 128 random bits by no guessing.
///
/// # Errors
/// The system's random numbers cannot be read.
pub fn scram_verifier(password: &Secret) -> Result<String, WireError> {
    let mut salt = [0; SALT];
    getrandom::fill(&mut salt)
        .map_err(|error| WireError::Broken(std::io::Error::other(error.to_string())))?;
    Ok(verifier(password.expose().as_bytes(), &salt))
}

fn verifier(password: &[u8], salt: &[u8]) -> String {
    let keys = Keys::derive(password, salt, ITERATIONS);
    let stored_key: Hash = Sha256::digest(keys.client_key).into();
    let [salt, stored, server] =
        [salt, &stored_key[..], &keys.server_key].map(|bytes| BASE64.encode(bytes));
    format!("{MECHANISM}${ITERATIONS}:{salt}${stored}:{server}")
}

fn keyed(key: &[u8]) -> Hmac<Sha256> {
    Hmac::new_from_slice(key).expect("HMAC takes keys of any length")
}

fn hmac(key: &[u8], text: &[u8]) -> Hash {
    let mut mac = keyed(key);
    mac.update(text);
    mac.finalize().into_bytes().into()
}

fn xor(into: &mut Hash, other: &Hash) {
    for (byte, other) in into.iter_mut().zip(other) {
        *byte ^= other;
    }
}

/// The client's side of one exchange.
pub(super) struct Exchange {
    nonce: String,
}

/// What the client answers to the server's challenge, and what it then wants to see.
pub(super) struct Proof {
    /// The client-final-message.
    pub(super) message: String,
    signature: Hash,
}

impl Exchange {
    /// With a nonce of printable characters without comma, never used before.
    pub(super) fn new(nonce: String) -> Exchange {
        Exchange { nonce }
    }

    /// The client-first-message.
    pub(super) fn first(&self) -> String {
        format!("n,,{}", self.first_bare())
    }

    fn first_bare(&self) -> String {
        format!("n=,r={}", self.nonce)
    }

    /// Answers the server-first-message.
    ///
    /// # Errors
    /// A challenge that is not well formed, is not about our nonce, or is absurdly dear.
    pub(super) fn answer_challenge(
        &self,
        challenge: &[u8],
        password: &str,
    ) -> Result<Proof, WireError> {
        let challenge = std::str::from_utf8(challenge).map_err(|_| malformed("is not text"))?;
        let mut attributes = challenge.split(',');
        let mut take = |name: &str| attributes.next().and_then(|item| item.strip_prefix(name));
        let nonce = take("r=").ok_or_else(|| malformed("has no nonce"))?;
        let salt = take("s=").and_then(|salt| BASE64.decode(salt).ok());
        let salt = salt.ok_or_else(|| malformed("has no salt"))?;
        let iterations = take("i=").and_then(|count| count.parse::<u32>().ok());
        let iterations = iterations.ok_or_else(|| malformed("has no iteration count"))?;
        if !nonce.starts_with(&self.nonce) || nonce.len() == self.nonce.len() {
            return Err(malformed("does not answer to what was sent"));
        }
        if !(1..=ITERATIONS_MAX).contains(&iterations) {
            return Err(malformed(&format!("asks for {iterations} iterations")));
        }
        let keys = Keys::derive(password.as_bytes(), &salt, iterations);
        let without_proof = format!("c=biws,r={nonce}");
        let auth_message = format!("{},{challenge},{without_proof}", self.first_bare());
        let proof = BASE64.encode(keys.proof(auth_message.as_bytes()));
        Ok(Proof {
            message: format!("{without_proof},p={proof}"),
            signature: keys.signature(auth_message.as_bytes()),
        })
    }
}

impl Proof {
    /// Checks the server-final-message.
    ///
    /// # Errors
    /// The server did not prove that it knows the password.
    pub(super) fn check_final_message(&self, last: &[u8]) -> Result<(), WireError> {
        let shown = last.strip_prefix(b"v=").and_then(|text| {
            BASE64.decode(text.split(|byte| *byte == b',').next().unwrap_or_default()).ok()
        });
        if shown.as_deref() == Some(&self.signature[..]) {
            return Ok(());
        }
        Err(WireError::Protocol(
            "the server did not prove that it knows the password (its SCRAM signature is wrong): \
             it may not be the server that you mean; check host and port"
                .to_owned(),
        ))
    }
}

fn malformed(what: &str) -> WireError {
    WireError::Protocol(format!("the server's SCRAM challenge {what}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of RFC 7677, section 3, whose user is not empty.
    #[test]
    fn the_rfc_example_holds() {
        let keys =
            Keys::derive(b"pencil", &BASE64.decode("W22ZaJ0SNY7soEsUEjb6gQ==").unwrap(), 4096);
        let auth_message = "n=user,r=rOprNGfwEbeRWgbNEkqO,\
            r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096,\
            c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0";
        assert_eq!(
            BASE64.encode(keys.proof(auth_message.as_bytes())),
            "dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ="
        );
        assert_eq!(
            BASE64.encode(keys.signature(auth_message.as_bytes())),
            "6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4="
        );
    }

    /// A server that has the verifier and never had the password accepts its proof: PostgreSQL
    /// itself is asked by the tests of the sandbox.
    #[test]
    fn a_verifier_proves_the_password_and_does_not_tell_it() {
        let kept = scram_verifier(&Secret::new("pencil")).unwrap();
        assert_ne!(kept, scram_verifier(&Secret::new("pencil")).unwrap(), "salted");
        assert!(!kept.contains("pencil"));
        let [_, salt, keys] = kept.split('$').collect::<Vec<_>>()[..] else { panic!("{kept}") };
        let salt = BASE64.decode(salt.strip_prefix("4096:").unwrap()).unwrap();
        let (stored, server) = keys.split_once(':').unwrap();
        let [stored, server] = [stored, server].map(|key| BASE64.decode(key).unwrap());
        let mut client_key = hmac(&stored, b"all that was said");
        let keys = Keys::derive(b"pencil", &salt, 4096);
        xor(&mut client_key, &keys.proof(b"all that was said"));
        assert_eq!(Sha256::digest(client_key)[..], stored);
        assert_eq!(keys.server_key[..], server);
    }

    #[test]
    fn a_server_that_does_not_know_the_password_is_found_out() {
        let exchange = Exchange::new("abc".to_owned());
        assert_eq!(exchange.first(), "n,,n=,r=abc");
        let challenge = "r=abcdef,s=c2FsdA==,i=2";
        let proof = exchange.answer_challenge(challenge.as_bytes(), "right").unwrap();
        let auth_message = format!("n=,r=abc,{challenge},c=biws,r=abcdef");
        let shown = |password: &[u8]| {
            let keys = Keys::derive(password, b"salt", 2);
            format!("v={}", BASE64.encode(keys.signature(auth_message.as_bytes())))
        };
        assert!(proof.check_final_message(shown(b"right").as_bytes()).is_ok());
        for wrong in [shown(b"wrong").as_bytes(), b"v=", b"", b"e=other-error"] {
            assert!(matches!(proof.check_final_message(wrong), Err(WireError::Protocol(_))));
        }
    }

    #[test]
    fn damaged_challenges_are_refused() {
        let exchange = Exchange::new("abc".to_owned());
        for challenge in [
            "",
            "r=abcd",
            "r=abcd,s=c2FsdA==",
            "r=abcd,s=c2FsdA==,i=x",
            "r=abcd,s=c2FsdA==,i=0",
            "r=abcd,s=c2FsdA==,i=4294967295",
            "r=abcd,s=!,i=4096",
            "r=abc,s=c2FsdA==,i=4096",
            "r=xyz,s=c2FsdA==,i=4096",
            "m=ext,r=abcd,s=c2FsdA==,i=4096",
        ] {
            let result = exchange.answer_challenge(challenge.as_bytes(), "secret");
            let Err(WireError::Protocol(text)) = result else { panic!("{challenge:?} was taken") };
            assert!(!text.contains("secret"));
        }
    }
}
