//! What `--count` starts for an embedded arm: a dbdyno that asks it, line by line, under callgrind.

use std::io::{BufRead as _, stdin};
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use dbdyno_lab::count;
use dbdyno_model::ArmIndex;

use crate::args::Place;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::{output, session};

/// The words after `counted`.
#[derive(Debug, clap::Args)]
pub(crate) struct CountedFlags {
    /// Id of the run
    run: String,
    /// base, test, test2 and so on
    arm: String,
    /// Label of the load
    load: String,
    /// File or directory with the tables
    tables: PathBuf,
}

/// Answers lines until there are no more.
pub(crate) fn run(place: &Place, words: &CountedFlags) -> Result<Exit, Failure> {
    let store = session::open_store(place)?;
    let run = store.load(&store.resolve_run(&words.run)?)?;
    let arm = ArmIndex::from_name(&words.arm).filter(|arm| arm.position() < run.plan.arms.count());
    let arm = arm.ok_or_else(|| Failure::Usage(format!("{:?} is no arm", words.arm)))?;
    drop(store);
    let stop = AtomicBool::new(false);
    let load = count::ready_embedded(&run.plan, arm, &words.load)?;
    let mut answerer = count::Answerer::open(&run.plan, arm, &load, &words.tables, &stop)?;
    for line in stdin().lock().lines() {
        // A pipe that breaks is the end, as one that is closed.
        let Ok(line) = line else { break };
        output::print(&format!("{}\n", answerer.answer_line(&line)))?;
    }
    Ok(Exit::Holds)
}
