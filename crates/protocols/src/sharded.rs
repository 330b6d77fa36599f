//! Transactions over several servers: a snapshot, and a two-phase commit by timestamps.
//!
//! ```text
//!   router   read timestamp 3 ─▶ shard a   reads at 3 ─▶ its clock is at least 3
//!                             ─▶ shard b   reads at 3
//!            commit ─▶ prepare a  its clock + 1 = 4 ┐
//!                      prepare b  its clock + 1 = 7 ┴▶ commit timestamp 7 ─▶ apply a, apply b
//!
//!   a read at 5 of a key that is prepared at 4 cannot know yet whether it is to be seen: the
//!   commit timestamp may become 5 or 9; the read waits (a prepare conflict)
//! ```
//!
//! Each key is on a shard of its own, each shard has a clock. A write is refused if somebody else
//! has written the key and is not through, or if a version is newer than what the transaction sees.
//! Who wrote on one shard only commits there at once. After the protocol of MongoDB's multi-shard
//! transactions: Schultz and Demirbas, *Design and Modular Verification of Distributed Transactions
//! in MongoDB*, VLDB 2025. Routers, replication and chunk migrations are left out, and so is the
//! rollback of who has prepared.

use std::fmt;

use dbdyno_cases::{Interleaving, InterleavingSize, KeyOperation};
use dbdyno_check::Level;

use crate::explore::Protocol;
use crate::fact::{Facts, StateFact};
use crate::judged::Transactional;
use crate::outcome::{Did, KeyVersion, MOST, Ops, ProtocolOutcome, key_name, transaction_name};
use crate::single::Names;

/// What reads of a transaction have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadConcern {
    /// One timestamp for all shards: MongoDB's `snapshot`.
    Snapshot,
    /// On each shard what is newest when the transaction comes there: `local` and `majority`,
    /// which are the same where nothing is lost.
    Local,
}

/// What is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShardFault {
    /// Nothing.
    None,
    /// A read sees the version before one that is prepared.
    IgnoresPrepared,
    /// A read does not move the clock of its shard.
    StaleClock,
    /// The commit timestamp is the smallest prepare timestamp.
    CommitsAtFirstPrepare,
    /// A write does not look for other writers.
    NoConflictCheck,
}

/// The protocol.
#[derive(Clone, Copy, Debug)]
pub struct ShardedProtocol {
    /// What reads have in common.
    pub concern: ReadConcern,
    /// What is wrong.
    pub fault: ShardFault,
    /// Transactions, keys, operations of a transaction at most.
    pub shape: InterleavingSize,
    /// Symmetry.
    pub names: Names,
}

/// A form of the protocol with a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ShardEntry {
    /// Its name in flags.
    pub name: &'static str,
    /// What it does.
    pub about: &'static str,
    /// The level that it promises.
    pub level: Level,
    /// What reads have in common.
    pub concern: ReadConcern,
    /// Which check it does without.
    pub without: ShardFault,
    /// What can be planted: name, what is wrong, and it.
    pub faults: &'static [(&'static str, &'static str, ShardFault)],
}

/// Its forms.
pub(crate) const SHARDED: [ShardEntry; 3] = [
    ShardEntry {
        name: "sharded",
        about: "a snapshot over several servers, two-phase commit (MongoDB, snapshot)",
        level: Level::SnapshotIsolation,
        concern: ReadConcern::Snapshot,
        without: ShardFault::None,
        faults: &[
            (
                "ignore-prepared",
                "a read does not wait for who has prepared a write of its key",
                ShardFault::IgnoresPrepared,
            ),
            ("stale-clock", "a read does not move the clock of its shard", ShardFault::StaleClock),
            (
                "first-prepare",
                "the commit timestamp is the smallest prepare timestamp, not the largest",
                ShardFault::CommitsAtFirstPrepare,
            ),
            (
                "no-conflict-check",
                "a write does not look for other writers",
                ShardFault::NoConflictCheck,
            ),
        ],
    },
    ShardEntry {
        name: "sharded-local",
        about: "the same with a snapshot for each server (MongoDB, local and majority)",
        level: Level::ReadCommitted,
        concern: ReadConcern::Local,
        without: ShardFault::None,
        faults: &[],
    },
    ShardEntry {
        name: "sharded-unblocked",
        about: "sharded-local, and reads do not wait for who has prepared",
        level: Level::ReadCommitted,
        concern: ReadConcern::Local,
        without: ShardFault::IgnoresPrepared,
        faults: &[],
    },
];

