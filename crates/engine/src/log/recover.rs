//! What a crash left, read again.
//!
//! ```text
//!   checkpoint.000000000000a000          log.…8000   log.…c000   log.…f000
//!     the tables, at least as of a000 ──►  [··▒▒▒▒▒]   [▒▒▒▒▒▒▒]   [▒▒▒▒✗    ]
//!                                             └── records from a000 on ──┘ └ the torn tail is cut
//! ```
//!
//! The newest checkpoint that was finished is taken, then every complete record from its place on,
//! in their order. Reading changes nothing but the tail: what is not complete there was never
//! acknowledged, and is cut before anything is written behind it. What was read is made durable
//! first, for it may have been written by a process that was killed and never synced it.
//!
//! Something that is wrong elsewhere is damage, and said: an incomplete record in a file that was
//! followed by another, or before a record that was written when it was durable.

use std::sync::Arc;

use super::checkpoint::{self, CheckpointReader};
use super::frame;
use super::segment::{self, CutTail, HEADER_BYTES, Tail, disk_error};
use crate::disk::Disk;
use crate::error::{EngineError, Result};
use crate::ids::Lsn;

/// What there is to be read. First the checkpoint, then the records, then [`Recovery::finish`].
pub struct Recovery {
    disk: Arc<dyn Disk>,
    checkpoint: Option<CheckpointReader>,
    from: u64,
    /// Where files begin, oldest first.
    starts: Vec<u64>,
    /// The file that is read: which one, its records, how far.
    current: usize,
    bytes: Vec<u8>,
    at: usize,
    /// Whether the last file lacks its header: it was begun and never written to.
    unborn: bool,
    ended: bool,
}

/// Places beyond are none: what is added to one that is not beyond is not too large either.
const PLACES_MOST: u64 = 1 << 62;

/// Begins to read what a disk holds. An empty one is an empty engine.
///
/// # Errors
/// The disk, or `Corrupt`: what is there does not reach back to the checkpoint.
pub fn recover(disk: Arc<dyn Disk>) -> Result<Recovery> {
    let names = disk.list().map_err(disk_error("the directory cannot be read"))?;
    let checkpoint = checkpoint::newest_checkpoint(disk.as_ref(), &names)?;
    let from = checkpoint.as_ref().map_or(0, |checkpoint| checkpoint.start().0);
    let mut starts: Vec<u64> = names.iter().filter_map(|name| segment::start_of(name)).collect();
    starts.sort_unstable();
    if let Some(&far) = starts.last().filter(|start| **start > PLACES_MOST) {
        let what = "no log gets so far".to_owned();
        return Err(EngineError::Corrupt(segment::name(far), what));
    }
    let current = starts.partition_point(|&start| start <= from).checked_sub(1);
    if current.is_none() && (from > 0 || !starts.is_empty()) {
        let what = format!("the log does not reach back to {from}, where the checkpoint begins");
        return Err(EngineError::Corrupt(segment::name(from), what));
    }
    let mut recovery = Recovery {
        disk,
        checkpoint,
        from,
        starts,
        current: current.unwrap_or(0),
        bytes: Vec::new(),
        at: 0,
        unborn: false,
        ended: false,
    };
    recovery.load()?;
    Ok(recovery)
}

/// Whether a disk holds what an engine left: some of its log, or a whole checkpoint.
///
/// # Errors
/// The disk.
pub(crate) fn is_there(disk: &dyn Disk) -> Result<bool> {
    let names = disk.list().map_err(disk_error("the directory cannot be read"))?;
    let is_log = names.iter().any(|name| segment::start_of(name).is_some());
    Ok(is_log || names.iter().any(|name| checkpoint::start_of(name).is_some()))
}

impl Recovery {
    /// Where records begin.
    pub fn start(&self) -> Lsn {
        Lsn(self.from)
    }

    /// The newest checkpoint, if there is one, from its first item on.
    pub fn checkpoint(&mut self) -> Option<&mut CheckpointReader> {
        self.checkpoint.as_mut()
    }

