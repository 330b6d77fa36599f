//! Expressions whose names are resolved, and their values.
//!
//! ```text
//!   ol_o_id >= d_next_o_id - 20      Binary(GreaterEqual, Column(1, 2), Binary(Subtract, …))
//!
//!   Frame ── row of level 1 ─► row of level 0      what an expression is evaluated in
//!     └── parameters · values from outside · answers of sub-queries · groups
//! ```
//!
//! A value borrows from the row or the parameter that it comes from: nothing is copied, and only
//! what makes a new text allocates.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::time::Duration;

use dbdyno_engine::row::RowView;
use dbdyno_engine::value::{Datum, ValueType};

use crate::error::{Result, SqlError};
use crate::operand::{self, Operand, OwnedOperand};
use crate::parse::{Function, Operator};
use crate::watch::StatementWatch;

/// The parameters of one execution.
pub trait Params {
    /// How many there are.
    fn count(&self) -> usize;
    /// The parameter of this number, from 0.
    fn get(&self, index: usize) -> Operand<'_>;
}

/// An expression whose names are resolved.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Expr {
    Constant(OwnedOperand),
    Param(usize),
    /// Level, column, and what the column holds.
    Column(usize, usize, ValueType),
    /// A value that a query in a place of derived rows made: level, column.
    Made(usize, usize),
    /// A value from the query around this one.
    Outer(usize),
    /// A value by which rows are grouped.
    Group(usize),
    Aggregate(usize),
    /// The answer of a sub-query.
    Query(usize),
    Negative(Box<Expr>),
    Not(Box<Expr>),
    Binary(Operator, Box<Expr>, Box<Expr>),
    IsNull(Box<Expr>),
    /// Whether the first is not below the second and not above the third.
    Between(Box<Expr>, Box<Expr>, Box<Expr>),
    In(Box<Expr>, Vec<Expr>),
    InQuery(Box<Expr>, usize),
    Like(Box<Expr>, Box<Expr>),
    Call(Function, Vec<Expr>),
    /// A number of at least so many digits behind the point: those of the values beside it.
    AtScale(Box<Expr>, u8),
    Now,
}

/// What an expression is evaluated in.
#[derive(Clone, Copy)]
pub(crate) struct Frame<'a> {
    pub params: &'a dyn Params,
    /// Microseconds since 1970: the same for all of a statement.
    pub now: i64,
    pub outer: &'a [OwnedOperand],
    pub answers: &'a [Answer],
    pub rows: Option<&'a BoundRow<'a>>,
    pub group: &'a [OwnedOperand],
    pub aggregates: &'a [OwnedOperand],
    pub watch: &'a StatementWatch<'a>,
}

/// The row that a level stands at, and those of the levels before it.
#[derive(Clone, Copy)]
pub(crate) struct BoundRow<'a> {
    pub level: usize,
    pub row: LevelRow<'a>,
    pub before: Option<&'a BoundRow<'a>>,
}

