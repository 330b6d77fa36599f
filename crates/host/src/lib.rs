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
//! [`Host`] looks and changes nothing. Who has one asks by a path and a limit, and is told what is
//! there or a [`HostError`] that names the place; nobody else opens what the kernel makes up, whose
//! paths [`kernel`] makes. What is asked of dbdyno's own process and threads ([`own`]) needs no
//! host: they run here, whatever machine is looked at.

mod error;
mod host;
pub mod kernel;
mod local;
pub mod own;
#[cfg(feature = "scripted")]
mod scripted;

pub use error::HostError;
pub use host::{FileKind, FileStatus, Host, ProcessMemory, SharedHost};
pub use local::{Local, local};
#[cfg(feature = "scripted")]
pub use scripted::ScriptedHost;
