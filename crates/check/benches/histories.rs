//! What a verdict costs: histories of interleaved transactions, from bytes to an accepted proof.
//!
//! ```text
//!   cargo bench -p dbdyno-check --bench histories -- \
//!     [MILLIONS_OF_OPERATIONS [KEYS [SESSIONS]]] [hidden] [visible] [online] [pieces] [file=NAME]
//! ```
//!
//! A scheduler lets sessions (32) take turns, an operation each, on one store: under strict
//! two-phase locking that rolls back who would wait, and under snapshot isolation where the first
//! committer wins. Completion is told up to 16 transactions late, as clients tell it. Keys of half
//! of the operations are among 1 % of all. `hidden`: nothing tells the order of versions.
//! `visible`: levels that say what must have been seen are asked too. `online`: judged once more,
//! transaction by transaction, as they come; what begins is told every 64 of them. `pieces`:
//! records lie in a file of the folder for temporary files, and are read piece by piece; else the
//! bytes are in memory. `file`: the history under snapshot isolation is also kept, for other
//! checkers. One thread. Seconds are of the processor, which other work on the host does not
//! lengthen, and of the clock where there is no Linux. Memory is the most that the process had
//! since the history was made, Linux only.

#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]
#![expect(clippy::disallowed_methods, reason = "a benchmark reads the clock")]

use std::time::Instant;

use dbdyno_check::{
    Checker, HEADER, History, INITIAL, Level, LevelVerdict, Online, OpRecord, OperationKind, Times,
    TransactionOutcome, Txn, UNKNOWN, WriteIds, encode_end, read_records, read_records_from,
    replay, retrace_violation,
};

const OPS: usize = 10;
const LEVELS: [Level; 3] = [Level::ReadCommitted, Level::SnapshotIsolation, Level::Serializable];
const VISIBLE: [Level; 2] = [Level::ReadAtomic, Level::Causal];
/// Later than it happened, completion is told by as many turns at most.
const LATE: u64 = 16 * OPS as u64;

/// xorshift64*: Vigna, *An experimental exploration of Marsaglia's xorshift generators*, 2016.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        ((u128::from(self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)) * u128::from(bound)) >> 64) as u64
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Scheduler {
    Locking,
    Snapshot,
}

/// What has passed since a moment.
struct Watch {
    clock: Instant,
    processor: Option<f64>,
}

impl Watch {
    fn start() -> Watch {
        Watch { clock: Instant::now(), processor: processor_seconds() }
    }

    /// Of the processor, if the kernel tells, else of the clock.
    fn seconds(&self) -> f64 {
        let used = self.processor.and_then(|begun| Some(processor_seconds()? - begun));
        used.unwrap_or_else(|| self.clock.elapsed().as_secs_f64())
    }
}

/// How long this thread has had a processor (Linux: the first number of `schedstat`, nanoseconds).
fn processor_seconds() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    Some(text.split_whitespace().next()?.parse::<f64>().ok()? / 1e9)
}

/// One session's transaction that is open.
#[derive(Default)]
struct Open {
    ops: Vec<OpRecord>,
    begun: u64,
    begun_commits: u64,
    /// When its client hears of the last commit, and goes on.
    answered: u64,
    keys: Vec<u64>,
}

/// A row: its version, the one before, and the commit that made it; who holds it.
#[derive(Clone, Copy)]
struct Row {
    versions: [(u32, u32, u64); 4],
    holder: u32,
}

