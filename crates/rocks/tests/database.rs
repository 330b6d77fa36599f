//! A database in a directory of its own, against a map.

use std::collections::BTreeMap;

use dbdyno_rocks::{Database, Library, WalkDirection, WriteDurability};
use proptest::prelude::*;

/// With `DBDYNO_REQUIRE_SERVERS=1` a machine without RocksDB fails, else it has nothing to test.
fn library() -> Option<&'static Library> {
    match Library::of_system() {
        Ok(library) => Some(library),
        Err(error) if std::env::var_os("DBDYNO_REQUIRE_SERVERS").is_some() => panic!("{error}"),
        Err(_) => None,
    }
}

fn open(directory: &tempfile::TempDir, options: &str, log: WriteDurability) -> Option<Database> {
    let opened = Database::open(library()?, directory.path(), options, log);
    Some(opened.unwrap_or_else(|error| panic!("{error}")))
}

fn keys(database: &Database, from: &[u8], direction: WalkDirection, most: usize) -> Vec<Vec<u8>> {
    let mut seen = Vec::new();
    let walked = database.walk_entries(from, direction, most, |key, _| {
        seen.push(key.to_vec());
        true
    });
    walked.unwrap();
    seen
}

#[test]
fn ranges_begin_and_end_where_they_should() {
    let directory = tempfile::tempdir().unwrap();
    let Some(database) = open(&directory, "", WriteDurability::Written) else { return };
    assert_eq!(keys(&database, b"", WalkDirection::Forwards, 9), [b""; 0]);
    let all: [&[u8]; 3] = [b"b", b"d", b"f"];
    database.put_all(all.into_iter().rev().map(|key| (key, key))).unwrap();
    let forwards = |from: &[u8], most| keys(&database, from, WalkDirection::Forwards, most);
    let backwards = |from: &[u8], most| keys(&database, from, WalkDirection::Backwards, most);
    assert_eq!(forwards(b"a", 9), all);
    assert_eq!(forwards(b"c", 1), [b"d"]);
    assert_eq!(forwards(b"f", 9), [b"f"]);
    assert_eq!(forwards(b"g", 9), [b""; 0]);
    assert_eq!(forwards(b"b", 0), [b""; 0]);
    assert_eq!(backwards(b"g", 9), [b"f", b"d", b"b"]);
    assert_eq!(backwards(b"e", 1), [b"d"]);
    assert_eq!(backwards(b"b", 9), [b"b"]);
    assert_eq!(backwards(b"a", 9), [b""; 0]);
    let mut visited = 0;
    let stop = |_: &[u8], value: &[u8]| {
        visited += 1;
        value != b"d"
    };
    database.walk_entries(b"", WalkDirection::Forwards, 9, stop).unwrap();
    assert_eq!(visited, 2, "a visitor who has enough is not shown more");
    database.delete_range(b"b", b"f").unwrap();
    assert_eq!(forwards(b"", 9), [b"f"]);
}

#[test]
fn what_was_written_is_there_after_closing_and_the_last_write_wins() {
    for (log, flushed) in [
        (WriteDurability::Written, false),
        (WriteDurability::Synced, false),
        (WriteDurability::Off, true),
    ] {
        let directory = tempfile::tempdir().unwrap();
        let Some(database) = open(&directory, "", log) else { return };
        database.put(b"k", b"first").unwrap();
        database.put(b"k", b"").unwrap();
        if flushed {
            database.flush().unwrap();
        }
        drop(database);
        let database = open(&directory, "", log).unwrap();
        assert_eq!(database.get(b"k", <[u8]>::to_vec), Ok(Some(Vec::new())), "{log:?}");
        assert_eq!(database.get(b"x", <[u8]>::to_vec), Ok(None));
    }
}

#[test]
fn a_log_that_is_off_is_not_written() {
    let bytes = |log| {
        let directory = tempfile::tempdir().unwrap();
        let database = open(&directory, "", log)?;
        database.put(b"k", &[7; 100_000]).unwrap();
        let files = std::fs::read_dir(directory.path()).unwrap().flatten();
        let logs = files.filter(|file| file.path().extension().is_some_and(|e| e == "log"));
        Some(logs.map(|file| file.metadata().unwrap().len()).sum::<u64>())
    };
    let (Some(off), Some(on)) = (bytes(WriteDurability::Off), bytes(WriteDurability::Synced))
    else {
        return;
    };
    assert!(off == 0 && on >= 100_000, "{off} {on}");
}

