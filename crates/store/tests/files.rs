//! Files of other versions, of other programs, and files that were hurt.

use std::path::{Path, PathBuf};

use crate::common::{self, golden_run, plan, put, round, spec};
use crate::counted;
use dbdyno_model::{
    Arm, ArmIndex, Cell, ClassTally, ClassTimes, ClassWait, EndedArm, Environment,
    LatencyHistogram, Round, Run, RunId, RunStatus, Severity, Stage, Stopping, Target, Transport,
    Verdict, WaitProfile, Warning, Witness,
};
use dbdyno_store::{NewRun, SealKey, Store, StoreError, VERSION};
use rusqlite::Connection;
use tempfile::TempDir;

fn golden_path(version: i64) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/data/v{version}.db"))
}

/// The run that `data/v2.db` holds. Never change it.
fn golden_run_with_classes() -> Run {
    let mut run = golden_run();
    for round in &mut run.rounds {
        let times = ClassTimes {
            latency: round.latency.clone(),
            response: round.open.as_ref().map(|open| open.response.clone()),
        };
        let class = |name: &str, count: u64, times: Option<ClassTimes>| ClassTally {
            name: name.into(),
            count,
            slots: round.series.statements.iter().map(|slot| slot / 3 + count % 5).collect(),
            times,
        };
        round.classes = match round.key.arm {
            ArmIndex::BASE => vec![class("point", 12, None), class("begin", 0, None)],
            _ => {
                let never = ClassTimes { latency: LatencyHistogram::new(), ..times.clone() };
                vec![class("new-order", 50, Some(times)), class("ü", 1, Some(never))]
            }
        };
    }
    run
}

/// The run that `data/v3.db` holds. Never change it.
fn golden_run_with_fillings() -> Run {
    let mut run = golden_run_with_classes();
    run.plan.schedule.reloads = 2;
    run.plan.rule.interval = "hodges-lehmann".parse().unwrap();
    for round in &mut run.rounds {
        round.filling = 1 + round.key.pair;
    }
    run
}

/// A copy of a version, for opening a file may change it.
fn copy_of(version: i64) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    std::fs::copy(golden_path(version), &path).unwrap();
    (folder, path)
}

/// A copy of the newest version.
fn golden_copy() -> (TempDir, PathBuf) {
    copy_of(VERSION)
}

#[test]
fn version_1_is_read_for_ever() {
    let (_folder, path) = copy_of(1);
    let store = Store::open(&path).unwrap();
    assert_eq!(store.load(&golden_run().id).unwrap(), golden_run());
    let summary = &store.list().unwrap().runs[0];
    assert_eq!(summary.started, "2025-06-15 15:06:40 UTC");
    assert_eq!((summary.rounds_done, summary.rounds_planned), (3, 56));
    assert_eq!(summary.arms[0], "mariadb:10.11");
}

#[test]
fn version_2_is_read_for_ever() {
    let (_folder, path) = copy_of(2);
    let (store, run) = (Store::open(&path).unwrap(), golden_run_with_classes());
    assert_eq!(store.load(&run.id).unwrap(), run);
}

#[test]
fn version_3_is_read_for_ever() {
    let (_folder, path) = copy_of(3);
    let (store, run) = (Store::open(&path).unwrap(), golden_run_with_fillings());
    assert_eq!(store.load(&run.id).unwrap(), run);
}

/// What is of an older version can be gone on with.
#[test]
fn an_old_file_takes_new_rounds() {
    let (_folder, path) = copy_of(1);
    let mut store = Store::open(&path).unwrap();
    let round = Round { classes: golden_run_with_classes().rounds[0].classes.clone(), ..round(3) };
    store.add_round(&golden_run().id, &round).unwrap();
    assert_eq!(store.load(&golden_run().id).unwrap().rounds[3].classes, round.classes);
}

/// The run that `data/v4.db` holds. Never change it.
fn golden_run_with_terms() -> Run {
    let mut run = golden_run_with_fillings();
    run.plan.rule.stopping = Stopping::Decided { pairs: 18, horizon: 48 };
    run.plan.schedule.limit_ns = Some(300_000_000_000);
    run
}

#[test]
fn version_4_is_read_for_ever() {
    let (_folder, path) = copy_of(4);
    let (store, run) = (Store::open(&path).unwrap(), golden_run_with_terms());
    assert_eq!(store.load(&run.id).unwrap(), run);
}

/// The run that `data/v5.db` holds; a cell of it was a self-test. Never change it.
fn golden_run_on_a_known_host() -> Run {
    let mut run = golden_run_with_terms();
    run.environment[ArmIndex::BASE].set("host.cpu.model", "Golden 5");
    run.environment[ArmIndex::BASE].set("host.cpu.logical", "2");
    run
}

