//! Verdicts while the history is still being recorded, in memory that does not grow with it.
//!
//! ```text
//!   add(transaction) ──▶ versions: writers, readers, what follows  ──edges──▶ a Graph a level
//!   settle(before)   ──▶ final: all that began before have been added            │
//!                        gone: nothing can come before it any more ◀─────────────┘
//! ```
//!
//! Dependencies are those of [`crate::edges`], learnt one by one as transactions arrive, in any
//! order. A transaction is *final* when its reads have their writers, its versions their
//! predecessors, and all have arrived that began before it was answered: no other one reads what it
//! replaced, unless a server shows states that were over when a transaction began, or one sees
//! late that one of unknown outcome has committed; neither can be told then. So it goes
//! from the graph of each level as soon as all that come before it have ([`graph`]); with it go
//! versions that were replaced. What stays is what is at work at a time, a state for each key and a
//! bit for each write.
//!
//! Decided so are the levels that forbid cycles of what versions tell. Levels that keep sessions or
//! real time have edges between transactions that share no row; those that say what must have been
//! seen compare a transaction with all of its past; view serializability and orders of versions
//! that are not recorded are searches. They are judged at the end, and so are searches by ranges,
//! deletions and counts, of which a later operation decides what they saw. There is no certificate
//! either: that of a level that holds is an order of all transactions.

mod graph;
mod store;

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::hash::BuildHasherDefault;

use crate::footprint::{Access, VersionRead, is_write, visit_accesses};
use crate::history::{
    ABSENT, INITIAL, Op, OperationKind, TransactionOutcome, Txn, UNKNOWN, WriteId,
};
use crate::level::{Dependency, Keeps, Level};
use crate::versions::FlawKind;
use graph::{EdgeInsertion, EdgeReason, Graph};
use store::{Bits, Dense, EMPTY, List, Reader, Readers};

/// Transactions that may wait until it is known what one of their versions follows.
const WAITING_MOST: usize = 1 << 17;

const STALE: &str = "a transaction saw a state that had been replaced before it began";
const DIRTY: &str =
    "what is rolled back may be read, so that orders of versions at odds are judged at the end";
const UNTOLD: &str = "the history says too late which version another one replaced";
const UNPLACED: &str = "the history does not say which versions others replaced";
const LATER: &str = "searches by ranges, deletions and counts are judged at the end";

/// What can be said of a level before the history is over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OnlineVerdict {
    /// Nothing speaks against it.
    Holds,
    /// It is broken: by what.
    Broken(String),
    /// It cannot be told without the whole history, and why.
    CannotTell(String),
}

/// A judge of transactions as they come.
#[derive(Debug)]
pub struct Online {
    levels: Vec<(Level, Graph)>,
    /// Transactions that count are numbered as they come; this is the next number.
    next: u32,
    /// The first one that is not final.
    next_final: u32,
    /// Those from `first_open` on, which may still matter.
    open: VecDeque<Open>,
    first_open: u32,
    versions: HashMap<WriteId, Version, BuildHasherDefault<Dense>>,
    keys: Vec<Key>,
    readers: Readers,
    /// Versions that have no place yet, with their writers.
    unplaced: VecDeque<(u32, WriteId)>,
    /// Elements of lists that were seen before their writers arrived, with their readers.
    elements: VecDeque<(u32, u32, WriteId)>,
    /// Versions that were replaced, or rolled back, and the transaction with which they go.
    leaving: VecDeque<(u32, WriteId)>,
    gone: Bits,
    /// Those of them that were rolled back.
    undone: Bits,
    /// Transactions of unknown outcome that have not been seen, by a number.
    parked: BTreeMap<u32, (Txn, Vec<Op>)>,
    next_parked: u32,
    flaws: Vec<FlawKind>,
    unanswered: Option<&'static str>,
}

/// A transaction that is here.
#[derive(Clone, Copy, Debug)]
struct Open {
    returned_ns: u64,
    /// Reads whose writers have not arrived.
    unread: u32,
    /// Versions without a place.
    unplaced: u32,
}

/// The writer of a version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Writer {
    /// None that has arrived.
    Nobody,
    /// The transaction of this number.
    Of(u32),
    /// One that was rolled back.
    Failed,
    /// One of unknown outcome: see [`Online::parked`].
    Parked(u32),
}