/// A row of a level.
#[derive(Clone, Copy)]
pub(crate) enum LevelRow<'a> {
    /// No row of the right side of a LEFT JOIN: all NULL.
    Missing,
    Stored(RowView<'a>),
    Made(&'a [OwnedOperand]),
}

/// What a sub-query answered.
#[derive(Clone, Debug)]
pub(crate) enum Answer {
    /// Its one value.
    Value(OwnedOperand),
    /// Its values in order, without repetition.
    Set(Vec<OwnedOperand>),
}

impl Expr {
    /// Calls `look` with this expression and all within it.
    pub(crate) fn visit_parts(&self, look: &mut dyn FnMut(&Expr)) {
        look(self);
        match self {
            Expr::Constant(_)
            | Expr::Param(_)
            | Expr::Column(..)
            | Expr::Made(..)
            | Expr::Outer(_)
            | Expr::Group(_)
            | Expr::Aggregate(_)
            | Expr::Query(_)
            | Expr::Now => {}
            Expr::Negative(of)
            | Expr::Not(of)
            | Expr::IsNull(of)
            | Expr::InQuery(of, _)
            | Expr::AtScale(of, _) => of.visit_parts(look),
            Expr::Binary(_, left, right) | Expr::Like(left, right) => {
                left.visit_parts(look);
                right.visit_parts(look);
            }
            Expr::Between(of, low, high) => {
                [of, low, high].into_iter().for_each(|one| one.visit_parts(look));
            }
            Expr::In(of, list) => {
                of.visit_parts(look);
                list.iter().for_each(|one| one.visit_parts(look));
            }
            Expr::Call(_, arguments) => arguments.iter().for_each(|one| one.visit_parts(look)),
        }
    }

    /// Its value.
    pub(crate) fn value<'a>(&'a self, frame: &Frame<'a>) -> Result<Operand<'a>> {
        Ok(match self {
            Expr::Constant(value) => value.as_ref(),
            Expr::Param(index) => frame.params.get(*index),
            Expr::Column(level, column, kind) => match frame.row(*level) {
                LevelRow::Stored(row) => of_datum(row.get(*column), *kind),
                LevelRow::Missing => Operand::Null,
                LevelRow::Made(_) => unreachable!("a column of a table in a row that was made"),
            },
            Expr::Made(level, column) => match frame.row(*level) {
                LevelRow::Made(row) => row[*column].as_ref(),
                LevelRow::Missing => Operand::Null,
                LevelRow::Stored(_) => unreachable!("a column that was made in a row of a table"),
            },
            Expr::Outer(index) => frame.outer[*index].as_ref(),
            Expr::Group(index) => frame.group[*index].as_ref(),
            Expr::Aggregate(index) => frame.aggregates[*index].as_ref(),
            Expr::Query(index) => match &frame.answers[*index] {
                Answer::Value(value) => value.as_ref(),
                Answer::Set(_) => unreachable!("a set where a value is asked for"),
            },
            Expr::Negative(of) => operand::negate(&of.value(frame)?)?,
            Expr::Not(of) => Operand::of_bool(of.value(frame)?.truth_value()?.map(|truth| !truth)),
            Expr::Binary(operator, left, right) => binary(*operator, left, right, frame)?,
            Expr::IsNull(of) => Operand::of_bool(Some(of.value(frame)?.is_null())),
            Expr::Between(of, low, high) => is_between(of, [low, high], frame)?,
            Expr::In(of, list) => is_in(of, list, frame)?,
            Expr::InQuery(of, index) => is_answer(of, &frame.answers[*index], frame)?,
            Expr::Like(of, pattern) => is_like(of, pattern, frame)?,
            Expr::Call(function, arguments) => call(*function, arguments, frame)?,
            Expr::AtScale(of, scale) => operand::with_scale(of.value(frame)?, *scale),
            Expr::Now => Operand::Timestamp(frame.now, 0),
        })
    }

    /// Whether it holds: unknown does not.
    pub(crate) fn is_true(&self, frame: &Frame<'_>) -> Result<bool> {
        Ok(self.value(frame)?.truth_value()? == Some(true))
    }
}

/// Whether all of these hold.
pub(crate) fn all_hold(conditions: &[Expr], frame: &Frame<'_>) -> Result<bool> {
    for condition in conditions {
        if !condition.is_true(frame)? {
            return Ok(false);
        }
    }
    Ok(true)
}

impl<'a> Frame<'a> {
    /// The same with one row more.
    pub(crate) fn with_row<'b>(&self, rows: &'b BoundRow<'b>) -> Frame<'b>
    where
        'a: 'b,
    {
        Frame { rows: Some(rows), ..*self }
    }

    fn row(&self, level: usize) -> LevelRow<'a> {
        let mut at = self.rows;
        while let Some(bound) = at {
            if bound.level == level {
                return bound.row;
            }
            at = bound.before;
        }
        unreachable!("an expression is evaluated where all that it refers to is bound")
    }
}

