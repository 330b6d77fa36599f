//! What a history says by itself: writers, readers, and which version follows which.
//!
//! ```text
//!   key x   INITIAL ─▶ 4 ─▶ 7      chain of INITIAL: before all others
//!           9 ─▶ 12                another chain: nothing tells where, but it is in one piece
//! ```

use std::collections::{HashMap, HashSet};

use crate::history::{
    ABSENT, History, INITIAL, Op, OperationKind, TransactionOutcome, UNKNOWN, WriteId,
};
use crate::level::{Dependency, Level};
use crate::region::CycleStep;

/// Chains of versions that would have to stand in this order.
pub(super) type Choice = (u32, u32);

/// Whether one version of a key comes before another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Precedence {
    Surely,
    /// If the first chain comes before the second.
    If(u32, u32),
    Not,
}

impl Precedence {
    pub(super) fn surely_if(is_so: bool) -> Precedence {
        if is_so { Precedence::Surely } else { Precedence::Not }
    }

    pub(super) fn assumed_choices(self) -> Vec<Choice> {
        match self {
            Precedence::If(one, other) => vec![(one, other)],
            Precedence::Surely | Precedence::Not => Vec::new(),
        }
    }
}

/// What a level says of a transaction that reads a key and then writes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Replacing {
    /// Nothing.
    Anything,
    /// It writes a later version than the one that it read.
    Later,
    /// The next one, if the read was a current one.
    NextIfCurrent,
    /// The next one.
    Next,
}

/// All of them.
pub(super) const REPLACING: [Replacing; 4] =
    [Replacing::Anything, Replacing::Later, Replacing::NextIfCurrent, Replacing::Next];

impl Replacing {
    pub(super) fn for_level(level: Level) -> Replacing {
        match level {
            Level::RepeatableRead
            | Level::SnapshotIsolation
            | Level::StrongSessionSnapshotIsolation
            | Level::StrongSnapshotIsolation
            | Level::ViewSerializable
            | Level::Serializable
            | Level::StrongSessionSerializable
            | Level::StrictSerializable => Replacing::Next,
            Level::InnodbRepeatableRead => Replacing::NextIfCurrent,
            Level::ReadUncommitted => Replacing::Anything,
            level if level.is_of_commits() => Replacing::Anything,
            _ => Replacing::Later,
        }
    }

    /// Whether no transaction may write the key between a read, plain or current, and the write.
    pub(super) fn is_at_once(self, is_current: bool) -> bool {
        self == Replacing::Next || (is_current && self == Replacing::NextIfCurrent)
    }
}

/// A version that a transaction read of another one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sight {
    /// The place of the operation in its transaction.
    pub place: usize,
    pub key: u32,
    pub value: WriteId,
    pub is_current: bool,
    /// A scan did not find the row.
    pub is_predicate: bool,
}

pub(super) struct Facts<'a> {
    pub history: &'a History,
    /// By transaction, whether it has certainly committed, or one that has saw it.
    pub is_counted: Vec<bool>,
    /// By id, its writer and key; the first one, if there are several.
    writes: Vec<(u32, u32)>,
    /// By id, whether others wrote it too; by key, whether a row goes for good.
    is_written_again: HashSet<WriteId>,
    is_deleted: Vec<bool>,
    /// By id, the version that it directly follows, or UNKNOWN.
    before: Vec<WriteId>,
    /// By id, its chain and its place in it; UNKNOWN of increments and of what is not counted.
    places: Vec<(u32, u32)>,
    /// By key, the last version of the chain of INITIAL; UNKNOWN if there are other chains.
    lasts: Vec<WriteId>,
    replacing: Replacing,
}

/// Which version directly follows which.
struct Links {
    before: Vec<WriteId>,
    after: Vec<WriteId>,
    first: Vec<WriteId>,
}

