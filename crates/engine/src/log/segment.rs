//! The log as files, each a stretch of it.
//!
//! ```text
//!   log.0000000000000000    [ header │ records ………………………… ]     durable before the next one begins
//!   log.0000000004000088    [ header │ records ……… ]            written to
//!            └── the place of its first record, hexadecimal
//! ```
//!
//! A file is begun when the one before it is long enough, and only after that is durable whole: so
//! a torn tail can be in the last file alone. No record begins in one file and ends in another.
//! Files that nothing needs are removed, oldest first.

use std::io;
use std::sync::Arc;

use crate::disk::{Disk, File};
use crate::error::{EngineError, Result};
use crate::ids::Lsn;

/// Bytes before the first record of a file.
pub(super) const HEADER_BYTES: usize = 64;
/// A file that is so long is followed by another; what is written at once stays together.
pub const SEGMENT_BYTES: u64 = 64 << 20;

const MAGIC: &[u8; 12] = b"dbdyno log 2";
const PREFIX: &str = "log.";

/// The file that is written to, and those before it.
pub(super) struct Segments {
    disk: Arc<dyn Disk>,
    file: Arc<dyn File>,
    /// Where files begin, oldest first; the last is written to.
    starts: Vec<u64>,
    end: u64,
    ends: Ends,
    limit: u64,
}

/// What bytes end with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ends {
    /// A record's last byte.
    Record,
    /// A byte of a record that goes on.
    Within,
}

/// Where recovery found the end of the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tail {
    /// Where files begin, oldest first.
    pub(super) starts: Vec<u64>,
    pub(super) end: u64,
    /// What was cut off there.
    pub(super) cut: Option<CutTail>,
}

/// What stood behind the last whole record of a log and was cut off: the beginning of one that was
/// being written when the engine ended, and never acknowledged. That a bit of an acknowledged last
/// record has changed on the disk looks the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CutTail {
    /// The file of the log.
    pub file: String,
    /// Where in it the last whole record ends.
    pub place: u64,
    /// How many bytes were cut off.
    pub bytes: u64,
}

impl Tail {
    /// What was cut off there.
    pub fn cut_tail(&self) -> Option<&CutTail> {
        self.cut.as_ref()
    }

    /// The place of the next record.
    pub fn end_lsn(&self) -> Lsn {
        Lsn(self.end)
    }
}

/// A file's name.
pub(super) fn name(start: u64) -> String {
    format!("{PREFIX}{start:016x}")
}

/// Where the file with this name begins, if it is one of the log.
pub(crate) fn start_of(name: &str) -> Option<u64> {
    let digits = name.strip_prefix(PREFIX).filter(|digits| digits.len() == 16)?;
    u64::from_str_radix(digits, 16).ok()
}

/// What a file begins with.
pub(super) fn header(start: u64) -> [u8; HEADER_BYTES] {
    let mut header = [0; HEADER_BYTES];
    header[..MAGIC.len()].copy_from_slice(MAGIC);
    header[16..24].copy_from_slice(&start.to_le_bytes());
    let sum = crc32fast::hash(&header[..24]);
    header[24..28].copy_from_slice(&sum.to_le_bytes());
    header
}

pub(super) fn disk_error(what: &'static str) -> impl FnOnce(io::Error) -> EngineError {
    move |error| EngineError::Disk(what, error)
}

impl Segments {
    /// Goes on where recovery found the end.
    ///
    /// # Errors
    /// The disk.
    pub(super) fn open(disk: Arc<dyn Disk>, tail: Tail, limit: u64) -> Result<Segments> {
        let Tail { mut starts, end, .. } = tail;
        let file = match starts.last() {
            Some(&start) => {
                disk.open(&name(start)).map_err(disk_error("the log cannot be opened"))?
            }
            None => {
                starts.push(end);
                create_segment(disk.as_ref(), end)?
            }
        };
        Ok(Segments { disk, file, starts, end, ends: Ends::Record, limit })
    }

    /// The place behind what was written.
    pub(super) fn end_offset(&self) -> u64 {
        self.end
    }

    /// The file that is written to. All others are durable.
    pub(super) fn file(&self) -> Arc<dyn File> {
        self.file.clone()
    }

    /// Writes on. Whether files were synced for it: a new one was begun.
    ///
    /// # Errors
    /// The disk.
    pub(super) fn write(&mut self, bytes: &[u8], ends: Ends) -> Result<bool> {
        let mut start = *self.starts.last().expect("there is always one");
        let rolls = self.ends == Ends::Record && self.end - start >= self.limit;
        if rolls {
            sync(self.file.as_ref())?;
            self.file = create_segment(self.disk.as_ref(), self.end)?;
            self.starts.push(self.end);
            start = self.end;
        }
        let offset = HEADER_BYTES as u64 + self.end - start;
        self.file.write_at(offset, bytes).map_err(disk_error("the log cannot be written"))?;
        self.end += bytes.len() as u64;
        self.ends = ends;
        Ok(rolls)
    }

    /// Removes files all of whose records are before this place.
    ///
    /// # Errors
    /// The disk.
    pub(super) fn truncate_before(&mut self, lsn: Lsn) -> Result<()> {
        let needed = self.starts[1..].iter().take_while(|&&next| next <= lsn.0).count();
        let removed: Vec<u64> = self.starts.drain(..needed).collect();
        for start in &removed {
            self.disk.remove(&name(*start)).map_err(disk_error("the log cannot be shortened"))?;
        }
        if removed.is_empty() {
            return Ok(());
        }
        self.disk.sync_directory().map_err(disk_error("the log cannot be shortened"))
    }
}

/// Makes what was written to a file of the log durable.
///
/// # Errors
/// The disk.
pub(super) fn sync(file: &dyn File) -> Result<()> {
    file.sync().map_err(disk_error("the log cannot be synced"))
}

/// A file without records, durable with its name.
pub(super) fn create_segment(disk: &dyn Disk, start: u64) -> Result<Arc<dyn File>> {
    let begin = || {
        let file = disk.create(&name(start))?;
        file.write_at(0, &header(start))?;
        file.sync()?;
        disk.sync_directory()?;
        Ok(file)
    };
    begin().map_err(disk_error("a file of the log cannot be begun"))
}
