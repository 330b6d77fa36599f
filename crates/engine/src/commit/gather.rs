//! The group that gathers, the turn to flush, and the leader of each group.

use std::sync::Arc;

use dbdyno_model::design::Wake;

use super::wake::{Seat, Waker};
use crate::meter::{Counter, Meter};
use crate::sync::Word;
use crate::sync::atomic::{AtomicU64, Ordering};

/// Parts threads that want the same done into groups: one of a group does it for all.
pub struct Gather {
    /// Above: the number of the group that gathers. Below: how many are in it.
    gathering: AtomicU64,
    /// The group that may close and work. Its leader alone waits here.
    turn: Word,
    waker: Waker,
    meter: Arc<Meter>,
}

const NUMBER_SHIFT: u32 = 32;

impl Gather {
    /// Groups that are woken in this way.
    pub fn new(wake: Wake, meter: Arc<Meter>) -> Gather {
        Gather {
            gathering: AtomicU64::new(u64::from(FIRST) << NUMBER_SHIFT),
            turn: Word::new(FIRST),
            waker: Waker::new(wake),
            meter,
        }
    }

    /// Returns when `work` was begun after this call, and ended, by this or another thread.
    pub(crate) fn run_in_group(&self, work: impl FnOnce()) {
        let joined = self.gathering.fetch_add(1, Ordering::AcqRel);
        let seat = Seat { group: (joined >> NUMBER_SHIFT) as u32, index: joined as u32 };
        if seat.index > 0 {
            self.waker.sleep(seat, &self.meter);
        } else {
            self.lead(seat.group, work);
        }
    }

    fn lead(&self, group: u32, work: impl FnOnce()) {
        loop {
            let turn = self.turn.load();
            if turn == group {
                break;
            }
            self.turn.wait(turn);
        }
        let next = group.wrapping_add(1);
        // All that joined the group did so before this, and the work begins after it.
        let closed = self.gathering.swap(u64::from(next) << NUMBER_SHIFT, Ordering::AcqRel);
        let members = closed as u32;
        work();
        self.meter.count(Counter::Groups);
        self.meter.add(Counter::Grouped, u64::from(members));
        self.waker.wake(group, members);
        self.turn.store(next);
        self.turn.wake_one();
    }
}

/// Number of the first group. Words of groups hold the last one that was woken, 0 before.
const FIRST: u32 = 1;

#[cfg(all(feature = "loom", test))]
mod tests {
    use loom::thread;

    use super::*;

    /// Three threads in every way to wake: each that returns finds its own entry worked on by one
    /// that began after it was made, and none sleeps for ever.
    fn all_find_their_work_done(wake: Wake) {
        crate::sync::in_every_order(2, move || {
            let gather = Arc::new(Gather::new(wake, Arc::default()));
            let made = Arc::new(AtomicU64::new(0));
            let done = Arc::new(AtomicU64::new(0));
            let pass = move || {
                let mine = made.fetch_add(1, Ordering::Relaxed) + 1;
                // As a flush does: it takes what is there, and says so.
                gather.run_in_group(|| {
                    let seen = made.load(Ordering::Relaxed);
                    done.store(seen, Ordering::Relaxed);
                });
                assert!(done.load(Ordering::Relaxed) >= mine);
            };
            let others: Vec<_> = (0..2).map(|_| thread::spawn(pass.clone())).collect();
            pass();
            others.into_iter().for_each(|other| other.join().unwrap());
        });
    }

    #[test]
    fn broadcast() {
        all_find_their_work_done(Wake::Broadcast);
    }

    #[test]
    fn futex() {
        all_find_their_work_done(Wake::Futex);
    }

    #[test]
    fn group() {
        all_find_their_work_done(Wake::Group);
    }
}
