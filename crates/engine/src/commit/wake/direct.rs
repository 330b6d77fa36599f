//! A condition for each sleeper, all under one mutex.

use super::seat::{GROUPS, MEMBERS, Seat, count, is_done};
use crate::meter::Meter;
use crate::sync::{Condvar, Mutex};

pub struct Direct {
    /// For each place, the last group that is done there.
    done: Mutex<Box<[u32]>>,
    changed: Box<[Condvar]>,
}

const UNBROKEN: &str = "no thread panics with it";

impl Default for Direct {
    fn default() -> Direct {
        Direct {
            done: Mutex::new(vec![0; GROUPS * MEMBERS].into()),
            changed: (0..GROUPS * MEMBERS).map(|_| Condvar::new()).collect(),
        }
    }
}

impl Direct {
    pub fn sleep(&self, seat: Seat, meter: &Meter) {
        let place = seat.word_index();
        let mut done = self.done.lock().expect(UNBROKEN);
        while !is_done(done[place], seat.group) {
            done = self.changed[place].wait(done).expect(UNBROKEN);
            count(meter, is_done(done[place], seat.group));
        }
    }

    /// Keeps the mutex over the whole walk, as the published change does.
    pub fn wake(&self, group: u32, members: u32) {
        let mut done = self.done.lock().expect(UNBROKEN);
        for index in 1..members.min(MEMBERS as u32 + 1) {
            let place = Seat { group, index }.word_index();
            done[place] = group;
            self.changed[place].notify_all();
        }
    }
}
