//! The versions of all keys: their writers, and in which order as far as anything says.
//!
//! ```text
//!   key x    INITIAL ──▶ 4 ──▶ 7 ──▶ 9        by `prev` of writes and reads, by `Order`
//!   key y    INITIAL ──▶ 2      5             5: nothing says what it follows; only one place is
//!                                             left, so that it follows 2
//! ```
//!
//! Two passes: over the operations (writers, what evidence says of predecessors), then over
//! the ids (each version is told to the one before it). What contradicts itself is a [`Flaw`].

use crate::footprint::{Access, VersionRead, visit_accesses};
use crate::history::{
    ABSENT, History, INITIAL, OperationKind, TransactionOutcome, UNKNOWN, WriteId,
};

/// Flaws that are kept; the rest is counted.
const FLAWS_KEPT: usize = 64;

/// What is wrong with a transaction or a version whatever the order of transactions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum FlawKind {
    /// A version was read that was never written, or that was written to another key.
    GarbageRead,
    /// Two writes have one id.
    DuplicateWrite,
    /// No order of versions agrees with all that was seen (Elle: *incompatible order*).
    IncompatibleOrder,
    /// A transaction does not see its own write.
    Internal,
    /// G1a: a version of a transaction that was rolled back was read.
    AbortedRead,
    /// G1b: a version was read that its writer replaced itself.
    IntermediateRead,
}

/// One such thing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flaw {
    /// What is wrong.
    pub kind: FlawKind,
    /// The transaction that saw it.
    pub txn: usize,
    /// The other one that has a part in it, where there is one.
    pub other: Option<usize>,
    /// The key.
    pub key: u32,
    /// The version that is wrong.
    pub version: WriteId,
    /// What should have been there, or the second version of two that exclude each other.
    pub instead: WriteId,
}

/// What is known of one version: 16 bytes, for each access to it waits for memory.
#[derive(Clone, Copy, Debug)]
#[repr(align(16))]
pub(crate) struct Version {
    /// The transaction, or UNKNOWN if none wrote it.
    pub writer: u32,
    /// Its key, with [`REPLACED`] if its own transaction replaced it.
    key: u32,
    /// The version before, or UNKNOWN.
    pub prev: WriteId,
    /// The writer of the version after, or UNKNOWN.
    pub next_writer: u32,
}

const REPLACED: u32 = 1 << 31;
/// Transactions whose versions are asked for at once.
const FETCHED: usize = 8;

/// Of all versions.
#[derive(Clone, Debug)]
pub(crate) struct Versions {
    /// By id.
    pub all: Vec<Version>,
    /// By id, the version after it, or UNKNOWN.
    next: Vec<WriteId>,
    /// By key, the version after INITIAL, or UNKNOWN.
    pub first: Vec<WriteId>,
    /// By key, the writer of that one, or UNKNOWN.
    pub first_writer: Vec<u32>,
    /// By transaction: whether it counts as committed.
    pub is_in: Vec<bool>,
    /// By key, whether it is ever deleted: then what an absence saw is not known.
    is_deleted: Vec<bool>,
    /// By key, its increments and the transactions that asked for them; empty where there are none.
    pub increments: Vec<(u32, WriteId, u32)>,
    pub flaws: Vec<Flaw>,
    pub flaw_counts: [u64; 6],
    /// Versions whose place is not known.
    pub unplaced: u64,
}

impl Versions {
    pub(crate) fn from_history(history: &History) -> Versions {
        let none =
            Version { writer: UNKNOWN, key: UNKNOWN >> 1, prev: UNKNOWN, next_writer: UNKNOWN };
        let keys = history.key_count as usize;
        let mut versions = Versions {
            all: vec![none; history.id_count as usize],
            next: vec![UNKNOWN; history.id_count as usize],
            first: vec![UNKNOWN; keys],
            first_writer: vec![UNKNOWN; keys],
            is_in: history
                .outcome
                .iter()
                .map(|outcome| *outcome == TransactionOutcome::Ok)
                .collect(),
            is_deleted: vec![false; keys],
            increments: Vec::new(),
            flaws: Vec::new(),
            flaw_counts: [0; 6],
            unplaced: 0,
        };
        for txn in 0..history.len() {
            versions.note_writes(history, txn);
        }
        versions.increments.sort_unstable();
        versions.note_deletions(history);
        versions.settle_unknown(history);
        for txn in 0..history.len() {
            versions.fetch_ahead(history, txn);
            versions.note_evidence(history, txn);
        }
        versions.link();
        versions.place_the_rest();
        versions
    }

