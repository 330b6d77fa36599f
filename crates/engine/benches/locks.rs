//! What a lock costs that nobody wants, and one that all want.
//!
//! ```text
//!   cargo bench -p dbdyno-engine --bench locks [-- SECONDS [ROUNDS [THREADS…]]]
//! ```
//!
//! First each thread locks rows that are its own, [`ROWS`] in a transaction, and gives them back:
//! with one latch and with many, and with latches that are timed. Then all lock one table with an
//! intention, then one row. Ways take turns, there and back. Figures are medians over rounds with
//! minimum and maximum, of the whole process; a turn is one lock and its release.

#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]
#![expect(clippy::disallowed_methods, reason = "a benchmark reads the clock")]

use std::cell::Cell;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use dbdyno_engine::lock::{DeadlockWriter, LockKind, LockSys, Mode, Place, TableMode};
use dbdyno_engine::{ClockFunction, Counter, IndexId, Meter, MeterCounts, TableId};
use dbdyno_model::Design;
use dbdyno_model::design::Metered;
use rustix::time::{ClockId, clock_gettime};

mod crew;
mod turns;

use crew::{Cost, run, spread};
use turns::{arguments, in_turn, number};

/// Rows that a transaction locks: about those of a read-write transaction of sysbench.
const ROWS: u64 = 20;
const THREADS: [usize; 4] = [1, 2, 8, 64];
const INDEX: IndexId = IndexId(1);

/// What is locked, the design, and how many locks a turn of the crew is.
const WAYS: [(&str, &str, Turn, u64); 8] = [
    ("own rows", "lock_shards=1", own_rows, ROWS),
    ("own rows", "lock_shards=64", own_rows, ROWS),
    ("own rows", "lock_shards=512", own_rows, ROWS),
    ("own rows", "lock_shards=64&meter=times", own_rows, ROWS),
    ("one table IX", "lock_shards=64", one_table, 1),
    ("one row S", "lock_shards=64", one_row_shared, 1),
    ("one row X", "schedule=fifo", one_row, 1),
    ("one row X", "schedule=cats", one_row, 1),
];

type Turn = fn(&LockSys);

fn main() {
    let arguments = arguments();
    let window = Duration::from_secs(number(&arguments, 0, 1));
    let rounds = number(&arguments, 1, 5);
    let threads: Vec<usize> =
        arguments.iter().skip(2).map(|text| text.parse().expect("a number")).collect();
    let threads = if threads.is_empty() { THREADS.to_vec() } else { threads };
    println!("{rounds} rounds of {window:?} each, in turn: median (minimum–maximum)");
    println!(
        "{:13} {:26} {:>7}  {:22}  {:24}  {:24}  locks/ms",
        "what", "design", "threads", "CPU ns per lock", "switches per lock", "waits per lock"
    );
    for threads in threads {
        compare(threads, window, rounds);
    }
}

fn compare(threads: usize, window: Duration, rounds: u64) {
    let figures = in_turn(WAYS.len(), rounds, |way| {
        let (_, options, turn, _) = WAYS[way];
        let meter = Arc::new(Meter::default());
        let nowhere = DeadlockWriter::new(Box::new(io::sink()));
        let design: Design = options.parse().expect("it is a design");
        let clock = (design.meter == Metered::Times).then_some(monotonic_ns as ClockFunction);
        let locks = LockSys::new(&design, Arc::clone(&meter), nowhere, clock);
        let cost = run(threads, window, || turn(&locks));
        (cost, meter.current_counts())
    });
    for ((what, options, _, many), figures) in WAYS.iter().zip(figures) {
        let per_lock = |figure: fn(&Cost, &MeterCounts) -> f64| -> Vec<f64> {
            let locks = |cost: &Cost| cost.turns as f64 * *many as f64;
            figures.iter().map(|(cost, counts)| figure(cost, counts) / locks(cost)).collect()
        };
        println!(
            "{what:13} {options:26} {threads:7}  {:22}  {:24}  {:24}  {}",
            spread(per_lock(|cost, _| cost.cpu_ns), 0),
            spread(per_lock(|cost, _| (cost.voluntary + cost.involuntary) as f64), 4),
            spread(per_lock(|_, counts| counts.count_of(Counter::LockWaits) as f64), 4),
            spread(per_ms(&figures, *many), 0),
        );
    }
}

fn per_ms(figures: &[(Cost, MeterCounts)], many: u64) -> Vec<f64> {
    let rate = |(cost, _): &(Cost, MeterCounts)| (cost.turns * many) as f64 / cost.seconds / 1e3;
    figures.iter().map(rate).collect()
}

fn monotonic_ns() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

static NEXT_KEY: AtomicU64 = AtomicU64::new(0);

thread_local! {
    static KEY: Cell<u64> = Cell::new(NEXT_KEY.fetch_add(1 << 40, Ordering::Relaxed));
}

fn own_rows(locks: &LockSys) {
    let trx = locks.begin_transaction();
    for _ in 0..ROWS {
        let key = KEY.replace(KEY.get() + 1).to_be_bytes();
        let free = locks.try_lock(&trx, INDEX, Place::Key(&key), LockKind::Record, Mode::Exclusive);
        free.expect("nobody else wants it");
    }
    locks.release_all(&trx);
}

fn one_table(locks: &LockSys) {
    let trx = locks.begin_transaction();
    locks.lock_table(&trx, TableId(1), TableMode::IntentExclusive).expect("all may intend");
    locks.release_all(&trx);
}

fn one_row_shared(locks: &LockSys) {
    lock_one_row(locks, Mode::Shared);
}

fn one_row(locks: &LockSys) {
    lock_one_row(locks, Mode::Exclusive);
}

fn lock_one_row(locks: &LockSys, mode: Mode) {
    let trx = locks.begin_transaction();
    let got = locks.lock(&trx, INDEX, Place::Key(b"hot"), LockKind::Record, mode);
    got.expect("everybody's turn comes");
    locks.release_all(&trx);
}
