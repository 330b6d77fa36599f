//! A killed run is a valid, shorter run.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use crate::common::{self, golden_run, plan, round};
use dbdyno_model::RunStatus;
use dbdyno_store::{NewRun, Store};

const STORE: &str = "DBDYNO_TEST_STORE";

/// Not a test of its own: the process that gets killed. Says each round once it is stored.
#[test]
fn child() {
    let Ok(path) = std::env::var(STORE) else {
        return;
    };
    let mut store = Store::open(Path::new(&path)).unwrap();
    let plan = plan();
    let new = NewRun {
        name: None,
        started_unix_ms: 1,
        tool_version: "0.1.0",
        command: "dbdyno",
        plan: &plan,
    };
    let run = store.begin_run(&new).unwrap();
    for index in 0..100_000 {
        store.add_round(&run, &round(index)).unwrap();
        println!("\nstored {index}");
    }
}

#[test]
fn what_was_stored_survives_kill_9_and_can_be_read_meanwhile() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "killed::child", "--nocapture"])
        .env(STORE, &path)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = 0;
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    for line in lines.map_while(Result::ok) {
        if !line.starts_with("stored") {
            continue;
        }
        said += 1;
        if said == 10 {
            let reader = Store::open(&path).unwrap();
            let run = reader.load(&reader.resolve_run("@last").unwrap()).unwrap();
            assert!(run.rounds.len() >= 10);
        }
        if said == 40 {
            child.kill().unwrap();
        }
    }
    child.wait().unwrap();
    assert!(said >= 40, "the child ended by itself after {said} rounds");
    let mut store = Store::open(&path).unwrap();
    let id = store.resolve_run("@last").unwrap();
    let run = store.load(&id).unwrap();
    assert_eq!(run.status, RunStatus::Partial);
    assert!(run.rounds.len() >= said, "{} < {said}", run.rounds.len());
    for (index, stored) in run.rounds.iter().enumerate() {
        assert_eq!(*stored, round(index as u32));
    }
    common::put(&mut store, &golden_run());
}
