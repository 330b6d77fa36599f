//! Space that is reserved by adding, filled side by side, and written by a thread of its own.
//!
//! ```text
//!   appenders ─ reserve ─ fill ─ link ─►  ring  ─► writer thread ─► file ─► flusher thread
//!                                          ▲ room       │ written      sync │ durable
//!                                          └────────────┘                   └──► flushers
//! ```
//!
//! No latch is taken to append (MySQL 8.0's log, WL#10310). The writer sleeps until a session asks
//! for what is in the ring to be durable, or the ring is half full; a hole that it meets on its way
//! makes it sleep until that piece is linked. A session that waits for the disk waits for two
//! threads instead of doing it: on few processors that is what the design costs, and Oracle made
//! the threads optional for it (Bug#30088404).
//!
//! A record that is longer than a quarter of the ring is filled piece by piece.

use std::sync::Arc;

use super::frame::PartialChecksum;
use super::ring::Ring;
use super::segment::{self, Ends, Segments};
use super::state::{LogState, RecordPlace};
use crate::error::{EngineError, Result};
use crate::ids::Lsn;
use crate::meter::Counter;
use crate::sync::atomic::{AtomicBool, AtomicU64, Ordering, fence};
use crate::sync::{Mutex, WakeEvent, thread};

/// Bytes that are reserved and not written at most: MySQL's window of links.
const RING_BYTES: u64 = 1 << 20;
/// The writer is at no hole.
const NOWHERE: u64 = u64::MAX;
const UNBROKEN: &str = "no thread panics with it";

pub(super) struct LinkedLog {
    core: Arc<Core>,
    threads: Vec<thread::JoinHandle<()>>,
}

struct Core {
    ring: Ring,
    segments: Mutex<Segments>,
    /// All before this place is wanted durable.
    asked: AtomicU64,
    /// Where the writer waits for a piece.
    hole: AtomicU64,
    closed: AtomicBool,
    /// The writer sleeps here.
    work: WakeEvent,
    /// The flusher.
    written: WakeEvent,
    /// Appenders without room.
    room: WakeEvent,
    /// Flushers.
    durable: WakeEvent,
    shared: Arc<LogState>,
}

/// Ends the log with the thread that holds it, however that ends.
struct Farewell(Arc<Core>);

impl LinkedLog {
    pub(super) fn new(segments: Segments, shared: Arc<LogState>) -> LinkedLog {
        let end = segments.end_offset();
        let core = Arc::new(Core {
            ring: Ring::new(RING_BYTES, end),
            segments: Mutex::new(segments),
            asked: AtomicU64::new(end),
            hole: AtomicU64::new(NOWHERE),
            closed: AtomicBool::new(false),
            work: WakeEvent::default(),
            written: WakeEvent::default(),
            room: WakeEvent::default(),
            durable: WakeEvent::default(),
            shared,
        });
        let spawn = |name: &str, work: fn(&Core) -> Result<()>| {
            let core = core.clone();
            let thread = thread::Builder::new().name(name.to_owned());
            let thread = thread.spawn(move || {
                let Farewell(core) = &Farewell(core);
                if let Err(error) = work(core) {
                    core.shared.poison(error);
                }
            });
            thread.expect("a process can have one thread more")
        };
        let threads = vec![spawn("engine:writer", Core::write), spawn("engine:syncer", Core::sync)];
        LinkedLog { core, threads }
    }

    pub(super) fn append(&self, record: PartialChecksum<'_>) -> Result<RecordPlace> {
        let core = &*self.core;
        let bytes = record.framed_bytes() as u64;
        core.shared.meter.count(Counter::LogReservations);
        let start = core.ring.reserve(bytes);
        let end = start + bytes;
        let payload = record.payload();
        let head = record.header_at(start, core.shared.durability_stamp());
        let mut from = start;
        while from < end {
            let to = end.min(from + core.ring.piece_bytes());
            if !core.ring.has_room(to) {
                core.wait_for_room(to)?;
            }
            let ends = if to == end { Ends::Record } else { Ends::Within };
            core.ring.fill_piece(start, from..to, ends, &head, payload);
            core.linked(from, to);
            from = to;
        }
        Ok(RecordPlace { start: Lsn(start), end: Lsn(end) })
    }

    pub(super) fn end_lsn(&self) -> Lsn {
        Lsn(self.core.ring.reserved_end())
    }

