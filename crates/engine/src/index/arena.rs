//! Places that never move and are never freed, named by numbers.
//!
//! ```text
//!   number  0 ─ 63    64 ─ 127    128 ─ 255    256 ─ 511    …
//!   chunk   0         1           2            3                each twice as long as all before
//! ```
//!
//! Each chunk comes into being when the first of its numbers is asked for, so that what is small
//! stays small and a number is found by two steps.

use std::sync::OnceLock;

const FIRST: usize = 64;
const CHUNKS: usize = 26;

/// Up to 2³¹ places.
pub(super) struct Arena<T> {
    chunks: [OnceLock<Box<[T]>>; CHUNKS],
}

impl<T: Default> Arena<T> {
    pub(super) fn new() -> Arena<T> {
        Arena { chunks: [const { OnceLock::new() }; CHUNKS] }
    }

    /// The place with a number.
    #[inline]
    pub(super) fn get(&self, number: u32) -> &T {
        let index = number as usize;
        let chunk = (usize::BITS - (index / FIRST).leading_zeros()) as usize;
        let begin = if chunk == 0 { 0 } else { FIRST << (chunk - 1) };
        let length = begin.max(FIRST);
        &self.chunks[chunk].get_or_init(|| (0..length).map(|_| T::default()).collect())
            [index - begin]
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    #[test]
    fn every_number_has_a_place_of_its_own() {
        let arena: Arena<AtomicU32> = Arena::new();
        for number in 0..5_000 {
            assert_eq!(arena.get(number).swap(number + 1, Ordering::Relaxed), 0, "{number}");
        }
        for number in 0..5_000 {
            assert_eq!(arena.get(number).load(Ordering::Relaxed), number + 1);
        }
    }
}
