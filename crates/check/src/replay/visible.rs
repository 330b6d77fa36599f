//! The independent judge of levels that say what a transaction must have seen.
//!
//! It knows the writers and the order, and asks of every read: is there a transaction that had to
//! be seen, wrote the key, and stands in the order behind the one that was read?

use std::collections::HashMap;

use crate::certificate::Certificate;
use crate::history::{ABSENT, History, INITIAL, Op, OperationKind, TransactionOutcome, WriteId};
use crate::level::Level;

/// Judges an order of commits.
pub(super) fn replay(
    history: &History,
    level: Level,
    certificate: &Certificate,
) -> Result<(), String> {
    let mut judge = Judge::new(history, level);
    for (at, &event) in certificate.events.iter().enumerate() {
        let txn = event as usize / 2;
        let is_new = txn < history.len() && event % 2 == 1 && judge.place[txn] == 0;
        if !is_new || history.outcome[txn] == TransactionOutcome::Failed {
            return Err(format!("event {at} is of no transaction that can commit now"));
        }
        judge.place[txn] = at + 1;
        judge.commit(txn).map_err(|what| format!("event {at}, transaction {txn}: {what}"))?;
    }
    let mut all = 0..history.len();
    match all.find(|&txn| history.outcome[txn] == TransactionOutcome::Ok && judge.place[txn] == 0) {
        Some(txn) => Err(format!("transaction {txn} committed and is missing")),
        None => Ok(()),
    }
}

struct Judge<'a> {
    history: &'a History,
    level: Level,
    /// By transaction, one more than its event; 0 until it is there.
    place: Vec<usize>,
    /// By id, one more than its writer; 0 if it has none.
    writer: Vec<u32>,
    /// By key, its writers so far, in order.
    writers: Vec<Vec<usize>>,
    /// By session, its transactions so far, and the latest place by key of what it must see.
    sessions: Vec<Vec<usize>>,
    must: Vec<HashMap<u32, usize>>,
    /// By transaction, how many of each session it must see; of causal consistency.
    clock: Vec<Vec<u32>>,
    /// By transaction, how many stand before it in its session.
    rank: Vec<usize>,
    /// By session and transaction that was read, the rank of the first one that read it.
    first_read: HashMap<(usize, usize), usize>,
}