/// What may happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ShardAction {
    /// A client asks.
    Asks(u8, KeyOperation),
    /// A transaction is prepared on a shard.
    Prepare(u8, u8),
    /// The commit arrives at a shard.
    Apply(u8, u8),
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
enum Phase {
    #[default]
    Idle,
    Open,
    /// A read of this key waits for who has prepared it.
    Waits(u8),
    /// The commit was asked for.
    Commits,
    Committed,
    RolledBack,
}

/// No timestamp.
const NONE: u8 = 0;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
struct Running {
    phase: Phase,
    ops: Ops,
    /// By shard, the timestamp of its reads, and 1 more, or [`NONE`].
    view: [u8; MOST],
    /// By shard, the prepare timestamp.
    prepared: [u8; MOST],
    /// When it commits, once that is decided.
    commit: u8,
    /// Shards where the commit has arrived, as bits.
    applied: u8,
}

/// All that there is to know.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct ShardState {
    txns: [Running; MOST],
    clocks: [u8; MOST],
}

impl Running {
    fn wrote(&self, shard: u8) -> bool {
        self.ops.last_write(shard).is_some()
    }

    fn is_applied(&self, shard: u8) -> bool {
        self.applied & (1 << shard) != 0
    }

    fn shards_written(&self) -> usize {
        (0..MOST as u8).filter(|shard| self.wrote(*shard)).count()
    }
}

impl Protocol for ShardedProtocol {
    type State = ShardState;
    type Action = ShardAction;

    fn initial(&self) -> ShardState {
        ShardState::default()
    }

    fn add_actions(&self, state: &ShardState, to: &mut Vec<ShardAction>) {
        let keys = self.keys_to_meet(state);
        let mut others_idle = false;
        for who in 0..usize::from(self.shape.transactions) {
            let one = &state.txns[who];
            let is_idle = one.phase == Phase::Idle;
            if one.phase == Phase::Commits {
                for shard in (0..self.shape.keys).filter(|shard| one.wrote(*shard)) {
                    if one.prepared[usize::from(shard)] == NONE {
                        to.push(ShardAction::Prepare(who as u8, shard));
                    } else if one.commit != NONE && !one.is_applied(shard) {
                        to.push(ShardAction::Apply(who as u8, shard));
                    }
                }
            }
            let can = is_idle || one.phase == Phase::Open;
            if !can || (is_idle && others_idle && self.names == Names::ByAppearance) {
                continue;
            }
            others_idle |= is_idle;
            let asked = self.shape.asked_after(one.ops.len(), keys);
            to.extend(asked.map(|what| ShardAction::Asks(who as u8, what)));
        }
    }

    fn next_state(&self, state: &ShardState, action: ShardAction) -> ShardState {
        let mut next = *state;
        match action {
            ShardAction::Asks(who, what) => self.ask(&mut next, usize::from(who), what),
            ShardAction::Prepare(who, shard) => self.prepare(&mut next, usize::from(who), shard),
            ShardAction::Apply(who, shard) => self.apply(&mut next, usize::from(who), shard),
        }
        next
    }
}

impl ShardedProtocol {
    fn keys_to_meet(&self, state: &ShardState) -> u8 {
        if self.names == Names::Given {
            return self.shape.keys;
        }
        let of = |did: Did| match did {
            Did::Read(key, _) | Did::Write(key) => key + 1,
            Did::Nothing => 0,
        };
        let known = state.txns.iter().map(|one| {
            let waits = if let Phase::Waits(key) = one.phase { key + 1 } else { 0 };
            one.ops.iter().map(of).max().unwrap_or(0).max(waits)
        });
        (known.max().unwrap_or(0) + 1).min(self.shape.keys)
    }

