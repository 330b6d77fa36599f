//! AWDIT's format for tests: sessions and transactions under each other.
//!
//! ```text
//!   w 0 1      session 0, transaction 0: it wrote 1 to key 0
//!   r 1 0
//!   -----      the next transaction
//!   r 0 1
//!   =====      the next session
//!   w 0 2
//! ```
//!
//! Facts: Møldrup and Pavlogiannis, *AWDIT*, PLDI 2025, and its tests. All transactions have
//! committed. Initial values are written by a session of their own, or are a `0` that none
//! writes.

use super::sessions::{SessionOperation, Transaction, build_history};
use crate::bad_input::{BadInput, bad_input_at};
use crate::history::{History, Origin, Times, TransactionOutcome};

/// Whether a text begins with an operation of this form.
pub(super) fn is_it(text: &str) -> bool {
    let mut words = text.lines().next().unwrap_or_default().split_whitespace();
    let is_op = matches!(words.next(), Some("r" | "w"));
    let is_number = |word: &str| word.bytes().all(|byte| byte.is_ascii_digit());
    let rest: Vec<&str> = words.collect();
    is_op && rest.len() == 2 && rest.iter().all(|word| is_number(word))
}

pub(super) fn read(text: &str) -> Result<History, BadInput> {
    let mut sessions: Vec<Vec<Transaction>> = vec![Vec::new()];
    let mut ops: Vec<SessionOperation> = Vec::new();
    let mut first = 1;
    let lines = text.lines().count();
    for (number, line) in (1..).zip(text.lines().chain(["="])) {
        let body = line.trim();
        let indent = line.len() - line.trim_start().len();
        let is_of = |byte: u8| !body.is_empty() && body.bytes().all(|other| other == byte);
        if is_of(b'-') || is_of(b'=') {
            let own = std::mem::take(&mut ops);
            if let Some(session) = sessions.last_mut().filter(|_| !own.is_empty()) {
                let last = (number - 1).min(lines);
                let origin = Origin { called: String::new(), unit: "line", places: (first, last) };
                let (outcome, times) = (TransactionOutcome::Ok, Times::default());
                session.push(Transaction { parts: own, outcome, times, origin });
            }
            if is_of(b'=') && sessions.last().is_some_and(|session| !session.is_empty()) {
                sessions.push(Vec::new());
            }
            first = number + 1;
        } else if !body.is_empty() {
            if ops.is_empty() {
                first = number;
            }
            ops.push(operation(body).map_err(|what| bad_input_at(number, indent + 1, what))?);
        }
    }
    sessions.retain(|session| !session.is_empty());
    build_history(&sessions)
}

fn operation(line: &str) -> Result<SessionOperation, String> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let [word, key, value] = words[..] else {
        return Err(format!("{line:?} is no operation; write one as r 0 1 or w 0 1"));
    };
    let (key, value) = (canonical_number(key)?, canonical_number(value)?);
    match word {
        "r" => Ok(SessionOperation::Read { key, value: Some(value) }),
        "w" => Ok(SessionOperation::Write { key, value }),
        other => Err(format!("{other} is no operation; there are r and w")),
    }
}

/// `007` as `7`, which AWDIT reads it as.
fn canonical_number(word: &str) -> Result<String, String> {
    let number = word.parse::<u64>().map_err(|_| format!("{word:?} is no whole number from 0"))?;
    Ok(number.to_string())
}
