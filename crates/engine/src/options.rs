//! What an engine is opened with, beside its design.

use std::io;

use crate::latch::ClockFunction;
use crate::log::SEGMENT_BYTES;

/// All of it.
pub struct EngineOptions {
    /// Where deadlocks are written, if the design wants that.
    pub witness: Box<dyn io::Write + Send>,
    /// Tells the time, if the design wants times to be metered.
    pub clock: Option<ClockFunction>,
    /// What purges and takes checkpoints.
    pub upkeep: Upkeep,
    /// A checkpoint is taken when the log has grown by so many bytes since the last.
    pub checkpoint_bytes: u64,
    /// Bytes of a file of the log.
    pub segment_bytes: u64,
}

/// What purges and takes checkpoints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Upkeep {
    /// A thread of the engine, when there is something to do.
    Background,
    /// The caller of [`crate::Engine::purge`] and [`crate::Engine::checkpoint`].
    OnDemand,
}

impl Default for EngineOptions {
    fn default() -> EngineOptions {
        EngineOptions {
            witness: Box::new(io::sink()),
            clock: None,
            upkeep: Upkeep::Background,
            checkpoint_bytes: 256 << 20,
            segment_bytes: SEGMENT_BYTES,
        }
    }
}
