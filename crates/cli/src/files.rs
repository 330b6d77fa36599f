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

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::sync::OnceLock;

use dbdyno_files::owner;
use nix::sys::resource::{Resource, setrlimit};
use nix::sys::stat::{Mode, umask};

use crate::failure::Failure;

/// The umask that the user gave this process.
static USERS: OnceLock<Mode> = OnceLock::new();

/// Makes what is written from now on private, and lets nothing of what is in memory be written when
/// the program is killed: passwords are in it. Called once, before there are other threads.
pub(crate) fn keep_private() {
    let _best_effort = setrlimit(Resource::RLIMIT_CORE, 0, 0);
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

/// Writes a file that the user named. A link that another account has put on the way is not
/// followed: in a directory that everybody may write to, it would say which file of ours is
/// overwritten. Nor is a pipe of another account waited for, nor a file of another account written
/// where everybody can make files.
pub(crate) fn write(path: &Path, bytes: impl AsRef<[u8]>) -> Result<(), Failure> {
    put(path, bytes.as_ref(), File::options().write(true).create(true).truncate(true))
}

/// Looks at the place of a file that [`write()`] is to write when long work is done: what will be
/// refused then is refused now. What becomes of the place meanwhile is looked at again.
///
/// # Errors
/// What [`write()`] says of the place, a directory in its place, or none around it.
pub(crate) fn require_place(path: &Path) -> Result<(), Failure> {
    check_place(path).map_err(|error| unwritten(path, error))
}

fn check_place(path: &Path) -> std::io::Result<()> {
    owner::check_way(path)?;
    owner::check_file(path)?;
    if path.is_dir() {
        return Err(ErrorKind::IsADirectory.into());
    }
    let folder = path.parent().filter(|folder| *folder != Path::new(""));
    match folder.map(std::fs::metadata).transpose()? {
        Some(folder) if !folder.is_dir() => Err(ErrorKind::NotADirectory.into()),
        _ => Ok(()),
    }
}

/// Adds to the end of a file that the user, or who started him, named, with the same care.
pub(crate) fn append(path: &Path, bytes: impl AsRef<[u8]>) -> Result<(), Failure> {
    put(path, bytes.as_ref(), File::options().append(true).create(true))
}

fn put(path: &Path, bytes: &[u8], options: &mut OpenOptions) -> Result<(), Failure> {
    let mut write = || {
        owner::check_way(path)?;
        owner::check_file(path)?;
        // What was no link when it was looked at does not become one.
        if !path.is_symlink() {
            options.custom_flags(nix::libc::O_NOFOLLOW);
        }
        by_users_umask(|| options.open(path))?.write_all(bytes)
    };
    write().map_err(|error| unwritten(path, error))
}

/// Makes a directory that the user named, and those above it.
pub(crate) fn make_directory(path: &Path) -> Result<(), Failure> {
    owner::check_way(path)
        .and_then(|()| by_users_umask(|| std::fs::create_dir_all(path)))
        .map_err(|error| unwritten(path, error))
}

fn unwritten(path: &Path, error: std::io::Error) -> Failure {
    Failure::Write(path.display().to_string(), error)
}