#[test]
fn version_5_is_read_for_ever() {
    let (_folder, path) = copy_of(5);
    let (mut store, run) = (Store::open(&path).unwrap(), golden_run_on_a_known_host());
    assert_eq!(store.load(&run.id).unwrap(), run);
    // Seen from another run on the same host.
    let new = put(&mut store, &run);
    assert_eq!(store.self_tests(&new).unwrap(), (1, 1));
    assert_eq!(store.self_tests(&run.id).unwrap(), (0, 0));
    let mut elsewhere = run;
    elsewhere.environment[ArmIndex::BASE].set("host.cpu.logical", "64");
    let elsewhere = put(&mut store, &elsewhere);
    assert_eq!(store.self_tests(&elsewhere).unwrap(), (0, 0));
}

/// The run that `data/v6.db` holds. Never change it.
fn golden_run_with_counts() -> Run {
    let mut run = golden_run_on_a_known_host();
    run.plan.question.counting = dbdyno_model::Counting::Beside;
    run.counts = counted::counts();
    run
}

#[test]
fn version_6_is_read_for_ever() {
    let (_folder, path) = copy_of(6);
    let (store, run) = (Store::open(&path).unwrap(), golden_run_with_counts());
    assert_eq!(store.load(&run.id).unwrap(), run);
}

/// The run that `data/v7.db` holds. Never change it.
fn golden_run_in_slices() -> Run {
    let mut run = golden_run_with_counts();
    run.plan.schedule.slice_ns = 10_000_000;
    run
}

#[test]
fn version_7_is_read_for_ever() {
    let (_folder, path) = copy_of(7);
    let (store, run) = (Store::open(&path).unwrap(), golden_run_in_slices());
    assert_eq!(store.load(&run.id).unwrap(), run);
}

/// The run that `data/v8.db` holds: of four arms, one of which ended. Never change it.
fn golden_run_of_four_arms() -> Run {
    let mut run = golden_run_in_slices();
    run.plan.arms.push(ArmIndex(2), spec("mariadb:11.4"));
    run.plan.arms.push(ArmIndex(3), spec("mariadb:11.8?slow=2%"));
    let of_arm = |arm, pair| {
        let mut round = round(pair);
        round.key.arm = arm;
        round
    };
    run.rounds.extend([of_arm(ArmIndex(2), 0), of_arm(ArmIndex(3), 2), of_arm(ArmIndex(3), 0)]);
    run.environment.push(ArmIndex(2), Environment::default());
    run.environment.push(ArmIndex(3), Environment::default());
    run.environment[ArmIndex(3)].set("server.version", "11.8.2");
    run.ended = vec![EndedArm { arm: ArmIndex(2), why: "test2: the server died".into() }];
    run
}

#[test]
fn version_8_is_read_for_ever() {
    let (_folder, path) = copy_of(8);
    let (store, run) = (Store::open(&path).unwrap(), golden_run_of_four_arms());
    assert_eq!(store.load(&run.id).unwrap(), run);
    let listed = store.list().unwrap().runs.remove(0);
    assert_eq!(listed.arms[2..], ["mariadb:11.4", "mariadb:11.8?slow=2%"]);
    assert_eq!(listed.rounds_planned, 4 * 4 * 7, "cells, arms, pairs");
}

/// Id of the trial that `data/v9.db` holds.
const TRIAL: &str = "0000feed";

#[test]
fn version_9_is_read_for_ever() {
    let (_folder, path) = copy_of(9);
    let (store, run) = (Store::open(&path).unwrap(), golden_run_of_four_arms());
    assert_eq!(store.load(&run.id).unwrap(), run);
    let trials = store.trials_of(&run.id).unwrap();
    assert_eq!(trials, [(RunId(TRIAL.to_owned()), Witness::Instructions)]);
    assert_eq!(store.trials_of(&trials[0].0).unwrap(), []);
    let listed = store.list().unwrap().runs;
    assert_eq!(listed[0].explains.as_ref(), Some(&run.id), "the newest is the trial");
    assert_eq!(
        store.resolve_run("@last").unwrap(),
        run.id,
        "which is not what a user calls the last"
    );
}

/// The waits that `data/v10.db` holds. Never change them.
fn golden_waits() -> Vec<WaitProfile> {
    let class = |name: &str, us, function: &str| ClassWait {
        name: name.into(),
        us,
        function: function.into(),
    };
    let profile = |arm, start, us| WaitProfile {
        arm,
        start,
        classes: vec![class("logs", us, "log_write_up_to"), class("working", 40.5, "")],
    };
    vec![profile(Arm::Base, 0, 1.5), profile(Arm::Base, 1, 2.5), profile(Arm::Test, 0, 90.0)]
}

