//! On which processors a thread runs.

use std::thread;

use dbdyno_model::Processors;
use nix::sched::{CpuSet, sched_setaffinity};
use nix::unistd::Pid;

use crate::error::LoadError;

/// Keeps the calling thread on these processors.
///
/// # Errors
/// [`LoadError::Placement`] if the kernel refuses.
pub fn pin_to(processors: Processors) -> Result<(), LoadError> {
    if processors.is_any() {
        return Ok(());
    }
    let mut set = CpuSet::new();
    processors
        .numbers()
        .try_for_each(|processor| set.set(processor))
        .and_then(|()| sched_setaffinity(Pid::from_raw(0), &set))
        .map_err(|error| LoadError::Placement(processors, error.into()))
}

/// Threads that can run at the same time on these processors.
pub(crate) fn parallel_threads(processors: Processors) -> usize {
    match processors.count() {
        0 => thread::available_parallelism().map_or(1, usize::from),
        count => count,
    }
}
