//! What a few transactions did, and in which order their versions stand.
//!
//! ```text
//!   T1  r(a)=initial  w(a)          committed       versions of a:  initial · T1's
//!   T2  r(a)=T1's                   committed
//! ```
//!
//! Everything is a few bytes, so that states are cheap to copy, to hash and to compare.

use std::fmt;

use dbdyno_check::{
    Builder, Checker, History, INITIAL, Level, LevelVerdict, Op, OperationKind, Times,
    TransactionOutcome as Fate, Txn, UNKNOWN, WriteId,
};

/// At most so many transactions, keys, and operations of a transaction.
pub const MOST: usize = 3;

/// A version of a key: what was there before, or a write of a transaction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct KeyVersion(u8);

impl KeyVersion {
    /// What a key holds at the beginning.
    pub const FIRST: KeyVersion = KeyVersion(0);

    /// The write that is operation number `place` of a transaction; both count from 0.
    #[must_use]
    pub(crate) fn of_write(txn: usize, place: usize) -> KeyVersion {
        KeyVersion((1 + txn * MOST + place) as u8)
    }

    /// Who wrote it, if it is not the first one.
    #[must_use]
    pub fn writer(self) -> Option<usize> {
        self.0.checked_sub(1).map(|number| usize::from(number) / MOST)
    }

    /// Which operation of its writer it is.
    #[must_use]
    pub(crate) fn operation_index(self) -> Option<usize> {
        self.0.checked_sub(1).map(|number| usize::from(number) % MOST)
    }
}

/// One operation that was carried out; keys count from 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Did {
    /// None.
    #[default]
    Nothing,
    /// It read this version of a key.
    Read(u8, KeyVersion),
    /// It wrote a key.
    Write(u8),
}

/// The operations of one transaction, in their order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Ops {
    all: [Did; MOST],
    count: u8,
}

impl Ops {
    /// Adds one at the end.
    ///
    /// # Panics
    /// Beyond [`MOST`].
    pub fn push(&mut self, did: Did) {
        self.all[usize::from(self.count)] = did;
        self.count += 1;
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        usize::from(self.count)
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// They.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = Did> + '_ {
        self.all[..self.len()].iter().copied()
    }

    /// The last write of a key: which operation it is.
    #[must_use]
    pub(crate) fn last_write(&self, key: u8) -> Option<usize> {
        self.all[..self.len()].iter().rposition(|did| *did == Did::Write(key))
    }

    /// Whether it has read a version of this key that is not its own.
    #[must_use]
    pub(crate) fn has_read(&self, key: u8) -> bool {
        let own = self.all[..self.len()].iter().position(|did| *did == Did::Write(key));
        let before = &self.all[..own.unwrap_or(self.len())];
        before.iter().any(|did| matches!(did, Did::Read(of, _) if *of == key))
    }
}

/// A few numbers in an order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct ShortSequence {
    who: [u8; MOST],
    count: u8,
}

impl ShortSequence {
    /// Adds one at the end.
    ///
    /// # Panics
    /// Beyond [`MOST`].
    pub fn push(&mut self, who: usize) {
        self.who[usize::from(self.count)] = who as u8;
        self.count += 1;
    }

    /// Takes one out, wherever it stands.
    pub fn remove(&mut self, who: usize) {
        let mut rest = ShortSequence::default();
        self.iter().filter(|one| *one != who).for_each(|one| rest.push(one));
        *self = rest;
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        usize::from(self.count)
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// They, in their order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = usize> + '_ {
        self.who[..self.len()].iter().map(|who| usize::from(*who))
    }
}

/// What came of a few transactions, of which none is open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct ProtocolOutcome {
    /// What those did that committed, or that were rolled back and are in `rolled_back`.
    pub ops: [Ops; MOST],
    /// Those that were rolled back although a transaction that committed has read what they wrote.
    pub rolled_back: [bool; MOST],
    /// By key, who wrote the versions that count, in their order.
    pub versions: [ShortSequence; MOST],
}