#[test]
fn options_are_taken_and_wrong_ones_are_refused_in_rocksdbs_words() {
    let directory = tempfile::tempdir().unwrap();
    let options = "write_buffer_size=65536;compression=kLZ4Compression;use_direct_reads=true;\
                   block_based_table_factory={block_size=8192;block_cache=4194304;\
                   filter_policy=bloomfilter:10:false}";
    let Some(database) = open(&directory, options, WriteDurability::Written) else { return };
    database.put(b"k", b"v").unwrap();
    let capacity = database.property("rocksdb.block-cache-capacity");
    assert_eq!(capacity.as_deref(), Some("4194304"));
    assert_eq!(database.property("rocksdb.no-such"), None);
    assert!(Library::of_system().unwrap().version().starts_with(|c: char| c.is_ascii_digit()));

    let open = |options| {
        Database::open(library().unwrap(), directory.path(), options, WriteDurability::Off)
    };
    let error = |options| open(options).map(|_| ()).unwrap_err().0;
    assert!(error("wriet_buffer_size=1").contains("wriet_buffer_size"));
    assert!(error("").contains("lock"), "one process opens it once");
    drop(database);
    open("").map(|_| ()).unwrap();
}

#[test]
fn many_threads_read_while_one_writes() {
    let directory = tempfile::tempdir().unwrap();
    let small = "write_buffer_size=65536";
    let Some(database) = open(&directory, small, WriteDurability::Off) else { return };
    let key = |number: u32| number.to_be_bytes();
    for number in 0..1000 {
        database.put(&key(number), &[0; 100]).unwrap();
    }
    std::thread::scope(|scope| {
        let read = || {
            for number in 0..1000 {
                let found =
                    database.get(&key(number), |value| (value.len(), value[0] == value[99]));
                assert_eq!(found, Ok(Some((100, true))));
                assert_eq!(
                    keys(&database, &key(number), WalkDirection::Backwards, 2)[0],
                    key(number)
                );
            }
        };
        (0..3).for_each(|_| drop(scope.spawn(read)));
        for number in 0..1000 {
            database.put(&key(number), &[number as u8; 100]).unwrap();
        }
    });
}

#[derive(Clone, Debug)]
enum Step {
    Put(u8, Vec<u8>),
    Get(u8),
    Walk(u8, bool, usize),
    DeleteRange(u8, u8),
    Flush,
    Reopen,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        8 => (any::<u8>(), prop::collection::vec(any::<u8>(), 0..300))
            .prop_map(|(key, value)| Step::Put(key, value)),
        4 => any::<u8>().prop_map(Step::Get),
        4 => (any::<u8>(), any::<bool>(), 0..12_usize)
            .prop_map(|(key, forwards, most)| Step::Walk(key, forwards, most)),
        1 => (any::<u8>(), any::<u8>()).prop_map(|(a, b)| Step::DeleteRange(a.min(b), a.max(b))),
        1 => Just(Step::Flush),
        1 => Just(Step::Reopen),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn it_does_what_a_map_does(steps in prop::collection::vec(step(), 1..120)) {
        let directory = tempfile::tempdir().unwrap();
        let database = open(&directory, "", WriteDurability::Written);
        let Some(mut database) = database else { return Ok(()) };
        let mut map = BTreeMap::<u8, Vec<u8>>::new();
        for step in steps {
            match step {
                Step::Put(key, value) => {
                    database.put(&[key], &value).unwrap();
                    map.insert(key, value);
                }
                Step::Get(key) => {
                    let found = database.get(&[key], <[u8]>::to_vec).unwrap();
                    prop_assert_eq!(found.as_ref(), map.get(&key));
                }
                Step::Walk(from, forwards, most) => {
                    let mut seen = Vec::new();
                    let direction =
                        if forwards { WalkDirection::Forwards } else { WalkDirection::Backwards };
                    let visit = |key: &[u8], value: &[u8]| {
                        seen.push((key[0], value.to_vec()));
                        true
                    };
                    database.walk_entries(&[from], direction, most, visit).unwrap();
                    let owned = |(key, value): (&u8, &Vec<u8>)| (*key, value.clone());
                    let expected: Vec<_> = match direction {
                        WalkDirection::Forwards => {
                            map.range(from..).take(most).map(owned).collect()
                        }
                        WalkDirection::Backwards => {
                            map.range(..=from).rev().take(most).map(owned).collect()
                        }
                    };
                    prop_assert_eq!(seen, expected);
                }
                Step::DeleteRange(from, to) => {
                    database.delete_range(&[from], &[to]).unwrap();
                    map.retain(|key, _| !(from..to).contains(key));
                }
                Step::Flush => database.flush().unwrap(),
                Step::Reopen => {
                    drop(database);
                    database = open(&directory, "", WriteDurability::Written).unwrap();
                }
            }
        }
    }
}
