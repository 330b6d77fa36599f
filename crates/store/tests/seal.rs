//! Which runs a home began: what is carried out is sealed, whoever has the file in between.

use std::path::Path;

use crate::common::{golden_run, put};
use dbdyno_model::{ArmIndex, EndedArm, RunId, RunStatus, Severity, Warning, Witness};
use dbdyno_store::{SealKey, Store};
use rusqlite::Connection;

fn open(path: &Path) -> Store {
    Store::open(path).unwrap().sealed_by(SealKey::from_secret("of this home"))
}

/// Our run, in a file of its own.
fn sealed() -> (tempfile::TempDir, std::path::PathBuf, RunId) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    let run = put(&mut open(&path), &golden_run());
    (folder, path, run)
}

#[test]
fn a_run_is_of_the_home_that_began_it_and_of_no_other() {
    let (_folder, path, run) = sealed();
    assert!(open(&path).is_own(&run).unwrap());
    let other = || Store::open(&path).unwrap().sealed_by(SealKey::from_secret("of another home"));
    assert!(!other().is_own(&run).unwrap());
    assert!(!other().may_be_carried_out(&run).unwrap());
    assert!(other().with_trust(true).may_be_carried_out(&run).unwrap());
    assert!(open(&path).is_own(&RunId("none".into())).is_err());
    let theirs = put(&mut other(), &golden_run());
    assert!(!open(&path).is_own(&theirs).unwrap());
}

/// Whatever `resume` or `explain` would start or send, changed behind our back.
#[test]
fn whoever_changes_what_is_carried_out_breaks_the_seal() {
    let changes = [
        "UPDATE arm SET target = 'postgres:17?archive_mode=on' WHERE arm = 'test'",
        "UPDATE arm SET slow = 0.5 WHERE arm = 'test'",
        "INSERT INTO arm (run, arm, target, slow) SELECT run, 'c', 'mysql:8.0', 1.0 FROM arm LIMIT 1",
        "DELETE FROM arm WHERE arm = 'test'",
        "UPDATE plan_file SET text = text || ' '",
        "UPDATE plan_file SET file = 'x'",
        "UPDATE plan_stage SET stage = 'scan' WHERE position = 2",
        "UPDATE plan_stage SET label = NULL WHERE position = 2",
        "UPDATE plan_clients SET clients = 4000 WHERE position = 0",
        "INSERT INTO plan_term SELECT seq, 'limit_ns', '9' FROM run",
        "UPDATE run SET rows = rows * 1000",
        "UPDATE run SET seed = 0",
        "UPDATE run SET driving = 'closed'",
        "UPDATE run SET command = 'rm -rf /'",
        "UPDATE run SET name = 'another'",
        "UPDATE environment_fact SET value = 'touch /tmp/x' WHERE name = \
         (SELECT min(name) FROM environment_fact)",
        "INSERT INTO environment_fact SELECT id, 'variable.x', 'y' FROM environment",
        "UPDATE arm SET environment = NULL",
        "UPDATE seal SET hmac = zeroblob(32)",
        "UPDATE seal SET hmac = zeroblob(0)",
        "DELETE FROM seal",
    ];
    for change in changes {
        let (_folder, path, run) = sealed();
        let changed = Connection::open(&path).unwrap().execute(change, []).unwrap();
        assert!(changed > 0, "{change} changes nothing");
        let mut store = open(&path);
        assert!(!store.is_own(&run).unwrap(), "{change}");
        // Nor is it ours after dbdyno has written to it.
        store
            .set_environment(
                &run,
                dbdyno_model::Arm::Base,
                &golden_run().environment[ArmIndex::BASE],
            )
            .unwrap();
        assert!(!store.is_own(&run).unwrap(), "{change}, and then a change of ours");
    }
}

/// Both are ours, and what is resumed is another run than the one that is named.
#[test]
fn two_runs_of_a_home_cannot_change_places() {
    let (_folder, path, one) = sealed();
    let two = put(&mut open(&path), &golden_run());
    let raw = Connection::open(&path).unwrap();
    let set = |to: &str, of: &str| {
        assert_eq!(raw.execute("UPDATE run SET id = ?1 WHERE id = ?2", [to, of]).unwrap(), 1);
    };
    set("ffffffff", &one.0);
    set(&one.0, &two.0);
    set(&two.0, "ffffffff");
    let store = open(&path);
    assert!(!store.is_own(&one).unwrap() && !store.is_own(&two).unwrap());
}

/// A seal is of the words of one run, not of any.
#[test]
fn a_seal_that_is_carried_to_another_run_does_not_hold() {
    let (_folder, path, run) = sealed();
    let theirs = put(&mut Store::open(&path).unwrap(), &{
        let mut run = golden_run();
        run.plan.question.rows += 1;
        run
    });
    let raw = Connection::open(&path).unwrap();
    let copy = "INSERT INTO seal SELECT (SELECT seq FROM run WHERE id = ?1), hmac FROM seal";
    raw.execute(copy, [&theirs.0]).unwrap();
    assert!(open(&path).is_own(&run).unwrap());
    assert!(!open(&path).is_own(&theirs).unwrap());
}

