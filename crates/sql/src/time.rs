//! Points in time as text: `2026-11-22 10:30:00`, in UTC.
//!
//! Days are counted as Howard Hinnant does it (`days_from_civil`, chrono-compatible low-level date
//! algorithms): years begin in March, so that the day that comes and goes is the last of a year.

use std::fmt;

const US_PER_DAY: i64 = 86_400 * US_PER_SECOND;
const US_PER_SECOND: i64 = 1_000_000;
const DAYS_PER_ERA: i64 = 146_097;
/// MySQL's last year.
const YEAR_MOST: i64 = 9_999;
/// Days from the first of March of the year 0 to 1970.
const DAYS_TO_1970: i64 = 719_468;

/// Reads a day, or a day and a time with up to six digits behind the second.
pub(crate) fn read(text: &[u8]) -> Option<i64> {
    let text = std::str::from_utf8(text).ok()?.trim_ascii();
    let (day, time) = match text.split_once([' ', 'T']) {
        Some((day, time)) => (day, time),
        None => (text, "00:00:00"),
    };
    let [year, month, day] = fields(day, '-')?;
    let (time, fraction) = time.split_once('.').unwrap_or((time, "0"));
    let [hour, minute, second] = fields(time, ':')?;
    let is_day =
        year <= YEAR_MOST && (1..=12).contains(&month) && (1..=days_of(year, month)).contains(&day);
    if !is_day || hour > 23 || minute > 59 || second > 59 || fraction.len() > 6 {
        return None;
    }
    let us = digits(fraction)? * 10_i64.pow(6 - fraction.len() as u32);
    let seconds = (hour * 60 + minute) * 60 + second;
    Some(days(year, month, day) * US_PER_DAY + seconds * US_PER_SECOND + us)
}

/// Year, month, day, hour, minute, second and microseconds of a point in time.
pub fn parts_of_time(us: i64) -> [u32; 7] {
    let (year, month, day) = civil(us.div_euclid(US_PER_DAY));
    let of_day = us.rem_euclid(US_PER_DAY);
    let seconds = of_day / US_PER_SECOND;
    let (hour, minute, second) = (seconds / 3_600, seconds / 60 % 60, seconds % 60);
    [year, month, day, hour, minute, second, of_day % US_PER_SECOND].map(|part| part as u32)
}

/// Writes a day and a time; what lies behind the second only if there is something.
pub(crate) fn write(us: i64, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let [year, month, day, hour, minute, second, us] = parts_of_time(us);
    write!(f, "{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}")?;
    match us {
        0 => Ok(()),
        us => write!(f, ".{us:06}"),
    }
}

fn fields(text: &str, separator: char) -> Option<[i64; 3]> {
    let mut parts = text.split(separator).map(digits);
    let fields = [parts.next()??, parts.next()??, parts.next()??];
    parts.next().is_none().then_some(fields)
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

fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * DAYS_PER_ERA + day_of_era - DAYS_TO_1970
}

fn civil(days: i64) -> (i64, i64, i64) {
    let days = days + DAYS_TO_1970;
    let era = days.div_euclid(DAYS_PER_ERA);
    let of_era = days.rem_euclid(DAYS_PER_ERA);
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let day_of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    (year, month, day)
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
            assert_eq!(Operand::Timestamp(us).to_string(), text);
        }
        assert_eq!(read(b"1970-01-02"), Some(US_PER_DAY));
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
    fn every_day_of_four_centuries_comes_back() {
        for day in -DAYS_PER_ERA..DAYS_PER_ERA {
            let (year, month, number) = civil(day);
            assert_eq!(days(year, month, number), day);
            assert!((1..=days_of(year, month)).contains(&number));
        }
    }
}
