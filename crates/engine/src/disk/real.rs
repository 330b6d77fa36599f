//! A directory of the machine. Only its owner may enter it or read what is in it: a password of the
//! server that the engine is behind would be worth nothing otherwise.

use std::fs::{self, DirBuilder, OpenOptions, Permissions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, FileExt, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::OFlags;

use super::{Disk, File};

/// The file whose lock says that an engine is at work here.
const LOCK: &str = "lock";

/// A directory that belongs to one engine at a time.
#[derive(Debug)]
pub struct RealDisk {
    path: PathBuf,
    directory: fs::File,
    lock: fs::File,
}

/// Closing the file does not suffice: the lock is that of all copies of the descriptor, and a child
/// that another thread forks has one up to its `exec`.
impl Drop for RealDisk {
    fn drop(&mut self) {
        // What cannot be unlocked is unlocked once it is closed everywhere.
        let _ = self.lock.unlock();
    }
}

impl RealDisk {
    /// The files in a directory, which is made if there is none. One that is empty or an engine's
    /// becomes private; another's mode is left alone, and only our files in it are private.
    ///
    /// # Errors
    /// It cannot be made, or another process has it (`WouldBlock`).
    pub fn open(path: &Path) -> io::Result<RealDisk> {
        DirBuilder::new().recursive(true).mode(0o700).create(path)?;
        let place = path.join(LOCK);
        if place.is_file() || fs::read_dir(path)?.next().is_none() {
            fs::set_permissions(path, Permissions::from_mode(0o700))?;
        }
        let mut lock = private_options().create(true).truncate(false).open(&place)?;
        lock.set_permissions(Permissions::from_mode(0o600))?;
        lock.try_lock().map_err(|error| match error {
            fs::TryLockError::WouldBlock => {
                let pid = fs::read_to_string(&place).ok().and_then(|pid| pid.trim().parse().ok());
                let holder = pid.map_or(String::new(), |pid: u32| format!(" (pid {pid})"));
                let what =
                    format!("{} belongs to another engine that runs{holder}", path.display());
                io::Error::new(io::ErrorKind::WouldBlock, what)
            }
            fs::TryLockError::Error(error) => error,
        })?;
        lock.set_len(0)?;
        writeln!(lock, "{}", std::process::id())?;
        let directory = fs::File::open(path)?;
        Ok(RealDisk { path: path.to_owned(), directory, lock })
    }
}

/// To read and to write; readable by its owner alone if it is made. Links are not followed: whoever
/// might have put one there would choose what is overwritten.
pub(crate) fn private_options() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true).write(true).mode(0o600).custom_flags(OFlags::NOFOLLOW.bits() as i32);
    options
}

impl Disk for RealDisk {
    fn list(&self) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in fs::read_dir(&self.path)? {
            let name = entry?.file_name().into_string();
            names.extend(name.ok().filter(|name| name != LOCK));
        }
        Ok(names)
    }

    fn create(&self, name: &str) -> io::Result<Arc<dyn File>> {
        Ok(Arc::new(private_options().create(true).truncate(true).open(self.path.join(name))?))
    }

    fn open(&self, name: &str) -> io::Result<Arc<dyn File>> {
        Ok(Arc::new(private_options().open(self.path.join(name))?))
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        fs::rename(self.path.join(from), self.path.join(to))
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        fs::remove_file(self.path.join(name))
    }

    fn sync_directory(&self) -> io::Result<()> {
        self.directory.sync_all()
    }
}

impl File for fs::File {
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let mut done = 0;
        while done < buffer.len() {
            match FileExt::read_at(self, &mut buffer[done..], offset + done as u64) {
                Ok(0) => break,
                Ok(bytes) => done += bytes,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(done)
    }

    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.write_all_at(bytes, offset)
    }

    fn sync(&self) -> io::Result<()> {
        self.sync_data()
    }

    fn size(&self) -> io::Result<u64> {
        Ok(self.metadata()?.len())
    }

    fn truncate(&self, size: u64) -> io::Result<()> {
        self.set_len(size)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o7777
    }

    #[test]
    fn nobody_else_may_read_what_an_engine_writes() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("a/data");
        let disk = RealDisk::open(&path).unwrap();
        disk.create("redo").unwrap();
        assert_eq!((mode(&path), mode(&path.join(LOCK))), (0o700, 0o600));
        assert_eq!(mode(&path.join("redo")), 0o600);
        let error = RealDisk::open(&path).unwrap_err().to_string();
        assert!(error.contains(&format!("pid {}", std::process::id())), "{error}");
        drop(disk);
        // As an earlier release has left them.
        fs::set_permissions(&path, Permissions::from_mode(0o755)).unwrap();
        fs::set_permissions(path.join(LOCK), Permissions::from_mode(0o644)).unwrap();
        drop(RealDisk::open(&path).unwrap());
        assert_eq!((mode(&path), mode(&path.join(LOCK))), (0o700, 0o600));
    }

    /// As a child has one that another thread forks at that moment.
    #[test]
    fn a_copy_of_the_descriptor_keeps_no_directory() {
        let home = tempfile::tempdir().unwrap();
        let disk = RealDisk::open(home.path()).unwrap();
        let copy = disk.lock.try_clone().unwrap();
        assert!(RealDisk::open(home.path()).is_err(), "it is in use");
        drop(disk);
        drop(RealDisk::open(home.path()).unwrap());
        drop(copy);
    }

    #[test]
    fn a_directory_of_other_things_keeps_its_mode_and_links_are_not_followed() {
        let home = tempfile::tempdir().unwrap();
        fs::set_permissions(home.path(), Permissions::from_mode(0o755)).unwrap();
        let victim = home.path().join("victim");
        fs::write(&victim, "precious").unwrap();
        let disk = RealDisk::open(home.path()).unwrap();
        assert_eq!(mode(home.path()), 0o755);
        std::os::unix::fs::symlink(&victim, home.path().join("redo")).unwrap();
        assert!(disk.create("redo").is_err() && disk.open("redo").is_err());
        assert_eq!(fs::read(&victim).unwrap(), b"precious");
    }
}
