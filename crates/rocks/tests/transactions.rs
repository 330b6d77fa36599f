//! Transactions in a database of their own, against a map and against each other.

use std::collections::BTreeMap;
use std::sync::Barrier;
use std::time::Duration;

use dbdyno_rocks::{
    Database, Library, RocksTransaction, TransactionDatabase, WalkDirection, WriteDurability,
};
use proptest::prelude::*;

/// With `DBDYNO_REQUIRE_SERVERS=1` a machine without RocksDB fails, else it has nothing to test.
fn library() -> Option<&'static Library> {
    match Library::of_system() {
        Ok(library) => Some(library),
        Err(error) if std::env::var_os("DBDYNO_REQUIRE_SERVERS").is_some() => panic!("{error}"),
        Err(_) => None,
    }
}

fn open(directory: &tempfile::TempDir, lock_wait: Duration) -> Option<TransactionDatabase> {
    let library = library()?;
    let opened = TransactionDatabase::open(
        library,
        directory.path(),
        "",
        WriteDurability::Written,
        lock_wait,
    );
    Some(opened.unwrap_or_else(|error| panic!("{error}")))
}

const LONG: Duration = Duration::from_secs(50);

fn all(transaction: &mut RocksTransaction<'_>) -> BTreeMap<Vec<u8>, Vec<u8>> {
    let mut seen = BTreeMap::new();
    let visit = |key: &[u8], value: &[u8]| seen.insert(key.to_vec(), value.to_vec()).is_none();
    transaction.walk_entries(b"", WalkDirection::Forwards, usize::MAX, visit).unwrap();
    seen
}

#[test]
fn a_commit_is_seen_and_a_rollback_is_not_but_for_a_snapshot_from_before() {
    let directory = tempfile::tempdir().unwrap();
    let Some(database) = open(&directory, LONG) else { return };
    let (mut one, mut other) = (database.transaction(), database.transaction());
    other.take_snapshot();
    one.put(b"k", b"1").unwrap();
    one.put_unlocked(b"l", b"2");
    let get = |key: &[u8]| database.get(key, <[u8]>::to_vec).unwrap();
    assert_eq!((get(b"k"), get(b"l")), (None, None), "nobody sees what is not committed");
    assert_eq!(all(&mut one).len(), 2, "but who wrote it");
    one.commit().unwrap();
    one.rollback().unwrap();
    assert_eq!((get(b"k"), get(b"l")), (Some(b"1".to_vec()), Some(b"2".to_vec())));
    assert_eq!(other.get(b"k", <[u8]>::to_vec), Ok(None));
    assert!(all(&mut other).is_empty());
    assert_eq!(other.get_for_update(b"k", <[u8]>::to_vec), Ok(Some(b"1".to_vec())));
    other.put(b"k", b"3").unwrap();
    other.delete_unlocked(b"l");
    assert_eq!(all(&mut other), BTreeMap::from([(b"k".to_vec(), b"3".to_vec())]));
    other.rollback().unwrap();
    assert_eq!((get(b"k"), get(b"l")), (Some(b"1".to_vec()), Some(b"2".to_vec())));
    one.begin().unwrap();
    one.delete(b"k").unwrap();
    one.commit().unwrap();
    assert_eq!(get(b"k"), None);
}

#[test]
fn who_meets_a_lock_waits_and_says_when_it_was_in_vain() {
    let directory = tempfile::tempdir().unwrap();
    let Some(database) = open(&directory, Duration::from_millis(20)) else { return };
    let (mut one, mut other) = (database.transaction(), database.transaction());
    assert_eq!(one.get_for_update(b"k", |_| ()), Ok(None));
    let error = other.put(b"k", b"2").unwrap_err();
    assert!(error.is_conflict(), "{error}");
    assert!(all(&mut database.transaction()).is_empty());
    one.put(b"k", b"1").unwrap();
    one.commit().unwrap();
    other.put(b"k", b"2").unwrap();
    other.commit().unwrap();
    let error = other.commit().unwrap_err();
    assert!(!error.is_conflict(), "a transaction that has ended is nobody's fault: {error}");
    assert_eq!(database.get(b"k", <[u8]>::to_vec), Ok(Some(b"2".to_vec())));
}

