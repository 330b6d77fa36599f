//! Cobra's logs: a file of each session, an operation after the other.
//!
//! ```text
//!   S transaction                        it began
//!   R writer · write · key · value       it read what that transaction wrote there
//!   W write · key · value
//!   C transaction                        it committed
//! ```
//!
//! A letter, then words of 8 bytes, the most significant first. Keys and values are hashes; a write
//! has a number of its own, and a read that tells another writer or another value of it is a
//! garbage read. What a key held at the beginning was read of a writer and a write `bebeebee`, or
//! `deadbeef` where there was no row; fences of Cobra read two more numbers that stand for the
//! beginning. What was rolled back is not logged, so that a log that ends within a transaction
//! leaves it unknown. Behind S and C there may be a time, which is passed over: it is Cobra's own
//! option, and nothing says what it counts.
//!
//! Facts: Tan et al., *Cobra*, OSDI 2020, and its published logs.

use std::collections::HashMap;

use super::sessions::{SessionOperation, Transaction, build_from_parts, op_of};
use crate::bad_input::BadInput;
use crate::builder::Builder;
use crate::history::{History, Origin, Times, TransactionOutcome};

/// A transaction or write that stands for the beginning: of a row, of no row.
const BEGINNING: [u64; 2] = [0xbebe_ebee, 0xdead_beef];
/// Writes that Cobra's fences read of the beginning.
const FENCES: [u64; 2] = [0x2333_2333, 0x6666_6666];
/// Bytes of a word.
const WORD: usize = 8;

/// Whether the bytes may be meant: a transaction begins.
pub(super) fn is_it(bytes: &[u8]) -> bool {
    let next = |at: usize| bytes.get(at).copied();
    let after = next(1 + WORD);
    let is_op = |byte: Option<u8>| matches!(byte, Some(b'R' | b'W' | b'C'));
    next(0) == Some(b'S') && (is_op(after) || is_op(next(1 + 2 * WORD)))
}

/// Reads logs, of which each has the name of its file.
pub(super) fn read(logs: &[(&str, &[u8])]) -> Result<History, BadInput> {
    let all = |has_times: bool| {
        let each = logs.iter().map(|(name, bytes)| Log { name, bytes, at: 0, has_times }.session());
        each.collect::<Result<Vec<Vec<Transaction<LoggedOperation>>>, BadInput>>()
    };
    let sessions = all(false).or_else(|bad| all(true).map_err(|_| bad))?;
    let operations = || sessions.iter().flatten().flat_map(|transaction| &transaction.parts);
    let writers: HashMap<(u64, u64), (u64, u64)> = operations()
        .filter(|one| one.is_write)
        .map(|one| ((one.key, one.write), (one.writer, one.value)))
        .collect();
    build_from_parts(Builder::new(), &sessions, |builder, one, ops| {
        let written = writers.get(&(one.key, one.write)).copied();
        ops.push(op_of(builder, &one.told(written)));
    })
}

/// An operation as it is logged.
struct LoggedOperation {
    is_write: bool,
    /// The transaction that wrote, and the number of what it wrote.
    writer: u64,
    write: u64,
    key: u64,
    value: u64,
}

impl LoggedOperation {
    /// The operation, and whose write of which value has its number, if one has. A read of another
    /// writer or another value saw what nobody wrote.
    fn told(&self, written: Option<(u64, u64)>) -> SessionOperation {
        let LoggedOperation { is_write, writer, write, value, .. } = *self;
        let key = format!("{:x}", self.key);
        let is_first =
            BEGINNING.contains(&writer) && (BEGINNING.contains(&write) || FENCES.contains(&write));
        match written {
            _ if is_write => SessionOperation::Write { key, value: format!("{write:x}") },
            _ if is_first => SessionOperation::Read { key, value: None },
            Some(known) if known != (writer, value) => {
                let value = Some(format!("{write:x} of {writer:x}, as {value:x}"));
                SessionOperation::Read { key, value }
            }
            _ => SessionOperation::Read { key, value: Some(format!("{write:x}")) },
        }
    }
}

/// A transaction of a log that has not ended.
struct OpenTransaction {
    id: u64,
    /// The byte where it begins.
    begin: usize,
    parts: Vec<LoggedOperation>,
}

struct Log<'a> {
    name: &'a str,
    bytes: &'a [u8],
    at: usize,
    has_times: bool,
}