impl Links {
    /// Whether no other version follows `before` already.
    fn join(&mut self, key: u32, before: WriteId, id: WriteId) -> bool {
        let next = match before {
            INITIAL => &mut self.first[key as usize],
            before => &mut self.after[before as usize],
        };
        if *next != UNKNOWN || self.before[id as usize] != UNKNOWN {
            return *next == id;
        }
        *next = id;
        self.before[id as usize] = before;
        true
    }

    fn last(&self, key: u32) -> WriteId {
        let mut last = INITIAL;
        let mut next = self.first[key as usize];
        while next != UNKNOWN {
            (last, next) = (next, self.after[next as usize]);
        }
        last
    }
}

impl<'a> Facts<'a> {
    pub(super) fn from_history(history: &'a History, replacing: Replacing) -> Facts<'a> {
        let ids = history.id_count as usize;
        let mut facts = Facts {
            history,
            is_counted: history
                .outcome
                .iter()
                .map(|outcome| *outcome == TransactionOutcome::Ok)
                .collect(),
            writes: vec![(UNKNOWN, UNKNOWN); ids],
            is_written_again: HashSet::new(),
            is_deleted: vec![false; history.key_count as usize],
            before: Vec::new(),
            places: vec![(UNKNOWN, UNKNOWN); ids],
            lasts: vec![UNKNOWN; history.key_count as usize],
            replacing,
        };
        facts.note_writes();
        facts.count();
        let mut links = facts.told();
        facts.link_the_only_ones(&mut links);
        facts.link_what_was_replaced(&mut links);
        facts.link_the_only_ones(&mut links);
        facts.place(&links);
        facts.before = links.before;
        facts
    }

    fn note_writes(&mut self) {
        for txn in 0..self.history.len() {
            let ops = self.history.ops(txn);
            for op in
                ops.iter().filter(|op| is_write(op.kind) || op.kind == OperationKind::Increment)
            {
                let Some(known) = self.writes.get_mut(op.value as usize) else { continue };
                if known.0 == UNKNOWN {
                    *known = (txn as u32, op.key);
                } else {
                    self.is_written_again.insert(op.value);
                }
            }
            let last = last_writes(ops);
            for op in last.values().filter(|op| op.kind == OperationKind::Delete) {
                self.is_deleted[op.key as usize] = true;
            }
        }
    }

    /// One that is not known to have committed has, if one that counts names what it wrote.
    fn count(&mut self) {
        let mut todo: Vec<usize> =
            (0..self.history.len()).filter(|&t| self.is_counted[t]).collect();
        while let Some(txn) = todo.pop() {
            for op in self.history.ops(txn) {
                if matches!(
                    op.kind,
                    OperationKind::Scan | OperationKind::CurrentScan | OperationKind::Count
                ) {
                    continue;
                }
                for id in [op.value, op.prev].into_iter().filter(|id| *id != INITIAL) {
                    let Some(&(writer, _)) = self.writes.get(id as usize) else { continue };
                    let outcome = self.history.outcome.get(writer as usize);
                    if outcome == Some(&TransactionOutcome::Unknown)
                        && !self.is_counted[writer as usize]
                    {
                        self.is_counted[writer as usize] = true;
                        todo.push(writer as usize);
                    }
                }
            }
        }
    }

    fn counted(&self) -> impl Iterator<Item = usize> + use<'a, '_> {
        (0..self.history.len()).filter(|&txn| self.is_counted[txn])
    }

    /// Those before a transaction in its session, the last one first.
    pub(super) fn earlier_in_session(&self, txn: usize) -> impl Iterator<Item = usize> + '_ {
        let is_own = move |other: &usize| self.is_earlier_in_session(*other, txn);
        (0..txn).rev().filter(move |other| self.is_counted[*other] && is_own(other))
    }

    /// Whether the commit of one was confirmed before its session asked for the other.
    pub(super) fn is_earlier_in_session(&self, one: usize, other: usize) -> bool {
        let session = &self.history.session;
        let is_confirmed = self.history.outcome[one] == TransactionOutcome::Ok;
        is_confirmed && session[one] == session[other] && one < other
    }

