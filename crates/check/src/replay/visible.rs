//! The independent judge of levels that say what a transaction must have seen.
//!
//! It knows the writers and the order, and asks of every read: is there a transaction that had to
//! be seen, wrote the key, and stands in the order behind the one that was read?

use std::collections::{BTreeSet, HashMap};

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
    /// By session, its confirmed transactions so far, and the latest place by key of what it must
    /// see: none follows a commit that nobody confirmed.
    sessions: Vec<Vec<usize>>,
    must: Vec<HashMap<u32, usize>>,
    /// By session, one more than the last of its transactions that stands in the order so far.
    latest: Vec<usize>,
    /// By transaction, how many of each session it must see, and the unconfirmed ones; of causal
    /// consistency.
    clock: Vec<Vec<u32>>,
    unconfirmed: Vec<BTreeSet<usize>>,
    /// By transaction, how many confirmed ones stand before it in its session.
    rank: Vec<usize>,
    /// By transaction, those that it read.
    sources: Vec<Vec<usize>>,
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
            latest: vec![0; sessions],
            clock: vec![Vec::new(); count],
            unconfirmed: vec![BTreeSet::new(); count],
            rank: vec![0; count],
            sources: vec![Vec::new(); count],
            first_read: HashMap::new(),
        }
    }

    fn commit(&mut self, txn: usize) -> Result<(), String> {
        let session = self.history.session[txn] as usize;
        if self.is_confirmed(txn) && self.latest[session] > txn + 1 {
            return Err("it stands behind its session's next one".to_owned());
        }
        self.latest[session] = self.latest[session].max(txn + 1);
        self.rank[txn] = self.sessions[session].partition_point(|other| *other < txn);
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
        self.sources[txn].clone_from(&sources);
        let misses = match self.level {
            Level::Causal => self.misses_past(txn, session, &reads),
            Level::MonotonicReadCommitted => self.misses_earlier(&reads),
            Level::MonotonicWrites | Level::WritesFollowReads => {
                self.misses_of_sources(&reads, &sources)
            }
            _ => self.misses(txn, session, &reads),
        };
        if misses {
            return Err("it had to see a later version than it read".to_owned());
        }
        self.note(txn, session);
        Ok(())
    }

    fn is_confirmed(&self, txn: usize) -> bool {
        self.history.outcome[txn] != TransactionOutcome::Unknown
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

    fn misses(&self, txn: usize, session: usize, reads: &[Op]) -> bool {
        let is_whole = self.level == Level::ReadAtomic;
        let earlier = &self.sessions[session][..self.rank[txn]];
        let is_last = earlier.len() == self.sessions[session].len();
        reads.iter().any(|read| {
            let must = match self.must[session].get(&read.key) {
                Some(&must) if is_last => must,
                Some(_) => self.due_place(earlier, read.key),
                None => 0,
            };
            let sources = self.sources[txn].iter();
            let whole = sources.filter(|source| is_whole && self.wrote(**source, read.key));
            let whole = whole.map(|source| self.place[*source]).max().unwrap_or(0);
            self.seen(read) < must.max(whole)
        })
    }

    /// The latest place of a key that some transactions of a session ask the next one to see.
    fn due_place(&self, earlier: &[usize], key: u32) -> usize {
        let is_of_reads = self.level == Level::MonotonicReads;
        let due = earlier.iter().flat_map(|own| {
            if is_of_reads { self.sources[*own].as_slice() } else { std::slice::from_ref(own) }
        });
        due.filter(|own| self.wrote(**own, key)).map(|own| self.place[*own]).max().unwrap_or(0)
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

    fn misses_past(&mut self, txn: usize, session: usize, reads: &[Op]) -> bool {
        let mut clock = vec![0_u32; self.sessions.len()];
        let mut unconfirmed = BTreeSet::new();
        let before = self.sessions[session][..self.rank[txn]].last();
        for &other in self.sources[txn].iter().chain(before) {
            for (own, its) in clock.iter_mut().zip(&self.clock[other]) {
                *own = (*own).max(*its);
            }
            unconfirmed.extend(&self.unconfirmed[other]);
            let session = self.history.session[other] as usize;
            if self.is_confirmed(other) {
                clock[session] = clock[session].max(self.rank[other] as u32 + 1);
            } else {
                unconfirmed.insert(other);
            }
        }
        self.clock[txn] = clock;
        self.unconfirmed[txn] = unconfirmed;
        reads.iter().any(|read| {
            let seen = self.seen(read);
            let behind = self.writers[read.key as usize].iter().rev();
            let mut behind = behind.take_while(|writer| self.place[**writer] > seen);
            behind.any(|writer| {
                let session = self.history.session[*writer] as usize;
                if self.is_confirmed(*writer) {
                    (self.rank[*writer] as u32) < self.clock[txn][session]
                } else {
                    self.unconfirmed[txn].contains(writer)
                }
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
                    let is_own = session(source) == session(other) && self.is_confirmed(other);
                    is_own && self.rank[other] < self.rank[source]
                }
                _ => {
                    let first = self.first_read.get(&(session(source), other));
                    self.sources[source].contains(&other)
                        || first.is_some_and(|first| *first < self.rank[source])
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

    /// From now on its session has written, and read, what it did, if that is confirmed.
    fn note(&mut self, txn: usize, session: usize) {
        let place = self.place[txn];
        let rank = self.rank[txn];
        for op in self.history.ops(txn).iter().filter(is_write) {
            if self.writers[op.key as usize].last() != Some(&txn) {
                self.writers[op.key as usize].push(txn);
            }
        }
        if !self.is_confirmed(txn) {
            return;
        }
        for &source in &self.sources[txn] {
            self.first_read.entry((session, source)).or_insert(rank);
        }
        self.sessions[session].push(txn);
        for op in self.history.ops(txn).iter().filter(is_write) {
            if self.level != Level::MonotonicReads {
                self.must[session].insert(op.key, place);
            }
        }
        let sources = self.sources[txn].iter();
        for &source in sources.filter(|_| self.level == Level::MonotonicReads) {
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
