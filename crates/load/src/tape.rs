//! A ring of words that one thread writes and another one reads, without a lock.
//!
//! ```text
//!   ──────── read ▶ ═══ published ═══ ▶ written ── open transaction ── ▶ …
//! ```
//!
//! Words are atomic numbers, so that no memory is shared that is not. The writer makes visible what
//! it has written at the end of each transaction, and takes back what it has not made visible yet.
//! All memory is taken, and every page of it touched, when a tape is made.

use std::sync::atomic::{AtomicU64, Ordering};

/// Bytes of a word.
pub(crate) const WORD: usize = 8;

/// One client's records.
#[derive(Debug)]
pub(crate) struct Tape {
    words: Box<[AtomicU64]>,
    /// So many words may be read, and so many have been.
    written: AtomicU64,
    read: AtomicU64,
    /// When the transaction began that is open, or the last one.
    begun_ns: AtomicU64,
}

impl Tape {
    /// A tape of so many words, or some less: their number is a power of two.
    pub(crate) fn new(words: usize) -> Tape {
        let words = 1_usize << words.max(1).ilog2();
        Tape {
            // A value that is not 0: the kernel has no pages of that kind in stock.
            words: (0..words).map(|_| AtomicU64::new(1)).collect(),
            written: AtomicU64::new(0),
            read: AtomicU64::new(0),
            begun_ns: AtomicU64::new(0),
        }
    }

    /// Whether words up to this one have room; for the writer.
    #[inline]
    pub(crate) fn has_room(&self, end: u64) -> bool {
        end - self.read.load(Ordering::Acquire) <= self.words.len() as u64
    }

    /// Puts a word, for which there is room.
    #[inline]
    pub(crate) fn put_word(&self, at: u64, word: u64) {
        self.words[at as usize & (self.words.len() - 1)].store(word, Ordering::Relaxed);
    }

    /// Lets readers see all words before this one.
    #[inline]
    pub(crate) fn publish_until(&self, end: u64) {
        self.written.store(end, Ordering::Release);
    }

    /// Says when a transaction began, before it asks anything.
    #[inline]
    pub(crate) fn mark_begin(&self, ns: u64) {
        self.begun_ns.store(ns, Ordering::Release);
    }

    /// No further transaction begins.
    pub(crate) fn close(&self) {
        self.mark_begin(u64::MAX);
    }

    /// What was said last: all transactions of this client that began before are published.
    pub(crate) fn begun_ns(&self) -> u64 {
        self.begun_ns.load(Ordering::Acquire)
    }

    /// Takes all that is published and makes room; for one reader.
    pub(crate) fn take_words(&self, words: &mut Vec<u64>) {
        let (read, written) =
            (self.read.load(Ordering::Relaxed), self.written.load(Ordering::Acquire));
        let place = |at: u64| at as usize & (self.words.len() - 1);
        words.extend((read..written).map(|at| self.words[place(at)].load(Ordering::Relaxed)));
        self.read.store(written, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_come_out_as_they_went_in_round_after_round() {
        let tape = Tape::new(9);
        let mut out = Vec::new();
        for at in 0..50 {
            assert!(tape.has_room(at + 1));
            tape.put_word(at, at * 3);
            tape.publish_until(at + 1);
            if at % 7 == 0 {
                tape.take_words(&mut out);
            }
        }
        tape.take_words(&mut out);
        assert_eq!(out, (0..50).map(|at| at * 3).collect::<Vec<_>>());
        assert!(tape.has_room(50 + 8) && !tape.has_room(50 + 9), "eight words");
    }

    #[test]
    fn what_is_not_published_is_not_seen() {
        let tape = Tape::new(8);
        tape.put_word(0, 5);
        let mut out = Vec::new();
        tape.take_words(&mut out);
        assert!(out.is_empty(), "{out:?}");
    }
}