/// The run that `data/v10.db` holds: with who called whom. Never change it.
fn golden_run_with_calls() -> Run {
    let mut run = golden_run_of_four_arms();
    run.counts.calls = counted::calls();
    run
}

#[test]
fn version_10_is_read_for_ever() {
    let (_folder, path) = copy_of(10);
    let (mut store, run) = (Store::open(&path).unwrap(), golden_run_with_calls());
    assert_eq!(store.load(&run.id).unwrap(), run);
    let cell = &run.rounds[0].key.cell;
    assert_eq!(store.waits_of(&run.id, cell).unwrap(), golden_waits());
    let other = Cell { clients: cell.clients + 1, ..cell.clone() };
    assert_eq!(store.waits_of(&run.id, &other).unwrap(), []);
    let anew = &golden_waits()[2..];
    store.keep_waits(&run.id, cell, anew).unwrap();
    assert_eq!(store.waits_of(&run.id, cell).unwrap(), anew, "the last ones count");
    assert!(store.keep_waits(&RunId("none".into()), cell, anew).is_err());
}

/// The note that `data/v11.db` knows as shown, and another one.
fn notes_on_the_method() -> [Warning; 2] {
    ["interleaved", "one-start"].map(|code| Warning::new(Severity::Note, code, "how it is done"))
}

#[test]
fn version_11_is_read_for_ever() {
    let (_folder, path) = copy_of(11);
    let mut store = Store::open(&path).unwrap();
    let run = golden_run_with_calls();
    assert_eq!(store.load(&run.id).unwrap(), run);
    let [known, other] = notes_on_the_method();
    assert_eq!(store.shown_notes().unwrap(), [known.code.clone()].into());
    store.note_shown([&known, &other]).unwrap();
    store.note_shown([&other]).unwrap();
    assert_eq!(store.shown_notes().unwrap(), [known.code, other.code].into());
}

#[test]
fn from_an_old_file_no_note_was_shown() {
    let (_folder, path) = copy_of(10);
    assert!(Store::open(&path).unwrap().shown_notes().unwrap().is_empty());
}

#[test]
fn version_12_is_read_for_ever() {
    let (_folder, path) = copy_of(12);
    let store = Store::open(&path).unwrap();
    let run = golden_run_with_calls();
    assert_eq!(store.load(&run.id).unwrap(), run);
    assert!(!store.is_own(&run.id).unwrap(), "nobody knows without a key");
    let store = Store::open(&path).unwrap().sealed_by(golden_key());
    assert!(store.is_own(&run.id).unwrap());
}

#[test]
fn runs_of_an_old_file_are_of_nobody() {
    let (_folder, path) = copy_of(11);
    let store = Store::open(&path).unwrap().sealed_by(golden_key());
    assert!(!store.is_own(&golden_run_with_calls().id).unwrap());
}

/// The key under which the runs of `data/v12.db` are sealed. Never change it.
fn golden_key() -> SealKey {
    SealKey::from_secret("golden")
}

/// Made `data/v12.db`, and can show that the file would be made so again while version 12 is
/// current.
#[test]
#[ignore = "writes into the source tree"]
fn write_version_12() {
    assert_eq!(VERSION, 12, "a released file is never written again");
    let path = golden_path(VERSION);
    let _ = std::fs::remove_file(&path);
    let mut store = Store::open(&path).unwrap().sealed_by(golden_key());
    let run = golden_run_with_calls();
    let id = put(&mut store, &run);
    store.note_self_test(&id, &run.rounds[0].key.cell, Verdict::Slower).unwrap();
    let trial = put(&mut store, &golden_run_with_counts());
    store.note_trial(&id, &trial, Witness::Instructions).unwrap();
    store.keep_waits(&id, &run.rounds[0].key.cell, &golden_waits()).unwrap();
    store.note_shown(&notes_on_the_method()[..1]).unwrap();
    drop(store);
    let raw = Connection::open(&path).unwrap();
    for (now, was) in [(golden_run().id.0.as_str(), &id.0), (TRIAL, &trial.0)] {
        raw.execute("UPDATE run SET id = ?1 WHERE id = ?2", [now, was]).unwrap();
    }
    raw.execute_batch("PRAGMA journal_mode = DELETE; PRAGMA page_size = 512; VACUUM;").unwrap();
}

