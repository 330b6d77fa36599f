//! A server's own log beside what its clients were answered.
//!
//! ```text
//!   row log      T7: key 3, 12 ▶ 40      T9: key 3, 40 ▶ 41 · key 1, 5 ▶ 42      in commit order
//!   clients      every write of a confirmed commit stands there once, with the version that it
//!                replaced; nothing of what was rolled back does
//! ```
//!
//! Row images before and after tell the predecessor of every version, of blind writes too, and
//! whether a transaction of unknown outcome was committed. The same idea with other servers' logs:
//! Clark et al., *Validating Database System Isolation Level Implementations with Version
//! Certificate Recovery* (Emme), EuroSys 2024.

use std::collections::HashMap;
use std::fmt;

use crate::footprint::{Access, visit_accesses};
use crate::history::{
    ABSENT, History, INITIAL, KEY_BITS, Keys, OperationKind, TransactionOutcome, UNKNOWN, WriteId,
};

/// A change that the log has of a key: the versions before and after.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoggedChange {
    /// The key, as the history numbers it.
    pub key: u32,
    /// The version before; [`ABSENT`] of a row that was not there.
    pub before: WriteId,
    /// The version after; [`ABSENT`] of a row that is not there any more.
    pub after: WriteId,
}

/// What a log confirmed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LogAgrees {
    /// Transactions of the log.
    pub transactions: u64,
    /// Changes of the log.
    pub changes: u64,
    /// Transactions of unknown outcome that the log has, and those that it has not.
    pub unknown: (u64, u64),
}

/// Where log and clients differ first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LogDiffers {
    /// A version that no client wrote, or to another key.
    NotWritten(LoggedChange),
    /// A transaction that was rolled back, or refused.
    RolledBack(usize),
    /// A transaction whose changes stand in two places of the log.
    Twice(usize),
    /// A confirmed transaction of which the log lacks a version.
    Missing(usize, WriteId),
    /// A change that follows another version than the log's last one of the key, or than the one
    /// that clients saw before it.
    Follows(LoggedChange, WriteId),
}

impl History {
    /// The number of a key of a table, if the history has it.
    #[must_use]
    pub fn key_of(&self, table: u16, key: u64) -> Option<u32> {
        match &self.keys {
            Keys::Named(names) => {
                let name = format!("{table}.{key}");
                names.iter().position(|known| *known == name).map(|at| at as u32)
            }
            Keys::Ranked(packed) => {
                let wanted = u64::from(table) << KEY_BITS | key;
                packed.binary_search(&wanted).ok().map(|at| at as u32)
            }
            Keys::Ranges(ranges) => {
                let at = ranges.iter().position(|range| range.table == table)?;
                let next = ranges.get(at + 1).map_or(self.key_count, |range| range.first_dense);
                let offset = key.checked_sub(ranges[at].first_key)?;
                let dense = u64::from(ranges[at].first_dense) + offset;
                (dense < u64::from(next)).then_some(dense as u32)
            }
        }
    }

    /// Compares with the log, transactions in the order of their commits, and settles what became
    /// of transactions whose clients do not know it.
    ///
    /// # Errors
    /// The first difference.
    pub fn settle_by_log(&mut self, log: &[Vec<LoggedChange>]) -> Result<LogAgrees, LogDiffers> {
        let told = ClientReports::of(self);
        let mut place = vec![UNKNOWN; self.len()];
        let mut is_logged = vec![false; self.id_count as usize];
        let mut last = vec![INITIAL; self.key_count as usize];
        let mut agrees = LogAgrees::default();
        for (at, changes) in log.iter().enumerate() {
            agrees.transactions += 1;
            for change in changes {
                agrees.changes += 1;
                let change = &told.named(change, last[change.key as usize]);
                let txn = told.writer(change).ok_or(LogDiffers::NotWritten(*change))?;
                if self.outcome[txn] == TransactionOutcome::Failed {
                    return Err(LogDiffers::RolledBack(txn));
                }
                if place[txn] != UNKNOWN && place[txn] != at as u32 {
                    return Err(LogDiffers::Twice(txn));
                }
                place[txn] = at as u32;
                let seen = told.prev[change.after as usize];
                let before = [last[change.key as usize], seen];
                let wrong = before.into_iter().find(|id| *id < ABSENT && *id != change.before);
                if let Some(wrong) = wrong {
                    return Err(LogDiffers::Follows(*change, wrong));
                }
                last[change.key as usize] = change.after;
                is_logged[change.after as usize] = true;
            }
        }
        for (id, txn) in told.writes() {
            if self.outcome[txn] == TransactionOutcome::Ok && !is_logged[id as usize] {
                return Err(LogDiffers::Missing(txn, id));
            }
        }
        for (outcome, place) in self.outcome.iter_mut().zip(&place) {
            if *outcome == TransactionOutcome::Unknown {
                let is_there = *place != UNKNOWN;
                *outcome =
                    if is_there { TransactionOutcome::Ok } else { TransactionOutcome::Failed };
                agrees.unknown.0 += u64::from(is_there);
                agrees.unknown.1 += u64::from(!is_there);
            }
        }
        Ok(agrees)
    }
}