    fn ask(&self, state: &mut ShardState, who: usize, what: KeyOperation) {
        if state.txns[who].phase == Phase::Idle {
            state.txns[who].phase = Phase::Open;
            if self.concern == ReadConcern::Snapshot {
                let now = state.clocks.iter().copied().max().unwrap_or(0);
                state.txns[who].view = [now + 1; MOST];
            }
        }
        match what {
            KeyOperation::Read(key) => {
                self.contact(state, who, key);
                self.read(state, who, key);
            }
            KeyOperation::Write(key) => {
                self.contact(state, who, key);
                self.write(state, who, key);
            }
            KeyOperation::Commit => self.commit(state, who),
        }
    }

    /// The first word on a shard settles what is seen there, and moves its clock.
    fn contact(&self, state: &mut ShardState, who: usize, shard: u8) {
        let shard = usize::from(shard);
        let clock = state.clocks[shard];
        let view = &mut state.txns[who].view[shard];
        if *view == NONE {
            *view = clock + 1;
        }
        if self.fault != ShardFault::StaleClock {
            state.clocks[shard] = clock.max(*view - 1);
        }
    }

    fn read(&self, state: &mut ShardState, who: usize, key: u8) {
        let own = state.txns[who].ops.last_write(key);
        let at = state.txns[who].view[usize::from(key)] - 1;
        let waits = own.is_none()
            && state.txns.iter().any(|other| {
                let prepared = other.prepared[usize::from(key)];
                other.wrote(key) && prepared != NONE && prepared <= at && !other.is_applied(key)
            });
        if waits && self.fault != ShardFault::IgnoresPrepared {
            state.txns[who].phase = Phase::Waits(key);
            return;
        }
        let newest = (0..MOST)
            .filter(|other| {
                let one = &state.txns[*other];
                one.wrote(key) && one.is_applied(key) && one.commit <= at
            })
            .max_by_key(|other| state.txns[*other].commit);
        let seen = match (own, newest) {
            (Some(place), _) => KeyVersion::of_write(who, place),
            (None, Some(other)) => {
                let place = state.txns[other].ops.last_write(key);
                place.map_or(KeyVersion::FIRST, |place| KeyVersion::of_write(other, place))
            }
            (None, None) => KeyVersion::FIRST,
        };
        state.txns[who].ops.push(Did::Read(key, seen));
    }

    fn write(&self, state: &mut ShardState, who: usize, key: u8) {
        let at = state.txns[who].view[usize::from(key)] - 1;
        let is_refused = self.fault != ShardFault::NoConflictCheck
            && state.txns.iter().enumerate().any(|(other, one)| {
                let is_under_way =
                    matches!(one.phase, Phase::Open | Phase::Waits(_) | Phase::Commits);
                let is_newer = one.is_applied(key) && one.commit > at;
                let is_not_through = is_under_way && !one.is_applied(key);
                other != who && one.wrote(key) && (is_not_through || is_newer)
            });
        match is_refused {
            true => state.txns[who].phase = Phase::RolledBack,
            false => state.txns[who].ops.push(Did::Write(key)),
        }
    }

    fn commit(&self, state: &mut ShardState, who: usize) {
        let one = state.txns[who];
        match (0..self.shape.keys).find(|shard| one.wrote(*shard)) {
            None => state.txns[who].phase = Phase::Committed,
            Some(shard) if one.shards_written() == 1 => {
                state.clocks[usize::from(shard)] += 1;
                state.txns[who].commit = state.clocks[usize::from(shard)];
                self.apply(state, who, shard);
            }
            Some(_) => state.txns[who].phase = Phase::Commits,
        }
    }

    fn prepare(&self, state: &mut ShardState, who: usize, shard: u8) {
        let clock = &mut state.clocks[usize::from(shard)];
        *clock += 1;
        state.txns[who].prepared[usize::from(shard)] = *clock;
        let one = &mut state.txns[who];
        let times = one.prepared.iter().copied().filter(|time| *time != NONE);
        if times.clone().count() == one.shards_written() {
            let decided = match self.fault {
                ShardFault::CommitsAtFirstPrepare => times.min(),
                _ => times.max(),
            };
            one.commit = decided.unwrap_or(NONE);
        }
    }

    fn apply(&self, state: &mut ShardState, who: usize, shard: u8) {
        let commit = state.txns[who].commit;
        let clock = &mut state.clocks[usize::from(shard)];
        *clock = (*clock).max(commit);
        state.txns[who].applied |= 1 << shard;
        if state.txns[who].applied.count_ones() as usize == state.txns[who].shards_written() {
            state.txns[who].phase = Phase::Committed;
        }
        for other in 0..MOST {
            if state.txns[other].phase == Phase::Waits(shard) {
                state.txns[other].phase = Phase::Open;
                self.read(state, other, shard);
            }
        }
    }
}

