//! The system's clocks, and waiting for a moment of theirs.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

/// How often a waiting round looks whether it is to stop.
pub(crate) const STOP_CHECK: Duration = Duration::from_millis(50);

/// A thread's clock: nanoseconds since it was made, because subtracting moments from each other for
/// every event would cost a tenth of what the client does for it.
pub(crate) struct Clock {
    origin: Instant,
}

impl Clock {
    pub(crate) fn now() -> Clock {
        Clock { origin: now() }
    }

    #[inline]
    pub(crate) fn elapsed_ns(&self) -> u64 {
        duration_ns(now() - self.origin)
    }

    /// A moment on this clock; what was before it is 0.
    pub(crate) fn at_ns(&self, moment: Instant) -> u64 {
        duration_ns(moment.saturating_duration_since(self.origin))
    }

    /// Sleeps until this moment, unless the round is to stop.
    pub(crate) fn wait_until(&self, moment_ns: u64, stop: &AtomicBool, failed: &AtomicBool) {
        wait_until(self.origin + Duration::from_nanos(moment_ns), stop, failed);
    }
}

/// Sleeps until this moment, unless the round is to stop.
pub(crate) fn wait_until(moment: Instant, stop: &AtomicBool, failed: &AtomicBool) {
    loop {
        let left = moment.saturating_duration_since(now());
        if left.is_zero() || stop.load(Ordering::Relaxed) || failed.load(Ordering::Relaxed) {
            return;
        }
        thread::sleep(left.min(STOP_CHECK));
    }
}

/// A duration in nanoseconds.
#[inline]
pub(crate) fn duration_ns(duration: Duration) -> u64 {
    let seconds = duration.as_secs().saturating_mul(1_000_000_000);
    seconds.saturating_add(u64::from(duration.subsec_nanos()))
}

/// This moment.
#[inline]
#[expect(clippy::disallowed_methods, reason = "the load generator owns the monotonic clock")]
pub(crate) fn now() -> Instant {
    Instant::now()
}

/// The time of day, milliseconds since 1970.
#[expect(clippy::disallowed_methods, reason = "a round carries the time of day it began")]
pub(crate) fn unix_ms() -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    since.map_or(0, |since| since.as_millis() as u64)
}