impl<'a> Judge<'a> {
    fn new(history: &'a History, level: Level) -> Judge<'a> {
        let mut writer = vec![0; history.id_count as usize];
        for txn in
            (0..history.len()).filter(|&txn| history.outcome[txn] != TransactionOutcome::Failed)
        {
            for op in history.ops(txn).iter().filter(is_write) {
                writer[op.value as usize] = txn as u32 + 1;
            }
        }
        let (count, sessions) = (history.len(), history.session_count());
        Judge {
            history,
            level,
            place: vec![0; count],
            writer,
            writers: vec![Vec::new(); history.key_count as usize],
            sessions: vec![Vec::new(); sessions],
            must: vec![HashMap::new(); sessions],
            clock: vec![Vec::new(); count],
            rank: vec![0; count],
            first_read: HashMap::new(),
        }
    }

    fn commit(&mut self, txn: usize) -> Result<(), String> {
        let session = self.history.session[txn] as usize;
        let before = self.sessions[session].last().copied();
        if before.is_some_and(|before| before > txn) {
            return Err("it stands behind its session's next one".to_owned());
        }
        let ops = self.history.ops(txn);
        let is_external = |at: &usize| {
            let op = ops[*at];
            let is_own = ops[..*at].iter().any(|own| own.key == op.key && is_write(&own));
            matches!(op.kind, OperationKind::Read | OperationKind::CurrentRead)
                && op.value < ABSENT
                && !is_own
        };
        let reads: Vec<Op> = (0..ops.len()).filter(is_external).map(|at| ops[at]).collect();
        let sources: Vec<usize> = reads.iter().filter_map(|op| self.writer(op.value)).collect();
        if sources.iter().any(|source| self.place[*source] == 0) {
            return Err("it read of one that stands behind it".to_owned());
        }
        let mut replaced = ops.iter().filter(is_write).filter_map(|op| self.writer(op.prev));
        if replaced.any(|writer| writer != txn && self.place[writer] == 0) {
            return Err("it replaced what one wrote that stands behind it".to_owned());
        }
        self.rank[txn] = self.sessions[session].len();
        let misses = match self.level {
            Level::Causal => self.misses_past(txn, before, &reads, &sources),
            Level::MonotonicReadCommitted => self.misses_earlier(&reads),
            Level::MonotonicWrites | Level::WritesFollowReads => {
                self.misses_of_sources(&reads, &sources)
            }
            _ => self.misses(session, &reads, &sources),
        };
        if misses {
            return Err("it had to see a later version than it read".to_owned());
        }
        self.note(txn, session, &sources);
        Ok(())
    }

    /// The writer of a version.
    fn writer(&self, id: WriteId) -> Option<usize> {
        let known = self.writer.get(id as usize).copied().unwrap_or(0);
        (known > 0).then(|| known as usize - 1)
    }

    /// The place of what a read saw.
    fn seen(&self, read: &Op) -> usize {
        self.writer(read.value).map_or(0, |writer| self.place[writer])
    }

    fn misses(&self, session: usize, reads: &[Op], sources: &[usize]) -> bool {
        let is_whole = self.level == Level::ReadAtomic;
        reads.iter().any(|read| {
            let must = self.must[session].get(&read.key).copied().unwrap_or(0);
            let whole = sources.iter().filter(|source| is_whole && self.wrote(**source, read.key));
            let whole = whole.map(|source| self.place[*source]).max().unwrap_or(0);
            self.seen(read) < must.max(whole)
        })
    }

    /// Whether a read missed a write of a transaction that an earlier read had seen.
    fn misses_earlier(&self, reads: &[Op]) -> bool {
        reads.iter().enumerate().any(|(at, read)| {
            let seen = self.seen(read);
            let mut before = reads[..at].iter().filter_map(|earlier| self.writer(earlier.value));
            before.any(|writer| seen < self.place[writer] && self.wrote(writer, read.key))
        })
    }

    fn wrote(&self, txn: usize, key: u32) -> bool {
        self.history.ops(txn).iter().any(|op| op.key == key && is_write(&op))
    }

    fn misses_past(
        &mut self,
        txn: usize,
        before: Option<usize>,
        reads: &[Op],
        sources: &[usize],
    ) -> bool {
        let mut clock = vec![0_u32; self.sessions.len()];
        for &other in sources.iter().chain(&before) {
            for (own, its) in clock.iter_mut().zip(&self.clock[other]) {
                *own = (*own).max(*its);
            }
            let session = self.history.session[other] as usize;
            clock[session] = clock[session].max(self.rank[other] as u32 + 1);
        }
        self.clock[txn] = clock;
        reads.iter().any(|read| {
            let seen = self.seen(read);
            let behind = self.writers[read.key as usize].iter().rev();
            let mut behind = behind.take_while(|writer| self.place[**writer] > seen);
            behind.any(|writer| {
                let session = self.history.session[*writer] as usize;
                (self.rank[*writer] as u32) < self.clock[txn][session]
            })
        })
    }

    /// Whether a transaction stands behind what was read that the sessions of the transactions
    /// that were read had carried out before, or had read.
    fn misses_of_sources(&self, reads: &[Op], sources: &[usize]) -> bool {
        let session = |txn: usize| self.history.session[txn] as usize;
        let is_due = |other: usize| {
            sources.iter().any(|&source| match self.level {
                Level::MonotonicWrites => {
                    session(source) == session(other) && self.rank[other] < self.rank[source]
                }
                _ => {
                    let first = self.first_read.get(&(session(source), other));
                    first.is_some_and(|first| *first <= self.rank[source])
                }
            })
        };
        reads.iter().any(|read| {
            let seen = self.seen(read);
            let behind = self.writers[read.key as usize].iter().rev();
            let mut behind = behind.take_while(|writer| self.place[**writer] > seen);
            behind.any(|writer| is_due(*writer))
        })
    }

    /// From now on its session has written, and read, what it did.
    fn note(&mut self, txn: usize, session: usize, sources: &[usize]) {
        let place = self.place[txn];
        let rank = self.rank[txn];
        for &source in sources {
            self.first_read.entry((session, source)).or_insert(rank);
        }
        self.sessions[session].push(txn);
        let ops = self.history.ops(txn).iter().filter(is_write);
        for op in ops {
            if self.writers[op.key as usize].last() != Some(&txn) {
                self.writers[op.key as usize].push(txn);
            }
            if self.level != Level::MonotonicReads {
                self.must[session].insert(op.key, place);
            }
        }
        for &source in sources.iter().filter(|_| self.level == Level::MonotonicReads) {
            for op in self.history.ops(source).iter().filter(is_write) {
                let most = self.must[session].entry(op.key).or_insert(0);
                *most = (*most).max(self.place[source]);
            }
        }
    }
}

fn is_write(op: &&Op) -> bool {
    let is_write = matches!(
        op.kind,
        OperationKind::Write
            | OperationKind::Insert
            | OperationKind::Delete
            | OperationKind::Append
    );
    is_write && op.value != INITIAL
}