    pub(super) fn flush(&self) -> Result<()> {
        let core = &*self.core;
        let end = core.ring.reserved_end();
        core.asked.fetch_max(end, Ordering::SeqCst);
        core.work.wake_sleepers();
        if core.ring.written_end() >= end {
            // Else the writer tells the flusher when it comes there.
            core.written.wake_sleepers();
        }
        core.durable
            .wait_until(|| {
                let done = core.shared.durable_end() >= end;
                if done { Some(Ok(())) } else { core.shared.check_writable().err().map(Err) }
            })
            .1
    }

    pub(super) fn truncate_before(&self, lsn: Lsn) -> Result<()> {
        self.core.segments.lock().expect(UNBROKEN).truncate_before(lsn)
    }
}

impl Drop for LinkedLog {
    fn drop(&mut self) {
        self.core.closed.store(true, Ordering::SeqCst);
        self.core.work.wake_sleepers();
        self.core.written.wake_sleepers();
        for thread in self.threads.drain(..) {
            // One that panicked has said so, and poisoned the log.
            drop(thread.join());
        }
    }
}

impl Drop for Farewell {
    fn drop(&mut self) {
        let Farewell(core) = self;
        let gone = std::io::Error::other("a thread of the log has ended");
        core.shared.poison(EngineError::Disk("the log is closed", gone));
        for event in [&core.work, &core.written, &core.room, &core.durable] {
            event.wake_sleepers();
        }
    }
}

impl Core {
    fn wait_for_room(&self, end: u64) -> Result<()> {
        self.work.wake_sleepers();
        let look = || {
            let room = self.ring.has_room(end);
            if room { Some(Ok(())) } else { self.shared.check_writable().err().map(Err) }
        };
        let (slept, room) = self.room.wait_until(look);
        self.shared.meter.add(Counter::LogFull, slept);
        room
    }

    /// Wakes the writer if the piece is the one that it waits for, or if there is much to write.
    fn linked(&self, start: u64, end: u64) {
        fence(Ordering::SeqCst);
        if self.hole.load(Ordering::SeqCst) == start || self.is_full(end) {
            self.work.wake_sleepers();
        }
    }

    /// Whether the writer should begin although none asked.
    fn is_full(&self, end: u64) -> bool {
        end.saturating_sub(self.ring.written_end()) >= self.ring.bytes() / 2
    }

    fn is_over(&self) -> bool {
        self.closed.load(Ordering::SeqCst) || self.shared.check_writable().is_err()
    }

    /// The writer's life.
    fn write(&self) -> Result<()> {
        let mut bytes = Vec::new();
        while let Some((end, ends)) = self.work.wait_until(|| self.next_write()).1 {
            bytes.clear();
            self.ring.copy(end, &mut bytes);
            let rolled = self.segments.lock().expect(UNBROKEN).write(&bytes, ends)?;
            if rolled {
                self.shared.meter.count(Counter::Syncs);
            }
            self.ring.release(end);
            self.room.wake_sleepers();
            self.written.wake_sleepers();
        }
        Ok(())
    }

    /// How far the writer can write, if it should. `Some(None)`: the log is over.
    fn next_write(&self) -> Option<Option<(u64, Ends)>> {
        if self.is_over() {
            return Some(None);
        }
        let written = self.ring.written_end();
        if self.asked.load(Ordering::SeqCst) <= written && !self.is_full(self.ring.reserved_end()) {
            return None;
        }
        // Before looking at links: one that links after this look sees it.
        self.hole.store(written, Ordering::SeqCst);
        fence(Ordering::SeqCst);
        let (ready, ends) = self.ring.ready_end();
        if ready == written {
            return None;
        }
        self.hole.store(NOWHERE, Ordering::SeqCst);
        Some(Some((ready, ends)))
    }

    /// The flusher's life.
    fn sync(&self) -> Result<()> {
        let asked = || {
            let asked = self.asked.load(Ordering::SeqCst);
            let news = asked > self.shared.durable_end();
            if self.is_over() { Some(None) } else { news.then_some(Some(asked)) }
        };
        while let Some(asked) = self.written.wait_until(asked).1 {
            self.written
                .wait_until(|| (self.ring.written_end() >= asked || self.is_over()).then_some(()));
            // The file after the place: what is before it is in this file or durable.
            let written = self.ring.written_end();
            let file = self.segments.lock().expect(UNBROKEN).file();
            if self.is_over() {
                return Ok(());
            }
            self.shared.meter.count(Counter::Syncs);
            segment::sync(file.as_ref())?;
            self.shared.is_durable(written);
            self.durable.wake_sleepers();
        }
        Ok(())
    }
}
