//! A word that threads wait at: a futex, and no mutex beside it.
//!
//! ```text
//!   waiter    value = word.load()   is it what I wait for?   word.wait(value) ── sleeps only if
//!                                                                  ▲             it is still so
//!   waker     word.store(new) ──────────────── word.wake_all() ────┘
//! ```
//!
//! The kernel compares and sleeps in one step, so no wake is missed between the two. A wait may
//! also return for no reason; callers look again. Loom and shuttle have no futex: there a mutex and
//! a condition stand in for it, the ordering of memory is that of the word's own operations.

use super::atomic::{AtomicU32, Ordering};

/// The word.
#[derive(Debug)]
pub struct Word {
    value: AtomicU32,
    #[cfg(any(feature = "loom", feature = "shuttle"))]
    latch: super::Mutex<()>,
    #[cfg(any(feature = "loom", feature = "shuttle"))]
    changed: super::Condvar,
}

impl Word {
    /// A word with a value.
    pub fn new(value: u32) -> Word {
        Word {
            value: AtomicU32::new(value),
            #[cfg(any(feature = "loom", feature = "shuttle"))]
            latch: super::Mutex::new(()),
            #[cfg(any(feature = "loom", feature = "shuttle"))]
            changed: super::Condvar::new(),
        }
    }

    /// Its value; what was written before that was stored can be read.
    pub fn load(&self) -> u32 {
        self.value.load(Ordering::Acquire)
    }

    /// Gives it a value. Sleepers stay asleep.
    pub fn store(&self, value: u32) {
        self.value.store(value, Ordering::Release);
    }

    /// Adds to it, around the end; what it was.
    pub fn add(&self, value: u32) -> u32 {
        self.value.fetch_add(value, Ordering::AcqRel)
    }
}

#[cfg(not(any(feature = "loom", feature = "shuttle")))]
impl Word {
    /// Sleeps if it has this value, until it is woken or for no reason; whether it slept.
    pub fn wait(&self, value: u32) -> bool {
        use rustix::io::Errno;
        use rustix::thread::futex;
        match futex::wait(&self.value, futex::Flags::PRIVATE, value, None) {
            // Woken, or a signal: the caller looks again.
            Ok(()) | Err(Errno::INTR) => true,
            // Changed meanwhile.
            Err(Errno::AGAIN) => false,
            Err(error) => panic!("a futex cannot be waited at: {error}"),
        }
    }

    /// Wakes one of those that wait.
    pub(crate) fn wake_one(&self) {
        self.wake(1);
    }

    /// Wakes all that wait, in one call.
    pub(crate) fn wake_all(&self) {
        self.wake(i32::MAX as u32);
    }

    fn wake(&self, many: u32) {
        use rustix::thread::futex;
        futex::wake(&self.value, futex::Flags::PRIVATE, many).expect("the address is a word");
    }
}

#[cfg(any(feature = "loom", feature = "shuttle"))]
impl Word {
    /// Sleeps if it has this value, until it is woken or for no reason; whether it slept.
    pub fn wait(&self, value: u32) -> bool {
        let latch = self.latch.lock().expect("no thread panics with it");
        let sleeps = self.value.load(Ordering::Acquire) == value;
        if sleeps {
            drop(self.changed.wait(latch).expect("no thread panics with it"));
        }
        sleeps
    }

    /// Wakes one of those that wait.
    pub(crate) fn wake_one(&self) {
        let _latch = self.latch.lock().expect("no thread panics with it");
        self.changed.notify_one();
    }

    /// Wakes all that wait, in one call.
    pub(crate) fn wake_all(&self) {
        let _latch = self.latch.lock().expect("no thread panics with it");
        self.changed.notify_all();
    }
}

#[cfg(all(test, not(any(feature = "loom", feature = "shuttle"))))]
mod tests {
    use super::*;
    use crate::sync::thread;

    #[test]
    fn who_comes_too_late_to_sleep_was_not_woken() {
        let word = Word::new(1);
        assert!(!word.wait(0), "it has another value");
        thread::scope(|scope| {
            let sleeper = scope.spawn(|| word.wait(1));
            // As often as it takes: when it sleeps is not known.
            while !sleeper.is_finished() {
                word.wake_all();
                thread::yield_now();
            }
            assert!(sleeper.join().unwrap(), "the value never changed");
        });
    }
}