/// A run may be made longer, and keeps what was measured.
#[test]
fn a_plan_is_extended_and_nothing_else() {
    let (_folder, path) = copy_of(1);
    let mut store = Store::open(&path).unwrap();
    let mut run = golden_run();
    run.plan.schedule.pairs += 16;
    run.plan.schedule.restarts += 4;
    run.plan.rule.stopping = Stopping::Decided { pairs: 4, horizon: 9 };
    run.plan.schedule.limit_ns = Some(1);
    run.status = RunStatus::Partial;
    store.extend(&run.id, &run.plan).unwrap();
    assert_eq!(store.load(&run.id).unwrap(), run);
    run.plan.rule.stopping = Stopping::Fixed;
    run.plan.schedule.limit_ns = None;
    store.extend(&run.id, &run.plan).unwrap();
    assert_eq!(store.load(&run.id).unwrap(), run);
}

#[test]
fn a_file_of_somebody_else_is_refused_and_not_touched() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("theirs.db");
    let raw = Connection::open(&path).unwrap();
    raw.execute_batch("CREATE TABLE customer (id)").unwrap();
    drop(raw);
    for content in [std::fs::read(&path).unwrap(), b"id,name\n1,ann\n".repeat(100)] {
        std::fs::write(&path, &content).unwrap();
        let error = Store::open(&path).unwrap_err();
        assert!(matches!(error, StoreError::NotOurs(..)), "{error}");
        assert_eq!(std::fs::read(&path).unwrap(), content);
    }
}

#[test]
fn a_newer_file_is_refused_with_both_versions() {
    let (_folder, path) = golden_copy();
    let raw = Connection::open(&path).unwrap();
    raw.pragma_update(None, "user_version", VERSION + 1).unwrap();
    let error = Store::open(&path).unwrap_err();
    assert!(matches!(error, StoreError::Newer(_, found, known) if found == known + 1), "{error}");
}

#[test]
fn what_cannot_be_opened_says_so() {
    let folder = tempfile::tempdir().unwrap();
    for path in [folder.path().to_owned(), folder.path().join("no/such/folder.db"), PathBuf::new()]
    {
        let error = Store::open(&path).unwrap_err();
        assert!(matches!(error, StoreError::CannotOpen(..)), "{error}");
    }
}

#[test]
fn an_empty_file_becomes_a_store() {
    let file = tempfile::NamedTempFile::new().unwrap();
    assert_eq!(Store::open(file.path()).unwrap().list().unwrap().runs, []);
}

/// Each statement hurts the golden run in one place. None may give a run, none may panic.
#[test]
fn hurt_runs_name_the_run_and_the_place() {
    let wounds = [
        "UPDATE histogram SET hdr = zeroblob(20)",
        "UPDATE histogram SET hdr = x'', fnv1a = -3750763034362895579",
        "UPDATE histogram SET count = count + 1",
        "DELETE FROM histogram WHERE round = 2",
        "UPDATE series SET slots = x'0100'",
        "UPDATE series SET slots = x'', fnv1a = -3750763034362895579",
        "DELETE FROM series WHERE round = 2",
        "UPDATE round SET clients = -1",
        "UPDATE round SET pair = 5000000000 WHERE seq = 1",
        "UPDATE round SET arm = 'left' WHERE seq = 1",
        "UPDATE run SET status = 'done'",
        "UPDATE arm SET target = 'oracle:23'",
        "DELETE FROM arm",
        "UPDATE warning SET severity = 'loud'",
        "UPDATE plan_clients SET clients = 5000000000",
        "UPDATE plan_stage SET stage = 'warm:' WHERE position = 0",
        // Terms that this program does not know, or keeps in another place.
        "INSERT INTO plan_term VALUES (1, 'colour', 'red')",
        "INSERT INTO plan_term VALUES (1, 'pairs', '9')",
        "UPDATE plan_term SET value = 'twice' WHERE name = 'counting'",
        "UPDATE run SET pin = 'everywhere'",
        "UPDATE run SET tables = -1",
        "UPDATE class SET counted = 'rows'",
        "UPDATE class SET counted = 'events' WHERE name = 'point'",
        "UPDATE class SET name = 'other' WHERE position = 1",
        "DELETE FROM series WHERE metric = 'class:begin'",
        "DELETE FROM histogram WHERE metric = 'class_response_ns:new-order'",
    ];
    for wound in wounds {
        let (_folder, path) = golden_copy();
        let raw = Connection::open(&path).unwrap();
        raw.execute_batch("PRAGMA foreign_keys = OFF").unwrap();
        assert!(raw.execute(wound, []).unwrap() > 0, "{wound}");
        let store = Store::open(&path).unwrap();
        let error = store.load(&golden_run().id).unwrap_err();
        let StoreError::Corrupt { run, .. } = &error else {
            panic!("{wound}: {error}");
        };
        assert_eq!(run, "1badcafe", "{wound}");
    }
}

