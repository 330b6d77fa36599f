//! Values while a statement is executed.
//!
//! ```text
//!   Null                       is neither equal nor unequal to anything
//!   Int                        64 bits
//!   Decimal   units · scale    12.50 is 1250 units at scale 2; sums have 128 bits
//!   Quotient  units · digits   1/3 has nine digits kept, of which four are told
//!   Text                       bytes, compared as bytes
//!   Timestamp µs · digits      since 1970 UTC, and how many digits behind the second are told
//!   Date      µs               at which the day begins
//! ```
//!
//! Numbers of two kinds meet as decimals. A text that meets a number or a time is read as one, and
//! refused where it is none: MySQL would take it for zero and warn, and nobody reads warnings of a
//! load. Nothing is rounded but on its way into a column, half away from zero as MySQL does it.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::fmt;

use crate::error::{Result, SqlError};
use crate::time;
use crate::wide::wide_product;

/// A value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operand<'a> {
    /// None.
    Null,
    /// A whole number.
    Int(i64),
    /// Units, and digits behind the point.
    Decimal(i128, u8),
    /// Units with more digits behind the point than are told, or fewer.
    Quotient(i128, QuotientDigits),
    /// Characters.
    Text(Cow<'a, [u8]>),
    /// Microseconds since 1970 UTC, and the digits behind the second that it has.
    Timestamp(i64, u8),
    /// A day: the microseconds since 1970 UTC at which it begins.
    Date(i64),
}

/// Digits behind the point of a number that a division has made, or that stands beside others with
/// more of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QuotientDigits {
    /// Those that it is computed with.
    pub kept: u8,
    /// Those that are told: it is rounded to them when it is shown, or zeros are added.
    pub told: u8,
}

/// A value that borrows nothing.
pub(crate) type OwnedOperand = Operand<'static>;

/// A number that is read has at most so many digits behind the point, and of one that is made no
/// more are told.
const SCALE_TOLD_MOST: u8 = 30;
/// What is made of numbers has at most so many: a power of ten that 128 bits have room for.
const SCALE_MOST: u8 = 38;
/// Digits of a word of MySQL's decimals.
const WORD_DIGITS: u8 = 9;
/// Digits that a division adds (MySQL's `div_precision_increment`).
pub(crate) const DIVISION_DIGITS: u8 = 4;

impl<'a> Operand<'a> {
    /// Characters that are borrowed.
    pub fn of_text(bytes: &'a [u8]) -> Operand<'a> {
        Operand::Text(Cow::Borrowed(bytes))
    }

    pub(crate) fn of_bool(truth: Option<bool>) -> Operand<'a> {
        truth.map_or(Operand::Null, |truth| Operand::Int(truth.into()))
    }

    pub(crate) fn into_owned(self) -> OwnedOperand {
        match self {
            Operand::Null => Operand::Null,
            Operand::Int(number) => Operand::Int(number),
            Operand::Decimal(units, scale) => Operand::Decimal(units, scale),
            Operand::Quotient(units, digits) => Operand::Quotient(units, digits),
            Operand::Text(text) => Operand::Text(Cow::Owned(text.into_owned())),
            Operand::Timestamp(us, digits) => Operand::Timestamp(us, digits),
            Operand::Date(us) => Operand::Date(us),
        }
    }