/// What the engine holds, with the scale that it belongs to.
pub(crate) fn of_datum(datum: Datum<'_>, kind: ValueType) -> Operand<'_> {
    match (datum, kind) {
        (Datum::Null, _) => Operand::Null,
        (Datum::Int(number), _) => Operand::Int(number),
        (Datum::Decimal(units), ValueType::Decimal { scale, .. }) => {
            Operand::Decimal(i128::from(units), scale)
        }
        (Datum::Decimal(units), _) => Operand::Decimal(i128::from(units), 0),
        (Datum::Text(bytes), _) => Operand::of_text(bytes),
        (Datum::Timestamp(us), ValueType::Date) => Operand::Date(us),
        (Datum::Timestamp(us), ValueType::Timestamp { digits }) => Operand::Timestamp(us, digits),
        (Datum::Timestamp(us), _) => Operand::Timestamp(us, 6),
    }
}

fn binary<'a>(
    operator: Operator,
    left: &'a Expr,
    right: &'a Expr,
    frame: &Frame<'a>,
) -> Result<Operand<'a>> {
    if let Operator::And | Operator::Or = operator {
        // What decides: false for AND, true for OR.
        let decides = Some(operator == Operator::Or);
        let left = left.value(frame)?.truth_value()?;
        if left == decides {
            return Ok(Operand::of_bool(decides));
        }
        let right = right.value(frame)?.truth_value()?;
        let is_unknown = right != decides && (left.is_none() || right.is_none());
        return Ok(Operand::of_bool(if is_unknown { None } else { right }));
    }
    let (left, right) = (left.value(frame)?, right.value(frame)?);
    let compared = |is: fn(Ordering) -> bool| {
        Ok(Operand::of_bool(operand::compare_values(&left, &right)?.map(is)))
    };
    match operator {
        Operator::Equal => compared(Ordering::is_eq),
        Operator::Unequal => compared(Ordering::is_ne),
        Operator::Less => compared(Ordering::is_lt),
        Operator::LessEqual => compared(Ordering::is_le),
        Operator::Greater => compared(Ordering::is_gt),
        Operator::GreaterEqual => compared(Ordering::is_ge),
        Operator::Add => operand::add(&left, &right),
        Operator::Subtract => operand::subtract(&left, &right),
        Operator::Multiply => operand::multiply(&left, &right),
        Operator::Divide | Operator::Remainder => {
            let made = match operator {
                Operator::Divide => operand::divide(&left, &right),
                _ => operand::remainder(&left, &right),
            }?;
            // A question has NULL there.
            let is_by_zero = made.is_null() && !left.is_null() && !right.is_null();
            if is_by_zero && !frame.watch.reads_only() {
                return Err(SqlError::DivisionByZero);
            }
            Ok(made)
        }
        Operator::And | Operator::Or => unreachable!("above"),
    }
}

fn is_between<'a>(
    of: &'a Expr,
    [low, high]: [&'a Expr; 2],
    frame: &Frame<'a>,
) -> Result<Operand<'a>> {
    let of = of.value(frame)?;
    let is_above = operand::compare_values(&of, &low.value(frame)?)?.map(Ordering::is_ge);
    let is_below = operand::compare_values(&of, &high.value(frame)?)?.map(Ordering::is_le);
    Ok(Operand::of_bool(match (is_above, is_below) {
        (Some(false), _) | (_, Some(false)) => Some(false),
        (Some(true), Some(true)) => Some(true),
        _ => None,
    }))
}

fn is_in<'a>(of: &'a Expr, list: &'a [Expr], frame: &Frame<'a>) -> Result<Operand<'a>> {
    let of = of.value(frame)?;
    let mut is_unknown = of.is_null();
    for one in list {
        match operand::compare_values(&of, &one.value(frame)?)? {
            Some(Ordering::Equal) => return Ok(Operand::of_bool(Some(true))),
            Some(_) => {}
            None => is_unknown = true,
        }
    }
    Ok(Operand::of_bool(if is_unknown { None } else { Some(false) }))
}

