//! The machine stops at every operation of the disk, and what was acknowledged is there again.
//!
//! The engine here is a set of numbers: committing one is a record, a checkpoint is the whole set.
//! After each crash: what was acknowledged was recovered; what was recovered was appended; of what
//! was appended, exactly what lies before the recovered end; and the same again when the machine
//! stops in the midst of recovery, and when the next life goes on and stops too.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use dbdyno_engine::commit::Pipeline;
use dbdyno_engine::disk::{Disk, SimDisk};
use dbdyno_engine::log::{CheckpointWriter, Tail, recover};
use dbdyno_engine::{EngineError, Lsn, Meter, Result};
use dbdyno_model::Design;
use dbdyno_model::design::{LogBuffer, Wake};
use dbdyno_model::random::stream;

const SEGMENT_BYTES: u64 = 3_000;

fn designs() -> Vec<Design> {
    let each = |&log| Wake::ALL.iter().map(move |&wake| Design { log, wake, ..Design::default() });
    LogBuffer::ALL.iter().flat_map(each).collect()
}

/// Crashes so far.
static CRASHES: AtomicU64 = AtomicU64::new(0);

/// What one life knows.
#[derive(Default)]
struct Life {
    /// Numbers that were tried, with the place of their record if it got one.
    appended: BTreeMap<u64, Option<Lsn>>,
    acknowledged: BTreeSet<u64>,
}

/// A number's record: itself, and something that can be checked, of any length.
fn record(number: u64) -> Vec<u8> {
    let mut random = stream(&[number, 7]);
    let length = match random.next_below(8) {
        0 => 1 + random.next_below(4_000),
        _ => 1 + random.next_below(200),
    };
    let rest = (0..length).map(|_| random.next_u64() as u8);
    number.to_le_bytes().into_iter().chain(rest).collect()
}

fn number_of(bytes: &[u8]) -> u64 {
    let number = u64::from_le_bytes(bytes[..8].try_into().unwrap());
    assert_eq!(bytes, record(number), "a record is what was written, or it is none");
    number
}

/// The recovered numbers, and where the log goes on.
fn recovered(disk: &SimDisk) -> Result<(BTreeSet<u64>, Tail)> {
    let mut recovery = recover(Arc::new(disk.clone()))?;
    let mut numbers = BTreeSet::new();
    if let Some(checkpoint) = recovery.checkpoint() {
        while let Some(item) = checkpoint.next_item()? {
            numbers.insert(number_of(item));
        }
    }
    let mut last = None;
    while let Some((lsn, bytes)) = recovery.next_record()? {
        assert!(last < Some(lsn), "places grow");
        last = Some(lsn);
        numbers.insert(number_of(bytes));
    }
    Ok((numbers, recovery.finish()?))
}

fn checkpoint(pipeline: &Pipeline, disk: &SimDisk, visible: &Mutex<BTreeSet<u64>>) -> Result<()> {
    let start = pipeline.low_water();
    let numbers = visible.lock().unwrap().clone();
    let mut writer = CheckpointWriter::create_file(Arc::new(disk.clone()), start)?;
    for number in numbers {
        writer.write(&record(number))?;
    }
    pipeline.check_writable()?;
    writer.finish()?;
    pipeline.truncate_before(start)
}

/// Numbers from `first` on are committed by threads, until the disk fails or each has done `many`.
fn live(
    design: &Design,
    disk: &SimDisk,
    life: &Mutex<Life>,
    first: u64,
    threads: u64,
    many: u64,
) -> Result<()> {
    let (numbers, tail) = recovered(disk)?;
    let visible = Mutex::new(numbers);
    let files = Arc::new(disk.clone());
    let pipeline =
        Pipeline::open_with(design, files, tail, SEGMENT_BYTES, Arc::new(Meter::default()))?;
    let work = |thread: u64| -> Result<()> {
        for turn in 0..many {
            let number = first + thread * many + turn;
            life.lock().unwrap().appended.insert(number, None);
            let commit = pipeline.append(&record(number))?;
            life.lock().unwrap().appended.insert(number, Some(commit.lsn()));
            commit.wait()?;
            visible.lock().unwrap().insert(number);
            life.lock().unwrap().acknowledged.insert(number);
            drop(commit);
            if number % 5 == 4 && thread == 0 {
                checkpoint(&pipeline, disk, &visible)?;
            }
        }
        Ok(())
    };
    std::thread::scope(|scope| {
        let work = &work;
        let workers: Vec<_> =
            (0..threads).map(|thread| scope.spawn(move || work(thread))).collect();
        let ends = workers.into_iter().map(|worker| worker.join().expect("no thread panics"));
        ends.collect::<Vec<_>>().into_iter().collect()
    })
}

