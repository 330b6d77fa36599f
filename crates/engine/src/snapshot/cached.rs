//! The vector, kept until a writer ends: PostgreSQL 14's counter of completions.
//!
//! ```text
//!   open:  last end == that of the view?  ── yes ──► the view as it is, and no latch
//!                                         ── no ───► copied anew
//! ```
//!
//! What a view sees changes only when a transaction ends: one that begins is above `high` and not
//! seen in any case. So a view that is opened again while none ended is right as it stands
//! (Freund, "Improving Postgres Connection Scalability: Snapshots", 2020). The view is announced
//! before the number is read, as `view` explains, and if an end came between it is copied after
//! all.

use std::sync::Arc;

use crate::latch::ClockFunction;
use crate::meter::{Counter, Meter};

use super::active::CopiedSet;
use super::vector::Vector;
use super::view::{ReadView, full_barrier};

/// A vector whose copies are used again.
#[derive(Debug)]
pub(super) struct CachedVector {
    pub(super) copied: CopiedSet<Vector>,
}

impl CachedVector {
    pub(super) fn new(meter: Arc<Meter>, clock: Option<ClockFunction>) -> CachedVector {
        CachedVector { copied: CopiedSet::new(Vector::default(), meter, clock) }
    }

    #[inline]
    pub(super) fn open(&self, view: &mut ReadView, meter: &Meter) {
        // A view that was never opened has a `high` of 0.
        if view.high > 0 && self.copied.last() == view.csn {
            view.slot.announce_view(view.csn, view.low);
            full_barrier();
            if self.copied.last() == view.csn {
                meter.count(Counter::ViewsReused);
                return;
            }
        }
        self.copied.open(view, meter);
    }
}