#[test]
fn a_run_that_cannot_be_read_hides_no_other() {
    for wound in [
        "UPDATE run SET status = 'done' WHERE seq = 1",
        "DELETE FROM arm WHERE run = 1",
        "UPDATE run SET pairs = -1 WHERE seq = 1",
    ] {
        let (_folder, path) = golden_copy();
        let mut store = Store::open(&path).unwrap();
        let other = put(&mut store, &golden_run());
        let raw = Connection::open(&path).unwrap();
        raw.execute_batch("PRAGMA foreign_keys = OFF").unwrap();
        raw.execute(wound, []).unwrap();
        let listed = store.list().unwrap();
        let runs: Vec<_> = listed.runs.iter().map(|run| &run.id).collect();
        assert_eq!(runs, [&other, &RunId(TRIAL.to_owned())], "{wound}");
        let [StoreError::Corrupt { run, .. }] = &listed.corrupt[..] else {
            panic!("{wound}: {:?}", listed.corrupt);
        };
        assert_eq!(run, "1badcafe", "{wound}");
        assert_eq!(store.load(&other).unwrap().rounds.len(), 3, "{wound}");
    }
}

/// `history` reads the facts of each run: they are some kilobytes, and not what a file can hold.
#[test]
fn facts_of_a_run_have_a_size() {
    let (_folder, path) = golden_copy();
    let store = Store::open(&path).unwrap();
    let raw = Connection::open(&path).unwrap();
    let sql = "INSERT INTO environment_fact SELECT min(environment), ?1, ?2 FROM environment_fact";
    for number in 0..20 {
        raw.execute(sql, [format!("variable.x{number}"), "x".repeat(900_000)]).unwrap();
    }
    let error = store.load(&golden_run().id).unwrap_err().to_string();
    assert!(error.contains("facts of more than 16 MiB"), "{error}");
}

/// Every single bit of the blobs matters: flipped, it gives an error and never another number.
#[test]
fn no_flipped_bit_of_a_blob_gives_another_number() {
    let (_folder, path) = golden_copy();
    let store = Store::open(&path).unwrap();
    let raw = Connection::open(&path).unwrap();
    for (table, column, metric) in [
        ("histogram", "hdr", "event_latency_ns"),
        ("histogram", "hdr", "event_response_ns"),
        ("histogram", "hdr", "class_latency_ns:new-order"),
        ("series", "slots", "statements"),
        ("series", "slots", "class:new-order"),
    ] {
        let place = format!("WHERE round = 2 AND metric = '{metric}'");
        let select = format!("SELECT {column} FROM {table} {place}");
        let update = format!("UPDATE {table} SET {column} = ?1 {place}");
        let whole: Vec<u8> = raw.query_row(&select, [], |row| row.get(0)).unwrap();
        for index in 0..whole.len() {
            let mut hurt = whole.clone();
            hurt[index] ^= 1 << (index % 8);
            raw.execute(&update, [&hurt]).unwrap();
            let error = store.load(&golden_run().id).unwrap_err().to_string();
            assert!(error.contains("run 1badcafe, round read-write × 8, pair 0, test"), "{error}");
        }
        raw.execute(&update, [&whole]).unwrap();
    }
    assert!(store.load(&golden_run().id).unwrap() == golden_run_with_calls());
}

#[test]
fn a_round_counts_once() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = Store::open(&folder.path().join("store.db")).unwrap();
    let id = put(&mut store, &golden_run());
    let error = store.add_round(&id, &round(2)).unwrap_err();
    assert!(matches!(error, StoreError::DuplicateRound(_)), "{error}");
    let error = store.add_round(&RunId("0".into()), &round(2)).unwrap_err();
    assert!(matches!(error, StoreError::UnknownRun(..)), "{error}");
    assert_eq!(store.load(&id).unwrap().rounds.len(), 3);
}

#[test]
fn a_warning_that_is_said_again_is_one() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = Store::open(&folder.path().join("store.db")).unwrap();
    let id = put(&mut store, &golden_run());
    let before = store.load(&id).unwrap().warnings;
    let said = Warning::new(Severity::Note, "interleaved", "in slices of 10 ms");
    let other = Warning::new(Severity::Note, "interleaved", "in slices of 20 ms");
    for warning in [&said, &other, &said] {
        store.add_warning(&id, warning).unwrap();
    }
    assert_eq!(store.load(&id).unwrap().warnings, [before, vec![said, other]].concat());
}