    /// The same value, borrowed.
    pub(crate) fn as_ref(&self) -> Operand<'_> {
        match self {
            Operand::Text(text) => Operand::Text(Cow::Borrowed(text)),
            Operand::Null => Operand::Null,
            Operand::Int(number) => Operand::Int(*number),
            Operand::Decimal(units, scale) => Operand::Decimal(*units, *scale),
            Operand::Quotient(units, digits) => Operand::Quotient(*units, *digits),
            Operand::Timestamp(us, digits) => Operand::Timestamp(*us, *digits),
            Operand::Date(us) => Operand::Date(*us),
        }
    }

    pub(crate) fn is_null(&self) -> bool {
        matches!(self, Operand::Null)
    }

    /// Which values are alike, so that none of them is read as another kind to be compared.
    pub(crate) fn kind(&self) -> u8 {
        match self {
            Operand::Null => 0,
            Operand::Int(_) | Operand::Decimal(..) | Operand::Quotient(..) => 1,
            Operand::Text(_) => 2,
            Operand::Timestamp(..) | Operand::Date(_) => 3,
        }
    }

    /// Whether a condition holds; `None` is SQL's unknown.
    pub(crate) fn truth_value(&self) -> Result<Option<bool>> {
        Ok(match self {
            Operand::Null => None,
            Operand::Int(number) => Some(*number != 0),
            other => Some(other.units_and_scale()?.0 != 0),
        })
    }

    /// As units and scale; not for NULL.
    pub(crate) fn units_and_scale(&self) -> Result<(i128, u8)> {
        match self {
            Operand::Int(number) => Ok((i128::from(*number), 0)),
            Operand::Decimal(units, scale) => Ok((*units, *scale)),
            Operand::Quotient(units, digits) => Ok((*units, digits.kept)),
            Operand::Text(text) => {
                read_decimal(text).ok_or_else(|| SqlError::Value(sentence("a number", text)))
            }
            Operand::Null => Err(SqlError::Value("NULL where a number is wanted".to_owned())),
            Operand::Timestamp(..) | Operand::Date(_) => {
                Err(SqlError::Value("a time where a number is wanted".to_owned()))
            }
        }
    }

    /// A number as it is told: units, and digits behind the point.
    pub fn told_number(&self) -> Option<(i128, u8)> {
        match self {
            Operand::Int(number) => Some((i128::from(*number), 0)),
            Operand::Decimal(units, scale) => Some((*units, *scale)),
            Operand::Quotient(units, QuotientDigits { kept, told }) => {
                // Where zeros have no room it is told as it is.
                let rounded = round_to_scale(*units, *kept, *told);
                Some(rounded.map_or((*units, *kept), |rounded| (rounded, *told)))
            }
            Operand::Null | Operand::Text(_) | Operand::Timestamp(..) | Operand::Date(_) => None,
        }
    }

    /// As microseconds since 1970; not for NULL.
    pub(crate) fn timestamp(&self) -> Result<i64> {
        match self {
            Operand::Timestamp(us, _) | Operand::Date(us) => Ok(*us),
            Operand::Text(text) => {
                time::read(text).ok_or_else(|| SqlError::Time(sentence(WANTED_TIME, text)))
            }
            other => Err(SqlError::Time(format!("{other} where {WANTED_TIME} is wanted"))),
        }
    }
}

const WANTED_TIME: &str = "a time, as in 2026-11-22 10:30:00,";

fn sentence(what: &str, text: &[u8]) -> String {
    format!("'{}' where {what} is wanted", String::from_utf8_lossy(text))
}

/// How two values compare; `None` if one of them is NULL.
pub(crate) fn compare_values(left: &Operand<'_>, right: &Operand<'_>) -> Result<Option<Ordering>> {
    Ok(Some(match (left, right) {
        (Operand::Null, _) | (_, Operand::Null) => return Ok(None),
        (Operand::Int(left), Operand::Int(right)) => left.cmp(right),
        (Operand::Text(left), Operand::Text(right)) => left.cmp(right),
        (Operand::Timestamp(..) | Operand::Date(_), _)
        | (_, Operand::Timestamp(..) | Operand::Date(_)) => {
            left.timestamp()?.cmp(&right.timestamp()?)
        }
        _ => by_size(left.units_and_scale()?, right.units_and_scale()?),
    }))
}

/// How two values are ordered in a result: NULL comes first. Values of one column are of one kind;
/// where an expression has several, numbers come before texts, and texts before times. Quotients
/// are ordered by what is told of them.
pub(crate) fn sort_order(left: &Operand<'_>, right: &Operand<'_>) -> Ordering {
    use Operand::{Date, Int, Text, Timestamp};
    match (left, right) {
        (Int(left), Int(right))
        | (Timestamp(left, _) | Date(left), Timestamp(right, _) | Date(right)) => left.cmp(right),
        (Text(left), Text(right)) => left.cmp(right),
        _ => match (left.told_number(), right.told_number()) {
            (Some(left), Some(right)) => by_size(left, right),
            _ => left.kind().cmp(&right.kind()),
        },
    }
}

