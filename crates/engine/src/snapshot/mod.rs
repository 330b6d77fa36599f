//! What a consistent read may see: four ways to know which writers were active.
//!
//! ```text
//!   begin_write ──► id ─────────────── writes versions ───────────────► end ──► csn
//!                    active: hidden from every view that is opened       │ seen by every view
//!                    until ···········································► ┘ that is opened after
//!
//!   open_view    what is copied            latch         a look at a writer
//!     vector     all active ids            yes           binary search
//!     hybrid     bits of recent ids        yes           one bit
//!     cached     nothing, if none ended    only if not   binary search
//!     csn        one number                no            look-up of its end
//! ```
//!
//! A row version is stamped with the id of its writer; a reader takes the newest one whose writer
//! its view sees. All four ways give the same answers to the same history: a view sees all that
//! ended before it was opened, and what was written by its own transaction.
//!
//! A rolled-back transaction ends like any other, after its versions are gone.
//!
//! What no view needs any more can be told in two ways. [`TrxSys::horizon`] is an id: all writers
//! below are seen by all views. One idle writer holds it back for ever. `TrxSys::settled_csn` is
//! a number of an end, as InnoDB's purge uses: all that ended up to it are seen by all views,
//! whatever their ids are.

mod active;
mod cached;
mod csn;
mod hybrid;
mod registry;
mod vector;
mod view;

use std::sync::Arc;

use dbdyno_model::Design;
use dbdyno_model::design;

use crate::ids::{Csn, TrxId};
use crate::latch::ClockFunction;
use crate::meter::{Counter, Meter};
use crate::sync::atomic::{AtomicU64, Ordering};

use self::active::{ActiveSet, CopiedSet};
use self::cached::CachedVector;
use self::csn::Numbers;
use self::hybrid::Hybrid;
use self::registry::Registry;
use self::vector::Vector;
use self::view::OpenViews;
pub use self::view::ReadView;

/// Active writers, those that ended, and the views that see them.
#[derive(Debug)]
pub struct TrxSys {
    way: Way,
    close: design::ViewClose,
    registry: Registry,
    views: OpenViews,
    known: KnownHorizon,
    meter: Arc<Meter>,
}

/// The variants of [`design::View`].
#[derive(Debug)]
#[cfg_attr(
    feature = "shuttle",
    expect(clippy::large_enum_variant, reason = "its locks are large; an engine has one of these")
)]
enum Way {
    Vector(CopiedSet<Vector>),
    Hybrid(CopiedSet<Hybrid>),
    Cached(CachedVector),
    Csn(Numbers),
}

/// The farthest that was ever told. It stays true, since views that come see no less.
#[derive(Debug)]
#[repr(align(128))]
struct KnownHorizon {
    horizon: AtomicU64,
    settled: AtomicU64,
}

/// Evaluates one expression for the variants that copy and one for that which does not.
macro_rules! dispatch {
    ($way:expr, $copied:ident => $for_copied:expr, $numbers:ident => $for_numbers:expr) => {
        match $way {
            Way::Vector($copied) => $for_copied,
            Way::Hybrid($copied) => $for_copied,
            Way::Cached(CachedVector { copied: $copied }) => $for_copied,
            Way::Csn($numbers) => $for_numbers,
        }
    };
}

impl TrxSys {
    /// Of no writers yet. With a clock, the time for which the latch is held is counted.
    pub fn new(design: &Design, meter: Arc<Meter>, clock: Option<ClockFunction>) -> TrxSys {
        TrxSys::build(design, meter, clock, Sizes::default())
    }

    fn build(
        design: &Design,
        meter: Arc<Meter>,
        clock: Option<ClockFunction>,
        sizes: Sizes,
    ) -> TrxSys {
        let for_way = Arc::clone(&meter);
        let way = match design.view {
            design::View::Vector => Way::Vector(CopiedSet::new(Vector::default(), for_way, clock)),
            design::View::Hybrid => {
                Way::Hybrid(CopiedSet::new(Hybrid::new(sizes.window), for_way, clock))
            }
            design::View::Cached => Way::Cached(CachedVector::new(for_way, clock)),
            design::View::Csn => Way::Csn(Numbers::new(sizes.ring, for_way, clock)),
        };
        TrxSys {
            way,
            close: design.view_close,
            registry: Registry::new(design.trx_shards),
            views: OpenViews::default(),
            known: KnownHorizon { horizon: AtomicU64::new(0), settled: AtomicU64::new(0) },
            meter,
        }
    }

