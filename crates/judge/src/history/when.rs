//! Times as people and programs write them.
//!
//! ```text
//!   1700000000 · 1700000000123 · 2024-01-31 · 2024-01-31T12:00:59.5Z · 2024.01.01 3:00:00 +0100
//!   20240131 · 31.01.2024 · 31-Jan-2024 · Wed, 31 Jan 2024 12:00:59 CET · Jan 31, 2024 3:00 PM
//!   1/9/2024                                           ◀── of January or of September
//! ```
//!
//! Whole numbers are seconds, milliseconds, microseconds or nanoseconds since 1970, by their size.
//! Without a zone times are taken as UTC. Points stand between day, month and year in this order;
//! of strokes and dashes nobody can say it, so that both readings are told.

/// What a text may mean, in milliseconds since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Moment {
    /// That.
    At(i64),
    /// That with the day first, or with the month first; `None` where the calendar has no such day.
    Either { day_first: Option<i64>, month_first: Option<i64> },
}

const DAY_MS: i64 = 86_400_000;
const MONTHS: [&str; 12] =
    ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const WEEKDAYS: [&str; 7] = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];
/// Zones by name, in minutes east of UTC. CST and IST are each those of several countries.
const ZONES: [(&str, i64); 17] = [
    ("Z", 0),
    ("UTC", 0),
    ("GMT", 0),
    ("WET", 0),
    ("WEST", 60),
    ("CET", 60),
    ("CEST", 120),
    ("EET", 120),
    ("EEST", 180),
    ("MSK", 180),
    ("JST", 540),
    ("EST", -300),
    ("EDT", -240),
    ("MST", -420),
    ("MDT", -360),
    ("PST", -480),
    ("PDT", -420),
];

/// What a text may mean; `None` for what is no time.
pub(super) fn parse(text: &str) -> Option<Moment> {
    let text = text.trim();
    if let Some(day) = of_eight_digits(text) {
        return Some(Moment::At(day * DAY_MS));
    }
    if let Ok(number) = text.parse::<f64>() {
        return of_number(number).map(Moment::At);
    }
    if let Some((day, rest)) = with_a_name(text) {
        return Some(Moment::At(day * DAY_MS + of_day(&rest)?));
    }
    let (date, rest) = text.split_once(['T', 't', ' ']).unwrap_or((text, ""));
    let ms = of_day(rest.trim())?;
    let at = |day: i64| day * DAY_MS + ms;
    let [first, second, third] = numbers(date)?;
    if first > 31 {
        return days(first, second, third).map(at).map(Moment::At);
    }
    let (day_first, month_first) = (days(third, second, first), days(third, first, second));
    match (day_first.map(at), month_first.map(at)) {
        (None, None) => None,
        (day_first, _) if date.contains('.') => day_first.map(Moment::At),
        (Some(day), Some(month)) if day == month => Some(Moment::At(day)),
        (day_first, month_first) => Some(Moment::Either { day_first, month_first }),
    }
}

/// `20240131`
fn of_eight_digits(text: &str) -> Option<i64> {
    let is_plain = text.len() == 8 && text.bytes().all(|byte| byte.is_ascii_digit());
    let part = |from: usize, to: usize| text.get(from..to)?.parse().ok();
    let year = part(0, 4).filter(|year| is_plain && (1970..2200).contains(year))?;
    days(year, part(4, 6)?, part(6, 8)?)
}

/// A date whose month has a name, and what else there is: time and zone.
fn with_a_name(text: &str) -> Option<(i64, String)> {
    let (mut month, mut day, mut year, mut rest) = (None, None, None, Vec::new());
    // Dashes part a date and not a zone.
    let spread = text.split_once(' ').unwrap_or((text, ""));
    let spread = format!("{} {}", spread.0.replace('-', " "), spread.1);
    for word in spread.split([' ', ',']).filter(|word| !word.is_empty()) {
        let small = word.to_ascii_lowercase();
        let begins = |names: &[&str]| names.iter().position(|name| small.starts_with(name));
        let is_word = small.bytes().all(|byte| byte.is_ascii_alphabetic());
        let number = word.parse::<i64>().ok().filter(|_| word.len() <= 4 && !word.starts_with('+'));
        match number {
            Some(number) if number > 31 && year.is_none() => year = Some(number),
            Some(number) if day.is_none() => day = Some(number),
            _ if is_word && month.is_none() && begins(&MONTHS).is_some() => {
                month = begins(&MONTHS).map(|at| at as i64 + 1);
            }
            _ if is_word && begins(&WEEKDAYS).is_some() => {}
            _ => rest.push(word),
        }
    }
    Some((days(year?, month?, day?)?, rest.join(" ")))
}

