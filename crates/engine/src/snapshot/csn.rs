//! One number: what ended up to it is seen. What a writer ended as is looked up when it is met.
//!
//! ```text
//!   last ─── 907 ─────────────────────────► view: csn 907
//!
//!   ring     id  70016 70017 70018 …        262 thousand ids, a word each
//!            csn   905     ∞   908         ∞: has not ended
//!                 seen    no    no, ended later
//!   floor    70016
//!   long     ids below the floor that not all views see: {3: ∞, 18: 906}; any other is seen
//! ```
//!
//! To open a view costs the same for any number of writers and takes no latch; the price is a
//! look-up for each writer that is met. Writers do take the latch, to begin and to end.
//!
//! **No reader meets a half-done end.** An end writes its number into the ring first and into
//! `last` afterwards, both under the latch. A view that has read `last` so sees every entry up to
//! it complete, and an entry that it meets too early holds ∞ or a number above its own: not seen,
//! as it should be. There is no state "committing" that a reader would have to wait for; the price
//! is that ends follow one another, for two stores each.
//!
//! **No reader takes a new id for an old one.** A place of the ring is used again only after its
//! old id was put among the long ones if need be, and then the floor was raised, in this order.
//! A reader loads the place first and the floor second: if the place had been cleared for a new id,
//! the reader knows the new floor too, and goes to the long ones. The highest of those is told
//! beside the floor, so that only an id older than some idle writer has to be searched for.
//!
//! **The map does not grow with time.** What ended before all views is forgotten, as all see
//! it: 64 places of the ring at a time when they are needed again. What is left beside the ring are
//! ids of idle writers, and of those that ended while an old view is open, whose versions are kept
//! for that view anyhow.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::sync::Arc;

use crate::ids::{Csn, TrxId};
use crate::latch::{ClockFunction, Gauge, Hold, Latch};
use crate::meter::{Counter, Meter};
use crate::sync::RwLock;
use crate::sync::atomic::{AtomicU64, Ordering};

use super::view::{ReadView, full_barrier};

/// Ids of the ring: 2 MiB, and at 100,000 transactions per second two and a half seconds of them.
/// Few where many engines are opened, one for each order of threads.
pub(super) const RING_IDS: usize =
    if cfg!(any(feature = "loom", feature = "shuttle")) { 1 << 8 } else { 1 << 18 };

/// Places of the ring that are used again together. Few where all orders are tried.
const BLOCK: u64 = if cfg!(feature = "loom") { 2 } else { 64 };

/// Steps that one question for the horizon goes at most, so that it does not hold the latch for
/// long after an old view was closed; the next one goes on from there.
const STEPS: u64 = 4_096;

/// What an id has in place of a number until it ends: above the numbers of all views.
const ACTIVE: u64 = u64::MAX;

/// Numbers of ends by id.
#[derive(Debug)]
pub(super) struct Numbers {
    last: Last,
    ring: Box<[AtomicU64]>,
    /// Ids below are not in the ring.
    floor: AtomicU64,
    /// Ids below are seen by all views.
    low: AtomicU64,
    /// So are those above which are below the floor: the highest of the long ones.
    long_top: AtomicU64,
    long: RwLock<Long>,
    head: Latch<Head>,
}

/// The number of the last end. All write it: it has a pair of lines to itself.
#[derive(Debug)]
#[repr(align(128))]
struct Last(AtomicU64);

/// Ids below the floor that not all views see.
#[derive(Debug, Default)]
struct Long {
    ends: BTreeMap<u64, u64>,
    /// Those of them that ended, as number and id: the first to be forgotten on top.
    ended: BinaryHeap<Reverse<(u64, u64)>>,
}

/// What is under the latch.
#[derive(Debug)]
pub(super) struct Head {
    next: u64,
    /// Ids of the ring below are seen by all views.
    seen: u64,
    /// What ended up to this number is seen by all views, as far as was asked.
    settled: u64,
}

impl Numbers {
    /// With a ring of so many ids: a power of two, two blocks at least.
    pub(super) fn new(ring: usize, meter: Arc<Meter>, clock: Option<ClockFunction>) -> Numbers {
        assert!(ring.is_power_of_two() && ring as u64 >= 2 * BLOCK, "{ring} ids make no ring");
        let ring: Box<[_]> = (0..ring).map(|_| AtomicU64::new(ACTIVE)).collect();
        ring[TrxId::NOBODY.0 as usize].store(0, Ordering::Relaxed);
        let next = TrxId::NOBODY.0 + 1;
        let gauge = Gauge::of_transactions(meter, clock);
        Numbers {
            last: Last(AtomicU64::new(0)),
            ring,
            floor: AtomicU64::new(0),
            low: AtomicU64::new(next),
            long_top: AtomicU64::new(0),
            long: RwLock::default(),
            head: Latch::new(Head { next, seen: next, settled: 0 }, gauge),
        }
    }

    /// `oldest` makes of the number of the last end that of the last one that all views see.
    pub(super) fn begin_trx(&self, oldest: impl Fn(u64) -> u64, meter: &Meter) -> TrxId {
        let mut head = self.head.take_hold();
        let id = head.next;
        let mut moved = 0;
        // The floor changes under the latch alone.
        if id - self.floor.load(Ordering::Relaxed) >= self.ring.len() as u64 {
            moved = self.reuse_block(&mut head, oldest);
        }
        head.next += 1;
        drop(head);
        if moved > 0 {
            meter.add(Counter::Demotions, moved);
        }
        TrxId(id)
    }

