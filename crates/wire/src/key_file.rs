//! Files of keys and certificates that a user names. They are small.

use std::io;
use std::path::Path;

use dbdyno_files::owner;

/// The authorities of a whole machine have a quarter of a megabyte.
const LONGEST: u64 = 4 << 20;

/// What is in such a file.
///
/// # Errors
/// There is none, it may not be read, it is something else than a file on a disk, or too long; or
/// another account has put it, or a link to it, where everybody can make files: it says whom to
/// believe.
pub(crate) fn read(path: &Path) -> io::Result<Vec<u8>> {
    owner::check_way(path)?;
    owner::check_file(path)?;
    dbdyno_files::read(path, LONGEST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_never_ends_is_not_begun() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status().unwrap();
        assert!(made.success());
        for path in
            [pipe.as_path(), folder.path(), Path::new("/dev/zero"), Path::new("/proc/version")]
        {
            let error = read(path).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::InvalidInput, "{}", path.display());
        }
        let large = folder.path().join("large");
        std::fs::File::create(&large).unwrap().set_len(LONGEST + 1).unwrap();
        assert_eq!(read(&large).unwrap_err().kind(), io::ErrorKind::FileTooLarge);
    }
}
