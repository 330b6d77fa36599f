//! What it costs to put a record into the log buffer, in two ways.
//!
//! ```text
//!   cargo bench -p dbdyno-engine --bench redo [-- SECONDS [ROUNDS [THREADS…]]]
//! ```
//!
//! Threads append records of 120 bytes as fast as they can and never wait for the disk, which takes
//! what it is given and keeps nothing. The two ways take turns, there and back. Figures are medians
//! over rounds with minimum and maximum, of the whole process: the writer's thread is part of the
//! price.

#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]
#![expect(clippy::disallowed_methods, reason = "a benchmark reads the clock")]

use std::io;
use std::sync::Arc;
use std::time::Duration;

use dbdyno_engine::disk::{Disk, File};
use dbdyno_engine::log::{Log, recover};
use dbdyno_engine::{Counter, Meter, MeterCounts};
use dbdyno_model::Design;
use dbdyno_model::design::{Device, LogBuffer};

mod crew;
mod turns;

use crew::{Cost, run, spread};
use turns::{arguments, in_turn, number};

const RECORD_BYTES: usize = 120;
const THREADS: [usize; 4] = [1, 8, 64, 256];
/// Records of a turn: a look at the clock's flag is not part of a record.
const BATCH: u64 = 64;

/// A disk without a bottom.
struct Void;

impl Disk for Void {
    fn list(&self) -> io::Result<Vec<String>> {
        Ok(Vec::new())
    }

    fn create(&self, _name: &str) -> io::Result<Arc<dyn File>> {
        Ok(Arc::new(Void))
    }

    fn open(&self, _name: &str) -> io::Result<Arc<dyn File>> {
        Ok(Arc::new(Void))
    }

    fn rename(&self, _from: &str, _to: &str) -> io::Result<()> {
        Ok(())
    }

    fn remove(&self, _name: &str) -> io::Result<()> {
        Ok(())
    }

    fn sync_directory(&self) -> io::Result<()> {
        Ok(())
    }
}

impl File for Void {
    fn read_at(&self, _offset: u64, _buffer: &mut [u8]) -> io::Result<usize> {
        Ok(0)
    }

    fn write_at(&self, _offset: u64, _bytes: &[u8]) -> io::Result<()> {
        Ok(())
    }

    fn sync(&self) -> io::Result<()> {
        Ok(())
    }

    fn size(&self) -> io::Result<u64> {
        Ok(0)
    }

    fn truncate(&self, _size: u64) -> io::Result<()> {
        Ok(())
    }
}

fn main() {
    let arguments = arguments();
    let (seconds, rounds) = (number(&arguments, 0, 2), number(&arguments, 1, 6));
    let threads: Vec<usize> =
        arguments.iter().skip(2).map(|text| text.parse().expect("a number")).collect();
    let threads = if threads.is_empty() { THREADS.to_vec() } else { threads };
    for threads in threads {
        let seen = in_turn(LogBuffer::ALL.len(), rounds, |way| {
            measure(LogBuffer::ALL[way], threads, Duration::from_secs(seconds))
        });
        println!("{threads} threads, {rounds} rounds of {seconds} s");
        for (log, seen) in LogBuffer::ALL.iter().zip(&seen) {
            let of = |decimals, figure: &dyn Fn(&Cost, &MeterCounts) -> f64| {
                let figures = seen.iter().map(|(cost, counts)| figure(cost, counts));
                spread(figures.collect(), decimals)
            };
            let records = |cost: &Cost| (cost.turns * BATCH) as f64;
            println!(
                "  {:8} CPU/record {} ns   switches/record {}   waits for room/record {}   {} \
                 records/s",
                log.name(),
                of(0, &|cost, _| cost.cpu_ns / records(cost)),
                of(4, &|cost, _| (cost.voluntary + cost.involuntary) as f64 / records(cost)),
                of(4, &|cost, counts| counts.count_of(Counter::LogFull) as f64 / records(cost)),
                of(0, &|cost, _| records(cost) / cost.seconds),
            );
        }
    }
}

fn measure(log: LogBuffer, threads: usize, window: Duration) -> (Cost, MeterCounts) {
    let disk = Arc::new(Void);
    let tail = recover(disk.clone()).and_then(|recovery| recovery.finish()).expect("it is empty");
    let design = Design { log, device: Device::None, ..Design::default() };
    let meter = Arc::new(Meter::default());
    let log = Log::open(&design, disk, tail, u64::MAX, meter.clone()).expect("it opens");
    let record = [7; RECORD_BYTES];
    let cost = run(threads, window, || {
        for _ in 0..BATCH {
            log.append(&record).expect("there is no disk that could fail");
        }
    });
    (cost, meter.current_counts())
}