/// Milliseconds from midnight UTC of the day; 0 where no time is told.
fn of_day(text: &str) -> Option<i64> {
    let (time, zone_minutes) = zone(text)?;
    let half = ["AM", "PM", "am", "pm"].iter().find_map(|half| {
        Some((time.strip_suffix(half)?.trim_end(), half.eq_ignore_ascii_case("pm")))
    });
    let (time, is_afternoon) = half.unwrap_or((time, false));
    let ms = if time.is_empty() { 0 } else { milliseconds(time)? };
    let hours = match half.map(|_| ms / 3_600_000) {
        Some(hours) if !(1..=12).contains(&hours) => return None,
        Some(12) if !is_afternoon => -12,
        Some(hours) if is_afternoon && hours < 12 => 12,
        _ => 0,
    };
    Some(ms + hours * 3_600_000 - zone_minutes * 60_000)
}

/// From 1973 on in each unit, and not before.
fn of_number(number: f64) -> Option<i64> {
    const UNITS: [(f64, f64, f64); 4] =
        [(1e8, 1e11, 1e3), (1e11, 1e14, 1.0), (1e14, 1e17, 1e-3), (1e17, 9.3e18, 1e-6)];
    let of_unit = |&&(from, to, _): &&(f64, f64, f64)| (from..to).contains(&number);
    UNITS.iter().find(of_unit).map(|&(_, _, ms)| (number * ms).round() as i64)
}

/// The three numbers of a date. One of the outer two is a year of four digits.
fn numbers(date: &str) -> Option<[i64; 3]> {
    let separator = date.chars().find(|c| ['-', '.', '/'].contains(c))?;
    let parts: Vec<&str> = date.split(separator).collect();
    let [first, second, third] = parts[..] else { return None };
    let number = |text: &str| {
        let is_plain = (1..=4).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit());
        text.parse::<i64>().ok().filter(|_| is_plain)
    };
    let has_year = first.len() == 4 || third.len() == 4;
    has_year.then_some([number(first)?, number(second)?, number(third)?])
}

/// Days since 1970-01-01, after Howard Hinnant's `days_from_civil`.
fn days(year: i64, month: i64, day: i64) -> Option<i64> {
    let is_known = (1970..=9999).contains(&year) && (1..=12).contains(&month);
    if !is_known || !(1..=31).contains(&day) {
        return None;
    }
    // Years begin in March, so that a leap day is the last one; eras have 400 years.
    let shifted = if month <= 2 { year - 1 } else { year };
    let (era, year_of_era) = (shifted / 400, shifted % 400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    Some(era * 146_097 + day_of_era - 719_468)
}

/// The time without its zone, and the zone in minutes east of UTC.
fn zone(text: &str) -> Option<(&str, i64)> {
    for (name, minutes) in ZONES {
        let at = text.len().saturating_sub(name.len());
        let named = text.get(at..).filter(|end| end.eq_ignore_ascii_case(name));
        let before = named.map(|_| text[..at].trim_end());
        if let Some(time) = before.filter(|time| !time.ends_with(char::is_alphabetic)) {
            return Some((time, minutes));
        }
    }
    let Some(at) = text.rfind(['+', '-']) else { return Some((text, 0)) };
    let digits: String = text[at + 1..].chars().filter(|&c| c != ':').collect();
    if !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let (hours, minutes) = match digits.len() {
        1 | 2 => (digits.parse::<i64>().ok()?, 0),
        4 => (digits[..2].parse().ok()?, digits[2..].parse().ok()?),
        _ => return None,
    };
    let sign = if text[at..].starts_with('-') { -1 } else { 1 };
    let is_sound = hours <= 14 && minutes < 60;
    is_sound.then(|| (text[..at].trim_end(), sign * (60 * hours + minutes)))
}

fn milliseconds(time: &str) -> Option<i64> {
    let parts: Vec<&str> = time.split(':').collect();
    let number = |text: &str, below: f64| {
        let is_plain = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit() || b == b'.');
        text.parse::<f64>().ok().filter(|&number| is_plain && number < below)
    };
    let (hours, minutes, seconds) = match parts[..] {
        [hours, minutes] => (number(hours, 25.0)?, number(minutes, 60.0)?, 0.0),
        [hours, minutes, seconds] => {
            (number(hours, 25.0)?, number(minutes, 60.0)?, number(seconds, 61.0)?)
        }
        _ => return None,
    };
    Some((hours * 3.6e6 + minutes * 6e4 + seconds * 1e3).round() as i64)
}