#[test]
fn of_two_who_wait_for_each_other_one_is_told() {
    let directory = tempfile::tempdir().unwrap();
    let Some(database) = open(&directory, LONG) else { return };
    let both = Barrier::new(2);
    let run = |keys: [&'static [u8]; 2]| {
        let mut transaction = database.transaction();
        transaction.put(keys[0], b"").unwrap();
        both.wait();
        let second = transaction.put(keys[1], b"");
        match &second {
            Ok(()) => transaction.commit().unwrap(),
            Err(_) => transaction.rollback().unwrap(),
        }
        second
    };
    let (one, other) = std::thread::scope(|scope| {
        let other = scope.spawn(|| run([b"b", b"a"]));
        (run([b"a", b"b"]), other.join().unwrap())
    });
    assert!(one.is_ok() != other.is_ok(), "{one:?} {other:?}");
    let error = one.and(other).unwrap_err();
    assert!(error.is_conflict() && error.0.contains("Deadlock"), "{error}");
}

#[test]
fn what_is_open_when_it_is_dropped_leaves_nothing_behind() {
    let directory = tempfile::tempdir().unwrap();
    let Some(database) = open(&directory, Duration::ZERO) else { return };
    {
        let mut transaction = database.transaction();
        transaction.put(b"k", b"1").unwrap();
        transaction.take_snapshot();
        transaction.take_snapshot();
        assert_eq!(all(&mut transaction).len(), 1);
    }
    let mut after = database.transaction();
    after.put(b"k", b"2").unwrap();
    drop(after);
    assert!(database.property("rocksdb.num-snapshots").is_some_and(|many| many == "0"));
    assert_eq!(database.property("rocksdb.no-such"), None);
    drop(database);
    let plain =
        Database::open(library().unwrap(), directory.path(), "", WriteDurability::Written).unwrap();
    assert_eq!(plain.get(b"k", <[u8]>::to_vec), Ok(None));
    plain.put(b"k", b"3").unwrap();
    plain.compact();
    assert_eq!(plain.property("rocksdb.num-files-at-level0").as_deref(), Some("0"));
}

#[test]
fn many_who_count_up_the_same_number_lose_none() {
    let directory = tempfile::tempdir().unwrap();
    let Some(database) = open(&directory, LONG) else { return };
    let (clients, times) = (4, 100);
    std::thread::scope(|scope| {
        let count = || {
            let mut transaction = database.transaction();
            for _ in 0..times {
                transaction.begin().unwrap();
                transaction.take_snapshot();
                let read = |value: &[u8]| u32::from_be_bytes(value.try_into().unwrap());
                let number = transaction.get_for_update(b"n", read).unwrap().unwrap_or(0);
                transaction.put(b"n", &(number + 1).to_be_bytes()).unwrap();
                transaction.commit().unwrap();
            }
        };
        (0..clients).for_each(|_| drop(scope.spawn(count)));
    });
    let number = database.get(b"n", |value| u32::from_be_bytes(value.try_into().unwrap()));
    assert_eq!(number, Ok(Some(clients * times)));
}

#[derive(Clone, Debug)]
enum Step {
    Begin,
    Snapshot,
    Get(u8),
    GetForUpdate(u8),
    Put(u8, u8),
    PutUnlocked(u8, u8),
    Delete(u8),
    DeleteUnlocked(u8),
    Walk(u8, bool, usize),
    Commit,
    Rollback,
    /// Somebody else's.
    Meanwhile(u8, u8),
}

fn step() -> impl Strategy<Value = Step> {
    let key = || 0..12_u8;
    prop_oneof![
        2 => Just(Step::Begin),
        2 => Just(Step::Snapshot),
        4 => key().prop_map(Step::Get),
        2 => key().prop_map(Step::GetForUpdate),
        4 => (key(), any::<u8>()).prop_map(|(key, value)| Step::Put(key, value)),
        2 => (key(), any::<u8>()).prop_map(|(key, value)| Step::PutUnlocked(key, value)),
        2 => key().prop_map(Step::Delete),
        1 => key().prop_map(Step::DeleteUnlocked),
        4 => (key(), any::<bool>(), 0..12_usize)
            .prop_map(|(key, forwards, most)| Step::Walk(key, forwards, most)),
        2 => Just(Step::Commit),
        1 => Just(Step::Rollback),
        3 => (key(), any::<u8>()).prop_map(|(key, value)| Step::Meanwhile(key, value)),
    ]
}