#[test]
fn what_dbdyno_writes_of_its_own_run_keeps_the_seal() {
    let (_folder, path, run) = sealed();
    let mut store = open(&path);
    let mut golden = golden_run();
    golden.plan.schedule.pairs += 8;
    golden.plan.schedule.limit_ns = Some(7);
    store.extend(&run, &golden.plan).unwrap();
    golden.environment[ArmIndex::TEST].facts.insert("variable.new".into(), "1".into());
    store
        .set_environment(&run, dbdyno_model::Arm::Test, &golden.environment[ArmIndex::TEST])
        .unwrap();
    let arm = golden.plan.arms.indices().nth(1).unwrap();
    store.end_arm(&run, &EndedArm { arm, why: "it fell".into() }).unwrap();
    store.add_warning(&run, &Warning::new(Severity::Note, "code", "text")).unwrap();
    store.finish(&run, RunStatus::Interrupted).unwrap();
    store.reopen_run(&run).unwrap();
    let trial = put(&mut store, &golden_run());
    store.note_trial(&run, &trial, Witness::Rate).unwrap();
    assert!(store.is_own(&run).unwrap() && store.is_own(&trial).unwrap());
}

/// Who can write to the file while it is read may show one plan to the seal and another one to
/// whoever carries it out: what was read counts.
#[test]
fn a_run_that_was_read_with_another_plan_is_not_ours_whatever_the_file_says_now() {
    let (_folder, path, run) = sealed();
    let raw = Connection::open(&path).unwrap();
    let set = |target: &str| {
        raw.execute("UPDATE arm SET target = ?1 WHERE arm = 'test'", [target]).unwrap();
    };
    let store = open(&path);
    let ours = "SELECT target FROM arm WHERE arm = 'test'";
    let ours: String = raw.query_row(ours, [], |row| row.get(0)).unwrap();
    store.load(&run).unwrap();
    assert!(store.is_own(&run).unwrap());
    set("mysql:8.0?init_file=x");
    let read = store.load(&run).unwrap().plan.arms[ArmIndex::TEST].to_string();
    assert!(read.contains("init_file=x"), "{read}");
    set(&ours);
    assert!(!store.is_own(&run).unwrap());
    store.load(&run).unwrap();
    assert!(!store.is_own(&run).unwrap(), "what was read before may still be carried out");
    assert!(open(&path).is_own(&run).unwrap());
}

/// Rows of the leaf page of a table without row ids, in another order than their keys: a scan finds
/// some of them, and a search by key finds others, though no statement ever wrote that.
#[test]
fn a_table_in_two_orders_shows_the_seal_and_the_reader_the_same_rows() {
    let (_folder, path, run) = sealed();
    let ours = open(&path).load(&run).unwrap().plan.arms;
    let raw = Connection::open(&path).unwrap();
    raw.pragma_update(None, "journal_mode", "delete").unwrap();
    let number = |sql: &str| raw.query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap() as usize;
    let root = number("SELECT rootpage FROM sqlite_schema WHERE name = 'arm'");
    let page_size = number("PRAGMA page_size");
    // They get the names of our arms below, when nobody looks at keys any more.
    let evil = "mysql:8.0?init_file=x";
    for (of_run, arm, target) in [
        (1, "aaa", "sqlite:"),
        (1, "basf", evil),
        (1, "tesu", evil),
        (5, "x", "sqlite:"),
        (9, "z", "sqlite:"),
    ] {
        let insert = "INSERT INTO arm (run, arm, target, slow, environment) \
                      VALUES (?1, ?2, ?3, 0.0, (SELECT max(id) FROM environment))";
        raw.pragma_update(None, "foreign_keys", false).unwrap();
        raw.execute(insert, (of_run, arm, target)).unwrap();
    }
    drop(raw);
    let mut bytes = std::fs::read(&path).unwrap();
    let page = &mut bytes[(root - 1) * page_size..root * page_size];
    assert_eq!((page[0], page[4]), (0x0a, 7), "a leaf with seven rows");
    let pointers: Vec<[u8; 2]> = (0..7).map(|at| [page[8 + 2 * at], page[9 + 2 * at]]).collect();
    for (at, from) in [1, 3, 5, 0, 2, 4, 6].into_iter().enumerate() {
        page[8 + 2 * at..10 + 2 * at].copy_from_slice(&pointers[from]);
    }
    for (name, alike) in [(b"base", b"basf"), (b"test", b"tesu")] {
        let at = page.windows(4).position(|word| word == alike).unwrap();
        page[at..at + 4].copy_from_slice(name);
    }
    std::fs::write(&path, bytes).unwrap();
    let store = open(&path);
    match store.load(&run) {
        Ok(read) => {
            assert!(!store.is_own(&run).unwrap() || read.plan.arms == ours, "{:?}", read.plan.arms)
        }
        Err(error) => assert!(error.to_string().contains("arm"), "{error}"),
    }
}

#[test]
fn a_run_in_a_file_that_others_can_change_is_not_ours() {
    use std::os::unix::fs::PermissionsExt as _;
    let (folder, path, run) = sealed();
    let mode = |mode| {
        std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(mode)).unwrap();
    };
    mode(0o777);
    assert!(!open(&path).is_own(&run).unwrap());
    mode(0o700);
    assert!(open(&path).is_own(&run).unwrap());
    std::fs::hard_link(&path, folder.path().join("another")).unwrap();
    assert!(!open(&path).is_own(&run).unwrap());
}