fn history(scheduler: Scheduler, ops: usize, keys: u64, sessions: usize) -> Vec<u8> {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let none = Row { versions: [(INITIAL, UNKNOWN, 0); 4], holder: UNKNOWN };
    let mut rows = vec![none; keys as usize];
    let mut streams: Vec<Vec<u8>> = vec![Vec::new(); sessions];
    let mut open: Vec<Open> = (0..sessions).map(|_| Open::default()).collect();
    let mut ids: Vec<WriteIds> =
        (0..sessions).map(|w| WriteIds::new(w as u32, sessions as u32, 0)).collect();
    let (mut now, mut commits, mut done) = (0, 0, 0);
    while done < ops {
        now += 1;
        let session = random.below(sessions as u64) as usize;
        let own = &mut open[session];
        if now < own.answered {
            continue;
        }
        if own.ops.is_empty() {
            (own.begun, own.begun_commits) = (now, commits);
        }
        let hot = random.below(2) == 0;
        let key = random.below(if hot { (keys / 100).max(1) } else { keys });
        let is_write = random.below(3) == 0;
        let row = &mut rows[key as usize];
        let is_again = own.ops.iter().any(|op| op.key == key);
        let mut is_refused = false;
        if !is_again {
            is_refused =
                step(scheduler, own, row, session as u32, key, is_write, &mut ids[session]);
        }
        if own.ops.len() < OPS && !is_refused {
            continue;
        }
        done += own.ops.len();
        let outcome = if is_refused { TransactionOutcome::Failed } else { TransactionOutcome::Ok };
        commits += 1;
        for op in &own.ops {
            let row = &mut rows[op.key as usize];
            if op.kind == OperationKind::Write && !is_refused {
                row.versions.rotate_right(1);
                row.versions[0] = (op.value, op.prev, commits);
            }
        }
        for key in own.keys.drain(..) {
            rows[key as usize].holder = UNKNOWN;
        }
        let stream = &mut streams[session];
        for op in &own.ops {
            stream.extend_from_slice(&op.encode());
        }
        own.answered = now + random.below(LATE);
        let times = Times {
            begin_invoke_ns: own.begun,
            begin_return_ns: own.begun,
            commit_invoke_ns: now,
            commit_return_ns: own.answered,
        };
        let txn = Txn { session: session as u32, outcome, times, token: commits };
        stream.extend_from_slice(&encode_end(txn, own.ops.len() as u32));
        own.ops.clear();
    }
    let mut bytes = HEADER.to_vec();
    bytes.reserve_exact(streams.iter().map(Vec::len).sum());
    streams.into_iter().for_each(|stream| bytes.extend_from_slice(&stream));
    bytes
}

/// One operation; whether it was refused.
fn step(
    scheduler: Scheduler,
    own: &mut Open,
    row: &mut Row,
    session: u32,
    key: u64,
    is_write: bool,
    ids: &mut WriteIds,
) -> bool {
    let is_locked = row.holder != UNKNOWN;
    let latest = row.versions[0];
    let seen = match scheduler {
        Scheduler::Locking => Some(latest),
        Scheduler::Snapshot => row.versions.iter().find(|v| v.2 <= own.begun_commits).copied(),
    };
    let is_too_new = scheduler == Scheduler::Snapshot && latest.2 > own.begun_commits;
    let wants_lock = is_write || scheduler == Scheduler::Locking;
    let Some(seen) = seen.filter(|_| !(wants_lock && is_locked || is_write && is_too_new)) else {
        return true;
    };
    let kind = if scheduler == Scheduler::Locking {
        OperationKind::CurrentRead
    } else {
        OperationKind::Read
    };
    if wants_lock {
        row.holder = session;
        own.keys.push(key);
    }
    own.ops.push(OpRecord { kind, table: 1, key, value: seen.0, prev: seen.1 });
    if is_write {
        let value = ids.next_id().expect("a benchmark does not use up 32 bits");
        own.ops.push(OpRecord { kind: OperationKind::Write, table: 1, key, value, prev: seen.0 });
    }
    false
}

/// The same history without what rows say of the version before.
fn hidden(bytes: &[u8]) -> Vec<u8> {
    let history = read_records(bytes).expect("what was written can be read");
    let mut out = HEADER.to_vec();
    for txn in 0..history.len() {
        let ops = history.ops(txn);
        for op in ops {
            let (key, value, prev) = (u64::from(op.key), op.value, UNKNOWN);
            out.extend(OpRecord { kind: op.kind, table: 1, key, value, prev }.encode());
        }
        out.extend(encode_end(history.txn(txn), ops.len() as u32));
    }
    out
}

/// Judges these levels as transactions come.
fn online(history: &History, levels: &[Level]) {
    let mut earliest = vec![u64::MAX; history.len() + 1];
    for txn in (0..history.len()).rev() {
        earliest[txn] = earliest[txn + 1].min(history.txn(txn).times.begin_invoke_ns);
    }
    let start = Watch::start();
    let mut judge = Online::new(levels);
    let mut kept = (0, 0);
    for txn in 0..history.len() {
        judge.add_transaction(history.txn(txn), history.ops(txn));
        if txn % 64 == 63 {
            judge.settle_before(earliest[txn + 1]);
            let now = judge.retained_counts();
            kept = (now.0.max(kept.0), now.1.max(kept.1));
        }
    }
    let told = judge.finish();
    let seconds = start.seconds();
    println!(
        "  online, {} levels: {seconds:.3} s, {:.2} million transactions a second; at most {} \
         transactions and {} versions kept; {told:?}",
        told.len(),
        history.len() as f64 / seconds / 1e6,
        kept.0,
        kept.1
    );
}

