//! How a server encrypts.
//!
//! ```text
//!   files of a certificate and its key ──┐
//!                                        ├─▶ ServerSecurity ──for each connection──▶ Encrypted
//!   made: signed by itself ──────────────┘
//! ```
//!
//! Clients are not asked for certificates. Sessions are not resumed, so that every connection of a
//! crowd costs the same.

use std::fmt;
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::Arc;

use rcgen::{CertificateParams, DnType, ExtendedKeyUsagePurpose, KeyPair};
use rustls::crypto::ring;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::NoServerSessionStorage;
use rustls::{Error, ServerConfig, ServerConnection};

use super::encrypted::EncryptedStream;
use super::trust::{private_key, read_certificates};
use crate::error::WireError;

/// What a certificate is for that is made.
const OF_THIS_HOST: [&str; 3] = ["localhost", "127.0.0.1", "::1"];

/// How a server encrypts: its certificate has been read or made.
#[derive(Clone)]
pub struct ServerSecurity {
    config: Arc<ServerConfig>,
    is_required: bool,
}

impl fmt::Debug for ServerSecurity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.is_required { "required" } else { "offered" })
    }
}

impl ServerSecurity {
    /// With a certificate, those between it and its authority, and its key: two files in PEM.
    /// `options` are what the user calls them.
    ///
    /// # Errors
    /// [`WireError::Tls`]: a file that cannot be read or has nothing of use in it, or the key of
    /// another certificate.
    pub fn of_files(
        options: [&str; 2],
        certificate: &Path,
        key: &Path,
    ) -> Result<ServerSecurity, WireError> {
        let (certificate, key) = (certificate.to_string_lossy(), key.to_string_lossy());
        let chain = read_certificates(options[0], &certificate).map_err(WireError::Tls)?;
        let private = private_key(options[1], &key).map_err(WireError::Tls)?;
        ServerSecurity::new(chain, private).map_err(|error| {
            WireError::Tls(match error {
                Error::InconsistentKeys(_) => format!(
                    "{}={key} is not the key of the certificate in {}={certificate}; name the two \
                     that belong together",
                    options[1], options[0]
                ),
                other => format!("{}={certificate} is of no use: {other}", options[0]),
            })
        })
    }

    /// With a new key and a certificate of it for this host, which nobody has signed but itself:
    /// clients can encrypt, and cannot know to whom. Neither is written anywhere.
    ///
    /// # Errors
    /// [`WireError::Tls`]: the system has no randomness.
    pub fn self_signed() -> Result<ServerSecurity, WireError> {
        let (certificate, key) = new_certificate().map_err(|error| no_certificate(&error))?;
        ServerSecurity::new(vec![certificate], PrivateKeyDer::Pkcs8(key.into()))
            .map_err(|error| no_certificate(&error))
    }

    /// Whoever comes over a network has to encrypt.
    #[must_use]
    pub fn required(self) -> ServerSecurity {
        ServerSecurity { is_required: true, ..self }
    }

    /// Whether who comes over a network has to encrypt.
    pub fn is_required(&self) -> bool {
        self.is_required
    }

    fn new(
        chain: Vec<CertificateDer<'static>>,
        key: PrivateKeyDer<'static>,
    ) -> Result<ServerSecurity, Error> {
        let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()?
            .with_no_client_auth()
            .with_single_cert(chain, key)?;
        config.session_storage = Arc::new(NoServerSessionStorage {});
        config.send_tls13_tickets = 0;
        Ok(ServerSecurity { config: Arc::new(config), is_required: false })
    }

    /// Shakes hands with a client that has asked for it, and of whose handshake these bytes were
    /// read together with the question.
    pub(crate) fn encrypt(&self, socket: Arc<OwnedFd>, read: &[u8]) -> io::Result<EncryptedStream> {
        let session = ServerConnection::new(Arc::clone(&self.config)).map_err(io::Error::other)?;
        EncryptedStream::shake_hands(socket, session.into(), None, read)
    }
}

fn new_certificate() -> Result<(CertificateDer<'static>, Vec<u8>), rcgen::Error> {
    let mut params = CertificateParams::new(OF_THIS_HOST.map(str::to_owned))?;
    params.distinguished_name.push(DnType::CommonName, "dbdyno engine serve");
    params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    let key = KeyPair::generate()?;
    Ok((params.self_signed(&key)?.der().clone(), key.serialize_der()))
}

fn no_certificate(error: &dyn fmt::Display) -> WireError {
    WireError::Tls(format!("a certificate cannot be made: {error}; name one of your own"))
}
