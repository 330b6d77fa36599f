//! Removes a tree that a foreign program has made, however deep it is.
//!
//! ```text
//!   d/1/2/3/4/…   as a rule: step by step, a descriptor for each level
//!   d/1, d/n      too deep for that: what lies in 1 is moved beside it, then 1 is empty
//! ```

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use crate::error::SandboxError;

/// Removes a file, or a folder with all that is in it; nothing is done where nothing is. The
/// processes that wrote there are gone.
///
/// # Errors
/// [`SandboxError::Io`] if something of it stays.
pub(crate) fn remove(path: &Path) -> Result<(), SandboxError> {
    let removed = match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Ok(found) if !found.is_dir() => fs::remove_file(path),
        _ => fs::remove_dir_all(path).or_else(|_| flatten(path)),
    };
    removed.map_err(SandboxError::io("remove", path))
}

/// Removes a folder without ever standing more than two levels below it.
fn flatten(folder: &Path) -> io::Result<()> {
    let mut moved = 0_u64;
    loop {
        let mut is_empty = true;
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            is_empty = false;
            if !entry.file_type()?.is_dir() {
                fs::remove_file(entry.path())?;
                continue;
            }
            fs::set_permissions(entry.path(), fs::Permissions::from_mode(0o700))?;
            for below in fs::read_dir(entry.path())? {
                let below = below?;
                if below.file_type()?.is_dir() {
                    // To move a folder, it must be ours to write.
                    fs::set_permissions(below.path(), fs::Permissions::from_mode(0o700))?;
                    fs::rename(below.path(), free_name(folder, &mut moved))?;
                } else {
                    fs::remove_file(below.path())?;
                }
            }
            fs::remove_dir(entry.path())?;
        }
        if is_empty {
            return fs::remove_dir(folder);
        }
    }
}

/// A name in a folder that nothing has.
fn free_name(folder: &Path, moved: &mut u64) -> std::path::PathBuf {
    loop {
        *moved += 1;
        let name = folder.join(format!(".removed-{moved}"));
        if fs::symlink_metadata(&name).is_err() {
            return name;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_too_deep_to_be_entered_is_removed() {
        let place = tempfile::tempdir().unwrap();
        let doomed = place.path().join("doomed");
        fs::create_dir_all(doomed.join("a/b")).unwrap();
        fs::write(doomed.join("a/b/file"), "x").unwrap();
        std::os::unix::fs::symlink(place.path(), doomed.join("a/link")).unwrap();
        // From inside out: a path of this length has no name.
        let mut deep = place.path().join("0");
        fs::create_dir(&deep).unwrap();
        for level in 1..3_000 {
            let above = place.path().join(level.to_string());
            fs::create_dir(&above).unwrap();
            fs::rename(&deep, above.join("n")).unwrap();
            deep = above;
        }
        fs::rename(&deep, doomed.join("deep")).unwrap();
        flatten(&doomed).unwrap();
        assert!(!doomed.exists() && place.path().exists());
        remove(&doomed).unwrap();
    }
}
