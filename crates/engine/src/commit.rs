//! Group commit: which threads wait for the disk, and which are woken.
//!
//! ```text
//!   commit(record):  append ─► join the group that gathers ─┬─ first? wait for the turn, close
//!                                                           │  the group, flush, wake, pass on
//!                                                           └─ else sleep until woken
//!
//!   group 7   ████ flush ████│wake
//!   group 8      gathers ····│████ flush ████│wake          one gathers while one flushes
//!   group 9                  │  gathers ·····│████ …
//! ```
//!
//! Joining is one addition: the word that is added to holds the number of the group that gathers
//! and how many are in it, so a thread that adds learns both, and one that closes it learns how
//! many. Each joined after its record was in the log, so the flush that comes after the closing
//! covers them all. The first of a group leads it; it alone waits for the turn. So no group is
//! woken to find its leader. How the others sleep and are woken is the mechanism: [`wake`].
//!
//! A transaction that is durable still has to become visible: [`Commit`] stands for it until then,
//! and [`Pipeline::low_water`] is the place before which none is between the two.

use std::sync::Arc;

use dbdyno_model::Design;

use crate::disk::Disk;
use crate::error::Result;
use crate::ids::Lsn;
use crate::log::{Log, RecordPlace, SEGMENT_BYTES, Tail};
use crate::meter::{Counter, Meter};

mod flights;
mod gather;
pub mod wake;

use flights::{Flight, Flights};
pub use gather::Gather;

/// The way of a commit from its record to its being durable.
pub struct Pipeline {
    log: Log,
    gather: Gather,
    flights: Flights,
    meter: Arc<Meter>,
}

/// A record that is in the log and whose transaction has not ended. Dropped when it has: when its
/// versions are visible, or the engine gives up.
#[must_use = "until it is dropped, checkpoints begin before its record"]
pub struct Commit<'a> {
    pipeline: &'a Pipeline,
    flight: Flight,
    placed: RecordPlace,
}

impl Pipeline {
    /// Goes on where recovery found the end of the log.
    ///
    /// # Errors
    /// The disk.
    pub fn open(
        design: &Design,
        disk: Arc<dyn Disk>,
        tail: Tail,
        meter: Arc<Meter>,
    ) -> Result<Pipeline> {
        Pipeline::open_with(design, disk, tail, SEGMENT_BYTES, meter)
    }

    /// As [`Pipeline::open`], with files of about `segment_bytes`.
    ///
    /// # Errors
    /// The disk.
    pub fn open_with(
        design: &Design,
        disk: Arc<dyn Disk>,
        tail: Tail,
        segment_bytes: u64,
        meter: Arc<Meter>,
    ) -> Result<Pipeline> {
        let log = Log::open(design, disk, tail, segment_bytes, meter.clone())?;
        let gather = Gather::new(design.wake, meter.clone());
        Ok(Pipeline { log, gather, flights: Flights::default(), meter })
    }

    /// Returns when the record is durable. It must not be empty.
    ///
    /// # Errors
    /// `Disk`: the log takes no more; whether the record survives is not known.
    pub fn commit(&self, record: &[u8]) -> Result<Commit<'_>> {
        let commit = self.append(record)?;
        commit.wait()?;
        Ok(commit)
    }

    /// Appends a record without waiting; [`Commit::wait`] waits.
    ///
    /// # Errors
    /// `Disk`, as in [`Pipeline::commit`].
    pub fn append(&self, record: &[u8]) -> Result<Commit<'_>> {
        // Before the record has a place: a checkpoint that does not see this entry looked at the
        // log's end before the record was there.
        let flight = self.flights.begin_flight(self.log.durable_lsn());
        match self.log.append(record) {
            Ok(placed) => Ok(Commit { pipeline: self, flight, placed }),
            Err(error) => {
                self.flights.end_flight(flight);
                Err(error)
            }
        }
    }

    /// Every transaction whose record is before this place has ended: a checkpoint of what is
    /// visible from now on, together with the records from here on, is everything. Only if
    /// [`Pipeline::check_writable`] says afterwards that nothing has failed.
    pub fn low_water(&self) -> Lsn {
        let end = self.log.end_lsn();
        self.flights.lowest_bound().map_or(end, |lowest| lowest.min(end))
    }

    /// The place of the next record.
    pub fn end_lsn(&self) -> Lsn {
        self.log.end_lsn()
    }

    /// All before this place is durable.
    pub fn durable_lsn(&self) -> Lsn {
        self.log.durable_lsn()
    }

    /// See [`Log::wait_beyond`].
    pub(crate) fn wait_beyond(&self, place: Lsn, stop: impl Fn() -> bool) -> Lsn {
        self.log.wait_beyond(place, stop)
    }

    /// See [`Log::wake_waiters`].
    pub(crate) fn wake_waiters(&self) {
        self.log.wake_waiters();
    }

    /// Whether commits are still taken.
    ///
    /// # Errors
    /// `Disk`, once something failed.
    pub fn check_writable(&self) -> Result<()> {
        self.log.check_writable()
    }

    /// Makes all durable that was appended.
    ///
    /// # Errors
    /// `Disk`.
    pub fn flush(&self) -> Result<()> {
        self.log.flush()
    }

    /// Gives files of the log back all of whose records are before this place, when a checkpoint
    /// that begins there is finished.
    ///
    /// # Errors
    /// `Disk`. Commits go on.
    pub fn truncate_before(&self, lsn: Lsn) -> Result<()> {
        self.log.truncate_before(lsn)
    }
}

impl Commit<'_> {
    /// The place of the record.
    pub fn lsn(&self) -> Lsn {
        self.placed.start
    }

    /// Returns when the record is durable.
    ///
    /// # Errors
    /// `Disk`, as in [`Pipeline::commit`].
    pub fn wait(&self) -> Result<()> {
        let Pipeline { log, gather, meter, .. } = self.pipeline;
        while log.durable_lsn() < self.placed.end {
            log.check_writable()?;
            // What fails is kept by the log, for those that only waited as well.
            gather.run_in_group(|| drop(log.flush()));
        }
        meter.count(Counter::Commits);
        Ok(())
    }
}

impl Drop for Commit<'_> {
    fn drop(&mut self) {
        self.pipeline.flights.end_flight(self.flight);
    }
}
