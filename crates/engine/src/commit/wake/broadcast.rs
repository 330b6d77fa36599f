//! One condition for all sleepers.

use super::seat::{Seat, count, is_done};
use crate::meter::Meter;
use crate::sync::{Condvar, Mutex};

#[derive(Default)]
pub struct Broadcast {
    /// The last group that is done.
    done: Mutex<u32>,
    changed: Condvar,
}

const UNBROKEN: &str = "no thread panics with it";

impl Broadcast {
    pub fn sleep(&self, seat: Seat, meter: &Meter) {
        let mut done = self.done.lock().expect(UNBROKEN);
        while !is_done(*done, seat.group) {
            done = self.changed.wait(done).expect(UNBROKEN);
            count(meter, is_done(*done, seat.group));
        }
    }

    pub fn wake(&self, group: u32) {
        let mut done = self.done.lock().expect(UNBROKEN);
        *done = group;
        self.changed.notify_all();
    }
}
