//! What a consistent read may see, and the list of views that are open.
//!
//! ```text
//!   ids      1 ······· low ············ high ·······►
//!            all seen  │ by the variant │ none seen        and always what it wrote itself
//!
//!   slots    [csn 17] [closed] [csn 12] [closed] …         one for each view, for its life
//!                                  └── nothing that ended up to here is hidden from anybody
//! ```
//!
//! A view belongs to one session and is opened again and again; its buffers stay. The purge
//! must know the oldest open view and must not stop the others, so each view tells what it needs in
//! a *slot*: a line of its own, written when the view is opened and when it is closed.
//!
//! **No view is missed.** A view is opened in the order: write the slot, then read the number of
//! the last end. The purger does the opposite: reads that number, then the slots. Both sides have a
//! full barrier in between. If the purger misses the slot, it read its number before the view did,
//! so the view sees at least as much as the purger takes for granted. Where a view is opened under
//! the latch that ends take too, the latch gives the same.

use std::sync::Arc;

use crate::ids::TrxId;
use crate::sync::Mutex;
use crate::sync::atomic::{AtomicU64, Ordering};

/// In a slot whose view is closed.
const CLOSED: u64 = u64::MAX;

/// What a consistent read may see. From [`super::TrxSys::new_view`]; closed at first.
#[derive(Debug)]
pub struct ReadView {
    pub(super) own: u64,
    /// All writers below are seen.
    pub(super) low: u64,
    /// No writer from here on is seen.
    pub(super) high: u64,
    /// The last end that is seen.
    pub(super) csn: u64,
    /// Active ids, sorted, or bits of them: a copy of the view's own.
    pub(super) copy: Vec<u64>,
    /// The id of the first of those bits.
    pub(super) base: u64,
    /// Active ids below it, sorted, shared with others.
    pub(super) long: Arc<Vec<u64>>,
    pub(super) open: bool,
    pub(super) slot: Arc<Slot>,
}

impl ReadView {
    /// From now on the view sees what this transaction writes: its own, which began to write after
    /// the view was opened.
    pub(crate) fn adopt_writer(&mut self, own: TrxId) {
        self.own = own.0;
    }

    /// Whether it is open.
    pub fn is_open(&self) -> bool {
        self.open
    }

    /// All that ended up to this one is seen, and nothing that ended later.
    #[cfg(test)]
    pub(crate) fn csn(&self) -> crate::ids::Csn {
        crate::ids::Csn(self.csn)
    }

    /// Bytes of its buffers beside itself and its slot.
    pub fn buffer_bytes(&self) -> usize {
        self.copy.capacity() * size_of::<u64>()
    }

    /// Bytes of what it shares with other views.
    pub fn shared_bytes(&self) -> usize {
        self.long.capacity() * size_of::<u64>()
    }

    /// Says that the view needs nothing any more.
    #[inline]
    pub(super) fn mark_closed(&mut self) {
        self.open = false;
        self.slot.csn.store(CLOSED, Ordering::Release);
    }
}

impl Drop for ReadView {
    fn drop(&mut self) {
        self.mark_closed();
    }
}

/// What an open view needs. Two cache lines, since processors fetch them in pairs.
#[derive(Debug)]
#[repr(align(128))]
pub(super) struct Slot {
    /// The view hides whatever ended after this.
    csn: AtomicU64,
    /// The view sees all writers below. It only ever grows.
    low: AtomicU64,
}

impl Slot {
    /// Announces a view that is being opened.
    #[inline]
    pub(super) fn announce_view(&self, csn: u64, low: u64) {
        self.low.store(low, Ordering::Relaxed);
        self.csn.store(csn, Ordering::Release);
    }
}

/// The slots of all views that there are.
#[derive(Debug, Default)]
pub(super) struct OpenViews {
    slots: Mutex<Vec<Arc<Slot>>>,
}

impl OpenViews {
    /// A closed view with a slot: one whose view is gone, or a new one.
    pub(super) fn new_view(&self) -> ReadView {
        let mut slots = self.slots.lock().expect("nobody panics over the slots");
        let free = slots.iter().find(|slot| Arc::strong_count(slot) == 1).map(Arc::clone);
        let slot = free.unwrap_or_else(|| {
            let slot = Slot { csn: AtomicU64::new(CLOSED), low: AtomicU64::new(0) };
            slots.push(Arc::new(slot));
            Arc::clone(slots.last().expect("it was just put there"))
        });
        ReadView {
            own: TrxId::NOBODY.0,
            low: 0,
            high: 0,
            csn: 0,
            copy: Vec::new(),
            base: 0,
            long: Arc::default(),
            open: false,
            slot,
        }
    }

    /// What of `now` open views see: the number of the last end, read before this is called.
    pub(super) fn lowest_csn(&self, now: u64) -> u64 {
        self.lowest(now, |slot| slot.csn.load(Ordering::Acquire))
    }

    /// The same for ids: `now` is the lowest active one, read before this is called.
    pub(super) fn lowest_id(&self, now: u64) -> u64 {
        self.lowest(now, |slot| match slot.csn.load(Ordering::Acquire) {
            CLOSED => CLOSED,
            _ => slot.low.load(Ordering::Relaxed),
        })
    }

    fn lowest(&self, now: u64, of: fn(&Slot) -> u64) -> u64 {
        full_barrier();
        let slots = self.slots.lock().expect("nobody panics over the slots");
        slots.iter().map(|slot| of(slot)).fold(now, u64::min)
    }
}

/// Nothing that stands before it happens after what stands behind it, for anybody.
#[inline]
pub(super) fn full_barrier() {
    crate::sync::atomic::fence(Ordering::SeqCst);
}
