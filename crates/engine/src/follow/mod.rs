//! A replica: an engine that follows the log of another one.
//!
//! ```text
//!   source's log ─► feeder ─────────────► window ─► worker ─► session ─► replica's log
//!                   reads what is         what is   worker       one transaction: rows, and the
//!                   durable; depend       next:     worker       worker's place among those that
//!                   (`replica::depend`)   `replica::apply`       it has applied
//! ```
//!
//! The log of the source is the binary log. Each record of it has a checksum over its place, and
//! says of a transaction which keys it wrote and how far others had committed ([`crate::redo`]). So
//! there is nothing to be kept in step with it, and nothing is sent that is not durable.
//!
//! How far the replica is stands in a table of its own, a row for each worker, which is written in
//! the transaction that it tells of (`position`): whatever of the replica survives a crash, rows
//! and place agree, and it goes on without a gap and without doing anything twice. DDL is no
//! transaction; it is applied alone, and once more does no harm.
//!
//! What decides is a state machine without threads, `dbdyno_replica`; here it is asked under a
//! mutex, and what it says is done.

mod commits;
mod compare;
mod copy;
mod feeder;
mod following;
mod position;
mod progress;
mod tables;
mod window;
mod worker;

use std::ops::Deref;
use std::path::Path;
use std::sync::Arc;

use dbdyno_model::Design;
use dbdyno_model::design::Topology;

use crate::disk::RealDisk;
use crate::engine::Engine;
use crate::error::{EngineError, Result};
use crate::latch::ClockFunction;
use crate::sync::thread::{self, JoinHandle};

pub use compare::difference;
pub use copy::{Copy, prepare};
use feeder::Feeder;
pub use following::{Following, ReplicaComparison};
use position::Positions;
pub use progress::ReplicaProgress;
use tables::Tables;
use window::Window;
use worker::Worker;

/// A replica at work, until it is dropped.
pub struct Replica {
    following: Arc<Following>,
    threads: Vec<JoinHandle<()>>,
}

/// The directory of the replica, in that of its source.
const DIRECTORY: &str = "replica";

/// Opens the engine in a directory, and where its design has a replica the one in a directory below
/// too, which follows it from then on, and begins with a copy where the source is older; `clock`
/// gives nanoseconds and goes on from life to life.
///
/// # Errors
/// The disk's refusal, what is there is not what an engine left, or the two do not fit.
pub fn open_in(
    directory: &Path,
    design: &Design,
    clock: ClockFunction,
) -> Result<(Arc<Engine>, Option<Replica>)> {
    let source = Arc::new(Engine::open_in(directory, design, clock)?);
    if design.topology == Topology::Single {
        return Ok((source, None));
    }
    let design = Design { topology: Topology::Single, ..*design };
    let directory = directory.join(DIRECTORY);
    let disk = RealDisk::open(&directory)
        .map_err(|error| EngineError::Disk("the replica's directory", error))?;
    prepare(&source, Arc::new(disk))?;
    let engine = Engine::open_in(&directory, &design, clock)?;
    let replica = Replica::start(source.clone(), Arc::new(engine), Some(clock))?;
    Ok((source, Some(replica)))
}

impl Replica {
    /// Lets an engine follow another one, from where it is: one without tables begins with the
    /// first record. The source's design says how, and has to say that it is followed.
    ///
    /// # Errors
    /// `Corrupt` if the source has no longer what the replica needs next; `Disk`.
    pub fn start(
        source: Arc<Engine>,
        engine: Arc<Engine>,
        clock: Option<ClockFunction>,
    ) -> Result<Replica> {
        let design = *source.design();
        let positions = Positions::open(&engine)?;
        let found = positions.read(&engine)?;
        let tables = Arc::new(Tables::open(&engine, found.copied)?);
        let feeder = Feeder::open(&source, &design, &found)?;
        let window = Arc::new(Window::new(&design, &source, &found));
        let following = Arc::new(Following::new(source, engine, window, found.copied));
        following.register_with_source();
        let mut replica = Replica { following, threads: Vec::new() };
        for number in 0..design.apply.workers() {
            let place = found.of_worker(i64::from(number));
            let session = replica.replica_engine().session();
            let worker = Worker::new(session, tables.clone(), positions.clone(), number, place);
            let window = replica.following.window.clone();
            replica.run(format!("engine:apply{number}"), move || {
                worker.apply_until_stopped(&window, clock)
            });
        }
        let window = replica.following.window.clone();
        replica.run("engine:feed".to_owned(), move || feeder.feed_window(&window));
        Ok(replica)
    }

    /// Ends it where it is; it can be started again.
    ///
    /// # Errors
    /// What ended it before.
    pub fn stop(mut self) -> Result<()> {
        self.end();
        self.following.window.take_failure().map_or(Ok(()), Err)
    }

    fn run(&mut self, name: String, work: impl FnOnce() + Send + 'static) {
        let thread = thread::Builder::new().name(name).spawn(work);
        self.threads.push(thread.expect("a process can have some threads more"));
    }

    fn end(&mut self) {
        self.following.window.stop();
        self.following.source.shared.pipeline.wake_waiters();
        for thread in self.threads.drain(..) {
            thread.join().expect("the threads of a replica end in peace");
        }
    }
}

/// What can be asked of it.
impl Deref for Replica {
    type Target = Following;

    fn deref(&self) -> &Following {
        &self.following
    }
}

impl Drop for Replica {
    fn drop(&mut self) {
        self.end();
    }
}
