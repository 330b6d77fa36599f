//! What a database holds: rows of each table and index, counted and added up.
//!
//! The sum of a row hangs on all of its values, and sums are added, so that the order in which rows
//! are met does not matter: two databases with other rows have the same sums once in 2^64.

use std::collections::BTreeMap;
use std::fmt;

use dbdyno_model::random::mix_bits;

/// Rows and their sum, by table and index.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Contents(BTreeMap<String, (u64, u64)>);

/// The sum of one row in the making.
#[derive(Clone, Copy, Debug)]
pub struct RowSum(u64);

impl RowSum {
    /// Of no values yet.
    pub fn new() -> RowSum {
        RowSum(0x9e37_79b9_7f4a_7c15)
    }

    /// And this number.
    #[must_use]
    pub(crate) fn with_number(self, number: i64) -> RowSum {
        RowSum(mix_bits(self.0 ^ number as u64).wrapping_add(self.0.rotate_left(23)))
    }

    /// And this text.
    #[must_use]
    pub(crate) fn with_text(self, text: &[u8]) -> RowSum {
        let sum = self.with_number(text.len() as i64);
        text.chunks(8).fold(sum, |sum, chunk| sum.with_number(word_of_chunk(chunk)))
    }
}

fn word_of_chunk(chunk: &[u8]) -> i64 {
    let mut word = [0; 8];
    word[..chunk.len()].copy_from_slice(chunk);
    i64::from_le_bytes(word)
}

impl Contents {
    /// Counts a row of a table or index.
    pub fn add_row(&mut self, name: &str, row: RowSum) {
        if !self.0.contains_key(name) {
            self.0.insert(name.to_owned(), (0, 0));
        }
        let entry = self.0.get_mut(name).expect("it was just put in");
        *entry = (entry.0 + 1, entry.1.wrapping_add(row.0));
    }

    /// How many rows of a table or index there are.
    pub fn rows(&self, name: &str) -> u64 {
        self.0.get(name).map_or(0, |entry| entry.0)
    }

    /// The sum over its rows; 0 where there are none.
    pub fn sum(&self, name: &str) -> u64 {
        self.0.get(name).map_or(0, |entry| entry.1)
    }
}

impl fmt::Display for Contents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, (name, (rows, sum))) in self.0.iter().enumerate() {
            let comma = if place == 0 { "" } else { ", " };
            write!(f, "{comma}{name} {rows}/{sum:016x}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_and_its_place_are_in_the_sum() {
        let sums = [
            RowSum::new().with_number(1).with_number(2),
            RowSum::new().with_number(2).with_number(1),
            RowSum::new().with_number(1).with_number(3),
            RowSum::new().with_number(1).with_text(b"2"),
            RowSum::new().with_text(b"12345678").with_text(b"9"),
            RowSum::new().with_text(b"123456789"),
            RowSum::new().with_text(b"123456780"),
        ];
        for (place, one) in sums.iter().enumerate() {
            assert!(sums[place + 1..].iter().all(|other| other.0 != one.0), "{place}");
        }
    }

    #[test]
    fn the_order_of_rows_does_not_matter_and_their_number_does() {
        let of = |rows: &[i64]| {
            let mut contents = Contents::default();
            rows.iter().for_each(|&row| contents.add_row("t", RowSum::new().with_number(row)));
            contents
        };
        assert_eq!(of(&[1, 2, 3]), of(&[3, 1, 2]));
        assert_ne!(of(&[1, 2, 3]), of(&[1, 2, 2]));
        assert_ne!(of(&[0]), of(&[0, 0]));
        assert_eq!(of(&[1, 2]).rows("t"), 2);
    }
}
