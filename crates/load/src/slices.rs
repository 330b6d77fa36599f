//! How the rounds of a block are cut into slices that take turns; see [`crate::interleave`].

use std::time::Duration;

use dbdyno_model::ArmIndex;

/// How the rounds of a block are cut.
#[derive(Clone, Debug)]
pub struct Slices {
    /// Slices of each round.
    pub count: u32,
    /// Counted time of a slice.
    pub window: Duration,
    /// Load before it, which is not counted.
    pub lead_in: Duration,
    /// Who has the first slice, the second, and so on: each arm of the block once.
    pub order: Vec<ArmIndex>,
}

impl Slices {
    /// Before the slices each arm has its lead-in: they are the first turns.
    pub(crate) fn lead_ins(&self) -> u32 {
        self.order.len() as u32
    }

    /// Whose turn it is.
    pub(crate) fn arm_of(&self, turn: u32) -> ArmIndex {
        self.order[turn as usize % self.order.len()]
    }

    /// All turns of all arms.
    pub(crate) fn total_turns(&self) -> u32 {
        self.lead_ins() * (1 + self.count)
    }
}
