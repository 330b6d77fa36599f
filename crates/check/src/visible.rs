//! Levels that say what a transaction must have seen: read-your-writes, monotonic reads, read
//! atomicity, causal consistency.
//!
//! ```text
//!   t2 ──must be seen by──▶ t         t2 and t1 both wrote x, and t read it of t1:
//!   t1 ──────was read by──▶ t         so t2 came before t1        an edge, inferred
//! ```
//!
//! A level is a rule for who must be seen: earlier ones of the session (read-your-writes), those
//! that earlier ones of the session had read (monotonic reads), those that were read or are earlier
//! in the session (read atomic), and all from which a path of both leads here (causal). It holds if
//! some order of the transactions agrees with sessions, reads, what is known of versions, and all
//! inferred edges: Biswas, Enea, *On the Complexity of Checking Transactional Consistency*, OOPSLA
//! 2019; read-your-writes and monotonic reads: Terry et al., PDIS 1994. No order of versions needs
//! to be known, and nothing is searched for. Costs as in Møldrup and Pavlogiannis, *AWDIT*, PLDI
//! 2025: O(n^1.5) for read atomicity, O(n·k) with k sessions for causal consistency.

use crate::footprint::{Access, accesses};
use crate::history::{ABSENT, History, INITIAL, UNKNOWN, WriteId};
use crate::layout::Node;
use crate::level::{Dependency, Level};
use crate::region::Label;
use crate::versions::Versions;

/// Words of clocks that are kept at most: 8 GiB.
const CLOCKS_AT_MOST: usize = 1 << 31;

/// One external read.
#[derive(Clone, Copy, Debug)]
struct Read {
    key: u32,
    /// Who wrote what it saw, or UNKNOWN for INITIAL.
    writer: u32,
    version: WriteId,
}

/// Reads and last writes of all transactions that count as committed.
struct Table {
    reads: Vec<Read>,
    first_read: Vec<u32>,
    /// By transaction in order, sorted by key.
    writes: Vec<u32>,
    first_write: Vec<u32>,
    /// By transaction, its place in its session.
    place: Vec<u32>,
}

impl Table {
    fn of(history: &History, versions: &Versions) -> Table {
        let mut table = Table {
            reads: Vec::new(),
            first_read: vec![0],
            writes: Vec::new(),
            first_write: vec![0],
            place: Vec::with_capacity(history.len()),
        };
        let mut counts = vec![0; history.session_count()];
        for txn in 0..history.len() {
            let session = history.session[txn] as usize;
            table.place.push(counts[session]);
            if versions.is_in[txn] {
                counts[session] += 1;
                table.add(history, versions, txn);
            }
            table.first_read.push(table.reads.len() as u32);
            table.first_write.push(table.writes.len() as u32);
        }
        table
    }

