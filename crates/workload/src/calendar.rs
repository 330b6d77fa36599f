//! Days and seconds since 1970-01-01 as `2026-11-21 16:34:02`, in the proleptic Gregorian calendar.

use dbdyno_model::calendar::{SECONDS_PER_DAY, date_of_days, days_of_date};

use crate::text::push_padded;

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
    let number = days_of_date(year, month, day);
    // The 30th of February would be another day.
    (date_of_days(number) == (year, month, day)).then_some(number)
}

/// Appends a day.
pub(crate) fn push_day(buffer: &mut Vec<u8>, number: i64) {
    let (year, month, day) = date_of_days(number);
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
