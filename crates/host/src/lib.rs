//! A machine, as dbdyno looks at it.
//!
//! ```text
//!   probe ──▶ Host ◀── sandbox          files of the kernel and others, links, owners,
//!              │                        processor clocks, memory of processes
//!      ┌───────┼──────────────┐
//!    Local   ScriptedHost   later: by SSH
//!    this    a text, which
//!    one     tests write
//! ```
//!
//! [`Host`] looks and changes nothing; who looks is given no more. A [`Machine`] is a host on which
//! programs are started and ended, too, as a [`Launch`] says in data: what each is told, what it
//! may and what it may not.
//!
//! Who looks asks by a path and a limit, and is told what is there or a [`HostError`] that names
//! the place; nobody else opens what the kernel makes up, whose paths [`kernel`] makes. What is
//! asked of dbdyno's own process and threads ([`own`]) needs no host: they run here, whatever
//! machine is looked at.

mod error;
mod host;
pub mod kernel;
mod launch;
mod local;
mod machine;
pub mod own;
#[cfg(feature = "scripted")]
mod scripted;
mod start;

pub use error::HostError;
pub use host::{FileKind, FileStatus, Host, ProcessMemory, SharedHost};
pub use launch::{
    HostsFile, Launch, ProgramFate, ProgramLimits, ProgramRights, ProgramStream, TerminalSeat,
};
pub use local::{Local, local_host, local_machine};
pub use machine::{EndSignal, Machine, RunningProgram, SharedMachine};
#[cfg(feature = "scripted")]
pub use scripted::ScriptedHost;
