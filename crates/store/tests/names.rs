//! Which run is meant.

use crate::common::{golden_run, put};
use dbdyno_model::RunId;
use dbdyno_store::{Store, StoreError};

/// A store with runs of these ids and names, oldest first.
fn store_of(runs: &[(&str, Option<&str>)]) -> (tempfile::TempDir, Store) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    let mut store = Store::open(&path).unwrap();
    let raw = rusqlite::Connection::open(&path).unwrap();
    for (id, name) in runs {
        let mut run = golden_run();
        run.name = name.map(str::to_owned);
        let given = put(&mut store, &run);
        assert!(given.0.len() == 8 && given.0.bytes().all(|b| b.is_ascii_hexdigit()));
        let ids = [*id, given.0.as_str()];
        raw.execute("UPDATE run SET id = ?1 WHERE id = ?2", ids).unwrap();
    }
    (folder, store)
}

#[test]
fn a_run_is_found_by_everything_that_it_is_called() {
    let (_folder, store) = store_of(&[
        ("aa000001", Some("nightly")),
        ("ab000002", None),
        ("ab000003", Some("nightly")),
        ("ff000004", None),
    ]);
    for (text, id) in [
        ("@last", "ff000004"),
        ("@nightly", "ab000003"),
        ("aa000001", "aa000001"),
        ("aa", "aa000001"),
        ("AB000002", "ab000002"),
        ("ff", "ff000004"),
        (" f ", "ff000004"),
    ] {
        assert_eq!(store.resolve_run(text).unwrap(), RunId(id.into()), "{text}");
    }
}

#[test]
fn an_ambiguous_beginning_lists_the_runs() {
    let (_folder, store) = store_of(&[("ab000002", None), ("ab000003", None), ("aa000000", None)]);
    let StoreError::AmbiguousRun(prefix, runs) = store.resolve_run("ab").unwrap_err() else {
        panic!("taken");
    };
    assert_eq!(prefix, "ab");
    assert_eq!(runs, ["ab000003", "ab000002"]);
}

#[test]
fn an_unknown_run_names_what_may_have_been_meant() {
    let (_folder, store) = store_of(&[
        ("00000001", Some("nightly")),
        ("00000002", None),
        ("00000003", None),
        ("00000004", None),
    ]);
    for (text, first) in [
        ("@nihgtly", "00000001 (@nightly)"),
        ("@other", "00000004"),
        ("99", "00000004"),
        ("", "00000004"),
        ("000000001", "00000004"),
        ("%", "00000004"),
        ("last", "00000004"),
    ] {
        let StoreError::UnknownRun(_, near) = store.resolve_run(text).unwrap_err() else {
            panic!("{text} was found");
        };
        assert_eq!((near.len(), near[0].as_str()), (3, first), "{text}");
    }
    let error = store.load(&RunId("12345678".into())).unwrap_err();
    assert!(matches!(error, StoreError::UnknownRun(..)), "{error}");
}

#[test]
fn an_empty_store_says_that_it_is_empty() {
    let (_folder, store) = store_of(&[]);
    let error = store.resolve_run("@last").unwrap_err();
    assert!(error.to_string().contains("the store is empty"), "{error}");
}