/// What the next life finds.
fn survivors(disk: &SimDisk, seed: u64) -> SimDisk {
    CRASHES.fetch_add(1, Ordering::Relaxed);
    disk.after_crash(seed)
}

fn check(life: &Life, numbers: &BTreeSet<u64>, tail: &Tail) {
    assert!(life.acknowledged.is_subset(numbers), "nothing that was acknowledged is lost");
    let known: BTreeSet<u64> = life.appended.keys().copied().collect();
    assert!(numbers.is_subset(&known), "nothing is invented");
    for (number, lsn) in &life.appended {
        if let Some(lsn) = lsn {
            assert_eq!(
                numbers.contains(number),
                *lsn < tail.end_lsn(),
                "{number} at {lsn}: a prefix"
            );
        }
    }
}

/// Recovers, also when the machine stops at each operation of recovery; all say the same, but for
/// what they cut off, which is there once.
fn recover_each_way(disk: &SimDisk, seed: u64) -> (BTreeSet<u64>, Tail) {
    let copy = disk.after_crash(0);
    let answer = recovered(&copy).unwrap();
    for operation in 0..copy.operations() {
        let crashing = disk.after_crash(0);
        crashing.crash_at(operation);
        assert!(matches!(recovered(&crashing), Err(EngineError::Disk(..))));
        CRASHES.fetch_add(1, Ordering::Relaxed);
        let (numbers, tail) = recovered(&crashing.after_crash(seed ^ operation)).unwrap();
        assert_eq!((&numbers, tail.end_lsn()), (&answer.0, answer.1.end_lsn()));
    }
    answer
}

/// Two lives that end at an operation each, and a third that finds everything. Whether the first
/// came to that operation.
fn crash(design: &Design, threads: u64, first: u64, second: u64, seed: u64) -> bool {
    let disk = SimDisk::default();
    disk.crash_at(first);
    let life = Mutex::new(Life::default());
    let ended = live(design, &disk, &life, 0, threads, 24 / threads);
    assert_eq!(ended.is_err(), disk.has_crashed(), "{ended:?}");
    let came = ended.is_err();
    // From here on the disk holds what is durable and nothing else: copies of it are the same.
    let disk = survivors(&disk, seed);
    let (numbers, tail) = recover_each_way(&disk, seed);
    check(&life.lock().unwrap(), &numbers, &tail);
    // What was not recovered is gone for ever: its place is given to others.
    life.lock().unwrap().appended.retain(|number, _| numbers.contains(number));
    disk.crash_at(second);
    let ended = live(design, &disk, &life, 1_000, threads, 6 / threads);
    assert_eq!(ended.is_err(), disk.has_crashed(), "{ended:?}");
    let disk = survivors(&disk, seed + 1);
    let (numbers, tail) = recover_each_way(&disk, seed);
    check(&life.lock().unwrap(), &numbers, &tail);
    came
}

#[test]
fn what_was_acknowledged_survives_a_crash_at_every_operation() {
    for (index, design) in designs().iter().enumerate() {
        for seed in 0..3 {
            let mut operation = 0;
            while crash(design, 1, operation, 10 + seed * 7, seed + index as u64 * 100) {
                operation += 1;
            }
            assert!(operation > 40, "{operation}");
        }
    }
    let crashes = CRASHES.load(Ordering::Relaxed);
    println!("{crashes} crashes");
    assert!(crashes >= 10_000, "{crashes}");
}

#[test]
fn what_many_threads_were_told_survives_as_well() {
    for (index, design) in designs().iter().enumerate() {
        for seed in 0..30 {
            let mut random = stream(&[seed, index as u64]);
            crash(design, 3, random.next_below(60), random.next_below(40), seed);
        }
    }
}

/// Commits one after another; what was read again, and the log it was read from.
fn history(design: &Design, numbers: std::ops::Range<u64>) -> (BTreeSet<u64>, Tail, SimDisk) {
    let disk = SimDisk::default();
    let life = Mutex::new(Life::default());
    live(design, &disk, &life, numbers.start, 1, numbers.end - numbers.start).unwrap();
    let (numbers, tail) = recovered(&disk).unwrap();
    (numbers, tail, disk)
}

#[test]
fn all_designs_leave_the_same_log_of_the_same_history() {
    let answers: Vec<_> = designs().iter().map(|design| history(design, 0..40)).collect();
    assert_eq!(answers[0].0, (0..40).collect());
    for (numbers, tail, _) in &answers {
        assert_eq!((numbers, tail.end_lsn()), (&answers[0].0, answers[0].1.end_lsn()));
    }
}