    /// What operations say of the order of versions: own writes in a row first, then what was
    /// replaced, then what was read.
    fn told(&self) -> Links {
        let ids = self.history.id_count as usize;
        let keys = self.history.key_count as usize;
        let (before, after) = (vec![UNKNOWN; ids], vec![UNKNOWN; ids]);
        let mut links = Links { before, after, first: vec![UNKNOWN; keys] };
        let mut said: Vec<(u32, WriteId, WriteId)> = Vec::new();
        for txn in self.counted() {
            let mut own: HashMap<u32, WriteId> = HashMap::new();
            for op in self.history.ops(txn) {
                let is_read = matches!(
                    op.kind,
                    OperationKind::Read | OperationKind::CurrentRead | OperationKind::Order
                );
                if is_write(op.kind) {
                    match own.insert(op.key, op.value) {
                        Some(before) => _ = links.join(op.key, before, op.value),
                        None => said.push((op.key, op.prev, op.value)),
                    }
                } else if is_read {
                    said.push((op.key, op.prev, op.value));
                }
            }
        }
        for (key, before, id) in said {
            let is_of_key = |id: WriteId| self.writes.get(id as usize).is_some_and(|w| w.1 == key);
            if id != INITIAL && is_of_key(id) && (before == INITIAL || is_of_key(before)) {
                links.join(key, before, id);
            }
        }
        links
    }

    /// By key, the versions whose predecessor nothing tells.
    fn untold(&self, links: &Links) -> HashMap<u32, Vec<WriteId>> {
        let mut untold: HashMap<u32, Vec<WriteId>> = HashMap::new();
        for txn in self.counted() {
            for op in self.history.ops(txn).iter().filter(|op| is_write(op.kind)) {
                if links.before[op.value as usize] == UNKNOWN {
                    untold.entry(op.key).or_default().push(op.value);
                }
            }
        }
        untold
    }

    /// A key with one such version has one place for it.
    fn link_the_only_ones(&self, links: &mut Links) {
        for (key, ids) in self.untold(links) {
            if let [id] = ids.as_slice() {
                links.join(key, links.last(key), *id);
            }
        }
    }

    /// A transaction that read a version and wrote the key has replaced what it read, where the
    /// level forbids a write between.
    fn link_what_was_replaced(&self, links: &mut Links) {
        if !self.replacing.is_at_once(true) {
            return;
        }
        for txn in self.counted() {
            let mut read: HashMap<u32, WriteId> = HashMap::new();
            for sight in self.external_reads(txn) {
                let is_asked = self.replacing.is_at_once(sight.is_current);
                let version = self.resolved_version(&sight);
                if is_asked && !sight.is_predicate && version < ABSENT {
                    read.entry(sight.key).or_insert(version);
                }
            }
            let mut is_written = HashSet::new();
            for op in self.history.ops(txn).iter().filter(|op| is_write(op.kind)) {
                if let Some(version) = read.get(&op.key).filter(|_| is_written.insert(op.key)) {
                    let is_its =
                        *version == INITIAL || self.counted_writer(op.key, *version).is_some();
                    if is_its && links.before[op.value as usize] == UNKNOWN {
                        links.join(op.key, *version, op.value);
                    }
                }
            }
        }
    }

    /// Numbers chains: that of INITIAL as its key, others behind them by their first version.
    fn place(&mut self, links: &Links) {
        let keys = self.history.key_count;
        let untold = self.untold(links);
        for key in 0..keys {
            self.walk(links, key, links.first[key as usize]);
            if !untold.contains_key(&key) {
                self.lasts[key as usize] = links.last(key);
            }
        }
        for head in untold.into_values().flatten() {
            self.walk(links, keys + head, head);
        }
    }

