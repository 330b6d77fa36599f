//! How the rounds of a pair are cut into slices that take turns; see [`crate::interleave`].

use std::time::Duration;

use dbdyno_model::Arm;

/// How two rounds are cut.
#[derive(Clone, Copy, Debug)]
pub struct Slices {
    /// Slices of each round.
    pub count: u32,
    /// Counted time of a slice.
    pub window: Duration,
    /// Load before it, which is not counted.
    pub lead_in: Duration,
    /// Whose slice is the first.
    pub first: Arm,
}

impl Slices {
    /// Before the slices each arm has its lead-in: they are the first two turns.
    pub(crate) const LEAD_INS: u32 = 2;

    /// Whose turn it is.
    pub(crate) fn arm_of(&self, turn: u32) -> Arm {
        if turn.is_multiple_of(2) { self.first } else { self.first.other() }
    }

    /// All turns of both arms.
    pub(crate) fn turns(&self) -> u32 {
        Self::LEAD_INS + 2 * self.count
    }
}
