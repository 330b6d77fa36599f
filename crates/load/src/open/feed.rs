//! The queue of intended times, from which every free connection takes the next one.
//!
//! ```text
//!            taken                 made
//!              ▼                    ▼
//!   … gone │ k │ k+1 │ k+2 │ … │    │ free …      a ring of times, in order
//!            ▲ claim: one compare-and-exchange     ▲ made in small blocks by whoever finds
//!                                                    room and nobody else at it
//! ```
//!
//! The queue cannot overflow: it holds times that are still to come, and what is late stays where
//! it is until somebody takes it. Making a time costs tens of nanoseconds. Nobody waits for a lock:
//! who finds another client making times carries on.

use std::sync::Mutex;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use crate::arrival::ArrivalSchedule;

/// Times in the ring: more than a second of the fastest load here.
const RING: u64 = 1 << 17;
/// Times made at once, which takes a microsecond or two.
const BLOCK: u64 = 64;

/// An event to be asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Due {
    /// Its number, from 0 at the beginning of the lead-in.
    pub number: u64,
    /// When it should be sent, nanoseconds since the window opened.
    pub intended_ns: i64,
}

/// The queue.
pub(super) struct Feed {
    times: Box<[AtomicI64]>,
    taken: AtomicU64,
    made: AtomicU64,
    /// Number of the first event that is out of the window; `u64::MAX` until it is known.
    end: AtomicU64,
    close_ns: i64,
    schedule: Mutex<ArrivalSchedule>,
}

impl Feed {
    /// The events of a schedule that are meant for before `close_ns`.
    pub(super) fn new(schedule: ArrivalSchedule, close_ns: i64) -> Feed {
        let first = schedule.next_number();
        let feed = Feed {
            times: (0..RING).map(|_| AtomicI64::new(0)).collect(),
            taken: AtomicU64::new(first),
            made: AtomicU64::new(first),
            end: AtomicU64::new(u64::MAX),
            close_ns,
            schedule: Mutex::new(schedule),
        };
        feed.fill(RING);
        feed
    }

    /// Takes the next event; `None` when there is none left in the window.
    #[inline]
    pub(super) fn claim_next(&self) -> Option<Due> {
        loop {
            let number = self.taken.load(Ordering::Acquire);
            if number >= self.end.load(Ordering::Acquire) {
                return None;
            }
            let made = self.made.load(Ordering::Acquire);
            if made.saturating_sub(number) <= RING - BLOCK {
                self.fill(BLOCK);
                if number >= made {
                    std::hint::spin_loop();
                    continue;
                }
            }
            // Read before it is taken: its place is written again only once it is.
            let intended_ns = self.times[(number % RING) as usize].load(Ordering::Relaxed);
            let claimed = self.taken.compare_exchange_weak(
                number,
                number + 1,
                Ordering::AcqRel,
                Ordering::Relaxed,
            );
            if claimed.is_ok() {
                return Some(Due { number, intended_ns });
            }
        }
    }

    /// Makes up to so many times for which there is room, unless somebody else is doing so.
    fn fill(&self, most: u64) {
        let Ok(mut schedule) = self.schedule.try_lock() else { return };
        let mut made = self.made.load(Ordering::Acquire);
        if self.end.load(Ordering::Acquire) != u64::MAX {
            return;
        }
        let room = (self.taken.load(Ordering::Acquire) + RING).min(made + most);
        while made < room {
            match schedule.next_ns().filter(|&time| time < self.close_ns) {
                Some(time) => {
                    self.times[(made % RING) as usize].store(time, Ordering::Relaxed);
                    made += 1;
                    // Others may take it while the next ones are made.
                    self.made.store(made, Ordering::Release);
                }
                None => {
                    self.end.store(made, Ordering::Release);
                    return;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;

    fn schedule(text: &str) -> ArrivalSchedule {
        ArrivalSchedule::new(&text.parse().unwrap(), 3, 1_000_000_000, &[])
    }

    /// Eight threads empty three rings; every event comes once, with its own time.
    #[test]
    fn every_event_is_taken_once_with_its_time() {
        let close_ns = 4_000_000_000;
        let feed = Feed::new(schedule("poisson:80000"), close_ns);
        let take_all = || std::iter::from_fn(|| feed.claim_next()).collect::<Vec<_>>();
        let mut taken: Vec<Due> = thread::scope(|scope| {
            let threads: Vec<_> = (0..8).map(|_| scope.spawn(take_all)).collect();
            threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
        });
        taken.sort_by_key(|due| due.number);
        let mut truth = schedule("poisson:80000");
        for (number, due) in taken.iter().enumerate() {
            let intended_ns = truth.next_ns().unwrap();
            assert_eq!(*due, Due { number: number as u64, intended_ns });
        }
        assert!(taken.len() as u64 > 3 * RING);
        assert!(truth.next_ns().unwrap() >= close_ns, "an event is missing");
        assert_eq!(feed.claim_next(), None);
    }

    #[test]
    fn a_schedule_that_is_taken_up_later_keeps_its_numbers() {
        let mut later = schedule("1000");
        later.skip_to(1000);
        let feed = Feed::new(later, 1_000_000_000);
        assert_eq!(feed.claim_next(), Some(Due { number: 1000, intended_ns: 500_000 }));
    }
}
