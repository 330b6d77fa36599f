//! Times as people and programs write them.
//!
//! ```text
//!   1700000000 · 1700000000123 · 2024-01-31 · 2024-01-31T12:00:59.5Z · 2024.01.01 3:00:00 +0100
//! ```
//!
//! Whole numbers are seconds, milliseconds, microseconds or nanoseconds since 1970, by their size.
//! Dates are year, month, day in this order; without a zone they are taken as UTC.

/// Milliseconds since 1970; `None` for what is no time.
pub(super) fn parse(text: &str) -> Option<i64> {
    let text = text.trim();
    if let Ok(number) = text.parse::<f64>() {
        return of_number(number);
    }
    let (date, rest) = text.split_once(['T', 't', ' ']).unwrap_or((text, ""));
    let day = days(date)?;
    let (time, zone_minutes) = zone(rest.trim())?;
    let ms = if time.is_empty() { 0 } else { milliseconds(time)? };
    Some(day * 86_400_000 + ms - zone_minutes * 60_000)
}

/// From 1973 on in each unit, and not before.
fn of_number(number: f64) -> Option<i64> {
    const UNITS: [(f64, f64, f64); 4] =
        [(1e8, 1e11, 1e3), (1e11, 1e14, 1.0), (1e14, 1e17, 1e-3), (1e17, 9.3e18, 1e-6)];
    let of_unit = |&&(from, to, _): &&(f64, f64, f64)| (from..to).contains(&number);
    UNITS.iter().find(of_unit).map(|&(_, _, ms)| (number * ms).round() as i64)
}

/// Days since 1970-01-01, after Howard Hinnant's `days_from_civil`.
fn days(date: &str) -> Option<i64> {
    let separator = date.chars().find(|c| ['-', '.', '/'].contains(c))?;
    let parts: Vec<&str> = date.split(separator).collect();
    let [year, month, day] = parts[..] else { return None };
    let number = |text: &str, most: i64| {
        let is_plain = (1..=4).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit());
        text.parse::<i64>().ok().filter(|&number| is_plain && number <= most)
    };
    let (year, month, day) = (number(year, 9999)?, number(month, 12)?, number(day, 31)?);
    if year < 1970 || month < 1 || day < 1 {
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
    for utc in ["Z", "z", "UTC", "GMT"] {
        if let Some(time) = text.strip_suffix(utc) {
            return Some((time.trim_end(), 0));
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
    use super::parse;

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
            assert_eq!(parse(text), Some(ms), "{text}");
        }
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
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
