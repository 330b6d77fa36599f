//! A history: what clients asked of a database in transactions, and what they were answered.
//!
//! ```text
//!   transaction   session · outcome · times         in order of completion: T0, T1, T2 …
//!       └── ops   kind · key · value · prev         16 bytes each, in the order of the client
//! ```
//!
//! Every write has an id of its own, which the row then holds: a read that sees the id says which
//! write it read (Elle calls such values *recoverable*). Ids and keys are dense, so that everything
//! that is known of a version is found by index, never by hash. A row may also hold the id that it
//! held before (`UPDATE t SET prev = v, v = ? WHERE id = ?`): then a read tells the *version order*
//! too, that of the writes to one key, and no level is hard to decide.
//!
//! Source of the model: Adya, Liskov, O'Neil, *Generalized Isolation Level Definitions*, ICDE 2000;
//! of recoverable values: Kingsbury, Alvaro, *Elle*, VLDB 2020.

use std::fmt;

/// The id of a write: dense, unique in a history, never [`INITIAL`].
pub type WriteId = u32;

/// What a key holds before the first write of the history.
pub const INITIAL: WriteId = 0;
/// No row was there: what a read says that found none.
pub const ABSENT: WriteId = u32::MAX - 1;
/// Not observed.
pub const UNKNOWN: WriteId = u32::MAX;

/// A key of a table as one number: the bits of the key, and the table above them.
pub(crate) const KEY_BITS: u32 = 48;
pub(crate) const KEY_MASK: u64 = (1 << KEY_BITS) - 1;

/// What an operation does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum OperationKind {
    /// A plain read, which a server may answer from a snapshot (InnoDB: a *consistent read*).
    /// `value` was seen; `prev` is what the row said of the version before, or [`UNKNOWN`].
    Read = 0,
    /// A read of the latest version: `FOR UPDATE`, `FOR SHARE`, or a write that reads.
    CurrentRead = 1,
    /// A new version `value`. `prev` is the version that it replaced, if the client knows.
    Write = 2,
    /// A row that was not there before. `prev` may be the deletion that it follows.
    Insert = 3,
    /// The row goes; `value` is the id of the deletion itself.
    Delete = 4,
    /// An element at the end of a list. `prev` is the element before it, if the client knows.
    Append = 5,
    /// One more on a counter; increments commute. `value` is the id of the increment.
    Increment = 6,
    /// A predicate read of the keys `key`, `key + 1`, … `key + value - 1`, from a snapshot. The
    /// next `prev` operations are the reads of the rows that it found; it saw no other.
    Scan = 7,
    /// As [`OperationKind::Scan`], of the latest versions.
    CurrentScan = 8,
    /// A read of a counter that includes exactly `value` increments: those of the
    /// [`OperationKind::Included`] that follow.
    Count = 9,
    /// Two increments that the count before includes: `value`, and `prev` unless it is UNKNOWN.
    Included = 10,
    /// No operation: evidence that version `value` of `key` directly follows version `prev`.
    Order = 11,
}

impl OperationKind {
    /// All kinds, by their number.
    pub(crate) const ALL: [OperationKind; 12] = [
        OperationKind::Read,
        OperationKind::CurrentRead,
        OperationKind::Write,
        OperationKind::Insert,
        OperationKind::Delete,
        OperationKind::Append,
        OperationKind::Increment,
        OperationKind::Scan,
        OperationKind::CurrentScan,
        OperationKind::Count,
        OperationKind::Included,
        OperationKind::Order,
    ];
}

/// One operation. `key` is dense: it counts the keys of the history from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Op {
    /// The key.
    pub key: u32,
    /// The version seen or written.
    pub value: WriteId,
    /// The version before that one, or [`UNKNOWN`].
    pub prev: WriteId,
    /// What it does.
    pub kind: OperationKind,
}

