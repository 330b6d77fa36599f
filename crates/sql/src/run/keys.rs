//! Conditions into the keys that they mean.
//!
//! ```text
//!   id = ?                  Int column      12  → 12      '12.0' → 12      12.5 → no row
//!   id > 12.5               →  id > 12
//!   c = 12                  text column: refused, a number is not compared with text
//! ```
//!
//! A value that a column cannot have is equal to nothing in it. A bound between two values of a
//! column becomes the lower one of them, outside of what lies above and inside of what lies below.

use dbdyno_engine::EngineError;
use dbdyno_engine::value::{Datum, US_PER_DAY, ValueType};

use crate::error::{Result, SqlError};
use crate::operand::{self, Operand};
use crate::time;

/// What a value is among those of a column.
pub(super) enum Place<'a> {
    /// One of them.
    At(Datum<'a>),
    /// Between this one and the next.
    Above(Datum<'a>),
    /// NULL: no comparison holds.
    Nowhere,
    /// Below or above all of them.
    Beyond(std::cmp::Ordering),
}

/// Where a value stands among those of a kind.
pub(super) fn place_of<'a>(value: &'a Operand<'a>, kind: ValueType) -> Result<Place<'a>> {
    if value.is_null() {
        return Ok(Place::Nowhere);
    }
    Ok(match kind {
        ValueType::Int { .. } => number(value, 0, Datum::Int)?,
        ValueType::Decimal { scale, .. } => number(value, scale, Datum::Decimal)?,
        ValueType::Timestamp { .. } | ValueType::Date => point_in_time(value.timestamp()?, kind),
        ValueType::Text { .. } | ValueType::Char { .. } => match value {
            Operand::Text(text) => Place::At(Datum::Text(text)),
            other => {
                return Err(SqlError::Value(format!("{other} where a text is compared")));
            }
        },
    })
}

/// A point in time among those of a column, which may have days or seconds only.
fn point_in_time<'a>(us: i64, kind: ValueType) -> Place<'a> {
    let unit = match kind {
        ValueType::Date => US_PER_DAY,
        ValueType::Timestamp { digits } => 10_i64.pow(6_u32.saturating_sub(digits.into())),
        _ => 1,
    };
    match us.rem_euclid(unit) {
        0 => Place::At(Datum::Timestamp(us)),
        over => Place::Above(Datum::Timestamp(us - over)),
    }
}

fn number<'a>(value: &Operand<'_>, scale: u8, made: fn(i64) -> Datum<'a>) -> Result<Place<'a>> {
    let (units, from) = value.units_and_scale()?;
    let (units, is_exact) = if from <= scale {
        (operand::round_to_scale(units, from, scale).unwrap_or(units.signum() * i128::MAX), true)
    } else {
        let factor = 10_i128.pow(u32::from(from - scale));
        (units.div_euclid(factor), units.rem_euclid(factor) == 0)
    };
    Ok(match i64::try_from(units) {
        Ok(units) if is_exact => Place::At(made(units)),
        Ok(units) => Place::Above(made(units)),
        Err(_) => Place::Beyond(units.cmp(&0)),
    })
}

/// The value as a column holds it: rounded, and written as its kind has it. For what is put in.
pub(super) fn column_input<'a>(
    value: &'a Operand<'a>,
    kind: ValueType,
    column: &str,
) -> Result<ColumnInput<'a>> {
    let too_large = || EngineError::OutOfRange(column.to_owned(), kind.to_string());
    let units = |scale: u8| {
        let (units, from) = value.units_and_scale()?;
        let units = operand::round_to_scale(units, from, scale).map_err(|_| too_large())?;
        i64::try_from(units).map_err(|_| SqlError::Engine(too_large()))
    };
    Ok(match (kind, value) {
        (_, Operand::Null) => ColumnInput::Plain(Datum::Null),
        (ValueType::Int { .. }, Operand::Int(number)) => ColumnInput::Plain(Datum::Int(*number)),
        (ValueType::Int { .. }, _) => ColumnInput::Plain(Datum::Int(units(0)?)),
        (ValueType::Decimal { scale, .. }, _) => ColumnInput::Plain(Datum::Decimal(units(scale)?)),
        (ValueType::Timestamp { digits }, _) => {
            let us = time::round_to_digits(value.timestamp()?, digits).ok_or_else(too_large)?;
            ColumnInput::Plain(Datum::Timestamp(us))
        }
        (ValueType::Date, _) => {
            let us = time::day_of(value.timestamp()?).ok_or_else(too_large)?;
            ColumnInput::Plain(Datum::Timestamp(us))
        }
        (ValueType::Text { .. }, Operand::Text(text)) => ColumnInput::Plain(Datum::Text(text)),
        (ValueType::Char { .. }, Operand::Text(text)) => {
            ColumnInput::Plain(Datum::Text(without_blanks(text)))
        }
        (ValueType::Text { .. } | ValueType::Char { .. }, other) => {
            ColumnInput::Text(other.to_string().into_bytes())
        }
    })
}