#[test]
fn records_larger_than_any_buffer_go_through() {
    for log in LogBuffer::ALL {
        let design = Design { log, ..Design::default() };
        let disk = SimDisk::default();
        let files = Arc::new(disk.clone());
        let tail = recover(files.clone()).unwrap().finish().unwrap();
        let pipeline = Pipeline::open(&design, files.clone(), tail, Arc::default()).unwrap();
        let large = |thread: u8| vec![thread + 1; (5 << 20) + usize::from(thread)];
        std::thread::scope(|scope| {
            for thread in 0..4 {
                let pipeline = &pipeline;
                scope.spawn(move || drop(pipeline.commit(&large(thread)).unwrap()));
            }
        });
        drop(pipeline);
        let mut recovery = recover(files).unwrap();
        let mut found = BTreeSet::new();
        while let Some((_, bytes)) = recovery.next_record().unwrap() {
            assert_eq!(bytes, large(bytes[0] - 1));
            found.insert(bytes[0]);
        }
        assert_eq!(found, (1..5).collect());
    }
}

#[test]
fn damage_is_told_from_a_torn_tail() {
    let (_, tail, disk) = history(&Design::default(), 0..4);
    let name = format!("log.{:016x}", 0);
    let file = disk.open(&name).unwrap();
    let size = file.size().unwrap();
    assert_eq!(size, 64 + tail.end_lsn().0, "all in one file");
    // In the first record, with others behind it that were written when it was durable.
    file.write_at(64 + 20, &[0xff]).unwrap();
    let error = recovered(&disk).unwrap_err();
    assert!(matches!(&error, EngineError::Corrupt(file, _) if *file == name), "{error}");
    // In the last one: it may never have been acknowledged.
    let (_, tail, disk) = history(&Design::default(), 0..4);
    let file = disk.open(&name).unwrap();
    file.write_at(size - 16, &[0xff; 16]).unwrap();
    let (numbers, cut) = recovered(&disk).unwrap();
    assert_eq!(numbers, (0..3).collect());
    assert!(cut.end_lsn() < tail.end_lsn());
    assert_eq!(file.size().unwrap(), 64 + cut.end_lsn().0);
    let told = cut.cut_tail().unwrap();
    assert_eq!((&told.file, told.place + told.bytes), (&name, size), "and it is told");
    assert_eq!(recovered(&disk).unwrap().1.cut_tail(), None, "once");
    // A file that was followed by another was durable whole.
    let (_, _, disk) = history(&Design::default(), 0..4);
    disk.create(&format!("log.{:016x}", tail.end_lsn().0)).unwrap();
    disk.open(&name).unwrap().truncate(size - 8).unwrap();
    assert!(matches!(recovered(&disk), Err(EngineError::Corrupt(..))));
}

#[test]
fn nothing_is_acknowledged_after_a_sync_that_failed() {
    for design in designs() {
        for operation in 4..40 {
            let disk = SimDisk::default();
            disk.fail_sync_at(operation);
            let life = Mutex::new(Life::default());
            let ended = live(&design, &disk, &life, 0, 3, 8);
            let ended_well = ended.is_ok();
            if let Err(error) = ended {
                assert!(matches!(error, EngineError::Disk(..)), "{error}");
            }
            // Also without a crash: what is read again was not lost by the sync.
            let after = disk.after_crash(operation);
            let (numbers, _) = recovered(&after).unwrap();
            let life = life.lock().unwrap();
            assert!(life.acknowledged.is_subset(&numbers));
            assert_eq!(ended_well, life.acknowledged.len() == 24);
        }
    }
}

/// More than the ring takes is appended before anybody waits: files are written, and followed by
/// others, that nobody asked to be durable.
#[test]
fn files_that_nobody_waited_for_are_durable_before_the_next() {
    let design = Design { log: LogBuffer::Linked, ..Design::default() };
    let large = |number: u8| vec![number; 300_000 + usize::from(number)];
    for seed in 0..60 {
        let disk = SimDisk::default();
        let files = Arc::new(disk.clone());
        let tail = recover(files.clone()).unwrap().finish().unwrap();
        let pipeline =
            Pipeline::open_with(&design, files, tail, SEGMENT_BYTES, Arc::default()).unwrap();
        disk.crash_at(disk.operations() + seed / 3);
        let mut places = Vec::new();
        for number in 1..8 {
            let Ok(commit) = pipeline.append(&large(number)) else { break };
            places.push(commit.lsn());
        }
        let _ = pipeline.flush();
        drop(pipeline);
        let mut recovery = recover(Arc::new(disk.after_crash(seed))).unwrap();
        let mut found = Vec::new();
        while let Some((lsn, bytes)) = recovery.next_record().unwrap() {
            assert_eq!(bytes, large(bytes[0]));
            found.push(lsn);
        }
        recovery.finish().unwrap();
        assert!(places.starts_with(&found) || found.starts_with(&places), "{found:?}");
    }
}
