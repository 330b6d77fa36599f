//! Another device for the same files: what a sync takes, as part of a design.
//!
//! Only syncs of bytes are replaced. What is named `8ms` is not durable: the bytes are where they
//! would be, and a crash of the machine may take them.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use dbdyno_model::design::Device;

use super::{Disk, File};
use crate::sync::thread;

/// The same files on a device.
pub(crate) fn attach_device(disk: Arc<dyn Disk>, device: Device) -> Arc<dyn Disk> {
    match device {
        Device::Disk => disk,
        Device::None => Arc::new(AttachedDisk { disk, sync: Duration::ZERO }),
        Device::Simulated(us) => {
            Arc::new(AttachedDisk { disk, sync: Duration::from_micros(us.into()) })
        }
    }
}

struct AttachedDisk {
    disk: Arc<dyn Disk>,
    sync: Duration,
}

struct AttachedFile {
    file: Arc<dyn File>,
    sync: Duration,
}

impl AttachedDisk {
    fn file(&self, file: Arc<dyn File>) -> Arc<dyn File> {
        Arc::new(AttachedFile { file, sync: self.sync })
    }
}

impl Disk for AttachedDisk {
    fn list(&self) -> io::Result<Vec<String>> {
        self.disk.list()
    }

    fn create(&self, name: &str) -> io::Result<Arc<dyn File>> {
        Ok(self.file(self.disk.create(name)?))
    }

    fn open(&self, name: &str) -> io::Result<Arc<dyn File>> {
        Ok(self.file(self.disk.open(name)?))
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        self.disk.rename(from, to)
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        self.disk.remove(name)
    }

    fn sync_directory(&self) -> io::Result<()> {
        Ok(())
    }
}

impl File for AttachedFile {
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        self.file.read_at(offset, buffer)
    }

    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.file.write_at(offset, bytes)
    }

    fn sync(&self) -> io::Result<()> {
        sleep(self.sync);
        Ok(())
    }

    fn size(&self) -> io::Result<u64> {
        self.file.size()
    }

    fn truncate(&self, size: u64) -> io::Result<()> {
        self.file.truncate(size)
    }
}

#[cfg(not(feature = "loom"))]
fn sleep(time: Duration) {
    if !time.is_zero() {
        thread::sleep(time);
    }
}

/// Loom knows no time.
#[cfg(feature = "loom")]
fn sleep(_: Duration) {
    thread::yield_now();
}
