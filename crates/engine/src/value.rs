//! What a column holds.
//!
//! ```text
//!   Kind        Value            Datum<'a>, borrowed from a row
//!   Int         Int(i64)         Int(i64)
//!   Decimal     Decimal(i64)     Decimal(i64)      in units of 10^-scale of the column
//!   Text        Text(Vec<u8>)    Text(&[u8])       bytes; they compare as bytes
//!   Timestamp   Timestamp(i64)   Timestamp(i64)    µs since 1970, UTC
//!   Date        Timestamp(i64)   Timestamp(i64)    µs at which the day begins
//!               Null             Null              below everything else
//! ```
//!
//! Text compares byte by byte, as with MySQL's binary collations: neither case nor accents are
//! folded, and trailing blanks count. The order of values of one column is the order of
//! [`Datum`]; what keys are made of keeps it.

use std::fmt;

/// Microseconds of a day, for [`ValueType::Date`].
pub const US_PER_DAY: i64 = 86_400_000_000;

/// What values a column takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueType {
    /// Whole numbers.
    Int {
        /// Bytes that they would take: 1 to 8.
        bytes: u8,
        /// Whether some of them are below 0. Those that are not end at 2^63 - 1, too.
        signed: bool,
    },
    /// Numbers of so many digits. Whatever their number, there are 64 bits for them.
    Decimal {
        /// All digits.
        digits: u8,
        /// Digits after the point.
        scale: u8,
    },
    /// Text of UTF-8, or any other bytes.
    Text {
        /// The most characters.
        most: u32,
    },
    /// The same without blanks at the end.
    Char {
        /// The most characters.
        most: u32,
    },
    /// Microseconds since 1970, UTC.
    Timestamp {
        /// Digits behind the second, 0 to 6: values have no more.
        digits: u8,
    },
    /// Days, as the microseconds since 1970 at which they begin.
    Date,
}

/// One value, owned.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Value {
    /// None.
    Null,
    /// A whole number.
    Int(i64),
    /// A number in units of its column's scale.
    Decimal(i64),
    /// Bytes.
    Text(Vec<u8>),
    /// Microseconds since 1970, UTC.
    Timestamp(i64),
}

/// One value, borrowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Datum<'a> {
    /// None.
    Null,
    /// A whole number.
    Int(i64),
    /// A number in units of its column's scale.
    Decimal(i64),
    /// Bytes.
    Text(&'a [u8]),
    /// Microseconds since 1970, UTC.
    Timestamp(i64),
}

impl Value {
    /// The value, borrowed.
    #[inline]
    pub fn datum(&self) -> Datum<'_> {
        match self {
            Value::Null => Datum::Null,
            Value::Int(number) => Datum::Int(*number),
            Value::Decimal(units) => Datum::Decimal(*units),
            Value::Text(bytes) => Datum::Text(bytes),
            Value::Timestamp(us) => Datum::Timestamp(*us),
        }
    }
}

impl Datum<'_> {
    /// The value, owned.
    pub fn to_value(self) -> Value {
        match self {
            Datum::Null => Value::Null,
            Datum::Int(number) => Value::Int(number),
            Datum::Decimal(units) => Value::Decimal(units),
            Datum::Text(bytes) => Value::Text(bytes.to_vec()),
            Datum::Timestamp(us) => Value::Timestamp(us),
        }
    }
}

impl ValueType {
    /// Whole numbers of 64 bits.
    pub const BIGINT: ValueType = ValueType::Int { bytes: 8, signed: true };
    /// Points in time to the microsecond.
    pub const TIMESTAMP: ValueType = ValueType::Timestamp { digits: 6 };

    /// Whether a column of this kind may hold the value. NULL is a matter of the column.
    #[inline]
    pub(crate) fn accepts_value(self, value: Datum<'_>) -> bool {
        match (self, value) {
            (_, Datum::Null) => true,
            (ValueType::Timestamp { digits }, Datum::Timestamp(us)) => {
                us % 10_i64.pow(6_u8.saturating_sub(digits).into()) == 0
            }
            (ValueType::Date, Datum::Timestamp(us)) => us % US_PER_DAY == 0,
            (ValueType::Int { bytes, signed }, Datum::Int(number)) => {
                let most = i64::MAX >> (64 - 8 * u32::from(bytes));
                let (least, most) = match (signed, bytes) {
                    (true, _) => (-most - 1, most),
                    (false, 8) => (0, most),
                    (false, _) => (0, 2 * most + 1),
                };
                (least..=most).contains(&number)
            }
            (ValueType::Decimal { digits, .. }, Datum::Decimal(units)) => 10_u64
                .checked_pow(u32::from(digits))
                .is_none_or(|too_large| units.unsigned_abs() < too_large),
            (ValueType::Text { most }, Datum::Text(text)) => has_room(most, text),
            (ValueType::Char { most }, Datum::Text(text)) => {
                text.last() != Some(&b' ') && has_room(most, text)
            }
            _ => false,
        }
    }

    /// The value of this kind that a number stands for.
    #[inline]
    pub(crate) fn of_number(self, number: i64) -> Datum<'static> {
        match self {
            ValueType::Decimal { .. } => Datum::Decimal(number),
            ValueType::Timestamp { .. } | ValueType::Date => Datum::Timestamp(number),
            ValueType::Int { .. } | ValueType::Text { .. } | ValueType::Char { .. } => {
                Datum::Int(number)
            }
        }
    }

    /// Whether its values are bytes, and not numbers of 64 bits.
    #[inline]
    pub fn is_text(self) -> bool {
        matches!(self, ValueType::Text { .. } | ValueType::Char { .. })
    }
}

/// Whether a text has at most so many characters.
fn has_room(most: u32, text: &[u8]) -> bool {
    let most = most as usize;
    // A character takes a byte to four.
    text.len() <= most || (text.len() / 4 <= most && characters(text) <= most)
}

/// Characters of a text: its bytes but for those that go on with one.
fn characters(text: &[u8]) -> usize {
    text.iter().filter(|byte| **byte & 0xC0 != 0x80).count()
}

impl fmt::Display for ValueType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ValueType::Int { bytes, signed } => {
                let sign = if *signed { "" } else { " from 0 on" };
                write!(f, "whole numbers of {bytes} bytes{sign}")
            }
            ValueType::Decimal { digits, scale } => {
                write!(f, "numbers of {digits} digits, {scale} of them after the point")
            }
            ValueType::Text { most } => write!(f, "up to {most} characters of text"),
            ValueType::Char { most } => {
                write!(f, "up to {most} characters of text without blanks at the end")
            }
            ValueType::Timestamp { digits } => {
                write!(f, "timestamps with {digits} digits behind the second")
            }
            ValueType::Date => f.write_str("days"),
        }
    }
}