#[derive(Clone, Copy, Debug)]
struct Version {
    key: u32,
    writer: Writer,
    prev: WriteId,
    next: WriteId,
    /// Whether its own transaction replaced it.
    is_intermediate: bool,
    /// Whether its place makes no further edges.
    is_placed: bool,
    readers: List,
}

impl Version {
    /// A version of this key that was spoken of before its writer arrived.
    fn unwritten(key: u32) -> Version {
        Version {
            key,
            writer: Writer::Nobody,
            prev: UNKNOWN,
            next: UNKNOWN,
            is_intermediate: false,
            is_placed: false,
            readers: EMPTY,
        }
    }
}

#[derive(Clone, Copy, Debug)]
struct Key {
    /// The version after [`INITIAL`].
    first: WriteId,
    /// The last one of those that hang together with it.
    tail: WriteId,
    readers: List,
}

impl Level {
    /// Whether [`Online`] decides it.
    pub(crate) fn is_decided_online(self) -> bool {
        let is_searched = matches!(self, Level::ViewSerializable | Level::MonotonicAtomicView);
        let is_of_cycles = !self.is_of_commits() && !self.is_of_visibility() && !is_searched;
        is_of_cycles && self.graph_shape().keeps == Keeps::Nothing
    }
}

impl Online {
    /// A judge of these levels, but for those that are not decided while a history grows.
    #[must_use]
    pub fn new(levels: &[Level]) -> Online {
        let levels = levels.iter().filter(|level| level.is_decided_online());
        Online {
            levels: levels.map(|level| (*level, Graph::new(level.graph_shape()))).collect(),
            next: 0,
            next_final: 0,
            open: VecDeque::new(),
            first_open: 0,
            versions: HashMap::default(),
            keys: Vec::new(),
            readers: Readers::default(),
            unplaced: VecDeque::new(),
            elements: VecDeque::new(),
            leaving: VecDeque::new(),
            gone: Bits::default(),
            undone: Bits::default(),
            parked: BTreeMap::new(),
            next_parked: 0,
            flaws: Vec::new(),
            unanswered: None,
        }
    }

    /// Takes in a transaction with its operations, in any order. Keys are small numbers.
    pub fn add_transaction(&mut self, txn: Txn, ops: &[Op]) {
        match txn.outcome {
            TransactionOutcome::Ok => self.admit(txn, ops),
            // It has been seen.
            TransactionOutcome::Unknown if self.is_seen(ops) => self.admit(txn, ops),
            TransactionOutcome::Unknown => {
                self.note_writes(Writer::Parked(self.next_parked), ops);
                self.parked.insert(self.next_parked, (txn, ops.to_vec()));
                self.next_parked += 1;
            }
            TransactionOutcome::Failed => self.note_writes(Writer::Failed, ops),
        }
    }

    fn is_seen(&self, ops: &[Op]) -> bool {
        let mut writes = ops.iter().filter(|op| is_write(op.kind));
        writes.any(|op| self.versions.contains_key(&op.value))
    }

    /// Asks for what the operations of a transaction need before any of it is used: the loads are
    /// independent, so that the processor waits for memory once for several of them.
    fn fetch(&self, ops: &[Op]) {
        let mut sum = 0;
        for op in ops {
            sum ^= self.versions.get(&op.value).map_or(0, |version| version.readers.head);
            sum ^= self.versions.get(&op.prev).map_or(0, |version| version.readers.head);
            sum ^= self.keys.get(op.key as usize).map_or(0, |key| key.tail);
        }
        std::hint::black_box(sum);
    }

    /// All that began before this moment have been added.
    pub fn settle_before(&mut self, before_ns: u64) {
        while let Some(&open) = self.open.get((self.next_final - self.first_open) as usize) {
            if open.returned_ns >= before_ns {
                break;
            }
            if open.unread > 0 {
                // All that could have written it are there.
                self.flaw(FlawKind::GarbageRead);
            }
            if open.unplaced > 0 && !self.find_places() {
                break;
            }
            self.check_elements();
            for (_, graph) in &mut self.levels {
                graph.finish(self.next_final);
            }
            self.next_final += 1;
        }
        self.levels.iter_mut().for_each(|(_, graph)| graph.search_if_due());
        self.forget();
    }