/// What became of a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum TransactionOutcome {
    /// The commit was confirmed (Jepsen: `ok`).
    Ok = 0,
    /// It was certainly rolled back (`fail`).
    Failed = 1,
    /// The connection broke, or the commit was not answered (`info`): either may be true.
    Unknown = 2,
}

/// When a client asked and was answered, in nanoseconds of one clock for all clients. Without
/// clocks all are 0, and nothing is said of real time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Times {
    /// The first statement was sent.
    pub begin_invoke_ns: u64,
    /// The first statement was answered.
    pub begin_return_ns: u64,
    /// COMMIT was sent (of a single statement: the statement).
    pub commit_invoke_ns: u64,
    /// COMMIT was answered; of an unknown outcome the last thing that the client knows.
    pub commit_return_ns: u64,
}

impl Times {
    /// Whether the answer did not come before the question; both are 0 where there are no times.
    pub(crate) fn are_in_order(self) -> bool {
        self.begin_invoke_ns <= self.commit_return_ns
    }
}

/// What is known of a transaction beside its operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Txn {
    /// The client that asked, one transaction after the other.
    pub session: u32,
    /// What became of it.
    pub outcome: TransactionOutcome,
    /// When.
    pub times: Times,
    /// What the server called the commit (a GTID's number, a position of a log), or 0.
    pub token: u64,
}

/// How keys are called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Keys {
    /// All keys of a table from its smallest to its largest, table after table.
    Ranges(Vec<Range>),
    /// (table, key) packed as in records, sorted.
    Ranked(Vec<u64>),
    /// As in the file that was read.
    Named(Vec<String>),
}

/// The keys of one table in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Range {
    pub table: u16,
    pub first_key: u64,
    pub first_dense: u32,
}

/// A history in memory. Transactions are numbered in the order of completion (as far as it is
/// known), which is a good guess of the order of commits and no more than that.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct History {
    pub(crate) ops: Vec<Op>,
    pub(crate) first: Vec<u32>,
    pub(crate) count: Vec<u32>,
    pub(crate) session: Vec<u32>,
    pub(crate) outcome: Vec<TransactionOutcome>,
    pub(crate) times: Vec<Times>,
    pub(crate) token: Vec<u64>,
    pub(crate) keys: Keys,
    pub(crate) key_count: u32,
    /// One more than the largest id.
    pub(crate) id_count: u32,
    /// What ids are called in the file that was read; empty where they are called by number.
    pub(crate) value_names: Vec<String>,
    /// By transaction, where it stands in the file that was read, and what that calls it; empty
    /// where it has no words for that.
    pub(crate) origins: Vec<Origin>,
}

/// Where a transaction stands in a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Origin {
    /// What the file calls it: `process 3, index 17`.
    pub called: String,
    /// What is counted, `line` or `operation`: the first and the last one, from 1.
    pub unit: &'static str,
    pub places: (usize, usize),
}

impl History {
    /// A history of nothing, whose keys have names.
    pub(crate) fn with_key_names() -> History {
        History {
            ops: Vec::new(),
            first: Vec::new(),
            count: Vec::new(),
            session: Vec::new(),
            outcome: Vec::new(),
            times: Vec::new(),
            token: Vec::new(),
            keys: Keys::Named(Vec::new()),
            key_count: 0,
            id_count: 1,
            value_names: vec!["initial".to_owned()],
            origins: Vec::new(),
        }
    }

