//! The values of the parameters of an execution.
//!
//! ```text
//!   NULL bits │ 1 │ types 2·n │ values …       with the first execution, and when types change
//!   NULL bits │ 0 │ values …                   with the others: the types are those of before
//! ```
//!
//! Values are found once and looked at where they lie; nothing is copied but what came in pieces
//! ahead of the execution.

use super::fault::{Fault, malformed_request};
use crate::error::WireError;
use crate::mysql::codec::Reader;

/// The parameters of one prepared statement, from execution to execution.
#[derive(Debug, Default)]
pub struct Parameters {
    /// None, before the first execution.
    types: Vec<u16>,
    slots: Vec<Slot>,
    /// What came in pieces, by parameter.
    pieces: Vec<Option<Vec<u8>>>,
}

/// Where a value is.
#[derive(Clone, Copy, Debug)]
enum Slot {
    Null,
    /// It came in pieces.
    Pieces,
    /// Its kind and its bytes, counted from the beginning of the values.
    At(Kind, usize, usize),
}

/// How bytes are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Signed,
    Unsigned,
    Float,
    Double,
    Time,
    Date,
    Text,
}

/// The value of a parameter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ParameterValue<'a> {
    /// None.
    Null,
    /// A whole number.
    Int(i64),
    /// One that has no sign.
    Unsigned(u64),
    /// A number with a binary point.
    Double(f64),
    /// Characters, or a decimal in characters.
    Text(&'a [u8]),
    /// Year, month, day, hour, minute, second, microseconds.
    Date([u32; 7]),
    /// Hours, minutes, seconds, microseconds; before zero if the first is true.
    Time(bool, [u32; 4]),
}

const UNSIGNED: u16 = 0x8000;
/// A statement takes at most so many, as in MySQL.
const MOST: usize = 65_535;

impl Parameters {
    /// Those of a statement that takes so many.
    pub fn new(count: usize) -> Parameters {
        let mut parameters = Parameters::default();
        parameters.pieces.resize_with(count.min(MOST), || None);
        parameters
    }

    /// Adds a piece to the value of a parameter; one that is not there is passed over, since nobody
    /// waits for an answer.
    pub fn add_piece(&mut self, parameter: u16, piece: &[u8]) {
        if let Some(pieces) = self.pieces.get_mut(usize::from(parameter)) {
            pieces.get_or_insert_default().extend_from_slice(piece);
        }
    }

    /// Bytes that came in pieces and wait for an execution.
    pub fn pieces_bytes(&self) -> usize {
        self.pieces.iter().flatten().map(Vec::len).sum()
    }

    /// Forgets what came in pieces.
    pub fn forget_pieces(&mut self) {
        self.pieces.iter_mut().for_each(|pieces| *pieces = None);
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.pieces.len()
    }

    /// Finds the values of an execution.
    ///
    /// # Errors
    /// [`Fault::Refused`] if they are not as many, or of a type that no client sends.
    #[inline]
    pub fn read(&mut self, values: &[u8]) -> Result<(), Fault> {
        self.slots.clear();
        if self.pieces.is_empty() {
            return Ok(());
        }
        self.find(values).map_err(|error| match error {
            WireError::Protocol(text) => malformed_request(&text),
            other => malformed_request(&other.to_string()),
        })
    }

    fn find(&mut self, values: &[u8]) -> Result<(), WireError> {
        let count = self.pieces.len();
        let mut reader = Reader(values);
        let nulls = reader.bytes(count.div_ceil(8))?;
        if reader.u8()? != 0 {
            self.types.clear();
            for _ in 0..count {
                self.types.push(reader.u16()?);
            }
        }
        if self.types.len() != count {
            return Err(WireError::Protocol("values whose types were never sent".to_owned()));
        }
        for (index, &type_) in self.types.iter().enumerate() {
            if self.pieces[index].is_some() {
                self.slots.push(Slot::Pieces);
                continue;
            }
            if nulls[index / 8] >> (index % 8) & 1 != 0 {
                self.slots.push(Slot::Null);
                continue;
            }
            let Some((kind, width)) = shape(type_)? else {
                self.slots.push(Slot::Null);
                continue;
            };
            let length = match width {
                Some(width) => width,
                None if matches!(kind, Kind::Text) => {
                    usize::try_from(reader.length_encoded()?).unwrap_or(usize::MAX)
                }
                None => usize::from(reader.u8()?),
            };
            let from = values.len() - reader.0.len();
            reader.bytes(length)?;
            self.slots.push(Slot::At(kind, from, from + length));
        }
        Ok(())
    }

    /// The value of a parameter, from 0, out of the values that were read last.
    ///
    /// # Panics
    /// If there is no such parameter, or the values are others.
    #[inline]
    pub fn get<'a>(&'a self, values: &'a [u8], index: usize) -> ParameterValue<'a> {
        match self.slots[index] {
            Slot::Null => ParameterValue::Null,
            Slot::Pieces => ParameterValue::Text(self.pieces[index].as_deref().unwrap_or_default()),
            Slot::At(kind, from, to) => value(kind, &values[from..to]),
        }
    }
}

