//! How much memory and storage a server holds.
//!
//! ```text
//!   PostgreSQL   postmaster ─┬─ backend   each maps the same shared buffers: the sum of what is
//!                            └─ backend   resident (RSS) counts them once for each process
//!
//!   proportional share (PSS): a page that n processes map counts 1/n for each; the sum is right
//! ```

use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use dbdyno_host::{FileKind, Host, kernel};

use crate::error::NotObservable;
use crate::parse;
use crate::server::ServerProbe;

const KB: u64 = 1024;

impl ServerProbe {
    /// Memory that the server's processes hold, bytes; pages that they share count once. `None` if
    /// the kernel does not let us look.
    ///
    /// # Errors
    /// `/proc` cannot be read.
    pub fn resident_bytes(&self) -> Result<Option<u64>, NotObservable> {
        let mut sum = 0;
        for pid in self.process_ids()? {
            // A process that has just ended has an empty file, or none, and holds nothing.
            match self.host().kernel_file(&kernel::process_path(pid, "smaps_rollup")) {
                Ok(text) => sum += proportional_kb(&text).unwrap_or(0) * KB,
                Err(error) if error.kind() == ErrorKind::PermissionDenied => return Ok(None),
                Err(_) => {}
            }
        }
        Ok((sum > 0).then_some(sum))
    }
}

fn proportional_kb(rollup: &[u8]) -> Option<u64> {
    let value = parse::value_of_key(rollup, b"Pss:")?;
    let digits = value.strip_suffix(b"kB").unwrap_or(value).trim_ascii();
    std::str::from_utf8(digits).ok()?.parse().ok()
}

/// What the files below a directory take on storage, bytes: what `du` says. Links are not followed,
/// a file with several names counts once, and what vanishes while we look counts as it was.
///
/// # Errors
/// The directory itself cannot be read.
pub fn directory_bytes(host: &dyn Host, directory: &Path) -> Result<u64, NotObservable> {
    host.names(directory)?;
    let mut seen = BTreeSet::new();
    let mut left: Vec<PathBuf> = vec![directory.to_owned()];
    let mut bytes = 0;
    while let Some(folder) = left.pop() {
        for name in host.names(&folder).unwrap_or_default() {
            let path = folder.join(name);
            let Ok(found) = host.link_status(&path) else { continue };
            if seen.insert(found.identity) {
                bytes += found.stored_bytes;
            }
            if found.kind == FileKind::Folder {
                left.push(path);
            }
        }
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use dbdyno_host::{Local, local_host};

    use super::*;

    #[test]
    fn the_proportional_share_is_read_and_nothing_else() {
        let rollup = b"5561 ---p [rollup]\nRss:   884 kB\nPss:   385 kB\nPss_Dirty:   68 kB\n";
        assert_eq!(proportional_kb(rollup), Some(385));
        assert_eq!(proportional_kb(b"Rss: 884 kB\n"), None);
    }

    #[test]
    fn this_process_holds_memory() {
        let bytes =
            ServerProbe::of_process(&local_host(), std::process::id()).resident_bytes().unwrap();
        assert!(bytes.is_some_and(|bytes| bytes > 100 * KB), "{bytes:?}");
    }

    #[test]
    fn a_file_counts_once_whatever_its_names() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("below")).unwrap();
        let file = folder.path().join("below/file");
        std::fs::write(&file, vec![1; 1 << 20]).unwrap();
        let once = directory_bytes(&Local, folder.path()).unwrap();
        assert!(once >= 1 << 20, "{once}");
        std::fs::hard_link(&file, folder.path().join("again")).unwrap();
        assert_eq!(directory_bytes(&Local, folder.path()).unwrap(), once);
        assert!(directory_bytes(&Local, &folder.path().join("nowhere")).is_err());
    }
}
