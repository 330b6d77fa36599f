//! How many statements are prepared, and how long their texts are: of one connection, and of all.
//!
//! What is prepared stays until its client closes it or goes, so that a client that never closes
//! any would fill the memory of all others.

use std::sync::atomic::{AtomicUsize, Ordering};

/// Counts of what is kept.
#[derive(Debug, Default)]
pub(crate) struct KeptStatements {
    count: AtomicUsize,
    bytes: AtomicUsize,
}

/// How much may be kept.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MostKept {
    pub count: usize,
    pub bytes: usize,
}

/// A place for a statement, which it gives back when it is dropped.
#[derive(Debug)]
pub(crate) struct StatementPlace<'k> {
    all: &'k KeptStatements,
    bytes: usize,
}

impl KeptStatements {
    /// A place for a text of so many bytes, if there are no more than these with it.
    pub(crate) fn reserve_place(&self, bytes: usize, most: MostKept) -> Option<StatementPlace<'_>> {
        let count = self.count.fetch_add(1, Ordering::Relaxed) + 1;
        let sum = self.bytes.fetch_add(bytes, Ordering::Relaxed) + bytes;
        // One that does not fit is dropped here, which takes it out of the counts.
        let place = StatementPlace { all: self, bytes };
        (count <= most.count && sum <= most.bytes).then_some(place)
    }
}

impl Drop for StatementPlace<'_> {
    fn drop(&mut self) {
        self.all.count.fetch_sub(1, Ordering::Relaxed);
        self.all.bytes.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_given_back() {
        let all = KeptStatements::default();
        let most = MostKept { count: 2, bytes: 100 };
        let first = all.reserve_place(60, most).unwrap();
        assert!(all.reserve_place(41, most).is_none(), "too many bytes");
        let second = all.reserve_place(40, most).unwrap();
        assert!(all.reserve_place(0, most).is_none(), "too many");
        drop((first, second));
        assert!(all.reserve_place(100, most).is_some());
        assert_eq!((all.count.into_inner(), all.bytes.into_inner()), (0, 0));
    }
}
