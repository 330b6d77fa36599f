//! Times as people and programs write them.
//!
//! ```text
//!   1700000000 · 1700000000123 · 2024-01-31 · 2024-01-31T12:00:59.5Z · 2024.01.01 3:00:00 +0100
//!   20240131 · 20240131120059 · 2024-01-31_12-00-59
//!   31.01.2024 · 31-Jan-2024 · Wed, 31 Jan 2024 12:00:59 CET · Jan 31, 2024 3:00 PM
//!   2024-03 · Mar 2024 · 2024-W09 · 2024-Q1            ◀── the first day of it
//!   1/9/2024 · 01/09/24                                ◀── of January or of September, or of 2001
//! ```
//!
//! Whole numbers are seconds, milliseconds, microseconds or nanoseconds since 1970, by their size.
//! Without a zone times are taken as UTC. Points stand between day, month and year in this order;
//! of strokes and dashes nobody can say it, so that all readings are told. A year of two digits is
//! one from 1970 to 2069.

use dbdyno_model::calendar::days_of_date;

/// What a text may mean, in milliseconds since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Moment {
    /// That.
    At(i64),
    /// That by [`READINGS`]; `None` where the calendar has no such day.
    Open([Option<i64>; 3]),
}

/// What stands first in each of the readings of a date.
pub(super) const READINGS: [&str; 3] = ["day", "month", "year"];

/// How long that is of which a text tells the beginning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Span {
    Moment,
    Week,
    Month,
    Quarter,
}

const DAY_MS: i64 = 86_400_000;
const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];
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
    if let Some(at) = of_digits(text) {
        return Some(Moment::At(at));
    }
    if let Ok(number) = text.parse::<f64>() {
        return of_number(number).map(Moment::At);
    }
    if let Some((_, day)) = span_and_day(text) {
        return Some(Moment::At(day * DAY_MS));
    }
    if let Some((day, rest)) = with_a_name(text) {
        return Some(Moment::At(day * DAY_MS + of_day(&rest)?));
    }
    let (date, rest) = text.split_once(['T', 't', ' ']).unwrap_or((text, ""));
    let ms = of_day(rest.trim())?;
    let at = |day: i64| day * DAY_MS + ms;
    let (parts, separator) = parts(date)?;
    let [first, second, third] = parts.map(|part| part.parse().unwrap_or(0));
    if parts[0].len() == 4 {
        return days(first, second, third).map(at).map(Moment::At);
    }
    let last = year_of(parts[2], third);
    let day_first = days(last, second, first).map(at);
    if separator == '.' {
        return day_first.map(Moment::At);
    }
    let month_first = days(last, first, second).map(at);
    let is_open = parts.iter().all(|part| part.len() == 2);
    let year_first = is_open.then(|| days(year_of(parts[0], first), second, third).map(at));
    let readings = [day_first, month_first, year_first.flatten()];
    let mut possible = readings.into_iter().flatten();
    let one = possible.next()?;
    match readings.iter().all(Option::is_some) && possible.all(|other| other == one)
        || readings[..2] == [Some(one); 2] && readings[2].is_none()
    {
        true => Some(Moment::At(one)),
        false => Some(Moment::Open(readings)),
    }
}

/// Whether a text is a time of the day, such as `12:30`, and nothing else.
pub(super) fn is_clock(text: &str) -> bool {
    !text.is_empty() && text.contains(':') && of_day(text).is_some()
}

/// How long that is of which a text tells the beginning.
pub(super) fn time_span(text: &str) -> Span {
    span_and_day(text.trim()).map_or(Span::Moment, |(span, _)| span)
}

