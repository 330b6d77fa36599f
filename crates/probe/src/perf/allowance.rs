//! How much may be kept of the programs that a profile names.

use std::cell::Cell;
use std::rc::Rc;

/// Bytes of a file, and of what is kept of all that a profile names. The largest servers have half
/// a gigabyte of debug information.
pub(super) const BYTES_MOST: u64 = 2 << 30;
/// What a program of any length may have.
const BYTES_FREE: u64 = 64 << 20;
/// Debug information is packed to a fifth or so.
const BYTES_PER_BYTE: u64 = 16;

/// Why there is no program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NoProgram {
    /// None that can be read, or another build.
    Absent,
    /// It would take more than may be kept.
    TooLarge,
}

/// Bytes that may still be kept.
pub(super) struct Allowance {
    /// Of all programs.
    all: Rc<Cell<u64>>,
    /// Of this one, which has some for each byte of its files.
    own: Cell<u64>,
    /// Whether more was asked for.
    is_met: Cell<bool>,
}

impl Allowance {
    /// For one program, of what all may keep: what one of any length may have.
    pub(super) fn new(all: &Rc<Cell<u64>>) -> Rc<Allowance> {
        let is_met = Cell::new(false);
        Rc::new(Allowance { all: all.clone(), own: Cell::new(BYTES_FREE), is_met })
    }

    /// Adds what a file of this length may have.
    pub(super) fn add_file(&self, length: u64) -> Option<()> {
        if length > BYTES_MOST {
            return self.mark_exceeded();
        }
        self.own.set(self.own.get().saturating_add(length.saturating_mul(BYTES_PER_BYTE)));
        Some(())
    }

    /// Whether more was asked for than there is.
    pub(super) fn is_met(&self) -> bool {
        self.is_met.get()
    }

    /// As if more had been asked for than there is.
    pub(super) fn mark_exceeded(&self) -> Option<()> {
        self.is_met.set(true);
        None
    }

    /// Takes so many bytes; nothing where there are not so many.
    pub(super) fn take_bytes(&self, bytes: u64) -> Option<()> {
        let left = (self.all.get().checked_sub(bytes), self.own.get().checked_sub(bytes));
        let (Some(all), Some(own)) = left else { return self.mark_exceeded() };
        self.all.set(all);
        self.own.set(own);
        Some(())
    }
}
