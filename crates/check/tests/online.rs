//! Online verdicts against those of the whole history, on thousands of seeded histories.
//!
//! ```text
//!   a store, rules of a level, sometimes a fault ──▶ history ──▶ Checker  ─┐
//!                                                      └──▶ Online        ─┴▶ the same verdicts
//! ```
//!
//! The store is small and its clients take turns; completion is told late and out of order.
//! Faults: reads of versions that were rolled back, are not committed, were replaced (before or
//! after the reader began), belong to another key, or that nobody wrote; orders that contradict
//! themselves; lost updates; outcomes that nobody knows.

use dbdyno_check::{
    Checker, HEADER, History, INITIAL, Level, LevelVerdict, Online, OnlineVerdict, Op, OpRecord,
    OperationKind, Times, TransactionOutcome, Txn, UNKNOWN, encode_end, read_records,
};

const LEVELS: [Level; 6] = [
    Level::ReadUncommitted,
    Level::ReadCommitted,
    Level::InnodbRepeatableRead,
    Level::RepeatableRead,
    Level::SnapshotIsolation,
    Level::Serializable,
];

/// xorshift64*: Vigna, *An experimental exploration of Marsaglia's xorshift generators*, 2016.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) % bound
    }

    fn one_in(&mut self, many: u64) -> bool {
        many > 0 && self.below(many) == 0
    }
}

/// How the store answers.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Rule {
    /// The latest version at each read; writes do not look.
    Committed,
    /// A snapshot; the first committer wins.
    Snapshot,
    /// One transaction at a time.
    Serial,
}

#[derive(Clone, Copy)]
struct Terms {
    rule: Rule,
    keys: u64,
    sessions: usize,
    /// One read of so many is a fault; 0: none.
    faults: u64,
    /// One write of so many does not tell what it follows; 0: all do.
    blind: u64,
    /// One commit of so many is not answered.
    unknown: u64,
    /// Whether faults may show states that were over when the reader began.
    has_stale: bool,
}

#[derive(Clone, Default)]
struct Open {
    ops: Vec<OpRecord>,
    begun: u64,
    commits: u64,
}

struct Store {
    /// By key, committed versions with the commit that made them.
    rows: Vec<Vec<(u32, u64)>>,
    /// Versions that were rolled back: their keys, and when that was told.
    aborted: Vec<(u64, u32, u64)>,
    next_id: u32,
}

impl Store {
    fn latest(&self, key: u64, commits: u64) -> (u32, u32) {
        let versions = self.rows[key as usize].iter().rev();
        let mut seen = versions.filter(|version| version.1 <= commits).map(|version| version.0);
        let value = seen.next().unwrap_or(INITIAL);
        (value, seen.next().unwrap_or(if value == INITIAL { UNKNOWN } else { INITIAL }))
    }
}

