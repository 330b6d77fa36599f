//! The log as others read it while it is written: record by record, as far as it is durable.
//!
//! ```text
//!   log.0000000000000000    [ ████████████████ ]
//!   log.0000000000004000    [ ██████▒▒▒▒░░ ]        █ read  ▒ durable  ░ not yet: not seen
//! ```
//!
//! It reads the files, not the buffer: what it has seen is on disk. A file that it has read to its
//! end is followed by the one that begins at that place.

use std::sync::Arc;

use super::frame;
use super::segment::{self, HEADER_BYTES, disk_error};
use crate::disk::{Disk, File};
use crate::error::{EngineError, Result};
use crate::ids::Lsn;

/// Bytes that are read at once; a longer record is read whole.
const READ_BYTES: usize = 256 << 10;

/// A reader of the log of another engine.
pub struct Follower {
    disk: Arc<dyn Disk>,
    file: Arc<dyn File>,
    /// Where the file begins.
    start: u64,
    /// What was read, and where the first byte is in the log.
    bytes: Vec<u8>,
    place: u64,
    /// Of that, how much was given out.
    at: usize,
}

/// A record.
#[derive(Debug, PartialEq, Eq)]
pub struct LogRecord<'a> {
    /// The place behind it.
    pub end: Lsn,
    /// What it says.
    pub record: &'a [u8],
}

impl Follower {
    /// Begins at a place at which a record begins, or the log ends.
    ///
    /// # Errors
    /// The disk, or `Corrupt` if the log does not reach back so far.
    pub fn open(disk: Arc<dyn Disk>, from: Lsn) -> Result<Follower> {
        let names = disk.list().map_err(disk_error("the log cannot be listed"))?;
        let starts = names.iter().filter_map(|name| segment::start_of(name));
        let Some(start) = starts.filter(|&start| start <= from.0).max() else {
            let what = format!(
                "the log does not reach back to {from}, where its replica is; begin the replica \
                 with a copy of its source: remove its directory"
            );
            return Err(EngineError::Corrupt(segment::name(from.0), what));
        };
        let file = disk.open(&segment::name(start));
        let file = file.map_err(disk_error("the log cannot be opened"))?;
        Ok(Follower { disk, file, start, bytes: Vec::new(), place: from.0, at: 0 })
    }

    /// The place of the next record.
    pub(crate) fn next_lsn(&self) -> Lsn {
        Lsn(self.place + self.at as u64)
    }

    /// The next record, if there is a whole one before `durable`.
    ///
    /// # Errors
    /// The disk, or `Corrupt`.
    pub fn next_record(&mut self, durable: Lsn) -> Result<Option<LogRecord<'_>>> {
        while self.next_lsn() < durable {
            if let Some(found) = frame::read(&self.bytes, self.at, self.place) {
                let end = Lsn(self.place + found.next as u64);
                if end > durable {
                    return Ok(None);
                }
                self.at = found.next;
                return Ok(Some(LogRecord { end, record: &self.bytes[found.payload] }));
            }
            if !self.read_on(durable)? {
                return Ok(None);
            }
        }
        Ok(None)
    }

    /// Reads more of what is durable; false if there is no more.
    fn read_on(&mut self, durable: Lsn) -> Result<bool> {
        self.bytes.drain(..self.at);
        self.place += self.at as u64;
        self.at = 0;
        let have = self.bytes.len();
        let from = self.place + have as u64;
        let known = match frame::size(&self.bytes, 0) {
            Some(size) if size <= have => {
                let what = format!("no record is at {}, which was durable", self.place);
                return Err(EngineError::Corrupt(segment::name(self.start), what));
            }
            size => size.map_or(0, |size| size - have),
        };
        let wanted = READ_BYTES.max(known).min((durable.0 - from) as usize);
        if wanted == 0 {
            return Ok(false);
        }
        self.bytes.resize(have + wanted, 0);
        let offset = HEADER_BYTES as u64 + from - self.start;
        let read = self.file.read_at(offset, &mut self.bytes[have..]);
        let read = read.map_err(disk_error("the log cannot be read"))?;
        self.bytes.truncate(have + read);
        if read == 0 {
            self.next_file(from)?;
        }
        Ok(true)
    }

    /// The file has ended at this place, and more is durable.
    fn next_file(&mut self, place: u64) -> Result<()> {
        let damage = |what: &str| Err(EngineError::Corrupt(segment::name(self.start), what.into()));
        if !self.bytes.is_empty() || place == self.start {
            return damage("it ends within a record that is durable");
        }
        self.file = match self.disk.open(&segment::name(place)) {
            Ok(file) => file,
            Err(_) => return damage("it ends, and no other file begins there"),
        };
        self.start = place;
        Ok(())
    }
}
