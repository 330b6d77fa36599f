//! Whether nobody else can change a file while we have it open.
//!
//! ```text
//!   DIRECTORY        ours or root's, and nobody else may make files in it
//!   those above it   ours or root's; others may write to them only where they are sticky
//!   FILE             a file of ours or root's, with one name, that nobody else may write to
//!   FILE-wal, -shm   the same: SQLite takes what is in them for the content of FILE
//! ```
//!
//! In `/tmp` somebody could make `FILE-wal` a moment before SQLite does, and rename it once SQLite
//! has opened it: no look at names tells that.
//!
//! A file may be looked at that fails this, and written to, as a user of a container does in a
//! directory of the host. What it says is not carried out.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use dbdyno_files::owner::is_trusted;

use crate::guard::path_with_suffix;

const STICKY: u32 = 0o1000;
const OTHERS_WRITE: u32 = 0o002;
const GROUP_OR_OTHERS_WRITE: u32 = 0o022;

/// Whether the store at this path, and all that SQLite reads with it, is ours alone.
pub(crate) fn is_ours_alone(path: &Path) -> bool {
    let Ok(absolute) = std::path::absolute(path) else { return false };
    let files = ["", "-wal", "-shm", "-journal"].map(|ending| path_with_suffix(&absolute, ending));
    let nobody_else_adds = absolute.parent().is_some_and(|directory| {
        fs::metadata(directory).is_ok_and(|found| found.mode() & OTHERS_WRITE == 0)
    });
    nobody_else_adds
        && files.iter().all(|file| is_file_of_ours(file))
        && is_directory_of_ours(&absolute)
}

/// What lies beside a store and is of somebody else than the store and us: SQLite would take it for
/// its own, give it our owner and mode, and who has it open keeps on writing. Looked at before
/// SQLite opens anything.
pub(crate) fn strange_beside(path: &Path) -> Option<PathBuf> {
    let owner = fs::symlink_metadata(path).map(|found| found.uid()).ok();
    let files = ["-wal", "-shm", "-journal"].map(|ending| path_with_suffix(path, ending));
    files.into_iter().find(|file| {
        let Ok(found) = fs::symlink_metadata(file) else { return false };
        let is_known = Some(found.uid()) == owner || is_trusted(found.uid());
        !found.is_file() || found.nlink() != 1 || !is_known || found.mode() & OTHERS_WRITE != 0
    })
}

/// A file that is not there is nobody's.
fn is_file_of_ours(file: &Path) -> bool {
    match fs::symlink_metadata(file) {
        Ok(found) => {
            found.is_file()
                && found.nlink() == 1
                && is_trusted(found.uid())
                && found.mode() & GROUP_OR_OTHERS_WRITE == 0
        }
        Err(error) => error.kind() == std::io::ErrorKind::NotFound,
    }
}

/// The directory and those above it: who can rename one decides what is found below it.
fn is_directory_of_ours(file: &Path) -> bool {
    file.ancestors().skip(1).all(|directory| match fs::symlink_metadata(directory) {
        Ok(found) => {
            let is_open = found.mode() & OTHERS_WRITE != 0 && found.mode() & STICKY == 0;
            // A link on the way is followed by the kernel; where it leads is looked at as well.
            let leads_well = !found.is_symlink()
                || fs::canonicalize(directory).is_ok_and(|to| is_directory_of_ours(&to.join("x")));
            is_trusted(found.uid()) && (found.is_symlink() || !is_open) && leads_well
        }
        Err(_) => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt as _, chown, symlink};

    fn set(path: &Path, mode: u32) {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn a_file_that_others_can_change_is_not_ours_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store.db");
        let wal = folder.path().join("store.db-wal");
        fs::write(&path, "").unwrap();
        set(&path, 0o600);
        assert!(is_ours_alone(&path));
        fs::write(&wal, "").unwrap();
        set(&wal, 0o666);
        assert!(!is_ours_alone(&path), "the log is content");
        set(&wal, 0o644);
        assert!(is_ours_alone(&path));
        fs::hard_link(&wal, folder.path().join("another name")).unwrap();
        assert!(!is_ours_alone(&path), "somebody may have it open by another name");
        fs::remove_file(&wal).unwrap();
        symlink(&path, &wal).unwrap();
        assert!(!is_ours_alone(&path));
        fs::remove_file(&wal).unwrap();
        set(folder.path(), 0o777);
        assert!(!is_ours_alone(&path), "the file can be exchanged");
        set(folder.path(), 0o1777);
        assert!(!is_ours_alone(&path), "a log can be put beside it");
        let inner = folder.path().join("inner");
        fs::create_dir(&inner).unwrap();
        set(&inner, 0o700);
        fs::rename(&path, inner.join("store.db")).unwrap();
        let path = inner.join("store.db");
        assert!(is_ours_alone(&path));
        set(&path, 0o660);
        assert!(!is_ours_alone(&path));
    }

    #[test]
    fn what_somebody_else_has_put_beside_a_store_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store.db");
        let wal = folder.path().join("store.db-wal");
        fs::write(&path, "").unwrap();
        fs::write(&wal, "").unwrap();
        set(&wal, 0o600);
        assert_eq!(strange_beside(&path), None);
        set(&wal, 0o666);
        assert_eq!(strange_beside(&path).as_ref(), Some(&wal));
        set(&wal, 0o600);
        if chown(&wal, Some(65_534), None).is_ok() {
            assert_eq!(strange_beside(&path).as_ref(), Some(&wal));
            chown(&path, Some(65_534), None).unwrap();
            assert_eq!(strange_beside(&path), None, "a store of that account");
        }
    }

    #[test]
    fn a_file_or_a_directory_of_another_account_is_not_ours() {
        if !is_trusted(0) || fs::metadata("/proc/self").unwrap().uid() != 0 {
            return;
        }
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store.db");
        fs::write(&path, "").unwrap();
        chown(&path, Some(65_534), None).unwrap();
        assert!(!is_ours_alone(&path));
        chown(&path, Some(0), None).unwrap();
        assert!(is_ours_alone(&path));
        chown(folder.path(), Some(65_534), None).unwrap();
        assert!(!is_ours_alone(&path));
        let link = tempfile::tempdir().unwrap();
        symlink(folder.path(), link.path().join("to")).unwrap();
        assert!(!is_ours_alone(&link.path().join("to/store.db")));
    }
}
