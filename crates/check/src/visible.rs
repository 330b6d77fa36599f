//! Levels that say what a transaction must have seen: read-your-writes, monotonic reads, monotonic
//! writes, writes follow reads, read committed with sessions, read atomicity, causal consistency.
//!
//! ```text
//!   t2 ──must be seen by──▶ t         t2 and t1 both wrote x, and t read it of t1:
//!   t1 ──────was read by──▶ t         so t2 came before t1        an edge, inferred
//! ```
//!
//! A level is a rule for which transactions must be seen: earlier ones of the session
//! (read-your-writes), those that earlier ones of the session had read (monotonic reads), earlier
//! ones of the session that was read from (monotonic writes), those that they and the transaction
//! that was read had read (writes follow reads), those that an earlier read of the transaction saw
//! (read committed of Biswas and Enea), those that were read or are earlier in the session (read
//! atomic), and all from which a path of both leads here (causal). It holds if some order of the
//! transactions agrees with sessions, reads, what is known of versions, and all inferred edges:
//! Biswas, Enea, *On the Complexity of Checking Transactional Consistency*, OOPSLA 2019; the four
//! of sessions: Terry et al., PDIS 1994. No order of versions needs to be known.
//!
//! Only inferred edges that run against a line are looked for: t2 stands between t1 and t in it,
//! for what is seen stands before. With them there is another line, or a cycle, and the
//! search begins again: edges are only added, so that it ends. In most histories the first line
//! has none. What is seen causally is told by vector clocks, as in Møldrup and Pavlogiannis,
//! *AWDIT*, PLDI 2025.

use std::collections::HashMap;

use crate::footprint::{Access, visit_accesses};
use crate::history::{ABSENT, History, INITIAL, UNKNOWN, WriteId};
use crate::layout::Node;
use crate::level::{Dependency, Level};
use crate::region::Label;
use crate::versions::Versions;

/// Words of clocks that are kept at most: 8 GiB.
const CLOCKS_AT_MOST: usize = 1 << 31;

/// One external read.
#[derive(Clone, Copy, Debug)]
struct ExternalRead {
    key: u32,
    /// The writer of what it saw, or UNKNOWN for INITIAL.
    writer: u32,
    version: WriteId,
}

/// Reads and last writes of all transactions that count as committed.
struct Table {
    reads: Vec<ExternalRead>,
    first_read: Vec<u32>,
    /// By transaction in order, sorted by key.
    writes: Vec<u32>,
    first_write: Vec<u32>,
    /// By transaction, how many confirmed ones stand before it in its session.
    rank: Vec<u32>,
    /// By transaction, one more than the last of these, 0 if there is none.
    before: Vec<u32>,
    /// By transaction, its session, or a lane of its own where that went on without its outcome,
    /// and its place there.
    lane: Vec<(u32, u32)>,
    lanes: usize,
    /// By transaction, whether it has such a lane: see [`History::open_within_sessions`].
    is_aside: Vec<bool>,
}

impl Table {
    fn of(history: &History, versions: &Versions) -> Table {
        let mut table = Table {
            reads: Vec::new(),
            first_read: vec![0],
            writes: Vec::new(),
            first_write: vec![0],
            rank: Vec::with_capacity(history.len()),
            before: Vec::with_capacity(history.len()),
            lane: Vec::with_capacity(history.len()),
            lanes: history.session_count(),
            is_aside: history.open_within_sessions(&versions.is_in),
        };
        let mut counts = vec![0; history.session_count()];
        let mut last = vec![0; history.session_count()];
        for txn in 0..history.len() {
            let session = history.session[txn] as usize;
            table.rank.push(counts[session]);
            table.before.push(last[session]);
            table.lane.push((session as u32, counts[session]));
            if table.is_aside[txn] {
                table.lane[txn] = (table.lanes as u32, 0);
                table.lanes += 1;
            } else if versions.is_in[txn] {
                counts[session] += 1;
                last[session] = txn as u32 + 1;
            }
            if versions.is_in[txn] {
                table.add(history, versions, txn);
            }
            table.first_read.push(table.reads.len() as u32);
            table.first_write.push(table.writes.len() as u32);
        }
        table
    }

    fn add(&mut self, history: &History, versions: &Versions, txn: usize) {
        let begin = self.writes.len();
        visit_accesses(history.ops(txn), |access| match access {
            Access::Read(seen) => {
                let (key, version) = (seen.key, versions.resolved_version(&seen));
                let writer = match version {
                    UNKNOWN => return,
                    INITIAL => UNKNOWN,
                    version => versions.writer_of(version),
                };
                let is_known = version == INITIAL || (writer != UNKNOWN && writer != txn as u32);
                if is_known && (version == INITIAL || versions.is_in[writer as usize]) {
                    self.reads.push(ExternalRead { key, writer, version });
                }
            }
            Access::Write { op, .. } if op.value != INITIAL && op.value < ABSENT => {
                self.writes.push(op.key);
            }
            _ => {}
        });
        self.writes[begin..].sort_unstable();
        let mut kept = begin;
        for at in begin..self.writes.len() {
            if at == begin || self.writes[at] != self.writes[at - 1] {
                self.writes[kept] = self.writes[at];
                kept += 1;
            }
        }
        self.writes.truncate(kept);
    }