/// How two values of one kind are ordered by all digits of theirs.
pub(crate) fn exact_order(left: &Operand<'_>, right: &Operand<'_>) -> Ordering {
    match (left.kind(), right.kind()) {
        (1, 1) => match (left.units_and_scale(), right.units_and_scale()) {
            (Ok(left), Ok(right)) => by_size(left, right),
            _ => Ordering::Equal,
        },
        _ => sort_order(left, right),
    }
}

/// How two numbers are ordered. One without room at the scale of the other is farther from zero.
fn by_size(left: (i128, u8), right: (i128, u8)) -> Ordering {
    let scale = left.1.max(right.1);
    match (at_scale(left.0, left.1, scale), at_scale(right.0, right.1, scale)) {
        (Ok(left), Ok(right)) => left.cmp(&right),
        (Err(_), _) => left.0.cmp(&0),
        (Ok(_), Err(_)) => 0.cmp(&right.0),
    }
}

/// Two numbers at one scale, and this. Where there is no room for all their digits, some of those
/// that are not told are cut, one of which says how the last that is told is rounded.
fn aligned(left: Term, right: Term) -> Result<(i128, i128, u8)> {
    let scale = left.number.1.max(right.number.1);
    let least = scale.min(left.told.max(right.told) + 1);
    for scale in (least..=scale).rev() {
        if let (Ok(left), Ok(right)) = (left.cut_to(scale), right.cut_to(scale)) {
            return Ok((left, right, scale));
        }
    }
    Err(too_large())
}

/// Units at a scale that is not smaller.
fn at_scale(units: i128, from: u8, scale: u8) -> Result<i128> {
    if from == scale {
        return Ok(units);
    }
    let factor = 10_i128.checked_pow(u32::from(scale - from)).ok_or_else(too_large)?;
    units.checked_mul(factor).ok_or_else(too_large)
}

/// Units at any scale; what is cut is rounded half away from zero.
pub(crate) fn round_to_scale(units: i128, from: u8, scale: u8) -> Result<i128> {
    if from <= scale {
        return at_scale(units, from, scale);
    }
    let factor = 10_i128.checked_pow(u32::from(from - scale)).ok_or_else(too_large)?;
    Ok(divided(units, factor))
}

fn divided(units: i128, by: i128) -> i128 {
    let (quotient, rest) = (units / by, units % by);
    let is_up = rest.unsigned_abs() >= by.unsigned_abs() - rest.unsigned_abs();
    let away = if (units < 0) == (by < 0) { 1 } else { -1 };
    quotient + if rest != 0 && is_up { away } else { 0 }
}

/// Digits behind the point that are told of a product or a quotient: those of both, if they are not
/// too many.
pub(crate) fn told_together(left: u8, right: u8) -> u8 {
    left.saturating_add(right).min(SCALE_TOLD_MOST)
}

fn too_large() -> SqlError {
    SqlError::Value(format!(
        "a number of more than {SCALE_MOST} digits, for which the reference engine has no room"
    ))
}

/// A number as small as it can be written: whole numbers that fit are [`Operand::Int`].
fn number(units: i128, scale: u8) -> Operand<'static> {
    match i64::try_from(units) {
        Ok(number) if scale == 0 => Operand::Int(number),
        _ => Operand::Decimal(units, scale),
    }
}

/// The same value, of which so many digits behind the point are told and no fewer.
pub(crate) fn with_scale(value: Operand<'_>, scale: u8) -> Operand<'_> {
    match value {
        Operand::Int(units) => quotient(i128::from(units), QuotientDigits { kept: 0, told: scale }),
        Operand::Decimal(units, kept) if kept < scale => {
            quotient(units, QuotientDigits { kept, told: scale })
        }
        Operand::Quotient(units, QuotientDigits { kept, told }) if told < scale => {
            quotient(units, QuotientDigits { kept, told: scale })
        }
        other => other,
    }
}

/// A value as a column holds it, where what is told of a number is all.
pub(crate) fn keep_told_digits(value: &mut OwnedOperand) {
    if let Operand::Quotient(..) = value {
        let told = value.told_number();
        *value = told.map_or(Operand::Null, |(units, scale)| number(units, scale));
    }
}

/// A number with so many digits kept, of which so many are told.
fn quotient(units: i128, digits: QuotientDigits) -> Operand<'static> {
    if digits.kept == digits.told {
        return number(units, digits.kept);
    }
    Operand::Quotient(units, digits)
}

