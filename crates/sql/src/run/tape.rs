//! Rows that wait, one after the other in one piece of memory.
//!
//! ```text
//!   ┌──┬────────┬──┬──────┬───────────┬──┬───┐
//!   │ 1│ number │ 3│length│ bytes     │ 0│ 1 │ …      kind, then what it needs
//!   └──┴────────┴──┴──────┴───────────┴──┴───┘
//!   ▲ row 0                           ▲ row 1
//! ```
//!
//! Sorting ten thousand rows of text would else allocate ten thousand times and more.

use std::cmp::Ordering;

use crate::operand::{self, Operand, QuotientDigits};
use crate::parse::Direction;

/// Rows of values.
#[derive(Debug, Default)]
pub(super) struct Tape {
    bytes: Vec<u8>,
    /// Where rows begin.
    rows: Vec<usize>,
}

const NULL: u8 = 0;
const INT: u8 = 1;
const DECIMAL: u8 = 2;
const TEXT: u8 = 3;
const TIMESTAMP: u8 = 4;
const DATE: u8 = 5;
const QUOTIENT: u8 = 6;

impl Tape {
    /// Begins a row.
    pub(super) fn begin_row(&mut self) {
        self.rows.push(self.bytes.len());
    }

    /// Adds a value to the row that was begun last.
    pub(super) fn push(&mut self, value: &Operand<'_>) {
        push(value, &mut self.bytes);
    }

    /// Bytes of all rows.
    pub(super) fn bytes(&self) -> usize {
        self.bytes.len()
    }

    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    pub(super) fn row_values(&self, row: usize) -> Values<'_> {
        Values(&self.bytes[self.rows[row]..])
    }

    /// Puts rows in order. Rows that are equal by it stay as they came.
    pub(super) fn sort(&mut self, by: &[(usize, Direction)]) {
        let bytes = &self.bytes;
        self.rows
            .sort_by(|&left, &right| compare(Values(&bytes[left..]), Values(&bytes[right..]), by));
    }

    /// Of rows that are equal in their first `width` values keeps the first, in order of `by` and
    /// then of all values.
    pub(super) fn keep_distinct(&mut self, by: &[(usize, Direction)], width: usize) {
        let all: Vec<_> = (0..width).map(|place| (place, Direction::Up)).collect();
        let bytes = &self.bytes;
        let values = |row: usize| Values(&bytes[row..]);
        self.rows.sort_by(|&left, &right| {
            let wanted = compare(values(left), values(right), by);
            wanted.then_with(|| compare(values(left), values(right), &all))
        });
        self.rows.dedup_by(|later, first| {
            compare(values(*later), values(*first), &all) == Ordering::Equal
        });
    }
}

/// Values one after the other.
#[derive(Clone, Copy)]
pub(super) struct Values<'a>(pub(super) &'a [u8]);

impl<'a> Values<'a> {
    /// The value at this place, from 0.
    fn at(self, place: usize) -> Operand<'a> {
        let mut values = self;
        let value = values.nth(place);
        value.expect("rows have as many values as were pushed")
    }

    fn fixed<const N: usize>(&mut self) -> [u8; N] {
        let (first, rest) = self.0.split_first_chunk().expect("a kind is followed by its value");
        self.0 = rest;
        *first
    }
}

impl<'a> Iterator for Values<'a> {
    type Item = Operand<'a>;

    fn next(&mut self) -> Option<Operand<'a>> {
        let (&kind, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(match kind {
            NULL => Operand::Null,
            INT => Operand::Int(i64::from_le_bytes(self.fixed())),
            DECIMAL => {
                let [scale] = self.fixed();
                Operand::Decimal(i128::from_le_bytes(self.fixed()), scale)
            }
            TEXT => {
                let length = u64::from_le_bytes(self.fixed()) as usize;
                let (text, rest) = self.0.split_at(length);
                self.0 = rest;
                Operand::of_text(text)
            }
            QUOTIENT => {
                let [kept, told] = self.fixed();
                let digits = QuotientDigits { kept, told };
                Operand::Quotient(i128::from_le_bytes(self.fixed()), digits)
            }
            DATE => Operand::Date(i64::from_le_bytes(self.fixed())),
            _ => {
                let [digits] = self.fixed();
                Operand::Timestamp(i64::from_le_bytes(self.fixed()), digits)
            }
        })
    }
}

/// Writes a value.
pub(super) fn push(value: &Operand<'_>, into: &mut Vec<u8>) {
    match value {
        Operand::Null => into.push(NULL),
        Operand::Int(number) => {
            into.push(INT);
            into.extend_from_slice(&number.to_le_bytes());
        }
        Operand::Decimal(units, scale) => {
            into.push(DECIMAL);
            into.push(*scale);
            into.extend_from_slice(&units.to_le_bytes());
        }
        Operand::Quotient(units, QuotientDigits { kept, told }) => {
            into.extend_from_slice(&[QUOTIENT, *kept, *told]);
            into.extend_from_slice(&units.to_le_bytes());
        }
        Operand::Text(text) => {
            into.push(TEXT);
            into.extend_from_slice(&(text.len() as u64).to_le_bytes());
            into.extend_from_slice(text);
        }
        Operand::Date(us) => {
            into.push(DATE);
            into.extend_from_slice(&us.to_le_bytes());
        }
        Operand::Timestamp(us, digits) => {
            into.push(TIMESTAMP);
            into.push(*digits);
            into.extend_from_slice(&us.to_le_bytes());
        }
    }
}

fn compare(left: Values<'_>, right: Values<'_>, by: &[(usize, Direction)]) -> Ordering {
    for &(place, direction) in by {
        let order = operand::sort_order(&left.at(place), &right.at(place));
        if order.is_ne() {
            return if direction == Direction::Down { order.reverse() } else { order };
        }
    }
    Ordering::Equal
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tape(rows: &[&[Operand<'_>]]) -> Tape {
        let mut tape = Tape::default();
        for row in rows {
            tape.begin_row();
            row.iter().for_each(|value| tape.push(value));
        }
        tape
    }

    fn shown(tape: &Tape, width: usize) -> Vec<String> {
        let row = |row: usize| {
            let values: Vec<_> = tape.row_values(row).take(width).map(|v| v.to_string()).collect();
            values.join(" ")
        };
        (0..tape.len()).map(row).collect()
    }

    #[test]
    fn rows_are_sorted_and_told_once() {
        let text = |text: &'static str| Operand::of_text(text.as_bytes());
        let rows: &[&[Operand<'_>]] = &[
            &[text("b"), Operand::Int(1)],
            &[text("a"), Operand::Decimal(150, 2)],
            &[text("b"), Operand::Null],
            &[text("a"), Operand::Decimal(15, 1)],
        ];
        let mut sorted = tape(rows);
        sorted.sort(&[(0, Direction::Down), (1, Direction::Up)]);
        assert_eq!(shown(&sorted, 2), ["b ", "b 1", "a 1.50", "a 1.5"]);
        let mut once = tape(rows);
        once.keep_distinct(&[(0, Direction::Down)], 2);
        assert_eq!(shown(&once, 2), ["b ", "b 1", "a 1.50"]);
    }
}
