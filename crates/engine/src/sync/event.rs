//! Waiting for something that others make true, and telling them for nearly nothing when none
//! waits.
//!
//! ```text
//!   sleeper   look? no ─ sleepers += 1 ─ fence ─ look? no ─ sleep at the word
//!   teller    make it true ────────────── fence ─ sleepers? none: done
//! ```
//!
//! Of the two fences one comes first: either the teller sees the sleeper, or the sleeper's second
//! look sees what was made true.

use super::Word;
use super::atomic::{AtomicU32, Ordering, fence};

/// The event. What it is about is the callers' affair.
#[derive(Debug)]
pub struct WakeEvent {
    /// Changes whenever sleepers are told.
    told: Word,
    sleepers: AtomicU32,
}

impl Default for WakeEvent {
    fn default() -> WakeEvent {
        WakeEvent { told: Word::new(0), sleepers: AtomicU32::new(0) }
    }
}

impl WakeEvent {
    /// Looks until there is something to see; sleeps in between. How often it slept, and what it
    /// saw.
    pub fn wait_until<T>(&self, mut look: impl FnMut() -> Option<T>) -> (u64, T) {
        let mut slept = 0;
        loop {
            if let Some(seen) = look() {
                return (slept, seen);
            }
            let told = self.told.load();
            self.sleepers.fetch_add(1, Ordering::SeqCst);
            fence(Ordering::SeqCst);
            let seen = look();
            if seen.is_none() {
                slept += u64::from(self.told.wait(told));
            }
            self.sleepers.fetch_sub(1, Ordering::SeqCst);
            if let Some(seen) = seen {
                return (slept, seen);
            }
        }
    }

    /// Lets sleepers look again. To be called after the change.
    pub(crate) fn wake_sleepers(&self) {
        fence(Ordering::SeqCst);
        if self.sleepers.load(Ordering::SeqCst) > 0 {
            self.told.add(1);
            self.told.wake_all();
        }
    }
}
