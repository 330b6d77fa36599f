//! What is written of a deadlock.
//!
//! ```text
//!   off      nothing
//!   quiet    deadlock of 2: 7 -> 9 -> 7; 9 gives way
//!   noisy    the same, and for each of them what it waits for and all that it holds
//! ```
//!
//! MySQL prints all locks of all involved while it holds the latch of the whole lock table
//! (`Deadlock_notifier::notify`), so that nobody gets or gives back a lock meanwhile. That is what
//! noisy does too: it is the confounder of the published comparison of schedules.

use std::fmt::{self, Write as _};
use std::io;

use super::deadlock::Member;
use super::shard::Shard;
use super::trx::State;
use crate::latch::Hold;

/// Where deadlocks are written.
pub(super) struct Witness(Box<dyn io::Write + Send>);

impl Witness {
    pub(super) fn new(sink: Box<dyn io::Write + Send>) -> Witness {
        Witness(sink)
    }

    /// Writes; how many bytes were written. What cannot be written is not: a full disk does not end
    /// transactions.
    pub(super) fn write(&mut self, text: &str) -> u64 {
        match self.0.write_all(text.as_bytes()).and_then(|()| self.0.flush()) {
            Ok(()) => text.len() as u64,
            Err(_) => 0,
        }
    }
}

impl fmt::Debug for Witness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Witness")
    }
}

/// One line: the cycle, and who gives way.
pub(super) fn line(cycle: &[Member], victim: usize) -> String {
    let numbers: Vec<_> = cycle.iter().map(|member| member.trx.number().to_string()).collect();
    let [around, first] = [numbers.join(" -> "), numbers[0].clone()];
    format!("deadlock of {}: {around} -> {first}; {} gives way\n", cycle.len(), numbers[victim])
}

/// The line, and all locks of all involved.
pub(super) fn story(cycle: &[Member], victim: usize, shards: &[Hold<'_, Shard>]) -> String {
    let mut story = line(cycle, victim);
    for member in cycle {
        let trx = &member.trx;
        let _ = writeln!(story, "transaction {}, worth {}", trx.number(), trx.worth());
        if let State::Waiting(at) = trx.wait().state {
            let (spot, queue) = shards[at.shard as usize].named(at.slot);
            let waiting = queue.waiting().iter().find(|waiter| waiter.trx.is(trx));
            let claim = waiting.map_or_else(String::new, |waiter| waiter.claim.words());
            let _ = writeln!(story, "  waits for {claim} of {}", spot.words());
        }
        for at in trx.held().iter() {
            let (spot, queue) = shards[at.shard as usize].named(at.slot);
            for grant in queue.granted().iter().filter(|grant| grant.trx.is(trx)) {
                let _ = writeln!(story, "  holds {} of {}", grant.claim.words(), spot.words());
            }
        }
    }
    story
}
