//! A host that is not as usual for a while, in the middle of a run.

use std::process::Stdio;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use dbdyno_store::Store as Results;
use serde_json::Value;

use crate::common::{end, eventually, measured_pairs, turn};
use crate::servers::Store;

/// Rounds of the only run in this store.
fn measured(store: &Store) -> usize {
    let Ok(results) = Results::open(&store.path()) else { return 0 };
    let runs = results.list().map(|listed| listed.runs).unwrap_or_default();
    runs.first().and_then(|run| results.load(&run.id).ok()).map_or(0, |run| run.rounds.len())
}

/// The neighbour goes however the test ends.
struct Going<'a>(&'a AtomicBool);

impl Drop for Going<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// What is said of a cell of 30 pairs beside somebody who takes all processors for eight rounds of
/// it, and how many pairs were left out.
fn beside_a_neighbour() -> (Value, u64) {
    let (home, store) = (crate::common::Home::new(), Store::new());
    let flags = ["--rounds", "30", "--seconds", "0.2", "--warm-up", "0.3", "--rows", "2000"];
    let args = [&["compare", "sqlite:", "sqlite:"][..], &flags, &["--format", "json"]].concat();
    let mut command = store.command(&home, &args);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let gone = AtomicBool::new(false);
    thread::scope(|scope| {
        eventually("a third of the run", || measured(&store) >= 24);
        let begun = measured(&store);
        let processors = thread::available_parallelism().unwrap().get();
        for _ in 0..processors {
            scope.spawn(|| {
                while !gone.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            });
        }
        let _going = Going(&gone);
        eventually("eight rounds beside the neighbour", || measured(&store) >= (begun + 8).min(60));
    });
    let done = end(child);
    let run: Value = serde_json::from_str(&done.out).unwrap();
    let cell = run["cells"][0].clone();
    assert_eq!(measured_pairs(&cell), 30);
    let dropped = cell["pairs_dropped"].as_u64().unwrap();
    (cell, dropped)
}

/// Where others are at work all the time, one more of them is nothing unusual: tried three times.
#[test]
fn pairs_beside_a_neighbour_that_comes_and_goes_are_left_out() {
    let _turn = turn();
    let mut tries = (0..3).map(|_| beside_a_neighbour());
    let (cell, _) = tries.find(|(_, dropped)| *dropped >= 2).expect("pairs were left out");
    let warnings = cell["warnings"].as_array().unwrap();
    assert!(warnings.iter().any(|warning| warning["code"] == "pairs-dropped"), "{warnings:?}");
}
