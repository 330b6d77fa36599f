//! First come, first served.

use std::ops::Range;

/// The order in which so many that wait are looked at.
pub(in crate::lock) fn grant_order(waiting: usize) -> Range<usize> {
    0..waiting
}
