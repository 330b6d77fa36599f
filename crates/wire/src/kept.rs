//! How much of an answer is kept: a server that sends without end is not kept without end.

use crate::error::WireError;

/// Rows of a result that is kept.
pub(crate) const KEPT_ROWS_MAX: usize = 5_000_000;
/// Values of all its rows: one takes 24 bytes, also where it is NULL and one byte on the wire.
pub(crate) const KEPT_VALUES_MAX: usize = 20_000_000;
/// Bytes of all its packets.
pub(crate) const KEPT_BYTES_MAX: usize = 256 << 20;

/// How much of a result is kept already. A server that sends without end is not kept without end.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct KeptSize {
    rows: usize,
    values: usize,
    bytes: usize,
}

impl KeptSize {
    /// Counts a row of so many bytes, or the description of columns.
    ///
    /// # Errors
    /// The result is larger than any that is kept.
    pub(crate) fn add(&mut self, values: usize, bytes: usize) -> Result<(), WireError> {
        self.rows += 1;
        self.values += values;
        self.bytes = self.bytes.saturating_add(bytes);
        let fits = self.rows <= KEPT_ROWS_MAX
            && self.values <= KEPT_VALUES_MAX
            && self.bytes <= KEPT_BYTES_MAX;
        if fits { Ok(()) } else { Err(too_large()) }
    }
}

/// An answer is larger than any that is kept.
#[cold]
pub(crate) fn too_large() -> WireError {
    WireError::Protocol(format!(
        "the answer has more than {KEPT_ROWS_MAX} rows, {KEPT_VALUES_MAX} values or {} MiB, more \
         than any that is kept",
        KEPT_BYTES_MAX >> 20
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kept_result_has_a_limit_of_rows_and_one_of_bytes() {
        let mut rows = KeptSize::default();
        assert!((0..KEPT_ROWS_MAX).all(|_| rows.add(1, 1).is_ok()) && rows.add(1, 1).is_err());
        // NULLs take a byte each on the wire and more here.
        let mut nulls = KeptSize::default();
        let taken = (0..).take_while(|_| nulls.add(4096, 4096).is_ok()).count();
        assert_eq!(taken, KEPT_VALUES_MAX / 4096);
        assert!(KeptSize::default().add(1, KEPT_BYTES_MAX + 1).is_err());
    }
}