    /// Asks for the versions of some transactions to come, at every so many-th one: the loads are
    /// independent, so that the processor waits for memory once for several of them.
    #[inline]
    pub(crate) fn fetch_ahead(&self, history: &History, txn: usize) {
        if !txn.is_multiple_of(FETCHED) {
            return;
        }
        let mut sum = 0;
        for txn in txn..history.len().min(txn + FETCHED) {
            for op in history.ops(txn) {
                sum ^= match op.value {
                    INITIAL => self.first_writer[op.key as usize],
                    value => self.all.get(value as usize).map_or(0, |version| version.writer),
                };
            }
        }
        std::hint::black_box(sum);
    }

    /// The key that a version belongs to.
    pub(crate) fn key(&self, id: WriteId) -> u32 {
        self.all[id as usize].key & !REPLACED
    }

    fn is_replaced(&self, id: WriteId) -> bool {
        self.all[id as usize].key & REPLACED != 0
    }

    /// What a read of `value` at `key` saw: an id, INITIAL, or UNKNOWN where an absence could be
    /// one of several.
    #[inline]
    pub(crate) fn resolved_version(&self, seen: &VersionRead) -> WriteId {
        match seen.value {
            ABSENT if self.is_deleted[seen.key as usize] => UNKNOWN,
            ABSENT => INITIAL,
            value => value,
        }
    }

    fn note_writes(&mut self, history: &History, txn: usize) {
        visit_accesses(history.ops(txn), |access| match access {
            Access::Write { op, own_before } if op.value != INITIAL && op.value < ABSENT => {
                let version = &mut self.all[op.value as usize];
                if version.writer != UNKNOWN {
                    let other = version.writer as usize;
                    let key = op.key;
                    return self.flaw(FlawKind::DuplicateWrite, txn, Some(other), key, op.value, 0);
                }
                (version.writer, version.key) = (txn as u32, op.key);
                version.prev = match own_before {
                    Some(own) => own,
                    None if op.prev == ABSENT => UNKNOWN,
                    None => op.prev,
                };
                if let Some(own) = own_before {
                    self.all[own as usize].key |= REPLACED;
                }
            }
            Access::Increment { key, id } if id != INITIAL && id < ABSENT => {
                let version = &mut self.all[id as usize];
                if version.writer != UNKNOWN {
                    let other = Some(version.writer as usize);
                    return self.flaw(FlawKind::DuplicateWrite, txn, other, key, id, 0);
                }
                (version.writer, version.key) = (txn as u32, key);
                self.increments.push((key, id, txn as u32));
            }
            _ => {}
        });
    }

    /// A key is deleted if a deletion is the last that a transaction does to it: one that puts a
    /// row there again leaves no absence that others may see.
    fn note_deletions(&mut self, history: &History) {
        for op in
            history.ops.iter().filter(|op| op.kind == OperationKind::Delete && op.value < ABSENT)
        {
            self.is_deleted[op.key as usize] |= self.is_final(op.value);
        }
    }

    /// A transaction of unknown outcome has committed if one that counts saw what it wrote; the
    /// others count as rolled back, which no answer contradicts.
    fn settle_unknown(&mut self, history: &History) {
        if !history.outcome.contains(&TransactionOutcome::Unknown) {
            return;
        }
        let mut todo: Vec<usize> = (0..history.len()).filter(|&txn| self.is_in[txn]).collect();
        while let Some(txn) = todo.pop() {
            for op in history.ops(txn) {
                let is_scan = matches!(
                    op.kind,
                    OperationKind::Scan | OperationKind::CurrentScan | OperationKind::Count
                );
                for id in [op.value, op.prev] {
                    if is_scan || id == INITIAL || id >= ABSENT {
                        continue;
                    }
                    let writer = self.all[id as usize].writer as usize;
                    let is_unknown =
                        history.outcome.get(writer) == Some(&TransactionOutcome::Unknown);
                    if is_unknown && !self.is_in[writer] {
                        self.is_in[writer] = true;
                        todo.push(writer);
                    }
                }
            }
        }
    }

    /// What reads say of the order of versions, and what they should not have seen.
    fn note_evidence(&mut self, history: &History, txn: usize) {
        if !self.is_in[txn] {
            return;
        }
        let ops = history.ops(txn);
        visit_accesses(ops, |access| match access {
            Access::Read(seen) if !seen.is_predicate => self.note_read(txn, &seen),
            Access::Own { key, value, prev } => self.note_order(txn, key, value, prev),
            Access::Internal { key, wanted, seen, prev } => {
                self.flaw(FlawKind::Internal, txn, None, key, seen, wanted);
                if seen < ABSENT {
                    self.note_order(txn, key, seen, prev);
                }
            }
            Access::Write { op, own_before: None }
                if op.prev < ABSENT && self.writer_of(op.prev) == txn as u32 =>
            {
                // It cannot follow a version that is written later, by the same transaction.
                self.flaw(FlawKind::IncompatibleOrder, txn, None, op.key, op.value, op.prev);
            }
            Access::Write { op, own_before: None } if op.prev < ABSENT => {
                self.note_read(
                    txn,
                    &VersionRead { value: op.prev, prev: UNKNOWN, ..read_of(op.key) },
                );
            }
            Access::Count { key, first, end } => {
                let included = ops[first..end].iter().flat_map(|op| [op.value, op.prev]);
                for value in included.filter(|id| *id < ABSENT) {
                    self.note_read(txn, &VersionRead { value, ..read_of(key) });
                }
            }
            _ => {}
        });
        for op in ops.iter().filter(|op| op.kind == OperationKind::Order && op.value < ABSENT) {
            self.note_element(txn, op.key, op.value);
            self.note_order(txn, op.key, op.value, op.prev);
        }
    }

