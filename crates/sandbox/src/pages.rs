//! The page cache of a server's files.

use std::fs::{self, File};
use std::io;
use std::path::Path;

use nix::fcntl::{PosixFadviseAdvice, posix_fadvise};

/// Writes every file below `dir` to the disk and drops its pages from the page cache, so that the
/// next read comes from the disk, or from what the disk itself remembers. The rest of the machine
/// keeps its cache. The server must be down: pages that a process has mapped stay.
pub(crate) fn drop_cached(dir: &Path) -> io::Result<()> {
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        let kind = entry.file_type()?;
        if kind.is_dir() {
            drop_cached(&entry.path())?;
        } else if kind.is_file() {
            let file = File::open(entry.path())?;
            // Changed pages are kept by the kernel, however it is advised.
            file.sync_all()?;
            posix_fadvise(&file, 0, 0, PosixFadviseAdvice::POSIX_FADV_DONTNEED)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pages of a file that are in memory.
    fn cached(path: &Path) -> usize {
        let length = fs::metadata(path).unwrap().len() as usize;
        let file = File::open(path).unwrap();
        let mut pages = vec![0_u8; length.div_ceil(4096)];
        // SAFETY: a mapping of our own, read by nobody, and room for one byte for each page.
        unsafe {
            use std::os::fd::AsRawFd;
            let at = nix::libc::mmap(
                std::ptr::null_mut(),
                length,
                nix::libc::PROT_READ,
                nix::libc::MAP_SHARED,
                file.as_raw_fd(),
                0,
            );
            assert_ne!(at, nix::libc::MAP_FAILED);
            assert_eq!(nix::libc::mincore(at, length, pages.as_mut_ptr()), 0);
            nix::libc::munmap(at, length);
        }
        pages.iter().filter(|page| **page & 1 == 1).count()
    }

    #[test]
    fn what_was_read_is_not_in_memory_any_more() {
        let dir = tempfile::tempdir_in("/var/tmp").unwrap();
        let path = dir.path().join("sub/table.ibd");
        fs::create_dir(dir.path().join("sub")).unwrap();
        fs::write(&path, vec![1; 4 << 20]).unwrap();
        assert_eq!(cached(&path), 1024);
        drop_cached(dir.path()).unwrap();
        assert_eq!(cached(&path), 0);
    }
}
