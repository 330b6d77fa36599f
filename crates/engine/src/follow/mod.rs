//! A replica: an engine that follows the log of another one.
//!
//! ```text
//!   source's log ─► feeder ─────────────► window ─► worker ─► session ─► replica's log
//!                   reads what is         who is    worker       one transaction: rows, and the
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
//! Who decides is a state machine without threads, `dbdyno_replica`; here it is asked under a
//! mutex, and what it says is done.

mod commits;
mod compare;
mod feeder;
mod position;
mod progress;
mod tables;
mod window;
mod worker;

use std::sync::Arc;

use dbdyno_model::LatencyHistogram;

use crate::engine::Engine;
use crate::error::Result;
use crate::ids::Lsn;
use crate::latch::Clock;
use crate::sync::thread::{self, JoinHandle};

pub use compare::difference;
use feeder::Feeder;
use position::Positions;
pub use progress::Progress;
use tables::Tables;
use window::Window;
use worker::Worker;

/// A replica at work, until it is dropped.
pub struct Replica {
    source: Arc<Engine>,
    engine: Arc<Engine>,
    window: Arc<Window>,
    threads: Vec<JoinHandle<()>>,
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
        clock: Option<Clock>,
    ) -> Result<Replica> {
        let design = *source.design();
        let (positions, tables) = (Positions::open(&engine)?, Arc::new(Tables::open(&engine)?));
        let found = positions.read(&engine)?;
        let feeder = Feeder::open(&source, &design, &found)?;
        let window = Arc::new(Window::new(&design, &source, &found));
        let mut replica = Replica { source, engine, window, threads: Vec::new() };
        for number in 0..design.apply.workers() {
            let place = found.of_worker(i64::from(number));
            let session = replica.engine.session();
            let worker = Worker::new(session, tables.clone(), positions.clone(), number, place);
            let window = replica.window.clone();
            replica.run(format!("engine:apply{number}"), move || worker.work(&window, clock));
        }
        let window = replica.window.clone();
        replica.run("engine:feed".to_owned(), move || feeder.feed(&window));
        Ok(replica)
    }

    /// The replica.
    pub fn engine(&self) -> &Arc<Engine> {
        &self.engine
    }

    /// Returns when all that is durable on the source by now is visible here; how far that is.
    ///
    /// # Errors
    /// What ended the replica before.
    pub fn catch_up(&self) -> Result<Lsn> {
        let durable = self.source.shared.pipeline.durable();
        self.window.wait_for(durable)?;
        Ok(durable)
    }

    /// Bytes of the source's log that are durable and not applied.
    pub fn behind_bytes(&self) -> u64 {
        let durable = self.source.shared.pipeline.durable();
        durable.0.saturating_sub(self.window.place().0)
    }

    /// The lags since this was asked last; see [`Progress`].
    pub fn take_lag(&self) -> LatencyHistogram {
        self.window.take_lag()
    }

    /// What it has done.
    pub fn progress(&self) -> Progress {
        self.window.progress()
    }

    /// Ends it where it is; it can be started again.
    ///
    /// # Errors
    /// What ended it before.
    pub fn stop(mut self) -> Result<()> {
        self.end();
        self.window.failure().map_or(Ok(()), Err)
    }

    fn run(&mut self, name: String, work: impl FnOnce() + Send + 'static) {
        let thread = thread::Builder::new().name(name).spawn(work);
        self.threads.push(thread.expect("a process can have some threads more"));
    }

    fn end(&mut self) {
        self.window.stop();
        self.source.shared.pipeline.tell();
        for thread in self.threads.drain(..) {
            thread.join().expect("the threads of a replica end in peace");
        }
    }
}

impl Drop for Replica {
    fn drop(&mut self) {
        self.end();
    }
}
