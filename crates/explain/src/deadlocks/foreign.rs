//! Lines of others within the account of a deadlock: what else a server logs while it prints one,
//! and what other programs write to the same place.
//!
//! ```text
//!   UPDATE stock SET qty = 7
//!   2026-01-01T00:00:00Z 9 [Warning] …       ◀── passed over
//!   WHERE i = 3                              ◀── goes on with the statement
//!   *** (1) WAITING FOR THIS LOCK …          ◀── for this is of the same account
//! ```
//!
//! A line behind such a one goes on with the statement if the account does. Where the account ends
//! there, or where the other line tells a statement itself, nobody knows whose the lines behind
//! are.

use super::order::begins_with_date;
use super::statement::Statement;

/// What the end of a statement is called that is not told for certain.
pub(super) const DOUBTFUL_END: &str =
    "the end of a statement: lines of others stand in it, and what follows may be theirs";
/// Words behind which a log tells a statement, or a list of its own.
const QUOTING: [&str; 9] = [
    "tatement:",
    "STATEMENT:",
    "uery:",
    "QUERY:",
    "uery '",
    "CONTEXT:",
    "  execute ",
    "SQL statement",
    "ollowing:",
];
/// With what programs begin lines that have no time.
const PROGRAMS: [&str; 4] = ["InnoDB: ", "mysqld: ", "mariadbd: ", "/usr/sbin/"];

/// A statement within which lines of others stand.
pub(super) struct Interruption {
    /// The first of them.
    pub(super) line: usize,
    /// The statement before it.
    pub(super) before: Statement,
    /// Whether one of them may go on in the lines behind it.
    may_go_on: bool,
    /// Whether lines stand behind them that nothing else explains.
    pub(super) goes_on: bool,
}

impl Interruption {
    /// One that begins with this line.
    pub(super) fn at_line(line: usize, before: Statement) -> Interruption {
        Interruption { line, before, may_go_on: false, goes_on: false }
    }

    /// Notes a line of others.
    pub(super) fn note_foreign(&mut self, text: &str) {
        self.may_go_on |=
            QUOTING.iter().any(|words| text.contains(words)) || text.trim_end().ends_with(':');
    }

    /// Notes that the account does not go on.
    pub(super) fn note_end(&mut self) {
        self.may_go_on = true;
    }

    /// Whether the lines behind those of others are of the statement, where the account goes on
    /// behind them.
    pub(super) fn is_certain(&self) -> bool {
        !(self.goes_on && self.may_go_on)
    }
}

/// Whether a line begins as an entry of a log does.
pub(super) fn begins_log_entry(line: &str) -> bool {
    let line = line.trim_start();
    begins_with_date(line) || PROGRAMS.iter().any(|program| line.starts_with(program))
}

/// Whether a line has nothing but a time and the number of a thread, as MySQL 5.6 writes before a
/// heading.
pub(super) fn is_bare_stamp(line: &str) -> bool {
    line.chars().all(|c| c.is_ascii_hexdigit() || c.is_whitespace() || "-:.TZx+".contains(c))
}
