//! All tables at one time, in a file: what makes the log before it unnecessary.
//!
//! ```text
//!   checkpoint.new                     [ item │ item │ … │ end ]     written, synced, renamed:
//!   checkpoint.000000000000a000        whole, or not there
//!              └── records from this place on are needed beside it
//! ```
//!
//! What an item says is the writer's affair. Items are framed as records of the log are. The
//! directory is synced before a checkpoint counts; then older ones go.

use std::sync::Arc;

use super::frame::{self, PartialChecksum};
use super::segment::disk_error;
use crate::disk::{Disk, File};
use crate::error::{EngineError, Result};
use crate::ids::Lsn;

const NEW: &str = "checkpoint.new";
const PREFIX: &str = "checkpoint.";
/// Bytes that are written, or read, at once.
const CHUNK_BYTES: usize = 1 << 20;
/// The first byte of a frame: an item follows, or the number of items.
const ITEM: u8 = 0;
const END: u8 = 1;

const CANNOT_WRITE: &str = "the checkpoint cannot be written";
const CANNOT_READ: &str = "the checkpoint cannot be read";

fn name(start: u64) -> String {
    format!("{PREFIX}{start:016x}")
}

pub(super) fn start_of(name: &str) -> Option<u64> {
    let digits = name.strip_prefix(PREFIX).filter(|digits| digits.len() == 16)?;
    u64::from_str_radix(digits, 16).ok()
}

/// A checkpoint that is being written. One that is dropped before its end never was.
pub struct CheckpointWriter {
    disk: Arc<dyn Disk>,
    file: Arc<dyn File>,
    start: Lsn,
    written: u64,
    chunk: Vec<u8>,
    items: u64,
    payload: Vec<u8>,
}

impl CheckpointWriter {
    /// Begins one. `start` is the low water of the log from before the tables were looked at.
    ///
    /// # Errors
    /// The disk; so in all of them.
    pub fn create_file(disk: Arc<dyn Disk>, start: Lsn) -> Result<CheckpointWriter> {
        let file = disk.create(NEW).map_err(disk_error(CANNOT_WRITE))?;
        let (chunk, payload) = (Vec::new(), Vec::new());
        Ok(CheckpointWriter { disk, file, start, written: 0, chunk, items: 0, payload })
    }

    /// Adds an item.
    ///
    /// # Errors
    /// The disk.
    pub fn write(&mut self, item: &[u8]) -> Result<()> {
        self.items += 1;
        self.frame(ITEM, item)
    }

    /// Makes it the checkpoint that counts.
    ///
    /// # Errors
    /// The disk. The one before still counts.
    pub fn finish(mut self) -> Result<()> {
        self.frame(END, &self.items.to_le_bytes())?;
        self.flush()?;
        let publish = || {
            self.file.sync()?;
            self.disk.rename(NEW, &name(self.start.0))?;
            self.disk.sync_directory()?;
            let older = self.disk.list()?.into_iter();
            for old in older.filter(|name| start_of(name).is_some_and(|at| at < self.start.0)) {
                self.disk.remove(&old)?;
            }
            Ok(())
        };
        publish().map_err(disk_error(CANNOT_WRITE))
    }

    fn frame(&mut self, kind: u8, item: &[u8]) -> Result<()> {
        self.payload.clear();
        self.payload.push(kind);
        self.payload.extend_from_slice(item);
        let checked = PartialChecksum::of_payload(&self.payload);
        let framed = self.chunk.len() + checked.framed_bytes();
        let head = checked.header_at(self.written + self.chunk.len() as u64, 0);
        self.chunk.extend_from_slice(&head);
        self.chunk.extend_from_slice(&self.payload);
        self.chunk.resize(framed, 0);
        if self.chunk.len() >= CHUNK_BYTES { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<()> {
        self.file.write_at(self.written, &self.chunk).map_err(disk_error(CANNOT_WRITE))?;
        self.written += self.chunk.len() as u64;
        self.chunk.clear();
        Ok(())
    }
}

/// A checkpoint that is read, item by item.
pub struct CheckpointReader {
    name: String,
    file: Arc<dyn File>,
    start: Lsn,
    /// The place of the first byte that is held.
    base: u64,
    bytes: Vec<u8>,
    at: usize,
    items: u64,
    ended: bool,
}

impl CheckpointReader {
    /// The place from which records are needed.
    pub fn start(&self) -> Lsn {
        self.start
    }

    /// The next item, `None` after the last.
    ///
    /// # Errors
    /// The disk, or `Corrupt`.
    pub fn next_item(&mut self) -> Result<Option<&[u8]>> {
        if self.ended {
            return Ok(None);
        }
        let mut found = frame::read(&self.bytes, self.at, self.base);
        while found.is_none() && self.more()? {
            found = frame::read(&self.bytes, self.at, self.base);
        }
        let Some(found) = found else {
            return Err(self.damage("an item is not what was written"));
        };
        self.at = found.next;
        let payload = found.payload.start + 1..found.payload.end;
        if self.bytes[found.payload.start] == ITEM {
            self.items += 1;
            return Ok(Some(&self.bytes[payload]));
        }
        if self.bytes[payload] != self.items.to_le_bytes() {
            return Err(self.damage("it has not as many items as it says"));
        }
        self.ended = true;
        Ok(None)
    }

    /// Reads on; false at the end of the file.
    fn more(&mut self) -> Result<bool> {
        self.bytes.drain(..self.at);
        self.base += self.at as u64;
        self.at = 0;
        let held = self.bytes.len();
        self.bytes.resize(held + CHUNK_BYTES, 0);
        let from = self.base + held as u64;
        let read = self.file.read_at(from, &mut self.bytes[held..]);
        let read = read.map_err(disk_error(CANNOT_READ))?;
        self.bytes.truncate(held + read);
        Ok(read > 0)
    }

    fn damage(&self, what: &str) -> EngineError {
        EngineError::Corrupt(self.name.clone(), what.to_owned())
    }
}

/// The newest checkpoint of those names.
pub(super) fn newest_checkpoint(
    disk: &dyn Disk,
    names: &[String],
) -> Result<Option<CheckpointReader>> {
    let Some(start) = names.iter().filter_map(|name| start_of(name)).max() else {
        return Ok(None);
    };
    let name = name(start);
    let file = disk.open(&name).map_err(disk_error(CANNOT_READ))?;
    Ok(Some(CheckpointReader {
        name,
        file,
        start: Lsn(start),
        base: 0,
        bytes: Vec::new(),
        at: 0,
        items: 0,
        ended: false,
    }))
}

/// Removes what no later start needs: a checkpoint that was not finished, and older ones.
pub(super) fn remove_obsolete(disk: &dyn Disk, newest: Option<&CheckpointReader>) -> Result<()> {
    let newest = newest.map_or(0, |newest| newest.start.0);
    let sweep = || {
        for name in disk.list()? {
            if name == NEW || start_of(&name).is_some_and(|start| start < newest) {
                disk.remove(&name)?;
            }
        }
        Ok(())
    };
    sweep().map_err(disk_error("what an earlier start left cannot be removed"))
}
