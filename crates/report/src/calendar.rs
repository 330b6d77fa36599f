//! Times of day, in UTC.

use dbdyno_model::calendar::date_of_days;

/// `2026-11-20 12:33:07 UTC`.
pub(crate) fn format_utc(unix_ms: u64) -> String {
    let seconds = unix_ms / 1000;
    let (year, month, day) = date_of_days((seconds / 86_400) as i64);
    let second = seconds % 86_400;
    let (hour, minute) = (second / 3600, second / 60 % 60);
    format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{:02} UTC", second % 60)
}

/// `2026-11-20 12:33 UTC`, or `2026-11-20` at midnight: what is given as a day is one.
pub(crate) fn format_minute(unix_ms: u64) -> String {
    let text = format_utc(unix_ms);
    let (day, time) = text.split_once(' ').unwrap_or((&text, ""));
    match (time.starts_with("00:00:00"), time.get(..5)) {
        (false, Some(minute)) => format!("{day} {minute} UTC"),
        _ => day.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Expected values from `date -u -d @SECONDS`.
    #[test]
    fn dates_agree_with_the_calendar() {
        assert_eq!(format_utc(0), "1970-01-01 00:00:00 UTC");
        assert_eq!(format_utc(951_782_399_999), "2000-02-28 23:59:59 UTC");
        assert_eq!(format_utc(951_782_400_000), "2000-02-29 00:00:00 UTC");
        assert_eq!(format_utc(1_793_277_187_000), "2026-10-29 12:33:07 UTC");
        assert_eq!(format_utc(4_107_542_400_000), "2100-03-01 00:00:00 UTC");
    }

    #[test]
    fn a_time_has_its_zone_and_a_day_needs_none() {
        assert_eq!(format_minute(1_793_277_187_000), "2026-10-29 12:33 UTC");
        assert_eq!(format_minute(951_782_401_000), "2000-02-29 00:00 UTC");
        assert_eq!(format_minute(951_782_400_000), "2000-02-29");
    }
}