    /// A version that was seen although it is not the last one: an element of a list.
    fn note_element(&mut self, txn: usize, key: u32, value: WriteId) {
        let writer = self.all[value as usize].writer;
        if writer == UNKNOWN || self.key(value) != key {
            self.flaw(FlawKind::GarbageRead, txn, None, key, value, UNKNOWN);
        } else if !self.is_in[writer as usize] {
            self.flaw(FlawKind::AbortedRead, txn, Some(writer as usize), key, value, UNKNOWN);
        }
    }

    fn note_read(&mut self, txn: usize, seen: &VersionRead) {
        let (key, value) = (seen.key, seen.value);
        if value == INITIAL || value >= ABSENT {
            return;
        }
        let version = self.all[value as usize];
        if version.writer == UNKNOWN || version.key & !REPLACED != key {
            return self.flaw(FlawKind::GarbageRead, txn, None, key, value, UNKNOWN);
        }
        let writer = version.writer as usize;
        if writer == txn {
            return self.flaw(FlawKind::Internal, txn, None, key, value, UNKNOWN);
        }
        if !self.is_in[writer] {
            self.flaw(FlawKind::AbortedRead, txn, Some(writer), key, value, UNKNOWN);
        } else if version.key & REPLACED != 0 {
            self.flaw(FlawKind::IntermediateRead, txn, Some(writer), key, value, UNKNOWN);
        }
        if seen.prev < ABSENT {
            self.note_order(txn, key, value, seen.prev);
        }
    }

    fn note_order(&mut self, txn: usize, key: u32, value: WriteId, prev: WriteId) {
        if prev >= ABSENT || self.all[value as usize].writer == UNKNOWN {
            return;
        }
        let known = self.all[value as usize].prev;
        if known == UNKNOWN {
            if prev != INITIAL {
                let before = self.all[prev as usize];
                if before.writer == UNKNOWN || before.key & !REPLACED != key {
                    return self.flaw(FlawKind::GarbageRead, txn, None, key, prev, UNKNOWN);
                }
                let other = Some(before.writer as usize);
                if !self.is_in[before.writer as usize] {
                    return self.flaw(FlawKind::AbortedRead, txn, other, key, prev, UNKNOWN);
                }
                if before.writer == self.writer_of(value) {
                    // Its first write of the key follows none of its own.
                    return self.flaw(FlawKind::IncompatibleOrder, txn, other, key, value, prev);
                }
            }
            self.all[value as usize].prev = prev;
        } else if known != prev {
            let other = Some(self.all[value as usize].writer as usize);
            self.flaw(FlawKind::IncompatibleOrder, txn, other, key, prev, known);
        }
    }

    /// Tells every version to the one before it.
    fn link(&mut self) {
        for id in 1..self.all.len() {
            let version = self.all[id];
            if version.writer == UNKNOWN || !self.is_in[version.writer as usize] {
                continue;
            }
            if version.prev < ABSENT {
                self.follow(id as WriteId, version.prev);
            }
        }
    }

    /// Notes that `id` directly follows `prev`.
    fn follow(&mut self, id: WriteId, prev: WriteId) {
        let writer = self.all[id as usize].writer;
        let key = self.key(id);
        let taken = match prev {
            INITIAL => self.first[key as usize],
            _ => self.next[prev as usize],
        };
        if taken != UNKNOWN && taken != id {
            let other = Some(self.all[taken as usize].writer as usize);
            let kind = FlawKind::IncompatibleOrder;
            self.all[id as usize].prev = UNKNOWN;
            return self.flaw(kind, writer as usize, other, key, id, taken);
        }
        self.all[id as usize].prev = prev;
        if prev == INITIAL {
            (self.first[key as usize], self.first_writer[key as usize]) = (id, writer);
            return;
        }
        self.next[prev as usize] = id;
        self.all[prev as usize].next_writer = writer;
    }

