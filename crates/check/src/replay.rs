//! The independent judge of a proof that a level holds.
//!
//! It knows the history, the level and the order, and nothing of graphs: it carries the
//! transactions out one event after the other on an empty database and compares every answer. That
//! is the state-based view of Crooks, Pu, Alvisi, Clement, *Seeing is Believing*, PODC 2017: each
//! commit makes a state, and reads are answered from the state that the level prescribes.

mod visible;

use crate::certificate::Certificate;
use crate::history::{
    ABSENT, History, INITIAL, Op, OperationKind, TransactionOutcome, UNKNOWN, WriteId,
};
use crate::level::Level;

/// Events whose keys and versions are asked for at once, so that their loads overlap.
const FETCHED: usize = 8;

/// Carries the history out in the order of the certificate.
///
/// # Errors
/// The first answer that the level and this order do not give.
pub fn replay(history: &History, level: Level, certificate: &Certificate) -> Result<(), String> {
    if level.is_of_commits() {
        return commits(history, level);
    }
    if level == Level::ViewSerializable {
        let mut is_done = vec![false; history.len()];
        let committed = certificate.events.iter().map(|event| *event as usize / 2);
        committed.filter(|txn| *txn < history.len()).for_each(|txn| is_done[txn] = true);
        let unordered = history.without_order(|_| false);
        let now = carried_out(&unordered, Level::Serializable, certificate)?;
        return lasts(history, &is_done, &now);
    }
    if level.is_of_visibility() {
        return visible::replay(history, level, certificate);
    }
    carried_out(history, level, certificate).map(drop)
}

/// The last versions of all keys, if every answer is right.
fn carried_out(
    history: &History,
    level: Level,
    certificate: &Certificate,
) -> Result<Vec<WriteId>, String> {
    let mut world = World {
        history,
        level,
        now: vec![INITIAL; history.key_count as usize],
        changed: vec![0; history.key_count as usize],
        before: vec![UNKNOWN; history.id_count as usize],
        is_replaced: vec![false; history.id_count as usize],
        is_gone: vec![true; history.key_count as usize],
        snapshot: vec![UNKNOWN; history.len()],
        is_done: vec![false; history.len()],
        begun_ns: 0,
    };
    for (at, &event) in certificate.events.iter().enumerate() {
        let txn = event as usize / 2;
        if txn >= history.len()
            || history.outcome[txn] == TransactionOutcome::Failed
            || world.is_done[txn]
        {
            return Err(format!("event {at} is of no transaction that can commit now"));
        }
        if at.is_multiple_of(FETCHED) {
            world.fetch(&certificate.events[at..certificate.events.len().min(at + FETCHED)]);
        }
        let told = if event % 2 == 0 { world.begin(txn, at) } else { world.commit(txn, at) };
        told.map_err(|what| format!("event {at}, transaction {txn}: {what}"))?;
    }
    let missing = (0..history.len())
        .find(|&txn| history.outcome[txn] == TransactionOutcome::Ok && !world.is_done[txn]);
    missing.map_or(Ok(()), |txn| Err(format!("transaction {txn} committed and is missing")))?;
    world.sessions(certificate)?;
    Ok(world.now)
}

/// Whether every key ends with the version that no other one of it is said to follow, among those
/// that were carried out.
fn lasts(history: &History, is_done: &[bool], now: &[WriteId]) -> Result<(), String> {
    let mut is_followed = vec![false; history.id_count as usize];
    let mut is_told = vec![true; history.key_count as usize];
    let committed = || (0..history.len()).filter(|&txn| is_done[txn]);
    let ops =
        || committed().flat_map(|txn| history.ops(txn).iter().enumerate().map(move |at| (txn, at)));
    for (txn, (at, op)) in ops().filter(|(_, (_, op))| is_write(op.kind)) {
        let before = own(&history.ops(txn)[..at], op.key).map_or(op.prev, |own| own.value);
        match is_followed.get_mut(before as usize) {
            Some(is_followed) => *is_followed = true,
            None => is_told[op.key as usize] = false,
        }
    }
    let wrong = ops().find(|(_, (_, op))| {
        let is_last = is_write(op.kind) && !is_followed[op.value as usize];
        is_last && is_told[op.key as usize] && now[op.key as usize] != op.value
    });
    wrong.map_or(Ok(()), |(txn, _)| Err(format!("the last version is another than that of {txn}")))
}