fn is_answer<'a>(of: &'a Expr, answer: &'a Answer, frame: &Frame<'a>) -> Result<Operand<'a>> {
    let Answer::Set(set) = answer else { unreachable!("a value where a set is asked for") };
    let of = of.value(frame)?;
    if set.is_empty() {
        return Ok(Operand::of_bool(Some(false)));
    }
    if of.is_null() {
        return Ok(Operand::Null);
    }
    // They are in order, so that all are of the kind of the first and the last.
    let values = if set[0].is_null() { &set[1..] } else { set };
    let ends = [values.first(), values.last()].into_iter().flatten();
    let found = if ends.into_iter().all(|end| end.kind() == of.kind()) {
        values.binary_search_by(|one| operand::exact_order(one, &of)).is_ok()
    } else {
        let mut found = false;
        for one in values {
            found |= operand::compare_values(one, &of)? == Some(Ordering::Equal);
        }
        found
    };
    // NULL comes first.
    let is_unknown = !found && set[0].is_null();
    Ok(Operand::of_bool(if is_unknown { None } else { Some(found) }))
}

fn is_like<'a>(of: &'a Expr, pattern: &'a Expr, frame: &Frame<'a>) -> Result<Operand<'a>> {
    let (of, pattern) = (characters(of.value(frame)?), characters(pattern.value(frame)?));
    Ok(Operand::of_bool(match (of, pattern) {
        (Some(of), Some(pattern)) => Some(matches_pattern(&of, &pattern)),
        _ => None,
    }))
}

/// Whether a text is of a form: `%` stands for anything, `_` for one character of UTF-8, and a
/// backslash takes what follows as it is. Goes back to the last `%` only, so the time is bounded by
/// the product.
pub(crate) fn matches_pattern(text: &[u8], pattern: &[u8]) -> bool {
    let (mut at, mut in_pattern) = (0, 0);
    let mut back: Option<(usize, usize)> = None;
    while at < text.len() {
        let step = match pattern.get(in_pattern) {
            Some(b'%') => {
                back = Some((at, in_pattern + 1));
                in_pattern += 1;
                continue;
            }
            Some(b'_') => {
                at += character_bytes(&text[at..]);
                in_pattern += 1;
                continue;
            }
            Some(b'\\') if in_pattern + 1 < pattern.len() => {
                (pattern[in_pattern + 1] == text[at]).then_some(2)
            }
            Some(byte) => (*byte == text[at]).then_some(1),
            None => None,
        };
        match (step, back) {
            (Some(step), _) => {
                at += 1;
                in_pattern += step;
            }
            (None, Some((from, after))) => {
                at = from + character_bytes(&text[from..]);
                in_pattern = after;
                back = Some((at, after));
            }
            (None, None) => return false,
        }
    }
    pattern[in_pattern..].iter().all(|byte| *byte == b'%')
}

/// Bytes of the first character of a text, as its first byte tells.
fn character_bytes(text: &[u8]) -> usize {
    let bytes = match text.first() {
        Some(0xF0..) => 4,
        Some(0xE0..) => 3,
        Some(0xC0..) => 2,
        _ => 1,
    };
    bytes.min(text.len())
}