#[test]
fn a_run_that_stopped_goes_on_and_a_complete_one_does_not() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = Store::open(&folder.path().join("store.db")).unwrap();
    let id = put(&mut store, &golden_run());
    store.reopen_run(&id).unwrap();
    assert_eq!(store.load(&id).unwrap().status, RunStatus::Partial);
    store.add_round(&id, &round(3)).unwrap();
    store.finish(&id, RunStatus::Complete).unwrap();
    let error = store.reopen_run(&id).unwrap_err();
    assert!(matches!(error, StoreError::AlreadyComplete(_)), "{error}");
    assert_eq!(store.load(&id).unwrap().status, RunStatus::Complete);
}

#[test]
fn names_and_commands_that_must_not_be_stored() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = Store::open(&folder.path().join("store.db")).unwrap();
    let plan = plan();
    let new = NewRun {
        name: None,
        started_unix_ms: 0,
        tool_version: "0.1.0",
        command: "dbdyno compare mariadb:10.11 mysql://ann@h/d",
        plan: &plan,
    };
    for name in ["", " ", "last", "a\nb"] {
        let name = Some(name);
        let error = store.begin_run(&NewRun { name, ..new }).unwrap_err();
        assert!(matches!(error, StoreError::BadName(_)), "{error}");
    }
    for command in [
        "dbdyno compare mariadb:10.11 mysql://ann:pw@h/d",
        "dbdyno compare 'postgres://ann:pw@h/d?slow=5%' mariadb:10.11",
        "dbdyno watch --target=\"mysql://ann:p%40@h/d\"",
    ] {
        let error = store.begin_run(&NewRun { command, ..new }).unwrap_err();
        assert!(matches!(error, StoreError::PasswordInCommand), "{error}");
    }
    let mut hostile = plan.clone();
    let mut spec = common::spec("mysql://root@h/x");
    if let Target::Url(url) = &mut spec.target {
        url.transport = Transport::Tcp("a@b".to_owned(), 3306);
    }
    hostile.arms[ArmIndex::BASE] = spec;
    let error = store.begin_run(&NewRun { plan: &hostile, ..new }).unwrap_err();
    assert!(matches!(error, StoreError::NotStorable(_)), "{error}");
    for stages in [&["point-query", "settle", "point-query"][..], &["a b"]] {
        let mut twice = plan.clone();
        let stage = |text: &&str| text.parse().unwrap_or(Stage::Measure((*text).to_owned()));
        twice.question.stages = stages.iter().map(stage).collect();
        let error = store.begin_run(&NewRun { plan: &twice, ..new }).unwrap_err();
        assert!(matches!(error, StoreError::NotStorable(_)), "{error}");
    }
    assert_eq!(store.list().unwrap().runs, []);
    store.begin_run(&new).unwrap();
}

/// Two processes that begin at once find either nothing or all of it.
#[test]
fn a_store_can_be_made_by_many_at_once() {
    for _ in 0..20 {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store.db");
        std::thread::scope(|scope| {
            let handles: Vec<_> = (0..6).map(|_| scope.spawn(|| Store::open(&path))).collect();
            for handle in handles {
                handle.join().unwrap().unwrap();
            }
        });
    }
}

/// What a file may have in place of a table is known before it is asked: the view never ends.
#[test]
fn what_has_the_name_of_a_table_is_one() {
    let endless = "CREATE VIEW self_test (run, load, clients, verdict) AS \
         WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) \
         SELECT i, 'x', 1, 'slower' FROM n";
    for (sql, why) in [
        (endless, "\"self_test\" is a view in it, not a table"),
        ("CREATE TABLE self_test (run, load)", "\"self_test\" has other columns"),
        (
            "CREATE TABLE self_test (run INTEGER NOT NULL, load TEXT NOT NULL, clients INTEGER NOT \
             NULL, verdict TEXT NOT NULL AS (hex(zeroblob(1 << 29))), PRIMARY KEY (run, load, \
             clients)) STRICT, WITHOUT ROWID",
            "\"self_test\" has other columns",
        ),
        ("SELECT 1", "no table self_test"),
    ] {
        let (_folder, path) = golden_copy();
        let connection = Connection::open(&path).unwrap();
        connection.execute_batch(&format!("DROP TABLE self_test; {sql}")).unwrap();
        drop(connection);
        let error = Store::open(&path).unwrap_err().to_string();
        assert!(error.contains(why) && error.contains("is not a dbdyno store"), "{sql}: {error}");
    }
    let (_folder, path) = golden_copy();
    let index = "CREATE INDEX evil ON run (hex(command))";
    Connection::open(&path).unwrap().execute_batch(index).unwrap();
    let error = Store::open(&path).unwrap_err().to_string();
    assert!(error.contains("\"run\" computes what it holds"), "{error}");
}

