//! Points in time as text: `2026-11-22 10:30:00`, in UTC.

use std::fmt;

use dbdyno_engine::value::US_PER_DAY;
use dbdyno_model::calendar::{date_of_days, days_of_date};

const US_PER_SECOND: i64 = 1_000_000;
/// MySQL's last year.
const YEAR_MOST: i64 = 9_999;
/// Years of two digits from here on are those of the last century.
const SHORT_YEAR_SPLIT: i64 = 70;

/// Reads a day, or a day and a time; of the digits behind the second the seventh decides how the
/// sixth is rounded, as in MySQL.
pub(crate) fn read(text: &[u8]) -> Option<i64> {
    let text = std::str::from_utf8(text).ok()?.trim_ascii();
    let (day, time) = match text.split_once([' ', 'T']) {
        Some((day, time)) => (day, time),
        None => (text, "00:00:00"),
    };
    let [year, month, day] = fields(day, '-')?;
    let year = if has_short_year(text) {
        year + if year < SHORT_YEAR_SPLIT { 2_000 } else { 1_900 }
    } else {
        year
    };
    let (time, fraction) = time.split_once('.').unwrap_or((time, "0"));
    let [hour, minute, second] = fields(time, ':')?;
    let is_day =
        year <= YEAR_MOST && (1..=12).contains(&month) && (1..=days_of(year, month)).contains(&day);
    if !is_day || hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    let us = microseconds(fraction)?;
    let seconds = (hour * 60 + minute) * 60 + second;
    Some(days_of_date(year, month, day) * US_PER_DAY + seconds * US_PER_SECOND + us)
}

/// Year, month, day, hour, minute, second and microseconds of a point in time.
pub fn parts_of_time(us: i64) -> [u32; 7] {
    let (year, month, day) = date_of_days(us.div_euclid(US_PER_DAY));
    let of_day = us.rem_euclid(US_PER_DAY);
    let seconds = of_day / US_PER_SECOND;
    let (hour, minute, second) = (seconds / 3_600, seconds / 60 % 60, seconds % 60);
    [year, month, day, hour, minute, second, of_day % US_PER_SECOND].map(|part| part as u32)
}

/// Writes a day and a time with so many digits behind the second, at most six.
pub(crate) fn write(us: i64, digits: u8, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let [year, month, day, hour, minute, second, us] = parts_of_time(us);
    write!(f, "{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}")?;
    match digits {
        0 => Ok(()),
        _ => {
            let width = usize::from(digits);
            write!(f, ".{:0width$}", us / 10_u32.pow(6_u32.saturating_sub(digits.into())))
        }
    }
}

/// Writes a day.
pub(crate) fn write_date(us: i64, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let [year, month, day, ..] = parts_of_time(us);
    write!(f, "{year:04}-{month:02}-{day:02}")
}

/// The point in time with so many digits behind the second that is nearest to this one; halves go
/// up. `None` beyond MySQL's last year.
pub(crate) fn round_to_digits(us: i64, digits: u8) -> Option<i64> {
    let unit = 10_i64.pow(6_u32.saturating_sub(digits.into()));
    let rounded =
        us.div_euclid(unit) * unit + if us.rem_euclid(unit) * 2 >= unit { unit } else { 0 };
    (parts_of_time(rounded)[0] <= YEAR_MOST as u32).then_some(rounded)
}

/// The beginning of the day of a point in time, which is rounded to a second before.
pub(crate) fn day_of(us: i64) -> Option<i64> {
    round_to_digits(us, 0).map(|us| us - us.rem_euclid(US_PER_DAY))
}

/// Microseconds of the digits behind a second.
fn microseconds(fraction: &str) -> Option<i64> {
    if fraction.is_empty() || !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let digits = fraction.bytes().map(|digit| i64::from(digit - b'0'));
    let mut digits = digits.chain(std::iter::repeat(0));
    let us = digits.by_ref().take(6).fold(0, |us, digit| us * 10 + digit);
    Some(us + i64::from(digits.next() >= Some(5)))
}

fn fields(text: &str, separator: char) -> Option<[i64; 3]> {
    let mut parts = text.split(separator).map(digits);
    let fields = [parts.next()??, parts.next()??, parts.next()??];
    parts.next().is_none().then_some(fields)
}

/// Whether a year has at most two digits.
fn has_short_year(text: &str) -> bool {
    text.split_once('-').is_some_and(|(year, _)| year.len() <= 2)
}

fn digits(text: &str) -> Option<i64> {
    let is_number = (1..=6).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit());
    if is_number { text.parse().ok() } else { None }
}

fn days_of(year: i64, month: i64) -> i64 {
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    match month {
        4 | 6 | 9 | 11 => 30,
        2 if is_leap => 29,
        2 => 28,
        _ => 31,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operand::Operand;

    #[test]
    fn times_are_read_as_they_are_written() {
        for (text, us) in [
            ("1970-01-01 00:00:00", 0),
            ("2000-02-29 23:59:59", 951_868_799_000_000),
            ("2026-11-22 10:30:00.000001", 1_795_343_400_000_001),
            ("1969-12-31 23:59:59", -1_000_000),
            ("0001-01-01 00:00:00", -62_135_596_800_000_000),
        ] {
            assert_eq!(read(text.as_bytes()), Some(us), "{text}");
            let digits = if text.contains('.') { 6 } else { 0 };
            assert_eq!(Operand::Timestamp(us, digits).to_string(), text);
        }
        assert_eq!(read(b"1970-01-02"), Some(US_PER_DAY));
        // MySQL 8.0.33.
        for (short, long) in [("99-12-31", "1999-12-31"), ("70-01-01", "1970-01-01")] {
            assert_eq!(read(short.as_bytes()), read(long.as_bytes()), "{short}");
        }
        assert_eq!(read(b"20-01-02 03:04:05"), read(b"2020-01-02 03:04:05"));
        assert_eq!(read(b"69-01-01"), read(b"2069-01-01"));
        assert_eq!(read(b"9999-12-31 23:59:59.999999"), Some(253_402_300_799_999_999));
        assert_eq!(read(b"999999-12-31"), None, "more microseconds than 64 bits have room for");
        assert_eq!(read(b"1970-01-01T00:00:00.5"), Some(500_000));
        for wrong in
            ["", "2025-02-29", "2025-13-01", "2025-01-01 24:00:00", "1-2", "x-01-01", "10000-01-01"]
        {
            assert_eq!(read(wrong.as_bytes()), None, "{wrong}");
        }
    }

    #[test]
    fn a_day_of_the_calendar_is_one_of_its_month() {
        for day in -146_097..146_097 {
            let (year, month, number) = date_of_days(day);
            assert!((1..=days_of(year, month)).contains(&number));
        }
    }
}
