//! What was done in equal slots of time.

/// Statements in equal slots of time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Series {
    /// Length of a slot.
    pub slot_ns: u64,
    /// Statements that ended in each slot. The last slot is whole: a partial one is not kept.
    pub statements: Vec<u64>,
}

impl Series {
    /// The same in slots that are so many times as long.
    ///
    /// # Panics
    /// With no slots in one.
    pub fn with_longer_slots(&self, slots: u32) -> Series {
        Series {
            slot_ns: self.slot_ns * u64::from(slots),
            statements: sum_slots(&self.statements, slots),
        }
    }
}

/// Sums of so many neighbours each; of the last ones only if they are as many.
pub(crate) fn sum_slots(slots: &[u64], in_one: u32) -> Vec<u64> {
    slots.chunks_exact(in_one as usize).map(|slots| slots.iter().sum()).collect()
}