/// Compares the clocks of every read, and where the level asks for it of every write, with those
/// of the writers of what it saw or replaced.
fn commits(history: &History, level: Level) -> Result<(), String> {
    let mut writer = vec![UNKNOWN; history.id_count as usize];
    let all = (0..history.len()).flat_map(|txn| history.ops(txn).iter().map(move |op| (txn, op)));
    for (txn, op) in all.clone().filter(|(_, op)| is_write(op.kind)) {
        writer[op.value as usize] = txn as u32;
    }
    for (txn, op) in all.filter(|(txn, _)| history.outcome[*txn] == TransactionOutcome::Ok) {
        let version = match op.kind {
            OperationKind::Read | OperationKind::CurrentRead => op.value,
            kind if is_write(kind) && level == Level::Strict => op.prev,
            _ => continue,
        };
        let Some(&other) = writer.get(version as usize) else { continue };
        if other == UNKNOWN || other as usize == txn {
            continue;
        }
        let (its, own) = (&history.times[other as usize], &history.times[txn]);
        let waited_for =
            if level == Level::Recoverable { own.commit_invoke_ns } else { own.begin_invoke_ns };
        if its.commit_return_ns > waited_for {
            return Err(format!("transaction {txn} need not have waited for {other}"));
        }
    }
    Ok(())
}

struct World<'a> {
    history: &'a History,
    level: Level,
    /// By key, the latest version, and one more than the event that made it.
    now: Vec<WriteId>,
    changed: Vec<u32>,
    /// By id, the version that it replaced; UNKNOWN until it is there.
    before: Vec<WriteId>,
    /// By id, whether its own transaction replaced it.
    is_replaced: Vec<bool>,
    /// By key, whether nothing says that there is a row: at the beginning, and after a deletion.
    is_gone: Vec<bool>,
    /// By transaction, the event of its snapshot.
    snapshot: Vec<u32>,
    is_done: Vec<bool>,
    /// The latest beginning among those that have begun.
    begun_ns: u64,
}

