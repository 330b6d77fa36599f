//! The thread that reads the source's log and says of each transaction on which it depends.

use std::sync::Arc;

use dbdyno_model::Design;
use dbdyno_model::design::Metered;
use dbdyno_replica::depend::TrackerEvent;
use dbdyno_replica::{Applier, ApplySchedule, RowKey, Sequence, Tracker};

use super::commits::Commits;
use super::position::StoredPosition;
use super::window::{Task, Window};
use crate::engine::Engine;
use crate::error::{EngineError, Result};
use crate::ids::Lsn;
use crate::latch::ClockFunction;
use crate::log::Follower;
use crate::meter::Counter;
use crate::redo::RedoRecord;

/// After so many transactions the tracker is told what it may forget.
const CLEAN_UP: u64 = 1 << 16;

/// What a replica with so many threads would do is worked out beside, each transaction one step:
/// how parallel a history is does not depend on the machine.
const WOULD_WORKERS: u32 = 64;
const WOULD_WINDOW: usize = 1 << 10;

pub(super) struct Feeder {
    source: Arc<Engine>,
    log: Follower,
    tracker: Tracker,
    commits: Commits,
    would: ApplySchedule,
    /// Where times are metered.
    clock: Option<ClockFunction>,
}

impl Feeder {
    pub(super) fn open(
        source: &Arc<Engine>,
        design: &Design,
        found: &StoredPosition,
    ) -> Result<Feeder> {
        let log = Follower::open(source.shared.disk.clone(), found.place)?;
        let applied = found.place.max(found.copied);
        if source.shared.pipeline.end_lsn() < applied {
            let what = format!(
                "it ends before {applied}, which its replica has applied; begin the replica with a \
                 copy of it: remove its directory"
            );
            return Err(EngineError::Corrupt("the log of the source".to_owned(), what));
        }
        let tracker = Tracker::new(design.depend, design.certify, found.low);
        let many = design.apply.with_workers(WOULD_WORKERS);
        let applier = Applier::new(many, design.apply_order, found.low);
        let would = ApplySchedule::new(applier, WOULD_WINDOW, |_| 1);
        let commits = Commits::new(found.low);
        let clock = source.shared.follow.as_ref().and_then(|kept| kept.clock);
        let clock = clock.filter(|_| design.meter == Metered::Times);
        Ok(Feeder { source: source.clone(), log, tracker, commits, would, clock })
    }

    /// Feeds until the window is stopped.
    pub(super) fn feed_window(mut self, window: &Window) {
        let mut seen = self.log.next_lsn();
        loop {
            let pipeline = &self.source.shared.pipeline;
            let durable = pipeline.wait_beyond(seen, || window.is_stopped());
            if window.is_stopped() {
                return;
            }
            if let Err(error) = self.feed_until(durable, window) {
                return window.fail_with(error);
            }
            seen = durable;
        }
    }

    fn feed_until(&mut self, durable: Lsn, window: &Window) -> Result<()> {
        let mut rows: Vec<RowKey> = Vec::new();
        while let Some(followed) = self.log.next_record(durable)? {
            let Some(record) = RedoRecord::read(followed.record) else {
                let what = "it says what no engine writes".to_owned();
                return Err(EngineError::Corrupt("the log of the source".to_owned(), what));
            };
            rows.clear();
            let (mut parent, mut began_ns) = (Sequence::NONE, 0);
            if let RedoRecord::Followed { parent: place, began_ns: began, keys, .. } = record {
                rows.extend(keys.iter());
                parent = self.commits.last_until(place);
                began_ns = began;
            }
            self.commits.push(followed.end);
            let told = TrackerEvent::Committed { parent, rows: &rows };
            let clock = self.clock;
            let start_ns = clock.map(|now| now());
            let dependencies =
                self.tracker.handle_event(told).expect("a transaction has dependencies");
            let meter = &self.source.shared.meter;
            if let (Some(now), Some(start_ns)) = (clock, start_ns) {
                meter.add(Counter::TrackTime, now() - start_ns);
            }
            meter.add(Counter::TrackedRows, rows.len() as u64);
            let sequence = dependencies.sequence;
            let before = self.would.outcome_so_far();
            self.would.add_transaction(dependencies);
            let after = self.would.outcome_so_far();
            meter.add(Counter::ApplyUnits, after.work - before.work);
            meter.add(Counter::ApplySteps, after.end - before.end);
            let task = Task { record: followed.record.into(), began_ns, end: followed.end };
            if !window.enqueue_transaction(dependencies, task) {
                return Ok(());
            }
            if sequence.0.is_multiple_of(CLEAN_UP) {
                self.tracker.handle_event(TrackerEvent::Applied(window.applied_sequence()));
            }
        }
        Ok(())
    }
}