    fn add(&mut self, history: &History, versions: &Versions, txn: usize) {
        let begin = self.writes.len();
        accesses(history.ops(txn), |access| match access {
            Access::Read(seen) => {
                let (key, version) = (seen.key, versions.resolved(&seen));
                let writer = match version {
                    UNKNOWN => return,
                    INITIAL => UNKNOWN,
                    version => versions.writer(version),
                };
                let is_known = version == INITIAL || (writer != UNKNOWN && writer != txn as u32);
                if is_known && (version == INITIAL || versions.is_in[writer as usize]) {
                    self.reads.push(Read { key, writer, version });
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

    fn reads(&self, txn: u32) -> &[Read] {
        let txn = txn as usize;
        &self.reads[self.first_read[txn] as usize..self.first_read[txn + 1] as usize]
    }

    fn writes(&self, txn: u32) -> &[u32] {
        let txn = txn as usize;
        &self.writes[self.first_write[txn] as usize..self.first_write[txn + 1] as usize]
    }

    fn has_written(&self, txn: u32, key: u32) -> bool {
        self.writes(txn).binary_search(&key).is_ok()
    }
}

/// Inferred edges.
pub(crate) type Edges = Vec<(Node, Node, Label)>;

/// The edges that a level infers, given a line of all commits in which reads and sessions run
/// forward; `None` if its clocks would not fit into memory.
pub(crate) fn inferred(
    history: &History,
    versions: &Versions,
    level: Level,
    line: &[Node],
) -> Option<Edges> {
    let table = Table::of(history, versions);
    let mut found = Found { edges: Vec::new() };
    match level {
        Level::ReadYourWrites => own_writes(history, versions, &table, &mut found),
        Level::MonotonicReads => earlier_reads(history, versions, &table, &mut found),
        Level::ReadAtomic => {
            own_writes(history, versions, &table, &mut found);
            read_writers(versions, &table, &mut found);
        }
        _ => {
            let words = history.len().checked_mul(history.session_count());
            words.filter(|words| *words <= CLOCKS_AT_MOST)?;
            causal(history, versions, &table, line, &mut found);
        }
    }
    Some(found.edges)
}

struct Found {
    edges: Edges,
}

impl Found {
    /// `seen` had to be seen by `txn`, and wrote the key of the read.
    fn note(&mut self, seen: u32, read: &Read, txn: u32) {
        if seen == read.writer {
            return;
        }
        let (key, version) = (read.key, read.version);
        let commit = |txn: u32| 2 * txn + 1;
        if read.writer == UNKNOWN {
            let dependency = Some(Dependency::Anti);
            let label = Label { dependency, key, version, by: UNKNOWN };
            self.edges.push((commit(txn), commit(seen), label));
        } else {
            let label = Label { dependency: Some(Dependency::Seen), key, version, by: txn };
            self.edges.push((commit(seen), commit(read.writer), label));
        }
    }
}

fn committed(versions: &Versions) -> impl Iterator<Item = u32> + '_ {
    (0..versions.is_in.len() as u32).filter(|&txn| versions.is_in[txn as usize])
}

/// By key, pairs of a session and what is kept of it; sessions that come back often are found fast
/// because they are looked for from the end.
struct BySession<T> {
    of: Vec<Vec<(u32, T)>>,
}

impl<T: Default> BySession<T> {
    fn new(keys: u32) -> BySession<T> {
        BySession { of: (0..keys).map(|_| Vec::new()).collect() }
    }

    fn get(&mut self, key: u32, session: u32) -> &mut T {
        let all = &mut self.of[key as usize];
        let at = match all.binary_search_by_key(&session, |(known, _)| *known) {
            Ok(at) => at,
            Err(at) => {
                all.insert(at, (session, T::default()));
                at
            }
        };
        &mut all[at].1
    }
}

/// What was written earlier in the session must be seen; of each key the last write is enough, as
/// the order agrees with sessions.
fn own_writes(history: &History, versions: &Versions, table: &Table, found: &mut Found) {
    let mut last: BySession<Option<u32>> = BySession::new(history.key_count);
    for txn in committed(versions) {
        let session = history.session[txn as usize];
        for read in table.reads(txn) {
            if let Some(own) = *last.get(read.key, session) {
                found.note(own, read, txn);
            }
        }
        for key in table.writes(txn) {
            *last.get(*key, session) = Some(txn);
        }
    }
}

/// Whom earlier ones of the session had read must be seen. Once a version was read it stands for
/// all that had to be seen before, since they came before it.
fn earlier_reads(history: &History, versions: &Versions, table: &Table, found: &mut Found) {
    let mut seen: BySession<Vec<u32>> = BySession::new(history.key_count);
    for txn in committed(versions) {
        let session = history.session[txn as usize];
        for read in table.reads(txn) {
            for &earlier in seen.get(read.key, session).iter() {
                found.note(earlier, read, txn);
            }
        }
        for read in table.reads(txn).iter().filter(|read| read.writer != UNKNOWN) {
            *seen.get(read.key, session) = vec![read.writer];
        }
        for read in table.reads(txn).iter().filter(|read| read.writer != UNKNOWN) {
            for &key in table.writes(read.writer) {
                let all = seen.get(key, session);
                if !all.contains(&read.writer) {
                    all.push(read.writer);
                }
            }
        }
    }
}

/// Whom it read must be seen in all: the smaller of its reads and the other's writes is gone
/// through.
fn read_writers(versions: &Versions, table: &Table, found: &mut Found) {
    let mut sorted: Vec<Read> = Vec::new();
    for txn in committed(versions) {
        let reads = table.reads(txn);
        sorted.clear();
        sorted.extend_from_slice(reads);
        sorted.sort_unstable_by_key(|read| (read.key, read.version));
        let mut sources: Vec<u32> = reads.iter().map(|read| read.writer).collect();
        sources.sort_unstable();
        sources.dedup();
        for &source in sources.iter().filter(|source| **source != UNKNOWN) {
            let writes = table.writes(source);
            if writes.len() < sorted.len() {
                for &key in writes {
                    let first = sorted.partition_point(|read| read.key < key);
                    let same = sorted[first..].iter().take_while(|read| read.key == key);
                    same.for_each(|read| found.note(source, read, txn));
                }
            } else {
                let both = sorted.iter().filter(|read| table.has_written(source, read.key));
                both.for_each(|read| found.note(source, read, txn));
            }
        }
    }
}

/// Everybody from whom a path of sessions and reads leads here must be seen: per session a prefix,
/// so that a vector clock tells whom.
fn causal(history: &History, versions: &Versions, table: &Table, line: &[Node], found: &mut Found) {
    let sessions = history.session_count();
    let mut writers: BySession<Vec<(u32, u32)>> = BySession::new(history.key_count);
    for txn in committed(versions) {
        for &key in table.writes(txn) {
            let place = (table.place[txn as usize], txn);
            writers.get(key, history.session[txn as usize]).push(place);
        }
    }
    let mut clocks = Clocks::new(history.len(), sessions);
    let mut last = vec![UNKNOWN; sessions];
    for txn in line.iter().map(|node| node / 2) {
        let session = history.session[txn as usize] as usize;
        clocks.begin(txn, last[session]);
        last[session] = txn;
        for read in table.reads(txn).iter().filter(|read| read.writer != UNKNOWN) {
            let other = history.session[read.writer as usize] as usize;
            clocks.see(txn, read.writer, other, table.place[read.writer as usize]);
        }
        for read in table.reads(txn) {
            let (own, its) = (clocks.of(txn), clocks.known(read.writer));
            for (other, places) in &writers.of[read.key as usize] {
                let until = own[*other as usize];
                if its.is_some_and(|its| its[*other as usize] >= until) {
                    continue;
                }
                let end = places.partition_point(|(place, _)| *place < until);
                if let Some((_, writer)) = places[..end].last() {
                    found.note(*writer, read, txn);
                }
            }
        }
        clocks.end(txn, session, table.place[txn as usize]);
    }
}

/// By transaction, how many of each session it must have seen.
struct Clocks {
    words: Vec<u32>,
    sessions: usize,
}

impl Clocks {
    fn new(txns: usize, sessions: usize) -> Clocks {
        Clocks { words: vec![0; txns * sessions], sessions }
    }

    fn of(&self, txn: u32) -> &[u32] {
        &self.words[txn as usize * self.sessions..][..self.sessions]
    }

    /// The clock of a writer; none of what was there at the beginning.
    fn known(&self, writer: u32) -> Option<&[u32]> {
        (writer != UNKNOWN).then(|| self.of(writer))
    }

    /// What the one before in the session had seen.
    fn begin(&mut self, txn: u32, last: u32) {
        if last != UNKNOWN {
            let from = last as usize * self.sessions;
            let to = txn as usize * self.sessions;
            self.words.copy_within(from..from + self.sessions, to);
        }
    }

    /// It read another one, and so has seen all that this one had; nothing is new if it had seen
    /// the other one before.
    fn see(&mut self, txn: u32, other: u32, session: usize, place: u32) {
        if self.of(txn)[session] > place {
            return;
        }
        let (low, high) = (txn.min(other) as usize, txn.max(other) as usize);
        let (before, after) = self.words.split_at_mut(high * self.sessions);
        let low = &mut before[low * self.sessions..][..self.sessions];
        let high = &mut after[..self.sessions];
        let (own, its) = if txn < other { (low, high) } else { (high, low) };
        for (own, its) in own.iter_mut().zip(its) {
            *own = (*own).max(*its);
        }
    }

    /// From now on it is one of its session.
    fn end(&mut self, txn: u32, session: usize, place: u32) {
        self.words[txn as usize * self.sessions + session] = place + 1;
    }
}
