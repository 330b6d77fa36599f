//! A host that is not as usual for a while, in the middle of a run.

use std::process::Stdio;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use dbdyno_store::Store as Results;
use serde_json::Value;

use crate::common::{end, eventually, turn};
use crate::servers::Store;

/// Rounds of the only run in this store.
fn measured(store: &Store) -> usize {
    let Ok(results) = Results::open(&store.path()) else { return 0 };
    let runs = results.list().unwrap_or_default();
    runs.first().and_then(|run| results.load(&run.id).ok()).map_or(0, |run| run.rounds.len())
}

/// The neighbour goes however the test ends.
struct Going<'a>(&'a AtomicBool);

impl Drop for Going<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[test]
fn pairs_beside_a_neighbour_that_comes_and_goes_are_left_out() {
    let _turn = turn();
    let (home, store) = (crate::common::Home::new(), Store::new());
    let flags = ["--rounds", "30", "--seconds", "0.2", "--warm-up", "0.3", "--rows", "2000"];
    let args = [&["compare", "sqlite:", "sqlite:"][..], &flags, &["--format", "json"]].concat();
    let mut command = store.command(&home, &args);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let gone = AtomicBool::new(false);
    thread::scope(|scope| {
        eventually("a third of the run", || measured(&store) >= 24);
        let processors = thread::available_parallelism().unwrap().get();
        for _ in 0..processors {
            scope.spawn(|| {
                while !gone.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            });
        }
        let _going = Going(&gone);
        eventually("eight rounds beside the neighbour", || measured(&store) >= 32);
    });
    let done = end(child);
    let run: Value = serde_json::from_str(&done.out).unwrap();
    let cell = &run["cells"][0];
    let (pairs, dropped) = (cell["pairs"].as_u64().unwrap(), cell["pairs_dropped"].as_u64());
    let dropped = dropped.unwrap();
    assert_eq!(pairs + dropped, 30);
    assert!(dropped >= 2, "{dropped} pairs were left out: {cell}");
    let warnings = cell["warnings"].as_array().unwrap();
    assert!(warnings.iter().any(|warning| warning["code"] == "pairs-dropped"), "{warnings:?}");
}
