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
//! has a number of its own. What a key held at the beginning was read of a writer and a write
//! `bebeebee`, or `deadbeef` where there was no row; fences of Cobra read two more numbers that
//! stand for the beginning. What was rolled back is not logged, so that a log that ends within a
//! transaction leaves it unknown. Behind S and C there may be a time, which is passed over: it is
//! Cobra's own option, and nothing says what it counts.
//!
//! Facts: Tan et al., *Cobra*, OSDI 2020, and its published logs.

use super::sessions::{SessionOperation, Transaction, build_history};
use crate::bad_input::BadInput;
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
        each.collect::<Result<Vec<Vec<Transaction>>, BadInput>>()
    };
    let sessions = all(false).or_else(|bad| all(true).map_err(|_| bad))?;
    build_history(&sessions)
}

/// A transaction of a log that has not ended.
struct OpenTransaction {
    id: u64,
    /// The byte where it begins.
    begin: usize,
    ops: Vec<SessionOperation>,
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

    fn session(mut self) -> Result<Vec<Transaction>, BadInput> {
        let mut all = Vec::new();
        let mut open: Option<OpenTransaction> = None;
        while let Some(&letter) = self.bytes.get(self.at) {
            let begin = self.at;
            self.at += 1;
            match (letter, &mut open) {
                (b'S', None) => {
                    let id = self.transaction()?;
                    open = Some(OpenTransaction { id, begin, ops: Vec::new() });
                }
                (b'C', Some(OpenTransaction { id, .. })) => {
                    let ended = self.transaction()?;
                    if ended != *id {
                        return self.bad(format!("{ended:x} commits, and {id:x} had begun"));
                    }
                    all.extend(open.take().map(|open| self.told(open, TransactionOutcome::Ok)));
                }
                (b'W', Some(OpenTransaction { ops, .. })) => {
                    let [write, key, _] = [self.word()?, self.word()?, self.word()?];
                    let (key, value) = (format!("{key:x}"), format!("{write:x}"));
                    ops.push(SessionOperation::Write { key, value });
                }
                (b'R', Some(OpenTransaction { ops, .. })) => {
                    let (writer, write) = (self.word()?, self.word()?);
                    let [key, _] = [self.word()?, self.word()?];
                    let is_first = BEGINNING.contains(&writer)
                        && (BEGINNING.contains(&write) || FENCES.contains(&write));
                    let value = (!is_first).then(|| format!("{write:x}"));
                    ops.push(SessionOperation::Read { key: format!("{key:x}"), value });
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

    fn told(&self, open: OpenTransaction, outcome: TransactionOutcome) -> Transaction {
        let OpenTransaction { id, begin, ops } = open;
        let called = format!("{}, transaction {id:x}", self.name);
        let origin = Origin { called, unit: "byte", places: (begin, self.at - 1) };
        Transaction { ops, outcome, times: Times::default(), origin }
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
