//! Values of rows in binary form, written as the same server would in text form.
//!
//! ```text
//!   0 │ NULL bits, from bit 2 │ value …      integers and floats in their width, little-endian
//!                                            dates as  length │ year 2 month day │ h m s │ µs 4
//!                                            times as  length │ sign days 4 h m s │ µs 4
//!                                            all else as  length │ bytes
//! ```
//!
//! How wide a value is and how it is shown stands in the definition of its column: sign, digits
//! after the point, padding with zeros. Where the value alone would not do (`DATETIME(3)` without a
//! fraction, `YEAR`, `DOUBLE(10,2)`), the definition decides, as it does in the server.
//!
//! Source: "MySQL Client/Server Protocol", binary protocol resultset row and column definition.

use std::io::Write as _;

use super::codec::{OK, Reader};
use crate::error::WireError;
use crate::rows::RowBuffer;

/// What the definition of a column says about how its values are sent and shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Column {
    kind: u8,
    flags: u16,
    /// Characters of the widest value, to which numbers are padded with zeros.
    width: u32,
    /// Digits after the point; [`AS_MANY`] for a number that is shown with those it needs.
    decimals: u8,
}

const TINY: u8 = 0x01;
const SHORT: u8 = 0x02;
const LONG: u8 = 0x03;
const FLOAT: u8 = 0x04;
const DOUBLE: u8 = 0x05;
const NULL: u8 = 0x06;
const TIMESTAMP: u8 = 0x07;
const LONGLONG: u8 = 0x08;
const INT24: u8 = 0x09;
const DATE: u8 = 0x0A;
const TIME: u8 = 0x0B;
const DATETIME: u8 = 0x0C;
const YEAR: u8 = 0x0D;

const UNSIGNED: u16 = 1 << 5;
const ZEROFILL: u16 = 1 << 6;

/// `NOT_FIXED_DEC` of MySQL's headers is 31; servers with 38 digits say 39.
const AS_MANY: u8 = 31;
/// A fraction of a second has at most this many digits.
const MICROSECONDS: u8 = 6;
/// Padding beyond this is no display width that a server would announce.
const WIDTH_MAX: usize = 255;
/// Bits before the first column in the NULL bits of a row.
const NULL_OFFSET: usize = 2;
/// Digits of a FLOAT that are sure (`FLT_DIG`): what servers show.
const FLOAT_DIGITS: usize = 6;
/// Numbers from 10^-15 on and below 10^15 are written without an exponent (`DBL_DIG`).
const PLAIN_EXPONENTS: std::ops::Range<i32> = -15..15;

impl Column {
    /// Reads a column definition.
    pub(super) fn read(definition: &[u8]) -> Result<Column, WireError> {
        let mut reader = Reader(definition);
        for _ in 0..6 {
            reader.string()?;
        }
        reader.length_encoded()?;
        reader.u16()?;
        Ok(Column {
            width: reader.u32()?,
            kind: reader.u8()?,
            flags: reader.u16()?,
            decimals: reader.u8()?,
        })
    }

    fn is_unsigned(self) -> bool {
        self.flags & UNSIGNED != 0
    }

    fn is_padded(self) -> bool {
        self.flags & ZEROFILL != 0
    }
}

/// Appends the values of a row in binary form.
///
/// # Errors
/// [`WireError::Protocol`] for a row that does not fit its columns.
pub(super) fn push_row(
    row: &[u8],
    columns: &[Column],
    into: &mut RowBuffer,
) -> Result<(), WireError> {
    let mut reader = Reader(row);
    if reader.u8()? != OK {
        return Err(WireError::Protocol("a row in binary form that begins as none".to_owned()));
    }
    let nulls = reader.bytes((columns.len() + NULL_OFFSET).div_ceil(8))?;
    for (index, column) in columns.iter().enumerate() {
        let bit = index + NULL_OFFSET;
        if nulls[bit / 8] >> (bit % 8) & 1 != 0 || column.kind == NULL {
            into.push_null();
        } else {
            push_value(*column, &mut reader, into)?;
        }
    }
    match reader.0 {
        [] => Ok(()),
        _ => Err(WireError::Protocol("a row of more values than columns".to_owned())),
    }
}