    /// Lets a version of unknown place follow `prev`.
    ///
    /// # Errors
    /// Another version that follows it already.
    pub(crate) fn replace(&mut self, id: WriteId, prev: WriteId) -> Result<(), WriteId> {
        if self.all[id as usize].prev < ABSENT {
            return Ok(());
        }
        let taken = match prev {
            INITIAL => self.first[self.key(id) as usize],
            prev => self.next[prev as usize],
        };
        if taken != UNKNOWN && taken != id {
            return Err(taken);
        }
        self.follow(id, prev);
        Ok(())
    }

    /// Places what has one place left, after more was linked.
    pub(crate) fn place_again(&mut self) {
        self.unplaced = 0;
        self.place_the_rest();
    }

    /// A key with one version of unknown place has one place for it: behind all others.
    fn place_the_rest(&mut self) {
        for group in self.unplaced_versions().chunk_by(|one, other| one.0 == other.0) {
            let (key, id) = group[0];
            let is_only = group.len() == 1;
            match is_only.then(|| self.last_linked(key)) {
                Some(tail) => self.follow(id, tail),
                None => self.unplaced += group.len() as u64,
            }
        }
    }

    /// By key, the last version; UNKNOWN where nothing tells it.
    pub(crate) fn last_versions(&self) -> Vec<WriteId> {
        let mut lasts: Vec<WriteId> =
            (0..self.first.len() as u32).map(|key| self.last_linked(key)).collect();
        for (key, _) in self.unplaced_versions() {
            lasts[key as usize] = UNKNOWN;
        }
        lasts
    }

    /// The versions of which nothing says what they follow, with their keys, in order.
    pub(crate) fn unplaced_versions(&self) -> Vec<(u32, WriteId)> {
        let mut lost: Vec<(u32, WriteId)> = (1..self.all.len() as u32)
            .filter(|&id| {
                let version = &self.all[id as usize];
                let is_ours = version.writer != UNKNOWN && self.is_in[version.writer as usize];
                is_ours && version.prev >= ABSENT
            })
            .map(|id| (self.key(id), id))
            .collect();
        if !self.increments.is_empty() {
            lost.retain(|(key, id)| !self.is_increment(*key, *id));
        }
        lost.sort_unstable();
        lost
    }

    fn is_increment(&self, key: u32, id: WriteId) -> bool {
        let at = self.increments.partition_point(|(other, known, _)| (*other, *known) < (key, id));
        self.increments.get(at).is_some_and(|found| (found.0, found.1) == (key, id))
    }

    /// The last version that hangs together with INITIAL.
    pub(crate) fn last_linked(&self, key: u32) -> WriteId {
        self.from(self.first[key as usize]).last().unwrap_or(INITIAL)
    }

    /// A version and all that follow it; none after UNKNOWN.
    pub(crate) fn from(&self, first: WriteId) -> impl Iterator<Item = WriteId> + '_ {
        let some = |id: WriteId| (id != UNKNOWN).then_some(id);
        std::iter::successors(some(first), move |id| some(self.next[*id as usize]))
    }

    /// The writer of a version, or UNKNOWN.
    pub(crate) fn writer_of(&self, id: WriteId) -> u32 {
        self.all[id as usize].writer
    }

    /// Lets `id` follow `prev`, whatever followed it before.
    pub(crate) fn link_again(&mut self, key: u32, prev: WriteId, id: WriteId) {
        let writer = self.writer_of(id);
        self.all[id as usize].prev = prev;
        match prev {
            INITIAL => {
                (self.first[key as usize], self.first_writer[key as usize]) = (id, writer);
            }
            prev => {
                self.next[prev as usize] = id;
                self.all[prev as usize].next_writer = writer;
            }
        }
    }

    /// Lets nothing follow `id`.
    pub(crate) fn end_at(&mut self, key: u32, id: WriteId) {
        match id {
            INITIAL => {
                (self.first[key as usize], self.first_writer[key as usize]) = (UNKNOWN, UNKNOWN);
            }
            id => {
                self.next[id as usize] = UNKNOWN;
                self.all[id as usize].next_writer = UNKNOWN;
            }
        }
    }

    /// Whether no transaction but its writer may read it.
    pub(crate) fn is_final(&self, id: WriteId) -> bool {
        !self.is_replaced(id)
    }

    fn flaw(
        &mut self,
        kind: FlawKind,
        txn: usize,
        other: Option<usize>,
        key: u32,
        version: WriteId,
        instead: WriteId,
    ) {
        self.flaw_counts[kind as usize] += 1;
        if self.flaws.len() < FLAWS_KEPT || self.flaw_counts[kind as usize] == 1 {
            self.flaws.push(Flaw { kind, txn, other, key, version, instead });
        }
    }
}

fn read_of(key: u32) -> VersionRead {
    VersionRead { key, value: UNKNOWN, prev: UNKNOWN, is_current: true, is_predicate: false }
}
