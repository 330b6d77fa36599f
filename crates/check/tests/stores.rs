//! Histories that simulated stores answer, without anything that tells the order of versions, and
//! with their transactions in any order.

use dbdyno_check::{
    Builder, Checker, History, INITIAL, Level, LevelVerdict, Op, OperationKind, Times,
    TransactionOutcome, Txn, UNKNOWN, replay, retrace_violation,
};

use crate::small::Random;

/// How a store carries transactions out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Store {
    /// One after the other.
    Serial,
    /// From snapshots that are a few commits old; the first committer wins.
    Snapshot,
}

/// In which order transactions stand in the history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Lines {
    Commits,
    BySession,
    Shuffled,
}

#[derive(Clone, Copy, Debug)]
struct Load {
    store: Store,
    lines: Lines,
    txns: usize,
    ops: usize,
    keys: usize,
    sessions: usize,
    /// Half of the accesses are of a hundredth of the keys.
    is_skewed: bool,
    /// One read is of an older version than it should be.
    is_planted: bool,
}

/// Kind, key, version.
type Access = (OperationKind, usize, u32);

/// Transactions in the order of commits, with their sessions.
fn carried_out(load: &Load, seed: u64) -> Vec<(usize, Vec<Access>)> {
    let mut random = Random(seed);
    let mut versions: Vec<Vec<(usize, u32)>> = vec![vec![(0, INITIAL)]; load.keys];
    let mut next = 1;
    let mut all = Vec::new();
    let mut last = vec![0; load.sessions];
    let planted = if load.is_planted { load.txns * 9 / 10 } else { usize::MAX };
    let mut is_due = false;
    while all.len() < load.txns {
        let now = all.len();
        is_due |= now == planted;
        let session = random.below(load.sessions);
        let late = if load.store == Store::Serial { 0 } else { random.below(20) };
        // A session sees what it did before.
        let snapshot = now.saturating_sub(late).max(last[session]);
        let mut own: Vec<Access> = Vec::new();
        let mut is_lost = false;
        for _ in 0..load.ops {
            let few = (load.keys / 100).max(1);
            let is_hot = load.is_skewed && random.below(2) == 0;
            let key = random.below(if is_hot { few } else { load.keys });
            if own.iter().any(|op| op.1 == key) {
                continue;
            }
            let seen = versions[key].iter().rposition(|(since, _)| *since <= snapshot);
            let seen = seen.unwrap_or(0);
            let (is_write, is_read) = (random.below(2) == 0, random.below(2) == 0);
            if is_read || !is_write {
                let is_stale = is_due && !is_write && seen > 1;
                is_due &= !is_stale;
                let seen = if is_stale { seen - 1 } else { seen };
                own.push((OperationKind::Read, key, versions[key][seen].1));
            }
            if is_write {
                is_lost |= seen + 1 < versions[key].len();
                own.push((OperationKind::Write, key, next));
                next += 1;
            }
        }
        if is_lost || own.is_empty() {
            continue;
        }
        for op in own.iter().filter(|op| op.0 == OperationKind::Write) {
            versions[op.1].push((now + 1, op.2));
        }
        last[session] = now + 1;
        all.push((session, own));
    }
    all
}

fn history(load: &Load, seed: u64) -> History {
    let mut all = carried_out(load, seed);
    let mut random = Random(seed ^ 0x5bd1_e995);
    match load.lines {
        Lines::Commits => {}
        Lines::BySession => all.sort_by_key(|(session, _)| *session),
        Lines::Shuffled => {
            for at in (1..all.len()).rev() {
                all.swap(at, random.below(at + 1));
            }
        }
    }
    let mut builder = Builder::new();
    for (session, ops) in &all {
        let own: Vec<Op> = ops
            .iter()
            .map(|&(kind, key, id)| {
                let key = builder.key(&key.to_string());
                let value = match id {
                    INITIAL => INITIAL,
                    id => builder.value(key, &id.to_string()),
                };
                Op { key, value, prev: UNKNOWN, kind }
            })
            .collect();
        let (outcome, times) = (TransactionOutcome::Ok, Times::default());
        builder.push(Txn { session: *session as u32, outcome, times, token: 0 }, &own);
    }
    builder.finish()
}

fn told(history: &History, level: Level) -> String {
    match Checker::new(history).level_verdict(level) {
        LevelVerdict::Holds(proof) => {
            assert_eq!(replay(history, level, &proof), Ok(()), "{level}");
            "holds".to_owned()
        }
        LevelVerdict::CannotTell(why) => format!("? {why}"),
        broken => {
            assert_eq!(retrace_violation(history, level, &broken), Ok(()), "{level}");
            broken.anomaly().unwrap().to_owned()
        }
    }
}

const ISSUE: Load = Load {
    store: Store::Serial,
    lines: Lines::BySession,
    txns: 800,
    ops: 10,
    keys: 800,
    sessions: 20,
    is_skewed: false,
    is_planted: false,
};

const LEVELS: [Level; 4] = [
    Level::Serializable,
    Level::SnapshotIsolation,
    Level::StrongSessionSerializable,
    Level::StrongSessionSnapshotIsolation,
];

/// What a store promises: sessions only where their transactions stand in order.
fn promises(load: &Load) -> Vec<Level> {
    let is_serial = load.store == Store::Serial;
    let has_sessions = load.lines != Lines::Shuffled;
    let is_promised = |level: &Level| match level {
        Level::Serializable => is_serial,
        Level::SnapshotIsolation => true,
        Level::StrongSessionSerializable => is_serial && has_sessions,
        _ => has_sessions,
    };
    LEVELS.into_iter().filter(is_promised).collect()
}

#[test]
fn stores_keep_what_they_promise_in_whatever_order_their_transactions_stand() {
    for store in [Store::Serial, Store::Snapshot] {
        for lines in [Lines::Commits, Lines::BySession, Lines::Shuffled] {
            for is_skewed in [false, true] {
                let load = Load { store, lines, is_skewed, ..ISSUE };
                let history = history(&load, 7);
                for level in promises(&load) {
                    assert_eq!(told(&history, level), "holds", "{level}: {load:?}");
                }
            }
        }
    }
}

#[test]
fn a_planted_violation_is_decided_either_way() {
    let mut broken = 0;
    for seed in 0..8 {
        let lines = [Lines::Commits, Lines::BySession, Lines::Shuffled][seed as usize % 3];
        let store = if seed % 2 == 0 { Store::Serial } else { Store::Snapshot };
        let (is_skewed, is_planted) = (seed % 4 > 1, true);
        let load = Load { store, lines, is_skewed, is_planted, txns: 500, keys: 200, ..ISSUE };
        let history = history(&load, seed);
        for level in LEVELS {
            let told = told(&history, level);
            assert!(!told.starts_with('?'), "{level}: {told}: {load:?}");
            broken += usize::from(told != "holds" && promises(&load).contains(&level));
        }
    }
    assert!(broken >= 6, "{broken} of the violations were seen");
}

#[test]
fn three_thousand_transactions_of_hot_keys_are_decided() {
    let (lines, is_skewed) = (Lines::Shuffled, true);
    let load = Load { lines, is_skewed, txns: 3_000, keys: 1_000, ..ISSUE };
    assert_eq!(told(&history(&load, 3), Level::Serializable), "holds");
    let load = Load { is_planted: true, is_skewed: false, ..load };
    assert!(told(&history(&load, 3), Level::SnapshotIsolation).starts_with("G-"));
}