/// A text without the blanks at its end: a CHAR keeps none, as in MySQL.
fn without_blanks(text: &[u8]) -> &[u8] {
    let end = text.iter().rposition(|byte| *byte != b' ').map_or(0, |last| last + 1);
    &text[..end]
}

/// A value on its way into a column.
pub(super) enum ColumnInput<'a> {
    Plain(Datum<'a>),
    /// A number or a time that is written as text.
    Text(Vec<u8>),
}

impl ColumnInput<'_> {
    pub(super) fn datum(&self) -> Datum<'_> {
        match self {
            ColumnInput::Plain(datum) => *datum,
            ColumnInput::Text(text) => Datum::Text(text),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_has_its_place_among_those_of_a_column() {
        let shown = |value: Operand<'_>, kind| match place_of(&value, kind) {
            Ok(Place::At(datum)) => format!("at {datum:?}"),
            Ok(Place::Above(datum)) => format!("above {datum:?}"),
            Ok(Place::Nowhere) => "nowhere".to_owned(),
            Ok(Place::Beyond(order)) => format!("beyond {order:?}"),
            Err(error) => error.to_string(),
        };
        let money = ValueType::Decimal { digits: 18, scale: 2 };
        let text = ValueType::Text { most: 9 };
        for (value, kind, at) in [
            (Operand::Int(12), ValueType::BIGINT, "at Int(12)"),
            (Operand::of_text(b"12.0"), ValueType::BIGINT, "at Int(12)"),
            (Operand::Decimal(125, 1), ValueType::BIGINT, "above Int(12)"),
            (Operand::Decimal(-125, 1), ValueType::BIGINT, "above Int(-13)"),
            (Operand::Int(12), money, "at Decimal(1200)"),
            (Operand::Decimal(12_345, 3), money, "above Decimal(1234)"),
            (Operand::Decimal(i128::from(i64::MAX) + 1, 0), ValueType::BIGINT, "beyond Greater"),
            (Operand::Decimal(i128::MIN / 2, 0), money, "beyond Less"),
            (Operand::Null, text, "nowhere"),
            (Operand::of_text(b"1970-01-01"), ValueType::TIMESTAMP, "at Timestamp(0)"),
            (Operand::of_text(b"1970-01-01 01:00:00"), ValueType::Date, "above Timestamp(0)"),
            (Operand::Int(5), text, "5 where a text is compared"),
            (Operand::of_text(b"x"), ValueType::BIGINT, "'x' where a number is wanted"),
        ] {
            assert_eq!(shown(value.clone(), kind), at, "{value:?} in {kind:?}");
        }
    }

    #[test]
    fn what_is_put_in_is_rounded_or_refused() {
        let shown = |value: &Operand<'_>, kind| {
            column_input(value, kind, "c").map(|held| format!("{:?}", held.datum()))
        };
        assert_eq!(shown(&Operand::Decimal(34_750, 2), ValueType::BIGINT).unwrap(), "Int(348)");
        let money = ValueType::Decimal { digits: 18, scale: 2 };
        assert_eq!(shown(&Operand::of_text(b"86.385"), money).unwrap(), "Decimal(8639)");
        assert_eq!(shown(&Operand::Int(7), ValueType::Text { most: 1 }).unwrap(), "Text([55])");
        for (kind, kept) in [
            (ValueType::Text { most: 3 }, "Text([32, 120, 32])"),
            (ValueType::Char { most: 3 }, "Text([32, 120])"),
        ] {
            assert_eq!(shown(&Operand::of_text(b" x "), kind).unwrap(), kept);
        }
        let blank = shown(&Operand::of_text(b"  "), ValueType::Char { most: 1 });
        assert_eq!(blank.unwrap(), "Text([])");
        assert!(shown(&Operand::Decimal(1 << 70, 0), ValueType::BIGINT).is_err());
        assert!(shown(&Operand::of_text(b"abc"), ValueType::BIGINT).is_err());
    }
}
