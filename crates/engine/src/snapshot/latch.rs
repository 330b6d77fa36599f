//! The latch of the transaction system, counted.
//!
//! What the variants of views differ in is how often this one latch is taken and for how long it
//! is held. So each taking is counted here and nowhere else, and the time is added up where a
//! clock is given; the engine has none of its own.

use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use crate::meter::{Counter, Meter};
use crate::sync::{Mutex, MutexGuard};

/// Tells the time since some moment in nanoseconds, never less than before.
pub type Clock = fn() -> u64;

/// A mutex that counts.
#[derive(Debug)]
pub(super) struct Latch<T> {
    inner: Mutex<T>,
    meter: Arc<Meter>,
    clock: Option<Clock>,
}

/// The latch, held.
pub(super) struct Held<'a, T> {
    inner: MutexGuard<'a, T>,
    meter: &'a Meter,
    since: Option<(Clock, u64)>,
}

impl<T> Latch<T> {
    pub(super) fn new(inner: T, meter: Arc<Meter>, clock: Option<Clock>) -> Latch<T> {
        Latch { inner: Mutex::new(inner), meter, clock }
    }

    #[inline]
    pub(super) fn take(&self) -> Held<'_, T> {
        let inner = self.inner.lock().expect("nobody panics under the latch");
        self.meter.count(Counter::TrxLatches);
        let since = self.clock.map(|clock| (clock, clock()));
        Held { inner, meter: &self.meter, since }
    }
}

impl<T> Deref for Held<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        &self.inner
    }
}

impl<T> DerefMut for Held<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        &mut self.inner
    }
}

impl<T> Drop for Held<'_, T> {
    #[inline]
    fn drop(&mut self) {
        if let Some((clock, since)) = self.since {
            self.meter.add(Counter::TrxLatchHeld, clock().saturating_sub(since));
        }
    }
}
