//! The only clock of this crate: a limit on waiting. No number of a result depends on it.

use std::time::{Duration, Instant};

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
