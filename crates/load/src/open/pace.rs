//! Waiting for a moment, as exactly as the machine can afford.
//!
//! ```text
//!   claimed ──── asleep (absolute time, timer slack 1 ns) ────▶│ spin │▶ intended time
//!                                                    wake-up: late by what the kernel takes
//! ```
//!
//! A sleeping thread wakes up late: some microseconds on bare metal, fifty and more where an idle
//! virtual processor has to be fetched. Sleeping that much less and spinning the rest makes the
//! sending exact, but what spins takes a processor from the server that is measured. So a client
//! spins only what it has saved up: all clients together at most [`SPIN_SHARE`] of the machine. At
//! a thousand events per second and two processors these are 40 µs before each event, enough; at
//! twenty thousand it is nothing, but then the processors do not fall asleep either.

use nix::sys::prctl;
use nix::sys::time::{TimeSpec, TimeValLike};
use nix::time::{ClockId, ClockNanosleepFlags, clock_gettime, clock_nanosleep};

/// Share of the machine's processors that may go into spinning.
const SPIN_SHARE: f64 = 0.02;
/// A client never spins longer than this before an event.
const SPIN_NS_MAX: f64 = 100_000.0;
/// The most that can be saved up, so that a long sleep is not followed by much spinning.
const SAVED_NS_MAX: f64 = 1_000_000.0;
/// How fast the estimate of the lateness of a wake-up follows what is seen.
const STEP_NS: f64 = 1_000.0;
/// The share of wake-ups that the estimate shall cover.
const COVERED: f64 = 0.9;
/// Longest sleep without a look at whether to stop.
const STOP_CHECK_NS: i64 = 50_000_000;

/// Time since the window opened, and waiting for a moment of it.
pub(super) trait Clock {
    /// Nanoseconds since the window opened; negative before.
    fn now_ns(&mut self) -> i64;
    /// Returns when that moment has come, or when `stop` says so, with the time it is then.
    fn wait_until(&mut self, moment_ns: i64, stop: impl Fn() -> bool) -> i64;
}

/// The monotonic clock, for one thread.
pub(super) struct Monotonic {
    open_ns: i64,
    /// By how much wake-ups are late: a running estimate that covers most of them.
    late_ns: f64,
    saved_ns: f64,
    saved_at_ns: i64,
    /// Nanoseconds of spinning that each nanosecond brings.
    allowance: f64,
}

/// The monotonic clock of the system, nanoseconds.
pub(super) fn monotonic_ns() -> i64 {
    // Linux always has this clock; it can fail for a wrong address only.
    clock_gettime(ClockId::CLOCK_MONOTONIC).map_or(0, |time| time.num_nanoseconds())
}

impl Monotonic {
    /// A clock for the calling thread, one of `clients` on so many `processors`. The window opens
    /// at `open_ns` of [`monotonic_ns`].
    pub(super) fn new(open_ns: i64, clients: u32, processors: usize) -> Monotonic {
        // Without it the kernel may be 50 µs late on purpose. Where it refuses we are later, and
        // the lag shows it.
        let _ = prctl::set_timerslack(1);
        Monotonic {
            open_ns,
            late_ns: 0.0,
            saved_ns: 0.0,
            saved_at_ns: monotonic_ns() - open_ns,
            allowance: SPIN_SHARE * processors as f64 / f64::from(clients),
        }
    }

    /// How much earlier than needed to wake up.
    fn spin_ns(&mut self, now_ns: i64) -> f64 {
        let brought = (now_ns - self.saved_at_ns) as f64 * self.allowance;
        self.saved_ns = (self.saved_ns + brought).min(SAVED_NS_MAX);
        self.saved_at_ns = now_ns;
        if self.saved_ns >= self.late_ns { self.late_ns } else { 0.0 }
    }

    fn sleep_until(&self, moment_ns: i64) {
        let time = TimeSpec::nanoseconds(self.open_ns + moment_ns);
        // A signal ends the sleep early; the caller looks at the clock again.
        let _ =
            clock_nanosleep(ClockId::CLOCK_MONOTONIC, ClockNanosleepFlags::TIMER_ABSTIME, &time);
    }
}

impl Clock for Monotonic {
    #[inline]
    fn now_ns(&mut self) -> i64 {
        monotonic_ns() - self.open_ns
    }

    fn wait_until(&mut self, moment_ns: i64, stop: impl Fn() -> bool) -> i64 {
        let mut now = self.now_ns();
        while moment_ns - now > STOP_CHECK_NS {
            self.sleep_until(now + STOP_CHECK_NS);
            if stop() {
                return now;
            }
            now = self.now_ns();
        }
        if now >= moment_ns {
            return now;
        }
        let wake = moment_ns - self.spin_ns(now) as i64;
        if wake > now {
            self.sleep_until(wake);
            now = self.now_ns();
            let late = (now - wake) as f64;
            let step = if late > self.late_ns { COVERED } else { COVERED - 1.0 };
            self.late_ns = (self.late_ns + step * STEP_NS).clamp(0.0, SPIN_NS_MAX);
        }
        let spun_from = now;
        while now < moment_ns {
            std::hint::spin_loop();
            now = self.now_ns();
        }
        self.saved_ns -= (now - spun_from) as f64;
        now
    }
}
