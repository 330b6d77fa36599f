//! A place in a group, whose word is its own, and when a group is done.

use crate::meter::{Counter, Meter};

/// Groups whose words are apart.
pub(super) const GROUPS: usize = 4;
/// Members of a group whose words are apart.
pub(super) const MEMBERS: usize = 1_024;

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
    pub(super) fn word_index(self) -> usize {
        self.group as usize % GROUPS * MEMBERS + self.index as usize % MEMBERS
    }
}

/// Whether a group is done when `last` is the last that is. A word that was not looked at for
/// 2³¹ groups may say so wrongly: one that waits for the disk looks at the log itself, and joins
/// again.
pub(super) fn is_done(last: u32, group: u32) -> bool {
    last.wrapping_sub(group) as i32 >= 0
}

/// Counts that a thread which slept was woken, and whether it was of use.
pub(super) fn count(meter: &Meter, done: bool) {
    meter.count(Counter::Activations);
    if done {
        meter.count(Counter::UsefulActivations);
    }
}