/// Lets the kernel forget how much memory the process had.
fn forget_peak() {
    // Where that is not possible, the peak is told as 0.
    let _ = std::fs::write("/proc/self/clear_refs", "5");
}

/// The most memory since then, GB.
fn peak_gb() -> f64 {
    let text = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.and_then(|line| line.split_whitespace().next()?.parse::<f64>().ok());
    kib.unwrap_or(0.0) * 1024.0 / 1e9
}

/// The history in these bytes; with `pieces` from a file, with how long that took.
fn read(bytes: Vec<u8>, pieces: bool) -> (History, f64) {
    if !pieces {
        forget_peak();
        let begin = Watch::start();
        let history = read_records(&bytes).expect("what was written can be read");
        return (history, begin.seconds());
    }
    let name = format!("dbdyno-histories-{}.rec", std::process::id());
    let path = std::env::temp_dir().join(name);
    std::fs::write(&path, &bytes).expect("the file can be written");
    drop(bytes);
    forget_peak();
    let begin = Watch::start();
    let mut file = std::fs::File::open(&path).expect("the file is there");
    let history = read_records_from(&mut file).expect("what was written can be read");
    let seconds = begin.seconds();
    std::fs::remove_file(&path).expect("the file is there");
    (history, seconds)
}

fn main() {
    let mut numbers = std::env::args().skip(1).filter_map(|text| text.parse::<f64>().ok());
    let ops = (numbers.next().unwrap_or(10.0) * 1e6) as usize;
    let keys = numbers.next().unwrap_or(1e6) as u64;
    let sessions = numbers.next().unwrap_or(32.0) as usize;
    let has = |wanted: &str| std::env::args().any(|word| word == wanted);
    for scheduler in [Scheduler::Locking, Scheduler::Snapshot] {
        let mut bytes = history(scheduler, ops, keys, sessions);
        if has("hidden") {
            bytes = hidden(&bytes);
        }
        let file = std::env::args().find_map(|word| Some(word.strip_prefix("file=")?.to_owned()));
        if let Some(file) = file.filter(|_| scheduler == Scheduler::Snapshot) {
            std::fs::write(&file, &bytes).expect("the file can be written");
        }
        let name = if scheduler == Scheduler::Locking { "locking" } else { "snapshot" };
        let (history, read) = read(bytes, has("pieces"));
        let start = Watch::start();
        let checker = Checker::new(&history);
        let found = start.seconds();
        println!(
            "{name}: {} operations, {} transactions, read {read:.3} s, versions and reach \
             {found:.3} s",
            history.op_count(),
            history.len()
        );
        let mut total = read + found;
        let more = if has("visible") { &VISIBLE[..] } else { &[] };
        for level in LEVELS.into_iter().chain(more.iter().copied()) {
            let start = Watch::start();
            let verdict = checker.level_verdict(level);
            let decided = start.seconds();
            total += decided;
            let start = Watch::start();
            let told = match &verdict {
                LevelVerdict::Holds(proof) => {
                    assert_eq!(replay(&history, level, proof), Ok(()), "{level}");
                    format!("holds, replayed in {:.3} s", start.seconds())
                }
                LevelVerdict::CannotTell(_) => "cannot tell".to_owned(),
                broken => {
                    assert_eq!(retrace_violation(&history, level, broken), Ok(()), "{level}");
                    let name = broken.anomaly().unwrap_or_default();
                    format!("{name}, retraced in {:.3} s", start.seconds())
                }
            };
            println!("  {level:<20} {decided:.3} s   {told}");
        }
        println!(
            "  all                  {total:.3} s, without replay; at most {:.2} GB",
            peak_gb()
        );
        if has("online") {
            online(&history, &LEVELS[..1]);
            online(&history, &LEVELS);
        }
        println!();
    }
}