/// A month, a week as ISO 8601 has it or a quarter, and its first day since 1970.
fn span_and_day(text: &str) -> Option<(Span, i64)> {
    let words: Vec<&str> = text.split(['-', '/', ' ']).filter(|word| !word.is_empty()).collect();
    let year = |word: &str| {
        let is_year = word.len() == 4 && word.bytes().all(|byte| byte.is_ascii_digit());
        word.parse::<i64>().ok().filter(|_| is_year)
    };
    let short = |word: &str| {
        let is_short = (1..=2).contains(&word.len());
        word.parse::<i64>().ok().filter(|_| is_short && word.bytes().all(|b| b.is_ascii_digit()))
    };
    let (of_year, other) = match words[..] {
        // `2024W09`
        [word] => {
            word.split_at_checked(4).filter(|(_, other)| other.starts_with(['W', 'w', 'Q']))?
        }
        [first, second] if year(first).is_some() => (first, second),
        [first, second] => (second, first),
        [first, second, day] if second.starts_with(['W', 'w']) => {
            let day = short(day).filter(|day| (1..=7).contains(day))?;
            return Some((Span::Moment, week(year(first)?, short(&second[1..])?)? + day - 1));
        }
        _ => return None,
    };
    let of_year = year(of_year)?;
    if let Some(month) = short(other) {
        return Some((Span::Month, days(of_year, month, 1)?));
    }
    let (kind, number) = (other.chars().next()?, other.get(1..).and_then(short));
    match (kind, number) {
        ('W' | 'w', Some(number)) => Some((Span::Week, week(of_year, number)?)),
        ('Q' | 'q', Some(number @ 1..=4)) => {
            Some((Span::Quarter, days(of_year, 3 * number - 2, 1)?))
        }
        _ => Some((Span::Month, days(of_year, month_named(other)?, 1)?)),
    }
}

/// The Monday of a week: the first week of a year has its 4 January.
fn week(year: i64, number: i64) -> Option<i64> {
    let fourth = days(year, 1, 4)?;
    // 1970-01-01 was a Thursday.
    let first_monday = fourth - (fourth + 3).rem_euclid(7);
    let next_fourth = days(year + 1, 1, 4)?;
    let next_monday = next_fourth - (next_fourth + 3).rem_euclid(7);
    let monday = first_monday + 7 * (number - 1);
    (number >= 1 && monday < next_monday).then_some(monday)
}

/// A month by its name or the beginning of it, of three letters at least.
fn month_named(word: &str) -> Option<i64> {
    let small = word.trim_end_matches('.').to_ascii_lowercase();
    let is_word = small.len() >= 3 && small.bytes().all(|byte| byte.is_ascii_alphabetic());
    let at = MONTHS.iter().position(|month| month.starts_with(&small));
    at.filter(|_| is_word).map(|at| at as i64 + 1)
}

/// A year, of four digits or of two.
fn year_of(word: &str, number: i64) -> i64 {
    match word.len() {
        2 if number < 70 => 2000 + number,
        2 => 1900 + number,
        _ => number,
    }
}

/// `20240131`
fn of_eight_digits(text: &str) -> Option<i64> {
    let is_plain = text.len() == 8 && text.bytes().all(|byte| byte.is_ascii_digit());
    let part = |from: usize, to: usize| text.get(from..to)?.parse().ok();
    let year = part(0, 4).filter(|year| is_plain && (1970..2200).contains(year))?;
    days(year, part(4, 6)?, part(6, 8)?)
}