/// Triggers of a file are not run, and what its user put beside our tables stays his.
#[test]
fn what_stands_beside_the_tables_is_left_alone() {
    let (_folder, path) = golden_copy();
    let beside = "CREATE TABLE own (x); CREATE VIEW view_of_own AS SELECT x FROM own; \
         CREATE INDEX rounds_by_load ON round (load); \
         CREATE TRIGGER evil AFTER INSERT ON warning BEGIN INSERT INTO own VALUES (1); END";
    Connection::open(&path).unwrap().execute_batch(beside).unwrap();
    let run = golden_run().id;
    let warning = Warning::new(Severity::Note, "more", "more");
    Store::open(&path).unwrap().add_warning(&run, &warning).unwrap();
    let count = "SELECT count(*) FROM view_of_own";
    let rows: i64 =
        Connection::open(&path).unwrap().query_row(count, [], |row| row.get(0)).unwrap();
    assert_eq!(rows, 0);
}

/// A table of which a page leads many times to the next one, and so on: the file has some
/// kilobytes, the table more rows than anybody can wait for.
#[test]
fn pages_that_lead_to_more_rows_than_there_are_end_the_question() {
    let (_folder, path) = golden_copy();
    let connection = Connection::open(&path).unwrap();
    let root = "SELECT rootpage FROM sqlite_schema WHERE name = 'run'";
    let root: u32 = connection.query_row(root, [], |row| row.get(0)).unwrap();
    let root = root as usize;
    let size: u32 = connection.query_row("PRAGMA page_size", [], |row| row.get(0)).unwrap();
    let size = size as usize;
    drop(connection);
    let mut bytes = std::fs::read(&path).unwrap();
    let leaf = bytes[(root - 1) * size..root * size].to_vec();
    assert_eq!(leaf[0], 0x0d, "the table of runs is one page");
    let first = bytes.len() / size + 1;
    let parents: Vec<usize> = std::iter::once(root).chain(first..first + 5).collect();
    for pair in parents.windows(2) {
        let page = parent_of(pair[1] as u32, size);
        let at = (pair[0] - 1) * size;
        bytes.resize(bytes.len().max(at + size), 0);
        bytes[at..at + size].copy_from_slice(&page);
    }
    bytes.extend(leaf);
    let pages = (bytes.len() / size) as u32;
    bytes[28..32].copy_from_slice(&pages.to_be_bytes());
    std::fs::write(&path, bytes).unwrap();
    let error = Store::open(&path).and_then(|store| store.list()).unwrap_err();
    assert!(matches!(error, StoreError::Damaged(..)), "{error}");
    assert!(error.to_string().contains("more rows than it has bytes for"), "{error}");
}

/// An interior page of a table (SQLite, "Database File Format"): every cell leads to one page.
fn parent_of(child: u32, size: usize) -> Vec<u8> {
    let cells = (size - 12) / 7;
    let mut page = vec![0; size];
    let content = size - 5 * cells;
    page[0] = 0x05;
    page[3..5].copy_from_slice(&(cells as u16).to_be_bytes());
    page[5..7].copy_from_slice(&(content as u16).to_be_bytes());
    page[8..12].copy_from_slice(&child.to_be_bytes());
    for cell in 0..cells {
        let at = content + 5 * cell;
        page[12 + 2 * cell..14 + 2 * cell].copy_from_slice(&(at as u16).to_be_bytes());
        page[at..at + 4].copy_from_slice(&child.to_be_bytes());
        page[at + 4] = 1;
    }
    page
}

#[test]
fn what_is_no_file_is_refused_by_its_kind() {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("socket");
    let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
    let opened = |path: &Path| Store::open(path).unwrap_err().to_string();
    assert!(opened(&socket).contains("a pipe, a socket or a device"));
    assert!(opened(Path::new("/dev/zero")).contains("a pipe, a socket or a device"));
    assert!(opened(folder.path()).contains("it is a folder"));
}