    /// What can be said of each level so far.
    #[must_use]
    pub fn level_verdicts(&self) -> Vec<(Level, OnlineVerdict)> {
        let told = |(level, graph): &(Level, Graph)| {
            let flaw = self.flaws.iter().find(|flaw| level.forbids_flaw(**flaw));
            let broken = flaw.map(|flaw| flaw.name()).or(graph.found_cycle());
            // A version that was read and rolled back says what it would have replaced, as does
            // the one that replaced it.
            let is_dirty = flaw == Some(&FlawKind::IncompatibleOrder)
                && !level.forbids_flaw(FlawKind::AbortedRead);
            let verdict = match (broken, self.unanswered) {
                (Some(_), _) if is_dirty => OnlineVerdict::CannotTell(DIRTY.to_owned()),
                (Some(anomaly), _) => OnlineVerdict::Broken(anomaly.to_owned()),
                (None, Some(why)) => OnlineVerdict::CannotTell(why.to_owned()),
                (None, None) => OnlineVerdict::Holds,
            };
            (*level, verdict)
        };
        self.levels.iter().map(told).collect()
    }

    /// The history is over.
    #[must_use]
    pub fn finish(mut self) -> Vec<(Level, OnlineVerdict)> {
        self.place_the_rest();
        self.settle_before(u64::MAX);
        self.levels.iter_mut().for_each(|(_, graph)| graph.search_cycle());
        self.level_verdicts()
    }

    /// Transactions that count so far.
    #[must_use]
    pub fn counted_transactions(&self) -> u64 {
        u64::from(self.next)
    }

    /// Transactions and versions that are kept.
    #[must_use]
    pub fn retained_counts(&self) -> (usize, usize) {
        let graphs = self.levels.iter().map(|(_, graph)| graph.len());
        (graphs.chain([self.open.len()]).max().unwrap_or(0), self.versions.len())
    }

    /// Notes writes of a transaction that does not count, or not yet.
    fn note_writes(&mut self, writer: Writer, ops: &[Op]) {
        for op in ops.iter().filter(|op| is_write(op.kind) && is_id(op.value)) {
            if !self.claim(op, writer) {
                continue;
            }
            if writer == Writer::Failed {
                let Version { prev, next, readers, .. } = *self.known(op.value);
                if [prev, next, readers.head] == [UNKNOWN; 3] {
                    // Nobody has spoken of it, and who does so later reads what was rolled back.
                    // It waits for no transaction that counts: perhaps none ever does.
                    self.versions.remove(&op.value);
                    self.gone.set(op.value);
                    self.undone.set(op.value);
                    continue;
                }
                self.settle_readers(op.value);
                self.settle_next(op.value);
                self.leaving.push_back((self.next, op.value));
            }
        }
    }

    /// Notes the writer of a version; whether there was no other.
    fn claim(&mut self, op: &Op, writer: Writer) -> bool {
        if self.gone.has_id(op.value) {
            self.flaw(FlawKind::DuplicateWrite);
            return false;
        }
        let version = self.versions.entry(op.value).or_insert(Version::unwritten(op.key));
        if !matches!(version.writer, Writer::Nobody | Writer::Parked(_)) {
            self.flaw(FlawKind::DuplicateWrite);
            return false;
        }
        let is_of_another_key = version.key != op.key;
        (version.writer, version.key) = (writer, op.key);
        if is_of_another_key {
            self.flaw(FlawKind::GarbageRead);
        }
        true
    }

    fn version(&mut self, id: WriteId, key: u32) -> Version {
        *self.versions.entry(id).or_insert(Version::unwritten(key))
    }

    fn known(&mut self, id: WriteId) -> &mut Version {
        self.versions.get_mut(&id).expect("a version that is spoken of is here")
    }

    fn key(&mut self, key: u32) -> &mut Key {
        let place = key as usize;
        if place >= self.keys.len() {
            let none = Key { first: UNKNOWN, tail: INITIAL, readers: EMPTY };
            self.keys.resize(place + 1, none);
        }
        &mut self.keys[place]
    }

