//! How much memory a value may take that is read from a text.
//!
//! An object of one entry takes a hundred times the memory of its text. What a value may take has a
//! limit, so that a text of some megabytes cannot take gigabytes.

use std::cell::Cell;

use serde::de::Error;

/// Bytes of memory that one value may take.
const MEMORY_MOST: usize = 512 << 20;
/// Bytes that a text takes besides its letters.
pub(crate) const TEXT_MEMORY: usize = 16;

/// Memory that is left for a value, bytes.
pub(crate) struct MemoryBudget(Cell<usize>);

impl Default for MemoryBudget {
    fn default() -> MemoryBudget {
        MemoryBudget(Cell::new(MEMORY_MOST))
    }
}

impl MemoryBudget {
    pub(crate) fn take_bytes<E: Error>(&self, bytes: usize) -> Result<(), E> {
        let left = self.0.get().checked_sub(bytes).ok_or_else(|| {
            E::custom(format!(
                "this value takes more than {} MiB of memory when it is read; write each of its \
                 rows in a line of its own, or split it",
                MEMORY_MOST >> 20
            ))
        })?;
        self.0.set(left);
        Ok(())
    }
}
