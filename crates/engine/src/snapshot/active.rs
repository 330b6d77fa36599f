//! Views that copy the set of active transactions, under one latch.
//!
//! ```text
//!              latch ┌────────────────────────────┐
//!   begin  ────────► │ next id, put into the set  │
//!   end    ────────► │ taken out; last end + 1    │ ──► last, low: read without the latch
//!   open   ────────► │ the set is copied          │ ──► view
//!                    └────────────────────────────┘
//! ```
//!
//! This is what the variants that copy have in common; what they differ in is an [`ActiveSet`].
//! An end is seen by a view when it came before the view to the latch. So all views agree on one
//! order of ends, and the answer of a view never changes.

use std::sync::Arc;

use crate::ids::{Csn, TrxId};
use crate::latch::{ClockFunction, Gauge, Hold, Latch};
use crate::meter::{Counter, Meter};
use crate::sync::atomic::{AtomicU64, Ordering};

use super::view::ReadView;

/// Which transactions are active. Changed and copied under the latch alone.
pub(super) trait ActiveSet {
    /// Takes in an id above all that it ever had.
    fn insert_id(&mut self, id: u64);
    /// Takes one out.
    ///
    /// # Panics
    /// If it is not there.
    fn remove_id(&mut self, id: u64);
    /// The lowest one.
    fn lowest_id(&self) -> Option<u64>;
    /// Copies the set into a view whose `high` is set. Gives the number of bytes.
    fn copy(&self, view: &mut ReadView) -> usize;
    /// Ids that were moved from one part of the set to another since this was asked last.
    fn take_move_count(&mut self) -> u64;
    /// Whether a view sees a writer.
    fn sees_writer(view: &ReadView, writer: u64) -> bool;
}

/// A set under its latch.
#[derive(Debug)]
pub(super) struct CopiedSet<S> {
    inside: Latch<Inside<S>>,
    ends: Ends,
}

#[derive(Debug)]
pub(super) struct Inside<S> {
    set: S,
    next: u64,
}

/// What is read without the latch and written under it.
#[derive(Debug)]
#[repr(align(128))]
struct Ends {
    /// The number of the last end.
    last: AtomicU64,
    /// The lowest active id, or the next one if there is none.
    low: AtomicU64,
}

impl<S: ActiveSet> CopiedSet<S> {
    pub(super) fn new(set: S, meter: Arc<Meter>, clock: Option<ClockFunction>) -> CopiedSet<S> {
        let next = TrxId::NOBODY.0 + 1;
        CopiedSet {
            inside: Latch::new(Inside { set, next }, Gauge::of_transactions(meter, clock)),
            ends: Ends { last: AtomicU64::new(0), low: AtomicU64::new(next) },
        }
    }

    pub(super) fn begin_trx(&self, meter: &Meter) -> TrxId {
        let mut inside = self.inside.take_hold();
        let id = inside.next;
        inside.next += 1;
        inside.set.insert_id(id);
        let moved = inside.set.take_move_count();
        drop(inside);
        if moved > 0 {
            meter.add(Counter::Demotions, moved);
        }
        TrxId(id)
    }

    pub(super) fn end_trx(&self, trx: TrxId) -> Csn {
        let mut inside = self.inside.take_hold();
        inside.set.remove_id(trx.0);
        let low = inside.set.lowest_id().unwrap_or(inside.next);
        let csn = self.last() + 1;
        self.ends.low.store(low, Ordering::Release);
        self.ends.last.store(csn, Ordering::Release);
        Csn(csn)
    }

    #[inline]
    pub(super) fn open(&self, view: &mut ReadView, meter: &Meter) {
        let inside = self.inside.take_hold();
        view.low = self.ends.low.load(Ordering::Relaxed);
        view.high = inside.next;
        view.csn = self.ends.last.load(Ordering::Relaxed);
        view.slot.announce_view(view.csn, view.low);
        let bytes = inside.set.copy(view);
        drop(inside);
        meter.add(Counter::ViewBytes, bytes as u64);
    }

    /// The number of the last end.
    pub(super) fn last(&self) -> u64 {
        self.ends.last.load(Ordering::Acquire)
    }

    /// A view that is opened from now on sees all writers below.
    pub(super) fn low_water(&self) -> u64 {
        self.ends.low.load(Ordering::Acquire)
    }

    pub(super) fn latch(&self) -> Hold<'_, Inside<S>> {
        self.inside.take_hold()
    }

    /// Gives no id below `next`, so that ids lie far apart.
    #[cfg(all(test, not(any(feature = "loom", feature = "shuttle"))))]
    pub(super) fn skip_to(&self, next: u64) {
        let mut inside = self.inside.take_hold();
        inside.next = inside.next.max(next);
        let low = inside.set.lowest_id().unwrap_or(inside.next);
        self.ends.low.store(low, Ordering::Release);
    }
}
