//! A ring that threads fill side by side, and one empties in order.
//!
//! ```text
//!              written        a hole                 reserved
//!                 ▼             ▼                        ▼
//!   ──────────────┬──────┬──────┬·······┬───────┬────────┐        places grow to the right
//!                 │ done │ done │filling│ done  │ filling│
//!   links         └─────►└─────►        └──────►
//!                 └─ ready ─────┘ the writer follows links until there is none
//! ```
//!
//! A thread that reserves owns the bytes between the two sums, as soon as they are at most a ring
//! ahead of what is written. When a piece is filled, its link, at the slot of its first byte, is
//! set to its end; the lowest bit says that the record goes on. A slot that was used a lap ago
//! holds an end that is not behind its first byte any more, so nothing has to be cleared. This is
//! the protocol of MySQL 8.0's `recent_written` (WL#10310); the ring and the table of links are one
//! window here, and words are atomic, so that a broken protocol could lose records but not the
//! language's guarantees.
//!
//! The hole is the price: all behind it waits for one thread that may not be running.

use super::frame::{ALIGNMENT, HEAD_BYTES};
use super::segment::Ends;
use crate::sync::atomic::{AtomicU64, Ordering};

const WORD: u64 = ALIGNMENT as u64;
/// In a link: the record goes on.
const WITHIN: u64 = 1;

pub(super) struct Ring {
    words: Box<[AtomicU64]>,
    links: Box<[AtomicU64]>,
    reserved: AtomicU64,
    written: AtomicU64,
}

impl Ring {
    /// A ring of so many bytes, a power of two, whose next record is at `start`.
    pub(super) fn new(bytes: u64, start: u64) -> Ring {
        assert!(bytes.is_power_of_two() && bytes >= 4 * WORD && start.is_multiple_of(WORD));
        let zeros = || (0..bytes / WORD).map(|_| AtomicU64::new(0)).collect();
        Ring {
            words: zeros(),
            links: zeros(),
            reserved: AtomicU64::new(start),
            written: AtomicU64::new(start),
        }
    }

    /// Bytes in it.
    pub(super) fn bytes(&self) -> u64 {
        self.words.len() as u64 * WORD
    }

    /// Bytes that are filled as one at most. So the piece at the first hole always has room.
    pub(crate) fn piece_bytes(&self) -> u64 {
        self.bytes() / 4
    }

    /// The place behind all that was reserved.
    pub(super) fn reserved_end(&self) -> u64 {
        self.reserved.load(Ordering::SeqCst)
    }

    /// All before this place was taken out.
    pub(super) fn written_end(&self) -> u64 {
        self.written.load(Ordering::Acquire)
    }

    /// The place of a record of so many bytes, a multiple of the alignment. It has to be filled.
    pub(crate) fn reserve(&self, bytes: u64) -> u64 {
        self.reserved.fetch_add(bytes, Ordering::SeqCst)
    }

    /// Whether a piece that ends there can be filled now.
    pub(crate) fn has_room(&self, end: u64) -> bool {
        end <= self.written_end() + self.bytes()
    }

    /// Fills a piece of the record that begins at `record`; there is room for it.
    pub(super) fn fill_piece(
        &self,
        record: u64,
        piece: std::ops::Range<u64>,
        ends: Ends,
        head: &[u8; HEAD_BYTES],
        payload: &[u8],
    ) {
        for place in piece.clone().step_by(ALIGNMENT) {
            let word = word_of(head, payload, (place - record) as usize);
            self.words[self.slot(place)].store(word, Ordering::Relaxed);
        }
        let link = if ends == Ends::Within { piece.end | WITHIN } else { piece.end };
        self.links[self.slot(piece.start)].store(link, Ordering::Release);
    }

    /// The end of what can be taken out from `written` on, and what it ends with if it is any.
    pub(super) fn ready_end(&self) -> (u64, Ends) {
        let mut place = self.written.load(Ordering::Relaxed);
        let mut ends = Ends::Record;
        loop {
            let link = self.links[self.slot(place)].load(Ordering::Acquire);
            let end = link & !WITHIN;
            if end <= place {
                return (place, ends);
            }
            place = end;
            ends = if link == end { Ends::Record } else { Ends::Within };
        }
    }

