//! What the parsers of formats share: how they say what is wrong, and where.

use std::fmt;

use dbdyno_json::Wrong;

use crate::history::{Times, TransactionOutcome, Txn};

/// A message has at most so many letters of its beginning, and of its end, where the advice stands.
/// What it quotes is somebody's, and may be of any size.
const BEGINNING_MOST: usize = 600;
const END_MOST: usize = 300;

/// What is wrong with a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadInput {
    /// Where: `line 3, column 7`, or `byte 96`.
    pub place: String,
    /// A sentence that says what stands there, and what could.
    pub what: String,
}

impl fmt::Display for BadInput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let letters = self.what.chars().count();
        if letters <= BEGINNING_MOST + END_MOST {
            return write!(f, "{}: {}", self.place, self.what);
        }
        let beginning: String = self.what.chars().take(BEGINNING_MOST).collect();
        let end: String = self.what.chars().skip(letters - END_MOST).collect();
        write!(f, "{}: {beginning} […] {end}", self.place)
    }
}

/// A sentence about a place of a text.
pub(crate) fn bad_input_at(line: usize, column: usize, what: impl Into<String>) -> BadInput {
    BadInput { place: format!("line {line}, column {column}"), what: what.into() }
}

/// What is wrong with JSON, at its place in a text that begins in this line.
pub(crate) fn bad_json(first_line: usize, wrong: Wrong) -> BadInput {
    bad_input_at(first_line + wrong.line - 1, wrong.column, wrong.what)
}

/// A transaction without a token.
pub(crate) fn txn(session: u32, outcome: TransactionOutcome, times: Times) -> Txn {
    Txn { session, outcome, times, token: 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_huge_token_is_not_repeated_as_a_whole() {
        let told = bad_input_at(
            3,
            7,
            format!("{} is no operation; there are r and w", "ä".repeat(20_000)),
        );
        let told = told.to_string();
        assert!(told.starts_with("line 3, column 7: ää") && told.chars().count() < 1_000, "{told}");
        assert!(told.ends_with("is no operation; there are r and w"), "{told}");
        assert_eq!(bad_input_at(1, 2, "short").to_string(), "line 1, column 2: short");
    }
}
