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
use std::io::{self, Write as _};
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::Path;
use std::sync::OnceLock;

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

/// Adds to the end of a file that the user, or who started him, named, with the same care.
pub(crate) fn append(path: &Path, bytes: impl AsRef<[u8]>) -> Result<(), Failure> {
    put(path, bytes.as_ref(), File::options().append(true).create(true))
}

fn put(path: &Path, bytes: &[u8], options: &mut OpenOptions) -> Result<(), Failure> {
    let mut write = || {
        refuse_links_of_strangers(path)?;
        refuse_a_file_of_strangers(path)?;
        // What was no link when it was looked at does not become one.
        if !path.is_symlink() {
            options.custom_flags(nix::libc::O_NOFOLLOW);
        }
        by_users_umask(|| options.open(path))?.write_all(bytes)
    };
    write().map_err(|error| unwritten(path, error))
}

/// Looks at the path and at each directory on the way to it: links and pipes that another account
/// has made lead to it.
pub(crate) fn refuse_links_of_strangers(path: &Path) -> io::Result<()> {
    for place in std::path::absolute(path)?.ancestors() {
        let Ok(found) = std::fs::symlink_metadata(place) else { continue };
        let is_ours = is_ours(&found);
        let kind = if found.is_symlink() {
            "a link"
        } else if found.file_type().is_fifo() {
            "a pipe"
        } else {
            continue;
        };
        if !is_ours {
            return Err(of_a_stranger(place, kind));
        }
    }
    Ok(())
}

/// In a directory where everybody can make files, who made one reads what is written into it.
fn refuse_a_file_of_strangers(path: &Path) -> io::Result<()> {
    let path = std::path::absolute(path)?;
    let is_of_a_stranger = path.parent().is_some_and(is_open_to_all)
        && std::fs::symlink_metadata(&path).is_ok_and(|found| !is_ours(&found));
    if is_of_a_stranger { Err(of_a_stranger(&path, "a file")) } else { Ok(()) }
}

fn is_ours(found: &std::fs::Metadata) -> bool {
    [0, nix::unistd::geteuid().as_raw()].contains(&found.uid())
}

fn of_a_stranger(place: &Path, kind: &str) -> io::Error {
    let text = format!(
        "{} is {kind} that another account has made; name a file in a directory of your own",
        place.display()
    );
    io::Error::new(io::ErrorKind::PermissionDenied, text)
}

fn is_open_to_all(directory: &Path) -> bool {
    std::fs::metadata(directory).is_ok_and(|found| found.mode() & 0o002 != 0)
}

/// Makes a directory that the user named, and those above it.
pub(crate) fn make_directory(path: &Path) -> Result<(), Failure> {
    refuse_links_of_strangers(path)
        .and_then(|()| by_users_umask(|| std::fs::create_dir_all(path)))
        .map_err(|error| unwritten(path, error))
}

fn unwritten(path: &Path, error: std::io::Error) -> Failure {
    Failure::Write(path.display().to_string(), error)
}