    fn walk(&mut self, links: &Links, chain: u32, first: WriteId) {
        let (mut next, mut place) = (first, 1);
        while next != UNKNOWN && self.places[next as usize].0 == UNKNOWN {
            self.places[next as usize] = (chain, place);
            (next, place) = (links.after[next as usize], place + 1);
        }
    }

    pub(super) fn last_versions(&self) -> Vec<WriteId> {
        self.lasts.clone()
    }

    /// The writer of a version of a key, if it counts.
    pub(super) fn counted_writer(&self, key: u32, version: WriteId) -> Option<usize> {
        let &(txn, its) = self.writes.get(version as usize)?;
        let is_it = its == key && *self.is_counted.get(txn as usize)?;
        is_it.then_some(txn as usize)
    }

    /// All writers of a version, with the key.
    pub(super) fn all_writers(&self, version: WriteId) -> Vec<(usize, u32)> {
        let known = self.writes.get(version as usize).filter(|(txn, _)| *txn != UNKNOWN);
        let mut all: Vec<(usize, u32)> =
            known.map(|(txn, key)| (*txn as usize, *key)).into_iter().collect();
        if self.is_written_again.contains(&version) {
            all = (0..self.history.len())
                .flat_map(|txn| self.history.ops(txn).iter().map(move |op| (txn, op)))
                .filter(|(_, op)| is_write(op.kind) || op.kind == OperationKind::Increment)
                .filter(|(_, op)| op.value == version)
                .map(|(txn, op)| (txn, op.key))
                .collect();
        }
        all
    }

    /// What a transaction read of others, in its order.
    pub(super) fn external_reads(&self, txn: usize) -> Vec<Sight> {
        let ops = self.history.ops(txn);
        let mut own: HashSet<u32> = HashSet::new();
        let mut sights = Vec::new();
        for (place, op) in ops.iter().enumerate() {
            let (key, value) = (op.key, op.value);
            match op.kind {
                kind if is_write(kind) => _ = own.insert(key),
                OperationKind::Read | OperationKind::CurrentRead
                    if value != UNKNOWN && !own.contains(&key) =>
                {
                    let is_current = op.kind == OperationKind::CurrentRead;
                    sights.push(Sight { place, key, value, is_current, is_predicate: false });
                }
                OperationKind::Scan | OperationKind::CurrentScan => {
                    let end = ops.len().min(place + 1 + op.prev as usize);
                    let found: HashSet<u32> = ops[place + 1..end].iter().map(|o| o.key).collect();
                    let is_current = op.kind == OperationKind::CurrentScan;
                    let all = key..key.saturating_add(value);
                    let missed = all.filter(|key| !found.contains(key) && !own.contains(key));
                    let (value, is_predicate) = (ABSENT, true);
                    sights.extend(missed.map(|key| Sight {
                        place,
                        key,
                        value,
                        is_current,
                        is_predicate,
                    }));
                }
                _ => {}
            }
        }
        sights
    }

    /// The version that a sight is of; UNKNOWN if an absence may be one of several.
    pub(super) fn resolved_version(&self, sight: &Sight) -> WriteId {
        match sight.value {
            ABSENT if self.is_deleted[sight.key as usize] => UNKNOWN,
            ABSENT => INITIAL,
            value => value,
        }
    }

    /// Whether a transaction read a version of another one in some way.
    pub(super) fn has_read(
        &self,
        txn: usize,
        key: u32,
        version: WriteId,
        way: impl Fn(&Sight) -> bool,
    ) -> bool {
        let is_it = |sight: &Sight| {
            sight.key == key && self.resolved_version(sight) == version && way(sight)
        };
        let has_counted = self.counts(txn, key).iter().any(|ids| ids.contains(&version));
        let of_count =
            Sight { place: 0, key, value: version, is_current: false, is_predicate: false };
        self.external_reads(txn).iter().any(is_it) || (has_counted && way(&of_count))
    }

