//! The rows of one answer, in a buffer that is used again.
//!
//! ```text
//!   bytes   │4711│Müller│2026-01-02 03:04:05│4712│…
//!   values  (0,4) (4,10) (10,29) NULL │ (29,33) …      one entry for each value, row by row
//! ```
//!
//! A transaction that computes with what it has read needs values, and it needs them without paying
//! for a string each. Values are kept as the characters that a server sends to a text query,
//! whatever the protocol sent, so that a load reads both servers alike.

use std::fmt::Display;
use std::io::Write as _;

use crate::error::WireError;
use crate::kept::{KEPT_BYTES_MAX, KEPT_VALUES_MAX, MemoryPart, too_large};

/// Rows of one answer, kept as characters. Filling it allocates nothing once it has grown to the
/// size of the largest answer.
#[derive(Clone, Debug, Default)]
pub struct RowBuffer {
    bytes: Vec<u8>,
    values: Vec<Option<Place>>,
    columns: usize,
    /// What the memory counts for, which is kept from answer to answer.
    held: MemoryPart,
}

/// Where in the bytes a value is.
#[derive(Clone, Copy, Debug)]
struct Place {
    start: usize,
    end: usize,
}

impl RowBuffer {
    /// An empty one.
    pub fn new() -> RowBuffer {
        RowBuffer::default()
    }

    /// Number of whole rows.
    #[inline]
    pub fn rows(&self) -> usize {
        self.values.len().checked_div(self.columns).unwrap_or(0)
    }

    /// Number of columns; 0 after a statement without a result. PostgreSQL says it with the first
    /// row: without rows it is 0 there.
    #[inline]
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// The characters of a value as the server sent them, in the character set of the session;
    /// `None` for NULL, and for a row or column that is not there.
    #[inline]
    pub fn text_at(&self, row: usize, column: usize) -> Option<&[u8]> {
        if column >= self.columns {
            return None;
        }
        let index = row.checked_mul(self.columns)?.checked_add(column)?;
        let place = (*self.values.get(index)?)?;
        Some(&self.bytes[place.start..place.end])
    }

    /// A value that is written as an integer; `None` if it is not one, is beyond 64 bits, or
    /// [`RowBuffer::text_at`] is `None`.
    #[inline]
    pub fn int(&self, row: usize, column: usize) -> Option<i64> {
        std::str::from_utf8(self.text_at(row, column)?).ok()?.parse().ok()
    }

    /// Forgets all rows and keeps the memory.
    #[inline]
    pub fn clear(&mut self) {
        self.begin_rows(0);
    }
}

/// For those who fill it: [`RowBuffer::begin_rows`], then the values row by row.
impl RowBuffer {
    /// Forgets all rows; those that follow have this many columns.
    #[inline]
    pub fn begin_rows(&mut self, columns: usize) {
        self.bytes.clear();
        self.values.clear();
        self.columns = columns;
    }

    /// Refuses an answer that grows beyond any that is kept.
    ///
    /// # Errors
    /// It has more values or bytes than that, or there is no memory for it beside others.
    #[inline]
    pub(crate) fn check_size(&mut self) -> Result<(), WireError> {
        if self.bytes.len() > KEPT_BYTES_MAX || self.values.len() > KEPT_VALUES_MAX {
            return Err(too_large());
        }
        self.held.cover_bytes(
            self.bytes.capacity() + self.values.capacity() * size_of::<Option<Place>>(),
        )
    }

    /// Appends a NULL.
    #[inline]
    pub fn push_null(&mut self) {
        self.values.push(None);
    }

    /// Appends a value.
    #[inline]
    pub fn push_text(&mut self, text: &[u8]) {
        self.push_with(|bytes| bytes.extend_from_slice(text));
    }

    /// Appends a value as it is shown.
    #[inline]
    pub fn push_shown(&mut self, value: impl Display) {
        self.push_with(|bytes| {
            write!(bytes, "{value}").expect("writing into a vector does not fail");
        });
    }

    /// Appends a value that `write` appends to the bytes of all values.
    #[inline]
    pub(crate) fn push_with(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        let start = self.bytes.len();
        write(&mut self.bytes);
        self.values.push(Some(Place { start, end: self.bytes.len() }));
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    type Table = Vec<Vec<Option<Vec<u8>>>>;

    fn tables() -> impl Strategy<Value = (usize, Table)> {
        (0_usize..5).prop_flat_map(|width| {
            let value = proptest::option::of(proptest::collection::vec(any::<u8>(), 0..9));
            let row = proptest::collection::vec(value, width);
            // Rows without a column cannot be told apart.
            let rows = proptest::collection::vec(row, 0..if width == 0 { 1 } else { 9 });
            (Just(width), rows)
        })
    }

    fn fill(buffer: &mut RowBuffer, width: usize, table: &Table) {
        buffer.begin_rows(width);
        for value in table.iter().flatten() {
            match value {
                Some(text) => buffer.push_text(text),
                None => buffer.push_null(),
            }
        }
    }

    proptest! {
        #[test]
        fn what_went_in_comes_out_and_nothing_of_before(old in tables(), new in tables()) {
            let mut buffer = RowBuffer::new();
            fill(&mut buffer, old.0, &old.1);
            let (width, table) = new;
            fill(&mut buffer, width, &table);
            prop_assert_eq!((buffer.rows(), buffer.columns()), (table.len(), width));
            for row in 0..table.len() + 2 {
                for column in 0..width + 2 {
                    let expected = table.get(row).and_then(|row| row.get(column)?.as_deref());
                    prop_assert_eq!(buffer.text_at(row, column), expected);
                }
            }
            buffer.clear();
            prop_assert_eq!((buffer.rows(), buffer.columns()), (0, 0));
        }

        #[test]
        fn integers_are_read_back(number: i64) {
            let mut buffer = RowBuffer::new();
            buffer.begin_rows(1);
            buffer.push_shown(number);
            prop_assert_eq!(buffer.int(0, 0), Some(number));
        }
    }

    #[test]
    fn what_is_no_integer_is_none() {
        let mut buffer = RowBuffer::new();
        buffer.begin_rows(1);
        for text in ["", "1.0", "x", "-", "9223372036854775808", " 1"] {
            buffer.push_text(text.as_bytes());
        }
        buffer.push_null();
        assert_eq!(buffer.rows(), 7);
        assert!((0..9).all(|row| buffer.int(row, 0).is_none()));
        assert_eq!(buffer.text_at(usize::MAX, 0), None);
    }
}
