//! Who may read what this program writes, and what becomes of the file that was there.
//!
//! ```text
//!   what the user named (--html, --export, --keep, man pages)   as the user's umask says
//!   everything else: store, logs, data, sockets                 the user alone
//!
//!   page.html ──written beside it──▶ .dbdyno-PID-N ──complete──▶ renamed to page.html
//!                                         └─ full disk, killed: page.html stays as it was
//!   pipe, device, open file (/dev/stdout) ──▶ written straight
//! ```
//!
//! The second is the rule of the whole process, so that a file which somebody forgets is private;
//! it is lifted only while a file that the user named is made. Where a private file may be made at
//! that moment by another thread, its mode is given when it is made: the store's, the engine's.

use std::fs::{File, Metadata, OpenOptions, Permissions};
use std::io::{ErrorKind, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _, fchown};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use dbdyno_files::owner;
use nix::sys::resource::{Resource, setrlimit};
use nix::sys::stat::{Mode, umask};

use crate::failure::Failure;

/// Links that are followed one after the other: as many as Linux follows (`MAXSYMLINKS`).
const LINKS_MOST: usize = 40;

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

/// Writes a file that the user named: whole, or the file that was there stays. A link that another
/// account has put on the way is not followed: in a directory that everybody may write to, it would
/// say which file of ours is overwritten. Nor is a pipe of another account waited for, nor a file
/// of another account written where everybody can make files.
pub(crate) fn write(path: &Path, bytes: impl AsRef<[u8]>) -> Result<(), Failure> {
    put(path, bytes.as_ref()).map_err(|error| unwritten(path, error))
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
    add(path, bytes.as_ref()).map_err(|error| unwritten(path, error))
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

fn put(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    owner::check_way(path)?;
    owner::check_file(path)?;
    if let Some(place) = replaceable(path)?
        && replace(&place, bytes)?
    {
        return Ok(());
    }
    write_straight(path, bytes, File::options().write(true).create(true).truncate(true))
}

fn add(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    owner::check_way(path)?;
    owner::check_file(path)?;
    write_straight(path, bytes, File::options().append(true).create(true))
}

fn write_straight(path: &Path, bytes: &[u8], options: &mut OpenOptions) -> std::io::Result<()> {
    // What was no link when it was looked at does not become one.
    if !path.is_symlink() {
        options.custom_flags(nix::libc::O_NOFOLLOW);
    }
    by_users_umask(|| options.open(path))?.write_all(bytes)
}

/// A place that another file may be renamed to, and what is there now.
struct Place {
    path: PathBuf,
    old: Option<Metadata>,
}

/// Where the links of a name lead, if that is a file that may be written, or nothing yet. A file
/// that a process has open (`/dev/stdout`) is none: the process would go on with the old one.
fn replaceable(path: &Path) -> std::io::Result<Option<Place>> {
    let mut path = path.to_owned();
    // A directory's name, which opening refuses in the system's words.
    if path.as_os_str().as_encoded_bytes().ends_with(b"/") {
        return Ok(None);
    }
    for _ in 0..LINKS_MOST {
        let Some(name) = path.file_name() else { return Ok(None) };
        let folder = path.parent().filter(|folder| *folder != Path::new(""));
        let folder = std::fs::canonicalize(folder.unwrap_or(Path::new(".")))?;
        if dbdyno_files::is_folder_of_kernel(&folder)? {
            return Ok(None);
        }
        path = folder.join(name);
        match std::fs::symlink_metadata(&path) {
            Ok(found) if found.is_symlink() => path = folder.join(std::fs::read_link(&path)?),
            Ok(found) if found.is_file() => {
                // A file that must not be written is not replaced, either.
                let mut options = File::options();
                options.write(true).custom_flags(nix::libc::O_NOFOLLOW);
                let old = options.open(&path)?.metadata()?;
                return Ok(Some(Place { path, old: Some(old) }));
            }
            Ok(_) => return Ok(None),
            Err(error) if error.kind() == ErrorKind::NotFound => {
                return Ok(Some(Place { path, old: None }));
            }
            Err(error) => return Err(error),
        }
    }
    Ok(None)
}

/// Writes a file beside a place and renames it when it is complete. Says whether that was done: it
/// is not where the directory takes no new file, the owner cannot be kept, or something is mounted
/// on the place.
fn replace(place: &Place, bytes: &[u8]) -> std::io::Result<bool> {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let name = format!(".dbdyno-{}-{number}", std::process::id());
    let beside = place.path.with_file_name(name);
    let mut options = File::options();
    options.write(true).create_new(true);
    // Until it has the mode of the old one, nobody else reads it.
    options.mode(if place.old.is_some() { 0o600 } else { 0o666 });
    let mut file = match by_users_umask(|| options.open(&beside)) {
        Ok(file) => file,
        Err(error) if is_refusal(error.kind()) => return Ok(false),
        Err(error) => return Err(error),
    };
    let done = fill(&mut file, place, bytes).map(|is_alike| {
        // A rename that is refused (the place is a mount) leaves both files as they are.
        is_alike && std::fs::rename(&beside, &place.path).is_ok()
    });
    if !matches!(done, Ok(true)) {
        let _best_effort = std::fs::remove_file(&beside);
    }
    done
}

/// Whether a directory takes no new file, or had one of this name from a process that was killed.
fn is_refusal(kind: ErrorKind) -> bool {
    use ErrorKind::{AlreadyExists, PermissionDenied, ReadOnlyFilesystem};
    matches!(kind, PermissionDenied | ReadOnlyFilesystem | AlreadyExists)
}

/// Writes to the disk, and says whether the owner and the mode of the old file could be kept.
fn fill(file: &mut File, place: &Place, bytes: &[u8]) -> std::io::Result<bool> {
    file.write_all(bytes)?;
    file.sync_all()?;
    let Some(old) = &place.old else { return Ok(true) };
    let own = file.metadata()?;
    if (own.uid(), own.gid()) != (old.uid(), old.gid())
        && fchown(&*file, Some(old.uid()), Some(old.gid())).is_err()
    {
        return Ok(false);
    }
    let mode = Permissions::from_mode(old.permissions().mode() & 0o7777);
    Ok(file.set_permissions(mode).is_ok())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        let mut names: Vec<_> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_new_file_keeps_the_mode_the_link_and_the_place_of_the_old_one() {
        let folder = tempfile::tempdir().unwrap();
        let (page, link) = (folder.path().join("page"), folder.path().join("link"));
        fs::write(&page, "old").unwrap();
        fs::set_permissions(&page, Permissions::from_mode(0o640)).unwrap();
        symlink("page", &link).unwrap();
        let before = fs::metadata(&page).unwrap().ino();
        write(&link, "new").unwrap();
        assert!(link.is_symlink());
        let after = fs::metadata(&page).unwrap();
        assert_eq!(fs::read_to_string(&page).unwrap(), "new");
        assert_eq!(after.mode() & 0o7777, 0o640);
        assert_ne!(after.ino(), before, "it was overwritten, not replaced");
        assert_eq!(names(folder.path()), ["link", "page"]);
    }

    #[test]
    fn an_open_file_and_a_device_are_written_straight() {
        let folder = tempfile::tempdir().unwrap();
        let (page, link) = (folder.path().join("page"), folder.path().join("link"));
        let open = File::create(&page).unwrap();
        let number = std::os::fd::AsRawFd::as_raw_fd(&open);
        symlink(format!("/dev/fd/{number}"), &link).unwrap();
        for path in [Path::new(&format!("/dev/fd/{number}")), &link] {
            fs::write(&page, "").unwrap();
            write(path, "text").unwrap();
            assert_eq!(open.metadata().unwrap().len(), 4, "the open file did not get it");
        }
        write(Path::new("/dev/null"), "text").unwrap();
        assert!(!fs::metadata("/dev/null").unwrap().is_file());
    }

    /// Where no file can be made beside it, the file itself can still be written.
    #[test]
    fn a_file_in_a_directory_that_takes_no_other_is_written_straight() {
        let folder = tempfile::tempdir().unwrap();
        let page = folder.path().join("page");
        fs::write(&page, "old").unwrap();
        let taken = |number| folder.path().join(format!(".dbdyno-{}-{number}", std::process::id()));
        (0..200).for_each(|number| fs::write(taken(number), "").unwrap());
        write(&page, "new").unwrap();
        assert_eq!(fs::read_to_string(&page).unwrap(), "new");
    }
}
