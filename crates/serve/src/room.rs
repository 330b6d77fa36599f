//! Room for long answers: of all connections together, since each is built in memory before it is
//! sent.

use std::sync::atomic::{AtomicUsize, Ordering};

/// Bytes of long answers that are being built or sent.
#[derive(Debug, Default)]
pub(crate) struct AnswerRoom {
    taken: AtomicUsize,
}

/// What one connection has taken of it, which it gives back when this is dropped.
#[derive(Debug)]
pub(crate) struct AnswerShare<'r> {
    room: &'r AnswerRoom,
    most: usize,
    taken: usize,
}

/// Room is taken in pieces; an answer that is shorter than one takes none.
const PIECE: usize = 1 << 20;

impl AnswerRoom {
    /// The share of one connection, of `most` bytes in all.
    pub(crate) fn empty_share(&self, most: usize) -> AnswerShare<'_> {
        AnswerShare { room: self, most, taken: 0 }
    }
}

impl AnswerShare<'_> {
    /// Whether there is room for an answer of so many bytes.
    #[inline]
    pub(crate) fn has_room(&mut self, bytes: usize) -> bool {
        bytes < self.taken + PIECE || self.grow(bytes)
    }

    #[cold]
    fn grow(&mut self, bytes: usize) -> bool {
        let more = (bytes - self.taken).next_multiple_of(PIECE);
        let taken = self.room.taken.fetch_add(more, Ordering::Relaxed) + more;
        self.taken += more;
        taken <= self.most
    }

    /// The answer was sent.
    #[inline]
    pub(crate) fn give_back(&mut self) {
        if self.taken > 0 {
            self.room.taken.fetch_sub(std::mem::take(&mut self.taken), Ordering::Relaxed);
        }
    }
}

impl Drop for AnswerShare<'_> {
    fn drop(&mut self) {
        self.give_back();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn room_is_taken_by_all_and_given_back() {
        let room = AnswerRoom::default();
        let (mut one, mut other) = (room.empty_share(4 * PIECE), room.empty_share(4 * PIECE));
        assert!(one.has_room(PIECE - 1));
        assert_eq!(room.taken.load(Ordering::Relaxed), 0, "a short answer takes none");
        assert!(one.has_room(2 * PIECE) && one.has_room(2 * PIECE + 1));
        assert!(other.has_room(2 * PIECE - 1) && other.has_room(2 * PIECE));
        assert!(!other.has_room(3 * PIECE));
        other.give_back();
        assert!(one.has_room(4 * PIECE));
        drop((one, other));
        assert_eq!(room.taken.load(Ordering::Relaxed), 0);
    }
}
