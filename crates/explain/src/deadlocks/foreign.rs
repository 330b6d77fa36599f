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

use super::carried::{container_prefix, line_head};
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
    /// Whether one of them may be of the statement.
    may_be_own: bool,
    /// Whether lines stand behind them that nothing else explains.
    pub(super) goes_on: bool,
}

impl Interruption {
    /// One that begins with this line.
    pub(super) fn at_line(line: usize, before: Statement) -> Interruption {
        Interruption { line, before, may_go_on: false, may_be_own: false, goes_on: false }
    }

    /// Notes a line of others.
    pub(super) fn note_foreign(&mut self, text: &str) {
        self.may_be_own |= container_line(text) == Some(ContainerLine::Doubtful);
        self.may_go_on |=
            QUOTING.iter().any(|words| text.contains(words)) || text.trim_end().ends_with(':');
    }

    /// Notes that the account does not go on.
    pub(super) fn note_end(&mut self) {
        self.may_go_on = true;
    }

    /// Whether the lines of others are none of the statement, and those behind them are, where the
    /// account goes on behind them.
    pub(super) fn is_certain(&self) -> bool {
        !(self.may_be_own || self.goes_on && self.may_go_on)
    }
}

/// What a line is that begins as one of a composition of containers, in a text that has few such
/// lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ContainerLine {
    /// One of a container: what it says is nothing that a statement goes on with.
    Foreign,
    /// That, or a line of a statement: `flags_1  | mask`.
    Doubtful,
}

/// Words of SQL that stand between others without a sign.
const SQL_WORDS: &str = " ALL AND AS ASC BETWEEN BY CASE DESC DIV ELSE END FOR FROM GROUP HAVING \
                         IN IS JOIN LIKE LIMIT MOD NOT ON OR ORDER REGEXP SELECT SET THEN UNION \
                         VALUES WHEN WHERE ";

/// What a line is that begins with the name of a container, if it may be one: `app-1  | ready`.
/// Compositions number their containers or put two spaces behind the longest name, and statements
/// seldom do either.
pub(super) fn container_line(line: &str) -> Option<ContainerLine> {
    let behind = container_prefix(line_head(line))?;
    let (name, rest) = (behind.name?, behind.rest.trim());
    let number = name.rsplit_once('-').map_or("", |(_, number)| number);
    let is_numbered = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    let is_aligned = line[name.len()..].starts_with("  ");
    if !is_numbered && !is_aligned || rest.starts_with('|') {
        return None;
    }
    if says_what_no_statement_does(rest, is_numbered) {
        return Some(ContainerLine::Foreign);
    }
    // `flags  | 4`
    let is_value = rest.starts_with(|c: char| c.is_ascii_digit() || "'\"(@~`-?".contains(c));
    (is_numbered || !is_value).then_some(ContainerLine::Doubtful)
}

/// Whether a text cannot stand behind a sign of a statement: two words follow each other in it that
/// nothing joins. Behind a value stands the new name of a column, before other words of SQL.
fn says_what_no_statement_does(text: &str, is_numbered: bool) -> bool {
    let words: Vec<&str> = text.split_whitespace().collect();
    let is_apart = words.windows(2).any(|pair| {
        let is_joined = is_sql_word(pair[0]) || is_sql_word(pair[1]);
        let ends = pair[0].trim_end_matches(':').ends_with(char::is_alphanumeric);
        !is_joined && ends && pair[1].starts_with(char::is_alphanumeric)
    });
    let is_prose = is_apart && (is_numbered || !words.iter().any(|word| is_sql_word(word)));
    text.starts_with(['[', '{', '<']) || begins_with_date(text) || is_prose
}

fn is_sql_word(word: &str) -> bool {
    let word = word.trim_matches(|c: char| !c.is_alphanumeric()).to_ascii_uppercase();
    !word.is_empty() && SQL_WORDS.contains(&format!(" {word} "))
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
