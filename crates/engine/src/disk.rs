//! Files, as an argument: what the engine may ask of a disk, and what it may not hope for.
//!
//! ```text
//!   Disk    list · create · open · rename · remove      names: durable after sync_directory
//!   File    read_at · write_at · truncate               bytes: durable after sync
//!
//!   RealDisk    a directory
//!   SimDisk     memory that loses what was not synced, at the operation that a test chooses
//!   attach      another device for the same files: nothing to wait for, or so many microseconds
//! ```
//!
//! What was written and not synced may be there after a crash, or not, or in parts, sector by
//! sector. A sync that failed says nothing about what it was asked for, and the next one that
//! succeeds does not either: the kernel may have dropped the bytes ("PostgreSQL's fsync()
//! surprise", LWN 752063, 2018). So after a failure the engine writes no more.

use std::io;
use std::sync::Arc;

mod device;
mod real;
mod sim;

pub(crate) use device::attach_device;
pub use real::RealDisk;
pub(crate) use real::private_options;
pub use sim::SimDisk;

/// A place for files with plain names.
pub trait Disk: Send + Sync {
    /// The names of all files, in no order.
    ///
    /// # Errors
    /// What the system said; so everywhere here.
    fn list(&self) -> io::Result<Vec<String>>;

    /// An empty file of this name; what the name stood for before is gone.
    fn create(&self, name: &str) -> io::Result<Arc<dyn File>>;

    /// The file of this name, to be read and written.
    fn open(&self, name: &str) -> io::Result<Arc<dyn File>>;

    /// Gives a file another name, at once for all readers; a file of that name is gone.
    fn rename(&self, from: &str, to: &str) -> io::Result<()>;

    /// Takes a name away.
    fn remove(&self, name: &str) -> io::Result<()>;

    /// Returns when all names are durable as they are.
    fn sync_directory(&self) -> io::Result<()>;
}

/// Bytes with places. Threads may use one file together.
pub trait File: Send + Sync {
    /// Reads into the buffer from this place on; how many bytes there were, fewer than it takes
    /// only at the end of the file.
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize>;

    /// Writes all of it at this place; a gap before it is filled with zeros.
    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()>;

    /// Returns when all bytes that were written before are durable, and the length.
    fn sync(&self) -> io::Result<()>;

    /// Bytes in it.
    fn size(&self) -> io::Result<u64>;

    /// Makes it so many bytes long.
    fn truncate(&self, size: u64) -> io::Result<()>;
}
