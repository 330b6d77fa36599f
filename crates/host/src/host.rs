//! What a machine can be asked.

use std::ffi::OsString;
use std::fmt::Debug;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::error::HostError;
use crate::kernel;

/// A machine that is looked at. Nothing here changes it.
///
/// # Errors
/// Whatever returns one says what was not possible, where and why; the kinds of the reasons are
/// those of [`std::io`], whatever the machine.
pub trait Host: Debug + Send + Sync {
    /// What is in a file, links followed.
    ///
    /// # Errors
    /// None is there, it may not be read, or it has more than `most` bytes
    /// ([`std::io::ErrorKind::FileTooLarge`]).
    fn read(&self, path: &Path, most: u64) -> Result<Vec<u8>, HostError>;

    /// What is in a file from this byte on, at most `most` of it; less, or nothing, at its end.
    ///
    /// # Errors
    /// None is there, or it may not be read.
    fn read_at(&self, path: &Path, offset: u64, most: u64) -> Result<Vec<u8>, HostError>;

    /// The names in a folder, in no order.
    ///
    /// # Errors
    /// None is there, or it may not be read.
    fn names(&self, folder: &Path) -> Result<Vec<OsString>, HostError>;

    /// Where a link leads.
    ///
    /// # Errors
    /// It is none, or it may not be read.
    fn link_target(&self, path: &Path) -> Result<PathBuf, HostError>;

    /// What is known of a file or folder, links followed.
    ///
    /// # Errors
    /// None is there, or the way to it may not be gone.
    fn status(&self, path: &Path) -> Result<FileStatus, HostError>;

    /// What is known of what has this name: of a link, and not of what it leads to.
    ///
    /// # Errors
    /// As [`Host::status`].
    fn link_status(&self, path: &Path) -> Result<FileStatus, HostError>;

    /// The path without links.
    ///
    /// # Errors
    /// As [`Host::status`].
    fn without_links(&self, path: &Path) -> Result<PathBuf, HostError>;

    /// The addresses of its network interfaces.
    ///
    /// # Errors
    /// The kernel does not list them.
    fn interface_addresses(&self) -> Result<Vec<IpAddr>, HostError>;

    /// Processor time of a process with all its threads, those that ended too, in nanoseconds;
    /// `None` if there is no such process.
    fn cpu_ns(&self, pid: u32) -> Option<u64>;

    /// Length of the tick in which the kernel counts processor time, in nanoseconds.
    fn tick_ns(&self) -> u64;

    /// The memory of a process; `None` if the kernel does not let us look, if the process has
    /// ended, or if pages have another size than is usual.
    fn process_memory(&self, pid: u32) -> Option<Box<dyn ProcessMemory>>;

    /// dbdyno's own number among the processes of this machine; `None` if it runs on another one.
    fn own_pid(&self) -> Option<u32>;

    /// What the kernel says in one of its files: see [`kernel`].
    ///
    /// # Errors
    /// As [`Host::read`].
    fn kernel_file(&self, path: &Path) -> Result<Vec<u8>, HostError> {
        self.read(path, kernel::LONGEST)
    }

    /// The same as text; nothing where it cannot be read.
    fn kernel_text(&self, path: &Path) -> Option<String> {
        let bytes = self.kernel_file(path).ok()?;
        Some(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// Numbers in the names of a folder: processes, or threads of one, in no order.
    ///
    /// # Errors
    /// As [`Host::names`].
    fn numeric_names(&self, folder: &Path) -> Result<Vec<u32>, HostError> {
        let names = self.names(folder)?;
        Ok(names.iter().filter_map(|name| name.to_str()?.parse().ok()).collect())
    }
}

/// A machine that several look at.
pub type SharedHost = Arc<dyn Host>;

/// The memory of a process, in pages of 4096 bytes.
pub trait ProcessMemory: Debug + Send + Sync {
    /// Which of so many pages from this address on are in memory; fewer, or none, where that cannot
    /// be seen.
    fn resident_pages(&self, address: u64, pages: usize) -> Vec<bool>;

    /// Reads a byte at each of these addresses, of which there are 512 at most; how many could be.
    fn touch_addresses(&self, addresses: &[u64]) -> usize;

    /// What reading a byte at this address takes, in nanoseconds; `None` if it cannot be read.
    fn touch_ns(&self, address: u64) -> Option<u64>;
}

/// What lies under a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// A file whose bytes can be read.
    File,
    /// A folder.
    Folder,
    /// A symbolic link.
    Link,
    /// A device, a pipe or a socket.
    Special,
}

/// What is known of a file, a folder or a link without opening it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileStatus {
    /// What it is.
    pub kind: FileKind,
    /// The account that it belongs to.
    pub uid: u32,
    /// The group that it belongs to.
    pub gid: u32,
    /// Who may do what with it: the lower twelve bits of its mode.
    pub mode: u32,
    /// Its length in bytes.
    pub bytes: u64,
    /// What it takes on storage, in bytes.
    pub stored_bytes: u64,
    /// Device and number, by which it is told from others that have its name or more of them.
    pub identity: (u64, u64),
}