/// What clients said of versions.
struct ClientReports {
    /// By id, its writer and key.
    writer: Vec<(u32, u32)>,
    /// By id, what its writer or a reader said of the version before.
    prev: Vec<WriteId>,
    /// By key and the version that was deleted, the deletion.
    deletions: HashMap<(u32, WriteId), WriteId>,
    is_deletion: Vec<bool>,
}

impl ClientReports {
    fn of(history: &History) -> ClientReports {
        let ids = history.id_count as usize;
        let mut told = ClientReports {
            writer: vec![(UNKNOWN, UNKNOWN); ids],
            prev: vec![UNKNOWN; ids],
            deletions: HashMap::new(),
            is_deletion: vec![false; ids],
        };
        for txn in 0..history.len() {
            visit_accesses(history.ops(txn), |access| match access {
                Access::Write { op, own_before } if op.value != INITIAL && op.value < ABSENT => {
                    told.writer[op.value as usize] = (txn as u32, op.key);
                    let prev = own_before.unwrap_or(op.prev);
                    if op.kind == OperationKind::Delete
                        && history.outcome[txn] != TransactionOutcome::Failed
                    {
                        told.deletions.insert((op.key, prev), op.value);
                        told.is_deletion[op.value as usize] = true;
                    }
                    if prev < ABSENT {
                        told.prev[op.value as usize] = prev;
                    }
                }
                Access::Read(seen)
                    if seen.value != INITIAL
                        && seen.value < ABSENT
                        && seen.prev < ABSENT
                        && history.outcome[txn] == TransactionOutcome::Ok =>
                {
                    told.prev[seen.value as usize] = seen.prev;
                }
                _ => {}
            });
        }
        told
    }

    /// The change with the names that clients have for what is not there: a log has none.
    fn named(&self, change: &LoggedChange, last: WriteId) -> LoggedChange {
        let is_gone = last == INITIAL || self.is_deletion[last as usize];
        let before = match change.before {
            ABSENT if is_gone => last,
            before => before,
        };
        let after = match change.after {
            ABSENT => self.deletions.get(&(change.key, before)).copied().unwrap_or(ABSENT),
            after => after,
        };
        LoggedChange { before, after, ..*change }
    }

    fn writer(&self, change: &LoggedChange) -> Option<usize> {
        let (txn, key) = *self.writer.get(change.after as usize)?;
        (txn != UNKNOWN && key == change.key).then_some(txn as usize)
    }

    fn writes(&self) -> impl Iterator<Item = (WriteId, usize)> + '_ {
        let all = (0..).zip(&self.writer).filter(|(_, (txn, _))| *txn != UNKNOWN);
        all.map(|(id, (txn, _))| (id, *txn as usize))
    }
}

/// A version as a message names it: some numbers stand for what has none.
fn version_text(id: WriteId) -> String {
    match id {
        INITIAL => "the first version".to_owned(),
        ABSENT => "no row".to_owned(),
        UNKNOWN => "an unknown version".to_owned(),
        id => format!("version {id}"),
    }
}

impl fmt::Display for LogDiffers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LogDiffers::NotWritten(LoggedChange { key, before, after: ABSENT }) => {
                let before = version_text(*before);
                write!(f, "the log has a deletion of key {key}, {before}, which no client wrote")
            }
            LogDiffers::NotWritten(LoggedChange { key, after, .. }) => {
                let after = version_text(*after);
                write!(f, "the log has {after} of key {key}, which no client wrote")
            }
            LogDiffers::RolledBack(txn) => {
                write!(f, "the log has changes of T{txn}, which was rolled back")
            }
            LogDiffers::Twice(txn) => write!(f, "the log has T{txn} in two places"),
            LogDiffers::Missing(txn, id) => {
                let version = version_text(*id);
                write!(f, "T{txn} was committed, and the log lacks its {version}")
            }
            LogDiffers::Follows(LoggedChange { key, before, after }, wrong) => {
                let [before, after, wrong] = [*before, *after, *wrong].map(version_text);
                write!(
                    f,
                    "in the log {after} of key {key} follows {before}; clients, or the log \
                     before, say {wrong}"
                )
            }
        }
    }
}
