//! Is there room? Asked before anything is written, so that a full disk is a sentence and not a
//! server that dies in the middle of a measurement.

use std::path::Path;

use crate::error::SandboxError;
use crate::tool::run_successfully;

const MB: u64 = 1 << 20;

/// Megabytes that an unprivileged writer can still use on the file system of `place`.
///
/// # Errors
/// [`SandboxError::Io`].
pub fn free_mb(place: &Path) -> Result<u64, SandboxError> {
    let status = nix::sys::statvfs::statvfs(place)
        .map_err(|errno| SandboxError::io("measure", place)(errno.into()))?;
    Ok(status.blocks_available().saturating_mul(status.fragment_size()) / MB)
}

/// Refuses if `free_mb` does not suffice.
pub(crate) fn require_enough(
    purpose: &str,
    place: &Path,
    needed_mb: u64,
    free_mb: u64,
) -> Result<(), SandboxError> {
    if free_mb >= needed_mb {
        return Ok(());
    }
    let (place, purpose) = (place.to_owned(), purpose.to_owned());
    Err(SandboxError::NoSpace { place, purpose, needed_mb, free_mb })
}

/// Refuses if the file system of `place` has less than `needed_mb` free.
pub(crate) fn require_free_space(
    purpose: &str,
    place: &Path,
    needed_mb: u64,
) -> Result<(), SandboxError> {
    require_enough(purpose, place, needed_mb, free_mb(place)?)
}

/// Disk that `path` takes, with all that is below it, in MB.
pub(crate) fn size_mb(path: &Path) -> Result<u64, SandboxError> {
    let output = run_successfully("du", ["-sm".as_ref(), path.as_os_str()], path)?;
    let text = String::from_utf8_lossy(&output.stdout);
    Ok(text.split_whitespace().next().and_then(|mb| mb.parse().ok()).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn too_little_room_is_refused_and_named() {
        assert!(require_enough("x", Path::new("/h"), 100, 100).is_ok());
        let error =
            require_enough("unpacking mariadb:10.11", Path::new("/h"), 101, 100).unwrap_err();
        let text = error.to_string();
        for part in ["unpacking mariadb:10.11", "/h", "101 MB", "100 MB", "DBDYNO_HOME"] {
            assert!(text.contains(part), "{part} is missing in: {text}");
        }
        assert!(require_free_space("x", Path::new("/"), u64::MAX).is_err());
    }
}