fn history(seed: u64, terms: Terms, txns: usize) -> Vec<u8> {
    let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let mut store =
        Store { rows: vec![Vec::new(); terms.keys as usize], aborted: Vec::new(), next_id: 1 };
    let mut open = vec![Open::default(); terms.sessions];
    let mut free_at = vec![0; terms.sessions];
    let mut records = HEADER.to_vec();
    let (mut now, mut commits, mut done) = (1, 0, 0);
    while done < txns {
        now += 1;
        let busy = (0..terms.sessions).find(|session| !open[*session].ops.is_empty());
        let session = match busy.filter(|_| terms.rule == Rule::Serial) {
            Some(session) => session,
            None => random.below(terms.sessions as u64) as usize,
        };
        if now < free_at[session] {
            continue;
        }
        let mut own = std::mem::take(&mut open[session]);
        if own.ops.is_empty() {
            (own.begun, own.commits) = (now, commits);
        }
        step(&mut random, &mut store, &mut own, terms, commits, &open);
        if random.below(4) > 0 {
            open[session] = own;
            continue;
        }
        let refused = is_refused(&store, &own, terms.rule) || random.one_in(12);
        let outcome = match () {
            () if refused => TransactionOutcome::Failed,
            () if random.one_in(terms.unknown) => TransactionOutcome::Unknown,
            () => TransactionOutcome::Ok,
        };
        let answered = now + random.below(30);
        // Of what nobody knows, half was carried out.
        let counts = outcome == TransactionOutcome::Ok
            || outcome == TransactionOutcome::Unknown && random.one_in(2);
        commits += u64::from(counts);
        for op in
            own.ops.iter_mut().filter(|op| op.kind == OperationKind::Write && op.prev != UNKNOWN)
        {
            op.prev = store.latest(op.key, u64::MAX).0;
        }
        for op in own.ops.iter().filter(|op| op.kind == OperationKind::Write) {
            if counts {
                store.rows[op.key as usize].push((op.value, commits));
            } else {
                store.aborted.push((op.key, op.value, answered));
            }
        }
        free_at[session] = answered;
        own.ops.iter().for_each(|op| records.extend(op.encode()));
        let times = Times {
            begin_invoke_ns: own.begun,
            begin_return_ns: own.begun,
            commit_invoke_ns: now,
            commit_return_ns: answered,
        };
        let txn = Txn { session: session as u32, outcome, times, token: 0 };
        records.extend(encode_end(txn, own.ops.len() as u32));
        done += 1;
    }
    records
}

fn is_refused(store: &Store, own: &Open, rule: Rule) -> bool {
    let is_newer = |op: &OpRecord| {
        store.rows[op.key as usize].last().is_some_and(|version| version.1 > own.commits)
    };
    rule == Rule::Snapshot
        && own.ops.iter().filter(|op| op.kind == OperationKind::Write).any(is_newer)
}

/// One operation on one key, each key once in a transaction, but for reads of own writes.
fn step(
    random: &mut Random,
    store: &mut Store,
    own: &mut Open,
    terms: Terms,
    commits: u64,
    others: &[Open],
) {
    let key = random.below(terms.keys);
    let written =
        own.ops.iter().find(|op| op.key == key && op.kind == OperationKind::Write).copied();
    if let Some(OpRecord { value, .. }) = written {
        let value = if terms.faults > 0 && random.one_in(40) { INITIAL } else { value };
        let op = OpRecord { kind: OperationKind::CurrentRead, table: 1, key, value, prev: UNKNOWN };
        return own.ops.push(op);
    }
    let at = if terms.rule == Rule::Snapshot { own.commits } else { commits };
    let (mut value, mut prev) = store.latest(key, at);
    if random.one_in(terms.faults) {
        (value, prev) = faulty(random, store, key, own, terms, others).unwrap_or((value, prev));
    }
    let kind = if random.one_in(3) { OperationKind::CurrentRead } else { OperationKind::Read };
    own.ops.push(OpRecord { kind, table: 1, key, value, prev });
    if random.one_in(2) {
        // What it replaces is known when it commits.
        let prev = if random.one_in(terms.blind) { UNKNOWN } else { INITIAL };
        let id = store.next_id;
        store.next_id += 1;
        own.ops.push(OpRecord { kind: OperationKind::Write, table: 1, key, value: id, prev });
    }
}

