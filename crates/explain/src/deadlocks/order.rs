//! When lines were written, as far as it tells whether the newest stands first.
//!
//! Files of servers have the oldest line first; what a search in a store of logs gives out has the
//! newest. Zones do not matter, since all lines of a text have the same as a rule, and times in
//! different forms are not compared.

use crate::beginning::text_beginning;

/// Names of months in logs.
pub(super) const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
/// Times that go back, as a multiple of those that go on, from which on the newest stands first:
/// two processes may write a little out of turn.
const TURNED_LEAST: usize = 9;

/// Bytes of a date, a time and what parts them from the rest.
const STAMP_BYTES: usize = 21;

/// How a text is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    /// As it stands.
    OldestFirst,
    /// From its end, by these units.
    Turned(Unit),
}

/// What stays together where a text is turned around.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unit {
    /// A line.
    Line,
    /// A line with a time, and those without one behind it.
    Entry,
    /// All that was written at the same time.
    Moment,
}

impl Unit {
    pub(super) const ALL: [Unit; 3] = [Unit::Line, Unit::Entry, Unit::Moment];
}

/// A time without a zone, and the form in which it was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Moment {
    form: Form,
    seconds: u64,
    nanoseconds: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Form {
    /// `2026-01-01 00:00:00`
    Iso,
    /// `260101  0:00:00`
    Short,
    /// `Jan  1 00:00:00`
    Syslog,
    /// `Jan 1, 2026 @ 00:00:00.000`
    Table,
    /// Units since 1970, in so many digits.
    Epoch(u8),
}

/// How often times go on and back.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Course {
    on: usize,
    back: usize,
    last: Option<Moment>,
}

impl Course {
    pub(super) fn note_moment(&mut self, moment: Moment) {
        if let Some(last) = self.last.filter(|last| last.form == moment.form) {
            let (before, now) =
                ((last.seconds, last.nanoseconds), (moment.seconds, moment.nanoseconds));
            self.on += usize::from(now > before);
            self.back += usize::from(now < before);
        }
        self.last = Some(moment);
    }

    /// Whether the newest line stands first beyond doubt.
    pub(super) fn is_turned(&self) -> bool {
        self.back >= 2 && self.back > TURNED_LEAST * self.on
    }

    /// Whether it may.
    pub(super) fn may_be_turned(&self) -> bool {
        self.on == 0
    }
}

/// The time with which a text begins.
pub(super) fn leading_moment(text: &str) -> Option<Moment> {
    let text = text.trim_start_matches([' ', '"', '[', '(']);
    let bytes = text.as_bytes();
    if bytes.len() >= 10 && bytes[4] == b'-' {
        let (year, rest) = number(text)?;
        let (month, rest) = number(rest.strip_prefix('-')?)?;
        let (day, rest) = number(rest.strip_prefix('-')?)?;
        return clock(Form::Iso, [year, month, day], rest.trim_start_matches(['T', ' ']));
    }
    if let Some(month) = MONTHS.iter().position(|month| text.starts_with(month)) {
        let (day, rest) = number(text[3..].trim_start())?;
        let month = month as u64 + 1;
        return match rest.strip_prefix(", ") {
            Some(rest) => {
                let (year, rest) = number(rest)?;
                clock(Form::Table, [year, month, day], rest.trim_start_matches([' ', '@', ',']))
            }
            None => clock(Form::Syslog, [0, month, day], rest.trim_start()),
        };
    }
    let (all, rest) = number(text)?;
    match text.len() - rest.len() {
        6 if rest.starts_with(' ') => {
            let date = [all / 10_000, all / 100 % 100, all % 100];
            clock(Form::Short, date, rest.trim_start())
        }
        digits @ 10..=19 if !rest.starts_with(|c: char| c.is_alphanumeric()) => {
            Some(Moment { form: Form::Epoch(digits as u8), seconds: all, nanoseconds: 0 })
        }
        _ => None,
    }
}

/// Whether a text begins with a date, or a date and a time in any form, as an entry of a log does
/// and no row of a statement: `("2026-01-01 00:00:00", 7),` or `2026-01-01 00:00:00');`.
pub(super) fn begins_with_date(text: &str) -> bool {
    let is_dated = text.get(..10).is_some_and(is_date)
        || leading_moment(text).is_some_and(|moment| !matches!(moment.form, Form::Epoch(_)));
    // A log has marks of a statement neither before a time nor within it.
    is_dated
        && !text.starts_with(['"', '('])
        && !text_beginning(text, STAMP_BYTES).contains(['\'', '"', '`', ')', ';'])
}

/// `0:00:00.123` behind a date of year, month and day.
fn clock(form: Form, [year, month, day]: [u64; 3], text: &str) -> Option<Moment> {
    let (hours, rest) = number(text)?;
    let (minutes, rest) = number(rest.strip_prefix(':')?)?;
    let (seconds, rest) = number(rest.strip_prefix(':')?)?;
    let fraction = rest.strip_prefix(['.', ',']).unwrap_or_default();
    let mut digits =
        fraction.bytes().map_while(|b| b.is_ascii_digit().then(|| u32::from(b - b'0')));
    let nanoseconds = (0..9).fold(0, |sum, _| 10 * sum + digits.next().unwrap_or(0));
    let is_date = year < 10_000 && month < 13 && day < 32;
    if !is_date || hours >= 25 || minutes >= 60 || seconds >= 61 {
        return None;
    }
    let days = (year * 13 + month) * 32 + day;
    let seconds = ((days * 25 + hours) * 60 + minutes) * 61 + seconds;
    Some(Moment { form, seconds, nanoseconds })
}

/// The number with which a text begins, and what is behind it.
fn number(text: &str) -> Option<(u64, &str)> {
    let length = text.bytes().take_while(u8::is_ascii_digit).count();
    Some((text[..length].parse().ok()?, &text[length..]))
}

/// `2026-01-01`
pub(super) fn is_date(word: &str) -> bool {
    let bytes = word.as_bytes();
    bytes.len() == 10
        && bytes[4] == b'-'
        && bytes[7] == b'-'
        && [0, 1, 2, 3, 5, 6, 8, 9].into_iter().all(|at| bytes[at].is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_a_form_are_in_order() {
        for sorted in [
            ["2026-01-01 00:00:00.123 UTC [7]", "2026-01-01T00:00:00.124Z", "2026-02-01  0:00:00"],
            ["Jan  1 00:00:00 host", "Jan  1 00:00:01 host", "Feb  1 00:00:00 host"],
            ["Jan 1, 2026 @ 00:00:00.000", "Jan 1, 2026 @ 00:00:00.001", "Jan 2, 2027 @ 0:00:00"],
            ["260101  0:00:00", "260101  0:00:01", "270101  0:00:00"],
            ["1700000000000000000", "1700000000000000001", "1800000000000000000"],
        ] {
            let mut course = Course::default();
            sorted.iter().for_each(|text| course.note_moment(leading_moment(text).unwrap()));
            assert!((course.on, course.back) == (2, 0) && !course.is_turned(), "{sorted:?}");
            let mut course = Course::default();
            sorted.iter().rev().for_each(|text| course.note_moment(leading_moment(text).unwrap()));
            assert!((course.on, course.back) == (0, 2) && course.is_turned(), "{sorted:?}");
        }
        for none in ["", "TRANSACTION 7", "2026-13-01 00:00:00", "Process 7", "12345 x", "ä-b"] {
            assert_eq!(leading_moment(none), None, "{none}");
        }
    }
}