/// SQLite deletes the file that a journal names, once it has been played back.
#[test]
fn a_journal_that_names_another_file_is_not_played_back() {
    let (folder, path) = golden_copy();
    let victim = folder.path().join("victim");
    std::fs::write(&victim, "mine").unwrap();
    let name = victim.to_str().unwrap().as_bytes();
    let mut journal = vec![0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7];
    journal.extend([0; 20]);
    journal[20..28].copy_from_slice(&[0, 0, 2, 0, 0, 0, 16, 0]);
    journal.resize(512, 0);
    journal.extend(name);
    journal.extend((name.len() as u32).to_be_bytes());
    let sum: u32 = name.iter().map(|byte| u32::from(*byte)).sum();
    journal.extend(sum.to_be_bytes());
    journal.extend([0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7]);
    std::fs::write(folder.path().join("store.db-journal"), journal).unwrap();
    let link = tempfile::tempdir().unwrap();
    let link = link.path().join("link.db");
    std::os::unix::fs::symlink(&path, &link).unwrap();
    for path in [link, path] {
        let opened = Store::open(&path);
        assert!(victim.exists(), "the file that the journal names was deleted");
        let error = opened.unwrap_err().to_string();
        assert!(error.contains("its journal names another file"), "{error}");
    }
}

/// An id is a part of names of files, and of commands that are shown to be copied.
#[test]
fn a_run_whose_id_is_a_path_or_a_command_makes_the_file_no_store() {
    for id in ["x/../../y", "$(touch y)", "1badcafe1", "1BADCAFE", "", "1badcaf\u{e9}"] {
        let (_folder, path) = golden_copy();
        let raw = Connection::open(&path).unwrap();
        raw.execute("UPDATE run SET id = ?1 WHERE id = '1badcafe'", [id]).unwrap();
        drop(raw);
        let error = Store::open(&path).unwrap_err();
        assert!(matches!(error, StoreError::NotOurs(..)), "{id:?}: {error}");
        assert!(error.to_string().contains("which is no id"), "{id:?}: {error}");
    }
}

/// Each of these was laid out for hours, or passed the end of 64 bits when it was judged.
#[test]
fn numbers_that_no_run_has_are_refused_with_their_place() {
    for (sql, why) in [
        ("UPDATE run SET pairs = 4294967295", "plan: 4294967295 pairs are more than any run has"),
        ("UPDATE run SET restarts = 4294967295", "4294967295 restarts"),
        ("UPDATE plan_clients SET clients = 4294967295", "4294967295 clients"),
        ("UPDATE run SET started_unix_ms = -1", "18446744073709551615 milliseconds"),
        ("UPDATE round SET wall_ns = -1", "18446744073709551615 nanoseconds"),
        ("UPDATE round SET server_cpu_ns = -1", "nanoseconds of the server's processors"),
        ("UPDATE round SET started_unix_ms = -1", "milliseconds since 1970"),
        ("UPDATE round SET pair = 4294960000 + seq", "pairs are more"),
        ("UPDATE series SET slot_ns = -1", "nanoseconds of a slot"),
        (
            "INSERT OR REPLACE INTO reading SELECT seq, 'edge_events', -1e6 FROM round",
            "edge_events of",
        ),
        (
            "INSERT OR REPLACE INTO reading SELECT seq, 'debt_end', -1e300 FROM round",
            "debt_end is more",
        ),
        ("INSERT OR REPLACE INTO reading SELECT seq, 'debt_end', 9e999 FROM round", "is no number"),
        ("UPDATE class SET count = 4611686018427387904", "events of a class are more"),
        ("UPDATE counted SET instructions = -1", "instructions are more than any run has"),
        ("UPDATE counted_function SET own_per_op = 9e999", "instructions of an operation are no"),
        ("UPDATE counted_call SET inclusive_per_op = -1", "instructions of an operation are no"),
        (
            "INSERT INTO plan_stage SELECT run, 99, stage, label FROM plan_stage WHERE position = 2",
            "is measured twice",
        ),
        (
            "WITH RECURSIVE n(i) AS (SELECT 1000 UNION ALL SELECT i + 1 FROM n WHERE i < 20000) \
             INSERT INTO plan_clients SELECT 1, i, i FROM n",
            "cells are more than any run has",
        ),
        (
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 60000) \
             INSERT INTO environment_fact \
             SELECT environment, 'setting.x' || i, 'y' \
             FROM (SELECT environment FROM arm WHERE arm = 'base' LIMIT 1), n",
            "environment: more than 50000 of a run",
        ),
    ] {
        let (_folder, path) = golden_copy();
        Connection::open(&path).unwrap().execute_batch(sql).unwrap();
        let store = Store::open(&path).unwrap();
        let error = store.load(&golden_run().id).unwrap_err();
        assert!(matches!(error, StoreError::Corrupt { .. }), "{sql}: {error}");
        assert!(error.to_string().contains(why), "{sql}: {error}");
    }
}