    /// Takes in a transaction that counts.
    fn admit(&mut self, txn: Txn, ops: &[Op]) {
        self.fetch(ops);
        let number = self.next;
        self.next += 1;
        self.levels.iter_mut().for_each(|(_, graph)| graph.push());
        let returned_ns = txn.times.commit_return_ns;
        self.open.push_back(Open { returned_ns, unread: 0, unplaced: 0 });
        visit_accesses(ops, |access| {
            if let Access::Write { op, own_before } = access {
                self.write(number, &op, own_before);
            }
        });
        visit_accesses(ops, |access| match access {
            Access::Read(seen) => self.read(number, &seen),
            Access::Own { key, value, prev } => self.tell(key, value, prev),
            Access::Internal { key, seen, prev, .. } => {
                self.flaw(FlawKind::Internal);
                if seen < ABSENT {
                    self.tell(key, seen, prev);
                }
            }
            Access::Write { .. } => {}
            Access::Increment { .. } | Access::Count { .. } => self.leave_open(LATER),
        });
        for op in ops {
            match op.kind {
                OperationKind::Order if op.value < ABSENT => self.element(number, op),
                OperationKind::Scan | OperationKind::CurrentScan | OperationKind::Delete => {
                    self.leave_open(LATER)
                }
                _ => {}
            }
        }
    }

    /// A version that was seen although it is not the last one: an element of a list.
    fn element(&mut self, number: u32, op: &Op) {
        if self.undone.has_id(op.value) {
            return self.flaw(FlawKind::AbortedRead);
        }
        if self.gone.has_id(op.value) {
            return;
        }
        self.tell(op.key, op.value, op.prev);
        let version = self.version(op.value, op.key);
        if version.key != op.key || !matches!(version.writer, Writer::Of(_)) {
            self.elements.push_back((number, op.key, op.value));
        }
    }

    /// Whether elements that were seen had been written, when all that could have done so are here.
    fn check_elements(&mut self) {
        while let Some(&(number, key, id)) = self.elements.front() {
            if number > self.next_final {
                break;
            }
            self.elements.pop_front();
            match self.versions.get(&id) {
                Some(version) if version.key != key => self.flaw(FlawKind::GarbageRead),
                Some(version) if version.writer == Writer::Nobody => {
                    self.flaw(FlawKind::GarbageRead);
                }
                Some(version) if version.writer == Writer::Failed => {
                    self.flaw(FlawKind::AbortedRead);
                }
                _ => {}
            }
        }
    }

    /// A version of a transaction that counts.
    fn write(&mut self, number: u32, op: &Op, own_before: Option<WriteId>) {
        if !is_id(op.value) || !self.claim(op, Writer::Of(number)) {
            return;
        }
        let version = *self.known(op.value);
        if !version.is_placed {
            self.open_of(number).expect("it has just come").unplaced += 1;
            self.unplaced.push_back((number, op.value));
        }
        if let Some(own) = own_before.and_then(|own| self.versions.get_mut(&own)) {
            own.is_intermediate = true;
        }
        self.settle_readers(op.value);
        self.settle_next(op.value);
        match own_before {
            Some(own) => self.tell(op.key, op.value, own),
            None => self.tell(op.key, op.value, op.prev),
        }
        self.join(op.value);
    }

    fn open_of(&mut self, number: u32) -> Option<&mut Open> {
        self.open.get_mut(number.checked_sub(self.first_open)? as usize)
    }

    /// Settles the readers of a version that arrived before its writer.
    fn settle_readers(&mut self, id: WriteId) {
        let Version { key, readers, .. } = *self.known(id);
        let mut at = readers.head;
        while at != UNKNOWN {
            let Reader { number, is_current, next } = self.readers.all[at as usize];
            if let Some(open) = self.open_of(number) {
                open.unread = open.unread.saturating_sub(1);
            }
            self.read_from(number, key, id, is_current);
            at = next;
        }
    }

    /// The version that was said to follow this one, before its writer arrived.
    fn settle_next(&mut self, id: WriteId) {
        let next = self.known(id).next;
        if next != UNKNOWN && self.versions.contains_key(&next) {
            self.join(next);
        }
    }

    /// A read of what others wrote.
    fn read(&mut self, number: u32, seen: &VersionRead) {
        let (key, value) = (seen.key, seen.value);
        match value {
            INITIAL | ABSENT => self.add_reader(number, key, INITIAL, seen.is_current),
            UNKNOWN => {}
            value if self.undone.has_id(value) => self.flaw(FlawKind::AbortedRead),
            value if self.gone.has_id(value) => self.leave_open(STALE),
            value => {
                self.unpark(value);
                let version = self.version(value, key);
                if version.key != key {
                    return self.flaw(FlawKind::GarbageRead);
                }
                self.add_reader(number, key, value, seen.is_current);
                match version.writer {
                    Writer::Nobody => {
                        self.open_of(number).expect("it has just come").unread += 1;
                    }
                    _ => self.read_from(number, key, value, seen.is_current),
                }
                self.tell(key, value, seen.prev);
            }
        }
    }

