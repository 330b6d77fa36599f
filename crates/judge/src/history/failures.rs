//! Rows that say of themselves that their run failed, and columns of outcomes.
//!
//! ```text
//!   date,  ms,  status      a request that is refused is fast: what a failed run measured is no
//!   01-01, 900, ok          figure, and the row is as one with a blank
//!   01-02, 3,   error
//!
//!   passed: true true false ─▶ 1 1 0      an outcome is a figure, and tells no series apart
//! ```
//!
//! Whether a run failed is told by the name of a column and the word in its cell. A number there is
//! a count, an exit code apart. A column by which the user chooses rows says nothing against them.

use std::collections::BTreeMap;

use dbdyno_model::{Better, foreign};

use super::cells;
use super::names;
use super::table::{Table, is_blank};
use super::when;
use super::words::name_words;

/// What ends in one of these words is true where the run failed.
const TRUE_IF_FAILED: [&str; 24] = [
    "failed",
    "fail",
    "failure",
    "failures",
    "error",
    "errored",
    "errors",
    "occurred",
    "exception",
    "skipped",
    "timed_out",
    "timeout",
    "crashed",
    "aborted",
    "cancelled",
    "canceled",
    "invalid",
    "killed",
    "partial",
    "truncated",
    "incomplete",
    "corrupted",
    "broken",
    "unhealthy",
];
/// What ends in one of these words is false where it failed.
const FALSE_IF_FAILED: [&str; 22] = [
    "ok",
    "success",
    "succeeded",
    "successful",
    "passed",
    "pass",
    "valid",
    "completed",
    "complete",
    "finished",
    "finish",
    "healthy",
    "correct",
    "verified",
    "match",
    "matches",
    "matched",
    "consistent",
    "stable",
    "green",
    "good",
    "passing",
];
/// Words that turn these round.
const NEGATIONS: [&str; 6] = ["no", "not", "non", "without", "un", "never"];
/// Columns of this name have a word for how the run ended.
const ENDINGS: [&str; 16] = [
    "status",
    "result",
    "outcome",
    "state",
    "conclusion",
    "verdict",
    "run_status",
    "test_status",
    "exit",
    "status_text",
    "health",
    "sanity",
    "sanity_check",
    "checksum",
    "quality",
    "check",
];
/// Columns of this name, or of a name that ends so, have what went wrong, and nothing where nothing
/// did.
const MESSAGES: [&str; 15] = [
    "error",
    "errors",
    "err",
    "exception",
    "failure",
    "error_message",
    "error_msg",
    "errmsg",
    "err_msg",
    "failure_message",
    "failure_reason",
    "fail_reason",
    "error_text",
    "exception_message",
    "skip_message",
];
/// What begins so is a message in a column of any name.
const BEGINNINGS: [&str; 6] = ["error:", "fatal:", "failed:", "failure:", "panic:", "exception:"];
/// Of these, those that may as well be called so for a figure.
const MAYBE_FIGURES: [&str; 4] = ["error", "errors", "err", "failure"];
/// Columns of this name have a number that is 0 where nothing went wrong.
const CODES: [&str; 11] = [
    "exit_code",
    "exitcode",
    "exit_status",
    "returncode",
    "return_code",
    "exit_value",
    "error_code",
    "err_code",
    "errcode",
    "errno",
    "sqlstate",
];
/// What a column of endings says of a run without a figure.
const BAD_ENDINGS: [&str; 46] = [
    "error",
    "errored",
    "errors",
    "err",
    "fail",
    "failed",
    "failure",
    "failing",
    "ko",
    "nok",
    "timeout",
    "timedout",
    "timed out",
    "timed_out",
    "aborted",
    "abort",
    "crash",
    "crashed",
    "killed",
    "cancelled",
    "canceled",
    "invalid",
    "skipped",
    "incomplete",
    "broken",
    "unsuccessful",
    "oom",
    "bad",
    "unhealthy",
    "mismatch",
    "mismatched",
    "evicted",
    "unstable",
    "degraded",
    "corrupt",
    "corrupted",
    "bad request",
    "unauthorized",
    "forbidden",
    "not found",
    "request timeout",
    "too many requests",
    "internal server error",
    "bad gateway",
    "service unavailable",
    "gateway timeout",
];
const GOOD_ENDINGS: [&str; 19] = [
    "ok",
    "okay",
    "pass",
    "passed",
    "passing",
    "success",
    "succeeded",
    "successful",
    "completed",
    "complete",
    "done",
    "valid",
    "finished",
    "good",
    "healthy",
    "match",
    "matched",
    "stable",
    "green",
];
const YES: [&str; 4] = ["true", "yes", "y", "t"];
const NO: [&str; 4] = ["false", "no", "n", "f"];
/// What stands among messages where nothing went wrong.
const NO_MESSAGES: [&str; 9] =
    ["no", "none", "false", "ok", "no error", "success", "nil", "[]", "{}"];