/// What a read should not have seen, and what it says of the version before.
fn faulty(
    random: &mut Random,
    store: &Store,
    key: u64,
    own: &Open,
    terms: Terms,
    others: &[Open],
) -> Option<(u32, u32)> {
    match random.below(6) {
        0 => {
            let recent = |told: u64| terms.has_stale || told > own.begun;
            let mut aborted = store.aborted.iter().rev();
            let of_key = aborted.find(|(other, _, told)| *other == key && recent(*told));
            of_key.map(|(_, id, _)| (*id, UNKNOWN))
        }
        1 => {
            let mut ops = others.iter().flat_map(|other| &other.ops);
            let op = ops.find(|op| op.key == key && op.kind == OperationKind::Write);
            op.map(|op| (op.value, UNKNOWN))
        }
        2 => {
            let versions = &store.rows[key as usize];
            let back = random.below(3) as usize + 1;
            let at = versions.len().checked_sub(back + 1)?;
            // What replaced it: was that committed since the reader began?
            let is_recent = versions[at + 1].1 > own.commits;
            (is_recent || terms.has_stale).then(|| (versions[at].0, UNKNOWN))
        }
        3 => {
            let other = store.rows[random.below(terms.keys) as usize].last();
            other.map(|version| (version.0, UNKNOWN))
        }
        4 => Some((store.next_id + 40_000, UNKNOWN)),
        _ => {
            let value = store.latest(key, u64::MAX).0;
            let other = store.rows[key as usize].first().map(|version| version.0);
            other.filter(|other| *other != value && value != INITIAL).map(|prev| (value, prev))
        }
    }
}

/// The verdicts of [`Online`], and how many transactions it kept at most.
fn online(history: &History) -> (Vec<(Level, OnlineVerdict)>, usize) {
    let mut judge = Online::new(&LEVELS);
    let begun = |txn: usize| history.txn(txn).times.begin_invoke_ns;
    let mut earliest = vec![u64::MAX; history.len() + 1];
    for txn in (0..history.len()).rev() {
        earliest[txn] = earliest[txn + 1].min(begun(txn));
    }
    let mut kept = 0;
    for txn in 0..history.len() {
        judge.add_transaction(history.txn(txn), history.ops(txn));
        judge.settle_before(earliest[txn + 1]);
        kept = kept.max(judge.retained_counts().0);
    }
    (judge.finish(), kept)
}

/// How often verdicts were holds, broken, and open until the end.
#[derive(Debug, Default)]
struct Count {
    holds: u64,
    broken: u64,
    open: u64,
    /// Of these, those of the level at which versions that are rolled back may be read.
    dirty: u64,
}

fn compared(terms: Terms, seeds: std::ops::Range<u64>) -> Count {
    let mut count = Count::default();
    for seed in seeds {
        let history = read_records(&history(seed, terms, 60)).unwrap();
        let checker = Checker::new(&history);
        for (level, told) in online(&history).0 {
            let whole = checker.level_verdict(level);
            match told {
                OnlineVerdict::CannotTell(_) => {
                    count.open += 1;
                    count.dirty += u64::from(level == Level::ReadUncommitted);
                }
                OnlineVerdict::Holds => {
                    assert!(
                        matches!(whole, LevelVerdict::Holds(_)),
                        "seed {seed}, {level}: {whole:?}"
                    );
                    count.holds += 1;
                }
                OnlineVerdict::Broken(by) => {
                    assert!(whole.anomaly().is_some(), "seed {seed}, {level}: {by}, {whole:?}");
                    count.broken += 1;
                }
            }
        }
    }
    count
}

const USUAL: Terms = Terms {
    rule: Rule::Committed,
    keys: 5,
    sessions: 4,
    faults: 0,
    blind: 0,
    unknown: 0,
    has_stale: false,
};

#[test]
fn verdicts_are_those_of_the_whole_history() {
    for rule in [Rule::Committed, Rule::Snapshot, Rule::Serial] {
        let clean = compared(Terms { rule, ..USUAL }, 0..400);
        assert_eq!(clean.open, 0, "all is told: {clean:?}");
        assert!(clean.holds > 300, "{clean:?}");
        for faults in [150, 20] {
            let faulty = compared(Terms { rule, faults, keys: 8, ..USUAL }, 400..1_000);
            assert_eq!(faulty.open, faulty.dirty, "{faulty:?}");
            assert!(faulty.broken > 300, "{faulty:?}");
        }
    }
}

