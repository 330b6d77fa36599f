//! A host on which programs are started and ended.

use std::fmt::Debug;
use std::io::{self, Read, Write};
use std::process::ExitStatus;
use std::sync::Arc;

use crate::error::HostError;
use crate::host::Host;
use crate::launch::Launch;

/// A host on which programs are started. Who only looks at one is given a [`Host`].
pub trait Machine: Host {
    /// Starts a program.
    ///
    /// # Errors
    /// It is not there, or what it is to have or to lack could not be given or taken: then nothing
    /// of it has run.
    fn start(&self, launch: Launch) -> Result<Box<dyn RunningProgram>, HostError>;

    /// Has a process end, which may be another than the caller knew: who does not wait for it looks
    /// first whether it is.
    ///
    /// # Errors
    /// It is gone ([`io::ErrorKind::NotFound`]), or not ours to end.
    fn signal_process(&self, pid: u32, signal: EndSignal) -> Result<(), HostError>;

    /// Lets a thread, and those that it makes from now on, run on these processors only.
    ///
    /// # Errors
    /// It is gone ([`io::ErrorKind::NotFound`]), or the machine has none of them for us.
    fn keep_on(&self, thread: u32, processors: &[usize]) -> Result<(), HostError>;
}

/// A machine that several start programs on.
pub type SharedMachine = Arc<dyn Machine>;

/// A program that was started, until it was waited for.
pub trait RunningProgram: Debug + Send + Sync {
    /// Its process.
    fn pid(&self) -> u32;

    /// The other end of its input, once, where that is a pipe.
    fn take_input(&mut self) -> Option<Box<dyn Write + Send>>;

    /// The other end of what it says, once, where that is a pipe.
    fn take_output(&mut self) -> Option<Box<dyn Read + Send>>;

    /// The other end of its complaints, once, where that is a pipe.
    fn take_errors(&mut self) -> Option<Box<dyn Read + Send>>;

    /// Whether it has ended. It stays, and keeps its number, until it is waited for.
    fn has_ended(&self) -> bool;

    /// How it ended; `None` while it runs.
    ///
    /// # Errors
    /// It cannot be waited for.
    fn try_wait(&mut self) -> io::Result<Option<ExitStatus>>;

    /// Waits until it has ended, and says how.
    ///
    /// # Errors
    /// It cannot be waited for.
    fn wait(&mut self) -> io::Result<ExitStatus>;

    /// Asks it to end by this signal, unless it was waited for.
    ///
    /// # Errors
    /// The machine's refusal.
    fn send_signal(&mut self, signal: EndSignal) -> io::Result<()>;

    /// Kills it; it is still to be waited for.
    ///
    /// # Errors
    /// The machine's refusal.
    fn kill(&mut self) -> io::Result<()>;

    /// Kills what has not ended of its process group, itself included, and says how it ended.
    ///
    /// # Errors
    /// It cannot be waited for.
    fn end_group(&mut self) -> io::Result<ExitStatus>;
}

/// How a program is asked to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndSignal {
    /// SIGINT: as if somebody had typed Ctrl-C.
    Interrupt,
    /// SIGTERM.
    Terminate,
    /// SIGKILL, of which it does not hear.
    Kill,
}