/// A reason is quoted by so many letters.
const REASON_LETTERS_MOST: usize = 80;

/// A row whose run failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FailedRun {
    /// The column that says so.
    column: usize,
    /// Its name, and what stands there.
    pub(super) reason: String,
}

/// Of each row whether it says that its run failed. `chosen` are columns by which the user chose
/// the rows.
pub(super) fn of_rows(table: &Table<'_>, chosen: &[(String, String)]) -> Vec<Option<FailedRun>> {
    let mut failed: Vec<Option<FailedRun>> = vec![None; table.rows.len()];
    for column in 0..table.header.len() {
        let head = &table.header[column];
        if chosen.iter().any(|(chosen, _)| chosen.eq_ignore_ascii_case(head)) {
            continue;
        }
        // What went wrong says more than that something did.
        let is_message = is_of_messages(head);
        for row in failing(table, column) {
            if is_message || failed[row].is_none() {
                let cell = foreign::one_line(table.cell(row, column));
                let quoted: String = cell.chars().take(REASON_LETTERS_MOST).collect();
                failed[row] = Some(FailedRun { column, reason: format!("{head}: {quoted}") });
            }
        }
    }
    failed
}

/// The rows of which this column says that they failed.
fn failing(table: &Table<'_>, column: usize) -> Vec<usize> {
    let name = plain_name(&table.header[column]);
    let is_of_texts = !table.is_numeric(column);
    (0..table.rows.len())
        .filter(|&row| {
            let cell = table.cell(row, column);
            !is_blank(cell) && says_failed(&name, cell, is_of_texts)
        })
        .collect()
}

/// Columns that say how runs ended: none of them tells series apart.
pub(super) fn columns(table: &Table<'_>) -> Vec<usize> {
    (0..table.header.len())
        .filter(|&column| {
            outcome_words(table, column) == Some(OutcomeWords::Ending)
                || !failing(table, column).is_empty()
        })
        .collect()
}

/// How many rows have no figure because they failed, and which columns say so.
pub(super) fn failure_note(table: &Table<'_>, failed: &[Option<FailedRun>]) -> Option<String> {
    let mut counts: BTreeMap<usize, usize> = BTreeMap::new();
    failed.iter().flatten().for_each(|run| *counts.entry(run.column).or_default() += 1);
    let told: Vec<String> = counts
        .iter()
        .map(|(&column, count)| format!("{count} by {:?}", table.header[column]))
        .collect();
    (!told.is_empty()).then(|| {
        format!(
            "{} of {} rows say that their run failed, and have no figure: {}; --where \
             COLUMN=VALUE looks at such rows by themselves.",
            counts.values().sum::<usize>(),
            failed.len(),
            told.join(", ")
        )
    })
}

