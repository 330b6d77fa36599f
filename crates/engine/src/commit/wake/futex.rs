//! A wait word for each sleeper.

use super::seat::{GROUPS, MEMBERS, Seat, count, is_done};
use crate::meter::Meter;
use crate::sync::Word;

pub struct Futex {
    /// For each place, the last group that is done there.
    done: Box<[Line]>,
}

/// Words that different threads look at are in different cache lines.
#[repr(align(64))]
struct Line(Word);

impl Default for Futex {
    fn default() -> Futex {
        Futex { done: (0..GROUPS * MEMBERS).map(|_| Line(Word::new(0))).collect() }
    }
}

impl Futex {
    pub fn sleep(&self, seat: Seat, meter: &Meter) {
        let Line(word) = &self.done[seat.word_index()];
        let mut done = word.load();
        while !is_done(done, seat.group) {
            let slept = word.wait(done);
            done = word.load();
            if slept {
                count(meter, is_done(done, seat.group));
            }
        }
    }

    pub fn wake(&self, group: u32, members: u32) {
        for index in 1..members.min(MEMBERS as u32 + 1) {
            let Line(word) = &self.done[Seat { group, index }.word_index()];
            word.store(group);
            word.wake_all();
        }
    }
}