/// What a transaction is to see, said plainly.
#[derive(Default)]
struct Model {
    committed: BTreeMap<u8, u8>,
    snapshot: Option<BTreeMap<u8, u8>>,
    own: BTreeMap<u8, Option<u8>>,
    open: bool,
}

impl Model {
    fn over(&self, below: &BTreeMap<u8, u8>) -> BTreeMap<u8, u8> {
        let mut seen = below.clone();
        for (&key, &value) in &self.own {
            match value {
                Some(value) => seen.insert(key, value),
                None => seen.remove(&key),
            };
        }
        seen
    }

    fn seen(&self) -> BTreeMap<u8, u8> {
        self.over(self.snapshot.as_ref().unwrap_or(&self.committed))
    }

    fn end(&mut self) {
        *self = Model { committed: std::mem::take(&mut self.committed), ..Model::default() };
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn it_sees_what_it_should(steps in prop::collection::vec(step(), 1..150)) {
        let directory = tempfile::tempdir().unwrap();
        let Some(database) = open(&directory, Duration::ZERO) else { return Ok(()) };
        let mut transaction = database.transaction();
        let mut model = Model { open: true, ..Model::default() };
        for step in steps {
            if !model.open && !matches!(step, Step::Meanwhile(..)) {
                transaction.begin().unwrap();
                model.open = true;
            }
            match step {
                Step::Begin => {
                    transaction.begin().unwrap();
                    model.end();
                    model.open = true;
                }
                Step::Snapshot => {
                    transaction.take_snapshot();
                    model.snapshot = Some(model.committed.clone());
                }
                Step::Get(key) => {
                    let found = transaction.get(&[key], |value| value[0]).unwrap();
                    prop_assert_eq!(found, model.seen().get(&key).copied());
                }
                Step::GetForUpdate(key) => {
                    let found = transaction.get_for_update(&[key], |value| value[0]).unwrap();
                    prop_assert_eq!(found, model.over(&model.committed).get(&key).copied());
                }
                Step::Put(key, value) => {
                    transaction.put(&[key], &[value]).unwrap();
                    model.own.insert(key, Some(value));
                }
                Step::PutUnlocked(key, value) => {
                    transaction.put_unlocked(&[key], &[value]);
                    model.own.insert(key, Some(value));
                }
                Step::Delete(key) => {
                    transaction.delete(&[key]).unwrap();
                    model.own.insert(key, None);
                }
                Step::DeleteUnlocked(key) => {
                    transaction.delete_unlocked(&[key]);
                    model.own.insert(key, None);
                }
                Step::Walk(from, forwards, most) => {
                    let mut walked = Vec::new();
                    let direction =
                        if forwards { WalkDirection::Forwards } else { WalkDirection::Backwards };
                    let visit = |key: &[u8], value: &[u8]| {
                        walked.push((key[0], value[0]));
                        true
                    };
                    transaction.walk_entries(&[from], direction, most, visit).unwrap();
                    let seen = model.seen();
                    let copied = |(&key, &value): (&u8, &u8)| (key, value);
                    let expected: Vec<_> = match direction {
                        WalkDirection::Forwards => {
                            seen.range(from..).take(most).map(copied).collect()
                        }
                        WalkDirection::Backwards => {
                            seen.range(..=from).rev().take(most).map(copied).collect()
                        }
                    };
                    prop_assert_eq!(walked, expected);
                }
                Step::Commit => {
                    transaction.commit().unwrap();
                    model.committed = model.over(&model.committed);
                    model.end();
                }
                Step::Rollback => {
                    transaction.rollback().unwrap();
                    model.end();
                }
                Step::Meanwhile(key, value) => {
                    let mut other = database.transaction();
                    match other.put(&[key], &[value]) {
                        Ok(()) => {
                            other.commit().unwrap();
                            model.committed.insert(key, value);
                        }
                        Err(error) => prop_assert!(error.is_conflict(), "{}", error),
                    }
                }
            }
        }
        transaction.rollback().unwrap();
        transaction.begin().unwrap();
        let left = all(&mut transaction).into_iter().map(|(key, value)| (key[0], value[0]));
        prop_assert_eq!(left.collect::<BTreeMap<_, _>>(), model.committed);
    }
}