/// A value in the one way in which all that are equal to it can be written.
pub(crate) fn canonical_form<'a>(value: &'a Operand<'_>) -> Operand<'a> {
    let (mut units, mut scale) = match value {
        Operand::Decimal(..) | Operand::Quotient(..) => value.told_number().unwrap_or_default(),
        Operand::Timestamp(us, _) | Operand::Date(us) => return Operand::Timestamp(*us, 0),
        _ => return value.as_ref(),
    };
    while scale > 0 && units % 10 == 0 {
        units /= 10;
        scale -= 1;
    }
    number(units, scale)
}

/// The sum of two values; NULL if one of them is.
pub(crate) fn add(left: &Operand<'_>, right: &Operand<'_>) -> Result<OwnedOperand> {
    arithmetic(left, right, |left, right| {
        let (one, other, kept) = aligned(left, right)?;
        let digits = QuotientDigits { kept, told: left.told.max(right.told) };
        Ok(quotient(one.checked_add(other).ok_or_else(too_large)?, digits))
    })
}

pub(crate) fn subtract(left: &Operand<'_>, right: &Operand<'_>) -> Result<OwnedOperand> {
    arithmetic(left, right, |left, right| {
        let (one, other, kept) = aligned(left, right)?;
        let digits = QuotientDigits { kept, told: left.told.max(right.told) };
        Ok(quotient(one.checked_sub(other).ok_or_else(too_large)?, digits))
    })
}

/// The product, with as many of its digits as there is room for.
pub(crate) fn multiply(left: &Operand<'_>, right: &Operand<'_>) -> Result<OwnedOperand> {
    arithmetic(left, right, |left, right| {
        let (one, other) = (left.number, right.number);
        let told = told_together(left.told, right.told);
        let kept = one.1.saturating_add(other.1);
        let (units, kept) = match one.0.checked_mul(other.0) {
            Some(units) if kept <= SCALE_MOST => (units, kept),
            _ => wide_product(one.0, other.0)
                .cut_to_fit(kept, SCALE_MOST)
                // Of a number that is cut one digit says how the last that is told is rounded.
                .filter(|(_, kept)| *kept > told)
                .ok_or_else(too_large)?,
        };
        Ok(quotient(units, QuotientDigits { kept, told }))
    })
}

/// The quotient; NULL where the divisor is 0. Four digits more than the dividend has are told; it
/// is computed with as many as fill words of nine, and cut there, as MySQL's `decimal_div` does it:
/// `1/3 + 1/3 + 1/3` is 1.0000.
pub(crate) fn divide(left: &Operand<'_>, right: &Operand<'_>) -> Result<OwnedOperand> {
    arithmetic(left, right, |left, right| {
        let ((dividend, of_left), (divisor, of_right)) = (left.number, right.number);
        if divisor == 0 {
            return Ok(Operand::Null);
        }
        let [words_left, words_right] =
            [of_left, of_right].map(|digits| digits.next_multiple_of(WORD_DIGITS));
        let padding = words_left - of_left + words_right - of_right;
        let more = DIVISION_DIGITS.saturating_sub(padding);
        let kept = (words_left + words_right + more).next_multiple_of(WORD_DIGITS);
        let digits = QuotientDigits { kept, told: told_together(left.told, DIVISION_DIGITS) };
        match at_scale(dividend, of_left, kept + of_right) {
            Ok(units) if kept <= SCALE_MOST => Ok(quotient(units / divisor, digits)),
            _ => divide_by_digits(left.number, right.number, digits),
        }
    })
}

