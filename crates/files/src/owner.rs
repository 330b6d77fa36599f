//! Whose the links, pipes and files are on the way to a place that will be written.
//!
//! ```text
//!   /shared/d/out     a link that another account has made, anywhere on the way   refused
//!                     a pipe of another account                                    refused
//!                     a file of another account in a directory open to all         refused
//! ```
//!
//! In a directory that everybody may write to, a link says which file of ours is overwritten, and
//! the owner of a file reads what is written into it, whatever its mode.

use std::fs::{Metadata, metadata, symlink_metadata};
use std::io;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::{Path, absolute};

use nix::unistd::geteuid;

const OTHERS_WRITE: u32 = 0o002;

/// Looks at a place and at each directory on the way to it.
///
/// # Errors
/// A link or a pipe that another account has made, with the kind
/// [`io::ErrorKind::PermissionDenied`].
pub fn check_way(path: &Path) -> io::Result<()> {
    for place in absolute(path)?.ancestors() {
        let Ok(found) = symlink_metadata(place) else { continue };
        let kind = if found.is_symlink() {
            "a link"
        } else if found.file_type().is_fifo() {
            "a pipe"
        } else {
            continue;
        };
        if !is_ours(&found) {
            return Err(of_a_stranger(place, kind));
        }
    }
    Ok(())
}

/// Looks at a file that is there already, in a directory where everybody can make files.
///
/// # Errors
/// Another account has made it, with the kind [`io::ErrorKind::PermissionDenied`].
pub fn check_file(path: &Path) -> io::Result<()> {
    let path = absolute(path)?;
    let is_open_to_all =
        |directory| metadata(directory).is_ok_and(|found| found.mode() & OTHERS_WRITE != 0);
    let is_of_a_stranger = path.parent().is_some_and(is_open_to_all)
        && symlink_metadata(&path).is_ok_and(|found| !is_ours(&found));
    if is_of_a_stranger { Err(of_a_stranger(&path, "a file")) } else { Ok(()) }
}

/// Whether an account is root's or the one that this process acts for: nobody else decides what
/// is read and written here.
#[must_use]
pub fn is_trusted(uid: u32) -> bool {
    [0, geteuid().as_raw()].contains(&uid)
}

fn is_ours(found: &Metadata) -> bool {
    is_trusted(found.uid())
}

fn of_a_stranger(place: &Path, kind: &str) -> io::Error {
    let text = format!(
        "{} is {kind} that another account has made; name a file in a directory of your own",
        place.display()
    );
    io::Error::new(io::ErrorKind::PermissionDenied, text)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt as _, chown, lchown, symlink};

    use super::*;

    /// Another account's links and files can be made by root alone.
    #[test]
    fn what_another_account_has_put_on_the_way_is_refused() {
        if !geteuid().is_root() {
            return;
        }
        let folder = tempfile::tempdir().unwrap();
        let (shared, link) = (folder.path().join("shared"), folder.path().join("shared/link"));
        fs::create_dir(&shared).unwrap();
        fs::set_permissions(&shared, fs::Permissions::from_mode(0o1777)).unwrap();
        symlink(folder.path(), &link).unwrap();
        assert!(check_way(&link.join("x")).is_ok(), "a link of our own");
        lchown(&link, Some(65_534), None).unwrap();
        for path in [link.clone(), link.join("x"), link.join("y/z")] {
            let error = check_way(&path).unwrap_err().to_string();
            assert!(error.contains("is a link that another account has made"), "{error}");
        }
        let file = shared.join("file");
        fs::write(&file, "").unwrap();
        assert!(check_file(&file).is_ok());
        chown(&file, Some(65_534), None).unwrap();
        let error = check_file(&file).unwrap_err().to_string();
        assert!(error.contains("is a file that another account has made"), "{error}");
        fs::set_permissions(&shared, fs::Permissions::from_mode(0o755)).unwrap();
        assert!(check_file(&file).is_ok(), "a directory of a container's user");
    }
}