impl World<'_> {
    fn has_snapshots(&self) -> bool {
        self.level.graph_shape().has_snapshots
    }

    /// Brings what the events will look at near the processor.
    fn fetch(&self, events: &[u32]) {
        let txns = events.iter().map(|event| *event as usize / 2);
        let mut sum = 0;
        for op in txns.filter(|txn| *txn < self.history.len()).flat_map(|t| self.history.ops(t)) {
            sum ^= self.now[op.key as usize];
            sum ^= self.before.get(op.value as usize).copied().unwrap_or(0);
        }
        std::hint::black_box(sum);
    }

    fn begin(&mut self, txn: usize, at: usize) -> Result<(), String> {
        if !self.has_snapshots() || self.snapshot[txn] != UNKNOWN {
            return Err("a second beginning".to_owned());
        }
        self.snapshot[txn] = at as u32;
        self.begun_ns = self.begun_ns.max(self.history.times[txn].begin_invoke_ns);
        let is_innodb = self.level == Level::InnodbRepeatableRead;
        self.read(txn, |kind| {
            !is_innodb || !matches!(kind, OperationKind::CurrentRead | OperationKind::CurrentScan)
        })
    }

    fn commit(&mut self, txn: usize, at: usize) -> Result<(), String> {
        if !self.has_snapshots() {
            self.begun_ns = self.begun_ns.max(self.history.times[txn].begin_invoke_ns);
            self.read(txn, |_| true)?;
        } else if self.snapshot[txn] == UNKNOWN {
            return Err("it commits before it begins".to_owned());
        } else if self.level == Level::InnodbRepeatableRead {
            self.read(txn, |kind| {
                matches!(kind, OperationKind::CurrentRead | OperationKind::CurrentScan)
            })?;
        }
        let is_strong =
            matches!(self.level, Level::StrictSerializable | Level::StrongSnapshotIsolation);
        let is_answered = self.history.outcome[txn] != TransactionOutcome::Unknown;
        let answered_ns = self.history.times[txn].commit_return_ns;
        if is_strong && is_answered && answered_ns < self.begun_ns {
            return Err("it was answered before another began that stands before it".to_owned());
        }
        self.is_done[txn] = true;
        let ops = self.history.ops(txn);
        for (place, op) in ops.iter().enumerate() {
            if !is_write(op.kind) {
                continue;
            }
            let key = op.key as usize;
            let own = own(&ops[..place], op.key);
            let is_own = own.is_some();
            if let Some(own) = own {
                self.is_replaced[own.value as usize] = true;
            }
            // PL-1 does not ask whether what was replaced had been rolled back.
            let was_there = op.prev == INITIAL
                || self.level != Level::ReadUncommitted
                || self.before.get(op.prev as usize).is_some_and(|before| *before != UNKNOWN);
            if op.prev < ABSENT && !is_own && was_there && op.prev != self.now[key] {
                return Err(format!("it replaced {}, not {}", op.prev, self.now[key]));
            }
            let has_first_committer_wins =
                self.has_snapshots() && self.level != Level::InnodbRepeatableRead;
            if has_first_committer_wins && !is_own && self.changed[key] > self.snapshot[txn] {
                return Err(format!("key {key} was written since its snapshot"));
            }
            self.before[op.value as usize] = self.now[key];
            (self.now[key], self.changed[key]) = (op.value, at as u32 + 1);
            self.is_gone[key] = op.kind == OperationKind::Delete;
        }
        for op in ops.iter().filter(|op| op.kind == OperationKind::Increment) {
            self.before[op.value as usize] = INITIAL;
            self.now[op.key as usize] += 1;
        }
        self.orders(ops)
    }

    /// What `Order` and reads of own writes say of versions that are there.
    fn orders(&self, ops: &[Op]) -> Result<(), String> {
        let written = ops.iter().position(|op| is_write(op.kind)).unwrap_or(ops.len());
        let mut orders = ops.iter().enumerate().filter(|(place, op)| match op.kind {
            OperationKind::Read | OperationKind::CurrentRead
                if *place > written && op.prev < ABSENT =>
            {
                own(&ops[written..*place], op.key).is_some_and(|own| own.value == op.value)
            }
            kind => kind == OperationKind::Order && op.value < ABSENT,
        });
        let wrong = orders.find(|(_, op)| {
            let before = self.before[op.value as usize];
            before != UNKNOWN && before != op.prev
        });
        let told = |op: &Op| Err(format!("version {} does not follow {}", op.value, op.prev));
        wrong.map_or(Ok(()), |(_, op)| told(op))
    }

    /// Compares the reads that are answered now.
    fn read(&self, txn: usize, is_now: impl Fn(OperationKind) -> bool) -> Result<(), String> {
        let ops = self.history.ops(txn);
        for (place, op) in ops.iter().enumerate().filter(|(_, op)| is_now(op.kind)) {
            let is_right = match op.kind {
                OperationKind::Read | OperationKind::CurrentRead if op.value != UNKNOWN => {
                    let (value, is_own) = match own(&ops[..place], op.key) {
                        Some(own) => (self.held(own), true),
                        None => (op.value, false),
                    };
                    let is_seen = if is_own { value == op.value } else { self.sees(op) };
                    let is_free = matches!(self.level, Level::ReadUncommitted);
                    is_free || is_seen
                }
                OperationKind::Count => self.counts(ops, place),
                OperationKind::Scan | OperationKind::CurrentScan => self.scans(ops, place),
                _ => true,
            };
            if !is_right {
                return Err(format!("operation {place} would have been answered otherwise"));
            }
        }
        Ok(())
    }

    fn held(&self, own: &Op) -> WriteId {
        if own.kind == OperationKind::Delete { ABSENT } else { own.value }
    }

    /// Whether an external read may see what it saw.
    fn sees(&self, op: &Op) -> bool {
        let now = self.now[op.key as usize];
        if op.value == ABSENT {
            return self.is_committed_only() || self.is_gone[op.key as usize];
        }
        let is_there = op.value == INITIAL || self.before[op.value as usize] != UNKNOWN;
        let is_right = op.prev >= ABSENT || op.value == INITIAL || self.before_is(op);
        match self.level {
            Level::ReadUncommitted => true,
            _ if self.is_committed_only() => {
                is_there && is_right && !self.is_replaced[op.value as usize]
            }
            _ => op.value == now && is_right,
        }
    }

    /// The level asks of a read that the version was committed, not that it is the latest.
    fn is_committed_only(&self) -> bool {
        matches!(self.level, Level::ReadCommitted | Level::MonotonicAtomicView)
    }

    fn before_is(&self, op: &Op) -> bool {
        self.before[op.value as usize] == op.prev
    }

    fn counts(&self, ops: &[Op], place: usize) -> bool {
        if matches!(self.level, Level::ReadUncommitted) {
            return true;
        }
        let included = ops[place + 1..].iter().take_while(|op| op.kind == OperationKind::Included);
        let ids: Vec<WriteId> =
            included.flat_map(|op| [op.value, op.prev]).filter(|id| *id < ABSENT).collect();
        let is_own = |id: &WriteId| {
            ops[..place].iter().any(|op| op.kind == OperationKind::Increment && op.value == *id)
        };
        let others = ids.iter().filter(|id| !is_own(id));
        let are_there = others.clone().all(|id| self.before[*id as usize] != UNKNOWN);
        let is_all = others.count() as u32 == self.now[ops[place].key as usize];
        are_there && (is_all || self.is_committed_only())
    }

    fn scans(&self, ops: &[Op], place: usize) -> bool {
        let is_weak = matches!(self.level, Level::ReadUncommitted | Level::RepeatableRead)
            || self.is_committed_only();
        let scan = ops[place];
        let end = ops.len().min(place + 1 + scan.prev as usize);
        let found = &ops[place + 1..end];
        is_weak
            || (scan.key..scan.key.saturating_add(scan.value)).all(|key| {
                let is_known = found.iter().any(|row| row.key == key);
                is_known || own(&ops[..place], key).is_some() || self.is_gone[key as usize]
            })
    }

    /// Whether the order is that of every session, where the level wants that.
    fn sessions(&self, certificate: &Certificate) -> Result<(), String> {
        let is_wanted = matches!(
            self.level,
            Level::StrongSessionSerializable | Level::StrongSessionSnapshotIsolation
        );
        let mut last = vec![0; self.history.session_count()];
        for &event in certificate.events.iter().filter(|_| is_wanted) {
            let txn = event as usize / 2;
            let last = &mut last[self.history.session[txn] as usize];
            // An unknown commit may come after what its session did later.
            let is_confirmed = self.history.outcome[txn] != TransactionOutcome::Unknown;
            if is_confirmed && *last > txn + 1 {
                return Err(format!("transaction {txn} stands behind its session's next one"));
            }
            *last = (*last).max(txn + 1);
        }
        Ok(())
    }
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

fn own(ops: &[Op], key: u32) -> Option<&Op> {
    ops.iter().rev().find(|op| op.key == key && is_write(op.kind))
}