    pub(super) fn end_trx(&self, trx: TrxId) -> Csn {
        let _head = self.head.take_hold();
        let csn = self.last.0.load(Ordering::Relaxed) + 1;
        if trx.0 >= self.floor.load(Ordering::Relaxed) {
            let entry = self.entry(trx.0);
            assert_eq!(entry.load(Ordering::Relaxed), ACTIVE, "who ends was active");
            entry.store(csn, Ordering::Release);
        } else {
            let mut long = self.long.write().expect("nobody panics over long ids");
            let before = long.ends.insert(trx.0, csn);
            assert_eq!(before, Some(ACTIVE), "who ends was active");
            long.ended.push(Reverse((csn, trx.0)));
        }
        self.last.0.store(csn, Ordering::Release);
        Csn(csn)
    }

    #[inline]
    pub(super) fn open(&self, view: &mut ReadView) {
        view.low = self.low.load(Ordering::Acquire);
        view.slot.announce_view(self.last(), view.low);
        full_barrier();
        view.csn = self.last();
    }

    #[inline]
    pub(super) fn sees_writer(&self, view: &ReadView, writer: u64) -> bool {
        if writer < view.low || writer == view.own {
            return true;
        }
        let end = self.entry(writer).load(Ordering::Acquire);
        if writer >= self.floor.load(Ordering::Acquire) {
            end <= view.csn
        } else {
            writer > self.long_top.load(Ordering::Acquire) || self.sees_long(view, writer)
        }
    }

    /// The number of the last end.
    pub(super) fn last(&self) -> u64 {
        self.last.0.load(Ordering::Acquire)
    }

    /// All views see all writers below, given the last end that all views see. Forgets what need
    /// not be known any more.
    pub(super) fn settle_up_to(&self, settled: u64) -> u64 {
        let mut head = self.head.take_hold();
        self.advance(&mut head, settled);
        self.low.load(Ordering::Relaxed)
    }

    pub(super) fn latch(&self) -> Hold<'_, Head> {
        self.head.take_hold()
    }

    #[inline]
    fn entry(&self, id: u64) -> &AtomicU64 {
        &self.ring[id as usize & (self.ring.len() - 1)]
    }

    #[cold]
    fn sees_long(&self, view: &ReadView, writer: u64) -> bool {
        let long = self.long.read().expect("nobody panics over long ids");
        long.ends.get(&writer).is_none_or(|end| *end <= view.csn)
    }

    /// Frees the lowest places of the ring. Gives the number of ids that became long.
    #[cold]
    fn reuse_block(&self, head: &mut Head, oldest: impl Fn(u64) -> u64) -> u64 {
        let floor = self.floor.load(Ordering::Relaxed);
        let ends = (floor..floor + BLOCK).map(|id| (id, self.entry(id).load(Ordering::Relaxed)));
        if ends.clone().any(|(_, end)| end > head.settled) {
            let settled = oldest(self.last());
            self.advance(head, settled);
        }
        let keep = ends.filter(|(_, end)| *end > head.settled);
        let mut moved = 0;
        for (id, end) in keep {
            self.long_top.store(id, Ordering::Release);
            let mut long = self.long.write().expect("nobody panics over long ids");
            long.ends.insert(id, end);
            if end != ACTIVE {
                long.ended.push(Reverse((end, id)));
            }
            moved += 1;
        }
        self.floor.store(floor + BLOCK, Ordering::Release);
        for id in floor..floor + BLOCK {
            self.entry(id).store(ACTIVE, Ordering::Release);
        }
        moved
    }

    /// Takes in what all views see by now.
    fn advance(&self, head: &mut Head, settled: u64) {
        head.settled = head.settled.max(settled);
        let first_long = {
            let mut long = self.long.write().expect("nobody panics over long ids");
            long.forget(head.settled);
            let top = long.ends.last_key_value().map_or(0, |(id, _)| *id);
            self.long_top.store(top, Ordering::Release);
            long.ends.first_key_value().map(|(id, _)| *id)
        };
        head.seen = head.seen.max(self.floor.load(Ordering::Relaxed));
        let most = head.next.min(head.seen + STEPS);
        let settled = |id: &u64| self.entry(*id).load(Ordering::Relaxed) <= head.settled;
        head.seen = (head.seen..most).find(|id| !settled(id)).unwrap_or(most);
        let low = first_long.map_or(head.seen, |first| first.min(head.seen));
        self.low.fetch_max(low, Ordering::Release);
    }

    /// Gives no id below `next`, so that ids lie far apart. Those between count as ended.
    #[cfg(all(test, not(any(feature = "loom", feature = "shuttle"))))]
    pub(super) fn skip_to(&self, next: u64, oldest: impl Fn(u64) -> u64, meter: &Meter) {
        while self.head.take_hold().next < next {
            let skipped = self.begin_trx(&oldest, meter);
            self.entry(skipped.0).store(0, Ordering::Release);
        }
    }
}

impl Long {
    /// Takes out what ended up to a number, [`STEPS`] ids at most.
    fn forget(&mut self, settled: u64) {
        for _ in 0..STEPS {
            match self.ended.peek() {
                Some(&Reverse((csn, id))) if csn <= settled => {
                    self.ended.pop();
                    self.ends.remove(&id);
                }
                _ => break,
            }
        }
    }
}