impl ProtocolOutcome {
    /// Adds what a transaction did that was rolled back, if that is to be seen in what others read.
    pub(crate) fn add_rolled_back(&mut self, who: usize, ops: Ops) {
        let is_seen = self.ops.iter().any(|other| {
            other.iter().any(|did| matches!(did, Did::Read(_, of) if of.writer() == Some(who)))
        });
        if is_seen {
            self.ops[who] = ops;
            self.rolled_back[who] = true;
        }
    }

    /// How many committed.
    #[must_use]
    pub(crate) fn committed_count(&self) -> usize {
        let all = self.ops.iter().zip(self.rolled_back);
        all.filter(|(ops, rolled_back)| !ops.is_empty() && !rolled_back).count()
    }

    /// As a history that can be judged: T1 is its transaction number 1.
    #[must_use]
    pub(crate) fn as_history(&self) -> History {
        let mut builder = Builder::new();
        let mut ids = [[INITIAL; MOST]; MOST];
        let mut before = [[UNKNOWN; MOST]; MOST];
        let keys: [u32; MOST] = std::array::from_fn(|key| builder.key(&key_name(key as u8)));
        for (who, ops) in self.ops.iter().enumerate() {
            for (place, did) in ops.iter().enumerate() {
                if let Did::Write(key) = did {
                    let name = version_name(KeyVersion::of_write(who, place));
                    ids[who][place] = builder.value(keys[usize::from(key)], &name);
                }
            }
        }
        for (key, writers) in self.versions.iter().enumerate() {
            let mut last = INITIAL;
            for who in writers.iter() {
                for (place, did) in self.ops[who].iter().enumerate() {
                    if did == Did::Write(key as u8) {
                        before[who][place] = last;
                        last = ids[who][place];
                    }
                }
            }
        }
        let id = |version: KeyVersion| -> WriteId {
            match (version.writer(), version.operation_index()) {
                (Some(who), Some(place)) => ids[who][place],
                _ => INITIAL,
            }
        };
        // Histories count from T0, which nobody is here.
        builder.push(txn(0, Fate::Ok), &[]);
        for (who, ops) in self.ops.iter().enumerate() {
            let op = |(place, did): (usize, Did)| match did {
                Did::Read(key, seen) => {
                    let (key, value) = (keys[usize::from(key)], id(seen));
                    Some(Op { key, value, prev: UNKNOWN, kind: OperationKind::Read })
                }
                Did::Write(key) => {
                    let (value, prev) = (ids[who][place], before[who][place]);
                    Some(Op {
                        key: keys[usize::from(key)],
                        value,
                        prev,
                        kind: OperationKind::Write,
                    })
                }
                Did::Nothing => None,
            };
            let all: Vec<Op> = ops.iter().enumerate().filter_map(op).collect();
            let outcome = if self.rolled_back[who] { Fate::Failed } else { Fate::Ok };
            builder.push(txn(who + 1, outcome), &all);
        }
        builder.finish()
    }

    /// Whether it has a level.
    #[must_use]
    pub fn level_verdict(&self, level: Level) -> LevelVerdict {
        let history = self.as_history();
        Checker::new(&history).level_verdict(level)
    }
}

/// What a key is called: `a`, `b`, `c`.
#[must_use]
fn txn(session: usize, outcome: Fate) -> Txn {
    Txn { session: session as u32, outcome, times: Times::default(), token: 0 }
}

/// What a transaction is called, counted from 0.
pub(crate) fn transaction_name(who: usize) -> String {
    format!("T{}", who + 1)
}

pub(crate) fn key_name(key: u8) -> String {
    char::from(b'a' + key).to_string()
}

/// What a version is called: `initial`, or `T2's` with the operation where that is not the first.
#[must_use]
pub(crate) fn version_name(version: KeyVersion) -> String {
    match (version.writer(), version.operation_index()) {
        (Some(who), Some(place)) => format!("T{}.{}", who + 1, place + 1),
        _ => "initial".to_owned(),
    }
}

impl fmt::Display for Did {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Did::Nothing => Ok(()),
            Did::Read(key, seen) => write!(f, "r({})={}", key_name(*key), version_name(*seen)),
            Did::Write(key) => write!(f, "w({})", key_name(*key)),
        }
    }
}
