//! Days since 1970-01-01 and dates, in the proleptic Gregorian calendar.
//!
//! The arithmetic is that of Howard Hinnant, [chrono-Compatible Low-Level Date
//! Algorithms](https://howardhinnant.github.io/date_algorithms.html): years begin in March, so that
//! the day that some of them have more comes last; an era of 400 years has 146 097 days.

/// Seconds of a day.
pub const SECONDS_PER_DAY: i64 = 86_400;
const DAYS_PER_ERA: i64 = 146_097;
/// Days from 0000-03-01 to 1970-01-01.
const DAYS_TO_1970: i64 = 719_468;

/// The number of a day. Months from 1 to 12; a day that its month does not have is one of the next.
pub fn days_of_date(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let of_era = year.rem_euclid(400);
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    year.div_euclid(400) * DAYS_PER_ERA + of_era * 365 + of_era / 4 - of_era / 100 + of_year
        - DAYS_TO_1970
}

/// Year, month and day of a day.
pub fn date_of_days(days: i64) -> (i64, i64, i64) {
    let shifted = days + DAYS_TO_1970;
    let day = shifted.rem_euclid(DAYS_PER_ERA);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let of_year = day - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (year + shifted.div_euclid(DAYS_PER_ERA) * 400 + i64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Expected values from `date -u -d DATE +%s` divided by 86 400.
    #[test]
    fn days_are_those_of_the_calendar() {
        for (date, days) in [
            ((1970, 1, 1), 0),
            ((2026, 11, 21), 20_778),
            ((2000, 2, 29), 11_016),
            ((1969, 12, 31), -1),
            ((1000, 1, 1), -354_285),
            ((9999, 12, 31), 2_932_896),
        ] {
            assert_eq!(days_of_date(date.0, date.1, date.2), days, "{date:?}");
            assert_eq!(date_of_days(days), date);
        }
    }

    #[test]
    fn each_day_of_an_era_reads_back_and_follows_the_one_before() {
        let mut before = date_of_days(-1);
        for days in 0..DAYS_PER_ERA {
            let date = date_of_days(days);
            assert!(date > before, "{date:?} after {before:?}");
            assert_eq!(days_of_date(date.0, date.1, date.2), days);
            before = date;
        }
    }
}
