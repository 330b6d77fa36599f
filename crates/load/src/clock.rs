//! The time of an experiment, as a value.
//!
//! ```text
//!   system    since it was made, by the monotonic clock; the time of day by the wall clock
//!   virtual   moved on by arms that are models, by what their rounds, starts and fillings take
//! ```
//!
//! Whatever decides by time, such as a limit on a run, asks this clock, so that it decides the same
//! when a model answers.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::time::{duration_ns, now, unix_ms};

/// Tells the time.
#[derive(Clone, Debug)]
pub enum Clock {
    /// That of the system, which began then.
    System(Instant),
    /// That of models.
    Virtual(VirtualClock),
}

/// A clock that is moved on by whoever takes time. Clones are the same clock.
#[derive(Clone, Debug)]
pub struct VirtualClock(Arc<Time>);

#[derive(Debug)]
struct Time {
    now_ns: AtomicU64,
    begins_unix_ms: u64,
    noise_seed: u64,
    /// How many arms were opened.
    openings: AtomicU64,
    /// Rounds that were measured, and how many will be.
    rounds: AtomicU64,
    halts: Option<u64>,
}

impl Clock {
    /// That of the system, beginning now.
    pub fn system() -> Clock {
        Clock::System(now())
    }

    /// Time since it began.
    pub fn now(&self) -> Duration {
        match self {
            Clock::System(began) => now() - *began,
            Clock::Virtual(clock) => clock.now(),
        }
    }

    /// The time of day, milliseconds since 1970.
    pub fn unix_ms(&self) -> u64 {
        match self {
            Clock::System(_) => unix_ms(),
            Clock::Virtual(clock) => clock.unix_ms(),
        }
    }
}

impl VirtualClock {
    /// One under which models have the noise of this seed, and no arm answers after the rounds of
    /// `halts`, until the run is interrupted: a run that can be stopped or killed at a known place.
    pub fn with_noise_and_halt(
        begins_unix_ms: u64,
        noise_seed: u64,
        halts: Option<u64>,
    ) -> VirtualClock {
        let (now_ns, openings, rounds) = Default::default();
        let time = Time { now_ns, begins_unix_ms, noise_seed, openings, rounds, halts };
        VirtualClock(Arc::new(time))
    }

    /// Time since it began.
    pub fn now(&self) -> Duration {
        Duration::from_nanos(self.now_ns())
    }

    /// The time of day, milliseconds since 1970.
    pub fn unix_ms(&self) -> u64 {
        self.0.begins_unix_ms + self.now_ns() / 1_000_000
    }

    /// What tells the noise of models under this clock from that under another.
    pub(crate) fn noise_seed(&self) -> u64 {
        self.0.noise_seed
    }

    /// Something has taken so long. What threads do at once is added up, so that the sum is the
    /// same whichever of them comes first.
    pub fn advance_by(&self, time: Duration) {
        self.0.now_ns.fetch_add(duration_ns(time), Ordering::Relaxed);
    }

    pub(crate) fn now_ns(&self) -> u64 {
        self.0.now_ns.load(Ordering::Relaxed)
    }

    /// A round is about to be measured.
    pub(crate) fn round(&self) {
        self.0.rounds.fetch_add(1, Ordering::Relaxed);
    }

    /// Whether the next round is never answered.
    pub(crate) fn has_halted(&self) -> bool {
        self.0.halts.is_some_and(|halts| self.0.rounds.load(Ordering::Relaxed) >= halts)
    }

    /// The number of an arm that is being opened, from 0.
    pub(crate) fn next_opening(&self) -> u64 {
        self.0.openings.fetch_add(1, Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn virtual_time_stands_until_somebody_takes_it() {
        let clock = VirtualClock::with_noise_and_halt(5_000, 5_000, None);
        let seen = Clock::Virtual(clock.clone());
        assert_eq!((seen.now(), seen.unix_ms()), (Duration::ZERO, 5_000));
        clock.advance_by(Duration::from_millis(1_500));
        assert_eq!((seen.now(), seen.unix_ms()), (Duration::from_millis(1_500), 6_500));
        assert_eq!((clock.next_opening(), clock.next_opening()), (0, 1));
        let halting = VirtualClock::with_noise_and_halt(0, 0, Some(1));
        assert!(!halting.has_halted());
        halting.round();
        assert!(halting.has_halted() && !clock.has_halted());
    }
}