    fn reads(&self, txn: u32) -> &[ExternalRead] {
        let txn = txn as usize;
        &self.reads[self.first_read[txn] as usize..self.first_read[txn + 1] as usize]
    }

    fn has_read_of(&self, txn: u32, other: u32) -> bool {
        self.reads(txn).iter().any(|read| read.writer == other)
    }

    fn writes(&self, txn: u32) -> &[u32] {
        let txn = txn as usize;
        &self.writes[self.first_write[txn] as usize..self.first_write[txn + 1] as usize]
    }
}

/// Which transactions must be seen by which, at one level.
pub(crate) struct Visible<'a> {
    history: &'a History,
    versions: &'a Versions,
    level: Level,
    table: Table,
    /// By session and writer, the place of the first one that read it; for levels that ask for it.
    first_reader: HashMap<(u32, u32), u32>,
    clocks: Clocks,
}

/// Inferred edges.
pub(crate) type Edges = Vec<(Node, Node, Label)>;

impl<'a> Visible<'a> {
    /// Looks at all reads, given a line of all commits in which reads and sessions run forward.
    ///
    /// # Errors
    /// A sentence, if the clocks would not fit into memory.
    pub(crate) fn new(
        history: &'a History,
        versions: &'a Versions,
        level: Level,
        line: &[Node],
    ) -> Result<Visible<'a>, String> {
        let table = Table::of(history, versions);
        let (first_reader, clocks) = (HashMap::new(), Clocks { words: Vec::new(), lanes: 0 });
        let mut visible = Visible { history, versions, level, table, first_reader, clocks };
        match level {
            Level::MonotonicReads | Level::WritesFollowReads => visible.note_readers(),
            Level::Causal => visible.tick(line)?,
            _ => {}
        }
        Ok(visible)
    }

    /// The inferred edges that run against a line.
    pub(crate) fn backward_edges(&self, line: &[Node]) -> Edges {
        let mut place = vec![0; self.history.len()];
        for (at, node) in line.iter().enumerate() {
            place[*node as usize / 2] = at as u32;
        }
        let writers = self.writers(line);
        let mut found = Edges::new();
        for txn in line.iter().map(|node| node / 2) {
            for (at, read) in self.table.reads(txn).iter().enumerate() {
                let all = writers.of(read.key);
                let place_of = |writer: &u32| place[*writer as usize];
                let first = match read.writer {
                    UNKNOWN => 0,
                    writer => all.partition_point(|other| place_of(other) <= place_of(&writer)),
                };
                let between =
                    all[first..].iter().take_while(|other| place_of(other) < place[txn as usize]);
                let seen = between.filter(|other| self.must_see(txn, at, **other));
                found.extend(seen.map(|other| edge(*other, read, txn)));
            }
        }
        found
    }

    /// By key, its writers, in the order of the line.
    fn writers(&self, line: &[Node]) -> Writers {
        let keys = self.history.key_count as usize;
        let mut first = vec![0_u32; keys + 2];
        for key in &self.table.writes {
            first[*key as usize + 2] += 1;
        }
        for at in 1..first.len() {
            first[at] += first[at - 1];
        }
        let mut all = vec![0; self.table.writes.len()];
        for txn in line.iter().map(|node| node / 2) {
            for key in self.table.writes(txn) {
                let at = &mut first[*key as usize + 1];
                all[*at as usize] = txn;
                *at += 1;
            }
        }
        Writers { first, all }
    }

    /// Whether one that stands before in the line must be seen by a read.
    fn must_see(&self, txn: u32, at: usize, other: u32) -> bool {
        let table = &self.table;
        match self.level {
            Level::ReadYourWrites => self.is_earlier(other, txn),
            Level::MonotonicReads => self.has_session_read(txn, other),
            Level::MonotonicWrites => {
                self.sources(txn).any(|source| self.is_earlier(other, source))
            }
            Level::WritesFollowReads => self.sources(txn).any(|source| {
                table.has_read_of(source, other) || self.has_session_read(source, other)
            }),
            Level::MonotonicReadCommitted => {
                table.reads(txn)[..at].iter().any(|read| read.writer == other)
            }
            Level::ReadAtomic => self.is_earlier(other, txn) || table.has_read_of(txn, other),
            _ => {
                let (lane, place) = table.lane[other as usize];
                self.clocks.of(txn)[lane as usize] > place
            }
        }
    }

    /// Whether one was confirmed before its session asked for the other.
    fn is_earlier(&self, one: u32, other: u32) -> bool {
        let session = &self.history.session;
        let rank = &self.table.rank;
        session[one as usize] == session[other as usize]
            && !self.table.is_aside[one as usize]
            && rank[one as usize] < rank[other as usize]
    }

    /// Whether a confirmed one before a transaction in its session had read of another one.
    fn has_session_read(&self, txn: u32, other: u32) -> bool {
        let first = self.first_reader.get(&(self.history.session[txn as usize], other));
        first.is_some_and(|first| *first < self.table.rank[txn as usize])
    }

    /// Those that a transaction read.
    fn sources(&self, txn: u32) -> impl Iterator<Item = u32> + '_ {
        let writers = self.table.reads(txn).iter().map(|read| read.writer);
        writers.filter(|writer| *writer != UNKNOWN)
    }

    fn note_readers(&mut self) {
        let is_aside = &self.table.is_aside;
        let own = |&txn: &usize| self.versions.is_in[txn] && !is_aside[txn];
        for txn in (0..self.history.len()).filter(own) {
            let (session, rank) = (self.history.session[txn], self.table.rank[txn]);
            for read in self.table.reads(txn as u32).iter().filter(|r| r.writer != UNKNOWN) {
                self.first_reader.entry((session, read.writer)).or_insert(rank);
            }
        }
    }

    /// Works out the clocks.
    fn tick(&mut self, line: &[Node]) -> Result<(), String> {
        let lanes = self.table.lanes;
        let words = self.history.len().saturating_mul(lanes);
        if words > CLOCKS_AT_MOST {
            return Err(format!("clocks of {lanes} sessions need too much memory"));
        }
        self.clocks = Clocks { words: vec![0; words], lanes };
        for txn in line.iter().map(|node| node / 2) {
            self.clocks.begin(txn, self.table.before[txn as usize]);
            for read in self.table.reads(txn).iter().filter(|read| read.writer != UNKNOWN) {
                let (lane, place) = self.table.lane[read.writer as usize];
                self.clocks.see(txn, read.writer, lane as usize, place);
            }
            let (lane, place) = self.table.lane[txn as usize];
            self.clocks.end(txn, lane as usize, place);
        }
        Ok(())
    }
}

