//! What is written of a deadlock.
//!
//! ```text
//!   off      nothing
//!   quiet    deadlock of 2: 7 -> 9 -> 7; 9 gives way
//!   noisy    the same, and for each of them what it waits for and all that it holds, each with the
//!            record that stands there, in hex and ASCII
//! ```
//!
//! MySQL prints the transactions and the locked records of all involved while it holds the latch of
//! the whole lock table (`Deadlock_notifier::notify`, `lock_rec_print`), so that none gets or
//! gives back a lock meanwhile: some kilobytes for each deadlock. That is what noisy does too: it
//! is the confounder of the published comparison of schedules. What is said is the same, in other
//! words, but for the text of the statements, which the engine does not know.

use std::fmt::{self, Write as _};
use std::io;

use super::shard::{Shard, Spot};
use super::transaction::State;
use super::waiting_trx::WaitingTrx;
use crate::ids::IndexId;
use crate::latch::Hold;
use crate::sync::Arc;

/// Where deadlocks are written, and where records are looked up for it.
pub struct DeadlockWriter {
    sink: Box<dyn io::Write + Send>,
    records: Option<Arc<dyn Records>>,
}

/// What stands at the places that are locked.
pub trait Records: Send + Sync {
    /// Appends what there is to be said of a key of an index, or of the gap after its last key, in
    /// whole lines. All latches of the lock table are held, for which holders of other latches may
    /// wait: so whatever has to be waited for is left out.
    fn describe_key(&self, index: IndexId, key: Option<&[u8]>, into: &mut String);
}

impl DeadlockWriter {
    /// Deadlocks are written there; of places no more is known than their keys.
    pub fn new(sink: Box<dyn io::Write + Send>) -> DeadlockWriter {
        DeadlockWriter { sink, records: None }
    }

    /// Deadlocks are written there, with the records.
    pub(crate) fn with_records(
        sink: Box<dyn io::Write + Send>,
        records: Arc<dyn Records>,
    ) -> DeadlockWriter {
        DeadlockWriter { sink, records: Some(records) }
    }

    /// Writes; how many bytes were written. What cannot be written is not: a full disk does not end
    /// transactions.
    pub(super) fn write(&mut self, text: &str) -> u64 {
        match self.sink.write_all(text.as_bytes()).and_then(|()| self.sink.flush()) {
            Ok(()) => text.len() as u64,
            Err(_) => 0,
        }
    }

    /// The line, and all locks of all involved.
    pub(super) fn full_report(
        &self,
        cycle: &[WaitingTrx],
        victim: usize,
        shards: &[Hold<'_, Shard>],
    ) -> String {
        let mut story = summary_line(cycle, victim);
        for member in cycle {
            let trx = &member.trx;
            let _ = writeln!(
                story,
                "transaction {}: rows written {}, places locked {}",
                trx.number(),
                trx.written_rows(),
                trx.held_places().len()
            );
            if let State::Waiting(at) = trx.wait().state {
                let (spot, queue) = shards[at.shard as usize].spot_and_queue(at.slot);
                let waiting = queue.queued_waiters().iter().find(|waiter| waiter.trx.is_same(trx));
                let claim = waiting.map_or_else(String::new, |waiter| waiter.claim.in_words());
                let _ = writeln!(story, "  waits for {claim} of {}", spot.in_words());
                self.show(spot, &mut story);
            }
            for at in trx.held_places().iter() {
                let (spot, queue) = shards[at.shard as usize].spot_and_queue(at.slot);
                for grant in queue.granted_claims().iter().filter(|grant| grant.trx.is_same(trx)) {
                    let _ = writeln!(
                        story,
                        "  holds {} of {}",
                        grant.claim.in_words(),
                        spot.in_words()
                    );
                    self.show(spot, &mut story);
                }
            }
        }
        story
    }

    fn show(&self, spot: Spot<'_>, story: &mut String) {
        if let (Some(records), Some((index, key))) = (&self.records, spot.of_index()) {
            records.describe_key(index, key, story);
        }
    }
}

impl fmt::Debug for DeadlockWriter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Witness")
    }
}

/// One line: the cycle, and the transaction that gives way.
pub(super) fn summary_line(cycle: &[WaitingTrx], victim: usize) -> String {
    let numbers: Vec<_> = cycle.iter().map(|member| member.trx.number().to_string()).collect();
    let [around, first] = [numbers.join(" -> "), numbers[0].clone()];
    format!("deadlock of {}: {around} -> {first}; {} gives way\n", cycle.len(), numbers[victim])
}
