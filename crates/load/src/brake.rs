//! Slowing a client on purpose, by spinning after each event.

/// What a client owes to slowness.
///
/// The clock is too coarse to draw out an event of ten microseconds by five per cent exactly. What
/// was spun too long is credited to the events that follow, so that the sum is right.
pub(crate) struct Brake {
    /// Time to spin for each unit of time that an event took.
    extra: f64,
    owed_ns: f64,
}

impl Brake {
    /// Takes away this share of the rate.
    pub(crate) fn new(slow: f64) -> Brake {
        Brake { extra: slow / (1.0 - slow), owed_ns: 0.0 }
    }

    /// Spins for what an event of `took_ns` owes, and returns how long that was. `since_ns` tells
    /// the time since the event was answered.
    #[inline]
    pub(crate) fn spin(&mut self, took_ns: u64, mut since_ns: impl FnMut() -> u64) -> u64 {
        if self.extra == 0.0 {
            return 0;
        }
        self.owed_ns += took_ns as f64 * self.extra;
        let mut spun_ns = 0;
        while spun_ns as f64 <= self.owed_ns {
            std::hint::spin_loop();
            spun_ns = since_ns();
        }
        self.owed_ns -= spun_ns as f64;
        spun_ns
    }
}
