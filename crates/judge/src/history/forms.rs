//! Columns of figures that are written as no single number, and can be read all the same.
//!
//! ```text
//!   1m10.804s   58s 304ms   PT58.304S   1:30   00:01:10.804     durations: seconds
//!   5/1000                                                      a share: 0.005
//! ```
//!
//! A column is read so only where all of its cells are of one kind. A time of the day looks as a
//! duration does: a column that is called after a moment, such as `started`, has none.

use super::names;
use super::order::Order;
use super::table::{Table, is_blank};
use super::when;
use super::words::name_words;

/// Units of a duration from the largest to the smallest, with their length in seconds.
const UNITS: [(&[&str], f64); 7] = [
    (&["d", "day", "days"], 86_400.0),
    (&["h", "hr", "hrs", "hour", "hours"], 3_600.0),
    (&["m", "min", "mins", "minute", "minutes"], 60.0),
    (&["s", "sec", "secs", "second", "seconds"], 1.0),
    (&["ms", "msec", "millisecond", "milliseconds"], 1e-3),
    (&["us", "µs", "μs", "usec", "microseconds"], 1e-6),
    (&["ns", "nsec", "nanoseconds"], 1e-9),
];
/// Words of names of moments.
const MOMENTS: [&str; 22] = [
    "start",
    "started",
    "begin",
    "began",
    "end",
    "ended",
    "finish",
    "finished",
    "stop",
    "stopped",
    "at",
    "when",
    "clock",
    "hour",
    "created",
    "updated",
    "scheduled",
    "timestamp",
    "date",
    "datetime",
    "utc",
    "until",
];
/// Of so many and more a share is one whatever the column is called; of fewer, a place in a row.
const SHARED_LEAST: u64 = 32;

/// Whether a column is called after a moment, so that `02:00` is none of its durations.
pub(super) fn is_of_moments(head: &str) -> bool {
    name_words(head).iter().any(|word| MOMENTS.contains(&word.as_str()))
}

/// Writes the cells of such columns as numbers of seconds, or as shares of 1.
pub(super) fn read(table: &mut Table<'_>, order: &Order) {
    for column in 0..table.header.len() {
        if Some(column) == order.by || Some(column) == order.clock {
            continue;
        }
        if let Some(cells) = durations(table, column).or_else(|| shares(table, column)) {
            for (row, cell) in table.rows.iter_mut().zip(cells) {
                row.cells[column] = cell;
            }
        }
    }
}

/// The cells of a column of durations in seconds: without a mark of decimals, which would be taken
/// for one of the file.
fn durations(table: &Table<'_>, column: usize) -> Option<Vec<String>> {
    let mut kind = None;
    let mut is_compound = false;
    let mut read = Vec::with_capacity(table.rows.len());
    for cell in table.cells(column) {
        if is_blank(cell) {
            read.push(cell.to_owned());
            continue;
        }
        let (seconds, of) = duration(cell)?;
        is_compound |= of != DurationForm::Single;
        let is_clock = of == DurationForm::Clock;
        if *kind.get_or_insert(is_clock) != is_clock {
            return None;
        }
        read.push(format!("{:.0}e-9 s", 1e9 * seconds));
    }
    // 58:20 is a time of no day.
    let is_of_day = kind == Some(true)
        && is_of_moments(&table.header[column])
        && table.cells(column).all(|cell| is_blank(cell) || when::is_clock(cell));
    (is_compound && !is_of_day).then_some(read)
}

/// How a duration is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DurationForm {
    /// `58.3s`, as beside `1m10s`
    Single,
    /// `1m10s`, `PT58S`
    Compound,
    /// `1:30`
    Clock,
}

/// Whether a text is a duration of several parts.
pub(super) fn is_duration(text: &str) -> bool {
    duration(text).is_some_and(|(_, form)| form != DurationForm::Single)
}

/// The seconds of a duration.
fn duration(text: &str) -> Option<(f64, DurationForm)> {
    if text.contains(':') {
        return clock(text).map(|seconds| (seconds, DurationForm::Clock));
    }
    let lower = text.to_lowercase();
    match lower.strip_prefix('p') {
        Some(rest) if text.starts_with('P') => {
            let parts =
                rest.strip_prefix('t').map(str::to_owned).unwrap_or_else(|| rest.replace('t', ""));
            rest.contains('t').then_some(())?;
            Some((sum(&parts)?.0, DurationForm::Compound))
        }
        _ => {
            let (seconds, count) = sum(&lower)?;
            let form = if count > 1 { DurationForm::Compound } else { DurationForm::Single };
            // Alone, `m` may be a thousandth, or a million.
            (count > 1 || !lower.ends_with(['m', 'd'])).then_some((seconds, form))
        }
    }
}

