//! The only clock of this crate: limits on waiting, when an image was last used, and the moments of
//! a delayed way.

use std::time::{Duration, Instant, SystemTime};

use dbdyno_wire::is_all_cut;
use nix::sys::time::TimeSpec;
use nix::time::{ClockId, ClockNanosleepFlags, clock_nanosleep};

/// A moment after which waiting ends.
pub(crate) struct Deadline(Instant);

/// How long a poll sleeps; short beside any start of a server.
const POLL: Duration = Duration::from_millis(10);

impl Deadline {
    /// The moment `seconds` from now.
    #[expect(clippy::disallowed_methods, reason = "waiting for a server needs a limit")]
    pub(crate) fn after_seconds(seconds: u64) -> Deadline {
        Deadline(Instant::now() + Duration::from_secs(seconds))
    }

    /// Sleeps for one poll; `false` once the deadline has passed, or connections were cut off since
    /// this process is to stop: then nobody comes who could be waited for.
    pub(crate) fn pause(&self) -> bool {
        self.pause_to_the_end() && !is_all_cut()
    }

    /// The same for what comes whether or not this process is to stop: the end of what was killed.
    #[expect(clippy::disallowed_methods, reason = "waiting for a server needs a limit")]
    pub(crate) fn pause_to_the_end(&self) -> bool {
        std::thread::sleep(POLL);
        Instant::now() < self.0
    }
}

/// The time of day: when something was last used.
#[expect(clippy::disallowed_methods, reason = "what was not used for long is removed first")]
pub(crate) fn time_of_day() -> SystemTime {
    SystemTime::now()
}

/// Now, in nanoseconds of the monotonic clock.
pub(crate) fn now_ns() -> u64 {
    let now = ClockId::CLOCK_MONOTONIC.now().unwrap_or_else(|_| TimeSpec::new(0, 0));
    Duration::from(now).as_nanos() as u64
}

/// Sleeps until the monotonic clock shows `due_ns`. Whoever is late does not sleep, and a signal
/// does not wake.
pub(crate) fn sleep_until_ns(due_ns: u64) {
    let due = TimeSpec::from(Duration::from_nanos(due_ns));
    let absolute = ClockNanosleepFlags::TIMER_ABSTIME;
    while clock_nanosleep(ClockId::CLOCK_MONOTONIC, absolute, &due) == Err(nix::errno::Errno::EINTR)
    {
    }
}