    /// A read whose writer is here.
    fn read_from(&mut self, number: u32, key: u32, id: WriteId, is_current: bool) {
        let version = *self.known(id);
        let from = match version.writer {
            Writer::Of(from) => from,
            Writer::Failed => return self.flaw(FlawKind::AbortedRead),
            Writer::Nobody | Writer::Parked(_) => return,
        };
        if version.is_intermediate {
            self.flaw(FlawKind::IntermediateRead);
        }
        if from == number {
            return self.flaw(FlawKind::Internal);
        }
        let dependency = if is_current { Dependency::CurrentRead } else { Dependency::Read };
        self.edge(from, number, EdgeReason { dependency, key, version: id });
    }

    /// Notes a reader, which comes before the transaction that replaces the version.
    fn add_reader(&mut self, number: u32, key: u32, id: WriteId, is_current: bool) {
        let floor = self.floor();
        let (list, next) = match id {
            INITIAL => {
                let key = self.key(key);
                (key.readers, key.first)
            }
            id => {
                let version = self.known(id);
                (version.readers, version.next)
            }
        };
        let list = self.readers.add_reader(list, number, is_current, floor);
        match id {
            INITIAL => self.key(key).readers = list,
            id => self.known(id).readers = list,
        }
        self.precede(Reader { number, is_current, next: UNKNOWN }, key, id, next);
    }

    /// A reader of a version comes before the writer of the next one.
    fn precede(&mut self, reader: Reader, key: u32, id: WriteId, next: WriteId) {
        if next == UNKNOWN {
            return;
        }
        if self.gone.has_id(next) {
            return self.leave_open(STALE);
        }
        let Some(Version { writer: Writer::Of(to), .. }) = self.versions.get(&next) else { return };
        let to = *to;
        if to != reader.number {
            let dependency =
                if reader.is_current { Dependency::CurrentAnti } else { Dependency::Anti };
            self.edge(reader.number, to, EdgeReason { dependency, key, version: id });
        }
    }

    /// Notes evidence that `value` directly follows `prev`.
    fn tell(&mut self, key: u32, value: WriteId, prev: WriteId) {
        if prev >= ABSENT || !is_id(value) || self.gone.has_id(value) {
            return;
        }
        self.unpark(value);
        let known = self.version(value, key).prev;
        if known == prev {
            return;
        }
        if known != UNKNOWN {
            return self.flaw(FlawKind::IncompatibleOrder);
        }
        if is_id(prev) {
            if self.gone.has_id(prev) {
                // Another one is known to have replaced it.
                let is_undone = self.undone.has_id(prev);
                self.flaw(if is_undone {
                    FlawKind::AbortedRead
                } else {
                    FlawKind::IncompatibleOrder
                });
                return self.placed(value);
            }
            self.unpark(prev);
            self.version(prev, key);
        }
        let taken = match prev {
            INITIAL => self.key(key).first,
            prev => self.known(prev).next,
        };
        if taken != UNKNOWN && taken != value {
            self.flaw(FlawKind::IncompatibleOrder);
            return self.placed(value);
        }
        self.known(value).prev = prev;
        match prev {
            INITIAL => self.key(key).first = value,
            prev => self.known(prev).next = value,
        }
        if self.key(key).tail == prev {
            let mut tail = value;
            while let Some(version) = self.versions.get(&tail).filter(|v| v.next != UNKNOWN) {
                tail = version.next;
            }
            self.key(key).tail = tail;
        }
        self.join(value);
    }

    /// The dependencies of a version's place, once it is told and both writers are here.
    fn join(&mut self, value: WriteId) {
        let Version { key, writer, prev, is_placed, .. } = *self.known(value);
        let Writer::Of(to) = writer else { return };
        if is_placed || prev == UNKNOWN {
            return;
        }
        if is_id(prev) {
            let before = *self.known(prev);
            match before.writer {
                Writer::Nobody | Writer::Parked(_) => return,
                Writer::Failed => {
                    self.flaw(FlawKind::AbortedRead);
                    return self.placed(value);
                }
                Writer::Of(from) if from == to && !before.is_intermediate => {
                    self.flaw(FlawKind::IncompatibleOrder);
                    return self.placed(value);
                }
                Writer::Of(from) if from != to => {
                    let why = EdgeReason { dependency: Dependency::Write, key, version: prev };
                    self.edge(from, to, why);
                }
                Writer::Of(_) => {}
            }
            self.leaving.push_back((to, prev));
        }
        let readers = match prev {
            INITIAL => self.key(key).readers,
            prev => self.known(prev).readers,
        };
        let mut at = readers.head;
        while at != UNKNOWN {
            let reader = self.readers.all[at as usize];
            self.precede(reader, key, prev, value);
            at = reader.next;
        }
        self.placed(value);
    }