/// Names of columns that say how runs ended, with a cell each that is neither good nor bad, while
/// others of the same column are. `chosen` are columns by which the user chose the rows.
pub(super) fn unread_endings(table: &Table<'_>, chosen: &[(String, String)]) -> Vec<String> {
    let told = (0..table.header.len()).filter_map(|column| {
        let head = &table.header[column];
        let name = plain_name(head);
        let is_chosen = chosen.iter().any(|(name, _)| name.eq_ignore_ascii_case(head));
        let is_message = name_of_messages(&name).is_some();
        outcome_of_name(&name).filter(|_| !is_chosen && !is_message)?;
        let cells = || table.cells(column).filter(|cell| !is_blank(cell));
        let unread = cells().find(|cell| !is_read(&name, cell))?;
        let quoted: String = foreign::one_line(unread).chars().take(REASON_LETTERS_MOST).collect();
        cells().any(|cell| is_read(&name, cell)).then(|| format!("{head:?} ({quoted:?})"))
    });
    told.chain(table.unread_endings.iter().cloned()).collect()
}

/// Whether a cell of a column of outcomes says something: a word for an outcome, a count of what
/// failed, or when a run finished.
fn is_read(name: &str, cell: &str) -> bool {
    is_word_of_endings(cell)
        || cells::is_number(cell)
        || when::parse(cell).is_some()
        || says_failed(name, cell, true)
}

/// Whether a text is a word for how a run ended.
pub(super) fn is_word_of_endings(cell: &str) -> bool {
    let word = cell.trim().to_lowercase();
    [&YES[..], &NO[..], &GOOD_ENDINGS[..], &BAD_ENDINGS[..]]
        .iter()
        .any(|words| words.contains(&word.as_str()))
}

/// Whether a name is of a column that says how runs ended.
pub(super) fn is_of_endings(head: &str) -> bool {
    let name = plain_name(head);
    ENDINGS.contains(&name.as_str())
        || CODES.contains(&name.as_str())
        || outcome_of_name(&name).is_some()
        || name_of_messages(&name).is_some()
}

/// Whether a name is of a column that is true where the run failed.
pub(super) fn is_of_failures(head: &str) -> bool {
    outcome_of_name(&plain_name(head)) == Some(Better::Lower)
}

/// Whether a name is of a column whose number is 0 where nothing went wrong.
pub(super) fn is_of_codes(head: &str) -> bool {
    CODES.contains(&plain_name(head).as_str())
}

/// Whether this cell of a column says that its run failed.
fn says_failed(name: &str, cell: &str, is_of_texts: bool) -> bool {
    let word = cell.to_lowercase();
    let word = word.as_str();
    if CODES.contains(&name) {
        return !is_code_of_success(word);
    }
    if !is_of_texts {
        return false;
    }
    let is_ending = ENDINGS.contains(&name) && BAD_ENDINGS.contains(&word);
    let is_message = name_of_messages(name).is_some_and(|name| is_message(name, word));
    let is_outcome = match outcome_of_name(name) {
        Some(Better::Higher) => NO.contains(&word) || BAD_ENDINGS.contains(&word),
        Some(Better::Lower) => YES.contains(&word) || BAD_ENDINGS.contains(&word),
        None => false,
    };
    // `psql: error: …`
    let is_told = BEGINNINGS.iter().any(|beginning| {
        word.starts_with(beginning)
            || word.split_once(": ").is_some_and(|(_, rest)| rest.starts_with(beginning))
    });
    is_outcome || is_ending || is_message || is_told
}

/// `0`, `0.0` as pandas writes numbers with gaps, `0x0`, `00000` of SQL, and words for it: any
/// other code, a signal's name and `HY000` among them, is of a failure.
fn is_code_of_success(word: &str) -> bool {
    let digits = word.strip_prefix("0x").unwrap_or(word).replace(',', ".");
    digits.parse() == Ok(0.0)
        || [&NO[..], &NO_MESSAGES[..], &GOOD_ENDINGS[..]].iter().any(|words| words.contains(&word))
}

/// Whether a column has what went wrong.
pub(super) fn is_of_messages(head: &str) -> bool {
    name_of_messages(&plain_name(head)).is_some()
}