/// `20240131120059`, `202401311200`, `2024013112`, `20240131-120059Z`, `2024-01-31_12-00-59`: as
/// programs name directories. As numbers they would be of 2033 and later, or of 1976 and before.
fn of_digits(text: &str) -> Option<i64> {
    let text = text.strip_suffix(['Z', 'z']).unwrap_or(text);
    let (date, rest) = match text.get(..10) {
        Some(dashed) if dashed.as_bytes()[4] == b'-' && dashed.as_bytes()[7] == b'-' => {
            (dashed.replace('-', ""), text.get(10..)?)
        }
        _ => (text.get(..8)?.to_owned(), text.get(8..)?),
    };
    let time = rest.strip_prefix(['T', 't', '_', '-', ' ']).unwrap_or(rest);
    let digits = time.replace(['-', ':'], "");
    let is_sound = [2, 4, 6].contains(&digits.len())
        && digits.bytes().all(|byte| byte.is_ascii_digit())
        && time.split(['-', ':']).all(|part| part.len() == 2 || part.len() == time.len());
    let part = |from: usize, most: i64| match digits.get(from..from + 2) {
        Some(two) => two.parse::<i64>().ok().filter(|number| *number <= most),
        None => Some(0),
    };
    let [hours, minutes, seconds] = [part(0, 23)?, part(2, 59)?, part(4, 59)?];
    let ms = (hours * 3_600 + minutes * 60 + seconds) * 1_000;
    let is_of_benchmarks = date.as_str() >= "1990";
    (is_sound && is_of_benchmarks).then(|| Some(of_eight_digits(&date)? * DAY_MS + ms))?
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
            Some(number) if word.len() == 4 && year.is_none() => year = Some(number),
            Some(number) if word.len() <= 2 && day.is_none() => day = Some(number),
            // `07-Feb-25`: a year comes last.
            Some(number) if word.len() == 2 && month.is_some() && year.is_none() => {
                year = Some(year_of(word, number));
            }
            _ if is_word && month.is_none() && month_named(word).is_some() => {
                month = month_named(word);
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
    UNITS
        .iter()
        .find(|&&(from, to, _)| (from..to).contains(&number))
        .map(|&(_, _, ms)| (number * ms).round() as i64)
}

/// The three numbers of a date, and what parts them. One of the outer two is a year, of four digits
/// or, the last, of two.
fn parts(date: &str) -> Option<([&str; 3], char)> {
    let separator = date.chars().find(|c| ['-', '.', '/'].contains(c))?;
    let parts: Vec<&str> = date.split(separator).collect();
    let [first, second, third] = parts[..] else { return None };
    let is_short = |text: &str| (1..=2).contains(&text.len());
    let is_sound = is_short(second)
        && ((first.len() == 4 && is_short(third))
            || (is_short(first) && [2, 4].contains(&third.len())));
    (is_sound && parts.iter().all(|text| text.bytes().all(|byte| byte.is_ascii_digit())))
        .then_some(([first, second, third], separator))
}

/// Days since 1970-01-01, of what can be a date.
fn days(year: i64, month: i64, day: i64) -> Option<i64> {
    let is_known = (1970..=9999).contains(&year) && (1..=12).contains(&month);
    if !is_known || !(1..=31).contains(&day) {
        return None;
    }
    Some(days_of_date(year, month, day))
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
    use super::{Moment, Span, parse, time_span};

    /// Expected values from `date -u -d FIRST_DAY +%s`; weeks from `date +%G-W%V`.
    #[test]
    fn months_and_weeks_begin_with_their_first_day() {
        for (text, ms, long) in [
            ("2024-03", 1_709_251_200_000, Span::Month),
            ("03/2024", 1_709_251_200_000, Span::Month),
            ("Mar 2024", 1_709_251_200_000, Span::Month),
            ("March-2024", 1_709_251_200_000, Span::Month),
            ("2024 Mar", 1_709_251_200_000, Span::Month),
            ("2024-W09", 1_708_905_600_000, Span::Week),
            ("2024W09", 1_708_905_600_000, Span::Week),
            ("2026-W01", 1_766_966_400_000, Span::Week),
            ("2026-W53", 1_798_416_000_000, Span::Week),
            ("2024-Q1", 1_704_067_200_000, Span::Quarter),
            ("Q2 2024", 1_711_929_600_000, Span::Quarter),
        ] {
            assert_eq!((parse(text), time_span(text)), (Some(Moment::At(ms)), long), "{text}");
        }
    }

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
            ("1970010100", 1_970_010_100_000),
            ("20260109130061", 20_260_109_130_061),
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
            ("2026010913", 13),
            ("202601091300", 13),
            ("20260109130000", 13),
            ("20260109T130000Z", 13),
            ("20260109-130000", 13),
            ("20260109_13:00", 13),
            ("2026-01-09_13-00-00", 13),
            ("2026-01-09-13-00", 13),
            ("09.01.2026", 0),
            ("9.1.2026 13:00", 13),
            ("09-Jan-2026", 0),
            ("09-Jan-26", 0),
            ("09.01.26", 0),
            ("Jan 9, 26", 0),
            ("2026-W02-5", 0),
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
        let open = Moment::Open([Some(NINTH_MS), Some(1_788_220_800_000), None]);
        assert_eq!(parse("9/1/2026"), Some(open));
        assert_eq!(parse("9/1/26"), Some(open));
        let open = Moment::Open([None, Some(NINTH_MS + 11 * 24 * HOUR_MS), None]);
        assert_eq!(parse("1/20/2026"), Some(open));
        let Some(Moment::Open([Some(_), Some(_), Some(_)])) = parse("01/02/03") else { panic!() };
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
            "2024-00",
            "2024-W54",
            "2025-W53",
            "W09",
            "Mar-24",
            "24-Mar",
            "March",
            "marble 2024",
            "2024-Q5",
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
            "1/9/6",
            "Jan 9",
            "2026-01-09 12:00 CST",
            "2026-01-09 13:00 PM",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