    /// How many transactions there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.first.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.first.is_empty()
    }

    /// How many operations there are.
    #[must_use]
    pub fn op_count(&self) -> usize {
        self.ops.len()
    }

    /// The operations of a transaction, in the order of the client.
    #[must_use]
    pub fn ops(&self, txn: usize) -> &[Op] {
        let first = self.first[txn] as usize;
        &self.ops[first..first + self.count[txn] as usize]
    }

    /// What else is known of a transaction.
    #[must_use]
    pub fn txn(&self, txn: usize) -> Txn {
        Txn {
            session: self.session[txn],
            outcome: self.outcome[txn],
            times: self.times[txn],
            token: self.token[txn],
        }
    }

    /// How many sessions there are: one more than the largest number.
    #[must_use]
    pub fn session_count(&self) -> usize {
        self.session.iter().max().map_or(0, |&most| most as usize + 1)
    }

    /// By transaction, whether its outcome is unknown and its session went on: strong session
    /// serializability and snapshot isolation order two transactions of a session where the commit
    /// of the one precedes the first operation of the other (Daudjee and Salem, ICDE 2004 and VLDB
    /// 2006). A commit that nobody confirmed may come after everything, as in real time.
    pub(crate) fn open_within_sessions(&self, is_in: &[bool]) -> Vec<bool> {
        let mut goes_on = vec![false; self.session_count()];
        let mut is_open = vec![false; self.len()];
        for txn in (0..self.len()).rev().filter(|&txn| is_in[txn]) {
            let goes_on = &mut goes_on[self.session[txn] as usize];
            is_open[txn] = *goes_on && self.outcome[txn] == TransactionOutcome::Unknown;
            *goes_on = true;
        }
        is_open
    }

    /// The same without anything that tells the order of versions, but for lists: whoever reads one
    /// reads its elements in their order, and another order of them is another answer.
    ///
    /// What was replaced shows that an unknown commit took place: those that count are confirmed.
    pub(crate) fn without_order(&self, is_counted: impl Fn(usize) -> bool) -> History {
        let mut other = self.clone();
        for txn in (0..self.len()).filter(|&txn| is_counted(txn)) {
            other.outcome[txn] = TransactionOutcome::Ok;
        }
        let mut is_list = vec![false; self.key_count as usize];
        for op in self.ops.iter().filter(|op| op.kind == OperationKind::Append) {
            is_list[op.key as usize] = true;
        }
        for op in
            other.ops.iter_mut().filter(|op| !is_list.get(op.key as usize).is_some_and(|is| *is))
        {
            match op.kind {
                OperationKind::Scan
                | OperationKind::CurrentScan
                | OperationKind::Count
                | OperationKind::Included => {}
                OperationKind::Order => op.value = UNKNOWN,
                _ => op.prev = UNKNOWN,
            }
        }
        other
    }

    /// Adds a transaction at the end.
    pub(crate) fn push(&mut self, txn: Txn, ops: &[Op]) {
        self.first.push(self.ops.len() as u32);
        self.count.push(ops.len() as u32);
        self.ops.extend_from_slice(ops);
        self.push_txn(txn);
    }

    /// Whether its times are those of a clock. Where all are one and the same, as 0, none was read;
    /// what was never answered has an end without one.
    pub(crate) fn has_clock(&self) -> bool {
        let all = self.times.iter().flat_map(|one| [one.begin_invoke_ns, one.commit_return_ns]);
        let mut told = all.filter(|time| *time != u64::MAX);
        let first = told.next();
        told.any(|time| Some(time) != first)
    }

    /// Puts transactions into the order of completion; their operations stay where they are.
    pub(crate) fn sort_by_completion(&mut self) {
        let mut order: Vec<u32> = (0..self.len() as u32).collect();
        order.sort_by_key(|&txn| (self.times[txn as usize].commit_return_ns, txn));
        self.first = order.iter().map(|&txn| self.first[txn as usize]).collect();
        self.count = order.iter().map(|&txn| self.count[txn as usize]).collect();
        self.session = order.iter().map(|&txn| self.session[txn as usize]).collect();
        self.outcome = order.iter().map(|&txn| self.outcome[txn as usize]).collect();
        self.times = order.iter().map(|&txn| self.times[txn as usize]).collect();
        self.token = order.iter().map(|&txn| self.token[txn as usize]).collect();
        if self.origins.len() == order.len() {
            self.origins =
                order.iter().map(|txn| std::mem::take(&mut self.origins[*txn as usize])).collect();
        }
    }

    /// What the file that was read calls a transaction, and where it stands there.
    #[must_use]
    pub fn origin_text(&self, txn: usize) -> Option<String> {
        let Origin { called, unit, places } = self.origins.get(txn)?;
        let place = match places {
            (one, other) if one == other => format!("{unit} {one}"),
            (one, other) => format!("{unit}s {one} to {other}"),
        };
        Some(if called.is_empty() { place } else { format!("{}, {place}", printable(called)) })
    }

    /// Room for as many transactions.
    pub(crate) fn reserve(&mut self, count: usize) {
        self.first.reserve(count);
        self.count.reserve(count);
        self.session.reserve(count);
        self.outcome.reserve(count);
        self.times.reserve(count);
        self.token.reserve(count);
    }

    /// What else is known of the transaction that comes next.
    pub(crate) fn push_txn(&mut self, txn: Txn) {
        self.session.push(txn.session);
        self.outcome.push(txn.outcome);
        self.times.push(txn.times);
        self.token.push(txn.token);
    }

    /// What the key is called.
    #[must_use]
    pub fn key_name(&self, key: u32) -> String {
        let spelled = |packed: u64| format!("{}.{}", packed >> KEY_BITS, packed & KEY_MASK);
        match &self.keys {
            Keys::Named(names) => names[key as usize].clone(),
            Keys::Ranked(packed) => spelled(packed[key as usize]),
            Keys::Ranges(ranges) => {
                let at = ranges.partition_point(|range| range.first_dense <= key) - 1;
                let range = ranges[at];
                format!("{}.{}", range.table, range.first_key + u64::from(key - range.first_dense))
            }
        }
    }

    /// What the key is called, for a terminal: without control characters.
    pub(crate) fn key_shown(&self, key: u32) -> String {
        printable(&self.key_name(key))
    }

    /// What a version is called, for a terminal.
    pub(crate) fn value_shown(&self, id: WriteId) -> String {
        printable(&self.value_name(id))
    }

    /// What a version is called.
    #[must_use]
    pub fn value_name(&self, id: WriteId) -> String {
        match id {
            INITIAL => "initial".to_owned(),
            ABSENT => "absent".to_owned(),
            UNKNOWN => "unknown".to_owned(),
            _ => self.value_names.get(id as usize).cloned().unwrap_or_else(|| id.to_string()),
        }
    }
}

