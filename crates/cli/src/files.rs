//! Who may read what this program writes.
//!
//! ```text
//!   what the user named (--html, --export, --keep, man pages)   as the user's umask says
//!   everything else: store, logs, data, sockets                 the user alone
//! ```
//!
//! The second is the rule of the whole process, so that a file which somebody forgets is private;
//! it is lifted only while a file that the user named is made. Where a private file may be made at
//! that moment by another thread, its mode is given when it is made: the store's, the engine's.

use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::sync::OnceLock;

use nix::sys::stat::{Mode, umask};

use crate::failure::Failure;

/// The umask that the user gave this process.
static USERS: OnceLock<Mode> = OnceLock::new();

/// Makes what is written from now on private. Called once, before there are other threads.
pub(crate) fn keep_private() {
    let _set_once = USERS.set(umask(Mode::S_IRWXG | Mode::S_IRWXO));
}

/// Does something, making a file that the user named or starting the user's own program, under the
/// umask that the user gave.
pub(crate) fn by_users_umask<T>(work: impl FnOnce() -> T) -> T {
    let Some(users) = USERS.get() else { return work() };
    let private = umask(*users);
    let done = work();
    umask(private);
    done
}

/// Writes a file that the user named. A link that another account has put there is not followed: in
/// a directory that everybody may write to, it would say which file of ours is overwritten.
pub(crate) fn write(path: &Path, bytes: impl AsRef<[u8]>) -> Result<(), Failure> {
    refuse_a_strangers_link(path).map_err(|error| unwritten(path, error))?;
    by_users_umask(|| std::fs::write(path, bytes)).map_err(|error| unwritten(path, error))
}

fn refuse_a_strangers_link(path: &Path) -> io::Result<()> {
    let Ok(found) = std::fs::symlink_metadata(path) else { return Ok(()) };
    let is_ours = [0, nix::unistd::geteuid().as_raw()].contains(&found.uid());
    match found.is_symlink() && !is_ours {
        true => Err(io::Error::new(
            io::ErrorKind::PermissionDenied,
            "it is a link that another account has made; name a file in a directory of your own",
        )),
        false => Ok(()),
    }
}

/// Makes a directory that the user named, and those above it.
pub(crate) fn make_directory(path: &Path) -> Result<(), Failure> {
    by_users_umask(|| std::fs::create_dir_all(path)).map_err(|error| unwritten(path, error))
}

fn unwritten(path: &Path, error: std::io::Error) -> Failure {
    Failure::Write(path.display().to_string(), error)
}
