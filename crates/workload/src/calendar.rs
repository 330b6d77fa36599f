//! Days and seconds since 1970-01-01 as `2026-11-21 16:34:02`, in the proleptic Gregorian calendar.
//!
//! The arithmetic is that of Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms": years
//! begin in March, so that the day that some of them have more comes last; 400 years have 146 097
//! days.

use crate::text::push_padded;

pub(crate) const SECONDS_PER_DAY: i64 = 86_400;
const DAYS_PER_ERA: i64 = 146_097;
/// Days from 0000-03-01 to 1970-01-01.
const DAYS_TO_1970: i64 = 719_468;

/// The number of a day that is written as `2026-11-21`, years 1000 to 9999: what every server can
/// store.
pub(crate) fn parse_day(text: &str) -> Option<i64> {
    let text = text.trim();
    let mut parts = text.split('-');
    let mut part = |length: usize| -> Option<i64> {
        let digits = parts.next().filter(|part| part.len() == length)?;
        digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok())?
    };
    let (year, month, day) = (part(4)?, part(2)?, part(2)?);
    if text.len() != 10 || year < 1000 || !(1..=12).contains(&month) || day < 1 {
        return None;
    }
    let number = number(year, month, day);
    // The 30th of February would be another day.
    (date(number) == (year, month, day)).then_some(number)
}

fn number(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let of_era = year.rem_euclid(400);
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    year.div_euclid(400) * DAYS_PER_ERA + of_era * 365 + of_era / 4 - of_era / 100 + of_year
        - DAYS_TO_1970
}

fn date(number: i64) -> (i64, i64, i64) {
    let shifted = number + DAYS_TO_1970;
    let day = shifted.rem_euclid(DAYS_PER_ERA);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let of_year = day - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = year + shifted.div_euclid(DAYS_PER_ERA) * 400 + i64::from(month <= 2);
    (year, month, day)
}

/// Appends a day.
pub(crate) fn push_day(buffer: &mut Vec<u8>, number: i64) {
    let (year, month, day) = date(number);
    push_padded(buffer, year as u64, 4);
    buffer.push(b'-');
    push_padded(buffer, month as u64, 2);
    buffer.push(b'-');
    push_padded(buffer, day as u64, 2);
}

/// Appends a day and the time of day.
pub(crate) fn push_second(buffer: &mut Vec<u8>, second: i64) {
    push_day(buffer, second.div_euclid(SECONDS_PER_DAY));
    let time = second.rem_euclid(SECONDS_PER_DAY) as u64;
    for (part, before) in [(time / 3600, b' '), (time / 60 % 60, b':'), (time % 60, b':')] {
        buffer.push(before);
        push_padded(buffer, part, 2);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_those_of_the_calendar() {
        // `date -u -d 2026-11-21 +%s` divided by 86400, and so on.
        for (text, number) in [
            ("1970-01-01", 0),
            ("2026-11-21", 20_778),
            ("2000-02-29", 11_016),
            ("1969-12-31", -1),
            ("1000-01-01", -354_285),
            ("9999-12-31", 2_932_896),
        ] {
            assert_eq!(parse_day(text), Some(number), "{text}");
            let mut buffer = Vec::new();
            push_day(&mut buffer, number);
            assert_eq!(String::from_utf8(buffer).unwrap(), text);
        }
        for wrong in [
            "2026-02-29",
            "2026-13-01",
            "2026-1-01",
            "0999-01-01",
            "2026-11-21x",
            "",
            "2026-11-00",
            "2026-11-+1",
            "é026-01-01",
        ] {
            assert_eq!(parse_day(wrong), None, "{wrong}");
        }
        let mut buffer = Vec::new();
        push_second(&mut buffer, -1);
        assert_eq!(String::from_utf8(buffer).unwrap(), "1969-12-31 23:59:59");
    }
}