fn printable(name: &str) -> String {
    name.chars().map(|c| if c.is_control() { char::REPLACEMENT_CHARACTER } else { c }).collect()
}

/// Dense ids for the writes of several workers without anything that they share: worker *w* of *n*
/// takes `after + 1 + w`, `after + 1 + w + n`, …
///
/// ```
/// use dbdyno_check::WriteIds;
/// let mut second = WriteIds::new(1, 3, 0);
/// assert_eq!((second.next_id(), second.next_id()), (Some(2), Some(5)));
/// ```
#[derive(Clone, Debug)]
pub struct WriteIds {
    next: u64,
    stride: u64,
}

impl WriteIds {
    /// The ids of one worker among `workers`; all are larger than `after`, the largest id that may
    /// be in the tables already (0 where there is none).
    #[must_use]
    pub fn new(worker: u32, workers: u32, after: WriteId) -> WriteIds {
        WriteIds { next: u64::from(after) + 1 + u64::from(worker), stride: u64::from(workers) }
    }

    /// The next id; `None` when 32 bits are used up, which ends a recording.
    pub fn next_id(&mut self) -> Option<WriteId> {
        let id = WriteId::try_from(self.next).ok().filter(|id| *id < ABSENT)?;
        self.next += self.stride;
        Some(id)
    }
}

impl fmt::Display for TransactionOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            TransactionOutcome::Ok => "ok",
            TransactionOutcome::Failed => "failed",
            TransactionOutcome::Unknown => "unknown",
        })
    }
}
