//! A wait word for each group.

use super::seat::{GROUPS, Seat, count, is_done};
use crate::meter::Meter;
use crate::sync::Word;

pub struct GroupWaker {
    /// For each of the groups whose words are apart, the last that is done.
    done: Box<[Line]>,
}

/// Words of different groups are in different cache lines.
#[repr(align(128))]
struct Line(Word);

impl Default for GroupWaker {
    fn default() -> GroupWaker {
        GroupWaker { done: (0..GROUPS).map(|_| Line(Word::new(0))).collect() }
    }
}

impl GroupWaker {
    pub fn sleep(&self, seat: Seat, meter: &Meter) {
        let Line(word) = &self.done[seat.group as usize % GROUPS];
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
        if members > 1 {
            let Line(word) = &self.done[group as usize % GROUPS];
            word.store(group);
            word.wake_all();
        }
    }
}
