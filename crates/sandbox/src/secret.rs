//! A secret of the home: what bears a mark under it was written from here.
//!
//! A process makes it whole beside its place and links it there, so that of two processes that ask
//! first, both have the one of the quicker.

use std::fs;
use std::io::{self, Write as _};

use crate::bootstrap::random_password;
use crate::error::SandboxError;
use crate::foreign_files::create_fresh;
use crate::home::Home;

/// In hexadecimal digits, as [`random_password`] makes them.
const DIGITS: usize = 32;

impl Home {
    /// The secret of this home: 128 random bits, made when somebody asks for the first time.
    ///
    /// # Errors
    /// [`SandboxError::Io`].
    pub fn secret(&self) -> Result<String, SandboxError> {
        let path = self.dir().join("secret");
        let found = match fs::read_to_string(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let fresh = self.dir().join(format!("secret.{}", std::process::id()));
                let text = random_password()?;
                let written = create_fresh(&fresh)
                    .and_then(|mut file| {
                        file.write_all(text.as_bytes()).and_then(|()| file.sync_all())
                    })
                    .and_then(|()| fs::hard_link(&fresh, &path));
                let removed = fs::remove_file(&fresh);
                match written {
                    Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
                    _ => removed.and_then(|()| fs::read_to_string(&path)),
                }
            }
            found => found,
        };
        let secret = found.map_err(SandboxError::io("read", &path))?;
        match secret.trim() {
            digits if digits.len() == DIGITS => Ok(digits.to_owned()),
            _ => Err(SandboxError::io("use", &path)(io::ErrorKind::InvalidData.into())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt as _;

    #[test]
    fn a_home_has_one_secret_that_only_its_owner_reads() {
        let dir = tempfile::tempdir_in("/var/tmp").unwrap();
        let home = Home::open(Some(dir.path())).unwrap();
        let secret = home.secret().unwrap();
        assert_eq!(home.secret().unwrap(), secret);
        let mode = fs::metadata(home.dir().join("secret")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        let other = tempfile::tempdir_in("/var/tmp").unwrap();
        assert_ne!(Home::open(Some(other.path())).unwrap().secret().unwrap(), secret);
    }

    #[test]
    fn a_secret_that_was_cut_short_is_refused() {
        let dir = tempfile::tempdir_in("/var/tmp").unwrap();
        let home = Home::open(Some(dir.path())).unwrap();
        fs::write(home.dir().join("secret"), "").unwrap();
        assert!(home.secret().unwrap_err().to_string().contains("secret"));
    }
}
