//! How those of a group sleep and are woken when its flush is done.
//!
//! ```text
//!   broadcast   one condition for all           the next group wakes too, and sleeps again
//!   direct      a condition each, one mutex     no false wake; all queue for the mutex
//!   futex       a word each, no mutex           no queue; a call each
//!   group       a word for the group            one call
//! ```
//!
//! *Broadcast* is what MySQL's binary log does; measured there, 52.7 % of wakes were of use, and
//! *direct* is what was put in its place (Wang, "Enhanced MySQL", binlog_group). Two groups wait at
//! any time, so a broadcast wakes twice as many as it should. *Group* is the multicast that the
//! same text calls ideal.
//!
//! What a sleeper waits for is a number: the last of its words' groups that is done. Words are used
//! again by the fourth group after; nobody of a group sleeps any more when a later one is woken,
//! for the leader wakes its group before it passes the turn.

use dbdyno_model::design::Wake;

use crate::meter::{Counter, Meter};

mod broadcast;
mod direct;
mod futex;
mod group;

use broadcast::Broadcast;
use direct::Direct;
use futex::Futex;
use group::Group;

/// Groups whose words are apart.
const GROUPS: usize = 4;
/// Members of a group whose words are apart.
const MEMBERS: usize = 1_024;

/// A place in a group. The one with index 0 leads and does not sleep.
#[derive(Clone, Copy, Debug)]
pub struct Seat {
    /// Which group; the numbers go around.
    pub group: u32,
    /// Which member of it.
    pub index: u32,
}

impl Seat {
    /// The place of its word in a table of all.
    fn place(self) -> usize {
        self.group as usize % GROUPS * MEMBERS + self.index as usize % MEMBERS
    }
}

/// A variant.
pub enum Waker {
    /// `wake=broadcast`
    Broadcast(Broadcast),
    /// `wake=direct`
    Direct(Direct),
    /// `wake=futex`
    Futex(Futex),
    /// `wake=group`
    Group(Group),
}

impl Waker {
    /// The variant of this name.
    pub fn new(wake: Wake) -> Waker {
        match wake {
            Wake::Broadcast => Waker::Broadcast(Broadcast::default()),
            Wake::Direct => Waker::Direct(Direct::default()),
            Wake::Futex => Waker::Futex(Futex::default()),
            Wake::Group => Waker::Group(Group::default()),
        }
    }

    /// Returns when the group was woken.
    pub fn sleep(&self, seat: Seat, meter: &Meter) {
        match self {
            Waker::Broadcast(broadcast) => broadcast.sleep(seat, meter),
            Waker::Direct(direct) => direct.sleep(seat, meter),
            Waker::Futex(futex) => futex.sleep(seat, meter),
            Waker::Group(group) => group.sleep(seat, meter),
        }
    }

    /// Wakes all members of a group but the first.
    pub fn wake(&self, group: u32, members: u32) {
        match self {
            Waker::Broadcast(broadcast) => broadcast.wake(group),
            Waker::Direct(direct) => direct.wake(group, members),
            Waker::Futex(futex) => futex.wake(group, members),
            Waker::Group(one) => one.wake(group, members),
        }
    }
}

/// Whether a group is done when `last` is the last that is. A word that nobody looked at for 2³¹
/// groups may say so wrongly: who waits for the disk looks at the log itself, and joins again.
fn is_done(last: u32, group: u32) -> bool {
    last.wrapping_sub(group) as i32 >= 0
}

/// Counts that a thread which slept was woken, and whether it was of use.
fn count(meter: &Meter, done: bool) {
    meter.count(Counter::Activations);
    if done {
        meter.count(Counter::UsefulActivations);
    }
}
