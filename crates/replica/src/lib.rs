//! Replication of a transaction, as state machines: an event in, actions out, and no clock, thread
//! or file inside.
//!
//! ```text
//!   source   rows that were written ─► certify    may it commit, and as which number
//!                                   ─► depend     on which of those before it
//!   replica                         ─► apply      which may be executed, and committed, now
//! ```
//!
//! Each has several implementations, in sibling files; a field of a [`dbdyno_model::Design`]
//! chooses one. Threads (`engine::follow`) and virtual time ([`schedule`]) drive the same state
//! machines.

pub mod apply;
pub mod certify;
pub mod depend;
pub mod ids;
pub mod schedule;

pub use apply::Applier;
pub use certify::Certifier;
pub use depend::{Dependencies, Tracker};
pub use ids::{RowKey, Sequence};
pub use schedule::ApplySchedule;
