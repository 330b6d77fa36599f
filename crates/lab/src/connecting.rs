//! How a crowd gets in: progress while a round connects, and what connecting costs in time.
//!
//! ```text
//!   ├─ connect, prepare ─┼─ lead-in ─┼─── window ───┼─ disconnect ─┤
//!   └────── told ────────┘                          └─ around = all that is not lead-in or window
//! ```

use std::time::Duration;

use dbdyno_load::Clock;
use dbdyno_model::ArmIndex;

use crate::watch::{Progress, Watch};

/// A round that begins.
pub(crate) struct Connecting {
    arm: ArmIndex,
    clients: u32,
    clock: Clock,
    begun: Duration,
}

impl Connecting {
    /// Connecting begins now.
    pub(crate) fn begin_round(arm: ArmIndex, clients: u32, clock: &Clock) -> Connecting {
        Connecting { arm, clients, clock: clock.clone(), begun: clock.now() }
    }

    /// Tells that so many have got in, and how long the others will take if it goes on like this.
    pub(crate) fn report_progress(&self, inside: u32, watch: &mut dyn Watch) {
        let left = left(self.elapsed(), inside, self.clients);
        let (arm, clients) = (self.arm, self.clients);
        watch.report_progress(Progress::Connecting { arm, inside, clients, left });
    }

    /// Time since it began.
    pub(crate) fn elapsed(&self) -> Duration {
        self.clock.now() - self.begun
    }
}

fn left(elapsed: Duration, inside: u32, clients: u32) -> Option<Duration> {
    let outside = clients.saturating_sub(inside);
    (inside > 0).then(|| elapsed.mul_f64(f64::from(outside) / f64::from(inside)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rest_takes_as_long_as_those_before() {
        let second = Duration::from_secs(1);
        assert_eq!(left(2 * second, 1_000, 5_000), Some(8 * second));
        assert_eq!(left(2 * second, 5_000, 5_000), Some(Duration::ZERO));
        assert_eq!(left(second, 0, 5_000), None);
    }
}