#[inline]
fn push_value(
    column: Column,
    reader: &mut Reader<'_>,
    into: &mut RowBuffer,
) -> Result<(), WireError> {
    match column.kind {
        LONGLONG if column.is_unsigned() => {
            let number = reader.u64()?;
            into.push_with(|out| padded(column, out, |out| show(out, format_args!("{number}"))));
        }
        TINY | SHORT | YEAR | LONG | INT24 | LONGLONG => {
            let number = integer(column, reader)?;
            into.push_with(|out| padded(column, out, |out| show(out, format_args!("{number}"))));
        }
        FLOAT => {
            let value = f64::from(f32::from_bits(reader.u32()?));
            into.push_with(|out| {
                padded(column, out, |out| show_float(out, value, column, FLOAT_DIGITS));
            });
        }
        DOUBLE => {
            let value = f64::from_bits(reader.u64()?);
            into.push_with(|out| padded(column, out, |out| show_float(out, value, column, 0)));
        }
        DATE | DATETIME | TIMESTAMP => {
            let moment = Moment::read(reader)?;
            into.push_with(|out| moment.show(out, column));
        }
        TIME => {
            let span = Span::read(reader)?;
            into.push_with(|out| span.show(out, column));
        }
        _ => into.push_text(reader.string()?),
    }
    Ok(())
}

/// An integer that 64 bits with a sign can hold.
#[inline]
fn integer(column: Column, reader: &mut Reader<'_>) -> Result<i64, WireError> {
    Ok(match (column.kind, column.is_unsigned()) {
        (TINY, false) => i64::from(reader.u8()? as i8),
        (TINY, true) => i64::from(reader.u8()?),
        (SHORT | YEAR, false) => i64::from(reader.u16()? as i16),
        (SHORT | YEAR, true) => i64::from(reader.u16()?),
        (LONG | INT24, false) => i64::from(reader.u32()? as i32),
        (LONG | INT24, true) => i64::from(reader.u32()?),
        _ => reader.u64()? as i64,
    })
}

/// `ZEROFILL`: zeros in front up to the width of the column.
fn padded(column: Column, out: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>)) {
    let start = out.len();
    write(out);
    if column.is_padded() {
        let width = (column.width as usize).min(WIDTH_MAX);
        let missing = width.saturating_sub(out.len() - start);
        out.resize(out.len() + missing, b'0');
        out[start..].rotate_right(missing);
    }
}

fn show(out: &mut Vec<u8>, what: std::fmt::Arguments<'_>) {
    out.write_fmt(what).expect("writing into a vector does not fail");
}

/// A floating-point number with the digits of its column; or with `digits` of them, as many as
/// tell it from its neighbours if `digits` is 0, in the shorter of the two notations that servers
/// have.
fn show_float(out: &mut Vec<u8>, value: f64, column: Column, digits: usize) {
    if !value.is_finite() {
        // No server stores these.
        return show(out, format_args!("{value}"));
    }
    if column.decimals < AS_MANY {
        return show(out, format_args!("{value:.*}", usize::from(column.decimals)));
    }
    let scientific = match digits {
        0 => Scientific::shortest(value),
        _ => Scientific::rounded(value, digits),
    };
    let (mantissa, exponent) = scientific.parts();
    let (sign, mantissa) = match mantissa {
        [b'-', rest @ ..] => (&b"-"[..], rest),
        rest => (&b""[..], rest),
    };
    out.extend_from_slice(sign);
    let (first, fraction) = (mantissa[0], mantissa.get(2..).unwrap_or_default());
    let kept = fraction.iter().rposition(|&digit| digit != b'0').map_or(0, |last| last + 1);
    show_digits(out, first, &fraction[..kept], exponent);
}

/// A number as `-1.25e-7`, on the stack: 17 digits, two signs, a point, an "e" and three digits
/// more are the longest.
#[derive(PartialEq, Eq)]
struct Scientific {
    text: [u8; 32],
    length: usize,
}

impl Scientific {
    fn written(number: std::fmt::Arguments<'_>) -> Scientific {
        let mut text = [0_u8; 32];
        let mut rest = &mut text[..];
        rest.write_fmt(number).expect("a number fits 32 bytes");
        let length = 32 - rest.len();
        Scientific { text, length }
    }

    /// With so many digits; between two that are equally near, the even one.
    fn rounded(value: f64, digits: usize) -> Scientific {
        Scientific::written(format_args!("{value:.*e}", digits - 1))
    }

    /// With as many digits as tell it from its neighbours. Of two texts that do so and are equally
    /// near, the standard library takes the larger and servers the even one.
    fn shortest(value: f64) -> Scientific {
        let shortest = Scientific::written(format_args!("{value:e}"));
        let digits = shortest.parts().0.iter().filter(|byte| byte.is_ascii_digit()).count();
        let even = Scientific::rounded(value, digits);
        let same = even != shortest
            && std::str::from_utf8(&even.text[..even.length])
                .is_ok_and(|text| text.parse() == Ok(value));
        if same { even } else { shortest }
    }

