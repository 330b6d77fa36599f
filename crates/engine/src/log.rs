//! The log: what must survive, in one order.
//!
//! ```text
//!   append(record) ──► buffer ──► file ──► durable        latched   one latch; a flusher
//!        │ its place             write     sync                     writes and syncs
//!        └──────────── flush() returns ─────┘             linked    reserved by adding, filled
//!                                                                   side by side; two threads
//!   checkpoint ─► records from its place on ─► recover              write and sync
//! ```
//!
//! A place, an [`Lsn`], counts bytes of records since the log was begun. A record goes in whole
//! (`frame`) and files follow each other (`segment`); [`recover()`] finds what a crash left.
//!
//! When writing or syncing fails once, the log is poisoned: nothing that was not durable before is
//! acknowledged, and every later append fails.

use std::sync::Arc;

use dbdyno_model::Design;
use dbdyno_model::design::{Device, LogBuffer};

use crate::disk::{Disk, attach_device};
use crate::error::Result;
use crate::ids::Lsn;
use crate::meter::{Counter, Meter};

mod checkpoint;
mod follow;
mod frame;
mod latched;
mod linked;
mod recover;
mod ring;
mod segment;
mod state;

pub use checkpoint::{CheckpointReader, CheckpointWriter};
pub use follow::{Follower, LogRecord};
pub(crate) use recover::is_there;
pub use recover::{Recovery, recover};
pub use segment::{CutTail, SEGMENT_BYTES, Tail};

use frame::PartialChecksum;
use latched::LatchedLog;
use linked::LinkedLog;
use segment::Segments;
use state::LogState;
pub use state::RecordPlace;

/// The log of an engine.
pub struct Log {
    buffer: Buffer,
    shared: Arc<LogState>,
}

#[cfg_attr(
    feature = "shuttle",
    expect(clippy::large_enum_variant, reason = "its locks are large; an engine has one of these")
)]
enum Buffer {
    Latched(LatchedLog),
    Linked(LinkedLog),
}

impl Log {
    /// Goes on where recovery found the end, in files of about `segment_bytes`.
    ///
    /// # Errors
    /// The disk.
    pub fn open(
        design: &Design,
        disk: Arc<dyn Disk>,
        tail: Tail,
        segment_bytes: u64,
        meter: Arc<Meter>,
    ) -> Result<Log> {
        let disk = attach_device(disk, design.device);
        let end = tail.end_lsn().0;
        let segments = Segments::open(disk, tail, segment_bytes)?;
        let shared = Arc::new(LogState::new(end, design.device == Device::Disk, meter));
        let buffer = match design.log {
            LogBuffer::Latched => Buffer::Latched(LatchedLog::new(segments, shared.clone())),
            LogBuffer::Linked => Buffer::Linked(LinkedLog::new(segments, shared.clone())),
        };
        Ok(Log { buffer, shared })
    }

    /// Puts a record into the buffer; it is durable after the next [`Log::flush`]. It must not be
    /// empty.
    ///
    /// # Errors
    /// The log is poisoned.
    pub fn append(&self, record: &[u8]) -> Result<RecordPlace> {
        self.shared.check_writable()?;
        self.shared.meter.add(Counter::Logged, record.len() as u64);
        let record = PartialChecksum::of_payload(record);
        match &self.buffer {
            Buffer::Latched(latched) => latched.append(record),
            Buffer::Linked(linked) => linked.append(record),
        }
    }

    /// Returns when all that was appended before is durable.
    ///
    /// # Errors
    /// The disk, or the log was poisoned before.
    pub fn flush(&self) -> Result<()> {
        match &self.buffer {
            Buffer::Latched(latched) => latched.flush(),
            Buffer::Linked(linked) => linked.flush(),
        }
    }

    /// The place of the next record.
    pub fn end_lsn(&self) -> Lsn {
        match &self.buffer {
            Buffer::Latched(latched) => latched.end_lsn(),
            Buffer::Linked(linked) => linked.end_lsn(),
        }
    }

    /// All before this place is durable.
    pub fn durable_lsn(&self) -> Lsn {
        Lsn(self.shared.durable_end())
    }

    /// Whether the log still takes records.
    ///
    /// # Errors
    /// It is poisoned.
    pub fn check_writable(&self) -> Result<()> {
        self.shared.check_writable()
    }

    /// Returns when all before a place beyond this one is durable, or `stop` says so: told whenever
    /// something is durable, and by [`Log::wake_waiters`].
    pub(crate) fn wait_beyond(&self, place: Lsn, stop: impl Fn() -> bool) -> Lsn {
        self.shared
            .news
            .wait_until(|| {
                let durable = self.durable_lsn();
                (durable > place || stop()).then_some(durable)
            })
            .1
    }

    /// Lets those look again that wait in [`Log::wait_beyond`].
    pub(crate) fn wake_waiters(&self) {
        self.shared.news.wake_sleepers();
    }

    /// Gives files back all of whose records are before this place.
    ///
    /// # Errors
    /// The disk. The log goes on.
    pub fn truncate_before(&self, lsn: Lsn) -> Result<()> {
        match &self.buffer {
            Buffer::Latched(latched) => latched.truncate_before(lsn),
            Buffer::Linked(linked) => linked.truncate_before(lsn),
        }
    }
}