    /// By count of a counter, the increments that it includes.
    fn counts(&self, txn: usize, key: u32) -> Vec<HashSet<WriteId>> {
        let ops = self.history.ops(txn);
        let counts = ops.iter().enumerate().filter(|(_, op)| op.kind == OperationKind::Count);
        counts
            .filter(|(_, op)| op.key == key)
            .map(|(place, _)| {
                let included =
                    ops[place + 1..].iter().take_while(|o| o.kind == OperationKind::Included);
                included.flat_map(|op| [op.value, op.prev]).filter(|id| *id < ABSENT).collect()
            })
            .collect()
    }

    pub(super) fn has_written(&self, txn: usize, key: u32) -> bool {
        self.last_written(txn, key).is_some()
    }

    /// The last version of a key that a transaction wrote.
    pub(super) fn last_written(&self, txn: usize, key: u32) -> Option<WriteId> {
        let mut own = self.history.ops(txn).iter().rev();
        own.find(|op| op.key == key && is_write(op.kind)).map(|op| op.value)
    }

    /// Whether a version comes before another one of its key.
    pub(super) fn version_precedence(
        &self,
        key: u32,
        version: WriteId,
        later: WriteId,
    ) -> Precedence {
        let place = |id: WriteId| match id {
            INITIAL => Some((key, 0)),
            id => self.places.get(id as usize).copied().filter(|place| place.0 != UNKNOWN),
        };
        if self.before.get(later as usize) == Some(&version) {
            return Precedence::Surely;
        }
        let (Some(one), Some(other)) = (place(version), place(later)) else {
            return Precedence::Not;
        };
        if one.0 == other.0 {
            return Precedence::surely_if(one.1 < other.1);
        }
        if other.0 == key {
            return Precedence::Not;
        }
        let has_replaced = || {
            let writer = self.counted_writer(key, later)?;
            let sights = self.external_reads(writer);
            let mut read = sights.iter().filter(|sight| sight.key == key);
            read.any(|sight| {
                place(self.resolved_version(sight)).is_some_and(|read| read.0 == one.0)
            })
            .then_some(())
        };
        if one.0 == key || (self.replacing != Replacing::Anything && has_replaced().is_some()) {
            return Precedence::Surely;
        }
        Precedence::If(one.0, other.0)
    }

    /// Whether a transaction read the version of a step in its way, and then wrote the key.
    pub(super) fn is_read_and_written(&self, txn: usize, step: &CycleStep) -> bool {
        let is_current = step.dependency == Dependency::CurrentAnti;
        self.has_read(txn, step.key, step.version, |sight| {
            sight.is_current == is_current && !sight.is_predicate
        }) && self.has_written(txn, step.key)
    }

    /// Whether `to` wrote a later version of the key than the one that `from` wrote.
    pub(super) fn replacement_precedence(
        &self,
        from: usize,
        to: usize,
        key: u32,
        version: WriteId,
    ) -> Precedence {
        if self.counted_writer(key, version) != Some(from) {
            return Precedence::Not;
        }
        self.written_later(to, key, version)
    }

    /// Whether a transaction wrote a later version of a key.
    fn written_later(&self, txn: usize, key: u32, version: WriteId) -> Precedence {
        let own = self.history.ops(txn).iter().filter(|op| op.key == key && is_write(op.kind));
        let mut found = Precedence::Not;
        for op in own {
            match self.version_precedence(key, version, op.value) {
                Precedence::Surely => return Precedence::Surely,
                Precedence::Not => {}
                choice => found = choice,
            }
        }
        found
    }

