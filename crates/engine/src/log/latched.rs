//! One latch over the buffer.
//!
//! ```text
//!   appenders ──► latch(buffer): [rec│rec│rec]          a flusher takes it whole, leaves
//!                                     │ swap            an empty one, and writes and syncs without
//!   flusher   ──► latch(writer): [rec│rec│rec] ──► file the buffer's latch
//! ```
//!
//! A copy of some hundred bytes under a latch is cheap; no holder of it waits for anything. The
//! buffer is bounded: a thread that finds it full writes it out, without a sync.

use std::sync::Arc;

use super::frame::PartialChecksum;
use super::segment::{self, Ends, Segments};
use super::state::{LogState, RecordPlace};
use crate::error::Result;
use crate::ids::Lsn;
use crate::meter::Counter;
use crate::sync::{Mutex, MutexGuard};

/// Bytes that wait to be written at most, except that one record always fits.
const CAPACITY: usize = 16 << 20;

pub(super) struct LatchedLog {
    buffer: Mutex<Buffer>,
    writer: Mutex<Writer>,
    shared: Arc<LogState>,
}

struct Buffer {
    bytes: Vec<u8>,
    /// The place of the first byte.
    start: u64,
}

struct Writer {
    segments: Segments,
    /// Swapped with the buffer's, so that nothing is allocated.
    taken: Vec<u8>,
}

const UNBROKEN: &str = "no thread panics with it";

impl LatchedLog {
    pub(super) fn new(segments: Segments, shared: Arc<LogState>) -> LatchedLog {
        let buffer = Mutex::new(Buffer { bytes: Vec::new(), start: segments.end_offset() });
        let writer = Mutex::new(Writer { segments, taken: Vec::new() });
        LatchedLog { buffer, writer, shared }
    }

    pub(super) fn append(&self, record: PartialChecksum<'_>) -> Result<RecordPlace> {
        let bytes = record.framed_bytes();
        let mut buffer = self.buffer();
        while !buffer.bytes.is_empty() && buffer.bytes.len() + bytes > CAPACITY {
            drop(buffer);
            self.shared.meter.count(Counter::LogFull);
            let mut writer = self.writer.lock().expect(UNBROKEN);
            self.write(&mut writer)?;
            drop(writer);
            buffer = self.buffer();
        }
        let before = buffer.bytes.len();
        let start = buffer.start + before as u64;
        let payload = record.payload();
        buffer.bytes.extend_from_slice(&record.header_at(start, self.shared.durability_stamp()));
        buffer.bytes.extend_from_slice(payload);
        buffer.bytes.resize(before + bytes, 0);
        Ok(RecordPlace { start: Lsn(start), end: Lsn(start + bytes as u64) })
    }

    pub(super) fn end_lsn(&self) -> Lsn {
        let buffer = self.buffer.lock().expect(UNBROKEN);
        Lsn(buffer.start + buffer.bytes.len() as u64)
    }

    pub(super) fn flush(&self) -> Result<()> {
        let mut writer = self.writer.lock().expect(UNBROKEN);
        self.write(&mut writer)?;
        let end = writer.segments.end_offset();
        if end == self.shared.durable_end() {
            return Ok(());
        }
        self.shared.meter.count(Counter::Syncs);
        let synced = segment::sync(writer.segments.file().as_ref());
        synced.map_err(|error| self.shared.poison(error))?;
        self.shared.is_durable(end);
        Ok(())
    }

    pub(super) fn truncate_before(&self, lsn: Lsn) -> Result<()> {
        self.writer.lock().expect(UNBROKEN).segments.truncate_before(lsn)
    }

    fn buffer(&self) -> MutexGuard<'_, Buffer> {
        self.shared.meter.count(Counter::LogReservations);
        self.buffer.lock().expect(UNBROKEN)
    }

    /// Writes what is in the buffer, if the log still takes it.
    fn write(&self, writer: &mut Writer) -> Result<()> {
        self.shared.check_writable()?;
        let mut buffer = self.buffer();
        std::mem::swap(&mut buffer.bytes, &mut writer.taken);
        buffer.start += writer.taken.len() as u64;
        drop(buffer);
        if writer.taken.is_empty() {
            return Ok(());
        }
        let written = writer.segments.write(&writer.taken, Ends::Record);
        writer.taken.clear();
        // One record of a large transaction may have made it longer than it ever is else.
        writer.taken.shrink_to(CAPACITY);
        let rolled = written.map_err(|error| self.shared.poison(error))?;
        if rolled {
            self.shared.meter.count(Counter::Syncs);
        }
        Ok(())
    }
}