/// The quotient, digit by digit, with as many of them as there is room for: what is told of it is
/// the same. A pair is units and digits behind the point.
fn divide_by_digits(
    dividend: (i128, u8),
    divisor: (i128, u8),
    wanted: QuotientDigits,
) -> Result<OwnedOperand> {
    let QuotientDigits { kept, told } = wanted;
    let (mut units, mut rest) = (dividend.0 / divisor.0, dividend.0 % divisor.0);
    let mut scale = i16::from(dividend.1) - i16::from(divisor.1);
    while scale < i16::from(kept.min(SCALE_MOST)) {
        let Some(tenfold) = rest.checked_mul(10) else { break };
        let next = units.checked_mul(10).and_then(|tens| tens.checked_add(tenfold / divisor.0));
        let Some(next) = next else { break };
        (units, rest, scale) = (next, tenfold % divisor.0, scale + 1);
    }
    match u8::try_from(scale) {
        // One digit says how the last that is told is rounded.
        Ok(kept) if kept > told => Ok(quotient(units, QuotientDigits { kept, told })),
        _ => Err(too_large()),
    }
}

/// What is left of a division, with the sign of the dividend; NULL where the divisor is 0.
pub(crate) fn remainder(left: &Operand<'_>, right: &Operand<'_>) -> Result<OwnedOperand> {
    arithmetic(left, right, |left, right| {
        let (one, other, kept) = aligned(left, right)?;
        if other == 0 {
            return Ok(Operand::Null);
        }
        let digits = QuotientDigits { kept, told: left.told.max(right.told) };
        Ok(quotient(one.checked_rem(other).ok_or_else(too_large)?, digits))
    })
}

pub(crate) fn negate(of: &Operand<'_>) -> Result<OwnedOperand> {
    subtract(&Operand::Int(0), of)
}

/// A number on its way into another.
#[derive(Clone, Copy)]
struct Term {
    /// Units, and the digits behind the point that they have.
    number: (i128, u8),
    /// How many of those are told.
    told: u8,
}

impl Term {
    /// Its units with so many digits behind the point, others cut.
    fn cut_to(self, scale: u8) -> Result<i128> {
        let (units, from) = self.number;
        if from <= scale {
            return at_scale(units, from, scale);
        }
        Ok(units / 10_i128.pow(u32::from(from - scale)))
    }

    fn of_operand(value: &Operand<'_>) -> Result<Term> {
        let number = value.units_and_scale()?;
        let told = if let Operand::Quotient(_, digits) = value { digits.told } else { number.1 };
        Ok(Term { number, told })
    }
}

fn arithmetic(
    left: &Operand<'_>,
    right: &Operand<'_>,
    done: impl FnOnce(Term, Term) -> Result<OwnedOperand>,
) -> Result<OwnedOperand> {
    if left.is_null() || right.is_null() {
        return Ok(Operand::Null);
    }
    done(Term::of_operand(left)?, Term::of_operand(right)?)
}

/// Reads a decimal number: sign, digits, point. `None` where it is none or too long.
pub(crate) fn read_decimal(text: &[u8]) -> Option<(i128, u8)> {
    let text = text.trim_ascii();
    let (is_negative, digits) = match text.split_first()? {
        (b'-', digits) => (true, digits),
        (b'+', digits) => (false, digits),
        _ => (false, text),
    };
    let mut units = 0_i128;
    let mut scale = None;
    let mut any = false;
    for byte in digits {
        match byte {
            b'0'..=b'9' => {
                units = units.checked_mul(10)?.checked_add(i128::from(byte - b'0'))?;
                any = true;
                if let Some(scale) = &mut scale {
                    *scale += 1;
                    if *scale > SCALE_TOLD_MOST {
                        return None;
                    }
                }
            }
            b'.' if scale.is_none() => scale = Some(0),
            _ => return None,
        }
    }
    any.then_some((if is_negative { -units } else { units }, scale.unwrap_or(0)))
}

