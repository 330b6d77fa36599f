//! What it costs to wake a group of commits, in four ways.
//!
//! ```text
//!   cargo bench -p dbdyno-engine --bench wake [-- SECONDS [ROUNDS [THREADS:SYNC_US…]]]
//! ```
//!
//! Threads work for 20 µs and commit 120 bytes, over and over, on a device whose sync takes as long
//! as is said; nothing else differs between the ways. They take turns, there and back. Figures are
//! medians over rounds with minimum and maximum, of the whole process.

#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]
#![expect(clippy::disallowed_methods, reason = "a benchmark reads the clock")]

use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use dbdyno_engine::commit::Pipeline;
use dbdyno_engine::disk::RealDisk;
use dbdyno_engine::log::recover;
use dbdyno_engine::{Counter, Meter, MeterCounts};
use dbdyno_model::Design;
use dbdyno_model::design::{Device, Wake};
use dbdyno_model::random::mix_bits;

mod crew;
mod turns;

use crew::{Cost, run, spread};
use turns::{arguments, in_turn, number};

const WORK_NS: f64 = 20_000.0;
const RECORD_BYTES: usize = 120;
const CASES: [&str; 3] = ["128:8000", "32:2000", "500:2000"];

struct Seen {
    cost: Cost,
    counts: MeterCounts,
}

fn main() {
    let arguments = arguments();
    let (seconds, rounds) = (number(&arguments, 0, 3), number(&arguments, 1, 6));
    let cases: Vec<&str> = arguments.iter().skip(2).map(String::as_str).collect();
    let cases = if cases.is_empty() { CASES.to_vec() } else { cases };
    let steps = calibrated();
    for case in cases {
        let (threads, sync_us) = case.split_once(':').expect("THREADS:SYNC_US");
        let (threads, sync_us) = (threads.parse().expect("a number"), sync_us.parse());
        let device = Device::Simulated(sync_us.expect("a number"));
        let seen = in_turn(Wake::ALL.len(), rounds, |way| {
            let design = Design { wake: Wake::ALL[way], device, ..Design::default() };
            measure(&design, threads, Duration::from_secs(seconds), steps)
        });
        println!("{threads} threads, sync of {device}, {rounds} rounds of {seconds} s");
        for (wake, seen) in Wake::ALL.iter().zip(&seen) {
            show(*wake, seen);
        }
    }
}

fn measure(design: &Design, threads: usize, window: Duration, steps: u64) -> Seen {
    let directory = tempfile::tempdir().expect("a directory");
    let disk = Arc::new(RealDisk::open(directory.path()).expect("it is ours"));
    let tail = recover(disk.clone()).and_then(|recovery| recovery.finish()).expect("it is empty");
    let meter = Arc::new(Meter::default());
    let pipeline = Pipeline::open(design, disk, tail, meter.clone()).expect("it opens");
    let record = [7; RECORD_BYTES];
    let cost = run(threads, window, || {
        black_box(work(steps));
        drop(pipeline.commit(&record).expect("the disk is well"));
    });
    Seen { cost, counts: meter.current_counts() }
}

fn show(wake: Wake, seen: &[Seen]) {
    let of =
        |decimals, figure: fn(&Seen) -> f64| spread(seen.iter().map(figure).collect(), decimals);
    let per_commit = |cost: &Cost| 1.0 / cost.turns as f64;
    println!(
        "  {:9}  efficiency {} %   voluntary switches/commit {}   CPU/commit {} µs   {} tps   \
         group {}",
        wake.name(),
        of(1, |seen| ratio(seen, Counter::UsefulActivations, Counter::Activations) * 100.0),
        spread(
            seen.iter().map(|seen| seen.cost.voluntary as f64 * per_commit(&seen.cost)).collect(),
            3
        ),
        spread(
            seen.iter().map(|seen| seen.cost.cpu_ns / 1e3 * per_commit(&seen.cost)).collect(),
            1
        ),
        of(0, |seen| seen.cost.turns as f64 / seen.cost.seconds),
        of(0, |seen| ratio(seen, Counter::Grouped, Counter::Groups)),
    );
}

fn ratio(seen: &Seen, of: Counter, by: Counter) -> f64 {
    seen.counts.count_of(of) as f64 / seen.counts.count_of(by) as f64
}

fn work(steps: u64) -> u64 {
    (0..steps).fold(0, |value, step| mix_bits(value ^ step))
}

/// How many steps make the work: the quickest of some tries, so that others do not count.
fn calibrated() -> u64 {
    const STEPS: u64 = 100_000;
    let tries = (0..50).map(|_| {
        let begun = Instant::now();
        black_box(work(black_box(STEPS)));
        begun.elapsed().as_nanos() as f64
    });
    let quickest = tries.fold(f64::INFINITY, f64::min);
    (WORK_NS / quickest * STEPS as f64) as u64
}
