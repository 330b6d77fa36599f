//! Latches that are counted, and timed where that is wanted.
//!
//! ```text
//!   take ─► one more ─► wait for the mutex ─► work ─► give back
//!                                            └ hold ┘
//! ```
//!
//! What variants of a mechanism differ in is often how often a latch is taken and for how long it
//! is held. So takings of those latches that all threads meet at are counted here and nowhere else:
//! that of the transaction system, and those of the lock table. Times are added up where a clock is
//! given; the engine has none of its own, and without one there is nothing but a look whether there
//! is one. Two looks at a clock take as long as many a hold, so that times are for comparing them
//! with each other and not with a run without.

use std::ops::{Deref, DerefMut};

use crate::meter::{Counter, Meter};
use crate::sync::{Arc, Mutex, MutexGuard};

/// Tells the time since some moment in nanoseconds, never less than before.
pub type ClockFunction = fn() -> u64;

/// What is counted of latches of one kind.
#[derive(Debug)]
pub(crate) struct Gauge {
    meter: Arc<Meter>,
    taken: Counter,
    held: Counter,
    clock: Option<ClockFunction>,
}

/// A latch over something, with a gauge of its own.
#[derive(Debug)]
pub(crate) struct Latch<T> {
    inner: Mutex<T>,
    gauge: Gauge,
}

/// A latch that is held.
pub(crate) struct Hold<'a, T> {
    inner: MutexGuard<'a, T>,
    gauge: &'a Gauge,
    since: Option<u64>,
}

impl Gauge {
    /// That of the latch of the transaction system.
    pub(crate) fn of_transactions(meter: Arc<Meter>, clock: Option<ClockFunction>) -> Gauge {
        Gauge { meter, taken: Counter::TrxLatches, held: Counter::TrxLatchHeld, clock }
    }

    /// That of the latches of the lock table.
    pub(crate) fn of_locks(meter: Arc<Meter>, clock: Option<ClockFunction>) -> Gauge {
        Gauge { meter, taken: Counter::LockLatches, held: Counter::LockLatchHeld, clock }
    }

    /// Takes a latch of this kind.
    #[inline]
    pub(crate) fn take_hold<'a, T>(&'a self, latch: &'a Mutex<T>) -> Hold<'a, T> {
        self.meter.count(self.taken);
        let inner = latch.lock().expect("nobody panics who holds a latch");
        Hold { inner, gauge: self, since: self.clock.map(|clock| clock()) }
    }
}

impl<T> Latch<T> {
    pub(crate) fn new(inner: T, gauge: Gauge) -> Latch<T> {
        Latch { inner: Mutex::new(inner), gauge }
    }

    #[inline]
    pub(crate) fn take_hold(&self) -> Hold<'_, T> {
        self.gauge.take_hold(&self.inner)
    }
}

impl<T> Deref for Hold<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        &self.inner
    }
}

impl<T> DerefMut for Hold<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        &mut self.inner
    }
}

impl<T> Drop for Hold<'_, T> {
    #[inline]
    fn drop(&mut self) {
        let Gauge { meter, held, clock, .. } = self.gauge;
        if let (Some(since), Some(clock)) = (self.since, clock) {
            meter.add(*held, clock().saturating_sub(since));
        }
    }
}