    /// No further edges come from the place of a version.
    fn placed(&mut self, value: WriteId) {
        let version = self.known(value);
        let was_placed = std::mem::replace(&mut version.is_placed, true);
        if let (false, Writer::Of(number)) = (was_placed, version.writer)
            && let Some(open) = self.open_of(number)
        {
            open.unplaced -= 1;
        }
    }

    /// Whether the versions of the next transaction that is to be final have their places; what is
    /// said to follow a version without a writer gets none.
    fn find_places(&mut self) -> bool {
        while let Some(&(number, id)) = self.unplaced.front() {
            if number > self.next_final {
                break;
            }
            let version = self.versions.get(&id).copied().filter(|version| !version.is_placed);
            if let Some(Version { prev, .. }) = version {
                if prev != UNKNOWN {
                    self.flaw(FlawKind::GarbageRead);
                } else if self.open.len() > WAITING_MOST {
                    self.leave_open(UNTOLD);
                } else {
                    return false;
                }
                self.placed(id);
            }
            self.unplaced.pop_front();
        }
        true
    }

    /// A key with one version without a place has one place for it: behind all others.
    fn place_the_rest(&mut self) {
        let mut rest: BTreeMap<u32, Vec<WriteId>> = BTreeMap::new();
        for (_, id) in std::mem::take(&mut self.unplaced) {
            match self.versions.get(&id) {
                Some(version) if !version.is_placed && version.prev == UNKNOWN => {
                    rest.entry(version.key).or_default().push(id);
                }
                Some(version) if !version.is_placed => self.unplaced.push_back((u32::MAX, id)),
                _ => {}
            }
        }
        for (key, ids) in rest {
            match ids[..] {
                [only] => {
                    let tail = self.key(key).tail;
                    self.tell(key, only, tail);
                }
                _ => {
                    self.leave_open(UNPLACED);
                    ids.into_iter().for_each(|id| self.placed(id));
                }
            }
        }
        for (_, id) in std::mem::take(&mut self.unplaced) {
            if self.versions.get(&id).is_some_and(|version| !version.is_placed) {
                self.flaw(FlawKind::GarbageRead);
                self.placed(id);
            }
        }
    }

    fn unpark(&mut self, id: WriteId) {
        let Some(Version { writer: Writer::Parked(place), .. }) = self.versions.get(&id) else {
            return;
        };
        let place = *place;
        // It is being admitted if it is not there.
        if let Some((txn, ops)) = self.parked.remove(&place) {
            self.admit(txn, &ops);
        }
    }

    fn edge(&mut self, from: u32, to: u32, why: EdgeReason) {
        let mut is_late = false;
        for (_, graph) in &mut self.levels {
            is_late |= graph.add_dependency(from, to, why) == EdgeInsertion::TooLate;
        }
        if is_late {
            self.leave_open(STALE);
        }
    }

    fn flaw(&mut self, kind: FlawKind) {
        if !self.flaws.contains(&kind) {
            self.flaws.push(kind);
        }
    }

    fn leave_open(&mut self, why: &'static str) {
        self.unanswered.get_or_insert(why);
    }

    /// The first transaction that may still matter.
    fn floor(&self) -> u32 {
        let firsts = self.levels.iter().filter_map(|(_, graph)| graph.first());
        firsts.min().unwrap_or(self.next_final).min(self.next_final)
    }

    /// Lets go of what will not be asked for.
    fn forget(&mut self) {
        let floor = self.floor();
        while self.first_open < floor {
            self.open.pop_front();
            self.first_open += 1;
        }
        while self.leaving.front().is_some_and(|(number, _)| *number < floor) {
            let Some((_, id)) = self.leaving.pop_front() else { break };
            if let Some(version) = self.versions.remove(&id) {
                self.readers.prune_readers(version.readers, UNKNOWN);
                self.gone.set(id);
                if version.writer == Writer::Failed {
                    self.undone.set(id);
                }
            }
        }
    }
}

fn is_id(id: WriteId) -> bool {
    id != INITIAL && id < ABSENT
}