/// `seen` had to be seen by `txn`, and wrote the key of the read.
fn edge(seen: u32, read: &ExternalRead, txn: u32) -> (Node, Node, Label) {
    let (key, version) = (read.key, read.version);
    let commit = |txn: u32| 2 * txn + 1;
    if read.writer == UNKNOWN {
        let dependency = Some(Dependency::Anti);
        return (commit(txn), commit(seen), Label { dependency, key, version, by: UNKNOWN });
    }
    let label = Label { dependency: Some(Dependency::Seen), key, version, by: txn };
    (commit(seen), commit(read.writer), label)
}

/// By key, transactions.
struct Writers {
    first: Vec<u32>,
    all: Vec<u32>,
}

impl Writers {
    fn of(&self, key: u32) -> &[u32] {
        let key = key as usize;
        &self.all[self.first[key] as usize..self.first[key + 1] as usize]
    }
}

/// By transaction, how many of each lane it must have seen.
struct Clocks {
    words: Vec<u32>,
    lanes: usize,
}

impl Clocks {
    fn of(&self, txn: u32) -> &[u32] {
        &self.words[txn as usize * self.lanes..][..self.lanes]
    }

    /// What the one before in the session had seen; `before` is one more than that, or 0.
    fn begin(&mut self, txn: u32, before: u32) {
        if before > 0 {
            let from = (before - 1) as usize * self.lanes;
            let to = txn as usize * self.lanes;
            self.words.copy_within(from..from + self.lanes, to);
        }
    }

    /// It read another one, and so has seen all that this one had; nothing is new if it had seen
    /// the other one before.
    fn see(&mut self, txn: u32, other: u32, lane: usize, place: u32) {
        if self.of(txn)[lane] > place {
            return;
        }
        let (low, high) = (txn.min(other) as usize, txn.max(other) as usize);
        let (before, after) = self.words.split_at_mut(high * self.lanes);
        let low = &mut before[low * self.lanes..][..self.lanes];
        let high = &mut after[..self.lanes];
        let (own, its) = if txn < other { (low, high) } else { (high, low) };
        for (own, its) in own.iter_mut().zip(its) {
            *own = (*own).max(*its);
        }
    }

    /// From now on it is one of its lane.
    fn end(&mut self, txn: u32, lane: usize, place: u32) {
        self.words[txn as usize * self.lanes + lane] = place + 1;
    }
}