/// `1h 2m 3.5s` in seconds, and of how many parts that is: each of a smaller unit.
fn sum(text: &str) -> Option<(f64, usize)> {
    let (mut rest, mut seconds, mut count, mut next) = (text.trim(), 0.0, 0, 0);
    while !rest.is_empty() {
        let end = rest.find(|c: char| !(c.is_ascii_digit() || ['.', ','].contains(&c)))?;
        let (number, behind) = rest.split_at(end);
        let behind = behind.trim_start();
        let end = behind.find(|c: char| !c.is_alphabetic()).unwrap_or(behind.len());
        let (unit, behind) = behind.split_at(end);
        let at = UNITS.iter().position(|(names, _)| names.contains(&unit))?;
        (at >= next && number.starts_with(|c: char| c.is_ascii_digit())).then_some(())?;
        seconds += number.replace(',', ".").parse::<f64>().ok()? * UNITS[at].1;
        (count, next, rest) = (count + 1, at + 1, behind.trim_start());
    }
    (count > 0).then_some((seconds, count))
}

/// `1:30`, `0:58.304` and `1:02:03` in seconds.
fn clock(text: &str) -> Option<f64> {
    let parts: Vec<&str> = text.split(':').collect();
    (2..=3).contains(&parts.len()).then_some(())?;
    let mut seconds = 0.0;
    for (at, part) in parts.iter().enumerate() {
        let is_last = at + 1 == parts.len();
        let whole = part.split(['.', ',']).next().unwrap_or_default();
        let is_sound = (whole.len() == 2 || at == 0 && !whole.is_empty() && whole.len() < 6)
            && part.chars().all(|c| c.is_ascii_digit() || is_last && ['.', ','].contains(&c));
        let value: f64 = is_sound.then(|| part.replace(',', ".").parse().ok())??;
        (at == 0 || value < 60.0).then_some(())?;
        seconds = 60.0 * seconds + value;
    }
    Some(seconds)
}

/// The cells of a column of shares, such as `5/1000`: of one whole, or of what goes wrong. Two
/// figures may stand there as well, such as a median and a percentile.
fn shares(table: &Table<'_>, column: usize) -> Option<Vec<String>> {
    let said = names::name_meaning(&table.header[column]);
    let mut read = Vec::with_capacity(table.rows.len());
    let mut first = None;
    for cell in table.cells(column) {
        if is_blank(cell) {
            read.push(cell.to_owned());
            continue;
        }
        let (part, whole) = cell.split_once('/')?;
        let (part, whole) = (whole_number(part)?, whole_number(whole)?);
        let is_of_one = *first.get_or_insert(whole) == whole;
        let is_counted = said.better.is_some() || whole >= SHARED_LEAST;
        let is_share = whole > 0 && part <= whole && (said.is_of_faults || is_of_one && is_counted);
        is_share.then_some(())?;
        read.push(format!("{:.0}e-12", 1e12 * (part as f64 / whole as f64)));
    }
    first.is_some().then_some(read)
}

/// A number of digits alone.
fn whole_number(text: &str) -> Option<u64> {
    let text = text.trim();
    if text.bytes().all(|byte| byte.is_ascii_digit()) { text.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read_as_they_are_written() {
        for (text, seconds) in [
            ("1m10.804s", 70.804),
            ("0m58.304s", 58.304),
            ("00m 58.3s", 58.3),
            ("58s 304ms", 58.304),
            ("1h 2m 3s", 3_723.0),
            ("PT58.304S", 58.304),
            ("PT1M0.8S", 60.8),
            ("P1DT1H", 90_000.0),
            ("1:30", 90.0),
            ("0:58.304", 58.304),
            ("01:02:03,5", 3_723.5),
            ("2 min 3 sec", 123.0),
        ] {
            let read = duration(text).map(|(seconds, _)| seconds);
            assert!(read.is_some_and(|read| (read - seconds).abs() < 1e-9), "{text}: {read:?}");
            assert!(is_duration(text), "{text}");
        }
        for text in [
            "58.3m",
            "58.3",
            "1s2m",
            "p1",
            "Ps",
            "1:3",
            "1:75",
            "12:30:00 PM",
            "a:30",
            "1m1m",
            "8.0.3",
            "s",
            "PT",
            "1.2.3s",
            "",
            "1:2:3:4",
            "m5",
        ] {
            assert!(!is_duration(text), "{text}");
        }
    }
}