#[cfg(test)]
mod tests {
    use super::{Moment, parse};

    /// Expected values from `date -u -d TIME +%s`.
    #[test]
    fn times_agree_with_the_calendar() {
        for (text, ms) in [
            ("1970-01-01", 0),
            ("2000-02-28 23:59:59.999", 951_782_399_999),
            ("2026-10-29T12:33:07Z", 1_793_277_187_000),
            ("2100/03/01", 4_107_542_400_000),
            ("2024.01.01 3:00:00 +0100", 1_704_074_400_000),
            ("2024-01-01T03:00-05:30", 1_704_097_800_000),
            ("1704074400", 1_704_074_400_000),
            ("1704074400123", 1_704_074_400_123),
            ("1704074400123000000", 1_704_074_400_123),
        ] {
            assert_eq!(parse(text), Some(Moment::At(ms)), "{text}");
        }
    }

    #[test]
    fn dates_are_read_as_people_write_them() {
        const NINTH_MS: i64 = 1_767_916_800_000;
        const HOUR_MS: i64 = 3_600_000;
        for (text, hours) in [
            ("20260109", 0),
            ("09.01.2026", 0),
            ("9.1.2026 13:00", 13),
            ("09-Jan-2026", 0),
            ("9 January 2026", 0),
            ("Fri, 09 Jan 2026 12:00:00 +0200", 10),
            ("Fri Jan  9 12:00:00 2026", 12),
            ("Jan 9, 2026 3:00 PM", 15),
            ("2026-01-09 12:30 am", 0),
            ("2026-01-09 12:00:00 CET", 11),
            ("2026-01-09 12:00:00 pdt", 19),
            ("2026-01-09T12:00:00z", 12),
        ] {
            let minutes = if text.contains("30 am") { HOUR_MS / 2 } else { 0 };
            let ms = NINTH_MS + hours * HOUR_MS + minutes;
            assert_eq!(parse(text), Some(Moment::At(ms)), "{text}");
        }
        let either =
            Moment::Either { day_first: Some(NINTH_MS), month_first: Some(1_788_220_800_000) };
        assert_eq!(parse("9/1/2026"), Some(either));
        let (day_first, month_first) = (None, Some(NINTH_MS + 11 * 24 * HOUR_MS));
        assert_eq!(parse("1/20/2026"), Some(Moment::Either { day_first, month_first }));
        assert_eq!(parse("1/1/2026"), Some(Moment::At(NINTH_MS - 8 * 24 * HOUR_MS)));
    }

    #[test]
    fn what_is_no_time_is_none() {
        for text in [
            "",
            "yesterday",
            "2024",
            "3",
            "2024-13-01",
            "2024-01",
            "1-2-3",
            "2024-01-01 25h",
            "2024-01-01 aa:bb",
            "2024-01-01 10:00+abc",
            "2024-01-01 10:00:00 +99",
            "-",
            "T",
            "é-é-é",
            "nan",
            "1e400",
            "20261309",
            "13/13/2026",
            "1/9/26",
            "Jan 9",
            "2026-01-09 12:00 CST",
            "2026-01-09 13:00 PM",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
