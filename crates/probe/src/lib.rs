//! What is observed from outside: the right processes, and what looking costs.
//!
//! ```text
//!   ServerProbe ── sample ──▶ ServerSample ┐
//!   (a process and all below it)           ├─ cost_since ─▶ model::Cost (server_* fields)
//!   ServerProbe ── sample ──▶ ServerSample ┘
//!
//!   HostSample ── shares_since ─▶ busy, steal, and busy with what is not ours
//!   host_facts ─▶ host.kernel, host.cpu.model, …   for the environment of both arms
//! ```
//!
//! Nothing here reads the host's totals to say what a server costs: another job on the host would
//! be charged to it. What cannot be observed is `None` or a [`NotObservable`] with its reason,
//! never zero. Linux only: all of it is read from `/proc` and from the processor clocks of
//! processes, and of whichever [`Host`](dbdyno_host::Host) it is given: no file is opened past it.
//!
//! [`account`] explains how the time of processes that come and go is counted, once and only once.

pub mod account;
mod error;
pub mod facts;
pub mod host;
mod locate;
mod memory;
pub mod parse;
pub mod perf;
mod process;
mod processes;
mod reach;
mod server;
mod threads;

pub use error::NotObservable;
pub use facts::{filesystem_facts, host_facts};
pub use host::{HostSample, HostShares};
pub use memory::directory_bytes;
pub use reach::{HeldMemory, Reach};
pub use server::{ServerProbe, ServerSample};
pub use threads::{ThreadsCost, ThreadsSample};
