//! The only clock of this crate: limits on waiting, and when an image was last used. No number of
//! a result depends on it.

use std::time::{Duration, Instant, SystemTime};

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

    /// Sleeps for one poll; `false` once the deadline has passed.
    #[expect(clippy::disallowed_methods, reason = "waiting for a server needs a limit")]
    pub(crate) fn pause(&self) -> bool {
        std::thread::sleep(POLL);
        Instant::now() < self.0
    }
}

/// The time of day: when something was last used.
#[expect(clippy::disallowed_methods, reason = "what was not used for long is removed first")]
pub(crate) fn time_of_day() -> SystemTime {
    SystemTime::now()
}
