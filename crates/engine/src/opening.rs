//! An engine in a directory of the machine.

use std::io;
use std::path::Path;
use std::sync::Arc;

use dbdyno_model::Design;
use dbdyno_model::design::DeadlockPrint;

use crate::disk::{RealDisk, private_options};
use crate::engine::Engine;
use crate::error::{EngineError, Result};
use crate::latch::ClockFunction;
use crate::options::EngineOptions;

/// The file into which deadlocks are written where the design wants that.
const WITNESS: &str = "deadlocks.txt";

impl Engine {
    /// Opens the engine in a directory, which is empty or that of an engine of any design. `clock`
    /// gives nanoseconds, for `meter=times`.
    ///
    /// # Errors
    /// `Disk`, also where another process has the directory; `Corrupt`.
    pub fn open_in(directory: &Path, design: &Design, clock: ClockFunction) -> Result<Engine> {
        let unopened = |error| EngineError::Disk("the engine's directory", error);
        let disk = RealDisk::open(directory).map_err(unopened)?;
        let witness: Box<dyn io::Write + Send> = match design.deadlock_print {
            DeadlockPrint::Off => Box::new(io::sink()),
            DeadlockPrint::Quiet | DeadlockPrint::Noisy => {
                let file =
                    private_options().create(true).append(true).open(directory.join(WITNESS));
                Box::new(file.map_err(unopened)?)
            }
        };
        let options = EngineOptions { witness, clock: Some(clock), ..EngineOptions::default() };
        Engine::open(Arc::new(disk), design, options)
    }
}
