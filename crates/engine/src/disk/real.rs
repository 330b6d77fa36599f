//! A directory of the machine.

use std::fs::{self, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{Disk, File};

/// The file whose lock says that an engine is at work here.
const LOCK: &str = "lock";

/// A directory that belongs to one engine at a time.
#[derive(Debug)]
pub struct RealDisk {
    path: PathBuf,
    directory: fs::File,
    /// Locked as long as it is open.
    _lock: fs::File,
}

impl RealDisk {
    /// The files in a directory, which is made if there is none.
    ///
    /// # Errors
    /// It cannot be made, or another process has it (`WouldBlock`).
    pub fn open(path: &Path) -> io::Result<RealDisk> {
        fs::create_dir_all(path)?;
        let lock =
            OpenOptions::new().create(true).truncate(false).write(true).open(path.join(LOCK))?;
        lock.try_lock().map_err(|error| match error {
            fs::TryLockError::WouldBlock => {
                let what = format!("{} belongs to another engine that runs", path.display());
                io::Error::new(io::ErrorKind::WouldBlock, what)
            }
            fs::TryLockError::Error(error) => error,
        })?;
        let directory = fs::File::open(path)?;
        Ok(RealDisk { path: path.to_owned(), directory, _lock: lock })
    }
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
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(true);
        Ok(Arc::new(options.open(self.path.join(name))?))
    }

    fn open(&self, name: &str) -> io::Result<Arc<dyn File>> {
        let file = OpenOptions::new().read(true).write(true).open(self.path.join(name))?;
        Ok(Arc::new(file))
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
