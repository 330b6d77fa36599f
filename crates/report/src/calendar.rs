//! Times of day, in UTC.

/// `2026-11-20 12:33:07 UTC`. Days to date after Howard Hinnant's `civil_from_days`.
pub(crate) fn format_utc(unix_ms: u64) -> String {
    let seconds = unix_ms / 1000;
    let (days, second) = ((seconds / 86_400) as i64, seconds % 86_400);
    // Years begin in March, so that a leap day is the last one; eras have 400 years.
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = (month_from_march + 2) % 12 + 1;
    let year = year_of_era + era * 400 + i64::from(month <= 2);
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
