//! Files that are not what an engine left: they are refused, or what was committed up to some place
//! is there. None of them ends the process.
//!
//! ```text
//!   history ─► files ─┬─ bytes wrong, gone, added, moved ────► refused, or a state of the history
//!                     └─ records changed, with the right ────► refused, or an engine that works
//!                        checksum
//! ```
//!
//! The second kind is what no disk does and a fault of ours might: what is read there is believed
//! as far as it can be.

mod history;

use std::sync::Arc;

use dbdyno_engine::disk::SimDisk;
use dbdyno_engine::log::CheckpointWriter;
use dbdyno_engine::{EngineError, Lsn};
use dbdyno_model::random::{RandomStream, stream};

use history::*;

const HISTORIES: u64 = 8;
const DAMAGES: u64 = 500;

/// Something that disks, and those who copy files, do.
fn damage(files: &mut Files, random: &mut RandomStream) {
    let names: Vec<String> = files.keys().cloned().collect();
    let name = &names[random.next_below(names.len() as u64) as usize];
    let other = files[&names[random.next_below(names.len() as u64) as usize]].clone();
    let bytes = files.get_mut(name).unwrap();
    let length = bytes.len() as u64;
    let at = random.next_below(length + 1) as usize;
    let end = bytes.len().min(at + 1 + random.next_below(600) as usize);
    match random.next_below(9) {
        0 | 1 if at < bytes.len() => bytes[at] ^= 1 << random.next_below(8),
        2 => bytes[at..end].fill(0),
        3 => bytes[at..end].iter_mut().for_each(|byte| *byte = random.next_below(256) as u8),
        4 => bytes.truncate(at),
        5 => bytes.extend((0..random.next_below(200)).map(|_| random.next_below(256) as u8)),
        6 => {
            // A block that was written to the wrong place.
            let block = &other[other.len().min(at)..other.len().min(end)];
            bytes[at..at + block.len().min(end - at)]
                .copy_from_slice(&block[..block.len().min(end - at)]);
        }
        7 => drop(files.remove(name)),
        _ => {
            let odd = ["log.ffffffffffffffff", "log.0000000000000001", "log.x", "checkpoint.new"];
            files.insert(odd[random.next_below(4) as usize].to_owned(), other);
        }
    }
}

#[test]
fn damaged_files_are_refused_or_hold_what_was_committed_up_to_a_place() {
    let (mut refused, mut shorter, mut whole) = (0, 0, 0);
    for seed in 0..HISTORIES {
        let disk = SimDisk::default();
        let states = history(&disk, seed);
        let files = files_of(&disk);
        for number in 0..DAMAGES {
            let mut random = stream(&[seed, 1 << 32, number]);
            let mut damaged = files.clone();
            (0..1 + random.next_below(2)).for_each(|_| {
                if !damaged.is_empty() {
                    damage(&mut damaged, &mut random);
                }
            });
            match open(&disk_of(&damaged)) {
                Err(EngineError::Corrupt(..)) => refused += 1,
                Err(error) => panic!("{seed} {number}: {error}"),
                Ok(engine) => {
                    let found = everything(&engine);
                    assert!(states.contains(&found), "{seed} {number}: {found:?} never was");
                    let is_last = states.last() == Some(&found);
                    *(if is_last { &mut whole } else { &mut shorter }) += 1;
                }
            }
        }
    }
    assert!(refused > 100 && shorter > 100 && whole > 100, "{refused} {shorter} {whole}");
}

#[test]
fn a_log_does_not_begin_where_numbers_end() {
    for start in [u64::MAX - 7, 1 << 63] {
        let disk = disk_of(&Files::from([(format!("log.{start:016x}"), Vec::new())]));
        CheckpointWriter::create_file(Arc::new(disk.clone()), Lsn(start))
            .unwrap()
            .finish()
            .unwrap();
        assert!(matches!(open(&disk), Err(EngineError::Corrupt(..))), "{start}");
    }
}

/// What no engine would write.
fn change(records: &mut Vec<Vec<u8>>, random: &mut RandomStream) {
    if records.is_empty() {
        return;
    }
    let many = records.len() as u64;
    let [at, other] = [0, 1].map(|_| random.next_below(many) as usize);
    let place = random.next_below(records[at].len() as u64) as usize;
    match random.next_below(8) {
        0 => records[at][place] = random.next_below(256) as u8,
        1 => records[at][place] ^= 1 << random.next_below(8),
        2 => {
            // As large as a number can be written.
            let bytes = [0xff; 9].into_iter().chain([random.next_below(2) as u8]);
            records[at].splice(place..=place, bytes);
        }
        3 => records[at].insert(place, random.next_below(256) as u8),
        4 => {
            records[at].remove(place);
        }
        5 => records.swap(at, other),
        6 => {
            let copy = records[other].clone();
            records.insert(at, copy);
        }
        _ => {
            records.remove(at);
        }
    }
    records.retain(|record| !record.is_empty());
}

#[test]
fn records_that_no_engine_writes_are_refused_or_work() {
    let (mut refused, mut worked) = (0, 0);
    for seed in 0..HISTORIES {
        let disk = SimDisk::default();
        history(&disk, seed);
        let (items, records) = records(&disk);
        let as_it_was = written(&items, &records);
        assert_eq!(everything(&open(&as_it_was).unwrap()), everything(&open(&disk).unwrap()));
        for number in 0..DAMAGES {
            let mut random = stream(&[seed, 2 << 32, number]);
            let (mut items, mut records) = (items.clone(), records.clone());
            for _ in 0..1 + random.next_below(3) {
                let is_item = random.next_below(3) == 0;
                change(if is_item { &mut items } else { &mut records }, &mut random);
            }
            let disk = written(&items, &records);
            match open(&disk) {
                Err(EngineError::Corrupt(..) | EngineError::Duplicate(..)) => refused += 1,
                Err(error) => panic!("{seed} {number}: {error}"),
                Ok(engine) => {
                    worked += 1;
                    use_up(engine, &disk, &mut random);
                }
            }
        }
    }
    assert!(refused > 500 && worked > 500, "{refused} {worked}");
}