impl Log<'_> {
    fn bad<T>(&self, what: impl Into<String>) -> Result<T, BadInput> {
        Err(BadInput { place: format!("{}, byte {}", self.name, self.at), what: what.into() })
    }

    fn word(&mut self) -> Result<u64, BadInput> {
        let Some(bytes) = self.bytes.get(self.at..self.at + WORD) else {
            return self.bad("the log ends within an operation: it is cut off");
        };
        let mut word = [0; WORD];
        word.copy_from_slice(bytes);
        self.at += WORD;
        Ok(u64::from_be_bytes(word))
    }

    /// The number of a transaction, behind which there may be a time.
    fn transaction(&mut self) -> Result<u64, BadInput> {
        let id = self.word()?;
        if self.has_times {
            self.word()?;
        }
        Ok(id)
    }

    fn session(mut self) -> Result<Vec<Transaction<LoggedOperation>>, BadInput> {
        let mut all = Vec::new();
        let mut open: Option<OpenTransaction> = None;
        while let Some(&letter) = self.bytes.get(self.at) {
            let begin = self.at;
            self.at += 1;
            match (letter, &mut open) {
                (b'S', None) => {
                    let id = self.transaction()?;
                    open = Some(OpenTransaction { id, begin, parts: Vec::new() });
                }
                (b'C', Some(OpenTransaction { id, .. })) => {
                    let ended = self.transaction()?;
                    if ended != *id {
                        return self.bad(format!("{ended:x} commits, and {id:x} had begun"));
                    }
                    all.extend(open.take().map(|open| self.told(open, TransactionOutcome::Ok)));
                }
                (b'W' | b'R', Some(OpenTransaction { id, parts, .. })) => {
                    let is_write = letter == b'W';
                    let writer = if is_write { *id } else { self.word()? };
                    let [write, key, value] = [self.word()?, self.word()?, self.word()?];
                    parts.push(LoggedOperation { is_write, writer, write, key, value });
                }
                (b'S', Some(OpenTransaction { id, .. })) => {
                    let what = format!("a transaction begins, and {id:x} has not ended");
                    return self.bad(what);
                }
                (b'C' | b'W' | b'R', None) => {
                    let what = format!("{} outside of a transaction", char::from(letter));
                    return self.bad(what);
                }
                (other, _) => {
                    let what = format!("{other} is no operation of Cobra; there are S, R, W and C");
                    return self.bad(what);
                }
            }
        }
        all.extend(open.map(|open| self.told(open, TransactionOutcome::Unknown)));
        Ok(all)
    }

    fn told(
        &self,
        open: OpenTransaction,
        outcome: TransactionOutcome,
    ) -> Transaction<LoggedOperation> {
        let OpenTransaction { id, begin, parts } = open;
        let called = format!("{}, transaction {id:x}", self.name);
        let origin = Origin { called, unit: "byte", places: (begin, self.at - 1) };
        Transaction { parts, outcome, times: Times::default(), origin }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::{Checker, LevelVerdict};
    use crate::level::Level;

    fn log(ops: &[(u8, &[u64])]) -> Vec<u8> {
        let mut bytes = Vec::new();
        for (letter, words) in ops {
            bytes.push(*letter);
            words.iter().for_each(|word| bytes.extend(word.to_be_bytes()));
        }
        bytes
    }

    fn anomaly(logs: &[Vec<u8>]) -> Option<String> {
        let named: Vec<(&str, &[u8])> = logs.iter().map(|log| ("T0.log", &log[..])).collect();
        let history = read(&named).unwrap();
        let verdict = Checker::new(&history).level_verdict(Level::Serializable);
        assert!(!matches!(verdict, LevelVerdict::CannotTell(_)));
        verdict.anomaly().map(str::to_owned)
    }

    #[test]
    fn a_write_skew_is_found_with_times_and_without() {
        let none = BEGINNING[0];
        let one = |txn: u64, read: u64, write: u64| {
            log(&[
                (b'S', &[txn]),
                (b'R', &[none, none, read, 9]),
                (b'W', &[txn, write, 7]),
                (b'C', &[txn]),
            ])
        };
        let found = anomaly(&[one(4, 1, 2), one(5, 2, 1)]);
        assert_eq!(found.as_deref(), Some("write skew (G2-item)"));
        let timed = |txn: u64, read: u64, write: u64| {
            log(&[
                (b'S', &[txn, 100]),
                (b'R', &[BEGINNING[1], BEGINNING[1], read, 0]),
                (b'W', &[txn, write, 7]),
                (b'C', &[txn, 200]),
            ])
        };
        assert!(is_it(&timed(4, 1, 2)));
        let found = anomaly(&[timed(4, 1, 2), timed(5, 2, 1)]);
        assert_eq!(found.as_deref(), Some("write skew (G2-item)"));
    }

    /// In Cobra's published logs, 3.4 million reads tell writer and value of what they read.
    #[test]
    fn a_read_of_another_writer_or_value_saw_what_nobody_wrote() {
        let found = |writer: u64, value: u64| {
            let write = log(&[(b'S', &[4]), (b'W', &[7, 1, 11]), (b'C', &[4])]);
            let read = log(&[(b'S', &[5]), (b'R', &[writer, 7, 1, value]), (b'C', &[5])]);
            anomaly(&[write, read])
        };
        assert_eq!(found(4, 11), None);
        for (writer, value) in [(6, 11), (4, 12)] {
            assert_eq!(found(writer, value).as_deref(), Some("garbage read"), "{writer} {value}");
        }
    }

    #[test]
    fn what_is_wrong_is_told_with_its_byte() {
        let told = |bytes: &[u8]| read(&[("T3.log", bytes)]).unwrap_err().to_string();
        let cut = log(&[(b'S', &[4]), (b'W', &[1, 2])]);
        assert_eq!(told(&cut), "T3.log, byte 26: the log ends within an operation: it is cut off");
        let twice = log(&[(b'S', &[4]), (b'S', &[5])]);
        assert_eq!(told(&twice), "T3.log, byte 10: a transaction begins, and 4 has not ended");
        let other = log(&[(b'S', &[4]), (b'C', &[5])]);
        assert_eq!(told(&other), "T3.log, byte 18: 5 commits, and 4 had begun");
        // A log that ends within a transaction does not say whether that committed.
        let open = log(&[(b'S', &[4]), (b'W', &[1, 2, 3])]);
        assert_eq!(read(&[("T3.log", &open)]).unwrap().txn(0).outcome, TransactionOutcome::Unknown);
    }
}