    /// A transaction is about to write for the first time. Only itself sees what it writes
    /// until it has ended.
    pub fn begin_write(&self) -> TrxId {
        let trx = dispatch!(&self.way,
            copied => copied.begin_trx(&self.meter),
            numbers => numbers.begin_trx(|now| self.settled_by(now), &self.meter));
        self.registry.insert_trx(trx);
        trx
    }

    /// It has committed and will not be lost, or has rolled back and left nothing behind. Views
    /// that are opened from now on see it.
    ///
    /// # Panics
    /// If it is not active.
    pub fn end_trx(&self, trx: TrxId) -> Csn {
        let csn =
            dispatch!(&self.way, copied => copied.end_trx(trx), numbers => numbers.end_trx(trx));
        self.registry.remove_trx(trx);
        csn
    }

    /// Whether it began and has not ended. Once this is false, views that are opened see it.
    pub(crate) fn is_active(&self, trx: TrxId) -> bool {
        self.registry.contains(trx)
    }

    /// A view that is closed. It belongs to this system of transactions and to no other.
    pub fn new_view(&self) -> ReadView {
        self.views.new_view()
    }

    /// Lets the view see all that ended until now, and `own`. A view that began without one may
    /// `ReadView::adopt_writer` it later.
    ///
    /// # Panics
    /// If the view is open.
    #[inline]
    pub fn open_view(&self, own: Option<TrxId>, view: &mut ReadView) {
        assert!(!view.open, "a view is closed before it is opened again");
        view.own = own.unwrap_or(TrxId::NOBODY).0;
        view.open = true;
        self.meter.count(Counter::Views);
        match &self.way {
            Way::Vector(vector) => vector.open(view, &self.meter),
            Way::Hybrid(hybrid) => hybrid.open(view, &self.meter),
            Way::Cached(cached) => cached.open(view, &self.meter),
            Way::Csn(numbers) => numbers.open(view),
        }
    }

    /// The view needs nothing any more. Nothing happens to one that is closed.
    #[inline]
    pub fn close_view(&self, view: &mut ReadView) {
        if !view.open {
            return;
        }
        match self.close {
            design::ViewClose::Unlatched => view.mark_closed(),
            design::ViewClose::Latched => dispatch!(&self.way,
            copied => {
                let _held = copied.latch();
                view.mark_closed();
            },
            numbers => {
                let _held = numbers.latch();
                view.mark_closed();
            }),
        }
    }

    /// Whether an open view sees what `writer` wrote, which has begun, at any time.
    #[inline]
    pub fn sees_writer(&self, view: &ReadView, writer: TrxId) -> bool {
        debug_assert!(view.open, "a closed view sees nothing");
        match &self.way {
            Way::Hybrid(_) => Hybrid::sees_writer(view, writer.0),
            Way::Csn(numbers) => numbers.sees_writer(view, writer.0),
            Way::Vector(_) | Way::Cached(_) => Vector::sees_writer(view, writer.0),
        }
    }

    /// Every view, open or to come, sees all writers below. Never less than before. Costs a look
    /// at each view that there is.
    pub fn horizon(&self) -> TrxId {
        let horizon = dispatch!(&self.way,
            copied => self.views.lowest_id(copied.low_water()),
            numbers => numbers.settle_up_to(self.settled_by(numbers.last())));
        TrxId(horizon.max(self.known.horizon.fetch_max(horizon, Ordering::AcqRel)))
    }

    /// Every view, open or to come, sees all that ended up to this one. Never less than before.
    /// Costs a look at each view that there is.
    pub(crate) fn settled_csn(&self) -> Csn {
        let now = dispatch!(&self.way, copied => copied.last(), numbers => numbers.last());
        Csn(self.settled_by(now))
    }

    fn settled_by(&self, now: u64) -> u64 {
        let settled = self.views.lowest_csn(now);
        settled.max(self.known.settled.fetch_max(settled, Ordering::AcqRel))
    }

    /// Gives no id below `next`, so that ids lie far apart.
    #[cfg(all(test, not(any(feature = "loom", feature = "shuttle"))))]
    fn skip_to(&self, next: u64) {
        dispatch!(&self.way,
            copied => copied.skip_to(next),
            numbers => numbers.skip_to(next, |now| self.settled_by(now), &self.meter));
    }
}

/// How many ids the variants keep at hand.
#[derive(Clone, Copy, Debug)]
struct Sizes {
    /// Of the bitmap in `hybrid`.
    window: usize,
    /// Of the ring in `csn`.
    ring: usize,
}

impl Default for Sizes {
    fn default() -> Sizes {
        Sizes { window: hybrid::WINDOW_IDS, ring: csn::RING_IDS }
    }
}

#[cfg(test)]
mod tests;