    /// The next complete record and its place; `None` at the end of the log.
    ///
    /// # Errors
    /// The disk, or `Corrupt`.
    pub fn next_record(&mut self) -> Result<Option<(Lsn, &[u8])>> {
        while !self.ended {
            let start = self.starts[self.current];
            let place = start + self.at as u64;
            match frame::read(&self.bytes, self.at, start) {
                Some(found) => {
                    self.at = found.next;
                    if place >= self.from {
                        return Ok(Some((Lsn(place), &self.bytes[found.payload])));
                    }
                }
                None => self.next_file(place)?,
            }
        }
        Ok(None)
    }

    /// Reads to the end, cuts the torn tail, and makes what was read durable. Where it goes on.
    ///
    /// # Errors
    /// The disk, or `Corrupt`.
    pub fn finish(mut self) -> Result<Tail> {
        while self.next_record()?.is_some() {}
        let Some(&start) = self.starts.last() else {
            return Ok(Tail { starts: Vec::new(), end: self.from, cut: None });
        };
        let end = start + self.at as u64;
        let mut cut = None;
        if end < self.from {
            let what = format!("it ends at {end}, before {}, where the checkpoint is", self.from);
            return Err(EngineError::Corrupt(segment::name(start), what));
        }
        if self.unborn {
            segment::create_segment(self.disk.as_ref(), start)?;
        } else {
            let behind = self.cut_tail(start);
            cut = behind.map_err(disk_error("the tail of the log cannot be cut"))?;
        }
        checkpoint::remove_obsolete(self.disk.as_ref(), self.checkpoint.as_ref())?;
        Ok(Tail { starts: self.starts, end, cut })
    }

    fn cut_tail(&self, start: u64) -> std::io::Result<Option<CutTail>> {
        let name = segment::name(start);
        let file = self.disk.open(&name)?;
        let place = (HEADER_BYTES + self.at) as u64;
        let bytes = file.size()?.saturating_sub(place);
        if bytes > 0 {
            file.truncate(place)?;
        }
        file.sync()?;
        self.disk.sync_directory()?;
        Ok((bytes > 0).then_some(CutTail { file: name, place, bytes }))
    }

    /// No record is at this place: the file, or the log, ends here, or is damaged.
    fn next_file(&mut self, place: u64) -> Result<()> {
        let start = self.starts[self.current];
        let damage = |what: String| Err(EngineError::Corrupt(segment::name(start), what));
        if let Some(&next) = self.starts.get(self.current + 1) {
            if next != place {
                return damage(format!(
                    "no record is at {place}, and the next file begins at {next}"
                ));
            }
            self.current += 1;
            return self.load();
        }
        if frame::is_damage(&self.bytes, self.at, start) {
            return damage(format!("no record is at {place}, which was durable"));
        }
        self.ended = true;
        Ok(())
    }

    /// Reads the current file whole.
    fn load(&mut self) -> Result<()> {
        let Some(&start) = self.starts.get(self.current) else {
            self.ended = true;
            return Ok(());
        };
        let name = segment::name(start);
        let read = || {
            let file = self.disk.open(&name)?;
            let mut bytes = vec![0; file.size()? as usize];
            let read = file.read_at(0, &mut bytes)?;
            bytes.truncate(read);
            Ok(bytes)
        };
        let mut bytes = read().map_err(disk_error("the log cannot be read"))?;
        self.at = 0;
        if bytes.get(..HEADER_BYTES) == Some(&segment::header(start)[..]) {
            bytes.drain(..HEADER_BYTES);
            self.bytes = bytes;
            return Ok(());
        }
        if bytes.len() > HEADER_BYTES || self.current + 1 < self.starts.len() {
            let what = "it does not begin as a file of the log does".to_owned();
            return Err(EngineError::Corrupt(name, what));
        }
        self.bytes = Vec::new();
        self.unborn = true;
        self.ended = true;
        Ok(())
    }
}