    /// Copies what is ready up to `end`; for the writer alone.
    pub(super) fn copy(&self, end: u64, into: &mut Vec<u8>) {
        let written = self.written.load(Ordering::Relaxed);
        into.reserve((end - written) as usize);
        for place in (written..end).step_by(ALIGNMENT) {
            let word = self.words[self.slot(place)].load(Ordering::Relaxed);
            into.extend_from_slice(&word.to_le_bytes());
        }
    }

    /// Gives the room of what was taken out to others.
    pub(super) fn release(&self, end: u64) {
        self.written.store(end, Ordering::Release);
    }

    fn slot(&self, place: u64) -> usize {
        (place / WORD) as usize & (self.words.len() - 1)
    }
}

/// Eight bytes of a record as it stands in the log, from `offset` on.
fn word_of(head: &[u8; HEAD_BYTES], payload: &[u8], offset: usize) -> u64 {
    if offset < HEAD_BYTES {
        return word_of_bytes(&head[offset..offset + ALIGNMENT]);
    }
    let from = offset - HEAD_BYTES;
    if let Some(bytes) = payload.get(from..from + ALIGNMENT) {
        return word_of_bytes(bytes);
    }
    let mut last = [0; ALIGNMENT];
    let rest = &payload[from..];
    last[..rest.len()].copy_from_slice(rest);
    u64::from_le_bytes(last)
}

fn word_of_bytes(bytes: &[u8]) -> u64 {
    u64::from_le_bytes(bytes.try_into().expect("eight bytes"))
}

#[cfg(all(feature = "loom", test))]
mod tests {
    use loom::thread;

    use super::*;
    use crate::sync::{Arc, WakeEvent};

    struct Shared {
        ring: Ring,
        work: WakeEvent,
        room: WakeEvent,
    }

    /// Two threads fill, one takes out, and the ring goes around: what comes out is what went in,
    /// and none sleeps for ever.
    #[test]
    fn what_is_taken_out_is_what_was_filled_in() {
        crate::sync::in_every_order(2, || {
            let (work, room) = (WakeEvent::default(), WakeEvent::default());
            let shared = Arc::new(Shared { ring: Ring::new(4 * WORD, 0), work, room });
            let start = |thread: u64| {
                let shared = shared.clone();
                thread::spawn(move || fill(&shared, thread))
            };
            let fillers = [1, 2].map(start);
            let mut out = Vec::new();
            // Three records of two threads: more than the ring holds.
            while out.len() < 6 * ALIGNMENT {
                let Shared { ring, work, room } = &*shared;
                let ready = || Some(ring.ready_end().0).filter(|&ready| ready > ring.written_end());
                let (_, ready) = work.wait_until(ready);
                ring.copy(ready, &mut out);
                ring.release(ready);
                room.wake_sleepers();
            }
            fillers.into_iter().for_each(|filler| filler.join().unwrap());
            let word = |at: usize| u64::from_le_bytes(out[at..at + 8].try_into().unwrap());
            let mut seen: Vec<u64> = (0..out.len()).step_by(8).map(word).collect();
            for record in seen.chunks(2) {
                assert_eq!(record[0], record[1], "a record is whole");
            }
            seen.sort_unstable();
            assert_eq!(seen, [1, 1, 1, 1, 2, 2]);
        });
    }

    /// Thread 1 fills two records, thread 2 one; both words of each say whose it is. A record of
    /// two words is filled in two pieces, as this ring allows no more.
    fn fill(shared: &Shared, thread: u64) {
        let Shared { ring, work, room } = shared;
        for _ in 0..3 - thread {
            let start = ring.reserve(2 * WORD);
            let mut head = [0; HEAD_BYTES];
            head[..8].copy_from_slice(&thread.to_le_bytes());
            head[8..].copy_from_slice(&thread.to_le_bytes());
            for (piece, ends) in [(start, Ends::Within), (start + WORD, Ends::Record)] {
                room.wait_until(|| ring.has_room(piece + WORD).then_some(()));
                ring.fill_piece(start, piece..piece + WORD, ends, &head, &[]);
                work.wake_sleepers();
            }
        }
    }
}