/// The name that a column of messages has in the list: `last_error` ends as `error` does.
fn name_of_messages(name: &str) -> Option<&'static str> {
    ends_in(name, &MESSAGES)
}

/// The last of some words in which a name ends.
fn ends_in(name: &str, words: &[&'static str]) -> Option<&'static str> {
    words.iter().copied().rfind(|word| {
        name.strip_suffix(word).is_some_and(|rest| rest.is_empty() || rest.ends_with('_'))
    })
}

/// Which direction of a truth is good, by the word that its name ends in: `checksum_ok`.
fn outcome_of_name(name: &str) -> Option<Better> {
    if name.split('_').any(|word| NEGATIONS.contains(&word)) {
        return None;
    }
    match (ends_in(name, &FALSE_IF_FAILED).is_some(), ends_in(name, &TRUE_IF_FAILED).is_some()) {
        (true, false) => Some(Better::Higher),
        (false, true) => Some(Better::Lower),
        _ => None,
    }
}

/// Whether a text says what went wrong: under a name that may be a figure's, no number, and no
/// interval around one.
fn is_message(name: &str, word: &str) -> bool {
    let is_text =
        word.contains(char::is_alphabetic) && !NO_MESSAGES.contains(&word) && !NO.contains(&word);
    if !MAYBE_FIGURES.contains(&name) {
        return is_text;
    }
    is_text
        && word.starts_with(|c: char| !c.is_numeric() && !['±', '+', '-', '<', '>'].contains(&c))
        && !cells::resembles_a_number(word)
}

/// The name of a column as the lists have it: its last part, in small letters, words parted by `_`.
fn plain_name(head: &str) -> String {
    name_words(head.rsplit('.').next().unwrap_or_default()).join("_")
}

/// What a column of outcomes says in its cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OutcomeWords {
    /// True or false, of what the name says.
    YesOrNo,
    /// Good or bad.
    Ending,
}

/// Which words the cells of a column are, where all of them are outcomes and both are there.
pub(super) fn outcome_words(table: &Table<'_>, column: usize) -> Option<OutcomeWords> {
    let cells: Vec<String> = table
        .values(column)
        .into_iter()
        .filter(|cell| !is_blank(cell))
        .map(str::to_lowercase)
        .collect();
    if are_outcomes(&cells, &YES, &NO) {
        return Some(OutcomeWords::YesOrNo);
    }
    are_outcomes(&cells, &GOOD_ENDINGS, &BAD_ENDINGS).then_some(OutcomeWords::Ending)
}

/// Whether all cells are words of two kinds, and both kinds are there.
fn are_outcomes(cells: &[String], up: &[&str], down: &[&str]) -> bool {
    let ups = cells.iter().filter(|cell| up.contains(&cell.as_str())).count();
    let downs = cells.iter().filter(|cell| down.contains(&cell.as_str())).count();
    ups > 0 && downs > 0 && ups + downs == cells.len()
}

/// Which direction of an outcome is good, where its words or its name say so.
pub(super) fn outcome_direction(table: &Table<'_>, column: usize) -> Option<Better> {
    let head = &table.header[column];
    match outcome_words(table, column)? {
        OutcomeWords::Ending => Some(Better::Higher),
        OutcomeWords::YesOrNo => outcome_of_name(&plain_name(head)).or_else(|| {
            let said = names::name_meaning(head);
            said.better.filter(|_| said.is_of_faults || said.is_stated)
        }),
    }
}

/// Writes the cells of a column of outcomes as 1 and 0.
pub(super) fn write_numbers(table: &mut Table<'_>, column: usize) {
    for row in &mut table.rows {
        let word = row.cells[column].trim().to_lowercase();
        let is_yes = YES.contains(&word.as_str()) || GOOD_ENDINGS.contains(&word.as_str());
        if !is_blank(&word) {
            row.cells[column] = if is_yes { "1" } else { "0" }.to_owned();
        }
    }
}
