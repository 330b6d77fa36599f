//! A log and a checkpoint that no engine would write, with the right checksums: they are refused,
//! or an engine comes of them that works and is the same when it is opened again.

#![no_main]

#[expect(dead_code, reason = "shared with tests that damage whole files")]
#[path = "../../crates/engine/tests/damage/history.rs"]
mod history;

use std::sync::LazyLock;

use dbdyno_engine::EngineError;
use dbdyno_engine::disk::SimDisk;
use dbdyno_model::random::stream;
use libfuzzer_sys::arbitrary::{self, Arbitrary};
use libfuzzer_sys::fuzz_target;

const HISTORIES: u64 = 4;

type Records = Vec<Vec<u8>>;

static KNOWN: LazyLock<Vec<(Records, Records)>> = LazyLock::new(|| {
    let of = |seed| {
        let disk = SimDisk::default();
        history::history(&disk, seed);
        history::records(&disk)
    };
    (0..HISTORIES).map(of).collect()
});

#[derive(Arbitrary, Debug)]
struct Case {
    history: u8,
    changes: Vec<Change>,
}

#[derive(Arbitrary, Debug)]
struct Change {
    /// Of the checkpoint, and not of the log.
    is_item: bool,
    record: u16,
    place: u16,
    manner: Manner,
}

#[derive(Arbitrary, Debug)]
enum Manner {
    Set(u8),
    Insert(u8),
    Remove,
    /// As large as a number can be written.
    Number(bool),
    Cut,
    Swap(u16),
    Copy(u16),
    Drop,
    Other(Vec<u8>),
}

fn change(records: &mut Records, change: &Change) {
    if records.is_empty() {
        return;
    }
    let many = records.len();
    let at = usize::from(change.record) % many;
    let place = usize::from(change.place) % records[at].len();
    match &change.manner {
        Manner::Set(byte) => records[at][place] = *byte,
        Manner::Insert(byte) => records[at].insert(place, *byte),
        Manner::Remove => drop(records[at].remove(place)),
        Manner::Number(high) => {
            let bytes = [0xff; 9].into_iter().chain([u8::from(*high)]);
            records[at].splice(place..=place, bytes);
        }
        Manner::Cut => records[at].truncate(place),
        Manner::Swap(other) => records.swap(at, usize::from(*other) % many),
        Manner::Copy(other) => records.insert(at, records[usize::from(*other) % many].clone()),
        Manner::Drop => drop(records.remove(at)),
        Manner::Other(bytes) => records[at].clone_from(bytes),
    }
    records.retain(|record| !record.is_empty());
}

fuzz_target!(|case: Case| {
    let seed = u64::from(case.history) % HISTORIES;
    let (mut items, mut records) = KNOWN[seed as usize].clone();
    for one in case.changes.iter().take(8) {
        change(if one.is_item { &mut items } else { &mut records }, one);
    }
    let disk = history::written(&items, &records);
    match history::open(&disk) {
        Ok(engine) => history::use_up(engine, &disk, &mut stream(&[seed])),
        Err(EngineError::Corrupt(..) | EngineError::Duplicate(..)) => {}
        Err(error) => panic!("{error}"),
    }
});
