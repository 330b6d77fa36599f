//! The RSA key under which a MySQL server gets a password that nothing else hides.
//!
//! ```text
//!   None         the password is not sent                      as the servers' own client
//!   InFile       sealed under that key; the server is not asked  server-public-key-path
//!   AnyOffered   sealed under what the server offers             get-server-public-key
//! ```
//!
//! A key that came over the same wire is vouched for by nobody: who stands between offers one of
//! his own and reads the password. So it is asked for only where the user has said so, or where
//! nobody can stand between.

use std::path::{Path, PathBuf};

use dbdyno_model::{KEY_FILE, PasswordKey};
use rsa::RsaPublicKey;
use rsa::pkcs8::DecodePublicKey as _;

use crate::error::WireError;
use crate::key_file;

/// The RSA key of a server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ServerKey {
    /// None is believed.
    #[default]
    None,
    /// Whichever the server offers.
    AnyOffered,
    /// That in this file, which is read when it is needed: a server of our own makes it when it
    /// first starts.
    InFile(PathBuf),
}

impl ServerKey {
    /// What the user says. A file is looked at, so that one that is of no use is complained of
    /// before anything is asked.
    ///
    /// # Errors
    /// [`WireError::Tls`]: a whole sentence about the file.
    pub(crate) fn from_password_key(said: &PasswordKey) -> Result<ServerKey, WireError> {
        Ok(match said {
            PasswordKey::Unknown => ServerKey::None,
            PasswordKey::Offered => ServerKey::AnyOffered,
            PasswordKey::File(file) => {
                read(Path::new(file))?;
                ServerKey::InFile(file.into())
            }
        })
    }
}

/// The key in a file.
///
/// # Errors
/// [`WireError::Tls`]: a whole sentence.
pub(crate) fn read(file: &Path) -> Result<RsaPublicKey, WireError> {
    let wrong = |what: String| {
        let file = file.display();
        WireError::Tls(format!(
            "{KEY_FILE}={file} {what}; name the public_key.pem of the server's data directory"
        ))
    };
    let bytes = key_file::read(file).map_err(|error| wrong(format!("cannot be read: {error}")))?;
    in_pem(&bytes).map_err(|error| wrong(format!("is no RSA key in PEM: {error}")))
}

/// The key that these bytes are in PEM. MySQL 8.0 ends its file with a zero byte.
pub(crate) fn in_pem(pem: &[u8]) -> Result<RsaPublicKey, rsa::pkcs8::spki::Error> {
    let pem = String::from_utf8_lossy(pem);
    RsaPublicKey::from_public_key_pem(pem.trim_matches(|c: char| c.is_whitespace() || c == '\0'))
}