    /// Whether `from` read a version, in the way of the dependency, than which `to` wrote a later.
    pub(super) fn overwrite_precedence(
        &self,
        step: &CycleStep,
        dependency: Dependency,
    ) -> Precedence {
        let (from, to, key, version) = (step.from, step.to, step.key, step.version);
        let is_current =
            matches!(dependency, Dependency::CurrentAnti | Dependency::CurrentPredicateAnti);
        let is_in_way = |sight: &Sight| {
            sight.is_current == is_current && sight.is_predicate == dependency.is_predicate()
        };
        let counts = self.counts(from, key);
        let is_counter =
            self.counted_writer(key, version) == Some(to) && dependency == Dependency::Anti;
        if is_counter && counts.iter().any(|ids| !ids.contains(&version)) {
            return Precedence::Surely;
        }
        if !self.has_read(from, key, version, is_in_way) {
            return Precedence::Not;
        }
        self.written_later(to, key, version)
    }

    /// Whether an operation of a transaction names a version of a key.
    pub(super) fn mentions_version(&self, txn: usize, key: u32, version: WriteId) -> bool {
        let Some(last) = self.history.len().checked_sub(1).filter(|last| txn <= *last) else {
            return false;
        };
        let mut counter = UNKNOWN;
        self.history.ops(txn.min(last)).iter().any(|op| {
            if op.kind == OperationKind::Count {
                counter = op.key;
            }
            let its = if op.kind == OperationKind::Included { counter } else { op.key };
            its == key && [op.value, op.prev].contains(&version)
        })
    }

    /// Whether a transaction reads or replaces a version of a key where its own last write is
    /// another one.
    pub(super) fn forgets_its_own(&self, txn: usize, key: u32, version: WriteId) -> bool {
        let mut own: Option<&Op> = None;
        self.history.ops(txn).iter().filter(|op| op.key == key).any(|op| {
            let before = own;
            let seen = match op.kind {
                OperationKind::Read | OperationKind::CurrentRead => op.value,
                kind if is_write(kind) => {
                    own = Some(op);
                    op.prev
                }
                _ => UNKNOWN,
            };
            seen == version && before.is_some_and(|own| own.value != version)
        })
    }

    /// Whether two statements about the order of versions of a key exclude each other: one version
    /// follows two, two follow one, or one follows its own writer's later version.
    pub(super) fn contradicts_itself(&self, key: u32) -> bool {
        let mut before: HashMap<WriteId, WriteId> = HashMap::new();
        let mut after: HashMap<WriteId, WriteId> = HashMap::new();
        let mut is_wrong = false;
        for txn in self.counted() {
            let mut own = UNKNOWN;
            for op in self.history.ops(txn).iter().filter(|op| op.key == key) {
                let prev = match op.kind {
                    kind if is_write(kind) => std::mem::replace(&mut own, op.value),
                    _ => UNKNOWN,
                };
                let prev = if prev == UNKNOWN { op.prev } else { prev };
                let is_of_order = is_write(op.kind)
                    || matches!(
                        op.kind,
                        OperationKind::Read | OperationKind::CurrentRead | OperationKind::Order
                    );
                if !is_of_order || prev >= ABSENT || op.value >= ABSENT || op.value == INITIAL {
                    continue;
                }
                is_wrong |= prev == op.value;
                is_wrong |= *before.entry(op.value).or_insert(prev) != prev;
                is_wrong |= *after.entry(prev).or_insert(op.value) != op.value;
                let follows_itself = is_write(op.kind) && op.prev < ABSENT && prev == op.prev;
                is_wrong |= follows_itself
                    && self.counted_writer(key, op.prev) == Some(txn)
                    && self.last_written(txn, key) == Some(op.prev);
            }
        }
        is_wrong
    }
}

/// By key, the last write of it.
fn last_writes(ops: &[Op]) -> HashMap<u32, &Op> {
    ops.iter().filter(|op| is_write(op.kind)).map(|op| (op.key, op)).collect()
}

fn is_write(kind: OperationKind) -> bool {
    matches!(
        kind,
        OperationKind::Write
            | OperationKind::Insert
            | OperationKind::Delete
            | OperationKind::Append
    )
}
