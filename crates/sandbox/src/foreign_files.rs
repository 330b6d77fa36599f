//! Files in directories where a foreign program may write.
//!
//! A server's own directory belongs to the account under which it runs, and root must not believe
//! a name in it: what was a file a moment ago may be a link to a file of root's, or a pipe that
//! nobody writes to. So nothing here follows a link in its last place, nothing waits, and rights
//! and owners are set on what is open, never on a name.
//!
//! ```text
//!   read   open, no link, no waiting ─▶ a regular file? ─▶ at most so many bytes
//!   write  NAME.new, which did not exist ─▶ owner, text ─▶ rename over NAME
//! ```

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;

use nix::fcntl::OFlag;

use crate::child::{UNPRIVILEGED, is_root};
use crate::error::SandboxError;

/// The most that is read of a file which should have a few lines.
const TEXT_BYTES: u64 = 4 << 20;

/// Opens a regular file.
pub(crate) fn open_plain(path: &Path) -> io::Result<File> {
    let flags = OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK | OFlag::O_NOCTTY;
    let file = File::options().read(true).custom_flags(flags.bits()).open(path)?;
    if file.metadata()?.is_file() {
        Ok(file)
    } else {
        Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file"))
    }
}

/// Reads a regular file of a few lines.
pub(crate) fn read_plain(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    open_plain(path)?.take(TEXT_BYTES).read_to_string(&mut text)?;
    Ok(text)
}

/// Sets the mode of a regular file, and of nothing to which a link leads.
pub(crate) fn set_mode_of(path: &Path, mode: u32) -> io::Result<()> {
    open_plain(path)?.set_permissions(fs::Permissions::from_mode(mode))
}

/// Writes a file that only the account of the servers can read; it appears whole or not at all.
pub(crate) fn give_text(path: &Path, text: &str) -> Result<(), SandboxError> {
    let fresh = path.with_extension("new");
    let write = || -> io::Result<()> {
        let mut file = create_fresh(&fresh)?;
        file.write_all(text.as_bytes())?;
        give(&file)?;
        fs::rename(&fresh, path)
    };
    write().map_err(SandboxError::io("write", path))
}

/// Makes a file that only its owner can read, in the place of one that may have been left there.
pub(crate) fn create_fresh(path: &Path) -> io::Result<File> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    // Does not follow a link that appears in this moment.
    File::options().create_new(true).write(true).mode(0o600).open(path)
}

/// A directory that only the account of the servers may enter.
pub(crate) fn private_dir(path: &Path) -> io::Result<()> {
    fs::DirBuilder::new().mode(0o700).create(path)?;
    let flags = OFlag::O_NOFOLLOW | OFlag::O_DIRECTORY;
    let dir = File::options().read(true).custom_flags(flags.bits()).open(path)?;
    if dir.metadata()?.uid() != nix::unistd::geteuid().as_raw() {
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, "somebody has replaced it"));
    }
    dir.set_permissions(fs::Permissions::from_mode(0o700))?;
    give(&dir)
}

/// Gives what is open to the account of the servers.
fn give(file: &File) -> io::Result<()> {
    if is_root() {
        std::os::unix::fs::fchown(file, Some(UNPRIVILEGED), Some(UNPRIVILEGED))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn nothing_is_read_written_or_given_away_through_a_link_or_a_pipe() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        fs::write(at("secret"), "root:x").unwrap();
        fs::set_permissions(at("secret"), fs::Permissions::from_mode(0o600)).unwrap();
        let before = fs::metadata(at("secret")).unwrap();
        for name in ["link", "text.new", "grastate.dat"] {
            symlink(at("secret"), at(name)).unwrap();
        }
        nix::unistd::mkfifo(&at("pipe"), nix::sys::stat::Mode::S_IRWXU).unwrap();
        assert!(read_plain(&at("link")).is_err() && read_plain(&at("pipe")).is_err());
        assert!(set_mode_of(&at("link"), 0o755).is_err());
        give_text(&at("text.dat"), "told").unwrap();
        give_text(&at("grastate.dat"), "told").unwrap();
        assert_eq!(read_plain(&at("grastate.dat")).unwrap(), "told");
        assert!(private_dir(&at("link")).is_err());
        let after = fs::metadata(at("secret")).unwrap();
        assert_eq!(fs::read_to_string(at("secret")).unwrap(), "root:x");
        assert_eq!((after.mode(), after.uid()), (before.mode(), before.uid()));
    }
}
