//! A bitmap of recent ids and a vector of long ones: Wang's view, with a window that slides.
//!
//! ```text
//!   ids         3      900                 16320 ······ 16384+64 ··········· 32700
//!               └──────┴── long, sorted    └── ring: one bit each, 64 to a word ──┘
//!                          and shared           first ──►                ──► after
//! ```
//!
//! Transactions are short and ids grow, so nearly all active ids lie close together: a bit each,
//! copied by words, tested by one shift (Wang, "The Art of Problem-Solving in Software
//! Engineering", "Enhancing the InnoDB Storage Engine", 1.3). An id that stays while the window
//! goes on becomes *long*.
//!
//! Three things differ from what is published (`read0types.h` and `read0read.cc` of his tree), and
//! each takes away a price that he pays under the latch:
//!
//! * There the window grows until a view or an end finds it too wide, and up to 65,536 ids are then
//!   moved bit by bit. Here a word is moved when its place in the ring is needed again: at most 64
//!   ids, found by counting zeros, once in 64 begins. There is no spike.
//! * There each view copies the long ids. Here the vector is shared and replaced when it changes,
//!   which it rarely does: a view with thousands of idle writers costs what one without costs.
//! * There one branch counts a transaction whose id is a ring or more above the lowest active one
//!   and never sets its bit; its rows would be seen by all views. Here there is one way to set a
//!   bit, and room is made before. The differential test of this module finds that fault.

use std::sync::Arc;

use super::active::ActiveSet;
use super::view::ReadView;

/// Ids that the window holds: 2,048 bytes, as in Wang's text. His code has 8,192 bytes for a view
/// and 65,536 for the ring; with one window for both, a view never copies more than this.
pub(super) const WINDOW_IDS: usize = 16_384;

/// Ids of a word.
const WORD: u64 = u64::BITS as u64;

/// A ring of words, and ids that are too old for it.
#[derive(Debug)]
pub(super) struct Hybrid {
    ring: Box<[u64]>,
    /// The number of the lowest word of the window that has a bit set, where there is any.
    first: u64,
    /// The number after that of the word with the newest id.
    after: u64,
    /// Ids below the window, sorted.
    long: Arc<Vec<u64>>,
    moved: u64,
}

impl Hybrid {
    /// With a window of so many ids: a power of two, 64 at least.
    pub(super) fn new(window: usize) -> Hybrid {
        assert!(window.is_power_of_two() && window as u64 >= WORD, "{window} ids make no ring");
        let ring = vec![0; window / WORD as usize].into_boxed_slice();
        Hybrid { ring, first: 0, after: 0, long: Arc::default(), moved: 0 }
    }

    #[inline]
    fn place(&self, word: u64) -> usize {
        (word as usize) & (self.ring.len() - 1)
    }

    /// Makes `word` the newest one.
    fn slide(&mut self, word: u64) {
        while self.first < self.after && word - self.first >= self.ring.len() as u64 {
            self.demote();
        }
        if self.first == self.after {
            self.first = word;
        }
        self.after = word + 1;
    }

    /// Moves the ids of the first word to the long ones.
    fn demote(&mut self) {
        let place = self.place(self.first);
        let mut bits = std::mem::take(&mut self.ring[place]);
        let long = Arc::make_mut(&mut self.long);
        self.moved += u64::from(bits.count_ones());
        while bits != 0 {
            long.push(self.first * WORD + u64::from(bits.trailing_zeros()));
            bits &= bits - 1;
        }
        self.skip_empty();
    }

    fn skip_empty(&mut self) {
        while self.first < self.after && self.ring[self.place(self.first)] == 0 {
            self.first += 1;
        }
    }
}

impl ActiveSet for Hybrid {
    #[inline]
    fn insert_id(&mut self, id: u64) {
        let word = id / WORD;
        if word >= self.after || self.first == self.after {
            self.slide(word);
        }
        let place = self.place(word);
        self.ring[place] |= 1 << (id % WORD);
    }

    fn remove_id(&mut self, id: u64) {
        let word = id / WORD;
        if self.first < self.after && word >= self.first {
            let place = self.place(word);
            let bit = 1 << (id % WORD);
            assert!(self.ring[place] & bit != 0, "who ends was active");
            self.ring[place] ^= bit;
            if word == self.first {
                self.skip_empty();
            }
        } else {
            let long = Arc::make_mut(&mut self.long);
            let place = long.binary_search(&id).expect("who ends was active");
            long.remove(place);
        }
    }

    fn lowest_id(&self) -> Option<u64> {
        let long = self.long.first().copied();
        long.or_else(|| {
            (self.first < self.after).then(|| {
                let bits = self.ring[self.place(self.first)];
                self.first * WORD + u64::from(bits.trailing_zeros())
            })
        })
    }

    #[inline]
    fn copy(&self, view: &mut ReadView) -> usize {
        let (from, many) = (self.place(self.first), (self.after - self.first) as usize);
        let until_wrap = many.min(self.ring.len() - from);
        view.base = self.first * WORD;
        view.copy.clear();
        view.copy.extend_from_slice(&self.ring[from..from + until_wrap]);
        view.copy.extend_from_slice(&self.ring[..many - until_wrap]);
        // One that begins later has no bit yet, and is as little seen as those that have.
        if let Some(last) = view.copy.last_mut()
            && view.high / WORD + 1 == self.after
        {
            *last |= u64::MAX << (view.high % WORD);
        }
        if !Arc::ptr_eq(&view.long, &self.long) {
            view.long = Arc::clone(&self.long);
        }
        many * size_of::<u64>()
    }

    fn take_move_count(&mut self) -> u64 {
        std::mem::take(&mut self.moved)
    }

    #[inline]
    fn sees_writer(view: &ReadView, writer: u64) -> bool {
        let at = writer.wrapping_sub(view.base);
        match view.copy.get((at / WORD) as usize) {
            Some(word) => (word >> (at % WORD) & 1 == 0) | (writer == view.own),
            None => sees_outside(view, writer),
        }
    }
}

/// The answer for a writer that has no bit.
fn sees_outside(view: &ReadView, writer: u64) -> bool {
    if writer < view.low || writer == view.own {
        true
    } else if writer >= view.high {
        false
    } else {
        // Idle writers are mostly older than what others wrote since.
        let beyond = view.long.last().is_none_or(|last| *last < writer);
        beyond || view.long.binary_search(&writer).is_err()
    }
}