    /// What stands before and behind the "e".
    fn parts(&self) -> (&[u8], i32) {
        let text = &self.text[..self.length];
        let at = text.iter().position(|&byte| byte == b'e').expect("it was asked for");
        let exponent = std::str::from_utf8(&text[at + 1..]).ok().and_then(|text| text.parse().ok());
        (&text[..at], exponent.expect("an exponent is a number"))
    }
}

/// Writes `first.fraction × 10^exponent`.
fn show_digits(out: &mut Vec<u8>, first: u8, fraction: &[u8], exponent: i32) {
    // Of the larger ones only those with digits behind the point are written out.
    let broken = exponent >= PLAIN_EXPONENTS.end && fraction.len() > exponent as usize;
    if !PLAIN_EXPONENTS.contains(&exponent) && !broken {
        out.push(first);
        if !fraction.is_empty() {
            out.push(b'.');
            out.extend_from_slice(fraction);
        }
        return show(out, format_args!("e{exponent}"));
    }
    if exponent < 0 {
        out.extend_from_slice(b"0.");
        out.resize(out.len() + (-exponent) as usize - 1, b'0');
        out.push(first);
        return out.extend_from_slice(fraction);
    }
    let (whole, behind) = fraction.split_at(fraction.len().min(exponent as usize));
    out.push(first);
    out.extend_from_slice(whole);
    out.resize(out.len() + exponent as usize - whole.len(), b'0');
    if !behind.is_empty() {
        out.push(b'.');
        out.extend_from_slice(behind);
    }
}

/// A date, with or without the time of day.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Moment {
    year: u16,
    month: u8,
    day: u8,
    hour: u8,
    minute: u8,
    second: u8,
    micros: u32,
}

impl Moment {
    /// What is zero from some place on is not sent.
    fn read(reader: &mut Reader<'_>) -> Result<Moment, WireError> {
        let length = reader.u8()?;
        let mut moment = Moment::default();
        if !matches!(length, 0 | 4 | 7 | 11) {
            return Err(impossible("date", length));
        }
        if length >= 4 {
            (moment.year, moment.month, moment.day) = (reader.u16()?, reader.u8()?, reader.u8()?);
        }
        if length >= 7 {
            (moment.hour, moment.minute, moment.second) =
                (reader.u8()?, reader.u8()?, reader.u8()?);
        }
        if length >= 11 {
            moment.micros = reader.u32()?;
        }
        Ok(moment)
    }

    fn show(self, out: &mut Vec<u8>, column: Column) {
        let Moment { year, month, day, hour, minute, second, micros } = self;
        show(out, format_args!("{year:04}-{month:02}-{day:02}"));
        if column.kind != DATE {
            show(out, format_args!(" {hour:02}:{minute:02}:{second:02}"));
            show_fraction(out, micros, column);
        }
    }
}

/// A TIME: a span of up to 838 hours in either direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Span {
    sign: &'static str,
    hours: u64,
    minute: u8,
    second: u8,
    micros: u32,
}

impl Span {
    fn read(reader: &mut Reader<'_>) -> Result<Span, WireError> {
        let length = reader.u8()?;
        let mut span = Span::default();
        if !matches!(length, 0 | 8 | 12) {
            return Err(impossible("time", length));
        }
        if length >= 8 {
            span.sign = if reader.u8()? == 0 { "" } else { "-" };
            span.hours = u64::from(reader.u32()?) * 24 + u64::from(reader.u8()?);
            (span.minute, span.second) = (reader.u8()?, reader.u8()?);
        }
        if length >= 12 {
            span.micros = reader.u32()?;
        }
        Ok(span)
    }

    fn show(self, out: &mut Vec<u8>, column: Column) {
        let Span { sign, hours, minute, second, micros } = self;
        show(out, format_args!("{sign}{hours:02}:{minute:02}:{second:02}"));
        show_fraction(out, micros, column);
    }
}

/// The digits of a second that the column has. A column that announces more than there can be
/// shows them where there are some.
fn show_fraction(out: &mut Vec<u8>, micros: u32, column: Column) {
    let digits = match column.decimals {
        digits @ 0..=MICROSECONDS => digits,
        _ if micros == 0 => 0,
        _ => MICROSECONDS,
    };
    if digits > 0 {
        let fraction = micros / 10_u32.pow(u32::from(MICROSECONDS - digits));
        show(out, format_args!(".{fraction:0width$}", width = usize::from(digits)));
    }
}

#[cold]
fn impossible(what: &str, length: u8) -> WireError {
    WireError::Protocol(format!("a {what} of {length} bytes in a row in binary form"))
}

#[cfg(test)]
mod tests;