/// As MySQL writes it in its text protocol; nothing for NULL.
impl fmt::Display for Operand<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Operand::Null => Ok(()),
            Operand::Int(number) => number.fmt(f),
            Operand::Quotient(..) => {
                let (units, scale) = self.told_number().unwrap_or_default();
                Operand::Decimal(units, scale).fmt(f)
            }
            Operand::Decimal(units, 0) => units.fmt(f),
            Operand::Decimal(units, scale) => {
                let (one, width) = (10_u128.pow(u32::from(*scale)), usize::from(*scale));
                let sign = if *units < 0 { "-" } else { "" };
                let units = units.unsigned_abs();
                write!(f, "{sign}{}.{:0width$}", units / one, units % one)
            }
            Operand::Text(text) => f.write_str(&String::from_utf8_lossy(text)),
            Operand::Timestamp(us, digits) => time::write(*us, *digits, f),
            Operand::Date(us) => time::write_date(*us, f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decimal(text: &str) -> Operand<'static> {
        let (units, scale) = read_decimal(text.as_bytes()).unwrap();
        Operand::Decimal(units, scale)
    }

    #[test]
    fn numbers_are_exact() {
        let shown = |made: Result<OwnedOperand>| made.unwrap().to_string();
        assert_eq!(shown(add(&decimal("0.10"), &Operand::of_text(b"4937.98"))), "4938.08");
        assert_eq!(shown(subtract(&Operand::Int(1), &decimal("1.005"))), "-0.005");
        assert_eq!(shown(multiply(&Operand::Int(3), &decimal("-2.50"))), "-7.50");
        assert_eq!(shown(divide(&Operand::Int(1), &Operand::Int(3))), "0.3333");
        assert_eq!(shown(divide(&decimal("-10.00"), &decimal("0.6"))), "-16.666667");
        assert_eq!(shown(remainder(&Operand::Int(-7), &Operand::Int(3))), "-1");
        assert_eq!(shown(negate(&decimal("0.05"))), "-0.05");
        assert!(divide(&Operand::Int(1), &Operand::Int(0)).unwrap().is_null());
        assert!(add(&Operand::Int(1), &Operand::Null).unwrap().is_null());
        assert!(multiply(&Operand::Decimal(i128::MAX, 0), &Operand::Int(2)).is_err());
        assert_eq!(shown(add(&Operand::Int(i64::MAX), &Operand::Int(1))), "9223372036854775808");
    }

    #[test]
    fn rounding_is_half_away_from_zero() {
        for (text, scale, units) in
            [("347.00", 0, 347), ("0.5", 0, 1), ("-0.5", 0, -1), ("0.49", 0, 0), ("1.255", 2, 126)]
        {
            let (read, from) = read_decimal(text.as_bytes()).unwrap();
            assert_eq!(round_to_scale(read, from, scale).unwrap(), units);
        }
    }

    #[test]
    fn kinds_meet() {
        let equal = |left: Operand<'_>, right: Operand<'_>| {
            compare_values(&left, &right).unwrap() == Some(Ordering::Equal)
        };
        assert!(equal(Operand::Int(12), decimal("12.00")));
        assert!(equal(Operand::of_text(b" 12.5 "), decimal("12.50")));
        assert!(equal(Operand::Timestamp(0, 0), Operand::of_text(b"1970-01-01")));
        assert!(!equal(Operand::of_text(b"12"), Operand::of_text(b"12.0")));
        assert_eq!(compare_values(&Operand::Null, &Operand::Null).unwrap(), None);
        assert!(compare_values(&Operand::Int(0), &Operand::of_text(b"abc")).is_err());
        assert!(compare_values(&Operand::Timestamp(0, 0), &Operand::of_text(b"today")).is_err());
        assert!(compare_values(&Operand::Timestamp(0, 0), &Operand::Int(1)).is_err());
        assert_eq!(sort_order(&Operand::Null, &Operand::Int(-1)), Ordering::Less);
        assert_eq!(sort_order(&Operand::of_text(b"9"), &Operand::Int(10)), Ordering::Greater);
        let (large, small) = (Operand::Decimal(i128::MAX, 0), Operand::Decimal(1, 30));
        let order = compare_values(&large, &small).unwrap();
        assert_eq!(order, Some(Ordering::Greater), "they have no scale in common");
        assert_eq!(sort_order(&large, &small), Ordering::Greater);
        assert_eq!(sort_order(&small, &large), Ordering::Less);
        assert_eq!(sort_order(&Operand::Decimal(i128::MIN, 0), &small), Ordering::Less);
        for wrong in ["", "-", ".", "1.2.3", "1e5", "0x1"] {
            assert_eq!(read_decimal(wrong.as_bytes()), None, "{wrong}");
        }
    }
}
