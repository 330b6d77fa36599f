//! Files of keys and certificates that a user names. They are small, and they are files: opening a
//! named pipe would wait for whoever writes into it, and a device may never end.

use std::fs::{File, metadata};
use std::io::{self, Read as _};
use std::path::Path;

/// The authorities of a whole machine have a quarter of a megabyte.
const LONGEST: u64 = 4 << 20;

/// What is in such a file.
///
/// # Errors
/// There is none, it may not be read, it is something else than a file, or it is too long.
pub(crate) fn read(path: &Path) -> io::Result<Vec<u8>> {
    if !metadata(path)?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is no ordinary file"));
    }
    let mut bytes = Vec::new();
    File::open(path)?.take(LONGEST + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > LONGEST {
        let what = format!("it has more than {} MiB, and no key has", LONGEST >> 20);
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, what));
    }
    Ok(bytes)
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
        for path in [pipe.as_path(), folder.path(), Path::new("/dev/zero")] {
            let error = read(path).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::InvalidInput, "{}", path.display());
        }
        let large = folder.path().join("large");
        File::create(&large).unwrap().set_len(LONGEST + 1).unwrap();
        assert_eq!(read(&large).unwrap_err().kind(), io::ErrorKind::FileTooLarge);
    }
}