/// A value as the characters that it is shown as; `None` for NULL.
fn characters(value: Operand<'_>) -> Option<Cow<'_, [u8]>> {
    match value {
        Operand::Null => None,
        Operand::Text(text) => Some(text),
        other => Some(Cow::Owned(other.to_string().into_bytes())),
    }
}

fn call<'a>(function: Function, of: &'a [Expr], frame: &Frame<'a>) -> Result<Operand<'a>> {
    match function {
        Function::Coalesce => {
            for argument in of {
                let value = argument.value(frame)?;
                if !value.is_null() {
                    return Ok(value);
                }
            }
            Ok(Operand::Null)
        }
        Function::Concat => {
            let mut all = Vec::new();
            for argument in of {
                let Some(text) = characters(argument.value(frame)?) else {
                    return Ok(Operand::Null);
                };
                all.extend_from_slice(&text);
            }
            Ok(Operand::Text(Cow::Owned(all)))
        }
        Function::Abs => match of[0].value(frame)? {
            Operand::Null => Ok(Operand::Null),
            value if value.units_and_scale()?.0 < 0 => operand::negate(&value),
            value => Ok(value),
        },
        Function::Right => right(of[0].value(frame)?, &of[1].value(frame)?),
        Function::Sleep => {
            frame.watch.sleep(seconds(&of[0].value(frame)?)?)?;
            Ok(Operand::Int(0))
        }
        Function::Length | Function::Lower | Function::Upper => {
            let Some(mut text) = characters(of[0].value(frame)?) else {
                return Ok(Operand::Null);
            };
            match function {
                Function::Length => {
                    let length = i64::try_from(text.len());
                    return length
                        .map(Operand::Int)
                        .map_err(|_| SqlError::Value("a text that is too long".to_owned()));
                }
                Function::Lower if text.is_ascii() => text.to_mut().make_ascii_lowercase(),
                Function::Upper if text.is_ascii() => text.to_mut().make_ascii_uppercase(),
                _ => text = Cow::Owned(in_case(&text, function).into_bytes()),
            }
            Ok(Operand::Text(text))
        }
    }
}

/// The last characters of a text.
fn right<'a>(text: Operand<'a>, count: &Operand<'_>) -> Result<Operand<'a>> {
    let Some(text) = characters(text).filter(|_| !count.is_null()) else {
        return Ok(Operand::Null);
    };
    let (count, 0) = count.units_and_scale()? else {
        return Err(SqlError::Value("a length that is no whole number".to_owned()));
    };
    let wanted = usize::try_from(count.max(0)).unwrap_or(usize::MAX);
    // Characters begin with bytes that are not 10xxxxxx.
    let begins = (0..text.len()).rev().filter(|at| text[*at] & 0xc0 != 0x80);
    let start = begins.take(wanted).last().unwrap_or(text.len());
    Ok(Operand::Text(Cow::Owned(text[start..].to_vec())))
}

/// A text in small or capital letters, one for each as MySQL has them: `ß` has no capital letter.
fn in_case(text: &[u8], function: Function) -> String {
    let mut cased = String::new();
    for character in String::from_utf8_lossy(text).chars() {
        let mut upper = character.to_uppercase();
        cased.push(match function {
            Function::Lower => character.to_lowercase().next().unwrap_or(character),
            _ if upper.len() == 1 => upper.next().unwrap_or(character),
            _ => character,
        });
    }
    cased
}

/// What SLEEP takes: seconds, not below zero, up to an hour.
fn seconds(value: &Operand<'_>) -> Result<Duration> {
    const MOST: f64 = 3_600.0;
    let wrong = || SqlError::Value(format!("a time to sleep that is not 0 to {MOST} seconds"));
    if value.is_null() {
        return Err(wrong());
    }
    let (units, scale) = value.units_and_scale()?;
    let seconds = units as f64 / 10_f64.powi(i32::from(scale));
    let seconds = Some(seconds).filter(|seconds| (0.0..=MOST).contains(seconds));
    seconds.map(Duration::from_secs_f64).ok_or_else(wrong)
}

/// No parameters.
impl Params for [Operand<'_>; 0] {
    fn count(&self) -> usize {
        0
    }
    fn get(&self, _index: usize) -> Operand<'_> {
        unreachable!("there are none")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_to_sleep_is_a_time() {
        let asked = |units, scale| seconds(&Operand::Decimal(units, scale));
        assert_eq!(asked(1, 3).unwrap(), Duration::from_millis(1));
        assert_eq!(asked(0, 0).unwrap(), Duration::ZERO);
        for wrong in [asked(-1, 3), asked(3_601, 0), seconds(&Operand::Null)] {
            assert!(matches!(wrong, Err(SqlError::Value(_))), "{wrong:?}");
        }
    }

    #[test]
    fn forms_match_as_sql_has_them() {
        for (text, pattern, is) in [
            ("abc", "abc", true),
            ("abc", "a%", true),
            ("abc", "%c", true),
            ("abc", "%b%", true),
            ("abc", "_b_", true),
            ("abc", "_b", false),
            ("abc", "", false),
            ("", "%", true),
            ("aXbXc", "a%X%c", true),
            ("aab", "%ab", true),
            ("50%", r"50\%", true),
            ("501", r"50\%", false),
        ] {
            assert_eq!(
                matches_pattern(text.as_bytes(), pattern.as_bytes()),
                is,
                "{text} LIKE {pattern}"
            );
        }
    }
}