/// A version that was read while its transaction was open, and was rolled back, had the place of
/// the one that was written there afterwards: every server was broken at read uncommitted.
#[test]
fn a_version_that_is_rolled_back_after_it_was_read_breaks_no_order() {
    let op = |kind, value| OpRecord { kind, table: 1, key: 1, value, prev: INITIAL };
    let mut records = HEADER.to_vec();
    for (session, outcome, (from, until), op) in [
        (1, TransactionOutcome::Ok, (2, 11), op(OperationKind::Read, 1)),
        (0, TransactionOutcome::Failed, (1, 10), op(OperationKind::Write, 1)),
        (2, TransactionOutcome::Ok, (12, 14), op(OperationKind::Write, 2)),
    ] {
        records.extend(op.encode());
        let times = Times {
            begin_invoke_ns: from,
            begin_return_ns: from,
            commit_invoke_ns: until,
            commit_return_ns: until,
        };
        records.extend(encode_end(Txn { session, outcome, times, token: 0 }, 1));
    }
    let history = read_records(&records).unwrap();
    let holds = Checker::new(&history).level_verdict(Level::ReadUncommitted);
    assert!(matches!(holds, LevelVerdict::Holds(_)), "{holds:?}");
    for (level, told) in online(&history).0 {
        let is_broken = matches!(told, OnlineVerdict::Broken(_));
        assert_eq!(is_broken, level != Level::ReadUncommitted, "{level}: {told:?}");
    }
}

#[test]
fn what_cannot_be_told_is_never_told_wrongly() {
    for rule in [Rule::Committed, Rule::Snapshot, Rule::Serial] {
        let terms = Terms { rule, faults: 30, unknown: 30, has_stale: true, ..USUAL };
        let stale = compared(terms, 0..500);
        assert!(stale.broken > 300 && stale.open < 1_000, "{stale:?}");
        let blind = compared(Terms { rule, blind: 6, unknown: 30, keys: 12, ..USUAL }, 500..1_000);
        assert!(blind.holds > 100, "{blind:?}");
    }
}

#[test]
fn memory_is_what_is_at_work_at_a_time() {
    let terms = Terms { rule: Rule::Snapshot, keys: 40, sessions: 8, ..USUAL };
    let long = read_records(&history(7, terms, 20_000)).unwrap();
    let (told, kept) = online(&long);
    let snapshot = told.iter().find(|(level, _)| *level == Level::SnapshotIsolation).unwrap();
    assert_eq!(snapshot.1, OnlineVerdict::Holds);
    assert!(kept < 4_000, "{kept} of 20000 transactions were kept");
}

/// A server that refuses every transaction made the judge keep each of them.
#[test]
fn what_is_rolled_back_is_not_kept_where_nothing_counts() {
    let mut records = HEADER.to_vec();
    for value in 1..=2_000 {
        let write = OpRecord { table: 0, key: 1, value, prev: UNKNOWN, kind: OperationKind::Write };
        records.extend(write.encode());
        let at = 10 * u64::from(value);
        let times = Times {
            begin_invoke_ns: at,
            begin_return_ns: at + 1,
            commit_invoke_ns: at + 2,
            commit_return_ns: at + 3,
        };
        let outcome = TransactionOutcome::Failed;
        records.extend(encode_end(Txn { session: 1, outcome, times, token: 0 }, 1));
    }
    let history = read_records(&records).unwrap();
    let mut judge = Online::new(&LEVELS);
    for txn in 0..history.len() {
        judge.add_transaction(history.txn(txn), history.ops(txn));
        assert_eq!(judge.retained_counts(), (0, 0), "{txn}");
    }
    let read = Op { key: 0, value: 7, prev: UNKNOWN, kind: OperationKind::Read };
    let seen = Txn { outcome: TransactionOutcome::Ok, ..history.txn(1_999) };
    judge.add_transaction(seen, &[read]);
    let told = judge.finish();
    let committed = told.iter().find(|(level, _)| *level == Level::ReadCommitted).unwrap();
    assert!(matches!(committed.1, OnlineVerdict::Broken(_)), "{committed:?}");
}
