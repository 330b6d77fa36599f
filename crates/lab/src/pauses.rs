//! Our own pauses.
//!
//! A thread that sleeps a millisecond again and again, and looks how late it wakes. It asks for
//! next to nothing of a processor, so that it is late only when the whole client is held up: by
//! the hypervisor, by swapping, or by more work than the host has processors. A client that is
//! held up does not ask, and blames nobody.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use dbdyno_model::Pauses;

const SLEEP: Duration = Duration::from_millis(1);
/// Later than this is a pause: timers alone are late by 0.05 to 0.1 ms.
const PAUSE: Duration = Duration::from_millis(1);

/// A running meter.
pub(crate) struct PauseMeter {
    over: Arc<AtomicBool>,
    thread: JoinHandle<Pauses>,
}

impl PauseMeter {
    /// Starts to look; `None` where no thread can be had.
    pub(crate) fn start() -> Option<PauseMeter> {
        let over = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&over);
        let thread = thread::Builder::new().name("hiccups".to_owned()).spawn(move || watch(&seen));
        thread.ok().map(|thread| PauseMeter { over, thread })
    }

    /// Stops, and says what was seen.
    pub(crate) fn stop(self) -> Option<Pauses> {
        self.over.store(true, Ordering::Relaxed);
        self.thread.join().ok()
    }
}

fn watch(over: &AtomicBool) -> Pauses {
    let mut pauses = Pauses::default();
    let mut before = now();
    while !over.load(Ordering::Relaxed) {
        thread::sleep(SLEEP);
        let woken = now();
        let late = (woken - before).saturating_sub(SLEEP);
        before = woken;
        if late > PAUSE {
            pauses.sum_ns += late.as_nanos() as u64;
            pauses.longest_ns = pauses.longest_ns.max(late.as_nanos() as u64);
        }
    }
    pauses
}

#[expect(clippy::disallowed_methods, reason = "measures how late the client is woken")]
fn now() -> Instant {
    Instant::now()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pause_is_no_longer_than_all_of_them() {
        let meter = PauseMeter::start().unwrap();
        thread::sleep(20 * SLEEP);
        let pauses = meter.stop().unwrap();
        assert!(pauses.longest_ns <= pauses.sum_ns);
        assert!(pauses.longest_ns == 0 || pauses.longest_ns > PAUSE.as_nanos() as u64);
    }
}
