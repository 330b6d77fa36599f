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
//! again by the fourth group after; none of a group sleeps any more when a later one is woken,
//! for the leader wakes its group before it passes the turn.

use dbdyno_model::design::Wake;

use crate::meter::Meter;

mod broadcast;
mod direct;
mod futex;
mod group;
mod seat;

use broadcast::Broadcast;
use direct::Direct;
use futex::Futex;
use group::GroupWaker;
pub use seat::Seat;

/// A variant.
pub enum Waker {
    /// `wake=broadcast`
    Broadcast(Broadcast),
    /// `wake=direct`
    Direct(Direct),
    /// `wake=futex`
    Futex(Futex),
    /// `wake=group`
    Group(GroupWaker),
}

impl Waker {
    /// The variant of this name.
    pub fn new(wake: Wake) -> Waker {
        match wake {
            Wake::Broadcast => Waker::Broadcast(Broadcast::default()),
            Wake::Direct => Waker::Direct(Direct::default()),
            Wake::Futex => Waker::Futex(Futex::default()),
            Wake::Group => Waker::Group(GroupWaker::default()),
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
