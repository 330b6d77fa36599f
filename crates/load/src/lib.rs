//! How it is asked.
//!
//! ```text
//!   Connector ──connect──▶ Session ── one for each client, on a thread of its own
//!                             │  ask(event): every statement of it, every answer checked
//!                             ▼
//!   closed::run_round     lead-in │◀──────── window ────────▶│
//!                                 open: counters start       close: counters stop
//! ```
//!
//! The loop is *closed*: a client sends its next event when the last one is answered, so latency is
//! service time and a stall hides the requests that were not sent meanwhile (coordinated omission).
//!
//! This is the hot path: on it nothing allocates, nothing takes a lock, and the clock is read once
//! for each event. What the client itself costs is measured and reported beside every rate.

pub mod arrival;
pub mod closed;
pub mod connector;
pub mod error;
pub mod fill;
pub mod null;
pub mod session;
pub mod sqlite;
mod talk;
mod tally;
pub mod usage;

pub use closed::{Measured, Moment, RoundSpec, run_round};
pub use connector::Connector;
pub use error::LoadError;
pub use fill::{FillProgress, drop_tables, fill};
pub use session::{Answer, Session};
pub use sqlite::SqliteFile;
