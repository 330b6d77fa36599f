//! Small histories at random: transactions as a store with stale snapshots would answer them.

use dbdyno_check::{
    Builder, History, INITIAL, Op, OperationKind, Times, TransactionOutcome, Txn, UNKNOWN,
};

/// Splitmix64: Steele, Lea, Flood, *Fast splittable pseudorandom number generators*, 2014.
pub(crate) struct Random(pub u64);

impl Random {
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.0;
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((word ^ (word >> 31)) % bound as u64) as usize
    }
}

/// One transaction: operations with the writer whose version was read, or is replaced.
#[derive(Clone, Debug)]
pub(crate) struct Small {
    pub session: usize,
    pub begin: u64,
    pub end: u64,
    pub outcome: TransactionOutcome,
    /// Kind, key, and of reads whose version was seen: one more than the transaction, 0 of nobody.
    pub ops: Vec<(OperationKind, usize, usize)>,
}

pub(crate) const KEYS: usize = 2;

impl Small {
    pub(crate) fn writes(&self, key: usize) -> bool {
        self.ops.iter().any(|op| op.0 == OperationKind::Write && op.1 == key)
    }

    /// Reads of what others wrote: key and writer.
    pub(crate) fn reads(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        self.ops.iter().filter(|op| op.0 != OperationKind::Write).map(|op| (op.1, op.2))
    }
}

/// Transactions in the order of completion, each key of each transaction read before it is written
/// and at most once, as a store with stale snapshots would answer now and then.
pub(crate) fn drawn_at_random(seed: u64, kinds: &[OperationKind], most: usize) -> Vec<Small> {
    let mut random = Random(seed);
    let count = 2 + random.below(most - 1);
    let is_timed = random.below(2) == 0;
    let mut all: Vec<Small> = Vec::new();
    for txn in 0..count {
        let session = random.below(2);
        let end = 20 * txn as u64 + 20;
        let own = all.iter().rev().find(|other| other.session == session);
        let least = own.filter(|_| is_timed).map_or(1, |own| own.end + 1);
        let begin = (end - 1 - random.below(45) as u64 % end).max(least);
        let mut ops = Vec::new();
        for key in 0..KEYS {
            let writers: Vec<usize> =
                (0..txn).filter(|w| all[*w].writes(key)).map(|w| w + 1).collect();
            let back = random.below(3);
            let seen = writers.iter().rev().nth(back / 2).copied().unwrap_or(0);
            match random.below(4) {
                0 => ops.push((kinds[random.below(kinds.len())], key, seen)),
                1 => ops.push((OperationKind::Write, key, 0)),
                2 => {
                    ops.push((kinds[random.below(kinds.len())], key, seen));
                    ops.push((OperationKind::Write, key, 0));
                }
                _ => {}
            }
        }
        if ops.is_empty() {
            ops.push((OperationKind::Write, random.below(KEYS), 0));
        }
        all.push(Small { session, begin, end, outcome: TransactionOutcome::Ok, ops });
    }
    all
}

/// The history; with `before`, what each write replaced.
pub(crate) fn history(all: &[Small], before: impl Fn(usize, usize) -> Option<usize>) -> History {
    let mut builder = Builder::new();
    let keys = ["x", "y"].map(|name| builder.key(name));
    let version = |builder: &mut Builder, key: usize, writer: usize| match writer {
        0 => INITIAL,
        writer => builder.value(keys[key], &format!("v{writer}")),
    };
    for (txn, small) in all.iter().enumerate() {
        let mut ops = Vec::new();
        for &(kind, key, seen) in &small.ops {
            let writer = if kind == OperationKind::Write { txn + 1 } else { seen };
            let value = version(&mut builder, key, writer);
            let prev = if kind == OperationKind::Write { before(txn, key) } else { None };
            let prev = prev.map_or(UNKNOWN, |prev| version(&mut builder, key, prev));
            ops.push(Op { key: keys[key], value, prev, kind });
        }
        let times = Times {
            begin_invoke_ns: small.begin,
            begin_return_ns: small.begin,
            commit_invoke_ns: small.end - 1,
            commit_return_ns: small.end,
        };
        let session = small.session as u32;
        builder.push(Txn { session, outcome: small.outcome, times, token: 0 }, &ops);
    }
    builder.finish()
}

/// The history with one order of versions, that of completion.
pub(crate) fn in_order(all: &[Small]) -> History {
    history(all, |txn, key| {
        Some((0..txn).rev().find(|other| all[*other].writes(key)).map_or(0, |w| w + 1))
    })
}