/// How values of a type are read, and how wide they are if that is always the same; `None` is NULL.
fn shape(type_: u16) -> Result<Option<(Kind, Option<usize>)>, WireError> {
    let whole = if type_ & UNSIGNED != 0 { Kind::Unsigned } else { Kind::Signed };
    Ok(Some(match type_ & 0xFF {
        0x01 => (whole, Some(1)),
        0x02 | 0x0D => (whole, Some(2)),
        0x03 | 0x09 => (whole, Some(4)),
        0x08 => (whole, Some(8)),
        0x04 => (Kind::Float, Some(4)),
        0x05 => (Kind::Double, Some(8)),
        0x06 => return Ok(None),
        0x07 | 0x0A | 0x0C => (Kind::Date, None),
        0x0B => (Kind::Time, None),
        0x00 | 0x0F | 0x10 | 0xF5..=0xFE => (Kind::Text, None),
        other => {
            return Err(WireError::Protocol(format!("a parameter of the type {other:#x}")));
        }
    }))
}

#[inline]
fn value(kind: Kind, bytes: &[u8]) -> ParameterValue<'_> {
    match kind {
        Kind::Text => ParameterValue::Text(bytes),
        Kind::Signed => {
            let sign = bytes.last().is_some_and(|byte| byte & 0x80 != 0);
            ParameterValue::Int(i64::from_le_bytes(filled(bytes, if sign { 0xFF } else { 0 })))
        }
        Kind::Unsigned => ParameterValue::Unsigned(u64::from_le_bytes(filled(bytes, 0))),
        Kind::Float => {
            let [a, b, c, d, ..] = filled::<8>(bytes, 0);
            // As it is shown, and not as it is stored: 0.1 is meant where 0.1 was said.
            let shown = f32::from_le_bytes([a, b, c, d]).to_string();
            ParameterValue::Double(shown.parse().unwrap_or(f64::NAN))
        }
        Kind::Double => ParameterValue::Double(f64::from_le_bytes(filled(bytes, 0))),
        Kind::Date => {
            let bytes: [u8; 11] = filled(bytes, 0);
            let [low, high, month, day, hour, minute, second, rest @ ..] = bytes;
            let year = u16::from_le_bytes([low, high]);
            let us = u32::from_le_bytes(rest);
            let [month, day, hour, minute, second] =
                [month, day, hour, minute, second].map(u32::from);
            ParameterValue::Date([u32::from(year), month, day, hour, minute, second, us])
        }
        Kind::Time => {
            let bytes: [u8; 12] = filled(bytes, 0);
            let [sign, d0, d1, d2, d3, hour, minute, second, rest @ ..] = bytes;
            let days = u32::from_le_bytes([d0, d1, d2, d3]);
            let hours = days.saturating_mul(24).saturating_add(u32::from(hour));
            let us = u32::from_le_bytes(rest);
            ParameterValue::Time(sign != 0, [hours, u32::from(minute), u32::from(second), us])
        }
    }
}

/// The first bytes, and what fills them up where there are fewer.
fn filled<const N: usize>(bytes: &[u8], filler: u8) -> [u8; N] {
    let mut all = [filler; N];
    let count = bytes.len().min(N);
    all[..count].copy_from_slice(&bytes[..count]);
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_found_and_their_types_are_kept() {
        let mut all = Parameters::new(4);
        let first = [
            &[0b0100, 1][..],
            &[0x08, 0, 0xFD, 0, 0x06, 0, 0x02, 0x80],
            &(-5_i64).to_le_bytes(),
            b"\x03abc",
            &[0xFF, 0xFF],
        ]
        .concat();
        all.read(&first).unwrap();
        let got: Vec<_> = (0..4).map(|index| all.get(&first, index)).collect();
        let expected = [
            ParameterValue::Int(-5),
            ParameterValue::Text(b"abc"),
            ParameterValue::Null,
            ParameterValue::Unsigned(65_535),
        ];
        assert_eq!(got, expected);
        let second = [&[0b1011, 0][..]].concat();
        all.read(&second).unwrap();
        assert_eq!(all.get(&second, 0), ParameterValue::Null);
        for torn in 0..first.len() {
            assert!(all.read(&first[..torn]).is_err(), "{torn}");
        }
        assert!(Parameters::new(1).read(&[0, 0, 1]).is_err(), "types were never told");
        assert!(Parameters::new(1).read(&[0, 1, 0x20, 0, 1]).is_err(), "no such type");
    }

    #[test]
    fn dates_times_and_floats_are_read_as_they_are_shown() {
        let mut all = Parameters::new(3);
        let values = [
            &[0, 1, 0x0C, 0, 0x0B, 0, 0x04, 0][..],
            &[7, 0xEA, 0x07, 11, 25, 19, 30, 1],
            &[8, 1, 2, 0, 0, 0, 3, 4, 5],
            &0.1_f32.to_le_bytes(),
        ]
        .concat();
        all.read(&values).unwrap();
        assert_eq!(all.get(&values, 0), ParameterValue::Date([2026, 11, 25, 19, 30, 1, 0]));
        assert_eq!(all.get(&values, 1), ParameterValue::Time(true, [51, 4, 5, 0]));
        assert_eq!(all.get(&values, 2), ParameterValue::Double(0.1));
    }

    #[test]
    fn what_came_in_pieces_needs_no_value() {
        let mut all = Parameters::new(2);
        all.add_piece(1, b"ab");
        all.add_piece(1, b"c");
        all.add_piece(7, b"nobody's");
        assert_eq!(all.pieces_bytes(), 3);
        let values = [0, 1, 0x01, 0, 0xFC, 0, 9];
        all.read(&values).unwrap();
        assert_eq!(all.get(&values, 0), ParameterValue::Int(9));
        assert_eq!(all.get(&values, 1), ParameterValue::Text(b"abc"));
        all.forget_pieces();
        assert!(all.read(&values).is_err());
    }
}
