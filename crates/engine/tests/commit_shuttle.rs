//! Commits of many threads in many random orders: nobody waits for ever, and what was acknowledged
//! is in the log.

use std::collections::BTreeSet;
use std::sync::Arc;

use dbdyno_engine::commit::Pipeline;
use dbdyno_engine::disk::SimDisk;
use dbdyno_engine::log::recover;
use dbdyno_engine::{EngineError, Lsn};
use dbdyno_model::Design;
use dbdyno_model::design::{LogBuffer, Wake};
use dbdyno_model::random::stream;
use shuttle::scheduler::RandomScheduler;
use shuttle::{Config, Runner, thread};

use crate::depth;

const THREADS: u8 = 4;
const COMMITS: u8 = 3;
const ORDERS: usize = 150;
const SEED: u64 = 4;
/// Formatting and sorting take more than shuttle gives.
const STACK_BYTES: usize = 1 << 20;

/// Acknowledged records of all threads; the disk may stop at an operation.
fn live(design: Design, disk: &SimDisk) -> BTreeSet<Vec<u8>> {
    let files = Arc::new(disk.clone());
    let Ok(tail) = recover(files.clone()).and_then(|recovery| recovery.finish()) else {
        return BTreeSet::new();
    };
    let Ok(pipeline) = Pipeline::open_with(&design, files, tail, 200, Arc::default()) else {
        return BTreeSet::new();
    };
    let pipeline = Arc::new(pipeline);
    let work = |thread: u8| {
        let pipeline = pipeline.clone();
        thread::spawn(move || {
            let mut acknowledged = Vec::new();
            for turn in 0..COMMITS {
                let record = vec![thread, turn, 0xdb];
                match pipeline.commit(&record) {
                    Ok(commit) => {
                        assert!(pipeline.low_water() <= commit.lsn());
                        assert!(commit.lsn() < pipeline.durable_lsn());
                        acknowledged.push(record);
                    }
                    Err(EngineError::Disk(..)) => break,
                    Err(error) => panic!("{error}"),
                }
            }
            acknowledged
        })
    };
    let workers: Vec<_> = (0..THREADS).map(work).collect();
    workers.into_iter().flat_map(|worker| worker.join().unwrap()).collect()
}

fn recovered(disk: &SimDisk) -> BTreeSet<Vec<u8>> {
    let mut recovery = recover(Arc::new(disk.clone())).unwrap();
    let (mut records, mut last) = (BTreeSet::new(), None);
    while let Some((lsn, record)) = recovery.next_record().unwrap() {
        assert!(last < Some(lsn));
        last = Some::<Lsn>(lsn);
        assert!(records.insert(record.to_vec()), "no record is there twice");
    }
    recovery.finish().unwrap();
    records
}

fn each_design(check: fn(Design)) {
    for log in LogBuffer::ALL {
        for wake in Wake::ALL {
            let design = Design { log, wake, ..Design::default() };
            let mut config = Config::new();
            config.stack_size = STACK_BYTES;
            Runner::new(
                RandomScheduler::new_from_seed(depth::seed(SEED), depth::orders(ORDERS)),
                config,
            )
            .run(move || check(design));
        }
    }
}

#[test]
fn everybody_is_told_and_everything_is_there() {
    each_design(|design| {
        let disk = SimDisk::default();
        let acknowledged = live(design, &disk);
        assert_eq!(acknowledged.len(), usize::from(THREADS * COMMITS));
        assert_eq!(recovered(&disk.after_crash(0)), acknowledged);
    });
}

#[test]
fn everybody_is_told_when_the_disk_stops() {
    static TRIES: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(0);
    each_design(|design| {
        let tries = TRIES.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let seed = depth::seed(0) + tries;
        let disk = SimDisk::default();
        disk.crash_at(stream(&[seed]).next_below(40));
        let acknowledged = live(design, &disk);
        assert!(acknowledged.is_subset(&recovered(&disk.after_crash(seed))));
    });
}
