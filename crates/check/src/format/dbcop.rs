//! dbcop's binary form: a history of registers, session by session.
//!
//! ```text
//!   parameters   id · sessions · variables · transactions · events       5 words
//!   texts        information, start, end                                 length, then bytes
//!   sessions     count, of each: transactions  count, of each: events    count
//!   event        1 byte (1 = write) · variable · value · 1 byte (1 = it succeeded)
//!   …            after the events of a transaction 1 byte (1 = it committed)
//! ```
//!
//! Words have 8 bytes, little-endian: bincode 1 of the structures of dbcop (Biswas, Enea, *On the
//! Complexity of Checking Transactional Consistency*, OOPSLA 2019). There are no times; a value 0
//! that no transaction writes is what a variable held at the beginning.

use super::sessions::{SessionOperation, Transaction, build_history};
use super::stated_counts::StatedCounts;
use crate::bad_input::BadInput;
use crate::history::{History, Origin, Times, TransactionOutcome};

/// Bytes of a transaction without events, and of a session without transactions.
const LEAST: [u64; 3] = [9, 8, 18];

/// Whether the bytes may be meant: where the start stands, there is a date.
pub(super) fn is_it(bytes: &[u8]) -> bool {
    let mut input = Input { bytes, at: 40 };
    let start = input.text().and_then(|_| input.text());
    start.is_ok_and(|start| start.len() >= 19 && start[4] == b'-' && start[10] == b'T')
}

pub(super) fn read(bytes: &[u8]) -> Result<History, BadInput> {
    let mut input = Input { bytes, at: 0 };
    let _id = input.word()?;
    let stated = StatedCounts {
        sessions: Some(input.word()?),
        variables: Some(input.word()?),
        transactions: Some(input.word()?),
        events: Some(input.word()?),
    };
    for _ in 0..3 {
        input.text()?;
    }
    let mut sessions: Vec<Vec<Transaction>> = Vec::new();
    for number in 0..input.count(LEAST[1])? {
        let mut session = Vec::new();
        for at in 0..input.count(LEAST[0])? as usize {
            let called = format!("session {number}");
            let origin = Origin { called, unit: "transaction", places: (at, at) };
            session.push(input.transaction(origin)?);
        }
        sessions.push(session);
    }
    if input.at < bytes.len() {
        return input.bad("more bytes than the history says");
    }
    let fit = stated.require_sessions(&sessions);
    fit.map_err(|what| BadInput { place: "bytes 0 to 39".to_owned(), what })?;
    build_history(&sessions)
}

struct Input<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Input<'a> {
    fn bad<T>(&self, what: impl Into<String>) -> Result<T, BadInput> {
        Err(BadInput { place: format!("byte {}", self.at), what: what.into() })
    }

    fn take(&mut self, count: usize) -> Result<&'a [u8], BadInput> {
        let end = self.at.checked_add(count).filter(|end| *end <= self.bytes.len());
        let Some(end) = end else { return self.bad("the file ends within a history of dbcop") };
        let taken = &self.bytes[self.at..end];
        self.at = end;
        Ok(taken)
    }

    fn word(&mut self) -> Result<u64, BadInput> {
        let mut word = [0; 8];
        word.copy_from_slice(self.take(8)?);
        Ok(u64::from_le_bytes(word))
    }

    /// How many things follow, of which each takes at least `least` bytes.
    fn count(&mut self, least: u64) -> Result<u64, BadInput> {
        let count = self.word()?;
        let rest = (self.bytes.len() - self.at) as u64;
        if count > rest / least {
            return self.bad(format!("{count} things of {least} bytes in {rest} bytes"));
        }
        Ok(count)
    }

    fn text(&mut self) -> Result<&'a [u8], BadInput> {
        let length = self.count(1)?;
        self.take(length as usize)
    }

    fn flag(&mut self) -> Result<bool, BadInput> {
        match self.take(1)? {
            [0] => Ok(false),
            [1] => Ok(true),
            [other] => self.bad(format!("{other} where 0 or 1 should be")),
            _ => self.bad("the file ends within a history of dbcop"),
        }
    }

    fn transaction(&mut self, origin: Origin) -> Result<Transaction, BadInput> {
        let mut ops = Vec::new();
        for _ in 0..self.count(LEAST[2])? {
            ops.extend(self.event()?);
        }
        let outcome =
            if self.flag()? { TransactionOutcome::Ok } else { TransactionOutcome::Failed };
        Ok(Transaction { parts: ops, outcome, times: Times::default(), origin })
    }

    /// An event; none if it did not succeed: it read or wrote nothing.
    fn event(&mut self) -> Result<Option<SessionOperation>, BadInput> {
        let is_write = self.flag()?;
        let [key, value] = [self.word()?, self.word()?].map(|word| word.to_string());
        let has_succeeded = self.flag()?;
        let event = if is_write {
            SessionOperation::Write { key, value }
        } else {
            SessionOperation::Read { key, value: Some(value) }
        };
        Ok(has_succeeded.then_some(event))
    }
}