impl Transactional for ShardedProtocol {
    fn outcome_of(&self, state: &ShardState) -> Option<ProtocolOutcome> {
        let is_over =
            |one: &Running| !matches!(one.phase, Phase::Open | Phase::Waits(_) | Phase::Commits);
        if !state.txns.iter().all(is_over) {
            return None;
        }
        let mut outcome = ProtocolOutcome::default();
        let mut committed: Vec<usize> =
            (0..MOST).filter(|who| state.txns[*who].phase == Phase::Committed).collect();
        committed.sort_by_key(|who| state.txns[*who].commit);
        for who in committed {
            outcome.ops[who] = state.txns[who].ops;
            for key in (0..self.shape.keys).filter(|key| state.txns[who].wrote(*key)) {
                outcome.versions[usize::from(key)].push(who);
            }
        }
        Some(outcome)
    }

    fn facts_of(&self, state: &ShardState) -> Facts {
        let who = 0..usize::from(self.shape.transactions);
        let txns = who.map(|who| (transaction_name(who), state.txns[who].facts(self.shape.keys)));
        let keys = 0..self.shape.keys;
        let shards = keys.map(|key| (key_name(key), shard_facts(state, key)));
        vec![
            ("transactions", StateFact::Map(txns.collect())),
            ("shards", StateFact::Map(shards.collect())),
        ]
    }
}

impl Running {
    fn facts(&self, keys: u8) -> StateFact {
        let mut fields = vec![
            ("is", StateFact::from_text(self.phase.to_string())),
            ("did", StateFact::from_texts(self.ops.iter().map(|did| did.to_string()))),
        ];
        let views = (0..keys).filter(|key| self.view[usize::from(*key)] != NONE);
        let views = views.map(|key| (key_name(key), time(self.view[usize::from(key)] - 1)));
        fields.push(("reads_at", StateFact::Map(views.collect())));
        if self.commit != NONE {
            fields.push(("commits_at", time(self.commit)));
        }
        StateFact::Record(fields)
    }
}

fn shard_facts(state: &ShardState, key: u8) -> StateFact {
    let at = usize::from(key);
    let is_applied = |who: &usize| state.txns[*who].is_applied(key);
    let mut versions: Vec<usize> =
        (0..MOST).filter(|who| state.txns[*who].wrote(key) && is_applied(who)).collect();
    versions.sort_by_key(|who| state.txns[*who].commit);
    let versions = versions
        .into_iter()
        .map(|who| format!("{} at {}", transaction_name(who), state.txns[who].commit));
    let prepared = (0..MOST)
        .filter(|who| state.txns[*who].prepared[at] != NONE && !is_applied(who))
        .map(|who| format!("{} at {}", transaction_name(who), state.txns[who].prepared[at]));
    StateFact::Record(vec![
        ("clock", time(state.clocks[at])),
        ("versions", StateFact::from_texts(std::iter::once("initial".to_owned()).chain(versions))),
        ("prepared", StateFact::from_texts(prepared)),
    ])
}

fn time(time: u8) -> StateFact {
    StateFact::Number(i64::from(time))
}

impl fmt::Display for ShardAction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ShardAction::Asks(who, what) => {
                write!(f, "{}", Interleaving { steps: vec![(*who, *what)] })
            }
            ShardAction::Prepare(who, shard) => {
                write!(f, "T{} is prepared on the shard of {}", who + 1, key_name(*shard))
            }
            ShardAction::Apply(who, shard) => {
                write!(f, "T{}'s commit arrives at the shard of {}", who + 1, key_name(*shard))
            }
        }
    }
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Phase::Idle => f.write_str("idle"),
            Phase::Open => f.write_str("open"),
            Phase::Waits(key) => write!(f, "waits to read {}, which is prepared", key_name(*key)),
            Phase::Commits => f.write_str("commits"),
            Phase::Committed => f.write_str("committed"),
            Phase::RolledBack => f.write_str("rolled back"),
        }
    }
}
